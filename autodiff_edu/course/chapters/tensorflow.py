"""The exercises of appendix A: three ports, of names that aren't here, of a NumPy function on the tape, of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Case, Function
from ..milestones import first_number, needs_gradients
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "What cotangent is complete at `x` in the end?",
        answer=18,
        hints={
            27: "That's the slope of x³. Does anything flow back through `x.numpy()`?",
            9: "That's what the other path would have brought: 9 times 1. It is cut.",
            6: "That's the slope of the square. It is multiplied by the other factor on the way.",
            0: "Only one of the two paths is cut.",
        },
        why="6, the slope of the square, times 3, the other factor. The path that was cut would have added 9.",
    ),
    Prediction(
        "The next cell prints two gradients of `bill`. Which is None?",
        answer="with respect to price",
        choices=("with respect to price", "with respect to total", "both"),
        hints={
            "with respect to total": "`bill` is computed from `total`, by a square that is recorded.",
            "both": "`bill` is computed from `total`, by a square that is recorded.",
        },
        why="An assignment puts plain numbers into a variable, and no tape follows those.",
    ),
    Prediction(
        "How many entries will the tape of one turn have after the loss?",
        answer=8,
        hints={
            3: "Those are the calls: two layers and a loss. Each is several entries.",
            4: "Those are the variables.",
            5: "Those are the layers'. What does the loss compute?",
            7: "Is the mean in it, and `tanh`?",
        },
        why="`@`, `+`, `tanh`, `@`, `+`, then `-`, a square and a mean.",
    ),
    Prediction(
        "At x = 2, TensorFlow 2.21 gives `tf.maximum(x, 2.0)` the slope 1. What is printed here?",
        answer=0.5,
        hints={
            1: "That gives one side everything. Why this side, and not the other?",
            0: "That gives all of it to the 2.",
        },
        why="Both sides share a tie evenly.",
    ),
)


def surprise(scores: Any, seen: Any) -> Any:
    """Return what the program of the first exercise does."""
    return np.logaddexp.reduce(scores) - np.mean(scores[seen]) + 0.1 * np.var(scores)


def by_exp(scores: Any, seen: Any) -> Any:
    """Compute the logarithm of a sum of exponentials as it is written."""
    return np.log(np.sum(np.exp(scores))) - np.mean(scores[seen]) + 0.1 * np.var(scores)


SCORES, SEEN = np.array([0.5, -1.0, 2.0, 0.25]), np.array([2, 0, 2])
LARGE = np.array([1000.0, 998.0, 997.0])

NAMES = Function(
    "Names that aren't here",
    """\
This function is from a program for TensorFlow. It says how surprising some choices are, from the scores of all that could be chosen, and adds a little for scores that spread. Three of its names aren't here.

```python
def surprise(scores, seen):
    total = tf.reduce_logsumexp(scores)
    chosen = tf.gather(scores, seen)
    spread = tf.math.reduce_variance(scores)
    return total - tf.reduce_mean(chosen) + 0.1 * spread
```

