"""Follows what a checkpointed function computes, instead of the tapes, and keeps none of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.active import now, only, tick
from ..core.entry import PLAIN, Entry
from ..core.rule import RULES
from ..core.tape import Tape
from ..core.tensor import Tensor
from ..core.variable import Variable
from .strays import Computed


class Inside(Tape):
    """A tape without entries: it follows what other tapes follow, and notes which tensors from outside are read.

    Attributes
    ----------
    read : dict
        The variables, and the other tensors older than this tape, that operations have read, by their ids.
    plain : dict
        The variables whose plain numbers were read.
    computed : Computed
        The ids of what was computed from what is followed.
    """

    def __init__(self, tapes: list[Tape]) -> None:
        super().__init__()
        self.tapes, self.read, self.plain = tapes, dict[int, Tensor](), dict[int, Variable]()
        self.computed, self.began = Computed(), tick()

    def _record(self, entry: Entry, inputs: tuple[Any, ...]) -> None:
        if self._running() is None:
            return
        if entry.values is None:
            if entry.output_id == PLAIN:
                self.plain.update((x._id, x) for x in inputs if isinstance(x, Variable))
            return
        for x in inputs:
            if isinstance(x, Tensor):
                self.note(x)
        known = RULES.get(entry.operation)
        cut = known.kind == "step" if known else entry.output_value.dtype.kind not in "fc"
        if not cut and self.follows(entry.ids):
            self._connected.add(entry.output_id)
            self.computed.add(entry.output_id)

    def note(self, x: Tensor) -> None:
        """Note that a tensor was read or returned."""
        if x._id < self.began or isinstance(x, Variable):
            self.read[x._id] = x
            if isinstance(x, Variable) and self._watches(x):
                self._connected.add(x._id)

    def take_in(self, other: Inside) -> None:
        """Note what another checkpointed function, called in this one, computed and read besides its arguments."""
        self.computed.extend(other.computed)
        self.plain.update(other.plain)

    def follows(self, ids: Any) -> bool:
        """Return whether one of the tapes has, or would have, a path back to one of these tensors."""
        return not self._connected.isdisjoint(ids) or any(tape.follows(ids) for tape in self.tapes)

    def guard(self, tensor: Tensor, check: Any) -> Any:
        """Run `check` before handing out plain numbers; an error names the innermost tape, which would miss them."""
        if self.follows((tensor._id,)) or (isinstance(tensor, Variable) and self._watches(tensor)):
            check(self.tapes[-1]._life)
        return check

    def _watches(self, variable: Variable) -> bool:
        return any(tape._watches(variable) for tape in self.tapes)


class Again(Tape):
    """The tape of a second run of a checkpointed function; not one that the user's code has opened."""


def tapes_here() -> list[Tape]:
    """List the tapes that are recording."""
    return [follower for follower in now().followers if isinstance(follower, Tape)]


def without(tapes: Iterable[Tape], *hooks: Any) -> only:
    """Return a `with` block in which these tapes hear nothing, but all others do, and these hooks too."""
    away = set(map(id, tapes))
    return only(*(one for one in now().listeners if id(getattr(one, "__self__", one)) not in away),
                hooks=(*now().hooks, *hooks))  # fmt: skip


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
