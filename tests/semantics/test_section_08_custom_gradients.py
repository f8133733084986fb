"""Gradients of one's own, and none at all: `custom_gradient`, `stop_gradient`, functions without a rule.

More of them are in test_custom.py, test_custom_orders.py and test_control.py.
"""

import numpy as np
import pytest
from no_rule import UNRULED

import autodiff_edu as ad
from autodiff_edu.core.active import now

from .cases import case


@case("plain custom_gradient, kwargs")
def test_a_custom_gradient_with_a_keyword_argument():
    @ad.custom_gradient
    def f(x, scale=2.0):
        return x * scale, lambda dy: dy * 100.0

    x = ad.Variable(3.0)
    with ad.GradientTape() as t:
        y = f(x, scale=5.0)
    assert (y.tolist(), t.gradient(y, x).tolist()) == (15.0, 100.0)


@case("tensor passed as kwarg")
def test_a_tensor_in_a_keyword_argument_gets_no_gradient():
    @ad.custom_gradient
    def f(x, s=None):
        return x * s, lambda dy: dy * 100.0

    x, s = ad.constant(3.0), ad.constant(2.0)
    with ad.GradientTape() as t:
        t.watch([x, s])
        y = f(x, s=s)
    by_x, by_s = t.gradient(y, [x, s])
    assert (y.tolist(), by_x.tolist(), by_s) == (6.0, 100.0, None)


@case("multiple outputs / multiple inputs")
def test_the_backward_of_several_outputs_gets_a_cotangent_for_each():
    upstream = []

    @ad.custom_gradient
    def f(x, y):
        def backward(da, db):
            upstream.append((float(da), float(db)))
            return da * 10.0, db * 20.0

        return (x * y, x + y), backward

    x, z = ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape(persistent=True) as t:
        a, b = f(x, z)
    assert [g.tolist() for g in t.gradient(a, [x, z])] == [10.0, 0.0]
    assert [g.tolist() for g in t.gradient([a, b], [x, z])] == [10.0, 20.0]
    assert upstream == [(1.0, 0.0), (1.0, 1.0)]


@case("wrong number of grads returned")
def test_too_few_gradients_are_an_error():
    @ad.custom_gradient
    def f(x, y):
        return x * y, lambda dy: dy

    x, z = ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape() as t:
        a = f(x, z)
    with pytest.raises(ValueError, match="backward of f returned 1 gradient, but f has 2 arguments: x, y"):
        t.gradient(a, [x, z])


@case("grad returns None for one input")
def test_none_among_the_gradients_is_an_unconnected_argument():
    @ad.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy, None)

    x, z = ad.Variable(3.0), ad.Variable(4.0)
    with ad.GradientTape() as t:
        a = f(x, z)
    by_x, by_z = t.gradient(a, [x, z])
    assert (by_x.tolist(), by_z) == (1.0, None)


@case("wrong shape grad returned")
def test_a_gradient_of_the_wrong_shape_is_an_error():
    """Difference: TensorFlow hands it on in silence."""

    @ad.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: np.ones(3)

    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as t:
        a = f(x)
    with pytest.raises(ValueError, match=r"the gradient for argument 'x' has shape \(3,\), but 'x' has shape \(2,\)"):
        t.gradient(a, x)


@case("function does not return (y, grad) pair")
def test_a_function_that_gives_no_pair_is_an_error():
    @ad.custom_gradient
    def f(x):
        return x * 2.0

    with pytest.raises(TypeError, match=r"f has a custom gradient, so it must return a pair \(result, backward\)"):
        f(ad.constant(2.0))


@case("variables used but grad_fn has no `variables` argument")
def test_a_function_that_reads_variables_needs_a_backward_that_takes_them():
    w, x = ad.Variable(5.0, name="weight"), ad.Variable(3.0)

    @ad.custom_gradient
    def f(x):
        return x * w, lambda dy: dy * w

    said = r"f reads the variable Variable\('weight', 5.\).*def backward\(dy, variables\)"
    with pytest.raises(TypeError, match=said), ad.GradientTape():
        f(x)
    assert now().followers == ()


@case("variables argument")
def test_a_backward_gives_the_gradients_of_the_variables_too():
    w, x = ad.Variable(5.0, name="w"), ad.constant(3.0)
    given = []

    @ad.custom_gradient
    def f(x):
        def backward(dy, variables=None):
            given.extend(v.name for v in variables)
            return dy * w, [dy * 1000.0]

        return x * w, backward

    with ad.GradientTape() as t:
        t.watch(x)
        y = f(x)
    assert [g.tolist() for g in t.gradient(y, [x, w])] == [5.0, 1000.0]
    assert given == ["w"]


