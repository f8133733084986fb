"""The same tape over arrays of Dask: values and gradients stay lazy, and come to what NumPy's do."""

import tracemalloc
import warnings

import dask
import dask.array as da
import numpy as np
import pytest
from cases import TABLE, fourier, linalg
from dask_gaps import COMPUTED_AT_ONCE, DASK_LACKS, OUR_SPELLING_NEEDS_MORE
from differences import draw
from table import each, record

import autodiff_edu as ad


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask warns of each function that it leaves to NumPy
        yield


def lazy(array, chunks=2):
    return da.from_array(array, chunks=chunks)


def is_lazy(tensor):
    return isinstance(tensor._array, da.Array)


def assert_alike(f, *arrays):
    """Value and gradients are Dask's until they are computed, and then those that NumPy's arrays give."""
    results = []
    for make in (lazy, np.asarray):
        tensors = [ad.constant(make(a)) for a in arrays]
        with ad.GradientTape() as tape:
            tape.watch(tensors)
            y = f(*tensors)
        results.append((y, tape.gradient(y, tensors)))
    (found, gradients), (expected, theirs) = results
    assert is_lazy(found)
    np.testing.assert_allclose(found._array.compute(), expected.numpy(), 1e-12)
    for ours, reference in zip(gradients, theirs, strict=True):
        assert is_lazy(ours)
        assert ours.shape == reference.shape
        assert ours.dtype == reference.dtype
        np.testing.assert_allclose(ours._array.compute(), reference.numpy(), 1e-11, 1e-13)


def test_a_constant_keeps_the_array_it_is_given():
    array = lazy(draw((4, 3), "x"))
    assert ad.constant(array)._array is array
    assert ad.constant(array, dtype="float32").dtype == np.float32
    assert is_lazy(ad.constant(array, dtype="float32"))


def test_a_network_of_two_layers():
    def loss(w, b, v, x):
        hidden = np.maximum(x @ w + b, 0.0)
        return np.mean((np.tanh(hidden @ v) - 0.5) ** 2)

    assert_alike(loss, *(draw(shape, "net", k) for k, shape in enumerate([(5, 4), (4,), (4, 3), (6, 5)])))


def test_a_cross_product_which_dask_itself_does_not_have():
    assert_alike(lambda a, b: np.sum(np.cross(a, b) ** 2), draw((4, 3), "a"), draw((3,), "b"))


def test_softmax_and_its_cross_entropy():
    labels = np.eye(3)[[0, 2, 1, 1]]

    def loss(logits):
        shifted = logits - np.max(logits, axis=1, keepdims=True)
        return -np.sum(labels * (shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))))

    assert_alike(loss, draw((4, 3), "logits"))


def test_nothing_is_computed_before_it_is_asked_for():
    calls = []

    def noted(block):
        calls.append(1)
        return block

    x = ad.constant(lazy(draw((4, 4), "x")).map_blocks(noted, dtype=float, meta=np.zeros((0, 0))))
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = np.mean(np.tanh(x @ x.T) * np.sum(x, axis=0)) + np.sum(np.average(x, axis=0, weights=x))
    gradient = tape.gradient(y, x)
    assert calls == []
    gradient._array.compute()
    assert calls


@pytest.mark.parametrize("reduce", [np.mean, np.sum])
def test_a_gradient_needs_room_for_a_few_blocks_however_many_there_are(reduce):
    def most(blocks):
        rows = [da.from_delayed(dask.delayed(np.ones)((20_000, 4)), (20_000, 4), float) for _ in range(blocks)]
        w = ad.Variable(np.ones(4))
        with ad.GradientTape() as tape:
            loss = reduce((ad.constant(da.concatenate(rows)) @ w) ** 2)
        slopes = tape.gradient(loss, w).numpy()
        tracemalloc.start()
        try:
            slopes.compute()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most(1)  # what is imported at the first call isn't counted
    assert most(64) < 2 * most(8)


def test_a_second_derivative_and_a_forward_pass_stay_lazy_too():
    a, v = draw((4,), "a"), draw((4,), "v")
    x = ad.constant(lazy(a))
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as inner:
            inner.watch(x)
            y = np.sum(np.tanh(x) ** 3)
        slope = inner.gradient(y, x)
    bend = outer.gradient(slope, x)
    assert is_lazy(bend)

    def f(x):
        return np.sum(np.tanh(x) ** 3)

    np.testing.assert_allclose(bend._array.compute(), ad.grad(lambda x: np.sum(ad.grad(f)(x)))(a).numpy(), 1e-11)
    tangent = ad.jvp(f, (lazy(a),), (lazy(v),))[1]
    assert is_lazy(tangent)
    np.testing.assert_allclose(tangent._array.compute(), ad.jvp(f, (a,), (v,))[1].numpy(), 1e-12)


# The table --------------------------------------------------------------------------------------------------------


def has(case, arrays):
    """Whether Dask itself computes the case, lazily and right."""
    try:
        found = case.function(*arrays)
        return isinstance(found, da.Array) and np.allclose(found.compute(), case.function(*case.arguments()), 1e-9)
    except Exception:
        return False


def fault(case, arrays):
    """What is wrong with the case over Dask, or None."""
    try:
        tape, sources, y = record(case.function, *arrays)
        if not is_lazy(y):
            return "the value was coerced"
        gradients = tape.gradient(y, sources, unconnected_gradients="zero")
        if not all(map(is_lazy, gradients)):
            return "a gradient was coerced"
        found = [g._array.compute() for g in gradients]
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    tape, sources, y = record(case.function, *case.arguments())
    expected = [g.numpy() for g in tape.gradient(y, sources, unconnected_gradients="zero")]
    right = all(a.shape == b.shape and np.allclose(a, b, 1e-9, 1e-11) for a, b in zip(found, expected, strict=True))
    return None if right else "a gradient is wrong"


IN_ONE_CHUNK = {case.name for case in (*fourier.CASES, *linalg.CASES)}
"""The cases of functions that, most of them, need an array in one chunk."""


@each(TABLE, spare=True)
def test_what_dask_can_compute_is_differentiated_in_dask(case):
    arrays = [lazy(a, -1 if case.name in IN_ONE_CHUNK else 2) for a in case.arguments()]
    wrong = fault(case, arrays)
    lacking = wrong is not None and not has(case, arrays)
    assert lacking == (case.name in DASK_LACKS), "what Dask lacks has changed: say so in dask_gaps.py"
    if lacking:
        return
    if case.name in COMPUTED_AT_ONCE:
        assert wrong == "the value was coerced"
    elif case.name in OUR_SPELLING_NEEDS_MORE:
        assert wrong is not None, "this works now: take it out of dask_gaps.py"
        assert "Error" in wrong, f"a gap must be an error, never a number: {wrong}"
    else:
        assert wrong is None, "this fails, though Dask has it"
