"""Derivatives you can check: a central difference, a good step, and the steepest direction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercises import Case, Function, Judge
from ..feedback import NotYet, number
from ..predictions import Prediction

PREDICTIONS = (
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
)


def cubic(x: float) -> float:
    """Return the value of the curve whose slopes exercise 1 asks for."""
    return x**3 - 2.0 * x + 5.0


CENTRAL = Function(
    "A central difference",
    """\
Write the central difference from memory. The check tries it with large steps, so that it can see which difference it is.""",
    signature="slope(f, x, h)",
    cases=[(cubic, x, h) for x, h in np.random.default_rng(1684).uniform(0.3, 1.5, (3, 2)).round(3).tolist()],
    answer=lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h),
    spellings=[lambda f, x, h: ((f(x + h) - f(x)) / h + (f(x) - f(x - h)) / h) / 2],
    hints=[
        (
            lambda f, x, h: (f(x + h) - f(x)) / h,
            "This is the forward difference, with f(x) itself. Take a step to each side.",
        ),
        (
            lambda f, x, h: (f(x) - f(x - h)) / h,
            "This is the backward difference, with f(x) itself. Take a step to each side.",
        ),
        (lambda f, x, h: (f(x + h) - f(x - h)) / h, "From x - h to x + h the run is 2h, and you divide by h."),
        (
            lambda f, x, h: (f(x + h) - f(x - h)) / 2 * h,
            "`/ 2 * h` divides by 2 and then multiplies by h. Write `/ (2 * h)`.",
        ),
        (lambda f, x, h: (f(x + h) - f(x - h)) / 2, "The rise is divided by 2 alone. The run is 2h."),
        (
            lambda f, x, h: (f(x - h) - f(x + h)) / (2 * h),
            "The sign is wrong. Subtract the value at x - h from the value at x + h.",
        ),
        (
            lambda f, x, h: f(x + h) - f(x - h) / (2 * h),
            "Only the second value is divided. Put the difference in brackets.",
        ),
        (
            lambda f, x, h: f(x + h) - f(x - h) / 2 * h,
            "Only the second value is divided. Write `(...) / (2 * h)`, with both pairs of brackets.",
        ),
        (lambda f, x, h: (f(x + h) - f(x - h)) / 2 + h, "`/ 2 + h` divides by 2 and then adds h. Write `/ (2 * h)`."),
        (lambda f, x, h: (f(x + h) - f(x - h)) / (2 + h), "The run is 2 times h, and you divide by 2 plus h."),
        (lambda f, x, h: f(x + h) - f(x - h), "This is the rise. Divide it by the run."),
        (lambda f, x, h: (f(x + h) + f(x - h)) / (2 * h), "Subtract the two values: the rise is their difference."),
        (
            lambda f, x, h: (f(x + h) - f(x)) / (2 * h),
            "The run is 2h, and the rise goes from x to x + h only. Begin at x - h.",
        ),
        (
            lambda f, x, h: (f(x + h / 2) - f(x - h / 2)) / h,
            "This is a central difference as some books write it: it steps by h / 2 to each side. Here go a whole h "
            "to each side.",
        ),
        (
            lambda f, x, h: (f(x + 2 * h) - f(x - 2 * h)) / (4 * h),
            "Your function steps by 2h to each side. Use the h that it is given.",
        ),
        (
            lambda f, x, h: 3 * x * x - 2,
            "That is the exact slope, as a formula gives it, or a step far smaller than h. Measure it with the h that "
            "is given: call f on both sides of x.",
        ),
    ],
    why="It is the central difference: its error is proportional to h².",
    minutes=7,
)

STEPS: tuple[tuple[float, Callable[[float], bool], str], ...] = (
    (
        -15,
        lambda h: h <= -1.0 and h.is_integer(),
        "{given} is not a step. If you mean a power of ten, write 1e-5 or 10**-5. (In Python, `10^-5` is not a power.)",
    ),
    (
        -1e-5,
        lambda h: h < 0.0,
        "By convention h is positive. The sign makes no difference: both sides are used anyway.",
    ),
    (0.0, lambda h: h == 0.0, "h = 0 makes the run 0, and you can't divide by it."),
    (
        0.5403,
        lambda h: abs(h - math.cos(1.0)) < 1e-3,
        "But isn't that the slope? Hand in the step that you measured it with.",
    ),
    (
        1e-16,
        lambda h: h < 1e-15,
        "That is about epsilon or less: 1 + h and 1 - h are hardly different from 1, or not at all.",
    ),
    (
        1e-8,
        lambda h: 3e-9 < h < 3e-8,
        "That is the best step of the *forward* difference. The central one asks for a longer step.",
    ),
    (
        0.1,
        lambda h: h > 1e-4,
        "This step is too long: the secant is still far from the tangent. The best error is below 1e-10.",
    ),
    (1e-12, lambda h: True, "This step is too short: the rounding decides. The best error is below 1e-10."),
)
"""Wrong steps, which others are like each, and the hint for all of these; the first that fits."""


def judge_step(answer: Any) -> str:
    """Check that the central difference of the sine at 1 is off by less than 1e-9 with a step."""
    h = number(answer, "your step")
    error = abs((math.sin(1 + h) - math.sin(1 - h)) / (2 * h) - math.cos(1.0)) if h else math.inf
    if h > 0.0 and (error <= 1e-9 or 1e-7 * 0.999 <= h <= 1e-4 * 1.001):
        return "The error is below 1e-9. Near the cube root of epsilon, 6e-6, the two errors are about equal."
    start = f"With {h:g} the error is {error:.0e}. " if h > 0.0 else ""
    hint = next(hint for _, fits, hint in STEPS if fits(h))
    raise NotYet(start + hint.replace("{given}", f"{h:g}"))


STEP = Judge(  # a range of steps is right
    "A good step",
    """\
