"""Properties of broadcasting and of reductions, for shapes, axes and broadcasts that hypothesis draws."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import autodiff_edu as ad

settings.register_profile("same every time", derandomize=True, deadline=None, max_examples=80)
settings.load_profile("same every time")

BINARY = [np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum]
SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=4)


def numbers(shape, seed):
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


def recorded(f, *arrays):
    tensors = [ad.constant(a) for a in arrays]
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(tensors)
        y = f(*tensors)
    return tape, tensors, y


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
    tape, sources, y = recorded(operation, a, b)
    assert y.shape == drawn.result_shape
    got = tape.gradient(y, sources, output_gradients=weights)
    tape, stretched, y = recorded(operation, *np.broadcast_arrays(a, b))
    for source, ours, theirs in zip(sources, got, tape.gradient(y, stretched, output_gradients=weights), strict=True):
        assert ours.shape == source.shape
        assert ours.dtype == source.dtype
        np.testing.assert_allclose(ours.numpy(), summed_to(source.shape, theirs.numpy()), 1e-12)


@given(SHAPES, st.sampled_from(BINARY), st.integers(0, 99), st.integers(0, 4))
def test_a_stack_passes_through_any_broadcast(drawn, operation, seed, depth):
    tape, sources, y = recorded(operation, *(numbers(shape, seed + k) for k, shape in enumerate(drawn.input_shapes)))
    seeds = numbers((depth, *drawn.result_shape), seed + 2)
    cotangents = {y._id: seeds}
    for _ in tape._walk(cotangents, {t._id for t in sources}, stack=(depth,)):
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
    tape, (source,), y = recorded(lambda t: np.sum(t, axis=axis, keepdims=keepdims), x)
    np.testing.assert_array_equal(tape.gradient(y, source, output_gradients=weights).numpy(), expected)
    tape, (source,), y = recorded(lambda t: np.mean(t, axis=axis, keepdims=keepdims), x)
    counted = expected * (weights.size / x.size)
    np.testing.assert_allclose(tape.gradient(y, source, output_gradients=weights).numpy(), counted, 1e-14)


@given(reductions(), st.sampled_from([np.max, np.min]), st.integers(0, 99))
def test_a_maximum_sends_each_cotangent_on_undivided_in_sum(drawn, extreme, seed):
    shape, axis, keepdims = drawn
    x = np.random.default_rng(seed).integers(0, 3, shape).astype(float)  # ties abound
    tape, (source,), y = recorded(lambda t: extreme(t, axis=axis, keepdims=keepdims), x)
    weights = numbers(y.shape, seed + 1)
    got = tape.gradient(y, source, output_gradients=weights).numpy()
    np.testing.assert_allclose(np.sum(got, axis=axis, keepdims=keepdims), weights, 1e-12)
    assert not got[x != extreme(x, axis=axis, keepdims=True)].any()
