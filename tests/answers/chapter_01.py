"""Answers to the exercises of chapter 1."""

import numpy as np

import autodiff_edu as ad

ALL = {"x", "k", "first a", "second a", "z"}
ARROWS = {("x", "a"), ("y", "a"), ("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("x", "d")}

RIGHT = {
    "1.1": [8, 8.0, np.int64(8), ad.constant(8.0), np.array([8])],
    "1.2": [ALL, list(ALL), ", ".join(ALL), frozenset(ALL)],
    "1.3": [ARROWS, list(ARROWS), {tuple(pair) for pair in ARROWS}],
}

WRONG = {
    "1.1": [
        (4, "no loop"),
        (9, "half"),
        (10, "y = x"),
        (5, "for each turn"),
        (7, "two operations"),
        (2, "two lines"),
        (3, "one by one"),
        (8.5, "no whole number"),
        (-1, "one by one"),
        (1e300, "one by one"),
    ],
    "1.2": [
        (ALL | {"n"}, "no entry uses n"),
        (ALL - {"first a"}, "moves on"),
        (ALL - {"k"}, "keeps all its inputs"),
        (ALL - {"x"}, "what went in"),
        (ALL - {"z"}, "what came out"),
        (ALL - {"second a"}, "two entries hold it"),
        ({"a", "x"}, "two values called a"),
        ({"x", "q"}, "`'q'` is not among"),
        (set(), "moves on"),
        ("n", "no entry uses n"),
    ],
    "1.3": [
        ({(b, a) for a, b in ARROWS}, "all point the wrong way"),
        ({("a", "b"), ("b", "c"), ("c", "d")}, "order in which they run"),
        (ARROWS - {("x", "d")}, "long after"),
        (ARROWS - {("a", "c")}, "Look at the line of c"),
        (ARROWS | {("y", "b")}, "does not mention"),
        (ARROWS - {("a", "b")} | {("b", "a")}, "turn the arrow"),
        ({("x", "q")}, "`'q'` is not among"),
        (set(), "Look at the line"),
    ],
}
