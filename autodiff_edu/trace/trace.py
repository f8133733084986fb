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
5. The contribution to x is 3. Nothing was there yet, so the cotangent of x is now 3. That was contribution 1 of 2.
6. The contribution to x is 3. It is added to 3, so the cotangent of x is now 6. That was contribution 2 of 2.
7. The one-shot tape releases its arrays.
8. dy/dx is 6.

`Trace.to_json` returns the same as data, which `document.py` describes.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from copy import copy
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..core import events
from ..core.entry import Entry
from ..core.events import Event, Outcome, Read
from ..core.tape import Tape
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..text.frames import Where, here, user_frame
from ..text.places import expression, place
from ..text.statements import is_theirs
from .failures import FailedOperation, Failure, explain_none, explain_sequence, failure_of, note_failures
from .foreign import ForeignTape
from .hook import hook
from .scopes import opened
from .warning_places import warn_at_the_line

sources: list[Callable[[Trace], AbstractContextManager[Any] | None]] = []
"""What else a trace listens to while its block runs: each is called with the trace. What it returns reports events to
`Trace.report`. Its `find_known` returns the trace's tensor for a value of another library's, its `advise` adds notes to
an error and returns them, and its `explain` answers `Trace.explain`."""

LONGEST_MESSAGE = 400
"""The most characters of an error's message that its step shows."""


class Happening(NamedTuple):
    """One event of a trace, with what was known at that moment.

    Attributes
    ----------
    event : Event
        As it was then.
    where : tuple, optional
        The place in the user's code, if the event does not say where it happened.
    call : FunctionCall, optional
        The call in which it happened.
    passed : tuple of (str, int)
        The files and lines that ran just before it without a step of their own.
    memory : int, optional
        The bytes that its tape held after it.
    mark : int
        How much the trace had heard before it.
    numbers : dict of str to Any
        For an assignment to a variable: the plain numbers that its line names.
    """

    event: Event
    where: Where | None = None
    call: Any = None
    passed: tuple[tuple[str, int], ...] = ()
    memory: int | None = None
    mark: int = 0
    numbers: Mapping[str, Any] = MappingProxyType({})


