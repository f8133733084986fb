"""What the derivative is where there is a choice: ties, kinks, zeros, edges, and TensorFlow's complex numbers."""

import warnings
from functools import partial

import numpy as np
import pytest

import autodiff_edu as ad


def gradients(f, *values):
    xs = [ad.constant(v) for v in values]
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        tape.watch(xs)
        y = f(*xs)
    with np.errstate(all="ignore"):
        return [None if g is None else g.tolist() for g in tape.gradient(y, xs)]


def gradient(f, value):
    return gradients(f, value)[0]


def second(f, value):
    x = ad.constant(value)
    with ad.GradientTape() as outer, np.errstate(all="ignore"):
        outer.watch(x)
        with ad.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    with np.errstate(all="ignore"):
        return float(outer.gradient(slope, x, unconnected_gradients="zero"))


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (np.abs, 0.0),
        (np.sqrt, INF),
        (np.square, 0.0),
        (np.reciprocal, -INF),
        (np.log, INF),
        (np.log1p, 1.0),
        (np.expm1, 1.0),
        (np.tan, 1.0),
        (lambda x: x ** (1 / 3), INF),
        (lambda x: x * np.log(x), NAN),
        (lambda x: np.sin(x) / x, NAN),
        (lambda x: np.where(x > 0, x, 0.0), 0.0),
    ],
    ids=["abs", "sqrt", "square", "reciprocal", "log", "log1p", "expm1", "tan", "cbrt", "x log x", "sinc", "relu"],
)
def test_the_derivative_at_zero(f, expected):
    np.testing.assert_equal(gradient(f, 0.0), expected)


@pytest.mark.parametrize(
    ("x", "p", "by_x", "by_p"),
    [
        (0.0, 0.0, 0.0, 0.0),  # TensorFlow: NaN
        (0.0, 1.0, 1.0, 0.0),
        (0.0, 2.0, 0.0, 0.0),
        (0.0, 0.5, INF, 0.0),
        (0.0, -1.0, -INF, NAN),
        (-2.0, 3.0, 12.0, 0.0),
        (-2.0, 2.0, -4.0, 0.0),
        (-2.0, 0.5, NAN, NAN),
        (2.0, 0.0, 0.0, np.log(2.0)),
    ],
)
def test_a_power_at_its_corners(x, p, by_x, by_p):
    np.testing.assert_allclose(gradients(lambda a, b: a**b, x, p), [by_x, by_p])
    np.testing.assert_allclose(gradients(np.power, [x], [p]), [[by_x], [by_p]])


@pytest.mark.parametrize("x", [0.0, 1.0, -1.5])
@pytest.mark.parametrize("p", [0, 1, 2, 3, 0.0, 1.0, 2.0])
def test_a_power_has_its_derivatives_whatever_kind_of_number_the_exponent_is(x, p):
    slope = p * x ** (p - 1) if p else 0.0
    bend = p * (p - 1) * x ** (p - 2) if p > 1 else 0.0
    for exponent in (p, np.float64(p), np.full((), p), ad.constant(float(p))):
        assert gradient(lambda a, e=exponent: a**e, x) == slope
        assert second(lambda a, e=exponent: a**e, x) == bend


@pytest.mark.parametrize(
    ("f", "at"),
    [
        (np.abs, {0.0: 0.0, 1.0: 0.0, -1.0: 0.0}),
        (np.sqrt, {0.0: -INF, 1.0: -0.25, -1.0: NAN}),
        (np.square, {0.0: 2.0, 1.0: 2.0, -1.0: 2.0}),
        (np.tanh, {0.0: 0.0, 1.0: -0.6397000084492246}),
        (lambda x: np.maximum(x, 0.0), {0.0: 0.0, 1.0: 0.0, -1.0: 0.0}),
        (lambda x: x * abs(x), {0.0: 0.0, 1.0: 2.0, -1.0: -2.0}),
    ],
    ids=["abs", "sqrt", "square", "tanh", "maximum", "x|x|"],
)
def test_the_second_derivative_at_special_points(f, at):
    for x, expected in at.items():
        np.testing.assert_allclose(second(f, x), expected)


