"""Every derivative rule, by one table of cases: against central differences, in stacks, twice, and in every dtype."""

import numpy as np
import pytest
from cases import NUMPY, TABLE
from differences import assert_derivatives, assert_gradients
from table import each, plain, pull_back, pull_back_twice, record, seed_of, takes

import autodiff_edu as ad


@each(TABLE, "float64", "complex128")
def test_the_value_is_that_of_numpy(case, dtype):
    arguments = case.arguments(dtype)
    y = case.function(*map(ad.constant, arguments))
    expected = case.function(*arguments)
    assert isinstance(y, ad.Tensor)
    assert y.shape == np.shape(expected)
    np.testing.assert_allclose(y.numpy(), expected, 1e-13, 1e-13)


@each(TABLE)
def test_the_gradient_agrees_with_central_differences(case):
    arguments = case.arguments()
    tape, tensors, y = record(case.function, *arguments)
    got = tape.gradient(y, tensors, output_gradients=seed_of(y), unconnected_gradients="zero")
    assert_gradients(case.name, plain(case), arguments, got, seed_of(y))


@each(TABLE, "float64", "complex128")
def test_the_second_derivative_agrees_with_central_differences_of_the_first(case, dtype):
    arguments = case.arguments(dtype)
    seeds = [seed_of(a, k) for k, a in enumerate(arguments)]

    def first(*moved):
        return sum(np.sum(np.conj(s) * g) for s, g in zip(seeds, pull_back(case, moved), strict=True))

    assert_gradients(f"{case.name}, twice", first, arguments, pull_back_twice(case, arguments), tolerance=1e-6)


@each(TABLE)
def test_a_stack_of_cotangents_pulled_back_at_once_is_what_one_at_a_time_gives(case):
    arguments = case.arguments()
    tape, tensors, y = record(case.function, *arguments)
    seeds = np.stack([seed_of(y, k) for k in range(3)])
    cotangents = {y._id: seeds}
    for _ in tape.walk(cotangents, {t._id for t in tensors}, stack=(3,)):
        pass
    looped = [tape.gradient(y, tensors, output_gradients=s, unconnected_gradients="zero") for s in seeds]
    for k, tensor in enumerate(tensors):
        one_at_a_time = np.stack([gradients[k].numpy() for gradients in looped])
        stacked = cotangents.get(tensor._id, np.zeros_like(one_at_a_time))
        assert stacked.shape == (3, *tensor.shape), f"{case.name}, argument {k}"
        np.testing.assert_allclose(stacked, one_at_a_time, 1e-12, 1e-12, err_msg=f"{case.name}, argument {k}")


@each(TABLE)
def test_a_stack_pulled_back_under_a_recording_tape_can_be_differentiated_again(case):
    tensors = [ad.constant(a) for a in case.arguments()]
    with ad.GradientTape(persistent=True) as outer:
        outer.watch(tensors)
        with ad.GradientTape(persistent=True) as inner:
            inner.watch(tensors)
            y = case.function(*tensors)
        seeds = np.stack([seed_of(y, k) for k in range(3)])
        cotangents = {y._id: seeds}
        for _ in inner.walk(cotangents, {t._id for t in tensors}, stack=(3,)):
            pass
        looped = [inner.gradient(y, tensors, output_gradients=s) for s in seeds]
    for k, tensor in enumerate(tensors):
        stacked, single = cotangents.get(tensor._id), [g[k] for g in looped]
        if not isinstance(stacked, ad.Tensor):
            assert outer.gradient([s for s in single if s is not None], tensors) == [None] * len(tensors)
            continue
        got = outer.gradient(stacked, tensors, unconnected_gradients="zero")
        expected = outer.gradient(single, tensors, unconnected_gradients="zero")
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-11, 1e-11, err_msg=f"{case.name}, argument {k}")


@each(TABLE, "float32", "float16")
def test_a_gradient_has_the_shape_and_dtype_of_its_source(case, dtype):
    arguments = case.arguments(dtype)
    tape, tensors, y = record(case.function, *arguments)
    gradients = tape.gradient(y, tensors, unconnected_gradients="zero")
    assert [(g.shape, g.dtype) for g in gradients] == [(t.shape, t.dtype) for t in tensors]
    if dtype == "float32":
        tape, wide, y = record(case.function, *[a.astype("float64") for a in arguments])
        expected = tape.gradient(y, wide, unconnected_gradients="zero")
        assert_derivatives(case.name, arguments, gradients, expected, 1e-4, by="float64")


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_a_value_has_the_dtype_that_numpy_gives_it(dtype):
    wrong = []
    for case in TABLE:
        if takes(case, dtype):
            arguments = case.arguments(dtype)
            ours, theirs = case.function(*map(ad.constant, arguments)), case.function(*arguments)
            # The condition number of a complex matrix is complex before NumPy 2.3, though a number without a direction.
            odd = NUMPY < "2.3.0" and dtype == "complex64" and case.name.startswith("linalg cond ")
            if ours.dtype != theirs.dtype and not odd:
                wrong.append(f"{case.name}: {ours.dtype}, but {theirs.dtype} in NumPy")
    assert wrong == []


@each([c for c in TABLE if not c.real])
def test_complex_gradients_agree_with_central_differences(case):
    arguments = case.arguments("complex128")
    tape, tensors, y = record(case.function, *arguments)
    got = tape.gradient(y, tensors, output_gradients=seed_of(y), unconnected_gradients="zero")
    assert_gradients(case.name, plain(case), arguments, got, seed_of(y))
    assert all(g.dtype == np.complex128 for g in got)


@pytest.mark.parametrize("other", [[0.0, 0.0, 1.0], (0.0, 0.0, 1.0), np.ones((2, 3)), ad.constant([1.0, 2.0, 4.0])])
def test_a_cross_product_is_one_entry_and_goes_back_by_cross_products(other):
    x = ad.constant([1.0, 2.0, 3.0])
    with ad.GradientTape() as tape:
        tape.watch(x)
        np.cross(x, other)
        np.cross(x[:, None], other, axisa=0)
        np.linalg.cross(other, x)
    cross, _, by_axis, turned = tape.entries
    assert [entry.operation for entry in (cross, by_axis, turned)] == [np.cross] * 3
    assert [entry.parameters for entry in (cross, by_axis, turned)] == [{}, {"axisa": -2}, {}]
    by_hand = np.sum(np.reshape(np.cross(other, np.ones(3)), (-1, 3)), axis=0)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(np.cross(x, other)))(x), by_hand)