class Trace:
    """What happened inside a `with trace() as ...` block.

    Attributes
    ----------
    title : str
        Shown above the player.

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
        self.happenings: list[Happening] = []
        self.heard: list[Entry | Read] = []  # what was computed, and what was read as plain numbers, on a tape or not
        self.aside: tuple[Tape, ...] = ()  # tapes that the user's code does not know about
        self.scopes: dict[int, tuple[str, ...]] = {}  # by the id of an entry's output: where it was computed
        self.turns: dict[int, tuple[Any, ...]] = {}  # likewise: the turns of loops in which it was
        self.earlier: dict[int, list[Entry]] = {}  # what a tape held when the trace first met it
        self.called: dict[int, str] = {}  # an explanation's name for a source
        self.made: dict[int, int] = {}  # by the id of a tensor: the one that it was made of
        self.assigned: dict[int, str] = {}  # by the id of a tensor: the name that a line gave it first
        self.variables: set[int] = set()  # the ids of those that were read while a tape was paused
        self.received: dict[int, str] = {}  # by the id of a tensor: the parameter of the user's that it was passed for
        self.returned: dict[int, str] = {}  # by the id of a tensor: the user's function that returned it
        self.causes: tuple[str, ...] = ()  # an explanation's reasons, each the text of one of its events
        self.failure: Failure | None = None  # the operation that raised the error which ended it
        self._failed: list[FailedOperation] = []
        self._held: dict[int, Any] = {}  # by the id of a tape
        self._causes: dict[Any, tuple[Any, ...]] = {}  # why there was no derivative, by source and place
        self.sources: list[Any] = []  # what else it listens to, while the block runs
        self._lines: Any = None  # what follows the lines of code, while the block runs

    @property
    def events(self) -> list[Event]:
        """The typed events, in order."""
        return [happening.event for happening in self.happenings]

    def add(self, *events: Event) -> None:
        """Add events that happened on no line of the user's code, such as remarks."""
        self.happenings += [Happening(event) for event in events]

    def report(self, event: Event) -> None:
        """Add an event that happens now, on a tape of another library's."""
        self._lines.work(self._lines.see, event)

    def as_tensor(self, value: Any) -> Any:
        """Return the trace's tensor for a value of another library's, if it has one; otherwise the value."""
        if not isinstance(value, Tensor):
            for source in self.sources:
                value = source.find_known(value)
        return value

    def __len__(self) -> int:
        return len(self.happenings)

    def __repr__(self) -> str:
        return f"Trace({self.title!r}, {len(self)} steps)"

    def _see(self, event: Event) -> None:
        """Keep an event as it is now: tapes will release arrays, and variables will be assigned."""
        if self._lines is not None:
            self._lines.before(event)
        tape, entry = getattr(event, "tape", None), getattr(event, "entry", None)
        if tape is not None and id(tape) not in self.earlier:
            self.earlier[id(tape)] = [e.copy() for e in tape.entries if e is not entry]
        changes: dict[str, Any] = {} if entry is None else {"entry": entry.copy()}
        if isinstance(event, events.Record | events.Cut | events.Skip):
            if opened.names:
                self.scopes[event.entry.output_id] = opened.names
            if turns := () if self._lines is None else self._lines.list_turns():
                self.turns.setdefault(event.entry.output_id, turns)
        if isinstance(event, events.Outcome) and not event.connected:
            changes["causes"] = self._why(event, here(2))
        for role in ("tensor", "variable", "source"):
            if role in event.fields and isinstance(value := getattr(event, role), Variable):
                changes[role] = value.as_it_is()
        kept = event.replace(**changes) if changes else event
        goes_on = self.happenings and isinstance(self.happenings[-1].event, events.Seed)  # a pass from several targets
        if isinstance(event, events.Seed) and getattr(tape, "stepwise", False) and not goes_on:
            from .memory import Stepped

            kept = Stepped(*kept)
        where = here(2) if entry is None and "where" not in event.fields else None
        call, passed = None, ()
        if self._lines is not None:
            call, passed, self._lines.passed = self._lines.call, tuple(self._lines.passed), []
        memory = None
        if tape is not None and not isinstance(tape, ForeignTape):
            if id(tape) not in self._held:
                from .memory import Held

                self._held[id(tape)] = Held(tape)
            memory = self._held[id(tape)].after(event)
        numbers = _list_numbers(where) if where is not None and isinstance(event, events.Assign) else {}
        self.happenings.append(Happening(kept, where, call, passed, memory, len(self.heard), numbers))

    def _why(self, event: Outcome, where: Where) -> tuple[Any, ...]:
        """Ask the tape why there is no derivative; only once in a loop."""
        key = event.source._id, id(where[0]), where[1]
        if key not in self._causes:
            self._causes[key] = ()
            if hasattr(event.tape, "explain"):  # core's Tape does not answer questions
                explanation = event.tape.explain(event.targets, event.source)
                self._causes[key], self.called[event.source._id] = explanation.causes, explanation.called
        return self._causes[key]

    def without(self, *tapes: Tape) -> Trace:
        """Return the same trace without the events of some tapes."""
        rest = copy(self)
        rest.happenings = []
        passing: list[tuple[str, int]] = []  # what only those tapes recorded passes without a step
        for happening in self.happenings:
            passing += happening.passed
            event = happening.event
            if getattr(event, "tape", None) not in tapes:
                rest.happenings.append(happening._replace(passed=tuple(passing)))
                passing = []
            elif isinstance(event, events.Record | events.Cut | events.Skip):
                at = place(event.entry.where)
                passing.append((at.path, at.line))
        return rest

    def note_failure(self, failed: FailedOperation) -> None:
        """Note the last operation that failed; if its error ends the trace, its operands are shown."""
        self._failed[:] = [failed]

    def explain(self, target: Any, source: Any) -> Any:
        """Explain why a gradient of PyTorch's is None, or the path along which it flows and what is wrong with it.

        Parameters
        ----------
        target, source : torch.Tensor
            Computed and made while the block of the trace was running.

        Returns
        -------
        Explanation
            As `GradientTape.explain` returns for our own tensors.

        Raises
        ------
        TypeError
            If they are not PyTorch's, or if the trace has not seen PyTorch.

        Examples
        --------
        >>> import torch  # doctest: +SKIP
        >>> import autodiff_edu as ad
        >>> with ad.trace() as steps:  # doctest: +SKIP
        ...     x = torch.tensor(3.0, requires_grad=True)
        ...     y = x.detach() * 2.0
        >>> print(steps.explain(y, x))  # doctest: +SKIP
        dy/dx is None:
        - doctest, line 3: x.detach() cuts the flow on purpose. Use x itself where the gradient should pass.
        """
        for one in self.sources:
            return one.explain(target, source)
        raise TypeError("this trace has not seen PyTorch. For our own tensors, call explain on their tape.")

    def note_error(self, error: BaseException) -> None:
        """Note that the traced code raised an exception, at the user's innermost line."""
        notes = [note for source in self.sources for note in source.advise(error)]
        where, at = None, error.__traceback__
        while at is not None:
            if is_theirs[at.tb_frame.f_code.co_filename]:
                where = at.tb_frame.f_code, at.tb_lasti
            at = at.tb_next
        if self._failed and self._failed[0].error is error:
            self.failure = failure_of(self._failed.pop())
        message = str(error).strip().partition("\n")[0]
        message = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"
        text = f"{type(error).__name__}{': ' if message else ''}{message}"
        if advice := explain_sequence(error) or explain_none(error, self.events):
            text = f"{text.rstrip('.')}. {advice.rstrip('.')}"
            error.add_note(advice)
        self._see(events.Error(where, text))
        for note in notes:
            self._see(events.Remark(note))

    def document(self) -> dict[str, Any]:
        """Return the trace as the nested dicts and lists that `document.py` describes.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0, name="x")
        >>> with ad.trace("a square") as steps, ad.GradientTape() as tape:
        ...     y = x * x
        >>> [step["kind"] for step in steps.document()["steps"]]
        ['watch', 'record']
        """
        from .document import Writer  # not worth the import time if you only differentiate
        from .garbage_collection import without_collecting

        with without_collecting():
            return Writer(self).document

    def to_json(self) -> str:
        """Return the trace as a JSON string; the same trace gives the same string.

        Examples
        --------
        >>> import json
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0, name="x")
        >>> with ad.trace("a square") as steps, ad.GradientTape() as tape:
        ...     y = x * x
        >>> json.loads(steps.to_json())["title"]
        'a square'
        """
        import json  # not worth the import time if you only differentiate

        return json.dumps(self.document(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    def transcript(self) -> str:
        """Return the trace as numbered sentences.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.Variable(3.0, name="x")
        >>> with ad.trace("a square") as steps, ad.GradientTape() as tape:
        ...     y = x * x
        >>> print(steps.transcript())
        1. The tape watches x, which is 3.
        2. Line 2: y is x times x, which is 9. The tape records it as entry 1.
        """
        from .sentences import transcript

        return transcript(self.document())


def _list_numbers(where: Where) -> dict[str, Any]:
    """List the plain numbers named in the user's expression that is running."""
    node, frame = expression(where), user_frame(sys._getframe())
    names = () if node is None else {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    found = {name: frame.f_locals.get(name, frame.f_globals.get(name)) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, int | float | np.number)}


class _Hook(hook):
    """A hook whose own work is not followed line by line."""

    lines: Any

    def _see(self, event: Event) -> None:
        self.lines.work(super()._see, event)
        if self._failures:  # the user's own recursion may have left no room; its own error says so
            self._failures = [failure for failure in self._failures if not isinstance(failure, RecursionError)]


def trace(title: str = "trace", *called: Any) -> AbstractContextManager[Trace]:
    """Keep everything that happens on tapes inside a `with` block, in this thread or task.

    Parameters
    ----------
    title : str
        Shown above the player.
    *called
        Nothing: a trace is a `with` block, and does not call a function, as `play` does.

    Returns
    -------
    context manager
        Its value is a `Trace`, which is filled while the block runs.

    Raises
    ------
    TypeError
        If the title is not a string, such as a function.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.trace() as steps, ad.GradientTape() as tape:
    ...     y = x * x
    >>> steps
    Trace('trace', 2 steps)
    """
    given: Any = title
    if not isinstance(given, str):
        name = getattr(given, "__name__", "f")
        written = [_write_on_one_line(arg, 20) for arg in called]
        passed = ", ".join("..." if text.endswith("…") else text for text in written)  # it is code to be copied
        call = f"{name if name.isidentifier() else 'f'}({passed})"
        raise TypeError(
            "ad.trace is a `with` block: it keeps what the code in it does, and calls no function by itself. "
            f"Write:\n\n    with ad.trace() as steps:\n        {call}\n\nand then ad.play(steps). To run a function "
            "and its derivative and see both at once, call ad.play with it and its arguments."
        )
    if called:
        raise TypeError(
            f"ad.trace takes a title and nothing else, but was also given {_write_on_one_line(called[0], 60)}"
        )
    return _keep(title)


def _write_on_one_line(value: Any, most: int) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


@contextmanager
def _keep(title: str) -> Iterator[Trace]:
    from .lines import Lines  # not worth the import time if you only differentiate

    kept = Trace(title)
    hooked = _Hook(kept._see)
    kept._lines = hooked.lines = Lines(kept, hooked)
    with hooked, kept._lines, note_failures(kept._failed), warn_at_the_line(), ExitStack() as stack:
        kept.sources = [stack.enter_context(source) for start in sources if (source := start(kept)) is not None]
        try:
            yield kept
        except Exception as error:
            kept.note_error(error)
            raise
