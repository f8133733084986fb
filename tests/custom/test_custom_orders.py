"""Custom gradients to any order, under stacks of cotangents, forward, of complex numbers; and what they keep alive."""

import gc
import weakref

import numpy as np
import pytest
from differences import assert_derivatives, central_differences

import autodiff_edu as ad
from autodiff_edu.core.rule import kind_of, rule_of
from autodiff_edu.custom.call import Call
from autodiff_edu.rules import RULES


@ad.custom_gradient
def log1pexp(x):
    e = np.exp(x)
    return np.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


@ad.custom_gradient
def product(p, y):
    """A product and a power, whose gradients are the true ones."""
    x = p["x"]

    def backward(da, db):
        return {"x": da * y + db * 3 * x**2}, da * x

    return (x * y, x**3), backward


def of_two(x, y):
    a, b = product({"x": x}, y)
    return np.sum(np.sin(a) * b) + np.sum(a) ** 2


def plain_of_two(x, y):
    return np.sum(np.sin(x * y) * x**3) + np.sum(x * y) ** 2


X, Y = np.array([0.3, -1.2, 0.7]), np.array([0.9, 0.4, -0.5])


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), 1e-11, 1e-11)


# Orders ---------------------------------------------------------------------------------------------------------------


def test_every_order_agrees_with_differences_backward_and_forward():
    ad.check_gradients(log1pexp, X, order=3)
    ad.check_gradients(of_two, X, Y, order=2)


def test_the_third_derivative_by_three_tapes_is_that_of_the_plain_function():
    found = []
    for f in (log1pexp, lambda x: np.log(1 + np.exp(x))):
        third = ad.grad(ad.grad(ad.grad(f)))
        found.append(float(third(0.7)))
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_a_hessian_is_that_of_the_plain_function_to_the_last_block():
    found, expected = (ad.hessian(f, argnums=(0, 1))(X, Y).matrix() for f in (of_two, plain_of_two))
    close(found, expected)
    close(
        ad.hvp(of_two, (X, Y), (Y, X))[1],
        np.asarray(expected)[3:] @ np.concatenate([Y, X]),
    )


def test_the_gradients_agree_with_central_differences():
    tape_gradients = [g.numpy() for g in ad.grad(of_two, argnums=(0, 1))(X, Y)]
    assert_derivatives("of_two", [X, Y], tape_gradients, central_differences(plain_of_two, [X, Y]))


def test_a_tensor_that_the_backward_captures_from_an_outer_tape_is_followed():
    c, x = ad.Variable(3.0), ad.constant(2.0)
    f = ad.custom_gradient(lambda x: (x * 1.0, lambda dy: dy * captured))
    with ad.GradientTape() as outer:
        captured = c * c
        with ad.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    assert (float(slope), float(outer.gradient(slope, c))) == (9.0, 6.0)


def test_the_cotangent_is_followed_too():
    x = ad.Variable(2.0)
    f = ad.custom_gradient(lambda x: (x * 1.0, lambda dy: dy**2))
    with ad.GradientTape() as outer:
        seed = x * 5.0
        with ad.GradientTape() as inner:
            y = f(x)
        slope = inner.gradient(y, x, output_gradients=seed)
    assert (float(slope), float(outer.gradient(slope, x))) == (100.0, 100.0)


def test_a_persistent_tape_asked_inside_its_own_block_records_the_backward():
    x = ad.Variable(0.7)
    with ad.GradientTape(persistent=True) as tape:
        slope = tape.gradient(log1pexp(x), x)
    assert float(tape.gradient(slope, x)) == pytest.approx(float(ad.grad(ad.grad(log1pexp))(0.7)))


def test_a_gradient_that_uses_its_own_function_has_every_derivative():
    @ad.custom_gradient
    def exponential(x):
        return np.exp(x), lambda dy: dy * exponential(x)

    f = exponential
    for _ in range(4):
        f = ad.grad(f)
    assert float(f(1.0)) == np.exp(1.0)
    x = np.array([0.0, 1.0])
    for mode in ("forward", "reverse"):
        assert np.array_equal(ad.jacobian(exponential, mode=mode)(x).numpy(), np.diag(np.exp(x)))
    assert np.array_equal(ad.hessian(lambda x: np.sum(exponential(x)))(x).numpy(), np.diag(np.exp(x)))
    assert np.array_equal(ad.hvp(lambda x: np.sum(exponential(x)), (x,), (x,)).numpy(), np.exp(x) * x)


# Stacks of cotangents -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_jacobian_is_that_of_the_plain_function(mode):
    def f(x, y):
        a, b = product({"x": x}, y)
        return np.outer(log1pexp(a), b)

    def plain(x, y):
        return np.outer(np.log(1 + np.exp(x * y)), x**3)

    for found, expected in zip(ad.jacobian(f, (0, 1), mode=mode)(X, Y), ad.jacobian(plain, (0, 1))(X, Y), strict=True):
        close(found, expected)


