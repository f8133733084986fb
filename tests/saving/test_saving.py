"""Saved functions: loaded, they are the functions they were, for other values, other sizes, and any tape."""

import copy
import pickle
import threading

import numpy as np
import pytest
from cases import TABLE
from differences import draw
from round_trip import SQUARE, X, assert_same, program, save_and_load
from table import each

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.custom import stop_gradient
from autodiff_edu.saving import load, save

# The same function, of other values and sizes ------------------------------------------------------------------------

FUNCTIONS = {
    "arithmetic": lambda x: 2 * x**3 - x / 3.0 + 1,
    "a mean": lambda x: np.mean(x * x, axis=0),
    "a ufunc's method": lambda x: np.add.reduce(x * x) + np.logaddexp.reduce(x),
    "comparisons": lambda x: np.where(~(x > 0.5) & (x < 2), x**2, np.sin(x)),
    "rounding": lambda x: x * np.round(x) * np.sign(x),
    "an argmax that is an index": lambda x: np.take_along_axis(x, np.argmax(x, axis=1)[:, None], axis=1) ** 2,
    "sorting": lambda x: np.sort(x, axis=0) * np.array([1.0, 2.0, 3.0]),
    "the median": lambda x: np.median(x * x, axis=1),
    "slices": lambda x: x[1:, ::2] * x[:-1, None, -1],
    "a mask": lambda x: x[:, np.array([True, False, True])] ** 2,
    "a list as an index": lambda x: x[..., [0, 2, 0]] ** 2,
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x * x),
    "joining": lambda x: np.concatenate([x, np.stack([x[0], x[-1]])], axis=0) ** 2,
    "splitting": lambda x: np.split(x, 3, axis=1)[1] * x,
    "tensordot": lambda x: np.tensordot(x, SQUARE, 1) * x,
    "norms": lambda x: np.linalg.norm(x, axis=1) * np.linalg.norm(x),
    "padding": lambda x: np.pad(x, ((1, 1), (0, 0)), mode="edge") ** 2,
    "clipping": lambda x: np.clip(x, -1, None) ** 2,
    "reshaping": lambda x: x.reshape(-1, 3, 1).ravel() ** 2,
    "infinity and a constant": lambda x: np.minimum(x, np.inf) * np.float32(2.5) + [1.0, 2.0, 3.0],
    "a power of complex numbers": lambda x: np.real((x + 1j * x[::-1]) ** 2),
    "a Fourier transform": lambda x: np.abs(np.fft.fft(x)) ** 2,
    "a cut": lambda x: x * stop_gradient(x * x),
    "dtypes as classes": lambda x: x.astype(np.float32) * x.astype(float) + x.astype(int),
    "numbers in the other byte order": lambda x: x * np.array([1.0, 2.0, 3.0], ">f8"),
    "large numbers": lambda x: x * 10**12 + 1e300,
    "the argument itself": lambda x: x,
    "a tensor made of another": lambda x: x * ad.constant(x * x, dtype="float32"),
    "a variable made inside": lambda x: x * ad.Variable(x * 2.0, trainable=False),
    "zeros like it": lambda x: np.zeros_like(x) + np.ones_like(x) * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_loaded_function_has_the_values_and_derivatives_of_the_original(name, path):
    function = FUNCTIONS[name]
    again = save_and_load(function, path, X)
    assert_same(function, again, X)
    assert_same(function, again, draw((4, 3), "other values"))
    assert_same(function, again, draw((7, 3), "more samples"))


def test_an_operation_on_constants_alone_is_run_again_too(path):
    def f(x):
        return x * np.sin(ad.constant(2.0)) + np.sum(np.stack(np.split(ad.constant([1.0, 2.0]), 2)))

    again = save_and_load(f, path, 3.0)
    assert_same(f, again, np.array(5.0))


def test_the_whole_of_linear_algebra_survives(path):
    def function(a, b):
        w, v = np.linalg.eigh(a @ a.T)
        q, r = np.linalg.qr(a)
        u, s, _ = np.linalg.svd(b)
        return (
            np.sum(w * v**2)
            + np.sum(q[0] * r[0])
            + np.linalg.det(a)
            + np.sum(np.linalg.solve(a, b))
            + s[0] * u[0, 0] ** 2
        )

    again = save_and_load(function, path, SQUARE, X[:3])
    assert_same(function, again, SQUARE, X[:3])
    assert_same(function, again, SQUARE + 0.5, X[1:])


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "complex128"])
def test_dtypes_are_kept(dtype, path):
    def function(x):
        return np.real(x * x * 2.0).astype("float32") + np.abs(x)

    x = draw((3,), "x", dtype=dtype)
    assert_same(function, save_and_load(function, path, x), x)


