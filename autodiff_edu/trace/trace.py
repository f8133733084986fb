"""A trace: everything that happened while code ran on tapes, as data that can be kept, drawn and read aloud.

>>> import autodiff_edu as ad
>>> x = ad.Variable(3.0, name="x")
>>> with ad.trace() as steps:
...     with ad.GradientTape() as tape:
...         y = x * x
...     slope = tape.gradient(y, x)
>>> print(steps.transcript())
1. The tape watches x, which is 3.
2. Line 3: y is x times x, which is 9. The tape records it as entry 1.
3. The backward pass starts at y with the cotangent 1.
4. Entry 1, y = x * x: the cotangent 1 arrived at y.
5. The contribution to x is 3. Nothing was there yet, so x now has 3. That was 1 of 2.
6. The contribution to x is 3. It is added to 3, so x now has 6. That was 2 of 2.
7. The one-shot tape releases its arrays.
8. dy/dx is 6.

`Trace.to_json` returns the same as data, which `document.py` describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.entry import Entry
from ..core.tape import Tape
from ..core.variable import Variable
from ..text.places import Where, here
from . import events
from .events import Event, hook
from .scopes import opened


class Trace:
    """What happened inside a `with trace() as ...` block.

    Attributes
    ----------
    title : str
        Shown above the player.
    events : list of Event
        The typed events, in order.
    """

    def __init__(self, title: str = "trace") -> None:
        self.title = title
        self.events: list[Event] = []
        self._scopes: dict[int, tuple[str, ...]] = {}  # by the id of an entry's output: where it was computed
        self._earlier: dict[int, list[Entry]] = {}  # what a tape held when the trace first met it
        self._held: dict[int, Any] = {}  # by the id of a tape
        self._memory: dict[int, int] = {}  # by the id of an event: what its tape held after it
        self._places: dict[int, Where] = {}  # by the id of an event that does not say itself where it happened
        self._causes: dict[Any, tuple[Any, ...]] = {}  # why there was no derivative, by the source and the place
        self._called: dict[int, str] = {}  # what an explanation calls a source

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        return f"Trace({self.title!r}, {len(self)} steps)"

    def _see(self, event: Event) -> None:
        """Keep an event as it is now: tapes will let go of arrays, and variables will be assigned to."""
        tape, entry = getattr(event, "tape", None), getattr(event, "entry", None)
        if tape is not None and id(tape) not in self._earlier:
            self._earlier[id(tape)] = [e.copy() for e in tape.entries if e is not entry]
        changes: dict[str, Any] = {} if entry is None else {"entry": entry.copy()}
        if isinstance(event, events.Record | events.Cut | events.Skip) and opened.names:
            self._scopes[event.entry.output_id] = opened.names
        if isinstance(event, events.Outcome) and not event.connected:
            changes["causes"] = self._why(event, here(2))
        for role in ("tensor", "variable", "source"):
            if isinstance(getattr(event, role, None), Variable):
                changes[role] = getattr(event, role).as_it_is()
        kept = event.replaced(**changes)
        self.events.append(kept)
        if entry is None and not hasattr(event, "where"):
            self._places[id(kept)] = here(2)
        if tape is not None:
            from .memory import Held

            if id(tape) not in self._held:
                self._held[id(tape)] = Held(tape)
            self._memory[id(kept)] = self._held[id(tape)].after(event)

    def _why(self, event: events.Outcome, where: Where) -> tuple[Any, ...]:
        """Ask the tape why there is no derivative; once, where a loop asks for it in every turn."""
        key = event.source._id, id(where[0]), where[1]
        if key not in self._causes:
            self._causes[key] = ()
            if hasattr(event.tape, "explain"):  # a tape of the heart answers no questions
                explanation = event.tape.explain(event.targets, event.source)
                self._causes[key], self._called[event.source._id] = explanation.causes, explanation.called
        return self._causes[key]

    def without(self, *tapes: Tape) -> Trace:
        """Return the same trace without what concerns some tapes."""
        rest = Trace(self.title)
        rest._earlier, rest._scopes, rest._memory = self._earlier, self._scopes, self._memory
        rest._places, rest._called = self._places, self._called
        rest.events = [event for event in self.events if getattr(event, "tape", None) not in tapes]
        return rest

    def document(self) -> dict[str, Any]:
        """Return the trace as the nested dicts and lists that `document.py` describes."""
        from .document import Writer  # not worth its import time to those who only differentiate

        return Writer(self).document

    def to_json(self) -> str:
        """Return the trace as a JSON string; the same trace gives the same string."""
        import json  # not worth its import time to those who only differentiate

        return json.dumps(self.document(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def transcript(self) -> str:
        """Return the trace as numbered sentences."""
        from .sentences import transcript

        return transcript(self.document())


@contextmanager
def trace(title: str = "trace") -> Iterator[Trace]:
    """Keep everything that happens on tapes inside a `with` block, in this thread or task.

    Parameters
    ----------
    title : str
        Shown above the player.

    Yields
    ------
    Trace
        Filled while the block runs.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.trace() as steps, ad.GradientTape() as tape:
    ...     y = x * x
    >>> steps
    Trace('trace', 2 steps)
    """
    kept = Trace(title)
    with hook(kept._see):
        yield kept