def length(x):
    return np.hypot(x[0], x[1])


def complex_length(x):
    return np.abs(x[0] + 1j * x[1])


LENGTHS = {
    "norm": np.linalg.norm,
    "norm of order 3": lambda x: np.linalg.norm(x, 3),
    "norm of order -1": lambda x: np.linalg.norm(x, -1),
    "Frobenius norm": lambda x: np.linalg.norm(x[:, None], "fro"),
    "hypot": length,
    "abs of a complex number": complex_length,
    "std": np.std,
    "nanstd": np.nanstd,
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # NumPy's own, for the order -1
@pytest.mark.parametrize("f", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_length_has_the_gradient_0_at_0_and_no_second_derivative(f, mode):
    slopes = ad.jacobian(ad.grad(f), mode=mode)
    origin = np.zeros(2)
    assert ad.grad(f)(origin).tolist() == ad.jacobian(f, mode=mode)(origin).tolist() == [0.0, 0.0]
    with np.errstate(invalid="ignore"):
        assert np.isnan(slopes(origin).numpy()).any(axis=1).all()
        curved = ad.hessian(lambda x: f(x) ** 2)(origin)
    assert np.isnan(curved.numpy()).all(), "0 would be wrong, where the square of a length is smooth"
    away = np.array([0.75, -0.5])
    for k in range(2):
        np.testing.assert_allclose(
            slopes(away).numpy()[:, k],
            (ad.grad(f)(away + 1e-6 * np.eye(2)[k]).numpy() - ad.grad(f)(away - 1e-6 * np.eye(2)[k]).numpy()) / 2e-6,
            atol=1e-8,
        )


@pytest.mark.parametrize("f", [np.std, np.nanstd])
def test_the_spread_of_a_single_number_is_0_everywhere_and_so_are_all_its_derivatives(f):
    assert (ad.grad(f)([2.0]).tolist(), ad.hessian(f)([2.0]).tolist()) == ([0.0], [[0.0]])


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("p", [-2, -1, -0.5, -INF])
@pytest.mark.parametrize("at", [[0.6, 0.0, 0.3], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0], [0.6, 0.0j, 0.3 + 1j]])
def test_a_norm_of_negative_order_is_0_and_flat_beside_a_0(p, at):
    for f in (lambda x: np.linalg.norm(x, p), lambda x: np.linalg.vector_norm(x, ord=p)):
        assert gradient(f, at) == [0.0, 0.0, 0.0]
        assert ad.jvp(f, (np.array(at),), (np.ones_like(at),))[1].item() == 0.0
    rows = gradient(lambda x: np.linalg.norm(x, p, axis=1), [at, [1.0, 2.0, 2.0]])
    assert rows == [[0.0, 0.0, 0.0], gradient(lambda x: np.linalg.norm(x, p), np.array([1.0, 2.0, 2.0], type(at[1])))]


def test_heaviside_has_a_derivative_with_respect_to_its_value_at_0():
    x, h = np.array([-1.0, 0.0, 2.0, -0.0, NAN]), 0.25
    assert ad.grad(lambda h: np.sum(np.nan_to_num(np.heaviside(x, h))))(h) == 2.0
    assert ad.jacobian(lambda h: np.heaviside(x, h), mode="forward")(h).tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert gradients(np.heaviside, 0.0, h) == [None, 1.0]
    assert ad.hessian(lambda h: np.heaviside(0.0, h) ** 2)(h) == 2.0


def test_equal_elements_share_the_gradient_of_max_and_min_evenly():
    assert gradient(np.max, [1.0, 3.0, 3.0, 2.0]) == [0, 0.5, 0.5, 0]
    assert gradient(np.min, [1.0, 1.0, 3.0]) == [0.5, 0.5, 0]
    assert gradient(lambda x: np.max(x, axis=1), [[1.0, 1.0], [2.0, 3.0]]) == [[0.5, 0.5], [0, 1]]


def test_two_equal_arguments_share_the_gradient_of_maximum_and_minimum_evenly():
    assert gradients(np.maximum, [2.0, 1.0, 3.0], 2.0) == [[0.5, 0, 1], 1.5]
    assert gradients(np.minimum, [2.0], [2.0]) == [[0.5], [0.5]]
    assert gradient(lambda x: np.maximum(x, 0.0), 0.0) == 0.5


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.maximum(x, 0.0),
        lambda x: -np.minimum(0.0, -x),
        lambda x: np.fmax(0.0, x),
        lambda x: -np.fmin(-x, 0.0),
        lambda x: np.clip(x, 0.0, 9.0),
        lambda x: np.where(x > 0.0, x, 0.0),
        lambda x: np.max(np.stack([x, np.zeros(2)]), axis=0),
    ],
)
def test_what_was_not_chosen_gets_nothing_of_an_infinite_cotangent(f):
    """The slope of the root is infinite at 0, and 0 times that would be NaN; the frameworks give 0 as well."""
    assert gradient(lambda x: np.sqrt(f(x)), [-1.0, 4.0]) == [0.0, 0.25]


