"""Everything that can happen: a type for each, with one name in the code, in `ad.hook`, in a trace and in its document.

An operation that was computed, whether a tape follows it or not, is an `Entry`, which is an event too. The others are
built only if a listener hears their type (see `active.emit`), except those that `walk` always yields.

`tape` is a `Tape`, `entry` an `Entry`, `where` a place in the user's code; `tensor`, `source` and cotangents are
tensors, except in what `walk` yields: there they are usually plain arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, ClassVar

new: Callable[..., Any] = tuple.__new__  # new(Kind, (...)) takes half as long as Kind(...)

KINDS: list[type] = []
"""All types of events."""


class _Kind(type):
    """Makes an attribute of each annotation of a class, as NamedTuple does, in a tenth of the time."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        known = getattr(bases[0], "fields", ())
        own = tuple(body.get("__annotations__", ())) if known or bases[0] is not tuple else ()
        places = {name: property(itemgetter(k)) for k, name in enumerate(own, len(known))}
        fields = (*known, *own)
        body |= {**places, "fields": fields, "__match_args__": fields, "__slots__": ()}
        KINDS.append(kind := super().__new__(cls, name, bases, body))
        return kind


class Event(tuple[Any, ...], metaclass=_Kind):
    """Something that happened: its class says what, its attributes hold the details.

    These are not NamedTuples: thirty of those would take longer to import than the tape itself.
    """

    fields: ClassVar[tuple[str, ...]]

    def __new__(cls, *details: Any) -> Any:
        """Build an event from its details, in order."""
        if len(details) != len(cls.fields):
            raise TypeError(f"{cls.__name__} takes {', '.join(cls.fields)}")
        return new(cls, details)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)  # for copy and pickle

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"an event is a record of what happened: its {name} cannot be changed")

    __eq__, __ne__, __hash__ = object.__eq__, object.__ne__, object.__hash__  # none equals another

    def replace(self, **changes: Any) -> Any:
        """Return the same event with some of its details changed."""
        if unknown := sorted(changes.keys() - set(self.fields)):
            raise TypeError(f"{type(self).__name__} has no {', '.join(unknown)}; it has {', '.join(self.fields)}")
        return type(self)(*[changes.get(name, value) for name, value in zip(self.fields, self, strict=True)])

    def __repr__(self) -> str:
        pairs = zip(self.fields, self, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"


# Tensors --------------------------------------------------------------------------------------------------------------


class Begin(Event):
    """A function that is spelled out in others began."""


class End(Event):
    """A spelled-out function ended; `result` is None if it failed."""

    function: Any
    arguments: Any
    parameters: Any
    result: Any


class Make(Event):
    """A tensor or variable was made from a value."""

    tensor: Any
    source: Any


class Read(Event):
    """A tensor's plain numbers were read, with `numpy()`, `bool()`, `format()` and so on."""

    tensor: Any
    how: str


class Assign(Event):
    """A variable received a new value; if a listener raises an error, it gets the old one back.

    `before` is the array it had. `source` is what was passed: the new value or, if `operation` is np.add or
    np.subtract, the change.
    """

    variable: Any
    value: Any
    before: Any
    source: Any
    operation: Any


# A tape ---------------------------------------------------------------------------------------------------------------


class TapeEvent(Event):
    """Something that happened to a tape."""

    tape: Any


class EntryEvent(TapeEvent):
    """Something that happened to an entry of a tape."""

    entry: Any


class Enter(TapeEvent):
    """A tape began to record."""


class Exit(TapeEvent):
    """The block of a tape ended."""


class Pause(TapeEvent):
    """A tape was paused."""


class Resume(TapeEvent):
    """A paused tape resumed recording."""


class Reset(TapeEvent):
    """A tape forgot its entries and its watches."""


class Release(TapeEvent):
    """A one-shot tape released its arrays."""


class Watch(TapeEvent):
    """A tape started to watch a tensor, at a place in the user's code."""

    tensor: Any
    where: Any


class Record(EntryEvent):
    """A tape appended an entry."""


class Cut(EntryEvent):
    """An entry was appended through which nothing flows back: its derivative is zero wherever it exists."""


class Skip(EntryEvent):
    """An operation was computed, but this tape follows none of its inputs."""


class Leave(TapeEvent):
    """A tensor that a tape follows was handed over as a plain array; no tape follows what is computed from it."""

    tensor: Any
    how: str


class Return(Event):
    """A function with a custom gradient returned: `inside` as it computed them, `results` as its caller gets them."""

    call: Any
    inside: list[Any]
    results: list[Any]


# The passes -----------------------------------------------------------------------------------------------------------


class Seed(TapeEvent):
    """A backward pass started at a target with its first cotangent."""

    tensor: Any
    cotangent: Any


class PullBack(EntryEvent):
    """A cotangent arrived at the output of an entry; its rules are about to be applied."""

    cotangent: Any


class Accumulate(EntryEvent):
    """What one entry sends back to one of its arguments was added to the accumulator there.

    Attributes
    ----------
    argument : int
        The position of the argument.
    id : int
        The id of its tensor.
    before, value, after : Tensor or None
        The accumulator before (None at first), the contribution, and their sum.
    tensor : Tensor or None
        The argument, for listeners; None in `tape.steps`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.GradientTape() as tape:
    ...     y = x * x
    >>> for sent in next(tape.steps(y, x)).contributions:
    ...     print(sent.argument, sent.before, sent.value, sent.after)
    0 None Tensor(3.) Tensor(3.)
    1 Tensor(3.) Tensor(3.) Tensor(6.)
    """

    argument: int
    before: Any
    value: Any
    after: Any
    tensor: Any

    id = property(lambda self: self.entry.ids[self.argument])


class Pass(EntryEvent):
    """The rules of an entry have been applied; the walk moves on."""


class Move(TapeEvent):
    """A forward pass started on a tape: one of its tensors moves by this tangent."""

    tensor: Any
    tangent: Any


class PushForward(EntryEvent):
    """A tangent arrived at the output of an entry.

    `tangents` and `contributions` have an item per argument, or None: its tangent, and how far it moves the output.
    """

    tangents: tuple[Any, ...]
    contributions: tuple[Any, ...]
    tangent: Any


class Outcome(TapeEvent):
    """A request for a derivative was answered, for one of its sources.

    `word` is "gradient", "jacobian" or "batch_jacobian", `result` a tensor or None. `connected` says whether the target
    depends on the source, and `seeded` whether the caller passed the seeds. Only a trace fills in `causes`, the reasons
    why there is no derivative.
    """

    word: str
    targets: tuple[Any, ...]
    source: Any
    result: Any
    connected: bool
    seeded: bool
    causes: tuple[Any, ...]


# Only in a trace ------------------------------------------------------------------------------------------------------


class Missed(Skip):
    """An operation was computed while this tape was paused, and no other tape heard of it."""


class Line(Event):
    """A line did something else, called `what`. `left_out`: the lines it skips; `numbers`: the plain ones it named."""

    where: Any
    what: str
    text: str
    left_out: tuple[int, int] | None
    numbers: dict[str, Any]


class Error(Event):
    """The traced code raised an exception; the last event of its trace."""

    where: Any
    text: str


class Explain(TapeEvent):
    """A sentence of an explanation, about an entry or None; added by `Explanation.trace`."""

    text: str
    where: Any
    entry: Any


class Remark(Event):
    """A sentence about what has happened; added by the owner of a trace."""

    text: str
