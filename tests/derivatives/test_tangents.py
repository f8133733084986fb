"""What one entry does to the tangent of one argument."""

import numpy as np
import pytest
from differences import draw
from tabled import recorded

import autodiff_edu as ad
from autodiff_edu.derivatives.tangents import pushed, shaped

X, W = draw((3, 2), "x"), draw((3, 2), "w")


@pytest.mark.parametrize("f", [np.multiply, np.maximum, lambda x, w: np.concatenate([x, w]), lambda x, w: x @ w.T])
@pytest.mark.parametrize("k", [0, 1])
def test_an_argument_that_moves_moves_the_output_as_differences_say(f, k):
    tape, _, _ = recorded(f, X, W)
    entry = tape.entries[-1]
    tangent, h = draw(entry.values[k].shape, "v"), 1e-6
    ends = [entry.operation(*entry.values[:k], entry.values[k] + s * tangent, *entry.values[k + 1 :]) for s in (h, -h)]
    part = pushed(entry, k, tangent, entry.output_value, entry.values)
    np.testing.assert_allclose(part, (ends[0] - ends[1]) / (2 * h), 1e-6, 1e-8)


def test_an_argument_without_a_rule_moves_nothing():
    tape, _, _ = recorded(lambda x: x[1:], X)
    (entry,) = tape.entries
    assert pushed(entry, 1, np.ones(2), entry.output_value, entry.values) is None


def test_a_tangent_gets_the_shape_and_the_dtype_of_what_moves():
    output = np.zeros((2, 3), np.float32)
    assert shaped(np.ones(3), output, ()).shape == (2, 3)
    assert shaped(np.ones(3), output, ()).dtype == np.float32
    assert shaped(np.ones((4, 1, 3)) * 1j, output, (4,)).tolist() == np.zeros((4, 2, 3)).tolist()


def test_what_is_pushed_as_a_tensor_is_recorded():
    tape, _, _ = recorded(np.sin, X)
    (entry,) = tape.entries
    v = ad.constant(W)
    with ad.GradientTape() as outer:
        outer.watch(v)
        part = pushed(entry, 0, v, entry.output, entry.inputs)
    np.testing.assert_allclose(outer.gradient(part, v), np.cos(X))
