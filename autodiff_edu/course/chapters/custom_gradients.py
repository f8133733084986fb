"""Custom gradients: which test finds which mistake, a rule with two arguments, and a rule right to second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.rule import runs_code
from ..exercises import Case, Choice, Function, Table, record, short, slope_of
from ..feedback import near
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "At x = 1000, which side of this equation does NumPy compute as 1?",
        answer="only the right",
        choices=("only the left", "only the right", "both", "neither"),
        hints={
            "only the left": "`np.exp(1000.0)` is inf. What is inf divided by inf?",
            "both": "On paper, yes. But `np.exp(1000.0)` is inf. What is inf divided by inf?",
            "neither": "inf divided by inf is nan, so the left side is out. What is 1 divided by inf?",
        },
        why="inf / inf is nan, but 1 / inf is 0, and 1 - 0 is 1.",
    ),
    Prediction(
        "At x = 0, what will the `backward` of `textbook` return in `10.0 * textbook(x)`?",
        answer=5,
        hints={
            0.5: "That is the slope of `textbook` at 0. What arrives from the product with 10?",
            10: "That is what arrives. `backward` multiplies it by the slope, which is 1 - 1 / (1 + e) with e = 1.",
            1: "1 is the seed, at the end of the chain. The product makes 10 of it before it arrives at `textbook`.",
            6.93: "That is the value of the whole chain. What goes back?",
        },
        why="10 arrives, the slope is 1 - 1/2, and 10 times 0.5 is 5.",
    ),
    Prediction(
        "What does NumPy compute for `1 - 1 / (1 + np.exp(x))` at x = -40?",
        answer="0",
        choices=("4.2e-18", "0", "nan"),
        hints={
            "4.2e-18": "That is right on paper. How many digits does an 8-byte number have?",
            "nan": "Nothing overflows here: `np.exp(-40.0)` is a small number. What is 1 plus that?",
        },
        why="A number keeps about 16 digits, so 1 + 4.2e-18 is 1, and 1 - 1 is 0.",
    ),
    Prediction(
        "The slope of `forgetful` at 1 is 0.731. What slope will the tape give for `10.0 * forgetful(x)`?",
        answer=0.731,
        hints={
            7.31: "That is the true slope. Who would multiply by the 10?",
            10: "That is what arrives at `forgetful`. What does its backward do with it?",
        },
        why="10 arrives, and `backward` never looks at it.",
    ),
    Prediction(
        "We test `careful` at -1, 0 and 1. Where does `check_gradients` find something wrong?",
        answer="only at 0",
        choices=("nowhere", "only at 0", "only at -1", "at -1 and 0"),
        hints={
            "nowhere": "`slope` treats x > 0 and x < 0 differently. What happens where the two meet?",
            "only at -1": "Left of 0 its formulas are as smooth as right of it. Where do the two meet?",
            "at -1 and 0": "Left of 0 its formulas are as smooth as on the right, and at 1 it passed.",
        },
        why="`np.abs` has a kink at 0, and `backward` uses it.",
    ),
    Prediction(
        "What is the gradient of `clip_gradient(v, 0.5) ** 2` at v = 2?",
        answer=0.5,
        hints={
            2: "That is the other order. Here the square comes first on the way back. What does it send to the clip?",
            4: "4 is what arrives at the clip. Is it longer than 0.5?",
            1: "The square sends 4 to the clip, and the clip shortens that to 0.5. Nothing comes after it.",
            0.25: "Only the cotangent is shortened. On the way forward, v is still 2.",
        },
        why="The square sends 2v = 4 to the clip, which shortens it to 0.5.",
    ),
    Prediction(
        "Which gradient will the loaded function have at v = 2?",
        answer="2, by our rule",
        choices=("2, by our rule", "4, as a square has", "None, as `backward` is missing"),
        hints={
            "4, as a square has": "The file holds operations. Isn't `backward` made of operations too?",
            "None, as `backward` is missing": "The file holds operations. Isn't `backward` made of operations too?",
        },
        why="`backward` is a list of operations too, and the file holds it.",
    ),
)


def verdict(answer: str, **hints: str) -> Choice:
    """Return the part of an answer that says which test is the first to fail."""
    return Choice(answer=answer, choices=("alone", "chain", "twice", "none"), hints=hints)


FIRST_TO_FAIL = Table(
    "Which test finds it?",
    """\
