"""Arrays in the document of a trace: as text, and as their numbers or a sample of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from math import isfinite, prod
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..text.formatting import (
    FINE,
    LARGEST_WRITTEN,
    USUAL_DIGITS,
    count_digits_apart,
    count_digits_of_sum,
    number,
    short_value,
)

LARGEST = 256

_kept: ContextVar[dict[int, tuple[Any, Any]] | None] = ContextVar("_kept", default=None)


@contextmanager
def keep_arrays() -> Iterator[dict[int, tuple[Any, Any]]]:
    """Keep the arrays that are described inside a `with` block, whole and with all their digits.

    Yields
    ------
    dict of int to (dict, array)
        By the id of a description: it, and its array.

    Examples
    --------
    >>> with keep_arrays() as kept:
    ...     described = array(np.float64(1 / 3))
    >>> described["data"], kept[id(described)][1]
    (0.333333, np.float64(0.3333333333333333))
    """
    kept: dict[int, tuple[Any, Any]] = {}
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)


def array(value: Any) -> dict[str, Any]:
    """Describe an array as the document does.

    >>> array(np.array([1.0, np.inf]))
    {'shape': [2], 'dtype': 'float64', 'text': '[1 inf]', 'data': [1.0, 'inf']}
    """
    if value is None:  # released
        return {"shape": [], "dtype": "", "text": short_value(None), "data": None}
    value = value._array if isinstance(value, Tensor) else value if hasattr(value, "shape") else np.asarray(value)
    text = short_value(value)
    described: dict[str, Any] = {"shape": list(value.shape), "dtype": _name_of(value.dtype), "text": text, "data": None}
    if (kept := _kept.get()) is not None:
        kept[id(described)] = described, value  # an id is that of nothing else only while the description is kept
    if isinstance(value, np.ndarray | np.generic):
        if value.size > LARGEST:
            described["every"] = every = _every(value.shape)
            if value.dtype.kind in "biufc":
                with np.errstate(all="ignore"):  # it may overflow
                    norm = np.linalg.norm(np.ravel(value).astype(np.result_type(value, np.float64)))
                described["norm"] = _round(float(norm))
            value = np.asarray(value)[tuple(slice(None, None, stride) for stride in every)]
        data = value.tolist()
        is_number = data.__class__ is float and isfinite(data)
        has_more = value.dtype.itemsize == 8 and (value.size > LARGEST_WRITTEN or FINE.search(text))
        # its text is the rounded number already
        described["data"] = float(text) if is_number else _round(data, None if has_more else USUAL_DIGITS)
    return described


_name_of = lru_cache(maxsize=64)(str)  # the name of a dtype, which NumPy works out anew each time


def _every(shape: tuple[int, ...]) -> list[int]:
    """Choose strides that leave no more than `LARGEST` elements, thinning the longest axes first.

    >>> _every((1000,)), _every((20, 50))
    ([4], [2, 3])
    """
    counts = [min(n, LARGEST) for n in shape]
    while True:
        every = [-(-n // count) for n, count in zip(shape, counts, strict=True)]
        left = [-(-n // stride) for n, stride in zip(shape, every, strict=True)]
        if prod(left) <= LARGEST:
            return every
        longest = left.index(max(left))
        counts[longest] = left[longest] - 1


def separate(described: dict[str, Any], value: Any, others: Iterable[tuple[Any, int]]) -> int:
    """Write a value with enough digits to tell it from the others, and return how many.

    Each of the others comes with the number of digits to use if the two are equal.
    """
    value = getattr(value, "_array", value)
    counts = (count_digits_apart(value, getattr(other, "_array", other), same) for other, same in others)
    digits = max(counts, default=3)
    if digits > 6:
        described["text"], described["data"] = short_value(value, digits), _round(np.asarray(value).tolist(), digits)
    return digits


def refine(described: list[dict[str, Any]], parts: list[Any], total: Any, sign: float = 1.0) -> None:
    """Describe the numbers of summands with as many digits as their sum needs, if not more; the last has this sign."""
    if not isinstance(total, np.ndarray | np.generic) or total.dtype.kind != "f":
        return
    digits = count_digits_of_sum([*parts[:-1], sign * parts[-1]], total, 6)
    for description, part in zip(described, parts, strict=True):
        if digits > 6:
            finer = _round(np.asarray(part).tolist(), digits)
            if _measure_error(finer, part) < _measure_error(description["data"], part):  # another sum may need more
                description["data"] = finer


def _measure_error(data: Any, array: Any) -> float:
    """Return how far rounded numbers are off; those that are not finite, which are written as text, are exact."""
    numbers = np.asarray(array, float)
    finite = np.isfinite(numbers)
    return float(np.sum(np.abs(np.asarray(data, float)[finite] - numbers[finite])))


def _round(data: Any, digits: int | None = None) -> Any:
    if isinstance(data, list):
        return [_round(part, digits) for part in data]
    if isinstance(data, complex):
        return number(data)
    if isinstance(data, float):
        return float(number(data, digits)) if isfinite(data) else f"{data}"
    return data
