"""Cases of np.linalg."""

import numpy as np

from autodiff_edu.rules.linalg import EIGH, over_gaps
from autodiff_edu.rules.norms import cofactors
from autodiff_edu.rules.operations import checked

from .case import case as any_case
from .case import joined as parts

LINALG = np.linalg


def case(name, function, *specifications, **options):
    return any_case(name, function, *specifications, half=False, **options)


def hermitian(x):
    """A positive definite matrix, Hermitian whatever x is."""
    return x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1], dtype=x.dtype)


SINGULAR = np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.5, -1.0, 1.5]])  # of rank 2
SPD = np.array([[2.0, 1.0], [1.0, 3.0]])
TURN = np.array([[1.0, -2.0], [3.0, 1.0]])  # its eigenvalues are complex

CASES = [
    # Systems and inverses
    case("linalg solve", LINALG.solve, (3, 3), (3,)),
    case("linalg solve, matrix", LINALG.solve, (3, 3), (3, 2)),
    case("linalg solve, batch of matrices", LINALG.solve, (2, 3, 3), (2, 3, 2)),
    case("linalg solve, batch and one vector", LINALG.solve, (2, 3, 3), (3,)),
    case("linalg solve, one matrix and batch", LINALG.solve, (3, 3), (2, 3, 1)),
    case("linalg solve, broadcast", LINALG.solve, (2, 1, 2, 2), (3, 2, 1)),
    case("linalg solve by an array", lambda b: LINALG.solve(SPD.astype(b.dtype), b), (2,)),
    case("linalg inv of a matrix", LINALG.inv, (3, 3)),
    case("linalg inv, batch", LINALG.inv, (2, 2, 2)),
    case("linalg pinv, tall", LINALG.pinv, (3, 2)),
    case("linalg pinv, wide", LINALG.pinv, (2, 3)),
    case("linalg pinv, square", lambda x: LINALG.pinv(x, rcond=1e-12), (2, 2)),
    case("linalg pinv, batch", lambda x: LINALG.pinv(x, rtol=1e-12), (2, 3, 2)),
    case("linalg lstsq, tall", lambda a, b: LINALG.lstsq(a, b)[0], (4, 2), (4,)),
    case("linalg lstsq, wide, matrix", lambda a, b: LINALG.lstsq(a, b)[0], (2, 3), (2, 2)),
    case("linalg lstsq, residuals", lambda a, b: LINALG.lstsq(a, b)[1], (4, 2), (4, 2)),
    case("linalg lstsq, singular values", lambda a, b: LINALG.lstsq(a, b)[3], (4, 2), (4,)),
    case("linalg tensorinv", LINALG.tensorinv, (2, 2, 4)),
    case("linalg tensorinv ind=1", lambda x: LINALG.tensorinv(x, ind=1), (4, 2, 2)),
    case("linalg tensorsolve", LINALG.tensorsolve, (2, 2, 4), (2, 2)),
    case("linalg tensorsolve axes", lambda a, b: LINALG.tensorsolve(a, b, axes=(0,)), (4, 2, 2), (2, 2)),
    # Determinants
    case("linalg det", LINALG.det, (3, 3)),
    case("linalg det, batch", LINALG.det, (2, 2, 2)),
    case("linalg det of a singular matrix", LINALG.det, SINGULAR),
    case("linalg det of rank 1", LINALG.det, np.outer([1.0, 2.0, -1.0], [0.5, 1.0, 1.5])),
    case("linalg det of zeros", LINALG.det, np.zeros((3, 3))),
    case("linalg det of 1 by 1", LINALG.det, (1, 1)),
    case("linalg cofactors", cofactors, (3, 3)),
    case("linalg cofactors of a singular matrix", cofactors, SINGULAR),
    case("linalg cofactors, batch, one singular", cofactors, np.stack([SINGULAR, SINGULAR + np.eye(3)])),
    case("linalg slogdet, logarithm", lambda x: LINALG.slogdet(x)[1], (3, 3)),
    case("linalg slogdet, batch", lambda x: LINALG.slogdet(x).logabsdet, (2, 2, 2)),
    case("linalg slogdet, sign and logarithm", lambda x: LINALG.slogdet(x)[0] * LINALG.slogdet(x)[1], (2, 2)),
    # Factors
    case("linalg cholesky", lambda x: LINALG.cholesky(hermitian(x)), (3, 3)),
    case("linalg cholesky upper", lambda x: LINALG.cholesky(hermitian(x), upper=True), (3, 3)),
    case("linalg cholesky, batch", lambda x: LINALG.cholesky(hermitian(x)), (2, 2, 2)),
    case("linalg qr", lambda x: parts(LINALG.qr(x)), (3, 3)),
    case("linalg qr, tall", lambda x: parts(LINALG.qr(x)), (4, 2)),
    case("linalg qr, Q", lambda x: LINALG.qr(x).Q, (3, 2)),
    case("linalg qr, mode r", lambda x: LINALG.qr(x, mode="r"), (3, 2)),
    case("linalg qr, complete", lambda x: LINALG.qr(x, mode="complete").R, (2, 2)),
    case("linalg qr, batch", lambda x: parts(LINALG.qr(x)), (2, 3, 2)),
    # Eigenvalues and singular values; the vectors of complex matrices have arbitrary phases
    case("linalg eigh, values", lambda x: LINALG.eigh(x).eigenvalues, (3, 3)),
    case("linalg eigh, vectors", lambda x: LINALG.eigh(x)[1], (3, 3), real=True),
    case("linalg eigh, upper triangle", lambda x: parts(LINALG.eigh(x, UPLO="U")), (3, 3), real=True),
    case("linalg eigh, sizes of vectors", lambda x: np.abs(LINALG.eigh(x)[1]), (3, 3)),
    case("linalg eigh, batch", lambda x: np.abs(LINALG.eigh(x)[1]), (2, 2, 2)),
    case("linalg eigvalsh", LINALG.eigvalsh, (3, 3)),
    case("linalg eigvalsh UPLO", lambda x: LINALG.eigvalsh(x, "U"), (2, 3, 3)),
    case("linalg eigvals", lambda x: LINALG.eigvals(hermitian(x)), (3, 3)),
    case("linalg eig, vectors", lambda x: LINALG.eig(np.diag([1.0, 5.0, 9.0]).astype(x.dtype) + 0.5 * x)[1], (3, 3)),
    case(
        "linalg eig, both, batch", lambda x: parts(LINALG.eig(np.diag([1.0, 5.0]).astype(x.dtype) + 0.5 * x)), (2, 2, 2)
    ),
    case("linalg eig, complex pair", lambda x: parts(LINALG.eig(x * 0.1 + TURN.astype(x.dtype))), (2, 2)),
    case("linalg over_gaps", lambda k, gaps: over_gaps(k, gaps, 0.0, EIGH), (2, 3), (2, 3)),
    case("checked", lambda x: checked(x, x > 99, "ValueError", "too large"), (2, 3), real=True),
    case("linalg svdvals", LINALG.svdvals, (3, 2)),
    case("linalg svd, values", lambda x: LINALG.svd(x, compute_uv=False), (2, 3, 3)),
    case("linalg svd, square", lambda x: parts(LINALG.svd(x)), (3, 3), real=True),
    case("linalg svd, tall", lambda x: parts(LINALG.svd(x, full_matrices=False)), (4, 2), real=True),
    case("linalg svd, wide", lambda x: parts(LINALG.svd(x, full_matrices=False)), (2, 4), real=True),
    case("linalg svd, batch", lambda x: LINALG.svd(x, full_matrices=False).Vh, (2, 3, 2), real=True),
    case("linalg svd, sizes of U", lambda x: np.abs(LINALG.svd(x, full_matrices=False)[0]), (4, 2)),
    case("linalg svd, sizes of Vh", lambda x: np.abs(LINALG.svd(x, full_matrices=False)[2]), (2, 4)),
    case("linalg svd, polar factor", lambda x: (lambda u, s, vh: u @ vh)(*LINALG.svd(x, full_matrices=False)), (3, 2)),
    # Products
    *(
        case(f"linalg matrix_power {n}", lambda x, _n=n: LINALG.matrix_power(x, _n), (2, 2))
        for n in (0, 1, 2, 3, 6, -1, -3)
    ),
    case("linalg matrix_power, batch", lambda x: LINALG.matrix_power(x, 5), (2, 2, 2)),
    case("linalg multi_dot", lambda *xs: LINALG.multi_dot(xs), (2, 3), (3, 1), (1, 4), (4, 2)),
    case("linalg multi_dot of two", lambda *xs: LINALG.multi_dot(xs), (2, 3), (3, 2)),
    case("linalg multi_dot with vectors", lambda *xs: LINALG.multi_dot(list(xs)), (3,), (3, 2), (2, 4), (4,)),
    case("linalg vecdot", LINALG.vecdot, (2, 3), (3,)),
    case("linalg vecdot axis=0", lambda x, y: LINALG.vecdot(x, y, axis=0), (3, 2), (3, 2)),
    case("linalg outer", LINALG.outer, (2,), (3,)),
    case("linalg cross", LINALG.cross, (2, 3), (2, 3)),
    case("linalg matmul", LINALG.matmul, (2, 3), (3, 2)),
    case("linalg tensordot", lambda x, y: LINALG.tensordot(x, y, axes=1), (2, 3), (3, 2)),
    case("linalg matrix_transpose", LINALG.matrix_transpose, (2, 2, 3)),
    case("matrix_transpose", np.matrix_transpose, (2, 3)),
    case("linalg diagonal", lambda x: LINALG.diagonal(x, offset=1), (2, 3, 3)),
    case("linalg trace", LINALG.trace, (2, 3, 3)),
    # Norms
    case("linalg norm", LINALG.norm, (3,)),
    case("linalg norm of a matrix", LINALG.norm, (2, 3)),
    case("linalg norm of three axes", LINALG.norm, (2, 3, 2)),
    case("linalg norm of three axes, keepdims", lambda x: LINALG.norm(x, keepdims=True), (2, 3, 2)),
    *(
        case(f"linalg norm {p} of vectors", lambda x, _p=p: LINALG.norm(x, _p), (3,))
        for p in (1, 2, 3, -1, -2, np.inf, -np.inf, 2.5, 0.5)
    ),
    *(
        case(f"linalg norm {p}, axis=0, keepdims", lambda x, _p=p: LINALG.norm(x, _p, axis=0, keepdims=True), (3, 2))
        for p in (None, 1, 2, 3, -1, -2, np.inf, -np.inf)
    ),
    case("linalg norm axis=-1", lambda x: LINALG.norm(x, axis=-1), (2, 3)),
    *(
        case(f"linalg norm {p} of a matrix", lambda x, _p=p: LINALG.norm(x, _p), (3, 2))
        for p in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    ),
    *(
        case(f"linalg norm {p}, axis=(2, 0)", lambda x, _p=p: LINALG.norm(x, _p, axis=(2, 0)), (3, 2, 2))
        for p in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    ),
    *(
        case(f"linalg norm {p}, axis=(0, -1), keepdims", lambda x, _p=p: LINALG.norm(x, _p, (0, -1), True), (3, 2, 2))
        for p in ("fro", "nuc", 1, 2, -np.inf)
    ),
    case("linalg vector_norm", LINALG.vector_norm, (2, 3)),
    case("linalg vector_norm axis=(0, 2), ord=1", lambda x: LINALG.vector_norm(x, axis=(0, 2), ord=1), (2, 3, 2)),
    case("linalg vector_norm keepdims", lambda x: LINALG.vector_norm(x, axis=(1, 0), keepdims=True, ord=3), (2, 3, 2)),
    case("linalg matrix_norm", LINALG.matrix_norm, (2, 3, 2)),
    case("linalg matrix_norm ord=1 keepdims", lambda x: LINALG.matrix_norm(x, ord=1, keepdims=True), (2, 3, 2)),
    case("linalg cond", LINALG.cond, (3, 2)),
    case("linalg cond -2", lambda x: LINALG.cond(x, -2), (2, 2, 2)),
    case("linalg cond 1", lambda x: LINALG.cond(x, 1), (2, 2, 2)),
    case("linalg cond fro", lambda x: LINALG.cond(x, "fro"), (2, 2)),
]