Port it: with the same result for any `scores` and any positions `seen`, and so that a tape can follow. `tf.reduce_logsumexp` is the logarithm of the sum of all the exponentials, and scores of 1000 don't harm it. They mustn't harm yours, either.""",
    signature="surprise(scores, seen)",
    cases=[
        Case(
            lambda surprise: surprise(ad.constant(SCORES), SEEN),
            lambda found, wanted: (
                f"For scores of {SCORES.tolist()} and seen of {SEEN.tolist()} it should be {float(wanted):.6f}, and yours is "
                f"{float(np.ravel(found)[0]):.6f}. Compute the three parts one by one."
                if np.size(found) == 1
                else f"It should be one number, and yours has the shape {np.shape(found)}."
            ),
            within=1e-5,
        ),
        Case(
            lambda surprise: surprise(ad.constant(LARGE), np.array([1])),
            "Scores of 1000 overflow: exp(1000) is inf. Take the largest score off before `exp` and add it again after "
            "`log`, as in chapter 12, or let `np.logaddexp.reduce` do so.",
            within=1e-5,
        ),
        Case(
            lambda surprise: needs_gradients(
                lambda scores: surprise.__wrapped__(scores, SEEN), SCORES, written="surprise(scores, seen)"
            )
        ),
        Case(
            lambda surprise: ad.grad(lambda scores: surprise.__wrapped__(scores, SEEN))(SCORES),
            "The value is right, and its gradient isn't: a part becomes plain numbers on the way. Is .numpy() in it?",
            within=1e-4,
        ),
    ],
    answer=surprise,
    spellings=[
        lambda scores, seen: (
            np.max(scores)
            + np.log(np.sum(np.exp(scores - np.max(scores))))
            - np.mean(np.take(scores, seen))
            + 0.1 * np.mean((scores - np.mean(scores)) ** 2)
        ),
    ],
    hints=[
        (
            lambda scores, seen: surprise(scores, seen) + 0.1 * (np.var(scores, ddof=1) - np.var(scores)),
            "The variance is divided by n − 1. `tf.math.reduce_variance` divides by n, as `np.var` does.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) + 0.1 * (np.std(scores) - np.var(scores)),
            "That's the standard deviation, the root of the variance.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) + np.mean(scores[seen]) - np.sum(scores[seen]),
            "The chosen scores are added up. The program takes their mean.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) + np.mean(scores[seen]) - np.mean(seen),
            "`seen` holds positions. The mean is taken of the scores at those positions: `scores[seen]`.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) + np.mean(scores[seen]) - np.mean(scores[np.unique(seen)]),
            "A choice that was seen twice counts twice.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) - 0.1 * np.var(scores),
            "The spread is missing: 0.1 times the variance.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) + 0.9 * np.var(scores),
            "The spread counts in full. In the program, it is multiplied by 0.1.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) - np.logaddexp.reduce(scores) + np.sum(np.exp(scores)),
            "The logarithm is missing: log of the sum of exp.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) - np.logaddexp.reduce(scores) + np.log(np.sum(scores)),
            "`exp` is missing: log of the sum of exp.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) - np.logaddexp.reduce(scores) + np.log(np.mean(np.exp(scores))),
            "The logarithm is taken of the mean of the exponentials. It should be their sum.",
        ),
        (
            lambda scores, seen: surprise(scores, seen) - np.logaddexp.reduce(scores) + np.sum(scores),
            "The logarithm of a sum isn't the sum of the logarithms: that is the sum of the scores.",
        ),
    ],
    why="An index, NumPy's variance, and a sum of exponentials that can't overflow: NumPy's functions work on these "
    "tensors, and the tape follows them.",
    minutes=8,
)


def slope(x: Any, target: Any, cut: Callable[[Any], Any] = ad.stop_gradient, watch_size: bool = False) -> Any:
    """Return the gradient of the second exercise, with the size cut off or in another way."""
    x = ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(x)
        size = cut(np.sqrt(np.mean(x**2)))
        loss = np.sum((x / size - target) ** 2)
    return tape.gradient(loss, x)


SLOPE = Function(
    "The same cell, another number",
    """\
This function was written for TensorFlow. It divides `x` by the root of its mean square, and compares it with `target`.

```python
def slope(x, target):
    with tf.GradientTape() as tape:
        tape.watch(x)
        size = np.sqrt(np.mean(x**2))
        loss = tf.reduce_sum(tf.square(x / size - target))
    return tape.gradient(loss, x)
```

For `x = tf.constant([3.0, 4.0])` and `target = tf.constant([1.0, 1.0])`, TensorFlow's answer is `[-0.0857, 0.0743]`. Here you get `[-0.0905, 0.0679]`, with not a word of warning. Find out which of the two takes a path that the other doesn't, and why. Then port `slope`, so that it returns what it returns in TensorFlow.

(A hint, if you want one: compare what `print(tape)` lists with the lines of the function.)""",
    signature="slope(x, target)",
    cases=[
        Case(
            lambda slope: slope(ad.constant(np.array([3.0, 4.0])), ad.constant(np.ones(2))),
            first_number(
                "For [3, 4], the first number should be",
                "In TensorFlow, one value here has no path back to x. Which one?",
            ),
            within=1e-3,
        ),
        Case(
            lambda slope: slope(ad.constant(np.array([1.0, -2.0, 0.5])), ad.constant(np.array([0.5, 0.0, 1.0]))),
            "It's right for [3, 4], but not for [1, -2, 0.5]. Compute the gradient anew for each x.",
            within=1e-4,
        ),
    ],
    answer=slope,
    spellings=[lambda x, target: 2 * (x / np.sqrt(np.mean(x**2)) - target) / np.sqrt(np.mean(x**2))],
    hints=[
        (
            lambda x, target: slope(x, target, cut=lambda size: size),
            "That's still the gradient along both paths. In TensorFlow, `np.mean` and `np.sqrt` return plain numbers, so "
            "`size` has no path back to `x`. Here they are recorded. Cut that path.",
        ),
        (
            lambda x, target: slope(x, target, cut=lambda size: size) - slope(x, target),
            "You have cut the other path: the one through x / size itself. Cut the one through `size`.",
        ),
        (
            lambda x, target: 2 * (x / np.sqrt(np.mean(x**2)) - target),
            "The size is a plain number, but x is still divided by it: its slope is 1 / size.",
        ),
        (lambda x, target: 2 * (x - target), "The division by the size is gone altogether. Only its path should be."),
        (lambda x, target: np.zeros(np.shape(x)), "Everything is cut. Cut only the path through `size`."),
    ],
    why="A NumPy function returns plain numbers in TensorFlow, and a recorded tensor here. `tf.stop_gradient` makes the "
    "two agree, and works in both.",
    minutes=7,
)


def trained(
    x: Any,
    y: Any,
    turns: int,
    *,
    batch: int = 2,
    last: bool = True,
    momentum: float = 0.5,
    rate: float = 0.1,
    keep: bool = True,
    summed: bool = False,
    once: bool = False,
) -> tuple[Any, Any]:
    """Return what the loop of the third exercise leaves, or one with a slip."""
    x, y = (np.asarray(ad.constant(each).numpy(), dtype=float) for each in (x, y))
    w, b, speed = np.zeros((1, 1)), np.zeros(1), [0.0, 0.0]
    for _ in range(turns):
        speed = speed if keep else [0.0, 0.0]
        for first in range(0, len(x), batch)[: 1 if once else None]:
            some_x, some_y = x[first : first + batch], y[first : first + batch]
            if len(some_x) < batch and not last:
                continue
            error = 2.0 * (some_x @ w + b - some_y) / (1 if summed else len(some_x))
            speed = [momentum * speed[0] - rate * some_x.T @ error, momentum * speed[1] - rate * np.sum(error, axis=0)]
            w, b = w + speed[0], b + speed[1]
    return w, b


X = np.array([[0.0], [0.5], [1.0], [-0.5], [-1.0]])
Y = np.array([[1.0], [0.0], [-1.5], [2.0], [2.5]])


def after(what: str) -> Callable[[Any, Any], str]:
    """Return what writes the hint for other numbers than the loop's."""

    def hint(found: Any, wanted: Any) -> str:
        if not isinstance(found, tuple | list) or [np.size(each) for each in found] != [1, 1]:
            return "Return both, `w` and `b`."
        w, b, right_w, right_b = (float(np.ravel(each)[0]) for each in (*found, *wanted))
        return (
            f"After {what}, w should be {right_w:.4f} and b {right_b:.4f}, and yours are {w:.4f} and {b:.4f}. Print the "
            "rows of each batch, and w after it."
        )

    return hint