def test_a_network_learns_on_after_loading(path):
    nn.seed(0)

    class Network(nn.Module):
        def __init__(self):
            self.hidden, self.last = nn.Dense(5, nn.relu), nn.Dense(3)

        def __call__(self, x):
            return self.last(self.hidden(x))

    network = Network()
    x, labels = draw((6, 4), "x"), np.array([0, 1, 2, 2, 1, 0])

    def loss(x, labels):
        return nn.softmax_cross_entropy(network(x), labels)

    again = save_and_load(loss, path, x, labels)
    assert [v.shape for v in again.trainable_variables] == [v.shape for v in network.trainable_variables]
    assert [v.name for v in again.variables] == ["kernel", "bias", "kernel", "bias"]
    other, others = draw((9, 4), "other"), np.arange(9) % 3
    for f, variables in ((loss, network.trainable_variables), (again, again.trainable_variables)):
        optimizer = nn.SGD(0.1)
        for _ in range(3):
            with ad.GradientTape() as tape:
                value = f(other, others)
            optimizer.apply(tape.gradient(value, variables), variables)
    assert float(again(x, labels)) == float(loss(x, labels)) < float(load(path)(x, labels))


def test_batch_normalization_is_saved_as_it_is_used_after_training(path):
    layer, x = nn.BatchNormalization(), draw((6, 3), "x")
    layer(x, training=True)
    assert_same(lambda x: layer(x), save_and_load(lambda x: layer(x, training=False), path, x), draw((9, 3), "y"))
    with pytest.raises(ValueError, match="training=False"):
        save(lambda x: layer(x, training=True), path, x)


def test_variables_are_saved_with_their_values_names_and_flags(path):
    w, step = ad.Variable([1.0, 2.0], name="w"), ad.Variable(3, trainable=False, name="step")
    again = save_and_load(lambda x: x * w**2 + step, path, 1.0)
    w.assign([7.0, 7.0])
    assert [(v.name, v.trainable, v.numpy().tolist()) for v in again.variables] == [
        ("w", True, [1.0, 2.0]),
        ("step", False, 3),
    ]
    with ad.GradientTape() as tape:
        y = again(2.0)
    assert tape.gradient(y, again.trainable_variables)[0].numpy().tolist() == [4.0, 8.0]
    again.variables[0].assign([0.0, 1.0])
    assert again(2.0).numpy().tolist() == [3.0, 5.0]
    assert load(path)(2.0).numpy().tolist() == [5.0, 11.0]


def test_a_truth_that_is_a_constant_is_not_taken_for_one_that_was_computed(path):
    again = save_and_load(lambda x: np.where(x > 0, x, -x) + np.where(np.False_, x, 10.0), path, -1.0)
    assert float(again(2.0)) == 12.0


def test_variables_come_in_the_order_in_which_they_were_made(path):
    a, b = ad.Variable(1.0, name="a"), ad.Variable(2.0, name="b")
    assert [v.name for v in save_and_load(lambda x: x * b + a, path, 1.0).variables] == ["a", "b"]


def test_an_array_that_is_written_into_is_saved_as_it_was_at_each_time(path):
    def function(x):
        weights = np.ones(3)
        y = x * weights
        weights += 1
        return y + x**2 * weights

    assert_same(function, save_and_load(function, path, X), X)


def test_structures_of_arguments_and_results_come_back(path):
    def function(layer, scale):
        return {"both": (layer["w"] * scale, [layer["b"] + scale])}

    again = save_and_load(function, path, {"w": np.ones(2), "b": ad.Variable(1.0)}, 2.0)
    result = again({"b": 3.0, "w": [1.0, 2.0, 3.0]}, 10.0)
    assert result["both"][0].numpy().tolist() == [10.0, 20.0, 30.0]
    assert result["both"][1][0].numpy() == 13.0
    assert isinstance(result["both"], tuple)


