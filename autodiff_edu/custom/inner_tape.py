"""Follows what a checkpointed function computes, instead of the tapes, and keeps none of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..core.active import Hear, Listener, now, only, tick
from ..core.entry import Entry
from ..core.events import Read
from ..core.rule import rule_of
from ..core.tape import Tape
from ..core.tensor import Tensor
from ..core.variable import Variable
from .inner_tensors import IdRanges


class InnerTape(Tape):
    """A tape without entries: it follows what other tapes follow, and notes which tensors from outside are read.

    Attributes
    ----------
    read : dict
        The variables, and the other tensors older than this tape, that operations have read, by their ids.
    plain : dict
        The variables whose plain numbers were read.
    computed : IdRanges
        The ids of what was computed from what is followed.
    """

    def __init__(self, tapes: list[Tape]) -> None:
        super().__init__()
        self.tapes, self.read, self.plain = tapes, dict[int, Tensor](), dict[int, Variable]()
        self.computed, self.began = IdRanges(), tick()

    @property
    def hears(self) -> Mapping[type, Hear]:
        """It also hears when plain numbers are read."""
        return {Entry: self._record, Read: self._read}

    def _read(self, event: Read) -> None:
        if isinstance(event.tensor, Variable) and self._running() is not None:
            self.plain[event.tensor._id] = event.tensor

    def _record(self, entry: Entry) -> None:
        if self._running() is None:
            return
        for x in entry.given:
            if isinstance(x, Tensor):
                self.note(x)
        if self.refused:
            self.refused.check(entry.ids)
        known = rule_of(entry.operation)
        cut = known.kind == "step" if known else entry.output_value.dtype.kind not in "fc"
        if not cut and self.follows(entry.ids):
            self.connected.add(entry.output_id)
            self.computed.add(entry.output_id)

    def note(self, x: Tensor) -> None:
        """Note that a tensor was read or returned."""
        if x._id < self.began or isinstance(x, Variable):
            self.read[x._id] = x
            if isinstance(x, Variable) and self.watches(x):
                self.connected.add(x._id)

    def take_in(self, other: InnerTape) -> None:
        """Note what another checkpointed function, called in this one, computed and read besides its arguments."""
        self.computed.extend(other.computed)
        self.plain.update(other.plain)

    def follows(self, ids: Any) -> bool:
        """Return whether one of the tapes has, or would have, a path back to one of these tensors."""
        return not self.connected.isdisjoint(ids) or any(tape.follows(ids) for tape in self.tapes)

    def refuse_loss(self, tensor: Tensor, refuse: Any) -> None:
        """Call `refuse` if one of the tapes would lose a gradient; the error describes the innermost tape."""
        if self.refused:
            self.refused.check((tensor._id,))
        if self.follows((tensor._id,)) or (isinstance(tensor, Variable) and self.watches(tensor)):
            refuse(self.tapes[-1].life)

    def watches(self, variable: Variable) -> bool:
        """Return whether one of the tapes would watch a variable."""
        return any(tape.watches(variable) for tape in self.tapes)


class SecondTape(Tape):
    """The tape of a second run of a checkpointed function; not one that the user's code has opened.

    Attributes
    ----------
    function : str
        The name of the function, for sentences.
    """

    def __init__(self, function: str) -> None:
        super().__init__(watch_accessed_variables=False)
        self.function = function


def tapes_here() -> list[Tape]:
    """List the tapes that are recording."""
    return [follower for follower in now().followers if isinstance(follower, Tape)]


def without(tapes: Iterable[Tape], *others: Listener) -> only:
    """Return a `with` block in which these tapes hear nothing, all other listeners do, and so do some new ones."""
    away = set(tapes)  # the new ones come first: nobody has heard what they refuse
    return only(*others, *(listener for listener in now().listeners if listener not in away))


@contextmanager
def as_they_were(tensors: Iterable[Any], values: Iterable[Any]) -> Iterator[None]:
    """Set tensors to other values during a `with` block; variables, for example, those of the forward pass.

    The function may read tensors that are not arguments, so passing it other tensors would not be enough.
    """
    pairs = [(x, value) for x, value in zip(tensors, values, strict=True) if isinstance(x, Tensor)]
    changed = [(x, x._array, value) for x, value in pairs if x._array is not value]
    try:
        for x, _, value in changed:
            x._array = value
        yield
    finally:
        for x, before, _ in changed:
            x._array = before
