"""NumPy functions that difference, interpolate, sum or combine samples, written in functions that have rules."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ..core.composites import SPELLED
from ..core.rule import general, step
from ..core.tensor import Tensor, apply
from .operations import array_of, recorder, require, scatter, turns
from .rearranging import moveaxis
from .reductions import length
from .taking import array_from, sort, take


def weights(values: Any, *arrays: Any) -> Any:
    """Return weights in the precision of their arrays, so that float32 stays float32."""
    dtype = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in arrays))
    return np.asarray(values, np.finfo(dtype).dtype if dtype.kind in "fc" else float)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """Compute differences of neighbours, n times."""
    a = moveaxis(a, axis, -1)
    for extra, first in ((prepend, True), (append, False)):
        if extra is not np._NoValue:
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
        raise TypeError(
            f"np.gradient accepts no spacing, one, or one per axis ({len(axes)}); {len(spacing)} were given"
        )
    steps = spacing or (1.0,)
    steps = steps * len(axes) if len(steps) == 1 else steps
    found = [_gradient_along(f, step, a, edge_order) for step, a in zip(steps, axes, strict=True)]
    return found[0] if len(axes) == 1 else tuple(found)


def _gradient_along(f: Any, spacing: Any, axis: int, edge_order: int) -> Any:
    f, n = moveaxis(f, axis, -1), np.shape(f)[axis]
    if n < edge_order + 1:
        raise ValueError(f"np.gradient needs at least {edge_order + 1} samples along axis {axis}, but there are {n}")
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


def check_quantile(a: Any, q: Any, method: str) -> np.ndarray:
    """Return the positions of quantiles as an array; raise an error unless `a` has such quantiles."""
    if method != "linear":
        raise ValueError(f"quantiles of a tensor are computed with the method 'linear', not {method!r}")
    if isinstance(q, Tensor):
        raise TypeError("the position of a quantile must be a plain number or array: its rule covers the elements only")
    positions = np.asarray(q, float)
    if a.dtype.kind == "c":
        raise TypeError(
            "complex numbers have no order and therefore no quantiles; take np.real, np.imag or np.abs of them"
        )
    if ((positions < 0) | (positions > 1)).any():
        raise ValueError("quantiles lie between 0 and 1")
    return positions


def slices(a: Any, axis: Any) -> tuple[Any, tuple[int, ...]]:
    """Return an array with the given axes joined as the last one, and its shape with these axes of length 1."""
    ndim = np.ndim(a)
    axes = tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)
    kept = [k for k in range(ndim) if k not in axes]
    if not length(a, axes):
        raise ValueError(f"an array of shape {np.shape(a)} has no elements along {axes} to take a quantile of")
    flat = np.reshape(np.transpose(a, (*kept, *axes)), (*[np.shape(a)[k] for k in kept], length(a, axes)))
    return flat, tuple(1 if k in axes else np.shape(a)[k] for k in range(ndim))


def quantile(a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    """Interpolate between the sorted elements on either side of each quantile."""
    q = check_quantile(a, q, method)
    flat, shape = slices(a, axis)
    ordered = sort(flat)
    position = q * (np.shape(flat)[-1] - 1)
    low = np.floor(position).astype(int)
    high = np.minimum(low + 1, np.shape(flat)[-1] - 1)
    share = position - low if q.ndim else weights(position - low, a)  # NumPy's own dtypes
    found: Any = ordered[..., low] * (1 - share) + ordered[..., high] * share
    missing = np.isnan(array_from(flat)).any(axis=-1)  # sorting moves it to the end, where nobody would see it
    if recorder() or missing.any():
        found = np.where(np.reshape(missing, missing.shape + (1,) * q.ndim), np.nan, found)
    found = moveaxis(found, tuple(range(-q.ndim, 0)), tuple(range(q.ndim))) if q.ndim else found
    return np.reshape(found, q.shape + shape) if keepdims else found


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """Interpolate linearly between samples; constant beyond the ends, if nothing else is asked for."""
    if period is not None:
        raise ValueError("np.interp does not accept period= for a tensor; repeat the samples instead")
    x, xp, fp = (a if isinstance(a, Tensor) else np.asarray(a) for a in (x, xp, fp))
    if "c" in (x.dtype.kind, xp.dtype.kind):
        raise TypeError("np.interp needs real sample points; complex numbers have no order")
    tensors = any(isinstance(a, Tensor) for a in (x, xp, fp))
    found: Any = apply(np.interp, (x, xp, fp)) if tensors else np.interp(x, xp, fp)
    if right is not None:
        found = np.where(array_of(x) > array_of(xp)[-1], right, found)
    return found if left is None else np.where(array_of(x) < array_of(xp)[0], left, found)


def segment(x: Any, xp: Any) -> tuple[Any, Any, Any, Any]:
    """Find the knots on either side of each x, how far x is from the first of them to the second, and their distance.

    Beyond the ends, x is taken for the knot there, and the distance for infinite.
    """
    here, knots, last = array_of(x), array_of(xp), np.size(xp) - 1
    place = np.clip(np.searchsorted(knots, here, side="right") - 1, 0, max(last - 1, 0))
    following = np.minimum(place + 1, last)
    inside = (here >= knots[0]) & (here <= knots[-1])
    width = np.where(following == place, 1, take(xp, following) - take(xp, place))  # one sample: its own neighbour
    share = np.where(inside, (x - take(xp, place)) / width, here > knots[-1])
    return place, following, share, np.where(inside, width, np.inf)


def pull_interp_x(g: Any, y: Any, x: Any, xp: Any, fp: Any) -> Any:
    """Pull back to where it is asked for: the slope of the segment, at a knot of the one to the right."""
    place, following, _, width = segment(x, xp)
    return g * ((take(fp, following) - take(fp, place)) / width)


def pull_interp_xp(g: Any, y: Any, x: Any, xp: Any, fp: Any) -> Any:
    """Pull back to the knots: moving both ends of a segment is like moving x the other way."""
    place, following, share, _ = segment(x, xp)
    moved = -pull_interp_x(g, y, x, xp, fp)
    return scatter(moved * (1 - share), place, np.shape(xp)) + scatter(moved * share, following, np.shape(xp))


def pull_interp_fp(g: Any, y: Any, x: Any, xp: Any, fp: Any) -> Any:
    """Pull back to the samples, to each by its share."""
    place, following, share, _ = segment(x, xp)
    return scatter(g * (1 - share), place, np.shape(fp)) + scatter(g * share, following, np.shape(fp))


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Multiply the windows of one sequence, laid out as a matrix, by the other reversed."""
    if np.size(a) < np.size(v):
        a, v = v, a
    n, m = np.size(a), np.size(v)
    edge = {"full": m - 1, "same": None, "valid": 0}
    if mode not in edge:
        raise ValueError(f"the mode of np.convolve is 'full', 'same' or 'valid', not {mode!r}")
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
    """Return evenly spaced mixtures of the two ends."""
    refuse_dtype("np.linspace", dtype)
    num = operator.index(num)
    count = max(num - 1 if endpoint else num, 1)
    share = weights(np.arange(num) / count, start, stop)
    shape = np.broadcast_shapes(np.shape(start), np.shape(stop))
    share = np.reshape(share, (num, *(1,) * len(shape)))
    found = moveaxis(start + (stop - start) * share, 0, axis)
    return (found, (stop - start) / count) if retstep else found


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **_: Any) -> Any:
    """Fill a shape with one value, or with an array of values."""
    found = np.broadcast_to(fill_value, shape)
    return found if dtype is None else found.astype(dtype)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Compute a weighted average."""
    if weights is None:
        found, total = np.mean(a, axis=axis, keepdims=keepdims), np.size(a) / np.size(np.sum(a, axis=axis))
    else:
        if np.shape(weights) != np.shape(a):
            weights = np.reshape(weights, [n if k == axis % np.ndim(a) else 1 for k, n in enumerate(np.shape(a))])
        total = np.sum(np.broadcast_to(weights, np.shape(a)), axis=axis, keepdims=keepdims)
        empty = array_of(total) == 0
        if isinstance(empty, np.bool_ | np.ndarray | Tensor):  # another library may not know them yet
            total = require(total, empty, ZeroDivisionError("the weights sum to zero, so there is no average"))
        found = np.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Sum the areas of the trapezoids under the samples."""
    y = moveaxis(y, axis, -1)
    width = dx if x is None else diff(moveaxis(x, axis, -1) if np.ndim(x) > 1 else x)
    return np.sum(width * (y[..., 1:] + y[..., :-1]) / 2, axis=-1)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Raise a base to evenly spaced powers."""
    refuse_dtype("np.logspace", dtype)
    if np.ndim(base):
        ndim = max(np.ndim(start), np.ndim(stop), np.ndim(base))
        start, stop, base = (np.reshape(a, (1,) * (ndim - np.ndim(a)) + np.shape(a)) for a in (start, stop, base))
        base = np.expand_dims(base, axis)
    return np.power(base, linspace(start, stop, num, endpoint, axis=axis))


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """Return a geometric sequence: raise the quotient of the two ends to evenly spaced powers."""
    refuse_dtype("np.geomspace", dtype)
    start, stop = (x.astype(np.result_type(x.dtype, float)) if isinstance(x, Tensor) else x for x in (start, stop))
    error = ValueError("a geometric sequence cannot begin or end at 0")
    start, stop = (require(x, array_from(x) == 0, error) for x in (start, stop))
    share = linspace(np.zeros(()), np.ones(()), num, endpoint)
    ratio = stop / start
    found = start * np.power(ratio, np.reshape(share, (-1, *(1,) * np.ndim(ratio))))
    return moveaxis(found, 0, axis)


def refuse_dtype(name: str, dtype: Any) -> None:
    """Raise the error for a requested result dtype."""
    if dtype is not None:
        raise TypeError(f"{name} does not accept dtype= for a tensor: convert its result with .astype")


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Convolve with the other sequence, conjugated and reversed."""
    if np.size(a) < np.size(v):
        return np.conjugate(correlate(v, a, mode))[::-1]
    return convolve(a, np.conjugate(v)[::-1], mode)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Compute differences of neighbours in the flattened array, with optional values before and after them."""
    ary = np.ravel(ary)
    found = ary[1:] - ary[:-1]
    parts = [None if x is None else convert_dtype(np.ravel(x), found.dtype) for x in (to_begin, to_end)]
    return np.concatenate([x for x in (parts[0], found, parts[1]) if x is not None])


def convert_dtype(x: Any, dtype: np.dtype) -> Any:
    """Convert to a dtype if it is different."""
    return x if x.dtype == dtype else x.astype(dtype)


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
    """Add whole periods where neighbours are more than half a period apart; how many is a constant."""
    return p + turns(p, discont, axis, period)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """Average the products of the deviations from the mean, for every pair of variables."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be an integer")
    ddof = int(not bias) if ddof is None else ddof
    x = variables("m", m, rowvar)
    x = x if y is None else np.concatenate([x, variables("y", y, rowvar)])
    x = x.astype(np.result_type(x.dtype, float))
    frequencies = None if fweights is None else array_from(fweights)
    if frequencies is not None and np.any(frequencies != np.around(frequencies)):
        raise TypeError("fweights must be integers")
    given = [w for w in (frequencies, aweights) if w is not None]
    for name, w in (("fweights", frequencies), ("aweights", aweights)):
        if w is not None and (np.shape(w) != np.shape(x)[1:] or np.any(array_from(w) < 0)):
            raise ValueError(f"{name} must have one number per sample ({np.shape(x)[1]} in all), none of them negative")
    w = np.multiply(*given) if len(given) == 2 else given[0] if given else np.ones(np.shape(x)[1])
    total = np.sum(w)
    freedom = np.maximum(total - ddof * (1 if aweights is None else np.sum(w * aweights) / total), 0)
    deviation = x - (np.sum(x * w, axis=1) / total)[:, None]
    return np.squeeze(np.matmul(deviation * w, np.conjugate(deviation).T) / freedom)


