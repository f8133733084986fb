"""Custom gradients: a rule right to second order, where a clip stands, and a function in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.rule import runs_code
from ..exercises import Exercise, Judge
from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, number, quoted, shortened
from ..predictions import Prediction


def two_clips(answer: Any) -> str:
    """Check 9.2: the gradients of a clip after and before a square, as a dict."""
    needs_dict(answer, '{"after": 1.0, "before": 1.0}')
    needs_each(answer, ("after", "before"), "No gradient is given for")
    after, before = (number(answer[name], f"the gradient of {name}") for name in ("after", "before"))
    if near(after, 0.5) and near(before, 2.0):
        raise NotYet(
            "The two have changed places. The backward pass begins at the end: what does it meet first in `after`?"
        )
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


POINTS = np.array([0.0, -1.3, 0.4, 2.1])
PROBE = np.array([1.1, -0.6, 0.9, 1.7])
FAR = np.array([-1000.0, 1000.0])


def second_order(answer: Any) -> str:
    """Check 9.1: log(cosh x) with a gradient of its own, in a chain, far out, and to second order."""
    needs_function(answer, "log_cosh(x)")
    weights = np.array([0.7, -1.9, 2.2, -0.3])
    x = ad.constant(POINTS)
    with ad.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = _value_of_log_cosh(answer, x)
            target = np.sum(y * weights)
        if not any(runs_code(entry.operation) for entry in tape.entries):
            raise NotYet(
                "The tape finds this gradient by itself: your function has no custom gradient. Return the value and "
                "backward(dy), under `@ad.custom_gradient`."
            )
        slope = _pull_back(tape, target, x)
        _judge_slope(slope.numpy(), weights)
        probe = np.sum(slope * PROBE)
    _judge_second(outer, probe, x, weights)
    _judge_squared(answer)
    _judge_far_out(answer)
    return "The slope has no kink and no overflow, so its own slope is right too, even at 0."


def _value_of_log_cosh(answer: Any, x: Any) -> Any:
    y = call(answer, x, written="log_cosh(x)")
    if isinstance(y, tuple):
        raise NotYet("log_cosh(x) returns a tuple. Write `@ad.custom_gradient` above the function.")
    if y is None:
        raise NotYet("log_cosh(x) returns None. Is a `return` missing?")
    if not isinstance(y, ad.Tensor) or y.shape != x.shape:
        raise NotYet(f"log_cosh(x) returns {shortened(y)}. Return a tensor with the shape of x.")
    size = np.abs(x.numpy())
    value = size + np.log1p(np.exp(-2.0 * size)) - np.log(2.0)
    if np.allclose(y.numpy(), value, 1e-6, 1e-9):
        return y
    if not np.isfinite(y.numpy()).all():
        raise NotYet("At x = 1000 the value overflows. Keep the value of the template: it was safe already.")
    if np.allclose(y.numpy(), value + np.log(2.0), 1e-6, 1e-9):
        raise NotYet("The value is too large by log 2. Keep the value of the template.")
    raise NotYet(f"At x = {x.numpy()[-1]:g} the value should be {value[-1]:.6f}, and yours is {y.numpy()[-1]:.6f}.")


def _pull_back(tape: Any, target: Any, x: Any) -> Any:
    try:
        slope = tape.gradient(target, x)
    except Exception as error:
        if "is Ellipsis" in str(error):
            raise NotYet("Replace the three dots: what does backward(dy) return?") from error
        raise NotYet(
            f"In the backward pass your function raised {type(error).__name__}: {quoted(str(error))}."
        ) from error
    if slope is None:
        raise NotYet("Your backward returns None, so nothing flows back. Is a `return` missing?")
    return slope


def _judge_slope(slope: Any, weights: Any) -> None:
    right = np.tanh(POINTS)
    for wrong, hint in (
        (right, "That is the slope, without the cotangent. Alone it is right; in a chain it is wrong."),
        (-weights * right, "Every sign is turned round: the slope of log(cosh x) is positive where x is."),
        (weights, "Your backward passes the cotangent on unchanged. Multiply it by the slope."),
        (weights * np.abs(right), "To the left of 0 the slope is negative, and yours has lost its sign there."),
        (weights * np.sign(POINTS), "That is the slope of |x|. Near 0 log(cosh x) is flatter than that."),
        (weights / np.cosh(POINTS) ** 2, "That is the slope of the slope. Return the slope, (eˣ - e⁻ˣ) / (eˣ + e⁻ˣ)."),
        (weights * np.sinh(POINTS), "That is only half of (eˣ - e⁻ˣ), not yet divided by half of (eˣ + e⁻ˣ)."),
        (weights + right, "The cotangent is added. Multiply by it."),
    ):
        if np.allclose(slope, wrong, 1e-6, 1e-9):
            raise NotYet(hint)
    if not np.allclose(slope, weights * right, 1e-5, 1e-7):
        raise NotYet(
            f"At x = {POINTS[-1]:g} a cotangent of {weights[-1]:g} should become {weights[-1] * right[-1]:.6f}, and "
            f"yours becomes {slope[-1]:.6f}."
        )


def _judge_squared(answer: Any) -> None:
    """Check a chain in which the cotangent depends on x, so that it matters whether dy stays a tensor."""
    x = ad.constant(POINTS)
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            target = np.sum(call(answer, x, written="log_cosh(x)") ** 2)
        slope = tape.gradient(target, x)
    second = outer.gradient(slope, x)
    right = 2.0 * np.tanh(POINTS) ** 2 + 2.0 * np.log(np.cosh(POINTS)) / np.cosh(POINTS) ** 2
    if second is None or not np.allclose(second.numpy(), right, 1e-5, 1e-7):
        raise NotYet(
            "Right alone, but the second derivative of log_cosh(x) ** 2 is wrong: there the cotangent depends on x as "
            "well. Leave dy a tensor: no `.numpy()`, no `float`."
        )


def _judge_far_out(answer: Any) -> None:
    x = ad.constant(FAR)
    with np.errstate(all="ignore"), ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = call(answer, x, written="log_cosh(x)")
        slope = tape.gradient(y, x)
    if not np.allclose(y.numpy(), 1000.0 - np.log(2.0), 1e-6):
        raise NotYet("At x = 1000 the value overflows. Keep the value of the template: it was safe already.")
    if np.isnan(slope.numpy()).any():
        raise NotYet(
            "Near 0 the slope is right, and at 1000 or -1000 it is nan: an exponential overflows. Does NumPy have a "
            "function for this slope?"
        )
    if not np.allclose(slope.numpy(), np.sign(FAR), 1e-6):
        raise NotYet(f"The slope should be -1 at -1000 and 1 at 1000; yours are {slope.numpy()}.")
    with np.errstate(all="ignore"):
        second = outer.gradient(slope, x)
    if second is not None and not np.allclose(second.numpy(), 0.0):
        raise NotYet(
            "The slope is right, also at 1000, but its slope is nan there: an exponential overflows. Does NumPy have a "
            "function for this slope?"
        )


def _judge_second(outer: Any, probe: Any, x: Any, weights: Any) -> None:
    second = outer.gradient(probe, x)
    found = np.zeros_like(POINTS) if second is None else second.numpy()
    good = np.isclose(found, PROBE * weights / np.cosh(POINTS) ** 2, 1e-5, 1e-7)
    if good.all():
        return
    if good[1:].all():
        raise NotYet(
            f"Right once, wrong twice: at 0 the slope of the slope should be 1, and yours is "
            f"{found[0] / PROBE[0] / weights[0]:g}. Which part of your backward has a kink there?"
        )
    if np.allclose(found, 0.0):
        raise NotYet(
            "The slope is right, and its own slope is 0 everywhere: it has forgotten that it came from x. Leave x a "
            "tensor: no `.numpy()`, no `float`, no `stop_gradient`."
        )
    raise NotYet(
        "The slope is right, and its own slope is wrong even away from 0. Is a part of it computed from plain numbers?"
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
    found["own"] = any(line.split()[1:2] == ["custom_gradient,"] for line in str(f).splitlines())
except Exception as error:
    found = {"error": type(error).__name__, "message": str(error)}
print(json.dumps(found))
"""
"""What the fresh process does."""


