"""Forward mode for plain functions: products with tangents, and Jacobians column by column."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from ..arrays.structures import flatten, flatten_like, rebuild
from ..core.reach import between
from ..core.tape import Tape
from ..core.tensor import Tensor, as_tensor, wrap
from ..derivatives.jacobians import LARGEST_STACK
from ..derivatives.requests import as_constant, tensors_of
from ..derivatives.tangents import push_forward
from .run import Function, check_function, run

Transform = TypeVar("Transform", bound=Function)


def takes_tuples(usage: str) -> Callable[[Transform], Transform]:
    """Return a decorator for functions of f, primals and vectors: a call without two tuples, as for `vjp`, is an error.

    The error shows the usage, also where Python's own would say that an argument is missing, or that there is one more.
    """

    def decorated(transform: Transform) -> Transform:
        @functools.wraps(transform)
        def checked(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            if len(given) != 3 or sum(isinstance(one, tuple) for one in given) < 2:
                raise TypeError(
                    f"the primals and their vectors must be tuples, with one item per argument of f: {usage}"
                )
            return transform(*args, **kwargs)

        return cast(Transform, checked)

    return decorated


@takes_tuples("ad.jvp(f, (x,), (v,)). ad.vjp(f, x), in reverse mode, takes the primals themselves")
def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the value of `f` and its derivative along the tangents, in one forward pass.

    Primals and tangents are tuples, `ad.jvp(f, (x,), (v,))`, with one item per argument of `f`. Reverse mode has
    another form: `value, pullback = ad.vjp(f, x)` takes the primals themselves, and the cotangent later, `pullback(u)`.

    This costs about as much as three runs of `f`, however many primals there are, and releases the arrays of each
    operation as soon as the tangent has passed through it. On forward mode, see A. G. Baydin et al., Automatic
    Differentiation in Machine Learning: a Survey (2018), section 3.1.

    Parameters
    ----------
    f : callable
        A function of the primals.
    primals, tangents : tuple of array_like, or of structures of arrays
        One tangent per primal, of the same shape; zeros for a primal that does not move.

    Returns
    -------
    value, tangent : Tensor, or structures of them

    Raises
    ------
    TypeError
        If `f` is not callable, the primals and tangents are not tuples, a primal holds integers, a tangent is None or
        complex for a real primal, or the result is not a tensor.
    ValueError
        If there is no primal, or the tangents do not match the primals.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.jvp(lambda x: x**3, (2.0,), (1.0,))
    (Tensor(8.), Tensor(12.))
    """
    check_call(f, primals, "jvp", "(x,), (v,)")
    tape, value, sources = run(f, primals, {}, tuple(range(len(primals))))
    moved = _tangents(sources, tangents)
    push_forward(tape, moved, release=True)
    return value, _collect_tangents(value, moved)


def linearize(f: Function, *primals: Any) -> tuple[Any, Function]:
    """Return the value of `f` and a function that pushes tangents forward, as often as you like, without running `f`.

    Where `jvp` runs `f` for every tangent, this records it once. Each push costs about as much as the operations that
    lead from the primals to the value, and their arrays are held in between; only parts under `ad.checkpoint` run
    again. On forward mode, see A. G. Baydin et al., Automatic Differentiation in Machine Learning: a Survey (2018),
    section 3.1.

    Parameters
    ----------
    f : callable
        A function of the primals; see `grad`.
    *primals : array_like, or structures of arrays

    Returns
    -------
    value : Tensor, or a structure of them
    pushforward : callable
        Takes one tangent per primal, of its structure and shape, and returns the tangent of the value, in the structure
        of the value; it is linear in the tangents.

    Raises
    ------
    TypeError
        If `f` is not callable, a primal holds integers, or the result is not a tensor. From the pushforward, if a
        tangent is None, or complex for a real primal.
    ValueError
        If there is no primal. From the pushforward, if the tangents do not match the primals.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> value, pushforward = ad.linearize(lambda x, y: x * y**2, 3.0, 2.0)
    >>> value, pushforward(1.0, 0.0), pushforward(0.0, 1.0), pushforward(2.0, 1.0)
    (Tensor(12.), Tensor(4.), Tensor(12.), Tensor(20.))
    """
    check_call(f, primals, "linearize", "x")
    tape, value, sources = run(f, primals, {}, tuple(range(len(primals))))
    xs, ys = tensors_of(sources, "primals"), tensors_of(value, "value")
    followed = [entry for entry in tape.entries if entry.output_id in tape.connected]
    tape.entries = between(followed, {x._id for x in xs}, {y._id for y in ys})
    kept = own_copy(value)

    def pushforward(*tangents: Any) -> Any:
        moved = _tangents(sources, tangents)
        push_forward(tape, moved)
        return _collect_tangents(kept, moved)

    return value, pushforward


