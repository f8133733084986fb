"""Control flow: a while loop, half a cut to find, a gradient for a search by halving."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function, Number, Table, record, slope_of
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "`root(x)` repeats `y = (y + x / y) / 2` until `y * y` is close to `x`. To two digits, what slope will the tape "
        "find at `x = 4`?",
        answer=0.25,
        hints={
            2: "That is the value of the root. How fast does it grow there?",
            0.5: "That is 1 / √4. The derivative of √x has another factor.",
            0: "Each turn computes with x.",
            None: "Does a loop cut anything? The turns that were taken are on the tape.",
        },
        why="The result is √x, whose slope is 1 / (2√x), and the tape finds it turn by turn.",
    ),
    Prediction(
        "At a payment of exactly 200, what does `rate_of` return?",
        answer="the plain number 0.0",
        choices=("a tensor that has a slope", "a tensor whose gradient is None", "the plain number 0.0"),
        hints={
            "a tensor that has a slope": "A turn of the loop makes `rate` a tensor. How many turns run here?",
            "a tensor whose gradient is None": "Which line would make a tensor of `rate`? Does it run?",
        },
        why="The gap is 0 at once, so the body never runs, and `rate` is the 0.0 that it began as.",
    ),
    Prediction(
        "`f` is x · x below 1, and x + 1 from there on. What slope will the tape find at `x = 1`, where it jumps?",
        answer=1,
        hints={
            2: "That is the slope of `x * x` at 1, or the value of f. Is 1 less than 1?",
            1.5: "That is the mean of both sides. The tape knows one branch only.",
            None: "The function has no slope there, but the branch that runs has one.",
        },
        why="1 is not less than 1, so `x + 1.0` runs, and its slope is 1. The tape does not see the jump.",
    ),
    Prediction(
        "`y = np.where(x < 1.0, x * x, x + 1.0)` at [-2, 0.5, 2]. What is the gradient of `y` with respect to `x`?",
        answer="[-4, 1, 1]",
        choices=("[-4, 1, 1]", "[-4, 1, 4]", "[-3, 2, 5]", "None"),
        hints={
            "[-4, 1, 4]": "That is 2x everywhere. Which branch does the last element take?",
            "[-3, 2, 5]": "That is the sum of both slopes. Does the branch that was not picked count?",
            "None": "The comparison cuts, but the two branches are arguments as well.",
        },
        why="Each element has the slope of the branch that was picked for it: 2x, 2x, and 1.",
    ),
    Prediction(
        "`rate_by_halving` finds the same rate, 7.93 %. What will the tape say d rate/d payment is?",
        answer="None",
        choices=("0.0015, as before", "0", "None"),
        hints={
            "0.0015, as before": "The value is the same. But what is `middle` computed from?",
            "0": "0 would mean that there is a path from `rate` back to `payment`. What is `middle` computed from?",
        },
        why="`middle` is computed from 0.0 and 1.0; `payment` only decides which half to keep.",
    ),
    Prediction(
        "What slope will the tape find for `tax` at an income of 30?",
        answer=0.3,
        hints={
            0.4: "That is the slope of the tax. But what does a tape know about `float(above)`?",
            0.2: "The number that `float(above)` returns is still multiplied by `above`.",
            0.1: "That is the lower tier, or the contribution that gets lost. Which branch runs at 30?",
            None: "`above` is used twice, and one use is still connected.",
        },
        why="To the tape, the last line is 2 + 0.3 · above. The contribution of the other `above`, 0.1, is missing.",
    ),
)


def slope(place: int, turns: int) -> Number:
    """Return the form for the slope of the loop of exercise 1, which takes some turns there."""
    powers = [float(place) ** k for k in range(10)]
    answer = (turns + 1) * powers[turns]
    hints: dict[float | None, str] = {
        None: f"At {place} the gradient is not None. A loop cuts nothing: the tape holds the turns that were taken.",
        0: f"At {place}: 0 would mean that y does not change with x. y begins as x, and each turn multiplies by x.",
        powers[turns + 1]: f"At {place}: {{given}} is the value of y at the end. Its slope is asked for.",
    }
    if place == 3:
        hints[27] = (
            "At 3: 27 is 3³: the slope after 2 turns, or the contribution of only one of the four factors after 3. "
            "Which did you compute?"
        )
    for other in range(9):
        hints.setdefault(
            (other + 1) * powers[other],
            f"At {place}: {{given}} is the slope after {other} turn{'s' * (other != 1)}, which is too "
            f"{'many' if other > turns else 'few'}. Write the values of y down, one by one, until y reaches 50.",
        )
    hints.setdefault(
        powers[turns],
        f"At {place}: {{given}} counts one of the factors only. y is x multiplied by itself, and every factor "
        "contributes.",
    )
    del hints[answer]
    otherwise = f"At {place}: Which power of x does y hold when the loop ends? Take the slope of that."
    return Number(answer=answer, hints=hints, otherwise=otherwise)


WHILE_LOOP = Table(
    "The gradient of a while loop",
    """\
