"""Functions, operations and arguments are called what the user calls them."""

import operator
from functools import partial

import numpy as np
import pytest

from autodiff_edu.rules import operations
from autodiff_edu.text.functions import in_numpy, name_of, names_of_parameters, spoken, written_name


def f(x, y=1.0, *rest, z=2.0):
    pass


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (np.sin, "np.sin"),
        (np.linalg.inv, "np.linalg.inv"),
        ((np.add, "reduce"), "np.add.reduce"),
        (np.ndarray.astype, "np.astype"),
        (np.frompyfunc(abs, 1, 1), "abs (vectorized)"),
        (operator.getitem, "getitem"),
        (f, "f"),
    ],
)
def test_an_operation_is_written_as_in_numpy_and_others_by_their_bare_names(function, name):
    assert written_name(function) == name


def test_only_what_can_be_reached_in_numpy_has_a_name_there():
    assert in_numpy(np.linalg.inv) == "np.linalg.inv"
    assert in_numpy(np.frompyfunc(abs, 1, 1)) is in_numpy(operations.stop_gradient) is in_numpy(f) is None


def test_what_has_no_name_is_called_after_its_type_or_otherwise():
    assert (name_of(f), name_of(partial(f)), name_of(partial(f), "f")) == ("f", "partial", "f")


def test_in_a_sentence_a_lambda_has_no_name_and_a_partial_function_that_of_its_function():
    assert (spoken(f), spoken(partial(f, 1.0)), spoken(lambda: 0)) == ("f", "f", "the function")


def test_arguments_are_named_as_in_the_signature():
    assert names_of_parameters(f, 1) == ["x"]
    assert names_of_parameters(f, 4) == ["x", "y", "rest[0]", "rest[1]"]
    assert names_of_parameters(f, 3, "argument {}".format) == ["x", "y", "argument 2"]


def test_arguments_of_a_function_without_a_signature_are_counted():
    assert names_of_parameters(max, 2) == ["argument 0", "argument 1"]
    assert names_of_parameters(max, 2, lambda k: f"x{k + 1}") == ["x1", "x2"]