Five people have written the rule of a cube, whose slope is 3x²:

```python
@ad.custom_gradient
def cube(x):
    slope = 3.0 * x * x

    def backward(dy):
        return ...

    return x * x * x, backward
```

They return

```python
A: slope
B: dy * slope
C: dy * 3.0 * x.numpy() ** 2
D: np.abs(dy) * 3.0 * x * x
E: dy * 6.0 * x
```

Each is tested at x = 2 in three ways, one after the other: the slope of `cube` alone, which should be 12; the slope of the chain `-5.0 * cube(x)`; and the slope of the slope of `cube`, 6x. Without running it: which is the first test to fail, `"alone"`, `"chain"` or `"twice"`? If all three pass, write `"none"`.""",
    called="first test to fail",
    parts={
        "A": verdict(
            "chain",
            alone="Alone, the seed 1 arrives at A, and nobody misses a factor of 1.",
            twice="A has no `dy` in it. Which test is the first to send something other than 1?",
            none="Where is `dy` in A? In the chain, -5 arrives.",
        ),
        "B": verdict(
            "none",
            alone="B multiplies by 3x², which is 12 at x = 2.",
            chain="B multiplies whatever arrives by 3x².",
            twice="`slope` is computed outside backward, but from the tensor x. Does it know that it came from x?",
        ),
        "C": verdict(
            "twice",
            alone="The numbers in C are right, so the first slope is too.",
            chain="C multiplies whatever arrives by 3x².",
            none="The numbers in C are right. But does the tape know that they change with x?",
        ),
        "D": verdict(
            "chain",
            alone="Alone, 1 arrives at D, and |1| is 1.",
            twice="In the chain, -5 arrives. What does D make of its sign?",
            none="In the chain, -5 arrives. What does D make of its sign?",
        ),
        "E": verdict(
            "twice",
            alone="At x = 2, what is 6x? And 3x²?",
            chain="At x = 2, E multiplies whatever arrives by 12, as it should.",
            none="At x = 2, 6x is as large as 3x². Do the two change with x equally fast?",
        ),
    },
    why="A and D fail when something other than 1 arrives, C and E when the rule itself is differentiated. B uses a "
    "tensor from outside, which still knows where it came from.",
    minutes=8,
)

APART, NEAR = ad.constant([2.0, -1.0, 0.5]), ad.constant([0.5, 1.0, 0.7])
PUSH_A, PUSH_B = np.array([0.7, -1.1, 0.4]), np.array([-0.3, 0.8, 1.6])
Rule = Callable[[Any, Any, Any], Any]


def distance_by(rule: Rule) -> Callable[[Any, Any], Any]:
    """Return a distance whose backward returns `rule(dy, gap, r)`."""

    @ad.custom_gradient
    def distance(a: Any, b: Any) -> Any:
        gap = a - b
        r = np.sqrt(np.sum(gap * gap))
        return r, lambda dy: rule(dy, gap, r)

    return distance  # an error in it has the name that it has in a learner's


def both(function: Callable[[Any, Any], Any], a: Any, b: Any, dy: float) -> Any:
    """Return what a learner's function sends back to its two arguments."""
    result, tape = record(function, a, b)
    return tape.gradient(result, [a, b], output_gradients=dy)


def both_twice(function: Callable[[Any, Any], Any]) -> Any:
    """Return the gradient of a product with the gradient of the square of a learner's function."""
    with ad.GradientTape() as outer:
        outer.watch([APART, NEAR])
        with ad.GradientTape() as inner:
            inner.watch([APART, NEAR])
            target = function(APART, NEAR) ** 2 + function(APART, NEAR)
        to_a, to_b = inner.gradient(target, [APART, NEAR])
        product = np.sum(to_a * PUSH_A) + np.sum(to_b * PUSH_B)
    return [np.zeros(3) if each is None else each for each in outer.gradient(product, [APART, NEAR])]


def unit(gap: Any, r: Any) -> Any:
    """Return the direction from b to a, or zeros."""
    return gap / np.where(r > 0.0, r, 1.0)


