"""Chapter 16: per-sample gradients, the diagonal of a batch's Jacobian, and a check of independence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, needs_function, numbers, shortened
from ..predictions import Prediction

ASKED = "Is a `return` missing? Does the tape watch what you ask about?"
SAMPLES = np.array([[1.0, -0.5], [0.4, 2.0], [-1.5, 0.3], [0.8, 1.1], [2.0, -1.2]])
MEASURED = np.array([0.7, -1.0, 2.5, 0.2, 9.0])
LINE = np.array([0.6, -0.9])


def per_sample(answer: Any) -> str:
    """Check 16.1: `per_sample(x, y, w)`, the gradient of each sample's own loss, on hidden measurements."""
    needs_function(answer, "per_sample(x, y, w)")
    try:
        given = call(answer, SAMPLES.copy(), MEASURED.copy(), LINE.copy(), written="per_sample(x, y, w)")
    except NotYet as refusal:
        raise NotYet(_in_other_words(str(refusal))) from None
    array = numbers(given, missing=ASKED)
    if array.size and np.isnan(array).all():
        raise NotYet(
            "Every gradient is None. Is w watched, and is each loss picked out of the losses inside the `with` block?"
        )
    error = SAMPLES @ LINE - MEASURED
    right = 2 * error[:, None] * SAMPLES
    for wrong, hint in (
        (
            right.sum(axis=0),
            "That is one gradient for all samples together: their sum. Each sample has a row of its own.",
        ),
        (right.mean(axis=0), "That is the gradient of the mean loss. Each sample has a row of its own."),
        (right / len(right), "Each row is divided by the number of samples: that is its part of the *mean* loss."),
        (right / 2, "Each row is half of what it should be. The slope of a square is *twice* what is squared."),
        (-right, "Every sign is flipped. The loss squares x @ w - y, and w stands in it with a plus."),
        (right.T, "The numbers are right, but transposed: samples come first, inputs second."),
        (2 * error[:, None] * LINE, "That is the gradient with respect to x. Here each row asks about w."),
        (
            np.tile(right.sum(axis=0), (len(right), 1)),
            "Every row is the sum over all samples. Row i is about loss i alone.",
        ),
        (np.linalg.norm(right, axis=1), "Those are the lengths of the gradients. Return the gradients themselves."),
        (error**2, "Those are the losses. Row i is the gradient of loss i with respect to w."),
        (SAMPLES, "That is x, the slope of the prediction `x @ w`. The loss squares how far it is from y."),
        (
            2 * error,
            "Those are the slopes of the losses with respect to the predictions. Go one step further, to w.",
        ),
        (right[0], "That is the row of sample 0 alone. Does your loop return too early?"),
        (right[-1], "That is the row of the last sample alone. Collect one row for each."),
        (right[:, None], "The numbers are right, with an axis of length 1 too many. Take `[:, 0]` of them."),
        (
            np.eye(len(right))[:, :, None] * right,
            "That is a full Jacobian: every loss with every copy of w. Sample i's row is at [i, i]; the rest is 0.",
        ),
    ):
        if array.shape == wrong.shape and np.allclose(array, wrong, rtol=1e-4):
            raise NotYet(hint)
    if array.shape != right.shape:
        raise NotYet(f"For 5 samples with 2 inputs, I expect shape (5, 2), and your result has shape {array.shape}.")
    if not np.allclose(array, right, rtol=1e-4):
        raise NotYet("The shape is right and the numbers are not. Row i is the gradient of (x[i] @ w - y[i])² alone.")
    return (
        "A gradient for every sample. The longest row belongs to the sample that pulls hardest: look at that one first."
    )


def _in_other_words(hint: str) -> str:
    if "batch_jacobian has shape" in hint:
        return (
            "Row i asks about w, and w has no axis of samples for a batch Jacobian: all of them share it. "
            "What if every sample had a copy of its own, or if you asked for an ordinary Jacobian?"
        )
    if "broadcast" in hint and "(5,) (5,2)" in hint:
        return "You multiply 5 numbers by 5 rows of 2. Give the numbers a second axis, with `[:, None]`."
    return hint


