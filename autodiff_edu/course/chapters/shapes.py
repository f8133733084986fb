"""Shapes: adding up after broadcasting, the matrix product's rule, and a fit that goes flat."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..exercises import Case, Function, short
from ..feedback import NotYet, numbers, shorten
from ..predictions import Prediction

PREDICTIONS = (
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
)

FOLDS = (
    ((3, 4), (3, 1), "the axis of length 1"),
    ((3, 4), (4,), "the axis that is missing on the left"),
    ((3, 4), (), "a single number"),
    ((2, 3, 4), (3, 1), "an axis that is missing on the left, and one of length 1"),
    ((2, 3, 4), (2, 1, 1), "two axes of length 1"),
    ((3, 3), (3,), "a square, in which only the left axis was added"),
    ((3, 4), (3, 4), "nothing to add up"),
    ((1, 4), (1, 4), "an axis of length 1 that was not stretched"),
    ((1, 4), (4,), "an axis of length 1 that was added"),
)
"""Shapes of a cotangent and of its source, and what there is to add up."""


def apply_fold(start: tuple[int, ...], shape: tuple[int, ...], function: Callable[..., Any]) -> Any:
    """Return what a function makes of a cotangent with this shape."""
    g = np.random.default_rng(20140309).integers(1, 10, size=start).astype(float)
    sums = function(g, shape)
    sums = numbers(sums) if isinstance(sums, list) else sums
    return sums if shape else np.asarray(sums).tolist()  # a list of one number is not that number


def fold(g: Any, shape: tuple[int, ...]) -> Any:
    """Add up what broadcasting copied."""
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(k for k, length in enumerate(shape) if length == 1), keepdims=True)


def lead_to_sums(where: str, found: Any, wanted: Any) -> str:
    """Return the hint for sums that are wrong."""
    if np.shape(found) != np.shape(wanted):
        said = f"your function returns the shape {np.shape(found)}"
        return f"For {where} {said}. Compare the two shapes from the right: which axes were repeated?"
    return f"For {where} the sums are {short(wanted)}, and your function returns {short(found)}."


def with_shape(other: tuple[int, ...], g: Any, shape: tuple[int, ...]) -> Any:
    """Return any array of another shape; where that is the right one, the right array."""
    return fold(g, shape) if other == shape else np.full(other, ...)


def first_of_each(g: Any, shape: tuple[int, ...]) -> Any:
    """Return the first of the contributions that there are to each element."""
    g = g[(0,) * (g.ndim - len(shape))]
    return g[tuple(slice(0, 1) if length == 1 else slice(None) for length in shape)]


LEFT = "An axis that was added on the left is still there: sum over it without `keepdims`."

FOLD = Function(
    "Add up the copies",
    """\
Write `fold(g, shape)`. It's given a cotangent `g`, an array, and the shape that the source had before broadcasting. It returns an array of this shape. First sum over the axes that were added on the left. Then sum over those that had length 1, with `keepdims=True`.""",
    signature="fold(g, shape)",
    cases=[
        Case(
            partial(apply_fold, start, shape),
            partial(lead_to_sums, f"a g of shape {start} and the shape {shape} ({what})"),
        )
        for start, shape, what in FOLDS
    ],
    answer=fold,
    hints=[
        (
            lambda g, shape: g,
            "Nothing was summed. The source has fewer elements than g, so some of the contributions must be added.",
        ),
        (
            lambda g, shape: g.sum(),
            "Everything was summed. Sum only over the axes along which the source was repeated.",
        ),
        (lambda g, shape: with_shape((1,) * (g.ndim - len(shape)) + shape, g, shape), LEFT),
        (lambda g, shape: g if g.size == np.prod(shape) else fold(g, shape), LEFT),
        (
            lambda g, shape: with_shape(tuple(n for n in shape if n != 1), g, shape),
            "An axis of length 1 was lost: sum over it with `keepdims=True`.",
        ),
        (
            lambda g, shape: g.sum(axis=0),
            "You summed over the wrong axis. Sum where the source has length 1, with `keepdims=True`.",
        ),
        (
            lambda g, shape: fold(g, shape) * np.prod(shape) / g.size,
            "Your function returns the mean. Contributions are added up, as always.",
        ),
        (
            lambda g, shape: g.sum(axis=1) if g.shape == (3, 3) else fold(g, shape),
            "For a square g your function sums the right axis. NumPy adds missing axes on the left.",
        ),
        (first_of_each, "Your function picks some of the contributions. All of them count: sum them."),
    ],
    why="You sum away what was added on the left; what had length 1 you sum and keep.",
    minutes=9,
)


