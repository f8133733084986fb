"""The exercises of chapter 3, shapes: folding after broadcasting, the matrix product's rule, sum against mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..feedback import NotYet, call, near, needs_dict, needs_each, needs_function, number, shortened

FOLDS = [
    ((3, 4), (3, 1), "the axis of length 1"),
    ((3, 4), (4,), "the axis that is missing on the left"),
    ((3, 4), (), "a single number"),
    ((2, 3, 4), (3, 1), "an axis that is missing on the left, and one of length 1"),
    ((2, 3, 4), (2, 1, 1), "two axes of length 1"),
    ((3, 3), (3,), "a square, in which only the left axis is to be folded"),
    ((3, 4), (3, 4), "nothing to fold"),
    ((1, 4), (1, 4), "an axis of length 1 that was not stretched"),
    ((1, 4), (4,), "an axis of length 1 that was put in"),
]
"""Shapes of a cotangent and of its source, and what there is to fold."""

SLOPES = {"a": 300.0, "b": 60.0, "c": 15.0, "d": 300.0, "rate": 0.001}


def fold(answer: Any) -> str:
    """Check 3.1: un-broadcasting, `fold(g, shape)`, on nine pairs of shapes."""
    needs_function(answer, "fold(g, shape)")
    numbers = np.random.default_rng(20140309)
    for start, shape, what in FOLDS:
        g = numbers.integers(1, 10, size=start).astype(float)
        given = call(answer, g.copy(), shape, written=f"fold(g, {shape}), for a g of shape {start},")
        _judge_fold(given, g, shape, what)
    return "What was put in on the left is summed away, and what had length 1 is summed and kept."


def _judge_fold(given: Any, g: Any, shape: tuple[int, ...], what: str) -> None:
    start = f"For a g of shape {g.shape} and the shape {shape} ({what})"
    folded = _array(given, "what your function gives", start)
    right = _folded(g, shape)
    if folded.shape != right.shape:
        raise NotYet(f"{start} your function gives the shape {folded.shape}. {_about_shape(folded, g, shape)}")
    if np.allclose(folded, right):
        return
    if np.allclose(folded, right * (right.size / g.size)):
        raise NotYet(f"{start} your function gives the mean. The contributions are summed, as always.")
    if g.shape == (3, 3) and np.allclose(folded, g.sum(axis=1)):
        raise NotYet(f"{start} your function sums the right axis. NumPy puts missing axes in on the left.")
    if np.isin(folded, g).all():
        raise NotYet(f"{start} your function picks some of the contributions. All of them count: sum them.")
    raise NotYet(f"{start} the sums are {_shown(right)}, and your function gives {_shown(folded)}.")


def _about_shape(folded: Any, g: Any, shape: tuple[int, ...]) -> str:
    if folded.shape == g.shape:
        return "Nothing was summed. A source gets one contribution per element, and here it has fewer elements."
    if folded.shape == ():
        return "Everything was summed. Sum only over the axes along which the source was repeated."
    if folded.ndim > len(shape):
        return "An axis that was put in on the left is still there: sum over it without `keepdims`."
    if folded.shape == tuple(length for length in shape if length != 1):
        return "An axis of length 1 was lost: sum over it with `keepdims=True`."
    if folded.ndim < len(shape):
        return "This is another axis than the one to sum. Sum where the source has length 1, with `keepdims=True`."
    return "Compare the two shapes from the right: which axes were repeated?"


def _folded(g: Any, shape: tuple[int, ...]) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(k for k, length in enumerate(shape) if length == 1), keepdims=True)


def matmul_rule(answer: Any) -> str:
    """Check 3.2: the rule of the matrix product, `rule(g, z, x, y)`, against central differences."""
    needs_function(answer, "rule(g, z, x, y)")
    numbers = np.random.default_rng(20140311)
    for n, k, m in ((2, 3, 4), (4, 2, 3), (3, 3, 3)):
        x, y, g = (numbers.uniform(1.0, 3.0, size=size) for size in ((n, k), (k, m), (n, m)))
        sizes = f"x {x.shape}, y {y.shape}, g {g.shape}"
        try:
            given = call(answer, g.copy(), x @ y, x.copy(), y.copy(), written=f"rule(g, z, x, y), for {sizes},")
        except NotYet as hint:
            if isinstance(hint.__cause__, ValueError):
                raise NotYet(
                    f"{hint} These shapes do not fit together. In `a @ b` the last axis of a meets the first of b; "
                    "`.T` turns a matrix."
                ) from None
            raise
        _judge_matmul(given, g, x, y, f"For {sizes}")
    return "The shapes leave hardly a choice, and central differences agree, also for square matrices."


def _judge_matmul(given: Any, g: Any, x: Any, y: Any, start: str) -> None:
    if given is None:
        raise NotYet("Your rule gives None. End it with `return ..., ...`.")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise NotYet(f"Your rule gives {shortened(given)}. Return two contributions: `return to_x, to_y`.")
    parts = [_array(part, f"the contribution to {name}", start) for part, name in zip(given, "xy", strict=True)]
    right = [_slopes(lambda x: np.sum(g * (x @ y)), x), _slopes(lambda y: np.sum(g * (x @ y)), y)]
    if all(map(_alike, parts, right)):
        return
    if all(map(_alike, parts, right[::-1])):
        raise NotYet(f"{start}: the two contributions have changed places. That to x has the shape of x.")
    ones = np.ones_like(g)
    if all(map(_alike, parts, (ones @ y.T, x.T @ ones))):
        raise NotYet(f"{start}: the cotangent g is left out, as if it were all ones.")
    if _alike(parts[0], y.T) or _alike(parts[1], x.T):
        raise NotYet(f"{start}: the cotangent g is left out. Which product of g and y has the shape of x?")
    for name, part, slopes, source in zip("xy", parts, right, (x, y), strict=True):
        if part.shape != source.shape:
            turned = " Its transpose has that shape: turn it with `.T`." if part.shape == source.shape[::-1] else ""
            raise NotYet(
                f"{start}: the contribution to {name} has the shape {part.shape}, and {name} has "
                f"{source.shape}.{turned}"
            )
        if not _alike(part, slopes):
            raise NotYet(
                f"{start}: the contribution to {name} has the right shape, and central differences give other numbers. "
                "An entry of a matrix product is a row times a column: which entries of z does one element touch?"
            )


def _slopes(f: Callable[[Any], Any], at: Any, h: float = 1e-4) -> Any:
    slopes = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        change = np.zeros_like(at)
        change[place] = h
        slopes[place] = (f(at + change) - f(at - change)) / (2 * h)
    return slopes


def _alike(a: Any, b: Any) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-6, atol=1e-6))


def _array(given: Any, name: str, start: str) -> Any:
    if given is ...:
        raise NotYet(f"Replace the three dots: {name} is still open.")
    if given is None:
        raise NotYet(f"{start}: {name} is None. Does a `return` lack somewhere?")
    try:
        array = np.asarray(given, dtype=float)
    except Exception:
        raise NotYet(f"{start}: {name} is {shortened(given)}, and an array of numbers is needed.") from None
    return array


def _shown(array: Any) -> str:
    return shortened(array.tolist())


def sum_or_mean(answer: Any) -> str:
    """Check 3.3: four gradients and a rate, as a dict."""
    needs_dict(answer, '{"a": 3.0, "rate": 0.1}')
    needs_each(answer, SLOPES, "Nothing is given for")
    for name, right in SLOPES.items():
        given = number(answer[name], name)
        if not near(given, right):
            raise NotYet(f"{name}: {_about_reducing(name, given)}")
    return "The mean divides by 100, and an array as a target counts as the sum of its elements."


def _about_reducing(name: str, given: float) -> str:
    hints = {
        ("a", 3.0): "3 is the gradient of the mean. The sum is not divided by the number of elements.",
        ("a", 60.0): "60 is 20 times 3, and there are more than 20 elements: 20 rows of 5.",
        ("a", 15.0): "15 is 5 times 3, and there are more than 5 elements: 20 rows of 5.",
        ("a", 0.03): "0.03 is 3 divided by 100. The mean is the sum divided by 100, so the sum is larger.",
        ("b", 3.0): "3 would be the mean of all. Here each row has its mean, and the 20 means are added up.",
        ("b", 15.0): "15 is 300 divided by 20. The mean along axis 1 is over 5 elements.",
        ("b", 300.0): "300 is the gradient of the sum of all. Each of the 20 means divides by 5.",
        ("c", 3.0): "3 would be the mean of all. Here 5 elements, each a sum over 20 rows divided by 20, are added up.",
        ("c", 60.0): "60 is 300 divided by 5. This target is divided by 20.",
        ("c", 300.0): "300 is the gradient of the sum of all. The target is that, divided by 20.",
        ("d", 3.0): "3 is the gradient of the mean. A target that is an array counts as the sum of its elements.",
        (
            "rate",
            10.0,
        ): "With the rate 10 the steps would be 10,000 times as long: the gradient grew, so the rate must shrink.",
        ("rate", 0.1): "With the rate 0.1 the steps would be 100 times as long, for the gradient is.",
        ("rate", 0.005): "0.005 is 0.1 divided by 20, and there are more than 20 elements.",
        ("rate", 0.02): "0.02 is 0.1 divided by 5, and there are more than 5 elements.",
    }
    for (which, wrong), hint in hints.items():
        if which == name and near(given, wrong):
            return hint
    return {
        "a": "the mean is the sum divided by the number of elements. How many elements are there?",
        "b": "the gradient of an array is that of its sum. Write the sum of the 20 means with the sum of all.",
        "c": "the gradient of an array is that of its sum. Add the 5 elements up, and compare with the sum of all.",
        "d": "the gradient of an array is that of its sum.",
        "rate": "a step is the rate times the gradient. How many times as large is the sum's gradient?",
    }[name]


EXERCISES: dict[str, Callable[[Any], str]] = {"3.1": fold, "3.2": matmul_rule, "3.3": sum_or_mean}
"""The checks by exercise."""
