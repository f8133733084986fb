"""Jacobians and Hessians of plain functions, and Hessians times vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.structures import flatten, rebuild
from ..core.tensor import Tensor
from ..derivatives.jacobians import jacobian as jacobian_of
from ..derivatives.jacobians import real_tensors
from ..derivatives.requests import gradient, tensors_of
from ..gradient_tape import GradientTape
from .arguments import Argnums, choose, own, prepare, replace, unwrap
from .blocks import BlockMatrix
from .forward import by_columns, check_call, jvp, takes_tuples
from .gradients import grad
from .run import Function, check_function, named_after, run
from .sparse import sparse_jacobian


def jacobian(
    f: Function, argnums: Argnums = 0, mode: str = "auto", sparsity: Any = None, check: bool = False
) -> Function:
    """Return a function that computes the Jacobian of `f`.

    Parameters
    ----------
    f : callable
        As for `grad`, but returns real tensors: one, or a structure of them.
    argnums : int or tuple of int
        The positional arguments to differentiate with respect to.
    mode : {"auto", "reverse", "forward"}
        One pass backward with a seed per output, or one forward with a tangent per input; "auto" takes the cheaper one.
    sparsity : array_like, sparse matrix, or a pair (rows, columns), optional
        Where the Jacobian of one array with respect to one array may be other than 0. Columns that share no row are
        then computed together, as one product (or rows that share no column: "auto" takes whichever needs fewer): a
        band of three diagonals takes three, whatever its size. An array is true at these places, and has the shape
        `value.shape + source.shape` or, like the result, a row for each element of the value and a column for each of
        the source. A sparse matrix is SciPy's or a `SparseMatrix`, and has these places stored. A tuple of two is a
        pair of vectors, as from `pattern.nonzero()`, and not a matrix of two rows.
    check : bool
        With `sparsity`: whether to compare with one more product, in a random direction, which finds a place that the
        pattern misses, unless its number is as small as rounding: 1e-12 of the others in float64, 0.3 % in float16.

    Returns
    -------
    callable
        Returns one tensor per source, of shape `value.shape + source.shape`, in the structure of the sources. If `f`
        returns a structure, each of its tensors has such a result, in that structure. With `sparsity`, returns a SciPy
        `csr_array` of plain numbers; where SciPy is not installed, and for float16, which it does not support, a
        `SparseMatrix`, which has the same `shape`, `dtype`, `nnz`, `T`, `@`, `toarray()` and `diagonal(k)`.

    Raises
    ------
    ValueError
        If the mode is not one of the three. When called: if `sparsity` does not have the shape of the Jacobian, or
        `check` finds a place that it misses, or cannot look for one because a derivative is infinite or NaN.
    TypeError
        If `f` is not callable. When called, with `sparsity`: if `f` takes or returns several arrays, or a tape that is
        recording follows the result.

    Notes
    -----
    The products are chosen by greedy colouring, as in A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed.
    (2008), chapter 8. Without `check`, a pattern that misses a place gives a wrong Jacobian, without a warning.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> ad.jacobian(lambda x: x * x)([1.0, 2.0])
    Tensor([[2., 0.],
            [0., 4.]])
    >>> ad.jacobian(lambda x: {"square": x * x, "sum": np.sum(x)})([1.0, 2.0])["sum"]
    Tensor([1., 1.])
    >>> ad.jacobian(lambda x: x * x, sparsity=np.eye(2))([1.0, 2.0]).toarray()
    array([[2., 0.],
           [0., 4.]])
    """
    check_function(f, "jacobian(f)(x)", "jacobian(f(x))")
    if mode not in ("auto", "reverse", "forward"):
        raise ValueError(f"mode is {mode!r}; it must be 'auto', 'reverse' or 'forward'")
    if check and sparsity is None:
        raise ValueError("check=True checks a pattern; pass sparsity too, or leave check out")

    @named_after(f, "jacobian")
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        tape, value, sources = run(f, args, kwargs, argnums)
        inputs, values = tensors_of(sources, "sources"), real_tensors(value, "jacobian")
        complex_inputs = any(s.dtype.kind == "c" for s in inputs)
        if mode == "forward" and complex_inputs:
            raise TypeError("mode='forward' needs real arguments, but one of these is complex; use mode='reverse'")
        if sparsity is not None:
            return sparse_jacobian(tape, value, sources, sparsity, mode, check)
        fewer_inputs = sum(s.size for s in inputs) < sum(v.size for v in values) and not complex_inputs
        if mode == "reverse" or not inputs or (mode == "auto" and not fewer_inputs):
            return jacobian_of(tape, value, sources, unconnected="zero")
        columns = [by_columns(tape, values, source) for source in inputs]
        return rebuild(value, iter([rebuild(sources, iter(row)) for row in zip(*columns, strict=True)]))

    return differentiated


def hessian(f: Function, argnums: Argnums = 0) -> Function:
    """Return a function that computes the second derivatives of `f`.

    Parameters
    ----------
    f : callable
        As for `grad`.
    argnums : int or tuple of int
        The positional arguments to differentiate with respect to.

    Returns
    -------
    callable
        Returns a tensor of shape `x.shape + x.shape` if the argument is one array, and a `BlockMatrix` for a structure.

    Raises
    ------
    TypeError
        As for `grad`. When called: if an argument is complex.
    ValueError
        When called: as for `grad`, and if the argument is a structure without arrays.

    Examples
    --------
    Newton's step over a whole model is three lines:

    >>> import autodiff_edu as ad
    >>> def loss(p):
    ...     return np.sum((p["w"] * 2.0 + p["b"] - 1.0) ** 2) + p["b"] ** 2
    >>> p = {"w": np.array([1.0, 2.0]), "b": 0.5}
    >>> h = ad.hessian(loss)(p)
    >>> step = h.unflatten(np.linalg.solve(h.matrix(), h.flatten(ad.grad(loss)(p))))
    >>> float(loss({k: p[k] - step[k].numpy() for k in p})) < 1e-20
    True
    """
    check_function(f, "hessian(f)(x)", "hessian(f(x))")

    @named_after(f, "hessian")
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        args = prepare(args, argnums)
        sources = own(choose(args, argnums))
        with GradientTape(persistent=True) as outer:
            outer.watch(sources)
            if not flatten(sources, ""):
                raise ValueError(f"hessian needs at least one array, but argument {argnums!r} contains none")
            inner, value, inner_sources = run(f, replace(args, argnums, sources), kwargs, argnums)
            gradients = tensors_of(gradient(inner, value, inner_sources, unconnected="zero"), "gradients")
            if any(g.dtype.kind == "c" for g in gradients):
                raise TypeError(
                    "hessian needs real arguments, but one is complex; pass its real and imaginary parts as two arrays"
                )
            one = isinstance(sources, Tensor)
            rows: Any = gradients[0] if one else np.concatenate([np.ravel(g) for g in gradients])
        if one:
            return jacobian_of(outer, rows, sources, unconnected="zero")
        columns = jacobian_of(outer, rows, tensors_of(sources, "sources"), unconnected="zero")
        return BlockMatrix.of_columns(sources, columns)

    return differentiated


@takes_tuples("ad.hvp(f, (x,), (v,))")
def hvp(f: Function, primals: tuple[Any, ...], vector: tuple[Any, ...]) -> Any:
    """Return the Hessian of `f` times a vector without computing the Hessian: pull the slope along the vector back.

    The two modes can be nested either way round. Pushing the gradient forward computes the gradient too; pulling the
    slope back does not, and took 0.6 to 0.9 times as long on some networks.

    Parameters
    ----------
    f : callable
        A function of the primals; see `grad`.
    primals, vector : tuple of array_like, or of structures of arrays
        One part of the vector per primal, of the same shape.

    Returns
    -------
    Tensor, or structure of them
        Like the primals; a tuple if there are several.

    Raises
    ------
    TypeError
        If the primals or the vector are not tuples, and as for `grad`.
    ValueError
        If there is no primal, or a part of the vector does not have the shape of its primal.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.hvp(lambda x, y: x * y**2, (3.0, 2.0), (1.0, 0.0))
    (Tensor(0.), Tensor(4.))
    """
    check_call(f, primals, "hvp", "(x,), (v,)")

    def slope(*primals: Any) -> Any:
        return jvp(f, primals, vector)[1]

    return unwrap(grad(slope, tuple(range(len(primals))))(*primals))