The slope of the sine at 1 is the cosine of 1. Find a step `h` with which the central difference of `math.sin` at 1 is off by less than 10⁻⁹. Try powers of ten, and hand in the best.""",
    answer=6e-6,
    spellings=[1e-4, 1e-5, 1e-7, np.float32(1e-6)],
    hints=[(example, hint) for example, _, hint in STEPS],
    check=judge_step,
    minutes=7,
)


def hill(point: Any, *more: Any) -> Any:
    """Return the height at a point of three inputs."""
    if more:
        raise TypeError("f takes the whole point as one array: f(point)")
    return point[0] ** 2 * point[1] - 2.5 * point[2]


def slopes(f: Callable[[Any], Any], point: Any, h: float = 1e-5, back: float = 1e-5, inputs: int = 0) -> Any:
    """Return the gradient of a function as differences with these steps see it."""
    lines = np.eye(inputs or len(point))
    return np.array([(f(point + h * line) - f(point - back * line)) / (h + back) for line in lines])


def unit(vector: Any) -> Any:
    """Scale a vector to length 1."""
    return vector / np.linalg.norm(vector)


def direction(of: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a direction that is made of the gradient and the point."""
    return lambda f, point: of(slopes(f, point), point)


ALONE = "That goes along one input alone. A direction in between is steeper."
TOGETHER = (
    "You moved along all inputs at once, so there is one slope for all of them. Move along one input, and leave the "
    "others where they are."
)
STAYS = "Did you move along all inputs before it as well? Make a new step for each input."
SUM = "You divide by the sum of the parts. The length is np.linalg.norm."
ZEROS = "All slopes came out 0: does your step change a copy of the point, and is it a float?"
ALMOST = "Almost: it is off in the second or third digit. Take central differences with h = 1e-5."
FOR_TWO = "It is right for three inputs and wrong for two. Go through as many inputs as the point has."

