"""The memory that a tape holds, counted from its events."""

from __future__ import annotations

from typing import Any

from ..arrays.memory import owners
from ..core import events
from ..core.entry import Entry
from ..core.events import Event
from ..core.tape import Tape


class Stepped(events.Seed):
    """A backward pass started that goes step by step, by `tape.steps`; a one-shot tape releases all at its end."""


class Held:
    """Counts the bytes of the arrays that a tape's entries hold; one that several entries use counts once."""

    def __init__(self, tape: Tape) -> None:
        self.counts: dict[int, int] = {}  # by the id of an array: how often the tape holds it
        self.bytes = 0
        self.pulled: tuple[Entry, list[Any]] | None = None  # the entry that a pass reached last
        self.known = False  # whether the tape was counted before the next event
        for entry in tape.entries:
            self._hold(_owners_of(entry))

    def after(self, event: Event) -> int:
        """Return the bytes after an event of the tape; must be called for every event."""
        if self.pulled and self.pulled[0].values is None:  # the walk has released the entries behind it
            self._let_go(self.pulled[1])
            self.pulled = None
        known, self.known = self.known, True
        match event:
            case events.Record(entry=entry) | events.Cut(entry=entry) if known:
                self._hold(_owners_of(entry))
            case events.PullBack(entry=entry) | events.PushForward(entry=entry):
                self.pulled = entry, _owners_of(entry)
            case events.Release() | events.Reset():
                self.counts.clear()
                self.bytes, self.pulled = 0, None
        return self.bytes

    def _hold(self, arrays: list[Any]) -> None:
        for array in arrays:
            self.counts[id(array)] = self.counts.get(id(array), 0) + 1
            self.bytes += array.nbytes if self.counts[id(array)] == 1 else 0

    def _let_go(self, arrays: list[Any]) -> None:
        for array in arrays:
            self.counts[id(array)] -= 1
            self.bytes -= array.nbytes if self.counts[id(array)] == 0 else 0


def _owners_of(entry: Entry) -> list[Any]:
    return owners((*(entry.values or ()), entry.output_value))
