"""The Hessian over several arrays: nested blocks, and one labelled symmetric matrix over all of them."""

import numpy as np
import pytest
from differences import draw

import autodiff_edu as ad

P = {"w": draw((2, 3), "w"), "layers": [draw((3,), "b"), draw((), "c")]}


def loss(p):
    b, c = p["layers"]
    return np.sum(np.tanh(p["w"] @ b + c) ** 2) + c**3 * np.sum(p["w"])


def vector_of(p):
    return np.concatenate([np.ravel(p["w"]), p["layers"][0], np.ravel(p["layers"][1])])


def of_vector(v):
    return {"w": v[:6].reshape(2, 3), "layers": [v[6:9], v[9]]}


@pytest.fixture(scope="module")
def h():
    return ad.hessian(loss)(P)


def test_the_matrix_is_symmetric_and_that_of_the_flat_function(h):
    matrix = h.matrix().numpy()
    assert matrix.shape == (10, 10)
    np.testing.assert_allclose(matrix, matrix.T, 1e-11, 1e-13)
    flat = ad.hessian(lambda v: loss(of_vector(v)))(vector_of(P)).numpy()
    np.testing.assert_allclose(matrix, flat, 1e-11, 1e-13)


def test_each_block_is_the_second_derivative_by_its_two_arrays(h):
    shapes = {"w": (2, 3), 0: (3,), 1: ()}
    rows = {"w": h["w"], 0: h["layers"][0], 1: h["layers"][1]}
    for a, row in rows.items():
        for b, block in {"w": row["w"], 0: row["layers"][0], 1: row["layers"][1]}.items():
            assert block.shape == shapes[a] + shapes[b]
            other = {"w": rows[b]["w"], 0: rows[b]["layers"][0], 1: rows[b]["layers"][1]}[a].numpy()
            turned = np.moveaxis(other, range(len(shapes[b])), range(-len(shapes[b]), 0)) if shapes[b] else other
            np.testing.assert_allclose(block.numpy(), turned, 1e-11, 1e-13)
    assert h.blocks["w"]["w"] is h["w"]["w"]
    np.testing.assert_allclose(h["w"]["w"].numpy().reshape(6, 6), h.matrix().numpy()[:6, :6])


def test_rows_and_columns_are_labelled_in_the_order_of_the_matrix(h):
    assert len(h.labels) == 10
    assert h.labels[0] == "['w'][0, 0]"
    assert h.labels[5:8] == ["['w'][1, 2]", "['layers'][0][0]", "['layers'][0][1]"]
    assert h.labels[9] == "['layers'][1]"
    assert "10×10" in repr(h)


def test_flatten_and_unflatten_undo_each_other(h):
    gradient = ad.grad(loss)(P)
    flat = h.flatten(gradient)
    assert flat.shape == (10,)
    np.testing.assert_array_equal(flat.numpy(), ad.grad(lambda v: loss(of_vector(v)))(vector_of(P)).numpy())
    back = h.unflatten(flat)
    np.testing.assert_array_equal(back["w"].numpy(), gradient["w"].numpy())
    np.testing.assert_array_equal(back["layers"][1].numpy(), gradient["layers"][1].numpy())
    np.testing.assert_array_equal(h.unflatten(np.arange(10.0))["layers"][0].numpy(), [6, 7, 8])


def test_the_matrix_times_a_vector_is_the_hessian_vector_product(h):
    v = draw((10,), "v")
    product = h.flatten(ad.hvp(loss, (P,), (of_vector(v),)))
    np.testing.assert_allclose(h.matrix().numpy() @ v, product.numpy(), 1e-11, 1e-13)


def test_newton_s_step_over_a_whole_model_is_three_lines():
    def quadratic(p):
        return np.sum((p["w"] * 2.0 + p["b"] - 1.0) ** 2) + p["b"] ** 2

    p = {"w": np.array([1.0, 2.0]), "b": 0.5}
    h = ad.hessian(quadratic)(p)
    step = h.unflatten(np.linalg.solve(h.matrix(), h.flatten(ad.grad(quadratic)(p))))
    assert float(quadratic({k: p[k] - step[k].numpy() for k in p})) < 1e-20


