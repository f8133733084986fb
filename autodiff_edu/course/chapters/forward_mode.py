"""Forward mode: dual numbers divided, five rules examined, a tangent of a tangent."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Move, Seed
from ...trace.hook import hook
from ..exercises import Case, Choice, Function, Table
from ..feedback import NotYet, forbid, near, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "What does one call, `tape.gradient(curve, rate)`, return for the whole curve?",
        answer="one number, the sum of the slopes",
        choices=(
            "a thousand slopes",
            "one number, the sum of the slopes",
            "the last point's slope",
            "None",
        ),
        hints={
            "a thousand slopes": "A gradient has the shape of its source. What shape is `rate`?",
            "the last point's slope": "The seed is 1 at every point of the curve. Do the other points send nothing back?",
            "None": "Every point is computed from `rate`, so the walk does get there.",
        },
        why="One walk back starts with a 1 at each of the thousand points, and `rate` adds up what arrives.",
    ),
    Prediction(
        "(3 + 1ε) · (2 + 5ε) = 6 + …ε. What number stands before the ε?",
        answer=17,
        hints={
            **dict.fromkeys({*range(41)} - {17}, "Multiply each tangent by the other number's value, and add up."),
            **dict.fromkeys((8, 10, 11), "Multiply out, as you would (3 + x) · (2 + 5x). Which products have one ε?"),
            5: "That's the product of the tangents, which belongs to ε², and ε² is 0.",
            6: "That's the value. Which products have exactly one ε?",
            7: "Each tangent is multiplied by the other number's value: 3 · 5 and 1 · 2.",
            15: "That's 3 · 5. The other product with one ε is missing.",
            2: "That's 1 · 2. The other product with one ε is missing.",
            13: "You multiplied each tangent by its own number's value. Take the other number's.",
            22: "The product of the tangents belongs to ε², and ε² is 0.",
        },
        why="3 · 5 + 1 · 2 = 17. The 5ε² drops out.",
    ),
    Prediction(
        "With the higher rate, will more or fewer people be ill on day 50, after the peak?",
        answer="fewer",
        choices=("more", "fewer", "equally many"),
        hints={
            "more": "The wave also comes earlier. Who is left to be infected by then?",
            "equally many": "That's so on one day only, near the peak. Is the wave later or earlier?",
        },
        why="The whole wave comes earlier, so by day 50 more of it is over.",
    ),
    Prediction(
        "Length and gravity both go up by 1 %. What is the tangent of the three periods?",
        answer="0 for all three",
        choices=("0 for all three", "½ % of each", "1 % of each", "1 % of the first, more of the others"),
        hints={
            "½ % of each": "That is what the length alone does. What does a stronger gravity do to a period?",
            "1 % of each": "A longer pendulum swings more slowly. What does a stronger gravity do?",
            "1 % of the first, more of the others": "Look at what stands under the root: what happens to length / gravity?",
        },
        why="Length divided by gravity stays as it is, and so do the periods.",
    ),
    Prediction(
        "The push passes 700 entries. About how many entries will the hundred walks back pass together?",
        answer="about 35,000",
        choices=("about 700", "about 1,400", "about 35,000", "about 70,000"),
        hints={
            "about 700": "One push carries the slopes of all the points along. How many walks go back?",
            "about 1,400": "One push carries the slopes of all the points along. How many walks go back?",
            "about 70,000": "Only a walk from the last point passes all the entries. How far does a walk from an early "
            "point go?",
        },
        why="A hundred walks, each through half of the 700 entries on average.",
    ),
    Prediction(
        "A hundred weights, one loss of three entries. How many entries do the tangents pass for the whole gradient?",
        answer=300,
        hints={
            **dict.fromkeys(
                (1, 3), "One tangent gives the slope along one direction. The gradient has how many slopes?"
            ),
            **dict.fromkeys((100, 103), "There are a hundred tangents. How many entries does each of them pass?"),
            **dict.fromkeys((10_000, 30_000), "Each tangent passes each of the three entries once, as one array."),
        },
        why="A hundred tangents, one for each weight, and each passes three entries.",
    ),
)


def quotient(*numbers: float) -> Callable[[Callable[..., Any]], tuple[Any, Any]]:
    """Return what divides these numbers with a learner's function, and reads the value and the tangent."""

    def divided(function: Callable[..., Any]) -> tuple[Any, Any]:
        given = function(*numbers)
        if hasattr(given, "value") and hasattr(given, "tangent"):  # the chapter's Dual is a pair, too
            given = given.value, given.tangent
        if not isinstance(given, tuple | list | np.ndarray | ad.Tensor) or np.shape(given)[:1] != (2,):
            raise NotYet(f"I need a pair, the value and the tangent, and got {shorten(given)}.")
        return given[0], given[1]

    return divided


