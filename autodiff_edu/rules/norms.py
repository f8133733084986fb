"""Rules for the numbers that measure a matrix, norms and determinants, and for the rest of np.linalg."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ..core.composites import SPELLED
from ..core.rule import general, step
from ..core.tensor import apply
from .elementwise import direction, length_or_one
from .linalg import bar, result_type, t
from .operations import array_of, operation
from .reductions import Axis, from_the_right, length, restore

# The derivatives of the norms --------------------------------------------------------------------------------------


def pull_norm(g: Any, y: Any, x: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """Pull back through a norm of vectors, or the Frobenius norm of matrices; 0 where the vector is 0."""
    y, g = restore(y, x, axis, keepdims), restore(g, x, axis, keepdims)
    if ord in (None, 2, "fro", "f"):
        return g * (np.conjugate(x) / length_or_one(y))
    size = np.abs(x)
    if ord == 1:
        return g * direction(x, size)
    if abs(ord) == np.inf:
        chosen = size == y
        return g * (chosen / np.sum(chosen, axis=axis, keepdims=True)) * direction(x, size)
    if ord > 1:
        return g * (size / length_or_one(y)) ** (ord - 1) * direction(x, size)
    return g * (y / length_or_one(size)) ** (1 - ord) * direction(x, size)  # 0 if an element is, for an ord below 0


# Determinants ------------------------------------------------------------------------------------------------------


def products_without(s: Any) -> Any:
    """Return the product of all elements but one, for each."""
    return np.prod(np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]), axis=-1)


@operation
def cofactors(a: Any) -> Any:
    """Return the derivative of the determinant, det(A) A^-T where A has an inverse; right for singular matrices too."""
    u, s, vh = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * ((bar(u) * products_without(s)[..., None, :]) @ bar(vh))


def pull_cofactors(g: Any, c: Any, a: Any) -> Any:
    """Pull back through the cofactors: directly if the inverse is accurate, otherwise from points around the matrix.

    The second derivative of the determinant is a polynomial, and so the mean of its values at the matrices A + z 1,
    z on a circle: they have inverses where A has none.
    """
    s = np.linalg.svdvals(array_of(a))
    if np.all(s[..., -1] > np.finfo(s.dtype).eps ** 0.5 * s[..., 0]):
        return pull_cofactors_inverse(g, a)
    n = a.shape[-1]
    radius = np.where(s[..., 0] == 0, 1, 0.1 * s[..., 0])[..., None, None, None]
    circle = radius * np.exp(1j * (0.5 + 2 * np.pi * np.arange(n + 1) / (n + 1)))[:, None, None]
    around = pull_cofactors_inverse(g[..., None, :, :], a[..., None, :, :] + circle * np.eye(n))
    return np.mean(around, axis=-3)


def pull_cofactors_inverse(g: Any, a: Any) -> Any:
    """Pull back through det(A) A^-T."""
    x = t(np.linalg.inv(a))
    return np.linalg.det(a)[..., None, None] * (np.sum(x * g, axis=(-2, -1), keepdims=True) * x - x @ t(g) @ x)


@operation
def slogdet(a: Any) -> Any:
    """Return the sign of the determinant and the logarithm of its size, along a last axis."""
    return np.stack(np.linalg.slogdet(a), axis=-1)


def pull_slogdet(g: Any, y: Any, a: Any) -> Any:
    """Pull back through det A = sign * exp(logabsdet): d logabsdet + d sign / sign = tr(A^-1 dA)."""
    weight = np.real(g[..., 1]) + (np.imag(g[..., 0] * y[..., 0]) * 1j if y.dtype.kind == "c" else 0)
    return weight[..., None, None] * t(np.linalg.inv(a))


# fmt: off
general(np.linalg.norm,   pull_norm)
general(np.linalg.det,    lambda g, y, a: g[..., None, None] * cofactors(a))
general(cofactors,        pull_cofactors)
general(slogdet,          pull_slogdet)
step(np.linalg.matrix_rank)
# fmt: on


# Norms in terms of others ------------------------------------------------------------------------------------------


def singular_values(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the singular values of the matrices along two axes, as a new last axis; keepdims keeps both."""
    others = tuple(k for k in range(-np.ndim(x), 0) if k not in axes)
    s = np.linalg.svdvals(np.transpose(x, others + axes))
    return np.expand_dims(s, tuple(k - 1 for k in axes)) if keepdims else s


def matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Express matrix norms as sums and extremes of elements or of singular values."""
    if not np.size(x):
        np.linalg.norm(np.zeros(np.shape(x)), ord, axes, keepdims)  # for NumPy's own errors
        return np.sum(np.abs(x), axis=axes, keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        reduce: Any = {"nuc": np.sum, 2: np.max, -2: np.min}[ord]
        return reduce(singular_values(x, axes, keepdims), axis=-1)
    row, column = axes if abs(ord) == 1 else axes[::-1]
    extreme: Any = np.max if ord > 0 else np.min
    norms = extreme(np.sum(np.abs(x), axis=row, keepdims=True), axis=column, keepdims=True)
    return norms if keepdims else np.squeeze(norms, axis=axes)


def spelled_norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute a norm of vectors or of matrices, whichever the arguments ask for."""
    ndim = np.ndim(x)
    axes = tuple(k - ndim for k in normalize_axis_tuple(range(ndim) if axis is None else axis, ndim))
    if len(axes) == 2 and ord in (1, -1, 2, -2, np.inf, -np.inf, "nuc"):
        return matrix_norm(x, ord, axes, keepdims)
    if len(axes) == 1 and ord == 0:
        return np.sum((x != 0).astype(np.real(x).dtype), axis=axes, keepdims=keepdims)
    given = {"ord": ord, "axis": axis, "keepdims": keepdims or None}
    return apply(np.linalg.norm, (x,), {name: value for name, value in given.items() if value is not None})


def spelled_vector_norm(x: Any, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Compute the norm of vectors along any number of axes, joined into one first."""
    axes = from_the_right(axis, np.ndim(x))
    others = tuple(k for k in range(-np.ndim(x), 0) if k not in axes)
    vectors = np.reshape(np.transpose(x, others + axes), (*(np.shape(x)[k] for k in others), length(x, axis)))
    norms = np.linalg.norm(vectors, ord, axis=-1)
    return np.expand_dims(norms, axes) if keepdims else norms


def spelled_cond(x: Any, p: Any = None) -> Any:
    """Express the condition number as the norm times that of the inverse, or as a quotient of singular values."""
    if not np.size(x):
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")  # as NumPy says it
    if p is None or p in (2, -2):
        s = np.linalg.svdvals(x)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, axis=(-2, -1))


def spelled_slogdet(a: Any) -> Any:
    """Unpack the sign, a step function for real matrices, and the logarithm."""
    y = slogdet(a)
    sign = y[..., 0] if y.dtype.kind == "c" else np.sign(y[..., 0])
    return result_type(np.linalg.slogdet)(sign, np.real(y[..., 1]))


# Products and systems ---------------------------------------------------------------------------------------------


def spelled_matrix_power(a: Any, n: int) -> Any:
    """Multiply by repeated squaring; a negative power is a power of the inverse."""
    if n == 0:
        return np.where(True, np.eye(a.shape[-1], dtype=a.dtype), a)
    if n < 0:
        return spelled_matrix_power(np.linalg.inv(a), -n)
    half = spelled_matrix_power(a, n // 2) if n > 1 else None
    return a if half is None else half @ half @ a if n % 2 else half @ half


def spelled_multi_dot(arrays: Any, *, out: None = None) -> Any:
    """Multiply in the cheapest order: find the best last product for every run of factors."""
    if out is not None:
        raise TypeError("np.linalg.multi_dot does not accept out= for tensors: tensors are immutable")
    sizes = [np.shape(a) for a in arrays]
    rows = [1 if i == 0 and len(s) == 1 else s[0] for i, s in enumerate(sizes)]
    rows.append(sizes[-1][1] if len(sizes[-1]) == 2 else 1)

    best: dict[tuple[int, int], tuple[int, int]] = {}  # for the run from i to j: the cost, and where to split it
    for run in range(1, len(sizes) + 1):
        for i, j in zip(range(len(sizes)), range(run, len(sizes) + 1), strict=False):
            costs = ((best[i, k][0] + best[k, j][0] + rows[i] * rows[k] * rows[j], k) for k in range(i + 1, j))
            best[i, j] = min(costs, default=(0, i))
    return _product(arrays, best, 0, len(sizes))


def _product(arrays: Any, best: dict[tuple[int, int], tuple[int, int]], i: int, j: int) -> Any:
    if j == i + 1:
        return arrays[i]
    k = best[i, j][1]
    return _product(arrays, best, i, k) @ _product(arrays, best, k, j)


def spelled_tensorinv(a: Any, ind: int = 2) -> Any:
    """Invert the matrix formed by the first `ind` axes and the others."""
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = np.shape(a)
    size = int(np.prod(shape[ind:]))
    return np.reshape(np.linalg.inv(np.reshape(a, (size, -1))), shape[ind:] + shape[:ind])


def spelled_tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Solve the system whose matrix has the first b.ndim axes of a as rows and the others as columns."""
    if axes is not None:
        axes = [k % np.ndim(a) for k in axes]
        a = np.transpose(a, [k for k in range(np.ndim(a)) if k not in axes] + axes)
    shape = np.shape(a)[np.ndim(b) :]
    size = int(np.prod(shape))
    return np.reshape(np.linalg.solve(np.reshape(a, (size, size)), np.ravel(b)), shape)


def spelled_vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Any:
    """Sum the products of conj(x1) and x2 along an axis."""
    return np.sum(np.conjugate(x1) * x2, axis=axis)


def spelled_outer(x1: Any, x2: Any) -> Any:
    """Multiply every element of one vector by every element of another."""
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={np.ndim(x1)} and x2.ndim={np.ndim(x2)}."
        )
    return np.outer(x1, x2)


