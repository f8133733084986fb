"""Writes a listing as one NumPy function, with the reader's names and lines, and makes it callable."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..rules import operations
from ..text.frames import Where
from ..text.labels import Labels
from ..text.places import place
from .expressions import Computed, ExpressionWriter, write_zeros
from .instructions import Instruction, Listing, Value
from .passes import can_add_into, is_fresh
from .spelling import Text, infix, literal

METHODS = {np.reshape, np.sum, np.mean, np.max, np.min, np.prod}
"""Functions that arrays have as methods too, which take half the time."""

WIDEST = 60
"""The last column at which a remark may start."""


class ProgramLine(NamedTuple):
    """A line of a program, where the reader's code computes it, and the instruction that it is written for."""

    text: str
    remark: str = ""
    instruction: Instruction | None = None


class FunctionWriter(ExpressionWriter):
    """Writes the lines of a function that has no branches but its guards.

    Attributes
    ----------
    called : str
        The name of the function.
    namespace : dict
        What the function needs besides its arguments, by name: NumPy, constants, operations of this package.
    """

    def __init__(self, listing: Listing, name: str) -> None:
        values = (*listing.arguments, *(one.output_value for one in listing.instructions))
        super().__init__(Labels(taken=[value.label for value in values if value is not None and value.label]))
        self.listing = listing
        self.called = self.unique("function" if name == "<lambda>" else name)
        self.namespace: dict[str, Any] = {"np": np}
        self._texts: dict[Value, Text] = {}
        self._joined: dict[Value, Instruction] = {}
        self._places: dict[Where, str] = {}
        self._constants: dict[int, str] = {}
        self._added_into: set[Value] = set()  # what is scattered into the sum that it is added to

    def text(self) -> str:
        """Write the whole function."""
        head, *lines = self.write()
        column = max((len(line.text) for line in lines if line.remark and len(line.text) <= WIDEST), default=0)
        body = [f"    {text:<{column}}  # {remark}" if remark else f"    {text}" for text, remark, _ in lines]
        return "\n".join([head.text, *body])

    def write(self) -> list[ProgramLine]:
        """Write the function line by line."""
        listing = self.listing
        given = [self._named(value, f"x{k}") for k, value in enumerate(listing.arguments, 1)]
        given += [self._named(value, f"variable{k}") for k, (_, value) in enumerate(listing.variables, 1)]
        adding = [one for one in listing.instructions if one.operation is np.add]
        self._added_into = {one.values[1] for one in adding if listing.into.get(one.output_value) is one.values[0]}
        lines = [ProgramLine(f"def {self.called}({', '.join(given)}):")]
        outputs = [one.output_value for one in listing.instructions]
        number = count(max((value.number for value in outputs if value is not None), default=0) + 1)
        for instruction, value in zip(listing.instructions, outputs, strict=True):
            otherwise = self.labels.invent("t", value.number or next(number)) if value is not None else ""
            lines += [ProgramLine(text, remark, instruction) for text, remark in self._lines(instruction, otherwise)]
        shared = self._shared()
        ending = [self._leaving(value, shared) for value in listing.results]
        others = {*listing.results, *listing.arguments, *(value for _, value in listing.variables)}
        for _, value in listing.assigned:  # a variable's array is its own
            is_known = value in others or value in shared or value.array is not None
            ending.append(self.operand(None, value).text + ".copy()" * is_known)
            others.add(value)
        returned = f"return {', '.join(ending)}{',' if len(ending) == 1 else ''}" if ending else "return ()"
        return [*lines, ProgramLine(returned)]

    def list_needs(self) -> list[str]:
        """Describe what the function needs besides its arguments."""
        found = []
        for (module, name), known in self.imports.items():
            found.append(f"from {module} import {name}{'' if name == known else f' as {known}'}")
        for name in self._constants.values():
            value = self.namespace[name]
            if isinstance(value, np.ndarray):
                found.append(f"# {name} is a constant, an array of shape {value.shape} and dtype {value.dtype}")
            else:
                text = literal(value)
                found.append(f"# {name} is {text.text if text else repr(value)}")
        return found

    def constants(self) -> list[str]:
        """Return the names of the constants that have been written so far."""
        return [*self._constants.values()]

    # Names -----------------------------------------------------------------------------------------------------------

    def _named(self, value: Value, otherwise: str) -> str:
        name = self.unique(value.label or otherwise)
        self._texts[value] = Text(name)
        return name

    def _constant(self, value: Any, label: str) -> Text:
        """Return the name of a constant in the namespace."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = self.unique(label)
            self.namespace[name] = value
        return Text(name)

    def name(self, id: int | None, value: Any, otherwise: str = "c") -> str:
        """Return the name of a value that has no short text: a constant of the program."""
        return self._constant(value, otherwise).text

    def operand(self, id: int | None, value: Any, name: str | None = None, index: bool = False) -> Text:
        """Write an argument of an operation."""
        if type(value) is Value:
            known = self._texts.get(value)
            if known is None:  # a constant
                name = value.label or (f"t{value.number}" if value.number else None)
                known = self._texts[value] = self.operand(None, value.array, name)
            return known
        if type(value) in (tuple, list, slice):
            return Text(self._nested(value, index))
        is_array = isinstance(value, np.ndarray | np.generic)  # which is made once, not in every call
        text = None if is_array else literal(value, index)
        return self._constant(value, name or "c") if text is None else text

    def _nested(self, value: Any, index: bool) -> str:
        if type(value) is slice:
            parts = [value.start, value.stop, value.step]
            ends = ["" if part is None and index else self.operand(None, part).text for part in parts]
            return ":".join(ends if value.step is not None else ends[:2]) if index else f"slice({', '.join(ends)})"
        inside = ", ".join(self.operand(None, part, None, index).text for part in value)
        if index and type(value) is tuple and value:
            return inside
        if type(value) is list:
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"

    def _parameter(self, key: str, value: Any) -> Text:
        return self.operand(None, value, key)

    # Lines -----------------------------------------------------------------------------------------------------------

    def _lines(self, instruction: Instruction, otherwise: str) -> list[tuple[str, str]]:
        """Write an instruction; nothing yet if it is joined to the one that uses it."""
        remark = self._places.get(instruction.where)
        if remark is None:
            remark = self._places[instruction.where] = str(place(instruction.where))
        if instruction.is_guard:
            value = self.operand(None, instruction.values[0])
            if instruction.operation == "bool":
                test = f"not {value.within(4)}" if instruction.answer else value.text
            else:
                test = f"int({value.text}) != {instruction.answer}"
            recorded = str(instruction.answer).lower()
            return [(f"if {test}: return None", f"{remark}: it was {recorded}")]
        output = instruction.output_value
        is_alone = output not in self._added_into and not instruction.errors
        if is_alone and instruction.operation is operations.scatter and _has_no_stack(instruction, output):
            return self._write_scatter(instruction, otherwise, remark)
        text = self._expression(instruction)
        if output in self.listing.joined:
            self._texts[output] = text
            self._joined[output] = instruction
            return []
        if instruction.operation is np.add and self.listing.into.get(output) is instruction.values[0]:
            scattered = self._joined.get(instruction.values[1])
            if scattered is not None and scattered.operation is operations.scatter and can_add_into(scattered):
                return self._added(instruction, scattered, remark)
        name = self._named(output, otherwise)
        if output in self.listing.into:
            arguments = [self.operand(None, value).text for value in instruction.values]
            into = self._texts[self.listing.into[output]].text
            text = Text(f"{self._function(instruction.operation)}({', '.join(arguments)}, out={into})")
        line = f"{name} = {text.text}"
        if instruction.errors:
            told = ", ".join(f'{kind}="{what}"' for kind, what in instruction.errors.items())
            return [(f"with np.errstate({told}):", ""), (f"    {line}", remark)]
        return [(line, remark)]

    def _added(self, instruction: Instruction, scattered: Instruction, remark: str) -> list[tuple[str, str]]:
        """Write `a + scatter(part, index, shape)` as `a[index] += part`."""
        total, output = instruction.values[0], instruction.output_value
        part, index = scattered.values[:2]
        name = self._texts[output] = self._texts[total]
        written = self.operand(None, index, None, index=True).text
        return [(f"{name.text}[{written}] += {self.operand(None, part).text}", remark)]

    def _write_scatter(self, instruction: Instruction, otherwise: str, remark: str) -> list[tuple[str, str]]:
        """Write `scatter(part, index, shape)` as zeros and what is put or added among them."""
        part, index, _ = instruction.values
        output, text, once = instruction.output_value, self.operand(None, part).text, operations.is_basic(index)
        name = self._named(output, otherwise)
        written = self.operand(None, index, None, index=once).text
        placed = f"{name}[{written}] = {text}" if once else f"np.add.at({name}, {written}, {text})"
        return [(f"{name} = {write_zeros(output.shape, output.dtype).text}", ""), (placed, remark)]

    def _expression(self, instruction: Instruction) -> Text:
        gathers = instruction.operation is operations.gather and _has_no_stack(instruction, instruction.values[0])
        indexes = gathers or instruction.name == "getitem"
        parts = [
            self.operand(None, value, None, index=indexes and k == 1) for k, value in enumerate(instruction.values)
        ]
        first = instruction.values[0]
        if gathers:
            return Text(f"{parts[0].within(10)}[{parts[1].text}]")
        if instruction.operation in METHODS and type(first) is Value and first.array is None:
            told = [part.text for part in parts[1:]]
            told += [f"{key}={self._parameter(key, value).text}" for key, value in self._list_keywords(instruction)]
            return Text(f"{parts[0].within(10)}.{instruction.name}({', '.join(told)})")
        return self.expression(instruction, parts)

    def _infix(self, entry: Computed, sign: str, left: Text, right: Text) -> Text:
        """Write `x * 1` as it is: a program that only repeats x has no array of its own to write into."""
        return infix(sign, left, right)

    def _is_plain(self, entry: Computed, whole: Any) -> bool:
        return False  # it writes several lines by `_write_scatter`

    def _index(self, value: Any, written: Text) -> str:
        return written.text

    def _shared(self) -> set[Value]:
        """Return the values that may share memory with an argument, whose arrays the caller may write into."""
        shared = set(self.listing.arguments)
        for instruction in self.listing.instructions:
            may_share = instruction.output_value is not None and not is_fresh(instruction.operation)
            if may_share and any(value in shared for value in instruction.reads()):
                shared.add(instruction.output_value)
        return shared

    def _leaving(self, value: Value, shared: set[Value]) -> str:
        text = self.operand(None, value)
        is_view = value in shared and (value.shape or value not in self.listing.arguments)  # those are NumPy scalars
        return f"{text.within(10)}.copy()" if is_view else text.text

    def _function(self, operation: Any) -> str:
        found = super()._function(operation)
        if found in self.imports.values():
            self.namespace[found] = operation
        return found


def _has_no_stack(instruction: Instruction, whole: Value) -> bool:
    """Return whether an instruction scatters among, or gathers from, what has the shape that it is told."""
    return len(whole.shape) == len(instruction.values[2])


def callable_of(text: str, name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """Compile the text of a function, and return the function."""
    exec(compile(text, f"<compiled {name}>", "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function
