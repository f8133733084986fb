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
from copy import copy
from typing import Any

from ..arrays.validate import freeze
from ..core.entry import Entry
from ..core.tape import Tape
from ..core.variable import Variable
from ..text.places import Where, here, place
from ..text.statements import is_theirs
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

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0, name="x")
    >>> with ad.trace("a square") as steps:
    ...     with ad.GradientTape() as tape:
    ...         y = x * x
    >>> steps
    Trace('a square', 2 steps)
    >>> [type(event).__name__ for event in steps.events]
    ['Watch', 'Record']
    >>> player = ad.play(steps)
    """

    def __init__(self, title: str = "trace") -> None:
        self.title = title
        self.events: list[Event] = []
        self.aside: tuple[Tape, ...] = ()  # tapes that the user's code does not know about
        self._scopes: dict[int, tuple[str, ...]] = {}  # by the id of an entry's output: where it was computed
        self._earlier: dict[int, list[Entry]] = {}  # what a tape held when the trace first met it
        self._held: dict[int, Any] = {}  # by the id of a tape
        self._memory: dict[int, int] = {}  # by the id of an event: what its tape held after it
        self._places: dict[int, Where] = {}  # for events that do not say where they happened, by id
        self._causes: dict[Any, tuple[Any, ...]] = {}  # why there was no derivative, by source and place
        self._called: dict[int, str] = {}  # an explanation's name for a source
        self._heard: list[Entry] = []  # all that was computed on tensors, and the words of `note`, on a tape or not
        self._marks: dict[int, int] = {}  # by the id of an event: how much of that came before it
        self._lines: Any = None  # what follows the lines of code, while the block runs
        self._calls: dict[int, Any] = {}  # by the id of an event: the call in which it happened
        self._passed: dict[int, list[tuple[str, int]]] = {}  # by the id of an event: the lines just before it

    def __len__(self) -> int:
        return len(self.events)

    def __repr__(self) -> str:
        return f"Trace({self.title!r}, {len(self)} steps)"

    def _see(self, event: Event) -> None:
        """Keep an event as it is now: tapes will release arrays, and variables will be assigned."""
        if self._lines is not None:
            self._lines.before(event)
        tape, entry = getattr(event, "tape", None), getattr(event, "entry", None)
        if tape is not None and id(tape) not in self._earlier:
            self._earlier[id(tape)] = [e.copy() for e in tape.entries if e is not entry]
        changes: dict[str, Any] = {} if entry is None else {"entry": entry.copy()}
        if isinstance(event, events.Record | events.Cut | events.Skip) and opened.names:
            self._scopes[event.entry.output_id] = opened.names
        if isinstance(event, events.Outcome) and not event.connected:
            changes["causes"] = self._why(event, here(2))
        for role in ("tensor", "variable", "source"):
            if isinstance(value := getattr(event, role, None), Variable):
                changes[role] = value.as_it_is()
        kept = event.replaced(**changes)
        self.events.append(kept)
        self._marks[id(kept)] = len(self._heard)
        if self._lines is not None:
            self._calls[id(kept)], self._passed[id(kept)] = self._lines.call, self._lines.passed
            self._lines.passed = []
        if entry is None and not hasattr(event, "where"):
            self._places[id(kept)] = here(2)
        if tape is not None:
            if id(tape) not in self._held:
                from .memory import Held

                self._held[id(tape)] = Held(tape)
            self._memory[id(kept)] = self._held[id(tape)].after(event)

    def _why(self, event: events.Outcome, where: Where) -> tuple[Any, ...]:
        """Ask the tape why there is no derivative; only once in a loop."""
        key = event.source._id, id(where[0]), where[1]
        if key not in self._causes:
            self._causes[key] = ()
            if hasattr(event.tape, "explain"):  # core's Tape does not answer questions
                explanation = event.tape.explain(event.targets, event.source)
                self._causes[key], self._called[event.source._id] = explanation.causes, explanation.called
        return self._causes[key]

    def _hear(self, entry: Entry) -> Entry:
        """Keep what was computed, as it is now."""
        kept = entry.copy()
        if entry.values is not None:
            kept.values = tuple(map(freeze, entry.values, entry.ids))
        self._heard.append(kept)
        return kept

    def without(self, *tapes: Tape) -> Trace:
        """Return the same trace without the events of some tapes."""
        rest = copy(self)
        rest.events, rest._passed = [], {}
        passing: list[tuple[str, int]] = []  # what only those tapes recorded passes without a step
        for event in self.events:
            passing += self._passed.get(id(event), ())
            if getattr(event, "tape", None) not in tapes:
                rest.events.append(event)
                rest._passed[id(event)], passing = passing, []
            elif isinstance(event, events.Record | events.Cut | events.Skip):
                at = place(event.entry.where)
                passing.append((at.path, at.line))
        return rest

    def failed(self, error: BaseException) -> None:
        """Note that the traced code raised an exception, at the user's innermost line."""
        where, at = None, error.__traceback__
        while at is not None:
            if is_theirs[at.tb_frame.f_code.co_filename]:
                where = at.tb_frame.f_code, at.tb_lasti
            at = at.tb_next
        message = str(error).strip().partition("\n")[0][:200]
        self._see(events.Error(where, f"{type(error).__name__}{': ' if message else ''}{message}"))

    def document(self) -> dict[str, Any]:
        """Return the trace as the nested dicts and lists that `document.py` describes."""
        from .collecting import without_collecting
        from .document import Writer  # not worth the import time if you only differentiate

        with without_collecting():
            return Writer(self).document

    def to_json(self) -> str:
        """Return the trace as a JSON string; the same trace gives the same string."""
        import json  # not worth the import time if you only differentiate

        return json.dumps(self.document(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def transcript(self) -> str:
        """Return the trace as numbered sentences."""
        from .sentences import transcript

        return transcript(self.document())


class _Hook(hook):
    """A hook whose own work is not followed line by line."""

    lines: Any

    def _see(self, what: str, *details: Any) -> None:
        self.lines.work(super()._see, what, *details)
        if self._failures:  # the user's own recursion may have left no room; its own error says so
            self._failures = [failure for failure in self._failures if not isinstance(failure, RecursionError)]


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
    from .lines import Lines  # not worth the import time if you only differentiate

    kept = Trace(title)
    hooked = _Hook(kept._see)
    kept._lines = hooked.lines = Lines(kept, hooked._see)
    with hooked, kept._lines:
        try:
            yield kept
        except Exception as error:
            kept.failed(error)
            raise
