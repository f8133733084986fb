"""Wrong calls of jacobian and batch_jacobian: each says what is wrong, and uses no tape up."""

import numpy as np
import pytest
from no_rule import NAME, UNRULED
from table import record

import autodiff_edu as ad
from autodiff_edu.core.active import Listener, only
from autodiff_edu.core.events import Outcome, PullBack


@pytest.mark.parametrize("size", [0, -1, 1.5, "2", True, [2]])
def test_a_chunk_size_is_a_whole_number_of_at_least_one(size):
    tape, (x,), y = record(np.square, [[1.0, 2.0]], persistent=False)
    for method in (tape.jacobian, tape.batch_jacobian):
        with pytest.raises(ValueError, match="chunk_size"):
            method(y, x, chunk_size=size)
    assert tape.jacobian(y, x).shape == (1, 2, 1, 2), "a call that failed uses nothing up"


@pytest.mark.parametrize("target", [lambda y: [y], lambda y: {"y": y}, lambda y: y.numpy(), lambda y: None])
def test_the_target_of_a_batch_jacobian_is_one_tensor(target):
    tape, (x,), y = record(np.square, [[1.0, 2.0]])
    with pytest.raises(TypeError, match=r"target.*one Tensor"):
        tape.batch_jacobian(target(y), x)


@pytest.mark.parametrize(
    ("target", "place"),
    [(lambda y: y.numpy(), "target"), (lambda y: None, "target"), (lambda y: [y, 1.0], r"target\[1\]")],
)
def test_the_targets_of_a_jacobian_are_tensors(target, place):
    tape, (x,), y = record(np.square, [[1.0, 2.0]])
    with pytest.raises(TypeError, match=f"^{place} is .* must be a Tensor"):
        tape.jacobian(target(y), x)


def test_sources_are_tensors_and_a_batch_jacobian_takes_one():
    tape, (x,), y = record(np.square, [[1.0, 2.0]])
    with pytest.raises(TypeError, match=r"sources\[0\].*Tensor"):
        tape.jacobian(y, [1.0])
    with pytest.raises(TypeError, match=r"source.*one Tensor"):
        tape.batch_jacobian(y, [x])


def test_a_complex_target_asks_which_part_is_meant():
    tape, (x,), y = record(lambda x: (x * (1 + 2j)).reshape(1, 2), [1.0, 2.0])
    for method in (tape.jacobian, tape.batch_jacobian):
        with pytest.raises(TypeError, match=r"complex.*np\.real"):
            method(y, y)
    tape, (x,), y = record(lambda x: np.imag(x * (1 + 2j)), [1.0, 2.0])
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
    tape, (x,), y = record(f, np.ones(shape), persistent=False)
    with pytest.raises(ValueError, match=said):
        tape.batch_jacobian(y, x)
    assert tape.jacobian(y, x).shape == y.shape + shape, "a call that failed uses nothing up"


@pytest.mark.parametrize("method", ["jacobian", "batch_jacobian"])
def test_unconnected_gradients_is_one_of_the_words(method):
    tape, (x,), y = record(np.square, [[1.0, 2.0]])
    with pytest.raises(ValueError, match="unconnected_gradients"):
        getattr(tape, method)(y, x, unconnected_gradients="foo")


def test_a_function_without_a_rule_is_named():
    tape, (x,), y = record(lambda x: UNRULED(x * 1.0), [1.0, 2.0])
    with pytest.raises(LookupError, match=NAME):
        tape.jacobian(y, x)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_jacobian_has_the_dtype_of_its_source_in_both_modes(mode):
    narrow, wide = np.ones(2, np.float32), np.ones(2)
    found = ad.jacobian(lambda a, b: a * b, (0, 1), mode=mode)(narrow, wide)
    assert [part.dtype for part in found] == [np.float32, np.float64]
    assert ad.jacobian(np.argmax, mode=mode)(wide).dtype == np.float64


def test_the_one_tensor_that_a_jacobian_is_of_is_named_by_its_role_and_by_the_question():
    x = ad.Variable([[1.0, 2.0]])
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
        z = y * 1j
    for ask, role, caller in (
        (lambda: tape.batch_jacobian([y], x), "target", "batch_jacobian"),
        (lambda: tape.batch_jacobian(y, [x]), "source", "batch_jacobian"),
    ):
        with pytest.raises(TypeError, match=f"^the {role} of {caller} must be one Tensor, not a list; "):
            ask()
    for ask, caller in ((tape.jacobian, "jacobian"), (tape.batch_jacobian, "batch_jacobian")):
        with pytest.raises(TypeError, match=f"^the target of {caller} is complex, "):
            ask(z, x)
    with pytest.raises(TypeError, match=r"^the target of jacobian\['z'\] is complex, "):
        tape.jacobian({"y": y, "z": z}, x)


def test_samples_of_one_number_are_shown_how_to_be_written():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        y = x[:, None] * 1.0
        flat = x * 1.0
    remedy = r"Write x\[:, None\] if each sample is one number, or use jacobian$"
    with pytest.raises(ValueError, match=rf"^the source of batch_jacobian has shape \(2,\).*{remedy}"):
        tape.batch_jacobian(y, x)
    with pytest.raises(ValueError, match=rf"^the target of batch_jacobian has shape \(2,\).*{remedy}"):
        tape.batch_jacobian(flat, y)


@pytest.mark.parametrize(("factor", "mixed"), [([1e15, 1.0, 1.0], 1e-3), ([1e-12, 1e-12, 1e-12], 1e-13)])
def test_samples_that_mix_are_found_beside_larger_ones_and_among_tiny_ones(factor, mixed):
    x = ad.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    weights = np.diag(factor)
    weights[1, 2] = mixed
    with ad.GradientTape(persistent=True) as tape:
        y = weights @ x
        alone = np.diag(factor) @ x
    with pytest.raises(ValueError, match=r"samples 2 of the source .* Use jacobian, or remove what mixes samples"):
        tape.batch_jacobian(y, x, check=True)
    assert tape.batch_jacobian(alone, x, check=True).shape == (3, 2, 2)


@pytest.mark.parametrize(("count", "listed"), [(8, "0, 1, 2, 3, 4, 5, 6, 7 of"), (9, "6, 7 and 1 more of")])
def test_of_many_samples_that_mix_eight_are_listed(count, listed):
    x = ad.Variable(np.ones((count, 1)))
    with ad.GradientTape() as tape:
        y = x - np.mean(x, axis=0)
    with pytest.raises(ValueError, match=listed):
        tape.batch_jacobian(y, x, check=True)


def test_the_check_works_in_the_target_s_precision_and_draws_the_same_numbers_each_time():
    x = ad.Variable(np.ones((3, 2), np.float32))
    seen = []
    for _ in range(2):
        with ad.GradientTape() as tape:
            y = x * x
        with ad.hook(lambda event: seen.append(event.cotangent) if isinstance(event, PullBack) else None):
            tape.batch_jacobian(y, x, check=True)
    probes = [g for g in seen if g.shape == (3, 2)]
    assert {g.dtype for g in probes} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(*probes)


def test_jacobians_are_told_to_the_listeners_by_name():
    x, heard = ad.Variable([[1.0, 2.0]]), []
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
    with only(Listener({Outcome: heard.append})):
        found = [tape.jacobian(y, x), tape.batch_jacobian(y, x)]
    assert [event.word for event in heard] == ["jacobian", "batch_jacobian"]
    for event, result in zip(heard, found, strict=True):
        assert event.targets[0] is y
        assert event.source is x
        assert event.result is result