def spelled_cross(x1: Any, x2: Any, *, axis: int = -1) -> Any:
    """Compute the cross product of vectors with three elements."""
    lengths = np.shape(x1)[axis], np.shape(x2)[axis]
    if lengths != (3, 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are {} and {} dimensional "
            "instead.".format(*lengths)
        )
    return np.cross(x1, x2, axis=axis)


SPELLED[np.linalg.norm], SPELLED[np.linalg.vector_norm] = spelled_norm, spelled_vector_norm
SPELLED[np.linalg.matrix_norm] = lambda x, *, keepdims=False, ord="fro": np.linalg.norm(x, ord, (-2, -1), keepdims)
SPELLED[np.linalg.cond], SPELLED[np.linalg.slogdet] = spelled_cond, spelled_slogdet
SPELLED[np.linalg.matrix_power], SPELLED[np.linalg.multi_dot] = spelled_matrix_power, spelled_multi_dot
SPELLED[np.linalg.tensorinv], SPELLED[np.linalg.tensorsolve] = spelled_tensorinv, spelled_tensorsolve
SPELLED[np.linalg.vecdot], SPELLED[np.linalg.outer] = spelled_vecdot, spelled_outer
SPELLED[np.linalg.matrix_transpose] = lambda x: np.swapaxes(x, -1, -2)
SPELLED[np.matrix_transpose] = lambda x: np.swapaxes(x, -1, -2)
SPELLED[np.linalg.matmul] = lambda x1, x2: np.matmul(x1, x2)
SPELLED[np.linalg.tensordot] = lambda x1, x2, *, axes=2: np.tensordot(x1, x2, axes=axes)
SPELLED[np.linalg.cross] = spelled_cross
SPELLED[np.linalg.diagonal] = lambda x, *, offset=0: np.diagonal(x, offset, -2, -1)
SPELLED[np.linalg.trace] = lambda x, *, offset=0, dtype=None: np.trace(x, offset, -2, -1)