def opposite(to_a: Any) -> tuple[Any, Any]:
    """Return the contributions to a and to b."""
    return to_a, -to_a


COINCIDE = "Where the points are apart, your gradient is right. Where they coincide it is {given}, and should be 0."
DISTANCE = Function(
    "Two points that meet",
    """\
A program that spreads points over a drawing needs the distance between two points `a` and `b`, which are arrays, and its gradient. Where the points coincide, the tape's own gradient is `nan`: a root has no slope at 0 (chapter 12). Write a `backward` whose gradient is right wherever the points are apart, in a chain and to second order, and 0 for both points where they coincide.""",
    signature="distance(a, b)",
    cases=[
        Case(
            lambda f: isinstance(f(APART, NEAR), tuple),
            "distance(a, b) returns a tuple. Write `@ad.custom_gradient` above the function.",
        ),
        Case(lambda f: record(f, APART, NEAR)[0], "The distance should be {answer}, and yours is {given}."),
        Case(
            lambda f: any(runs_code(entry.operation) for entry in record(f, APART, NEAR)[1].entries),
            "Your function has no custom gradient. Return the value and backward(dy), under `@ad.custom_gradient`.",
        ),
        Case(
            lambda f: both(f, APART, NEAR, 1.0),
            f"For a = {short(APART)} and b = {short(NEAR)}, the two slopes should be {{answer}}, and yours are "
            "{given}. If a moves directly away from b, the distance grows by as much as a moves.",
        ),
        Case(
            lambda f: both(f, APART, NEAR, -2.5),
            "Right alone. But when -2.5 arrives, {given} leaves, and it should be {answer}.",
        ),
        Case(lambda f: both(f, APART, APART + 0.0, 1.0), COINCIDE),
        Case(
            both_twice,
            "The gradient is right, and its own slope is wrong. Is a part of your backward computed from plain numbers?",
        ),
    ],
    answer=distance_by(lambda dy, gap, r: opposite(dy * unit(gap, r))),
    spellings=[
        distance_by(lambda dy, gap, r: opposite(dy * np.where(r > 0.0, gap / r, 0.0))),
        distance_by(lambda dy, gap, r: opposite(dy * gap / r if r > 0.0 else 0.0 * gap)),
        distance_by(lambda dy, gap, r: opposite(dy * gap / np.maximum(r, 1e-300))),
    ],
    hints=[
        (
            distance_by(lambda dy, gap, r: ...),
            "There are two arguments, so backward(dy) returns two contributions: one for `a`, and one for `b`.",
        ),
        (distance_by(lambda dy, gap, r: (..., ...)), "Replace the three dots: what goes to `a`, and what to `b`?"),
        (
            distance_by(lambda dy, gap, r: (dy * unit(gap, r), None)),
            "What you send to `a` is right, and `b` gets None. If `b` moves, does the distance change?",
        ),
        (
            distance_by(lambda dy, gap, r: (None, -dy * unit(gap, r))),
            "What you send to `b` is right, and `a` gets None. If `a` moves, does the distance change?",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(dy * np.abs(gap) / np.where(r > 0.0, r, 1.0))),
            "Your contributions have lost the sign of each coordinate. If a coordinate of `a` is smaller than that of `b`, "
            "does raising it bring the points closer?",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(dy * unit(gap, r) / np.where(r > 0.0, r, 1.0))),
            "Your slopes shrink as the points move apart. But if `a` moves by 1 directly away from `b`, the distance "
            "always grows by 1. Do you divide by the distance once too often?",
        ),
        (
            distance_by(lambda dy, gap, r: (dy * unit(gap, r), dy * unit(gap, r))),
            "What you send to `a` is right. If `b` moves the same way as `a`, does the distance change?",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(-dy * unit(gap, r))),
            "The two have changed places: `a` got the contribution of `b`, and `b` that of `a`. `a` comes first.",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(dy * gap)),
            "Your contributions are as long as the gap. But if `a` moves by 1 directly away from `b`, the distance grows "
            "by 1, however large it is.",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(2.0 * dy * gap)),
            "That is the gradient of the *squared* distance. The root is missing.",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(0.5 * dy / r)),
            "Your contributions are single numbers. Each should have the shape of its argument, a number for each "
            "coordinate: what is under the root depends on all of them.",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(dy * gap / (2.0 * np.where(r > 0.0, r, 1.0)))),
            "Your slopes are half as large as they should be. The root brings a ½. What does the square under it bring?",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(dy * gap / r if r > 0.0 else 0.0)),
            "Where the points are apart, your gradient is right. Where they coincide, your contributions are single "
            "numbers, and each should have the shape of its argument.",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(unit(gap, r))),
            "Right alone, but the cotangent is forgotten: multiply by `dy`.",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(dy * gap / r)),
            "Where the points are apart, your gradient is right. Where they coincide it is nan. Do you divide 0 "
            "by 0? Chapter 12 shows how to put a harmless number there.",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(dy * unit(gap, r).numpy())),
            "The gradient is right, and its own slope is wrong: plain numbers have forgotten that they came from `a` "
            "and `b`. Leave them tensors.",
        ),
        (
            distance_by(lambda dy, gap, r: opposite(dy * gap / r.numpy() if r > 0.0 else 0.0 * gap)),
            "The gradient is right, and its own slope is wrong: your `r` has forgotten that it came from `a` and "
            "`b`. Leave it a tensor, and uncut.",
        ),
    ],
    why="Two points, two contributions: equal and opposite, in a chain and to second order, and 0 where they coincide.",
    minutes=10,
)


