"""NumPy functions that difference, interpolate, sum up or combine samples, written in functions that have rules."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ..core.rule import SPELLED
from ..core.tensor import Tensor
from .rearranging import array_from, moveaxis, sort, take
from .reductions import length


def weights(values: Any, *arrays: Any) -> Any:
    """Give weights the precision of the arrays they are for, so that float32 stays float32."""
    dtype = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in arrays))
    return np.asarray(values, np.finfo(dtype).dtype if dtype.kind in "fc" else float)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Take differences of neighbours, n times."""
    a = moveaxis(a, axis, -1)
    for extra, first in ((prepend, True), (append, False)):
        if extra is not None:
            extra = moveaxis(extra, axis, -1) if np.ndim(extra) else np.broadcast_to(extra, (*np.shape(a)[:-1], 1))
            a = np.concatenate([extra, a] if first else [a, extra], axis=-1)
    for _ in range(n):
        a = a[..., 1:] - a[..., :-1]
    return moveaxis(a, -1, axis)


def gradient(f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Differentiate samples by finite differences, with spacings or coordinates as np.gradient takes them."""
    ndim = np.ndim(f)
    axes = tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)
    if any(isinstance(step, Tensor) for step in spacing):
        raise TypeError("np.gradient takes its spacing as plain numbers; divide by a tensor afterwards")
    if len(spacing) not in (0, 1, len(axes)):
        raise TypeError(f"np.gradient takes no spacing, one, or one per axis ({len(axes)}); {len(spacing)} were given")
    steps = spacing or (1.0,)
    steps = steps * len(axes) if len(steps) == 1 else steps
    found = [_gradient_along(f, step, a, edge_order) for step, a in zip(steps, axes, strict=True)]
    return found[0] if len(axes) == 1 else tuple(found)


def _gradient_along(f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    f, n = moveaxis(f, axis, -1), np.shape(f)[axis]
    if n < edge_order + 1:
        raise ValueError(f"np.gradient needs at least {edge_order + 1} samples along axis {axis}, and there are {n}")
    h = weights(np.full(n - 1, float(spacing)) if np.ndim(spacing) == 0 else np.diff(array_from(spacing)), f)
    a, b = h[:-1], h[1:]
    middle = (f[..., 2:] * a**2 + f[..., 1:-1] * (b**2 - a**2) - f[..., :-2] * b**2) / (a * b * (a + b))
    if edge_order == 1:
        first, last = (f[..., 1:2] - f[..., :1]) / h[0], (f[..., -1:] - f[..., -2:-1]) / h[-1]
    else:
        p, q, r, s = h[0], h[1], h[-1], h[-2]
        first = (
            -(2 * p + q) / (p * (p + q)) * f[..., :1]
            + (p + q) / (p * q) * f[..., 1:2]
            - p / (q * (p + q)) * f[..., 2:3]
        )
        last = (2 * r + s) / (r * (r + s)) * f[..., -1:] - (r + s) / (r * s) * f[..., -2:-1]
        last = last + r / (s * (r + s)) * f[..., -3:-2]
    return moveaxis(np.concatenate([first, middle, last], axis=-1), -1, axis)


def quantile(a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    """Interpolate between the sorted elements on either side of each quantile."""
    if method != "linear":
        raise ValueError(f"quantiles of a tensor are found by the method 'linear', and not {method!r}")
    if isinstance(q, Tensor):
        raise TypeError("the position of a quantile must be a plain number or array: its rule is for the elements only")
    q, ndim = np.asarray(q, float), np.ndim(a)
    if a.dtype.kind == "c":
        raise TypeError("complex numbers have no order, and so no quantiles; take np.real, np.imag or np.abs of them")
    if ((q < 0) | (q > 1)).any():
        raise ValueError("quantiles lie between 0 and 1")
    axes = tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)
    kept = [k for k in range(ndim) if k not in axes]
    if not length(a, axes):
        raise ValueError(f"an array of shape {np.shape(a)} has no elements along {axes} to take a quantile of")
    flat = np.reshape(np.transpose(a, (*kept, *axes)), (*[np.shape(a)[k] for k in kept], length(a, axes)))
    ordered = sort(flat)
    position = q * (np.shape(flat)[-1] - 1)
    low = np.floor(position).astype(int)
    high = np.minimum(low + 1, np.shape(flat)[-1] - 1)
    share = position - low if q.ndim else weights(position - low, a)  # NumPy's own dtypes
    found: Any = ordered[..., low] * (1 - share) + ordered[..., high] * share
    missing = np.isnan(array_from(flat)).any(axis=-1)  # sorted to the end, where it would go unseen
    if missing.any():
        found = np.where(np.reshape(missing, missing.shape + (1,) * q.ndim), np.nan, found)
    if keepdims:
        found = np.expand_dims(found, tuple(k - q.ndim for k in axes) if q.ndim == 0 else ())
        if q.ndim:
            raise ValueError("keepdims of a tensor's quantiles is for one quantile at a time")
        shape = tuple(1 if k in axes else np.shape(a)[k] for k in range(ndim))
        return np.reshape(found, shape)
    return moveaxis(found, tuple(range(-q.ndim, 0)), tuple(range(q.ndim))) if q.ndim else found


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Interpolate linearly between samples; constant beyond the ends."""
    if period is not None:
        raise ValueError("np.interp of a tensor takes no period=; repeat the samples instead")
    if "c" in (array_from(x).dtype.kind, array_from(xp).dtype.kind):
        raise TypeError("np.interp interpolates between real places; complex numbers have no order")
    last = np.size(xp) - 1
    place = np.clip(np.searchsorted(array_from(xp), array_from(x), side="right") - 1, 0, max(last - 1, 0))
    following = np.minimum(place + 1, last)
    start, end, low, high = take(xp, place), take(xp, following), take(fp, place), take(fp, following)
    width = np.where(following == place, 1, end - start)  # a single sample is its own neighbour
    inside = low + (x - start) * ((high - low) / width)
    inside = np.where(array_from(x) > array_from(xp)[-1], fp[-1] if right is None else right, inside)
    found: Any = np.where(array_from(x) < array_from(xp)[0], fp[0] if left is None else left, inside)
    return found.astype(np.result_type(found.dtype, float))


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Multiply the windows of one sequence, laid out as a matrix, by the other reversed."""
    if np.size(a) < np.size(v):
        a, v = v, a
    n, m = np.size(a), np.size(v)
    edge = {"full": m - 1, "same": None, "valid": 0}
    if mode not in edge:
        raise ValueError(f"the mode of np.convolve is 'full', 'same' or 'valid', and not {mode!r}")
    zeros = np.zeros(m - 1, (a if isinstance(a, Tensor) else np.asarray(a)).dtype)
    padded = np.concatenate([zeros, a, zeros])
    windows = padded[np.arange(n + m - 1)[:, None] + np.arange(m)]
    full = np.matmul(windows, v[::-1])
    if mode == "valid":
        return full[m - 1 : n]
    return full if mode == "full" else full[(m - 1) // 2 : (m - 1) // 2 + n]


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    """Mix the two ends in equal steps."""
    if dtype is not None:
        raise TypeError("np.linspace of tensors takes no dtype=: convert its result with .astype")
    num = operator.index(num)
    count = max(num - 1 if endpoint else num, 1)
    share = weights(np.arange(num) / count, start, stop)
    shape = np.broadcast_shapes(np.shape(start), np.shape(stop))
    share = np.reshape(share, (num, *(1,) * len(shape)))
    found = moveaxis(start + (stop - start) * share, 0, axis)
    return (found, (stop - start) / count) if retstep else found


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **_: Any) -> Any:
    """Copy one value, or an array of values, to a shape."""
    found = np.broadcast_to(fill_value, shape)
    return found if dtype is None else found.astype(dtype)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Average with weights."""
    if weights is None:
        found, total = np.mean(a, axis=axis, keepdims=keepdims), np.size(a) / np.size(np.sum(a, axis=axis))
    else:
        if np.shape(weights) != np.shape(a):
            weights = np.reshape(weights, [n if k == axis % np.ndim(a) else 1 for k, n in enumerate(np.shape(a))])
        total = np.sum(np.broadcast_to(weights, np.shape(a)), axis=axis, keepdims=keepdims)
        empty = array_from(total) == 0
        if isinstance(empty, np.bool_ | np.ndarray) and empty.any():  # of another library's it is not known yet
            raise ZeroDivisionError("the weights sum to zero, so there is no average")
        found = np.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Sum the trapezia under samples."""
    y = moveaxis(y, axis, -1)
    width = dx if x is None else diff(moveaxis(x, axis, -1) if np.ndim(x) > 1 else x)
    return np.sum(width * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)


SPELLED |= {
    np.diff: diff, np.gradient: gradient, np.quantile: quantile, np.interp: interp, np.convolve: convolve,
    np.linspace: linspace, np.full: full, np.average: average, np.trapezoid: trapezoid,
    np.percentile: lambda a, q, axis=None, **parameters: quantile(a, np.asarray(q) / 100, axis, **parameters),
    np.median: lambda a, axis=None, keepdims=False: quantile(a, 0.5, axis, keepdims=keepdims),
    np.full_like: lambda a, fill_value, dtype=None, order="K", subok=True, shape=None: full(
        np.shape(a) if shape is None else shape, fill_value, dtype or a.dtype
    ),
}  # fmt: skip
