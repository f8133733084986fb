"""The exercises of chapter 10, several tapes: two that are independent, two gradients from one, which records what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_edu as ad

from ...core.events import Record, Watch
from ..exercises import Case, Exercise, Function, Table
from ..feedback import NotYet, near, observe, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "`tape0` watches x0 and `tape1` watches x1. How many of the five operations will `tape1` record?",
        answer=4,
        hints={
            5: "Does `s = np.sin(x0)` use anything that tape1 follows?",
            3: "Three belong to the sigmoid. What are the inputs of the last line?",
            2: "That's the other tape. Which lines can be traced back to x1?",
            1: "It follows whatever is computed from what it recorded, too.",
        },
        why="All but the sine; the sum is recorded by both.",
    ),
    Prediction(
        "What will `tape0` return for the gradient of the total with respect to x1?",
        answer=None,
        hints={
            0: "0 would mean that it knows the path and that it's flat. Does it know the path?",
            0.25: "That's what tape1 knows. The two don't talk to each other.",
            1: "That's the slope with respect to x0.",
        },
        why="It never watched x1, so it recorded nothing that leads there.",
    ),
    Prediction(
        "This tape is paused while y is squared. What dz/dy does the other tape find?",
        answer=6,
        hints={
            None: "That's what the paused tape says. Who was told to pause?",
            4: "That's dz/dx. At y = 3, what is the slope of y²?",
            9: "9 is the value of y². What is its slope at 3?",
            0: "z does contain y², and the other tape wrote that down.",
        },
        why="The pause belongs to one tape; the other records the square as usual.",
    ),
    Prediction(
        "`z = x**2 + y` and `m = y + y**2 + x`, under two tapes. How many entries will `tape_z` hold?",
        answer=5,
        hints={
            2: "Those are the operations of z. Did anybody tell tape_z to leave out m?",
            3: "Those are the operations of m. And z?",
            4: "Count again: two operations make z, and three make m.",
            10: "That's both tapes together.",
        },
        why="x and y are variables, so both tapes watch them, and each records all five operations.",
    ),
    Prediction(
        "If the forger plays perfectly, what chance of being genuine will she give his coins?",
        answer=0.5,
        hints={
            1: "Then she would be wrong about every one of them, and her loss would push her away from that.",
            0: "Then his loss would be large, and he would still be learning.",
            1.5: "A chance lies between 0 and 1.",
        },
        why="If forged and genuine coins look the same, she can only guess.",
        within=0.03,
    ),
    Prediction(
        "If all five weights descend the sum of the two losses, where will it end?",
        answer="below 2.08, with bad forgeries",
        choices=("below 2.08, with bad forgeries", "at 2.08, with the same coins", "above 2.08, with bad forgeries"),
        hints={
            "at 2.08, with the same coins": "In the game, each weight followed one loss only. Now her loss moves the "
            "forger's weights too.",
            "above 2.08, with bad forgeries": "All five weights go downhill on it now. Why should it end higher?",
        },
        why="Now both want the same. The forged coins move away, so that she can rate the genuine ones high without "
        "rating them high as well.",
    ),
    Prediction(
        "What will `inspector_tape` return for the gradients of the inspector's loss?",
        answer="None, three times",
        choices=("the right gradients", "None, three times", "zeros", "it raises an error"),
        hints={
            "the right gradients": "Whose tape watches the inspector's weights?",
            "zeros": "Zero is an answer. What does this tape know?",
            "it raises an error": "A gradient that isn't connected raises nothing unless you ask it to.",
        },
        why="`forger_tape` watches everything and `inspector_tape` watches nothing.",
    ),
    Prediction(
        "One persistent tape holds a certain number of bytes. How many times as many do two tapes hold together?",
        answer=1,
        hints={
            2: "Two lists, yes. But does an entry copy the arrays that it refers to?",
            1.5: "Both tapes record all the lines here. Do they copy the arrays?",
        },
        why="Both lists refer to the same arrays.",
    ),
)

Point = tuple[ad.Tensor, ad.Tensor]
Ask = Callable[..., Any]
ANGLE_AND_POWER: Point = ad.constant(0.825), ad.constant(1.317)


def watches(function: Callable[..., Any], point: Point) -> list[Any]:
    """Return the tape of each watch while a learner's function runs."""
    return [event.tape for event in observe(function, *point, written="")[1] if isinstance(event, Watch)]


def count_tapes(point: Point) -> Callable[[Callable[..., Any]], int]:
    """Return what counts the tapes that watch something."""
    return lambda function: len(set(map(id, watches(function, point))))


def has_begun(function: Callable[..., Any]) -> bool:
    """Return whether a tape recorded something, or a gradient was found."""
    given, events = observe(function, *ANGLE_AND_POWER, written="")
    none = isinstance(given, tuple | list) and all(part is None for part in given)
    return not none or any(isinstance(event, Record) for event in events)


