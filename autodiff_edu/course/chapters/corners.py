"""Corners: a slope chosen at a tie, four slopes of 0 told apart, and a step that can rest at a corner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Choice, Function, Table, record, short, slope_of
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "What will the tape say of the seven at x = 0?",
        answer="different slopes",
        choices=("0 for all", "½ for all", "different slopes", "None for all"),
        hints={
            "0 for all": "`np.where` passes the cotangent to the branch that was taken. Compare `x > 0` with `x >= 0`.",
            "½ for all": "`np.where` passes the cotangent to the branch that was taken. Compare `x > 0` with `x >= 0`.",
            "None for all": "`None` means that the backward pass never got to `x`. Does any of the seven lose it?",
        },
        why="The two `np.where` take different branches at 0, so they can't agree. The table has all seven.",
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
            lambda cost: record(cost, TIES, EQUAL)[0],
            "On a day of a tie nothing is left and nobody leaves: the cost should be 0.",
        ),
        Case(
            slope_at(TIES, EQUAL),
            lambda found, wanted: (
                f"Values and slopes are right away from a tie. At a tie the slope should be -3, and "
                f"yours is {short(found[0])}. Which operations stand at a corner there, and what does each of them take?"
            ),
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
            "At a tie your slope is 0: something there takes 0, as `ad.nn.relu`, `np.abs` and a branch that is a "
            "constant do. Can a single operation take the side that you want?",
        ),
        (
            lambda order, demand: np.clip(order - demand, 0, None) + 3 * np.clip(demand - order, 0, None),
            "At a tie your slope is -2: both of its parts count there, so 1 and -3 are added. Only one of them should.",
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
            flat="The slope is 0 for the tape, but compute `split` at 0.1 and at -0.1.",
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
            flat="The slope is 0 for the tape, but compute `miss` at 0.1 and at -0.1.",
            stuck="Compute `miss` at 0.1 and at -0.1. Is there anywhere lower to go?",
        ),
        "drag": kind(
            "flat",
            stuck="`drag` does fall on the left, but how fast? Divide its values at -0.1 and at -0.001 by those x.",
            bottom="`np.abs` is at a corner in `drag`, but what is its slope multiplied by? Compute `drag` at -0.1 and at "
            "-0.001.",
        ),
    },
    why="A slope of 0 from a tape says little by itself: only for two of the four is it the slope of both sides, and one "
    "of those has a corner on the way.",
    minutes=7,
)


def pull_towards(amounts: Any, usual: Any, below: float = 0.05, above: float = 0.02) -> Any:
    """Return amounts after a pull towards the usual ones, and not past them."""
    return amounts - np.clip(amounts - usual, -below, above)


def recipe_step(amounts: Any, slope: Any, usual: Any) -> Any:
    """Return the amounts after a step downhill and a pull towards the usual ones."""
    return pull_towards(amounts - 0.1 * slope, usual)


FAR = np.array([100.0, 60.0]), np.zeros(2), np.array([90.0, 70.0])
NEAR = np.array([10.01, 9.97, 10.2, 10.03]), np.zeros(4), np.array([10.0, 10.0, 10.0, 10.0])
MOVED = (
    np.array([10.0, 10.0, 3.1, 2.9, 5.0]),
    np.array([-0.1, 0.4, 1.2, -0.8, 1.0]),
    np.array([10.0, 10.0, 3.0, 3.0, 4.0]),
)

BACK = Function(
    "Back to the recipe",
    """\
In a recipe every ingredient has its usual amount, and changes confuse the staff: each gram above the usual amount costs 0.2, and each gram below it 0.5. Write `step(amounts, slope, usual)`, one turn with that cost in the step, not on the tape. It goes downhill by 0.1 times `slope`, the slope of everything else, and then lets the cost pull on each amount, so that an amount can come to rest at the usual one. All three are arrays, and so is what you return.""",
    signature="step(amounts, slope, usual)",
    cases=[FAR, NEAR, MOVED],
    answer=recipe_step,
    hints=[
        (
            lambda amounts, slope, usual: amounts - 0.1 * slope,
            "Far from the usual amounts, that is the step downhill alone: nothing pulls.",
        ),
        (
            lambda amounts, slope, usual: (
                amounts - 0.1 * slope - 0.1 * np.where(amounts - 0.1 * slope > usual, 0.2, -0.5)
            ),
            "The pull is right while an amount is far from the usual one. What if it is nearer than one pull?",
        ),
        (
            lambda amounts, slope, usual: pull_towards(amounts - 0.1 * slope, usual, 0.02, 0.05),
            "The two sides have changed places: what is too small is pulled up by 0.1 times 0.5.",
        ),
        (
            lambda amounts, slope, usual: pull_towards(amounts - 0.1 * slope, usual, 0.05, 0.05),
            "That costs 0.5 on both sides. A gram above the usual amount costs only 0.2.",
        ),
        (
            lambda amounts, slope, usual: pull_towards(amounts - 0.1 * slope, usual, 0.5, 0.2),
            "The cost is a slope too, so it moves an amount by 0.1 times 0.2 or 0.1 times 0.5.",
        ),
        (
            lambda amounts, slope, usual: pull_towards(amounts - 0.1 * slope, 0.0),
            "That pulls every amount down, towards 0. Where is the corner of this cost?",
        ),
        (
            lambda amounts, slope, usual: (
                amounts - 0.1 * slope - 0.1 * np.clip(amounts - 0.1 * slope - usual, -0.5, 0.2)
            ),
            "Near the usual amount your pull gets weaker, so an amount never arrives. The slope of the cost doesn't.",
        ),
        (
            lambda amounts, slope, usual: np.where(
                np.abs(amounts - 0.1 * slope - usual) <= 0.05, usual, pull_towards(amounts - 0.1 * slope, usual)
            ),
            "An amount that is too large moves by 0.02 at most. Yours jumps to the usual one from farther away.",
        ),
        (
            lambda amounts, slope, usual: 2 * (amounts - 0.1 * slope) - recipe_step(amounts, slope, usual),
            "That pushes away from the usual amounts. What is above must come down.",
        ),
        (
            lambda amounts, slope, usual: pull_towards(amounts, usual),
            "The pull is right. The step downhill by `slope` comes before it.",
        ),
        (
            lambda amounts, slope, usual: pull_towards(amounts, usual) - 0.1 * slope,
            "First the step, then the pull, from where the step has led. The other way round, an amount can't rest.",
        ),
        (
            lambda amounts, slope, usual: pull_towards(amounts + 0.1 * slope, usual),
            "That goes uphill by `slope`.",
        ),
        (
            lambda amounts, slope, usual: pull_towards(amounts - slope, usual),
            "The step downhill is 0.1 times `slope`.",
        ),
        (
            lambda amounts, slope, usual: recipe_step(amounts, slope, usual) - usual,
            "That is how far each amount is from the usual one. Return the amounts.",
        ),
        (
            lambda amounts, slope, usual: np.clip(amounts - 0.1 * slope - usual, -0.05, 0.02),
            "That is the pull alone. Take it away from the amounts.",
        ),
        (
            lambda amounts, slope, usual: np.clip(amounts - 0.1 * slope, usual - 0.05, usual + 0.02),
            "That keeps each amount close to the usual one. It's the pull that has bounds, not the amount.",
        ),
    ],
    why="An amount rests at the usual one if the slope of everything else is between -0.2 and 0.5 there.",
    minutes=8,
)

EXERCISES = (TIE, FOUR, BACK)
QUESTIONS = (*PREDICTIONS, *EXERCISES)
"""Predictions and exercises of corners."""