def own_copy(structure: Any) -> Any:
    """Return the same leaves in a structure of our own, which the caller cannot change."""
    return rebuild(structure, iter([leaf for _, leaf in flatten(structure, "")]))


def by_columns(tape: Tape, values: list[Tensor], source: Tensor) -> list[Tensor]:
    """Return Jacobians with respect to one source: push one-hot tangents forward, in stacks of bounded size."""
    size = int(source.size)
    one_hot = np.eye(size, dtype=source.dtype).reshape((size, *source.shape))
    pushed = push_stack(tape, values, source, one_hot)
    return [
        as_tensor(np.reshape(np.moveaxis(part, 0, -1), value.shape + source.shape).astype(source.dtype))
        for value, part in zip(values, pushed, strict=True)
    ]


def push_stack(tape: Tape, values: list[Tensor], source: Tensor, tangents: Any) -> list[Any]:
    """Push a stack of tangents of one source forward to the values, in chunks of bounded size."""
    largest = max([source._array.nbytes, *(e.output_value.nbytes for e in tape.entries)])
    chunk = max(1, LARGEST_STACK // max(largest * max(len(tape.entries), 1), 1))
    parts: list[list[Any]] = [[] for _ in values]
    for start in range(0, max(len(tangents), 1), chunk):
        stack = tangents[start : start + chunk]
        moved = {source._id: stack}
        push_forward(tape, moved, (len(stack),))
        for value, part in zip(values, parts, strict=True):
            part.append(moved.get(value._id, np.zeros((len(stack), *value.shape), value.dtype)))
    return [np.concatenate(part) if len(part) > 1 else part[0] for part in parts]


def check_call(f: Function, primals: tuple[Any, ...], name: str, written: str) -> None:
    """Raise an error unless `f` is a function, and there is something to differentiate with respect to."""
    check_function(f, f"{name}(f, {written})", f"{name}(f(x), {written})")
    if not primals:
        raise ValueError(f"{name} needs at least one primal to differentiate with respect to: ad.{name}(f, {written})")


def _tangents(sources: Any, tangents: Any) -> dict[int, Any]:
    moved = {}
    given = flatten_like(sources, tangents, "tangents", "the primals are")
    for source, (path, tangent) in zip(tensors_of(sources, "primals"), given, strict=True):
        if tangent is None:
            raise TypeError(f"{path} is None. Pass zeros for a primal that does not move, for example np.zeros_like(x)")
        tangent = as_constant(path, tangent)
        if tangent.shape != source.shape:
            raise ValueError(
                f"{path} has shape {tangent.shape}, but its primal has shape {source.shape}; they must be the same"
            )
        if tangent.dtype.kind == "c" and source.dtype.kind != "c":
            raise TypeError(f"{path} is complex, but its primal is {source.dtype}; pass its real part")
        moved[source._id] = tangent if tangent.dtype == source.dtype else tangent.astype(source.dtype)
    return moved


def _collect_tangents(value: Any, tangents: dict[int, Any]) -> Any:
    """Return the tangents of a value, in its structure; zeros where it does not move."""
    pairs = [(target, tangents.get(target._id)) for target in tensors_of(value, "value")]
    zeros = (wrap(np.zeros_like(target._array)[()]) if found is None else as_tensor(found) for target, found in pairs)
    return rebuild(value, zeros)