def test_several_arguments_are_a_tuple_of_blocks_and_a_structure_of_one_is_blocks_too():
    h = ad.hessian(lambda x, y: x * y**2, (0, 1))(3.0, 2.0)
    assert h.matrix().tolist() == [[0, 4], [4, 6]]
    assert float(h[0][1]) == 4.0
    one = ad.hessian(lambda p: p["x"] ** 2)({"x": np.ones(2)})
    assert one["x"]["x"].tolist() == one.matrix().tolist() == [[2, 0], [0, 2]]


def test_sources_that_do_not_meet_have_zero_blocks():
    h = ad.hessian(lambda p: np.sum(p["a"] ** 2) + np.sum(p["b"]))({"a": np.ones(2), "b": np.ones(3)})
    assert h["a"]["a"].tolist() == [[2, 0], [0, 2]]
    assert h["a"]["b"].shape == (2, 3)
    assert not h["b"]["b"].numpy().any()
    assert not h["a"]["b"].numpy().any()


def test_the_matrix_can_be_differentiated_again():
    x = ad.constant([1.0, 2.0])
    with ad.GradientTape() as tape:
        tape.watch(x)
        h = ad.hessian(lambda p: np.sum(p["a"] ** 3) * p["b"])({"a": x, "b": 2.0})
        total = np.sum(h.matrix())
    np.testing.assert_allclose(tape.gradient(total, x).numpy(), 12 + 12 * x.numpy())  # 6ab on the diagonal, 3a² beside


def test_wrong_shapes_are_refused(h):
    with pytest.raises(ValueError, match=r"\(9,\).*10 rows"):
        h.unflatten(np.zeros(9))
    with pytest.raises(ValueError, match=r"\(3, 2\).*\(2, 3\)"):
        h.flatten({"w": ad.constant(np.zeros((3, 2))), "layers": [ad.constant(np.zeros(3)), ad.constant(0.0)]})
    with pytest.raises((ValueError, TypeError)):
        h.flatten({"w": ad.constant(np.zeros((2, 3)))})
    with pytest.raises(KeyError):
        h["nothing"]


def test_the_vector_of_a_structure_is_in_the_order_of_the_matrix_whatever_the_order_of_its_keys(h):
    gradient = ad.grad(loss)(P)
    turned = {"layers": gradient["layers"], "w": gradient["w"]}
    np.testing.assert_array_equal(h.flatten(turned).numpy(), h.flatten(gradient).numpy())
    plain = {"w": gradient["w"].numpy(), "layers": [gradient["layers"][0].tolist(), float(gradient["layers"][1])]}
    np.testing.assert_array_equal(h.flatten(plain).numpy(), h.flatten(gradient).numpy())


@pytest.mark.parametrize(
    ("structure", "said"),
    [
        ({"w": np.zeros((2, 3))}, r"structure must be a dict with the keys \['w', 'layers'\], as the sources are"),
        ({"w": np.zeros((2, 3)), "layers": [np.zeros(3)]}, r"structure\['layers'\] must be a list of 2"),
        ({"w": np.zeros((2, 3)), "layers": [np.zeros(2), 0.0]}, r"structure\['layers'\]\[0\] has shape \(2,\)"),
    ],
)
def test_a_structure_unlike_the_sources_is_refused_by_place(h, structure, said):
    with pytest.raises(ValueError, match=said):
        h.flatten(structure)


def test_it_is_shown_by_its_size_and_by_what_its_blocks_belong_to(h):
    rows = h.matrix().shape[0]
    assert repr(h).startswith(f"BlockMatrix({rows}×{rows}: ['")
    assert repr(ad.hessian(lambda x, y: x * y * y, (0, 1))(1.0, 2.0)) == "BlockMatrix(2×2: [0], [1])"


def test_what_is_not_a_number_in_a_structure_is_named_by_its_place():
    h = ad.hessian(lambda p: p["x"] * p["y"] ** 2)({"x": 3.0, "y": 2.0})
    with pytest.raises(TypeError, match=r"structure\['y'\]: a tensor holds numbers"):
        h.flatten({"x": 1.0, "y": "two"})


def test_flatten_and_unflatten_are_recorded():
    h = ad.hessian(lambda p: p["x"] * p["y"] ** 2)({"x": 3.0, "y": 2.0})
    v, x = ad.Variable([5.0, 7.0]), ad.Variable(5.0)
    with ad.GradientTape(persistent=True) as tape:
        y = h.unflatten(v * 2.0)["y"]
        z = h.flatten({"x": x * 3.0, "y": 1.0})
    assert tape.gradient(y, v).tolist() == [0.0, 2.0]
    assert float(tape.gradient(z, x)) == 3.0
