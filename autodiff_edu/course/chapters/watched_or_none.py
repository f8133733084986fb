"""Watched or None: five programs to repair, ten answers, an explanation to read."""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Outcome, Record, Seed, Skip, Watch
from ..exercises import Case, Function, Judge, Number, Table
from ..feedback import NotYet, call, near, observe, quote, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "At `x = 3`, which target has the slope 0 with respect to `x`: `y = (x - 3)²` or `z = w · 2`?",
        answer="y",
        choices=("y", "z", "both", "neither"),
        hints={
            "z": "How would a backward pass get from `z` to `x`?",
            "both": "`z` doesn't change with `x`, true. But will anything arrive at `x` if the tape starts at `z`?",
            "neither": "What is the derivative of (x - 3)² at 3?",
        },
        why="The curve of `y` is flat at 3. From `z` no path leads to `x`, so there is no slope at all: `None`.",
    ),
    Prediction(
        "`y = w * w` is recorded while `w` is 3. Then `w` becomes 100. What is the slope?",
        answer="6",
        choices=("6", "200", "None"),
        hints={
            "200": "Which value did the tape see when it recorded the product?",
            "None": "Nobody called `watch`, but `w` is a variable, and it was read.",
        },
        why="The slope is 2 · 3: an entry keeps the values that it was computed from.",
    ),
    Prediction(
        "`y = source * 1.5` runs on `ad.constant(2.0)`, `ad.Variable(2.0, trainable=False)`, `ad.Variable(2)` and "
        "`ad.Variable(2.0)`. How many of the four gradients are `None`?",
        answer="3",
        choices=("0", "1", "2", "3", "4"),
        hints={
            "0": "Nobody calls `watch`. Is reading enough for a constant?",
            "1": "One is a constant. But look at what the variables are made of, and what they say about training.",
            "2": "Compare the last two: `2` and `2.0`. What would a small change of an integer be?",
            "4": "One of them is a trainable variable with a decimal point.",
        },
        why="Only the last one is trainable and a floating-point number; its gradient is 1.5.",
    ),
    Prediction(
        "`growth = np.exp(x.numpy())`, then `y = growth * w`. Which gradient of `y` is `None`?",
        answer="with respect to x",
        choices=("with respect to x", "with respect to w", "both", "neither"),
        hints={
            "with respect to w": "`w` is in the last line, as a tensor. Where is `x`?",
            "both": "The product is recorded, because one of its factors is watched. Which one?",
            "neither": "What does `x.numpy()` return, and does a tape follow that?",
        },
        why="To the tape, `growth` is a plain number like any other. The product with `w` is recorded all the same.",
    ),
    Prediction(
        "With `a = 1` and `b = 2`, `c.assign(a + b)` makes `c` 3, and `cost` is c². What are dcost/db and dcost/dc?",
        answer="None and 6",
        choices=("6 and 6", "None and 6", "6 and None", "None and None"),
        hints={
            "6 and 6": "Does `assign` remember where its numbers came from?",
            "6 and None": "`c` is read in the line of `cost`. How would the tape get past it, to `b`?",
            "None and None": "`c` is a variable, and the line of `cost` reads it.",
        },
        why="`assign` puts the plain number 3 into `c`. With respect to `c` the slope is 6, with respect to `b` None.",
    ),
    Prediction(
        "Five lines lead from `width` to `total` in the next cell. How many of them will the tape record?",
        answer=3,
        hints={
            0: "`width` is a variable, and `area` is computed from it under the tape.",
            1: "`price` is computed from `area`, and the tape follows `area`.",
            2: "The line that rounds has something watched in it, too: `price`.",
            4: "The line of `cents` makes two entries, but it's one line. And is anything watched in the next one?",
            5: "A line is recorded if something watched goes into it. After the rounding, is anything watched?",
        },
        why="`area`, `price` and `cents` are recorded. Nothing flows back through `np.round`, so `bill` and `total` "
        "have nothing watched in them.",
    ),
    Prediction(
        "`x = ad.Variable(2.0)`. Each epoch computes `y = x + 1` under a tape, and ends with `x = x + 1`. What kind of "
        "object is `x` in epoch 2?",
        answer="Tensor",
        choices=("Variable", "Tensor", "float"),
        hints={
            "Variable": "Does `x + 1` change the variable, or compute something new?",
            "float": "What does `+` return when one side is a variable or a tensor?",
        },
        why="`x + 1` is a new tensor, and the name `x` now belongs to it.",
    ),
    Prediction(
        "`c_ = a + 2 * b` with `a = 1` and `b = 2`, `c` is assigned this value, and `loss` is c². What is dloss/db?",
        answer=20,
        hints={
            10: "That is dloss/dc. How far does `c_` move for each unit of `b`?",
            2: "That is dc_/db. Multiply it by what arrives at `c`.",
            5: "That is the value of `c`.",
            25: "That is the loss.",
            None: "With one tape, yes. Here the cotangent is carried across the assign by hand.",
        },
        why="`c` is 5, so its cotangent is 10, and times 2 is 20.",
    ),
)

