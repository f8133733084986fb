"""Whole numbers, conversions, mixed and complex dtypes."""

import numpy as np
import pytest

import autodiff_edu as ad

from .cases import case


def by_itself(f, x):
    with ad.GradientTape() as t:
        y = f(x)
    return t.gradient(y, x)


@case("int source watched")
def test_watching_integers_is_an_error():
    """Difference: TensorFlow logs a warning, and the gradient is None."""
    x = ad.constant(10)
    with ad.GradientTape() as t:
        with pytest.raises(TypeError, match="int64"):
            t.watch(x)
        y = x * x
    assert t.gradient(y, x) is None


@case("int Variable accessed")
def test_an_integer_variable_that_is_read_has_no_gradient():
    """Difference: it is not watched, so it is not among the watched variables either."""
    x = ad.Variable(10)
    with ad.GradientTape(persistent=True) as t:
        y = x * x
    assert t.gradient(y, x) is None
    assert t.watched_variables() == ()


@case("float source, int target via cast")
def test_nothing_flows_back_through_a_conversion_to_integers():
    x = ad.Variable(10.0)
    with ad.GradientTape(persistent=True) as t:
        y = x.astype(int)
        z = y.astype(float)
    assert (t.gradient(y, x), t.gradient(z, x)) == (None, None)


@case("cast float32→float64→grad dtype")
def test_a_gradient_has_the_dtype_of_its_source():
    gradient = by_itself(lambda x: x.astype("float64") ** 2, ad.Variable(10.0, dtype="float32"))
    assert (gradient.tolist(), gradient.dtype) == (20.0, np.float32)


@case("mixed dtype ops")
def test_integers_are_promoted_as_numpy_promotes_them():
    """Difference: NumPy promotes where TensorFlow raises."""
    x = ad.Variable(10.0, dtype="float32")
    gradient = by_itself(lambda x: x * ad.constant(2), x)
    assert (x * ad.constant(2)).dtype == np.float64
    assert (gradient.tolist(), gradient.dtype) == (2.0, np.float32)


@case("mixed dtype f32*f64")
def test_float32_times_float64_is_float64_and_the_gradient_float32():
    """Difference: NumPy promotes where TensorFlow raises."""
    x = ad.Variable(10.0, dtype="float32")
    gradient = by_itself(lambda x: x * ad.constant(2.0), x)
    assert (x * ad.constant(2.0)).dtype == np.float64
    assert (gradient.tolist(), gradient.dtype) == (2.0, np.float32)


@case("python int / float / numpy int array operand with float32 Variable")
def test_a_python_number_never_widens_and_an_array_does_as_in_numpy():
    """Difference: TensorFlow converts arrays to the variable's dtype, and NumPy promotes."""
    x = ad.Variable(10.0, dtype="float32")
    for result in (x * 2, 2 * x, x + 1.5, x * True):
        assert result.dtype == np.float32
    for other in (np.array([1, 2]), np.array([1.0, 2.0]), np.float64(2.0)):
        assert (x * other).dtype == (np.float32(10) * other).dtype == np.float64
        assert by_itself(lambda x, other=other: x * other, x).dtype == np.float32


@case("int constant ** python float")
def test_an_integer_variable_times_a_float_is_a_float():
    """Difference: NumPy promotes where TensorFlow raises."""
    assert (ad.Variable(3) * 1.5).tolist() == 4.5


@case("bool / string watch")
def test_watching_booleans_is_an_error_and_there_are_no_tensors_of_strings():
    """Difference: TensorFlow logs a warning; and a tensor of ours holds numbers only."""
    with ad.GradientTape() as t, pytest.raises(TypeError, match="bool"):
        t.watch(ad.constant(True))
    with pytest.raises(TypeError, match="holds numbers"):
        ad.constant("s")


@case("complex: gradient of z*conj(z), abs(z), z**2 (holomorphic)")
def test_complex_gradients_follow_the_same_convention():
    z = ad.Variable(1.0 + 2.0j, dtype="complex64")
    with ad.GradientTape(persistent=True) as t:
        a, b, d = z * np.conj(z), np.abs(z), z**2
    by_z = [t.gradient(y, z) for y in (a, b, d)]
    np.testing.assert_allclose([g.numpy() for g in by_z], [2 + 4j, 0.4472136 + 0.8944272j, 2 - 4j], rtol=1e-6)
    assert {g.dtype for g in by_z} == {np.dtype("complex64")}


@case("jacobian of int target")
def test_the_jacobian_of_integers_is_none():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as t:
        y = x.astype(int)
    assert t.jacobian(y, x) is None


@case("jacobian wrt int source")
def test_the_jacobian_by_integers_is_none():
    """Difference: they are not watched, which would be an error."""
    x = ad.constant([1, 2])
    with ad.GradientTape() as t:
        y = x * x
    assert t.jacobian(y, x) is None


@case("float16/bfloat16")
def test_float16_is_kept():
    """NumPy has no bfloat16."""
    gradient = by_itself(lambda x: x * x, ad.Variable(3.0, dtype="float16"))
    assert (gradient.tolist(), gradient.dtype) == (6.0, np.float16)
