"""Rules for functions that reduce an array along axes, or accumulate along one."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..core.composites import SPELLED
from ..core.rule import general, linear, step
from ..core.tensor import apply
from .elementwise import length_or_one
from .operations import array_of
from .shapes import right

Axis = int | tuple[int, ...] | None


def from_the_right(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Write axes as negative numbers, so that they mean the same with a stack in front."""
    if axis is None or not ndim:  # a scalar has no axis, but NumPy lets you reduce it along axis 0 all the same
        return tuple(range(-ndim, 0))
    axes = tuple(axis) if np.iterable(axis) else (axis,)
    return tuple(a if a < 0 else a - ndim for a in map(operator.index, axes))


def restore(g: Any, x: Any, axis: Axis, keepdims: bool) -> Any:
    """Restore the reduced axes of g, with length 1."""
    if keepdims:
        return g
    shape = list(np.shape(x))
    reduced = from_the_right(axis, len(shape))
    for a in reduced:
        shape[a] = 1
    # np.expand_dims would also work, but takes four times as long
    return np.reshape(g, (*np.shape(g)[: np.ndim(g) - len(shape) + len(reduced)], *shape))


def spread(g: Any, x: Any, axis: Axis, keepdims: bool) -> Any:
    """Copy g along the reduced axes, to the shape of x (behind the stack, if there is one)."""
    g = restore(g, x, axis, keepdims)
    if hasattr(x, "chunks"):  # broadcast_to makes one block of Dask's, as large as all of x
        return g * np.ones_like(x)
    return np.broadcast_to(g, np.shape(g)[: np.ndim(g) - np.ndim(x)] + np.shape(x))


def length(x: Any, axis: Axis) -> int:
    """Count the elements that are reduced to each result."""
    shape = np.shape(x)
    return math.prod(shape[a] for a in from_the_right(axis, len(shape)))


def divide_among(g: Any, count: float) -> Any:
    """Divide g among this many elements; a count that float16 cannot hold is divided in float64."""
    return g / (count if count < 60_000 else np.float64(count))


def pull_extreme(g: Any, y: Any, x: Any, axis: Axis = None, out: None = None, keepdims: bool = False) -> Any:
    """Pull back to the largest (or smallest) elements; equal ones share evenly."""
    chosen = x == restore(y, x, axis, keepdims)
    return np.where(chosen, restore(g, x, axis, keepdims), 0) / np.sum(chosen, axis=axis, keepdims=True)


def pull_prod(
    g: Any, y: Any, x: Any, axis: Axis = None, dtype: Any = None, out: None = None, keepdims: bool = False
) -> Any:
    """Pull back through a product: each element gets the product of all others, correct next to zeros too."""
    if np.all(x != 0) and np.all((y != 0) & np.isfinite(y)):  # otherwise an overflow or underflow has lost the factors
        return restore(g * y, x, axis, keepdims) / x
    ndim = np.ndim(x)
    axes = from_the_right(axis, ndim)
    kept = tuple(a for a in range(-ndim, 0) if a not in axes)
    moved = np.transpose(x, kept + axes)
    flat = np.reshape(moved, (*np.shape(moved)[: len(kept)], -1))
    ones = np.ones((*np.shape(flat)[:-1], 1))
    before = np.concatenate([ones, np.cumprod(flat, axis=-1)[..., :-1]], axis=-1)
    after = np.concatenate([ones, np.cumprod(flat[..., :0:-1], axis=-1)], axis=-1)[..., ::-1]
    others = np.reshape(before * after, np.shape(moved))
    return restore(g, x, axis, keepdims) * np.transpose(others, np.argsort([a + ndim for a in kept + axes]).tolist())


def pull_cumprod(g: Any, y: Any, x: Any, axis: int) -> Any:
    """Pull back through a running product: to x_i goes the sum over j >= i of g_j and all of x_0 ... x_j but x_i."""
    axis = right(axis, x)
    if np.all(x != 0) and np.all((y != 0) & np.isfinite(y)):
        return later_sums(g * y, axis) / x
    x, g = np.moveaxis(x, axis, -1), np.moveaxis(g, axis, -1)
    n = np.shape(x)[-1]
    before = np.concatenate([np.ones((*np.shape(x)[:-1], 1)), np.cumprod(x, axis=-1)[..., :-1]], axis=-1)
    between = np.cumprod(np.where(np.triu(np.ones((n, n), bool), 1), x[..., None, :], 1), axis=-1)
    between = np.where(np.triu(np.ones((n, n), bool)), between, 0)  # [i, j]: the product of x_{i+1} ... x_j
    return np.moveaxis(before * np.sum(between * g[..., None, :], axis=-1), -1, axis)


def later_sums(g: Any, axis: int) -> Any:
    """Sum each element and those after it."""
    return np.flip(np.cumsum(np.flip(g, axis), axis=axis), axis)


def deviation(x: Any, axis: Axis, ddof: float) -> Any:
    """Return half the gradient of the variance: (x - mean) / (n - ddof)."""
    return divide_among(np.conjugate(x - np.mean(x, axis=axis, keepdims=True)), length(x, axis) - ddof)


