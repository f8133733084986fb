"""Cutting the flow: targets that stand still, a step straight through, and how the two tools differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_function, shortened
from ..predictions import Prediction

START, END = np.array([1, 1, 2, 2, 3, 3]), np.array([0, 2, 1, 3, 2, 4])
PRIZES, DISCOUNT = np.array([0.0, 0.2, 0.0, -0.1, 0.0, 1.0]), 0.8
ROW = np.array([0.0, 0.3, 0.9, 0.4, 0.0])


def td_loss(answer: Any) -> str:
    """Check 8.1: a loss whose targets stand still, on a hidden row of squares."""
    needs_function(answer, "td_loss(row, start, end, prizes, discount)")
    row = ad.constant(ROW)
    with ad.GradientTape() as tape:
        tape.watch(row)
        try:
            loss = call(answer, row, START, END, PRIZES, DISCOUNT, written="td_loss(row, start, end, prizes, discount)")
        except NotYet as refusal:
            if "cannot be paused" in str(refusal) or "name 'tape' is not" in str(refusal):
                raise NotYet(
                    "Your function isn't given the tape that records it, so it can't pause it. A cut needs no tape."
                ) from None
            raise
    if loss is ... or loss is None:
        raise NotYet(f"td_loss returns {loss}. Return the mean of the squared differences.")
    if not isinstance(loss, ad.Tensor) or loss.shape != ():
        raise NotYet(f"td_loss returns {shortened(loss)}. Return one number, computed from `row` as a tensor.")
    value, undiscounted = ((ROW[START] - PRIZES - factor * ROW[END]) for factor in (DISCOUNT, 1.0))
    if not np.isclose(float(loss), np.mean(value**2), 1e-5):
        for wrong, hint in (
            (np.sum(value**2), "That is the sum of the squares. Take their mean."),
            (np.mean(value**2) / 2, "That is half of the mean. Return the whole mean of the squares."),
            (np.mean(undiscounted**2), "The value of the next square should count `discount` times."),
            (
                np.mean((ROW[START] - DISCOUNT * (PRIZES + ROW[END])) ** 2),
                "Only the next value is discounted, not the prize.",
            ),
        ):
            if near(float(loss), float(wrong)):
                raise NotYet(hint)
        raise NotYet(f"The loss is {float(loss):.4f} where {np.mean(value**2):.4f} is right. A cut changes no value.")
    slope = tape.gradient(loss, row)
    if slope is None:
        raise NotYet("The loss is right, and its gradient is None: you cut the value as well. Cut the target alone.")
    to_start, to_end = np.zeros(5), np.zeros(5)
    np.add.at(to_start, START, 2 * value / len(value))
    np.add.at(to_end, END, -2 * DISCOUNT * value / len(value))
    if np.allclose(slope.numpy(), to_start + to_end):
        raise NotYet("The loss is right, but the targets still move towards the values. Cut what should stand still.")
    if np.allclose(slope.numpy(), to_end):
        raise NotYet("You cut the value, so now only the targets move. Cut the other one.")
    if not np.allclose(slope.numpy(), to_start):
        raise NotYet("The loss is right, but its gradient is not that of the values alone. Cut the whole target, once.")
    return "The values move and the targets stand still, until the next turn computes them anew."


def round_through(answer: Any) -> str:
    """Check 8.2: rounding with the gradient 1, at hidden points."""
    needs_function(answer, "round_through(x)")
    values = np.random.default_rng(2013).uniform(-4.0, 4.0, 6)
    x = ad.constant(values)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = call(answer, x, written="round_through(x)")
    if y is ...:
        raise NotYet("Replace the three dots. Start from x, and add what it takes to get to np.round(x).")
    if y is None:
        raise NotYet("round_through(x) returns None. Is a `return` missing?")
    if not isinstance(y, ad.Tensor) or y.shape != x.shape:
        raise NotYet(f"round_through(x) returns {shortened(y)}. Return a tensor with the shape of x.")
    rounded = np.round(values)
    slope = tape.gradient(y, x)
    if not np.allclose(y.numpy(), rounded, 1e-9, 1e-12):
        hints = (
            (values, "The value is x itself: nothing is rounded on the way forward."),
            (2 * values - rounded, "The difference has the wrong sign: the value is 2x - round(x)."),
            (values + rounded, "The value is x + round(x). On the way forward x counts once too often: subtract it."),
        )
        for wrong, hint in hints:
            if np.allclose(y.numpy(), wrong, 1e-9, 1e-12):
                raise NotYet(hint)
        off = int(np.argmax(np.abs(y.numpy() - rounded)))
        raise NotYet(
            f"At x = {values[off]:.3f} your value is {float(y.numpy()[off]):.3f}; np.round gives {rounded[off]:.0f}."
        )
    if slope is None:
        raise NotYet(
            "The value is right, and the gradient is None: there is no uncut path from x to the result. "
            "Where could a bare x go without changing the value?"
        )
    if np.allclose(slope.numpy(), 0.0):
        raise NotYet(
            "The value is right, and the gradient is 0: whatever comes through x cancels out. Cut the x with the minus."
        )
    if not np.allclose(slope.numpy(), 1.0, 1e-9):
        raise NotYet(f"The value is right, and the gradient is {shortened(slope.numpy())}. It should be 1 everywhere.")
    return "x goes straight through; what rounding adds to it is a constant to the tape."


def two_tools(answer: Any) -> str:
    """Check 8.3: a program whose gradient depends on whether a function is paused or its result cut."""
    needs_function(answer, "program(x, constant)")
    results = []
    for tool in ("pause", "scissors"):
        with ad.GradientTape(persistent=True) as tape:
            used: list[Any] = []
            constant = _constant(tool, tape, used)
            x = ad.constant(1.75)
            tape.watch(x)
            try:
                y = call(answer, x, constant, written="program(x, constant)")
            except NotYet as hint:
                if not used and "'function'" in str(hint):
                    raise NotYet("`constant` is a function. Call it: `c = constant(lambda: ...)`.") from None
                raise
        if y is ...:
            raise NotYet("Replace the three dots: what should `constant` compute?")
        if not used:
            raise NotYet("Your program never calls `constant`, so it uses neither tool, and nothing can differ.")
        if not isinstance(y, ad.Tensor) or y.shape != ():
            raise NotYet(f"program(x, constant) returns {shortened(y)}. Return one number computed from x.")
        slope = tape.gradient(y, x)
        results.append((float(y.numpy()), None if slope is None else float(slope.numpy())))
    (value, paused), (same, cut) = results
    if not near(value, same):
        raise NotYet(
            f"The values differ: {value:g} with the pause, {same:g} with the scissors. Only the slopes may differ."
        )
    if paused is None and cut is None:
        raise NotYet("Both gradients are None. Let x itself be part of the result, as in `x * c`.")
    if paused is None or cut is None:
        raise NotYet("The tools differ, but one gradient is None. Multiply the result by x, or add x.")
    if near(paused, cut) and not isinstance(used[-1], ad.Tensor):
        raise NotYet(
            f"The function that you hand to `constant` returns the plain number {shortened(used[-1])}. "
            "Neither tool can do anything to that. Let it return a tensor."
        )
    if near(paused, cut):
        raise NotYet(
            f"Both tools give the slope {cut:g} at x = 1.75. "
            "A pause leaves out the operations inside it. What if nothing is computed inside?"
        )
    return f"At x = 1.75 the slope is {paused:g} with the pause and {cut:g} with the scissors, for the same value."


def _constant(tool: str, tape: ad.GradientTape, used: list[Any]) -> Callable[[Callable[[], Any]], Any]:
    """Return what exercise 8.3 hands to a program; `used` collects what it returned."""

    def constant(f: Callable[[], Any]) -> Any:
        if not callable(f):
            raise NotYet(f"`constant` takes a function without arguments: `constant(lambda: ...)`, not {shortened(f)}.")
        if tool == "pause":
            with tape.stop_recording():
                used.append(f())
        else:
            used.append(f())
        if used[-1] is ...:
            raise NotYet("Replace the three dots: what should `constant` compute?")
        if not isinstance(used[-1], ad.Tensor | np.ndarray | float | int):
            raise NotYet(f"The function that you hand to `constant` returns {shortened(used[-1])}. It needs a number.")
        return used[-1] if tool == "pause" else ad.stop_gradient(used[-1])

    return constant


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "The loss is (w - target)², with target = 1 + w. What is dloss/dw at w = 3?",
        answer=0,
        hints={
            -2: "That comes through w itself. But w is part of the target as well.",
            2: "That comes through the target. But the value itself is w, too.",
            1: "1 is the value of the loss. How does it change when w does?",
            None: "There are two paths from w to the loss. What do they add up to?",
        },
        why="Through the value comes -2, through the target +2.",
    ),
    Prediction(
        "The next cell wraps the target in `stop_gradient`. What will dloss/dw be?",
        answer=-2,
        hints={
            0: "That was the sum of two contributions. One of them is cut now.",
            2: "That is the contribution of the target, which is cut. Which one is left?",
            -1: "Almost: the slope of a square is *twice* what is squared.",
            None: "The value itself is still connected to w.",
        },
        why="Only the contribution through the value is left: 2 · (w - target) = -2.",
    ),
    Prediction(
        "Which program has the smaller loss after 100 turns?",
        answer="target connected (the wrong values)",
        choices=("target connected (the wrong values)", "target cut (the right values)", "both the same"),
        hints={
            "target cut (the right values)": "Which of the two really walks down that loss, with its whole gradient?",
            "both the same": "They ended at different values. And one of them was at rest at the bottom of the loss.",
        },
        why="It went down the whole gradient of that loss, and so it found its minimum.",
    ),
    Prediction(
        "In which of the three ways is the gradient of `y_squared` with respect to `y` still 6?",
        answer="scissors",
        choices=("pause", "reset", "scissors", "all three"),
        hints={
            "pause": "What did the tape write down about the square while it was paused?",
            "reset": "After a reset, what does the tape know of the line before it?",
            "all three": "Does the tape know, in all three, how y_squared was computed?",
        },
        why="Only there is the square on the tape: the cut comes after it.",
    ),
    Prediction(
        "`a = x * in_a_pause`, where `in_a_pause = x` stands inside a pause. What is da/dx at x = 3?",
        answer=6,
        hints={
            3: "Is `in_a_pause = x` an operation that the pause could leave out?",
            9: "9 is the value of a.",
            0: "x is watched, and a is computed from it after the pause.",
            None: "x is watched, and a is computed from it after the pause.",
        },
        why="`in_a_pause` is just another name for x, so a is x².",
    ),
    Prediction(
        "`half_cut(x)` returns `x * ad.stop_gradient(x)`. What does the *tape* say its slope is at x = 3?",
        answer=3,
        hints={
            6: "That is what the finite difference says. Does the second factor's contribution arrive?",
            9: "9 is the value.",
            None: "The first factor isn't cut.",
            0: "The first factor isn't cut.",
        },
        why="The first factor receives the value of the second, 3, and the second factor sends nothing.",
    ),
    Judge(
        "Stop the tail-chasing",
        """\
Here's the walker's loss for someone who prefers prizes soon: the value of the next square counts only `discount` times. Write `td_loss(row, start, end, prizes, discount)` so that its gradient moves values towards their targets and never targets towards values. `row` is a tensor, the others are arrays and a number.""",
        td_loss,
    ),
    Judge(
        "Straight through a step",
        """\
`np.round` is a step function, so its gradient is `None` (chapter 5). Sometimes you want to round on the way forward and, on the way back, pretend that you hadn't. Networks whose weights must fit into a few bits are trained like that. Write `round_through(x)`: its value is `np.round(x)`, and its gradient is 1
for each element. You need one sum, one difference and one cut.""",
        round_through,
    ),
    Judge(
        "Tell the two tools apart",
        """\
Both tools can turn what a function `f` computes into a constant:

```python
def by_pausing(f):
    with tape.stop_recording():
        return f()

def by_cutting(f):
    return ad.stop_gradient(f())
```

Write `program(x, constant)` so that its gradient with respect to `x` depends on which of the two it gets as `constant`. The value must be the same for both, and neither gradient may be `None`.""",
        two_tools,
    ),
)
