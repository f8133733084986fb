"""Known wrong answers to exercises 12.2 and 12.3, and the hint for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..feedback import near

WITHIN = 1e-4


def why_regularised(agrees: Callable[..., bool], shape: tuple[int, ...], inputs: int) -> str:
    """Return the hint for the gradients of another loss than 12.2 asks for; an empty text if none is known.

    `agrees` says whether they are those of a sum of parts with these weights; the error is the mean of an array of
    this shape, and x has so many `inputs`.
    """
    samples, outputs = shape
    size = samples * outputs
    known: tuple[tuple[dict[str, float], str], ...] = (
        (
            {"error": 1.0},
            "These are the gradients of the error alone; the term is a constant to your outer tape. Take the gradient "
            "with respect to x inside the outer `with`, and keep it a tensor.",
        ),
        ({"squares": 0.5}, "These are the gradients of the term alone. Add the error."),
        ({"squares": 1.0}, "These are the gradients of the term alone. Add the error."),
        ({"error": 1.0, "squares": 1.0}, "The term counts half: error + 0.5 * term."),
        ({"error": 1.0, "squares": -0.5}, "You subtracted the term. It should be small, like the error: add it."),
        ({"error": 1.0, "norm": 0.5}, "You took the norm. The term is the sum of the squares, without the root."),
        ({"error": 1.0, "mean": 0.5}, "You took the mean of the squares. The term is their sum."),
        ({"error": 1.0, "rows": 0.5}, "You took the mean over the samples. The term is the sum of all squares."),
        ({"error": 1.0, "sum": 0.5}, "You took the sum of the gradient. Square its elements before you add them up."),
        ({"error": 1.0, "square of sum": 0.5}, "You squared the sum. Square the elements before you add them up."),
        ({"error": 1.0, "sizes": 0.5}, "You took the sizes of the elements. The term is the sum of their squares."),
        (
            {"error": 1.0, "output": 0.5},
            "Your term has the gradient of the layer's output with respect to x. "
            "It should be the gradient of the error.",
        ),
        (
            {"error": 1.0 * size, "squares": 0.5 * size**2},
            "Your error is the sum of the squares of `layer(x) - wanted`. It should be their mean.",
        ),
        (
            {"error": 1.0 * outputs, "squares": 0.5 * outputs**2},
            "Your error is the sum of the squares, divided by the samples. It should be the mean of all squares.",
        ),
        (
            {"error": 0.5, "squares": 0.5},
            "You halved the error as well. Only the term counts half: error + 0.5 * term.",
        ),
        (
            {"error": 1.0 * inputs, "squares": 0.5},
            "Your loss isn't one number: it holds the error once for each element of to_x. Sum the squares first.",
        ),
        *(
            ({"error": 1.0, "norms": part}, "You took a norm for each sample. The term is the sum of all squares.")
            for part in (0.5, 0.5 / samples)
        ),
        (
            {"error": 1.0, "kernel": 0.5},
            "Your term has the gradient with respect to the kernel. It should be with respect to the input x.",
        ),
        (
            {"error": 1.0, "decay": 0.5},
            "Your term has the kernel itself, which is called weight decay. It should have the gradient of the error "
            "with respect to x.",
        ),
    )
    return next((hint for weights, hint in known if agrees(**weights)), "")


def penalty_at(x: Any, weights: Any) -> float:
    """Return the gradient penalty of the critic of 12.3 at some samples."""
    return float(np.mean((np.linalg.norm(_to_x(x, weights), axis=1) - 1) ** 2))


def _to_x(x: Any, weights: Any) -> Any:
    return (1 - np.tanh(x @ weights) ** 2)[:, None] * weights


def why_place(value: float, real: Any, fake: Any, share: Any, weights: Any) -> str:
    """Return a hint if the penalty is right, but at another place; an empty text if it is not."""
    between = share * real + (1 - share) * fake
    for place, hint in (
        (real, "That is the penalty at the real samples. Evaluate it between real and fake."),
        (fake, "That is the penalty at the fake samples. Evaluate it between real and fake."),
        ((1 - share) * real + share * fake, "real and fake have changed places: the share belongs to real."),
        ((real + fake) / 2, "That is halfway for every pair. Each pair has a share of its own."),
        (np.concatenate([real, fake]), "That is the penalty at real and fake samples. Evaluate it *between* them."),
        (real + fake, "That is the sum of the samples. Give real the share, and fake the rest of 1."),
        (share * (real - fake), "That is the way from fake, without its start: fake + share * (real - fake)."),
        (share * real, "You left out fake, which gets the rest of 1: (1 - share) * fake."),
        (real - fake, "That is the way from fake to real, not a place on it. Mix them: the shares add up to 1."),
        (share * real + fake, "The shares of a pair add up to 1: fake gets (1 - share)."),
        (
            np.mean(share) * real + (1 - np.mean(share)) * fake,
            "You mixed all pairs by the same share. Each pair has a share of its own.",
        ),
        (
            share[0] * real + (1 - share[0]) * fake,
            "You mixed all pairs by the same share. Each pair has a share of its own.",
        ),
    ):
        if near(value, penalty_at(place, weights), WITHIN):
            return hint
    mixed = share * _to_x(real, weights) + (1 - share) * _to_x(fake, weights)
    if near(value, float(np.mean((np.linalg.norm(mixed, axis=1) - 1) ** 2)), WITHIN):
        return "You mixed the gradients at real and fake. Mix the samples, and take the gradient there."
    for part, name in ((share, "real"), (1 - share, "fake")):
        if near(value, float(np.mean((np.linalg.norm(part * _to_x(between, weights), axis=1) - 1) ** 2))):
            return f"That is the gradient with respect to {name}. Watch `between`, and ask about it."
    return ""


def why_penalty(value: float, right: float, x: Any, weights: Any) -> str:
    """Return a hint for another number made of the right gradients, or the order of the calculation."""
    to_x = _to_x(x, weights)
    norms, down = np.linalg.norm(to_x, axis=1), np.linalg.norm(to_x, axis=0)
    for wrong, hint in (
        (
            (np.linalg.norm(to_x) - 1) ** 2,
            "You took one norm for all samples together, which grows with their number. Take one per row: axis=1.",
        ),
        (np.mean((down - 1) ** 2), "With axis=0 each column gets a norm. A sample is a row: axis=1."),
        (np.mean(norms**2), "This pulls the norms to 0. They should be pulled to 1: subtract it before the square."),
        (np.mean(norms**2 - 1), "You subtracted 1 after the square. Subtract it before: (norm - 1)²."),
        (np.mean(norms), "That is the mean of the norms. Subtract 1 from each and square it, and then take the mean."),
        (np.mean(norms - 1), "Without the square, norms below and above 1 cancel out. Square before the mean."),
        (np.mean(np.abs(norms - 1)), "You took the size of norm - 1. Take its square."),
        (np.sum((norms - 1) ** 2), "You took the sum over the samples. Take the mean."),
        (
            (np.mean(norms) - 1) ** 2,
            "You took the mean before the square, so norms below and above 1 cancel out. Square first.",
        ),
        (
            np.mean((norms**2 - 1) ** 2),
            "You took the sum of the squares of each row without the root. A norm has a root: np.linalg.norm.",
        ),
        (np.sqrt(right), "You took a root at the end. The mean of the squares is the penalty."),
        (right / 2, "That is half of the penalty. It's the mean, with no 0.5 before it."),
        (
            np.mean((np.sum(np.abs(to_x), axis=1) - 1) ** 2),
            "You added up the sizes in each row. A norm is the root of the sum of the squares: np.linalg.norm.",
        ),
        *(
            (wrong, "You subtracted 1 from each element. Take the norm of each row first, and subtract 1 from that.")
            for wrong in (np.mean(np.sum((to_x - 1) ** 2, axis=1)), np.sum((to_x - 1) ** 2))
        ),
        (np.mean((to_x - 1) ** 2), "You compared each element with 1. It is each row's norm that should be 1."),
        (
            np.mean((norms / len(x) - 1) ** 2),
            "You took the gradient of the mean rating, which is smaller the more samples there are. Ask about the "
            "ratings themselves: each of them depends on its own sample alone.",
        ),
        (
            np.mean((np.tanh(x @ weights) - 1) ** 2),
            "You compared the ratings with 1. It is the norms of their gradients that should be 1.",
        ),
    ):
        if near(value, float(wrong), WITHIN):
            return hint
    return (
        f"For a hidden critic and five pairs of samples the penalty is {right:.6g}; yours is {value:.6g}. In this "
        "order: mix, take the gradient, the norm of each row, minus 1, squared, and the mean."
    )
