"""Corners: a slope chosen at a tie, four slopes of 0 told apart, and where a walk downhill may rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Choice, Function, Table, record, short, slope_of
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "At x = 0, how many different slopes will the tape give for the seven?",
        answer=3,
        hints={
            1: "The values are the same everywhere. But does a tape look at values, or at the operations behind them?",
            2: "The slopes of the two sides, 0 and 1, are two candidates. What might a rule do that prefers neither?",
            7: "Seven programs, but only a few numbers suggest themselves. Which?",
            0: "At a point such as this one, other texts would say so. A tape always returns a number here.",
        },
        why="0, ½ and 1.",
    ),
    Prediction(
        "What is the gradient of `np.max(scores)` at (3, 3, 1)?",
        answer="½, ½, 0",
        choices=("½, ½, 0", "1, 1, 0", "1, 0, 0", "⅓, ⅓, ⅓"),
        hints={
            "1, 1, 0": "That would say: raise both by 1, and the best rises by 2.",
            "1, 0, 0": "A rule could choose that. `np.max` treats two equal elements as `np.maximum` does.",
            "⅓, ⅓, ⅓": "The third dive scored 1. Nudge that a little: does the best score change?",
        },
        why="The two that are largest share the cotangent.",
    ),
    Prediction(
        "A check to first order at 0 calls which of the seven right?",
        answer="those with ½",
        choices=("all seven", "those with 0", "those with ½", "those with 1", "none of them"),
        hints={
            "all seven": "The seven have the same values, so the difference is the same for all. Are the tape's slopes?",
            "those with 0": "f(−h) is 0 and f(h) is h. What is (f(h) − f(−h)) / 2h?",
            "those with 1": "f(−h) is 0 and f(h) is h. What is (f(h) − f(−h)) / 2h?",
            "none of them": "The difference is some number, and it's one that two of the rules have picked.",
        },
        why="(h − 0) / 2h is ½.",
    ),
    Prediction(
        "What is the tape's slope of `np.maximum(np.maximum(x, 0), 0)` at 0?",
        answer=0.25,
        hints={
            0.5: "That is what one `np.maximum` makes of a cotangent of 1. Here a second one follows on the way back.",
            1: "Each of the two is at its corner, and passes on half of what it gets.",
            0: "Each of the two is at its corner, and passes on half of what it gets.",
        },
        why="Each passes on half of the cotangent that arrives.",
    ),
    Prediction(
        "With biases of 0, how many of the layer's 5,000 inputs to relu stand at a corner?",
        answer=1000,
        hints={
            0: "That's so for the pictures with random pixels. What is `0 @ weights + 0`?",
            5000: "Those of the random pictures are sums of random numbers. How likely is it that one is exactly 0?",
            1: "One picture is blank, and all of the 1,000 relus look at it.",
            64: "That counts the pixels of a picture. How many relus look at the blank one?",
        },
        why="1,000 relus look at the blank picture, and each gets exactly 0.",
    ),
    Prediction(
        "What is the tape's slope of `ad.nn.relu(x) - ad.nn.relu(-x)` at 0?",
        answer=0,
        hints={
            1: "That is the slope of the function. What does each relu pass on at 0?",
            -1: "The second relu has two minus signs around it. But what does each relu pass on at 0?",
            0.5: "`np.maximum` passes on half. What did `ad.nn.relu` pass on in the first table?",
            2: "What does each relu pass on at 0?",
        },
        why="Each relu passes on 0.",
    ),
    Prediction(
        "At bonus = 0, what is the slope of `loss` from the left?",
        answer=-2,
        hints={
            -1: "That is the slope from the right, where only the first relu counts.",
            1: "From the left, only the second relu counts, and twice.",
            2: "Left of 0 the mood falls as the bonus does. The loss has the mood with a minus.",
            0: "That is what the tape will say. What is `loss` at -0.001?",
        },
        why="Left of 0 the mood is 2 · bonus, the loss is bonus² − 2 · bonus, and the slope of bonus² at 0 is 0.",
    ),
    Prediction(
        "After 300 turns with the penalty, how many of the six weights are exactly 0?",
        answer=0,
        hints={
            4: "That is what the baker hopes for. How long is a step when a weight is very near 0, on either side?",
            6: "They start there. But at 0 `np.abs` passes on 0, and the error's slope is not 0.",
        },
        why="They come near 0, and step across.",
    ),
)


def where_cost(order: Any, demand: Any) -> Any:
    """Return what an order costs, with the slope of an order that is too small where it is just right."""
    return np.where(order > demand, order - demand, 3 * (demand - order))


ORDERS, DEMANDS = ad.constant([30.0, 24.0, 41.0, 18.0]), np.array([26.0, 31.0, 40.0, 18.5])
TIES, EQUAL = ad.constant([30.0, 12.0, 7.0]), np.array([30.0, 9.0, 7.0])
FORGOTTEN = "It returns plain numbers, or the gradient is None. Keep `order` a tensor: no `.numpy()`, no `float`."
SHARES = (
    "On a day of a tie your slope is -1, the mean of 1 and -3. Is there an operation, like `np.maximum` or `np.abs`, "
    "that prefers neither side?"
)


def slope_at(orders: ad.Tensor, demands: Any) -> Callable[[Any], Any]:
    """Return what computes the slopes of a learner's cost, day by day."""

    def slopes(cost: Callable[..., Any]) -> Any:
        found = slope_of(cost, orders, demands)
        return "None" if found is None else found

    return slopes


