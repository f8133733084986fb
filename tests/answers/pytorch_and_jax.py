"""Answers to the exercises of pytorch-and-jax."""

from fractions import Fraction

import numpy as np

GRADS = {"a": 7, "b": 4, "c": 6, "d": None, "e": 5}
LINES = {"a": 3, "b": 3, "c": 2}


def by_loop(sizes):
    total, factors = 0, []
    for size in sizes:
        total += size
    for size in sizes:
        factors.append(size / total)
    return factors


def template(sizes):
    return ...


RIGHT = {
    1: [GRADS, {name: grad if grad is None else float(grad) for name, grad in GRADS.items()}],
    2: [LINES, {name: np.int64(line) for name, line in LINES.items()}],
    3: [
        by_loop,
        lambda sizes: np.array(sizes) / sum(sizes),
        lambda sizes: tuple(size / sum(sizes) for size in sizes),
        lambda sizes: [Fraction(size, sum(sizes)) for size in sizes],
        lambda sizes: np.divide(sizes, np.sum(sizes)),
    ],
}

WRONG = {
    1: [
        (GRADS | {"a": 4}, "What did the first one leave?"),
        (GRADS | {"a": 3}, "The second adds to it"),
        (GRADS | {"a": 5}, "is 2w, and `w` is 2"),
        (GRADS | {"b": 7}, "is gone by the time the second begins"),
        (GRADS | {"b": None}, "only until the second pass"),
        (GRADS | {"b": 2}, "is 2w, and `w` is 2"),
        (GRADS | {"c": 12}, "One of the two factors is cut off"),
        (GRADS | {"c": 3}, "nothing flows back to `y`"),
        (GRADS | {"c": 2}, "What flows to the `w` on the right?"),
        (GRADS | {"c": None}, "is still connected"),
        (GRADS | {"d": 8}, "Does it stay there?"),
        (GRADS | {"d": 4}, "4 is the value of `v`"),
        (GRADS | {"d": 16}, "asks for `v.grad`"),
        (GRADS | {"d": 2}, "2 is not right for `d`"),
        (GRADS | {"e": 9}, "computed while nothing was recorded"),
        (GRADS | {"e": None}, "The path through `5 * w` is still there|the path through `5 \\* w`"),
        (GRADS | {"d": "None"}, "without quotes"),
        (GRADS | {"a": ...}, "three dots"),
        ({"a": 7}, "No answer is given for b, c, d, e"),
        (7, "I need a dict"),
    ],
    2: [
        (LINES | {"a": 2}, "Is that the `w` of line 6?"),
        (LINES | {"a": 7}, "a tensor that has lost its name"),
        (LINES | {"a": 4}, "only repeats the others"),
        (LINES | {"a": 9}, "Which tensor does the optimizer train?"),
        (LINES | {"b": 5}, "is where it comes to light. Which line wrote"),
        (LINES | {"b": 1}, "keeps its result for the backward pass"),
        (LINES | {"c": 3}, "already cut off"),
        (LINES | {"c": 5}, "Follow the path back from `loss`"),
        (LINES | {"c": 6}, "Where does the path back from `loss` end?"),
        ({"a": 3, "b": 3}, "No line is given for c"),
        (LINES | {"a": ...}, "three dots"),
    ],
    3: [
        (lambda sizes: [1.0 for _ in sizes], "three times the gradient"),
        (lambda sizes: [size / max(sizes) for size in sizes], "as it should. But three equal parts"),
        (lambda sizes: [size * len(sizes) / sum(sizes) for size in sizes], "they add up to 1"),
        (lambda sizes: [1 / len(sizes)] * len(sizes), "right for parts of the same size"),
        (lambda sizes: [1 / sum(sizes)] * len(sizes), "already divided by its own size. Undo that first"),
        (lambda sizes: sizes, "The mean is wanted"),
        (lambda sizes: [1 / size for size in sizes], "already divided by its own size.$"),
        (lambda sizes: [sum(sizes) / size for size in sizes], "The other way round"),
        (lambda sizes: [size / len(sizes) for size in sizes], "not by how many parts"),
        (lambda sizes: None, "returns None"),
        (template, "three dots"),
        (np.ones(3), "I need a function"),
    ],
}
