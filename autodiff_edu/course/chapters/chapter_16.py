"""The exercises of chapter 16: two shapes, the diagonal of a batch's Jacobian, and a check of independence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..feedback import NotYet, call, needs_function, shortened

FULL, BATCH = (32, 10, 32, 8, 8), (32, 10, 8, 8)


def shapes(answer: Any) -> str:
    """Check 16.1: the shapes of a full and of a batch Jacobian."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise NotYet(f"I need two shapes, `(jacobian, batch_jacobian)`, and your answer is {shortened(answer)}.")
    names = ("the shape of the Jacobian", "the shape of the batch Jacobian")
    full, batch = (_shape(given, name) for given, name in zip(answer, names, strict=True))
    if (full, batch) == (BATCH, FULL):
        raise NotYet(
            "The two have changed places: the batch Jacobian has the number of samples once, and comes second."
        )
    if full == (32, 8, 8, 32, 10):
        raise NotYet("The Jacobian has the shape of the target first, then that of the source. y is the target.")
    if full == BATCH:
        raise NotYet("The Jacobian asks how each sample of y changes with each sample of x: the 32 is in it twice.")
    if full == (320, 2048):
        raise NotYet("That is the Jacobian as a matrix. It keeps the axes of y, and then the axes of x.")
    if full != FULL:
        raise NotYet(f"The Jacobian has all axes of y, (32, 10), and then all axes of x. Yours has shape {full}.")
    if batch == FULL:
        raise NotYet("The Jacobian is right. The batch Jacobian has one block for each sample: the 32 is in it once.")
    if batch == (32, 8, 8, 10):
        raise NotYet("The batch Jacobian has the axes of the target before those of the source, here as well.")
    if batch in [(10, 8, 8), (10, 32, 8, 8)]:
        raise NotYet("The batch Jacobian begins with the samples: one block for each of the 32.")
    if batch == (32, 10, 64):
        raise NotYet("Each block of the batch Jacobian keeps the axes of an image, 8 and 8.")
    if batch != BATCH:
        raise NotYet(
            f"The Jacobian is right. The batch Jacobian leaves out its second axis of samples; yours has shape {batch}."
        )
    return "655,360 numbers in the one and 20,480 in the other: a thirty-second, for 32 samples."


def _shape(given: Any, name: str) -> tuple[int, ...]:
    if given is ...:
        raise NotYet(f"Replace the three dots: {name} is still open.")
    if not isinstance(given, tuple | list) or not all(isinstance(n, int) and not isinstance(n, bool) for n in given):
        raise NotYet(f"I need {name} as a tuple of whole numbers, and it is {shortened(given)}.")
    return tuple(given)


def diagonal(answer: Any) -> str:
    """Check 16.2: `diagonal(full)`, on a hidden Jacobian of samples that mix."""
    needs_function(answer, "diagonal(full)")
    full = np.random.default_rng(19081).standard_normal((4, 3, 4, 2))
    given = call(answer, full.copy(), written="diagonal(full)")
    if given is ...:
        raise NotYet("Replace the three dots: your function gives `...`.")
    if given is None:
        raise NotYet("Your function gives None. Does a `return` lack?")
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise NotYet(f"Your function gives {shortened(given)}; I need an array of numbers.") from None
    right = np.stack([full[b, :, b, :] for b in range(4)])
    for wrong, hint in (
        (full, "That is the full Jacobian, with all four axes. Keep the blocks of each sample by itself."),
        (full.sum(axis=2), "That is the sum over the samples of the input. Here samples mix, so it adds other blocks."),
        (
            np.moveaxis(full.sum(axis=0), 1, 0),
            "That is the sum over the samples of the output, as in `batch_jacobian`. Here samples mix, so it adds "
            "other blocks.",
        ),
        (full.sum(axis=0), "That sums over the samples of the output. Nothing is to be summed: take blocks out."),
        (
            full.mean(axis=2),
            "That is the mean over the samples of the input. Nothing is to be averaged: take blocks out.",
        ),
        (
            right.sum(axis=0),
            "The blocks are right, and then you add them up. Keep b to the right of the arrow as well.",
        ),
        (
            np.moveaxis(right, 0, -1),
            "The blocks are right, but the samples are the last axis, as `np.diagonal` puts them.",
        ),
        (right.swapaxes(1, 2), "The blocks are right, but transposed: outputs come before inputs."),
        (full[0, :, 0, :], "That is the block of sample 0 alone. Each sample has one."),
    ):
        if array.shape == wrong.shape and np.allclose(array, wrong):
            raise NotYet(hint)
    if array.shape != right.shape:
        raise NotYet(
            f"For a Jacobian of shape (4, 3, 4, 2) I expect (4, 3, 2), and your result has shape {array.shape}."
        )
    if not np.allclose(array, right):
        raise NotYet("The shape is right and the numbers are not. Block b of the result is `full[b, :, b, :]`.")
    return "The block of each sample by itself, also where other blocks are not zero."


