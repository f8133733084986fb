"""NumPy functions that take elements: by their places, written as indexing, or in order.

Those that put elements in order are operations of their own.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..arrays.provenance import DependentArray
from ..core.composites import SPELLED
from ..core.rule import general
from ..core.tensor import Tensor, apply, constant
from .operations import array_of


def array_from(a: Any) -> Any:
    """Return the array behind a tensor, or convert a list to one, to choose an order or a branch from it."""
    return array_of(a) if isinstance(a, Tensor) else a if type(a) is DependentArray else np.asarray(a)


def count_from(a: Any) -> Any:
    """Return the plain numbers of counts or places; one number as an int, which a compiled program checks."""
    if isinstance(a, slice):
        return a
    return operator.index(a) if isinstance(a, Tensor) and not a.ndim else np.asarray(a)


def with_axis(a: Any, axis: int | None) -> tuple[Any, int]:
    """Return an array and the axis to work along: flattened for None; a scalar becomes a vector, as in NumPy."""
    if axis is None or not np.ndim(a):
        a, axis = np.ravel(a), axis or 0
    return a, normalize_axis_index(axis, np.ndim(a))


def take(a: Any, indices: Any, axis: int | None = None, out: None = None, mode: str = "raise") -> Any:
    """Take elements along one axis; `mode` says what happens to an index beyond the end."""
    if out is not None:
        raise TypeError("np.take does not accept out= for a tensor: tensors are immutable; write result = ...")
    a, axis = with_axis(a, axis)
    indices, length = array_from(indices), np.shape(a)[axis]
    if mode == "wrap":
        indices = indices % length
    elif mode == "clip":
        indices = np.clip(indices, 0, length - 1)
    return as_array_of(indices, a)[(*(slice(None),) * axis, indices)]


def as_array_of(indices: Any, a: Any) -> Any:
    """Return an array that can be indexed: by a tensor, as while a program is being recorded, only a tensor can."""
    return constant(a) if isinstance(indices, Tensor) and not isinstance(a, Tensor) else a


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Take one element per index along an axis, matching the other axes."""
    if axis is None:
        return take(np.ravel(arr), indices)
    indices, ndim = array_from(indices), np.ndim(arr)
    axis = normalize_axis_index(axis, ndim)
    places = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    for k in range(ndim):
        if indices.shape[k] == 1 and np.shape(arr)[k] != 1 and k != axis:
            places[k] = np.arange(np.shape(arr)[k]).reshape((-1,) + (1,) * (ndim - k - 1))
    places[axis] = indices
    return as_array_of(indices, arr)[tuple(places)]


def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """Sort along one axis, or all elements."""
    return arrange(np.sort, np.argsort, (a,), axis, kind=kind, order=order, stable=stable)


def partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """Partition along one axis, or all elements."""
    kind = None if kind == "introselect" else kind
    return arrange(np.partition, np.argpartition, (a, kth), axis, kind=kind, order=order)


def arrange(function: Any, find_order: Any, args: tuple[Any, ...], axis: int | None, **options: Any) -> Any:
    """Arrange elements by one operation, which finds their order anew when it is computed again with other values."""
    parameters = {name: option for name, option in options.items() if option is not None}  # NumPy checks them
    if axis is None:
        args, axis = (np.ravel(args[0]), *args[1:]), -1
    x, *rest = args
    if not isinstance(getattr(x, "_array", x), np.ndarray):  # such as Dask's, which has no sort: index by the order
        return take_along_axis(x, find_order(array_from(x), *rest, axis=axis, **parameters), axis)
    parameters |= {} if axis == -1 else {"axis": axis}
    return apply(function, args, parameters) if isinstance(x, Tensor) else function(*args, **parameters)


def pull_arrange(g: Any, y: Any, x: Any, *_: Any, axis: int = -1, **__: Any) -> Any:
    """Pull back to where each element stood before: it has the same rank in x and in y."""
    axis = normalize_axis_index(axis, np.ndim(x)) - np.ndim(x)
    x, y = array_of(x), array_of(y)
    ranks = np.argsort(np.argsort(x, axis=axis, kind="stable"), axis=axis)
    places = np.take_along_axis(np.argsort(y, axis=axis, kind="stable"), ranks, axis=axis)
    return np.take_along_axis(g, np.reshape(places, (1,) * (np.ndim(g) - places.ndim) + places.shape), axis=axis)


SPELLED |= {np.take: take, np.take_along_axis: take_along_axis, np.sort: sort, np.partition: partition}
general(np.sort, pull_arrange)
general(np.partition, pull_arrange)
