"""Functions to functions: gradients, products, Jacobians and Hessians of plain functions of arrays.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> def f(x):
...     return np.sum(x**3)
>>> x = np.array([1.0, 2.0])
>>> ad.grad(f)(x)
Tensor([ 3., 12.])
>>> ad.hessian(f)(x)
Tensor([[ 6.,  0.],
        [ 0., 12.]])
>>> ad.hvp(f, (x,), (np.array([1.0, 0.0]),))
Tensor([6., 0.])
"""

from __future__ import annotations

from typing import Any

from ..derivatives.requests import gradient
from .run import Argnums, Function, run, unwrapped


def grad(f: Function, argnums: Argnums = 0) -> Function:
    """Give the function that computes the gradient of `f`.

    Parameters
    ----------
    f : callable
        Of arrays, numbers, tensors, variables, or structures of them, giving a tensor; its sum is differentiated, if it
        is no scalar.
    argnums : int or tuple of int
        By which positional arguments.

    Returns
    -------
    callable
        With the arguments of `f`; gives tensors in the structure of the argument (a tuple of them for a tuple), zeros
        where the result does not depend on it.

    Raises
    ------
    TypeError
        When called: if an argument holds integers (Python's own are taken as floats), or the result is no tensor.
    ValueError
        When called: if `argnums` names no argument, or one twice.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.grad(lambda x, y: x * y**2, argnums=(0, 1))(3.0, 2.0)
    (Tensor(4.), Tensor(12.))
    """
    with_value = value_and_grad(f, argnums)
    return lambda *args, **kwargs: with_value(*args, **kwargs)[1]


def value_and_grad(f: Function, argnums: Argnums = 0) -> Function:
    """Give the function that computes the value of `f` and its gradient in one run.

    Parameters
    ----------
    f, argnums
        As for `grad`, and so are the errors.

    Returns
    -------
    callable
        Gives `(value, gradient)`: what `f` gives, and what `grad(f)` gives.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.value_and_grad(lambda x: x * x)(3.0)
    (Tensor(9.), Tensor(6.))
    """

    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        tape, value, sources = run(f, args, kwargs, argnums, persistent=False)
        return value, gradient(tape, value, sources, unconnected="zero")

    return differentiated


def vjp(f: Function, *primals: Any) -> tuple[Any, Function]:
    """Give the value of `f`, and the function that pulls a cotangent of it back.

    Parameters
    ----------
    f : callable
        Of the primals.
    *primals : array_like, or structures of arrays

    Returns
    -------
    value : Tensor, or a structure of them
    pullback : callable
        From a cotangent, shaped like the value, to one cotangent per primal, a tuple if there are several. May be
        called again and again.

    Raises
    ------
    TypeError
        If a primal holds integers, or the result is no tensor.
    ValueError
        From the pullback, if the cotangent has not the structure or the shape of the value.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> value, pullback = ad.vjp(lambda x: x**2, [1.0, 2.0, 3.0])
    >>> pullback([1.0, 0.0, 10.0])
    Tensor([ 2.,  0., 60.])
    """
    tape, value, sources = run(f, primals, {}, tuple(range(len(primals))))

    def pullback(cotangent: Any) -> Any:
        return unwrapped(gradient(tape, value, sources, cotangent, unconnected="zero"))

    return value, pullback
