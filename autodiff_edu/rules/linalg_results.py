"""NumPy's names for the operations of `linalg.py`, and their results, unpacked as NumPy unpacks them.

Where a result has no derivative, such as the arbitrary columns of a full U, the error says what to write instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.composites import SPELLED
from ..core.tensor import Tensor, apply
from .linalg import bar, column, eig, eigh, eigvals, h, qr, result_type, svd, unpack_svd
from .operations import array_of


def spelled_eigh(a: Any, UPLO: Any = "L") -> Any:  # noqa: N803
    """Unpack the eigenvalues and the eigenvectors."""
    y = eigh(a) if UPLO == "L" else eigh(a, uplo=UPLO)
    return result_type(np.linalg.eigh)(np.real(y[..., 0, :]), y[..., 1:, :])


def spelled_eig(a: Any) -> Any:
    """Unpack the eigenvalues and the eigenvectors."""
    y = eig(a)
    return result_type(np.linalg.eig)(y[..., 0, :], y[..., 1:, :])


def spelled_svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Unpack the factors of a thin decomposition; some columns of the full one are arbitrary."""
    if hermitian:
        raise TypeError("np.linalg.svd does not accept hermitian= for a tensor: use np.linalg.eigh")
    if not compute_uv:
        return np.linalg.svdvals(a)
    m, n = np.shape(a)[-2:]
    if full_matrices and m != n:
        raise ValueError(
            f"np.linalg.svd of a tensor of shape {np.shape(a)}: some columns of the full U and Vh are arbitrary and "
            "have no derivative; write np.linalg.svd(a, full_matrices=False), or compute_uv=False for the values"
        )
    u, s, v = unpack_svd(svd(a), m)
    return result_type(np.linalg.svd)(u, np.real(s), h(v))


def spelled_qr(a: Any, mode: str = "reduced") -> Any:
    """Unpack Q and R, or R alone."""
    m, n = np.shape(a)[-2:]
    if m < n or mode not in ("reduced", "r", "complete") or (mode == "complete" and m != n):
        raise ValueError(
            f"np.linalg.qr of a tensor of shape {np.shape(a)} with mode={mode!r} has no derivative here: "
            "use mode='reduced' or 'r', and a matrix with at least as many rows as columns"
        )
    y = qr(a)
    return y[..., m:, :] if mode == "r" else result_type(np.linalg.qr)(y[..., :m, :], y[..., m:, :])


def spelled_cholesky(a: Any, *, upper: bool = False) -> Any:
    """Compute an upper factor from the upper triangle with the conjugate transpose."""
    return h(np.linalg.cholesky(h(a))) if upper else apply(np.linalg.cholesky, (a,))


def spelled_pinv(a: Any, rcond: Any = None, hermitian: bool = False, **rtol: Any) -> Any:
    """Accept the cut-off under any of its names."""
    if hermitian:
        raise TypeError("np.linalg.pinv does not accept hermitian= for a tensor: leave it out, the result is the same")
    return apply(np.linalg.pinv, (a,), rtol if rcond is None else {"rcond": rcond, **rtol})


def spelled_lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Compute the least-squares solution with the pseudo-inverse, which is smooth where the rank is full."""
    m, n = np.shape(a)
    matrix, chosen = array_of(a), () if rcond is None else (rcond,)  # Dask's has no rcond
    if isinstance(matrix, Tensor):  # while a program is being recorded
        rank = np.linalg.matrix_rank(matrix, *chosen)
    else:
        rank = np.linalg.lstsq(matrix, array_of(b), *chosen)[2]
    if rank < min(m, n):
        plain = matrix._array if isinstance(matrix, Tensor) else matrix
        rank = np.linalg.lstsq(plain, np.zeros(m), *chosen)[2]  # a number; or NumPy's own error for infinite ones
        raise ValueError(
            f"np.linalg.lstsq of a tensor: the matrix of shape {(m, n)} has rank {rank}, where the solution jumps and "
            "has no derivative; remove linearly dependent columns (or rows), or add a penalty on the solution"
        )
    x = np.linalg.pinv(a) @ b
    left = column(b, b - a @ x)
    residuals = np.sum(np.real(left * bar(left)), axis=0) if m > n else apply(np.real, (np.zeros(0, x.dtype),))
    return x, residuals, rank, np.linalg.svdvals(a)


SPELLED[np.linalg.eigh], SPELLED[np.linalg.eig] = spelled_eigh, spelled_eig
SPELLED[np.linalg.eigvals] = eigvals
SPELLED[np.linalg.svd], SPELLED[np.linalg.qr] = spelled_svd, spelled_qr
SPELLED[np.linalg.cholesky] = spelled_cholesky
SPELLED[np.linalg.pinv], SPELLED[np.linalg.lstsq] = spelled_pinv, spelled_lstsq
