"""A function that is spelled out in others is one call to those who listen, and to the reader of an error."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import Listener, only
from autodiff_edu.core.composites import SPELLED, call_spelled
from autodiff_edu.core.events import Begin, End


def test_a_listener_hears_what_a_function_was_called_with_and_what_came_out():
    heard, x = [], ad.constant([2.0, 1.0])
    with only(Listener({Begin: heard.append, End: heard.append})):
        y = np.sort(x, axis=0)
    function, args, parameters, result = heard[-1]
    assert (type(heard[0]), type(heard[-1]), function) == (Begin, End, np.sort)
    assert args[0] is x
    assert parameters == {"axis": 0}
    assert result is y


def test_an_argument_that_a_spelling_does_not_take_is_named_with_numpy_s_function(monkeypatch):
    def ours(x, axis=None):
        return x, axis

    monkeypatch.setitem(SPELLED, np.median, ours)
    assert call_spelled(np.median, (1.0,), {"axis": 0}) == (1.0, 0)
    with pytest.raises(TypeError, match=r"np\.median does not accept overwrite_input= for a tensor"):
        call_spelled(np.median, (1.0,), {"overwrite_input": True})
    with pytest.raises(TypeError, match=r"np\.median does not accept out= for a tensor: tensors are immutable"):
        call_spelled(np.median, (1.0,), {"out": 1.0})
    with pytest.raises(TypeError, match=r"np\.median of a tensor: missing a required argument"):
        call_spelled(np.median, (), {})


def test_an_error_inside_a_spelling_stays_as_it_is(monkeypatch):
    def ours(x):
        raise TypeError("of its own")

    monkeypatch.setitem(SPELLED, np.median, ours)
    with pytest.raises(TypeError, match=r"^of its own$"):
        call_spelled(np.median, (1.0,), {})