@case("variables argument declared, no variable used")
def test_a_backward_may_take_variables_where_there_are_none():
    @ad.custom_gradient
    def f(x):
        return x * 2.0, lambda dy, variables=None: (dy, [])

    x = ad.constant(3.0)
    with ad.GradientTape() as t:
        t.watch(x)
        y = f(x)
    assert t.gradient(y, x).tolist() == 1.0


@case("second order through custom_gradient")
def test_the_second_derivative_goes_through_what_the_function_computed():
    @ad.custom_gradient
    def log1pexp(x):
        e = np.exp(x)
        return np.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = ad.Variable(1.0)
    with ad.GradientTape() as t2:
        with ad.GradientTape() as t1:
            y = log1pexp(x)
        g = t1.gradient(y, x)
    np.testing.assert_allclose([g.numpy(), t2.gradient(g, x).numpy()], [0.7310585786300049, 0.1966119332414819])


@case("second order: closure e comes from x passed as Tensor")
def test_the_second_derivative_goes_through_the_argument():
    @ad.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 2.0 * x

    x = ad.constant(3.0)
    with ad.GradientTape() as t2:
        t2.watch(x)
        with ad.GradientTape() as t1:
            t1.watch(x)
            y = square(x)
        g = t1.gradient(y, x)
    assert (g.tolist(), t2.gradient(g, x).tolist()) == (6.0, 2.0)


@case("custom_gradient of non-tensor arg (python float)")
def test_a_python_number_reaches_the_function_as_it_is():
    kinds = []

    @ad.custom_gradient
    def f(x):
        kinds.append(type(x))
        return x * 2.0, lambda dy: dy

    result = f(3.0)
    assert (kinds, type(result), result.tolist()) == ([float], ad.Tensor, 6.0)


@case("nested custom_gradient overriding 2nd derivative")
def test_a_custom_gradient_in_a_backward_gives_the_second_derivative():
    @ad.custom_gradient
    def operation(x):
        def first(dy):
            @ad.custom_gradient
            def inner(x):
                return 2.0 * x, lambda ddy: ddy * 777.0

            return dy * inner(x)

        return x * x, first

    x = ad.Variable(3.0)
    with ad.GradientTape() as t2:
        with ad.GradientTape() as t1:
            y = operation(x)
        g = t1.gradient(y, x)
    assert (g.tolist(), t2.gradient(g, x).tolist()) == (6.0, 777.0)


@case("stop_gradient")
def test_nothing_flows_back_through_stop_gradient():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        y = ad.stop_gradient(x * x)
        z = x * y
    assert t.gradient(y, x) is None
    assert t.gradient(z, x).tolist() == 4.0
    assert t.gradient(y, x, unconnected_gradients="zero").tolist() == 0.0


@case("tf.identity is needed to detach? t.gradient(z, stop_gradient(...)) as source")
def test_what_stop_gradient_gives_may_be_a_source():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        s = ad.stop_gradient(x * x)
        t.watch(s)
        z = s * x
    assert (t.gradient(z, s).tolist(), t.gradient(z, x).tolist()) == (2.0, 4.0)


@case("tf.grad_pass_through")
def test_a_custom_gradient_passes_a_cotangent_by_an_assignment():
    """There is no such function here: it is a custom gradient whose backward gives what it gets."""
    x, z = ad.Variable(1.0), ad.Variable(3.0)

    @ad.custom_gradient
    def assigned(value):
        x.assign(value)
        return value, lambda dy: dy

    with ad.GradientTape() as t:
        y = assigned(z**2)
    assert (x.tolist(), t.gradient(y, z).tolist()) == (9.0, 6.0)


@case("non-registered gradient")
def test_a_function_without_a_rule_has_no_gradient_and_says_so():
    x = ad.Variable([0.5, 0.0])
    with ad.GradientTape() as t:
        y = UNRULED(x)
    with pytest.raises(LookupError, match=rf"{UNRULED.__name__}.*register_gradient"):
        t.gradient(y, x)


@case("no gradient registered but not on the requested path")
def test_a_function_without_a_rule_beside_the_way_does_not_matter():
    x, delta = ad.Variable([0.5, 0.0]), ad.Variable(0.1)
    with ad.GradientTape() as t:
        _ = UNRULED(x * delta)
        z = np.sum(x**2)
    by_x, by_delta = t.gradient(z, [x, delta])
    assert (by_x.tolist(), by_delta) == ([1.0, 0.0], None)
