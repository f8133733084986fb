"""That every function takes its arguments by the names that NumPy's signature gives them, as it takes them by place."""

import inspect
from functools import partial

import numpy as np
import pytest
from cases import TABLE
from table import each, pull_back, record

import autodiff_edu as ad
from autodiff_edu.arrays.validate import signature


def by_name(function, args, parameters, first):
    """Return the arguments of a call by the names of NumPy's signature, from the one at place `first` on.

    Those that can only be given by place stay there, and so do all where NumPy knows no names.
    """
    try:
        bound = signature(function).bind(*args, **parameters)
    except ValueError:
        return args, parameters
    kinds = {name: p.kind for name, p in bound.signature.parameters.items()}
    if inspect.Parameter.VAR_POSITIONAL in [kinds[name] for name in bound.arguments]:
        return args, parameters
    placed, named = [], {}
    for place, (name, value) in enumerate(bound.arguments.items()):
        if kinds[name] is inspect.Parameter.VAR_KEYWORD:
            named |= value
        elif kinds[name] is inspect.Parameter.POSITIONAL_ONLY or place < first:
            placed.append(value)
        else:
            named[name] = value
    return tuple(placed), named


@pytest.fixture(params=[1, 0], ids=["all but the first", "all"])
def renamed(request, monkeypatch):
    """Return what runs a function with the arguments of its own calls of NumPy passed by keyword."""
    dispatch = ad.Tensor.__array_function__

    def by_keyword(self, function, types, args, parameters):
        with monkeypatch.context() as patch:  # what the call is spelled as is written by us, and stays as it is
            patch.setattr(ad.Tensor, "__array_function__", dispatch)
            placed, named = by_name(function, args, parameters, request.param)
            if len(placed) == len(args) or function is np.full:  # np.full asks tensors only for the sake of like=
                return dispatch(self, function, types, placed, named)
            return function(*placed, **named)

    def run(function, *arguments):
        with monkeypatch.context() as patch:
            patch.setattr(ad.Tensor, "__array_function__", by_keyword)
            return function(*arguments)

    return run


@each(TABLE)
def test_arguments_by_keyword_give_the_same_value_and_gradient(case, renamed):
    arguments = case.arguments()
    again = case._replace(function=partial(renamed, case.function))
    values = [record(one.function, *arguments)[2].numpy() for one in (case, again)]
    for found, expected in zip(
        [values[1], *pull_back(again, arguments)], [values[0], *pull_back(case, arguments)], strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_arguments_are_given_the_names_of_numpy_s_signature():
    assert by_name(np.swapaxes, ("x", 0, 1), {}, 1) == (("x",), {"axis1": 0, "axis2": 1})
    assert by_name(np.swapaxes, ("x", 0), {"axis2": 1}, 0) == ((), {"a": "x", "axis1": 0, "axis2": 1})
    assert by_name(np.gradient, ("x", 2.0), {"axis": 1}, 0) == (("x", 2.0), {"axis": 1})


@pytest.mark.skipif(not hasattr(np, "astype"), reason="NumPy 2.1 has it")
@pytest.mark.parametrize("dtype", [np.float32, "float32", np.dtype("float32")])
def test_a_dtype_may_be_given_as_a_type_a_name_or_a_dtype(dtype):
    x = ad.Variable([1.5, 2.5])
    with ad.GradientTape(persistent=True) as tape:
        y, whole = np.astype(x, dtype), np.astype(x, int)
    assert y.dtype == np.float32
    assert tape.gradient(y, x).tolist() == [1.0, 1.0]
    assert tape.gradient(y, x).dtype == np.float64
    assert tape.gradient(whole, x) is None