Program = Callable[[Any], Any]


def slope_of(
    f: Callable[[Any], Any], make: Callable[[Any], Any] = ad.Variable, before: bool = False, after: str = ""
) -> Program:
    """Return a program for the slope of f, whose tape watches x before it computes y, or x or y after that."""

    def program(value: Any) -> Any:
        x = make(value)
        with ad.GradientTape() as tape:
            tape.watch([x] if before else [])
            y = f(x)
            tape.watch({"x": [x], "y": [y]}.get(after, []))
        return tape.gradient(y, x)

    return program


def descent(step: Callable[[Any, Any], Any]) -> Program:
    """Return the last program; `step` makes the next w of w and a tenth of the slope."""

    def program(value: float) -> Any:
        w = ad.Variable(value)
        for epoch in range(2):
            with ad.GradientTape() as tape:
                loss = (w - 3.0) ** 2
            slope = tape.gradient(loss, w)
            if epoch == 0:
                w = step(w, 0.1 * slope)
        return slope

    return program


def origin(program: Program, value: float) -> list[bool]:
    """Return where a slope comes from: it tells apart programs that return None, and those that do without a tape."""
    slope, events = observe(program, value, written="program(value)")
    outcomes = [event for event in events if isinstance(event, Outcome)]
    if slope is not None:
        results = [float(outcome.result) for outcome in outcomes if outcome.result is not None]
        from_tape = not results or any(near(result, float(slope)) for result in results)
        return [from_tape, any(isinstance(event, Seed) for event in events)]
    computed = [event.entry for event in events if isinstance(event, Record | Skip)]
    watched = {event.tensor._id for event in events if isinstance(event, Watch)}
    return [
        any(outcome.connected for outcome in outcomes[-1:]),
        bool(watched),
        bool(watched & {entry.output_id for entry in computed}),
        any(entry.name == "exp" for entry in computed),
    ]


FLOATS = np.random.default_rng(20140307).uniform(1.0, 2.0, size=3).tolist()
NONE = "It returns None. {} `print(tape.explain(...))` inside it says more."
REPLACES = "`w.assign` replaces the value by the step. Subtract the step from it."


def repair(
    name: str,
    right: Program,
    formula: Program,
    none: Mapping[Program, str],
    wrong: Mapping[Program, str],
    values: Sequence[float] = FLOATS,
) -> Function:
    """Return the form for one of the programs; `none` are those that return None, at first the one to be repaired."""
    return Function(
        signature=f"{name}(value)",
        answer=right,
        cases=[
            Case(
                lambda program: [program(value) for value in values],
                f"At {', '.join(f'{value:.6g}' for value in values)} it gives {{given}}, and the slopes are {{answer}}. "
                "Leave the formula as it was, make x from the value, and repair only what cuts the path.",
            ),
            Case(
                lambda program: origin(program.__wrapped__, values[0]),
                "That is the right slope, but only a part of it comes from a tape. Compute everything from x to the "
                "target under the tape, and ask it for the whole.",
            ),
        ],
        hints={
            **{program: NONE.format(hint) for program, hint in none.items()},
            lambda value: right(value) and None: "Inside, the gradient is a number. Is a `return` missing?",
            **wrong,
            formula: "That is the right slope, but no tape was asked for it. Take it from a tape, with "
            "`tape.gradient`.",
            lambda value: 0.0: "It gives 0. A zero in place of None hides the cut and does not repair it.",
        },
    )


class Programs(Table):
    """Functions that are handed in as a list."""

    def judge(self, given: Any, name: str = "your answer") -> str:
        """Return `why` if all of them are right."""
        if isinstance(given, list | tuple) and len(given) == len(self.parts):
            given = dict(zip(self.parts, given, strict=True))
        if not isinstance(given, dict):
            raise NotYet(
                f"I need a list of the five functions, `[{', '.join(self.parts)}]`, and {name} is {shorten(given)}."
            )
        return super().judge(given, name)