def test_where_the_bounds_of_a_clip_cross_the_upper_one_is_the_value():
    def clipped(x, low, high):
        return np.sum(np.clip(x, low, high) ** 2)

    assert gradients(clipped, [1.0, 2.0, 9.0], 7.0, 3.0) == [[0.0, 0.0, 0.0], 0.0, 18.0]
    assert gradients(clipped, [1.0, 5.0, 9.0], 3.0, 7.0) == [[0.0, 10.0, 0.0], 6.0, 14.0]


def test_clip_passes_the_gradient_at_both_edges():
    assert gradient(lambda x: np.clip(x, -1.0, 1.0), [-2.0, -1.0, 0.0, 1.0, 2.0]) == [0, 1, 1, 1, 0]


@pytest.mark.parametrize(
    "f",
    [
        np.sign,
        np.floor,
        np.ceil,
        np.rint,
        np.round,
        np.trunc,
        lambda x: x // 2.0,
        lambda x: x > 0,
        np.argmax,
        lambda x: np.heaviside(x, 0.5),
        lambda x: x.astype(int),
        lambda x: x == 1,
        np.isnan,
    ],
)
def test_nothing_flows_back_through_a_step_function(f):
    assert gradient(f, [0.5, 1.7]) is None
    assert gradient(lambda x: f(x) * 1.0, [0.5, 1.7]) is None


def test_the_branch_not_taken_contributes_nothing_where_it_is_finite():
    assert gradient(lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0), [0.0, 4.0]) == [0, 0.25]
    assert gradient(lambda x: np.where(x > 0, np.sqrt(x), 0.0), [4.0]) == [0.25]


@pytest.mark.parametrize(
    ("f", "z", "expected"),
    [
        (lambda z: z**2, 1 + 2j, 2 - 4j),
        (lambda z: z * z, 1 + 2j, 2 - 4j),
        (np.square, 1 + 2j, 2 - 4j),
        (lambda z: z * np.conj(z), 1 + 2j, 2 + 4j),
        (np.abs, 3 + 4j, 0.6 + 0.8j),
        (abs, -3 - 4j, -0.6 - 0.8j),
        (np.abs, 0j, 0),
        (lambda z: np.real(np.sign(z)) + 2 * np.imag(np.sign(z)), 3 + 4j, -0.064 + 0.048j),  # turned by 0.4 / |z|
        (np.sign, 2 + 0j, 0),  # the real part of a change changes the length alone
        (np.sign, 0j, 0),
        (np.real, 1 + 2j, 1),
        (np.imag, 1 + 2j, 1j),
        (lambda z: z.real**2 + z.imag**2, 1 + 2j, 2 + 4j),
        (np.exp, 1j, np.exp(-1j)),
    ],
)
def test_a_complex_gradient_is_the_conjugate_of_the_derivative(f, z, expected):
    for value in (z, [z]):
        np.testing.assert_allclose(np.ravel(gradient(f, value)), expected, atol=1e-15)


