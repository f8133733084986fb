"""Gradients and products of plain functions."""

import inspect
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from differences import central_differences, draw
from no_rule import NAME, UNRULED

import autodiff_edu as ad
from autodiff_edu.core.active import now
from autodiff_edu.core.events import Record

X, V = draw((3,), "x"), draw((3,), "v")


def f(x):
    return np.sum(np.sin(x) * x**2)


def g(x):
    return np.stack([np.sum(x * x), np.prod(x), np.tanh(x[0] * x[1])])


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


Pair = namedtuple("Pair", ["a", "b"])


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
        (
            lambda: ad.hessian(lambda p: f(X))([]),
            ValueError,
            "hessian needs at least one array, but argument 0 contains none",
        ),
        (lambda: ad.hessian(lambda x, p: f(x), 1)(X, {"a": ()}), ValueError, "argument 1 contains none"),
        (lambda: ad.hessian(lambda z: np.sum(np.abs(z)))([1j, 2.0]), TypeError, "hessian needs real arguments"),
        (lambda: ad.jacobian(lambda z: np.abs(z), mode="forward")([1j, 2.0]), TypeError, "needs real arguments"),
        (lambda: ad.jvp(f, ([1.0],), ([None],)), TypeError, r"tangents\[0\]: a tensor holds numbers"),
        (lambda: ad.jvp(lambda p: p[0], ([X, X],), ([V],)), ValueError, r"tangents\[0\] .* as the primals are"),
        (lambda: ad.jacobian(lambda x: x * 1j, mode="reverse")(X), TypeError, "complex"),
        (lambda: ad.jacobian(lambda x: x * 1j, mode="forward")(X), TypeError, "complex"),
        (lambda: ad.jacobian(lambda x: [x, x * 1j], mode="reverse")(X), TypeError, r"jacobian\[1\] is complex"),
        (
            lambda: ad.jacobian(lambda x: [x, 1.0], mode="forward")(X),
            TypeError,
            r"result\[1\] of .* not a tensor",
        ),
        (lambda: ad.jvp(lambda x: UNRULED(x), (X,), (V,)), LookupError, NAME),
        (lambda: ad.grad(lambda x: UNRULED(x))(X), LookupError, NAME),
    ],
)
def test_wrong_calls_say_what_is_wrong_and_leave_no_tape_recording(call, error, said):
    with pytest.raises(error, match=said):
        call()
    assert now().followers == ()


def test_a_complex_tangent_of_a_real_primal_is_refused_as_a_complex_cotangent_is():
    for call in (lambda: ad.jvp(np.sin, (1.0,), (1j,)), lambda: ad.vjp(np.sin, 1.0)[1](1j)):
        with pytest.raises(TypeError, match=r"complex.*real part"):
            call()


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda: ad.grad(f)(X),
        lambda: ad.jvp(f, (X,), (V,)),
        lambda: ad.jacobian(g)(X),
        lambda: ad.hessian(f)(X),
        lambda: ad.hvp(f, (X,), (V,)),
    ],
)
def test_a_hook_sees_a_tape_that_can_be_asked_everything(differentiate):
    answers = []

    def ask(event):
        if isinstance(event, Record):
            answers.append(event.tape.explain(event.entry.output, event.entry.output))

    with ad.hook(ask):
        differentiate()
    assert answers
    assert all(answers)


def test_what_the_caller_does_with_the_value_changes_no_later_pull():
    value, pull = ad.vjp(lambda x: [x * 2.0, x * 3.0], 1.0)
    value[0] = value[0] * 100.0
    assert float(pull([1.0, 1.0])) == 5.0
    value.clear()
    assert float(pull([1.0, 1.0])) == 5.0


def test_vjp_of_no_function_and_of_nothing():
    with pytest.raises(TypeError, match=r"vjp takes a function, but got Tensor\(2.\). Write ad.vjp\(f, x\), not"):
        ad.vjp(ad.constant(2.0), 2.0)
    with pytest.raises(ValueError, match="vjp needs at least one primal"):
        ad.vjp(lambda: ad.constant(1.0))


@pytest.mark.parametrize(
    ("f", "primals"),
    [
        (lambda x: x * 2.0, ((1.0,), (1.0,))),
        (lambda x, y: x * y, ((1.0, 2.0), (1.0, 0.0))),
        (lambda x: x**2, ((1.0,),)),
    ],
)
def test_vjp_in_the_form_of_jvp_says_what_to_write(f, primals):
    with pytest.raises(TypeError) as raised:
        ad.vjp(f, *primals)
    (note,) = raised.value.__notes__
    assert note.endswith("Write value, pullback = ad.vjp(f, x), then pullback(u)")


def test_an_error_in_a_function_of_numbers_gets_no_note_about_tuples():
    with pytest.raises(TypeError) as raised:
        ad.vjp(lambda x: x + None, 1.0)
    assert not any("ad.vjp" in note for note in getattr(raised.value, "__notes__", ()))


def test_the_vectors_may_be_passed_by_name_in_any_order():
    assert float(ad.jvp(tangents=(2.0,), primals=(3.0,), f=lambda x: x * x)[1]) == 12.0
    assert float(ad.hvp(lambda x: x * x, vector=(2.0,), primals=(3.0,))) == 4.0
    assert list(inspect.signature(ad.jvp).parameters) == ["f", "primals", "tangents"]
