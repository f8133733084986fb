"""Jacobians and Hessians of plain functions, and Hessians times vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.structures import flatten, rebuild
from ..core.tensor import Tensor
from ..derivatives.jacobians import jacobian as jacobian_of
from ..derivatives.jacobians import one_tensor
from ..derivatives.requests import gradient, tensors_of
from ..gradient_tape import GradientTape
from .blocks import BlockMatrix
from .forward import by_columns, check_tuples, jvp
from .gradients import grad
from .run import Argnums, Function, chosen, own, prepared, replaced, run, unwrapped


def jacobian(f: Function, argnums: Argnums = 0, mode: str = "auto") -> Function:
    """Return a function that computes the Jacobian of `f`.

    Parameters
    ----------
    f : callable
        As for `grad`, but returns one real tensor.
    argnums : int or tuple of int
        The positional arguments to differentiate with respect to.
    mode : {"auto", "reverse", "forward"}
        One pass backward with a seed per output, or one forward with a tangent per input; "auto" takes the cheaper one.

    Returns
    -------
    callable
        Returns one tensor per source, of shape `value.shape + source.shape`.

    Raises
    ------
    ValueError
        If the mode is not one of the three.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.jacobian(lambda x: x * x)([1.0, 2.0])
    Tensor([[2., 0.],
            [0., 4.]])
    """
    if mode not in ("auto", "reverse", "forward"):
        raise ValueError(f"mode is {mode!r}; it must be 'auto', 'reverse' or 'forward'")

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        tape, value, sources = run(f, args, kwargs, argnums)
        inputs, value = tensors_of(sources, "sources"), one_tensor(value, "jacobian")
        complex_inputs = any(s.dtype.kind == "c" for s in inputs)
        if mode == "forward" and complex_inputs:
            raise TypeError("mode='forward' needs real arguments, but one of these is complex; use mode='reverse'")
        fewer_inputs = sum(s.size for s in inputs) < value.size and not complex_inputs
        if mode == "reverse" or (mode == "auto" and not fewer_inputs):
            return jacobian_of(tape, value, sources, unconnected="zero")
        return rebuild(sources, iter([by_columns(tape, value, source) for source in inputs]))

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
        When called: as for `grad`, and if an argument is complex.
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

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        args = prepared(args, argnums)
        sources = own(chosen(args, argnums))
        with GradientTape(persistent=True) as outer:
            outer.watch(sources)
            if not flatten(sources, ""):
                raise ValueError(f"hessian needs at least one array, but argument {argnums!r} contains none")
            inner, value, inner_sources = run(f, replaced(args, argnums, sources), kwargs, argnums)
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


def hvp(f: Function, primals: tuple[Any, ...], vector: tuple[Any, ...]) -> Any:
    """Return the Hessian of `f` times a vector without computing the Hessian: pull the slope along the vector back.

    The two modes can be nested either way round. Pushing the gradient forward computes the gradient too; pulling the
    slope back does not, and takes little more than half the time on a network.

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
        If a part of the vector does not have the shape of its primal.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.hvp(lambda x, y: x * y**2, (3.0, 2.0), (1.0, 0.0))
    (Tensor(0.), Tensor(4.))
    """
    check_tuples(primals, vector, "hvp(f, (x,), (v,))")

    def slope(*primals: Any) -> Any:
        return jvp(f, primals, vector)[1]

    return unwrapped(grad(slope, tuple(range(len(primals))))(*primals))