def in_a_file(answer: Any) -> str:
    """Check 9.3: the path of a file that holds a rounding with the gradient 1, loaded in a fresh process."""
    if callable(answer):
        raise NotYet(
            "I need the path of the file, not the function. Save the function with `ad.save` and hand in `path`."
        )
    if not isinstance(answer, str | os.PathLike):
        raise NotYet(f"I need the path of the file, and your answer is {shortened(answer)}. Hand in `path` itself.")
    if not Path(answer).is_file():
        raise NotYet(f"There is no file at {shortened(str(answer))}. Did `ad.save(through, path, example)` run?")
    points, weights = np.random.default_rng(7).uniform(0.6, 9.4, (2, 5)).tolist()
    found = _fresh(answer, points, weights)
    if "error" in found:
        raise NotYet(_why_not(found["error"], found["message"]))
    value, slope = np.array(found["value"]), found["slope"]
    if value.shape != (5,) or not np.allclose(value, np.round(points)):
        if value.shape == (5,) and np.allclose(value, points):
            raise NotYet("The loaded function returns x itself. Its value should be `np.round(x)`.")
        raise NotYet(f"At {points[0]:.3f} the loaded function returns {shortened(found['value'])}; it should round.")
    if slope is None:
        raise NotYet(
            "The value is right, and the gradient is None. Is `@ad.custom_gradient` above your function, and does its "
            "backward return dy?"
        )
    if np.allclose(slope, 1.0):
        raise NotYet("The gradient is 1 whatever arrives: the cotangent is forgotten. Return dy itself.")
    if np.allclose(slope, 0.0):
        raise NotYet("The gradient is 0, the true slope of a rounding. Your backward should let dy pass.")
    if not np.allclose(slope, weights):
        raise NotYet(
            f"A cotangent of {weights[0]:.3f} arrived, and your backward made {slope[0]:.3f} of it. Let it pass."
        )
    if not found["own"]:
        raise NotYet(
            "It rounds and lets the cotangent pass, but without a custom gradient. Write a backward that returns dy, "
            "under `@ad.custom_gradient`."
        )
    return "Loaded from the file alone, it rounds and lets the cotangent pass."