def test_the_complex_sign_is_differentiated_in_every_mode_and_has_numpy_s_value():
    z, moved = np.array([3 + 4j, -1 - 1j, 0j]), np.array([1j, 1 + 1j, 1j])
    y, tangent = ad.jvp(np.sign, (z,), (moved,))
    np.testing.assert_array_equal(y.numpy(), np.sign(z))
    np.testing.assert_allclose(tangent.numpy(), [(-0.8 + 0.6j) * 0.6 / 5, 0, 0], atol=1e-15)
    infinite = complex(INF, 1.0)
    assert np.sign(ad.constant(infinite)).numpy() == np.sign(np.complex128(infinite)) == 1

    x = ad.constant(1 + 0j)
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as inner:
            inner.watch(x)
            y = np.real(np.sign(x))  # the cosine of the angle, whose second derivative is -1 at angle 0
        slope = np.imag(inner.gradient(y, x))
    np.testing.assert_allclose(outer.gradient(slope, x).numpy(), -1j)


@pytest.mark.parametrize(("z", "p"), [(-1 + 2j, 1 - 1j), (-3 - 1j, 0.5 + 0j), (1j, 2 + 1j)])
def test_a_complex_power_is_differentiated_by_its_exponent_everywhere(z, p):
    np.testing.assert_allclose(gradients(np.power, z, p), [np.conj(p * z ** (p - 1)), np.conj(z**p * np.log(z))])


def test_a_real_source_of_a_complex_target_has_a_real_gradient():
    assert gradient(lambda x: np.real(x * (2 + 3j)), 1.5) == 2.0
    x = ad.constant(1.5)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = np.abs(x * (3 + 4j))
    slope = tape.gradient(y, x)
    assert slope.dtype == np.float64
    assert float(slope) == pytest.approx(5.0)


def test_extremes_neither_overflow_nor_warn():
    far = [-1000.0, -100.0, 0.0, 100.0, 1000.0]
    np.testing.assert_allclose(gradient(np.tanh, far), [0, 0, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(gradient(np.arctan, [-1e8, 1e8]), [1e-16, 1e-16])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.repeat(x, 2, axis=1),
        lambda x: np.take(x, 1, axis=0),
        lambda x: np.take(x, 0, axis=1),
        lambda x: np.pad(x, {}),
        lambda x: np.pad(x, 0.5),
        np.sort,
        lambda x: np.partition(x, 0),
        np.diag,
    ],
)
def test_what_numpy_refuses_to_do_with_a_scalar_is_refused(f):
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever it is
        f(np.array(2.0))
    with pytest.raises(type(expected.value)):
        f(ad.constant(2.0))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sort(x, kind="nonsense"),
        lambda x: np.sort(x, order="a"),
        lambda x: np.sort(x, kind="heapsort", stable=True),
        lambda x: np.partition(x, 0, kind="nonsense"),
        lambda x: np.partition(x, 0, order="a"),
    ],
)
def test_how_to_sort_is_checked_by_numpy(f):
    with pytest.raises(ValueError, match=r"kind|order") as expected:
        f(np.array([2.0, 1.0]))
    with pytest.raises(ValueError, match=r"kind|order") as found:
        f(ad.constant([2.0, 1.0]))
    assert str(found.value).startswith(str(expected.value))


def test_an_axis_beyond_the_last_is_refused_and_not_counted_round():
    with pytest.raises(np.exceptions.AxisError):
        np.take_along_axis(ad.constant([[1.0, 2.0]]), np.array([[0]]), axis=2)


def test_padding_by_nothing_does_not_return_the_variable_itself():
    v = ad.Variable([1.0, 2.0])
    padded = np.pad(v, 0, mode="edge")
    v.assign([5.0, 6.0])
    assert padded.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("f", [np.sum, np.max, np.min, np.prod, np.cumsum, np.cumprod, np.add.reduce])
