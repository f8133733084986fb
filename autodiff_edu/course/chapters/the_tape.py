"""The tape: how many entries, the line that changed the past, and the rule by which a tape records."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..exercises import Case, Function, Judge, Number
from ..feedback import NotYet, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "At 2 euros a cup, the profit is 90 euros a day. What is it at 2.50?",
        answer=90,
        hints={
            112.5: "Your customers notice the new price. How many cups do you sell at 2.50?",
            120: "You earn 2 euros on each cup now. But you no longer sell 60 of them.",
            67.5: "You sell 45 cups now. But you earn more than 1.50 on each of them.",
            45: "That is how many cups you sell. What do you earn on each?",
        },
        why="You sell 45 cups instead of 60, and earn 2.00 on each instead of 1.50. The two just cancel.",
    ),
    Prediction(
        "It rains. You cross out the 60 in `cups` and write 40. What has to be computed again?",
        answer="profit",
        choices=("profit", "t3 and profit", "t1 and profit", "t1, t3 and profit"),
        hints={
            "t3 and profit": "t3 is made from price and 0.5. Does an arrow lead from cups to t3?",
            "t1 and profit": "An arrow leads from t1 to cups, not back. Follow the arrows that leave cups.",
            "t1, t3 and profit": "Only what uses cups, or something computed from cups. Follow the arrows that leave it.",
        },
        why="One arrow leaves cups, and it leads to profit.",
    ),
    Prediction(
        "Which of a, b and c will the tape in the next cell record?",
        answer="b",
        choices=("b", "a and b", "b and c", "a, b and c"),
        hints={
            "a and b": "Read it in the order in which it runs. Is `sugar` watched when a is computed?",
            "b and c": "c comes after the call of `watch`. But is its input a watched?",
            "a, b and c": "Two of the lines use nothing that is watched at that moment.",
        },
        why="Nobody was watching `sugar` yet when a was computed. So a is not watched, and c uses nothing else.",
    ),
    Prediction(
        "You're about to change `seed=1` to `seed=2`, so that the coin falls differently. What can be different on the "
        "tape?",
        answer="which operations it holds",
        choices=("how many entries it holds", "which operations it holds", "both", "nothing: the program is the same"),
        hints={
            "how many entries it holds": "How many operations does one turn record if the coin says add, and how many "
            "if it says double?",
            "both": "How many operations does one turn record if the coin says add, and how many if it says double?",
            "nothing: the program is the same": "The tape never saw the program's text. What did it see?",
        },
        why="Each of the three turns records one operation. The coin only chooses which.",
    ),
    Prediction(
        "`y = np.sin(y)` runs 50 times under a tape, on 1,000 numbers. How many kilobytes does the tape hold?",
        answer="408",
        choices=("16", "408", "800"),
        hints={
            "16": "That is one input and one output. When `y` gets a new value, the tape still keeps the old one.",
            "800": "That is 50 inputs and 50 outputs. But an array that appears in two entries counts once: what is the "
            "input of the second sine?",
        },
        why="Each sine's output is the next one's input. So there are 51 different arrays, of 8 kilobytes each.",
    ),
    Prediction(
        "Now `y = y * weights` runs 50 times. `weights` is one plain NumPy array, and your program may write into it at "
        "any time. How many kilobytes does the tape hold?",
        answer="808",
        choices=("408", "416", "808"),
        hints={
            "408": "That is what the sines took. A product has a second input, `weights`, and an entry keeps all its "
            "inputs.",
            "416": "One more array would do if nobody ever wrote into `weights`. But if somebody may, between two products, "
            "what must each entry keep?",
        },
        why="Each entry keeps its output and a copy of `weights`, 16 kilobytes together. The first `y` makes 808.",
    ),
    Prediction(
        "The readings are 1, 2 and 3, and the slope of x² is 2x. Which three slopes will be printed?",
        answer="6, 6, 6",
        choices=("2, 4, 6", "2, 2, 2", "6, 6, 6", "2, 8, 18"),
        hints={
            "2, 4, 6": "So it should be. But is a note a list of numbers, or the buffer itself?",
            "2, 2, 2": "All three notes are the same array, true. But which reading is in it at the end?",
            "2, 8, 18": "The notes hold what goes into a square, not what comes out of it.",
        },
        why="All three notes are one and the same array, and at the end it holds the last reading, 3.",
    ),
    Prediction(
        "`x[:]` is the usual way to copy a list. Does `notes.append(x[:])` repair this tape too?",
        answer="no, the slopes are 6, 6, 6",
        choices=("yes, the slopes are 2, 4, 6", "no, the slopes are 6, 6, 6"),
        hints={
            "yes, the slopes are 2, 4, 6": "For a list it would. Try it: write `x[:]` for `x.copy()`, and run the cell.",
        },
        why="A slice of an array is a new array object, and it reads the same memory. Only a copy has its own.",
    ),
    Prediction(
        "At 2.25 euros, the last entry keeps 1.75 and 52.5. What is the slope of the profit there?",
        answer=0,
        hints={
            52.5: "That is what the path through t3 brings. What does the path through t1 take away?",
            -52.5: "That is the path through t1. What does the one through t3 bring?",
            105: "The two paths pull in opposite directions.",
            15: "That was at 2 euros. What the entry keeps is different now.",
            50.75: "Each euro costs you 30 cups, not one. What would those 30 have earned?",
            91.875: "That is the profit. How does it change?",
        },
        why="52.5 cups bring 52.5, and 30 cups of 1.75 each take away 52.5. The slope is 0: this is the best price.",
    ),
)

ENTRIES = Number(
    "How many entries?",
    """\
