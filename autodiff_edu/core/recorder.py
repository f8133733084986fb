"""What a tape does while it records: watch, pause, forget, and append an entry for each operation it follows.

`GradientTape`, in tape.py, is a recorder that can be read backwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays.validate import can_change
from ..derivatives.requests import check_watchable
from ..text.places import Where, here
from . import events
from .entry import Entry
from .events import active, emit
from .journal import tick
from .rule import RULES
from .tensor import Tensor
from .variable import Variable


class Mark(NamedTuple):
    """A turn in a tape's life: "enter", "exit", "pause", "resume", "reset" or "release", when, and where."""

    time: int
    what: str
    where: Where


class Recorder:
    """A list of the operations computed inside its `with` block."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.persistent = persistent
        self.watch_accessed_variables = watch_accessed_variables
        self.entries: list[Entry] = []
        self._connected: set[int] = set()
        self._watched: dict[int, tuple[Tensor | None, Where]] = {}
        self._forgotten: set[int] = set()
        self._life: deque[Mark] = deque(maxlen=100)
        self._recording = False
        self._usable = False
        self._thread = 0

    def __enter__(self) -> Self:
        self._check_thread()
        if self._recording:
            raise ValueError("this tape records already; leave its with block first, or make a second tape")
        if not self._usable:
            self._forget()
            self._forgotten = set()
        self._recording, self._usable, self._thread = True, True, get_ident()
        self._mark("enter")
        self._step_in(len(active.tapes))
        return self

    def __exit__(self, *exception: object) -> None:
        self._check_thread()
        self._step_out()
        if self._recording:
            self._mark("exit")
        self._recording = False

    def _check_thread(self) -> None:
        if self._recording and self._thread != get_ident():
            raise RuntimeError(
                "this tape is recording in another thread, and follows that thread's operations only; "
                "make a tape of its own in each thread"
            )

    def _mark(self, what: str) -> None:
        self._life.append(Mark(tick(), what, here(2)))

    def _step_in(self, place: int) -> None:
        active.tapes = (*active.tapes[:place], self, *active.tapes[place:])

    def _step_out(self) -> int:
        place = active.tapes.index(self) if self in active.tapes else 0
        active.tapes = tuple(tape for tape in active.tapes if tape is not self)
        return place

    def watch(self, tensors: Any) -> None:
        """Follow tensors from here on: what is computed from them is recorded.

        Parameters
        ----------
        tensors : Tensor, Variable, or a nested list, tuple or dict of them
            Of a floating or complex dtype.

        Raises
        ------
        ValueError
            If something in it is not a tensor.
        TypeError
            If a tensor holds integers or booleans, which have no derivative.
        RuntimeError
            If the tape is not recording.
        """
        self._check_thread()
        if not self._recording:
            raise RuntimeError("this tape is not recording, so it cannot watch; call watch inside its with block")
        for tensor in check_watchable(tensors):
            self._watch(tensor)

    def _watch(self, tensor: Tensor) -> None:
        if tensor._id not in self._watched:
            self._watched[tensor._id] = (tensor, where := here())
            self._connected.add(tensor._id)
            self._announce(events.Watch, tensor, where)

    def _read(self, variable: Variable) -> None:
        if self.watch_accessed_variables and variable.trainable and variable.dtype.kind in "fc":
            self._watch(variable)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Give the variables that the tape watches, in the order in which they were made."""
        return tuple(tensor for _, (tensor, _) in sorted(self._watched.items()) if isinstance(tensor, Variable))

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pause this tape, and no other, for the length of a `with` block.

        Raises
        ------
        RuntimeError
            If the tape is not recording.
        ValueError
            If it is paused already.
        """
        self._check_thread()
        if not self._recording:
            raise RuntimeError("this tape is not recording; stop_recording belongs inside its with block")
        if self not in active.tapes:
            raise ValueError("this tape is paused already; one stop_recording is enough")
        place = self._step_out()
        self._mark("pause")
        try:
            self._announce(events.Pause)
            yield
        finally:
            if self._recording and self not in active.tapes:
                self._step_in(place)
                self._mark("resume")
                self._announce(events.Resume)

    def reset(self) -> None:
        """Forget every entry and every watch; the tape goes on recording.

        Raises
        ------
        ValueError
            If the tape is not recording.
        """
        self._check_thread()
        if not self._recording:
            raise ValueError("this tape is not recording; call reset inside its with block")
        self._forgotten = set(self._watched)
        self._forget()
        self._mark("reset")
        self._announce(events.Reset)

    def _forget(self) -> None:
        self.entries, self._connected, self._watched = [], set(), {}

    def _record(
        self,
        operation: Any,
        inputs: Any,
        ids: tuple[int | None, ...],
        values: list[Any],
        parameters: Any,
        output: Tensor,
        where: Where,
        plain: bool,
    ) -> None:
        """Append an entry, if the tape follows an input; `plain` inputs are neither variables nor arrays."""
        for k, x in enumerate(() if plain else inputs):
            if isinstance(x, Variable):
                self._read(x)
            elif values[k] is x and isinstance(x, np.ndarray) and can_change(x):
                values[k] = x.copy()  # the tape needs it as it is now, whatever is written into it later
                values[k].flags.writeable = False  # and so not copied again where a rule computes with it
        connected = not self._connected.isdisjoint(ids)
        if not connected and not active.hooks:
            return
        entry = Entry(operation, ids, tuple(values), parameters, output._id, output._array, where)
        if not connected:
            emit(events.Skip(self, entry))
            return
        self.entries.append(entry)
        rule = RULES.get(operation)
        if rule.kind == "step" if rule else output.dtype.kind not in "fc":
            self._announce(events.Cut, entry)
            return
        self._connected.add(output._id)
        if active.hooks:
            emit(events.Record(self, entry))

    def _announce(self, event: Any, *details: Any) -> None:
        if active.hooks:
            emit(event(self, *details))