def matrices(n: int, k: int, m: int) -> tuple[Any, ...]:
    """Return a cotangent, a product, and the two matrices that it was made of."""
    random = np.random.default_rng(20140311)
    x, y, g = (random.uniform(1.0, 3.0, size=size) for size in ((n, k), (k, m), (n, m)))
    return g, x @ y, x, y


NO_G = "The cotangent g is left out. Which product of g and y has the shape of x?"
TURNED = "The contribution to {} is turned: its transpose has the shape of {}. Turn it with `.T`."

MATMUL = Function(
    "The rule of the matrix product",
    """\
`z = x @ y`, where `x` has the shape (n, k) and `y` the shape (k, m). Write the rule: it's given the cotangent `g` of `z`, and the values of `z`, `x`
and `y`. It returns two contributions, to `x` and to `y`. Start with the shapes.""",
    signature="rule(g, z, x, y)",
    returns=("the contribution to x", "the contribution to y"),
    cases=[matrices(4, 2, 3), matrices(2, 3, 4), matrices(3, 3, 3)],
    answer=lambda g, z, x, y: (g @ y.T, x.T @ g),
    spellings=[lambda g, z, x, y: [np.einsum("nm,km->nk", g, y), (g.T @ x).T]],
    hints=[
        (
            lambda g, z, x, y: (g @ y, x @ g),
            "{raised} These shapes do not fit together. In `a @ b` the last axis of a meets the first "
            "of b; `.T` turns a matrix.",
        ),
        (
            lambda g, z, x, y: (g * y, g * x),
            "{raised} `*` and `+` work element by element. The rule is made of matrix products, `@`.",
        ),
        (
            lambda g, z, x, y: (x.T @ g, g @ y.T),
            "The two contributions have changed places. That to x has the shape of x.",
        ),
        (
            lambda g, z, x, y: (np.ones_like(g) @ y.T, x.T @ np.ones_like(g)),
            "The cotangent g is left out, as if it were all ones.",
        ),
        (
            lambda g, z, x, y: (x, y),
            "These are the matrices themselves. A contribution is made of the cotangent g and the other matrix.",
        ),
        (lambda g, z, x, y: (y.T, ...), NO_G),
        (lambda g, z, x, y: (..., x.T), NO_G),
        (lambda g, z, x, y: (y @ g.T, ...), TURNED.format("x", "x")),
        (lambda g, z, x, y: (..., g.T @ x), TURNED.format("y", "y")),
    ],
    otherwise="An entry of a matrix product is a row times a column: which entries of z does one element touch?",
    why="The shapes leave hardly a choice, and the numbers agree, also for square matrices.",
    minutes=8,
)


def samples(n: int) -> tuple[Any, Any]:
    """Return two measurements of n things, and the target."""
    random = np.random.default_rng(n)
    features = random.normal(size=(n, 2)) * (3.0, 0.2) + (20.0, 1.5)
    return features, features @ [[0.5], [-4.0]] + 2.0 + 0.1 * random.normal(size=(n, 1))


def best_plane(features: Any, target: Any) -> Any:
    """Return the predictions of the best plane."""
    design = np.column_stack([features, np.ones(len(target))])
    return (design @ np.linalg.lstsq(design, target, rcond=None)[0]).ravel()


