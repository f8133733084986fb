"""Jacobians of structures of targets, and functions that return more than what is differentiated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_edu as ad

P = {"w": np.array([[0.5, -1.0], [2.0, 0.3]]), "b": np.array([0.1, 0.2])}
P2 = {key: ad.constant(value) for key, value in P.items()}


def model(p):
    h = np.tanh(p["w"] @ p["b"])
    return {"h": h, "more": (np.sum(p["w"]), [p["b"] ** 2, ad.constant(3.0)])}


PICKS = [lambda r: r["h"], lambda r: r["more"][0], lambda r: r["more"][1][0], lambda r: r["more"][1][1]]


@pytest.mark.parametrize("mode", ["reverse", "forward", "auto"])
def test_the_result_has_the_structure_of_the_targets_and_in_it_that_of_the_sources(mode):
    found = ad.jacobian(model, mode=mode)(P)
    assert list(found) == ["h", "more"]
    assert isinstance(found["more"], tuple)
    for pick in PICKS:
        alone = ad.jacobian(lambda p, pick=pick: pick(model(p)), mode="reverse" if mode == "auto" else mode)(P)
        for key in P:
            assert pick(found)[key].shape == pick(model(P2)).shape + P[key].shape
            np.testing.assert_allclose(pick(found)[key].numpy(), alone[key].numpy(), atol=1e-15)


def test_several_arguments():
    found = ad.jacobian(lambda x, y: [x * y, x + y], (0, 1))(2.0, 3.0)
    assert [[float(j) for j in row] for row in found] == [[3.0, 2.0], [1.0, 1.0]]


@pytest.mark.parametrize(("inputs", "outputs", "expected"), [(2, 3, "forward"), (6, 2, "reverse")])
def test_auto_counts_all_targets(monkeypatch, inputs, outputs, expected):
    from autodiff_edu.transforms import matrices

    pushed, push = [], matrices.by_columns
    monkeypatch.setattr(matrices, "by_columns", lambda *args: (pushed.append(1), push(*args))[1])
    ad.jacobian(lambda x: [np.ones((outputs - 1, inputs)) @ x, np.sum(x)])(np.ones(inputs))
    assert ("forward" if pushed else "reverse") == expected


def test_higher_orders_and_empty_structures():
    x = np.array([1.0, 2.0])
    second = ad.jacobian(lambda x: ad.jacobian(lambda x: {"c": x**3, "s": x * x[::-1]})(x))(x)
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0], expected[1, 1, 1] = 6.0, 12.0
    np.testing.assert_allclose(second["c"].numpy(), expected)
    assert second["s"][0].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert ad.jacobian(lambda x: [])(x) == []


@pytest.mark.parametrize("mode", ["reverse", "forward", "auto"])
def test_an_argument_without_arrays_has_jacobians_without_arrays(mode):
    for empty in ({}, [], {"w": []}):
        assert ad.jacobian(lambda p: ad.constant([1.0, 2.0]), mode=mode)(empty) == empty
        found = ad.jacobian(lambda p: {"a": ad.constant(1.0), "b": [ad.constant(2.0)]}, mode=mode)(empty)
        assert found == {"a": empty, "b": [empty]}


def test_one_tape_one_question():
    x = ad.Variable([1.0, 2.0], name="x")
    w = ad.Variable(1.0, name="w")
    with ad.GradientTape() as tape:
        y, z = x**2, np.sum(x) * w
    found = tape.jacobian({"y": y, "z": z}, [x, w])
    assert found["y"][0].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert found["y"][1] is None
    assert found["z"][0].tolist() == [1.0, 1.0]
    assert float(found["z"][1]) == 3.0
    with pytest.raises(RuntimeError, match="already been used"):
        tape.jacobian([y], x)


def test_zero_and_explain_for_structures():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.GradientTape(persistent=True) as tape:
        y, z = x**2, np.sign(x)
    assert tape.jacobian([y, z], x, unconnected_gradients="zero")[1].tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ad.UnconnectedError, match="steps"):
        tape.jacobian([y, z], x, unconnected_gradients="explain")
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tape.jacobian([], x, unconnected_gradients="nothing")


# has_aux --------------------------------------------------------------------------------------------------------------


def loss(p, scale):
    y = np.sum((p["w"] @ p["b"]) ** 2) * scale
    return y, {"norm": np.sum(p["w"]), "text": "kept", "n": 3, "array": np.ones(2)}


@given(st.floats(-5, 5))
def test_aux_is_handed_through_and_the_gradient_is_the_same(scale):
    alone = ad.value_and_grad(lambda p, s: loss(p, s)[0], argnums=(0, 1))
    value, gradient = alone(P, scale)
    (found, aux), with_aux = ad.value_and_grad(loss, argnums=(0, 1), has_aux=True)(P, scale)
    only, same = ad.grad(loss, argnums=(0, 1), has_aux=True)(P, scale)
    np.testing.assert_array_equal(found.numpy(), value.numpy())
    for one in (with_aux, only):
        np.testing.assert_array_equal(one[0]["w"].numpy(), gradient[0]["w"].numpy())
        np.testing.assert_array_equal(one[1].numpy(), gradient[1].numpy())
    for kept in (aux, same):
        assert kept["text"] == "kept"
        assert kept["n"] == 3
        assert float(kept["norm"]) == np.sum(P["w"])


def test_only_the_value_is_differentiated_and_orders_nest():
    def cube(x):
        return x**3, x**2

    assert [float(part) for part in ad.grad(cube, has_aux=True)(2.0)] == [12.0, 4.0]
    second, aux = ad.grad(lambda x: ad.grad(cube, has_aux=True)(x), has_aux=True)(2.0)
    assert [float(second), float(aux)] == [12.0, 4.0]


def test_an_outer_tape_follows_aux():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        _, aux = ad.grad(lambda x: (x**3, x**2), has_aux=True)(x)
    assert float(tape.gradient(aux, x)) == 4.0


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: x * x, "but it returned Tensor"),
        (lambda x: (x, x, x), "but it returned a tuple of 3"),
        (lambda x: [x, x], r"but it returned \[Tensor"),
        (lambda x: None, "but it returned None"),
        (lambda x: (3.0, x), "the value of .* is 3.0 of type float, which is not a tensor"),
        (lambda x: ((x, 3.0), x), r"the value\[1\] of"),
    ],
)
@pytest.mark.parametrize("transform", [ad.grad, ad.value_and_grad])
def test_wrong_returns_are_told(f, said, transform):
    with pytest.raises(TypeError, match=said):
        transform(f, has_aux=True)(2.0)


def test_a_pair_without_has_aux_is_a_structure_of_values():
    assert float(ad.grad(lambda x: (x, x * 2))(1.0)) == 3.0
    with pytest.raises(TypeError, match="the result\\[1\\]"):
        ad.grad(lambda x: (x, "aux"))(1.0)