def diagonal(answer: Any) -> str:
    """Check 16.2: `diagonal(full)`, on a hidden Jacobian of samples that mix."""
    needs_function(answer, "diagonal(full)")
    full = np.random.default_rng(19081).standard_normal((4, 3, 4, 2))
    try:
        array = numbers(call(answer, full.copy(), written="diagonal(full)"))
    except NotYet as refusal:
        if "out of bounds" in str(refusal):
            raise NotYet(
                "This Jacobian has 4 samples with 3 outputs each. `len(full)` is the number of samples."
            ) from None
        raise
    right = np.stack([full[b, :, b, :] for b in range(4)])
    for wrong, hint in (
        (full, "That is the full Jacobian, with all four axes. Keep each sample's own block and drop the rest."),
        (full.sum(axis=2), "That is the sum over the samples of the input. Here samples mix, so it adds other blocks."),
        (
            np.moveaxis(full.sum(axis=0), 1, 0),
            "That is the sum over the samples of the output, as in `batch_jacobian`. Here samples mix, so it adds "
            "other blocks.",
        ),
        (full.sum(axis=0), "That sums over the samples of the output. Don't sum anything: take blocks out."),
        (
            full.mean(axis=2),
            "That is the mean over the samples of the input. Don't average anything: take blocks out.",
        ),
        (
            right.sum(axis=0),
            "The blocks are right, and then they are added up. Keep one for each sample; in `np.einsum`, write b to "
            "the right of the arrow as well.",
        ),
        (
            np.moveaxis(right, 0, -1),
            "The blocks are right, but the samples are the last axis, as `np.diagonal` puts them.",
        ),
        (right.swapaxes(1, 2), "The blocks are right, but transposed: outputs come before inputs."),
        (np.moveaxis(right, 0, 1), "The blocks are right, but the samples are the middle axis. They come first."),
        (np.concatenate(right), "The blocks are right, but joined into one matrix. `np.stack` gives each its place."),
        (full[0, :, 0, :], "That is the block of sample 0 alone. Each sample has one."),
        (full[-1, :, -1, :], "That is the block of the last sample alone. Each sample has one."),
        (full[0], "Those are sample 0's outputs with everybody's inputs. Which sample's outputs belong in block b?"),
        (
            np.moveaxis(full[0], 1, 0),
            "Those are sample 0's outputs with everybody's inputs. Which sample's outputs belong in block b?",
        ),
        (
            full[:, :, 0, :],
            "Those are everybody's outputs with sample 0's inputs. Which sample's inputs belong in block b?",
        ),
        (
            np.moveaxis(full.mean(axis=0), 1, 0),
            "That is the mean over the samples of the output. Don't average anything: take blocks out.",
        ),
    ):
        if array.shape == wrong.shape and np.allclose(array, wrong):
            raise NotYet(hint)
    if array.shape != right.shape:
        raise NotYet(
            f"For a Jacobian of shape (4, 3, 4, 2) I expect (4, 3, 2), and your result has shape {array.shape}."
        )
    if not np.allclose(array, right):
        raise NotYet("The shape is right and the numbers are not. Block b of the result is `full[b, :, b, :]`.")
    return "Each sample's own block, even where the others are not zero."


WEIGHTS = np.array([[1.0, -0.5], [0.3, 2.0], [-1.2, 0.7]])
POINT = np.array([[0.2, -0.4, 1.1], [0.9, 0.3, -0.7], [-1.3, 0.8, 0.5], [0.1, -0.6, -0.2], [1.7, 0.4, 0.6]])


def _normalised(x: Any) -> Any:
    centred = x - np.mean(x, axis=0)
    return centred / np.sqrt(np.mean(centred**2, axis=0) + 1e-12)


def _shifted(x: Any, by: int) -> Any:
    return np.concatenate([x[-by:], x[:-by]])


