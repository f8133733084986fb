"""What a transform takes: arguments, `argnums`, and what becomes of them."""

from collections import namedtuple

import numpy as np
import pytest
from differences import draw

import autodiff_edu as ad
from autodiff_edu.core.active import now

X, V = draw((3,), "x"), draw((3,), "v")


def f(x):
    return np.sum(np.sin(x) * x**2)


Pair = namedtuple("Pair", ["a", "b"])


@pytest.mark.parametrize(
    "x",
    [2.0, 2, np.float64(2.0), np.array(2.0), ad.constant(2.0), ad.Variable(2.0), np.array([2.0]), [2.0], [[2, 1.0]]],
)
def test_numbers_arrays_lists_tensors_and_variables_may_be_given(x):
    for got in (ad.grad(lambda x: np.sum(x**3))(x), ad.jacobian(lambda x: np.sum(x**3))(x)):
        assert isinstance(got, ad.Tensor)
        np.testing.assert_allclose(got.numpy(), 3 * np.asarray(x, float) ** 2)


@pytest.mark.parametrize("x", [[2.0, 3.0], [[2, 1.0]]])
def test_a_list_of_numbers_is_an_array_to_every_transform(x):
    def cube(x):
        return np.sum(x**3)

    expected = 3 * np.asarray(x, float) ** 2
    ones = np.ones(np.shape(x)).tolist()
    assert float(ad.vjp(cube, x)[0]) == pytest.approx(float(cube(np.array(x))))
    np.testing.assert_allclose(ad.vjp(cube, x)[1](1.0).numpy(), expected)
    assert float(ad.jvp(cube, (x,), (ones,))[1]) == pytest.approx(expected.sum())
    np.testing.assert_allclose(ad.hvp(cube, (x,), (ones,)).numpy(), 6 * np.asarray(x))
    assert ad.hessian(cube)(x).shape == np.shape(x) * 2


def test_a_list_with_complex_numbers_is_a_complex_array():
    z = np.array([1 + 1j, 2.0])
    for f in (lambda z: np.sum(np.abs(z) ** 2), lambda z: np.sum(z**2)):
        np.testing.assert_array_equal(ad.grad(f)([1 + 1j, 2.0]).numpy(), ad.grad(f)(z).numpy())
    np.testing.assert_allclose(ad.jvp(lambda z: z**2, ([1 + 1j, 2],), ([1j, 1],))[1].numpy(), 2 * z * [1j, 1])


def test_argnums_chooses_one_argument_or_several():
    def h(x, y, scale=1.0):
        return scale * x * y**2

    assert float(ad.grad(h)(3.0, 2.0)) == 4.0
    assert float(ad.grad(h, 1)(3.0, 2.0, scale=10.0)) == 120.0
    assert float(ad.grad(h, -1)(3.0, 2.0)) == 12.0
    assert [float(p) for p in ad.grad(h, (1, 0))(3.0, 2.0)] == [12.0, 4.0]
    value, (by_x,) = ad.value_and_grad(h, (0,))(3.0, 2.0)
    assert (float(value), float(by_x)) == (12.0, 4.0)
    assert [float(p) for p in ad.jacobian(h, (0, 1))(3.0, 2.0)] == [4.0, 12.0]
    assert [float(p) for p in ad.jacobian(h, (0, 1), mode="forward")(3.0, 2.0)] == [4.0, 12.0]
    assert float(ad.hessian(h, 1)(3.0, 2.0)) == 6.0
    assert [float(p) for p in ad.hvp(h, (3.0, 2.0), (1.0, 0.0))] == [0.0, 4.0]
    assert [float(p) for p in ad.vjp(h, 3.0, 2.0)[1](1.0)] == [4.0, 12.0]


def test_the_same_array_in_two_places_is_two_sources():
    a = np.array([1.0, 2.0])
    by_x, by_y = ad.grad(lambda x, y: np.sum(x * x * y), (0, 1))(a, a)
    assert (by_x.tolist(), by_y.tolist()) == ([2.0, 8.0], [1.0, 4.0])
    t = ad.constant(a)
    by_x, by_y = ad.vjp(lambda x, y: np.sum(x * x * y), t, t)[1](1.0)
    assert (by_x.tolist(), by_y.tolist()) == ([2.0, 8.0], [1.0, 4.0])


def test_a_transform_neither_freezes_nor_shares_the_caller_s_array():
    a = np.ones(3)
    value, _ = ad.value_and_grad(lambda x: (x.numpy(), x)[1])(a)
    value.numpy()
    a[0] = 99.0
    assert value.numpy().tolist() == [1, 1, 1]
    _, tangent = ad.jvp(lambda x: x[:2], (a,), (a,))
    a[1] = 7.0
    assert tangent.numpy().tolist() == [99, 1]


def test_a_function_that_fails_leaves_no_tape_recording():
    def broken(x):
        raise KeyError("mine")

    for call in (lambda: ad.grad(broken)(X), lambda: ad.hessian(broken)(X), lambda: ad.jvp(broken, (X,), (V,))):
        with pytest.raises(KeyError, match="mine"):
            call()
        assert now().followers == ()


def test_argnums_that_are_not_numbers_are_shown_how_to_be_written():
    with pytest.raises(ValueError, match="a whole number or a tuple of whole numbers"):
        ad.grad(np.hypot, [0, 1])(1.0, 2.0)


def test_naming_an_argument_twice_is_an_error():
    for argnums in ((0, 0), (0, -2), ()):
        with pytest.raises(ValueError, match="argnums"):
            ad.grad(lambda x, y: x * y, argnums)(1.0, 2.0)


def test_a_list_of_whole_numbers_is_an_array_of_floats_and_an_array_of_integers_is_refused_by_its_role():
    assert ad.grad(lambda x: np.sum(x**2))([1, 2]).numpy().tolist() == [2, 4]
    with pytest.raises(TypeError, match="argument has dtype int64"):
        ad.grad(lambda x: np.sum(x**2))(np.array([1, 2]))


@pytest.mark.parametrize("wrong", ["f", None, 3.0, ad.constant(2.0), np.ones(2)], ids=repr)
def test_what_is_not_a_function_is_refused_at_once(wrong):
    for transform in (ad.grad, ad.value_and_grad, ad.jacobian, ad.hessian):
        name = transform.__name__
        with pytest.raises(TypeError, match=rf"^{name} takes a function, but got .*Write ad\.{name}\(f\)\(x\), not "):
            transform(wrong)
    with pytest.raises(TypeError, match=r"^hvp takes a function, but got .*Write ad\.hvp\(f, \(x,\), \(v,\)\), not "):
        ad.hvp(wrong, (1.0,), (1.0,))
    with pytest.raises(TypeError, match=r"^check_gradients takes a .*Write ad\.check_gradients\(f, x\), not "):
        ad.check_gradients(wrong, 1.0)


def test_nothing_to_differentiate_with_respect_to_is_said_in_those_words():
    with pytest.raises(ValueError, match=r"^hvp needs at least one primal to differentiate with respect to: ad\.hvp"):
        ad.hvp(f, (), ())
    with pytest.raises(ValueError, match=r"^argnums is \(\), which chooses no argument; it must name at least one"):
        ad.grad(f, ())(X)
    with pytest.raises(ValueError, match=r"^argnums is 1, but there is only 1 positional argument, counted from 0$"):
        ad.grad(f, 1)(X)
    with pytest.raises(ValueError, match=r"^argnums is 0, but there are 0 positional arguments, counted from 0$"):
        ad.jacobian(f)()
