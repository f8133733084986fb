"""The tape: how many entries, notes that stay true, the graph of given code."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exercises import Case, Function, Judge, Number
from ..feedback import NotYet, shorten
from ..predictions import Prediction

PREDICTIONS = (
    Prediction(
        "How many entries will the tape hold if it is all one line?",
        answer=4,
        hints={
            1: "That is the number of lines. The tape writes an entry for each operation.",
            2: "Count the operations: there is a product inside the second brackets.",
            3: "Both minus signs and both products count.",
            5: "`profit = ...` only gives the result a name. Count the operations.",
        },
        why="Two differences and two products, on one line as on two.",
    ),
    Prediction(
        "How many of a, b, c and d will the tape below record?",
        answer=2,
        hints={
            4: "The tape leaves out what uses nothing that is watched at that moment. Look at `sugar` and `rent`.",
            3: "Go through them one by one: is the value watched at that moment?",
            1: "When does the tape begin to watch `sugar`?",
        },
        why="It records a and d: `sugar` is not watched yet at b, and `rent` is not trainable.",
    ),
    Prediction(
        "If the loop ran over `range(1000)` instead, how many entries would the tape hold?",
        answer=1000,
        within=0,
        hints={
            2: "One for each line in the loop? The tape knows no loop, only what was run.",
            3: "That is for three turns. Now there are a thousand.",
            2000: "In each turn, only one side of the branch is run.",
            999: "The turn with `day == 1` computes something, too.",
            1001: "Does `rent` or `total = 1.0` compute something from a watched value?",
            1002: "Does `rent` or `total = 1.0` compute something from a watched value?",
        },
        why="Each turn computes one thing, and the tape writes down what was run.",
    ),
    Prediction(
        "How many bytes does the tape of the lemonade hold at the end, with 1,000 prices?",
        answer=40000,
        hints={
            32000: "Those are the four outputs. An entry keeps its inputs as well.",
            64000: "An array that appears in several entries counts once.",
            56000: "An array that appears in several entries counts once.",
            40: "That is for one price. Each array has 1,000 numbers now.",
            8000: "That is one array. How many different ones are there in the four entries?",
        },
        why="There are five arrays of 8,000 bytes: the prices, and the outputs of four entries.",
    ),
    Prediction(
        "Which of these values does the tape *not* keep?",
        answer="n",
        choices=("k", "the first a", "n", "z"),
        hints={
            "k": "No tape sees how k is made. But a recorded product uses it, and an entry keeps all its inputs.",
            "the first a": "Python forgets it. But the product took it as an input, and an entry keeps all its inputs.",
            "z": "It is the output of the last entry.",
        },
        why="k is a plain array, so no tape records its sum, and no entry uses n.",
    ),
    Prediction(
        "How many kilobytes does the tape hold after 50 products with the plain array?",
        answer="808: 16 for each product, and 8 for the first y",
        choices=(
            "16: two arrays, however many products",
            "416: 8 for each product, the weights once, and the first y",
            "808: 16 for each product, and 8 for the first y",
        ),
        hints={
            "16: two arrays, however many products": "Each product makes a new y, and its entry keeps it.",
            "416: 8 for each product, the weights once, and the first y": (
                "With what you have read, this is the sensible guess. But can the tape be sure that nobody writes "
                "into a plain array later?"
            ),
        },
        why="Each entry keeps its output and a copy of the plain array.",
    ),
    Prediction(
        "After `data[0] = 100.0`, what is the first of the three slopes?",
        answer=200,
        hints={
            2: "It was 2. But what is in the notes: three numbers, or the array itself?",
            100: "That is in the notes now. The slope is twice that.",
            10000: "The square is not computed again; only the slope is.",
        },
        why="The note is the array itself, and its first number is now 100.",
    ),
    Prediction(
        "The loop fills one buffer with 1s, then 2s, then 3s, and squares it. At the end, what number is in the "
        "first of the three notes?",
        answer=3,
        hints={
            1: "It was 1. But is the note a copy, or the buffer itself?",
            6: "Nothing is added up here.",
            9: "That is the last square. The note holds what went *into* the square.",
        },
        why="All three notes are the same buffer, and it now holds 3s.",
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
    },
    otherwise="The tape holds a whole number of entries. Count operations on watched values, one by one, and the "
    "loop's line once per turn.",
    why="Three turns with two operations each, then a sine and a multiplication.",
    minutes=7,
)


def write(value: Any) -> None:
    """Write 100 into a value wherever that is possible."""
    if isinstance(value, np.ndarray):
        value[...] = 100.0
    elif isinstance(value, list):
        for place, part in enumerate(value):
            if isinstance(part, list | np.ndarray):
                write(part)
            else:
                value[place] = 100.0


def cases_of(name: str, make: Callable[[], Any], hint: str) -> list[Case]:
    """Return what is done with a note of one kind of value: the value, the note, and the note after a write."""

    def take(note: Callable[[Any], Any]) -> tuple[Any, Any]:
        value = make()
        kept = note(value)
        if isinstance(kept, Iterator):
            raise NotYet(f"Your note is a {type(kept).__name__}, which is read later. Make a list.")
        return value, kept

    def spoil(note: Callable[[Any], Any]) -> Any:
        value, kept = take(note)
        write(value)
        return kept

    return [
        Case(
            lambda note: take(note)[0],
            f"Your function changes {name} that it is given. Leave the value alone, and return a copy.",
        ),
        Case(
            lambda note: take(note)[1],
            f"For {name}, {{answer}}, your note is {{given}}. It should hold the same.",
        ),
        Case(spoil, f"Then I wrote 100 into {name}, and your note changed with it. {hint}"),
    ]


def lock(value: Any) -> Any:
    """Return the value itself, its arrays locked against writing."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return list(map(lock, value)) if isinstance(value, list) else value


