"""Known wrong ways to clip, for exercise 10.3, and the hint for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..feedback import NotYet, near, shortened

Clipped = tuple[Any, Any]
"""What became of the two arrays."""

PAIR, SINGLE = np.array([3.0, -4.0]), np.array([[12.0]])
GRADIENTS: tuple[Any, ...] = (PAIR, None, SINGLE)
"""Two arrays of norm 5 and 12, together 13, and a variable without a gradient."""

THREE: tuple[Any, ...] = (np.array([1.0, -2.0]), None, np.array([[2.0]]), None, np.array([4.0]))
"""Three arrays, together of norm 5."""

BY_VALUE: tuple[tuple[Clipped, str], ...] = (
    (
        (np.array([3.0, -4.0]), np.array([[3.5]])),
        "A slope of -4 came through a limit of 3.5. Cut it at -limit.",
    ),
    ((np.array([3.0, 3.5]), np.array([[3.5]])), "A sign got lost: -4 should become -3.5, not 3.5."),
    ((np.array([3.5, -3.5]), np.array([[3.5]])), "Every number has become ±limit. Those within may stay."),
    ((PAIR * 3.5 / 13, SINGLE * 3.5 / 13), "That is clipping by global norm. Here, cut each number off."),
    ((np.array([3.0, -3.5]), np.array([[12.0]])), "A slope of 12 came through a limit of 3.5. Cut it at limit."),
    ((np.array([3.0, 0.0]), np.array([[0.0]])), "What is over the limit has become 0. Cut it off at ±limit."),
    ((PAIR, SINGLE), "Nothing was clipped."),
)
"""What wrong clipping by value makes of them, with the limit 3.5."""
BY_NORM: tuple[tuple[Clipped, str], ...] = (
    (
        (PAIR * 3.25 / 5, SINGLE * 3.25 / 12),
        "Each gradient is clipped by its own length. Take one length for all of them.",
    ),
    ((PAIR * 3.25 / 17, SINGLE * 3.25 / 17), "The lengths 5 and 12 don't add up to 17: it is √(5² + 12²)."),
    ((PAIR * 3.25 / 19, SINGLE * 3.25 / 19), "You added up sizes: 3 + 4 + 12. The length is √(3² + 4² + 12²)."),
    ((PAIR * 3.25 / 169, SINGLE * 3.25 / 169), "169 is the square of the length. Take the root."),
    ((PAIR / 13, SINGLE / 13), "The length is now 1. Scale it to the limit."),
    ((PAIR * 3.25, SINGLE * 3.25), "You multiply by the limit. The factor is limit / length."),
    ((PAIR * 3.25 / 12, SINGLE * 3.25 / 12), "You divide by the largest number. Divide by the length of all."),
    ((np.array([3.0, -3.25]), np.array([[3.25]])), "That is clipping by value: the direction has changed."),
    ((PAIR, SINGLE), "Nothing was clipped: the length of all is 13, and the limit 3.25."),
    ((4 * PAIR, 4 * SINGLE), "The gradients got longer. The factor is limit / length, not the reverse."),
)
"""What wrong clipping by global norm makes of them, with the limit 3.25."""


def judge_clip(found: list[Any], right: Clipped, wrong: tuple[tuple[Clipped, str], ...], name: str) -> None:
    """Compare the arrays with the right ones; if they are wrong, say which mistake makes them so."""

    def agrees(wanted: Any) -> bool:
        return all(near(a, b) for a, b in zip(found, wanted, strict=True))

    if agrees(right):
        return
    for guess, hint in wrong:
        if agrees(guess):
            raise NotYet(f"{name}: {hint}")
    raise NotYet(
        f"{name} makes {shortened(found[0].tolist())} of [3.0, -4.0], and it should be {right[0].tolist()}; "
        f"beside it, 12.0 becomes {found[1].item():g} and should be {right[1].item():g}."
    )