def _fresh(path: Any, points: list[float], weights: list[float]) -> dict[str, Any]:
    given = [os.fspath(path), json.dumps([points, weights])]
    if sys.platform == "emscripten":  # a web page has one process, and `ad.load` reads the file alone there too
        before, sys.argv = sys.argv, ["-c", *given]
        try:
            with redirect_stdout(StringIO()) as printed:
                exec(PROGRAM, {"__name__": "__main__"})
        finally:
            sys.argv = before
        return dict(json.loads(printed.getvalue()))
    command = [sys.executable, "-c", PROGRAM, *given]
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
            "that is an array with one axis: `ad.save(through, path, np.array([0.2, 1.7, -2.4]))`."
        )
    if "arguments" in message:
        return "The loaded function takes more than one argument. It should take x alone."
    if kind == "ValueError":
        return f"The file was not written by `ad.save`: {quoted(message)}."
    return f"In the fresh process, {kind} was raised: {quoted(message)}."


QUESTIONS: tuple[Prediction | Exercise, ...] = (
    Prediction(
        "At x = 1000, what does the rule of log send back, and what does the rule of exp multiply that by?",
        answer="0 and inf",
        choices=("e⁻¹⁰⁰⁰ and e¹⁰⁰⁰", "0 and inf", "1 and inf", "0 and 1"),
        hints={
            "e⁻¹⁰⁰⁰ and e¹⁰⁰⁰": "On paper, just about. What is `np.exp(1000.0)` in a computer?",
            "1 and inf": "The rule of log divides by 1 + e, and e is inf. What is 1 / inf?",
            "0 and 1": "The rule of exp multiplies by its output. What is `np.exp(1000.0)` in a computer?",
        },
        why="1/inf is 0, and 0 times inf is not a number: there's the nan.",
    ),
    Prediction(
        "How many entries does the tape hold after `y = textbook(x)`?",
        answer=4,
        hints={
            1: "One entry is what the backward pass visits. But the tape was also running inside the function.",
            3: "Those are the operations inside. Which entry has your `backward`?",
            5: "`1.0 - 1.0 / (1.0 + e)` is in `backward`, and that has not run yet.",
        },
        why="Three for the inside, and one for the whole.",
    ),
    Prediction(
        "In the next cell, `own_square` gets 6 and has the rule `dy * 2.0 * v`. What does its `backward` return?",
        answer=60,
        hints={
            12: "That is the slope of a square at 6. What arrives from `z = 5.0 * y`?",
            30: "That is 5 times 6. A square has the slope 2v.",
            180: "That is what arrives at x in the end. Stop one entry earlier.",
            36: "That is the value of the square. What goes back?",
            20: "That is 5 times 2 times x. The argument of `own_square` is t, which is 3x.",
        },
        why="`z = 5.0 * y` sends 5, and 5 · 2 · 6 is 60.",
    ),
    Prediction(
        "What does `1 - 1 / (1 + np.exp(x))` give at x = -40?",
        answer="0",
        choices=("4.2e-18", "0", "nan"),
        hints={
            "4.2e-18": "That is right on paper. How many digits does an 8-byte number have?",
            "nan": "Nothing overflows here: `np.exp(-40.0)` is a small number. What is 1 plus that?",
        },
        why="A number keeps about 16 digits, so 1 + 4.2e-18 is 1, and 1 - 1 is 0.",
    ),
    Prediction(
        "The slope of `forgetful` at 1 is 0.7311. What slope will the tape give for `10.0 * forgetful(x)`?",
        answer=0.7311,
        hints={
            7.311: "That is the true slope. Who would multiply by the 10?",
            10: "That is what arrives at `forgetful`. What does its backward do with it?",
        },
        why="10 arrives, and `backward` never looks at it.",
    ),
    Prediction(
        "`check_gradients` will now test `careful` at -1, 0 and 1. Where does it find something wrong?",
        answer="only at 0",
        choices=("nowhere", "only at 0", "only at -1", "at -1 and 0"),
        hints={
            "nowhere": "`careful` treats x > 0 and x < 0 differently. What happens where the two meet?",
            "only at -1": "Left of 0 its formulas are as smooth as right of it. Where do the two meet?",
            "at -1 and 0": "Left of 0 the formulas are as smooth as on the right, and at 1 it passed.",
        },
        why="`np.abs` has a kink at 0, and `backward` uses it.",
    ),
    Prediction(
        'By what number does the step on mail 8 change the weight of "free"?',
        answer=-2000,
        hints={
            2000: "That is how far. The mail was genuine and its score too high: which way?",
            -4000: "That is downhill by the whole slope. The rate is 0.5.",
            4000: "That is the slope. A step goes downhill, and the rate is 0.5.",
            -0.5: "The slope with respect to x is 1. What is it with respect to the weight?",
        },
        why="The slope is 1 times 4000, and the step goes downhill by half of it.",
    ),
    Prediction(
        "Which gradient will the loaded function have in the fresh process?",
        answer="the rules that we wrote",
        choices=("the rules that we wrote", "the tape's own, unclipped", "None, as the code is missing"),
        hints={
            "the tape's own, unclipped": "The file holds operations. Isn't `backward` made of operations too?",
            "None, as the code is missing": "The file holds operations. Isn't `backward` made of operations too?",
        },
        why="`backward` is a list of operations too, and the file holds it.",
    ),
    Judge(
        "Right to second order",
        """\
`log(cosh x)` is a loss for measurements: like a square near 0, like |x| far out, so a single wild measurement can't do much harm. Its slope is (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ). The value below is already safe at 1000. Write `backward` so that the gradient is too, in a chain and to second order, at 0 as well. Keep the custom gradient.""",
        second_order,
    ),
    Judge(
        "Clip before and after the square",
        """\
`v` is 2, and the cotangent is clipped to a norm of 0.5: once *after* the square and once *before* it. What is the gradient of `after`, and of `before`, with respect to `v`? Work it out by hand.

```python
after = clip_gradient(v * v, 0.5)

w = clip_gradient(v, 0.5)
before = w * w
```""",
        two_clips,
    ),
    Judge(
        "Save, and load in a fresh process",
        """\
Write `through(x)`, a rounding that lets the cotangent pass: its value is `np.round(x)`, and its `backward` returns what it gets. Use a custom gradient. Save it to the path below so that it takes arrays of any length, and hand in the path. The check loads the file in a fresh process.""",
        in_a_file,
    ),
)