def use_two_tapes(first: tuple[int, ...], second: tuple[int, ...], ask: Ask | None = None) -> Callable[..., Any]:
    """Return a function whose two tapes watch the sources with these numbers, and are asked about their own."""

    def two_tapes(*x: Any) -> Any:
        with ad.GradientTape() as tape0, ad.GradientTape() as tape1:
            tape0.watch([x[k] for k in first])
            tape1.watch([x[k] for k in second])
            total = np.sin(x[0]) * np.exp(x[1])
        slopes = [tape.gradient(total, source) for tape, source in zip((tape0, tape1), x, strict=True)]
        return ask(*slopes) if ask else slopes

    return two_tapes


def explain_none(k: int) -> str:
    """Return the hint where one gradient is None."""
    return (
        f"The gradient with respect to x{k} is None: tape{k} was not watching it when total was computed. "
        f"What tape{1 - k} watches doesn't help tape{k}."
    )


TWO_TAPES = Function(
    "Two independent tapes",
    """\
Let `tape0` follow `x0` alone, and `tape1` follow `x1` alone.""",
    signature="two_tapes(x0, x1)",
    returns=("the gradient with respect to x0", "the gradient with respect to x1"),
    cases=[
        Case(
            has_begun,
            "Both gradients are None: neither tape recorded anything. Where the three dots stand, before the line of "
            "total, each tape has its own `watch`.",
        ),
        ANGLE_AND_POWER,
        Case(
            count_tapes(ANGLE_AND_POWER),
            "Both gradients are right, and you used {given} tapes. Two are enough: let each come from one of its own.",
        ),
        Case(
            lambda function: len(watches(function, ANGLE_AND_POWER)),
            "Both gradients are right, but a tape watches more than its own source, and so records more than it needs. "
            "One `watch` for each tape is enough.",
        ),
    ],
    answer=use_two_tapes((0,), (1,)),
    spellings=[
        lambda x0, x1: (
            ad.grad(lambda x0: np.sin(x0) * np.exp(x1))(x0),
            ad.grad(lambda x1: np.sin(x0) * np.exp(x1))(x1),
        )
    ],
    hints=[
        (
            use_two_tapes((1,), (0,)),
            "Both gradients are None: each tape is asked about what the other one watches. Exchange the two watches.",
        ),
        (use_two_tapes((), (1,)), explain_none(0)),
        (use_two_tapes((0,), ()), explain_none(1)),
        (
            use_two_tapes((0,), (1,), lambda first, second: (second, first)),
            "The two gradients have changed places: x0 comes first, then x1.",
        ),
        (
            lambda x0, x1: (np.cos(x0) * np.exp(x1), np.sin(x0) * np.exp(x1)),
            "Both gradients are right, but no tape was used. Let two tapes find them.",
        ),
        (
            lambda *x: ad.grad(lambda x0, x1: np.sin(x0) * np.exp(x1), (0, 1))(*x),
            "Both gradients are right, but one tape found both. Let each come from a tape of its own.",
        ),
    ],
    why="Each tape holds what depends on its own source: two entries, of which one is the product.",
    minutes=4,
)


X_AND_Y: Point = ad.constant(1.921), ad.constant(2.418)


def computes_twice(function: Callable[..., Any]) -> bool:
    """Return whether the squares of x and y are on a tape more than once each."""
    events = observe(function, *X_AND_Y, written="")[1]
    values = [event.entry.output_value for event in events if isinstance(event, Record)]  # None if they were released
    squares = [float(value) ** 2 for value in X_AND_Y]
    return sum(value is not None and any(near(value, square) for square in squares) for value in values) > 2


def use_one_tape(ask: Ask, persistent: bool = True) -> Callable[..., Any]:
    """Return a function whose one tape is asked as `ask` says."""

    def one_tape(x: Any, y: Any) -> Any:
        with ad.GradientTape(persistent=persistent) as tape:
            tape.watch([x, y])
            z = x**2 + y
            m = y + y**2 + x
        return ask(tape.gradient, z, m, x, y)

    return one_tape


UNCONNECTED = (
    "{0} is None. Watch x and y before z and m are computed. And ask about z and m themselves: what is computed after "
    "the block is not on the tape."
)
TOO_MANY = (
    "One call returned several gradients, because you asked about several sources. Ask for dz/dx alone, and for dm/dy "
    "alone."
)