def with_value(tangent: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that divides, and has this tangent."""
    return lambda u, du, v, dv: (u / v, tangent(u, du, v, dv))


def difference(h: float, back: float) -> Callable[..., Any]:
    """Return the slope of a quotient between a step back and a step forward."""

    def tangent(u: Any, du: Any, v: Any, dv: Any) -> Any:
        return ((u + h * du) / (v + h * dv) - (u - back * du) / (v - back * dv)) / (h + back)

    return tangent


U, DU, V, DV = 2.473, 1.381, 1.742, 2.169
TANGENT = (
    "For a hidden quotient the tangent is {answer}; yours is {given}. Multiply numerator and denominator by "
    "(v - dv·ε), and drop ε²."
)
SMALL_STEP = (
    "Your tangent is only nearly right, as if it came from a small step. Dual numbers need no step size: multiply "
    "numerator and denominator by (v - dv·ε), and drop ε²."
)

DIVIDE = Function(
    "Divide dual numbers",
    """\
`Dual` can't divide yet. Write the missing rule: for (u + du·ε) / (v + dv·ε), return the value and the tangent, as a pair of numbers.""",
    signature="divide(u, du, v, dv)",
    returns=("the value", "the tangent"),
    cases=[
        Case(lambda f: quotient(U, DU, V, DV)(f)[0], "The value isn't u / v. Nudges don't change the value."),
        *(
            Case(lambda f, numbers=numbers: quotient(*numbers)(f)[1], TANGENT)  # type: ignore[misc]
            for numbers in ((U, DU, V, DV), (U, DU, -V, 0.0), (U, 0.0, V, DV))
        ),
        Case(lambda f: quotient(1.5, 0.7, 2.0, 1e12)(f)[1], SMALL_STEP),
    ],
    answer=with_value(lambda u, du, v, dv: (du * v - u * dv) / v**2),
    spellings=[
        lambda u, du, v, dv: [np.float32(u / v), ad.constant((du - u / v * dv) / v)],
        lambda u, du, v, dv: np.array([u / v, du / v - u * dv / v**2]),
    ],
    hints=[
        (
            lambda u, du, v, dv: ((du * v - u * dv) / v**2, u / v),
            "The pair has changed places: the value comes first, then the tangent.",
        ),
        *((with_value(difference(h, back)), SMALL_STEP) for h in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6) for back in (0.0, h)),
        *(
            (with_value(tangent), hint)
            for tangent, hint in (
                (
                    lambda u, du, v, dv: (u * dv - du * v) / v**2,
                    "The sign is the wrong way round: a growing u makes the quotient grow.",
                ),
                (
                    lambda u, du, v, dv: (du * v + u * dv) / v**2,
                    "A growing v makes the quotient smaller: the second term is subtracted.",
                ),
                (lambda u, du, v, dv: (du * v - u * dv) / v, "Divide by the square of v, not by v."),
                (
                    lambda u, du, v, dv: (du * v - u * dv) / (2 * v),
                    "Divide by the square of v, v**2, not by two times v.",
                ),
                (
                    lambda u, du, v, dv: (du * v - u * dv) / v ^ 2,
                    "Python's power is `**`, as in `v**2`; `^` is something else.",
                ),
                (
                    lambda u, du, v, dv: du * v - u * dv / v**2,
                    "All of the numerator is divided by v²: put parentheses around the difference.",
                ),
                (
                    lambda u, du, v, dv: (du - u * dv) / v,
                    "Each term counts: du is divided by v once, and u·dv by v twice.",
                ),
                (lambda u, du, v, dv: du / v - dv / v**2, "In the second term, dv is multiplied by u."),
                (
                    lambda u, du, v, dv: du * v - u * dv,
                    "The numerator is right, but it isn't divided by v². If you wrote `/ v*v`, that divides and "
                    "multiplies again: write `/ v**2`.",
                ),
                (
                    lambda u, du, v, dv: du / v - u * dv,
                    "In the second term, `/ v*v` divides and multiplies again: write `/ v**2`.",
                ),
                (
                    lambda u, du, v, dv: (du - u * dv) / v**2,
                    "In the numerator, du is multiplied by v. Expand with (v - dv·ε) to see why.",
                ),
                (lambda u, du, v, dv: du * v + u * dv, "That's the product rule."),
                (lambda u, du, v, dv: du / v, "v moves too. What does dv do to the quotient?"),
                (lambda u, du, v, dv: -u * dv / v**2, "u moves too. What does du do to the quotient?"),
                (
                    lambda u, du, v, dv: (du * v - u * dv) / u**2,
                    "Divide by the square of v, the denominator, not of u.",
                ),
                (
                    lambda u, du, v, dv: du / dv,
                    "The tangent of a quotient isn't the quotient of the tangents. If v stood still, dv would be 0.",
                ),
                (lambda u, du, v, dv: (du * v - u * dv) / dv**2, "Divide by the square of v, not of dv."),
            )
        ),
    ],
    why="That's the quotient rule. The solution puts it into `Dual`.",
    minutes=7,
)


