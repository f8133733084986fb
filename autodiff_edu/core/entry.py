"""What is known of one operation that was computed. A tape is a list of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..text.places import here, place
from .active import active

PLAIN = 0
"""In place of a tensor's id: numbers outside every tensor, in NumPy's or Python's hands."""


class Entry:
    """One operation: what was computed, from which values, and where in the user's code.

    Without its arrays it is still an entry: that is what a used tape keeps. What is left then is the `line`, a tuple of
    operation, ids, output_id, code object and offset; the journal keeps that alone.

    Attributes
    ----------
    operation, name : callable, str
        The NumPy function, or one of this package's own, and its name. For what is not an operation a word: see `note`.
    ids : tuple
        For each argument the identity of the tensor it was, or None where it was a plain array or number.
    output_id : int
        The identity of the tensor that came out.
    parameters : dict
        The keyword arguments.
    values, output_value : tuple; ndarray or scalar
        The plain arguments and the plain output at that time; None once they have been released.
    where, place
        The user's code that computed it: as code object and offset, and as file, line and columns.
    """

    __slots__ = ("line", "output_value", "parameters", "values")

    wrap: ClassVar[Callable[[Any, int], Any]]  # tensor.py sets it: entries come first, and tensors are made of them

    def __init__(self, line: tuple[Any, ...], parameters: Any, values: Any, output_value: Any) -> None:
        self.line = line
        self.parameters = parameters
        self.values = values
        self.output_value = output_value

    operation = property(lambda self: self.line[0])
    ids = property(lambda self: self.line[1])
    output_id = property(lambda self: self.line[2])
    where = property(lambda self: self.line[3:])

    def copy(self) -> Entry:
        """Return an entry that shares the arrays, and keeps them when this one is released."""
        return Entry(self.line, self.parameters, self.values, self.output_value)

    def release(self) -> None:
        """Let go of the arrays; what was computed, and where, stays."""
        self.values = self.output_value = None

    name = property(lambda self: str(self.operation.__name__))
    place = property(lambda self: place(self.where))  # in the user's code

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The arguments, as tensors where they were tensors."""
        return tuple(v if i is None else Entry.wrap(v, i) for i, v in zip(self.ids, self._kept(), strict=True))

    @property
    def output(self) -> Any:
        """The result, as a tensor."""
        self._kept()
        return Entry.wrap(self.output_value, self.output_id)

    def _kept(self) -> Any:
        if self.values is None:
            raise RuntimeError(f"{self!r} was released with its one-shot tape; use GradientTape(persistent=True)")
        return self.values

    def __repr__(self) -> str:
        return f"Entry({self.name}, {self.place})"


def tell(entry: Entry, inputs: tuple[Any, ...]) -> None:
    """Hand an entry to every listener of this thread."""
    for listener in active.listeners:
        listener(entry, inputs)


def note(word: str, ids: tuple[int | None, ...], output_id: int, *inputs: Any) -> None:
    """Tell the listeners of what is not an operation, as an entry without arrays.

    The word is "made" (from numbers), "assign" or "gradient" and its kind, or says how a tensor was handed over as
    plain numbers, such as "numpy()"; then `output_id` is `PLAIN`.
    """
    if active.listeners:
        tell(Entry((word, ids, output_id, *here(2)), {}, None, None), inputs)