ONE_TAPE = Function(
    "Two gradients from one tape",
    """\
Return dz/dx and dm/dy, in this order. Use one tape, and compute `z` and `m` only once.""",
    signature="one_tape(x, y)",
    returns=("dz/dx", "dm/dy"),
    cases=[
        X_AND_Y,
        Case(
            count_tapes(X_AND_Y),
            "Both gradients are right, and you used {given} tapes. One that is persistent is enough.",
        ),
        Case(
            computes_twice,
            "Both gradients are right, but z or m was computed more than once. Once is enough: ask twice.",
        ),
    ],
    answer=use_one_tape(lambda gradient, z, m, x, y: (gradient(z, x), gradient(m, y))),
    hints=[
        (
            use_one_tape(lambda gradient, z, m, x, y: (gradient(z, x), gradient(m, y)), persistent=False),
            "The second gradient was refused, because a one-shot tape answers once. Which kind of tape answers as often "
            "as you like?",
        ),
        (lambda x, y: (None, ...), UNCONNECTED.format("dz/dx")),
        (lambda x, y: (..., None), UNCONNECTED.format("dm/dy")),
        (lambda x, y: ([2 * x, 1.0], ...), TOO_MANY),
        (lambda x, y: (..., [1.0, 1 + 2 * y]), TOO_MANY),
        (
            lambda x, y: (2 * x + 1, 2 + 2 * y),
            "That is the gradient of z + m: several targets in one call are added up. Ask twice.",
        ),
        (lambda x, y: (2 * x, 1.0), "These are dz/dx and dz/dy. The second one should be the gradient of m."),
        (lambda x, y: (1.0, 1 + 2 * y), "These are dm/dx and dm/dy. The first one should be the gradient of z."),
        (lambda x, y: (1.0, 1.0), "These are dm/dx and dz/dy: the targets have changed places."),
        (lambda x, y: (1 + 2 * y, 2 * x), "Both gradients are there, in the other order: first dz/dx, then dm/dy."),
        (lambda x, y: (2 * x, 1 + 2 * y), "Both gradients are right, but no tape was used. Let the tape find them."),
    ],
    why="The entries of one tape are enough for both. At x = 3, y = 2 they give 6 and 5.",
    minutes=4,
)


@dataclass(frozen=True, eq=False)
class Lines(Exercise):
    """A set of names of lines; each of the `hints` is for a set that has one line too many or too few."""

    def read(self, given: Any, name: str = "your answer") -> frozenset[str]:
        """Return the set."""
        if isinstance(given, str):
            given = given.replace(",", " ").split()
        if not isinstance(given, set | frozenset | list | tuple):
            raise NotYet(f'For {name} I need a set of names, as in {{"p", "q"}}, and got {shorten(given)}.')
        if ... in given:
            raise NotYet(f"Replace the three dots: which lines does {name} record?")
        if unknown := [line for line in given if line not in ("p", "q", "r", "s", "t")]:
            raise NotYet(f"For {name} you name {shorten(unknown[0])}. The lines are p, q, r, s and t.")
        return frozenset(given)

    def lead_on(self, given: Any, seen: Any, right: Any, name: str) -> str:
        """Return the hint of the first line by which the sets differ."""
        return next(hint for wrong, hint in self.hints if (self.read(wrong) ^ right) <= (seen ^ right))


def lines(right: str, hints: dict[str, str]) -> Lines:
    """Return the form for the lines that one tape records, with a hint for each line that is wrongly in or out."""
    return Lines(answer=set(right), hints=[(set(right) ^ {line}, hint) for line, hint in hints.items()])


LANES = Table(
    "Which lane records what?",
    """\
Without running it: which of the lines `p`, `q`, `r`, `s` and `t` does each tape record? Each line is one operation. Write the names as strings.

```python
x, y = ad.constant(2.0), ad.Variable(3.0)
with ad.GradientTape() as first, ad.GradientTape(watch_accessed_variables=False) as second:
    second.watch(x)
    p = x * x
    q = y * 3.0
    with first.stop_recording():
        r = q + p
    s = r * y
    t = np.sin(r)
```""",
    parts={
        "first": lines(
            "qs",
            {
                "p": "`p = x * x` uses x alone, a constant that `first` was never asked to watch.",
                "q": "`q = y * 3.0` reads y. `first` watches trainable variables by itself.",
                "r": "`first` is paused while r is computed.",
                "t": "r was computed while `first` was paused, so r is a constant to it. And t uses nothing but r.",
                "s": "To `first`, r is a constant, but `s = r * y` uses y too, and y is watched.",
            },
        ),
        "second": lines(
            "prst",
            {
                "q": "`q = y * 3.0` reads y. But `second` does not watch variables by itself; it watches x alone.",
                "p": "`p = x * x` uses x, and `second` was asked to watch it.",
                "r": "A pause concerns one tape. `first` was paused while r was computed, and `second` was not.",
                "s": "s uses r, r uses p, and p uses x: `second` follows that chain.",
                "t": "t uses r, and `second` has recorded r.",
            },
        ),
    },
    hints=[
        (
            {"first": set("prst"), "second": set("qs")},
            "The two tapes have changed places. Which of them watches x, and which watches y?",
        )
    ],
    why="`first`: q and s. `second`: p, r, s and t. Only s is in both, because of y in the one and of r in the other.",
    minutes=4,
)

QUESTIONS = (*PREDICTIONS, TWO_TAPES, ONE_TAPE, LANES)