MODES = "forward", "reverse", "equal"


def job(answer: str, **hints: str) -> Choice:
    """Return the form for one job of exercise 2."""
    return Choice(answer=answer, choices=MODES, hints=hints)


JOBS = Table(
    "Forward or reverse?",
    """\
Which mode passes fewer entries? Answer `"forward"`, `"reverse"` or `"equal"`. Each job's tape has 10 entries, and every push and every walk back passes all of them.

- `"fit"`: the slopes of one loss, with respect to a million weights
- `"dose"`: the slopes of the 500 points of a curve, with respect to one dose
- `"along"`: how 500 outputs move if 500 inputs move along one given direction
- `"mean"`: the slopes of the mean of 500 outputs, with respect to 500 inputs
- `"one"`: the slope of one output, with respect to one input""",
    called="answer",
    parts={
        "fit": job(
            "reverse",
            forward="A push moves along one direction. How many pushes does a million weights take?",
            equal="Count: a push for each input, or a walk back for each output.",
        ),
        "dose": job(
            "forward",
            reverse="A walk back starts at one output. How many walks do 500 points take?",
            equal="Count: a push for each input, or a walk back for each output.",
        ),
        "along": job(
            "forward",
            reverse="A walk back starts at one output, and there are 500. How many directions are there to push along?",
            equal="That would be so for all 500 · 500 slopes. Here the direction is given: how many pushes does it take?",
        ),
        "mean": job(
            "reverse",
            forward="A push moves along one direction, and 500 inputs have 500. How many numbers is the mean?",
            equal="The mean is one number. How many walks back does one number take?",
        ),
        "one": job(
            "equal",
            forward="One push would do. And how many walks back?",
            reverse="One walk back would do. And how many pushes?",
        ),
    },
    why="A push for each direction of the inputs, a walk back for each output: count both before you run anything.",
    minutes=6,
)

RANDOM = np.random.default_rng(133)
PLACE, DIRECTION = RANDOM.uniform(0.5, 1.5, 3), RANDOM.uniform(0.5, 2.0, 3)
MIXED = RANDOM.uniform(-1.0, 1.0, 3)
"""The place and the direction of exercise 3, and what is inside the sine of the hidden function."""


class Run:
    """One call of a learner's `curvature`: its result, where it computed f, what its tapes did, what it may not use."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.places: list[Any] = []
        self.events: list[Event] = []
        self.refused: list[NotYet] = []

        def f(x: Any) -> Any:
            self.places.append(np.array(x.numpy() if isinstance(x, ad.Tensor) else x))
            try:
                reject_ready_made(x)
            except NotYet as hint:
                self.refused.append(hint)
            return np.sum(x**3) + np.sin(MIXED @ x)

        ready_made = {ad.jacobian(f).__code__: "ad.jacobian", ad.hessian(f).__code__: "ad.hessian"}
        ready_made[inspect.unwrap(ad.hvp).__code__] = "ad.hvp"
        reject_ready_made = forbid(lambda x: None, ready_made, "push v forward twice, by two calls of `ad.jvp`.")
        with hook(self.events.append):
            self.result = function(f, PLACE.copy(), DIRECTION.copy())
        if callable(self.result) and not isinstance(self.result, ad.Tensor):
            raise NotYet("You return a function. Call it, or push v forward through it with `ad.jvp`.")

    def place(self) -> str:
        """Return where f was computed."""
        if any(near(place, DIRECTION) for place in self.places):
            return "v"
        return "x" if all(near(place, PLACE, 1e-12) for place in self.places) else "elsewhere"

    def needs_own_work(self) -> bool:
        """Refuse what the package has ready-made."""
        if self.refused:
            raise self.refused[0]
        return True

    def count(self, kind: type[Event]) -> int:
        """Return how many events of one kind there were."""
        return sum(isinstance(event, kind) for event in self.events)


def slope(f: Callable[..., Any], v: Any) -> Callable[[Any], Any]:
    """Return the slope of a function along a direction, as a function of the place."""
    return lambda x: ad.jvp(f, (x,), (v,))[1]


def bend(f: Callable[..., Any], x: Any, v: Any, w: Any) -> Any:
    """Return how the slope along v changes along w."""
    return slope(slope(f, v), w)(x)


def ones(x: Any) -> Any:
    """Return a direction of ones."""
    return np.ones(np.shape(x))


CURVATURE = Function(
    "The curvature along a direction",
    """\