def test_jacobians_and_forward_mode_go_through(path):
    def function(x):
        return np.tanh(x[:-1] * x[1:]) + np.sort(x)[0]

    again, x = save_and_load(function, path, draw((4,), "x")), draw((4,), "y")
    for mode in ("reverse", "forward"):
        ours, theirs = (ad.jacobian(f, mode=mode)(x).numpy() for f in (again, function))
        assert np.array_equal(ours, theirs)
    assert np.array_equal(ad.hessian(lambda x: np.sum(again(x)))(x), ad.hessian(lambda x: np.sum(function(x)))(x))


def test_integers_are_inputs_and_index_anew(path):
    table = ad.Variable(draw((5, 2), "table"))
    again = save_and_load(lambda k: table[k] * 2.0, path, np.array([0, 1, 4]))
    assert np.array_equal(again([3, 2]), table.numpy()[[3, 2]] * 2)
    with pytest.raises(TypeError, match=rf"k has dtype float64, but was saved with {np.dtype(int)}"):
        again([0.5])


def test_an_integer_that_does_not_fit_is_refused_and_never_another_number(path):
    again = save_and_load(lambda x, k: x * k, path, 2.0, np.int32(3))
    assert float(again(1.0, 2**31 - 1)) == 2**31 - 1
    for k in (2**31, 2**40, -(2**31) - 1):
        with pytest.raises(ValueError, match=rf"k is {k}, which does not fit into int32"):
            again(1.0, k)


def test_a_gradient_can_be_saved(path):
    gradient = save_and_load(ad.grad(lambda x: x**3 * np.sin(x)), path, 1.0)
    assert_same(ad.grad(lambda x: x**3 * np.sin(x)), gradient, 0.7)


def test_a_gradient_through_functions_spelled_in_others_can_be_saved(path):
    gradient = ad.grad(lambda x: np.sum(np.outer(np.stack([x, x**2]), np.sort(np.stack([x, np.sin(x)])))))
    again = save_and_load(gradient, path, 0.5)
    assert float(again(0.7)) == float(gradient(0.7))


def test_a_result_that_is_a_constant_can_be_saved(path):
    again = save_and_load(lambda x: {"square": x * x, "two": ad.constant([2.0, 3.0])}, path, X)
    np.testing.assert_array_equal(again(2 * X)["two"], [2.0, 3.0])
    np.testing.assert_array_equal(again(2 * X)["square"], 4 * X * X)


def test_the_gradient_with_respect_to_an_argument_that_is_not_used_can_be_saved(path):
    gradient = save_and_load(ad.grad(lambda x, y: y**3, (0, 1)), path, 1.0, 2.0)
    assert [float(g) for g in gradient(5.0, 3.0)] == [0.0, 27.0]


def test_saving_a_loaded_function_gives_the_same_program(path, tmp_path):
    w = ad.Variable(2.0, name="w")
    once = save_and_load(lambda x: [1.0, 2.0, 3.0] * np.sort(np.where(x > 0, x * w, 0)), path, X)
    save(once, tmp_path / "again.ad", X)
    assert program(tmp_path / "again.ad") == program(path)


def test_the_same_function_gives_the_same_bytes(path, tmp_path):
    w = ad.Variable(2.0)
    for where in (path, tmp_path / "again.ad"):
        save(lambda x: np.sin(x) * w + X[0], where, X)
    assert path.read_bytes() == (tmp_path / "again.ad").read_bytes()


def test_only_what_leads_to_the_result_is_saved(path):
    def function(x):
        np.linalg.norm(x)
        return np.sin(x)

    save(function, path, X)
    assert [step["operation"] for step in program(path)[0]["instructions"]] == ["numpy.sin"]


BOUND_TO_SHAPES = {
    "clip to sizes",
    "reshape",
    "reshape in Fortran's order",
    "reshape in Fortran's order, as a method",
    "broadcast_to",
    "broadcast_to of size 1 and 0",
    "for row in x",
    "unstack",
}
"""Cases that give their own shape to an operation, or loop over it."""


CALLING = [c for c in TABLE if c.name.startswith(("piecewise", "apply_along_axis", "apply_over_axes"))]
"""Cases of operations that take a function, which is no data."""


@each([c for c in TABLE if c.name not in BOUND_TO_SHAPES and c not in CALLING], spare=True)
def test_every_operation_that_has_a_rule_can_be_saved(case, path):
    arguments = case.arguments()
    again = save_and_load(case.function, path, *arguments)
    with np.errstate(all="ignore"):
        assert_same(case.function, again, *arguments)


def test_cases_bound_to_their_shapes_are_refused(path):
    for case in TABLE:
        if case.name in BOUND_TO_SHAPES:
            with pytest.raises(ValueError, match="number"):
                save(case.function, path, *case.arguments())


