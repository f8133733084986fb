"""Jacobians and Hessians of plain functions."""

from collections import namedtuple

import numpy as np
import pytest
from differences import assert_derivatives, central_differences, draw

import autodiff_edu as ad

X, V = draw((3,), "x"), draw((3,), "v")


def f(x):
    return np.sum(np.sin(x) * x**2)


def g(x):
    return np.stack([np.sum(x * x), np.prod(x), np.tanh(x[0] * x[1])])


def test_the_second_derivative_by_every_road():
    hessian = ad.hessian(f)(X).numpy()
    assert hessian.shape == (3, 3)
    np.testing.assert_allclose(hessian, hessian.T, 1e-12)
    np.testing.assert_allclose(hessian, ad.jacobian(ad.grad(f))(X).numpy(), 1e-12, 1e-14)
    np.testing.assert_allclose(hessian, ad.jacobian(ad.grad(f), mode="forward")(X).numpy(), 1e-12, 1e-14)
    np.testing.assert_allclose(hessian @ V, ad.hvp(f, (X,), (V,)).numpy(), 1e-12, 1e-14)
    np.testing.assert_allclose(hessian @ V, ad.grad(lambda x: np.sum(ad.grad(f)(x) * V))(X).numpy(), 1e-12, 1e-14)


def test_the_modes_of_a_jacobian_agree_and_auto_takes_the_fewer_passes():
    rows, columns = (ad.jacobian(g, mode=mode)(X).numpy() for mode in ("reverse", "forward"))
    np.testing.assert_allclose(rows, columns, 1e-12)
    assert_derivatives("g", [X], [np.sum(rows, axis=0)], central_differences(g, [X]))


@pytest.mark.parametrize(("inputs", "outputs", "expected"), [(2, 9, "forward"), (9, 2, "reverse"), (4, 4, "reverse")])
def test_auto_goes_the_shorter_way(monkeypatch, inputs, outputs, expected):
    from autodiff_edu.transforms import matrices

    pushed, push = [], matrices.by_columns
    monkeypatch.setattr(matrices, "by_columns", lambda *args: (pushed.append(1), push(*args))[1])
    weights = draw((outputs, inputs), "weights")
    found = ad.jacobian(lambda x: weights @ x)(np.ones(inputs))
    np.testing.assert_allclose(found.numpy(), weights)
    assert ("forward" if pushed else "reverse") == expected


def course_loss(kernel):
    x = draw((7, 5), "x")
    first = np.maximum(x @ kernel + draw((8,), "b"), 0.0)
    second = np.maximum(first @ draw((8, 6), "second"), 0.0)
    return np.mean(second**2)


def test_the_hessian_of_the_course_is_symmetric_and_newton_s_step_lowers_the_loss():
    kernel = draw((5, 8), "kernel")
    hessian = ad.hessian(course_loss)(kernel)
    assert hessian.shape == (5, 8, 5, 8)
    matrix = hessian.numpy().reshape(40, 40)
    np.testing.assert_allclose(matrix, matrix.T, 1e-10, 1e-12)
    v = draw((5, 8), "v")
    np.testing.assert_allclose(
        np.tensordot(hessian.numpy(), v, axes=2), ad.hvp(course_loss, (kernel,), (v,)).numpy(), 1e-10, 1e-12
    )
    gradient = ad.grad(course_loss)(kernel).numpy().reshape(40)
    step = np.linalg.solve(matrix + 1e-3 * np.eye(40), gradient).reshape(5, 8)
    assert float(course_loss(kernel - step)) < float(course_loss(kernel))


def test_x4_minus_2x2_has_a_negative_second_derivative_at_0_3():
    assert float(ad.hessian(lambda x: x**4 - 2 * x**2)(0.3)) == pytest.approx(12 * 0.09 - 4)


Pair = namedtuple("Pair", ["a", "b"])


@pytest.mark.parametrize("mode", ["auto", "reverse", "forward"])
@pytest.mark.parametrize(("h", "x"), [(lambda x: x * x, np.zeros(0)), (lambda x: np.sum(x, 1), np.zeros((3, 0)))])
def test_the_jacobian_by_nothing_is_empty(mode, h, x):
    found = ad.jacobian(h, mode=mode)(x)
    assert found.shape == h(x).shape + x.shape


def test_the_jacobian_by_a_complex_argument_is_the_same_in_every_mode_that_takes_one():
    def f(z):
        return np.real(z * z) * np.ones(3)

    found = ad.jacobian(f)(np.array(1 + 2j)).numpy()
    np.testing.assert_allclose(found, np.full(3, 2 - 4j))
    with pytest.raises(TypeError, match="reverse"):
        ad.jacobian(f, mode="forward")(np.array(1 + 2j))


def test_the_hessian_of_a_structure_with_one_leaf():
    h = ad.hessian(lambda p: np.sum(p["w"] ** 3))({"w": np.ones((2, 2))})
    np.testing.assert_allclose(h.matrix().numpy(), 6 * np.eye(4))
    assert ad.hessian(lambda p: p["b"] ** 3)({"b": 2.0}).matrix().shape == (1, 1)
    assert ad.hessian(lambda x: np.sum(x**3))(np.ones((2, 2))).shape == (2, 2, 2, 2)


def test_the_hessian_by_complex_arguments_says_so():
    with pytest.raises(TypeError, match="hessian"):
        ad.hessian(lambda z: np.sum(np.abs(z) ** 2))(np.array([1 + 2j]))


def test_a_hessian_leaves_the_arguments_that_are_not_its_own_as_they_are():
    found = ad.hessian(lambda a, chosen: np.sum(a[chosen] ** 2))(np.ones(3), [0, 2])
    np.testing.assert_array_equal(found.numpy(), np.diag([2.0, 0.0, 2.0]))
    for argnums in (3, "a"):
        with pytest.raises(ValueError, match="argnums"):
            ad.hessian(lambda a: a * a, argnums)(1.0)
