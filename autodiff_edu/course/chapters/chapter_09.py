"""The exercises of chapter 9, custom gradients: where a clip stands, a cached value, and a function in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...custom.call import Custom
from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, number, quoted, shortened


def two_clips(answer: Any) -> str:
    """Check 9.1: the gradients of a clip after and before a square, as a dict."""
    needs_dict(answer, '{"after": 1.0, "before": 1.0}')
    needs_each(answer, ("after", "before"), "No gradient is given for")
    after, before = (number(answer[name], f"the gradient of {name}") for name in ("after", "before"))
    if near(after, 0.5) and near(before, 2.0):
        raise NotYet("The two have changed places. The walk begins at the end: what does it meet first in `after`?")
    if not near(after, 2.0):
        raise NotYet(
            {
                4.0: "4 is the gradient of the square without a clip. In `after` the seed, 1, is clipped first.",
                0.5: "In `after` the clip turns the seed into 0.5, and that is not the end: the square follows.",
                1.0: "In `after` the square has two factors: each receives 0.5 times 2, and both count.",
            }.get(after, "In `after` the seed 1 arrives at the clip. What leaves it, and what does 2v make of that?")
        )
    if not near(before, 0.5):
        raise NotYet(
            {
                4.0: "4 is what arrives at the clip in `before`. It is longer than 0.5.",
                2.0: "In `before` the seed goes through the square first, and arrives at the clip as 4.",
                1.0: "In `before` both contributions are added up to 4 before they arrive at the clip, once.",
                0.25: "A clip shortens to the norm 0.5. It does not multiply by 0.5 what is short enough already.",
            }.get(before, "In `before` the square comes first on the way back. What does it send to the clip?")
        )
    return "The clip acts on the cotangent that arrives where it stands: on 1 in the first program, on 4 in the second."


def computed_once(answer: Any) -> str:
    """Check 9.2: a bell curve whose exponential is computed once, at hidden points and in a chain."""
    needs_function(answer, "bell(x, slow_exp)")
    points, weights = np.random.default_rng(1979).uniform(0.2, 1.6, (2, 4))
    calls: list[Any] = []

    def slow_exp(x: Any) -> Any:
        calls.append(x)
        return np.exp(x)

    x = ad.constant(points)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = call(answer, x, slow_exp, written="bell(x, slow_exp)")
        if isinstance(y, tuple):
            raise NotYet("bell(x, slow_exp) gives a tuple. Write `@ad.custom_gradient` above the function.")
        if not isinstance(y, ad.Tensor) or y.shape != x.shape:
            raise NotYet(f"bell(x, slow_exp) gives {shortened(y)}. It must give a tensor of the shape of x.")
        target = np.sum(y * weights)
    value = np.exp(-points * points)
    if not np.allclose(y.numpy(), value, 1e-9, 1e-12):
        raise NotYet(f"At x = {points[0]:.3f} exp(-x²) is {value[0]:.6f}, and your value is {float(y.numpy()[0]):.6f}.")
    if len(calls) == 0:
        raise NotYet("Your function never calls `slow_exp`. Use it in place of np.exp, once.")
    by_hand = any(isinstance(entry.operation, Custom) for entry in tape.entries)
    if not by_hand:
        raise NotYet(
            "The tape finds this gradient by itself: there is no custom gradient in your function. Return the result "
            "and a function backward(dy), under `@ad.custom_gradient`."
        )
    slope = _slope_of_bell(tape, target, x)
    _judge_bell(slope, points, weights, value)
    if len(calls) > 1:
        raise NotYet(
            f"The gradient is right, and `slow_exp` was called {len(calls)} times. backward can use what the forward "
            "run has computed: keep it under a name, such as y."
        )
    return "The gradient is right in a chain, and one call of slow_exp serves both ways."


def _slope_of_bell(tape: Any, target: Any, x: Any) -> Any:
    try:
        slope = tape.gradient(target, x)
    except Exception as error:
        if "..." in str(error) or "llipsis" in str(error):
            raise NotYet("Replace the three dots: what does backward(dy) return?") from error
        raise NotYet(f"On the way back your function raised {type(error).__name__}: {quoted(str(error))}.") from error
    if slope is None:
        raise NotYet("Your backward gives None, which says that there is no gradient. Does a `return` lack?")
    return slope.numpy()


def _judge_bell(slope: Any, x: Any, dy: Any, y: Any) -> None:
    if np.allclose(slope, dy * -2 * x * y, 1e-9, 1e-12):
        return
    for wrong, hint in (
        (-2 * x * y, "This is the slope, and the cotangent is forgotten. Alone it is right; in a chain it is wrong."),
        (dy * 2 * x * y, "The sign is wrong. The exponent is *minus* x²."),
        (-2 * x * dy, "The inner slope -2x is there. The outer one, of the exponential, is missing: it is y."),
        (dy * y, "The slope of the exponential is there. The slope of the exponent -x² is missing."),
        (dy, "Your backward passes the cotangent on unchanged. Multiply it by the slope, -2x · exp(-x²)."),
        (dy * y * -x, "x * x has two factors, and each counts: the slope of x² is 2x."),
    ):
        if np.allclose(slope, wrong, 1e-9, 1e-12):
            raise NotYet(hint)
    raise NotYet(
        f"At x = {x[0]:.3f} a cotangent of {dy[0]:.3f} should become {(dy * -2 * x * y)[0]:.6f}, and yours becomes "
        f"{np.ravel(slope)[0]:.6f}."
    )


PROGRAM = """
import json, sys
import numpy as np
import autodiff_edu as ad

