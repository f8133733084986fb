"""Chapter 2, backward: six entries by hand, multiplication's rule, and an accumulator to mend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..feedback import NotYet, call, near, needs_dict, needs_function, number, shortened
from ..predictions import Prediction

VALUES = {"x": 2.0, "y": 4.0, "a": 8.0, "b": 10.0, "c": 40.0, "d": 48.0, "e": 96.0, "f": 106.0}
COTANGENTS = {"f": 1.0, "e": 1.0, "d": 2.0, "c": 2.0, "b": 9.0, "a": 11.0, "y": 42.0, "x": 53.0}
PARTS = {"b": (("f", 1.0), ("c", 8.0)), "a": (("d", 2.0), ("b", 9.0)), "y": (("c", 20.0), ("a", 22.0)),
         "x": (("b", 9.0), ("a", 44.0))}  # fmt: skip

Entries = list[tuple[str, str, tuple[str, str]]]


def six_entries(answer: Any) -> str:
    """Check 2.1: the cotangents of a tape of six entries, as a dict."""
    needs_dict(answer, '{"f": 1.0, "e": 1.0}')
    if missing := [name for name in COTANGENTS if name not in answer]:
        raise NotYet(f"No cotangent is given for {', '.join(missing)}.")
    if still_open := [name for name in COTANGENTS if answer[name] is ...]:
        raise NotYet(f"Replace the three dots. Still open: {', '.join(still_open)}. Begin at {still_open[0]}.")
    for name, right in COTANGENTS.items():
        given = number(answer[name], f"the cotangent of {name}")
        if not near(given, right):
            raise NotYet(_why(name, given))
    return (
        "df/dx is 53 and df/dy is 42. The values a and b and both sources are used twice, and each contribution counts."
    )


def _why(name: str, given: float) -> str:
    if name == "f":
        return "f is the target. Its cotangent is the seed: how much does f change when f changes by one?"
    if name in PARTS:
        (first, early), (second, late) = PARTS[name]
        if near(given, late):
            return (
                f"{given:g} is what arrives at {name} last, from the entry of {second}. The earlier contribution, from "
                f"{first}, is lost: accumulate with `+=` in place of `=`."
            )
        if near(given, early):
            return (
                f"{given:g} is the contribution from the entry of {first} alone. The entry of {second} uses {name} too."
            )
    if near(given, VALUES[name]):
        return (
            f"{given:g} is the value of {name}. The question asks for its cotangent, the derivative of f with respect "
            f"to {name}."
        )
    if name == "d" and near(given, 1.0):
        return "e = d * 2.0 is a multiplication: the contribution to d is the cotangent of e times the other factor."
    users = " and ".join(user for user, _ in PARTS[name]) if name in PARTS else {"e": "f", "d": "e", "c": "d"}[name]
    return (
        f"The first cotangent to look at again is that of {name}. It is used to compute {users}. "
        "Addition passes the cotangent on unchanged; multiplication multiplies it by the other factor."
    )


def multiply_rule(answer: Any) -> str:
    """Check 2.2: the rule of multiplication, `rule(g, z, x, y)`, against central differences at hidden points."""
    needs_function(answer, "rule(g, z, x, y)")
    points = np.random.default_rng(20140305).uniform(1.0, 3.0, size=(4, 3))
    for g, x, y in points.tolist():
        given = _contributions(answer, g, x, y)
        _judge_rule(given, g, x, y)
    for g, x, y in ((1.5, 0.0, 2.5), (1.5, 2.5, 0.0), (-0.5, -1.5, 2.0)):
        _judge_where_division_fails(answer, g, x, y)
    return "Each factor receives the cotangent times the other factor, as central differences say at hidden points."


def _contributions(answer: Any, g: float, x: float, y: float) -> Any:
    given = call(answer, g, x * y, x, y, written=f"rule({g:.4g}, {x * y:.4g}, {x:.4g}, {y:.4g})")
    return given.tolist() if isinstance(given, np.ndarray) else given  # an array of two is a pair too


def _judge_where_division_fails(answer: Any, g: float, x: float, y: float) -> None:
    at = f"At x = {x:g}, y = {y:g}"
    divides = f"{at} your rule divides by zero. There z / x or z / y is not the other factor: use x and y themselves."
    try:
        with np.errstate(all="ignore"):
            given = _contributions(answer, g, x, y)
    except NotYet as hint:
        raise NotYet(divides) if isinstance(hint.__cause__, ZeroDivisionError) else hint from None
    if isinstance(given, tuple | list) and any(
        isinstance(p, float | np.floating) and not np.isfinite(p) for p in given
    ):
        raise NotYet(divides)
    _judge_rule(given, g, x, y)


def _judge_rule(given: Any, g: float, x: float, y: float) -> None:
    if given is None:
        raise NotYet("Your rule returns None. End it with `return ..., ...`.")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(
            f"Your rule returns {shortened(given)}. A multiplication has two arguments, so return two contributions: "
            "`return to_x, to_y`."
        )
    to_x, to_y = number(given[0], "the contribution to x"), number(given[1], "the contribution to y")
    h = 1e-4
    right_x = g * ((x + h) * y - (x - h) * y) / (2 * h)
    right_y = g * (x * (y + h) - x * (y - h)) / (2 * h)

    def agree(a: float, b: float) -> bool:
        return abs(to_x - a) < 1e-6 and abs(to_y - b) < 1e-6

    if agree(right_x, right_y):
        return
    if agree(y, x):
        raise NotYet("These are the slopes y and x. They leave out g: how much the target changes with the product.")
    if agree(g * x, g * y):
        raise NotYet("The two contributions have changed places. If x grows by one, x * y grows by y.")
    if agree(x, y):
        raise NotYet("If x grows by one, x * y grows by y, not by x. And the cotangent g is left out.")
    if agree(g, g):
        raise NotYet(
            "That is the rule of addition: there each argument counts once. Here each counts as often as the "
            "other says."
        )
    if x * y and agree(g * x * y, g * x * y):
        raise NotYet(
            "z is the value of the product. The contribution to x is g times the *slope* of z with respect to x."
        )
    if abs(to_x - right_x) < 1e-6:
        raise NotYet(
            "The contribution to x is right. Now ask the same for y: if y grows by one, by how much does x * y grow?"
        )
    if abs(to_y - right_y) < 1e-6:
        raise NotYet(
            "The contribution to y is right. Now ask the same for x: if x grows by one, by how much does x * y grow?"
        )
    raise NotYet(
        f"At g = {g:.3f}, x = {x:.3f}, y = {y:.3f} central differences give {right_x:.6g} for x and "
        f"{right_y:.6g} for y; "
        f"your rule gives {to_x:.6g} and {to_y:.6g}. By how much does x * y grow if x grows by one?"
    )


def mended(answer: Any) -> str:
    """Check 2.3: a backward pass whose accumulator is mended, on tapes of up to four entries."""
    needs_function(answer, "backward(entries, values, target)")
    square: Entries = [("b", "multiply", ("a", "a"))]
    got = _run(answer, square, {"a": 3.0, "b": 9.0}, "b", "b = a * a at a = 3")
    given = number(got.get("a", ...), "the cotangent of a") if "a" in got else None
    if given is None:
        raise NotYet(
            "For b = a * a your function gives no cotangent for a. Each contribution belongs to the name in `inputs`."
        )
    hints = {
        3.0: "For b = a * a at a = 3 your function gives 3, and the slope is 6. Two contributions of 3 arrive "
        "at a, and "
        "the second overwrites the first. Add it to what is there.",
        4.0: "For b = a * a at a = 3 your function gives 4. It adds to g, the cotangent of b. Add to what a has "
        "received.",
        7.0: "For b = a * a at a = 3 your function gives 7, one too many. An accumulator begins at 0.0; only "
        "the target has a seed.",
        9.0: "For b = a * a at a = 3 your function gives 9, and the slope is 6. Two contributions of 3 arrive: add "
        "them up, once each, starting from 0.0.",
    }
    if given != 6.0:
        raise NotYet(
            hints.get(given, f"For b = a * a at a = 3 your function gives {given:g} for a, and the slope is 6.")
        )
    doubled: Entries = [("b", "add", ("a", "a")), ("c", "add", ("b", "b"))]
    got = _run(answer, doubled, {"a": 1.0, "b": 2.0, "c": 4.0}, "c", "b = a + a, c = b + b")
    given = number(got.get("a", 0.0), "the cotangent of a")
    if given != 4.0:
        raise NotYet(
            f"For b = a + a, c = b + b your function gives {given:g} for a, and the slope is 4. "
            + (
                "The rule has already multiplied by g: add each contribution as it is."
                if given == 8.0
                else "Walk through the entries in reverse, and pull back from b only when all of its contributions are "
                "there."
            )
        )
    diamond: Entries = [("p", "multiply", ("x", "y")), ("q", "add", ("x", "p")), ("r", "multiply", ("p", "q"))]
    got = _run(answer, diamond, {"x": 2.0, "y": 5.0, "p": 10.0, "q": 12.0, "r": 120.0}, "r", "a diamond")
    pair = [number(got.get(name, 0.0), f"the cotangent of {name}") for name in "xy"]
    if pair != [120.0, 44.0]:
        raise NotYet(
            f"For p = x * y, q = x + p, r = p * q at x = 2, y = 5 your function gives {pair[0]:g} and {pair[1]:g}; "
            "the slopes are 120 and 44. Each contribution must be added once, to the name it belongs to."
        )
    return "Every contribution is added to what is there, and a value that is used twice gets both."


def _run(function: Any, entries: Entries, values: dict[str, float], target: str, name: str) -> dict[str, Any]:
    try:
        got = call(function, list(entries), dict(values), target, written=f"Your function, for {name},")
    except NotYet as hint:
        if isinstance(hint.__cause__, KeyError):
            raise NotYet(
                f"{hint} The first contribution finds no accumulator to add to: begin with "
                "`cotangents.get(name, 0.0)`, or put zeros in beforehand."
            ) from None
        raise
    if got is None:
        raise NotYet("Your function gives None. End it with `return cotangents`.")
    if not isinstance(got, dict):
        raise NotYet(f"Your function gives {shortened(got)}. It must return the dict of cotangents.")
    return got


EXERCISES: dict[str, Callable[[Any], str]] = {"2.1": six_entries, "2.2": multiply_rule, "2.3": mended}
"""The checks by exercise."""

PREDICTIONS: dict[str, Prediction] = {
    "2.a": Prediction(
        "For each metre that the walker walks, by how many metres does the gap `car - bicycle` grow?",
        answer=4,
        hints={
            8: "That is how far the car goes. The bicycle moves, too.",
            2: "The car goes 2 metres for each metre of the *bicycle*. How far do both go for one of the walker?",
            1: "That is for each metre of the *bicycle*. How far does it go for one of the walker?",
            12: "In `car - bicycle` the bicycle is subtracted.",
        },
        why="The car goes 8 metres and the bicycle 4, so the gap grows by 8 - 4.",
    ),
    "2.b": Prediction(
        "x is 2, t is 0.909, and the seed is 1. What does the line `y = x * t` send to `t`?",
        answer=2,
        hints={
            0.909: "That goes to the other factor, to x.",
            1: "Addition would pass the seed on as it is. How far does y move when t is nudged by one?",
            1.818: "That is the value of y. How far does y move when t is nudged by one?",
            -0.832: "That comes one step later on the way back, through the sine.",
        },
        why="A product sends g times the other factor: 1 · 2.",
    ),
    "2.c": Prediction(
        "Make the nudge ten times smaller. How many times smaller does the gap between move and promise get?",
        answer=100,
        within=0.1,
        hints={
            10: "Both numbers get ten times smaller. The *gap* comes from the bend of the curve, and shrinks faster.",
            1: "A gap that stayed as it is would make the promise worthless for small nudges.",
            1000: "That is one power too many. What does a straight line miss first about a curve?",
        },
        why="The gap comes from the bend of the curve, and grows with the square of the nudge.",
    ),
    "2.d": Prediction(
        "`prediction` is 7, `error = prediction - 5`, and `loss = error * error`. What is dloss/dprediction?",
        answer=4,
        hints={
            2: "That is the error. It is used twice in `error * error`, and both contributions count.",
            12: "That is dloss/dw: one line further up, where the prediction's cotangent is multiplied by 3.",
            14: "That would be so for the loss `prediction * prediction`. What is squared here?",
            1: "Subtraction passes the cotangent of the error on as it is. What is the cotangent of the error?",
            None: "The loss was computed from the error, and that from the prediction. So there is a path.",
        },
        why="The error receives 2 twice from `error * error`, and the subtraction passes 4 on.",
    ),
    "2.e": Prediction(
        "The function below stores what arrives with `=`. What does it find for `a`, where the slope is 4?",
        answer=1,
        hints={
            4: "It would, if it added up. What does `=` do with what was there?",
            2: "What does `=` do with the first contribution when the second arrives?",
            6: "Numbers only grow when something is added, and `=` doesn't add.",
            0: "Something does arrive at a: addition passes its 1 on.",
        },
        why="Four contributions of 1 arrive at a, and each overwrites the one before.",
    ),
    "2.f": Prediction(
        "Where does the 6 come from?",
        answer="the first 1 of b is passed on twice",
        choices=(
            "the first 1 of b is passed on twice",
            "the seed is counted along with the rest",
            "there are six paths from c to a",
            "a is visited six times",
        ),
        hints={
            "the seed is counted along with the rest": "The seed belongs to c, and c is right. Which value is passed "
            "on when b is visited for the second time?",
            "there are six paths from c to a": "Two ways from c to b, and two from b to a: that makes four.",
            "a is visited six times": "b is visited twice, and each time it visits a twice. That makes four.",
        },
        why="b passes on 1 when it has 1, and then 2 when it has 2, so its first 1 goes out again: 1 + 1 + 2 + 2.",
    ),
    "2.g": Prediction(
        "Two lines took 7 visits. How many will 16 lines take?",
        answer=131071,
        hints={
            56: "That would be so if each line added the same number. What does one more line do to the tree?",
            32: "That is two for each line. But each b has two a's of its own, and so on up.",
            17: "That is one for each value. But the tree visits a value once for each path.",
            16: "That is what the tape takes. How often does the tree double?",
            65536: "That is the bottom row alone. Count the rows above it as well.",
            65535: "Almost: that is the tree for 15 lines.",
        },
        why="The rows have 1, 2, 4, up to 65,536 boxes: together 2 to the power of 17, minus 1.",
    ),
    "2.h": Prediction(
        "100 squares and their sum are 199 operations with two inputs each. If each contribution counts as one more, "
        "how many are one run and one walk?",
        answer=597,
        hints={
            398: "That is the walk, or two runs. Count the run and the walk.",
            199: "That is the run. The walk has a contribution for each input of each operation.",
            39800: "That is what central differences take: 200 runs of 199 operations.",
            300: "There are 199 operations: 100 products and 99 sums.",
        },
        why="199 forward, and twice 199 back.",
    ),
}
"""The predictions by their ids."""
