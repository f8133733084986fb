"""The exercises of chapter 15, forward mode: dual numbers divided, the cheaper mode, a curvature."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Event, Move, Seed
from ...trace.hook import hook
from ..exercises import Case, Choice, Function, Number, Table, WordAndCount
from ..feedback import NotYet, forbid, near, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "How many seeds does a tape need to keep all the slopes of the curve apart?",
        answer=1000,
        hints={
            **dict.fromkeys((0, 1, 2), "One seed gives the slope of one output. The curve has how many points?"),
            **dict.fromkeys((10, 99, 100, 101, 200), "There are 100 days, with ten steps each."),
            **dict.fromkeys((500, 900, 909), "Each seed gives the slope of a single output. The curve has how many?"),
            **dict.fromkeys((2000, 10_000, 100_000, 1_000_000), "That's too many: one for each point will do."),
        },
        why="One seed for each output, and the curve has a thousand points.",
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
        "Two inputs, three outputs. How many forward passes are needed if each carries one tangent?",
        answer=2,
        hints={
            3: "That would be one for each output. What does a tangent start from?",
            6: "That's the number of slopes. One pass gives a whole column of them.",
            5: "Inputs and outputs aren't added: every pass reaches all outputs. What does it start from?",
            **dict.fromkeys((0, 1), "One pass follows one direction. It can't keep two inputs apart."),
            **dict.fromkeys((4, 8, 9, 12), "A tangent starts at one input, and reaches all outputs. Count the inputs."),
        },
        why="One for each input; each fills a column of three slopes.",
    ),
    Prediction(
        "About how many times as many numbers will reverse mode carry?",
        answer="about 1,000 times",
        choices=("about as many", "about 2 times", "about 30 times", "about 1,000 times"),
        hints={
            "about as many": "How many seeds go back, and how many tangents go forward?",
            "about 2 times": "One walk back costs about twice as much. How many seeds are there?",
            "about 30 times": "There's no square root in it: how many seeds go back?",
        },
        why="A thousand seeds against a single tangent.",
    ),
    Prediction(
        "A thousand weights, one loss. How many tangents does forward mode need for the gradient?",
        answer="1,000",
        choices=("1", "2", "500", "1,000", "1,000,000"),
        hints={
            "1": "One tangent gives the slope along one direction. The gradient has how many slopes?",
            "2": "One tangent gives the slope along one direction. The gradient has how many slopes?",
            "500": "No two weights can share a tangent: only the sum of their slopes would come out.",
            "1,000,000": "That would be one for each pair of weights, as in a Hessian. A gradient has how many slopes?",
        },
        why="One for each weight, where reverse mode needs a single seed.",
    ),
    Prediction(
        "In one of these orders, the only walk back goes through `deep` itself, and not through derivatives as well. "
        "Which one?",
        answer="forward over reverse",
        choices=("forward over reverse", "reverse over forward", "reverse over reverse"),
        hints={
            "reverse over forward": "Here the walk back comes last. What has the forward pass computed before it?",
            "reverse over reverse": "Here the second walk back goes through the first.",
        },
        why="It walks back through `deep`, and pushes v forward through all of that. The other two end with a walk "
        "back, through tangents or through an earlier walk.",
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
    why="That's the quotient rule. Your dual numbers can divide.",
    minutes=7,
)


def wish(name: str, mode: str, passes: int, why_mode: str, why_passes: str) -> WordAndCount:
    """Return the form for one wish of exercise 2."""
    other = {"forward": "reverse", "reverse": "forward"}[mode]
    words = {"forward": "forward", "reverse": "reverse", "backward": "reverse"}
    return WordAndCount(
        word=Choice(answer=mode, choices=words, hints={other: f"Not {other} for {name}: {why_mode}"}),
        count=Number(answer=passes, otherwise=f"For {name}, {mode} is right, but not {{given}}: {why_passes}"),
        called=("the mode", "passes"),
    )


WISHES = {
    "a": wish(
        "a",
        "reverse",
        1,
        "a loss is one output, whatever the number of weights.",
        "reverse needs a pass for each output, and a loss is one output.",
    ),
    "b": wish(
        "b",
        "forward",
        2,
        "there are 2 inputs and 500 outputs.",
        "there are 2 inputs and 500 outputs, and forward needs a pass for each input.",
    ),
    "c": wish(
        "c",
        "reverse",
        3,
        "there are 784 inputs and 3 outputs.",
        "there are 784 inputs and 3 outputs, and reverse needs a pass for each output.",
    ),
    "d": wish(
        "d",
        "forward",
        1,
        "one direction goes in and one number comes out, so each mode needs one pass. Which of them needs no tape?",
        "forward needs a pass for each direction. All the weights move together, along how many?",
    ),
    "e": wish(
        "e",
        "reverse",
        1,
        "the sum is a single output.",
        "reverse needs a pass for each output, and the sum is a single one.",
    ),
}

MODES = Table(
    "Choose the mode, and count the passes",
    """\
