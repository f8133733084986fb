"""Functions to functions: gradients, products, Jacobians and Hessians of plain functions."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from differences import assert_derivatives, central_differences, draw
from unruled import NAME, UNRULED

import autodiff_edu as ad
from autodiff_edu.core.active import active

X, V = draw((3,), "x"), draw((3,), "v")


def f(x):
    return np.sum(np.sin(x) * x**2)


def g(x):
    return np.stack([np.sum(x * x), np.prod(x), np.tanh(x[0] * x[1])])


# The same derivative by every road -----------------------------------------------------------------------------------


def test_every_road_leads_to_the_same_derivative():
    gradient = ad.grad(f)(X).numpy()
    np.testing.assert_allclose(gradient, central_differences(lambda x: f(x), [X])[0], 1e-9)
    value, again = ad.value_and_grad(f)(X)
    assert float(value) == pytest.approx(float(f(X)))
    np.testing.assert_array_equal(again.numpy(), gradient)
    np.testing.assert_allclose(ad.vjp(f, X)[1](1.0).numpy(), gradient, 1e-13)
    np.testing.assert_allclose(float(ad.jvp(f, (X,), (V,))[1]), gradient @ V, 1e-12)
    for mode in ("auto", "reverse", "forward"):
        np.testing.assert_allclose(ad.jacobian(f, mode=mode)(X).numpy(), gradient, 1e-12)


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
    from autodiff_edu.derivatives import transforms

    pushed, push = [], transforms.by_columns
    monkeypatch.setattr(transforms, "by_columns", lambda *args: (pushed.append(1), push(*args))[1])
    weights = draw((outputs, inputs), "weights")
    found = ad.jacobian(lambda x: weights @ x)(np.ones(inputs))
    np.testing.assert_allclose(found.numpy(), weights)
    assert ("forward" if pushed else "reverse") == expected


def test_transforms_nest_to_any_order():
    derivative, expected = (lambda x: x**5), [5, 20, 60, 120, 120, 0]
    for factor, power in zip(expected, (4, 3, 2, 1, 0, 0), strict=True):
        derivative = ad.grad(derivative)
        assert float(derivative(2.0)) == pytest.approx(factor * 2.0**power)


def test_jvp_of_jvp_and_vjp_of_jvp_and_jacobians_of_both():
    def along(x):
        return ad.jvp(f, (x,), (V,))[1]

    hessian = ad.hessian(f)(X).numpy()
    np.testing.assert_allclose(float(ad.jvp(along, (X,), (V,))[1]), V @ hessian @ V, 1e-12)
    np.testing.assert_allclose(ad.vjp(along, X)[1](1.0).numpy(), hessian @ V, 1e-12)
    np.testing.assert_allclose(ad.jacobian(along, mode="forward")(X).numpy(), hessian @ V, 1e-12)
    third = ad.jacobian(ad.hessian(f))(X).numpy()
    assert third.shape == (3, 3, 3)
    np.testing.assert_allclose(third, np.transpose(third, (2, 0, 1)), 1e-11, 1e-12)


# The numbers of the course --------------------------------------------------------------------------------------------


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


# What goes in and what comes out ------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Layer:
    kernel: object
    bias: object


def test_dataclasses_go_in_and_come_out():
    def h(p):
        return np.sum(p.kernel * p.bias**2)

    p = Layer(np.array([1.0, 2.0]), 3.0)
    for got in (ad.grad(h)(p), ad.vjp(h, p)[1](1.0), ad.jacobian(h)(p), ad.jacobian(h, mode="forward")(p)):
        assert isinstance(got, Layer)
        assert (got.kernel.tolist(), float(got.bias)) == ([9, 9], 18)
    assert float(ad.jvp(h, (p,), (Layer(np.ones(2), 0.0),))[1]) == 18
    found = ad.hessian(h)(p)
    assert found.blocks.bias.bias.tolist() == 6
    assert found.labels == [".kernel[0]", ".kernel[1]", ".bias"]
    assert ad.hvp(h, (p,), (p,)).kernel.tolist() == [18, 18]


def test_results_have_the_structure_of_what_was_given():
    p = {"pair": Pair(1.0, [2.0, np.array([3.0, 4.0])]), "c": (5.0,)}

    def h(p):
        return p["pair"].a * p["pair"].b[0] * np.sum(p["pair"].b[1]) + p["c"][0] ** 2

    for got in (ad.grad(h)(p), ad.vjp(h, p)[1](1.0), ad.jacobian(h)(p), ad.jacobian(h, mode="forward")(p)):
        assert list(got) == ["pair", "c"]
        assert isinstance(got["pair"], Pair)
        assert float(got["pair"].a) == 14.0
        assert got["pair"].b[1].tolist() == [2.0, 2.0]
        assert float(got["c"][0]) == 10.0
    tangent = ad.jvp(h, (p,), ({"pair": Pair(1.0, [0.0, np.zeros(2)]), "c": (1.0,)},))[1]
    assert float(tangent) == 24.0
    assert float(ad.hvp(h, (p,), (p,))["c"][0]) == 10.0


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


def test_a_pullback_may_be_called_again_and_again_and_gives_zeros_where_nothing_depends():
    value, pullback = ad.vjp(lambda x, y: x**2, X, V)
    np.testing.assert_allclose(value.numpy(), X**2)
    for k in range(2):
        seed = np.eye(3)[k]
        np.testing.assert_allclose(pullback(seed)[0].numpy(), 2 * X * seed)
        assert not pullback(seed)[1].numpy().any()


def test_several_results_are_pulled_back_and_pushed_forward_together():
    value, pullback = ad.vjp(lambda x: {"s": np.sum(x), "t": [x * x]}, X)
    assert float(value["s"]) == pytest.approx(X.sum())
    np.testing.assert_allclose(pullback({"s": 2.0, "t": [V]}).numpy(), 2 + 2 * X * V)
    value, tangent = ad.jvp(lambda x: {"s": np.sum(x), "t": [x * x], "u": x * 0 + 1}, (X,), (V,))
    assert float(tangent["s"]) == pytest.approx(V.sum())
    np.testing.assert_allclose(tangent["t"][0].numpy(), 2 * X * V)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_precision_is_kept(dtype):
    x = np.ones(3, dtype)
    for got in (
        ad.grad(f)(x),
        ad.jvp(f, (x,), (np.ones(3),))[1],
        ad.jacobian(g, mode="forward")(x),
        ad.jacobian(g, mode="reverse")(x),
        ad.hessian(f)(x),
        ad.hvp(f, (x,), (np.ones(3),)),
    ):
        assert got.dtype == np.dtype(dtype)


def test_what_does_not_depend_on_the_argument_has_zeros():
    assert ad.grad(lambda x: ad.constant(1.0) * 2)(X).tolist() == [0, 0, 0]
    assert float(ad.jvp(lambda x: ad.constant(1.0) * 2, (X,), (V,))[1]) == 0.0
    assert ad.jacobian(np.sign)(X).tolist() == ad.jacobian(np.sign, mode="forward")(X).tolist() == [[0] * 3] * 3
    assert ad.hessian(np.sum)(X).tolist() == [[0] * 3] * 3
    assert ad.hvp(np.sum, (X,), (V,)).tolist() == [0] * 3


@pytest.mark.parametrize("mode", ["auto", "reverse", "forward"])
@pytest.mark.parametrize(("h", "x"), [(lambda x: x * x, np.zeros(0)), (lambda x: np.sum(x, 1), np.zeros((3, 0)))])
def test_the_jacobian_by_nothing_is_empty(mode, h, x):
    found = ad.jacobian(h, mode=mode)(x)
    assert found.shape == h(x).shape + x.shape


def test_an_outer_tape_records_what_transforms_compute():
    x = ad.constant(X)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        slope, moved = ad.grad(f)(x), ad.jvp(g, (x,), (V,))[1]
        rows, columns = ad.jacobian(g, mode="reverse")(x), ad.jacobian(g, mode="forward")(x)
    np.testing.assert_allclose(tape.jacobian(slope, x).numpy(), ad.hessian(f)(X).numpy(), 1e-12, 1e-14)
    expected = ad.jacobian(lambda x: ad.jacobian(g)(x))(X).numpy()
    np.testing.assert_allclose(tape.jacobian(rows, x).numpy(), expected, 1e-12, 1e-14)
    np.testing.assert_allclose(tape.jacobian(columns, x).numpy(), expected, 1e-12, 1e-14)
    np.testing.assert_allclose(tape.jacobian(moved, x).numpy(), np.einsum("ijk,j->ik", expected, V), 1e-12, 1e-14)


def test_the_jacobian_by_a_complex_argument_is_the_same_in_every_mode_that_takes_one():
    def f(z):
        return np.real(z * z) * np.ones(3)

    found = ad.jacobian(f)(np.array(1 + 2j)).numpy()
    np.testing.assert_allclose(found, np.full(3, 2 - 4j))
    with pytest.raises(TypeError, match="reverse"):
        ad.jacobian(f, mode="forward")(np.array(1 + 2j))


def test_a_transform_neither_freezes_nor_shares_the_caller_s_array():
    a = np.ones(3)
    value, _ = ad.value_and_grad(lambda x: (x.numpy(), x)[1])(a)
    value.numpy()
    a[0] = 99.0
    assert value.numpy().tolist() == [1, 1, 1]
    _, tangent = ad.jvp(lambda x: x[:2], (a,), (a,))
    a[1] = 7.0
    assert tangent.numpy().tolist() == [99, 1]


def test_the_hessian_of_a_structure_with_one_leaf():
    h = ad.hessian(lambda p: np.sum(p["w"] ** 3))({"w": np.ones((2, 2))})
    np.testing.assert_allclose(h.matrix().numpy(), 6 * np.eye(4))
    assert ad.hessian(lambda p: p["b"] ** 3)({"b": 2.0}).matrix().shape == (1, 1)
    assert ad.hessian(lambda x: np.sum(x**3))(np.ones((2, 2))).shape == (2, 2, 2, 2)


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: ad.jacobian(f, mode="sideways"), ValueError, "mode.*'auto'"),
        (lambda: ad.grad(f, 1)(X), ValueError, "argnums.*1 positional"),
        (lambda: ad.grad(f, "x")(X), ValueError, "argnums"),
        (lambda: ad.grad(lambda x: float(np.sum(x)))(X), TypeError, r"float\(\)"),
        (lambda: ad.jvp(f, X, V), TypeError, "tuples"),
        (lambda: ad.hvp(f, X, V), TypeError, "tuples"),
        (lambda: ad.jvp(f, (X,), (np.ones(2),)), ValueError, r"\(2,\).*\(3,\)"),
        (lambda: ad.jvp(f, (X,), (V, V)), ValueError, "tangents"),
        (lambda: ad.vjp(g, X)[1](np.ones(2)), ValueError, r"\(2,\).*\(3,\)"),
        (lambda: ad.grad(f)("abc"), TypeError, "numbers"),
        (lambda: ad.grad(f)(np.array([1, 2])), TypeError, r"int|astype"),
        (lambda: ad.grad(f)([1.0, None]), TypeError, r"argument\[1\]: a tensor holds numbers.*None"),
        (lambda: ad.grad(f)({"a": {"b": "c"}}), TypeError, r"argument\['a'\]\['b'\]: a tensor holds numbers"),
        (
            lambda: ad.grad(f)([[1.0], [2.0, 3.0]]),
            ValueError,
            r"argument 0: .*\[0\] has shape \(1,\) and \[1\]",
        ),
        (lambda: ad.vjp(f, X, [[1.0], 2.0]), ValueError, r"argument 1: .* \[1\] has shape \(\)\. .*list of arrays"),
        (lambda: ad.vjp(f, [[1.0, 1.0], [2.0, [1.0]]]), ValueError, r"argument 0: .*\[1\]\[0\] has shape \(\) and"),
        (lambda: ad.jvp(f, ([1.0, 2.0],), ([[1.0], 2.0],)), ValueError, r"tangents\[0\]: .* different shapes"),
        (lambda: ad.hessian(lambda p: f(X))([]), ValueError, "hessian is by arrays, and argument 0 holds none"),
        (lambda: ad.hessian(lambda x, p: f(x), 1)(X, {"a": ()}), ValueError, "argument 1 holds none"),
        (lambda: ad.hessian(lambda z: np.sum(np.abs(z)))([1j, 2.0]), TypeError, "hessian is by real arguments"),
        (lambda: ad.jacobian(lambda z: np.abs(z), mode="forward")([1j, 2.0]), TypeError, "by real arguments"),
        (lambda: ad.jvp(f, ([1.0],), ([None],)), TypeError, r"tangents\[0\]: a tensor holds numbers"),
        (lambda: ad.jvp(lambda p: p[0], ([X, X],), ([V],)), ValueError, r"tangents\[0\] .* as the primals are"),
        (lambda: ad.jacobian(lambda x: x * 1j, mode="reverse")(X), TypeError, "complex"),
        (lambda: ad.jacobian(lambda x: x * 1j, mode="forward")(X), TypeError, "complex"),
        (lambda: ad.jacobian(lambda x: [x, x], mode="reverse")(X), TypeError, "one Tensor"),
        (lambda: ad.jacobian(lambda x: [x, x], mode="forward")(X), TypeError, "one Tensor"),
        (lambda: ad.jvp(lambda x: UNRULED(x), (X,), (V,)), LookupError, NAME),
        (lambda: ad.grad(lambda x: UNRULED(x))(X), LookupError, NAME),
    ],
)
def test_wrong_calls_say_what_is_wrong_and_leave_no_tape_recording(call, error, said):
    with pytest.raises(error, match=said):
        call()
    assert active.followers == ()


def test_a_function_that_fails_leaves_no_tape_recording():
    def broken(x):
        raise KeyError("mine")

    for call in (lambda: ad.grad(broken)(X), lambda: ad.hessian(broken)(X), lambda: ad.jvp(broken, (X,), (V,))):
        with pytest.raises(KeyError, match="mine"):
            call()
        assert active.followers == ()


def test_a_complex_tangent_of_a_real_primal_is_refused_as_a_complex_cotangent_is():
    for call in (lambda: ad.jvp(np.sin, (1.0,), (1j,)), lambda: ad.vjp(np.sin, 1.0)[1](1j)):
        with pytest.raises(TypeError, match=r"complex.*real part"):
            call()


def test_argnums_that_are_no_numbers_are_shown_how_to_be_written():
    with pytest.raises(ValueError, match="a whole number, or a tuple of them"):
        ad.grad(np.hypot, [0, 1])(1.0, 2.0)


def test_naming_an_argument_twice_is_an_error():
    for argnums in ((0, 0), (0, -2), ()):
        with pytest.raises(ValueError, match="argnums"):
            ad.grad(lambda x, y: x * y, argnums)(1.0, 2.0)


def test_a_list_of_whole_numbers_is_an_array_of_floats_and_an_array_of_integers_is_refused_by_its_role():
    assert ad.grad(lambda x: np.sum(x**2))([1, 2]).numpy().tolist() == [2, 4]
    with pytest.raises(TypeError, match="argument has dtype int64"):
        ad.grad(lambda x: np.sum(x**2))(np.array([1, 2]))


def test_the_hessian_by_complex_arguments_says_so():
    with pytest.raises(TypeError, match="hessian"):
        ad.hessian(lambda z: np.sum(np.abs(z) ** 2))(np.array([1 + 2j]))
