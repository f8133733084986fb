"""How arrays are described and sampled."""

import json
from math import prod

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.trace.arrays import LARGEST, array


@pytest.mark.parametrize(
    ("value", "text", "data"),
    [
        (2.0, "2", 2.0),
        (np.float64(2 / 3), "0.666667", 0.666667),
        (np.array([1.0, np.nan, np.inf, -np.inf]), "[1 nan inf -inf]", [1.0, "nan", "inf", "-inf"]),
        (np.array([[1, 2], [3, 4]]), "[[1 2] [3 4]]", [[1, 2], [3, 4]]),
        (np.array([True]), "[True]", [True]),
        (np.array([1 / 3 + 2j]), "[0.333333+2j]", ["0.333333+2j"]),
        (np.zeros((0, 2)), "0×2, empty", []),
    ],
)
def test_an_array_is_its_shape_its_dtype_a_text_and_its_numbers(value, text, data):
    found, expected = array(value), np.asarray(value)
    assert found == {"shape": list(expected.shape), "dtype": str(expected.dtype), "text": text, "data": data}
    assert array(ad.constant(value)) == found
    json.dumps(found, allow_nan=False)


def test_an_array_that_was_released_has_no_numbers():
    assert array(None) == {"shape": [], "dtype": "", "text": "—", "data": None}


def test_what_is_computed_elsewhere_has_a_shape_and_no_numbers():
    class Lazy:
        shape, dtype = (3, 4), np.dtype("float32")

    found = array(Lazy())
    assert (found["shape"], found["dtype"], found["data"]) == ([3, 4], "float32", None)


@pytest.mark.parametrize("shape", [(257,), (1000,), (20, 50), (2, 300), (300, 2), (7, 7, 7), (2, 3, 4, 50), (100_000,)])
def test_a_large_array_is_a_sample_of_it_evenly_taken_along_each_axis(shape):
    value = np.arange(float(prod(shape))).reshape(shape)
    found = array(value)
    every = found["every"]
    assert len(every) == len(shape)
    sample = value[tuple(slice(None, None, stride) for stride in every)]
    assert np.allclose(found["data"], sample, rtol=1e-5)
    assert sample.size <= LARGEST
    assert sample.size > LARGEST / 8, "and large itself"
    assert found["shape"] == list(shape)


def test_an_array_of_the_largest_size_is_whole():
    assert "every" not in array(np.zeros(LARGEST))
    assert array(np.zeros(LARGEST + 1))["every"] == [2]
