"""Plain arrays out of what a user writes: values to own, operands, indices; and the arguments that tensors refuse.

This room lies below `tensor.py`, so it knows a tensor only by the array it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

JOINING: set[Callable[..., Any]] = {np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack}
JOINING |= {np.linalg.multi_dot}
"""The functions that take a list of arrays, and so may be given a list of tensors."""

REFUSED = {
    "out": "tensors are never written into; write result = ...",
    "where": "use np.where on its argument",
    "dtype": "convert its argument or its result with .astype",
    "casting": "convert its argument with .astype",
    "correction": "write ddof=...",
    "mean": "it is computed anyway",
    "initial": "combine its result with the other value, by np.maximum say",
}


def is_tensor(value: Any) -> bool:
    """Tell whether a value is a tensor."""
    return hasattr(value, "_array")


def own(value: Any, dtype: Any = None) -> Any:
    """Copy a value into an array of our own; NumPy scalars in place of 0-d arrays, for they are faster."""
    if is_tensor(value):
        value = value._array
    if hasattr(value, "__array_function__") and not isinstance(value, np.ndarray):
        return value if dtype is None else value.astype(dtype)  # another library's array: never coerced
    array = _array(value, dtype)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"a tensor holds numbers, and {type(value).__name__} {value!r:.60} gives dtype {array.dtype}")
    return array[()]


def operand(value: Any) -> Any:
    """Make an array of a list, so that it is one operand, and cannot be written into later."""
    return _array(value) if isinstance(value, list | tuple) else value


def read_only(array: Any) -> Any:
    """Give a view of an array that cannot be written through; NumPy's scalars cannot anyway."""
    if not isinstance(array, np.ndarray):
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def can_change(array: Any) -> bool:
    """Tell whether somebody can write into an array, be it through the array that it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def check_operands(function: Callable[..., Any], inputs: Any) -> None:
    """Raise a TypeError if a list of tensors is given where NumPy means an array.

    Integer tensors may stand in lists, as in a shape: they have no derivative to lose.
    """
    for value in inputs:
        joined = function in JOINING and isinstance(value, list | tuple)
        for part in value if joined else (value,):
            if isinstance(part, list | tuple):
                _refuse_tensors(part)


def plain_index(index: Any) -> Any:
    """Take the tensors and lists out of an index, and copy its arrays: they may be written into later."""
    if isinstance(index, tuple):
        return tuple(map(plain_index, index))
    if is_tensor(index):
        return index._array
    if isinstance(index, list) and not index:
        return np.array(index, int)
    return np.array(index) if isinstance(index, np.ndarray | list) else index


def refuse(function: Callable[..., Any], parameters: dict[str, Any]) -> None:
    """Raise a TypeError if a call has an argument, or a ufunc several results, that no rule knows what to do with."""
    if getattr(function, "nout", 1) > 1:
        raise TypeError(f"np.{function.__name__} has several results, and no rule; use functions that have one")
    for name, remedy in REFUSED.items():
        if parameters.get(name) is not None:
            raise TypeError(f"np.{function.__name__} of a tensor takes no {name}=: {remedy}")


def equal(x: Any, y: Any) -> Any:
    """Compare as Python does, but with an array's or a NumPy scalar's answer."""
    same = x == y
    return np.bool_(same) if isinstance(same, bool) else same  # what Python says of a number and, say, None


def different(x: Any, y: Any) -> Any:
    """Give the opposite of `equal`."""
    return ~equal(x, y)


def _array(value: Any, dtype: Any = None) -> Any:
    if isinstance(value, list | tuple):
        _refuse_tensors(value)
    return np.array(value, dtype=dtype)


def _refuse_tensors(value: Any) -> None:
    if any(is_tensor(part) and part.dtype.kind in "fc" for part in _parts(value)):
        raise TypeError(
            "a list of tensors is no array, and making one would take them off every tape; "
            "join them with np.stack([...])"
        )


def _parts(value: Any) -> Any:
    for part in value:
        yield from _parts(part) if isinstance(part, list | tuple) else (part,)
