"""A program as a list of instructions: what a recorded function computes, in order, before it is written as text.

An instruction looks like an entry of a tape, so that one writer writes both, but its values are not numbers: they are
placeholders with a shape and a dtype, or constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from ..core.variable import Variable
from ..text.frames import Where
from ..text.functions import name_of


class Value:
    """An argument, the value of a variable, a constant, or the result of an instruction.

    Attributes
    ----------
    shape, dtype, ndim, nbytes
        Of the array or NumPy scalar that it stands for.
    array : ndarray, scalar or None
        The numbers, if they depend on no argument and no variable.
    label : str or None
        What the reader's code calls it.
    number : int
        Of a result without a name: its place among those that were recorded, so that a program calls it the same after
        every pass; 0 if a pass made it.
    """

    __slots__ = ("array", "dtype", "label", "nbytes", "ndim", "number", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any, array: Any = None, label: str | None = None) -> None:
        self.shape, self.dtype, self.array, self.label = shape, dtype, array, label
        self.ndim = len(shape)
        self.nbytes = prod(shape) * dtype.itemsize
        self.number = 0

    @classmethod
    def like(cls, array: Any, label: str | None = None) -> Value:
        """Return a placeholder for an array."""
        return cls(array.shape, array.dtype, None, label)

    @classmethod
    def constant(cls, array: Any, label: str | None = None) -> Value:
        """Return a constant."""
        return cls(array.shape, array.dtype, array, label)

    def __repr__(self) -> str:
        name = self.label or (f"t{self.number}" if self.number else "")
        return f"<{'Value' if self.array is None else 'constant'} {name}{self.shape} {self.dtype}>"


class Instruction:
    """One operation of a program.

    Attributes
    ----------
    operation, parameters
        As in an `Entry`; the operation of a guard is the name of what was asked, `bool` or `int`.
    values : list
        The arguments: values, plain numbers, and tuples or lists of them.
    output_value : Value or None
        The result, or the first of several; None for a guard.
    outputs : tuple of Value
        All results: none for a guard, several for a function such as np.split that a file keeps whole.
    where : code object and offset
        The line that computed it. In what was loaded from a file, it is text, and so is the operation.
    errors : dict or None
        The `np.errstate` around it, such as {"invalid": "ignore"}.
    answer : bool or int
        Of a guard: the answer when the function was recorded.
    backward : Listing or None
        Of a custom gradient that a file keeps whole: from the cotangents of its outputs to a gradient for each of its
        sources, or None.
    """

    __slots__ = (
        "answer",
        "backward",
        "errors",
        "operation",
        "output_value",
        "outputs",
        "parameters",
        "values",
        "where",
    )

    def __init__(
        self,
        operation: Any,
        values: list[Any],
        parameters: dict[str, Any],
        output_value: Value | None,
        where: Where,
        errors: dict[str, str] | None = None,
    ) -> None:
        self.operation, self.values, self.parameters = operation, values, parameters
        self.output_value: Any = output_value
        self.outputs: tuple[Value, ...] = () if output_value is None else (output_value,)
        self.where, self.errors = where, errors
        self.answer: Any = None
        self.backward: Listing | None = None

    @classmethod
    def guard(cls, question: str, value: Value, answer: bool | int, where: Where) -> Instruction:
        """Return a question about a value; the rest of the program is only for this answer."""
        guard = cls(question, [value], {}, None, where)
        guard.answer = answer
        return guard

    name = property(lambda self: name_of(self.operation, self.operation))
    is_guard = property(lambda self: self.output_value is None)

    def reads(self) -> Iterator[Value]:
        """Iterate over the values that it needs."""
        for value in self.values:
            if type(value) is Value:
                yield value
            elif type(value) in _NESTED:
                yield from values_in(value)
        if self.parameters:
            yield from values_in(self.parameters)
        if self.backward is not None:
            for instruction in self.backward.instructions:
                yield from instruction.reads()
            yield from values_in(self.backward.results)

    def with_values(self, instead: dict[Value, Value]) -> Instruction:
        """Return the instruction with some values replaced; itself if it reads none of them."""
        if not any(value in instead for value in self.reads()):
            return self
        changed = Instruction(
            self.operation, replaced(self.values, instead), replaced(self.parameters, instead), self.output_value,
            self.where, self.errors,
        )  # fmt: skip
        changed.answer, changed.outputs = self.answer, self.outputs
        return changed


_NESTED = {tuple, list, slice, dict}


def values_in(structure: Any) -> Iterator[Value]:
    """Iterate over the values inside an argument or the parameters."""
    kind = type(structure)
    if kind is Value:
        yield structure
    elif kind in (tuple, list):
        for part in structure:
            yield from values_in(part)
    elif kind is dict:
        for part in structure.values():
            yield from values_in(part)
    elif kind is slice:
        for part in (structure.start, structure.stop, structure.step):
            yield from values_in(part)


def mapped(structure: Any, change: Callable[[Any], Any]) -> Any:
    """Return an argument, or the parameters, with every part that is not a container changed."""
    kind = type(structure)
    if kind in (tuple, list):
        return kind([mapped(part, change) for part in structure])
    if kind is dict:
        return {name: mapped(part, change) for name, part in structure.items()}
    if kind is slice:
        return slice(*(mapped(part, change) for part in (structure.start, structure.stop, structure.step)))
    return change(structure)


def replaced(structure: Any, instead: dict[Value, Value]) -> Any:
    """Return an argument, or the parameters, with some values replaced."""
    return mapped(structure, lambda part: instead.get(part, part) if type(part) is Value else part)


@dataclass(frozen=True)
class Listing:
    """The instructions of one path through a function, with what goes in and what comes out.

    Attributes
    ----------
    arguments : tuple of Value
        The arrays among the function's arguments, in order.
    variables : tuple of (Variable, Value)
        The variables that it reads.
    instructions : list of Instruction
    results : tuple of Value
        What the function returns.
    assigned : tuple of (Variable, Value)
        The variables' new values.
    joined : set of Value
        The results that are written where they are used, not on lines of their own.
    into : dict
        For some results, the earlier one whose array they are written into, because nothing needs it any more.
    """

    arguments: tuple[Value, ...]
    variables: tuple[tuple[Variable, Value], ...]
    instructions: list[Instruction]
    results: tuple[Value, ...]
    assigned: tuple[tuple[Variable, Value], ...]
    joined: frozenset[Value] = frozenset()
    into: dict[Value, Value] = field(default_factory=dict)

    def kept(self) -> set[Value]:
        """Return the values that leave the program."""
        return {*self.results, *(value for _, value in self.assigned)}

    def with_instructions(self, instructions: list[Instruction], instead: dict[Value, Value] | None = None) -> Listing:
        """Return a listing with these instructions; `instead` has new values for those that leave the program."""
        if not instead:
            return replace(self, instructions=instructions)
        return replace(
            self,
            instructions=instructions,
            results=tuple(instead.get(value, value) for value in self.results),
            assigned=tuple((variable, instead.get(value, value)) for variable, value in self.assigned),
        )
