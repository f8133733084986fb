"""What a tape is made of: `Entry`, and what its backward pass is made of: `Step` and `Contribution`."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..text.places import Place, Where, place
from .events import active
from .tensor import Tensor, wrap


class Entry:
    """One recorded operation: what was computed, from which values, and where in the user's code.

    Attributes
    ----------
    operation : callable
        The NumPy function, or one of this package's own.
    ids : tuple
        For each argument the identity of the tensor it was, or None where it was a plain array or number.
    values : tuple
        The plain arrays and numbers of the arguments at that time; None once the tape has released them.
    parameters : dict
        The keyword arguments.
    output_id : int
        The identity of the tensor that came out.
    output_value : ndarray or scalar
        Its plain value; None once the tape has released it.
    """

    __slots__ = ("code", "ids", "offset", "operation", "output_id", "output_value", "parameters", "values")

    def __init__(
        self,
        operation: Any,
        ids: tuple[int | None, ...],
        values: tuple[Any, ...] | None,
        parameters: dict[str, Any],
        output_id: int,
        output_value: Any,
        where: Where,
    ) -> None:
        self.operation = operation
        self.ids = ids
        self.values: Any = values
        self.parameters = parameters
        self.output_id = output_id
        self.output_value = output_value
        self.code, self.offset = where  # not as a pair: a tuple less for the garbage collector to look through

    @property
    def where(self) -> Where:
        """The code object and the offset at which the user's code computed it."""
        return self.code, self.offset

    @property
    def name(self) -> str:
        """The operation's name, such as "multiply"."""
        return str(self.operation.__name__)

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The arguments, as tensors where they were tensors."""
        return tuple(v if i is None else wrap(v, i) for i, v in zip(self.ids, self._kept(), strict=True))

    @property
    def output(self) -> Tensor:
        """The result, as a tensor."""
        self._kept()
        return wrap(self.output_value, self.output_id)

    @property
    def place(self) -> Place:
        """Where the user's code computed it."""
        return place(self.where)

    def is_followed(self, cotangent: Any) -> bool:
        """Whether some tape is recording and follows what this entry's rules would compute from."""
        ids = (*self.ids, self.output_id)
        return isinstance(cotangent, Tensor) or any(not tape._connected.isdisjoint(ids) for tape in active.tapes)

    def _kept(self) -> tuple[Any, ...]:
        if self.values is None:
            raise RuntimeError(
                f"the arrays of {self!r} were released with its one-shot tape; use GradientTape(persistent=True)"
            )
        return self.values

    def __repr__(self) -> str:
        return f"Entry({self.name}, {self.place})"


class Contribution(NamedTuple):
    """What one entry sends back to one of its arguments, and the accumulator before (None at first) and after."""

    argument: int
    id: int
    before: Any
    value: Any
    after: Any


class Step(NamedTuple):
    """One step of the backward pass: the entry, the cotangent that arrived at its output, and what it sent on."""

    entry: Entry
    cotangent: Any
    contributions: tuple[Contribution, ...]
