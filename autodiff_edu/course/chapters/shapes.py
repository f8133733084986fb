"""Shapes: the gradient of an array, adding up after broadcasting, the matrix product's rule, and a fit gone flat."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..exercises import Case, Function
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
        "`x` is the column 1, 2, 3 and `y` the row 10, 20; s is the sum of all the squares `(x + y) ** 2`. What is "
        "ds/dx for the first element of `x`?",
        answer=64,
        hints={
            22: "That is what one copy sends, the one that met 10. The other one met 20.",
            42: "That is what one copy sends, the one that met 20. The other one met 10.",
            32: "11 + 21, or the mean of 22 and 42? The slope of a square is twice the value, and contributions are added.",
            562: "That is 11² + 21², the part of s. How does it change if the 1 grows a little?",
            72: "That is ds/dy for the first element of y, which was copied down.",
            204: "That adds up all six cells. The first element of x was copied into two of them.",
        },
        why="Its two copies fill the cells 11 and 21, and send back 2 · 11 + 2 · 21.",
    ),
    Prediction(
        "`x` is (1, 2, 3) and the cotangent of `z` is (10, 100). What arrives at `w[2, 0]`, in the last row and the "
        "first column?",
        answer=30,
        hints={
            300: "That is w[2, 1]. Which element of the cotangent belongs to column 0?",
            20: "That is w[1, 0]: rows are counted from 0.",
            100: "That is w[0, 1], in the first row and the last column.",
            10: "That is the cotangent of z[0] alone. With which factor did w[2, 0] go into z[0]?",
            3: "That is x alone. Every contribution is multiplied by a cotangent.",
            40: "That is the value of w times the cotangent. What arrives at w is x times the cotangent.",
            330: "That adds up both columns. w[2, 0] goes into z[0] only.",
        },
        why="The element meets x[2] = 3 and goes into z[0], whose cotangent is 10.",
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
    Prediction(
        "Where does this loss pull each prediction?",
        answer="to the mean of all masses",
        choices=("to its own penguin's mass", "to the mean of all masses", "to the mass nearest to it", "to 0"),
        hints={
            "to its own penguin's mass": "That is what was meant. With how many masses is it compared?",
            "to the mass nearest to it": "The nearest pulls least: a squared error pulls in proportion to its distance.",
            "to 0": "An error is 0 where a prediction meets a mass. With how many masses is it compared?",
        },
        why="Each of the 342 masses pulls at it in proportion to its distance; together they pull to their mean.",
    ),
    Prediction(
        "The flat fit settled at a loss of 0.641. Which statistic of the masses is that?",
        answer="their variance",
        choices=("their mean", "their variance", "their standard deviation", "their range"),
        hints={
            "their mean": "Their mean is 4.2 kg, the height of the flat line. What is the mean of the squared errors?",
            "their standard deviation": "Close: the loss is a mean of squares, and no root was taken.",
            "their range": "From the lightest to the heaviest is more than 3 kg. The loss is a mean of squares.",
        },
        why="The flat line says the mean for everybody, and the mean squared distance from the mean is the variance.",
    ),
)

ONE_PAIR = [(np.array([1.0, 4.0]), np.array([2.0, 9.0]))]
THREE_PAIRS = [(np.array([1.0, 2.0]), np.array([3.0, 4.0])), (np.array([5.0]), np.array([6.0])), (7.0, 8.0)]
TWO_PAIRS = [(np.array([1.0, -2.0, 0.5]), np.array([2.0, 0.0, 1.5])), (2.0, -1.0)]


def mix(x: float, pairs: Any) -> tuple[list[Any], list[Any]]:
    """Return the mixtures, and how each moves with the fader."""
    return [(1 - x) * np.asarray(a) + x * np.asarray(b) for a, b in pairs], [np.asarray(b) - a for a, b in pairs]


def loudness_of(x: float, pairs: Any) -> Any:
    """Return the norm of all mixtures."""
    return np.sqrt(sum(np.sum(c**2) for c in mix(x, pairs)[0]))


def products(x: float, pairs: Any, reduce: Callable[..., Any] = np.sum) -> Any:
    """Return the sum of the products of the mixtures and their slopes, or another reduction of each."""
    return sum(reduce(c * slope) for c, slope in zip(*mix(x, pairs), strict=True))


def fader(x: float, pairs: Any) -> tuple[Any, Any]:
    """Return the loudness at a position of the fader, and its slope."""
    loudness = loudness_of(x, pairs)
    return loudness, products(x, pairs) / loudness


def unsummed(x: float, pairs: Any) -> Any:
    """Return the contributions to the fader of the first pair, one for each element."""
    mixtures, slopes = mix(x, pairs)
    return mixtures[0] * slopes[0] / loudness_of(x, pairs)


def add_norms(x: float, pairs: Any) -> tuple[Any, Any]:
    """Return the sum of the loudnesses in place of their norm, and its slope."""
    norms = [np.sqrt(np.sum(c**2)) for c in mix(x, pairs)[0]]
    slopes = [np.sum(c * slope) / norm for c, slope, norm in zip(*mix(x, pairs), norms, strict=True)]
    return sum(norms), sum(slopes)


UNSUMMED = (
    "The slope has as many numbers as a track, and the fader is one number. It was copied for every element: what comes "
    "back from the copies is added up."
)

FADER = Function(
    "One fader, many tracks",
    """\
