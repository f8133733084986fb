"""The exercises of chapter 8, cutting the flow: three cuts, a step straight through, and how the two tools differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, number, shortened


def three_cuts(answer: Any) -> str:
    """Check 8.1: the gradients of three expressions with cuts, as a dict."""
    needs_dict(answer, '{"a": 1.0, "b": None}')
    needs_each(answer, "abc", "No gradient is given for")
    if answer["a"] is None:
        raise NotYet("In a only one of the two factors is cut. The other one still receives a contribution.")
    a = number(answer["a"], "the gradient of a")
    if a != 3.0:
        raise NotYet(
            {
                6.0: "6 is the slope of x². In a the second factor is cut, and its contribution is missing.",
                9.0: "9 is the value of a. Its gradient is asked for.",
                0.0: "In a one factor is cut. The other one receives the seed times the value of the cut one.",
                1.0: "The uncut factor of a receives the seed, 1, times the *value* of the other factor.",
            }.get(a, "In a the uncut factor receives the seed times the value of the other factor, which is 3.")
        )
    if answer["b"] is not None:
        b = number(answer["b"], "the gradient of b")
        raise NotYet(
            "In b nothing is left to flow through. As with every source that is not connected, the answer is no number."
            if b == 0.0
            else "In b the only arrow to the target is cut. What does a tape give for a source that is not connected?"
        )
    if answer["c"] is None:
        raise NotYet("In c only one factor of the product is cut. The square x * x is not cut at all.")
    c = number(answer["c"], "the gradient of c")
    if c != 9.0:
        raise NotYet(
            {
                6.0: "6 is the slope of the square alone. The uncut factor in cut(x) * x receives something too.",
                3.0: "3 is the contribution of cut(x) * x. The square counts as well, and nothing in it is cut.",
                12.0: "12 is the slope without scissors. One arrow of four is cut.",
                18.0: "18 is the value of c. Its gradient is asked for.",
            }.get(c, "In c four arrows leave x: two into the square, one into the product, and one that is cut.")
        )
    return "3, None and 9: each uncut arrow counts, each cut one does not."


def round_through(answer: Any) -> str:
    """Check 8.2: rounding with the gradient 1, at hidden points."""
    needs_function(answer, "round_through(x)")
    values = np.random.default_rng(2013).uniform(-4.0, 4.0, 6)
    x = ad.constant(values)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = call(answer, x, written="round_through(x)")
    if y is ...:
        raise NotYet("Replace the three dots. Begin with x, and add what is missing to np.round(x).")
    if y is None:
        raise NotYet("round_through(x) gives None. Does a `return` lack?")
    if not isinstance(y, ad.Tensor) or y.shape != x.shape:
        raise NotYet(f"round_through(x) gives {shortened(y)}. It must give a tensor of the shape of x.")
    rounded = np.round(values)
    slope = tape.gradient(y, x)
    if not np.allclose(y.numpy(), rounded, 1e-9, 1e-12):
        hints = (
            (values, "The value is x itself: nothing is rounded on the way forward."),
            (2 * values - rounded, "The difference has the wrong sign: the value is 2x - round(x)."),
            (values + rounded, "The value is x + round(x). Subtract on the way forward what must not count twice."),
        )
        for wrong, hint in hints:
            if np.allclose(y.numpy(), wrong, 1e-9, 1e-12):
                raise NotYet(hint)
        raise NotYet(
            f"At x = {values[0]:.3f} your value is {float(y.numpy()[0]):.3f}, and np.round gives {rounded[0]:.0f}."
        )
    if slope is None:
        raise NotYet(
            "The value is right, and the gradient is None: no uncut way leads from x to the result. "
            "Where could a bare x stand, so that the value stays the same?"
        )
    if np.allclose(slope.numpy(), 0.0):
        raise NotYet(
            "The value is right, and the gradient is 0: x comes in with 1 and with -1. Cut one of the two arrows."
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
                raise (hint.__cause__ if isinstance(hint.__cause__, NotYet) else hint) from None
        if y is ...:
            raise NotYet("Replace the three dots: what is `constant` to compute?")
        if not used:
            raise NotYet("Your program never calls `constant`, so no tool is used, and nothing can differ.")
        if not isinstance(y, ad.Tensor) or y.shape != ():
            raise NotYet(f"program(x, constant) gives {shortened(y)}. It must give one number computed from x.")
        slope = tape.gradient(y, x)
        results.append((float(y.numpy()), None if slope is None else float(slope.numpy())))
    (value, paused), (same, cut) = results
    if not near(value, same):
        raise NotYet(f"The values differ: {value:g} with the pause, {same:g} with the scissors. Only slopes may.")
    if paused is None and cut is None:
        raise NotYet("Both gradients are None. Let x itself come into the result as well, as in `x * c`.")
    if paused is None or cut is None:
        raise NotYet("The tools differ, but one gradient is None. Multiply the result by x, or add x.")
    if near(paused, cut):
        raise NotYet(
            f"Both tools give the slope {cut:g} at x = 1.75. "
            "A pause leaves out the operations inside it. So what if nothing is computed inside?"
        )
    return f"At x = 1.75 the slope is {paused:g} with the pause and {cut:g} with the scissors, for the same value."


def _constant(tool: str, tape: ad.GradientTape, used: list[Any]) -> Callable[[Callable[[], Any]], Any]:
    """Make what exercise 8.3 hands to a program; `used` collects what it gave."""

    def constant(f: Callable[[], Any]) -> Any:
        if not callable(f):
            raise NotYet(f"`constant` takes a function without arguments: `constant(lambda: ...)`, not {shortened(f)}.")
        if tool == "pause":
            with tape.stop_recording():
                used.append(f())
        else:
            used.append(f())
        if used[-1] is ...:
            raise NotYet("Replace the three dots: what is `constant` to compute?")
        return used[-1] if tool == "pause" else ad.stop_gradient(used[-1])

    return constant


EXERCISES: dict[str, Callable[[Any], str]] = {"8.1": three_cuts, "8.2": round_through, "8.3": two_tools}
"""The checks by exercise."""