Without running it: how many entries does the tape hold at the end?

```python
x = ad.Variable(2.0, name="x")
with ad.GradientTape() as tape:
    y = x
    half = 0.5 * 3.0
    for _ in range(3):
        y = y * x + half
    z = np.sin(y) * y
```""",
    answer=8,
    hints={
        1: "1 is the number of results. The tape holds an entry for each operation on the way.",
        2: "2 counts the two lines with `y` and `z`. Count operations: a line may hold several.",
        3: "3 is the number of turns, or counts the loop's line once. How many operations does each turn record, and "
        "what comes after the loop?",
        4: "4 counts the loop only once, or each line only once per run. A turn multiplies and adds, and there are "
        "three turns.",
        5: "5 counts two entries for `z = ...`, but only one for each turn of the loop. A turn multiplies and adds.",
        6: "6 counts the loop alone. The line of `z` comes after it, and is recorded too.",
        7: "7 counts one entry for `z = np.sin(y) * y`. It holds two operations: a sine and a multiplication.",
        9: "9 counts `half = 0.5 * 3.0` or `y = x` as well. Neither leaves an entry.",
        10: "10 counts `y = x` and `half = 0.5 * 3.0` as well. One computes nothing, the other touches nothing "
        "watched.",
        11: "11 counts three entries for each turn. Giving a result the name `y` computes nothing.",
    },
    otherwise="Count the operations on watched values, one by one, and those of the loop's line once for each turn.",
    why="Three turns with two operations each, then a sine and a multiplication.",
    minutes=6,
)

CULPRITS = {6, 8}

INNOCENT = {
    1: "Nothing is noted before line 2, so line 1 can't change the note.",
    2: "Line 2 makes the note. What changes it afterwards?",
    3: "Does line 3 write into an array, or make a new one?",
    4: "Line 4 writes into `warm`. Which line made that array, and is it the one in the note?",
    5: "Line 5 only gives the array a second name. No number changes.",
    7: "Line 7 only makes a slice. No number changes yet.",
    9: "Does line 9 write into the array in the note, or does it make a new array and move the name `data` to it?",
    10: "Line 10 writes into whatever `data` means by then. Read line 9 again: is that still the array in the note?",
}

OVERLOOKED = {
    6: "One of the lines changes an array without a bracket on its left. For arrays, is `a += 1.0` the same as "
    "`a = a + 1.0`?",
    8: "One more line changes the note. Which of the arrays here share their memory with `data`?",
}


def lines_of(answer: Any) -> set[int]:
    """Return the line numbers of an answer."""
    wanted = "I need a set of line numbers, as in {1, 2}"
    if isinstance(answer, np.ndarray) and answer.ndim == 1:
        answer = answer.tolist()
    if not isinstance(answer, set | frozenset | list | tuple | range):
        raise NotYet(f"{wanted}, and your answer is {shorten(answer)}.")
    if any(line is ... for line in answer):
        raise NotYet("Replace the three dots with line numbers.")
    lines = set()
    for line in answer:
        try:
            lines.add(operator.index(line))
        except TypeError:
            raise NotYet(f"{wanted}, and one element of your answer is {shorten(line)}.") from None
    return lines


def judge_lines(answer: Any) -> str:
    """Check which lines of a program write into an array that was noted without a copy."""
    lines = lines_of(answer)
    if unknown := sorted(lines - CULPRITS - INNOCENT.keys()):
        raise NotYet(f"The program has lines 1 to 10, and no line {unknown[0]}.")
    if innocent := sorted(lines - CULPRITS):
        raise NotYet(INNOCENT[innocent[0]])
    if overlooked := sorted(CULPRITS - lines):
        raise NotYet(OVERLOOKED[overlooked[0]])
    return (
        "`same` is the noted array under another name, and `+=` writes into it. `first` is a slice, which shares its "
        "memory. All other lines make arrays, name them, or write into others."
    )


PAST = Judge(  # a set, of which each line that is wrong has its own hint, and each that is missing
    "Who changed the past?",
    """\