def variables(name: str, x: Any, rowvar: bool) -> Any:
    """Return samples as a matrix with one variable in each row."""
    if np.ndim(x) > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    x = np.reshape(x, (1, -1)) if np.ndim(x) < 2 else x if rowvar else np.transpose(x)
    return x if isinstance(x, Tensor) else np.asarray(x)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """Divide covariances by both standard deviations."""
    found = cov(x, y, rowvar)
    if not np.ndim(found):
        return found / found
    deviation = np.sqrt(np.real(np.einsum("ii->i", found)))
    found = found / deviation[:, None] / deviation
    return found if found.dtype.kind == "c" else np.clip(found, -1, 1)


def polyval(p: Any, x: Any) -> Any:
    """Evaluate a polynomial, its highest coefficient first, by Horner's rule."""
    x = x if isinstance(x, Tensor) else np.asarray(x)
    found: Any = np.zeros_like(x)
    for coefficient in p if isinstance(p, Tensor) else np.asarray(p):
        found = found * x + coefficient
    return found


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803 - NumPy's own name
    """Return a matrix of powers, one per column."""
    if np.ndim(x) != 1:
        raise ValueError(f"np.vander takes a vector; its argument has shape {np.shape(x)}")
    powers = np.arange(np.shape(x)[0] if N is None else N)
    return np.power(x.astype(np.promote_types(x.dtype, int))[:, None], powers if increasing else powers[::-1])


SPELLED |= {
    np.diff: diff, np.gradient: gradient, np.quantile: quantile, np.interp: interp, np.convolve: convolve,
    np.linspace: linspace, np.full: full, np.average: average, np.trapezoid: trapezoid,
    np.logspace: logspace, np.geomspace: geomspace, np.correlate: correlate, np.ediff1d: ediff1d, np.unwrap: unwrap,
    np.cov: cov, np.corrcoef: corrcoef, np.polyval: polyval, np.vander: vander,
    np.percentile: lambda a, q, axis=None, **parameters: quantile(a, np.asarray(q) / 100, axis, **parameters),
    np.median: lambda a, axis=None, keepdims=False: (
        quantile(a, 0.5, axis, keepdims=keepdims) if length(a, axis) else np.mean(a, axis=axis, keepdims=keepdims)
    ),
    np.full_like: lambda a, fill_value, dtype=None, order="K", subok=True, shape=None: full(
        np.shape(a) if shape is None else shape, fill_value, dtype or a.dtype
    ),
}  # fmt: skip

general(np.interp, pull_interp_x, pull_interp_xp, pull_interp_fp)
step(turns)