FIVE_PROGRAMS = Programs(
    "Repair five programs",
    """\
Each function should return the slope of its target at `value`. Today each returns `None`. Repair all five. The check
calls them with values of its own: floats, but whole numbers for `three`.""",
    called="function",
    progress="{right} of {all} are repaired. The next one is `{part}`. ",
    parts={
        "one": repair(
            "one",
            slope_of(lambda x: x * x, ad.constant, before=True),
            lambda v: 2 * v,
            none={
                slope_of(lambda x: x * x, ad.constant): "Its x is not watched. Who tells the tape to follow it?",
                slope_of(lambda x: x * x, ad.constant, after="x"): "Its x is watched, but only after y was computed "
                "from it. Which line has to come first?",
                slope_of(lambda x: x * x, ad.constant, after="y"): "It watches y, and the slope is with respect to x. "
                "Which tensor does the tape have to follow?",
            },
            wrong={
                lambda v: v: "The derivative of x * x is 2x: was one of the two factors made a plain number?",
                lambda v: v**2: "That is the value of y. Return its gradient.",
            },
        ),
        "two": repair(
            "two",
            slope_of(lambda x: np.sin(x) ** 2),
            lambda v: 2 * math.sin(v) * math.cos(v),
            none={
                slope_of(lambda y: y * y, lambda value: np.sin(ad.Variable(value))): "Which of its lines runs before "
                "the tape begins to record?"
            },
            wrong={
                lambda v: 2 * math.sin(v): "That is the slope of z with respect to y. Compute the sine under the tape, "
                "and ask with respect to x.",
                math.cos: "That is the slope of y. Ask for the slope of z.",
            },
        ),
        "three": repair(
            "three",
            slope_of(lambda x: x * x * x, lambda value: ad.Variable(value, dtype=float)),
            lambda v: 3 * v**2,
            none={
                slope_of(lambda x: x * x * x): "It was given a whole number, and a variable keeps the dtype it is made "
                "with."
            },
            wrong={
                lambda v: v**2: "Two of the three factors were made plain numbers, so their contributions are lost."
            },
            values=(2, 3, 5),
        ),
        "four": repair(
            "four",
            slope_of(lambda x: 3.0 * np.exp(x)),
            lambda v: 3 * math.exp(v),
            none={
                slope_of(lambda x: 3.0 * ad.constant(np.exp(x.numpy()))): "What does `.numpy()` return, and does a "
                "tape follow that? A constant around it does not bring it back.",
                slope_of(lambda x: 3.0 * ad.constant(np.exp(x))): "`ad.constant` and `ad.Variable` make a new tensor "
                "that doesn't know where its numbers came from: use `np.exp(x)` itself.",
            },
            wrong={
                math.exp: "The factor 3 is missing. Leave the formula as it was: y = 3.0 * growth.",
                lambda v: 3.0: "That is the slope with respect to growth. The exponential has to be on the tape too.",
            },
        ),
        "five": repair(
            "five",
            descent(lambda w, step: w.assign_sub(step)),
            lambda v: 1.6 * (v - 3),
            none={
                descent(lambda w, step: w - step): "Is w still a variable in the second epoch? `w.assign_sub` keeps "
                "it one."
            },
            wrong={
                lambda v: 2 * (v - 3): "That is the slope before the first step. After it, w must have moved.",
                lambda v: 2.4 * (v - 3): "w moved uphill. Step against the slope: `w.assign_sub`.",
                descent(lambda w, step: w.assign(step)): REPLACES,
                descent(lambda w, step: w.assign(-step)): REPLACES,
                lambda v: -2 * (v - 3): "The whole slope was subtracted. The step is a tenth of it: `0.1 * slope`.",
            },
        ),
    },
    why="Never watched, outside the tape, integers, off to NumPy, rebound: five suspects, five small repairs.",
    minutes=9,
)


def slope(answer: float | None, hint: str, **known: str) -> Number:
    """Return the form for one of the ten gradients; `known` are hints for wrong ones, such as `_4`."""
    hints: dict[float | None, str] = {int(number[1:]): text for number, text in known.items()}
    if answer is None:
        hints[0] = f"0 would be a slope that arrived at x. {hint}"
    else:
        hints[None] = f"None would mean that no path leads from x to y. {hint}" if answer == 0 else hint
    return Number(answer=answer, hints=hints, otherwise=hint)


