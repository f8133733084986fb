"""What sends the cotangent 0 to an element: the operation that drops it is named, and none that only moves it."""

import numpy as np
import pytest
from test_nonfinite import found

import autodiff_edu as ad


@pytest.mark.parametrize(
    ("f", "says"),
    [
        (lambda x: np.maximum(0.5, np.sqrt(x)), "The maximum in"),
        (lambda x: np.fmax(0.5, np.sqrt(x)), "The fmax in"),
        (lambda x: np.minimum(-0.5, np.sqrt(x)), "The minimum in"),
        (lambda x: np.clip(np.sqrt(x), 0.5, 2.0), "The clip in"),
        (lambda x: np.max(np.sqrt(x)), "The max in"),
        (lambda x: np.sqrt(x)[1:], "The indexing in"),
        (lambda x: np.sqrt(x) * (x > 0), "multiplies it by 0"),
        (lambda x: np.sqrt(x) ** 2, "has the derivative 0 there"),
    ],
)
def test_other_operations_that_send_0_to_an_infinite_derivative_are_named(f, says):
    result = found(f, [0.0, 1.0])
    assert (result.operation, result.direction, result.value) == ("sqrt", "backward", "nan")
    assert says in result.account
    assert "0 times inf is nan" in result.account


@pytest.mark.parametrize(
    ("f", "x", "says"),
    [
        (lambda x: np.where((x > 0)[:, None], np.sqrt(x)[:, None], 0.0), [0.0, 1.0], "The where in"),
        (lambda x: np.where(x > 0, np.sqrt(x), 0.0)[::-1], [0.0, 1.0], "The where in"),
        (lambda x: np.where((x > 0)[::-1], np.sqrt(x)[::-1], 0.0), [0.0, 1.0], "The where in"),
        (lambda x: np.sqrt(x)[::-1][:1], [0.0, 1.0], "The indexing in"),
        (lambda x: np.reshape(np.sqrt(x), (2, 1))[1:], [0.0, 1.0], "The indexing in"),
        (lambda x: np.sqrt(x)[::-1] * np.array([1.0, 0.0]), [0.0, 1.0], "multiplies it by 0"),
        (lambda x: np.sqrt(x) @ np.array([0.0, 1.0]), [0.0, 1.0], "The matmul in"),
        (lambda x: np.triu(np.sqrt(x)), [[1.0, 1.0], [0.0, 1.0]], "The triu in"),
        (lambda x: np.max(np.stack([np.sqrt(x), x + 1.0])), [0.0, 1.0], "The max in"),
    ],
)
def test_what_only_moves_an_element_is_not_named(f, x, says):
    result = found(f, x)
    assert (result.operation, result.value) == ("sqrt", "nan")
    assert says in result.account


def test_nansum_is_named_by_its_own_name():
    assert "The nansum in" in found(lambda x: np.nansum(np.log(x)), [-1.0, 1.0]).account


def test_to_look_for_what_silenced_an_element_runs_no_custom_gradient_again():
    runs = []

    @ad.custom_gradient
    def half(x):
        def backward(dy):
            runs.append(dy)
            return 0.5 * dy

        return 0.5 * x, backward

    result = found(lambda x: np.where(x > 0, half(np.sqrt(x)), 0.0), [0.0, 1.0])
    assert "The where in" in result.account
    assert len(runs) == 1