NOTE = Function(
    "Notes that stay true",
    """\
You're building a tape of your own. It should be able to note a number, an array, or a list, and a list may hold numbers, arrays or other lists. Write `note(value)`: it returns what the tape should keep, so that the note stays true whatever is later written into `value`. Mind the lists inside a list.""",
    signature="note(value)",
    cases=[
        *cases_of("a number", lambda: 2.5, "A number needs no copy: nobody can write into it. Return it as it is."),
        *cases_of(
            "an array",
            lambda: np.array([1.0, 2.0, 3.0]),
            "Your note is still the same memory. `value`, `value[:]` and `np.asarray(value)` copy no array; "
            "`value.copy()` does.",
        ),
        *cases_of("a list", lambda: [1.0, 2.0, 3.0], "Your note is still the same list. Make a new one."),
        *cases_of(
            "a list of lists",
            lambda: [[1.0, 2.0], [3.0]],
            "The outer list is new, but the lists inside it are still the same. They need notes of their own.",
        ),
        *cases_of(
            "a list of arrays",
            lambda: [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
            "The list is new, but the arrays in it are still the same. They need copies of their own.",
        ),
        *cases_of(
            "a list that holds a list of arrays",
            lambda: [1.0, [np.array([1.0, 2.0]), [3.0]]],
            "The first two levels are new and the third is not. Let `note` call itself for each part of a list.",
        ),
    ],
    answer=copy.deepcopy,
    hints=[
        *[
            (wrong, "{raised} A number has no parts and no `copy`.")
            for wrong in (lambda value: value.copy(), list, lambda value: value[:], len)
        ],
        (lock, "Your function locks an array against writing. Leave the value alone, and return a copy."),
        (
            np.array,
            "{raised} Lists of different lengths do not fit into one array. Build a list.",
        ),
    ],
    why="Numbers, arrays, lists and lists in lists: whatever is written later, the past stays as it was.",
    minutes=7,
)

ARROWS = {("x", "a"), ("y", "a"), ("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("x", "d")}


def pairs_of(answer: Any) -> set[tuple[str, str]]:
    """Return the arrows of an answer."""
    wanted = 'I need a set of pairs, as in {("x", "a"), ("a", "b")}'
    if not isinstance(answer, set | frozenset | list | tuple):
        raise NotYet(f"{wanted}, and your answer is {shorten(answer)}.")
    if any(pair is ... for pair in answer):
        raise NotYet("Replace the three dots with the other arrows.")
    for pair in answer:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise NotYet(f"{wanted}, and one element of your answer is {shorten(pair)}.")
    return {(start, end) for start, end in answer}


def hint_for(given: set[tuple[str, str]]) -> str:
    """Return what to say of arrows that are not those of the code."""
    if unknown := {name for pair in given for name in pair} - set("xyabcd"):
        names = f"{' and '.join(map(shorten, sorted(unknown)))} {'is' if len(unknown) == 1 else 'are'}"
        return f"{names} not among the six values x, y, a, b, c, d of the code."
    if given == {(end, start) for start, end in ARROWS}:
        return (
            "All arrows are there, and all point the wrong way. Forwards, an arrow leads from what is used "
            "to what is computed from it: from x to a."
        )
    if given == {("a", "b"), ("b", "c"), ("c", "d")}:
        return (
            "You joined the lines in the order in which they run. An arrow says something else: which value a "
            "line uses. The line of c uses a and b."
        )
    for start, end in sorted(given - ARROWS):
        if (end, start) in ARROWS:
            change = "Leave out" if (end, start) in given else "Turn"
            return f"{start} is computed from {end}, not the other way round. {change} the arrow from {start} to {end}."
    for start, end in sorted(given - ARROWS):
        if end in "xy":
            return f"{end} is given, and no line computes it: no arrow leads to {end}."
        return f"The line of {end} does not mention {start}, so no arrow leads from {start} to {end}."
    start, end = min(ARROWS - given)
    late = " A value may be used long after it was made, as x is." if (start, end) == ("x", "d") else ""
    return f"Look at the line of {end} again: which values does it use?{late}"


def judge_arrows(answer: Any) -> str:
    """Check the arrows of the graph of four lines of code, a set of pairs."""
    given = pairs_of(answer)
    if given != ARROWS:
        raise NotYet(hint_for(given))
    return (
        "Seven arrows: two into a, one into b, two into c, two into d. a and x are used twice, so two arrows "
        "leave each."
    )


GRAPH = Judge(  # a set, whose hints name what is too much in it and what is missing
    "Draw the graph",
    """\
Take paper and draw the graph of this code. Then write down its arrows as a set of pairs: from the
value that is used to the value computed from it.

```python
a = x * y
b = np.sin(a)
c = a + b
d = c * x
```""",
    answer=ARROWS,
    spellings=[list(ARROWS), [list(pair) for pair in ARROWS]],
    hints=[
        (ARROWS | {("x", "q")}, "`'q'` is not among the six values"),
        ({(end, start) for start, end in ARROWS}, "all point the wrong way"),
        ({("a", "b"), ("b", "c"), ("c", "d")}, "in the order in which they run"),
        (ARROWS - {("a", "b")} | {("b", "a")}, "Turn the arrow from b to a"),
        (ARROWS | {("b", "a")}, "Leave out the arrow from b to a"),
        (ARROWS | {("x", "y")}, "no arrow leads to y"),
        (ARROWS | {("y", "b")}, "The line of b does not mention y"),
        (ARROWS - {("x", "d")}, "long after it was made"),
        (ARROWS - {("a", "c")}, "Look at the line of c again"),
    ],
    check=judge_arrows,
    minutes=6,
)

QUESTIONS = (*PREDICTIONS, ENTRIES, NOTE, GRAPH)
