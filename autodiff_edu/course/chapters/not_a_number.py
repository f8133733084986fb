"""Not a number: a distance that may be 0, a loss that does not overflow, and two ways to clip."""

from __future__ import annotations

from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, shortened
from ..predictions import Prediction
from .wrong_10 import BY_NORM, BY_VALUE, GRADIENTS, THREE, judge_clip

TOGETHER, CLOSE, LEVEL = 2, 4, 5
"""The rows of 10.1 whose points lie on each other, a billionth apart, and beside each other."""


def distances(answer: Any) -> str:
    """Check 10.1: the distance of each pair of points, with the gradient 0 where the distance is 0."""
    needs_function(answer, "distances(p, q)")
    random = np.random.default_rng(1001)
    ps, apart = random.uniform(-3.0, 3.0, (6, 2)), random.uniform(0.5, 2.0, (6, 2))
    ps[CLOSE], apart[TOGETHER], apart[CLOSE], apart[LEVEL, 1] = 0.0, 0.0, (6e-10, -8e-10), 0.0
    weights = np.array([0.7, -1.9, 2.2, -0.3, 1.4, 0.9])
    p, q = ad.constant(ps), ad.constant(ps - apart)
    with np.errstate(all="ignore"), ad.GradientTape() as tape:
        tape.watch([p, q])
        y = call(answer, p, q, written="distances(p, q)")
        _needs_tensor(y, "distances(p, q)", (6,), "one distance for each row")
        target = np.sum(y * weights)
    built_in = next((entry.name for entry in tape.entries if entry.name in ("norm", "hypot")), None)
    if built_in:
        raise NotYet(f"NumPy's {built_in} has the repair built in. Do it with `np.sqrt` and `np.where`.")
    right = np.sqrt(np.sum((ps - q.numpy()) ** 2, axis=1))
    _judge_distances(y.numpy(), right)
    has_where = any(entry.operation is np.where for entry in tape.entries)
    with np.errstate(all="ignore"):
        slopes = tape.gradient(target, [p, q])
    if slopes[0] is None or slopes[1] is None:
        raise NotYet(
            "The distances are right, and the gradient is None: they have become plain numbers on the way, or were cut."
        )
    unit = np.divide(ps - q.numpy(), right[:, None], out=np.zeros_like(ps), where=right[:, None] > 0)
    for found, wanted in zip(slopes, (unit, -unit), strict=True):
        _judge_slopes(found.numpy(), weights[:, None] * wanted, has_where)
    return "Where two points meet, distance and gradient are both 0. Everywhere else, nothing has changed."


def _judge_distances(found: Any, right: Any) -> None:
    if not near(found[LEVEL], right[LEVEL]) and near(
        np.delete(found, [TOGETHER, LEVEL]), np.delete(right, [TOGETHER, LEVEL])
    ):
        raise NotYet(
            f"Two points that have one coordinate in common get the distance {found[LEVEL]:.6f}, and it should be "
            f"{right[LEVEL]:.6f}. Test the distance, not each coordinate."
        )
    if np.allclose(found, right**2, 1e-6, 1e-20):
        raise NotYet("Those are the squares of the distances. Take the root, where that is safe.")
    if not np.allclose(np.delete(found, (TOGETHER, CLOSE)), np.delete(right, (TOGETHER, CLOSE)), 1e-8, 0.0):
        raise NotYet(f"The first distance should be {right[0]:.6f}, and yours is {found[0]:.6f}.")
    if np.isnan(found[TOGETHER]):
        raise NotYet("Where two points meet, your distance is nan. What is the root of 0?")
    if found[TOGETHER] == 1.0:
        raise NotYet(
            "Where two points meet, your distance is 1: the harmless number has come through. A second `np.where` has "
            "to drop it."
        )
    if found[TOGETHER] != 0.0:
        raise NotYet(
            f"Where two points meet, your distance is {found[TOGETHER]:g} and not 0. Don't add something tiny: swap "
            "the dangerous number for a harmless one, and drop what comes of it."
        )
    if not np.isclose(found[CLOSE], right[CLOSE], 1e-6, 0.0):
        raise NotYet(
            f"Two points that are 1e-09 apart get the distance {found[CLOSE]:g}. Only pairs with distance 0 need to be "
            "treated differently."
        )


