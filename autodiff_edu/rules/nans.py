"""NumPy functions that skip NaN: elements that are NaN do not count, and their gradient is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.composites import SPELLED
from ..core.rule import general
from .rearranging import moveaxis
from .reductions import Axis, length, pull_extreme
from .sampling import check_quantile, slices, weights
from .taking import take_along_axis


def without(function: Callable[..., Any], empty: float) -> Callable[..., Any]:
    """Wrap a function so that NaN is replaced with a number that changes nothing."""
    return lambda a, axis=None, **options: function(np.where(np.isnan(a), empty, a), axis=axis, **options)


def pull_nan_extreme(g: Any, y: Any, x: Any, *args: Any, **options: Any) -> Any:
    """Pull back to the largest (or smallest) elements that are not NaN; equal ones share evenly."""
    with np.errstate(invalid="ignore"):  # if all are NaN, none is chosen: 0 / 0
        return np.where(np.isnan(x), 0, pull_extreme(g, y, x, *args, **options))


def count(a: Any, axis: Axis) -> Any:
    """Count the elements that are not NaN, with the reduced axes kept."""
    return np.sum(~np.isnan(a), axis=axis, keepdims=True)


def nanmean(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Divide the sum of the elements that are not NaN by their number."""
    if a.dtype.kind not in "fc":
        return np.mean(a, axis=axis, keepdims=keepdims)
    total = np.sum(np.where(np.isnan(a), 0, a), axis=axis, keepdims=True)
    return drop_axes((total / count(a, axis)).astype(a.dtype), axis, keepdims)


def deviation(a: Any, axis: Axis) -> Any:
    """Subtract the mean; 0 in place of NaN."""
    return np.where(np.isnan(a), 0, a - nanmean(a, axis, keepdims=True))


def freedom(a: Any, axis: Axis, ddof: float) -> Any:
    """Count the elements that are not NaN, less ddof; NaN where that leaves none."""
    left = count(a, axis) - ddof
    return np.where(left > 0, left, np.nan)


def nanvar(a: Any, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    """Average the squared distance from the mean; NaN where there are too few elements."""
    if a.dtype.kind not in "fc":
        return np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)
    apart = deviation(a, axis)
    squares = np.sum(np.real(apart * np.conjugate(apart)), axis=axis, keepdims=True)
    return drop_axes((squares / freedom(a, axis, ddof)).astype(squares.dtype), axis, keepdims)


def nanstd(a: Any, axis: Axis = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    """Divide the length of the deviations, with its derivatives at 0, by the root of their number."""
    if a.dtype.kind not in "fc":
        return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    single = count(a, axis) == 1  # its deviation is 0 everywhere, not just here
    norm: Any = np.linalg.vector_norm
    apart = np.where(single, 0, norm(np.where(single, 1, deviation(a, axis)), axis=axis, keepdims=True))
    return drop_axes((apart / np.sqrt(freedom(a, axis, ddof))).astype(apart.dtype), axis, keepdims)


def drop_axes(found: Any, axis: Axis, keepdims: bool) -> Any:
    """Drop the axes that were reduced to length 1, unless keepdims keeps them."""
    return found if keepdims else np.squeeze(found, axis=tuple(range(found.ndim)) if axis is None else axis)


def nanquantile(a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    """Interpolate between the sorted elements of each slice that are not NaN: sorting puts NaN last."""
    q = check_quantile(a, q, method)
    flat, shape = slices(a, axis)
    present = np.sum(~np.isnan(flat), axis=-1)
    ordered = np.sort(flat)
    position = np.maximum(present - 1, 0)[(..., *(None,) * q.ndim)] * q  # one per slice and quantile
    low, lead = np.floor(position).astype(int), np.shape(flat)[:-1]
    high = np.minimum(low + 1, np.maximum(present - 1, 0)[(..., *(None,) * q.ndim)])
    below, above = (
        np.reshape(take_along_axis(ordered, np.reshape(place, (*lead, q.size)), -1), lead + q.shape)
        for place in (low, high)
    )
    share = position - low
    found = below * (1 - share) + above * share
    found = np.where((present == 0)[(..., *(None,) * q.ndim)], np.nan, found)
    if not q.ndim or a.dtype.kind != "f":
        found = found.astype(np.result_type(a.dtype, weights(0.0, a)))
    found = moveaxis(found, tuple(range(-q.ndim, 0)), tuple(range(q.ndim)))
    return np.reshape(found, q.shape + shape) if keepdims else found


general(np.nanmax, pull_nan_extreme)
general(np.nanmin, pull_nan_extreme)

SPELLED |= {
    np.nansum: without(np.sum, 0), np.nanprod: without(np.prod, 1),
    np.nancumsum: without(np.cumsum, 0), np.nancumprod: without(np.cumprod, 1),
    np.nanmean: nanmean, np.nanvar: nanvar, np.nanstd: nanstd, np.nanquantile: nanquantile,
    np.nanpercentile: lambda a, q, axis=None, **options: nanquantile(a, np.asarray(q) / 100, axis, **options),
    np.nanmedian: lambda a, axis=None, *, keepdims=False: (
        nanquantile(a, 0.5, axis, keepdims=keepdims) if length(a, axis) else np.mean(a, axis=axis, keepdims=keepdims)
    ),
}  # fmt: skip