TEN_GRADIENTS = Table(
    "None, 0 or a number?",
    """\
In each of ten programs, `x` is `ad.Variable(2.0)` and `c` is `ad.Variable(0.0)`. The lines below run inside a tape's `with` block, each with its own tape and fresh variables. What is
`tape.gradient(y, x)`? Write `None`, `0` or the number.

```python
y = x * x                            # a
y = (x - 2.0) ** 2                   # b
y = ad.constant(5.0) * 3.0           # c
y = np.floor(x) * x                  # d
y = np.floor(x) + 1.0                # e
y = 0.0 * x                          # f
y = np.maximum(x, 3.0)               # g
y = ad.constant(x.numpy()) ** 2      # h
c.assign(x * x); y = c * 3.0         # i
x.assign(5.0); y = x * x             # j
```""",
    called="gradient",
    progress="{right} of {all} are right. Look at {part} again. ",
    parts={
        "a": slope(
            4,
            "x is a trainable variable, so reading it is enough. What is the derivative of x² at 2?",
            _2="2 is the contribution of one factor. Both factors are x, and contributions add up.",
        ),
        "b": slope(0, "There is a path from x to y, so there is a slope. What is the derivative of (x - 2)² at 2?"),
        "c": slope(None, "Is there an x in this line at all?"),
        "d": slope(
            2,
            "Two paths lead from x to y. One is cut by the step function; along the other, floor(x) is just a number.",
            _4="4 would be the slope of x². floor(x) is 2 here, but it does not change with x: one contribution only.",
        ),
        "e": slope(None, "Look for a path from x to y that does not go through floor. Adding 1 does not make one."),
        "f": slope(0, "The product is on the tape. How much does y change with x?"),
        "g": slope(
            0,
            "maximum is not a step function: the tape follows it. It took 3, so how much does y change with x?",
            _1="1 is the slope where x is the larger one. At x = 2 the larger one is 3.",
        ),
        "h": slope(
            None,
            "A constant made of plain numbers does not know where they came from.",
            _4="4 is the slope of x². But x.numpy() is a plain number, and a constant made of it has no past.",
        ),
        "i": slope(
            None,
            "assign puts plain numbers into c. Is there another path from x to y?",
            _3="3 is the slope with respect to c. With respect to x there is none: assign puts plain numbers into c.",
            _12="12 is the slope of 3x². But assign puts plain numbers into c, and where they came from is lost.",
        ),
        "j": slope(
            10,
            "x is read after the assign, which cuts nothing. Which value does it have then?",
            _4="4 is the slope at 2. But x is read after the assign, when it is 5.",
        ),
    },
    why="Four are None, three are 0, three are other numbers. In d one path of two is cut: chapter 7 is about that.",
    minutes=8,
)

VAN = """\
speed = ad.Variable(80.0, name="speed")
wages = ad.Variable(0.0, name="wages")
with ad.GradientTape() as tape:
    hours = 240.0 / speed
    wages.assign(30.0 * hours)
    litres = 8.0 + 0.0025 * speed**2
    fuel = float(litres) * 1.6
    cost = wages + fuel
"""
"""The program of 5.3, whose explanation is to be read; the chapter shows both."""
CUTS = {5: ("wages", "assign"), 7: ("fuel", "float")}
"""The lines that its explanation names: what each computes, and the operation that cuts."""


def judge_explanation(answer: Any) -> str:
    """Judge the lines that an explanation blames, each with the operation that cuts and the line repaired."""
    if isinstance(answer, tuple) and _is_triple(answer):
        answer = [answer]
    if not isinstance(answer, list | tuple) or not answer or not all(map(_is_triple, answer)):
        raise NotYet(
            "I need a list of triples, a line, the operation and the line as it should be, such as "
            f'`[(3, "exp", "y = np.exp(x)")]`, and your answer is {shorten(answer)}.'
        )
    for line, operation, _ in answer:
        _needs_cut(line, operation)
    lines = {line: code for line, _, code in answer}
    before, names = _run({}), _run(lines)
    explanation = names["tape"].explain(names["cost"], names["speed"])
    where = _with_lines(lines)
    if not explanation or explanation.left_out:
        found = "is still None" if not explanation else "is a number, but it leaves something out"
        causes = " ".join(cause.text for cause in (explanation.causes or explanation.left_out))
        raise NotYet(f"{where} the gradient {found}. The explanation now says: {causes}")
    cost, kept = float(names["cost"]), float(before["cost"])
    if not math.isclose(cost, kept, rel_tol=1e-6):  # a float32 constant will do
        raise NotYet(
            f"{where} the cost is {cost:g}, and it was {kept:g}. Keep the formula, and change only what cuts the path."
        )
    slope = float(names["tape"].gradient(names["cost"], names["speed"]))
    if not math.isclose(slope, -1.125 + 0.64, rel_tol=1e-6):
        raise NotYet(f"{where} the slope is {slope:g}, and finite differences say -0.485. Keep the formulas.")
    return "The slope is -0.485 for each km/h: at 80 the wages still weigh more, so it pays to drive a little faster."