Without a tape: what is the slope of `g` at 3, at 7 and at 60? Count the turns first.

```python
def g(x):
    y = x
    while y < 50.0:
        y = y * x
    return y
```""",
    called="slope",
    parts={3: slope(3, turns=3), 7: slope(7, turns=2), 60: slope(60, turns=0)},
    why="Three turns make x⁴, two make x³, none leaves x. The same code is a different function at each place.",
    minutes=6,
)

Step = Callable[[Any], Any]


def bill(surcharge: Step = lambda extra: 0.1 * extra * extra, interest: Step = lambda cost: 0.02 * cost) -> Step:
    """Return the bill of exercise 2 with a surcharge, and an interest in each turn: the right ones, or others."""

    def computed(use: Any) -> Any:
        cost = 0.3 * use
        if use > 2.0:
            cost = cost + surcharge(use - 2.0)
        for _ in range(3):
            cost = cost + interest(cost)
        return cost

    return computed


def bill_at(use: float) -> list[Case]:
    """Return the cases at one use: the bill, its slope."""

    def explain(function: Step) -> str:
        x = ad.Variable(use, name="use")
        cost, tape = record(function, x)
        slope, found = tape.gradient(cost, x), tape.explain(cost, x)
        cuts = " ".join(cut.text for cut in (found.causes or found.left_out)[:1])
        if slope is None:
            return f"The gradient of bill({use:g}) is None now. {cuts}"
        cuts = cuts or "Which branch is taken there, and what goes into it?"
        return f"At use = {use:g} the gradient is {{given}}, and {{answer}} is right. {cuts}"

    return [
        Case(
            lambda function: record(function, ad.Variable(use))[0],
            f"bill({use:g}) gives {{given}}, and it was {{answer}}. Repair the cuts and keep the bill.",
        ),
        Case(lambda function: slope_of(function, ad.Variable(use)), explain=explain),
    ]


INTEREST = (
    "At use = 0.7 the gradient is {given}, and {answer} is right. Does the interest count in the slope? Look at the loop, "
    "where a value leaves for NumPy or is copied in each turn."
)
SURCHARGE = "At use = 2.9 the gradient is {given}, and {answer} is right. In the surcharge "
BILL = Function(
    "Half a cut, found",
    """\
An electricity bill: `use` is a tensor, in MWh. Above 2 MWh there's a surcharge that grows with what you use, and this bill is three months late. The value is right, and the gradient is never `None`. It's wrong all
the same, in more than one line. Find the cuts and repair them; the bill must stay as it is. The check tries both branches.""",
    signature="bill(use)",
    cases=[case for use in (0.7, 1.6, 2.9, 4.3) for case in bill_at(use)],
    answer=bill(),
    spellings=[lambda use: 1.02**3 * (0.3 * use + 0.1 * np.maximum(use - 2.0, 0.0) ** 2)],
    hints={
        bill(interest=lambda cost: 0.02 * cost.numpy()): INTEREST,
        bill(lambda extra: 0.1 * float(extra) * extra): f"{SURCHARGE}one of the two factors is still a plain number or "
        "a copy.",
        bill(lambda extra: 0.1 * float(extra) ** 2): f"{SURCHARGE}both factors are plain numbers now; "
        "neither should be one.",
    },
    why="Both branches agree with finite differences. A None would have warned you. A wrong number doesn't.",
    minutes=8,
)

ROOTS = {"cbrt", "sqrt"}
EXPONENTIALS, LOGARITHMS = {"exp", "exp2", "exp10"}, {"log", "log2", "log10"}
"""Of both together a root could be computed again from x; a logarithm alone has its slope."""


def finish_at(value: float) -> list[Case]:
    """Return the cases at one x: whether the root is computed again, the result, its slope, and whether it is a sum."""
    m, x = round(math.cbrt(value), 6), ad.Variable(value, name="x")

    def computes_a_root(finish: Callable[..., Any]) -> bool:
        entries = record(finish, m, x)[1].entries
        names = {entry.name for entry in entries}
        has_both = not names.isdisjoint(EXPONENTIALS) and not names.isdisjoint(LOGARITHMS)
        return has_both or not names.isdisjoint(ROOTS) or any(map(_is_broken_power, entries))

    def is_sum(finish: Callable[..., Any]) -> bool:
        right = math.isclose(float(slope_of(finish, m, x)), 1 / (3 * m**2), rel_tol=1e-4)
        return right or any(entry.name in ("add", "subtract") for entry in record(finish, m, x)[1].entries)

    return [
        Case(
            computes_a_root,
            "Your function computes the root again from x. Use m, which is the root already, and products and "
            "quotients.",
        ),
        Case(
            lambda finish: record(finish, m, x)[0],
            f"finish({m:g}, x), at x = {value:.4g}, gives {{given}}, and the root is {{answer}}. A step closes the "
            "gap: m**3 - x.",
            within=1e-4,
        ),
        Case(
            lambda finish: slope_of(finish, m, x),
            f"The slope of finish({m:g}, x), at x = {value:.4g}, is {{given}}, and {{answer}} is right. Newton's step: "
            "m minus the gap divided by its steepness, which is the slope of m**3 at m.",
            within=1e-4,
        ),
        Case(is_sum),
    ]


def _is_broken_power(entry: Any) -> bool:
    return entry.name in ("power", "float_power") and not float(np.asarray(entry.values[1])).is_integer()


ALONE = "Your function gives almost 0. That is the step alone: "
SLOPE = "The slope is {given}, and {answer} is right. "
FINISH = Function(
    "Give halving a gradient",
    """\