A colleague's tape keeps `notes.append(x)`, without a copy. The program below runs on it, and then the slopes are wrong. Which lines changed the numbers in the note? Answer with a set of line numbers. Decide with a pencil first. To try it out, write `notes.append(x)` in `square` again.

```text
 1  data = np.array([3.0, 1.0, 2.0])
 2  y = square(data)
 3  warm = data + 10.0
 4  warm[0] = 0.0
 5  same = data
 6  same += 1.0
 7  first = data[:2]
 8  first[0] = 7.0
 9  data = data * 2.0
10  data[1] = 5.0
```""",
    answer=CULPRITS,
    spellings=[sorted(CULPRITS), tuple(CULPRITS), frozenset(CULPRITS)],
    hints=[
        ({4, 6, 8, 10}, "Which line made that array"),
        ({6, 8, 10}, "Read line 9 again"),
        ({6, 8, 9}, "move the name"),
        ({8}, "the same as"),
        ({6}, "share their memory"),
        ({5, 6, 8}, "second name"),
        ({6, 7, 8}, "only makes a slice"),
        ({3, 6, 8}, "make a new one"),
        ({11}, "no line 11"),
    ],
    check=judge_lines,
    minutes=8,
)

Lines = list[tuple[str, list[Any]]]

LEMONADE: Lines = [("t1", [30.0, "price"]), ("cups", [120.0, "t1"]), ("t3", ["price", 0.5]), ("profit", ["t3", "cups"])]


def case(lines: Lines, watched: set[str], said: str | Callable[[Any, Any], str]) -> Case:
    """Return what a tape records of a program, and what to say of another answer."""
    return Case(lambda f: f(copy.deepcopy(lines), set(watched)), said)


def list_recorded(lines: Lines, watched: set[str]) -> list[str]:
    """Return the names that the entries of a tape have."""
    followed, names = set(watched), []
    for name, inputs in lines:
        if followed.intersection(inputs):
            followed.add(name)
            names.append(name)
        else:
            followed.discard(name)
    return names


def by(rule: Callable[[set[str], list[Any]], bool], grows: bool = True, forgets: bool = True) -> Callable[..., Any]:
    """Return what a learner may write: with another rule, or without one of the two updates."""

    def list_recorded(lines: Lines, watched: set[str]) -> list[str]:
        followed, names = set(watched), []
        for name, inputs in lines:
            if rule(followed, inputs):
                names.append(name)
                if grows:
                    followed.add(name)
            elif forgets:
                followed.discard(name)
        return names

    return list_recorded


def until_nothing_new(lines: Lines, watched: set[str]) -> list[str]:
    """Follow the arrows without regard to the order in which the lines ran."""
    followed = set(watched)
    for _ in lines:
        followed |= {name for name, inputs in lines if followed.intersection(inputs)}
    return [name for name, inputs in lines if followed.intersection(inputs)]


def removing(lines: Lines, watched: set[str]) -> list[str]:
    """Take a name out of a set in which it may not be."""
    followed, names = set(watched), []
    for name, inputs in lines:
        if followed.intersection(inputs):
            followed.add(name)
            names.append(name)
        else:
            followed.remove(name)
    return names


def erasing(lines: Lines, watched: set[str]) -> list[str]:
    """Take back what was recorded under a name that means something else by now."""
    names: list[str] = []
    for k, (name, _) in enumerate(lines):
        now = list_recorded(lines[: k + 1], watched)
        names = [*names, name] if len(now) > len(list_recorded(lines[:k], watched)) else [n for n in names if n != name]
    return names


def for_each_input(lines: Lines, watched: set[str]) -> list[str]:
    """Record a line once for each watched input."""
    followed, names = set(watched), []
    for name, inputs in lines:
        found = [name for each in inputs if each in followed]
        names += found
        (followed.add if found else followed.discard)(name)
    return names


def too_soon(lines: Lines, watched: set[str]) -> list[str]:
    """Stop following the output at the first input that is not watched, with others still to come."""
    followed, names = set(watched), []
    for name, inputs in lines:
        for each in inputs:
            if each in followed:
                followed.add(name)
                names.append(name)
                break
            followed.discard(name)
    return names


def at_least_one(followed: set[str], inputs: list[Any]) -> bool:
    """Return what a tape asks of each operation."""
    return bool(followed.intersection(inputs))


FORGET = (
    "In the program `y = 2 * x`, `y = 3 * k`, `z = y + 1` only x is watched, and your function returns {given}. The "
    "second line gives the name `y` to a value that nobody watches. Is `y` still watched in the third?"
)

RULE = Function(
    "The tape's own rule",
    """\