def _is_triple(part: Any) -> bool:
    match part:
        case (int(), str(), str()):
            return True
    return False


def _needs_cut(line: int, operation: str) -> None:
    """Refuse a line that the explanation does not name, or an operation that does not cut in it."""
    called = re.search(r"(\w+)\s*(?:\(|$)", operation.strip())  # float(litres), wages.assign(...) or the name alone
    if not 1 <= line <= 8:
        raise NotYet(f"The program has lines 1 to 8, and no line {line}. Which lines does the explanation name?")
    if line not in CUTS:
        raise NotYet(
            f"The explanation does not name line {line}, so it may stay as it is. Each of its bullets begins with a file "
            "and a line."
        )
    if called is None or called[1].lower() != CUTS[line][1]:
        raise NotYet(
            f"In line {line} it is not {quote(operation)} that cuts. The explanation quotes the call: which function "
            "or method is it?"
        )


def _run(lines: dict[int, str]) -> dict[str, Any]:
    """Run the van's program with some lines replaced, and return what it gives names to."""
    program = VAN.splitlines()
    for line, code in lines.items():
        name = CUTS[line][0]
        if "\n" in code.strip() or not code.strip().startswith(name):
            raise NotYet(f"Line {line} is one line that computes {name}, and yours is {shorten(code)}.")
        program[line - 1] = "    " + code.strip()
    source = "\n".join(program) + "\n"
    linecache.cache["van.py"] = (len(source), None, source.splitlines(keepends=True), "van.py")
    names: dict[str, Any] = {"ad": ad, "np": np}
    written = f"{_with_lines(lines)}, the program"
    call(lambda: exec(compile(source, "van.py", "exec"), names), written=written)
    if not isinstance(names["cost"], ad.Tensor):
        raise NotYet(f"{written} makes cost {shorten(names['cost'])}, a plain number. Keep it a tensor.")
    return names


def _with_lines(lines: dict[int, str]) -> str:
    return f"With your line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}"


READ_AN_EXPLANATION = Judge(  # two lines are to be replaced in a program, in more ways than a form could list
    "Read an explanation",
    """\
How fast should a van drive 240 km? Slower costs wages, faster costs fuel. A colleague wrote a program to find the slope of the cost:

```text
1   speed = ad.Variable(80.0, name="speed")
2   wages = ad.Variable(0.0, name="wages")
3   with ad.GradientTape() as tape:
4       hours = 240.0 / speed
5       wages.assign(30.0 * hours)
6       litres = 8.0 + 0.0025 * speed**2
7       fuel = float(litres) * 1.6
8       cost = wages + fuel
```

The gradient is `None`, and this is the explanation, in `van.py`:

```text
dcost/dspeed is None:
- van.py, line 5: wages.assign(30.0 * hours) assigns plain numbers to the variable wages, which no tape follows. Use the tensor itself in what follows.
- van.py, line 7: float(litres) returns the plain numbers of litres, which no tape follows. Compute with litres itself: operators and NumPy functions accept it, and np.stack joins tensors.
```

For each line that has to change, write down the number of the line, the name of the operation that cuts, and the line as it should be. The check runs the program with your lines in it. It wants the
right slope, and not just any number.""",
    check=judge_explanation,
    answer=[(5, "assign", "wages = 30.0 * hours"), (7, "float", "fuel = litres * 1.6")],
    spellings=[((7, "float(litres)", "fuel = 1.6 * litres"), [5, "wages.assign", "wages = 7200.0 / speed"])],
    hints=[
        ([(2, "Variable", "wages = 0.0")], "does not name line 2, so it may stay"),
        ([(9, "add", "cost = 0.0")], "no line 9"),
        ([(7, "multiply", "fuel = litres * 1.6")], "In line 7 it is not `multiply` that cuts"),
        ([(7, "float", "litres * 1.6")], "Line 7 is one line that computes fuel"),
        ([(5, "assign", "wages.assign(hours * 30.0)")], "With your line 5 the gradient is still None"),
        ([(5, "assign", "wages = 30.0 * hours")], "is a number, but it leaves something out"),
        ([(5, "assign", "wages = 30.0 * hours"), (7, "float", "fuel = litres")], "the cost is 114, and it was 128.4"),
        ([(5, "assign", "wages = 90.0"), (7, "float", "fuel = litres * 1.6")], "the slope is 0.64"),
        ([(5, "assign", "wages = 90.0"), (7, "float", "fuel = 38.4")], "a plain number. Keep it a tensor"),
    ],
    minutes=8,
)

QUESTIONS = (*PREDICTIONS, FIVE_PROGRAMS, TEN_GRADIENTS, READ_AN_EXPLANATION)
