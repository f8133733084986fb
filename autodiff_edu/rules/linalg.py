"""Rules for linear algebra: systems, inverses and factorisations. Norms and determinants are in `norms.py`.

The rules are written for the transposed pairing, sum(g * dy): A is moved to the other side as A.T, never as its
conjugate. A conjugate appears where the operation itself has one (as in A = L L^H); see `rule.settle`.
A function with several results is one operation that packs them into one array, which is then sliced.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..core.rule import elementwise, general
from .operations import array_of, operation, require

# Shorthand --------------------------------------------------------------------------------------------------------


def t(x: Any) -> Any:
    """Transpose the last two axes."""
    return np.swapaxes(x, -1, -2)


def bar(x: Any) -> Any:
    """Conjugate complex values; return others unchanged."""
    return np.conjugate(x) if x.dtype.kind == "c" else x


def h(x: Any) -> Any:
    """Transpose the last two axes and conjugate."""
    return bar(t(x))


def skew(x: Any) -> Any:
    """Return the part of a matrix that changes sign under h."""
    return (x - h(x)) / 2


def lower(n: int) -> np.ndarray:
    """Return the mask of the lower triangle, with halves on its diagonal (the operator Phi of Murray 2016)."""
    return np.tri(n) - np.eye(n) / 2


def diagonal(d: Any) -> Any:
    """Return the diagonal matrices with these diagonals."""
    return d[..., None, :] * np.eye(d.shape[-1])


@cache
def result_type(function: Callable[..., Any]) -> Any:
    """Return the named tuple that a function of NumPy returns."""
    return type(function(np.eye(1)))


# Repeated eigenvalues and singular values --------------------------------------------------------------------------


EIGH, EIG, SVD = "eigh", "eig", "svd"
VECTORS = {EIGH: "eigenvectors", EIG: "eigenvectors", SVD: "singular vectors"}
REPEATED = {
    EIGH: ("repeated eigenvalues", "np.linalg.eigvalsh(a)"),
    EIG: ("repeated eigenvalues", "np.linalg.eigvals(a)"),
    SVD: ("singular values that are repeated or 0", "np.linalg.svd(a, compute_uv=False)"),
}
"""The words for an error about vectors that are not unique: where, and what computes the values alone."""


def rounding(x: Any) -> Any:
    """Return the size of rounding errors in an array."""
    return 1e3 * float(np.finfo(x.dtype).eps) * largest(np.abs(array_of(x)))


def largest(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the largest of numbers that are not negative; 0 if there are none."""
    return np.max(x, axis=axis, keepdims=keepdims) if np.size(x) else np.sum(x, axis=axis, keepdims=keepdims)


@operation
def over_gaps(k: Any, gaps: Any, noise: Any, kind: str) -> Any:
    """Divide by the gaps between eigenvalues; where a gap is 0, k must be 0 too (up to noise), and so is the result.

    It is an operation of its own, so that tangents, which also pass through it, are checked like cotangents.
    """
    closed = gaps == 0
    if np.any(closed & (np.abs(k) > max(noise, rounding(k)))):
        repeated, alone = REPEATED[kind]
        raise ValueError(
            f"the {VECTORS[kind]} of {repeated} are not unique, so they have no derivative, and the values have no "
            f"second one. Take the first derivative of the values alone, {alone}, or change the matrix slightly"
        )
    return np.where(closed, 0, k / np.where(closed, 1, gaps))


def gaps_of(w: Any) -> Any:
    """Return w_j - w_i at (i, j): 0 where they are equal up to rounding, infinite on the diagonal."""
    n = w.shape[-1]
    gaps = w[..., None, :] - w[..., :, None]
    size = largest(np.abs(array_of(w)), axis=-1)[..., None, None]
    near = np.abs(array_of(gaps)) <= 10 * n * np.finfo(w.dtype).eps * size
    return np.where(near, np.where(np.eye(n) == 1, np.inf, 0), gaps)


def check_phases(s: Any, noise: Any, kind: str) -> None:
    """Refuse a cotangent that depends on the phases of complex vectors, which are arbitrary."""
    if s.dtype.kind == "c" and np.any(np.abs(np.einsum("...ii->...i", array_of(s)).imag) > noise):
        raise ValueError(
            f"the target depends on the phases of complex {VECTORS[kind]}, which are arbitrary, so it has no "
            "derivative. Use a target without them, such as np.abs(v)"
        )


# Eigenvalues and vectors -------------------------------------------------------------------------------------------


@operation
def eigh(a: Any, uplo: Any = "L") -> Any:
    """Return the eigenvalues of Hermitian matrices as the first row, and their eigenvectors below."""
    w, v = np.linalg.eigh(a, uplo)
    return np.concatenate([w[..., None, :], v], axis=-2)


def triangle(c: Any, uplo: Any) -> Any:
    """Gather what belongs to both triangles of a Hermitian matrix in the one that NumPy reads."""
    mask = lower(c.shape[-1])
    return (c + h(c)) * (mask if uplo.upper() == "L" else mask.T)


