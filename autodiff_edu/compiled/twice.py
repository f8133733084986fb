"""Whether two recordings of a function are the same: a program cannot keep a number that differs between calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program.instructions import Listing, Value
from ..program.spelling import same
from ..text.places import place


class DifferentError(ValueError):
    """Raised where a function computes something different in a second call with the same arguments."""


def check_same(one: Listing, other: Listing, name: str) -> None:
    """Raise an error that names the first line where two listings differ."""
    pairs: dict[Value, Value] = dict(zip(one.arguments, other.arguments, strict=True))
    pairs.update(zip((v for _, v in one.variables), (v for _, v in other.variables), strict=False))
    for first, second in zip(one.instructions, other.instructions, strict=False):
        if first.operation != second.operation or first.answer != second.answer:
            raise DifferentError(
                f"{place(second.where)}: {name} does something different when called again with the same "
                "arguments, so one program cannot replace it. What it does may depend on its arguments and on "
                "variables, but not on what an earlier call left behind in lists, globals or attributes"
            )
        if not _alike(first.values, second.values, pairs) or not _alike(first.parameters, second.parameters, pairs):
            raise DifferentError(
                f"{place(second.where)}: {second.name} uses numbers that differ when {name} is called again "
                "with the same arguments. Random numbers, or numbers that an earlier call left behind, would stay "
                "those of the first call: "
                f"draw or keep them outside, and pass them to {name} as an argument"
            )
        if first.output_value is not None:
            pairs[first.output_value] = second.output_value
    if len(one.instructions) != len(other.instructions):
        longer = max(one, other, key=lambda listing: len(listing.instructions))
        extra = longer.instructions[min(len(one.instructions), len(other.instructions))]
        raise DifferentError(
            f"{place(extra.where)}: {name} computes this in one of two calls with the same arguments, but not in both. "
            "What it does may depend on its arguments and on variables, but not on what an earlier call left behind"
        )


def _alike(one: Any, other: Any, pairs: dict[Value, Value]) -> bool:
    """Return whether two arguments of an operation are the same, number for number."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Value):
        if one.array is not None and one not in pairs:
            return other.array is not None and same(one.array, other.array)
        return pairs.setdefault(one, other) is other
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(_alike(a, b, pairs) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key], pairs) for key in one)
    if isinstance(one, slice):
        return _alike((one.start, one.stop, one.step), (other.start, other.stop, other.step), pairs)
    if isinstance(one, np.ndarray | np.generic):
        return same(one, other)
    return bool(one == other) or (one != one and other != other)