def _judge_slopes(found: Any, right: Any, has_where: bool) -> None:
    at_meeting, elsewhere = found[TOGETHER], np.delete(found, TOGETHER, axis=0)
    if not np.isfinite(at_meeting).all():
        raise NotYet(
            "The distances are right, and the slope is nan where two points meet: the `where` trap. Going backward, 0 "
            "meets the infinite derivative of the root. Which number should the root see there instead?"
            if has_where
            else "The distances are right, and the slope is nan where two points meet: the root has an infinite "
            "derivative at 0, and times 0 that is nan."
        )
    if not np.allclose(at_meeting, 0.0):
        raise NotYet("Where two points meet, the gradient should be 0.")
    if not np.allclose(elsewhere, np.delete(right, TOGETHER, axis=0), 1e-5, 1e-7):
        raise NotYet(
            "The distances are right, and the gradient is wrong where the points are apart. Is a part of it computed "
            "from plain numbers, or cut?"
        )


def _needs_tensor(y: Any, written: str, shape: tuple[int, ...], meaning: str) -> None:
    if y is ...:
        raise NotYet(f"Replace the three dots: what does {written} return?")
    if y is None:
        raise NotYet(f"{written} returns None. Is a `return` missing?")
    if not isinstance(y, ad.Tensor):
        raise NotYet(f"{written} returns {shortened(y)}, which no tape follows. Return a tensor: {meaning}.")
    if y.shape != shape:
        raise NotYet(f"{written} returns the shape {y.shape}. Return {meaning}: the shape {shape}.")


LABELS = np.array([2, 0, 1, 1])
ORDINARY = np.array([[0.3, -1.2, 0.8], [1.5, 0.1, -0.7], [-0.4, 0.9, 2.1], [0.0, 0.6, -1.1]])
FAR = np.array([[1000.0, 998.0, 999.0], [-1000.0, -1001.5, -999.0], [900.0, -900.0, 0.0], [0.2, -0.4, 0.1]])


def stable_loss(answer: Any) -> str:
    """Check 10.2: the mean of the rows' losses, finite for any scores, and right to second order."""
    needs_function(answer, "loss(scores, labels)")
    value, softmax = _loss_by_hand(ORDINARY)
    _judge_loss(_loss_of(answer, ORDINARY)[0], value, softmax)
    for scores in (ORDINARY, FAR):
        _judge_orders(scores, *_loss_of(answer, scores), *_loss_by_hand(scores))
    return "With the largest score of its own row taken off, no row overflows, and no row vanishes."