`cube_root` finds a cube root by halving, so its result has no gradient. Write `finish(m, x)`. It is given `m`, a plain number that's within a millionth of the root, and the tensor `x`. It returns a tensor with that value
*and* the right slope with respect to `x`. One Newton step will do: what's the gap, and how steep is it? Don't compute the root again from x (no `np.cbrt`, no `x ** (1 / 3)`).""",
    signature="finish(m, x)",
    cases=[case for x in np.random.default_rng(61).uniform(2.0, 90.0, size=3).tolist() for case in finish_at(x)],
    answer=lambda m, x: m - (m**3 - x) / (3 * m**2),
    spellings=[lambda m, x: (2 * m + x / m**2) / 3],
    hints={
        lambda m, x: ad.constant(m): "The gradient of finish(3.26935, x), at x = 34.94, is None: nothing that it "
        "returns was computed from x. The gap m**3 - x is almost 0, and it is computed from x.",
        lambda m, x: (m**3 - x) / (3 * m**2): f"{ALONE}subtract it from m.",
        lambda m, x: (x - m**3) / (3 * m**2): f"{ALONE}add it to m.",
        lambda m, x: (
            m**3 - x
        ): "Your function gives almost 0. That is the gap alone: divide it by the steepness of m**3, "
        "and subtract that from m.",
        lambda m, x: m + 0 * x: SLOPE + "0 hides the None and repairs nothing. How far does the root move if x does?",
        lambda m, x: m - (m**3 - x) / m**2: SLOPE + "That is three times too steep: the slope of m**3 is 3 * m**2, not "
        "m**2.",
        lambda m, x: x / m**2: SLOPE + "The value is right, but m is a plain number, so its share of the slope is "
        "missing.",
        lambda m, x: (m + x / m**2) / 2: SLOPE + "The mean of m and x / m**2 is the square root's step. How steep is "
        "m**3?",
        lambda m, x: m + (m**3 - x) / (3 * m**2): SLOPE + "Check the sign: if x grows, so does the root.",
        lambda m, x: m - (m**3 - x): SLOPE + "That is the gap alone. Divide it by the steepness of m**3.",
        lambda m, x: m + (m**3 - x): SLOPE
        + "That is the gap alone, with the wrong sign. Divide it by the steepness of "
        "m**3.",
        lambda m, x: m - (m**3 - x) / (3 * m): SLOPE + "Divided by 3 * m. How steep is m**3?",
        lambda m, x: m - (m**3 - x) / m**3: SLOPE + "Divided by m**3, which is its value. How steep is it?",
        lambda m, x: m - (m**3 - x) / 3: SLOPE + "Divided by 3. How steep is m**3?",
        lambda m, x: m - (m**3 - x) / 3 * m**2: SLOPE
        + "`/ 3 * m**2` divides by 3 and then multiplies by m**2. Put the "
        "steepness in brackets.",
        lambda m, x: m - (m**3 - x) * 3 * m**2: SLOPE + "You multiply the gap by the steepness. Divide it.",
        lambda m, x: m - (m**3 - x) / (3 * x**2): SLOPE + "That is the steepness at x. Newton's step wants it at m.",
    },
    why="Halving did the searching, and the result has the right slope: 1 / (3m²).",
    minutes=10,
)

QUESTIONS = (*PREDICTIONS, WHILE_LOOP, BILL, FINISH)
