"""Jacobians and batch Jacobians: one stacked backward pass that must be what one row at a time gives."""

import tracemalloc

import numpy as np
import pytest
from differences import draw
from table import record

import autodiff_edu as ad
from autodiff_edu.derivatives import jacobians


@pytest.fixture(autouse=True, params=["as it comes", "large"])
def stacks(request, monkeypatch):
    """Every test twice: with the stack as its size has it, and with every stack treated as a large one."""
    if request.param == "large":
        monkeypatch.setattr(jacobians, "SMALL", 0)


def by_rows(tape, y, source):
    """The Jacobian, one backward pass per element of the target."""
    rows = []
    for index in np.ndindex(y.shape):
        seed = np.zeros(y.shape)
        seed[index] = 1.0
        rows.append(tape.gradient(y, source, seed, unconnected_gradients="zero").numpy())
    return np.reshape(rows, y.shape + source.shape)


def two_layers(w, v, x):
    return np.tanh(np.tanh(x @ w) @ v)


SHAPES = ((3, 4), (4, 2), (5, 3))


@pytest.fixture
def layers():
    return record(two_layers, *(draw(shape, "layers") for shape in SHAPES))


# Shapes and values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "shape", "expected"),
    [
        (lambda x: x * x, (), ()),
        (lambda x: x * np.ones(3), (), (3,)),
        (lambda x: x * x, (3,), (3, 3)),
        (np.sum, (2, 2), (2, 2)),
        (lambda x: 2 * x, (2, 2), (2, 2, 2, 2)),
        (lambda x: x[0] @ x[1], (2, 3), (2, 3)),
        (lambda x: x[:, None] * np.ones(4), (3,), (3, 4, 3)),
        (lambda x: 2 * x, (0,), (0, 0)),
        (lambda x: np.sum(x, axis=1), (3, 0), (3, 3, 0)),
        (lambda x: x[0:0], (2,), (0, 2)),
    ],
)
def test_a_jacobian_has_the_shape_of_the_target_and_then_of_the_source_and_the_rows_are_gradients(f, shape, expected):
    tape, (x,), y = record(f, draw(shape, "shapes"))
    got = tape.jacobian(y, x)
    assert got.shape == expected == y.shape + x.shape
    np.testing.assert_allclose(got.numpy(), by_rows(tape, y, x), 1e-13, 1e-13)


def test_the_stack_gives_what_one_row_at_a_time_gives_for_each_of_several_sources(layers):
    tape, sources, y = layers
    for got, source in zip(tape.jacobian(y, sources), sources, strict=True):
        np.testing.assert_allclose(got.numpy(), by_rows(tape, y, source), 1e-13, 1e-13)


