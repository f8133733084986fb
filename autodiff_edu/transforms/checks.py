"""Check derivatives against finite differences: `check_gradients`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.stack import dense
from ..arrays.structures import as_array, flatten, rebuild
from ..core.tensor import Tensor, constant
from ..derivatives.requests import tensors_of
from .forward import jvp
from .gradients import vjp


def check_gradients(f: Callable[..., Any], *args: Any, order: int = 2) -> None:
    """Check that the derivatives of `f` agree with central differences, backward and forward, to a given order.

    The derivative is compared along one random direction, and against one random cotangent, which a wrong rule passes
    with probability zero. The next order is checked in the same way on the derivative itself.

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
    ValueError
        If the order is below 1, or no argument contains floating or complex numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> ad.check_gradients(lambda x: np.sum(np.tanh(x) ** 2), np.array([0.3, -1.2]))
    >>> ad.check_gradients(lambda x, n: x**n, 0.7, 3)
    """
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"order is {order!r}; it must be 1 (the gradient), 2 (its gradient too), or more")
    name = getattr(f, "__name__", "f")
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
        return tensors_of(f(*leaves), "the result")

    directions = tuple(_random(p, rng) for p in primals)
    values, pushed = jvp(flat, primals, directions)
    expected = _difference(flat, primals, directions)
    for k, (tangent, difference) in enumerate(zip(pushed, expected, strict=True)):
        _compare(name, level, "forward", f"result {k}" if len(pushed) > 1 else "the result", tangent, difference)
    cotangents = [_random(v._array, rng) for v in values]
    pulled = vjp(flat, *primals)[1](cotangents)
    for k, (path, cotangent) in enumerate(zip(paths, pulled if len(primals) > 1 else (pulled,), strict=True)):
        _compare_elements(flat, name, level, path, primals, k, cotangents, cotangent)
    if level < order:

        def derivative(*leaves: Any) -> Any:
            return vjp(flat, *leaves)[1](cotangents)

        _check(derivative, name, paths, primals, level + 1, order, rng)


def _difference(flat: Callable[..., Any], primals: Any, directions: Any, step: float = 1e-5) -> list[Any]:
    """Return central differences of every result along the directions."""
    moved = [[p + s * step * d for p, d in zip(primals, directions, strict=True)] for s in (1, -1)]
    ahead, behind = (flat(*map(constant, leaves)) for leaves in moved)
    return [(a._array - b._array) / (2 * step) for a, b in zip(ahead, behind, strict=True)]


def _compare(name: str, level: int, mode: str, what: str, found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    wrong = ~np.isclose(found, expected, rtol=1e-4, atol=1e-6 * (1 + np.abs(expected).max(initial=0)))
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(_message(name, level, mode, what, index, found[index], expected[index]))


def _compare_elements(
    flat: Callable[..., Any], name: str, level: int, path: str, primals: Any, k: int, cotangents: Any, found: Any
) -> None:
    """Compare one argument's cotangent: along a random direction first, and only if that fails, element by element."""

    def along(direction: Any) -> Any:
        directions = [direction if j == k else np.zeros_like(p) for j, p in enumerate(primals)]
        moved = _difference(flat, primals, directions)
        return sum(np.sum(np.real(np.conjugate(c) * m)) for c, m in zip(cotangents, moved, strict=True))

    found = np.asarray(found)
    direction = _random(primals[k], np.random.default_rng(1))
    expected, sure = along(direction), np.sum(np.real(np.conjugate(found) * direction))
    if np.isclose(sure, expected, rtol=1e-4, atol=1e-6 * (1 + np.sum(np.abs(found * direction)))):
        return
    for index in np.ndindex(found.shape):
        one = np.zeros_like(primals[k])
        one[index] = 1
        difference = along(one)
        if not np.isclose(found[index].real, difference, rtol=1e-4, atol=1e-6 * (1 + abs(difference))):
            raise AssertionError(_message(name, level, "backward", path, index, found[index], difference))
    raise AssertionError(_message(name, level, "backward", path, ("along", "a", "random", "direction"), sure, expected))


def _message(name: str, level: int, mode: str, what: str, index: tuple[Any, ...], found: Any, expected: Any) -> str:
    order = {1: "first", 2: "second", 3: "third"}.get(level, f"{level}th")
    place = f"{what}[{', '.join(map(str, index))}]" if index else what
    return (
        f"the {order} derivative of {name} is wrong in the {mode} pass: at {place} the rule gives {found:.8g}, but "
        f"central differences give {expected:.8g}. Check the rule that you registered, and whether the function has a "
        "kink there"
    )


def _double(leaf: Any) -> Any:
    array = np.array(leaf)
    return array.astype(complex if array.dtype.kind == "c" else float)


def _random(like: Any, rng: np.random.Generator) -> Any:
    drawn = rng.standard_normal(np.shape(like))
    return drawn + 1j * rng.standard_normal(np.shape(like)) if np.iscomplexobj(like) else drawn
