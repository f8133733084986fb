"""Watched or None: eight answers, an explanation to read, a slope to carry across an assign."""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Outcome
from ..exercises import Case, Function, Judge, Number, Table
from ..feedback import NotYet, call, observe, quote, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "One walk back starts at `y = (x - 3)²`, another at `z = w · 2`, and `x` is 3. Which of them brings a 0 to `x`?",
        answer="only the walk from y",
        choices=("only the walk from y", "only the walk from z", "both", "neither"),
        hints={
            "only the walk from z": "A walk back from `z` visits what `z` was computed from. Does it get to `x`?",
            "both": "As mathematics both slopes are 0. But a walk back visits only what its target was computed from.",
            "neither": "`y` was computed from `x`, so something arrives there. What is the derivative of (x - 3)² at 3?",
        },
        why="The walk from `y` gets to `x`, and what it brings is 2 · 0. The walk from `z` never gets there.",
    ),
    Prediction(
        "The sources are `a = ad.constant(2.0)`, `b = ad.Variable(2.0, trainable=False)`, `c = ad.Variable(2)` and "
        "`d = ad.Variable(2.0)`. Nobody calls `watch`. Which of them have a slope?",
        answer="only d",
        choices=("only d", "c and d", "b, c and d", "all four"),
        hints={
            "c and d": "Compare the two: `2` and `2.0`. What would a small change of an integer be?",
            "b, c and d": "One of these says something about training, and one is made of an integer.",
            "all four": "One is a constant. Is it enough to compute with a constant?",
        },
        why="Only `d` is a trainable variable with a floating-point number in it.",
    ),
    Prediction(
        "`t` is computed before the tape begins, and `root` from `w.numpy()`. Then `y = t * root`. Which gradients are "
        "`None`?",
        answer="both",
        choices=("the one with respect to x", "the one with respect to w", "both", "neither"),
        hints={
            "the one with respect to x": "`x` is lost, true. Now follow `w`: what does `w.numpy()` return?",
            "the one with respect to w": "`w` is lost, true. Now follow `x`: was the tape there when `t` was computed?",
            "neither": "Go backwards from `y`. What are `t` and `root` to this tape?",
        },
        why="To this tape, `t` and `root` are numbers like any other. Nothing watched goes into `y`.",
    ),
    Prediction(
        "With `a = 1` and `b = 2`, `c.assign(a + b)` makes `c` 3, and `cost` is c². What are d cost/db and d cost/dc?",
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
        "Four lines lead from `width` to `total`: `area`, `price`, `rounded`, `total`. Which of them will be on the tape?",
        answer="the first three",
        choices=("all four", "the first three", "the first two", "all but `rounded`"),
        hints={
            "all four": "A line is recorded if something watched goes into it. After the rounding, is anything watched?",
            "the first two": "Something watched goes into the line that rounds, too: `price`.",
            "all but `rounded`": "`price` goes into the line of `rounded`, and is watched. What goes into the line of `total`?",
        },
        why="`price`, which is watched, goes into the line that rounds. Nothing flows back through that, so nothing "
        "watched goes into `total`.",
    ),
    Prediction(
        "Which of the kettle's lines will the explanation name?",
        answer="`pace = pace - 0.2 * slope`",
        choices=(
            '`pace = ad.Variable(1.0, name="pace")`',
            "`loss = np.mean((pace * litres - minutes) ** 2)`",
            "`slope = training.gradient(loss, pace)`",
            "`pace = pace - 0.2 * slope`",
        ),
        hints={
            '`pace = ad.Variable(1.0, name="pace")`': "That's a trainable variable with a decimal point, and in turn 1 "
            "it worked. Is it still there in turn 2?",
            "`loss = np.mean((pace * litres - minutes) ** 2)`": "It's under the tape, and in turn 1 it worked. What is "
            "different in turn 2?",
            "`slope = training.gradient(loss, pace)`": "That line asks, and in turn 1 the answer was -7. What is "
            "different in turn 2?",
        },
        why="Between the walk that worked and the next one, it's the only line that gives `pace` a new value.",
    ),
    Prediction(
        "Each turn makes a new tape, computes `y = x + 1` under it, and ends with `x = x + 1`, outside the `with` block. "
        "How many entries will the tapes of turn 1 and of turn 2 hold?",
        answer="1 and 0",
        choices=("1 and 1", "1 and 0", "2 and 1", "2 and 2"),
        hints={
            "1 and 1": "In turn 2, `x` is what `x + 1` computed. Does the new tape watch that?",
            "2 and 1": "Is a tape recording when `x = x + 1` runs?",
            "2 and 2": "Is a tape recording when `x = x + 1` runs? And does the tape of turn 2 watch the new `x`?",
        },
        why="In turn 2 `x` is a tensor that nobody watches, so `y = x + 1` leaves no entry. And `x = x + 1` runs when no tape "
        "is recording.",
    ),
)