def test_a_jacobian_comes_in_the_structure_of_its_sources(layers):
    tape, (w, v, x), y = layers
    nested = tape.jacobian(y, {"weights": [w, (v,)], "input": x})
    flat = tape.jacobian(y, [w, v, x])
    assert list(nested) == ["weights", "input"]
    assert isinstance(nested["weights"][1], tuple)
    for ours, theirs in zip((nested["weights"][0], nested["weights"][1][0], nested["input"]), flat, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    assert tape.jacobian(y, []) == []


def test_the_sum_over_the_axes_of_the_target_is_the_gradient(layers):
    tape, sources, y = layers
    for jacobian, gradient in zip(tape.jacobian(y, sources), tape.gradient(y, sources), strict=True):
        np.testing.assert_allclose(np.sum(jacobian.numpy(), axis=(0, 1)), gradient.numpy(), 1e-12, 1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_jacobian_has_the_dtype_of_its_source(dtype):
    tape, (x,), y = record(np.square, np.ones((3, 2), dtype))
    assert tape.jacobian(y, x).dtype == tape.batch_jacobian(y, x).dtype == np.dtype(dtype)


def test_a_target_that_is_its_own_source_has_the_identity():
    tape, (x,), y = record(np.sin, draw((2, 3), "own"))
    np.testing.assert_array_equal(tape.jacobian(y, y).numpy(), np.eye(6).reshape(2, 3, 2, 3))
    np.testing.assert_array_equal(tape.jacobian(x, x).numpy(), np.eye(6).reshape(2, 3, 2, 3))


def test_a_variable_is_a_source_like_any_other():
    v = ad.Variable([1.0, 2.0, 3.0])
    with ad.GradientTape() as tape:
        y = v**2
    assert tape.jacobian(y, v).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]


# The numbers of the course ------------------------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_the_jacobian_by_a_scalar_is_the_derivative_at_201_points():
    x = np.linspace(-10.0, 10.0, 201)
    tape, (delta,), y = record(lambda d: sigmoid(x + d), np.array(0.0))
    got = tape.jacobian(y, delta)
    assert got.shape == (201,)
    np.testing.assert_allclose(got.numpy(), 0.25 / np.cosh(x / 2) ** 2, 1e-10)


def test_the_jacobian_of_a_dense_layer_by_its_kernel_sums_to_the_gradient():
    x = draw((7, 5), "x")
    tape, (kernel, bias), y = record(
        lambda w, b: np.maximum(x @ w + b, 0.0), draw((5, 10), "kernel"), draw((10,), "bias")
    )
    by_kernel, by_bias = tape.jacobian(y, [kernel, bias])
    assert (by_kernel.shape, by_bias.shape) == ((7, 10, 5, 10), (7, 10, 10))
    gradient = tape.gradient(y, kernel)
    assert gradient.shape == (5, 10)
    np.testing.assert_allclose(np.sum(by_kernel.numpy(), axis=(0, 1)), gradient.numpy(), 1e-12, 1e-13)


def elu(x):
    return np.where(x > 0, x, np.exp(np.minimum(x, 0.0)) - 1)


def elu_layers(x, between=lambda h: h):
    return elu(between(elu(x @ draw((5, 6), "first"))) @ draw((6, 6), "second"))


def normalised(h):
    return (h - np.mean(h, axis=0)) / np.sqrt(np.var(h, axis=0) + 1e-3)


def test_a_batch_jacobian_is_the_diagonal_of_the_full_one_and_its_sum_over_the_other_batch_axis():
    tape, (x,), y = record(elu_layers, draw((7, 5), "x"))
    full, batch = tape.jacobian(y, x).numpy(), tape.batch_jacobian(y, x, check=True)
    assert (full.shape, batch.shape) == ((7, 6, 7, 5), (7, 6, 5))
    np.testing.assert_allclose(np.einsum("bxby->bxy", full), batch.numpy(), 1e-12, 1e-14)
    np.testing.assert_allclose(np.sum(full, axis=2), batch.numpy(), 1e-12, 1e-14)


def test_with_batch_normalisation_between_the_layers_the_two_differ_and_check_says_so():
    tape, (x,), y = record(lambda x: elu_layers(x, normalised), draw((7, 5), "x"))
    full, batch = tape.jacobian(y, x).numpy(), tape.batch_jacobian(y, x).numpy()
    np.testing.assert_allclose(np.swapaxes(np.sum(full, axis=0), 0, 1), batch, 1e-11, 1e-12)
    assert np.abs(np.einsum("bxby->bxy", full) - batch).max() > 0.01
    with pytest.raises(ValueError, match="independent"):
        tape.batch_jacobian(y, x, check=True)


def test_with_batch_normalisation_last_the_batch_jacobian_is_almost_zero_and_the_true_blocks_are_not():
    def last(x):
        h = x @ draw((5, 6), "first")
        return (h - np.mean(h, axis=0)) / np.sqrt(np.var(h, axis=0))

    tape, (x,), y = record(last, draw((7, 5), "x"))
    assert np.abs(tape.batch_jacobian(y, x).numpy()).max() < 1e-8
    assert np.abs(np.einsum("bxby->bxy", tape.jacobian(y, x).numpy())).max() > 0.01


# Batch Jacobians ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("inner", "outer"), [((3,), (2,)), ((2, 3), (3,)), ((1,), (1,)), ((3, 4), (3, 4))])
def test_each_block_of_a_batch_jacobian_is_the_jacobian_of_its_own_sample(inner, outer):
    weights = draw((*inner, *outer), "weights")

    def f(x):
        return np.tanh(np.tensordot(x, weights, axes=len(inner)))

    x = draw((4, *inner), "samples")
    tape, (source,), y = record(f, x)
    blocks = tape.batch_jacobian(y, source, check=True)
    assert blocks.shape == (4, *outer, *inner)
    for block, sample in zip(blocks.numpy(), x, strict=True):
        np.testing.assert_allclose(block, ad.jacobian(lambda s: f(s[None])[0])(sample).numpy(), 1e-12, 1e-14)


def test_check_names_the_samples_on_which_others_depend_and_no_others():
    def leaking(x):  # every sample looks at sample 2
        return x * x + 0.5 * x[2]

    tape, (x,), y = record(leaking, draw((5, 3), "leak"))
    with pytest.raises(ValueError, match=r"samples 2 of the source"):
        tape.batch_jacobian(y, x, check=True)
    tape, (x,), y = record(lambda x: x - np.mean(x, axis=0), draw((12, 2), "mean"))
    with pytest.raises(ValueError, match=r"0, 1, 2, 3, 4, 5, 6, 7 and 4 more"):
        tape.batch_jacobian(y, x, check=True)


def test_check_sees_samples_that_trade_places():
    tape, (x,), y = record(lambda x: x[::-1] * 2.0, draw((4, 3), "swapped"))
    with pytest.raises(ValueError, match=r"0, 1, 2, 3"):
        tape.batch_jacobian(y, x, check=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_check_passes_what_is_independent_in_every_precision(dtype):
    tape, (x,), y = record(lambda x: np.tanh(x) * np.sum(x, axis=1, keepdims=True), draw((6, 5), "i", dtype=dtype))
    assert tape.batch_jacobian(y, x, check=True).shape == (6, 5, 5)


def test_a_batch_of_none_and_samples_of_nothing_have_empty_blocks():
    tape, (x,), y = record(lambda x: x * x, np.zeros((0, 3)))
    assert tape.batch_jacobian(y, x, check=True).shape == (0, 3, 3)
    tape, (x,), y = record(lambda x: x * x, np.zeros((2, 0)))
    assert tape.batch_jacobian(y, x, check=True).shape == (2, 0, 0)


def checked(f, x):
    tape, (x,), y = record(f, x)
    return tape.batch_jacobian(y, x, check=True).numpy()


@pytest.mark.parametrize("share", [1e-3, 1e-9])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_check_of_independence_sees_small_mixtures_also_behind_nan(share, dtype):
    def mixes(x):
        y = np.tanh(x)
        return y * share - np.mean(y, 0) * share

    x = draw((9, 3), "small", dtype=dtype)
    with pytest.raises(ValueError, match=r"not independent.* 6, 7 and 1 more of the source"):
        checked(mixes, x)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"not independent.* 6, 7 and 1 more of the source"):
        checked(lambda x: mixes(x) + np.sqrt(x[:, :1] * 0), x)


def test_where_nan_or_infinity_hides_whether_samples_mix_the_check_says_so():
    for f in (np.sqrt, lambda x: np.concatenate([x[:1] * np.nan, x[1:]]), lambda x: x * [[np.inf, 1], [1, 1]]):
        with (
            np.errstate(all="ignore"),
            pytest.raises(ValueError, match=r"cannot tell whether.*to the samples 0 of the source contain infinite"),
        ):
            checked(f, [[0.0, 1.0], [4.0, 9.0]])


def test_rounding_does_not_look_like_samples_that_mix():
    matrix = draw((4, 4), "matrix")
    x = draw((30, 4), "rounded")

    def there_and_back(x):
        return x @ np.linalg.inv(matrix) @ matrix - x

    def cancels(x):
        return (x + 1e6 * np.mean(x, axis=0)) - x - 1e6 * np.mean(x, axis=0)

    for f in (there_and_back, cancels, lambda x: x * 0.0):
        assert np.abs(checked(f, x)).max() < 1e-9
    for share in (1.0, 1e-9):
        with pytest.raises(ValueError, match="samples 7 of the source"):
            checked(lambda x, s=share: there_and_back(x) + s * x[7] * (np.arange(30) == 3)[:, None], x)


def test_the_first_rule_of_a_batch_jacobian_may_cut_the_samples():
    x = ad.constant(np.random.default_rng(0).standard_normal((4, 3)))
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = np.concatenate([x[:1] * 2.0, x[1:]])
    expected = np.array([2.0, 1, 1, 1])[:, None, None] * np.eye(3)
    np.testing.assert_array_equal(tape.batch_jacobian(y, x).numpy(), expected)


# Memory -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 7, 10, 1000, np.int64(4)])
def test_chunks_change_nothing_in_the_result(layers, chunk_size):
    tape, sources, y = layers
    for ours, theirs in zip(tape.jacobian(y, sources, chunk_size=chunk_size), tape.jacobian(y, sources), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-13, 1e-14)
    np.testing.assert_allclose(
        tape.batch_jacobian(y, sources[2], chunk_size=chunk_size, check=True).numpy(),
        tape.batch_jacobian(y, sources[2]).numpy(),
        1e-13,
        1e-14,
    )


def stacks_of(monkeypatch, tape, call):
    """The length of every stack that is pulled back in a call."""
    lengths = []
    walk = ad.GradientTape.walk

    def noted(self, cotangents, wanted, stack=()):
        lengths.extend(stack)
        return walk(self, cotangents, wanted, stack)

    monkeypatch.setattr(ad.GradientTape, "walk", noted)
    call(tape)
    monkeypatch.setattr(ad.GradientTape, "walk", walk)
    return lengths


def test_a_stack_is_as_long_as_chunk_size_says(monkeypatch):
    tape, (x,), y = record(np.tanh, draw((10,), "chunks"))
    assert stacks_of(monkeypatch, tape, lambda t: t.jacobian(y, x)) == [10]
    assert stacks_of(monkeypatch, tape, lambda t: t.jacobian(y, x, chunk_size=4)) == [4, 4, 2]


def test_unless_told_otherwise_no_stack_takes_more_than_the_largest_allowed(monkeypatch):
    assert jacobians.LARGEST_STACK == 256 * 2**20
    tape, (x,), y = record(lambda x: np.tanh(np.tile(x, 5))[:20], draw((20,), "bound"))
    whole = tape.jacobian(y, x)
    largest = 100 * 8  # bytes of the largest array on the tape

    def bounded(t):
        monkeypatch.setattr(jacobians, "LARGEST_STACK", 3 * largest + 1)
        return t.jacobian(y, x)

    assert max(stacks_of(monkeypatch, tape, bounded)) <= 3
    monkeypatch.setattr(jacobians, "LARGEST_STACK", 1)  # less than one row: one at a time
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), whole.numpy(), 1e-13, 1e-14)