Write the decision that every tape makes. `lines` are the operations of a program, in the order in which they ran. Each is a pair: a name, and the list of its inputs, which are names or plain numbers. The lemonade is

```python
[("t1", [30.0, "price"]), ("cups", [120.0, "t1"]), ("t3", ["price", 0.5]), ("profit", ["t3", "cups"])]
```

`watched` is the set of names that are watched at the start, such as `{"price"}`. Return a list with the names of the lines that the tape records, in order. A name may be used again, as `y` was in the loop with the coin: then it means the new value.""",
    signature="list_recorded(lines, watched)",
    cases=[
        case(
            LEMONADE,
            {"price"},
            lambda found, wanted: (
                f"For the lemonade, with price watched, the tape records {wanted}, and your function returns {found}."
                + (" A set has no order: return a list." if isinstance(found, set) else "")
            ),
        ),
        case(
            [("a", ["x", "k"]), ("b", ["k", 3.0]), ("c", ["a", "b"])],
            {"x"},
            "In the program `a = x * k`, `b = k * 3`, `c = a + b` only x is watched. The tape records {answer}, and "
            "your function returns {given}.",
        ),
        case(
            [("a", ["k", "x"]), ("b", ["k", 2.0])],
            set(),
            "If nothing is watched, the tape records nothing, and your function returns {given}.",
        ),
        case([("y", [2.0, "x"]), ("y", [3.0, "k"]), ("z", ["y", 1.0])], {"x"}, FORGET),
        case(
            [("b", ["a", 1.0]), ("a", [2.0, "x"]), ("a", ["a", "b"])],
            {"x"},
            lambda found, wanted: (
                "In the program `b = a + 1`, `a = 2 * x`, `a = a + b` only x is watched. The tape records the second and "
                f"the third line, and your function returns {found}."
                + (" When the first line ran, was `a` watched?" if "b" in found else "")
            ),
        ),
        case(
            [("y", [2.0, "x"]), ("y", [10.0, "y"]), ("z", ["y", 1.0])],
            {"x"},
            "In the program `y = 2 * x`, `y = 10 + y`, `z = y + 1` only x is watched. The tape records {answer}, and your "
            "function returns {given}.",
        ),
    ],
    answer=list_recorded,
    hints=[
        (
            by(lambda followed, inputs: all(each in followed for each in inputs)),
            "Your function leaves out every line of the lemonade. One watched input is enough, such as price in "
            "`30 * price`.",
        ),
        (
            by(at_least_one, grows=False),
            "Your function follows the names that are watched at the start, and nothing computed from them. What does "
            "recording a line do to its output?",
        ),
        (
            by(lambda followed, inputs: inputs[0] in followed),
            "Your function looks at the first input alone. In `30 * price`, the second one is watched.",
        ),
        (
            by(lambda followed, inputs: inputs[-1] in followed),
            "Your function looks at the last input alone. In `price - 0.5`, the first one is watched.",
        ),
        (by(at_least_one, forgets=False), FORGET),
        (removing, "{raised} `discard` takes a name out of a set only if it is there."),
        (
            erasing,
            "In the program `y = 2 * x`, `y = 3 * k`, `z = y + 1` only x is watched, and your function returns {given}. "
            "The first line ran, and its entry stays on the tape, whatever `y` means later.",
        ),
        (
            lambda lines, watched: list(dict.fromkeys(list_recorded(lines, watched))),
            "In the program `b = a + 1`, `a = 2 * x`, `a = a + b` only x is watched, and your function returns {given}. "
            "Two lines compute an `a` there, and each has an entry of its own.",
        ),
        (
            until_nothing_new,
            "In the program `y = 2 * x`, `y = 3 * k`, `z = y + 1` only x is watched, and your function returns {given}. "
            "Go through the lines once, in order: a tape knows only what is watched at that moment.",
        ),
        (
            lambda lines, watched: [name for name, _ in lines],
            "Your function returns every line. A tape leaves out what uses nothing that is watched.",
        ),
        (
            for_each_input,
            "In `profit = t3 * cups` both inputs are watched, and your function returns {given}. How many entries does "
            "one operation leave?",
        ),
        (
            too_soon,
            "In the program `y = 2 * x`, `y = 10 + y`, `z = y + 1` only x is watched, and your function returns {given}. In "
            "the second line, the last input is watched. Look at all inputs before you decide about the output.",
        ),
        (
            lambda lines, watched: len(list_recorded(lines, watched)),
            "Your function counts the lines. Return their names, in a list.",
        ),
        (
            lambda lines, watched: list_recorded(lines, watched)[-1:],
            "Your function returns the last line alone, or returns too early. Collect the names in a list.",
        ),
        (
            lambda lines, watched: list_recorded(lines, watched)[:1],
            "Your function stops after the first line that it records. Is the `return` inside the loop?",
        ),
    ],
    why="At least one watched input, and the output is watched too. It is how a tape decides, one operation at a time.",
    minutes=10,
)

QUESTIONS = (*PREDICTIONS, ENTRIES, PAST, RULE)
