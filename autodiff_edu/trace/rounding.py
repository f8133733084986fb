"""Whether a result that is almost 0 would be 0 without rounding.

>>> is_rounded_zero(np.float64(0.1 + 0.2 - 0.3), (np.float64(0.1 + 0.2), np.float64(0.3)), None)
True
>>> is_rounded_zero(np.float16(1.0) - np.float16(0.999), (np.float16(1.0), np.float16(0.999)), Fraction("0.001"))
False
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.entry import Entry

ROUNDING = 4
"""A sum of at most so many eps of its largest part is taken for what rounding leaves of 0."""
DEPTH, BITS = 40, 4000
"""Through how many operations, one after the other, an exact result is followed, and how long it may become."""
EXACT: dict[Any, Any] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
    np.square: lambda x: x * x,
}


class ExactResults:
    """What some operations compute without rounding, from the numbers as they are written: 0.1 is a tenth."""

    def __init__(self) -> None:
        self.makers: dict[int, Entry] = {}
        self.known: dict[int, Fraction | None] = {}  # by the id of an output

    def is_rounded_zero(self, entry: Entry) -> bool:
        """Return whether the result of a sum or difference is what rounding leaves of 0; keep the entry for later."""
        self.makers[entry.output_id] = entry
        if (
            entry.operation not in (np.add, np.subtract)
            or entry.values is None
            or not _is_other_than_0(entry.output_value)
        ):
            return False
        return is_rounded_zero(entry.output_value, entry.values, self._find(entry.output_id, None, DEPTH))

    def _find(self, id: int | None, value: Any, depth: int) -> Fraction | None:
        entry = None if id is None else self.makers.get(id)
        if id is None or entry is None:
            try:
                return Fraction(str(value))  # the fewest digits that give this number in its dtype
            except ValueError:  # an array, a truth value, an infinity
                return None
        if id not in self.known:
            compute = EXACT.get(entry.operation) if depth and entry.values is not None else None
            pairs = zip(entry.ids, entry.values, strict=True) if compute else ()
            parts = [self._find(*pair, depth - 1) for pair in pairs]
            try:
                exact = compute(*parts) if compute and None not in parts else None
            except ZeroDivisionError:
                exact = None
            is_short = exact is not None and max(map(int.bit_length, exact.as_integer_ratio())) <= BITS
            self.known[id] = exact if is_short else None
        return self.known[id]


def is_rounded_zero(total: Any, parts: tuple[Any, ...], exact: Fraction | None) -> bool:
    """Return whether a sum of two numbers, whose `exact` value may be known, is what rounding leaves of 0."""
    if not _is_other_than_0(total):
        return False
    if exact is not None:
        return exact == 0
    eps = np.finfo(total.dtype).eps
    if eps > 1e-12:  # the last of a few digits may well be one that you wrote
        return False
    return bool(abs(total) <= ROUNDING * eps * max(np.max(np.abs(part)) for part in parts))


def _is_other_than_0(total: Any) -> bool:
    is_number = not np.shape(total) and getattr(total, "dtype", np.dtype(int)).kind in "fc"
    return bool(is_number and total and np.isfinite(total))