def test_chunks_bound_the_memory_that_the_pass_takes():
    tape, (x,), y = record(lambda x: np.sum(np.tanh(x[:, None] * np.ones(2000)), axis=1), draw((200,), "memory"))

    def peak(chunk_size):
        tracemalloc.start()
        tape.jacobian(y, x, chunk_size=chunk_size)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    whole = 200 * 200 * 2000 * 8
    assert peak(4) < whole / 8
    assert peak(200) > 4 * peak(4)


# Again and again ----------------------------------------------------------------------------------------------------


def test_a_jacobian_of_a_jacobian_is_the_second_derivative():
    x = ad.constant([3.0, 2.0])
    with ad.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with ad.GradientTape() as inner:
            inner.watch(x)
            y = x**3 * np.sum(x)
        first = inner.jacobian(y, x)
    second = outer.jacobian(first, x)
    assert second.shape == (2, 2, 2)
    np.testing.assert_allclose(second.numpy(), np.swapaxes(second.numpy(), 1, 2), 1e-12, err_msg="not symmetric")
    h = 1e-5
    for k, unit in enumerate(np.eye(2)):
        ahead, behind = (ad.jacobian(lambda x: x**3 * np.sum(x))(x.numpy() + s * h * unit).numpy() for s in (1, -1))
        np.testing.assert_allclose(second.numpy()[..., k], (ahead - behind) / (2 * h), 1e-6)


