"""Backward: six entries by hand, the rule of a distance, and a walk to mend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercises import Case, Function, Number, Table
from ..feedback import NotYet, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
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
    Prediction(
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
    Prediction(
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
    Prediction(
        "Two entries took 7 visits. Roughly how many will 16 take?",
        answer=131071,
        within=0.1,
        hints={
            56: "That would be so if each entry added the same number. What does one more entry do to the tree?",
            32: "That is two for each entry. But each b has two a's of its own, and so on up.",
            17: "That is one for each value. But the tree visits a value once for each path.",
            16: "That is what the tape takes. How often does the tree double?",
            65536: "That is the bottom row alone. Count the rows above it as well.",
            65535: "Almost: that is the tree for 15 entries.",
        },
        why="The rows have 1, 2, 4, up to 65,536 boxes: together 2 to the power of 17, minus 1.",
    ),
    Prediction(
        "The seed is 1. How much arrives at `x` in all, from both entries?",
        answer=0.077,
        within=0.02,
        hints={
            0.909: "That is what the product sends to x. The sine uses x, too.",
            -0.832: "That is what the sine sends to x. The product uses x, too.",
            -0.416: "That is the slope of the sine alone. The cotangent of t multiplies it, and the product uses x, too.",
            0.493: "The sine multiplies what arrives at t by cos(2). How much arrives at t?",
            1.741: "The cosine of 2 is negative, so the two contributions pull against each other.",
            2: "That is what arrives at t. What becomes of it on the way back through the sine?",
            1.818: "That is the value of y. How far does y move for each unit of nudge at x?",
        },
        why="The product sends 0.909 to x and 2 to t, and the sine turns this 2 into 2 · (-0.416) = -0.832.",
    ),
    Prediction(
        "Make the nudge ten times smaller. About how many times smaller does the gap between move and promise get?",
        answer=100,
        within=0.1,
        hints={
            10: "Both numbers get ten times smaller. The *gap* comes from the bend of the curve, and shrinks faster.",
            1: "A gap that stayed as it is would make the promise worthless for small nudges.",
            1000: "That is one power too many. What does a straight line miss first about a curve?",
        },
        why="The gap comes from the bend of the curve, and here it grows with the square of the nudge.",
    ),
    Prediction(
        "`prediction` is 7, `error = prediction - 5`, and `loss = error * error`. What is d loss/d prediction?",
        answer=4,
        hints={
            2: "That is the error. It is used twice in `error * error`, and both contributions count.",
            12: "That is d loss/dw: one line further up, where the prediction's cotangent is multiplied by 3.",
            14: "That would be so for the loss `prediction * prediction`. What is squared here?",
            1: "Subtraction passes the cotangent of the error on as it is. What is the cotangent of the error?",
            None: "The loss was computed from the error, and that from the prediction. So there is a path.",
        },
        why="The error receives 2 twice from `error * error`, and the subtraction passes 4 on.",
    ),
    Prediction(
        "With 100 inputs, how many times as many operations do central differences take as one run and one walk back?",
        answer=66.67,
        within=0.03,
        hints={
            200: "That would be so if the walk back were free. How many contributions does each operation send?",
            100: "That counts the walk as one more run. But a product or sum has two inputs, and sends something to each.",
            50: "That counts the walk as three runs. How many contributions does each operation send?",
            33.3: "Central differences take two runs for each input.",
            3: "That is what the tape takes, in runs. What do the differences take?",
            597: "That is what the tape takes. How many times as many do the differences take?",
            39800: "That is what the differences take. How many times as many is that?",
        },
        why="They take 200 runs. The tape takes one run and a walk worth two: 200 to 3.",
    ),
)

VALUES = {"x": 2.0, "y": 4.0, "a": 8.0, "b": 10.0, "c": 40.0, "d": 48.0, "e": 96.0, "f": 106.0}
USERS = {"e": "f", "d": "e", "c": "d", "b": "f and c", "a": "d and b", "y": "c and a", "x": "b and a"}
PARTS = {"b": (("f", 1.0), ("c", 8.0)), "a": (("d", 2.0), ("b", 9.0)), "y": (("c", 20.0), ("a", 22.0)),
         "x": (("b", 9.0), ("a", 44.0))}  # fmt: skip
"""The two contributions to each value that is used twice, the earlier one first, and where they come from."""


def cotangent(name: str, answer: float) -> Number:
    """Return the form for the cotangent of one value of exercise 1."""
    known: dict[float, str] = {}
    if name in PARTS:
        (first, early), (second, late) = PARTS[name]
        known[late] = (
            f"{late:g} is what arrives at {name} last, from the entry of {second}. The earlier contribution, from "
            f"{first}, is lost: accumulate with `+=` in place of `=`."
        )
        known[early] = (
            f"{early:g} is the contribution from the entry of {first} alone. The entry of {second} uses {name} too."
        )
    known.setdefault(
        VALUES[name],
        f"{VALUES[name]:g} is the value of {name}. The question asks for its cotangent, the derivative of f with respect "
        f"to {name}.",
    )
    if name == "d":
        known[1.0] = (
            "e = d * 2.0 is a multiplication: the contribution to d is the cotangent of e times the other factor."
        )
    otherwise = (
        f"The first cotangent to look at again is that of {name}. It is used to compute {USERS.get(name)}. "
        "Addition passes the cotangent on unchanged; multiplication multiplies it by the other factor."
    )
    if name == "f":
        known, otherwise = (
            {},
            "f is the target. Its cotangent is the seed: how much does f change when f changes by one?",
        )
    return Number(answer=answer, hints=known, otherwise=otherwise)


SIX_LINES = Table(
    "Six lines by hand",
    """\
