"""What happens while a tape works, as small typed records, passed to the callbacks that `hook` installs.

A callback receives every event of this thread, in order. Without one, no event is built: the code that would announce
it checks `now().hooks` first.

>>> import autodiff_edu as ad
>>> x = ad.constant(3.0)
>>> seen = []
>>> with ad.hook(seen.append), ad.GradientTape() as tape:
...     tape.watch(x)
...     y = x * x
>>> [type(event).__name__ for event in seen]
['Watch', 'Record']
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any

from ..core.active import always, begin, listen, now, only
from ..core.entry import Entry
from ..core.tape import Tape
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..text.places import Where
from ..text.with_block import Exit, WithBlock


class Event:
    """Something that happened: its class says what, its attributes hold the details.

    These are not dataclasses: a dozen of those would take longer to import than the tape itself.
    """

    __slots__: tuple[str, ...] = ()

    def __init__(self, *details: Any) -> None:
        for name, detail in zip(self.__annotations__, details, strict=True):
            object.__setattr__(self, name, detail)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an event is a record of what happened: its {name} cannot be changed")

    def replaced(self, **changes: Any) -> Any:
        """Return the same event with some of its details changed."""
        return type(self)(*(changes.get(name, getattr(self, name)) for name in self.__annotations__))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__annotations__)})"


class Watch(Event):
    """A tape started to watch a tensor, at a place in the user's code."""

    __slots__ = ("tape", "tensor", "where")

    tape: Tape
    tensor: Tensor
    where: Where


class Record(Event):
    """A tape appended an entry."""

    __slots__ = ("entry", "tape")

    tape: Tape
    entry: Entry


class Skip(Event):
    """An operation was computed, but this tape watches none of its inputs."""

    __slots__ = ("entry", "tape")

    tape: Tape
    entry: Entry


class Missed(Skip):
    """An operation was computed while this tape was paused, and no other tape heard of it; only a trace sees it."""

    __slots__ = ()

    tape: Tape
    entry: Entry


class Cut(Event):
    """An entry was appended through which nothing flows back: its derivative is zero everywhere."""

    __slots__ = ("entry", "tape")

    tape: Tape
    entry: Entry


class Pause(Event):
    """A tape was paused."""

    __slots__ = ("tape",)

    tape: Tape


class Resume(Event):
    """A paused tape resumed recording."""

    __slots__ = ("tape",)

    tape: Tape


class Reset(Event):
    """A tape forgot its entries and its watches."""

    __slots__ = ("tape",)

    tape: Tape


class Seed(Event):
    """A backward pass started at a target with its first cotangent."""

    __slots__ = ("cotangent", "tape", "tensor")

    tape: Tape
    tensor: Tensor
    cotangent: Tensor


class PullBack(Event):
    """A cotangent arrived at the output of an entry; its rules are about to be applied."""

    __slots__ = ("cotangent", "entry", "tape")

    tape: Tape
    entry: Entry
    cotangent: Tensor


class Accumulate(Event):
    """One contribution was added up for one argument of an entry; `before` is None for the first."""

    __slots__ = ("after", "argument", "before", "contribution", "entry", "tape", "tensor")

    tape: Tape
    entry: Entry
    argument: int
    tensor: Tensor
    before: Tensor | None
    contribution: Tensor
    after: Tensor


class Move(Event):
    """A forward pass started on a tape: one of its tensors moves by this tangent."""

    __slots__ = ("tangent", "tape", "tensor")

    tape: Tape
    tensor: Tensor
    tangent: Tensor


class PushForward(Event):
    """A tangent arrived at the output of an entry.

    `tangents` and `contributions` have an item per argument: its tangent, and how far that moves the output; None for
    an argument that does not move.
    """

    __slots__ = ("contributions", "entry", "tangent", "tangents", "tape")

    tape: Tape
    entry: Entry
    tangents: tuple[Tensor | None, ...]
    contributions: tuple[Tensor | None, ...]
    tangent: Tensor


