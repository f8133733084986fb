"""Derivatives you can check: a central difference, a good step, and the steepest direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, needs_function, number, numbers, shortened
from ..predictions import Prediction


def central(answer: Any) -> str:
    """Check 0.1: a central difference, `slope(f, x, h)`, of a cubic at hidden points."""
    needs_function(answer, "slope(f, x, h)")
    for x, h in np.random.default_rng(1684).uniform(0.3, 1.5, (3, 2)).tolist():
        used: list[float] = []

        def cubic(x: float, used: list[float] = used) -> float:
            used.append(x)
            return x**3 - 2.0 * x + 5.0

        given = call(answer, cubic, x, h, written=f"slope(f, {x:.3f}, {h:.3f})")
        _judge_difference(number(given, "what slope(f, x, h) returns"), cubic, x, h, list(used))
    return "It is the central difference: its error is proportional to h²."


def _judge_difference(given: float, f: Callable[[float], float], x: float, h: float, used: list[float]) -> None:
    low, middle, high = f(x - h), f(x), f(x + h)
    right = (high - low) / (2 * h)
    if abs(given - right) < 1e-6 * abs(right):
        return
    for wrong, hint in (
        ((high - middle) / h, "This is the forward difference, with f(x) itself. Take a step to each side."),
        ((middle - low) / h, "This is the backward difference, with f(x) itself. Take a step to each side."),
        ((high - low) / h, "From x - h to x + h the run is 2h, and you divide by h."),
        ((high - low) / 2 * h, "`/ 2 * h` divides by 2 and then multiplies by h. Write `/ (2 * h)`."),
        ((high - low) / 2, "The rise is divided by 2 alone. The run is 2h."),
        (-right, "The sign is wrong. Subtract the value at x - h from the value at x + h."),
        (high - low / (2 * h), "Only the second value is divided. Put the difference in brackets."),
        (high - low / 2 * h, "Only the second value is divided. Write `(...) / (2 * h)`, with both pairs of brackets."),
        ((high - low) / 2 + h, "`/ 2 + h` divides by 2 and then adds h. Write `/ (2 * h)`."),
        ((high - low) / (2 + h), "The run is 2 times h, and you divide by 2 plus h."),
        (high - low, "This is the rise. Divide it by the run."),
        ((high + low) / (2 * h), "Subtract the two values: the rise is their difference."),
        ((high - middle) / (2 * h), "The run is 2h, and the rise goes from x to x + h only. Begin at x - h."),
    ):
        if abs(given - wrong) < 1e-6:
            raise NotYet(hint)
    step = float(max((abs(place - x) for place in used), default=0.0))
    if step == 0.0 and abs(given - (3 * x * x - 2)) < 1e-6:
        raise NotYet("That is the exact slope, found without the step. Measure it: call f on both sides of x.")
    if not used:
        raise NotYet("Your function never calls f. A finite difference needs two of its values.")
    if abs(step - h) > 1e-3 * h and abs(given - (3 * x * x - 2)) < 3 * step:
        raise NotYet(f"Your function steps by {step:.3g}, and it was given h = {h:.3f}. Use the h that it is given.")
    raise NotYet(f"At x = {x:.3f} with h = {h:.3f} it should give {right:.6f}, and yours gives {given:.6f}.")


def best_step(answer: Any) -> str:
    """Check 0.2: a step with which the central difference of the sine at 1 is off by less than 1e-9."""
    if callable(answer):
        raise NotYet("I need the step itself, one number such as 0.1, not a function.")
    h = number(answer, "your step")
    if h <= -1.0 and h.is_integer():
        raise NotYet(
            f"{h:g} is not a step. If you mean a power of ten, write 1e-5 or 10**-5. "
            "(In Python, `10^-5` is not a power.)"
        )
    if h < 0.0:
        raise NotYet("By convention h is positive. The sign makes no difference: both sides are used anyway.")
    if h == 0.0:
        raise NotYet("h = 0 makes the run 0, and you can't divide by it.")
    error = abs((math.sin(1 + h) - math.sin(1 - h)) / (2 * h) - math.cos(1.0))
    if error <= 1e-9 or 1e-7 * 0.999 <= h <= 1e-4 * 1.001:
        return "The error is below 1e-9. Near the cube root of epsilon, 6e-6, the two errors are about equal."
    if h < 1e-15:
        raise NotYet("That is about epsilon or less: 1 + h and 1 - h are hardly different from 1, or not at all.")
    if 3e-9 < h < 3e-8:
        raise NotYet("That is the best step of the *forward* difference. The central one asks for a longer step.")
    side = "long: the secant is still far from the tangent" if h > 1e-4 else "short: the rounding decides"
    raise NotYet(f"With {h:.0e} the error is {error:.0e}. This step is too {side}. The best error is below 1e-10.")


POINTS = np.array([[1.5, 0.4, 0.9], [0.7, 1.8, 1.2]])


def _hidden(p: Any) -> Any:
    return p[0] ** 2 * p[1] - 2.5 * p[2]


def _hidden_gradient(p: Any) -> Any:
    return np.array([2 * p[0] * p[1], p[0] ** 2, -2.5])


def steepest(answer: Any) -> str:
    """Check 0.3: `steepest(f, point)`, the unit direction of the gradient of a hidden function of three numbers."""
    needs_function(answer, "steepest(f, point)")
    for point in POINTS:
        used: list[int] = []

        def f(p: Any, *more: Any, used: list[int] = used) -> Any:
            if more:
                raise TypeError("f takes the whole point as one array: f(point)")
            used.append(1)
            return _hidden(p)

        given = numbers(call(answer, f, point.copy(), written="steepest(f, point)"))
        _judge_steepest(given, point, bool(used))
    plane = np.array([0.8, -1.1])
    flat = numbers(
        call(answer, lambda p: p[0] * p[1], plane.copy(), written="steepest(f, point), on a hill of 2 inputs,")
    )
    if flat.shape != (2,) or not np.allclose(flat, plane[::-1] / np.linalg.norm(plane), atol=1e-4):
        raise NotYet("It is right for three inputs and wrong for two. Go through as many inputs as the point has.")
    return "It points where the gradient points and has length 1: straight up the hill."


def _judge_steepest(given: np.ndarray, point: np.ndarray, used: bool) -> None:
    gradient = _hidden_gradient(point)
    length = float(np.linalg.norm(gradient))
    right = gradient / length
    if given.shape == (3,) and np.allclose(given, right, atol=1e-4):
        return
    largest = np.eye(3)[np.argmax(gradient)]
    one_step = np.cumsum(gradient)  # as if every input stayed moved while the next ones are
    for wrong, hint in (
        (gradient, "That is the gradient itself. It points the right way; now scale it to length 1."),
        (-right, "That is the steepest way *down*. Turn it round."),
        (-gradient, "That points down, and its length is not 1. Turn it round and divide it by its length."),
        (largest, "That goes along one input alone. A direction in between is steeper."),
        (np.eye(3)[np.argmax(np.abs(gradient))], "That goes along one input alone. A direction in between is steeper."),
        (gradient / np.sum(gradient), "You divide by the sum of the parts. The length is np.linalg.norm."),
        (gradient / np.sum(np.abs(gradient)), "You divide by the sum of the parts. The length is np.linalg.norm."),
        (gradient / np.max(np.abs(gradient)), "You divide by the largest part. The length is np.linalg.norm."),
        (
            gradient / np.max(gradient),
            f"You divide by {np.max(gradient):g}, the largest part. The length is np.linalg.norm, and there the "
            "negative part counts too.",
        ),
        (one_step, "Did you move along all inputs before it as well? Make a new step for each input."),
        (
            one_step / np.linalg.norm(one_step),
            "Did you move along all inputs before it as well? Make a new step for each input.",
        ),
        (gradient / 3, "You divide by the number of inputs. The length is np.linalg.norm of the gradient."),
        (gradient / np.linalg.norm(point), "You divide by the length of the point. Divide by that of the gradient."),
        (point + right, "That is the place one step further on. Only the direction is wanted, without the point."),
        (gradient / length**2, "You divide by the length twice. Once is enough."),
        (np.abs(right), "Every part is positive, but along one input the hill goes down. Keep the signs."),
        (np.sign(gradient), "Those are only the signs. A steep input counts more than a gentle one."),
        (
            point / np.linalg.norm(point),
            "That is the direction of the point itself. No slope counts in it.",
        ),
        (np.array(length), "That is how steep it is. The direction is wanted, an array with one part for each input."),
    ):
        if given.shape == wrong.shape and np.allclose(given, wrong, rtol=1e-3, atol=1e-4):
            raise NotYet(hint)
    if given.shape == ():
        raise NotYet("Your result is a single number. A direction is an array, with one part for each input.")
    if given.shape != (3,):
        raise NotYet(f"For a point of 3 inputs I expect shape (3,), and your result has shape {given.shape}.")
    if not used:
        raise NotYet("Your function never calls f. Measure a slope along each input first.")
    if np.all(np.isnan(given)) or not np.any(given):
        raise NotYet("All slopes came out 0: does your step change a copy of the point, and is it a float?")
    if np.allclose(given, right, atol=0.05):
        raise NotYet("Almost: it is off in the second or third digit. Take central differences with h = 1e-5.")
    said, wanted = (shortened(array.round(4).tolist()) for array in (given, right))
    raise NotYet(f"At {shortened(point.tolist())} the steepest direction is {wanted}, and yours is {said}.")


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "A nudge of 0.01 at `tilt` took the loss from 0.6820 to 0.6622. What is the slope along `tilt`?",
        answer=-1.98,
        within=0.02,
        hints={
            1.98: "The loss went *down* as the knob went up. What sign does that slope have?",
            -0.0198: "That is the change. Divide it by the nudge that caused it, 0.01.",
            0.0198: "That is the size of the change. Divide it by the nudge that caused it, and mind the sign.",
            -0.000198: "You multiplied by the nudge. Divide by it.",
        },
        why="The change is -0.0198, for a nudge of 0.01.",
    ),
    Prediction(
        "Say one run takes a hundredth of a second. Each slope takes one run. How many hours until you have all "
        "million?",
        answer=2.78,
        within=0.1,
        hints={
            10000: "That is in seconds. How many hours are 10,000 seconds?",
            166.7: "That is in minutes.",
            278: "A million runs of a hundredth of a second each: how many seconds?",
        },
        why="A million runs take 10,000 seconds, which is almost three hours.",
    ),
    Prediction(
        "What does `forward_difference(square, 1.0, 0.1)` return?",
        answer=2.1,
        within=0.001,
        hints={
            2: "That is the derivative. Put in the numbers: (1.1² - 1) / 0.1.",
            0.21: "That is the rise. Divide it by the run.",
            1.9: "That is a step to the left. Here it goes to the right, to 1.1.",
            1.21: "That is f(1.1). Subtract f(1) and divide by the run.",
        },
        why="1.1² is 1.21, so the rise is 0.21 over a run of 0.1.",
    ),
    Prediction(
        "At x = -1 the slope of the square is -2. What does the forward difference say there, with h = 0.1?",
        answer=-1.9,
        within=0.001,
        hints={
            -2.1: "Put in the numbers: x + h is -0.9, and its square is 0.81.",
            -2: "That is the tangent's slope. The secant goes through -1 and -0.9.",
            1.9: "From -1 to -0.9 the square falls.",
            2.1: "x + h is -0.9, and its square is 0.81.",
            -0.19: "That is the rise. Divide it by the run.",
        },
        why="(0.81 - 1) / 0.1 is -1.9, which is 0.1 too large.",
    ),
    Prediction(
        "When `h` becomes 10 times smaller, how many times smaller does the *central* error become?",
        answer=100,
        within=0.1,
        hints={
            10: "That is the forward one. The central difference cancels the part that is proportional to h.",
            20: "Not twice as fast. The part proportional to h cancels; which power of h is next?",
            1000: "The part proportional to h cancels. Which power of h is next?",
        },
        why="The part proportional to h cancels, and what is left is proportional to h².",
    ),
    Prediction(
        "The error was 5e-09 at h = 1e-4. What will it be at h = 1e-12?",
        answer="about 2e-04",
        choices=("0", "about 5e-25", "about 1e-16", "about 2e-04", "about 3"),
        hints={
            "about 5e-25": "That is what the rule of h² says. How many digits does a number in the computer have?",
            "about 1e-16": "f(1 + h) may be off by that much. And then it is divided by 2h, which is 2e-12.",
            "0": "The two values are rounded, each to 16 digits or so. Then their difference is divided by 2e-12.",
            "about 3": "No right digit at all? Each value is off by about 1e-16, and that is divided by 2e-12.",
        },
        why="Rounding leaves an error near 1e-16 in each value, and dividing by 2e-12 makes it about 1e-4.",
    ),
    Prediction(
        "What does the central difference say is the slope of `abs` at 0?",
        answer=0,
        hints={
            1: "That is what the forward difference says. What is abs at h, and at -h?",
            -1: "That is the slope on the left. What is abs at h, and at -h?",
            None: "A finite difference always has a number for you. What is abs at h, and at -h?",
        },
        why="abs(h) and abs(-h) are the same, so their difference is 0.",
    ),
    Prediction(
        "To the east the slope is 4, to the north it is 1. How steep is it in the steepest direction?",
        answer=4.123,
        hints={
            4: "Turn a little to the north: you lose almost nothing of the 4, and you gain some of the 1.",
            5: "One step east and one step north is a step of length 1.41, not of length 1.",
            3.54: "That is north-east, halfway between. Is it better to stay closer to the east?",
            3.2: "That was along (0.6, 0.8). To the east alone it is already 4.",
            17: "Almost: that is the square of it.",
        },
        why="It is steepest along the gradient (4, 1) itself, and the slope there is its length, √17.",
    ),
    Judge(
        "A central difference",
        """\
Write the central difference from memory. The check tries it with large steps, so that it can see which difference it is.""",
        central,
    ),
    Judge(
        "A good step",
        """\
The slope of the sine at 1 is the cosine of 1. Find a step `h` with which the central difference of `math.sin` at 1 is off by less than 10⁻⁹. Try powers of ten, and hand in the best.""",
        best_step,
    ),
    Judge(
        "The steepest direction",
        """\
You stand somewhere on a hill in the fog, and you want the shortest way up. Write `steepest(f, point)`: the direction in which `f` rises fastest at `point`, as an array that's scaled to length 1, like `unit` above. `point` may hold two inputs, or three, or any other number.""",
        steepest,
    ),
)
