"""The exercises of chapter 13, forward mode: dual numbers divided, the cheaper mode, a curvature."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Move, Seed
from ..exercises import Exercise, Judge
from ..feedback import (
    NotYet,
    by_hand,
    call,
    near,
    needs_dict,
    needs_each,
    needs_function,
    number,
    observe,
    shortened,
    word_and_count,
)
from ..predictions import Prediction

WISHES: dict[str, tuple[str, int, str, str]] = {
    "a": (
        "reverse",
        1,
        "a loss is one output, whatever the number of weights.",
        "reverse needs a pass for each output, and a loss is one output.",
    ),
    "b": (
        "forward",
        2,
        "there are 2 inputs and 500 outputs.",
        "there are 2 inputs and 500 outputs, and forward needs a pass for each input.",
    ),
    "c": (
        "reverse",
        3,
        "there are 784 inputs and 3 outputs.",
        "there are 784 inputs and 3 outputs, and reverse needs a pass for each output.",
    ),
    "d": (
        "forward",
        1,
        "one direction goes in and one number comes out, so each mode needs one pass. Which of them needs no tape?",
        "forward needs a pass for each direction. All the weights move together, along how many?",
    ),
    "e": (
        "reverse",
        1,
        "the sum is a single output.",
        "reverse needs a pass for each output, and the sum is a single one.",
    ),
}
"""For each wish of 13.2 the mode, the passes, what to count, and what to count in that mode."""

SAME_MODE = {"forward": "forward", "reverse": "reverse", "backward": "reverse"}
"""What an answer may call the mode."""


def divide(answer: Any) -> str:
    """Check 13.1: the value and the tangent of a quotient, for hidden numbers."""
    needs_function(answer, "divide(u, du, v, dv)")
    u, du, v, dv = (float(part) for part in np.random.default_rng(131).uniform(1.2, 3.0, 4))
    for case in ((u, du, v, dv), (u, du, -v, 0.0), (u, 0.0, v, dv)):
        _one_quotient(answer, *case)
    return "That's the quotient rule. Your dual numbers can divide."


def _one_quotient(answer: Any, u: float, du: float, v: float, dv: float) -> None:
    try:
        given = call(answer, u, du, v, dv, written="divide(u, du, v, dv)")
    except NotYet as error:
        if "for ^" in str(error.__cause__):
            raise NotYet("Python's power is `**`, as in `v**2`; `^` is something else.") from error
        raise
    if given is ... or (isinstance(given, tuple) and any(part is ... for part in given)):
        raise NotYet("Replace the three dots with the tangent of the quotient.")
    if isinstance(given, np.ndarray | ad.Tensor) and np.shape(given) == (2,):
        given = given.tolist()
    if hasattr(given, "value") and hasattr(given, "tangent"):  # the chapter's Dual is a pair, too
        given = given.value, given.tangent
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"I need a pair, the value and the tangent, and got {shortened(given)}.")
    value, tangent = number(given[0], "the value"), number(given[1], "the tangent")
    right = (du * v - u * dv) / v**2
    if near(tangent, u / v) and near(value, right) and not near(right, u / v):
        raise NotYet("The pair has changed places: the value comes first, then the tangent.")
    if not near(value, u / v):
        raise NotYet("The value isn't u / v. Nudges don't change the value.")
    if near(tangent, right):
        return
    known = (
        ((u * dv - du * v) / v**2, "The sign is the wrong way round: a growing u makes the quotient grow."),
        ((du * v + u * dv) / v**2, "A growing v makes the quotient smaller: the second term is subtracted."),
        ((du * v - u * dv) / v, "Divide by the square of v, not by v."),
        ((du * v - u * dv) / (2 * v), "Divide by the square of v, v**2, not by two times v."),
        (du * v - u * dv / v**2, "All of the numerator is divided by v²: put parentheses around the difference."),
        ((du - u * dv) / v, "Each term counts: du is divided by v once, and u·dv by v twice."),
        (du / v - dv / v**2, "In the second term, dv is multiplied by u."),
        (
            du * v - u * dv,
            "The numerator is right, but it isn't divided by v². If you wrote `/ v*v`, that divides and multiplies "
            "again: write `/ v**2`.",
        ),
        (du / v - u * dv, "In the second term, `/ v*v` divides and multiplies again: write `/ v**2`."),
        ((du - u * dv) / v**2, "In the numerator, du is multiplied by v. Expand with (v - dv·ε) to see why."),
        (du * v + u * dv, "That's the product rule."),
        (du / v, "v moves too. What does dv do to the quotient?"),
        (-u * dv / v**2, "u moves too. What does du do to the quotient?"),
        ((du * v - u * dv) / u**2, "Divide by the square of v, the denominator, not of u."),
    )
    if dv and near(tangent, du / dv):
        raise NotYet("The tangent of a quotient isn't the quotient of the tangents. If v stood still, dv would be 0.")
    if dv and near(tangent, (du * v - u * dv) / dv**2):
        raise NotYet("Divide by the square of v, not of dv.")
    if du:
        for wrong, hint in known:
            if near(tangent, wrong):
                raise NotYet(hint)
    raise NotYet(
        f"For (u, du, v, dv) = ({u:.3f}, {du:.3f}, {v:.3f}, {dv:.3f}) the tangent is {right:.6g}; yours is "
        f"{tangent:.6g}. Multiply numerator and denominator by (v - dv·ε), and drop ε²."
    )


def modes(answer: Any) -> str:
    """Check 13.2: for five wishes, the mode and the number of its passes."""
    needs_dict(answer, '{"a": ("forward", 12), ...}')
    needs_each(answer, "abcde", "Your answer leaves out")
    given = {name: word_and_count(name, answer[name], SAME_MODE, "the mode", "passes") for name in WISHES}
    if all(given[name][0] != mode for name, (mode, *_) in WISHES.items()):
        raise NotYet("All are the wrong way round. Forward needs a pass for each input, reverse one for each output.")
    for name, (mode, passes, why_mode, why_passes) in WISHES.items():
        if given[name][0] != mode:
            raise NotYet(f"Not {given[name][0]} for {name}: {why_mode}")
        if given[name][1] != passes:
            raise NotYet(f"For {name}, {mode} is right, but not {given[name][1]}: {why_passes}")
    return "Few inputs or a single direction: forward. Few outputs: reverse."


def curvature(answer: Any) -> str:
    """Check 13.3: v·Hv of hidden functions, by two nested forward passes and no walk back."""
    needs_function(answer, "curvature(f, x, v)")
    random = np.random.default_rng(133)
    x, v = random.uniform(0.5, 1.5, 3), random.uniform(0.5, 2.0, 3)
    a = random.uniform(-1.0, 1.0, (3, 3))

    places: list[Any] = []
    refused: list[NotYet] = []

    def f(x: Any) -> Any:
        places.append(x.numpy() if isinstance(x, ad.Tensor) else np.array(x))
        try:
            asked_by_hand(x)
        except NotYet as hint:
            refused.append(hint)
        return np.sum(x**3) + np.sin(a[0] @ x)

    ready_made = {ad.jacobian(f).__code__: "ad.jacobian", ad.hessian(f).__code__: "ad.hessian"}
    ready_made[ad.hvp.__code__] = "ad.hvp"
    asked_by_hand = by_hand(lambda x: None, ready_made, "push v forward twice, by two calls of `ad.jvp`.")

    across = -np.sin(a[0] @ x) * np.outer(a[0], a[0]) + np.diag(6 * x)
    slopes = 3 * x**2 + np.cos(a[0] @ x) * a[0]
    try:
        given, events = observe(answer, f, x, v, written="curvature(f, x, v)")
    except NotYet as error:
        if "jvp takes a function, but got Tensor" in str(error.__cause__):
            raise NotYet("Hand `slope` itself to `ad.jvp`, without calling it.") from error
        raise
    if given is ...:
        raise NotYet("Replace the three dots: push v forward through `slope`, too.")
    if callable(given) and not isinstance(given, ad.Tensor):
        raise NotYet("You return a function. Call it, or push v forward through it with `ad.jvp`.")
    if isinstance(given, tuple):
        raise NotYet("`ad.jvp` returns the value and the tangent. Return the tangent, the second of the two.")
    if np.shape(given) == (3,):
        if near(given, across @ v, 1e-6):
            raise NotYet("This is Hv, how the gradient changes. I need one number, how the slope along v changes.")
        raise NotYet("The curvature along v is one number, and yours has the shape of x.")
    value = number(given, "the curvature")
    if any(near(place, v) for place in places):
        raise NotYet("You compute f at v. x is the place, and v the direction: `(x,), (v,)`.")
    if any(not near(place, x, 1e-12) for place in places):
        raise NotYet("You compute f at other places than x. Two calls of `ad.jvp` need no step size.")
    right, ones, length = v @ across @ v, np.ones(3), np.linalg.norm(v)
    known = (
        (slopes @ v, "This is the slope along v. Push v forward through `slope` as well, and take the tangent."),
        ((slopes @ v) ** 2, "This is the square of the slope along v. Push v forward through `slope` instead."),
        (f(x), "This is f(x) itself. The tangent is the second of the two that `ad.jvp` returns."),
        (-right, "The sign is wrong: this is −v·Hv."),
        (ones @ across @ v, "One of the two directions is all ones. Both passes go along v."),
        (ones @ across @ ones, "Both directions are all ones. Both passes go along v."),
        (x @ across @ v, "One of the two directions is x. Both passes go along v, and x is the place."),
        (x @ across @ x, "Both directions are x. Both passes go along v, and x is the place."),
        (right / length**2, "You scaled v to length 1. Take v as it is."),
        (right / length, "You scaled one of the two directions to length 1. Take v as it is, both times."),
        (right / 2, "This is half of it, the coefficient of a Taylor series. v·Hv comes without the half."),
        (right * 2, "This is twice v·Hv. There's no factor before it."),
        (np.trace(across), "This is the trace of the Hessian. Both directions are v."),
    )
    if not near(value, right, 1e-5):
        for wrong, hint in known:
            if near(value, wrong, 1e-5):
                raise NotYet(hint)
        raise NotYet(
            f"For a hidden f, v·Hv is {right:.6g}, and yours is {value:.6g}. Which direction does each pass take?"
        )
    if refused:
        raise refused[0]
    if any(isinstance(event, Seed) for event in events):
        raise NotYet("The number is right, but something walked back. Use `ad.jvp` twice, and no gradient.")
    if (passes := sum(isinstance(event, Move) for event in events)) > 4:
        raise NotYet(f"The number is right, but it took {passes} passes. Two are enough, and both go along v.")
    return "A tangent of a tangent, and nothing walked back."


QUESTIONS: tuple[Prediction | Exercise, ...] = (
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
    Judge(
        "Divide dual numbers",
        """\
`Dual` can't divide yet. Write the missing rule: for (u + du·ε) / (v + dv·ε), return the value and the tangent, as a pair of numbers.""",
        divide,
    ),
    Judge(
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
        modes,
    ),
    Judge(
        "The curvature along a direction",
        """\
How does the *slope* of `f` along `v` change as you move along `v`? Write v·Hv as forward over forward: a tangent of a tangent, by two calls of `ad.jvp`, without `ad.grad`, `ad.jacobian`, `ad.hvp` or `ad.hessian`. `f` returns one number; `x` and `v` are arrays.""",
        curvature,
    ),
)
