"""Answers to the exercises of the-tape."""

import copy
import pickle

import numpy as np

import autodiff_edu as ad

ARROWS = {("x", "a"), ("y", "a"), ("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("x", "d")}


def by_parts(value):
    if isinstance(value, (list, tuple)):
        return [by_parts(part) for part in value]
    return np.array(value)


def frozen(value):
    """Keep lists as tuples, which nobody can write into."""
    if isinstance(value, list):
        return tuple(map(frozen, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def by_kind(of_array=np.copy, of_list=list):
    """Make a note that tells the kinds apart, but does not look into lists by itself."""

    def note(value):
        if isinstance(value, np.ndarray):
            return of_array(value)
        return of_list(value) if isinstance(value, list) else value

    return note


def spoiling(value):
    """Return the right note, and empty the list that was given."""
    kept = copy.deepcopy(value)
    if isinstance(value, list):
        value.clear()
    return kept


def locking(value):
    """Return the array itself, locked against writing, and parts of a list likewise."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    return list(map(locking, value)) if isinstance(value, list) else value


RIGHT = {
    1: [8, 8.0, np.int64(8), ad.constant(8.0), np.array([8])],
    2: [copy.deepcopy, by_parts, frozen, lambda value: pickle.loads(pickle.dumps(value))],
    3: [ARROWS, list(ARROWS), {tuple(pair) for pair in ARROWS}],
}

WRONG = {
    1: [
        (4, "there are three turns"),
        (9, "Neither leaves"),
        (10, "y = x"),
        (5, "for each turn"),
        (7, "two operations"),
        (2, "two lines"),
        (3, "number of turns"),
        (11, "one by one"),
        (8.5, "a whole number of entries"),
        (None, "your answer is None.$"),
        (-1, "one by one"),
        (1e300, "one by one"),
    ],
    2: [
        (lambda value: value, "an array, and your note changed.*same memory"),
        (lambda value: np.asarray(value) if isinstance(value, np.ndarray) else value, "same memory"),
        (by_kind(of_array=lambda value: value[:]), "same memory"),
        (by_kind(of_list=lambda value: value), "still the same list"),
        (by_kind(), "the lists inside it"),
        (by_kind(of_list=lambda value: value[:]), "the lists inside it"),
        (copy.copy, "the lists inside it"),
        (
            by_kind(of_list=lambda value: [by_kind(of_list=lambda part: part[:])(part) for part in value]),
            "the third is not",
        ),
        (
            by_kind(of_list=lambda value: [part[:] if isinstance(part, list) else part for part in value]),
            "the arrays in it",
        ),
        (lambda value: value.copy(), r"note\(2.5\) raised AttributeError.*A number has no parts"),
        (lambda value: list(value), "A number has no parts"),
        (lambda value: [value], "It should hold the same"),
        (lambda value: str(value), "I need one number here, and what your function returns is"),
        (spoiling, "Leave the value alone"),
        (locking, "locks an array against writing. Leave"),
        (lambda value: ..., "three dots"),
        (lambda value: None, "returns None"),
        (lambda value: None if isinstance(value, float) else copy.deepcopy(value), r"note\(2.5\) returns None"),
        (lambda value: value.copy() if isinstance(value, np.ndarray) else None, r"note\(2.5\) returns None"),
        (np.array, "different lengths do not fit"),
        (by_kind(of_list=lambda value: map(copy.deepcopy, value)), "a map, which is read later"),
        (by_kind(of_list=lambda value: (part for part in value)), "a generator, which is read later"),
        (lambda: 1, "raised TypeError"),
        ({"x", "n"}, "without calling it"),
    ],
    3: [
        ({(b, a) for a, b in ARROWS}, "all point the wrong way"),
        ({("a", "b"), ("b", "c"), ("c", "d")}, "order in which they run"),
        (ARROWS - {("x", "d")}, "long after"),
        (ARROWS - {("a", "c")}, "Look at the line of c"),
        (ARROWS | {("y", "b")}, "does not mention"),
        (ARROWS | {("x", "y")}, "no line computes it"),
        (ARROWS - {("a", "b")} | {("b", "a")}, "b is computed from a, not.*Turn the arrow from b to a"),
        (ARROWS | {("b", "a")}, "Leave out the arrow from b to a"),
        ({("x", "q")}, "`'q'` is not among"),
        ({("X", "A")}, "`'A'` and `'X'` are not among"),
        (set(), "Look at the line"),
    ],
}