As you move from `x` along `v`, how does the *slope* of `f` along `v` change? Return this number, the curvature along `v`. It's the tangent of a tangent: call `ad.jvp` twice, and neither a tape nor any of the package's other functions. `f` returns one number; `x` and `v` are arrays.""",
    signature="curvature(f, x, v)",
    cases=[
        Case(
            lambda function: Run(function).place(),
            "You compute f at other places than x. Two calls of `ad.jvp` need no step size.",
        ),
        Case(
            lambda function: Run(function).result,
            "For a hidden f, the curvature along v is {answer}, and yours is {given}. Which direction does each pass take?",
            within=1e-5,
        ),
        Case(lambda function: Run(function).needs_own_work()),
        Case(
            lambda function: Run(function).count(Seed),
            "The number is right, but something walked back. Use `ad.jvp` twice, and no gradient.",
        ),
        Case(
            lambda function: max(4, Run(function).count(Move)),
            "The number is right, but it took {given} passes. Two are enough, and both go along v.",
        ),
    ],
    answer=lambda f, x, v: bend(f, x, v, v),
    spellings=[lambda f, x, v: ad.linearize(slope(f, v), x)[1](v)],
    hints=[
        (lambda f, x, v: bend(f, v, v, v), "You compute f at v. x is the place, and v the direction: `(x,), (v,)`."),
        (lambda f, x, v: slope(f, v)(x + 1e-5 * v) - slope(f, v)(x), "Two calls of `ad.jvp` need no step size."),
        (
            lambda f, x, v: slope(slope(f, v)(x), v)(x),
            "Hand the slope along v to `ad.jvp` as a function of x, without calling it.",
        ),
        (
            lambda f, x, v: ad.jvp(slope(f, v), (x,), (v,)),
            "`ad.jvp` returns the value and the tangent. Return the tangent, the second of the two.",
        ),
        (
            lambda f, x, v: ad.jvp(f, (x,), (v,)),
            "`ad.jvp` returns the value and the tangent. Take the tangent, the second of the two, as a "
            "function of x, and push v forward through that as well.",
        ),
        (
            lambda f, x, v: ad.hvp(f, (x,), (v,)),
            "This is how the whole gradient changes along v. I need one number, how the slope along v changes.",
        ),
        (lambda f, x, v: ad.grad(f)(x), "The curvature along v is one number, and yours has the shape of x."),
        (
            lambda f, x, v: slope(f, v)(x),
            "This is the slope along v. As a function of x, push v forward through it as well, and take the tangent.",
        ),
        (
            lambda f, x, v: slope(f, v)(x) ** 2,
            "This is the square of the slope along v. Push v forward through the slope instead, as a function of x.",
        ),
        (lambda f, x, v: f(x), "This is f(x) itself. The tangent is the second of the two that `ad.jvp` returns."),
        (lambda f, x, v: -bend(f, x, v, v), "The sign is wrong: this is minus the curvature along v."),
        (lambda f, x, v: bend(f, x, v, ones(x)), "One of the two directions is all ones. Both passes go along v."),
        (lambda f, x, v: bend(f, x, ones(x), ones(x)), "Both directions are all ones. Both passes go along v."),
        (
            lambda f, x, v: bend(f, x, v, x),
            "One of the two directions is x. Both passes go along v, and x is the place.",
        ),
        (lambda f, x, v: bend(f, x, x, x), "Both directions are x. Both passes go along v, and x is the place."),
        (lambda f, x, v: bend(f, x, v, v) / (v @ v), "You scaled v to length 1. Take v as it is."),
        (
            lambda f, x, v: bend(f, x, v, v / np.sqrt(v @ v)),
            "You scaled one of the two directions to length 1. Take v as it is, both times.",
        ),
        (
            lambda f, x, v: bend(f, x, v, v) / 2,
            "This is half of it, as it stands in a Taylor series. The curvature comes without the half.",
        ),
        (lambda f, x, v: bend(f, x, v, v) * 2, "This is twice the curvature. There's no factor before it."),
        (
            lambda f, x, v: np.trace(ad.hessian(f)(x).numpy()),
            "This is the trace of the Hessian. Both directions are v.",
        ),
        (lambda f, x, v: v @ ad.hessian(f)(x) @ v, "That is `ad.hessian`, which this exercise leaves to you"),
    ],
    why="A tangent of a tangent, and nothing walked back.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, DIVIDE, JOBS, CURVATURE)
