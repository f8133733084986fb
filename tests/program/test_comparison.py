"""Two recordings of a function are the same, or the comparison says where they differ, and in what."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.program.comparison import find_differences
from autodiff_edu.program.recording import Recorder

W, B = ad.Variable(2.0), ad.Variable(3.0)
ROWS = np.arange(6.0).reshape(3, 2)

DIFFERENCES = {
    "another operation": (np.sin, np.cos, [("path", "", "", False)]),
    "an operation more": (np.sin, lambda x: np.sin(np.cos(x)), [("path", "", "", False)]),
    "another result": (lambda x: (x * 2.0, x + 1.0), lambda x: (x * 2.0, x + 1.0)[::-1], [("path", "", "", False)]),
    "another number": (lambda x: x * 2.0, lambda x: x * 3.0, [("number", "2.0", "3.0", False)]),
    "a number of another type": (lambda x: x**2, lambda x: x**2.0, [("number", "2", "2.0", False)]),
    "part of an index": (lambda x: x[1:, 0], lambda x: x[:, 0], [("number", "1", "None", False)]),
    "a parameter": (lambda x: np.sum(x, axis=0), lambda x: np.sum(x, axis=1), [("number", "0", "1", False)]),
    "another variable": (lambda x: x * W, lambda x: x * B, [("number", "a variable", "a variable", False)]),
    "an argument or a result": (
        lambda x: (y := x * 2.0) * y,
        lambda x: (x * 2.0) * x,
        [("number", "another result", "an argument of the function", False)],
    ),
    "a constant or a variable": (lambda x: x * ROWS, lambda x: x * W, [("number", "a constant", "a variable", False)]),
    "an array": (
        lambda x: x + ROWS,
        lambda x: x + 2 * ROWS,
        [("constant", "an array of shape (3, 2)", "an array of shape (3, 2)", False)],
    ),
    "a NumPy scalar": (lambda x: x + ROWS[0, 1], lambda x: x + ROWS[1, 0], [("constant", "1.0", "2.0", False)]),
    "a shape": (
        lambda x: x * ROWS,
        lambda x: x * ROWS[:1],
        [("constant", "an array of shape (3, 2)", "an array of shape (1, 2)", True)],
    ),
    "nothing but what is not needed": (lambda x: x * 2.0, lambda x: (x * 3.0, x * 2.0)[1], []),
    "nothing where NaN is the same": (lambda x: x * float("nan"), lambda x: x * float("nan"), []),
    "nothing where a constant is computed": (
        lambda x: x * np.sin(ad.constant(1.0)),
        lambda x: x * np.sin(ad.constant(1.0)),
        [],
    ),
}


@pytest.mark.parametrize(("one", "other", "expected"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_comparison_finds_the_first_difference_of_each_instruction(one, other, expected):
    found = [*find_differences(listing(one), listing(other))]
    assert [(each.kind, each.before, each.after, each.reshaped) for each in found] == expected


def test_differences_of_numbers_are_all_found_up_to_where_the_paths_part():
    first, second = listing(lambda x: np.sin(x * 2.0) + 3.0), listing(lambda x: np.cos(x * 4.0) + 5.0)
    assert [(each.number, each.kind) for each in find_differences(first, second)] == [(0, "number"), (1, "path")]


def listing(function):
    x = ad.constant(np.ones((3, 2)))
    recorder = Recorder([x])
    result = recorder.run(lambda: function(x))
    return recorder.listing([*map(recorder.value_of, result if isinstance(result, tuple) else [result])])
