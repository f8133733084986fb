"""The exercises of chapter 0, derivatives you can check: a central difference, the best step, and a direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..feedback import NotYet, call, needs_function, number, shortened


def central(answer: Any) -> str:
    """Check 0.1: a central difference, `slope(f, x, h)`, of a cubic at hidden points."""
    needs_function(answer, "slope(f, x, h)")
    for x, h in np.random.default_rng(1684).uniform(0.3, 1.5, (3, 2)).tolist():
        used: list[float] = []

        def cubic(x: float, used: list[float] = used) -> float:
            used.append(x)
            return x**3 - 2.0 * x + 5.0

        given = call(answer, cubic, x, h, written=f"slope(f, {x:.3f}, {h:.3f})")
        _judge_difference(number(given, "what slope(f, x, h) returns"), cubic, x, h, bool(used))
    return "It is the central difference: its error is proportional to h²."


def _judge_difference(given: float, f: Callable[[float], float], x: float, h: float, used: bool) -> None:
    low, middle, high = f(x - h), f(x), f(x + h)
    right = (high - low) / (2 * h)
    if abs(given - right) < 1e-6:
        return
    for wrong, hint in (
        ((high - middle) / h, "This is the forward difference, with f(x) itself. Take a step to each side."),
        ((middle - low) / h, "This is the backward difference, with f(x) itself. Take a step to each side."),
        ((high - low) / h, "From x - h to x + h the run is 2h, and you divide by h."),
        ((high - low) / 2 * h, "`/ 2 * h` divides by 2 and then multiplies by h. Write `/ (2 * h)`."),
        ((high - low) / 2, "The rise is divided by 2 alone. The run is 2h."),
        (-right, "The sign is wrong. Subtract the value at x - h from the value at x + h."),
        (high - low / (2 * h), "Only the second value is divided. Put the difference into brackets."),
        (high - low, "This is the rise. Divide it by the run."),
        ((high - middle) / (2 * h), "The run is 2h, and the rise goes from x to x + h only. Begin at x - h."),
        (3 * x * x - 2, "That is the exact slope. The finite difference is asked for, with its error."),
    ):
        if abs(given - wrong) < 1e-6:
            raise NotYet(hint)
    if not used:
        raise NotYet("Your function never calls f. A finite difference needs two of its values.")
    raise NotYet(f"At x = {x:.3f} with h = {h:.3f} it should give {right:.6f}, and yours gives {given:.6f}.")


def best_step(answer: Any) -> str:
    """Check 0.2: a step near the best one for a central difference."""
    if callable(answer):
        raise NotYet("I need the step itself, one number such as 0.1, not a function.")
    h = number(answer, "your step")
    if h <= 0.0:
        raise NotYet("A step is a positive number here. With 0 there is no run to divide by.")
    if 1e-6 / 1.001 <= h <= 1e-4 * 1.001:
        return "Near the cube root of epsilon, 6e-6, the error of the secant and that of the rounding are about equal."
    error = abs((np.sin(1 + h) - np.sin(1 - h)) / (2 * h) - np.cos(1.0))
    if h < 1e-15:
        raise NotYet("That is about epsilon or less: 1 + h and 1 - h are hardly different from 1, or not at all.")
    if 3e-9 < h < 3e-8:
        raise NotYet("That is the best step of the *forward* difference. The central one asks for a longer step.")
    side = "long: the secant is still far from the tangent" if h > 1e-4 else "short: the rounding decides"
    raise NotYet(f"With {h:.0e} the error is {error:.0e}. This step is too {side}. The best error is below 1e-10.")


def directional(answer: Any) -> str:
    """Check 0.3: `along(f, point, direction)` of a hidden function of three numbers."""
    needs_function(answer, "along(f, point, direction)")
    draw = np.random.default_rng(1770)
    for _ in range(3):
        point, direction = draw.uniform(0.5, 2.0, 3), draw.uniform(0.5, 3.0, 3)
        used: list[int] = []

        def f(p: Any, used: list[int] = used) -> Any:
            used.append(1)
            return p[0] ** 2 * p[1] + 3.0 * p[2]

        given = call(answer, f, point.copy(), direction.copy(), written="along(f, point, direction)")
        if np.size(given) == 3 and given is not ...:
            raise NotYet(
                f"along(f, point, direction) gives {shortened(given)}. A slope in one direction is one number."
            )
        slope = number(given, "what along(f, point, direction) returns")
        _judge_direction(slope, point, direction, bool(used))
    return "The direction is made of length 1, and the slope agrees with a central difference along it."


def _judge_direction(given: float, point: Any, direction: Any, used: bool) -> None:
    gradient = np.array([2 * point[0] * point[1], point[0] ** 2, 3.0])
    length = float(np.linalg.norm(direction))
    right = float(gradient @ direction) / length

    def is_like(wrong: float) -> bool:
        return abs(given - wrong) < 1e-3

    if is_like(right):
        return
    for wrong, hint in (
        (right * length, "This is the slope times the length of the direction. Make the direction of length 1 first."),
        (
            right * length / float(np.sum(direction)),
            "You divide by the sum of the parts. The length is np.linalg.norm.",
        ),
        (right / length, "You divide by the length twice. With a unit direction, the run is 2h."),
        (2 * right, "It is twice what it should be: from -h to +h the run is 2h."),
        (right / 2, "It is half of what it should be. For a forward difference the run is h."),
        (-right, "The sign is wrong. Subtract the value behind from the value ahead."),
        (float(np.sum(gradient)), "This is the sum of the partial derivatives. The direction does not count in it."),
        (float(np.linalg.norm(gradient)), "This is the steepest slope of all, the gradient's length."),
        (float(gradient[0]), "This is the slope by the first number alone. Step along the whole direction."),
    ):
        if is_like(wrong):
            raise NotYet(hint)
    if not used:
        raise NotYet("Your function never calls f. Take its value ahead, and its value behind.")
    raise NotYet(
        f"At {shortened(point.round(3).tolist())} along {shortened(direction.round(3).tolist())} the slope of "
        f"the hidden function is {right:.6f}, and yours is {given:.6f}."
    )


EXERCISES: dict[str, Callable[[Any], str]] = {"0.1": central, "0.2": best_step, "0.3": directional}
"""The checks by exercise."""
