"""Known wrong answers to exercises 15.1 and 15.3, and the hint for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = Callable[..., float]


def _halved(enough: Callable[..., bool], factor: float = 0.5) -> Step:
    """Make a backtracking that stops when `enough`, and returns 0 if that never happens."""

    def t_of(f: Any, x: Any, gradient: Any, step: Any) -> float:
        t = 1.0
        while not enough(f, x, gradient, step, t):
            t *= factor
            if t < 1e-9:
                return 0.0
        return t

    return t_of


armijo = _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) + 0.1 * t * (gradient @ step))


def _moving(f: Any, x: Any, gradient: Any, step: Any) -> float:
    t = 1.0
    while f(x + t * step) > f(x) + 0.1 * t * (gradient @ step):
        t /= 2
        if t < 1e-9:
            return 0.0
        x = x + t * step
    return t


def _once(f: Any, x: Any, gradient: Any, step: Any) -> float:
    return 1.0 if armijo(f, x, gradient, step) == 1.0 else 0.5


STEPS: list[tuple[Step, str]] = [
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x)),
        "Your step is taken as soon as the height doesn't rise. It should keep a tenth of what the slope promises.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) < f(x)),
        "Your step is taken as soon as the height is lower. It should keep a tenth of what the slope promises.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) - 0.1 * t * (gradient @ step)),
        "gradient @ step is below zero for a step downhill. Add a tenth of it, don't subtract.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) + 0.1 * (gradient @ step)),
        "You ask for a tenth of what the whole step promises, however short the part of it. The part promises t times "
        "as much: 0.1 * t * (gradient @ step).",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) + 0.1 * t**2 * (gradient @ step)),
        "You shorten the promise twice: by t, and by the step, which is halved as well. Leave `step` as it is.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) + t * (gradient @ step)),
        "You ask for all that the slope promises. A tenth of it is enough.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) + 0.5 * t * (gradient @ step)),
        "You ask for half of what the slope promises. A tenth of it is enough.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) - 0.1 * t * (gradient @ gradient)),
        "You ask for what a step along the gradient would promise. Along `step` it is gradient @ step.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x - t * gradient) <= f(x) - 0.1 * t * (gradient @ gradient)),
        "You try a step along the gradient. Try `x + t * step`, the step that was handed in.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x - t * step) <= f(x) + 0.1 * t * (gradient @ step)),
        "You try x - t * step. The step points downhill by itself: add it.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) - 0.1 * t * (step @ step)),
        "You ask for what step @ step would promise. The slope along the step is gradient @ step.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) + 0.1 * t),
        "Your bound lies above f(x). The slope along `step` is below zero: add 0.1 * t * (gradient @ step).",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) - 0.1),
        "You ask for a drop of 0.1. Ask for a tenth of the promise: 0.1 * t * (gradient @ step).",
    ),
    (_moving, "You move x in the loop. Leave x where it is, and try each part of the step from there."),
    (
        _halved(lambda f, x, gradient, step, t: f(x + step) <= f(x) + 0.1 * t * (gradient @ step)),
        "You try the whole step again and again. Try `x + t * step`, the part of it that is left.",
    ),
    (
        lambda *args: 0.0 if armijo(*args) == 1.0 else 1.0,
        "Your loop goes on while the step is good enough, and ends when it isn't. Turn its condition round.",
    ),
    (
        lambda *args: armijo(*args) / 2,
        "Your t is the half of the first that is good enough. Return that one.",
    ),
    (
        lambda *args: -np.log2(armijo(*args)),
        "That is how many times the step was halved. Return t itself.",
    ),
    (_once, "Your step is halved once at most. Go on while it isn't good enough: `while`, not `if`."),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) + 0.1 * t * (gradient @ step), 0.1),
        "You try a tenth of the step next. Try the half.",
    ),
    (
        _halved(lambda f, x, gradient, step, t: f(x + t * step) <= f(x) + 0.1 * t * (gradient @ step), 0.25),
        "You try a quarter of the step next. Try the half.",
    ),
    (
        lambda *args: min(armijo(*args), 0.5),
        "Your first try is half of the step. Try the whole of it first, with t = 1.",
    ),
    (
        lambda *args: 1.0,
        "Your t is always 1: the step is taken untried. Replace the three dots by a loop that halves t.",
    ),
]
"""Known wrong ways to shorten a step, and the hint for each."""


def walk(matrix: Any, b: Any, length_of: Any, share_of: Any) -> Any:
    """Go the way of conjugate gradients, with these formulas."""
    s, missing = np.zeros_like(b), b
    direction = b
    for _ in range(len(b)):
        if np.linalg.norm(missing) < 1e-12:
            break
        along = matrix @ direction
        length = length_of(missing, direction, along)
        s, left = s + length * direction, missing - length * along
        direction = left + share_of(missing, left, direction, along) * direction
        missing = left
    return s


def _length(missing: Any, direction: Any, along: Any) -> Any:
    return (missing @ direction) / (direction @ along)


def _over_squares(missing: Any, direction: Any, along: Any) -> Any:
    return (missing @ direction) / (direction @ direction)


def _share(missing: Any, left: Any, direction: Any, along: Any) -> Any:
    return -(left @ along) / (direction @ along)


FORMULAS: list[tuple[Any, Any, str]] = [
    (
        _length,
        lambda missing, left, direction, along: 0.0,
        "Your share is 0 in each turn (left · direction is 0, too), so every direction is what is missing: that is "
        "gradient descent, which spoils in each turn what the one before had reached. Keep a share of the old "
        "direction.",
    ),
    (
        _length,
        lambda missing, left, direction, along: (left @ along) / (direction @ along),
        "`length` is right. `share` has the wrong sign: left · along + share · (direction · along) should be 0.",
    ),
    (
        _length,
        lambda missing, left, direction, along: (missing @ missing) / (left @ left),
        "`length` is right. `share` is upside down: what is left is smaller than what was missing, mostly.",
    ),
    (
        _length,
        lambda missing, left, direction, along: 1.0,
        "`length` is right. With a share of 1 the whole old direction is kept, and that is not what its equation says.",
    ),
    (
        _length,
        lambda missing, left, direction, along: -(missing @ along) / (direction @ along),
        "`length` is right. `share` is computed from `missing`, what the turn began with. Its equation has `left`.",
    ),
    (
        _length,
        lambda missing, left, direction, along: -(left @ along) / (direction @ direction),
        "`length` is right. In `share` you divide by direction · direction. Divide by direction · along.",
    ),
    (
        _length,
        lambda missing, left, direction, along: np.linalg.norm(left) / np.linalg.norm(missing),
        "`length` is right. `share` is a ratio of lengths. With their squares it would be right as well.",
    ),
    (
        _length,
        lambda missing, left, direction, along: -(left @ along) / (along @ along),
        "`length` is right. In `share` you divide by along · along. Divide by direction · along.",
    ),
    (
        _length,
        lambda missing, left, direction, along: -(direction @ along) / (left @ along),
        "`length` is right. `share` is upside down: left · along = -share · (direction · along).",
    ),
    (
        _length,
        lambda missing, left, direction, along: -(left @ along),
        "`length` is right. `share` isn't divided by anything: left · along = -share · (direction · along).",
    ),
    (
        _length,
        lambda missing, left, direction, along: -(left @ left) / (missing @ missing),
        "`length` is right. `share` has the wrong sign: with these two squares it is above zero.",
    ),
    (
        lambda missing, direction, along: -(missing @ direction) / (direction @ along),
        lambda missing, left, direction, along: (left @ along) / (direction @ along),
        "Both have the wrong sign: missing · direction = length · (along · direction), and "
        "left · along = -share · (direction · along).",
    ),
    *(
        (
            _over_squares,
            share,
            "In `length` you divide by direction · direction. The equation has H direction in it: divide by "
            "direction · along.",
        )
        for share in (
            _share,
            lambda missing, left, direction, along: -(left @ along) / (direction @ direction),
            lambda missing, left, direction, along: -(left @ direction) / (direction @ direction),
        )
    ),
    (
        lambda missing, direction, along: (missing @ along) / (along @ along),
        _share,
        "In `length` you multiply by `along`. The equation multiplies by the direction: missing · direction above the "
        "line, and along · direction below it.",
    ),
    (
        lambda missing, direction, along: (direction @ along) / (missing @ direction),
        _share,
        "`length` is upside down: missing · direction = length · (along · direction).",
    ),
    (
        lambda missing, direction, along: -(missing @ direction) / (direction @ along),
        _share,
        "`length` has the wrong sign: missing · direction = length · (along · direction).",
    ),
    (
        lambda missing, direction, along: missing / along,
        _share,
        "`length` should be one number, and you divide element by element. Write the dots of the equation as `@`.",
    ),
    (
        lambda missing, direction, along: 1.0,
        _share,
        "A length of 1 does not ask the model. Where, along the direction, is nothing missing along it?",
    ),
]
"""Known wrong formulas for `length` and `share`, and the hint for each."""
