"""Writes a run as the document of a file; `reading` does the reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.variable import Variable
from ..program.comparison import find_needed
from ..program.instructions import Instruction, Listing, Value, values_in
from ..program.passes import unused
from ..rules.account import remedy
from ..text.functions import name_of as name_of_function
from ..text.places import place
from .examples import Examples
from .operations import CUSTOM, name_of, operations
from .reading import FORMAT, VERSION
from .runs import Run


class Document:
    """A listing as it is written to a file.

    Attributes
    ----------
    instructions : list of dict
        What leads to the results.
    constants : list of ndarray
    variables : list of Variable
    used : set of Value
        The values that the instructions and the results need.

    Raises
    ------
    LookupError
        If it uses an operation without a rule.
    TypeError
        If it uses something that a file cannot hold.
    """

    def __init__(self, listing: Listing) -> None:
        self._table = operations()
        kept = find_needed(listing)
        self.used = {*values_in([listing.results, [[one.values, one.parameters] for one in kept]])}
        pairs = [pair for pair in listing.variables if pair[1] in self.used]
        pairs.sort(key=lambda pair: pair[0]._id)
        self.variables: list[Variable] = [variable for variable, _ in pairs]
        self.constants: list[Any] = []
        self._constants: dict[int, int] = {}  # by the id of an array
        self._references: dict[Value, Any] = {value: {"input": k} for k, value in enumerate(listing.arguments)}
        self._references |= {value: {"variable": k} for k, (_, value) in enumerate(pairs)}
        self.instructions = self._block(listing, 0)

    def _block(self, listing: Listing, count: int) -> list[dict[str, Any]]:
        """Write instructions, whose results are numbered from `count` on."""
        found = []
        for instruction in unused(listing).instructions:
            found.append(written := self._instruction(instruction))
            backward = instruction.backward
            if backward is not None:
                start = self._number(backward.arguments, count)
                written["backward"] = {
                    "cotangents": [*map(describe, backward.arguments)],
                    "instructions": self._block(backward, start),
                    "result": {"list": self._list(backward.results)},
                }
            count = self._number(instruction.outputs, count)
        return found

    def _number(self, values: tuple[Value, ...], count: int) -> int:
        """Number results from `count` on; return the next number."""
        self._references.update((value, {"result": number}) for number, value in enumerate(values, count))
        return count + len(values)

    def _instruction(self, instruction: Instruction) -> dict[str, Any]:
        name, line = name_of(instruction.operation), str(place(instruction.where))
        if name not in self._table and name != CUSTOM:
            reason, instead = remedy(name.replace("numpy.", "np.", 1))
            raise LookupError(
                f"{name}, used at {line}, has no derivative rule{reason}, but only operations with a rule can be "
                f"saved. {instead}, or register a rule with ad.register_gradient, here and before loading"
            )
        try:
            return {
                "operation": name,
                "arguments": self._list(instruction.values),
                "parameters": {key: self.write(part) for key, part in instruction.parameters.items()},
                "results": [*map(describe, instruction.outputs)],
                "place": line,
            }
        except TypeError as error:
            raise TypeError(
                f"{name}, used at {line}, was given a {error}, which cannot be saved; use tensors, arrays and numbers"
            ) from None

    def _list(self, parts: Any) -> list[Any]:
        return [self.write(part) for part in parts]

    def write(self, argument: Any) -> Any:
        """Write an argument as data; raise a TypeError that names the type if there is no way to."""
        match argument:
            case Value():
                return self._references.get(argument) or self._constant(argument.array)
            case None | bool() | int() | str():
                return argument
            case np.ndarray() | np.generic():
                return self._constant(argument)
            case float():
                return argument if np.isfinite(argument) else {"float": str(argument)}
            case complex():
                return {"complex": self._list([argument.real, argument.imag])}
            case slice():
                return {"slice": self._list([argument.start, argument.stop, argument.step])}
            case list():
                return {"list": self._list(argument)}
            case tuple() | range():
                return {"tuple": self._list(argument)}
            case dict():
                return {"dict": [[self.write(key), self.write(part)] for key, part in argument.items()]}
            case np.dtype():
                return {"dtype": argument.name}
        if argument is ...:
            return {"ellipsis": None}
        if isinstance(argument, type) and issubclass(argument, np.number | np.bool_ | int | float | complex):
            return {"dtype": np.dtype(argument).name}
        is_function = callable(argument) and not isinstance(argument, type)
        raise TypeError("function" if is_function else type(argument).__name__)

    def _constant(self, array: Any) -> Any:
        number = self._constants.setdefault(id(array), len(self.constants))
        if number == len(self.constants):
            self.constants.append(np.asarray(array))
        return {"constant": number}


def document_of(
    function: Callable[..., Any], given: Examples, run: Run, program: Document, free: dict[int, int]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the document and the arrays of a run; `free` has the group of each length that may vary."""
    result = program.write(run.result)  # first, because it may be a constant
    arrays = {f"constants/{k}": array for k, array in enumerate(program.constants)}
    arrays |= {f"variables/{k}": np.asarray(variable._array) for k, variable in enumerate(program.variables)}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": name_of_function(function),
        "arguments": {"list": given.written},
        "inputs": [
            {"name": name, **_declared(array), "group": free.get(len(array)) if array.ndim else None}
            for name, array in zip(given.names, given.arrays, strict=True)
        ],
        "constants": [_declared(array) for array in program.constants],
        "variables": [{"name": v.name, "trainable": v.trainable, **_declared(v)} for v in program.variables],
        "instructions": program.instructions,
        "result": result,
    }
    return document, arrays


def _declared(array: Any) -> dict[str, Any]:
    return {"dtype": array.dtype.name, "shape": list(array.shape)}


def describe(value: Any) -> list[Any]:
    """Write a dtype and a shape."""
    return [value.dtype.name, list(value.shape)]