def test_a_large_jacobian_by_a_lazy_stack_and_in_chunks_is_the_same():
    x = ad.constant(np.linspace(-2, 2, 150))
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = log1pexp(x) * 2.0
    expected = np.diag(2 / (1 + np.exp(-x.numpy())))
    close(tape.jacobian(y, x), expected)
    close(tape.jacobian(y, x, chunk_size=7), expected)


def test_a_batch_jacobian_is_a_block_per_sample():
    w = np.array([[1.0, 2.0], [0.5, -1.0]])

    @ad.custom_gradient
    def dense(x):
        return x @ w, lambda dy: dy @ w.T

    x = ad.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = dense(x) ** 2
    full = np.asarray(tape.jacobian(y, x))
    close(tape.batch_jacobian(y, x), np.einsum("bibj->bij", full))
    close(tape.gradient(y, x), full.sum((0, 1)))


def test_under_a_stack_the_backward_is_called_once_per_cotangent_and_sees_no_stack():
    shapes = []

    @ad.custom_gradient
    def f(x, y):
        def backward(dy):
            shapes.append(dy.shape)
            return dy * y, dy * x

        return x * y, backward

    x, y = ad.Variable(X), ad.Variable(Y)
    with ad.GradientTape() as tape:
        z = f(x, y)
    jx, jy = tape.jacobian(z, [x, y])
    close(jx, np.diag(Y))
    close(jy, np.diag(X))
    assert shapes == [(3,)] * 3


def test_a_none_for_some_cotangents_is_zero_and_for_all_is_none():
    def none_at(cotangents):
        return ad.custom_gradient(lambda x: (x * 1.0, lambda dy: None if dy.numpy().tolist() in cotangents else dy))

    x = ad.Variable([2.0, 3.0])
    with ad.GradientTape(persistent=True) as tape:
        some, every = none_at([[1.0, 0.0]])(x), none_at([[1.0, 0.0], [0.0, 1.0]])(x)
    assert tape.jacobian(some, x).numpy().tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert tape.jacobian(every, x) is None


def test_an_empty_target_has_an_empty_jacobian():
    x = ad.Variable(np.zeros((0, 3)))
    with ad.GradientTape() as tape:
        y = log1pexp(x)
    assert tape.jacobian(y, x).shape == (0, 3, 0, 3)


# Once per entry -------------------------------------------------------------------------------------------------------


def test_the_backward_is_called_once_for_all_arguments_and_again_for_another_walk():
    calls = []

    @ad.custom_gradient
    def f(x, y):
        def backward(dy):
            calls.append(float(dy))
            return dy * y, dy * x

        return x * y, backward

    x, y, seed = ad.Variable(2.0), ad.Variable(5.0), ad.constant(3.0)
    with ad.GradientTape(persistent=True) as tape:
        z = f(x, y)
    for _ in range(2):
        assert [float(g) for g in tape.gradient(z, [x, y], output_gradients=seed)] == [15.0, 6.0]
    assert calls == [3.0, 3.0]
    assert [float(g) for g in tape.gradient(z, [y, x], output_gradients=seed)] == [6.0, 15.0]
    assert float(tape.gradient(z, y, output_gradients=ad.constant(4.0))) == 8.0


def test_the_same_cotangent_in_two_walks_is_recorded_by_each_outer_tape():
    x, y, seed = ad.Variable(2.0), ad.Variable(5.0), ad.constant(3.0)
    f = ad.custom_gradient(lambda x, y: (x * y, lambda dy: (dy * y, dy * x)))
    with ad.GradientTape() as second, ad.GradientTape(persistent=True) as tape:
        z = f(x, y)
        with tape.stop_recording():
            first = tape.gradient(z, x, output_gradients=seed)
            with ad.GradientTape() as third:
                slope = tape.gradient(z, y, output_gradients=seed)
    assert float(second.gradient(first, y)) == 3.0
    assert float(third.gradient(slope, x)) == 3.0


# Forward, complex -----------------------------------------------------------------------------------------------------


def test_a_tangent_goes_through_forwards():
    value, tangent = ad.jvp(of_two, (X, Y), (Y, X))
    expected_value, expected = ad.jvp(plain_of_two, (X, Y), (Y, X))
    close(value, expected_value)
    close(tangent, expected)
    assert float(ad.jvp(ad.grad(log1pexp), (0.7,), (1.0,))[1]) == pytest.approx(float(ad.grad(ad.grad(log1pexp))(0.7)))


