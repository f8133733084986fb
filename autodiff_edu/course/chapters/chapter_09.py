"""Chapter 9, custom gradients: a rule right to second order, where a clip stands, and a function in a file."""

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
from ..predictions import Prediction


def twice_right(answer: Any) -> str:
    """Check 9.1: log(cosh(x)) with a custom gradient that holds in a chain and to second order."""
    needs_function(answer, "log_cosh(x)")
    points, weights = np.random.default_rng(1979).uniform(0.3, 1.6, (2, 4))
    points = np.concatenate([points, -points[:1], [0.0]])
    weights = np.concatenate([weights, [0.7, -1.3]])
    x = ad.constant(points)
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = call(answer, x, written="log_cosh(x)")
            if isinstance(y, tuple):
                raise NotYet("log_cosh(x) returns a tuple. Write `@ad.custom_gradient` above the function.")
            if not isinstance(y, ad.Tensor) or y.shape != x.shape:
                raise NotYet(f"log_cosh(x) returns {shortened(y)}. Return a tensor with the shape of x.")
            target = np.sum(y * weights)
        if not np.allclose(y.numpy(), np.log(np.cosh(points)), 1e-5, 1e-7):
            raise NotYet("The value has changed. Leave the line with `np.logaddexp` as it is.")
        if not any(isinstance(entry.operation, Custom) for entry in tape.entries):
            raise NotYet("The tape finds this gradient by itself: return a `backward` too, under @ad.custom_gradient.")
        slope = _pulled_back(tape, target, x)
        total = np.sum(slope) if isinstance(slope, ad.Tensor) else None
    _judge_first(np.asarray(slope), points, weights)
    second = None if total is None else outer.gradient(total, x)
    curvature = np.zeros_like(points) if second is None else second.numpy()
    right = weights * (1 - np.tanh(points) ** 2)
    if np.allclose(curvature, right, 1e-5, 1e-7):
        return "It holds alone, in a chain and to second order, even at 0."
    if np.allclose(curvature, 0.0):
        raise NotYet(
            "Right once, wrong twice: to the tape, your slope doesn't depend on x. Use np functions of x itself, "
            "without `.numpy()`, `float` or `stop_gradient`."
        )
    if np.allclose(curvature[:-1], right[:-1], 1e-5, 1e-7):
        raise NotYet(
            f"Right once, and twice except at 0: there the second derivative is {curvature[-1] / weights[-1]:g}, "
            "and 1 is right. Is there a kink in your rule, such as `np.abs` or `np.where`?"
        )
    raise NotYet("Right once, wrong twice. The slope of your slope should be 1 - tanh²(x). Write np.tanh(x).")


def _pulled_back(tape: Any, target: Any, x: Any) -> Any:
    try:
        slope = tape.gradient(target, x)
    except Exception as error:
        if "..." in str(error) or "llipsis" in str(error):
            raise NotYet("Replace the three dots: what does backward(dy) return?") from error
        raise NotYet(f"On the way back your function raised {type(error).__name__}: {quoted(str(error))}.") from error
    if slope is None:
        raise NotYet("Your backward returns None, which says that there is no gradient. Is a `return` missing?")
    return slope


def _judge_first(slope: Any, x: Any, dy: Any) -> None:
    tanh = np.tanh(x)
    if np.allclose(slope, dy * tanh, 1e-5, 1e-7):
        return
    for wrong, hint in (
        (tanh, "That is the slope, and the cotangent is missing. Alone it is right; in a chain it is wrong."),
        (-dy * tanh, "The sign is wrong: for a positive x the value grows."),
        (dy, "Your backward passes the cotangent on unchanged. Multiply it by the slope, tanh(x)."),
        (
            dy * (1 - tanh**2),
            "1 - tanh²(x) is the slope of the slope, which the tape finds. Write tanh(x).",
        ),
        (dy * np.sinh(x), "You left out the division by cosh(x). The slope of log(cosh(x)) is sinh(x) / cosh(x)."),
        (dy * np.log(np.cosh(x)), "That is the value again. backward needs the slope, tanh(x)."),
        (dy + tanh, "You add the cotangent and the slope. Multiply them."),
    ):
        if np.allclose(slope, wrong, 1e-5, 1e-7):
            raise NotYet(hint)
    raise NotYet(
        f"At x = {x[0]:.3f} a cotangent of {dy[0]:.3f} should become {(dy * tanh)[0]:.6f}, and yours becomes "
        f"{np.ravel(slope)[0]:.6f}."
    )


