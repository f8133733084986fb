"""Custom gradients: a rule right to second order, where a clip stands, and a function in a file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.rule import runs_code
from ..exercises import Case, Function, Judge, Number, Table, record, short, slope_of
from ..feedback import NotYet, near, quote, shorten
from ..predictions import Prediction

PREDICTIONS = (
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
)


def log_cosh(slope: Callable[[Any, Any], Any], value: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
    """Return log(cosh x), or another value, whose backward returns `slope(dy, x)`."""

    @ad.custom_gradient
    def custom(x: Any) -> Any:
        y = np.logaddexp(x, -x) - np.log(2.0) if value is None else value(x)
        return y, lambda dy: slope(dy, x)

    return custom


POINTS, FAR = ad.constant([0.0, -1.3, 0.4, 2.1]), ad.constant([-1000.0, 1000.0])
COTANGENTS, PROBE = np.array([0.7, -1.9, 2.2, -0.3]), np.array([1.1, -0.6, 0.9, 1.7])


def pull_back(function: Callable[[Any], Any]) -> Any:
    """Return what a learner's function sends back if another cotangent arrives at each element."""
    return slope_of(lambda x: np.sum(function(x) * COTANGENTS), POINTS)


def pull_back_twice(target: Callable[[Any], Any], function: Callable[[Any], Any], x: Any, probe: Any) -> Any:
    """Return the gradient of the product of the probe with the gradient of `target(f(x))`."""
    with ad.GradientTape() as outer:
        outer.watch(x)
        product = np.sum(slope_of(lambda x: target(function(x)), x) * probe)
    second = outer.gradient(product, x)
    return np.zeros(x.shape) if second is None else second


def say_second(found: Any, wanted: Any) -> str:
    """Return what is said of a slope whose own slope is wrong."""
    if near(found[1:], wanted[1:], 1e-5):
        return (
            f"Right once, wrong twice: at 0 the slope of the slope should be 1, and yours is {found[0] / wanted[0]:g}. "
            "Which part of your backward has a kink there?"
        )
    return (
        "The slope is right, and its own slope is wrong even away from 0. Is a part of it computed from plain numbers?"
    )


