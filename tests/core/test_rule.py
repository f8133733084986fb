"""What a rule need not care about: shapes, dtypes and complex numbers, for shapes and axes that hypothesis draws."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from table import record

import autodiff_edu as ad
from autodiff_edu.core.rule import settle

BINARY = [np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum]
SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=4)


def numbers(shape, seed):
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


def summed_to(shape, full):
    """Add up, by loops over indices, what broadcasting copied."""
    result = np.zeros(shape)
    for index in np.ndindex(full.shape):
        behind = index[len(index) - len(shape) :]
        result[tuple(i if n > 1 else 0 for i, n in zip(behind, shape, strict=True))] += full[index]
    return result


@given(SHAPES, st.sampled_from(BINARY), st.integers(0, 99))
def test_the_gradient_of_a_broadcast_operation_is_that_of_the_broadcast_arrays_summed_up(drawn, operation, seed):
    a, b = (numbers(shape, seed + k) for k, shape in enumerate(drawn.input_shapes))
    weights = numbers(drawn.result_shape, seed + 2)
    tape, sources, y = record(operation, a, b)
    assert y.shape == drawn.result_shape
    got = tape.gradient(y, sources, output_gradients=weights)
    tape, stretched, y = record(operation, *np.broadcast_arrays(a, b))
    for source, ours, theirs in zip(sources, got, tape.gradient(y, stretched, output_gradients=weights), strict=True):
        assert ours.shape == source.shape
        assert ours.dtype == source.dtype
        np.testing.assert_allclose(ours.numpy(), summed_to(source.shape, theirs.numpy()), 1e-12)


@given(SHAPES, st.sampled_from(BINARY), st.integers(0, 99), st.integers(0, 4))
def test_a_stack_passes_through_any_broadcast(drawn, operation, seed, depth):
    tape, sources, y = record(operation, *(numbers(shape, seed + k) for k, shape in enumerate(drawn.input_shapes)))
    seeds = numbers((depth, *drawn.result_shape), seed + 2)
    cotangents = {y._id: seeds}
    for _ in tape.walk(cotangents, {t._id for t in sources}, stack=(depth,)):
        pass
    for k, source in enumerate(sources):
        looped = [tape.gradient(y, sources, output_gradients=s)[k].numpy() for s in seeds]
        np.testing.assert_allclose(cotangents[source._id], np.reshape(looped, (depth, *source.shape)), 1e-12)


@st.composite
def reductions(draw):
    shape = draw(hnp.array_shapes(max_dims=4, min_side=1, max_side=3))
    axes = hnp.valid_tuple_axes(len(shape))
    axis = draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1), axes))
    return shape, axis, draw(st.booleans())


@given(reductions(), st.integers(0, 99))
def test_a_sum_sends_the_same_cotangent_to_every_element_it_adds(drawn, seed):
    shape, axis, keepdims = drawn
    x = numbers(shape, seed)
    weights = numbers(np.sum(x, axis=axis, keepdims=keepdims).shape, seed + 1)
    spread = weights if keepdims else weights.reshape(np.sum(x, axis=axis, keepdims=True).shape)
    expected = np.broadcast_to(spread, shape)
    tape, (source,), y = record(lambda t: np.sum(t, axis=axis, keepdims=keepdims), x)
    np.testing.assert_array_equal(tape.gradient(y, source, output_gradients=weights).numpy(), expected)
    tape, (source,), y = record(lambda t: np.mean(t, axis=axis, keepdims=keepdims), x)
    counted = expected * (weights.size / x.size)
    np.testing.assert_allclose(tape.gradient(y, source, output_gradients=weights).numpy(), counted, 1e-14)


@given(reductions(), st.sampled_from([np.max, np.min]), st.integers(0, 99))
def test_a_maximum_sends_each_cotangent_on_undivided_in_sum(drawn, extreme, seed):
    shape, axis, keepdims = drawn
    x = np.random.default_rng(seed).integers(0, 3, shape).astype(float)  # ties abound
    tape, (source,), y = record(lambda t: extreme(t, axis=axis, keepdims=keepdims), x)
    weights = numbers(y.shape, seed + 1)
    got = tape.gradient(y, source, output_gradients=weights).numpy()
    np.testing.assert_allclose(np.sum(got, axis=axis, keepdims=keepdims), weights, 1e-12)
    assert not got[x != extreme(x, axis=axis, keepdims=True)].any()


REDUCTIONS = [np.prod, np.var, np.std, np.mean, np.max, np.median]
ACCUMULATIONS = [np.cumsum, np.cumprod, np.sort, np.flip, np.diff]


def assert_derivative(f, x, seed):
    """Forward agrees with central differences, and backward is its transpose."""
    direction = numbers(x.shape, seed + 1)
    value, tangent = ad.jvp(f, (x,), (direction,))
    difference = (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(tangent.numpy(), difference, 1e-6, 1e-7)
    weights = numbers(value.shape, seed + 2)
    cotangent = ad.vjp(f, x)[1](weights).numpy()
    np.testing.assert_allclose(np.sum(cotangent * direction), np.sum(weights * tangent.numpy()), 1e-9, 1e-12)


@given(reductions(), st.sampled_from(REDUCTIONS), st.integers(0, 99))
def test_any_reduction_along_any_axes_is_differentiated_both_ways(drawn, function, seed):
    shape, axis, keepdims = drawn
    if function is np.median and axis == ():
        axis = None  # a median along no axis is not NumPy's
    reduced = np.ones(shape).sum(axis=axis).size
    if function is np.std and reduced == np.prod(shape):
        function = np.var  # of single numbers the deviation has a kink at 0
    assert_derivative(lambda t: function(t, axis=axis, keepdims=keepdims), numbers(shape, seed), seed)


@given(
    hnp.array_shapes(max_dims=3, min_side=1, max_side=4), st.integers(0, 2), st.sampled_from(ACCUMULATIONS), st.data()
)
def test_any_accumulation_along_any_axis_is_differentiated_both_ways(shape, seed, function, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    assert_derivative(lambda t: function(t, axis=axis), numbers(shape, seed), seed)


def test_a_complex_contribution_to_a_real_argument_is_its_real_part_and_to_a_complex_one_its_conjugate():
    contribution = np.array([1.0 + 2.0j])
    np.testing.assert_array_equal(settle(contribution, np.array([5.0])), [1.0])
    np.testing.assert_array_equal(settle(contribution, np.array([5.0 + 0.0j])), [1.0 - 2.0j])


def test_a_contribution_takes_the_shape_and_the_dtype_of_its_argument():
    assert settle(np.ones((2, 3)), np.zeros((1, 3))).tolist() == [[2.0, 2.0, 2.0]]
    assert settle(np.ones(1), np.zeros(3)).tolist() == [1.0, 1.0, 1.0], "as a rule that does not depend on x gives it"
    assert settle(np.ones(3), np.zeros(3, np.float32)).dtype == np.float32
    stacked = settle(np.ones((4, 2, 3)), np.zeros(3), (4,))
    assert stacked.tolist() == [[2.0, 2.0, 2.0]] * 4, "the axis of the stack stays"
