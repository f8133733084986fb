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

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.structures import as_array, flatten, flatten_like, rebuild
from ..arrays.validate import check_watchable
from ..core.tape import Tape
from ..core.tensor import Tensor, as_tensor, wrap
from ..rules.operations import alias
from .blocks import BlockMatrix
from .forward import by_columns, push_forward
from .jacobians import jacobian as jacobian_of
from .jacobians import one_tensor
from .requests import as_constant, gradient, tensors_of

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


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
        tape, value, sources = _run(f, args, kwargs, argnums, persistent=False)
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
    tape, value, sources = _run(f, primals, {}, tuple(range(len(primals))))

    def pullback(cotangent: Any) -> Any:
        return _single(gradient(tape, value, sources, cotangent, unconnected="zero"))

    return value, pullback


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Give the value of `f` and its derivative along the tangents, by one pass forward.

    Parameters
    ----------
    f : callable
        Of the primals.
    primals, tangents : tuple of array_like, or of structures of arrays
        One tangent per primal, of its shape.

    Returns
    -------
    value, tangent : Tensor, or structures of them

    Raises
    ------
    ValueError
        If the tangents do not match the primals.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.jvp(lambda x: x**3, (2.0,), (1.0,))
    (Tensor(8.), Tensor(12.))
    """
    _check_tuples(primals, tangents, "jvp(f, (x,), (v,))")
    tape, value, sources = _run(f, primals, {}, tuple(range(len(primals))))
    moved = _tangents(sources, tangents)
    push_forward(tape, moved, release=True)
    return value, rebuild(value, iter([_moved(target, moved) for target in tensors_of(value, "value")]))


def jacobian(f: Function, argnums: Argnums = 0, mode: str = "auto") -> Function:
    """Give the function that computes the Jacobian of `f`.

    Parameters
    ----------
    f : callable
        As for `grad`, giving one real tensor.
    argnums : int or tuple of int
        By which positional arguments.
    mode : {"auto", "reverse", "forward"}
        One pass backward with a seed per output, or one forward with a tangent per input; "auto" takes the fewer.

    Returns
    -------
    callable
        Gives, per source, a tensor of shape `value.shape + source.shape`.

    Raises
    ------
    ValueError
        If the mode is none of the three.

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
        tape, value, sources = _run(f, args, kwargs, argnums)
        inputs, value = tensors_of(sources, "sources"), one_tensor(value, "jacobian")
        complex_inputs = any(s.dtype.kind == "c" for s in inputs)
        if mode == "forward" and complex_inputs:
            raise TypeError("a forward Jacobian is by real arguments, and one of these is complex; use mode='reverse'")
        fewer_inputs = sum(s.size for s in inputs) < value.size and not complex_inputs
        if mode == "reverse" or (mode == "auto" and not fewer_inputs):
            return jacobian_of(tape, value, sources, unconnected="zero")
        return rebuild(sources, iter([by_columns(tape, value, source) for source in inputs]))

    return differentiated


