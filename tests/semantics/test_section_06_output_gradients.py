"""First cotangents given by the caller, and several targets."""

import numpy as np
import pytest

import autodiff_edu as ad

from .cases import case


def recorded(*functions, value):
    x = ad.Variable(value)
    with ad.GradientTape(persistent=True) as t:
        targets = [f(x) for f in functions]
    return t, x, *targets


def square(x):
    return x**2


def cube(x):
    return x**3


@case("output_gradients scalar/vector")
def test_output_gradients_weigh_the_elements_of_the_target():
    """Difference: a list of numbers is an array, of which TensorFlow takes only the first in silence."""
    t, x, y = recorded(square, value=[1.0, 2.0, 3.0])
    assert t.gradient(y, x).tolist() == [2.0, 4.0, 6.0]
    assert t.gradient(y, x, output_gradients=ad.constant([1.0, 0.0, 10.0])).tolist() == [2.0, 0.0, 60.0]
    assert t.gradient(y, x, output_gradients=[1.0, 0.0, 10.0]).tolist() == [2.0, 0.0, 60.0]


@case("output_gradients list for list of targets, with None")
def test_output_gradients_for_a_list_of_targets():
    """Difference: None in the list means ones for this target."""
    t, x, y, z = recorded(square, cube, value=2.0)
    assert t.gradient([y, z], x, output_gradients=[ad.constant(1.0), ad.constant(10.0)]).tolist() == 124.0
    assert t.gradient([y, z], x, output_gradients=[None, ad.constant(10.0)]).tolist() == 124.0
    assert t.gradient([y, z], x, output_gradients=[None, None]).tolist() == 16.0


@case("output_gradients: single [tensor] for single target")
def test_a_list_of_one_tensor_serves_for_a_single_target():
    t, x, y = recorded(square, value=[1.0, 2.0])
    assert t.gradient(y, x, output_gradients=[ad.constant([1.0, 10.0])]).tolist() == [2.0, 40.0]


@case("output_gradients wrong shape")
def test_output_gradients_of_another_shape_are_an_error():
    t, x, y = recorded(square, value=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"output_gradients has shape \(2,\), but its target has shape \(3,\)"):
        t.gradient(y, x, output_gradients=ad.constant([1.0, 2.0]))


@case("output_gradients broadcastable shape (scalar for vector)")
def test_output_gradients_are_not_broadcast():
    """Difference: a shape that does not match is an error."""
    t, x, y = recorded(square, value=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"output_gradients has shape \(\), but its target has shape \(3,\)"):
        t.gradient(y, x, output_gradients=ad.constant(2.0))


@case("output_gradients broadcastable: bigger than target")
def test_output_gradients_do_not_broadcast_the_target():
    """Difference: a shape that does not match is an error, so a gradient always has the shape of its source."""
    t, x, y = recorded(lambda x: x * 2.0, value=3.0)
    with pytest.raises(ValueError, match=r"output_gradients has shape \(2,\), but its target has shape \(\)"):
        t.gradient(y, x, output_gradients=ad.constant([1.0, 2.0]))


@case("output_gradients wrong count")
def test_too_few_output_gradients_are_an_error():
    """Difference: TensorFlow takes ones for the rest in silence."""
    t, x, y, z = recorded(square, cube, value=2.0)
    with pytest.raises(ValueError, match="output_gradients must be a list of 2"):
        t.gradient([y, z], x, output_gradients=[ad.constant(1.0)])


@case("output_gradients wrong dtype")
def test_output_gradients_are_converted_to_the_dtype_of_the_target():
    """Difference: NumPy's dtypes mix, where TensorFlow raises."""
    x = ad.Variable(2.0, dtype="float32")
    with ad.GradientTape() as t:
        y = x**2
    gradient = t.gradient(y, x, output_gradients=ad.constant(1.0, "float64"))
    assert (gradient.tolist(), gradient.dtype) == (4.0, np.float32)


@case("output_gradients dict with dict targets")
def test_output_gradients_for_a_dict_of_targets():
    t, x, y, z = recorded(square, cube, value=2.0)
    given = {"y": ad.constant(1.0), "z": ad.constant(10.0)}
    assert t.gradient({"y": y, "z": z}, x, output_gradients=given).tolist() == 124.0


@case("differentiate wrt output_gradients (double-VJP → JVP trick)")
def test_a_gradient_may_be_differentiated_by_its_output_gradients():
    x, u = ad.Variable([1.0, 2.0]), ad.Variable([1.0, 1.0])
    with ad.GradientTape() as t2:
        with ad.GradientTape() as t1:
            y = x**3
        g = t1.gradient(y, x, output_gradients=u)
    assert t2.gradient(g, u, output_gradients=ad.constant([1.0, 10.0])).tolist() == [3.0, 120.0]


@case("ForwardAccumulator JVP")
def test_a_derivative_along_a_tangent():
    """Our spelling is `ad.jvp`."""
    value, tangent = ad.jvp(cube, ([1.0, 2.0],), ([1.0, 10.0],))
    assert (value.tolist(), tangent.tolist()) == ([1.0, 8.0], [3.0, 120.0])
