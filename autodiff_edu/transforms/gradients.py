"""Functions of functions: gradients, products, Jacobians and Hessians of plain functions of arrays.

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

from ..custom.inner_tensors import check_value
from ..derivatives.requests import gradient
from .arguments import Argnums, unwrap
from .forward import check_call, own_copy
from .run import Function, check_function, differentiable, named_after, run, run_freely, with_aux


def grad(f: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient of `f`.

    Parameters
    ----------
    f : callable
        A function of arrays, numbers, tensors, variables, or structures of them, that returns a tensor. If the result
        is not a scalar, its sum is differentiated.
    argnums : int or tuple of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        Whether `f` returns a pair `(value, aux)`: only the value is differentiated, and aux, which may be anything, is
        returned as it is.

    Returns
    -------
    callable
        Takes the arguments of `f`. Returns tensors in the structure of the argument (a tuple of them for a tuple), and
        zeros where the result does not depend on it. With `has_aux`, returns `(gradient, aux)`.

    Raises
    ------
    TypeError
        If `f` is not callable. When called: if an argument holds integers (Python's own are taken as floats), the
        result is not a tensor, or `f` does not return a pair although `has_aux` is true.
    ValueError
        When called: if `argnums` names no argument, or one twice.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.grad(lambda x, y: x * y**2, argnums=(0, 1))(3.0, 2.0)
    (Tensor(4.), Tensor(12.))
    >>> ad.grad(lambda x: (x**2, {"seen": "x"}), has_aux=True)(3.0)
    (Tensor(6.), {'seen': 'x'})
    """
    check_function(f, "grad(f)(x)", "grad(f(x))")
    with_value = value_and_grad(f, argnums, has_aux)

    @named_after(f, "grad")
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, gradients = with_value(*args, **kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return differentiated


def value_and_grad(f: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the value of `f` and its gradient in one run.

    Parameters
    ----------
    f, argnums, has_aux
        As for `grad`; the errors are the same too.

    Returns
    -------
    callable
        Returns `(value, gradient)`: the results of `f` and of `grad(f)`. With `has_aux`, returns
        `((value, aux), gradient)`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.value_and_grad(lambda x: x * x)(3.0)
    (Tensor(9.), Tensor(6.))
    """
    check_function(f, "value_and_grad(f)(x)", "value_and_grad(f(x))")

    @named_after(f, "value_and_grad")
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        tape, returned, sources = run_freely(f, args, kwargs, argnums, persistent=False)
        value = with_aux(f, returned)[0] if has_aux else differentiable(f, returned)
        check_value(tape, value)
        return returned, gradient(tape, value, sources, unconnected="zero")

    return differentiated


def vjp(f: Function, *primals: Any) -> tuple[Any, Function]:
    """Return the value of `f` and a function that pulls a cotangent of the value back.

    It takes the primals themselves, and the cotangent later: `value, pullback = ad.vjp(f, x)`, then `pullback(u)`.
    Forward mode has another form: `ad.jvp(f, (x,), (v,))` takes two tuples, and the tangents at once.

    Parameters
    ----------
    f : callable
        A function of the primals.
    *primals : array_like, or structures of arrays

    Returns
    -------
    value : Tensor, or a structure of them
    pullback : callable
        Takes a cotangent shaped like the value and returns one cotangent per primal, as a tuple if there are several.
        You can call it as often as you like.

    Raises
    ------
    TypeError
        If `f` is not callable, a primal holds integers, or the result is not a tensor.
    ValueError
        If there is no primal. From the pullback, if the cotangent does not have the structure or the shape of the
        value.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> value, pullback = ad.vjp(lambda x: x**2, [1.0, 2.0, 3.0])
    >>> pullback([1.0, 0.0, 10.0])
    Tensor([ 2.,  0., 60.])
    """
    check_call(f, primals, "vjp", "x")
    try:
        tape, value, sources = run(f, primals, {}, tuple(range(len(primals))))
    except Exception as error:
        if any(isinstance(one, tuple) for one in primals):
            error.add_note(
                "A tuple is one argument of f here: ad.vjp takes the primals themselves, and the cotangent later, "
                "where ad.jvp takes two tuples. Write value, pullback = ad.vjp(f, x), then pullback(u)"
            )
        raise
    kept = own_copy(value)

    def pullback(cotangent: Any) -> Any:
        return unwrap(gradient(tape, kept, sources, cotangent, unconnected="zero"))

    return value, pullback
