"""Numbers and arrays are written with six significant digits, on one line, the same on every machine."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.text.formatting import number, short_argument, short_index, short_value, show


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"), (0.1, "0.1"), (2 / 3, "0.666667"), (-0.0, "0"), (1e-9, "1e-09"), (123456789.0, "1.23457e+08"),
        (np.float64(2 / 3), "0.666667"), (np.float32(0.1), "0.1"), (np.float16(1 / 3), "0.333252"), (np.inf, "inf"),
        (-np.inf, "-inf"), (np.nan, "nan"), (7, "7"), (10**20, "1" + 20 * "0"), (np.int64(-3), "-3"), (True, "True"),
        (np.bool_(False), "False"), (1 - 2j, "1-2j"), (np.complex64(1 / 3 + 1j), "0.333333+1j"),
        (np.float32(-0.0), "0"), (complex(-0.0, -0.0), "0+0j"), (complex(np.nan, np.inf), "nan+infj"),
    ],
)  # fmt: skip
def test_a_number_has_six_significant_digits(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (np.float64(2 / 3), "0.666667"),
        (np.array(2.5), "2.5"),
        (np.array([1.0, 2.5]), "[1 2.5]"),
        (np.array([[1, 2], [3, 4]]), "[[1 2] [3 4]]"),
        (np.array([True, False]), "[True False]"),
        (np.array([1 + 2j]), "[1+2j]"),
        (np.zeros((0, 3)), "0×3, empty"),
        (np.zeros(0), "0, empty"),
        (np.arange(12.0), "[0 1 2 3 4 5 6 7 8 9 10 11]"),
        (np.arange(13.0), "13 numbers, from 0 to 12"),
        (np.arange(-6.0, 7.0).reshape(13, 1), "13×1, from -6 to 6"),
        (np.full((3, 400), 1 / 3), "3×400, all 0.333333"),
        (np.full(13, 3 + 4j), "13 numbers, up to 5 in size"),
    ],
)
def test_a_value_stands_on_one_line(value, text):
    assert short_value(value) == text


def test_what_is_not_computed_here_is_told_by_its_shape():
    class Lazy:
        shape, dtype, ndim = (3, 4), np.dtype(float), 2

        def __array_function__(self, *args):  # as Dask's arrays have it
            raise AssertionError

        def __eq__(self, other):
            return self

        def __bool__(self):
            raise ValueError("The truth value of an array is ambiguous")

    assert short_value(Lazy()) == "3×4 (not computed here)"
    assert short_argument(Lazy()) == "[3×4, not computed here]"
    scalar = Lazy()
    scalar.shape = ()
    assert short_value(scalar) == "(not computed here)"
    assert short_argument(scalar) == "[a number, not computed here]"
    assert show(Lazy()) == "shape=(3, 4), dtype=float64"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(2 / 3), "0.666667"),
        (np.array([1.0, 2.5]), "[1. , 2.5]"),
        (np.array([0.1], "float32"), "[0.1], dtype=float32"),
        (np.array([1, 2]), "[1, 2]"),
        (np.array([1, 2], "int32"), "[1, 2], dtype=int32"),
        (np.array([True]), "[ True]"),
        (np.array([1 + 2j]), "[1.+2.j]"),
        (np.array([1 + 2j], "complex64"), "[1.+2.j], dtype=complex64"),
        (np.zeros((0, 3)), "[], shape=(0, 3)"),
        (np.arange(61.0), "[ 0.,  1.,  2., ..., 58., 59., 60.]"),
    ],
)
def test_an_array_is_shown_with_its_dtype_unless_it_is_the_usual(value, text):
    assert show(value) == text


def test_an_array_of_60_elements_is_shown_whole_and_its_rows_stand_below_each_other():
    assert "..." not in show(np.arange(60.0))
    rows = show(np.eye(3), indent=7).splitlines()
    assert [len(row) - len(row.lstrip()) for row in rows] == [0, 8, 8]
    assert repr(ad.constant(np.eye(2))) == "Tensor([[1., 0.],\n        [0., 1.]])"


def test_the_reader_s_own_settings_change_nothing():
    value = np.array([1 / 3, 1e-9])
    before = show(value), short_value(value)
    with np.printoptions(precision=2, suppress=True, legacy="1.13"):
        assert (show(value), short_value(value)) == before


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.5, "2.5"), (1 / 3, "0.333333"), (3, "3"), (None, "None"), ("ij,jk->ik", "'ij,jk->ik'"), ("…", "…"),
        ((1, 2), "(1, 2)"), (np.float32, "float32"), (float, "float"), (np.dtype("float32"), "float32"),
        (np.array([1.0, 2.0]), "[1 2]"), (np.float64(1 / 3), "0.333333"), (1 + 2j, "1+2j"), (True, "True"),
    ],
)  # fmt: skip
def test_an_argument_is_written_as_one_would(value, text):
    assert short_argument(value) == text


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (np.s_[1], "1"), (np.s_[1:], "1:"), (np.s_[:], ":"), (np.s_[:3], ":3"), (np.s_[1:5:2], "1:5:2"),
        (np.s_[::-1], "::-1"), (np.s_[1, ..., None], "1, ..., None"), (np.s_[:, 0], ":, 0"),
        (np.array([0, 2]), "[0 2]"), (np.s_[np.array([True, False])], "[True False]"),
    ],
)  # fmt: skip
def test_an_index_is_written_as_between_its_brackets(index, text):
    assert short_index(index) == text