def pull_eigh(g: Any, y: Any, a: Any, uplo: Any = "L") -> Any:
    """Pull back through A = V diag(w) V^H (Giles 2008, 3.1, and its complex form).

    With X = V^H dA V: dw = diag X and dV = V (X / gaps).
    """
    w, v, gw, gv = np.real(y[..., 0, :]), y[..., 1:, :], g[..., 0, :], g[..., 1:, :]
    noise, s = rounding(gv), t(v) @ gv
    check_phases(s, noise, EIGH)
    inner = diagonal(gw) + over_gaps(s, gaps_of(w), noise, EIGH)
    return triangle(bar(v) @ inner @ t(v), uplo)


def pull_eigvalsh(g: Any, w: Any, a: Any, UPLO: Any = "L") -> Any:  # noqa: N803
    """Pull back to A through its eigenvalues alone: dw = diag(V^H dA V)."""
    v = np.linalg.eigh(a, UPLO).eigenvectors
    return triangle((bar(v) * g[..., None, :]) @ t(v), UPLO)


@operation
def eig(a: Any) -> Any:
    """Return the eigenvalues of square matrices as the first row, and their eigenvectors below."""
    w, v = np.linalg.eig(a)
    return np.concatenate([w[..., None, :], v], axis=-2)


def pull_back_scaling(g: Any, v: Any) -> Any:
    """Pull back through the scaling of eigenvectors to length 1 and, in LAPACK, with their largest element real."""
    s = np.sum(g * v, axis=-2, keepdims=True)
    if v.dtype.kind != "c":
        return g - s * v
    size = np.where(array_of(v).imag == 0, np.abs(array_of(v)), -1)
    largest = np.arange(v.shape[-2])[:, None] == np.argmax(size, axis=-2)[..., None, :]
    return g - np.real(s) * bar(v) - np.imag(s) * 1j * np.where(largest, 1 / np.where(largest, v, 1), 0)


def complete(v: Any) -> Any:
    """Return the eigenvectors if they are a basis, up to rounding; raise an error if not."""
    error = ValueError(
        "the eigenvalues of a matrix without a full set of eigenvectors have no derivative; change it slightly, or use "
        "np.linalg.eigvalsh(a) if it is symmetric"
    )
    return require(v, np.linalg.cond(array_of(v)) * np.finfo(v.dtype).eps > 1e-3, error)


def pull_eig(g: Any, y: Any, a: Any) -> Any:
    """Pull back through A = V diag(w) V^-1 (Giles 2008, 3.1): with X = V^-1 dA V, dw = diag X and dV = V (X / gaps)."""
    w, v, gw, gv = y[..., 0, :], complete(y[..., 1:, :]), g[..., 0, :], g[..., 1:, :]
    inner = diagonal(gw) + over_gaps(t(v) @ pull_back_scaling(gv, v), gaps_of(w), rounding(gv), EIG)
    return np.linalg.solve(t(v), inner @ t(v))


@operation
def eigvals(a: Any) -> Any:
    """Return the eigenvalues of square matrices, in the order in which `eig` gives them."""
    return np.linalg.eig(a).eigenvalues


def pull_eigvals(g: Any, w: Any, a: Any) -> Any:
    """Pull back to A through its eigenvalues alone: dw = diag(V^-1 dA V)."""
    v = complete(np.linalg.eig(a).eigenvectors)
    return np.linalg.solve(t(v), g[..., None] * t(v))


# Singular values and vectors ---------------------------------------------------------------------------------------


