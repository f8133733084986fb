"""Whether a result that is almost 0 would be 0 without rounding."""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import Any

import numpy as np

from ..arrays.broadcasting import unbroadcast
from ..core import events
from ..core.active import only
from ..core.entry import Entry
from ..core.rule import kind_of, rule_of, runs_code
from ..text.formatting import LARGEST_WRITTEN, list_elements

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
    """What operations would return without rounding, with numbers as they are written: 0.1 is a tenth.

    The result of `np.exp`, say, and its slope are taken as exact: if later terms cancel, they cancel whatever its last
    digit is. Arrays too long for a sentence are not followed.
    """

    def __init__(self) -> None:
        self.makers: dict[int, Entry] = {}
        self.known: dict[Any, Any] = {}  # by the id of an output; by pass, id of an output and argument
        self.sent: dict[tuple[int, int], list[Any]] = {}  # by pass and tensor: its seeds, and what entries sent it
        self.largest: dict[int, float] = {}  # by pass

    def is_rounded_zero(self, entry: Entry) -> bool:
        """Return whether the result of a sum or difference is what rounding leaves of 0; keep the entry for later."""
        self.makers[entry.output_id] = entry
        total = entry.output_value
        if entry.operation not in (np.add, np.subtract) or entry.values is None or np.shape(total):
            return False
        return bool(total and np.isfinite(total)) and self._find(entry.output_id, None, DEPTH) == 0

    def keep_seed(self, number: int, event: events.Seed) -> None:
        """Keep a seed of a pass for later."""
        self._keep(number, event.tensor._id, event.cotangent._array, event.cotangent._array)

    def describe_zeros(self, number: int, event: events.Accumulate) -> tuple[str, str]:
        """Return a remark on a contribution and one on the new sum, if any of their elements are 0 but for rounding."""
        id, value, after = event.tensor._id, event.value._array, event.after._array
        self._keep(number, id, event, value)
        said = ["", ""]
        for k, array in enumerate((value, after)):
            if self._is_small(number, array):
                sent = self.sent[number, id][-1:] if k == 0 else self.sent[number, id]
                said[k] = _describe(self._add(number, sent, DEPTH), array)
        return said[0], said[1]

    def _keep(self, number: int, id: int, sent: Any, value: Any) -> None:
        self.sent.setdefault((number, id), []).append(sent)
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f" and value.size:
            largest = float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))
            self.largest[number] = max(self.largest.get(number, 0.0), largest)

    def _is_small(self, number: int, value: Any) -> bool:
        """Return whether any element is not 0, but small enough to be what rounding leaves of 0."""
        if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind != "f" or value.size > LARGEST_WRITTEN:
            return False
        small = np.sqrt(np.finfo(value.dtype).eps) * self.largest.get(number, 0.0)
        return bool(np.any((value != 0) & (np.abs(value) < small)))

    def _add(self, number: int, sent: list[Any], depth: int) -> Any:
        """Return the exact sum of seeds and contributions; None if it is not known."""
        parts = [
            self._pull(number, one, depth) if isinstance(one, events.Accumulate) else _write_exactly(one)
            for one in sent
        ]
        return None if not parts or any(part is None for part in parts) else sum(parts[1:], parts[0])

    def _pull(self, number: int, event: events.Accumulate, depth: int) -> Any:
        """Return an exact contribution; None if it is not known."""
        entry, key = event.entry, (number, event.entry.output_id, event.argument)
        if key not in self.known:
            g = self._add(number, self.sent.get((number, entry.output_id), []), depth - 1) if depth else None
            known = g is not None and entry.values is not None
            exact = self._apply_rule(entry, event.argument, np.asarray(g, object)) if known else None
            if exact is not None:
                lead = np.ndim(event.value._array) - np.ndim(entry.values[event.argument])
                # Add an axis: the sum of a whole array of fractions is a fraction, not an array.
                shape = (1, *np.shape(event.value._array))
                # A pass that a reader wrote may send the wrong shapes; then nothing is known.
                whole = _compute(unbroadcast, np.asarray(exact, object)[np.newaxis], shape, 1 + lead)
                exact = None if whole is None else whole[0]
            self.known[key] = _check(exact)
        return self.known[key]

    def _apply_rule(self, entry: Entry, argument: int, g: Any) -> Any:
        """Pull an exact cotangent back; return None if the result is not known exactly."""
        rule = rule_of(entry.operation)
        if rule is None or rule.own or runs_code(entry.operation):  # PyTorch's operations have no rule here
            return None
        pull = rule.pull(argument)
        if pull is None:
            return None
        is_exact = entry.operation in EXACT or rule.kind == "linear"
        if is_exact:
            y, values = self._find(entry.output_id, entry.output_value, DEPTH), self._list_operands(entry, DEPTH)
            if y is None or values is None:
                return None
        else:
            y, *values = (getattr(value, "_array", value) for value in (entry.output_value, *entry.values))
        with only(), np.errstate(all="ignore"):
            exact = _check(_compute(pull, g, y, *values, **entry.keywords))
            if exact is None and rule.kind == "elementwise" and not is_exact:
                slope = _compute(pull, np.ones_like(y), y, *values, **entry.keywords)
                slope = None if slope is None else _write_exactly(slope)
                return None if slope is None else _compute(operator.mul, g, slope)
        return exact

    def _find(self, id: int | None, value: Any, depth: int) -> Any:
        """Return the exact value of a tensor, or a number; None if it is not known."""
        entry = None if id is None else self.makers.get(id)
        if id is None or entry is None:
            return _write_exactly(value)
        if id not in self.known:
            compute = EXACT.get(entry.operation) or (kind_of(entry.operation) == "linear" and entry.operation)
            if entry.values is None:
                exact = None
            elif compute:
                values = self._list_operands(entry, depth - 1) if depth else None
                exact = None if values is None else _compute(compute, *values, **entry.parameters)
            else:
                exact = _write_exactly(entry.output_value)
            self.known[id] = _check(exact)
        return self.known[id]

    def _list_operands(self, entry: Entry, depth: int) -> list[Any] | None:
        """List the exact arguments of an entry; an index or an axis stays as it is. None if one is not known."""
        pull = rule.pull if (rule := rule_of(entry.operation)) else lambda _: None
        values = [
            self._find(id, value, depth) if id is not None or pull(k) else value
            for k, (id, value) in enumerate(zip(entry.ids, entry.values, strict=True))
        ]
        return None if any(value is None for value in values) else values