def test_a_scalar_is_reduced_along_axis_0_as_in_numpy(f, axis):
    value, slope = ad.value_and_grad(lambda x: f(x, axis=axis))(2.0)
    assert value.numpy() == f(np.float64(2.0), axis=axis)
    assert slope.numpy() == 1.0


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.inner(a, a),
        lambda a: np.tensordot(a, a, ((1,), (1,))),
        lambda a: np.dot(a.reshape(1, 3, 0), np.zeros((2, 0, 4))),
        lambda a: np.median(a, axis=0),
        lambda a: np.linalg.vector_norm(a, axis=1),
    ],
)
def test_an_array_without_elements_is_treated_like_any_other(f):
    a = np.zeros((3, 0))
    with np.errstate(all="ignore"):
        assert ad.value_and_grad(f)(a)[0].shape == f(a).shape
    assert ad.grad(f)(a).shape == (3, 0)


NONE = np.zeros(0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, of what has no mean
@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.transpose(x, 0), np.arange(3.0)),
        (lambda x: x.transpose(-1), np.arange(3.0)),
        (lambda x: np.diff(x, prepend=np._NoValue, append=9.0), np.arange(3.0) ** 2),
        (np.cov, NONE),
        (np.cov, np.zeros((2, 0))),
        (lambda x: np.cov(x, ddof=5), np.arange(4.0)),
        (lambda x: np.resize(x, (2, 2)), NONE),
        (np.logaddexp.reduce, NONE),
        (lambda x: np.logaddexp.reduce(x, axis=1, keepdims=True), np.zeros((2, 0))),
        (np.median, NONE),
        (np.nanmedian, NONE),
        (lambda x: np.median(x, axis=1, keepdims=True), np.zeros((2, 0))),
        (lambda x: np.nanmedian(x, axis=1), np.zeros((2, 0))),
        (lambda x: np.apply_along_axis(np.sum, 0, x), NONE),
        (lambda x: np.linalg.cross(x, 2.0 * x + 1.0), np.arange(3.0)),
        (lambda x: np.vsplit(x, 2)[1], np.arange(8.0).reshape(4, 2)),
        (lambda x: np.dsplit(x, 2)[1], np.arange(8.0).reshape(1, 2, 4)),
    ],
)
def test_what_numpy_accepts_of_the_unusual_is_accepted_with_the_same_value(f, x):
    value, slope = ad.value_and_grad(lambda x: np.sum(f(x)))(x)
    expected = f(x)
    assert isinstance(f(ad.constant(x)), ad.Tensor)
    np.testing.assert_array_equal(f(ad.constant(x)).numpy(), expected)
    assert (f(ad.constant(x)).shape, f(ad.constant(x)).dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(value.numpy(), np.sum(expected))
    assert slope.shape == x.shape


@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy 2.1 has it")
def test_a_scalar_is_accumulated_as_a_vector_of_one():
    for options in ({}, {"axis": -1}, {"axis": 0, "include_initial": True}):
        for f in (np.cumulative_sum, np.cumulative_prod):
            value, slope = ad.value_and_grad(lambda x, f=f, options=options: np.sum(f(x, **options)))(2.0)
            assert value == np.sum(f(np.array(2.0), **options))
            assert slope == 1.0
    with pytest.raises(np.exceptions.AxisError):
        np.cumulative_sum(ad.constant([2.0]), axis=1)


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0), (2, 3, 0)])
@pytest.mark.parametrize("p", [1, 2, INF, -1, -2, -INF, "nuc", "fro"])
def test_a_matrix_without_elements_has_the_norms_that_numpy_has_for_it(p, shape):
    def norm(x):
        return np.linalg.norm(x, p, axis=(-2, -1))

    try:
        expected = norm(np.zeros(shape))
    except ValueError:
        with pytest.raises(ValueError, match=r"zero-size|ambiguous|no identity"):
            norm(ad.constant(np.zeros(shape)))
    else:
        np.testing.assert_array_equal(norm(ad.constant(np.zeros(shape))).numpy(), expected)
        assert ad.grad(lambda x: np.sum(norm(x)))(np.zeros(shape)).shape == shape


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.transpose(x, 0), np.zeros((3, 2))),
        (lambda x: np.transpose(x, 1), np.zeros(3)),
        (lambda x: np.linalg.cross(x, x), np.zeros(2)),
        (lambda x: np.vsplit(x, 2), np.zeros(4)),
        (lambda x: np.hsplit(x, 2), np.zeros(())),
        (lambda x: np.dsplit(x, 2), np.zeros((2, 2))),
        (lambda x: np.linalg.cond(x, "fro"), np.zeros((0, 0))),
        (lambda x: np.average(x, weights=x), np.zeros(2)),
    ],
)
def test_what_numpy_refuses_is_refused_in_its_own_words(f, x):
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever it is
        f(x)
    with pytest.raises(type(expected.value)) as found:
        f(ad.constant(x))
    if not isinstance(found.value, ZeroDivisionError):  # whose words are ours
        assert str(found.value).splitlines()[0] == str(expected.value)