TIE = Function(
    "A tie with a meaning",
    """\
A baker orders loaves in the evening. A loaf too many costs 1, and a loaf too few costs 3, for a customer who leaves. Write `cost(order, demand)`: both have one number for each day, `order` is a tensor, and so is what you return. On a day when the order was just right, the baker would rather have had one more: there the slope with respect to `order` should be that of a loaf too few, −3. Everywhere else there is nothing to choose.""",
    signature="cost(order, demand)",
    cases=[
        Case(
            lambda cost: record(cost, ORDERS, DEMANDS)[0],
            f"For the orders {short(ORDERS)} and the demand {short(DEMANDS)} the costs are {{answer}}, and yours are "
            "{given}.",
        ),
        Case(
            slope_at(ORDERS, DEMANDS),
            lambda found, wanted: (
                FORGOTTEN
                if isinstance(found, str)
                else f"The values are right. Their slopes away from a tie should be {short(wanted)}, and yours are "
                f"{short(found)}."
            ),
        ),
        Case(
            slope_at(TIES, EQUAL),
            lambda found, wanted: (
                f"Values and slopes are right away from a tie. At a tie the slope should be -3, and "
                f"yours is {short(found[0])}. Which operations stand at a corner there, and what does each of them take?"
            ),
        ),
        Case(
            lambda cost: record(cost, TIES, EQUAL)[0],
            "On a day of a tie nothing is left and nobody leaves: the cost should be 0.",
        ),
    ],
    answer=where_cost,
    hints=[
        (
            lambda order, demand: np.where(order >= demand, order - demand, 3 * (demand - order)),
            "At a tie your slope is 1, that of a loaf too many. Which operation stands at a corner there, and which side "
            "does it take? (In `np.where`, `>` or `>=` decides.)",
        ),
        (lambda order, demand: np.maximum(order - demand, 3 * (demand - order)), SHARES),
        (
            lambda order, demand: ad.nn.relu(order - demand) + 3 * ad.nn.relu(demand - order),
            "At a tie your slope is 0: something there takes 0, as `ad.nn.relu` and `np.abs` do. Can a single operation "
            "take the side that you want?",
        ),
        (
            lambda order, demand: np.clip(order - demand, 0, None) + 3 * np.clip(demand - order, 0, None),
            "At a tie your slope is -2: both clips pass on everything, so 1 and -3 are added. Only one of the two "
            "should count.",
        ),
        (
            lambda order, demand: np.where(order > demand, 3 * (order - demand), demand - order),
            "The two costs have changed places, or the two arguments have: a loaf too few is the expensive one.",
        ),
        (
            lambda order, demand: np.where(order > demand, order - demand, 3 * (order - demand)),
            "A loaf too few costs 3, and yours costs -3.",
        ),
        (
            lambda order, demand: np.sum(where_cost(order, demand)),
            "That is the cost of all days together. Return one number for each day.",
        ),
        (
            lambda order, demand: np.mean(where_cost(order, demand)),
            "That is the mean over the days. Return one number for each day.",
        ),
        (lambda order, demand: where_cost(ad.stop_gradient(order), demand), FORGOTTEN),
    ],
    why="Your slope at a tie is that of a loaf too few, and everywhere else it's the only one there is.",
    minutes=8,
)