FUNCTIONS: list[tuple[str, Any, bool, str]] = [
    (
        "a dense layer",
        lambda x: np.tanh(x @ WEIGHTS),
        True,
        "No row looks at another. Does each test start from the unchanged batch, and leave its own sample out?",
    ),
    (
        "`np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)`",
        lambda x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
        True,
        "The sum is over one sample's own numbers, so no samples mix. If you add the same amount to all of them, no "
        "output moves at all, and that's fine: ask only whether *others* move.",
    ),
    (
        "a function that multiplies sample i by i + 1",
        lambda x: x * np.arange(1.0, 6.0)[:, None],
        True,
        "Each sample is treated differently, but on its own. Give f the whole batch in its order, not a part of it.",
    ),
    ("batch normalisation", _normalised, False, "Its mean is over all samples."),
    ("`np.cumsum(x, axis=0)`", lambda x: np.cumsum(x, axis=0), False, "Each output depends on the samples before it."),
    ("`x + x[:1]`", lambda x: x + x[:1], False, "All depend on sample 0. Change every sample in turn."),
    (
        "`x - x[-1:]`",
        lambda x: x - x[-1:],
        False,
        "All depend on the last sample, and fall when it rises. Change every sample in turn, and look at the *size* of "
        "each move.",
    ),
    ("`x[::-1]`", lambda x: x[::-1], False, "Each output is the sample at the other end."),
    (
        "a function that adds the previous sample and subtracts the one before it",
        lambda x: x + _shifted(x, 1) - _shifted(x, 2),
        False,
        "The effects of the other samples cancel in a sum. Look at the blocks one by one.",
    ),
]


def independence(answer: Any) -> str:
    """Check 16.3: `independent(f, x)`, on functions that mix samples and on functions that do not."""
    needs_function(answer, "independent(f, x)")
    said = []
    for name, f, _, _ in FUNCTIONS:
        try:
            given = call(answer, f, POINT.copy(), written=f"independent(f, x), with f {name},")
        except NotYet as refusal:
            if "are not independent" in str(refusal):
                raise NotYet(
                    "`check=True` raises a ValueError where samples mix. Catch it with `try` and `except ValueError`, "
                    "and return False."
                ) from None
            if "not a ndarray" in str(refusal):
                raise NotYet(
                    "x is a plain array, so nothing is recorded. Make it a tensor, `ad.constant(x)`, and watch that."
                ) from None
            raise
        if given is ...:
            raise NotYet("Replace the three dots: your function returns `...`.")
        said.append(_truth(given))
    right = [independent for _, _, independent, _ in FUNCTIONS]
    if said == [not independent for independent in right]:
        raise NotYet("Every answer is the opposite of what is asked. True means that the samples do not mix.")
    if all(said):
        raise NotYet(
            "Your function says True to everything, even to batch normalisation. Does it look at more than shapes?"
        )
    if not any(said):
        raise NotYet(
            "Your function says False to everything, even to a dense layer. Does it count rounding as an effect?"
        )
    for (name, _, independent, why), verdict in zip(FUNCTIONS, said, strict=True):
        if verdict != independent:
            raise NotYet(f"For f {name} your function says {verdict}. {why}")
    return "It tells six functions that mix samples from three that don't, even where the effects cancel in a sum."


