"""Custom gradients are saved with what their backward functions do, to any order."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from differences import assert_derivatives, central_differences, draw
from round_trip import X, assert_same, program, save_and_load

import autodiff_edu as ad
from autodiff_edu.custom import custom_gradient
from autodiff_edu.saving import save


@custom_gradient
def log1pexp(x):
    e = np.exp(x)
    return np.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


@custom_gradient
def polar(x, y):
    r = np.hypot(x, y)
    return (r, np.arctan2(y, x)), lambda dr, dt: ((dr * x - dt * y / r) / r, (dr * y + dt * x / r) / r)


@custom_gradient
def surprising(x):
    @custom_gradient
    def slope(x):
        return 2.0 * x, lambda ddy: ddy * 777.0

    return x * x, lambda dy: dy * slope(x)


def test_a_custom_gradient_is_saved_to_any_order(path):
    again = save_and_load(lambda x: log1pexp(x * x) * 2.0, path, X)
    assert_same(lambda x: log1pexp(x * x) * 2.0, again, draw((6, 3), "other"))
    third = [ad.grad(ad.grad(ad.grad(f)))(0.3) for f in (log1pexp, save_and_load(log1pexp, path, 1.0))]
    assert float(third[0]) == float(third[1])


def test_a_custom_gradient_of_several_arguments_and_results_is_saved(path):
    def function(x, y):
        r, t = polar(x, y)
        return r * np.cos(2 * t)

    x, y = draw((2, 3), "x"), draw((2, 3), "y")
    again = save_and_load(function, path, x, y)
    others = [np.concatenate([x, y]), np.concatenate([y, x])]
    assert_same(function, again, *others)
    got = [g.numpy() for g in ad.grad(again, (0, 1))(*others)]
    assert_derivatives("polar", others, got, central_differences(lambda x, y: np.asarray(again(x, y)), others))


def test_jacobians_of_a_loaded_custom_gradient_are_the_original_s(path):
    again = save_and_load(log1pexp, path, X[:, 0])
    for f in (ad.jacobian, lambda f: ad.hessian(lambda x: np.sum(f(x) ** 2))):
        assert np.array_equal(f(again)(X[:, 1]), f(log1pexp)(X[:, 1]))


def test_the_gradient_of_a_custom_gradient_can_be_saved(path):
    for f in (log1pexp, surprising):
        again = save_and_load(ad.grad(f), path, 1.0)
        assert float(again(0.3)) == float(ad.grad(f)(0.3))
        assert float(ad.grad(again)(0.3)) == float(ad.grad(ad.grad(f))(0.3))


def test_integers_among_the_results_of_a_custom_gradient_come_back(path):
    @custom_gradient
    def f(x):
        return (x * 2, np.argmax(x), np.sum(x)), lambda dy, none, dz: dy * 3 + dz + none

    def function(x):
        y, k, z = f(x)
        return y * z, k

    again, x = save_and_load(function, path, X[:, 0]), np.array([1.0, 7.0, 5.0])
    assert int(again(x)[1]) == 1
    assert_same(lambda x: function(x)[0], lambda x: again(x)[0], x)


def test_a_custom_gradient_may_give_its_argument_or_a_number(path):
    @custom_gradient
    def f(x):
        return (x, 2.0), lambda dy, dz: dy * 5 + dz

    again = save_and_load(lambda x: f(x)[0] * f(x)[1], path, 1.0)
    assert float(ad.grad(again)(3.0)) == 2 * 5 + 3


def test_a_custom_gradient_without_tensors_is_a_constant(path):
    again = save_and_load(lambda x: x * log1pexp(1.0), path, 1.0)
    assert float(again(2.0)) == 2 * float(log1pexp(1.0))


def test_a_custom_gradient_in_a_custom_gradient_is_saved(path):
    again = save_and_load(surprising, path, 1.0)
    assert float(ad.grad(again)(3.0)) == 6.0
    assert float(ad.grad(ad.grad(again))(3.0)) == 777.0


def test_a_custom_gradient_that_uses_itself_ends(path):
    @custom_gradient
    def exponential(x):
        return np.exp(x), lambda dy: dy * exponential(x)

    again = save_and_load(exponential, path, 1.0)
    f = again
    for _ in range(3):
        f = ad.grad(f)
    assert float(f(0.5)) == pytest.approx(np.exp(0.5))
    for _ in range(3):
        f = ad.grad(f)
    with pytest.raises(LookupError, match="exponential"):
        f(0.5)


def test_the_variables_of_a_custom_gradient_are_saved(path):
    w = ad.Variable(5.0, name="w")

    @custom_gradient
    def f(x):
        return x * w, lambda dy, variables: (dy * w, [dy * 1000.0])

    again = save_and_load(f, path, 3.0)
    with ad.GradientTape() as tape:
        y = again(ad.constant(3.0))
    assert float(tape.gradient(y, again.variables[0])) == 1000.0
    again.variables[0].assign(2.0)
    assert float(ad.grad(again)(3.0)) == 2.0


def test_a_gradient_of_none_stays_none(path):
    @custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy * 10.0, None)

    again = save_and_load(f, path, 1.0, 2.0)
    x, y = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        z = again(x, y)
    assert tape.gradient(z, [x, y])[1] is None


def test_a_clipped_gradient_is_saved_as_it_depends_on_the_cotangent(path):
    @custom_gradient
    def clipped(x):
        return x, lambda dy: dy * np.minimum(1.0, 0.5 / np.linalg.norm(dy))

    again = save_and_load(lambda x: clipped(x * x), path, 2.0)
    assert float(ad.grad(again)(2.0)) == 2.0
    assert float(ad.grad(lambda x: again(x) * 0.1)(2.0)) == pytest.approx(0.4)


def test_a_backward_that_leaves_its_cotangent_for_python_is_refused(path):
    @custom_gradient
    def clipped(x):
        return x, lambda dy: dy * 0.5 / max(0.5, float(np.linalg.norm(dy)))

    with pytest.raises(
        ValueError, match=r"divide at test_saving_custom.py, line \d+ got 1.0, then 1.007\d+.*float\(\)"
    ):
        save(clipped, path, 2.0)


@pytest.mark.parametrize(
    "backward", [lambda dy, x: dy.numpy(), lambda dy, x: np.ones(x.shape)], ids=["numbers", "ones"]
)
def test_a_backward_that_returns_plain_numbers_is_refused(backward, path):
    @custom_gradient
    def through(x):
        return np.round(x), lambda dy: backward(dy, x)

    with pytest.raises(
        ValueError,
        match=r"the backward of through at test_saving_custom.py, line \d+ returned an array of shape \(4, 3\)",
    ):
        save(lambda x: through(x), path, X)


def test_without_custom_gradients_only_the_gradient_is_missing(path):
    again = save_and_load(lambda x: log1pexp(x) * x, path, 1.0, custom_gradients=False)
    assert float(again(1.0)) == float(log1pexp(ad.constant(1.0)))
    with pytest.raises(LookupError, match=r"log1pexp.*custom_gradients=True"):
        ad.grad(again)(1.0)


def test_saving_a_loaded_custom_gradient_again_gives_the_same_program(path, tmp_path):
    once = save_and_load(lambda x: surprising(x) + polar(x, x)[0], path, X)
    save(once, tmp_path / "again.ad", X)
    assert program(tmp_path / "again.ad") == program(path)


def test_a_fresh_process_has_the_function_without_its_code(path, tmp_path):
    w = ad.Variable([1.0, 2.0, 3.0], name="w")

    def function(x):
        return np.sum(log1pexp(np.sort(x, axis=0) @ w) * surprising(x[:, 0]))

    save(function, path, X)
    code = f"""
        import numpy as np, autodiff_edu as ad
        from autodiff_edu.saving import load
        f = load({str(path)!r})
        x = ad.constant(np.arange(15.0).reshape(5, 3) / 10)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        by_x, by_w = tape.gradient(y, [x, f.variables[0]])
        second = ad.hvp(f, (x,), (x,))
        print(*np.concatenate([np.ravel(a) for a in (y, by_x, by_w, second)]).tolist())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    x = ad.constant(np.arange(15.0).reshape(5, 3) / 10)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    by_x, by_w = tape.gradient(y, [x, w])
    expected = np.concatenate([np.ravel(a) for a in (y, by_x, by_w, ad.hvp(function, (x,), (x,)))])
    np.testing.assert_array_equal(np.array(done.stdout.split(), float), expected)