def log_cosh(slope: Callable[[Any, Any], Any], value: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
    """Return log(cosh x), or another value, whose backward returns `slope(dy, x)`."""

    @ad.custom_gradient
    def custom(x: Any) -> Any:
        y = np.logaddexp(x, -x) - np.log(2.0) if value is None else value(x)
        return y, lambda dy: slope(dy, x)

    return custom


POINTS, FAR = ad.constant([0.0, -1.3, 0.4, 2.1]), ad.constant([-1000.0, 1000.0])
COTANGENTS, PROBE = np.array([0.7, -1.9, 2.2, -0.3]), np.array([1.1, -0.6, 0.9, 1.7])


def pull_back(function: Callable[[Any], Any]) -> Any:
    """Return what a learner's function sends back if another cotangent arrives at each element."""
    return slope_of(lambda x: np.sum(function(x) * COTANGENTS), POINTS)


def pull_back_twice(target: Callable[[Any], Any], function: Callable[[Any], Any], x: Any, probe: Any) -> Any:
    """Return the gradient of the product of the probe with the gradient of `target(f(x))`."""
    with ad.GradientTape() as outer:
        outer.watch(x)
        product = np.sum(slope_of(lambda x: target(function(x)), x) * probe)
    second = outer.gradient(product, x)
    return np.zeros(x.shape) if second is None else second


def say_second(found: Any, wanted: Any) -> str:
    """Return what is said of a slope whose own slope is wrong."""
    if near(found[1:], wanted[1:], 1e-5):
        return (
            f"Right once, wrong twice: at 0 the slope of the slope should be 1, and yours is {found[0] / wanted[0]:g}. "
            "Which part of your backward has a kink there?"
        )
    return (
        "The slope is right, and its own slope is wrong even away from 0. Is a part of it computed from plain numbers?"
    )


FORGETS = (
    "The slope is right, and its own slope is 0 everywhere: it has forgotten that it came from x. Leave x a tensor: no "
    "`.numpy()`, no `float`, no `stop_gradient`."
)
OVERFLOWS = (
    "Near 0 the slope is right, and at 1000 or -1000 it is nan: an exponential overflows. Does NumPy have a function for "
    "this slope?"
)
SECOND_ORDER = Function(
    "Right to second order",
    """\
If a measurement is off by `x`, log(cosh x) is a good loss: like a square near 0, and like |x| far out, so a single wild measurement can't do much harm. Its slope is (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ). The value below is already safe at 1000. Write `backward` so that the gradient is too, in a chain and to second order, at 0 as well. Keep the custom gradient.""",
    signature="log_cosh(x)",
    cases=[
        Case(
            lambda f: isinstance(f(POINTS), tuple),
            "log_cosh(x) returns a tuple. Write `@ad.custom_gradient` above the function.",
        ),
        Case(
            lambda f: record(f, POINTS)[0],
            f"At x = {short(POINTS)} the value should be {{answer}}, and yours is {{given}}.",
        ),
        Case(
            lambda f: any(runs_code(entry.operation) for entry in record(f, POINTS)[1].entries),
            "The tape finds this gradient by itself: your function has no custom gradient. Return the value and "
            "backward(dy), under `@ad.custom_gradient`.",
        ),
        Case(
            pull_back,
            f"At x = {short(POINTS)} the cotangents {short(COTANGENTS)} should become {{answer}}, and yours become "
            "{given}.",
            within=1e-5,
        ),
        Case(lambda f: pull_back_twice(lambda y: y * COTANGENTS, f, POINTS, PROBE), say_second, within=1e-5),
        Case(
            lambda f: pull_back_twice(np.square, f, POINTS, PROBE),
            "Right alone, but the second derivative of log_cosh(x) ** 2 is wrong: there the cotangent depends on x as "
            "well. Leave dy a tensor: no `.numpy()`, no `float`.",
            within=1e-5,
        ),
        Case(
            lambda f: record(f, FAR)[0],
            "At x = 1000 the value overflows. Keep the value of the template: it was safe already.",
        ),
        Case(lambda f: slope_of(f, FAR), "The slope should be -1 at -1000 and 1 at 1000; yours are {given}."),
        Case(
            lambda f: pull_back_twice(np.sum, f, FAR, 1.0),
            "The slope is right, also at 1000, but its slope is nan there: an exponential overflows. Does NumPy have a "
            "function for this slope?",
        ),
    ],
    answer=log_cosh(lambda dy, x: dy * np.tanh(x)),
    hints={
        log_cosh(lambda dy, x: dy * np.tanh(x), lambda x: np.logaddexp(x, -x)): "The value is too large by log 2. "
        "Keep the value of the template.",
        log_cosh(lambda dy, x: ...): "Replace the three dots: what does backward(dy) return?",
        log_cosh(lambda dy, x: None): "Your backward returns None, so nothing flows back. Is a `return` missing?",
        log_cosh(lambda dy, x: np.tanh(x)): "That is the slope, without the cotangent. Alone it is right; in a chain "
        "it is wrong.",
        log_cosh(lambda dy, x: -dy * np.tanh(x)): "Every sign is turned round: the slope of log(cosh x) is positive "
        "where x is.",
        log_cosh(lambda dy, x: dy): "Your backward passes the cotangent on unchanged. Multiply it by the slope.",
        log_cosh(lambda dy, x: dy * np.tanh(np.abs(x))): "To the left of 0 the slope is negative, and yours has lost "
        "its sign there.",
        log_cosh(
            lambda dy, x: dy * np.tanh(np.abs(x)) * x / np.abs(x)
        ): "Away from 0 the slope is right, and at 0 it is nan: 0 divided by 0.",
        log_cosh(lambda dy, x: dy * np.sign(x)): "That is the slope of |x|. Near 0 log(cosh x) is flatter than that.",
        log_cosh(lambda dy, x: dy / np.cosh(x) ** 2): "That is the slope of the slope. Return the slope, (eˣ - e⁻ˣ) / "
        "(eˣ + e⁻ˣ).",
        log_cosh(lambda dy, x: dy * np.sinh(x)): "That is only half of (eˣ - e⁻ˣ), not yet divided by half of (eˣ + "
        "e⁻ˣ).",
        log_cosh(lambda dy, x: dy + np.tanh(x)): "The cotangent is added. Multiply by it.",
        log_cosh(lambda dy, x: dy * np.tanh(x.numpy())): FORGETS,
        log_cosh(lambda dy, x: dy * (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))): OVERFLOWS,
        log_cosh(lambda dy, x: dy * (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1)): OVERFLOWS,
        log_cosh(lambda dy, x: dy * (1 - np.exp(-2 * x)) / (1 + np.exp(-2 * x))): OVERFLOWS,
    },
    why="The slope has no kink and no overflow, so its own slope is right too, even at 0.",
    minutes=7,
)

QUESTIONS = (*PREDICTIONS, FIRST_TO_FAIL, DISTANCE, SECOND_ORDER)