def test_a_batch_jacobian_can_be_differentiated_and_chunks_too():
    x = ad.constant(draw((4, 3), "again"))
    with ad.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with ad.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y = np.tanh(x) * np.sum(x * x, axis=1, keepdims=True)
        blocks = inner.batch_jacobian(y, x)
        chunked = inner.batch_jacobian(y, x, chunk_size=2)
        full = inner.jacobian(y, x, chunk_size=5)
    expected = outer.gradient(blocks, x)
    np.testing.assert_allclose(outer.gradient(chunked, x).numpy(), expected.numpy(), 1e-12)
    np.testing.assert_allclose(outer.gradient(full, x).numpy(), expected.numpy(), 1e-12)


def test_a_jacobian_inside_its_own_persistent_tape_is_recorded():
    x = ad.Variable([3.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        y = x**3
        j = tape.jacobian(y, x)
    assert tape.jacobian(j, x).shape == (2, 2, 2)
    assert tape.jacobian(j, x).tolist() == [[[18, 0], [0, 0]], [[0, 0], [0, 12]]]


@pytest.mark.parametrize("first", ["gradient", "jacobian", "batch_jacobian"])
@pytest.mark.parametrize("second", ["gradient", "jacobian", "batch_jacobian"])
def test_a_one_shot_tape_gives_one_of_them_once(first, second):
    tape, (x,), y = record(np.square, [[1.0, 2.0]], persistent=False)
    assert getattr(tape, first)(y, x) is not None
    with pytest.raises(RuntimeError, match="persistent=True"):
        getattr(tape, second)(y, x)


# No connection ------------------------------------------------------------------------------------------------------


def test_what_is_not_connected_is_none_or_zeros_of_the_right_shape():
    a, b = ad.constant([[1.0, 2.0]]), ad.constant([[1.0, 2.0, 3.0]], dtype="float32")
    with ad.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = a * a
    assert tape.jacobian(y, b) is None
    assert tape.batch_jacobian(y, b) is None
    found = tape.jacobian(y, [a, {"b": b}])
    assert found[1] == {"b": None}
    assert found[0].shape == (1, 2, 1, 2)
    for got, shape in (
        (tape.jacobian(y, b, unconnected_gradients="zero"), (1, 2, 1, 3)),
        (tape.batch_jacobian(y, b, unconnected_gradients="zero"), (1, 2, 3)),
        (tape.jacobian(np.sign(y), b, "zero"), (1, 2, 1, 3)),
    ):
        assert (got.shape, got.dtype) == (shape, np.float32)
        assert not got.numpy().any()


def test_a_hook_is_shown_arrays_and_never_a_stack_that_puts_off_its_multiplications():
    x, shown = ad.Variable(np.linspace(0.0, 1.0, 200), name="x"), []
    with ad.GradientTape() as tape:
        y = np.sin(x) * 2.0
    with ad.hook(shown.append):
        tape.jacobian(y, x)
    kinds = {type(event).__name__ for event in shown}
    assert {"Seed", "PullBack", "Accumulate"} <= kinds
    for event in shown:
        for name in ("cotangent", "contribution", "after"):
            if hasattr(event, name):
                assert type(getattr(event, name).numpy()) is np.ndarray, f"the {name} of a {type(event).__name__}"
    with ad.trace() as traced, ad.GradientTape() as tape:
        tape.jacobian(np.sin(x), x)
    assert "not computed here" not in traced.transcript()