def _write_exactly(value: Any) -> Any:
    """Return numbers as fractions, with the fewest digits that give them in their dtype; None if one is not finite."""
    value = np.asarray(getattr(value, "_array", value))
    if value.size > LARGEST_WRITTEN:
        return None
    exact = np.empty(value.shape, object)
    try:
        exact.reshape(-1)[:] = [*map(_read_exactly, value.flat)]
    except ValueError:  # a truth value, an infinity
        return None
    return exact[()]


def _read_exactly(number: Any) -> Fraction:
    """Return the exact number that is meant: 0.1 is a tenth.

    A whole number stands for itself, even if its dtype prints it with fewer digits.
    """
    is_whole = isinstance(number, np.floating) and float(number).is_integer() and abs(float(number)) < 2**53
    return Fraction(int(number)) if is_whole else Fraction(str(number))


def _compute(function: Any, *arguments: Any, **parameters: Any) -> Any:
    """Call a function with fractions; return None if it cannot compute with them."""
    try:
        return function(*arguments, **parameters)
    except (TypeError, ValueError, AttributeError, ArithmeticError):
        return None


def _check(exact: Any) -> Any:
    """Return an exact result, or None if it is not exact or its numbers are too long."""
    if exact is None:
        return None
    exact = np.frompyfunc(_unwrap, 1, 1)(exact)
    numbers = np.ravel(np.asarray(exact, object))
    if len(numbers) > LARGEST_WRITTEN or not all(isinstance(one, Fraction | int) for one in numbers):
        return None
    longest = max((abs(part).bit_length() for one in numbers for part in one.as_integer_ratio()), default=0)
    return exact if longest <= BITS else None


def _unwrap(number: Any) -> Any:
    """Return a number that NumPy wrapped in an array; a float that is 0 is exact, too."""
    number = number[()] if isinstance(number, np.ndarray) else number
    return 0 if isinstance(number, float) and number == 0 else number


def _describe(exact: Any, value: Any) -> str:
    if exact is None:
        return ""
    zeros = np.asarray((exact == 0) & (value != 0) & np.isfinite(value), bool)
    if not zeros.any():
        return ""
    at = "" if np.all(zeros | (value == 0)) else f" at {list_elements(map(tuple, np.argwhere(zeros).tolist()))}"
    return f" (0 up to rounding{at})"
