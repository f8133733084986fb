"""Whether a result that is almost 0 would be 0 without rounding."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.entry import Entry

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
        total = entry.output_value
        if entry.operation not in (np.add, np.subtract) or entry.values is None or np.shape(total):
            return False
        return self._find(entry.output_id, None, DEPTH) == 0 and bool(total and np.isfinite(total))

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