Take paper. The values are in the comments. Start with the seed at `f`, walk up, and write down the
cotangent of every value once it's finished.

```python
x, y = 2.0, 4.0
a = x * y        #   8
b = a + x        #  10
c = b * y        #  40
d = a + c        #  48
e = d * 2.0      #  96
f = e + b        # 106, the target
```""",
    called="cotangent",
    parts={
        "f": cotangent("f", 1.0),
        "e": cotangent("e", 1.0),
        "d": cotangent("d", 2.0),
        "c": cotangent("c", 2.0),
        "b": cotangent("b", 9.0),
        "a": cotangent("a", 11.0),
        "y": cotangent("y", 42.0),
        "x": cotangent("x", 53.0),
    },
    why="df/dx is 53 and df/dy is 42. The values a and b and both sources are used twice, and each contribution "
    "counts.",
    minutes=7,
)

POINTS = [(g, float(np.hypot(u, v)), u, v) for g, u, v in np.random.default_rng(2).uniform(1.0, 3.0, (4, 3)).tolist()]
POINTS += [(1.5, 2.5, 0.0, 2.5), (1.5, 2.5, -2.5, 0.0), (-0.5, 5.0, -3.0, 4.0)]


RULE = Function(
    "The rule of a distance",
    """\
A point is `u` to the east and `v` to the north, and `z = np.hypot(u, v)` is its distance from you, √(u² + v²). Write its
rule. It's given the cotangent `g` of `z`, the value of `z`, and the values of `u` and `v`, and returns the contributions
to `u` and to `v`. (Think of a point straight to the east first: what does one step east do to its distance, and what one step north?)""",
    signature="rule(g, z, u, v)",
    returns=("the contribution to u", "the contribution to v"),
    cases=POINTS,
    answer=lambda g, z, u, v: (g * u / z, g * v / z),
    spellings=[lambda g, z, u, v: (g * np.cos(np.arctan2(v, u)), g * np.sin(np.arctan2(v, u)))],
    hints=[
        (
            lambda g, z, u, v: (u / z, v / z),
            "These are the slopes of z. They leave out g: how much the target changes with z.",
        ),
        (
            lambda g, z, u, v: (g * v / z, g * u / z),
            "The two contributions have changed places. Which one should be 0 if the point is straight to the east?",
        ),
        (
            lambda g, z, u, v: (2 * g * u, 2 * g * v),
            "Those are the slopes of u² + v², which is z². What does the root do to them?",
        ),
        (
            lambda g, z, u, v: (g * u, g * v),
            "A point twice as far away, in the same direction, would get twice as much. But a step away from you always "
            "adds one step to the distance.",
        ),
        (
            lambda g, z, u, v: (g / (2 * z), g / (2 * z)),
            "That is the slope of the root alone. What is under it changes as well: by 2u for each unit of u.",
        ),
        (
            lambda g, z, u, v: (g * u / (2 * z), g * v / (2 * z)),
            "That is half of it. What is under the root changes by 2u for each unit of u, and that 2 cancels the ½ of the root.",
        ),
        (
            lambda g, z, u, v: (2 * g * u / z, 2 * g * v / z),
            "That is twice as much as it should be. The slope of the root has a ½, which cancels the 2 of 2u.",
        ),
        (
            lambda g, z, u, v: (g * u / z**2, g * v / z**2),
            "That is divided by z once too often. For a point straight to the east, one step east adds one step.",
        ),
        (
            lambda g, z, u, v: (g * u / (u + v), g * v / (u + v)),
            "u + v is the way along the streets. Divide by the distance as the crow flies.",
        ),
        (
            lambda g, z, u, v: (g, g),
            "That is the rule of addition. A step to the north adds nothing to the distance of a point far to the east.",
        ),
        (
            lambda g, z, u, v: (g * np.sign(u), g * np.sign(v)),
            "That would be so if you could only walk along the streets, with the distance |u| + |v|. As the crow flies, "
            "how much does a step to the east help if the point is nearly to the north?",
        ),
        (
            lambda g, z, u, v: (g * z, g * z),
            "z is the value of the distance. The contribution to u is g times its *slope* with respect to u.",
        ),
        (
            lambda g, z, u, v: (g * z / u, g * z / v) if u and v else (0.0, 0.0),
            "It is the other way up: where u is small, a step to the east changes the distance little.",
        ),
        (
            lambda g, z, u, v: (np.float64(g * z) / u, np.float64(g * z) / v),
            "It is the other way up: where u is small, a step to the east changes the distance little. And where u is 0, "
            "your rule divides by zero.",
        ),
    ],
    why="A step east counts u/z: in full if the point is straight to the east, not at all if it is straight to the north.",
    minutes=8,
)

Entries = list[tuple[str, str, tuple[str, str]]]
Update = Callable[[dict[str, float], str, float, float], None]


def walk(update: Update) -> Callable[..., Any]:
    """Return a backward pass that treats each contribution as `update` says: the right one, and those to be mended."""

    def backward(entries: Entries, values: dict[str, float], target: str) -> dict[str, float]:
        cotangents = {target: 1.0}
        for output, operation, inputs in reversed(entries):
            g = cotangents.get(output, 0.0)
            x, y = (values[name] for name in inputs)
            for name, contribution in zip(inputs, (g, g) if operation == "add" else (g * y, g * x), strict=True):
                update(cotangents, name, contribution, g)
        return cotangents

    return backward


def put(cotangents: dict[str, float], name: str, value: float) -> None:
    """Store a number; so that a lambda can."""
    cotangents[name] = value


NO_ACCUMULATOR = (
    "The first contribution finds no accumulator to add to: begin with `cotangents.get(name, 0.0)`, or put zeros in "
    "beforehand."
)
RIGHT_WALK = walk(lambda kept, name, part, g: put(kept, name, kept.get(name, 0.0) + part))
SQUARE = [("b", "multiply", ("a", "a"))], {"a": 3.0, "b": 9.0}, "b"
TWICE = [("b", "add", ("a", "a")), ("c", "add", ("b", "b"))], {"a": 1.0, "b": 2.0, "c": 4.0}, "c"
DIAMOND = (
    [("p", "multiply", ("x", "y")), ("q", "add", ("x", "p")), ("r", "multiply", ("p", "q"))],
    {"x": 2.0, "y": 5.0, "p": 10.0, "q": 12.0, "r": 120.0},
    "r",
)


def sources_of(program: Any, *names: str) -> Callable[[Callable[..., Any]], Any]:
    """Return what runs a walk over a program, and reads the cotangents of some values."""

    def run(backward: Callable[..., Any]) -> Any:
        entries, values, target = program
        got = backward(list(entries), dict(values), target)
        if not isinstance(got, dict):
            raise NotYet(f"Your function gives {shorten(got)}. It must return the dict of cotangents.")
        found = [got.get(name) for name in names]
        return found if len(found) > 1 else found[0]

    return run


WALK = Function(
    "Mend the walk",
    """\