def kind(answer: str, **hints: str) -> Choice:
    """Return the form for one of the four programs."""
    return Choice(answer=answer, choices=("bottom", "flat", "stuck"), hints=hints)


FOUR = Table(
    "Four slopes of 0",
    """\
Each of the four is to be made smaller, starting at `x = 0`. For each the tape's slope is 0, so a walk downhill doesn't move. Why not? Answer `"flat"` if the slopes on both sides are 0, `"bottom"` if the one on the left is negative and the one on the right positive, and `"stuck"` if both are positive or both negative.

```python
split = ad.nn.relu(2 * x) - ad.nn.relu(-x)
late = ad.nn.relu(x - 3)
miss = np.maximum(x, -x)
drag = x * np.abs(x)
```""",
    called="answer",
    parts={
        "split": kind(
            "stuck",
            flat="`split` is 0 for the tape, but compute its value at 0.1 and at -0.1.",
            bottom="Left of 0 only the second relu of `split` counts, with a minus in front. Does the value rise to the "
            "left?",
        ),
        "late": kind(
            "flat",
            bottom="The corner of `late` isn't at 0. What are its values at 0.1 and at -0.1?",
            stuck="The corner of `late` isn't at 0. What are its values at 0.1 and at -0.1?",
        ),
        "miss": kind(
            "bottom",
            flat="`miss` is 0 for the tape, but compute its value at 0.1 and at -0.1.",
            stuck="Compute `miss` at 0.1 and at -0.1. Is there anywhere lower to go?",
        ),
        "drag": kind(
            "flat",
            stuck="`drag` does fall on the left, but how fast? Compare its values at -0.1 and at -0.001 with these "
            "steps.",
            bottom="`np.abs` is at a corner in `drag`, but what is its slope multiplied by? Compute `drag` at -0.1 and at "
            "-0.001.",
        ),
    },
    why="A slope of 0 from a tape says little by itself: only for two of the four is it the slope of both sides, and one "
    "of those has a corner on the way.",
    minutes=7,
)


def difference_rests(f: Callable[[float], Any], x: float) -> bool:
    """Return whether a small step to either side makes a function no smaller."""
    return bool(f(x + 1e-4) >= f(x) and f(x - 1e-4) >= f(x))


def slopes_at(f: Callable[[float], Any], x: float) -> tuple[Any, Any]:
    """Return the slopes on the left and on the right."""
    return (f(x) - f(x - 1e-4)) / 1e-4, (f(x + 1e-4) - f(x)) / 1e-4


def between(f: Callable[[float], Any], x: float) -> bool:
    """Return whether 0 lies between the slopes of the two sides: true on the top of a roof as well."""
    left, right = slopes_at(f, x)
    return bool(min(left, right) <= 0 <= max(left, right))


def case(written: str, f: Callable[[Any], Any], x: float = 0.0) -> Case:
    """Return the case that looks at one function."""
    return Case(
        lambda may_rest: may_rest(f, x),
        f"For f(x) = {written} at x = {x:g} it should be {{answer}}, and yours is {{given}}.",
    )