@operation
def svd(a: Any) -> Any:
    """Return U, the singular values and V (not its transpose) of a thin decomposition, one below the other."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.concatenate([u, s[..., None, :], h(vh)], axis=-2)


def positive(s: Any) -> np.ndarray:
    """Return which singular values are more than rounding errors; the others stand for 0."""
    s = array_of(s)
    counted: np.ndarray = s > 10 * s.shape[-1] * np.finfo(s.dtype).eps * largest(s, axis=-1, keepdims=True)
    return counted


def unpack_svd(y: Any, m: int) -> tuple[Any, Any, Any]:
    """Take the three results of the operation `svd` apart; U has m rows."""
    return y[..., :m, :], y[..., m, :], y[..., m + 1 :, :]


def pull_svd(g: Any, y: Any, a: Any) -> Any:
    """Pull back through A = U diag(s) V^H (Giles 2008, 3.2; Townsend 2016; complex: Wan and Zhang 2019).

    With P = U^H dA V = X + Y, the Hermitian part and the rest: ds = diag X,
    U^H dU = X / (s_j - s_i) + Y / (s_j + s_i) and V^H dV = X / (s_j - s_i) - Y / (s_j + s_i).
    Outside the column spaces: (1 - U U^H) dU = (1 - U U^H) dA V / s, and likewise V with dA^H.
    """
    m, n = a.shape[-2:]
    (u, s, v), (gu, gs, gv) = unpack_svd(y, m), unpack_svd(g, m)
    s, k, noise = np.where(positive(np.real(s)), np.real(s), 0), min(m, n), rounding(g)
    rotated_u, rotated_v = t(u) @ gu, t(v) @ gv
    check_phases(rotated_u + rotated_v, noise, SVD)
    sums = s[..., None, :] + s[..., :, None]
    if a.dtype.kind != "c":
        sums = np.where(np.eye(k) == 1, np.inf, sums)
    turned = over_gaps(rotated_u + rotated_v, gaps_of(s), noise, SVD)
    against = over_gaps(skew(rotated_u - rotated_v), sums, noise, SVD)
    inner = diagonal(np.where(array_of(s) > 0, np.real(gs), 0)) + (turned + h(turned)) / 2 + against
    left, right = bar(u) @ inner, 0
    if m > k:
        left = left + over_gaps(gu - bar(u) @ rotated_u, s[..., None, :], noise, SVD)
    if n > k:
        right = bar(u) @ h(over_gaps(gv - bar(v) @ rotated_v, s[..., None, :], noise, SVD))
    return left @ t(v) + right


def pull_svdvals(g: Any, s: Any, a: Any) -> Any:
    """Pull back to A through its singular values alone: ds = diag(U^H dA V); 0 at 0, where they turn like |x|."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return (bar(u) * np.where(positive(s), g, 0)[..., None, :]) @ bar(vh)


# Triangular factors ------------------------------------------------------------------------------------------------


def pull_cholesky(g: Any, c: Any, a: Any) -> Any:
    """Pull back through A = L L^H (Murray 2016): dL = L Phi(L^-1 dA L^-H); the result is Hermitian, as A is."""
    inverse = np.linalg.inv(c)
    pulled = t(inverse) @ (lower(c.shape[-1]) * (t(c) @ g)) @ bar(inverse)
    return (pulled + h(pulled)) / 2


@operation
def qr(a: Any) -> Any:
    """Return Q and, below it, R of tall or square matrices."""
    return np.concatenate(np.linalg.qr(a), axis=-2)


def pull_qr(g: Any, y: Any, a: Any) -> Any:
    """Pull back through A = Q R (Walter and Lehmann 2018): with C = Q^H dA R^-1, Q^H dQ is C's skew completion.

    That is: below the diagonal Q^H dQ equals C, above it -C^H; and dR R^-1 is the rest of C.
    """
    m = a.shape[-2]
    q, r, gq, gr = y[..., :m, :], y[..., m:, :], g[..., :m, :], g[..., m:, :]
    rotated, scaled = t(q) @ gq, gr @ t(r)
    inner = scaled + 2 * skew(rotated - scaled) * lower(r.shape[-1])
    return t(np.linalg.solve(r, t(gq + bar(q) @ (inner - rotated))))


# Systems -----------------------------------------------------------------------------------------------------------


def column(b: Any, x: Any) -> Any:
    """Return x as a column if the right-hand side b is a vector; as in NumPy 2, only a 1-D array is one."""
    return x[..., None] if np.ndim(b) == 1 else x


def pull_solve_matrix(g: Any, x: Any, a: Any, b: Any) -> Any:
    """Pull back to A through x = A^-1 b (Giles 2008, 2.3)."""
    return -np.linalg.solve(t(a), column(b, g)) @ t(column(b, x))


def pull_solve_right(g: Any, x: Any, a: Any, b: Any) -> Any:
    """Pull back to b through x = A^-1 b."""
    solved = np.linalg.solve(t(a), column(b, g))
    return solved[..., 0] if np.ndim(b) == 1 else solved


def pull_pinv(g: Any, p: Any, a: Any, **_: Any) -> Any:
    """Pull back through the pseudo-inverse P of A, among matrices of the same rank (Golub and Pereyra 1973).

    dP = -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P
    """
    outside = t(g) @ p @ h(p) - a @ (p @ (t(g) @ p @ h(p))) + h(p) @ p @ t(g) - h(p) @ ((p @ t(g)) @ p) @ a
    return bar(outside) - t(p) @ g @ t(p)


# fmt: off
general(np.linalg.inv,       lambda g, y, a: -t(y) @ g @ t(y))
general(np.linalg.pinv,      pull_pinv)
general(np.linalg.solve,     pull_solve_matrix,
                             pull_solve_right)
general(np.linalg.cholesky,  pull_cholesky)
general(qr,                  pull_qr)
general(eigh,                pull_eigh)
general(np.linalg.eigvalsh,  pull_eigvalsh)
general(eig,                 pull_eig)
general(eigvals,             pull_eigvals)
general(svd,                 pull_svd)
general(np.linalg.svdvals,   pull_svdvals)
elementwise(over_gaps,       lambda g, z, k, gaps, *words: over_gaps(g, gaps, *words),
                             lambda g, z, k, gaps, *words: -over_gaps(g * z, gaps, *words))
# fmt: on