def compare_with_plane(n: int, fit: Callable[..., Any]) -> dict[str, Any]:
    """Return how well the predictions of a fit go up and down with the best plane, and how high each is.

    Of flat predictions, and of those that ran away, the height is nan.
    """
    features, target = samples(n)
    given = fit(features.copy(), target.copy())
    if (isinstance(given, tuple | list) and len(given) == 2) or numbers(given).shape not in ((n,), (n, 1)):
        raise NotYet(
            f"For features of shape {features.shape} and a target of shape {target.shape} your function returns "
            f"{shorten(given)}. Return one prediction for each sample, and nothing else: ({n},) or ({n}, 1)."
        )
    predictions = numbers(given).ravel()
    is_bounded = np.abs(predictions).max() < 1e3
    is_flat = np.ptp(predictions) < 0.05 * np.ptp(target)
    follows = 0.0 if is_flat else np.corrcoef(predictions, best_plane(features, target))[0, 1]
    height = 1.0 + (predictions - target.min()) / np.ptp(target)
    is_high = is_bounded and (not is_flat or not predictions.any())
    return {"follows": follows if is_bounded else np.nan, "height": height if is_high else np.full(n, np.nan)}


def lead_to_plane(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """Return the hint for predictions that are off the best plane."""
    if found["follows"] > 0.99:
        return "On its way, but not there yet. Leave `turns` and `rate` as they were."
    return (
        "No longer flat, but the predictions don't follow the best plane. Is each prediction compared with its own "
        "target, and with no other? And has each measurement a mean and a spread of its own?"
    )


def descend(features: Any, target: Any, axis: int | None = 0) -> Any:
    """Return the predictions of the fit, mended; with another axis, both measurements are scaled together."""
    scaled = (features - np.mean(features, axis=axis)) / np.std(features, axis=axis)
    w, b = np.zeros(2), 0.0
    for _ in range(200):
        error = scaled @ w + b - target[:, 0]
        w, b = w - 0.2 * error @ scaled / len(target), b - 0.2 * np.mean(error)
    return scaled @ w + b


RUN_AWAY = "The numbers run away. The rate suits the mean of the errors; with a sum the steps are too long."

FLAT_FIT = Function(
    "Find the flat fit",
    """\
This fit has two measurements for each sample: `features` has the shape (n, 2). `target` comes from a file as a column, (n, 1). Subtracting the mean and dividing by the spread puts both measurements on the same scale. The function runs, and every prediction comes out the same. Find the line, and mend
it. Careful: not every broadcasting here is a mistake.""",
    signature="predictions_of(features, target)",
    cases=[Case(partial(compare_with_plane, n), lead_to_plane, within=0.007) for n in (12, 30)],
    answer=best_plane,
    spellings=[descend, lambda features, target: descend(features, target)[:, np.newaxis].astype(np.float32)],
    hints=[
        (
            lambda features, target: np.full(len(target), np.mean(target)),
            "The fit is still flat: every prediction is the same. Print the shapes of `prediction` and `target`, and "
            "that of their difference. (`.T` does nothing to an array with one axis.) If they agree, look at "
            "`scaled`: each column has a mean and a spread of its own.",
        ),
        (
            lambda features, target: np.zeros(len(target)),
            "Every prediction is still 0, so nothing was learned. Do w and b still change?",
        ),
        (lambda features, target: np.full(len(target), np.nan), RUN_AWAY),
        (lambda features, target: best_plane(features, target) if len(target) < 20 else np.full(30, np.nan), RUN_AWAY),
        (
            partial(descend, axis=None),
            "No longer flat, but the scaling is wrong: each measurement needs a mean and a spread of its own, along "
            "`axis=0`.",
        ),
    ],
    why="Each prediction meets its own target, and the fit agrees with the best plane through the hidden samples.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, FOLD, MATMUL, FLAT_FIT)
