"""Wrong calls of jacobian and batch_jacobian: each says what is wrong, and uses no tape up."""

import numpy as np
import pytest
from tabled import recorded
from unruled import NAME, UNRULED

import autodiff_edu as ad


@pytest.mark.parametrize("size", [0, -1, 1.5, "2", True, [2]])
def test_a_chunk_size_is_a_whole_number_of_at_least_one(size):
    tape, (x,), y = recorded(np.square, [[1.0, 2.0]], persistent=False)
    for method in (tape.jacobian, tape.batch_jacobian):
        with pytest.raises(ValueError, match="chunk_size"):
            method(y, x, chunk_size=size)
    assert tape.jacobian(y, x).shape == (1, 2, 1, 2), "a call that failed uses nothing up"


@pytest.mark.parametrize("target", [lambda y: [y], lambda y: {"y": y}, lambda y: y.numpy(), lambda y: None])
def test_a_target_is_one_tensor(target):
    tape, (x,), y = recorded(np.square, [[1.0, 2.0]])
    for method in (tape.jacobian, tape.batch_jacobian):
        with pytest.raises(TypeError, match=r"target.*one Tensor"):
            method(target(y), x)


def test_sources_are_tensors_and_a_batch_jacobian_takes_one():
    tape, (x,), y = recorded(np.square, [[1.0, 2.0]])
    with pytest.raises(TypeError, match=r"sources\[0\].*Tensor"):
        tape.jacobian(y, [1.0])
    with pytest.raises(TypeError, match=r"source.*one Tensor"):
        tape.batch_jacobian(y, [x])


def test_a_complex_target_asks_which_part_is_meant():
    tape, (x,), y = recorded(lambda x: (x * (1 + 2j)).reshape(1, 2), [1.0, 2.0])
    for method in (tape.jacobian, tape.batch_jacobian):
        with pytest.raises(TypeError, match=r"complex.*np\.real"):
            method(y, y)
    tape, (x,), y = recorded(lambda x: np.imag(x * (1 + 2j)), [1.0, 2.0])
    assert tape.jacobian(y, x).tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize(
    ("f", "shape", "said"),
    [
        (lambda x: x**2, (), r"target.*shape \(\)"),
        (lambda x: x**2, (2,), r"target.*shape \(2,\).*rank 2"),
        (lambda x: np.sum(x, axis=1), (2, 2), r"target.*shape \(2,\).*rank 2"),
        (lambda x: np.stack([x, x], axis=1), (2,), r"source.*shape \(2,\).*rank 2"),
        (lambda x: x[:1], (2, 2), r"number of samples.*\(1, 2\).*\(2, 2\)"),
    ],
)
def test_a_batch_jacobian_needs_rank_two_and_equal_batches(f, shape, said):
    tape, (x,), y = recorded(f, np.ones(shape), persistent=False)
    with pytest.raises(ValueError, match=said):
        tape.batch_jacobian(y, x)
    assert tape.jacobian(y, x).shape == y.shape + shape, "a call that failed uses nothing up"


@pytest.mark.parametrize("method", ["jacobian", "batch_jacobian"])
def test_unconnected_gradients_is_one_of_the_words(method):
    tape, (x,), y = recorded(np.square, [[1.0, 2.0]])
    with pytest.raises(ValueError, match="unconnected_gradients"):
        getattr(tape, method)(y, x, unconnected_gradients="foo")


def test_a_function_without_a_rule_is_named():
    tape, (x,), y = recorded(lambda x: UNRULED(x * 1.0), [1.0, 2.0])
    with pytest.raises(LookupError, match=NAME):
        tape.jacobian(y, x)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_jacobian_has_the_dtype_of_its_source_in_both_modes(mode):
    narrow, wide = np.ones(2, np.float32), np.ones(2)
    found = ad.jacobian(lambda a, b: a * b, (0, 1), mode=mode)(narrow, wide)
    assert [part.dtype for part in found] == [np.float32, np.float64]
    assert ad.jacobian(np.argmax, mode=mode)(wide).dtype == np.float64
