"""Turns what a user writes into plain arrays: values to own, operands, indices; refuses what tensors cannot take.

This room is below the heart, so it knows a tensor only by the array it holds.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from numbers import Number
from typing import Any

import numpy as np

USUAL = frozenset({bool, int, float, complex, np.float32, np.float64})
"""The types of most operands that are not tensors: certainly numbers."""

_AS_IT_IS = USUAL | {np.ndarray, tuple, list, str, type(None)}

dtype_of_list: Callable[[Any, Any], Any] = lambda numbers, tensor: None  # noqa: E731
"""The dtype of a list beside a tensor, or None for NumPy's choice; `autodiff_edu.tf` replaces this."""

JOINING: set[Callable[..., Any]] = {np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack}
JOINING |= {np.linalg.multi_dot, np.block, np.select, np.choose, np.piecewise}
"""The functions that take a list of arrays, and therefore accept a list of tensors."""

REFUSED = {
    "out": "tensors are immutable; write result = ..., or v = v + g if you wrote v += g",
    "where": "use np.where on its argument",
    "dtype": "convert its argument or its result with .astype",
    "casting": "convert its argument with .astype",
    "correction": "write ddof=...",
    "mean": "it is computed anyway",
    "initial": "combine its result with the other value, for example with np.maximum",
}


UNTOLD: dict[Callable[..., Any], inspect.Signature] = {
    np.dot: inspect.signature(lambda a, b, out=None: None),
    np.concatenate: inspect.signature(lambda arrays, axis=0, out=None, **_: None),
    np.bincount: inspect.signature(lambda x, /, weights=None, minlength=0: None),
    np.putmask: inspect.signature(lambda a, /, mask, values: None),
    np.copyto: inspect.signature(lambda dst, src, casting="same_kind", where=True: None),
}
"""Written in C, so they have no signature before NumPy 2.4."""


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the names and places of a function's arguments; raise a ValueError if they are unknown."""
    return UNTOLD.get(function) or inspect.signature(function)


def bind_call(
    function: Callable[..., Any], args: Any, parameters: dict[str, Any], ruled: bool
) -> tuple[Any, dict[str, Any]]:
    """Return a call's arguments ready to compute with; raise an error for those that a rule cannot handle."""
    if _is_usual(function, args, parameters):
        return args, parameters
    args, parameters = move_to_places(function, args, parameters)
    if ruled:
        check_operands(function, args, parameters)
    return args, parameters


def _is_usual(function: Callable[..., Any], args: Any, parameters: dict[str, Any]) -> bool:
    """Return whether all arguments are positional tensors, numbers, or tuples of them, and need no closer look."""
    for value in args:
        if not (type(value) in USUAL or hasattr(value, "_array") or _is_harmless(value, function)):
            return False
    for value in parameters.values():
        if not (type(value) in USUAL or _is_harmless(value, function)):
            return False
    return len(args) < 2 or len(args) <= _place_of_out(function)


def _is_harmless(value: Any, function: Callable[..., Any]) -> bool:
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype.kind in "biufc"
    if function is np.where:  # with other dtypes it would be read as elements
        return False
    return value is None or kind is str or (kind is tuple and all(type(part) is int for part in value))