x, weights = map(np.array, json.loads(sys.argv[2]))
try:
    f, x = ad.load(sys.argv[1]), ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        target = np.sum(y * weights)
    slope = tape.gradient(target, x)
    found = {"value": np.asarray(y).tolist(), "slope": None if slope is None else slope.numpy().tolist()}
except Exception as error:
    found = {"error": type(error).__name__, "message": str(error)}
print(json.dumps(found))
"""
"""What the fresh process does."""


def in_a_file(answer: Any) -> str:
    """Check 9.3: the path of a file that holds a rounding with the gradient 1, loaded in a fresh process."""
    if callable(answer):
        raise NotYet(
            "I need the path of the file, not the function. Save the function with `ad.save`, and hand in path."
        )
    if not isinstance(answer, str | os.PathLike):
        raise NotYet(f"I need the path of the file, and your answer is {shortened(answer)}. Hand in path itself.")
    if not Path(answer).is_file():
        raise NotYet(f"There is no file at {shortened(str(answer))}. Did `ad.save(through, path, example)` run?")
    points, weights = np.random.default_rng(7).uniform(0.6, 9.4, (2, 5)).tolist()
    found = _fresh(answer, points, weights)
    if "error" in found:
        raise NotYet(_why_not(found["error"], found["message"]))
    value, slope = np.array(found["value"]), found["slope"]
    if value.shape != (5,) or not np.allclose(value, np.round(points)):
        if value.shape == (5,) and np.allclose(value, points):
            raise NotYet("The loaded function gives x itself. Its value should be np.round(x).")
        raise NotYet(f"At {points[0]:.3f} the loaded function gives {shortened(found['value'])}; it should round.")
    if slope is None:
        raise NotYet(
            "The value is right, and the gradient is None. Does `@ad.custom_gradient` stand above your function, "
            "and does its backward return dy?"
        )
    if np.allclose(slope, 1.0):
        raise NotYet("The gradient is 1 whatever arrives: the cotangent is forgotten. Return dy itself.")
    if np.allclose(slope, 0.0):
        raise NotYet("The gradient is 0, the true slope of a rounding. Your backward should let dy pass.")
    if not np.allclose(slope, weights):
        raise NotYet(
            f"A cotangent of {weights[0]:.3f} arrived, and your backward made {slope[0]:.3f} of it. Let it pass."
        )
    return "A process that has never seen your code rounds, and lets the cotangent pass."


def _fresh(path: Any, points: list[float], weights: list[float]) -> dict[str, Any]:
    command = [sys.executable, "-c", PROGRAM, os.fspath(path), json.dumps([points, weights])]
    finished = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=60, check=False)
    try:
        return dict(json.loads(finished.stdout))
    except ValueError:
        lines = finished.stderr.strip().splitlines() or ["nothing was printed"]
        return {"error": "the fresh process", "message": lines[-1]}


def _why_not(kind: str, message: str) -> str:
    if kind == "LookupError":
        return "The function was loaded, and its gradient is not in the file. Save it without `custom_gradients=False`."
    if "has shape" in message:
        return (
            "The file was loaded, and its function does not take an array of five numbers. Save it with an example "
            "that is an array: `ad.save(through, path, np.array([0.2, 1.7, -2.4]))`."
        )
    if "arguments" in message:
        return "The loaded function takes more than one argument. It should take x alone."
    if kind == "ValueError":
        return f"This is no file of `ad.save`: {quoted(message)}."
    return f"In the fresh process, {kind} said: {quoted(message)}."


EXERCISES: dict[str, Callable[[Any], str]] = {"9.1": two_clips, "9.2": computed_once, "9.3": in_a_file}
"""The checks by exercise."""