A fader on a mixing desk fades from track `a` (at `x = 0`) to track `b` (at `x = 1`): you hear the mixture `(1 - x) * a + x * b`. Its loudness is its norm, the root of the sum of its squares. With several pairs on one fader, the loudness is the norm of all the numbers in all the mixtures. Write `fader(x, pairs)`. A pair is two arrays of the same shape, or two numbers. Return the loudness and its slope with respect to `x`, with a tape or without. To compare: with `one_pair` at `x = 0.01` the slope is 5.09339, and with `three_pairs` at 0.5 the loudness is 9.974969 and the slope 2.30577.""",
    signature="fader(x, pairs)",
    returns=("the loudness", "the slope"),
    cases=[(0.01, ONE_PAIR), (0.5, THREE_PAIRS), (0.3, TWO_PAIRS)],
    answer=fader,
    within=1e-5,
    hints=[
        (lambda x, pairs: (..., unsummed(x, pairs)), UNSUMMED),
        (lambda x, pairs: (..., np.full(np.shape(pairs[0][0]), ...)), UNSUMMED),
        (
            lambda x, pairs: (
                ...,
                [c * slope / loudness_of(x, pairs) for c, slope in zip(*mix(x, pairs), strict=True)],
            ),
            UNSUMMED,
        ),
        (
            lambda x, pairs: fader(1 - x, pairs),
            "Your fader is turned round: at x = 0 track a alone should be heard.",
        ),
        (
            lambda x, pairs: (..., products(1 - x, pairs) / loudness_of(1 - x, pairs)),
            "Your fader is turned round: at x = 0 track a alone should be heard.",
        ),
        (
            lambda x, pairs: (..., -fader(x, pairs)[1]),
            "The slope has the wrong sign. If the fader is pushed by one, a mixture moves by b - a.",
        ),
        (
            add_norms,
            "Several loudnesses are combined by their norm, not by their sum.",
        ),
        (
            lambda x, pairs: (..., add_norms(x, pairs)[1]),
            "That is the slope of the sum of the loudnesses, which a list of targets counts as. The loudness is their norm.",
        ),
        (
            lambda x, pairs: (..., products(x, pairs)),
            "The slope isn't divided by anything. What is the slope of a root?",
        ),
        (
            lambda x, pairs: (..., 2 * products(x, pairs)),
            "That is the slope of the squared loudness. A root is still missing.",
        ),
        (
            lambda x, pairs: (..., products(x, pairs, np.mean) / loudness_of(x, pairs)),
            "You took the mean of what the elements send back. Contributions are added up.",
        ),
        (
            lambda x, pairs: (..., sum(np.sum(slope) for slope in mix(x, pairs)[1])),
            "That is the slope of the sum of the mixtures, which an array as a target counts as. The target is the "
            "loudness.",
        ),
        (
            lambda x, pairs: fader(x, pairs[:1]),
            "Only the first pair was counted. The fader moves all of them.",
        ),
        (
            lambda x, pairs: (..., None),
            "The slope is None: nobody told the tape to watch `x`. Make it a tensor with `ad.constant(x)`, and watch it.",
        ),
    ],
    why="One number was copied for every element of every track, so its slope is a sum over all of them.",
    minutes=8,
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
            lambda g, z, x, y: (z @ y.T, x.T @ z),
            "The shapes are right. But these are made of the value z, and a contribution is made of the cotangent g.",
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
    why="The shapes leave little choice, and the numbers agree for square matrices too.",
    minutes=8,
)


def weighted_line(readings: Any, weights: Any) -> Any:
    """Return the predictions of the line of least weighted squares."""
    roots = np.sqrt(weights)[:, np.newaxis]
    design = np.column_stack([readings[:, 0], np.ones(len(readings))])
    return design @ np.linalg.lstsq(roots * design, roots[:, 0] * readings[:, 1], rcond=None)[0]


def trusting(readings: Any) -> Any:
    """Return the predictions of the line that trusts each reading as its third number says."""
    return weighted_line(readings, readings[:, 2])


def spring(n: int) -> Any:
    """Return readings of a spring: loads, stretches and how far to trust each; those of trust 0 are far off."""
    random = np.random.default_rng(n)
    trust = random.permutation(np.resize([1.0, 0.5, 0.0, 1.0, 0.2], n))
    load = random.uniform(1.0, 9.0, size=n)
    off = np.where(trust == 0.0, -0.8 * load, np.where(trust < 1.0, random.normal(size=n), 0.0))
    return np.column_stack([load, 2.0 * load + 1.0 + 0.1 * random.normal(size=n) + off, trust])


def predict_with(n: int, fit: Callable[..., Any]) -> Any:
    """Return the predictions of a learner's fit for hidden readings; nan if they ran away."""
    readings = spring(n)
    given = fit(readings.copy())
    if (isinstance(given, tuple | list) and len(given) == 2) or numbers(given).shape not in ((n,), (n, 1)):
        raise NotYet(
            f"For readings of shape {readings.shape} your function returns {shorten(given)}. Return one prediction for "
            f"each reading, and nothing else: ({n},) or ({n}, 1)."
        )
    found = numbers(given).ravel().astype(float)
    is_flat = np.ptp(found) < 1e-6 and found.any()
    return np.full(n, np.nan if is_flat else np.inf) if is_flat or not np.all(np.abs(found) < 1e3) else found