STEEPEST = Function(
    "The steepest direction",
    """\
You stand somewhere on a hill in the fog, and you want the shortest way up. Write `steepest(f, point)`: the direction in which `f` rises fastest at `point`, as an array that's scaled to length 1, like `unit` above. `point` may hold two inputs, or three, or any other number.""",
    signature="steepest(f, point)",
    within=2e-4,
    cases=[
        (hill, np.array([1.5, 0.4, 0.9])),
        (hill, np.array([0.7, 1.8, 1.2])),
        Case(lambda steepest: steepest(lambda p: p[0] * p[1], np.array([0.8, -1.1])), FOR_TWO, within=2e-4),
    ],
    answer=lambda f, point: unit(slopes(f, point)),
    spellings=[
        lambda f, point: unit(slopes(f, point, back=0.0)),
        lambda f, point: unit(slopes(f, point)).astype(np.float32).tolist(),
    ],
    hints=[
        (slopes, "That is the gradient itself. It points the right way; now scale it to length 1."),
        (direction(lambda g, point: -unit(g)), "That is the steepest way *down*. Turn it round."),
        (
            direction(lambda g, point: -g),
            "That points down, and its length is not 1. Turn it round and divide it by its length.",
        ),
        (direction(lambda g, point: np.eye(len(point))[np.argmax(g)]), ALONE),
        (direction(lambda g, point: np.eye(len(point))[np.argmax(np.abs(g))]), ALONE),
        (
            direction(lambda g, point: np.argmax(g)),
            "That is the place of the steepest input. A direction is an array, with one part for each input.",
        ),
        (direction(lambda g, point: g / np.sum(g)), SUM),
        (direction(lambda g, point: g / np.sum(np.abs(g))), SUM),
        (
            direction(lambda g, point: g / np.max(np.abs(g))),
            "You divide by the largest part. The length is np.linalg.norm.",
        ),
        (
            direction(lambda g, point: g / np.max(g)),
            "You divide by the largest part. The length is np.linalg.norm, and there the negative part counts too.",
        ),
        (direction(lambda g, point: np.cumsum(g)), STAYS),
        (direction(lambda g, point: unit(np.cumsum(g))), STAYS),
        (direction(lambda g, point: np.sum(g)), TOGETHER),
        (direction(lambda g, point: np.sum(g) * np.ones(len(point))), TOGETHER),
        (direction(lambda g, point: unit(np.sum(g) * np.ones(len(point)))), TOGETHER),
        (
            direction(lambda g, point: g / len(point)),
            "You divide by the number of inputs. The length is np.linalg.norm of the gradient.",
        ),
        (
            direction(lambda g, point: g / np.linalg.norm(point)),
            "You divide by the length of the point. Divide by that of the gradient.",
        ),
        (
            direction(lambda g, point: point + unit(g)),
            "That is the place one step further on. Only the direction is wanted, without the point.",
        ),
        (direction(lambda g, point: unit(g) / np.linalg.norm(g)), "You divide by the length twice. Once is enough."),
        (
            direction(lambda g, point: np.abs(unit(g))),
            "Every part is positive, but along one input the hill goes down. Keep the signs.",
        ),
        (
            direction(lambda g, point: np.sign(g)),
            "Those are only the signs. A steep input counts more than a gentle one.",
        ),
        (lambda f, point: unit(point), "That is the direction of the point itself. No slope counts in it."),
        (
            direction(lambda g, point: np.linalg.norm(g)),
            "That is how steep it is. The direction is wanted, an array with one part for each input.",
        ),
        (lambda f, point: np.zeros(len(point)), ZEROS),
        (lambda f, point: np.full(len(point), np.nan), ZEROS),
        *[(lambda f, point, h=h: unit(slopes(f, point, h=h, back=0.0)), ALMOST) for h in (0.1, 0.01, 0.001)],
        (
            lambda f, point: f(point + np.zeros(2)),
            "{raised} The direction needs as many parts as the point has inputs, and here that is three.",
        ),
        (lambda f, point: unit(slopes(f, point, inputs=3)), FOR_TWO),
        (direction(lambda g, point: unit([g[k] for k in range(3)])), FOR_TWO),
    ],
    why="It points where the gradient points and has length 1: straight up the hill.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, CENTRAL, STEP, STEEPEST)