class Release(Event):
    """A one-shot tape released its arrays."""

    __slots__ = ("tape",)

    tape: Tape


class Assign(Event):
    """A variable got a new value."""

    __slots__ = ("value", "variable")

    variable: Variable
    value: Tensor


class Leave(Event):
    """A tensor that a tape follows was handed over as a plain array; no tape follows what is computed from it."""

    __slots__ = ("how", "tape", "tensor")

    tape: Tape
    tensor: Tensor
    how: str


class Line(Event):
    """A line of the user's code did something that is not an operation, named by `what`; only a trace sees it."""

    __slots__ = ("text", "what", "where")

    where: Where
    what: str
    text: str


class Error(Event):
    """The traced code raised an exception; the last event of its trace."""

    __slots__ = ("text", "where")

    where: Where | None
    text: str


class Outcome(Event):
    """A request for a derivative was answered, for one of its sources.

    `word` is "gradient", "jacobian" or "batch_jacobian", `result` a tensor or None. `connected` says whether the target
    depends on the source, `seeded` whether the caller passed first cotangents. `causes` say why there is no derivative;
    only a trace fills them in.
    """

    __slots__ = ("causes", "connected", "result", "seeded", "source", "tape", "targets", "word")

    tape: Tape
    word: str
    targets: tuple[Tensor, ...]
    source: Tensor
    result: Tensor | None
    connected: bool
    seeded: bool
    causes: tuple[Any, ...]


class Explain(Event):
    """A sentence of an explanation, at an entry if it is about one; added by `Explanation.trace`, never by a tape."""

    __slots__ = ("entry", "tape", "text", "where")

    tape: Tape
    text: str
    where: Where | None
    entry: Entry | None


class Remark(Event):
    """A sentence about what has happened; added by the owner of a trace, never by a tape."""

    __slots__ = ("text",)

    text: str


EVENTS: dict[str, type[Event]] = {kind.__name__: kind for kind in Event.__subclasses__()}
"""The event classes, by the word that announces them."""


class hook(WithBlock, ContextDecorator):  # noqa: N801
    """Call `callback(event)` for everything that happens inside the `with` block, in this thread or task.

    Parameters
    ----------
    callback : callable
        Receives one `Event` at a time: `Watch`, `Record`, `Skip`, `Cut`, `Pause`, `Resume`, `Reset`, `Seed`,
        `PullBack`, `Accumulate`, `Move`, `PushForward`, `Release`, `Outcome`, `Assign` or `Leave`. What it computes on
        tensors is neither recorded nor announced. If it raises an error, it is not called again; the computation goes
        on, and the error is raised when the block ends.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0, name="x")
    >>> with ad.hook(lambda event: print(type(event).__name__)):
    ...     x.assign(4.0)
    Assign
    Variable('x', 4.)
    """

    def __init__(self, callback: Callable[[Event], Any]) -> None:
        if not callable(callback):
            raise TypeError(
                f"a hook is a function that receives each event; this is the {type(callback).__name__} {callback!r:.60}"
            )
        self._callback = callback
        self._failures: list[Exception] = []

    def __enter__(self) -> None:
        if not self.over:
            raise RuntimeError("this hook is already active; create a second one with ad.hook(...)")
        begin(self)
        self._failures.clear()
        listen(*now().listeners, hooks=(*now().hooks, self._see))

    @Exit
    def __exit__(self, kind: Any, error: BaseException | None, place: Any) -> None:
        listen(*now().listeners, hooks=tuple(installed for installed in now().hooks if installed != self._see))
        self.end()
        for failure in self._failures:
            if error is None:
                raise failure
            error.add_note(f"before that, a hook raised {failure!r}")

    def _recreate_cm(self) -> hook:
        return hook(self._callback)

    def _see(self, what: str, *details: Any) -> None:
        if self._failures or what not in EVENTS:
            return
        try:
            with only(*always.listeners):  # the listeners of every thread: the journal
                self._callback(EVENTS[what](*details))
        except Exception as failure:
            self._failures.append(failure)