def move_to_places(function: Callable[..., Any], args: Any, parameters: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Move tensors that were passed by name, as in np.sum(a=x), to their places: recorded inputs have no names."""
    if any(map(is_tensor, parameters.values())):
        bound = signature(function).bind(*args, **parameters)
        args, parameters = bound.args, bound.kwargs
    return tuple(x if isinstance(x, type) else _convert(x) for x in args), parameters


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor."""
    return hasattr(value, "_array")


def is_whole(value: object) -> bool:
    """Return whether a value is an integer of Python or NumPy; True and False are not meant as numbers."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def copy_in(value: Any, dtype: Any = None) -> Any:
    """Copy a value into an array of our own; NumPy scalars in place of 0-d arrays, because they are faster."""
    if is_tensor(value):
        value = value._array
    if hasattr(value, "__array_function__") and not isinstance(value, np.ndarray):
        return value if dtype is None else value.astype(dtype)  # another library's array: never coerced
    _reject_mask(value)
    array = _array(value, dtype)
    if array.dtype.kind not in "biufc":
        raise _no_numbers(value, array.dtype)
    array.flags.writeable = False
    return array[()]


def as_operand(value: Any, tensor: Any = None) -> Any:
    """Convert a list to an array, so that it is one operand and later writes cannot change it.

    Values that NumPy holds as Python objects (fractions, for example) raise a TypeError, and so do arrays whose
    operators mean something else, and sparse matrices, which no rule can compute with. None and strings pass: a tensor
    may be compared with them, and NumPy itself refuses to compute with them.
    """
    if type(value) in USUAL or (type(value) is np.ndarray and value.dtype.kind != "O") or is_tensor(value):
        return value
    if isinstance(value, np.ndarray):
        _reject_mask(value)
        if isinstance(value, np.matrix):
            raise TypeError(
                "* on an np.matrix does not multiply element by element; convert it with np.asarray(matrix), then "
                "write @ or *"
            )
    if hasattr(value, "toarray"):
        raise TypeError(
            f"{type(value).__name__} is a sparse matrix, and a tensor computes only with full arrays: write "
            "matrix.toarray(). Or compute with plain numbers, which no tape follows: x.numpy() @ matrix"
        )
    array = _array(value, dtype_of_list(value, tensor)) if isinstance(value, list | tuple) else _convert(value)
    dtype = getattr(array, "dtype", None)
    is_other = dtype is None and isinstance(value, Number) and not isinstance(value, int | float | complex)
    if is_other or getattr(dtype, "kind", "") == "O":
        raise _no_numbers(value, dtype or "object")
    return array


def read_only(array: Any) -> Any:
    """Return a read-only view of an array; NumPy scalars are read-only anyway."""
    if not isinstance(array, np.ndarray):
        return array
    view = np.ndarray.view(array, np.ndarray)
    view.flags.writeable = False
    return view if view.ndim else view[()]


def can_change(array: Any) -> bool:
    """Return whether an array can be written to, directly or through the array it views."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return not (array is None or isinstance(array, bytes))  # a bytearray, or a file mapped into memory


def freeze(value: Any, id: int | None = None) -> Any:
    """Copy a user's array if it is writable; arrays with an `id` belong to tensors and are returned unchanged."""
    if id is not None or not isinstance(value, np.ndarray) or not can_change(value):
        return value
    copy = value.copy()
    copy.flags.writeable = False  # so that it is not copied again when a rule computes with it
    return copy


def check_operands(function: Callable[..., Any], args: Any, parameters: Any) -> None:
    """Raise a TypeError for a list of tensors in place of an array, for objects that are not numbers, and for `out`.

    Integer tensors are allowed in lists, as in a shape: they have no derivative to lose.
    """
    place = _place_of_out(function) if len(args) > 1 else 1
    if len(args) > place and (isinstance(args[place], np.ndarray) or is_tensor(args[place])):
        reject_argument(function, {"out": args[place]})
    for value in (*args, *(parameters or {}).values()):
        if type(value) in USUAL or is_tensor(value) or isinstance(value, type):  # such as the dtype np.float32
            continue
        joined = function in JOINING and isinstance(value, list | tuple)
        parts = (value,) if not joined else _parts(value) if function is np.block else value
        for part in parts:
            if joined and callable(part):  # of np.piecewise
                continue
            if joined or function is np.where:
                _check_numbers(part)
            elif isinstance(part, list | tuple):
                _reject_tensors(part)
            else:
                as_operand(part)


def as_index(index: Any) -> Any:
    """Convert the tensors and lists in an index to arrays, and copy its arrays: the user may write to them later."""
    if isinstance(index, tuple):
        return tuple(map(as_index, index))
    if is_tensor(index):
        return index._array
    if isinstance(index, list) and not index:
        return np.array(index, int)
    return index.copy() if isinstance(index, np.ndarray) else np.array(index) if isinstance(index, list) else index


def reject_argument(function: Callable[..., Any], parameters: dict[str, Any]) -> None:
    """Raise a TypeError if a call has an argument, or a ufunc has several results, that no rule can handle."""
    if getattr(function, "nout", 1) > 1:
        raise TypeError(f"np.{function.__name__} has several results and no rule; use functions that have a rule")
    if getattr(function, "ntypes", 0) == 1 and function.types[0].endswith("O"):  # type: ignore[attr-defined]
        raise TypeError(
            f"{function.__name__}, made by np.frompyfunc, returns Python objects, but a tensor holds numbers; write it "
            "with NumPy functions"
        )
    for name, value in parameters.items():
        if name in REFUSED and value is not None:
            raise TypeError(f"np.{function.__name__} does not accept {name}= for a tensor: {REFUSED[name]}")


def reject_unknown(function: Any, ours: Callable[..., Any], args: Any, parameters: dict[str, Any]) -> None:
    """Raise a TypeError for the first argument that the spelled-out version does not accept."""
    from ..text.functions import written_name

    taken = inspect.signature(ours)
    name = written_name(function)
    for extra in parameters:
        if extra not in taken.parameters and not any(p.kind is p.VAR_KEYWORD for p in taken.parameters.values()):
            remedy = f": {REFUSED[extra]}" if extra in REFUSED else ""
            raise TypeError(f"{name} does not accept {extra}= for a tensor{remedy}") from None
    try:
        taken.bind(*args, **parameters)
    except TypeError as error:
        raise TypeError(f"{name} of a tensor: {error}") from None


def _array(value: Any, dtype: Any = None) -> Any:
    if isinstance(value, list | tuple):
        _reject_tensors(value)
    try:
        return np.array(value, dtype=dtype)
    except ValueError:
        from .structures import check_rectangular

        check_rectangular(value)  # its error says more
        raise


def _reject_tensors(value: Any) -> None:
    if any(is_tensor(part) and part.dtype.kind in "fc" for part in _parts(value)):
        raise TypeError(
            "a list of tensors is not an array, and converting it would cut them off from every tape; join them with "
            "np.stack([...])"
        )


def _parts(value: Any, depth: int = 64) -> Any:
    """Iterate over nested lists, down to the largest number of axes of an array: a list may contain itself."""
    for part in value if depth else ():
        yield from _parts(part, depth - 1) if isinstance(part, list | tuple) else (part,)


def _reject_mask(value: Any) -> None:
    if isinstance(value, np.ndarray) and hasattr(value, "mask"):
        raise TypeError(
            "a tensor has no mask, so a masked array would lose its mask; fill it first with array.filled(0.0), and "
            "leave elements out with np.where(mask, 0.0, x)"
        )


def _check_numbers(value: Any) -> None:
    _reject_mask(value)
    if is_tensor(value) or (hasattr(value, "__array_function__") and not isinstance(value, np.ndarray)):
        return
    array = _array(value)
    if array.dtype.kind not in "biufc":
        raise _no_numbers(value, array.dtype)


def _no_numbers(value: Any, dtype: Any) -> TypeError:
    return TypeError(f"a tensor holds numbers, but {value!r:.60} has dtype {dtype}")


def _convert(value: Any) -> Any:
    """Convert something that holds numbers but is not an array (a column of a table): its operators may differ."""
    if type(value) in _AS_IT_IS or hasattr(value, "__array_function__") or isinstance(value, np.generic):
        return value
    return np.array(value) if hasattr(value, "__array__") or isinstance(value, memoryview | bytearray) else value


@cache
def _place_of_out(function: Callable[..., Any]) -> int:
    """Return the position of a function's `out` argument, if it has one."""
    try:
        parameters = signature(function).parameters
    except ValueError:  # before NumPy 2.4, other functions written in C have no signature either
        return sys.maxsize
    out = parameters.get("out")
    return list(parameters).index("out") if out and out.kind is out.POSITIONAL_OR_KEYWORD else sys.maxsize


def as_change(value: Any, variable: Any) -> Any:
    """Copy the value to add to a variable; raise a ValueError if the sum would not have the variable's shape."""
    array = copy_in(value)
    try:
        wide = np.broadcast_shapes(array.shape, variable.shape)
    except ValueError:
        wide = None
    if wide == variable.shape:
        return array
    meant = tuple(n for n in array.shape if n != 1)
    raise ValueError(
        f"{variable!r} has shape {variable.shape}, so it cannot be changed by a value of shape {array.shape}"
        + (f", which would broadcast to {wide}" if wide not in (None, array.shape) else "")
        + (f": did you mean {meant}? " if meant == variable.shape else "; ")
        + ("A" if meant == variable.shape else "a")
        + " variable keeps its shape"
    )


def check_fits(array: Any, variable: Any) -> None:
    """Raise a ValueError if a variable cannot take an array of this shape, or a TypeError if of this dtype."""
    if array.shape != variable.shape:
        raise ValueError(
            f"{variable!r} has shape {variable.shape}, but was assigned a value of shape {array.shape}; a variable "
            "keeps its shape, so create a new Variable"
        )
    if not np.can_cast(array.dtype, variable.dtype, "same_kind"):
        raise TypeError(
            f"{variable!r} has dtype {variable.dtype}, but was assigned a value of dtype {array.dtype}; convert it "
            f"explicitly: value.astype({str(variable.dtype)!r})"
        )
