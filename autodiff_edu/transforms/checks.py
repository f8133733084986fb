"""Check derivatives against finite differences: `check_gradients`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..arrays.stack import dense
from ..arrays.structures import as_array, flatten, rebuild
from ..arrays.validate import is_whole
from ..core.tensor import Tensor, constant
from ..derivatives.requests import tensors_of
from ..text.functions import name_of
from .forward import jvp
from .gradients import vjp
from .run import check_function

STEP = 1e-5
ROUNDING = 1e-10  # of a central difference, for numbers around 1: a few times the machine epsilon, divided by STEP
FEW = 24
"""The derivatives with respect to no more numbers than this are compared one by one."""


def check_gradients(f: Callable[..., Any], *args: Any, order: int = 2) -> None:
    """Check that the derivatives of `f` agree with central differences, backward and forward, to a given order.

    Forward, the derivative of every element of the result is compared, along one random direction. Backward, the
    cotangent of every element of an argument is compared, from one random cotangent of the result; for an argument of
    more than 24 numbers, only their sum along a random direction. The next order is checked in the same way on the
    derivative itself.

    A derivative passes if it agrees with the difference to 1e-4 of its size, or to 1e-10 times (1 + the size of the
    result), which is about what rounding does to a difference, or if differences with other steps disagree as much.
    Smaller mistakes pass, and so can one that is hidden in a sum behind much larger derivatives.

    Parameters
    ----------
    f : callable
        Takes the arguments and returns a tensor or a structure of tensors; smooth near them.
    *args : array_like, Tensor, or structures of arrays
        Where to check. Floating and complex numbers, and lists of numbers, are checked, in float64 or complex128
        whatever their precision; anything else, such as a whole exponent or an index, is passed on unchanged.
    order : int
        1 checks the gradient, 2 its gradient too, and so on.

    Raises
    ------
    AssertionError
        If one of the two modes disagrees. The message gives the mode, order, argument, element and both values.
    TypeError
        If `f` is not callable.
    ValueError
        If the order is below 1, or there are no floating or complex numbers in the arguments, or in the result.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> ad.check_gradients(lambda x: np.sum(np.tanh(x) ** 2), np.array([0.3, -1.2]))
    >>> ad.check_gradients(lambda x, n: x**n, 0.7, 3)
    """
    if not is_whole(order) or order < 1:
        raise ValueError(f"order is {order!r}; it must be 1 (the gradient), 2 (its gradient too), or more")
    check_function(f, "check_gradients(f, x)", "check_gradients(f(x), x)")
    name = name_of(f, "f")
    whole = [as_array(arg) for arg in args]
    leaves = [leaf for k, arg in enumerate(whole) for leaf in flatten(arg, f"argument {k}")]
    smooth = [(path, leaf) for path, leaf in leaves if np.asarray(dense(leaf)).dtype.kind in "fc"]
    primals = {path: _double(leaf) for path, leaf in smooth}
    if not primals:
        raise ValueError(
            "check_gradients has nothing to check: no argument contains floating or complex numbers; write 3.0 in "
            "place of 3, or x.astype(float)"
        )

    def smooth_part(*moved: Any) -> Any:
        given = dict(zip(primals, moved, strict=True))
        return f(*rebuild(whole, iter([given.get(path, leaf) for path, leaf in leaves])))

    _check(smooth_part, name, list(primals), tuple(primals.values()), 1, order, np.random.default_rng(0))


def _check(
    f: Callable[..., Any],
    name: str,
    paths: list[str],
    primals: tuple[Any, ...],
    level: int,
    order: int,
    rng: np.random.Generator,
) -> None:
    def flat(*leaves: Any) -> list[Tensor]:
        return [tensor for tensor in tensors_of(f(*leaves), "the result") if tensor.dtype.kind in "fc"]

    directions = tuple(_random(p, rng) for p in primals)
    values, pushed = jvp(flat, primals, directions)
    if not values:
        raise ValueError("check_gradients has nothing to check: the result contains no floating or complex numbers")
    sizes = [np.abs(v._array) for v in values]
    if wrong := _first_wrong(pushed, sizes, lambda step: _difference(flat, primals, directions, step)):
        k, *details = wrong
        raise AssertionError(_message(name, level, "forward", f"result {k}" if values[1:] else "the result", *details))
    cotangents = [_random(v._array, rng) for v in values]
    size = sum(np.sum(np.abs(c) * one) for c, one in zip(cotangents, sizes, strict=True))
    pulled = vjp(flat, *primals)[1](cotangents)
    for k, (path, cotangent) in enumerate(zip(paths, pulled if len(primals) > 1 else (pulled,), strict=True)):

        def along(direction: Any, step: float, k: int = k) -> Any:
            directions = [direction if j == k else np.zeros_like(p) for j, p in enumerate(primals)]
            moved = _difference(flat, primals, directions, step)
            return sum(np.sum(np.real(np.conjugate(c) * m)) for c, m in zip(cotangents, moved, strict=True))

        if wrong := _wrong_element(np.asarray(cotangent), size, along):
            raise AssertionError(_message(name, level, "backward", path, *wrong))
    if level < order:

        def derivative(*leaves: Any) -> Any:
            return vjp(flat, *leaves)[1](cotangents)

        _check(derivative, name, paths, primals, level + 1, order, rng)


def _difference(flat: Callable[..., Any], primals: Any, directions: Any, step: float) -> list[Any]:
    """Return central differences of every result along the directions."""
    moved = [[p + s * step * d for p, d in zip(primals, directions, strict=True)] for s in (1, -1)]
    ahead, behind = (flat(*map(constant, leaves)) for leaves in moved)
    return [(a._array - b._array) / (2 * step) for a, b in zip(ahead, behind, strict=True)]


def _first_wrong(found: list[Any], sizes: list[Any], difference: Callable[[float], list[Any]]) -> Any:
    """Return which derivative does not agree with differences, the index, and both numbers; None if all agree.

    `sizes` are those of the values whose `difference` is taken.
    """
    expected = difference(STEP)
    others: list[list[Any]] = []
    for k, (one, other, size) in enumerate(zip(map(np.asarray, found), expected, sizes, strict=True)):
        wrong = ~np.isclose(one, other, rtol=1e-4, atol=ROUNDING * (1 + size))
        if wrong.any():  # perhaps it is the difference that is wrong: then other steps give other numbers
            with np.errstate(all="ignore"):  # they may leave the function's domain
                others = others or [difference(STEP / 1.7), difference(STEP * 1.9)]  # by 2, errors could be the same
                near, far = (np.nan_to_num(np.abs(again[k] - other), nan=0, posinf=0) for again in others)
            doubt = np.minimum(10 * np.maximum(near, far), 0.1 * (1 + size))  # at a jump it would be much larger
            doubt = np.where(near < far, np.maximum(doubt, 3 * near), doubt)  # as the step shrinks, so does its error
            wrong &= ~np.isclose(one, other, rtol=0, atol=doubt)
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            return k, index, one[index], np.asarray(other)[index]
    return None


def _wrong_element(found: Any, size: Any, along: Callable[[Any, float], Any]) -> Any:
    """Return the index of an element of an argument's cotangent that is wrong, and both numbers; None if none is.

    `along` gives the difference along a direction, for a step; `size` is that of the value.
    """
    direction, wrong = _random(found, np.random.default_rng(1)), None
    if found.size > FEW:
        total = np.sum(np.real(np.conjugate(found) * direction))
        wrong = _first_wrong([total], [size], lambda step: [along(direction, step)])
        if not wrong:
            return None

    def at(index: tuple[int, ...], step: float) -> list[Any]:
        unit = np.zeros_like(direction)
        unit[index] = 1
        return [along(unit, step) + (1j * along(1j * unit, step) if np.iscomplexobj(unit) else 0)]

    for index in np.ndindex(found.shape):
        if single := _first_wrong([found[index]], [size], partial(at, index)):
            return index, *single[2:]
    return wrong and (None, *wrong[2:])


def _message(
    name: str, level: int, mode: str, what: str, index: tuple[int, ...] | None, found: Any, expected: Any
) -> str:
    order = {1: "first", 2: "second", 3: "third"}.get(level, f"{level}th")
    place = f"{what}[{', '.join(map(str, index))}]" if index else what
    if index is None:  # no element by itself
        place += ", along a random direction,"
    advice = "Check the rule that you registered, and whether the function has a kink there"
    if not np.isfinite(expected):
        advice = "The function is not finite around this point: check it at another one"
    return (
        f"the {order} derivative of {name} is wrong in the {mode} pass: at {place} the rule gives {found:.8g}, but "
        f"central differences give {expected:.8g}. {advice}"
    )


def _double(leaf: Any) -> Any:
    array = np.array(leaf)
    return array.astype(complex if array.dtype.kind == "c" else float)


def _random(like: Any, rng: np.random.Generator) -> Any:
    drawn = rng.standard_normal(np.shape(like))
    return drawn + 1j * rng.standard_normal(np.shape(like)) if np.iscomplexobj(like) else drawn