def two_clips(answer: Any) -> str:
    """Check 9.2: the gradients of a clip after and before a square, as a dict."""
    needs_dict(answer, '{"after": 1.0, "before": 1.0}')
    needs_each(answer, ("after", "before"), "No gradient is given for")
    after, before = (number(answer[name], f"the gradient of {name}") for name in ("after", "before"))
    if near(after, 0.5) and near(before, 2.0):
        raise NotYet("The two have changed places. What does the backward pass meet first in `after`?")
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
            raise NotYet("The loaded function returns x itself. Its value should be np.round(x).")
        raise NotYet(f"At {points[0]:.3f} the loaded function returns {shortened(found['value'])}; it should round.")
    if slope is None:
        raise NotYet(
            "The value is right, and the gradient is None. Does `@ad.custom_gradient` stand above your function, "
            "and does its backward return dy?"
        )
    if np.allclose(slope, 1.0):
        raise NotYet("The gradient is 1 whatever arrives: the cotangent is forgotten. Return dy itself.")
    if np.allclose(slope, 0.0):
        raise NotYet("The gradient is 0, the true slope of a rounding. Your backward should let dy through.")
    if not np.allclose(slope, weights):
        raise NotYet(
            f"A cotangent of {weights[0]:.3f} arrived, and your backward made {slope[0]:.3f} of it. Let it through."
        )
    return "A process that has never seen your code rounds, and lets the cotangent through."


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
        return f"This was not written by `ad.save`: {quoted(message)}."
    return f"In the fresh process, {kind} said: {quoted(message)}."


EXERCISES: dict[str, Callable[[Any], str]] = {"9.1": twice_right, "9.2": two_clips, "9.3": in_a_file}
"""The checks by exercise."""

PREDICTIONS: dict[str, Prediction] = {
    "9.a": Prediction(
        "What will the tape say the slope is at x = 1000?",
        answer="nan",
        choices=("1", "0", "inf", "nan"),
        hints={
            "1": "That's the true slope. But what is exp(1000), in a number of eight bytes?",
            "0": "Almost: the rule of `log` gives 0. What does the rule of `exp` multiply it by?",
            "inf": "Almost: exp(1000) is inf. But the rule of `log` divides by it first.",
        },
        why="1/inf is 0, and 0 times inf is nan.",
    ),
    "9.b": Prediction(
        "`log1pexp` contains three operations. How many entries will the tape hold?",
        answer=4,
        hints={
            1: "The tape was running while the function computed its result.",
            3: "Those are the operations inside. Which entry carries your rule?",
        },
        why="Three for the inside, and one for the whole with your rule.",
    ),
    "9.c": Prediction(
        "The true slope at x = -40 is about 4.2e-18. What will the formula 1 - 1/(1 + eˣ) give there?",
        answer="0",
        choices=("4.2e-18", "0", "1"),
        hints={
            "4.2e-18": "On paper, yes. But what is 1 + 4.2e-18 when numbers have 16 digits?",
            "1": "That's the slope on the other side. Here eˣ is tiny.",
        },
        why="1 + 4.2e-18 is 1 in 16 digits, and 1 - 1 is 0.",
    ),
    "9.d": Prediction(
        "Alone, the slope was 0.731059. What will the tape say for 10 · forgetful(x) at x = 1?",
        answer=0.731059,
        hints={
            7.31059: "That would be right. But does `backward` use what arrives, which is 10 here?",
            10: "10 is what arrives. What does `backward` return?",
        },
        why="The 10 arrives as dy, and `backward` ignores it.",
        within=0.001,
    ),
    "9.e": Prediction(
        "What will the tape say the second derivative of `careful` is at x = 0?",
        answer=0,
        hints={
            0.25: "That would be right. But look at np.abs: what slope does it have at 0?",
            0.5: "0.5 is the first derivative.",
            None: "The rule is computed from x with NumPy functions, so the tape can follow it.",
        },
        why="At its kink the tape takes 0 as the slope of np.abs, and nothing else is left.",
    ),
    "9.f": Prediction(
        "Where is x after one step of gradient descent?",
        answer=-390,
        hints={
            390: "The step goes against the slope: 10 minus 400.",
            410: "The step goes against the slope: 10 minus 400.",
            6: "The rate is 0.1, and the slope 4000: how long is the step?",
            -3990: "Multiply the slope by the rate, 0.1.",
        },
        why="10 - 0.1 · 4000 = -390, and from there it gets worse.",
    ),
    "9.g": Prediction(
        "Which gradient will the loaded `softplus` have?",
        answer="the one we wrote",
        choices=("the one we wrote", "the tape's own, of the operations inside", "none: a file holds no functions"),
        hints={
            "the tape's own, of the operations inside": "`backward` is computed by NumPy operations, too.",
            "none: a file holds no functions": "It holds operations. `backward` consists of operations, too.",
        },
        why="The operations of `backward` are saved like those of the function.",
    ),
}
"""The predictions by their ids."""