LOOP = Function(
    "A loop over batches",
    """\
There is no `tf.data` here, and no `fit`. But this loop is written out, and all else in it is here:

```python
def train(x, y, turns):
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(2)
    w, b = tf.Variable([[0.0]]), tf.Variable([0.0])
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.5)
    error = tf.keras.losses.MeanSquaredError()
    for turn in range(turns):
        for some_x, some_y in data:
            with tf.GradientTape() as tape:
                loss = error(some_y, some_x @ w + b)
            slopes = tape.gradient(loss, [w, b])
            optimizer.apply_gradients(zip(slopes, [w, b]))
    return w, b
```

`data` hands out two rows of `x` and `y` at a time, in their order, anew in each turn. If the number of rows is odd, the last row comes alone. Port the function.""",
    signature="train(x, y, turns)",
    returns=("w", "b"),
    within=1e-4,
    cases=[
        Case(
            lambda train: train(ad.constant(X[:4]), ad.constant(Y[:4]), 1), after("four rows and one turn"), within=1e-4
        ),
        Case(lambda train: train(ad.constant(X), ad.constant(Y), 3), after("five rows and three turns"), within=1e-4),
    ],
    answer=trained,
    hints=[
        (
            lambda x, y, turns: trained(x, y, turns, batch=len(x)),
            "Each turn takes one step, with all the rows. The program takes a step for each batch of two.",
        ),
        (lambda x, y, turns: trained(x, y, turns, batch=1), "Your batches have one row each. They should have two."),
        (
            lambda x, y, turns: trained(x, y, turns, last=False),
            "With five rows, the last one is left out. It is a batch of its own.",
        ),
        (
            lambda x, y, turns: trained(x, y, turns, once=True),
            "Only the first batch of each turn is used. Is the optimizer, or the `return`, inside the wrong loop?",
        ),
        (lambda x, y, turns: trained(x, y, turns, momentum=0.0), "The momentum of 0.5 is missing."),
        (
            lambda x, y, turns: trained(x, y, turns, keep=False),
            "The momentum is forgotten between the turns. Make the optimizer once, before the loops.",
        ),
        (
            lambda x, y, turns: trained(x, y, 1),
            "That's where the first turn ends. Are `w` and `b` made anew in each turn?",
        ),
        (
            lambda x, y, turns: trained(x, y, turns, summed=True),
            "The squares of a batch are added up. The loss is their mean.",
        ),
        (
            lambda x, y, turns: trained(x, y, turns, rate=0.01),
            "The rate is 0.01, the default of SGD. The program's is 0.1.",
        ),
        (
            lambda x, y, turns: trained(x, y, turns, rate=0.01, momentum=0.0),
            "The rate and the momentum are SGD's defaults. The program's are 0.1 and 0.5.",
        ),
        (lambda x, y, turns: np.full((1, 1), ...), "Return both, `w` and `b`."),
        (lambda x, y, turns: trained(x, y, turns)[::-1], "They have changed places: return `w`, then `b`."),
        (lambda x, y, turns: (np.zeros((1, 1)), np.zeros(1)), "`w` and `b` are still 0. Is a step taken?"),
    ],
    why="Rows in order, two at a time, are all that this `tf.data` did. The tape, the loss and the optimizer stay as they were.",
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, NAMES, SLOPE, LOOP)
