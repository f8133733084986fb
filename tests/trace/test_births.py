"""The step at which a NaN or an infinity begins says so, and no other step does."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.trace.arrays import array
from autodiff_edu.trace.births import ODD


def births(function, *values):
    xs = [ad.Variable(value, name=name) for value, name in zip(values, "xy", strict=False)]
    with ad.trace() as traced, np.errstate(all="ignore"):
        with ad.GradientTape() as tape:
            result = function(*xs)
        tape.gradient(result, xs)
    return [
        (step["kind"], step["born"], step["text"][step["text"].index(" Here ") + 1 :])
        for step in traced.document()["steps"]
        if "born" in step
    ]


def ratio(x, y):
    q = x / y
    return np.sum(q * q)


def test_a_nan_is_born_once():
    (birth,) = births(ratio, [1.0, 0.0], [1.0, 0.0])
    assert birth == ("record", "nan", "Here NaN is born: 0 divided by 0 gives nan at element [1].")


def test_an_infinity_is_born_going_backward():
    (birth,) = births(lambda x: 3.0 * np.sqrt(x), 0.0)
    told = "the derivative of sqrt of 0 with respect to x is inf, and times the cotangent 3 gives inf"
    assert birth == ("accumulate", "inf", f"Here inf is born: {told}.")


def test_what_comes_in_with_the_data_was_not_born():
    constant = np.array([1.0, -np.inf])
    assert births(lambda x: np.sum(x * 2.0), [1.0, np.nan]) == [("watch", "nan", "Here NaN comes in with the data.")]
    assert births(lambda x: np.sum(x * constant), [1.0, 2.0]) == [
        ("record", "-inf", "Here -inf comes in with constant.")
    ]


def test_to_look_for_births_warns_of_nothing():
    with np.errstate(all="raise"):
        assert len(births(lambda x: 3.0 * np.sqrt(x), 0.0)) == 1


def test_an_operation_that_two_tapes_record_makes_it_once():
    x = ad.Variable(0.0, name="x")
    with ad.trace() as traced, np.errstate(all="ignore"), ad.GradientTape(), ad.GradientTape():
        np.log(x)
    assert [step.get("born") for step in traced.document()["steps"] if step["kind"] == "record"] == ["-inf", None]


def test_finite_traces_mention_nothing():
    assert births(ratio, [1.0, 2.0], [1.0, 2.0]) == []


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.nan, "nan"),
        (np.array([1.0, -np.inf]), "-inf"),
        (np.where(np.arange(1000.0) == 501.0, np.nan, 0.0), "nan"),  # which the sample of its elements leaves out
        (np.where(np.arange(1000.0) == 501.0, np.inf, 0.0), "inf"),
        (complex(1.0, np.inf), "inf"),
        (complex(np.nan, 1.0), "nan"),
        (np.full(100, complex(np.nan, 1.0)), "nan"),
        (np.arange(1000.0), None),
        (np.array(True), None),
    ],
)
def test_the_text_of_an_array_tells_whether_it_is_finite(value, found):
    match = ODD.search(array(value)["text"])
    assert (match and match[1]) == found
