"""The exercises of chapter 6, control flow: a while loop, half a cut to find, a gradient for a search by halving."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, number, shortened
from ..predictions import Prediction

SLOPES = {3: 108.0, 7: 147.0, 60: 1.0}
TURNS = {3: 3, 7: 2, 60: 0}


def while_loop(answer: Any) -> str:
    """Check 6.1: the slopes of a while loop at three places, as a dict."""
    needs_dict(answer, "{3: 1.0, 7: 1.0, 60: 1.0}")
    needs_each(answer, SLOPES, "No slope is given at")
    for place, right in SLOPES.items():
        if answer[place] is None:
            raise NotYet(
                f"At {place} the gradient is not None. A loop cuts nothing: the tape holds the turns that were taken."
            )
        given = number(answer[place], f"the slope at {place}")
        if not near(given, right):
            raise NotYet(f"At {place}: {_about_turns(place, given)}")
    return "Three turns make x⁴, two make x³, none leaves x. The same code is a different function at each place."


def _about_turns(place: int, given: float) -> str:
    turns = TURNS[place]
    if (place, given) == (3, 27.0):
        return (
            "27 is 3³: the slope after 2 turns, or the contribution of only one of the four factors after 3. Which did "
            "you compute?"
        )
    if given == 0:
        return "0 would mean that y does not change with x. y begins as x, and each turn multiplies by x."
    if near(given, float(place ** (turns + 1))):
        return f"{given:g} is the value of y at the end. Its slope is asked for."
    for other in range(9):
        if other != turns and near(given, (other + 1) * float(place) ** other):
            direction = "many" if other > turns else "few"
            return (
                f"{given:g} is the slope after {other} turn{'s' * (other != 1)}, which is too {direction}. Write the "
                "values of y down, one by one, until y reaches 50."
            )
    if near(given, float(place**turns)):
        return f"{given:g} counts one of the factors only. y is x multiplied by itself, and every factor contributes."
    return "Which power of x does y hold when the loop ends? Take the slope of that."


def bill(answer: Any) -> str:
    """Check 6.2: an electricity bill whose two half cuts are repaired, at hidden uses in both branches."""
    needs_function(answer, "bill(use)")
    for use in (0.7, 1.6, 2.9, 4.3):
        _one_bill(answer, use)
    return "Both branches agree with finite differences. A None would have warned you. A wrong number doesn't."


def _one_bill(answer: Any, use: float) -> None:
    written, x = f"bill({use:g})", ad.Variable(use, name="use")
    with ad.GradientTape(persistent=True) as tape:
        given = call(answer, x, written=written)
    if not isinstance(given, ad.Tensor):
        raise NotYet(f"{written} gives {shortened(given)}, which is not a tensor. Return the cost as it is computed.")
    late, above = 1.02**3, max(use - 2.0, 0.0)
    value, right = late * (0.3 * use + 0.1 * above**2), late * (0.3 + 0.2 * above)
    if not math.isclose(number(given, written), value, rel_tol=1e-6):
        raise NotYet(f"{written} gives {float(given):.6g}, and it was {value:.6g}. Repair the cuts and keep the bill.")
    slope = tape.gradient(given, x)
    if slope is None:
        raise NotYet(f"The gradient of {written} is None now. {tape.explain(given, x).causes[0].text}")
    if math.isclose(float(slope), right, rel_tol=1e-6):
        return
    start = f"At use = {use:g} the gradient is {float(slope):.6g}, and {right:.6g} is right."
    for wrong, why in [
        (0.3, "Does the interest count in the slope? Look at the loop, where a value leaves for NumPy in each turn."),
        (late * (0.3 + 0.1 * above), "In the surcharge one of the two factors is still a plain number."),
        (late * 0.3, "In the surcharge both factors are plain numbers now; neither should be one."),
    ]:
        if math.isclose(float(slope), wrong, rel_tol=1e-6):
            raise NotYet(f"{start} {why}")
    left = tape.explain(given, x).left_out
    raise NotYet(f"{start} {left[0].text if left else 'Which branch is taken there, and what goes into it?'}")


ROOTS = {"cbrt", "sqrt", "exp", "log", "exp2", "log2", "log10", "exp10"}
"""By which a root could be computed again from x."""


def finish(answer: Any) -> str:
    """Check 6.3: `finish(m, x)` gives the result of a search by halving the slope of a cube root."""
    needs_function(answer, "finish(m, x)")
    for value in np.random.default_rng(61).uniform(2.0, 90.0, size=3).tolist():
        _one_root(answer, value)
    return "Halving did the searching, and one Newton step brought the slope: 1 / (3m²)."


def _one_root(answer: Any, value: float) -> None:
    m = round(math.cbrt(value), 6)
    written, x = f"finish({m:g}, x), at x = {value:.4g},", ad.Variable(value, name="x")
    with ad.GradientTape(persistent=True) as tape:
        given = call(answer, m, x, written=written)
    if given is None:
        raise NotYet(f"{written} gives None. Does it return its result?")
    if not isinstance(given, ad.Tensor):
        raise NotYet(f"{written} gives {shortened(given)}, which is not a tensor. Compute it with the tensor x.")
    if any(entry.name in ROOTS or _is_broken_power(entry) for entry in tape.entries):
        raise NotYet(
            f"{written} computes the root again from x. Use m, which is the root already, and products and quotients."
        )
    slope, right = tape.gradient(given, x), 1 / (3 * m**2)
    if slope is None:
        raise NotYet(
            f"The gradient of {written} is None: nothing that it returns was computed from x. The gap m**3 - x is "
            "almost 0, and it is computed from x."
        )
    result, slope = number(given, written), number(slope, "its slope")
    if abs(result) < 1e-4 and math.isclose(abs(slope), right, rel_tol=1e-4):
        raise NotYet(
            f"{written} gives almost 0. That is the step alone: {'add it to' if slope > 0 else 'subtract it from'} m."
        )
    if not math.isclose(result, m, rel_tol=1e-4):
        raise NotYet(f"{written} gives {result:.6g}, and the root is {m:.6g}. A step closes the gap: m**3 - x.")
    if math.isclose(slope, right, rel_tol=1e-4):
        return
    steep = "That is three times too steep: the slope of m**3 is 3 * m**2, not m**2."
    if not any(entry.name in ("add", "subtract") for entry in tape.entries):
        steep = "x / m**2 has the right value, but m is a plain number, so its share of the slope is missing."
    for wrong, why in [
        (0.0, "0 hides the None and repairs nothing. How far does the root move if x does?"),
        (1 / m**2, steep),
        (1 / (2 * m**2), "The mean of m and x / m**2 is the square root's step. How steep is m**3?"),
        (-right, "Check the sign: if x grows, so does the root."),
        (1.0, "That is the gap alone. Divide it by the steepness of m**3."),
        (-1.0, "That is the gap alone, with the wrong sign. Divide it by the steepness of m**3."),
        (1 / (3 * m), "Divided by 3 * m. How steep is m**3?"),
        (1 / m**3, "Divided by m**3, which is its value. How steep is it?"),
        (1 / 3, "Divided by 3. How steep is m**3?"),
        (m**2 / 3, "`/ 3 * m**2` divides by 3 and then multiplies by m**2. Put the steepness in brackets."),
        (3 * m**2, "You multiply the gap by the steepness. Divide it."),
        (1 / (3 * value**2), "That is the steepness at x. Newton's step wants it at m."),
    ]:
        if math.isclose(slope, wrong, rel_tol=1e-4, abs_tol=1e-12):
            raise NotYet(f"The slope of {written} is {slope:.6g}, and {right:.6g} is right. {why}")
    raise NotYet(
        f"The slope of {written} is {slope:.6g}, and {right:.6g} is right. Newton's step: m minus the gap divided by "
        "its steepness, which is the slope of m**3 at m."
    )


def _is_broken_power(entry: Any) -> bool:
    return entry.name in ("power", "float_power") and not float(np.asarray(entry.values[1])).is_integer()


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "`f` is -x below -1, x · x from -1 to 1, and x + 1 from there on. At `x = 0.5`, how many entries will the tape "
        "of `f(x)` have, comparisons included?",
        answer=3,
        hints={
            1: "That is the product. But comparing a tensor with a number is an operation, too.",
            2: "Count the comparisons that are made before one of them is true.",
            4: "Does anything happen in a branch that is not taken?",
            5: "Only what runs is on the tape: not the branches that are not taken.",
        },
        why="`x < -1.0` is False, `x < 1.0` is True, and the product: three operations ran.",
    ),
    Prediction(
        "At `x = -1` the branches `-x` and `x * x` meet in a kink. What slope will the tape find there?",
        answer=-2,
        hints={
            -1: "That is the slope of `-x`, which is taken where x < -1. Is -1 less than -1?",
            -1.5: "That is the mean of both sides. The tape knows one branch only.",
            1: "That is the value of f there.",
            2: "Check the sign.",
            None: "A branch cuts nothing. Which one is taken at -1?",
        },
        why="-1 is not less than -1, so the middle branch runs, and 2x is -2.",
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
        "`root(x)` repeats `y = (y + x / y) / 2` until `y * y` is close enough to `x`. What slope will the tape find "
        "at `x = 4`?",
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
        "`rate_by_halving` finds the same rate, 7.93 %. What will the tape say drate/dpayment is?",
        answer="None",
        choices=("0.0015, as before", "0", "None"),
        hints={
            "0.0015, as before": "The value is the same. But what is `middle` computed from?",
            "0": "0 would mean that there is a path from `rate` back to `payment`. What is `middle` computed from?",
        },
        why="`middle` is computed from 0.0 and 1.0; `payment` only decides which half to keep.",
    ),
    Prediction(
        "`y = float(x) * x` at `x = 2`. What slope will the tape find?",
        answer=2,
        hints={
            4: "That is the slope of x². But what does a tape know about `float(x)`?",
            0: "The second factor is still `x`.",
            None: "One of the two factors is still `x`, so there is a path.",
        },
        why="To the tape, this is 2.0 · x: the contribution of the other factor is missing.",
    ),
    Judge(
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
        while_loop,
    ),
    Judge(
        "Half a cut, found",
        """\
An electricity bill: `use` is a tensor, in MWh. Above 2 MWh there's a surcharge that grows with what you use, and this bill is three months late. The value is right, and the gradient is never `None`. It's wrong all
the same, in more than one line. Find the cuts and repair them; the bill must stay as it is. The check tries both branches.""",
        bill,
    ),
    Judge(
        "Give halving a gradient",
        """\
`cube_root` finds a cube root by halving, so its result has no gradient. Write `finish(m, x)`. It is given `m`, a plain number that's within a millionth of the root, and the tensor `x`. It returns a tensor with that value
*and* the right slope with respect to `x`. One Newton step will do: what's the gap, and how steep is it? Don't compute the root again from x (no `np.cbrt`, no `x ** (1 / 3)`).""",
        finish,
    ),
)