REST = Function(
    "May it rest?",
    """\
Write `may_rest(f, x)`, which says whether a walk downhill may rest at `x`: `False` if a small step to the left or to the right, such as 0.0001, makes `f` smaller, and `True` if neither does. `f` takes a number and returns one. It may have a corner at `x`, or be flat there.""",
    signature="may_rest(f, x)",
    cases=[
        case("x²", np.square, 1.0),
        case("relu(x) - 2 relu(-x)", lambda x: ad.nn.relu(x) - 2 * ad.nn.relu(-x)),
        case("min(x, -x)", lambda x: np.minimum(x, -x)),
        case("|x|", np.abs),
        case("x²", np.square),
        case("|x| + 0.5x", lambda x: np.abs(x) + 0.5 * x),
        case("|x| + 2x", lambda x: np.abs(x) + 2 * x),
        case("-|x| - 2x", lambda x: -np.abs(x) - 2 * x),
        case("relu(x)", lambda x: ad.nn.relu(x)),
        case("min(x, 0)", lambda x: np.minimum(x, 0.0)),
        case("min(-x, 0)", lambda x: np.minimum(-x, 0.0)),
        case("relu(x - 3)", lambda x: ad.nn.relu(x - 3.0)),
        case("x²", np.square, 0.3),
        case("x² - 2x⁴", lambda x: x**2 - 2 * x**4),
    ],
    answer=difference_rests,
    hints=[
        (
            lambda f, x: float(ad.grad(f)(x)) == 0.0,
            "At 0, a step to the left makes relu(x) - 2 relu(-x) smaller. (If you asked a tape: the 0 it gives there was "
            "chosen, and fits neither side.)",
        ),
        (
            between,
            "At the top of a roof, such as min(x, -x), the slopes are 1 and -1, and 0 is between them too. Which of the "
            "two must be the negative one?",
        ),
        (
            lambda f, x: bool(abs(sum(slopes_at(f, x))) < 1e-3),
            "A central difference is the mean of the two sides. A walk takes one of them: look at each by itself.",
        ),
        (lambda f, x: f(x), "That is the value of `f`. The answer is `True` or `False`."),
        (lambda f, x: True, "Not everywhere: to the left of 1, x² is smaller than at 1."),
        (lambda f, x: bool(f(x + 1e-4) >= f(x)), "That looks to the right only."),
        (lambda f, x: bool(f(x - 1e-4) >= f(x)), "That looks to the left only."),
        (
            lambda f, x: bool(f(x + 1e-4) > f(x) and f(x - 1e-4) > f(x)),
            "Where `f` is flat on a side, a step doesn't make it smaller, so the walk may rest.",
        ),
        (
            lambda f, x: bool(f(x + 1e-4) >= f(x) or f(x - 1e-4) >= f(x)),
            "One way down is enough to keep walking. Both sides have to be safe.",
        ),
        (
            lambda f, x: bool(f(x + 1e-17) >= f(x) and f(x - 1e-17) >= f(x)),
            "The right idea, with steps that are too small: in a computer, 1 + 1e-17 is 1.",
        ),
        *(
            (
                lambda f, x, h=h: bool(f(x + h) >= f(x) and f(x - h) >= f(x)),
                "The right idea, but your steps are too long: from 0.3, a step of 1 to the left jumps right over the "
                "bottom of x².",
            )
            for h in (1.0, 4.0)
        ),
        (
            lambda f, x: not difference_rests(f, x),
            "The answers have changed places: `True` means that the walk may rest.",
        ),
        (
            lambda f, x: bool(slopes_at(f, x)[0] >= 0 >= slopes_at(f, x)[1]),
            "That's where `f` has a top. What sign does the slope have on the left of a bottom?",
        ),
    ],
    why="Neither side goes down: that can be seen in values alone, with a corner or without.",
    minutes=8,
)

EXERCISES = (TIE, FOUR, REST)
QUESTIONS = (*PREDICTIONS, *EXERCISES)
"""Predictions and exercises of corners."""