def spread_or_one(y: Any, x: Any, axis: Axis) -> Any:
    """Return a standard deviation as a divisor; that of a single number is 0 everywhere, so it has all derivatives."""
    return length_or_one(y) if length(x, axis) > 1 else 1


def along(function: Any, a: Any, axis: int | None) -> Any:
    """Accumulate along an axis, or along the flattened array."""
    return apply(function, (np.ravel(a), 0) if axis is None or not np.ndim(a) else (a, operator.index(axis)))


def cumulative(function: Any, start: float) -> Any:
    """Return an accumulation that can start before the first element; with several axes, one must be chosen."""

    def accumulated(x: Any, /, *, axis: int | None = None, include_initial: bool = False) -> Any:
        if axis is None and np.ndim(x) > 1:
            raise ValueError(f"the array has shape {np.shape(x)}; say which axis to accumulate along: axis=0")
        x = x if np.ndim(x) else np.reshape(x, 1)
        axis = right(normalize_axis_index(axis or 0, np.ndim(x)), x)
        found = function(x, axis=axis)
        if not include_initial:
            return found
        first = np.full([1 if k - np.ndim(x) == axis else n for k, n in enumerate(np.shape(x))], start, found.dtype)
        return np.concatenate([first, found], axis=axis)

    return accumulated


def running(function: Any, a: Any, axis: int) -> Any:
    """Combine each element along an axis with all before it, one after another."""
    if not np.ndim(a):
        raise TypeError("cannot accumulate on a scalar")
    parts: Any = np.moveaxis(a, axis, 0)
    if not np.shape(parts)[0]:
        return np.positive(a)
    found = [parts[0]]
    for k in range(1, np.shape(parts)[0]):
        found.append(function(found[-1], parts[k]))
    return np.moveaxis(np.stack(found), 0, axis)


def logsumexp(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return log(sum(exp(a))) without overflow: the largest element is factored out first."""
    if not length(a, axis):
        return np.sum(a, axis=axis, keepdims=keepdims) - np.inf
    largest = np.max(array_of(a), axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    total = np.log(np.sum(np.exp(a - largest), axis=axis, keepdims=keepdims))
    return total + (largest if keepdims else np.sum(largest, axis=axis))


# fmt: off
linear(np.sum,     lambda g, y, x, axis=None, dtype=None, out=None, keepdims=False: spread(g, x, axis, keepdims))
linear(np.mean,    lambda g, y, x, axis=None, dtype=None, out=None, keepdims=False:
                       spread(divide_among(g, length(x, axis)), x, axis, keepdims))
general(np.max,    pull_extreme)
general(np.min,    pull_extreme)
general(np.prod,   pull_prod)
general(np.var,    lambda g, y, x, axis=None, dtype=None, out=None, ddof=0, keepdims=False:
                       restore(g, x, axis, keepdims) * 2 * deviation(x, axis, ddof))
general(np.std,    lambda g, y, x, axis=None, dtype=None, out=None, ddof=0, keepdims=False:
                       restore(g / spread_or_one(y, x, axis), x, axis, keepdims) * deviation(x, axis, ddof))
linear(np.cumsum,  lambda g, y, x, axis: later_sums(g, right(axis, x)))
general(np.cumprod, pull_cumprod)
step(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.any, np.all, np.count_nonzero,
     np.argsort, np.argpartition, np.searchsorted, np.digitize)
# fmt: on

SPELLED[np.amax], SPELLED[np.amin] = np.max, np.min
SPELLED[np.ptp] = lambda a, axis=None, keepdims=False: (
    np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)
)
SPELLED[np.cumsum] = lambda a, axis=None: along(np.cumsum, a, axis)
SPELLED[np.cumprod] = lambda a, axis=None: along(np.cumprod, a, axis)
if hasattr(np, "cumulative_sum"):  # NumPy 2.1 or later
    SPELLED[np.cumulative_sum] = cumulative(np.cumsum, 0)
    SPELLED[np.cumulative_prod] = cumulative(np.cumprod, 1)


def along_the_first(function: Any) -> Any:
    """Turn a reduction over all axes into one along axis 0, the default of ufunc.reduce."""
    return lambda a, axis=0, keepdims=False, **_: function(a, axis=axis, keepdims=keepdims)


for ufunc, reduction in {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}.items():
    SPELLED[ufunc, "reduce"] = along_the_first(reduction)
for ufunc, accumulation in {np.add: np.cumsum, np.multiply: np.cumprod}.items():
    SPELLED[ufunc, "accumulate"] = lambda a, axis=0, function=accumulation, **_: function(a, axis=axis)
SPELLED[np.logaddexp, "reduce"] = along_the_first(logsumexp)
for ufunc in (np.maximum, np.minimum):
    SPELLED[ufunc, "accumulate"] = lambda a, axis=0, function=ufunc, **_: running(function, a, axis)
for ufunc in (np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum):
    SPELLED[ufunc, "outer"] = lambda a, b, function=ufunc, **_: function(
        np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b
    )
