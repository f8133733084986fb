"""Compares two recordings of a function. A constant that differs is not part of the function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .instructions import Instruction, Listing, Value
from .passes import unused
from .spelling import same


class Difference(NamedTuple):
    """Where a second recording differs from the first.

    Attributes
    ----------
    number : int
        The position of the instruction in the first.
    kind : str
        "path" if the next instruction is different, "number" or "constant" if an argument is.
    instruction : Instruction or None
        The instruction of the first; None for its results.
    before, after : str
        The two arguments.
    reshaped : bool
        Whether they are arrays of different shapes.
    """

    number: int
    kind: str
    instruction: Instruction | None
    before: str = ""
    after: str = ""
    reshaped: bool = False


def find_differences(one: Listing, other: Listing) -> Iterator[Difference]:
    """Yield the differences in what leads to the results of two recordings, up to where their paths part."""
    ours, theirs = find_needed(one), find_needed(other)
    pairs = _ValuePairs(one, other)
    for number, (first, second) in enumerate(zip(ours, theirs, strict=False)):
        if first.operation != second.operation or first.answer != second.answer:
            yield Difference(number, "path", first)
            return
        found = pairs.find_partings(first.values, second.values)
        if first.parameters or second.parameters:
            found = pairs.find_partings(first.parameters, second.parameters) | found
        for kind, (before, after) in found.items():
            reshaped = kind == "constant" and np.shape(before) != np.shape(after)
            before, after = pairs.describe(kind, before, after)
            yield Difference(number, kind, first, before, after, reshaped)
        pairs.pair(first, second)
    if len(ours) != len(theirs):
        number = min(len(ours), len(theirs))
        yield Difference(number, "path", max(ours, theirs, key=len)[number])
    elif pairs.find_partings(_find_ends(one), _find_ends(other)):
        yield Difference(len(ours), "path", None)


def _find_ends(listing: Listing) -> tuple[Any, ...]:
    """Return the results, and what each variable is assigned, by its id."""
    return listing.results, {variable._id: value for variable, value in listing.assigned}


def find_needed(listing: Listing) -> list[Instruction]:
    """List the instructions that lead to the results; after a custom gradient, those of its backward function."""
    found = []
    for instruction in unused(listing).instructions:
        found.append(instruction)
        if instruction.backward is not None:
            name, results = instruction.parameters["name"], [*instruction.backward.results]
            end = Instruction(f"the backward of {name}", results, {}, None, instruction.where)
            found += [*find_needed(instruction.backward), end]
    return found


_ARRAYS = (np.ndarray, np.generic)


def _numbers(argument: Any) -> Any:
    """Return the numbers of a constant; None for anything else."""
    if type(argument) is Value:
        return argument.array
    return argument if isinstance(argument, _ARRAYS) else None


class _ValuePairs:
    """Pairs the values of two recordings."""

    def __init__(self, one: Listing, other: Listing) -> None:
        theirs = {variable._id: value for variable, value in other.variables}
        self._pairs: dict[Value, Value | None] = dict(zip(one.arguments, other.arguments, strict=True))
        self._pairs.update((value, theirs.get(variable._id)) for variable, value in one.variables)
        self._names = dict.fromkeys((*one.arguments, *other.arguments), "an argument of the function")
        self._names |= {value: "a variable" for _, value in (*one.variables, *other.variables)}

    def pair(self, first: Instruction, second: Instruction) -> None:
        """Note that two instructions do the same."""
        self._pairs.update(zip(first.outputs, second.outputs, strict=False))
        if first.backward is not None and second.backward is not None:
            self._pairs.update(zip(first.backward.arguments, second.backward.arguments, strict=False))

    def find_partings(self, one: Any, other: Any) -> dict[str, tuple[Any, Any]]:
        """Find the innermost parts in which two arguments differ, the first of each kind of difference."""
        found: dict[str, tuple[Any, Any]] = {}
        self._part(one, other, found)
        return found

    def _part(self, one: Any, other: Any, found: dict[str, tuple[Any, Any]]) -> None:
        kind = type(one)
        if kind is Value and one in self._pairs:
            if self._pairs[one] is not other:
                found.setdefault("number", (one, other))
        elif kind is Value or isinstance(one, _ARRAYS):
            ours, theirs = _numbers(one), _numbers(other)
            if ours is None or theirs is None:
                found.setdefault("number", (one, other))
            elif not same(ours, theirs):
                found.setdefault("constant", (ours, theirs))
        elif kind is not type(other):
            found.setdefault("number", (one, other))
        elif kind in (list, tuple) and len(one) == len(other):
            for a, b in zip(one, other, strict=True):
                self._part(a, b, found)
        elif kind is dict and one.keys() == other.keys():
            for name in one:
                self._part(one[name], other[name], found)
        elif kind is slice:
            self._part((one.start, one.stop, one.step), (other.start, other.stop, other.step), found)
        elif one != other and (one == one or other == other):
            found.setdefault("number", (one, other))

    def describe(self, kind: str, *arguments: Any) -> tuple[str, ...]:
        """Describe two arguments: numbers by themselves, arrays by their shapes, and other values in words."""
        if kind == "constant":
            return tuple(f"an array of shape {x.shape}" if x.ndim else str(x[()]) for x in arguments)
        return tuple(map(self._in_words, arguments))

    def _in_words(self, argument: Any) -> str:
        if isinstance(argument, _ARRAYS):
            return "a constant"
        if type(argument) is not Value:
            return repr(argument)
        return self._names.get(argument) or ("another result" if argument.array is None else "a constant")
