"""`linearize`: f runs once, tangents are pushed as often as asked, and the push is linear and differentiable."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_edu as ad
from autodiff_edu.transforms import forward

X = np.array([0.3, -1.1, 0.7])


def f(x, p):
    return {"y": np.sin(x) * p["w"], "z": [np.sum(x) ** 2, np.tanh(p["b"] * x)]}


P = {"w": np.array([1.0, 2.0, 3.0]), "b": 0.5}


def leaves(structure):
    return [structure["y"], *structure["z"]]


def test_each_push_is_a_jvp_bit_for_bit_and_f_runs_once():
    calls = []

    def counted(x, p):
        calls.append(1)
        return f(x, p)

    value, pushforward = ad.linearize(counted, X, P)
    for k in range(4):
        tangents = (X * k, {"w": X - k, "b": float(k)})
        expected_value, expected = ad.jvp(f, (X, P), tangents)
        for found, wanted in ((value, expected_value), (pushforward(*tangents), expected)):
            for one, two in zip(leaves(found), leaves(wanted), strict=True):
                np.testing.assert_array_equal(one.numpy(), two.numpy())
    assert len(calls) == 1


@given(st.floats(-3, 3), st.floats(-3, 3), st.integers(0, 2**16))
def test_it_is_linear(a, b, seed):
    u, v = np.random.default_rng(seed).standard_normal((2, 3))
    _, push = ad.linearize(lambda x: np.exp(np.sin(x)) @ np.vander(x), X)
    np.testing.assert_allclose(push(a * u + b * v).numpy(), (a * push(u) + b * push(v)).numpy(), rtol=1e-10, atol=1e-10)


def test_an_outer_tape_differentiates_the_value_and_the_tangent():
    x, v = ad.Variable(X), ad.Variable([1.0, 2.0, 3.0])
    with ad.GradientTape(persistent=True) as tape:
        value, push = ad.linearize(lambda x: np.sum(x**3), x)
        tangent = push(v)
    np.testing.assert_allclose(tape.gradient(value, x).numpy(), 3 * X**2)
    np.testing.assert_allclose(tape.gradient(tangent, x).numpy(), 6 * X * v.numpy())
    np.testing.assert_allclose(tape.gradient(tangent, v).numpy(), 3 * X**2)
    hessian_vector = ad.grad(lambda x: ad.linearize(lambda x: np.sum(x**3), x)[1](v))(x)
    np.testing.assert_allclose(hessian_vector.numpy(), ad.hvp(lambda x: np.sum(x**3), (X,), (v,)).numpy())


def test_what_does_not_move_has_the_tangent_zero():
    value, push = ad.linearize(lambda x: (x * 2, np.sign(x), ad.constant([1.0, 2.0])), 3.0)
    assert [float(value[0]), float(value[1])] == [6.0, 1.0]
    assert [t.numpy().tolist() for t in push(1.0)] == [2.0, 0.0, [0.0, 0.0]]


@pytest.mark.parametrize(
    ("tangents", "error", "message"),
    [
        ((np.ones(2), P), ValueError, r"tangents\[0\] has shape \(2,\), but its primal has shape \(3,\)"),
        ((X,), ValueError, "tangents must be a tuple of 2"),
        ((X, {"w": X}), ValueError, r"dict with the keys \['w', 'b'\]"),
        ((X * 1j, P), TypeError, "complex"),
        ((X, {"w": X, "b": "fast"}), TypeError, r"tangents\[1\]\['b'\]"),
    ],
)
def test_wrong_tangents_are_told_as_by_jvp(tangents, error, message):
    _, push = ad.linearize(f, X, P)
    with pytest.raises(error, match=message):
        push(*tangents)
    with pytest.raises(error, match=message):
        ad.jvp(f, (X, P), tangents)
    push(X, P)  # and it still works


def test_wrong_functions_and_primals():
    with pytest.raises(TypeError, match="not a tensor"):
        ad.linearize(lambda x: 3.0, 1.0)
    with pytest.raises(TypeError, match="int"):
        ad.linearize(np.sin, np.array([1, 2]))


def test_it_can_be_traced_and_saved(tmp_path):
    def slope(x):
        return ad.linearize(lambda x: x**3, x)[1](1.0)

    with ad.trace() as steps:
        slope(2.0)
    assert "Tangents are pushed forward" in steps.transcript()
    ad.save(slope, tmp_path / "slope", 2.0)
    again = ad.load(tmp_path / "slope")
    assert float(again(5.0)) == 75.0
    assert float(ad.grad(again)(5.0)) == 30.0


def test_what_the_caller_does_with_the_value_changes_no_later_push():
    for change in (lambda value: value.__setitem__(0, value[0] * 100.0), lambda value: value.pop()):
        value, push = ad.linearize(lambda x: [x * 2.0, x * 3.0], 1.0)
        change(value)
        assert [float(tangent) for tangent in push(1.0)] == [2.0, 3.0]


def test_it_holds_only_what_lies_between_the_primals_and_the_value(monkeypatch):
    tapes = []
    run = forward.run
    monkeypatch.setattr(forward, "run", lambda *args: tapes.append(found := run(*args)) or found)
    w = ad.Variable(np.ones((3, 3)))

    def f(x):
        kernel = np.tanh(w @ w)  # does not depend on x
        side = np.exp(x)  # is not in the value
        assert side.shape == x.shape
        return {"a": np.sin(x @ kernel) * 2.0, "b": x}

    value, push = ad.linearize(f, X)
    assert [entry.name for entry in tapes[0][0].entries] == ["matmul", "sin", "multiply"]
    tangent = push(X)
    expected = ad.jvp(f, (X,), (X,))[1]
    for name in value:
        np.testing.assert_array_equal(tangent[name].numpy(), expected[name].numpy())


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: ad.linearize(np.sin(ad.constant(1.0)), 1.0), TypeError, r"linearize takes a function, but got Tensor"),
        (lambda: ad.linearize(lambda: ad.constant(1.0)), ValueError, r"linearize needs at least one primal.*\(f, x\)"),
        (lambda: ad.linearize(np.multiply, 1.0, 2.0)[1](1.0, None), TypeError, r"tangents\[1\] is None. Pass zeros"),
    ],
)
def test_slips(call, error, said):
    with pytest.raises(error, match=said):
        call()