For each wish, write the mode with fewer passes, and the number of its passes, as in `("forward", 12)`. Where both need equally many, take the mode that doesn't need a tape.

| | wanted |
|---|---|
| a | the gradient of a loss with respect to 10,000 weights |
| b | all slopes of 500 distances along an orbit with respect to 2 starting values |
| c | all slopes of 3 scores with respect to the 784 pixels of a picture |
| d | how fast a loss changes when 10,000 weights move along *one* direction `v` |
| e | the gradient of the *sum* of 500 outputs with respect to 500 inputs |""",
    parts=WISHES,
    hints=[
        (
            {name: (form.word.hints[0][0], count) for (name, form), count in zip(WISHES.items(), counts, strict=True)},
            "All are the wrong way round. Forward needs a pass for each input, reverse one for each output.",
        )
        for counts in ((1, 2, 3, 1, 1), (10_000, 500, 784, 1, 500), (10_000, 500, 784, 10_000, 500))
    ],
    why="Few inputs or a single direction: forward. Few outputs: reverse.",
    minutes=7,
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
How does the *slope* of `f` along `v` change as you move along `v`? Write v·Hv as forward over forward: a tangent of a tangent, by two calls of `ad.jvp`, without `ad.grad`, `ad.jacobian`, `ad.hvp` or `ad.hessian`. `f` returns one number; `x` and `v` are arrays.""",
    signature="curvature(f, x, v)",
    cases=[
        Case(
            lambda function: Run(function).place(),
            "You compute f at other places than x. Two calls of `ad.jvp` need no step size.",
        ),
        Case(
            lambda function: Run(function).result,
            "For a hidden f, v·Hv is {answer}, and yours is {given}. Which direction does each pass take?",
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
        (lambda f, x, v: slope(slope(f, v)(x), v)(x), "Hand `slope` itself to `ad.jvp`, without calling it."),
        (
            lambda f, x, v: ad.jvp(slope(f, v), (x,), (v,)),
            "`ad.jvp` returns the value and the tangent. Return the tangent, the second of the two.",
        ),
        (
            lambda f, x, v: ad.jvp(f, (x,), (v,)),
            "`ad.jvp` returns the value and the tangent. Take the tangent, the second of the two, and push v forward "
            "through `slope` as well.",
        ),
        (
            lambda f, x, v: ad.hvp(f, (x,), (v,)),
            "This is Hv, how the gradient changes. I need one number, how the slope along v changes.",
        ),
        (lambda f, x, v: ad.grad(f)(x), "The curvature along v is one number, and yours has the shape of x."),
        (
            lambda f, x, v: slope(f, v)(x),
            "This is the slope along v. Push v forward through `slope` as well, and take the tangent.",
        ),
        (
            lambda f, x, v: slope(f, v)(x) ** 2,
            "This is the square of the slope along v. Push v forward through `slope` instead.",
        ),
        (lambda f, x, v: f(x), "This is f(x) itself. The tangent is the second of the two that `ad.jvp` returns."),
        (lambda f, x, v: -bend(f, x, v, v), "The sign is wrong: this is −v·Hv."),
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
            "This is half of it, the coefficient of a Taylor series. v·Hv comes without the half.",
        ),
        (lambda f, x, v: bend(f, x, v, v) * 2, "This is twice v·Hv. There's no factor before it."),
        (
            lambda f, x, v: np.trace(ad.hessian(f)(x).numpy()),
            "This is the trace of the Hessian. Both directions are v.",
        ),
        (lambda f, x, v: v @ ad.hessian(f)(x) @ v, "That is `ad.hessian`, which this exercise leaves to you"),
    ],
    why="A tangent of a tangent, and nothing walked back.",
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, DIVIDE, MODES, CURVATURE)