def test_nan_is_not_lost_among_the_sorted():
    x = ad.constant([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(np.median(x, axis=1).numpy(), [np.nan, 2.0])
    np.testing.assert_array_equal(np.quantile(x, [0.0, 1.0], axis=1).numpy(), [[np.nan, 1.0], [np.nan, 3.0]])


def test_the_mean_of_more_elements_than_float16_counts_has_a_gradient():
    x = ad.Variable(np.ones(70_000, "float16"))
    with ad.GradientTape() as tape:
        y = np.mean(x)
    assert tape.gradient(y, x).numpy()[0] == np.float16(1 / 70_000)


def test_the_variance_of_more_elements_than_float16_counts_has_a_gradient():
    x = np.r_[np.zeros(50_000), np.ones(50_000)].astype("float16")
    assert ad.grad(np.var)(x).numpy()[0] == np.float16(-1e-5)


def test_a_product_that_underflows_has_its_gradient_all_the_same():
    np.testing.assert_allclose(gradient(np.prod, [1e-200, 1e-200]), [1e-200, 1e-200])
    np.testing.assert_allclose(gradient(lambda x: np.cumprod(x)[1], [1e-200, 1e-200]), [1e-200, 1e-200])


@pytest.mark.parametrize(("f", "base"), [(np.logaddexp, np.e), (np.logaddexp2, 2.0)])
@pytest.mark.parametrize("shift", [0.0, 1000.0, -4096.0])
def test_logaddexp_keeps_its_digits_far_from_0(f, base, shift):
    apart = np.array([-80.0, -30.0, -10.0, -1.0, 0.0, 0.5, 10.0, 80.0], "float32")
    exact = 1 / (1 + np.float64(base) ** -np.float64(apart))
    x, y = ad.constant(apart + np.float32(shift)), ad.constant(np.full(8, shift, "float32"))
    with ad.GradientTape() as tape:
        tape.watch([x, y])
        z = f(x, y)
    by_x, by_y = tape.gradient(z, [x, y])
    eps = np.finfo("float32").eps
    np.testing.assert_allclose(by_x.numpy(), exact, rtol=1.5 * eps)
    np.testing.assert_allclose(by_y.numpy(), 1 - exact, rtol=1.5 * eps, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f", [np.logaddexp, np.logaddexp2])
def test_logaddexp_has_derivatives_at_the_extremes_and_at_infinity(f):
    for x, y, expected in [
        (1000.0, -1000.0, (1.0, 0.0)),
        (-1000.0, 1000.0, (0.0, 1.0)),
        (INF, 1.0, (1.0, 0.0)),
        (-INF, 1.0, (0.0, 1.0)),
        (INF, -INF, (1.0, 0.0)),
        (INF, INF, (0.5, 0.5)),
        (-INF, -INF, (0.5, 0.5)),
    ]:
        a, b = ad.constant([x]), ad.constant([y])
        with ad.GradientTape(persistent=True) as outer:
            outer.watch([a, b])
            with ad.GradientTape() as inner:
                inner.watch([a, b])
                z = f(a, b)
            by_a, by_b = inner.gradient(z, [a, b])
        assert (by_a.item(), by_b.item()) == expected
        if x != y:
            assert outer.gradient(by_a, [a, b], unconnected_gradients="zero") == [0.0, 0.0]


def test_softplus_has_its_derivatives_at_0():
    derivative = partial(np.logaddexp, 0.0)
    for expected in (0.5, 0.25, 0.0, -0.125):
        derivative = ad.grad(derivative)
        assert derivative(0.0).item() == expected


# NaN, and what is left out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [np.nanmax, np.nanmin])
def test_equal_extremes_share_and_nan_gets_nothing(f):
    x = np.array([[2.0, np.nan, 2.0], [np.nan, np.nan, np.nan], [1.0, np.nan, np.inf]])
    first = [0.5, 0.0, 0.5]
    last = [0.0, 0.0, 1.0] if f is np.nanmax else [1.0, 0.0, 0.0]
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN")  # NumPy's own word on the row in the middle
        gradient = ad.grad(lambda x: np.sum(np.nan_to_num(f(x, axis=1)) * [1.0, 1.0, 0.0]))(x)
        assert gradient.tolist() == [first, [0.0] * 3, [0.0] * 3]
        assert ad.grad(lambda x: f(x, axis=1)[2])(x)[2].tolist() == last


@pytest.mark.parametrize("f", [np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd, np.nanmedian, np.nancumsum])
def test_the_gradient_of_nan_is_0_also_where_there_is_nothing_else(f):
    x = np.array([[np.nan, np.nan], [0.5, np.nan]])
    with np.errstate(all="ignore"):
        gradient = ad.grad(lambda x: np.sum(f(x, axis=1)))(x).numpy()
    assert gradient[np.isnan(x)].tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(gradient).all()


def test_the_spread_of_equal_numbers_beside_nan_has_the_gradient_0_as_np_std_has():
    x = np.array([1.5, np.nan, 1.5])
    with np.errstate(all="raise"):
        assert ad.grad(np.nanstd)(x).tolist() == [0.0, 0.0, 0.0]


def test_too_few_numbers_have_no_variance():
    with np.errstate(all="raise"):
        assert np.isnan(np.nanvar(ad.constant([1.5, np.nan]), ddof=1).numpy())


def test_whole_numbers_have_no_nan_and_keep_their_dtype():
    x = np.array([[3, 1], [2, 2]])
    for f in (np.nansum, np.nanmean, np.nanmax, np.nanvar, np.nanmedian, np.nancumprod):
        ours, theirs = f(ad.constant(x)), f(x)
        assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist()), f.__name__


# Choosing -----------------------------------------------------------------------------------------------------------


def test_what_is_not_chosen_is_neither_computed_nor_given_anything():
    x = np.array([-1.0, 4.0])
    with np.errstate(all="raise"):
        gradient = ad.grad(lambda x: np.sum(np.piecewise(x, [x > 0], [np.sqrt, 0.0])))(x)
    assert gradient.tolist() == [0.0, 0.25]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda x: np.select([x > 0], [x, x]), ValueError, "as many choices as conditions; got 2 and 1"),
        (lambda x: np.select([[1.0, 0.0]], [x]), TypeError, "condition 0 of np.select is not an array of True"),
        (lambda x: np.choose([0, 2], [x, x]), ValueError, "has 2 choices, but was asked for number 0 to 2"),
        (lambda x: np.choose([0.0, 1.0], [x, x]), TypeError, "dtype is float64"),
        (lambda x: np.piecewise(x, [x > 0], [np.sin] * 3), ValueError, "1 conditions takes 1 or 2 functions; 3 were"),
        (lambda x: np.block([[x, x], x]), ValueError, "List depths are mismatched"),
        (lambda x: np.block([[x, x], [x]]), ValueError, "must match"),
        (lambda x: np.meshgrid(x, x, indexing="yx"), ValueError, "'xy' or 'ij', not 'yx'"),
        (lambda x: np.trim_zeros(x, "x"), ValueError, "trims 'f', 'b' or 'fb', not 'x'"),
        (lambda x: np.insert(x, 3, 1.0), IndexError, "out of bounds"),
        (lambda x: np.vander(x[None]), ValueError, r"takes a vector; its argument has shape \(1, 2\)"),
        (lambda x: np.geomspace(x, 0.0), ValueError, "cannot begin or end at 0"),
        (
            lambda x: np.logspace(0.0, x, dtype="float32"),
            TypeError,
            r"np\.logspace does not accept dtype= for a tensor",
        ),
        (lambda x: np.cov(x, ddof=0.5), ValueError, "ddof must be an integer"),
        (lambda x: np.cov(x, fweights=[1.5, 1.0]), TypeError, "fweights must be integers"),
        (lambda x: np.cov(x, aweights=[1.0]), ValueError, r"aweights must have one number per sample \(2 in all\)"),
        (lambda x: np.cov(x[None, None]), ValueError, "m has more than 2 dimensions"),
        (lambda x: np.apply_over_axes(lambda a, axis: a[None], x, 0), ValueError, "must return an array of 1 axes"),
        (lambda x: np.apply_along_axis(np.sum, 0, x[:, None][:, :0]), ValueError, r"no vector.*shape \(2, 0\)"),
        (lambda x: np.block([[x], [[x, ad.constant(1.0)]]]), ValueError, "mismatched"),
    ],
)
def test_calls_that_numpy_refuses_too_say_what_is_wrong(call, error, said):
    x = np.array([1.0, 2.0])
    with pytest.raises(error, match=said):
        call(ad.constant(x))


