"""The exercises of chapter 17, trace once, run many: what was baked in, three traps, a pass of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...compiled.recording import LeavingError
from ...compiled.twice import DifferentError
from ...program.instructions import Instruction, Listing
from ...program.passes import unused
from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, shortened
from ..predictions import Prediction

WAYS = ("new value", "new program", "old value")
"""How a compiled function can answer a change."""

CHANGES: dict[str, tuple[str, str]] = {
    "a": ("new value", "does another number need other operations, or only other inputs?"),
    "b": ("new program", "the operations were recorded for arrays of another shape. Do they fit?"),
    "c": ("new program", "n is a whole number. What may Python do with one that it can't do with a float?"),
    "d": ("new value", "rate is an argument, and a float. Can a float choose a shape, or the length of a loop?"),
    "e": ("old value", "scale is an array, but not an argument. When does the program read it?"),
    "f": ("new value", "bias isn't an argument, but it's a variable. When does a program read those?"),
    "g": ("new program", "is a program for float64 numbers right for float32 ones?"),
}
"""For each change of 17.1 the answer, and what to think of."""


def baked_in(answer: Any) -> str:
    """Check 17.1: for seven changes, which value counts."""
    needs_dict(answer, '{"a": "new value", ...}')
    needs_each(answer, "abcdefg", "Your answer leaves out")
    given = {name: " ".join(str(answer[name]).lower().split()) for name in CHANGES}
    for name, word in given.items():
        if word not in WAYS:
            raise NotYet(f'For {name} write "new value", "new program" or "old value", not {shortened(answer[name])}.')
    for name, (right, hint) in CHANGES.items():
        if given[name] != right:
            raise NotYet(f'Not "{given[name]}" for {name}: {hint}')
    return "Arrays, floats and variables are read again, shapes and whole numbers choose the program, the rest is kept."


SIGNATURE = "repaired(w, x, y, noise, size)"


def repaired(answer: Any) -> str:
    """Check 17.2: a training step that compiles, and computes what it should on both paths."""
    needs_function(answer, SIGNATURE)
    random = np.random.default_rng(172)
    x, w = random.standard_normal((6, 2)), np.array([0.3, -0.2])
    near_y, far_y = x @ w + 0.3, x @ w + 4.0
    below, above = x @ w + 0.96, x @ w + 1.04  # on both sides of the threshold
    noise = random.standard_normal(x.shape)
    compiled = ad.compile(answer)
    cases = (near_y, 1, 0.1), (far_y, 1, 0.1), (near_y, -1, 0.1), (near_y, 1, 0.7), (below, 1, 0.1), (above, 1, 0.1)
    for y, sign, size in cases:
        given = _compiled_call(answer, compiled, w, x, y, sign * noise, size)
        _judge_step(given, w, x, y, sign * noise, size)
    return "It compiles, and both of its paths are right."


def _compiled_call(answer: Any, compiled: Any, *args: Any) -> Any:
    try:
        given = compiled(*args)
    except DifferentError as error:
        raise NotYet(
            "Two recordings gave different numbers, so something random is still drawn inside. Use `noise`."
        ) from error
    except LeavingError as error:
        raise NotYet(
            f"ad.compile still refuses it. {error}. Leave tensors as they are, in comparisons and in what you return."
        ) from error
    except Exception as error:
        call(answer, *args, written=SIGNATURE)  # names what raises it without compiling, too
        raise NotYet("Return the new w, a tensor. Is something still three dots, or a plain number?") from error
    return given


def _judge_step(given: Any, w: Any, x: Any, y: Any, noise: Any, size: float) -> None:
    if not isinstance(given, ad.Tensor) or given.shape != w.shape:
        missing = " Is a `return` missing?" if given is None else ""
        raise NotYet(f"I need the new w, of shape {w.shape}, and got {shortened(given)}.{missing}")

    def after(noise: Any, size: float, damped: bool | None = None) -> Any:
        noisy = x + 0.01 * noise
        residual = noisy @ w - y
        slope = 2 * noisy.T @ residual / len(y)
        large = np.mean(residual**2) > 1.0 if damped is None else damped
        return w - size * (slope / 10 if large else slope)

    right = after(noise, size)
    known = (
        (after(0.0 * noise, size), "The noise is missing: x should become x + 0.01 * noise."),
        (after(100.0 * noise, size), "The noise is a hundredth: 0.01 * noise."),
        (after(noise, size, damped=False), "With an error above 1, the slope should be divided by 10."),
        (
            after(noise, size, damped=True),
            "With an error below 1, the slope should stay as it is. Only a large one is divided.",
        ),
        (after(noise, 0.1), "I passed another `size`, and the step didn't change. Does it use the global one?"),
        ((w - right) / size, "That's the slope. Return the new w: w - size * slope."),
        (w + (w - after(noise, size)), "That's uphill: subtract the slope."),
    )
    if near(given, right):
        return
    for wrong, hint in known:
        if near(given, wrong):
            raise NotYet(hint)
    raise NotYet(
        f"It compiles, but after a step with size {size} the new w is {np.array2string(right, precision=5)}; yours is "
        f"{np.array2string(given.numpy(), precision=5)}. Change only where the noise and `size` come from."
    )


def write_a_pass(answer: Any) -> str:
    """Check 17.3: a pass that removes unused instructions, on recorded programs."""
    needs_function(answer, "drop_unused(listing)")
    for function, args in _programs():
        listing = ad.compile(function, passes=()).program(*args).listing
        before = list(listing.instructions)
        given = call(answer, listing, written="drop_unused(listing)")
        _judge_pass(given, listing, before)
    return "That's dead-code elimination, the oldest pass there is. ad.compile runs yours like its own."


def _programs() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    def nothing_unused(x: Any) -> Any:
        return np.sin(x) * 2.0

    def a_chain(x: Any) -> Any:
        wasted = np.exp(x)
        wasted = np.sin(wasted)
        np.cos(wasted)
        return x * 3.0

    def with_a_guard(x: Any) -> Any:
        if np.sum(x) > 0.0:
            return x * 2.0
        return x * 5.0

    def several(x: Any) -> Any:
        return ad.grad(lambda x: np.sum(np.tanh(x) ** 2))(x), np.exp(x)

    example = (np.array([0.5, 1.5]),)
    return [(function, example) for function in (nothing_unused, a_chain, with_a_guard, several)]


def _judge_pass(given: Any, listing: Listing, before: list[Instruction]) -> None:
    if listing.instructions != before:
        raise NotYet("Leave listing.instructions as it is: collect what stays in a list of its own.")
    if isinstance(given, list):
        raise NotYet("Return a listing, not a list: listing.with_instructions(left).")
    if not isinstance(given, Listing):
        raise NotYet(f"Return listing.with_instructions(left). I got {shortened(given)}.")
    left = given.instructions
    if left is ...:
        raise NotYet("Replace the three dots with the list of the instructions that stay.")
    left = list(left)
    if odd := [one for one in left if not isinstance(one, Instruction)]:
        raise NotYet(f"The list should hold the instructions that stay, and yours holds {shortened(odd[0])}.")
    right = unused(listing).instructions
    if left == right:
        return
    if left == right[::-1]:
        raise NotYet("The right instructions stay, but in reverse order. Turn the list round again.")
    if sorted(map(id, left)) == sorted(map(id, right)):
        raise NotYet("The right instructions stay, but in another order. A value must be computed before it's used.")
    if [one for one in right if one not in left and one.is_guard]:
        raise NotYet("A guard is gone. It computes nothing, but it checks that the program is still the right one.")
    if missing := [one for one in right if one not in left]:
        raise NotYet(
            f"{missing[0].name} is gone, but another instruction reads its result. When an instruction stays, each of "
            "the values that it `reads()` is needed too."
        )
    if len(left) == len(before):
        raise NotYet("Nothing was removed, although the program computes something that nothing needs.")
    extra = next(one for one in left if one not in right)
    raise NotYet(
        f"{extra.name} stays, but only an instruction that is itself unused reads its result. Which end of the list "
        "must you begin at to know that, and whose `reads()` count?"
    )


EXERCISES: dict[str, Callable[[Any], str]] = {"17.1": baked_in, "17.2": repaired, "17.3": write_a_pass}
"""The checks by exercise."""

PREDICTIONS: dict[str, Prediction] = {
    "17.a": Prediction(
        "The second step starts from a better guess. What will its tape record?",
        answer="the same operations, with other numbers",
        choices=(
            "the same operations, with other numbers",
            "fewer operations, since the tape knows the function now",
            "nothing, since there is a tape of it",
        ),
        hints={
            "fewer operations, since the tape knows the function now": "A tape knows nothing of earlier tapes.",
            "nothing, since there is a tape of it": "Each step opens a tape of its own.",
        },
        why="The function is the same, so the list is the same. Only the numbers in it are new.",
    ),
    "17.b": Prediction(
        "We compile `penalty` naively, recording it at 0.5. What slope will the program return at 3?",
        answer=6,
        hints={
            2: "That's the right slope. But which branch is on the tape that was recorded at 0.5?",
            1: "That's the slope at 0.5. The numbers are computed anew; only the operations are kept.",
            9: "That would be x² itself. What is its slope?",
        },
        why="The tape holds x * x, whose slope is 2x, and nothing that asks about 1.",
    ),
    "17.c": Prediction(
        "We call the compiled step 10,000 times. How often will Python run the function itself?",
        answer=2,
        hints={
            10_000: "That's without compiling. The program replaces the function.",
            1: "Almost. It's recorded, and something is checked.",
            0: "The function has to be recorded first.",
            20_000: "The program replaces the function.",
        },
        why="Most people say 1. It's recorded, and recorded once more to compare. After that, only the program runs.",
    ),
    "17.d": Prediction(
        "`power` gets five calls: (2., 3), (5., 3), (2., 4), (an array of two, 3), (another array of two, 3). How many "
        "programs does it have then?",
        answer=3,
        hints={
            5: "Floats and the elements of arrays are inputs. Which calls differ in anything else?",
            4: "Floats and the elements of arrays are inputs. Which calls differ in anything else?",
            2: "n is a whole number: 3 and 4 make loops of different lengths.",
            1: "A number and an array have different shapes, and n = 4 makes a longer loop.",
        },
        why="One for a number with n = 3, one for n = 4, and one for two elements.",
    ),
    "17.e": Prediction(
        "`chatty` prints a line and is called three times. How many such lines will you see?",
        answer=1,
        hints={
            3: "The program doesn't print.",
            2: "It's recorded twice, but the second time silently.",
            0: "It's recorded before it's replaced.",
        },
        why="It prints while it's recorded, and the program that then runs has no print in it.",
    ),
    "17.f": Prediction(
        "`temperature` is compiled and reads `room`, a global. It says 0.48 in the kitchen. We set `room` to 0.05. "
        "What will it say now?",
        answer="0.48, as in the kitchen",
        choices=("0.33, with the new room", "0.48, as in the kitchen", "an error"),
        hints={
            "0.33, with the new room": "Python reads `room` while it runs the function. Does it still run it?",
            "an error": "The program asks its guards, and no line of it asks about `room`.",
        },
        why="`room` was 0.20 while the function was recorded, and the program has only the number.",
    ),
}
"""The predictions by their ids."""