def hessian(f: Function, argnums: Argnums = 0) -> Function:
    """Give the function that computes the second derivatives of `f`.

    Parameters
    ----------
    f : callable
        As for `grad`.
    argnums : int or tuple of int
        By which positional arguments.

    Returns
    -------
    callable
        Gives a tensor of shape `x.shape + x.shape` if the argument is one array, and a `BlockMatrix` for a structure.

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
        args = tuple(map(as_array, args))
        with Tape(persistent=True) as outer:
            sources = _watched(outer, _chosen(args, argnums))
            if not flatten(sources, ""):
                raise ValueError(f"hessian is by arrays, and argument {argnums!r} holds none")
            inner, value, inner_sources = _run(f, _with(args, argnums, sources), kwargs, argnums)
            gradients = tensors_of(gradient(inner, value, inner_sources, unconnected="zero"), "gradients")
            if any(g.dtype.kind == "c" for g in gradients):
                raise TypeError("hessian is by real arguments, and one is complex; pass its parts as two arrays")
            one = isinstance(sources, Tensor)
            rows: Any = gradients[0] if one else np.concatenate([np.ravel(g) for g in gradients])
        if one:
            return jacobian_of(outer, rows, sources, unconnected="zero")
        columns = jacobian_of(outer, rows, tensors_of(sources, "sources"), unconnected="zero")
        return BlockMatrix.of_columns(sources, columns)

    return differentiated


def hvp(f: Function, primals: tuple[Any, ...], vector: tuple[Any, ...]) -> Any:
    """Give the Hessian of `f` times a vector, without the Hessian: the slope along the vector, pulled back.

    The two modes may be nested either way round. Pushing the gradient forward computes the gradient as well; pulling
    the slope back does not, and takes little more than half the time on a network.

    Parameters
    ----------
    f : callable
        Of the primals; see `grad`.
    primals, vector : tuple of array_like, or of structures of arrays
        One part of the vector per primal, of its shape.

    Returns
    -------
    Tensor, or structure of them
        Like the primals; a tuple if there are several.

    Raises
    ------
    TypeError
        If the primals or the vector are no tuples, or as for `grad`.
    ValueError
        If a part of the vector has not the shape of its primal.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.hvp(lambda x, y: x * y**2, (3.0, 2.0), (1.0, 0.0))
    (Tensor(0.), Tensor(4.))
    """
    _check_tuples(primals, vector, "hvp(f, (x,), (v,))")

    def slope(*primals: Any) -> Any:
        return jvp(f, primals, vector)[1]

    return _single(grad(slope, tuple(range(len(primals))))(*primals))


def _run(
    f: Function, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums, persistent: bool = True
) -> tuple[Tape, Any, Any]:
    """Run `f` on a tape of its own that watches the chosen arguments; give the tape, the value and the sources."""
    numbers = _numbers(args, argnums)
    args = tuple(as_array(arg, f"argument {k}") if k in numbers else arg for k, arg in enumerate(args))
    with Tape(persistent) as tape:
        sources = _watched(tape, _chosen(args, argnums))
        value = f(*_with(args, argnums, sources), **kwargs)
    for path, leaf in flatten(value, "the result"):
        if not isinstance(leaf, Tensor):
            raise TypeError(
                f"{path} of {getattr(f, '__name__', 'f')} is {leaf!r:.60} of type {type(leaf).__name__}, which is no "
                "tensor. Return what is computed from the arguments, without float(), .numpy() or np.asarray on the way"
            )
    return tape, value, sources


def _numbers(args: tuple[Any, ...], argnums: Argnums) -> set[int]:
    """Give the places of the arguments that are differentiated by."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(isinstance(k, int) for k in numbers):
        raise ValueError(f"argnums is {argnums!r}; it must be a whole number, or a tuple of them")
    if not numbers or not all(-len(args) <= k < len(args) for k in numbers):
        raise ValueError(f"argnums is {argnums!r}, and there are {len(args)} positional arguments, counted from 0")
    if len({k % len(args) for k in numbers}) < len(numbers):
        raise ValueError(f"argnums is {argnums!r}, and names the same argument twice")
    return {k % len(args) for k in numbers}


def _chosen(args: tuple[Any, ...], argnums: Argnums) -> Any:
    return tuple(args[k] for k in argnums) if isinstance(argnums, tuple) else args[argnums]


def _with(args: tuple[Any, ...], argnums: Argnums, sources: Any) -> tuple[Any, ...]:
    replaced = list(args)
    for k, source in zip(argnums, sources, strict=True) if isinstance(argnums, tuple) else [(argnums, sources)]:
        replaced[k] = source
    return tuple(replaced)


def _watched(tape: Tape, structure: Any) -> Any:
    """Make a tensor of its own of every leaf, so that the same array in two places is two sources."""
    structure = as_array(structure)
    leaves = [_source(path, leaf) for path, leaf in flatten(structure, "argument")]
    sources = rebuild(structure, iter(leaves))
    tape.watch(check_watchable(sources, "argument"))
    return sources


def _source(path: str, leaf: Any) -> Tensor:
    if isinstance(leaf, Tensor):
        return alias(leaf)
    return as_constant(path, float(leaf) if isinstance(leaf, int) else leaf)


def _check_tuples(primals: Any, tangents: Any, usage: str) -> None:
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise TypeError(f"the primals and what goes with them are tuples, one item per argument of f: {usage}")


def _tangents(sources: Any, tangents: Any) -> dict[int, Any]:
    moved = {}
    given = flatten_like(sources, tangents, "tangents", "the primals are")
    for source, (path, tangent) in zip(tensors_of(sources, "primals"), given, strict=True):
        tangent = as_constant(path, tangent)
        if tangent.shape != source.shape:
            raise ValueError(
                f"{path} has shape {tangent.shape}, and its primal has shape {source.shape}; they must be the same"
            )
        if tangent.dtype.kind == "c" and source.dtype.kind != "c":
            raise TypeError(f"{path} is complex, and its primal is {source.dtype}; give its real part")
        moved[source._id] = tangent if tangent.dtype == source.dtype else tangent.astype(source.dtype)
    return moved


def _moved(target: Tensor, tangents: dict[int, Any]) -> Tensor:
    found = tangents.get(target._id)
    return wrap(np.zeros_like(target._array)[()]) if found is None else as_tensor(found)


def _single(parts: Any) -> Any:
    return parts[0] if len(parts) == 1 else parts