def test_operations_that_take_functions_are_refused(path):
    for case in CALLING:
        with pytest.raises(TypeError, match=rf"numpy\.{case.name.split()[0].strip(',')}.* was given a function"):
            save(case.function, path, *case.arguments())


def test_other_threads_compute_while_one_saves(path):
    halt, results = threading.Event(), []

    def compute():
        x = ad.Variable([3.0, 1.0, 2.0])
        while not halt.is_set():
            with ad.GradientTape() as tape:
                y = np.sum(np.sort(x * x)[:2] * np.array([1.0, 10.0]))
            results.append(tape.gradient(y, x).numpy().tolist())

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        for _ in range(20):
            save(lambda x: np.sort(x), path, X)
    finally:
        halt.set()
        thread.join()
    assert results
    assert all(result == [0.0, 2.0, 40.0] for result in results)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_network_of_all_layers_is_saved_bit_by_bit_in_every_dtype(dtype, path):
    class Network(nn.Module):
        def __init__(self):
            self.first, self.norm, self.last = nn.Dense(4, nn.elu), nn.BatchNormalization(), nn.Dense(2, nn.softmax)

        def __call__(self, x):
            return self.last(self.norm(self.first(x)))

    network, x = Network(), np.linspace(-1.0, 1.0, 15).reshape(5, 3).astype(dtype)
    y = network(x)
    again = save_and_load(network, path, x)
    assert again(x).dtype == dtype
    assert np.array_equal(again(x).numpy(), y.numpy())
    assert [len(again(part)) for part in (x[:0], x[:1], np.repeat(x, 3, 0))] == [0, 1, 15]


# Calling what was loaded ----------------------------------------------------------------------------------------------


def test_arguments_are_checked(path):
    again = save_and_load(lambda x, y: x * y, path, X, np.float32(2.0))
    for arguments, error, message in [
        ((X,), TypeError, r"takes 2 arguments \(x, y\), but 1 were given"),
        ((X[0], 1.0), ValueError, r"x has shape \(3,\), but must have shape \(n, 3\)"),
        ((X[:, :2], 1.0), ValueError, r"x has shape \(4, 2\), but must have shape \(n, 3\)"),
        ((X, X), ValueError, r"y has shape \(4, 3\), but must have shape \(\)"),
        ((X + 1j, 1.0), TypeError, r"x has dtype complex128, but was saved with float64"),
        (("x", 1.0), TypeError, "numbers"),
        (([X], 1.0), ValueError, "shape"),
    ]:
        with pytest.raises(error, match=message):
            again(*arguments)
    assert again(X.astype("float32"), 2.0).dtype == np.float32
    assert again([[1, 2, 3]], 2).numpy().tolist() == [[2, 4, 6]]


def test_a_structure_of_another_form_is_refused(path):
    again = save_and_load(lambda p: p["w"] * p["b"][0], path, {"w": 1.0, "b": [2.0]})
    for wrong in ({"w": 1.0}, [1.0], {"w": 1.0, "b": []}, 3.0):
        with pytest.raises(TypeError, match="as when it was saved"):
            again(wrong)


def kernel(x):
    return np.exp(-(x**2))


def test_a_loaded_function_shows_what_it_does(path):
    again = save_and_load(kernel, path, X)
    assert str(again).splitlines()[0] == repr(again)
    assert "numpy.power, test_saving.py, line" in str(again)
    assert again.__name__ == "kernel"


def test_a_loaded_function_is_copied_and_pickled(path):
    f = save_and_load(lambda x, y: x * y, path, np.ones((4, 3)), np.ones((4, 1)))
    for again in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert again(np.ones((2, 3)), np.full((2, 1), 3.0)).numpy().tolist() == [[3.0] * 3] * 2


def test_a_loaded_function_is_part_of_a_model(path):
    w = ad.Variable(2.0, name="w")
    model = nn.Module()
    model.function = save_and_load(lambda x: x * w, path, 1.0)
    assert len(model.variables) == 1


def test_a_loaded_function_keeps_the_names_of_its_arguments_when_it_is_saved_again(path):
    f = save_and_load(lambda x, y: x * y, path, np.ones((4, 3)), np.ones((4, 1)))
    assert "(x: float64 (n, 3), y: float64 (n, 1))" in repr(save_and_load(f, path, np.ones((4, 3)), np.ones((4, 1))))