FORGETS = (
    "The slope is right, and its own slope is 0 everywhere: it has forgotten that it came from x. Leave x a tensor: no "
    "`.numpy()`, no `float`, no `stop_gradient`."
)
OVERFLOWS = (
    "Near 0 the slope is right, and at 1000 or -1000 it is nan: an exponential overflows. Does NumPy have a function for "
    "this slope?"
)
SECOND_ORDER = Function(
    "Right to second order",
    """\
`log(cosh x)` is a loss for measurements: like a square near 0, like |x| far out, so a single wild measurement can't do much harm. Its slope is (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ). The value below is already safe at 1000. Write `backward` so that the gradient is too, in a chain and to second order, at 0 as well. Keep the custom gradient.""",
    signature="log_cosh(x)",
    cases=[
        Case(
            lambda f: isinstance(f(POINTS), tuple),
            "log_cosh(x) returns a tuple. Write `@ad.custom_gradient` above the function.",
        ),
        Case(
            lambda f: record(f, POINTS)[0],
            f"At x = {short(POINTS)} the value should be {{answer}}, and yours is {{given}}.",
        ),
        Case(
            lambda f: any(runs_code(entry.operation) for entry in record(f, POINTS)[1].entries),
            "The tape finds this gradient by itself: your function has no custom gradient. Return the value and "
            "backward(dy), under `@ad.custom_gradient`.",
        ),
        Case(
            pull_back,
            f"At x = {short(POINTS)} the cotangents {short(COTANGENTS)} should become {{answer}}, and yours become "
            "{given}.",
            within=1e-5,
        ),
        Case(lambda f: pull_back_twice(lambda y: y * COTANGENTS, f, POINTS, PROBE), say_second, within=1e-5),
        Case(
            lambda f: pull_back_twice(np.square, f, POINTS, PROBE),
            "Right alone, but the second derivative of log_cosh(x) ** 2 is wrong: there the cotangent depends on x as "
            "well. Leave dy a tensor: no `.numpy()`, no `float`.",
            within=1e-5,
        ),
        Case(
            lambda f: record(f, FAR)[0],
            "At x = 1000 the value overflows. Keep the value of the template: it was safe already.",
        ),
        Case(lambda f: slope_of(f, FAR), "The slope should be -1 at -1000 and 1 at 1000; yours are {given}."),
        Case(
            lambda f: pull_back_twice(np.sum, f, FAR, 1.0),
            "The slope is right, also at 1000, but its slope is nan there: an exponential overflows. Does NumPy have a "
            "function for this slope?",
        ),
    ],
    answer=log_cosh(lambda dy, x: dy * np.tanh(x)),
    hints={
        log_cosh(lambda dy, x: dy * np.tanh(x), lambda x: np.logaddexp(x, -x)): "The value is too large by log 2. "
        "Keep the value of the template.",
        log_cosh(lambda dy, x: ...): "Replace the three dots: what does backward(dy) return?",
        log_cosh(lambda dy, x: None): "Your backward returns None, so nothing flows back. Is a `return` missing?",
        log_cosh(lambda dy, x: np.tanh(x)): "That is the slope, without the cotangent. Alone it is right; in a chain "
        "it is wrong.",
        log_cosh(lambda dy, x: -dy * np.tanh(x)): "Every sign is turned round: the slope of log(cosh x) is positive "
        "where x is.",
        log_cosh(lambda dy, x: dy): "Your backward passes the cotangent on unchanged. Multiply it by the slope.",
        log_cosh(lambda dy, x: dy * np.tanh(np.abs(x))): "To the left of 0 the slope is negative, and yours has lost "
        "its sign there.",
        log_cosh(lambda dy, x: dy * np.sign(x)): "That is the slope of |x|. Near 0 log(cosh x) is flatter than that.",
        log_cosh(lambda dy, x: dy / np.cosh(x) ** 2): "That is the slope of the slope. Return the slope, (eˣ - e⁻ˣ) / "
        "(eˣ + e⁻ˣ).",
        log_cosh(lambda dy, x: dy * np.sinh(x)): "That is only half of (eˣ - e⁻ˣ), not yet divided by half of (eˣ + "
        "e⁻ˣ).",
        log_cosh(lambda dy, x: dy + np.tanh(x)): "The cotangent is added. Multiply by it.",
        log_cosh(lambda dy, x: dy * np.tanh(x.numpy())): FORGETS,
        log_cosh(lambda dy, x: dy * (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))): OVERFLOWS,
        log_cosh(lambda dy, x: dy * (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1)): OVERFLOWS,
        log_cosh(lambda dy, x: dy * (1 - np.exp(-2 * x)) / (1 + np.exp(-2 * x))): OVERFLOWS,
    },
    why="The slope has no kink and no overflow, so its own slope is right too, even at 0.",
    minutes=10,
)

