"""Every derivative rule, by one table of cases: against central differences, in stacks, twice, and in every dtype."""

import numpy as np
import pytest
from cases import TABLE
from differences import assert_derivatives, central_differences, draw

import autodiff_edu as ad
from autodiff_edu.rules import RULES


def each(cases):
    return pytest.mark.parametrize("case", cases, ids=[c.name for c in cases])


def record(case, arguments):
    tensors = [ad.constant(a) for a in arguments]
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        y = case.function(*tensors)
    return tape, tensors, y


def plain(case):
    """The case's function on plain arrays: its value alone, whatever path the tape would have taken."""
    return lambda *arguments: case.function(*map(ad.constant, arguments)).numpy()


def seed_of(y, *key):
    return draw(y.shape, "seed", *key, dtype=y.dtype)


def pulled_back(case, arguments, order=1):
    """The gradients of the case, or of its gradients, against fixed cotangents; as arrays."""
    tensors = [ad.constant(a) for a in arguments]
    with ad.GradientTape() as outer:
        outer.watch(tensors)
        with ad.GradientTape() as inner:
            inner.watch(tensors)
            y = case.function(*tensors)
        first = inner.gradient(y, tensors, output_gradients=seed_of(y), unconnected_gradients="zero")
    if order == 1:
        return [g.numpy() for g in first]
    seeds = [seed_of(g, k) for k, g in enumerate(first)]
    second = outer.gradient(first, tensors, output_gradients=seeds, unconnected_gradients="zero")
    return [g.numpy() for g in second]


def test_no_two_cases_have_the_same_name():
    names = [case.name for case in TABLE]
    assert len(set(names)) == len(names)


def test_every_differentiable_operation_is_in_the_table():
    used = {entry.operation for case in TABLE for entry in record(case, case.arguments())[0].entries}
    differentiable = {operation for operation, rule in RULES.items() if rule.kind != "step"}
    assert {operation.__name__ for operation in differentiable - used} == set()


def test_no_operation_has_a_rule_for_an_argument_that_the_table_never_differentiates_by():
    pulled = {
        (entry.operation, argument)
        for case in TABLE
        for entry in record(case, case.arguments())[0].entries
        for argument, id in enumerate(entry.ids)
        if id is not None
    }
    ruled = {
        (operation, argument)
        for operation, rule in RULES.items()
        for argument, pull in enumerate(rule.pulls)
        if pull is not None
    }
    assert {(operation.__name__, argument) for operation, argument in ruled - pulled} == set()


@each(TABLE)
def test_the_value_is_that_of_numpy(case):
    arguments = case.arguments()
    y = case.function(*map(ad.constant, arguments))
    expected = case.function(*arguments)
    assert isinstance(y, ad.Tensor)
    assert y.shape == np.shape(expected)
    np.testing.assert_allclose(y.numpy(), expected, 1e-13, 1e-13)


@each(TABLE)
def test_the_gradient_agrees_with_central_differences(case):
    arguments = case.arguments()
    tape, tensors, y = record(case, arguments)
    got = tape.gradient(y, tensors, output_gradients=seed_of(y), unconnected_gradients="zero")
    expected = central_differences(plain(case), arguments, seed_of(y))
    assert_derivatives(case.name, arguments, got, expected)


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        pytest.param(c, d, id=f"{c.name}, {d}")
        for d in ("float64", "complex128")
        for c in TABLE
        if d == "float64" or not c.real
    ],
)
def test_the_second_derivative_agrees_with_central_differences_of_the_first(case, dtype):
    arguments = case.arguments(dtype)
    seeds = [seed_of(a, k) for k, a in enumerate(arguments)]

    def first(*moved):
        return sum(np.sum(np.conj(s) * g) for s, g in zip(seeds, pulled_back(case, moved), strict=True))

    expected = central_differences(first, arguments)
    assert_derivatives(f"{case.name}, twice", arguments, pulled_back(case, arguments, order=2), expected, 1e-6)


@each(TABLE)
def test_a_stack_of_cotangents_pulled_back_at_once_is_what_one_at_a_time_gives(case):
    arguments = case.arguments()
    tape, tensors, y = record(case, arguments)
    seeds = np.stack([seed_of(y, k) for k in range(3)])
    cotangents = {y._id: seeds}
    for _ in tape._walk(cotangents, {t._id for t in tensors}, stack=(3,)):
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
        for _ in inner._walk(cotangents, {t._id for t in tensors}, stack=(3,)):
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


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@each([c for c in TABLE if not c.name.startswith(("array", "astype"))])
def test_a_gradient_has_the_shape_and_dtype_of_its_source(case, dtype):
    arguments = case.arguments(dtype)
    tape, tensors, y = record(case, arguments)
    gradients = tape.gradient(y, tensors, unconnected_gradients="zero")
    assert [(g.shape, g.dtype) for g in gradients] == [(t.shape, t.dtype) for t in tensors]
    if dtype == "float32":
        tape, wide, y = record(case, [a.astype("float64") for a in arguments])
        expected = tape.gradient(y, wide, unconnected_gradients="zero")
        assert_derivatives(case.name, arguments, gradients, expected, 1e-4, by="float64")


KEEPS = [
    c
    for c in TABLE
    if not c.name.startswith(("array", "astype", "concatenate with", "x * list", "x ** list", "x ** ["))
]


@each(KEEPS)
def test_float32_stays_float32(case):
    assert record(case, case.arguments("float32"))[2].dtype == np.float32


@each([c for c in TABLE if not c.real])
def test_complex_gradients_agree_with_central_differences(case):
    arguments = case.arguments("complex128")
    tape, tensors, y = record(case, arguments)
    got = tape.gradient(y, tensors, output_gradients=seed_of(y), unconnected_gradients="zero")
    expected = central_differences(plain(case), arguments, seed_of(y))
    assert_derivatives(case.name, arguments, got, expected)
    assert all(g.dtype == np.complex128 for g in got)
