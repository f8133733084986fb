"""Rules for functions that move elements around without changing them, including indexing."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.composites import SPELLED
from ..core.rule import general, linear, step
from ..core.tensor import apply
from .operations import alias, cast, checked, concatenate, gather, round_off, scatter, stack


def like(g: Any, y: Any, x: Any) -> Any:
    """Reshape g, which has y's shape behind its stack, to the shape of x."""
    return np.reshape(g, np.shape(g)[: np.ndim(g) - np.ndim(y)] + np.shape(x))


def right(axis: int, x: Any) -> int:
    """Count an axis of x from the right, so that it stays the same axis with a stack in front."""
    return axis % np.ndim(x) - np.ndim(x)


def permute_back(g: Any, ndim: int, axes: Sequence[int] | None) -> Any:
    """Undo a transposition, leaving the axis of the stack in front."""
    order = range(ndim)[::-1] if axes is None else [a % ndim for a in axes]
    lead = np.ndim(g) - ndim
    return np.transpose(g, (*range(lead), *(lead + a for a in np.argsort(list(order)).tolist())))


def slice_of(i: int, g: Any, y: Any, *arrays: Any, axis: int | None = 0) -> Any:
    """Cut array i's part out of a concatenation's cotangent."""
    if axis is None:
        start = sum(np.size(a) for a in arrays[:i])
        return np.reshape(g[..., start : start + np.size(arrays[i])], np.shape(g)[:-1] + np.shape(arrays[i]))
    axis = right(axis, y)
    start = sum(np.shape(a)[axis] for a in arrays[:i])
    return g[(..., slice(start, start + np.shape(arrays[i])[axis]), *(slice(None),) * (-1 - axis))]


def layer_of(i: int, g: Any, y: Any, *arrays: Any, axis: int = 0) -> Any:
    """Take array i's layer out of a stack's cotangent."""
    axis = right(axis, y)
    return g[(..., i, *(slice(None),) * (-1 - axis))]


def spelled_reshape(a: Any, shape: Any, order: str = "C") -> Any:
    """Reshape in Fortran's order by reversing the axes before and after."""
    if order == "F":
        backwards = (shape,) if isinstance(shape, int) else tuple(shape)[::-1]
        return np.transpose(np.reshape(np.transpose(a), backwards))
    if order != "C":
        raise ValueError(f"a tensor can be reshaped in the order 'C' or 'F', not {order!r}")
    if type(shape) is not tuple:
        shape = tuple(shape) if np.iterable(shape) else (shape,)
    return apply(np.reshape, (a, shape))


# fmt: off
linear(np.reshape,        lambda g, y, x, shape: like(g, y, x))
linear(np.expand_dims,    lambda g, y, x, *_, **__: like(g, y, x))
linear(np.squeeze,        lambda g, y, x, *_, **__: like(g, y, x))
linear(np.transpose,      lambda g, y, x, axes=None: permute_back(g, np.ndim(x), axes))
linear(np.swapaxes,       lambda g, y, x, axis1, axis2: np.swapaxes(g, right(axis1, x), right(axis2, x)))
linear(np.broadcast_to,   lambda g, y, x, *_, **__: g)
linear(cast,              lambda g, y, x, dtype: g)
linear(alias,              lambda g, y, x: g)
linear(checked,            lambda g, y, x, *_: g)
linear(operator.getitem,  lambda g, y, x, index: scatter(g, index, np.shape(x)))
linear(scatter,           lambda g, y, x, index, shape: gather(g, index, shape))
linear(gather,            lambda g, y, x, index, shape: scatter(g, index, shape))
general(concatenate,       each=slice_of)
general(stack,            each=layer_of)
step(round_off)
# fmt: on

SPELLED[np.shape] = lambda a: a.shape
SPELLED[np.ndim] = lambda a: a.ndim
SPELLED[np.size] = lambda a, axis=None: a.size if axis is None else a.shape[axis]
SPELLED[np.ndarray.astype] = lambda a, dtype: (
    cast(a, np.dtype(dtype)) if np.dtype(dtype).kind in "fc" else round_off(a, dtype)
)
if hasattr(np, "astype"):  # NumPy 2.1 or later
    SPELLED[np.astype] = lambda x, dtype, /, *, copy=True: x.astype(dtype)
SPELLED[np.reshape] = spelled_reshape
SPELLED[np.expand_dims] = lambda a, axis: apply(
    np.expand_dims, (a, axis if type(axis) is int or not np.iterable(axis) else tuple(axis))
)
SPELLED[np.transpose] = lambda a, axes=None: apply(
    np.transpose, (a,) if axes is None else (a, tuple(axes) if np.iterable(axes) else (axes,))
)
SPELLED[np.ravel] = lambda a, order="C": np.reshape(a, -1, order)
SPELLED[np.concatenate] = lambda arrays, axis=0: concatenate(*arrays, axis=axis)
SPELLED[np.stack] = lambda arrays, axis=0: stack(*arrays, axis=axis)