def _truth(given: Any) -> bool:
    if given is None:
        raise NotYet("Your function returns None; I need True or False. Is a `return` missing on one of its ways out?")
    value = np.asarray(given)
    if value.size != 1:
        raise NotYet(f"Your function returns {shortened(given)}; I need True or False. Reduce it with `all` or `any`.")
    if value.dtype != bool:
        raise NotYet(f"Your function returns {shortened(given)}; I need the value True or False itself.")
    return bool(value.item())


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "The next cell changes all five numbers of listener 3. How many of the seven rows of scores will move?",
        answer=1,
        hints={
            7: "That would need some operation that looks at several rows at once. Does a dense layer?",
            6: "Six is a number of scores. How many rows does a change in one row of `hours @ kernel` reach?",
            0: "Listener 3's own scores are computed from the numbers that change.",
        },
        why="Row 3 of the result is computed from row 3 alone.",
    ),
    Prediction(
        "The scores have shape (7, 6), the hours (7, 5). What shape does the Jacobian of the scores have?",
        answer=(7, 6, 7, 5),
        hints={
            (7, 5, 7, 6): "The axes of the target come first, and the scores are the target.",
            (7, 6, 5): "That has one axis of listeners. Which listener's score, and whose hour: that is two.",
            (42, 35): "That is the same, flattened to a matrix. `jacobian` keeps the axes apart.",
            (6, 5): "That is the block of one listener. There are seven in the target, and seven in the source.",
        },
        why="All axes of the target, then all axes of the source.",
    ),
    Prediction(
        "Every score is paired with every number of every listener. How many of these slopes are not zero?",
        answer=210,
        hints={
            1470: "Does listener 0's score depend on listener 1's hours?",
            30: "That is the block of one listener. How many listeners are there?",
            42: "That counts the scores. Each of them depends on how many numbers?",
            35: "That counts the hours. Each of them moves how many scores?",
        },
        why="7 · 6 · 5: each listener's scores with respect to that listener's own hours.",
    ),
    Prediction(
        "What is the largest difference between the blocks and that careless sum?",
        answer=0,
        hints={1: "What does listener j's hour do to somebody else's score?"},
        why="Every term that the sum adds is 0, except the block itself.",
    ),
    Prediction(
        "How many such seeds does it take to get all seven listeners' blocks?",
        answer=6,
        hints={
            42: "That is one for each number in the target. Here one seed serves all listeners.",
            7: "A seed doesn't belong to a listener: it has a 1 in every row. What is it different for?",
            1: "One seed with 1s everywhere would add up the six scores, too.",
            5: "One for each *output* of a sample; 5 is its number of inputs.",
        },
        why="One for each of the six playlists, however many listeners there are.",
    ),
    Prediction(
        "The full Jacobian had 210 slopes that are not zero. How many does it have with the normalisation?",
        answer=1470,
        hints={
            210: "That's how it was when each score depended on its own listener alone.",
            1260: "Those are the slopes *between* listeners: 7 · 6 pairs, 6 · 5 slopes each. The diagonal counts too.",
            42: "That counts the scores. How many numbers does each of them depend on now?",
            49: "That counts the patches. Each has 6 · 5 slopes.",
        },
        why="Each of the 42 scores depends on each of the 35 numbers now: 42 · 35.",
    ),
    Prediction(
        "Normalised last, each score has mean 0 over the batch. What will `batch_jacobian` return for every element?",
        answer=0,
        hints={
            1: "Its seed asks how the *sum* of a score over the batch moves. What is that sum?",
            1.8: "Its seed asks how the *sum* of a score over the batch moves. What is that sum?",
        },
        why="The sum over the batch is always 0, so nothing moves it.",
    ),
    Judge(
        "Whose data drove the model?",
        """\
The same idea the other way round. A line is fitted to measurements, with the loss of sample *i* being `(x[i] @ w - y[i])²`. One of the samples was typed in wrongly, and you'd like to know which one is pulling at the weights.

Write `per_sample(x, y, w)`. It gets arrays of shapes (samples, inputs), (samples,) and (inputs,), and returns an array of shape (samples, inputs): row *i* is the gradient of sample *i*'s own loss with respect to `w`.""",
        per_sample,
    ),
    Judge(
        "The diagonal, not the sum",
        """\
Write `diagonal(full)`. It gets a full Jacobian as an array, of shape (samples, outputs, samples, inputs), and returns each sample's own block, of shape (samples, outputs, inputs). The check hands it a Jacobian whose samples *do* mix, so no sum will do.""",
        diagonal,
    ),
    Judge(
        "An independence check",
        """\
Write `independent(f, x)`. It gets a function of a batch, and a batch: an array of shape (samples, inputs). It returns True if, at `x`, each output depends on its own sample alone, and False otherwise. You may nudge samples or use tapes. Beware of functions whose
effects on other samples cancel in a sum.""",
        independence,
    ),
)
