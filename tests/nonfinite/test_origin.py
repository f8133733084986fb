"""One operation by itself: whether it makes a NaN or an infinity of finite numbers, and how that is told."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.nonfinite.origin import find_backward_birth, find_forward_birth


def entries(function, *values):
    xs = [ad.Variable(value, name=name) for value, name in zip(values, "xy", strict=False)]
    with ad.GradientTape(persistent=True) as tape, np.errstate(all="ignore"):
        result = function(*xs)
    return tape, result, xs


@pytest.mark.parametrize(
    ("function", "values", "text"),
    [
        (lambda x, y: x / y, (0.0, 0.0), "0 divided by 0 gives nan"),
        (lambda x: np.log(x), ([1.0, 0.0],), "log of 0 gives -inf at element [1]"),
        (lambda x: np.sum(x), ([1e308, 1e308],), "sum of [1e+308 1e+308] gives inf"),
        (lambda x: x * 2.0, ([np.nan, 1.0],), None),  # it was there before
        (lambda x: np.where(x > 0, x, 1.0), ([np.nan, 1.0],), None),
        (lambda x: x * 2.0, (3.0,), None),
        (
            lambda x: x // 0.0,
            ([1.0, 0.0],),
            "1 floor-divided by 0 gives inf at element [0]; 0 floor-divided by 0 gives nan at element [1]",
        ),
        (lambda x: np.log(x), ([np.nan, 0.0],), "log of 0 gives -inf at element [1]"),  # beside one that was there
        (lambda x: np.sum(x), ([np.inf, -np.inf],), "sum of [inf -inf] gives nan"),
        (lambda x: np.sum(x), ([np.inf, 1.0],), None),
        (lambda x: x.astype("float16"), (1e6,), "1e+06 as float16 gives inf"),
    ],
)
def test_going_forward(function, values, text):
    tape, _, _ = entries(function, *values)
    birth = find_forward_birth(tape.entries[-1])
    assert (birth and birth.text) == text


def backward(function, *values):
    tape, result, xs = entries(function, *values)
    with np.errstate(all="ignore"):
        steps = list(tape.steps(result, xs))
    return [
        find_backward_birth(step.entry, c.argument, "x", step.cotangent._array, c.before and c.before._array, *rest)
        for step in steps
        for c in step.contributions
        for rest in [(c.value._array, c.after._array)]
    ]


def test_going_backward():
    births = backward(lambda x: 3.0 * np.sqrt(x), 0.0)
    assert births[0] is None
    assert births[1].values == ("inf",)
    assert births[1].text == (
        "the derivative of sqrt of 0 with respect to x is inf, and times the cotangent 3 gives inf"
    )
    (_, late) = backward(lambda x: np.sqrt(np.sqrt(x)), 0.0)
    assert late is None, "an inf that arrived is not born here"


def test_contributions_that_overflow_together():
    (*_, last) = backward(lambda x: x * 1e308 + x * 1e308, 1.0)
    assert last.text == "the contributions to x are finite, but add up to inf"


def test_contributions_that_are_infinite_and_cancel():
    (*_, last) = backward(lambda x: np.sqrt(x) - np.sqrt(x), 0.0)
    assert last.text == "the contributions to x are inf and -inf, which add up to nan"


def test_a_nan_of_an_infinity_that_arrived_or_was_computed():
    told = "the derivative of 0 times 0 with respect to x is 0, and times the cotangent inf gives nan"
    *_, born, again = backward(lambda x: np.sqrt(x * x), 0.0)
    assert (born.text, again) == (told, None)
    (*_, born) = backward(lambda x: 0.0 * (1.0 / x), 0.0)
    assert (
        born.text == "the derivative of 1 divided by 0 with respect to x is -inf, and times the cotangent 0 gives nan"
    )
    (*_, born) = backward(lambda x: np.sum(np.sqrt(x @ np.zeros((2, 2)))), [1.0, 2.0])
    assert born.text == ("its contribution to x is nan at element [0], for 0 times inf and inf minus inf are nan")


def test_a_custom_gradient_is_named():
    @ad.custom_gradient
    def broken(x):
        return x * 1.0, lambda dy: dy * np.nan

    (birth,) = backward(broken, 1.0)
    assert birth.text == "the backward function of broken gives nan for x; its input is finite"


def test_a_custom_gradient_called_like_an_operator_is_not_taken_for_it():
    @ad.custom_gradient
    def divide(x, y):
        return x / y, lambda dy: (dy, dy)

    tape, _, _ = entries(divide, 1.0, 0.0)
    assert find_forward_birth(tape.entries[-1]).text == "divide of 1 and 0 gives inf"


def test_an_element_of_a_stack_is_named_with_its_cotangent():
    tape, _, _ = entries(lambda x: np.sqrt(x), [0.0, 1.0])
    sent = np.array([[np.inf, 0.0], [np.nan, 0.5]])
    birth = find_backward_birth(tape.entries[0], 0, "x", np.eye(2), None, sent, sent)
    told = "the derivative of sqrt of 0 with respect to x is inf, and times the cotangent {} gives {} of the stack"
    assert birth.values == ("inf", "nan")
    assert birth.text.split("; ") == [told.format(1, "inf at element [0, 0]"), told.format(0, "nan at element [1, 0]")]
    large = np.full((2, 2), 1e308)
    both = np.full((2, 2), np.inf)
    birth = find_backward_birth(tape.entries[0], 0, "x", large, large, large, both)
    assert birth.text == "the contributions to x are finite, but add up to inf at element [0, 0] of the stack"