def _loss_by_hand(scores: Any) -> tuple[float, Any]:
    """Return the loss, and the softmax of each row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_softmax = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -float(np.mean(log_softmax[np.arange(4), LABELS])), np.exp(log_softmax)


def _loss_of(answer: Any, scores: Any) -> tuple[float, Any, Any]:
    """Return the learner's loss, its gradient, and the slope of the gradient's sum, weighted by `_probe`."""
    x = ad.constant(scores)
    with np.errstate(all="ignore"), ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            try:
                y = call(answer, x, LABELS.copy(), written="loss(scores, labels)")
            except NotYet as error:
                if "broadcast" in str(error):
                    raise NotYet(
                        "The largest scores and the scores don't fit together: one has shape (4,), the other (4, 3). "
                        "Does `np.max(..., axis=1)` keep its axis?"
                    ) from error
                raise
            if isinstance(y, ad.Tensor) and y.shape == (4,):
                raise NotYet("You return one loss for each row. Return their mean.")
            _needs_tensor(y, "loss(scores, labels)", (), "one number")
        slopes = tape.gradient(y, x)
        if slopes is None:
            raise NotYet("The gradient is None: the loss has become a plain number on the way.")
        probe = np.sum(slopes * _probe())
        second = outer.gradient(probe, x, unconnected_gradients="zero")
    return float(y), slopes.numpy(), second.numpy()


def _probe() -> Any:
    return np.random.default_rng(1002).standard_normal((4, 3))


def _judge_loss(found: float, right: float, softmax: Any) -> None:
    if near(found, right):
        return
    of_right = softmax[np.arange(4), LABELS]
    log_sums = np.log(np.sum(np.exp(ORDINARY), axis=1))
    largest = ORDINARY.max(axis=1)
    for wrong, hint in (
        (4.0 * right, "That is the sum over the rows. Return the mean."),
        (-right, "The sign is turned round: a loss is small when the right answer's score is large."),
        (np.mean(log_sums), "That is the mean log-sum-exp. Subtract the score of the right answer from each."),
        (np.mean(of_right), "That is the mean softmax of the right answers. Its logarithm is missing, and a minus."),
        (-np.log(np.mean(of_right)), "You take the logarithm of a mean. Take the mean of the logarithms."),
        (
            np.log(np.sum(np.exp(ORDINARY))) - np.mean(ORDINARY[np.arange(4), LABELS]),
            "You take one log-sum-exp of all rows. Each row has its own: sum along axis 1.",
        ),
        (right - np.mean(largest), "After subtracting the largest score, add it again: log-sum-exp is m + log(...)."),
        (right + np.mean(largest), "The largest score is added once too often. Was it subtracted inside exp?"),
        (np.mean(largest - ORDINARY[np.arange(4), LABELS]), "That is the largest score minus the right one. The log "
         "of the sum is missing."),
    ):  # fmt: skip
        if near(found, wrong):
            raise NotYet(hint)
    raise NotYet(f"For four rows of ordinary scores the loss should be {right:.6f}, and yours is {found:.6f}.")


def _judge_orders(scores: Any, found: float, slopes: Any, second: Any, right: float, softmax: Any) -> None:
    far = scores is FAR
    if np.isnan(found):
        raise NotYet("For scores near 1000 your loss is nan: exp overflows. Subtract the largest score of each row.")
    if np.isinf(found):
        raise NotYet(
            "For rows near 1000 and near -1000 your loss is infinite: exp overflows, or a logarithm gets a 0. "
            "Does each row subtract its own largest score, and did you take the logarithm of the fraction by hand?"
        )
    if not near(found, right):
        raise NotYet(
            f"With rows near 1000 and -1000 the loss should be {right:.4f}, and yours is {found:.4f}. Did you clip the "
            "scores, or add something tiny? Neither is needed."
        )
    wanted = (softmax - np.eye(3)[LABELS]) / 4.0
    where = "far out" if far else "for ordinary scores"
    if not np.isfinite(slopes).all():
        raise NotYet(f"The loss is right, and {where} its gradient is nan. Does an infinity hide behind a `where`?")
    if not np.allclose(slopes, wanted, 1e-5, 1e-7):
        raise NotYet(
            f"The loss is right, and {where} its gradient isn't. Is a part of it cut, or a plain number? Only the "
            "largest score may be cut, and then wherever it is used."
        )
    weighted = softmax * _probe()
    curved = (weighted - softmax * weighted.sum(axis=1, keepdims=True)) / 4.0
    if not np.allclose(second, curved, 1e-5, 1e-7):
        raise NotYet(f"Loss and gradient are right, and {where} the second derivative isn't. Keep everything a tensor.")


def clips(answer: Any) -> str:
    """Check 10.3: two functions that clip a list of gradients, by value and by global norm."""
    needs_dict(answer, '{"value": clip_by_value, "norm": clip_by_global_norm}')
    needs_each(answer, ("value", "norm"), "Your answer is missing a function for")
    needs_function(answer["value"], "clip_by_value(gradients, limit)")
    needs_function(answer["norm"], "clip_by_global_norm(gradients, limit)")
    pair, _, single = GRADIENTS
    value = _clipped(answer["value"], GRADIENTS, 3.5, "clip_by_value(gradients, limit)")
    judge_clip(value, (np.array([3.0, -3.5]), np.array([[3.5]])), BY_VALUE, "clip_by_value")
    name = "clip_by_global_norm(gradients, limit)"
    judge_clip(_clipped(answer["norm"], GRADIENTS, 3.25, name), (pair / 4, single / 4), BY_NORM, "clip_by_global_norm")
    short = _clipped(answer["norm"], GRADIENTS, 20.0, name)
    if not all(near(a, b) for a, b in zip(short, (pair, single), strict=True)):
        raise NotYet(
            "A global norm of 13 is under the limit 20, so all should come back as it was; yours has been rescaled."
        )
    zeros = _clipped(answer["norm"], (np.zeros(2), None, np.zeros((1, 1))), 1.0, name)
    if not all(np.all(np.isfinite(part)) for part in zeros):
        raise NotYet("Where all gradients are 0, yours become nan: 0 divided by the length 0. Guard the division.")
    if not all(np.all(part == 0) for part in zeros):
        raise NotYet("Where all gradients are 0 they should stay 0.")
    three = _clipped(answer["norm"], THREE, 2.5, name)
    if not all(near(a, g / 2) for a, g in zip(three, THREE[::2], strict=True)):
        raise NotYet("With two arrays it works, but not with three. Go through the whole list, whatever its length.")
    return "By value, each number for itself; by global norm, one factor for all, and 1 if nothing is too long."


def _clipped(function: Any, gradients: Any, limit: float, written: str) -> list[Any]:
    """Clip; return the arrays, without the None in the middle."""
    kept = [None if g is None else ad.constant(g) for g in gradients]
    given = list(kept)
    try:
        with np.errstate(all="ignore"):
            found = call(function, given, limit, written=written)
    except NotYet as error:
        if "hypot" in str(error):
            raise NotYet(
                "`np.hypot` takes two numbers. Here is a list of arrays: add up the squares of all."
            ) from error
        if "NoneType" in str(error):
            raise NotYet(
                "One of the gradients is None. Leave it out of the calculation, and return None for it."
            ) from (error)
        if "truth value" in str(error):
            raise NotYet("An array is neither true nor false. To find the None, ask `g is None`.") from error
        raise
    if any(a is not b for a, b in zip(given, kept, strict=True)):
        raise NotYet(
            "The list that you were given has changed. Return a new one; the caller may still need the old one."
        )
    if found is ... or found is None:
        raise NotYet(
            f"Replace the three dots: what does {written} return?"
            if found is ...
            else f"{written} returns None. Is a `return` missing?"
        )
    if not isinstance(found, list | tuple):
        raise NotYet(f"{written} returns {shortened(found)}. Return a list, with an item for each gradient.")
    if len(found) != len(given):
        raise NotYet(
            f"You were given {len(given)} gradients, one of them None, and return {len(found)}. Return None for None."
        )
    if any(part is not None for part in found[1::2]):
        raise NotYet("One of the gradients is None, and you return a number for it. None stays None.")
    arrays = [None if part is None else np.asarray(part, dtype=float) for part in found[::2]]
    for array, g in zip(arrays, gradients[::2], strict=True):
        if array is None or array.shape != g.shape:
            raise NotYet(f"A gradient of shape {g.shape} comes back as {shortened(array)}. Keep the order and shapes.")
    return arrays


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "Which of these is the first to contain a nan, at step 37?",
        answer="the slopes",
        choices=("the heights", "the loss", "the slopes", "the new centre"),
        hints={
            "the heights": "`np.where` takes the 0 for the spot outside. What is left of the root there?",
            "the loss": "The plot shows the loss of step 37: about 5.8, the last before the jump.",
            "the new centre": "The new centre is the old one, a number, minus 0.008 times what?",
        },
        why="The heights and the loss are fine. The backward pass is not.",
    ),
    Prediction(
        "The seed is 1 for each element. What cotangent does `where` send to `np.sqrt(x)` for the element -1?",
        answer=0,
        hints={
            1: "That would be so if `where` had taken this element. It took the 0.0.",
            float("nan"): "Not yet. `where` only copies cotangents to where it took its values from.",
            float("-inf"): "Not yet. `where` only copies cotangents to where it took its values from.",
        },
        why="This root was not taken, so nothing depends on it.",
    ),
    Prediction(
        "At x = 0, which of the three have the slope nan?",
        answer="all three",
        choices=("none: all are guarded", "root alone", "surprise and wave", "all three"),
        hints={
            "none: all are guarded": "Their values are guarded. What does 0 meet on the way back?",
            "root alone": "`np.log(0.0)` is -inf and 0/0 is nan. The rules of * and / multiply 0 by such numbers.",
            "surprise and wave": "The root of 0 is a number, 0. But its derivative there is 1 / (2√0).",
        },
        why="In each, a 0 meets something that isn't finite.",
    ),
    Prediction(
        "What second derivative will the tape find for `safe_wave` at 0?",
        answer=0,
        hints={
            -1 / 3: "That is the true one. What did we write for x = 0, and how does that change with x?",
            float("nan"): "The double `where` keeps every derivative finite, of any order.",
            1: "1 is the value at 0. How does it change with x?",
        },
        why="At 0 we wrote the constant 1. A constant doesn't bend.",
    ),
    Prediction(
        "With the scores 1000, 998 and 0, what does `np.exp(s[1]) / np.sum(np.exp(s))` give?",
        answer="nan",
        choices=("0.119", "0", "inf", "nan"),
        hints={
            "0.119": "That is right on paper. What is `np.exp(998.0)` in a computer?",
            "0": "The sum is inf. But the number above the line is inf, too.",
            "inf": "The number above the line is inf. But so is the sum below it.",
        },
        why="inf divided by inf is nan.",
    ),
    Prediction(
        "`cut_log_sum_exp` treats m as a constant. How will its slopes differ from those of `log_sum_exp`?",
        answer="not at all",
        choices=("not at all", "in the largest score's slope", "in all of them"),
        hints={
            "in the largest score's slope": "Two paths lead through m: one adds it, one subtracts it inside exp.",
            "in all of them": "Only one score is m itself. And two paths lead through it, with opposite signs.",
        },
        why="The value doesn't depend on m, so the two paths through m cancel.",
    ),
    Prediction(
        "The slopes are -8 and 1, and the limit is 1. What does `by_value` make of them?",
        answer="-1 and 1",
        choices=("-1 and 1", "-1 and 0.125", "-0.99 and 0.12", "-8 and 1"),
        hints={
            "-1 and 0.125": "That keeps the direction. `by_value` looks at each number for itself.",
            "-0.99 and 0.12": "That is `by_global_norm`. `by_value` looks at each number for itself.",
            "-8 and 1": "-8 is below -1, so it is cut off there.",
        },
        why="Each number is cut off for itself, and the direction changes.",
    ),
    Prediction(
        "What will `by_value` and `by_global_norm` make of the slopes nan and 3, with the limit 1?",
        answer="nan and 1, nan and nan",
        choices=("1 and 1, 0.7 and 0.7", "0 and 1, 0 and 1", "nan and 1, nan and nan", "nan and 1, nan and 1"),
        hints={
            "1 and 1, 0.7 and 0.7": "nan is not a large number: it is neither above the limit nor below it.",
            "0 and 1, 0 and 1": "Nothing in the two functions turns nan into 0. What is nan times a factor?",
            "nan and 1, nan and 1": "One length is shared by all. What is the length of (nan, 3)?",
        },
        why="A nan stays nan, and it makes the shared length nan as well.",
    ),
    Judge(
        "Where two points meet",
        """\
`distances(p, q)` gets two arrays of points, one point per row, and returns the distance of each pair. Where a point of `p` lies exactly on its partner, the distance is 0 and the gradient should be 0 too. Everything else should stay exactly as it is. (`np.linalg.norm` has that built in. Here, do it with `np.sqrt`.)""",
        distances,
    ),
    Judge(
        "A stable loss",
        """\
`loss(scores, labels)` gets the scores of several samples, one row each, and for each row the number of its right answer. Return the mean of the rows' losses. It has to be right for any finite scores, even when one row is near 1000 and the next near −1000, and to second order.""",
        stable_loss,
    ),
    Judge(
        "Clip a whole network",
        """\
Write both kinds of clipping for a list of gradients of any shapes. A gradient may be `None`, for a variable that the loss doesn't depend on; it stays `None`. A list that needs no clipping comes back as it was, even if all of it is 0. Return a new list, in the same order.""",
        clips,
    ),
)
