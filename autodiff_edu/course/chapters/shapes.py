"""Shapes: adding up after broadcasting, the matrix product's rule, and a fit that goes flat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_function, numbers, shortened
from ..predictions import Prediction

FOLDS = [
    ((3, 4), (3, 1), "the axis of length 1"),
    ((3, 4), (4,), "the axis that is missing on the left"),
    ((3, 4), (), "a single number"),
    ((2, 3, 4), (3, 1), "an axis that is missing on the left, and one of length 1"),
    ((2, 3, 4), (2, 1, 1), "two axes of length 1"),
    ((3, 3), (3,), "a square, in which only the left axis was added"),
    ((3, 4), (3, 4), "nothing to add up"),
    ((1, 4), (1, 4), "an axis of length 1 that was not stretched"),
    ((1, 4), (4,), "an axis of length 1 that was added"),
]
"""Shapes of a cotangent and of its source, and what there is to add up."""


def fold(answer: Any) -> str:
    """Check 3.1: un-broadcasting, `fold(g, shape)`, on nine pairs of shapes."""
    needs_function(answer, "fold(g, shape)")
    random = np.random.default_rng(20140309)
    for start, shape, what in FOLDS:
        g = random.integers(1, 10, size=start).astype(float)
        given = call(answer, g.copy(), shape, written=f"fold(g, {shape}), for a g of shape {start},")
        _judge_fold(given, g, shape, what)
    return "You sum away what was added on the left; what had length 1 you sum and keep."


def _judge_fold(given: Any, g: Any, shape: tuple[int, ...], what: str) -> None:
    start = f"For a g of shape {g.shape} and the shape {shape} ({what})"
    folded = numbers(given, f"what fold(g, {shape}) returns")
    right = _folded(g, shape)
    if folded.shape != right.shape:
        raise NotYet(f"{start} your function returns the shape {folded.shape}. {_about_shape(folded, g, shape)}")
    if np.allclose(folded, right):
        return
    if np.allclose(folded, right * (right.size / g.size)):
        raise NotYet(f"{start} your function returns the mean. Contributions are added up, as always.")
    if g.shape == (3, 3) and np.allclose(folded, g.sum(axis=1)):
        raise NotYet(f"{start} your function sums the right axis. NumPy adds missing axes on the left.")
    if np.isin(folded, g).all():
        raise NotYet(f"{start} your function picks some of the contributions. All of them count: sum them.")
    raise NotYet(f"{start} the sums are {_shown(right)}, and your function returns {_shown(folded)}.")


def _about_shape(folded: Any, g: Any, shape: tuple[int, ...]) -> str:
    if folded.shape == g.shape and folded.size > np.prod(shape):
        return "Nothing was summed. The source has fewer elements than g, so some of the contributions must be added."
    if folded.shape == ():
        return "Everything was summed. Sum only over the axes along which the source was repeated."
    if folded.ndim > len(shape):
        return "An axis that was added on the left is still there: sum over it without `keepdims`."
    if folded.shape == tuple(length for length in shape if length != 1):
        return "An axis of length 1 was lost: sum over it with `keepdims=True`."
    if folded.ndim < len(shape):
        return "You summed over the wrong axis. Sum where the source has length 1, with `keepdims=True`."
    return "Compare the two shapes from the right: which axes were repeated?"


def _folded(g: Any, shape: tuple[int, ...]) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(k for k, length in enumerate(shape) if length == 1), keepdims=True)


def matmul_rule(answer: Any) -> str:
    """Check 3.2: the rule of the matrix product, `rule(g, z, x, y)`, against central differences."""
    needs_function(answer, "rule(g, z, x, y)")
    random = np.random.default_rng(20140311)
    for n, k, m in ((2, 3, 4), (4, 2, 3), (3, 3, 3)):
        x, y, g = (random.uniform(1.0, 3.0, size=size) for size in ((n, k), (k, m), (n, m)))
        sizes = f"x {x.shape}, y {y.shape}, g {g.shape}"
        try:
            given = call(answer, g.copy(), x @ y, x.copy(), y.copy(), written=f"rule(g, z, x, y), for {sizes},")
        except NotYet as hint:
            if isinstance(hint.__cause__, ValueError):
                if "broadcast" in str(hint):
                    raise NotYet(
                        f"{hint} `*` and `+` work element by element. The rule is made of matrix products, `@`."
                    ) from None
                raise NotYet(
                    f"{hint} These shapes do not fit together. In `a @ b` the last axis of a meets the first of b; "
                    "`.T` turns a matrix."
                ) from None
            raise
        _judge_matmul(given, g, x, y, f"For {sizes}")
    return "The shapes leave hardly a choice, and central differences agree, also for square matrices."


def _judge_matmul(given: Any, g: Any, x: Any, y: Any, start: str) -> None:
    if given is None:
        raise NotYet("Your rule returns None. End it with `return ..., ...`.")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"Your rule returns {shortened(given)}. Return two contributions: `return to_x, to_y`.")
    parts = [numbers(part, f"the contribution to {name}") for part, name in zip(given, "xy", strict=True)]
    right = [_slopes(lambda x: np.sum(g * (x @ y)), x), _slopes(lambda y: np.sum(g * (x @ y)), y)]
    if all(map(near, parts, right)):
        return
    if all(map(near, parts, right[::-1])):
        raise NotYet(f"{start}: the two contributions have changed places. That to x has the shape of x.")
    ones = np.ones_like(g)
    if all(map(near, parts, (ones @ y.T, x.T @ ones))):
        raise NotYet(f"{start}: the cotangent g is left out, as if it were all ones.")
    if near(parts[0], y.T) or near(parts[1], x.T):
        raise NotYet(f"{start}: the cotangent g is left out. Which product of g and y has the shape of x?")
    for name, part, slopes, source in zip("xy", parts, right, (x, y), strict=True):
        if part.shape != source.shape:
            turned = " Its transpose has that shape: turn it with `.T`." if part.shape == source.shape[::-1] else ""
            raise NotYet(
                f"{start}: the contribution to {name} has the shape {part.shape}, and {name} has "
                f"{source.shape}.{turned}"
            )
        if not near(part, slopes):
            raise NotYet(
                f"{start}: the contribution to {name} has the right shape, and central differences give other numbers. "
                "An entry of a matrix product is a row times a column: which entries of z does one element touch?"
            )


def _slopes(f: Callable[[Any], Any], at: Any, h: float = 1e-4) -> Any:
    slopes = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        change = np.zeros_like(at)
        change[place] = h
        slopes[place] = (f(at + change) - f(at - change)) / (2 * h)
    return slopes


def _shown(array: Any) -> str:
    return shortened(array.tolist())


def flat_fit(answer: Any) -> str:
    """Check 3.3: a mended fit of two measurements, on hidden samples, against the best plane."""
    needs_function(answer, "predictions_of(features, target)")
    random = np.random.default_rng(20140313)
    for n in (12, 30):
        features = random.normal(size=(n, 2)) * (3.0, 0.2) + (20.0, 1.5)
        target = features @ [[0.5], [-4.0]] + 2.0 + 0.1 * random.normal(size=(n, 1))
        with np.errstate(all="ignore"):
            given = call(answer, features.copy(), target.copy(), written=f"predictions_of(features, target), n = {n},")
        _judge_fit(given, features, target)
    return "Each prediction meets its own target, and the fit agrees with the best plane through the hidden samples."


def _judge_fit(given: Any, features: Any, target: Any) -> None:
    n = len(target)
    start = f"For features of shape {features.shape} and a target of shape {target.shape}"
    if isinstance(given, tuple | list) and len(given) == 2:
        raise NotYet(f"{start}: your function returns two things. Return the predictions alone.")
    predictions = numbers(given)
    if predictions.shape not in ((n,), (n, 1)):
        raise NotYet(
            f"{start}: your function returns the shape {predictions.shape}. "
            f"Return one prediction for each sample: ({n},) or ({n}, 1)."
        )
    predictions = predictions.ravel()
    if not np.isfinite(predictions).all() or np.abs(predictions).max() > 1e3:
        raise NotYet(
            f"{start}: the numbers run away. The rate suits the mean of {n} errors; with a sum the steps are too long."
        )
    if np.allclose(predictions, 0.0):
        raise NotYet(f"{start}: every prediction is still 0, so nothing was learned. Do w and b still change?")
    if np.ptp(predictions) < 0.05 * np.ptp(target):
        raise NotYet(
            f"{start}: still flat, every prediction is {predictions.mean():.2f}. Print the shapes of `prediction` and "
            f"`target`, and that of their difference. (`.T` does nothing to an array with one axis.)"
        )
    design = np.column_stack([features, np.ones(n)])
    best = (design @ np.linalg.lstsq(design, target, rcond=None)[0]).ravel()
    far = np.abs(predictions - best).max()
    if far > 0.01 * np.ptp(target):
        if np.corrcoef(predictions, best)[0, 1] > 0.99:
            raise NotYet(f"{start}: on its way, but not there yet. Leave `turns` and `rate` as they were.")
        raise NotYet(
            f"{start}: no longer flat, but off by up to {far:.2f}. Is each prediction compared with its own target, "
            "and with no other?"
        )


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "`weights` has the shape (3, 2), `offset` (2,), and `x` (3,). The target is the mean of "
        "`(x @ weights + offset) ** 2`. What shape is its gradient with respect to `weights`?",
        answer=(3, 2),
        hints={
            (): "That is the target's shape. You want a slope for each element of `weights`.",
            (2,): "That is the shape of the result before the mean. You want a slope for each element of `weights`.",
            (3,): "That is the shape of x. You want a slope for each element of `weights`.",
            (6,): "Six slopes, yes. Where does each of them stand?",
            (2, 3): "Six slopes, yes, but each stands in the place of its element.",
        },
        why="One slope for each of the six elements, in that element's place.",
    ),
    Prediction(
        "The target is `np.cumsum(x)`, three running sums. What is the gradient with respect to `x`?",
        answer="[3 2 1]",
        choices=("[3 2 1]", "[1 2 3]", "[1 1 1]", "[5 11 18]"),
        hints={
            "[1 2 3]": "That counts how many elements each sum has. In how many sums is each element?",
            "[1 1 1]": "Those are the slopes of the last sum alone. The other two count as well.",
            "[5 11 18]": "That is the target itself.",
        },
        why="The first element is in all three sums, the second in two, the third in one.",
    ),
    Prediction(
        "The targets are x² and (x, 10x) at x = 2, with the seeds 3 and (4, 5). What is the gradient with respect to "
        "`x`?",
        answer=66,
        hints={
            15: "Those are the slopes with seeds of ones: 4 + 1 + 10. Here each counts as much as its seed says.",
            12: "That is the first target's part. Add those of the second.",
            54: "That is the second target's part. Add that of the first.",
            60: "The slope of x² at 2 is 4, and it counts three times.",
            120: "That weighs the values, not the slopes.",
        },
        why="3 · 4 from the first, 4 · 1 and 5 · 10 from the second.",
    ),
    Prediction(
        "Row 0 of `to_x` is 10, 0, 60, 0: four contributions for one element of the column. What arrives at `x[0, 0]`?",
        answer=70,
        hints={
            17.5: "That is their mean. Chapter 2: the contributions of several uses are added.",
            10: "That is the first of them. The element was copied four times, and each copy sends something.",
            60: "That is the largest. All four count.",
            100: "That is the sum of all of row 2, not of row 0.",
            20: "That adds up the first column of `to_x`. Along which axis was the column copied?",
        },
        why="The element was copied four times, so four contributions are added up.",
    ),
    Prediction(
        "x is (1, 2, 3) and g is (10, 100). What arrives at `w[2, 0]`, in the last row and the first column?",
        answer=30,
        hints={
            300: "That is w[2, 1]. Which element of g belongs to column 0?",
            20: "That is w[1, 0]: rows are counted from 0.",
            100: "That is w[0, 1], in the first row and the last column.",
            3: "That is x alone. Every contribution is multiplied by a cotangent.",
            40: "That is the value of w times g. To w goes x times g.",
        },
        why="The element meets x[2] = 3 and goes to z[0], whose cotangent is 10.",
    ),
    Prediction(
        "How many times as large is the slope of the sum as that of the mean?",
        answer=342,
        hints={
            1: "The mean is the sum divided by something. What happens to a slope when you divide?",
            2: "The 2 of the square is in both.",
            116964: "That is 342 times 342. One mean divides once.",
        },
        why="The mean is the sum divided by 342, and so is its slope.",
    ),
    Prediction(
        "What shape is `error`?",
        answer=(342, 342),
        hints={
            (
                342,
                1,
            ): "That is `x @ w + b`. Now subtract (342,). Compare from the right: an axis is missing on the left.",
            (342,): "Compare from the right: in (342, 1) and (342,) the last axes are 1 and 342.",
            (1, 342): "The missing axis is added on the left: (1, 342). And now against (342, 1)?",
            (1, 1): "That is w. Start with `x @ w`: one row for each penguin.",
        },
        why="(342, 1) against (1, 342): both axes of length 1 are copied 342 times.",
    ),
    Judge(
        "Add up the copies",
        """\
Write `fold(g, shape)`. It's given a cotangent `g`, an array, and the shape that the source had before broadcasting. It returns an array of this shape. First sum over the axes that were added on the left. Then sum over those that had length 1, with `keepdims=True`.""",
        fold,
    ),
    Judge(
        "The rule of the matrix product",
        """\
`z = x @ y`, where `x` has the shape (n, k) and `y` the shape (k, m). Write the rule: it's given the cotangent `g` of `z`, and the values of `z`, `x`
and `y`. It returns two contributions, to `x` and to `y`. Start with the shapes.""",
        matmul_rule,
    ),
    Judge(
        "Find the flat fit",
        """\
This fit has two measurements for each sample: `features` has the shape (n, 2). `target` comes from a file as a column, (n, 1). Subtracting the mean and dividing by the spread puts both measurements on the same scale. The function runs, and every prediction comes out the same. Find the line, and mend
it. Careful: not every broadcasting here is a mistake.""",
        flat_fit,
    ),
)
