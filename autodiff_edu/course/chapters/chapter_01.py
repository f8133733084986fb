"""The exercises of chapter 1, the tape: how many entries, which values are kept, the graph of given code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..feedback import NotYet, number, shortened

KEPT = {"x", "k", "first a", "second a", "z"}
ARROWS = {("x", "a"), ("y", "a"), ("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("x", "d")}


def entries(answer: Any) -> str:
    """Check 1.1: how many entries a loop with an unwatched line before it leaves on the tape."""
    given = number(answer)
    hints = {
        2: "2 counts the two lines with `y` and `z`. Count operations: a line may hold several.",
        4: "4 counts the loop's line once. The tape knows no loop: its line is run three times, and each run is "
        "recorded.",
        5: "5 counts two entries for `z = ...`, but only one for each turn of the loop. A turn multiplies and adds.",
        6: "6 counts the loop alone. The line of `z` comes after it, and is recorded too.",
        7: "7 counts one entry for `z = np.sin(y) * y`. It holds two operations: a sine and a multiplication.",
        9: "9 counts `half = 0.5 * 3.0` as well. Nothing in it is watched, so it leaves no entry.",
        10: "10 counts `y = x` and `half = 0.5 * 3.0` as well. One computes nothing, the other touches nothing "
        "watched.",
    }
    if given == 8:
        return "Three turns with two operations each, then a sine and a multiplication."
    raise NotYet(
        hints.get(int(given), "Count operations on watched values, one by one, and the loop's line once per turn.")
        if given == int(given)
        else f"The tape holds whole entries, and {given:g} is no whole number."
    )


def kept(answer: Any) -> str:
    """Check 1.2: which values the tape keeps, as a set of names."""
    given = _names(answer)
    if unknown := given - KEPT - {"n"}:
        if "a" in unknown:
            raise NotYet('The code computes two values called a. Write "first a", "second a", or both.')
        raise NotYet(f"{_listed(unknown)} is not among the six names: x, k, first a, second a, n, z.")
    if "n" in given:
        raise NotYet(
            "n is the sum of k, and k is a plain array: no tape sees that sum, and no entry uses n. So n is not kept."
        )
    hints = {
        "first a": "The name a moves on to the second value, and the first is forgotten by Python. "
        "But the entry of the multiplication took the first one as its input.",
        "k": "No tape sees how k is made. But a recorded multiplication uses it, and an entry keeps all its inputs.",
        "x": "Look at the inputs too: the first entry is exp(x), and an entry keeps what went in.",
        "z": "Look at the outputs too: an entry keeps what came out, also the last one.",
        "second a": "The second a is what the multiplication gave and what the sum used. So two entries hold it.",
    }
    for name, hint in hints.items():
        if name not in given:
            raise NotYet(hint)
    return "Every input and every output of the three entries, and nothing else."


def arrows(answer: Any) -> str:
    """Check 1.3: the arrows of the graph of four lines of code, as a set of pairs."""
    given = _pairs(answer)
    if unknown := {name for pair in given for name in pair} - set("xyabcd"):
        raise NotYet(f"{_listed(unknown)} is not among the six values x, y, a, b, c, d of the code.")
    if given == {(end, start) for start, end in ARROWS}:
        raise NotYet(
            "All arrows are there, and all point the wrong way. Forwards, an arrow leads from what is used "
            "to what is computed from it: from x to a."
        )
    if given == {("a", "b"), ("b", "c"), ("c", "d")}:
        raise NotYet(
            "You joined the lines in the order in which they run. An arrow says something else: which value a "
            "line uses. "
            "The line of c uses a and b."
        )
    if turned := {(start, end) for start, end in given - ARROWS if (end, start) in ARROWS}:
        start, end = min(turned)
        raise NotYet(f"{end} is not computed before {start}: turn the arrow from {start} to {end} round.")
    if extra := given - ARROWS:
        start, end = min(extra)
        raise NotYet(f"The line of {end} does not mention {start}, so no arrow leads from {start} to {end}.")
    if missing := ARROWS - given:
        start, end = min(missing)
        raise NotYet(
            f"Look at the line of {end} again: which values does it use?"
            + (f" A value may be used long after it was made, as {start} is." if (start, end) == ("x", "d") else "")
        )
    return (
        "Seven arrows: two into a, one into b, two into c, two into d. a and x are used twice, so two arrows "
        "leave each."
    )


def _names(answer: Any) -> set[str]:
    if isinstance(answer, str):
        answer = [part.strip() for part in answer.split(",")]
    if not isinstance(answer, set | frozenset | list | tuple) or not all(isinstance(name, str) for name in answer):
        if isinstance(answer, set | list | tuple) and ... in answer:
            raise NotYet('Replace the three dots by names, as in {"x", "n"}.')
        raise NotYet(f'I need a set of names, as in {{"x", "n"}}, and your answer is {shortened(answer)}.')
    return {" ".join(name.split()) for name in answer}


def _pairs(answer: Any) -> set[tuple[str, str]]:
    wanted = 'I need a set of pairs, as in {("x", "a"), ("a", "b")}'
    if not isinstance(answer, set | frozenset | list | tuple):
        raise NotYet(f"{wanted}, and your answer is {shortened(answer)}.")
    pairs = set()
    for pair in answer:
        if pair is ...:
            raise NotYet("Replace the three dots by the other arrows.")
        names = tuple(pair) if isinstance(pair, list | tuple) else (pair,)
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise NotYet(f"{wanted}, and one element of your answer is {shortened(pair)}.")
        pairs.add((names[0], names[1]))
    return pairs


def _listed(names: set[str]) -> str:
    return " and ".join(map(shortened, sorted(names)))


EXERCISES: dict[str, Callable[[Any], str]] = {"1.1": entries, "1.2": kept, "1.3": arrows}
"""The checks by exercise."""