TWO_CLIPS = Table(
    "Clip before and after the square",
    """\
`v` is 2, and the cotangent is clipped to a norm of 0.5: once *after* the square and once *before* it. What is the gradient of `after`, and of `before`, with respect to `v`? Work it out by hand.

```python
after = clip_gradient(v * v, 0.5)

w = clip_gradient(v, 0.5)
before = w * w
```""",
    called="gradient",
    parts={
        "after": Number(
            answer=2,
            hints={
                4: "4 is the gradient of the square without a clip. In `after` the seed, 1, is clipped first.",
                0.5: "In `after` the clip turns the seed into 0.5, and that is not the end: the square follows.",
                1: "In `after` the square has two factors: each receives 0.5 times 2, and both count.",
            },
            otherwise="In `after` the seed 1 arrives at the clip. What leaves it, and what does 2v make of that?",
        ),
        "before": Number(
            answer=0.5,
            hints={
                4: "4 is what arrives at the clip in `before`. It is longer than 0.5.",
                2: "In `before` the seed goes through the square first, and arrives at the clip as 4.",
                1: "In `before` both contributions are added up to 4 before they arrive at the clip, once.",
                0.25: "A clip shortens to the norm 0.5. It does not multiply by 0.5 what is short enough already.",
            },
            otherwise="In `before` the square comes first on the way back. What does it send to the clip?",
        ),
    },
    hints=[
        (
            {"after": 0.5, "before": 2},
            "The two have changed places. The backward pass begins at the end: what does it meet first in `after`?",
        )
    ],
    why="The clip acts on the cotangent that arrives where it stands: on 1 in the first program, on 4 in the second.",
    minutes=10,
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
ARRIVE, LEAVE = np.random.default_rng(7).uniform(0.6, 9.4, (2, 5)).tolist()
FOUND = {"value": np.round(ARRIVE).tolist(), "slope": LEAVE, "own": True}
"""What the fresh process finds if the file is right."""
LOADED = Function(
    signature="found()",
    cases=[
        Case(lambda found: found()["value"], "The loaded function returns {given} where it should round to {answer}."),
        Case(
            lambda found: found()["slope"],
            "The cotangents {answer} arrived, and your backward made {given} of them. Let it pass them on.",
        ),
        Case(
            lambda found: found()["own"],
            "It rounds and lets the cotangent pass, but without a custom gradient. Write a backward that returns dy, "
            "under `@ad.custom_gradient`.",
        ),
    ],
    answer=lambda: FOUND,
    hints={
        lambda: FOUND | {"value": ARRIVE}: "The loaded function returns x itself. Its value should be `np.round(x)`.",
        lambda: FOUND | {"slope": None}: "The value is right, and the gradient is None. Is `@ad.custom_gradient` "
        "above your function, and does its backward return dy?",
        lambda: FOUND | {"slope": [1.0] * 5}: "The gradient is 1 whatever arrives: the cotangent is forgotten. Return "
        "dy itself.",
        lambda: FOUND | {"slope": [0.0] * 5}: "The gradient is 0, the true slope of a rounding. Your backward should "
        "let dy pass.",
    },
    why="Loaded from the file alone, it rounds and lets the cotangent pass.",
)


def in_a_file(answer: Any) -> str:
    """Judge the path of a file that holds a rounding with the gradient 1, loaded in a fresh process."""
    if callable(answer):
        raise NotYet(
            "I need the path of the file, not the function. Save the function with `ad.save` and hand in `path`."
        )
    if not isinstance(answer, str | os.PathLike):
        raise NotYet(f"I need the path of the file, and your answer is {shorten(answer)}. Hand in `path` itself.")
    if not Path(answer).is_file():
        raise NotYet(f"There is no file at {shorten(str(answer))}. Did `ad.save(through, path, example)` run?")
    found = _fresh(answer, ARRIVE, LEAVE)
    if "error" in found:
        raise NotYet(_why_not(found["error"], found["message"]))
    return LOADED.judge(lambda: found)


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
        return f"The file was not written by `ad.save`: {quote(message)}."
    return f"In the fresh process, {kind} was raised: {quote(message)}."


class Saved(os.PathLike[str]):
    """The path of a file that a function is saved to when the path is asked for: what exercise 3 tests itself with."""

    def __init__(self, backward: Callable[[Any], Any], example: Any = (0.2, 1.7, -2.4), **options: Any) -> None:
        self.function = ad.custom_gradient(lambda x: (np.round(x), backward))
        self.example, self.options = np.array(example), options

    def __fspath__(self) -> str:
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        path = str(Path(folder) / "through.ad")
        ad.save(self.function, path, self.example, **self.options)
        return path


FRESH_PROCESS = Judge(  # the answer is a file
    "Save, and load in a fresh process",
    """\
Write `through(x)`, a rounding that lets the cotangent pass: its value is `np.round(x)`, and its `backward` returns what it gets. Use a custom gradient. Save it to the path below so that it takes arrays of any length, and hand in the path. The check loads the file in a fresh process.""",
    check=in_a_file,
    answer=Saved(lambda dy: dy),
    hints={
        Saved(lambda dy: dy, custom_gradients=False): "its gradient is not in the file",
        Saved(lambda dy: dy, example=0.3): "an array with one axis",
        Saved(lambda dy: dy * 2.0): "Let it pass them on",
        Path("nowhere.ad"): "There is no file",
        np.round: "not the function",
        7.0: "Hand in `path` itself",
    },
    minutes=10,
)

QUESTIONS = (*PREDICTIONS, SECOND_ORDER, TWO_CLIPS, FRESH_PROCESS)