def slope(answer: float | None, hint: str, known: dict[float | None, str] | None = None) -> Number:
    """Return the form for one of the gradients; `known` are hints for wrong ones."""
    hints = dict(known or {})
    if answer is None:
        hints[0] = f"0 would be a slope that arrived at x. {hint}"
    else:
        hints[None] = f"None would mean that no path leads from x to y. {hint}"
    return Number(answer=answer, hints=hints, otherwise=hint)


EIGHT_GRADIENTS = Table(
    "None, 0 or a number?",
    """\
In each of eight programs, `x` is `ad.Variable(2.5)` and `c` is `ad.Variable(0.0)`. The lines below run inside a tape's `with` block, each with its own tape and fresh variables. What is
`tape.gradient(y, x)`? Write `None`, `0` or the number, before you run any of them.

```python
y = x - x                            # a
y = np.floor(x) * x                  # b
y = np.floor(x) + 1.0                # c
y = np.maximum(x, 3.0)               # d
y = ad.constant(x.numpy()) ** 2      # e
c.assign(x * x); y = c * x           # f
x.assign(5.0); y = x * x             # g
x = x + 1.0; y = x * x               # h
```""",
    called="gradient",
    progress="{right} of {all} are right. Look at {part} again. ",
    parts={
        "a": slope(
            0,
            "Two paths lead from x to y, so two contributions arrive. What do they add up to?",
            {
                1: "1 is the contribution of the first x. What does the second one send?",
                2: "The second x is subtracted: what does it send?",
            },
        ),
        "b": slope(
            2,
            "Two paths lead from x to y. One is cut by the step function. Along the other, floor(x) is just a number: which "
            "one?",
            {
                5: "5 would be the slope of x². floor(x) is 2 here, and its path is cut: there is one contribution only.",
                4.5: "4.5 has a contribution from each path. Does any come through floor?",
            },
        ),
        "c": slope(None, "Look for a path from x to y that does not go through floor. Adding 1 does not make one."),
        "d": slope(
            0,
            "maximum is not a step function: its curve bends, but never jumps. It took 3 here, so how much does y "
            "change with x?",
            {
                1: "1 is the slope where x is the larger one. At x = 2.5 the larger one is 3.",
                3: "3 is the value of y.",
            },
        ),
        "e": slope(
            None,
            "A constant made of plain numbers does not know where they came from.",
            {5: "5 is the slope of x². But x.numpy() is a plain number, and a constant made of it has no past."},
        ),
        "f": slope(
            6.25,
            "Two paths seem to lead from x to y. The one through c ends at the assign. The other is the factor x.",
            {
                18.75: "18.75 is the slope of x³. But assign puts plain numbers into c: along that path nothing flows "
                "back.",
                12.5: "12.5 comes along the path through c, which ends at the assign. What comes along the other?",
                15.625: "15.625 is the value of y.",
                2.5: "2.5 is the slope with respect to c. With respect to x, c is what counts: which number is in it?",
            },
        ),
        "g": slope(
            10,
            "x is read after the assign, which cuts nothing. Which value does it have then?",
            {
                5: "5 is the slope at 2.5. But x is read after the assign, when it is 5.",
                25: "25 is the value of y.",
            },
        ),
        "h": slope(
            7,
            "The new x was computed under the tape, from a variable. So is it on the tape, and what is its value?",
            {
                5: "5 is the slope at 2.5. Which value does x have in the line of y?",
                3.5: "3.5 is the new x. What is the slope of x² there?",
                12.25: "12.25 is the value of y.",
            },
        ),
    },
    why="In b and f one path of two is cut. floor has the slope 0 there, so 2 is right; but 6.25 is not the slope of x³. "
    "Chapter 7 is about such numbers. And h rebinds x, yet does no harm: the new x was computed under the tape.",
    minutes=7,
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
"""The program of `READ_AN_EXPLANATION`; the chapter shows it and its explanation."""
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
    code = call(compile, source, "van.py", "exec", written=written)
    call(FunctionType(code, names), written=written)  # whose file is van.py, so an error names the line there
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
d cost/d speed is None:
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


def _even(x: Any) -> Any:
    return 1.0 + 2.0 * x


MATRIX = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
WEIGHTS = np.array([1.0, 3.0, -2.0])


def _with_numbers(across: Any) -> Any:
    """Return the slope of the example; in place of None, whether a tape said a number, and whether the last one did."""
    c, b = ad.Variable(0.0), ad.Variable(2.0)
    found, events = observe(getattr(across, "__wrapped__", across), _even, lambda: c**2, c, b, written=SHOWN)
    if found is not None:
        return found
    numbers = [event.result is not None for event in events if isinstance(event, Outcome)]
    return [any(numbers), any(numbers[-1:])]


def _with_sums(across: Any) -> Any:
    c, x = ad.Variable(np.zeros(3)), ad.Variable([0.5, 1.0, 2.0])
    return across(np.cumsum, lambda: np.sum(WEIGHTS * c**2), c, x)


def _with_matrix(across: Any) -> Any:
    c, x = ad.Variable(np.zeros(3)), ad.Variable([1.0, 2.0])
    return across(lambda x: MATRIX @ x**2, lambda: np.mean(c**2), c, x)


def carry(across: Callable[[Any, Any, Any], Any], assigns: bool = True) -> Callable[..., Any]:
    """Return an `across` that asks both tapes, for what `across` makes of the first tape, the second and its target."""

    def answer(first: Any, second: Any, c: Any, x: Any) -> Any:
        with ad.GradientTape(persistent=True) as one:
            stage = first(x)
        if assigns:
            c.assign(stage)
        with ad.GradientTape(persistent=True) as two:
            loss = second()
        at_c = two.gradient(loss, c)
        return across(lambda seed=None: one.gradient(stage, x, output_gradients=seed), at_c, loss)

    return answer


def under_one_tape(first: Any, second: Any, c: Any, x: Any) -> Any:
    """Do as the cell does at first."""
    with ad.GradientTape() as tape:
        c.assign(first(x))
        loss = second()
    return tape.gradient(loss, x)


def begun_at_c(first: Any, second: Any, c: Any, x: Any) -> Any:
    """Begin the walk through stage one at the variable."""
    with ad.GradientTape() as one:
        c.assign(first(x))
    with ad.GradientTape() as two:
        loss = second()
    return one.gradient(c, x, output_gradients=two.gradient(loss, c))


right = carry(lambda back, at_c, loss: back(at_c))
SHOWN = "across(lambda b: 1.0 + 2.0 * b, lambda: c**2, c, b)"

ACROSS_AN_ASSIGN = Function(
    "Across an assign",
    """\
A program has two stages. `first(x)` returns a tensor, which is assigned to the variable `c`. Then `second()`, which you can't change, reads `c` and returns the loss. How does the loss change with `x`? One tape over both stages
says `None`, as you know from suspect 6.

Two tapes can do better. Write `across(first, second, c, x)`, which runs both stages and returns the slope. In chapter 2, a cotangent made a promise; in chapter 3, `output_gradients` was the seed of a walk. Both will help. `x` and `c` are variables, and may be
arrays of different shapes.

For `first(b)` = 1 + 2b at `b` = 2, and the loss c², it should return 20.""",
    signature="across(first, second, c, x)",
    answer=right,
    cases=[
        Case(_with_numbers, "For 1 + 2b at b = 2 and c² it should return {answer}, and it returns {given}."),
        Case(
            _with_sums,
            "It's right where c and x are single numbers. Where they are arrays of three, it should return {answer}, "
            "and it returns {given}. How does each element's cotangent get to x?",
        ),
        Case(
            _with_matrix,
            "It's right where c and x have the same shape. Where x has two elements and c three, it should return "
            "{answer}, and it returns {given}.",
        ),
    ],
    hints=[
        (
            under_one_tape,
            "It returns None. A walk back from the loss gets as far as c, and no further. Ask it for what arrives "
            "there, and let a second walk begin where stage one ended.",
        ),
        (
            begun_at_c,
            "It returns None: the walk through stage one found no path. Did it begin at c? Stage one never computed "
            "that variable. Begin at the tensor that `first` returned.",
        ),
        (
            lambda first, second, c, x: right(first, second, c, x) and None,
            "It returns None, though a tape said a number inside. Is a `return` missing?",
        ),
        (
            carry(lambda back, at_c, loss: at_c),
            "That is what arrives at c: how the loss moves for each unit of c. How far does c move for each unit of x?",
        ),
        (
            carry(lambda back, at_c, loss: back()),
            "That is the slope of stage one alone, with ones as its seed. What is each unit of c worth to the loss? If you "
            "passed a seed, print it: it is None if you asked for something that `second` never read.",
        ),
        (
            carry(lambda back, at_c, loss: back() * at_c),
            "For single numbers the product is right. In arrays, an element of x may reach several elements of c, each "
            "with a cotangent of its own: they have to be at their places before the walk through stage one adds up.",
        ),
        (
            carry(lambda back, at_c, loss: back() * np.sum(at_c)),
            "For single numbers the product is right. In arrays, each element of c has a cotangent of its own: don't "
            "add them up before the walk through stage one.",
        ),
        (carry(lambda back, at_c, loss: back() + at_c), "Along a path, do rates add up?"),
        (
            carry(lambda back, at_c, loss: back(loss * np.ones_like(at_c))),
            "The seed of the walk through stage one isn't the loss. It is what each unit of c is worth to the loss.",
        ),
        (
            lambda first, second, c, x: (
                right(first, second, c, x),
                carry(lambda b, a, loss: b(c))(first, second, c, x),
            )[1],
            "The seed of the walk through stage one isn't c itself. It is what arrives at c.",
        ),
        (
            carry(lambda back, at_c, loss: back(at_c), assigns=False),
            "Is anything assigned to c before `second` reads it?",
        ),
    ],
    why="What arrives at c is the seed of the walk through stage one: a tape does the same from entry to entry. With "
    "several variables in between, a list of targets takes a list of seeds, and their contributions add up.",
    minutes=9,
)

QUESTIONS = (*PREDICTIONS, EIGHT_GRADIENTS, READ_AN_EXPLANATION, ACROSS_AN_ASSIGN)