def test_an_argument_without_a_gradient_moves_nothing_forwards():
    f = ad.custom_gradient(lambda x, y: (x * y, lambda dy: (dy * y, None)))
    assert float(ad.jvp(f, (2.0, 3.0), (0.0, 1.0))[1]) == 0.0
    assert float(ad.jvp(f, (2.0, 3.0), (1.0, 1.0))[1]) == 3.0


Z = np.array([0.5 + 1j, -1.0 + 0.25j])


def test_the_backward_of_a_complex_function_sees_tensorflow_s_convention():
    seen = []

    @ad.custom_gradient
    def square(z):
        def backward(dz):
            seen.append(dz.numpy().tolist())
            return dz * np.conjugate(2 * z)

        return z**2, backward

    seed = np.array([1 + 2j, 3j])
    z = ad.Variable(Z)
    with ad.GradientTape() as tape:
        w = square(z)
    found = tape.gradient(w, z, output_gradients=seed)
    assert_derivatives("square", [Z], [found], central_differences(lambda z: z**2, [Z], seed))
    assert seen == [seed.tolist()]
    ad.check_gradients(square, Z)


def test_a_real_output_of_a_complex_argument_and_outputs_of_both_kinds():
    @ad.custom_gradient
    def f(z):
        def backward(dr, dz):
            assert dr.dtype == float
            return 2 * dr * z + dz * np.conjugate(3 * z**2)

        return (np.real(z * np.conjugate(z)), z**3), backward

    def plain(z):
        return np.real(z * np.conjugate(z)) * (1 + z**3)

    def joined(z):
        r, w = f(z)
        return r * (1 + w)

    for seed in (np.ones(2), np.array([1 + 2j, 3j])):
        _, pullback = ad.vjp(joined, Z)
        close(pullback(seed), ad.vjp(plain, Z)[1](seed))
    ad.check_gradients(joined, Z)


# What is kept ---------------------------------------------------------------------------------------------------------


def test_a_custom_gradient_brings_its_rule_and_is_in_no_table():
    x = ad.Variable(X)
    with ad.GradientTape() as tape:
        product({"x": x}, x)
    operation = next(entry.operation for entry in tape.entries if entry.call is not None)
    assert rule_of(operation) is operation.rule
    assert kind_of(operation) == "custom"
    assert operation not in RULES


def test_a_released_tape_releases_what_the_backward_captured():
    class Big:
        pass

    captured = []

    @ad.custom_gradient
    def f(x):
        big = Big()
        captured.append(weakref.ref(big))
        return x * 1.0, lambda dy: dy if big else None

    x = ad.Variable([2.0])
    with ad.GradientTape() as tape:
        y = f(x)
    (watcher,) = captured
    gc.collect()
    assert watcher() is not None
    tape.gradient(y, x)
    gc.collect()
    assert watcher() is None
    assert tape.entries[-1].name == "f"


def test_a_call_can_be_asked_for_its_backward_alone():
    x, y = ad.Variable(X), ad.Variable(Y)
    with ad.GradientTape() as tape:
        product({"x": x}, y)
    (call,) = (entry.call for entry in tape.entries if entry.call is not None)
    assert isinstance(call, Call)
    assert [(source.name, source.shape) for source in call.sources] == [("p['x']", (3,)), ("y", (3,))]
    assert [(output.shape, output.dtype) for output in call.outputs] == [((3,), float)] * 2
    gx, gy = call.backward_of([ad.constant(np.ones(3)), ad.constant(np.zeros(3))])
    close(gx, Y)
    close(gy, X)


# The course -----------------------------------------------------------------------------------------------------------


@ad.custom_gradient
def clip_gradient_by_norm(x, norm):
    def backward(dy):
        return dy * norm / max(norm, float(np.linalg.norm(dy)))

    return x, backward


def test_clipping_after_the_square_gives_2_and_before_it_one_half():
    v = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        after = clip_gradient_by_norm(v * v, 0.5)
        clipped = clip_gradient_by_norm(v, 0.5)
        before = clipped * clipped
    assert float(tape.gradient(after, v)) == 2.0
    assert float(tape.gradient(before, v)) == 0.5


def test_the_stable_logarithm_has_a_gradient_where_the_naive_one_has_none():
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isnan(float(ad.grad(lambda x: np.log(1 + np.exp(x)))(800.0)))
        assert float(ad.grad(log1pexp)(800.0)) == 1.0


def test_forgetting_the_cotangent_is_right_alone_and_wrong_in_a_chain():
    careless = ad.custom_gradient(lambda x: (x**2, lambda dy: 2 * x))
    assert float(ad.grad(careless)(3.0)) == 6.0
    assert float(ad.grad(lambda x: careless(x) * 10.0)(3.0)) == 6.0, "and should be 60"