def lead_to_trust(found: Any, wanted: Any) -> str:
    """Return the hint for predictions of no known line."""
    return (
        f"One prediction is off by {np.abs(found - wanted).max():.2g}. Write down the shapes of `trust`, of `error` and "
        "of their product: does each squared error meet its own trust, and no other? Leave `turns` and `rate` as they "
        "were."
    )


SPRING = Function(
    "The reading that nobody should trust",
    """\
A line through the readings of a spring: how far does it stretch under a load? Each row of `readings` holds a load, a stretch, and a trust from 0 (ignore it) to 1; the squared errors are multiplied by it. Yet the reading of trust 0 still drags the line down, and if you write 1 into every trust, the predictions don't change at all. Why? Find the faulty line of code, and mend it.""",
    signature="predictions_of(readings)",
    cases=[Case(partial(predict_with, n), lead_to_trust, within=0.003) for n in (10, 25)],
    answer=trusting,
    hints=[
        (
            lambda readings: weighted_line(readings, np.ones(len(readings))),
            "The line still trusts all readings alike. The loss is a mean of how many numbers, and how many should it be? "
            "Say the shape of everything that goes into it, then print it.",
        ),
        (
            lambda readings: weighted_line(readings, (readings[:, 2] > 0.0) * 1.0),
            "Readings of trust 0 no longer count, but all others count alike: a trust of 0.5 should count half.",
        ),
        (
            lambda readings: weighted_line(readings, readings[:, 2] ** 2),
            "The trust is squared along with the error, so that 0.5 counts a quarter. Square first, then multiply.",
        ),
        (
            lambda readings: weighted_line(readings, np.sqrt(readings[:, 2])),
            "A trust of 0.25 counts a half: the root of the trust meets the squared error. Leave out the root.",
        ),
        (
            lambda readings: weighted_line(readings, 1.0 - readings[:, 2]),
            "Trust is turned round: your line follows the readings that should be ignored.",
        ),
        (
            lambda readings: np.full(len(readings), 4.0),
            "Now every prediction is the same. Print the shape of `error`: is each prediction compared with its own "
            "stretch? And `trust` is the column that has an axis too many.",
        ),
        (lambda readings: np.zeros(len(readings)), "Every prediction is 0: nothing was learned. Do w and b change?"),
        (
            lambda readings: np.full(len(readings), np.inf),
            "The numbers run away. The rate suits a mean; with a sum the steps are too long.",
        ),
    ],
    why="Each squared error meets its own trust: the predictions are those of the best line for the hidden readings.",
    minutes=9,
)

QUESTIONS = (*PREDICTIONS, FADER, MATMUL, SPRING)