def test_tensors_in_a_list_within_a_choice_are_still_refused():
    x = ad.Variable(1.0)
    with ad.GradientTape(), pytest.raises(TypeError, match=r"np\.stack"):
        np.select([np.array([True, False])] * 2, [x, [x, x]])


@pytest.mark.skipif(not hasattr(np, "unstack"), reason="NumPy 2.1 has it")
def test_a_scalar_cannot_be_taken_apart_nor_an_array_accumulated_along_no_axis():
    with pytest.raises(ValueError, match="a scalar has no axis"):
        np.unstack(ad.constant(1.0))
    with pytest.raises(ValueError, match=r"shape \(2, 2\); say which axis"):
        np.cumulative_sum(ad.constant(np.ones((2, 2))))


@pytest.mark.parametrize("f", [np.maximum.accumulate, np.minimum.accumulate])
def test_a_running_extreme_is_numpy_s_also_of_nothing_and_refused_along_no_axis(f):
    for x, axis in (([3, 1, 4], 0), (np.zeros((0, 3)), 0), (np.zeros((2, 0)), 0), ([[1.0, 2.0], [0.0, 5.0]], -1)):
        expected = f(np.array(x), axis=axis)
        np.testing.assert_array_equal(f(ad.constant(x), axis=axis).numpy(), expected, strict=True)
    with pytest.raises(np.exceptions.AxisError):
        f(ad.constant([1.0]), axis=1)
    with pytest.raises(TypeError, match="cannot accumulate on a scalar"):
        f(ad.constant(1.0))


def test_windows_are_a_view_and_one_entry():
    x = ad.Variable(np.arange(1e4))
    with ad.GradientTape() as tape:
        y = np.lib.stride_tricks.sliding_window_view(x, 100)
        z = np.sum(y)
    assert [entry.name for entry in tape.entries] == ["sliding_window_view", "sum"]
    assert np.shares_memory(y._array, x._array)
    gradient = tape.gradient(z, x).numpy()
    assert (gradient[0], gradient[99], gradient[5000], gradient[-1]) == (1.0, 100.0, 100.0, 1.0)