Here is the whole backward pass. The tape is a list of entries: output, operation, inputs, all by name. `values` are the
kept values. It never complains, but for `b = a * a` at 3 it says 4, and the slope is 6. One line is wrong. Which, and what should it be?""",
    signature="backward(entries, values, target)",
    cases=[
        Case(
            sources_of(SQUARE, "a"),
            "For b = a * a at a = 3 your function gives {given} for a, and the slope is {answer}.",
        ),
        Case(
            sources_of(TWICE, "a"),
            "For b = a + a, c = b + b your function gives {given} for a, and the slope is {answer}. Walk through the "
            "entries in reverse, and pull back from b only when all of its contributions are there.",
        ),
        Case(
            sources_of(DIAMOND, "x", "y"),
            "For p = x * y, q = x + p, r = p * q at x = 2, y = 5 your function gives {given}; the slopes are "
            "{answer}. Each contribution must be added once, to the name it belongs to.",
        ),
    ],
    answer=RIGHT_WALK,
    spellings=[walk(lambda kept, name, part, g: kept.update({name: part + kept.setdefault(name, 0.0)}))],
    hints=[
        (
            walk(lambda kept, name, part, g: put(kept, name, part)),
            "For b = a * a at a = 3 your function gives 3, and the slope is 6. Two contributions of 3 arrive at a, "
            "and the second overwrites the first. Add it to what is there.",
        ),
        (
            walk(lambda kept, name, part, g: put(kept, name, g + part)),
            "For b = a * a at a = 3 your function gives 4, and the slope is 6. Two contributions of 3 are on their way to "
            "a. Print `cotangents` after each has been stored: what was it added to?",
        ),
        (
            walk(lambda kept, name, part, g: put(kept, name, kept.get(name, 1.0) + part)),
            "For b = a * a at a = 3 your function gives 7, one too many. An accumulator begins at 0.0; only the "
            "target has a seed.",
        ),
        (
            walk(lambda kept, name, part, g: put(kept, name, kept.setdefault(name, part) + part)),
            "For b = a * a at a = 3 your function gives 9, and the slope is 6. Two contributions of 3 arrive: add "
            "them up, once each, starting from 0.0.",
        ),
        (
            walk(lambda kept, name, part, g: put(kept, name, kept.get(name, 1.0) * part)),
            "For b = a * a at a = 3 your function gives 9: it multiplies the two contributions of 3. Add them up.",
        ),
        (
            walk(lambda kept, name, part, g: put(kept, name, kept.get(name, 0.0) * part)),
            "For b = a * a at a = 3 your function gives 0: it multiplies what is there, at first 0.0. Add to it.",
        ),
        (
            walk(lambda kept, name, part, g: put(kept, name, kept.get(name, 0.0) + g * part)),
            "For b = a + a, c = b + b your function gives 8 for a, and the slope is 4. The rule has already "
            "multiplied by g: add each contribution as it is.",
        ),
        (walk(lambda kept, name, part, g: put(kept, name, kept[name] + part)), NO_ACCUMULATOR),
        (walk(lambda kept, name, part, g: put(kept, name, kept.get(name) + part)), NO_ACCUMULATOR),  # type: ignore[operator]
        (
            lambda entries, values, target: {target: 1.0},
            "For b = a * a your function gives no cotangent for a. Each contribution belongs to the name in `inputs`.",
        ),
    ],
    why="Every contribution is added to what is there, and a value that is used twice gets both.",
    minutes=7,
)

QUESTIONS = (*PREDICTIONS, SIX_LINES, RULE, WALK)