WEIGHTS = np.array([[1.0, -0.5], [0.3, 2.0], [-1.2, 0.7]])
POINT = np.array([[0.2, -0.4, 1.1], [0.9, 0.3, -0.7], [-1.3, 0.8, 0.5], [0.1, -0.6, -0.2], [1.7, 0.4, 0.6]])


def _normalised(x: Any) -> Any:
    centred = x - np.mean(x, axis=0)
    return centred / np.sqrt(np.mean(centred**2, axis=0))


def _shifted(x: Any, by: int) -> Any:
    return np.concatenate([x[-by:], x[:-by]])


FUNCTIONS: list[tuple[str, Any, bool, str]] = [
    ("a dense layer", lambda x: np.tanh(x @ WEIGHTS), True, "No row looks at another."),
    (
        "`np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)`",
        lambda x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
        True,
        "The sum is over the numbers of one sample, and that mixes no samples.",
    ),
    (
        "a function that multiplies sample i by i + 1",
        lambda x: x * np.arange(1.0, 6.0)[:, None],
        True,
        "Each sample is treated in its own way, but alone.",
    ),
    ("batch normalisation", _normalised, False, "Its mean is over all samples."),
    ("`np.cumsum(x, axis=0)`", lambda x: np.cumsum(x, axis=0), False, "Each output depends on the samples before it."),
    ("`x + x[:1]`", lambda x: x + x[:1], False, "All depend on sample 0. Change every sample in turn."),
    ("`x + x[-1:]`", lambda x: x + x[-1:], False, "All depend on the last sample. Change every sample in turn."),
    ("`x[::-1]`", lambda x: x[::-1], False, "Each output is the sample at the other end."),
    (
        "a function that adds the sample before and takes away the one before that",
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
        given = call(answer, f, POINT.copy(), written=f"independent(f, x), with f {name},")
        if given is ...:
            raise NotYet("Replace the three dots: your function gives `...`.")
        said.append(_truth(given))
    right = [independent for _, _, independent, _ in FUNCTIONS]
    if said == [not independent for independent in right]:
        raise NotYet("Every answer is the opposite of what is asked. True means that the samples do not mix.")
    if all(said):
        raise NotYet(
            "Your function says True to everything, also to batch normalisation. Does it look beyond the shapes?"
        )
    if not any(said):
        raise NotYet("Your function says False to everything, also to a dense layer. Does rounding count as an effect?")
    for (name, _, independent, why), verdict in zip(FUNCTIONS, said, strict=True):
        if verdict != independent:
            raise NotYet(f"For f {name} your function says {verdict}. {why}")
    return "It tells six functions that mix samples from three that do not, also where the effects cancel in a sum."


def _truth(given: Any) -> bool:
    value = np.asarray(given)
    if value.dtype != bool or value.size != 1:
        raise NotYet(f"Your function gives {shortened(given)}; I need True or False. Reduce it with `all` or `any`.")
    return bool(value.item())


EXERCISES: dict[str, Callable[[Any], str]] = {"16.1": shapes, "16.2": diagonal, "16.3": independence}
"""The checks by exercise."""
