"""The exercises of chapter 7, stop recording: two gradients from one tape, a lower peak, the state after a reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, number, observe, shortened

LIMIT = 25_000  # bytes, in exercise 7.2


def two_slopes(answer: Any) -> str:
    """Check 7.1: two gradients from one tape, at hidden points, and how many tapes it took."""
    needs_function(answer, "two_slopes(x)")
    values = np.random.default_rng(1905).uniform(1.0, 3.0, 3)
    try:
        given, events = observe(answer, ad.constant(values), written="two_slopes(x)")
    except NotYet as hint:
        if "already been used" in str(hint):
            raise NotYet(
                "The second gradient was refused: the first one used the tape up. "
                "Ask for a tape that keeps its arrays when you make it."
            ) from None
        raise
    s, t = 2 * values, 4 * values**3
    if not isinstance(given, tuple | list) or len(given) != 2:
        if _alike(given, s + t):
            raise NotYet(
                "That is one gradient, of s + t: several targets in one call are added up. "
                "Ask twice, and return both: `return ..., ...`."
            )
        raise NotYet(
            f"two_slopes(x) gives {shortened(given)}. Return two gradients, that of s and that of t: `return ..., ...`."
        )
    for name, part in zip("st", given, strict=True):
        if part is ...:
            raise NotYet(f"Replace the three dots: the gradient of {name} is still open.")
        if part is None:
            raise NotYet(f"The gradient of {name} is None. Does the tape watch x before q is computed?")
    first, second = given
    if _alike(first, t) and _alike(second, s):
        raise NotYet("Both gradients are there, in the other order: first that of s, then that of t.")
    for part in given:
        if _alike(part, s + t):
            raise NotYet("One of them is the gradient of s + t. Give `gradient` one target at a time.")
    for name, part, right in (("s", first, s), ("t", second, t)):
        if not _alike(part, right):
            raise NotYet(
                f"The gradient of {name} is not right yet: your function gives {shortened(part)}. "
                f"At x = {values[0]:.3f} its slope is {right[0]:.3f}, and there is one slope for each element of x."
            )
    if (many := len({id(event.tape) for event in events if hasattr(event, "tape")})) != 1:
        raise NotYet(
            f"Both gradients are right, and you used {many} tapes. With one persistent tape, q is computed once."
            if many
            else "Both gradients are right, but no tape was used. Let the tape find them."
        )
    return "One forward pass, two walks back. A persistent tape keeps its arrays for the second."


def economical(answer: Any) -> str:
    """Check 7.2: a loss and a report, with at most 25,000 bytes on the tape."""
    needs_function(answer, "economical(tape, x)")
    values = np.random.default_rng(2005).uniform(0.0, 1.0, 1000)
    x = ad.constant(values)
    with ad.GradientTape() as tape:
        tape.watch(x)
        try:
            given = call(answer, tape, x, written="economical(tape, x)")
        except NotYet as hint:
            if "ellipsis" in str(hint):
                raise NotYet("Replace the three dots: which `with` block leaves operations out of a tape?") from None
            raise
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"economical(tape, x) gives {shortened(given)}. It must `return loss, report`.")
    loss, report = given
    if not near(number(loss, "the loss"), float(np.sum(np.exp(values) ** 2))):
        raise NotYet(f"The loss has changed: it is {number(loss):.6g}. Leave its lines as they are.")
    if not near(number(report, "the report"), float(np.max(np.abs(values - values.mean())))):
        raise NotYet(f"The report has changed: it is {number(report):.6g}. Pause the tape and compute the same.")
    size = tape.nbytes
    slope = tape.gradient(loss, x) if isinstance(loss, ad.Tensor) else None
    if slope is None:
        raise NotYet(
            "Now the gradient of the loss is None. "
            + (
                "After `reset`, x is no longer watched, and what was recorded is gone. Do not empty the tape: pause it."
                if not tape._watched
                else "The lines of `a` and `loss` must be recorded. Pause the tape for the report alone."
            )
        )
    if not _alike(slope, 2 * np.exp(2 * values)):
        raise NotYet("The gradient of the loss has changed: one of its operations is not recorded.")
    if size >= 40_024:
        raise NotYet(
            f"The tape keeps {size:,} bytes: nothing is saved. Which lines does the gradient of the loss not need? "
            "Pause the tape for them; the three dots mark the place."
        )
    if size > LIMIT:
        raise NotYet(
            f"The tape keeps {size:,} bytes: something is saved, and more can be. "
            "Does the tape still record an operation of the report?"
        )
    return f"{size:,} bytes in place of 40,024: x, a and a * a, and the sum."


def after_reset(answer: Any) -> str:
    """Check 7.3: entries and gradients after a reset, as a dict."""
    names = ("entries", "dc/dx", "dc/dy")
    needs_dict(answer, '{"entries": 2, ...}')
    needs_each(answer, names, "No answer is given for")
    entries = number(answer["entries"], "the number of entries")
    if entries != 3:
        raise NotYet(
            {
                1: "1 counts one line. After the reset there are two, and a line may hold several operations.",
                2: "2 counts the lines after the reset. Count operations: `c = a + b * y` holds two.",
                4: "4 counts `a = x * y` as well. The reset forgot that entry.",
            }.get(int(entries), "Count the operations after the reset on values that the tape watches then.")
        )
    if answer["dc/dx"] is not None:
        by_x = number(answer["dc/dx"], "dc/dx")
        raise NotYet(
            {
                9.0: "9 is y², the slope if x were still watched. The reset forgot that watch as well.",
                12.0: "12 is y + y², the slope without any reset. What did the reset forget?",
                0.0: "Not a zero: what the tape does not know is None.",
            }.get(by_x, "Is x still watched after the reset? Nobody watches a constant unless asked.")
        )
    if answer["dc/dy"] is None:
        raise NotYet(
            "y was forgotten too. But y is a trainable variable: it is watched again when it is read, in `b = x * y`."
        )
    by_y = number(answer["dc/dy"], "dc/dy")
    if not near(by_y, 12.0):
        raise NotYet(
            {
                14.0: "14 = x + 2xy counts the way through a. That entry was forgotten, so a is a constant.",
                6.0: "6 is one of two contributions: y is used in `b = x * y` and once more in `b * y`.",
            }.get(by_y, "To the tape, c is 6 + (x * y) * y, with x = 2 a constant. What is its slope by y at 3?")
        )
    return "The reset forgot the entry of a and both watches; reading y brought one back. To the tape, c is 6 + 2 y²."


def _alike(given: Any, right: np.ndarray[Any, Any]) -> bool:
    try:
        array = np.asarray(given, dtype=float)
        return array.shape == right.shape and bool(np.allclose(array, right, 1e-9, 1e-12))
    except Exception:
        return False


EXERCISES: dict[str, Callable[[Any], str]] = {"7.1": two_slopes, "7.2": economical, "7.3": after_reset}
"""The checks by exercise."""
