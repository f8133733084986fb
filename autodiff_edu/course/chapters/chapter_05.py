"""The exercises of chapter 5, watched or None: five programs to mend, ten answers to predict."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..feedback import NotYet, call, near, needs_dict, needs_each, number, shortened

PROGRAMS: dict[str, Callable[[float], float]] = {
    "one": lambda v: 2 * v,
    "two": lambda v: 2 * math.sin(v) * math.cos(v),
    "three": lambda v: 3 * v**2,
    "four": lambda v: math.exp(v) * (1 + v),
    "five": lambda v: 1.6 * (v - 3),
}
NONE = {
    "one": "Its x is a constant. Who tells the tape to follow it?",
    "two": "Which of its lines runs before the tape begins to record?",
    "three": "It was given the whole number 3, and a variable keeps the dtype it is made with.",
    "four": "What does `float` turn a tensor into?",
    "five": "The second epoch gives None. Is w still a variable after its last line? `w.assign_sub` keeps it one.",
}
WRONG: dict[str, list[tuple[Callable[[float], float], str]]] = {
    "one": [(lambda v: v, "The derivative of x * x is 2x: was one of the two factors made a plain number?")],
    "two": [
        (lambda v: 2 * math.sin(v), "That is the slope of z by y. Ask for the slope by x, with the sine on the tape."),
        (lambda v: math.cos(v), "That is the slope of y. Ask for the slope of z."),
    ],
    "three": [(lambda v: v**2, "Two of the three factors were made plain numbers, so their contributions are lost.")],
    "four": [
        (
            math.exp,
            "`float(x)` is a plain number, so the contribution along that path is lost. NumPy's exp takes x as it is.",
        ),
        (
            lambda v: math.exp(v) * v,
            "Now the path through the second factor, x itself, is cut, and its contribution is missing.",
        ),
    ],
    "five": [
        (lambda v: 2 * (v - 3), "That is the slope before the first step. After it, w must have moved."),
        (lambda v: 2.4 * (v - 3), "w moved uphill. Step against the slope: `w.assign_sub`."),
        (lambda v: 2 * (0.2 * (v - 3) - 3), "`w.assign` replaces the value by the step. Subtract the step from it."),
    ],
}

CASES: dict[str, float | None] = {
    "a": 4.0, "b": 0.0, "c": None, "d": 2.0, "e": None, "f": 1.0, "g": 0.0, "h": 2.0, "i": None, "j": 0.0,
}  # fmt: skip
HINTS = {
    "a": "x is a trainable variable, and reading it is enough to be watched. The derivative of x² at 2 is asked for.",
    "b": "There is a way from x to y, so there is a slope. What is the derivative of (x - 2)² at 2?",
    "c": "Does x occur in this line at all?",
    "d": "There are two ways from x to y. One is cut by the step function; along the other, floor(x) is a number.",
    "e": "Look for a way from x to y that does not lead through floor. Adding 1 makes none.",
    "f": "The comparison only chooses. On the tape is what was taken: y = x.",
    "g": "maximum is no step function: the tape follows it. It took 3, so how much does y change with x?",
    "h": "float(x) is the plain number 2. The other factor is still x: one way is cut, the other is not.",
    "i": "assign puts plain numbers into c. Is there another way from x to y?",
    "j": "where is on the tape, with x as one of its branches. It took the other, so how much does y change with x?",
}
OTHER = {
    ("a", 2.0): "2 is the contribution of one factor. Both factors are x, and contributions add up.",
    ("d", 4.0): "4 would be x². floor(x) is 2 here, but it does not change with x: one contribution only.",
    ("h", 4.0): "4 is the true derivative of x². The tape sees one factor only, for float(x) is a plain number.",
    ("i", 3.0): "3 is the slope by c. By x there is none, since assign puts plain numbers into c.",
    ("i", 12.0): "12 is the slope of 3x². But assign puts plain numbers into c, and where they came from is lost.",
    ("j", 1.0): "1 is the slope of the branch x. At x = 2 the other branch is taken.",
    ("g", 1.0): "1 is the slope where x is the larger one. At x = 2 the larger one is 3.",
}

def mended(answer: Any) -> str:
    """Check 5.1: five functions that give the slope of their target, called with hidden values."""
    if not isinstance(answer, list | tuple) or len(answer) != 5 or not all(map(callable, answer)):
        raise NotYet(
            "I need a list of the five functions, `[one, two, three, four, five]`, and your answer is "
            f"{shortened(answer)}."
        )
    hints = [hint for name, program in zip(PROGRAMS, answer, strict=True) if (hint := _judge(name, program))]
    if hints:
        raise NotYet(f"{5 - len(hints)} of 5 are mended. The next one is {hints[0]}")
    return "Never watched, outside the tape, integers, left for NumPy, rebound: five reasons, five small repairs."


def _judge(name: str, program: Callable[..., Any]) -> str | None:
    """Return a hint, or None for a program that is mended."""
    values = [2, 3, 5] if name == "three" else np.random.default_rng(20140307).uniform(1.0, 2.0, size=3).tolist()
    given = []
    for value in values:
        written = f"{name}({value:g})"
        try:
            slope = call(program, value, written=written)
            if slope is None:
                return f"`{written}`, which gives None. {NONE[name]} `tape.explain` inside it tells more."
            given.append(number(slope, f"what {written} gives"))
        except NotYet as hint:
            return f"`{name}`. {hint}"
    if _follows(PROGRAMS[name], values, given):
        return None
    for wrong, why in WRONG[name]:
        if _follows(wrong, values, given):
            return f"`{name}`. {why}"
    if not any(given):
        return f"`{name}`, which gives 0. A zero in place of None hides the cut and does not mend it."
    if len({round(slope, 9) for slope in given}) == 1:
        return f"`{name}`, which gives {given[0]:g} whatever its value is. Make x of the value that it is given."
    return (
        f"`{written}`, which gives {given[-1]:.6g}, and the slope is {PROGRAMS[name](values[-1]):.6g}. "
        "Leave the formula as it was, and mend only what cuts the way."
    )


def _follows(formula: Callable[[float], float], values: list[float], given: list[float]) -> bool:
    return all(near(formula(value), slope) for value, slope in zip(values, given, strict=True))


def predicted(answer: Any) -> str:
    """Check 5.2: ten gradients, each None, 0 or a number, as a dict."""
    needs_dict(answer, '{"a": 4, "b": None}')
    needs_each(answer, CASES, "No gradient is given for")
    wrong = [letter for letter in CASES if not _agrees(letter, answer[letter])]
    if not wrong:
        return "Three are None, three are 0, and four are numbers, of which d and h are half a cut."
    letter, given = wrong[0], answer[wrong[0]]
    return _refuse(letter, given, f"{10 - len(wrong)} of 10 are right. Look at {letter} again. ")


def _agrees(letter: str, given: Any) -> bool:
    right = CASES[letter]
    if given is None or isinstance(given, str) or right is None:
        return given is None and right is None
    return near(number(given, f"the gradient in {letter}"), right)


def _refuse(letter: str, given: Any, start: str) -> str:
    right = CASES[letter]
    if isinstance(given, str):
        raise NotYet(f"{start}{shortened(given)} is a text: write None or a number, without quotes.")
    value = None if given is None else number(given, f"the gradient in {letter}")
    if value is not None and (letter, value) in OTHER:
        raise NotYet(start + OTHER[letter, value])
    if right is None and value == 0:
        raise NotYet(f"{start}0 would be a slope that arrived at x. {HINTS[letter]}")
    if right == 0 and value is None:
        raise NotYet(f"{start}None would mean that no way leads from x to y. {HINTS[letter]}")
    raise NotYet(start + HINTS[letter])


EXERCISES: dict[str, Callable[[Any], str]] = {"5.1": mended, "5.2": predicted}
"""The checks by exercise."""
