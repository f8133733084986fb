"""Saved functions: loaded, they are the functions they were, for other values, other sizes, and any tape."""

import linecache
import subprocess
import sys
import textwrap
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from cases import TABLE
from differences import assert_derivatives, central_differences, draw

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.control import custom_gradient, stop_gradient
from autodiff_edu.events import active
from autodiff_edu.rules.kinds import SPELLED, UFUNC_METHODS
from autodiff_edu.saving import load, save
from autodiff_edu.saving.files import unpack


@pytest.fixture
def path(tmp_path):
    return tmp_path / "function.ad"


def saved(function, path, *examples, **options):
    save(function, path, *examples, **options)
    return load(path)


def program(path):
    """What a file says, without the places."""
    document, arrays = unpack(path.read_bytes(), path)

    def without(part):
        if isinstance(part, dict):
            return {key: without(value) for key, value in part.items() if key not in ("place", "name")}
        return [without(value) for value in part] if isinstance(part, list) else part

    return without(document), {name: array.tolist() for name, array in arrays.items()}


def values_and_gradients(function, arguments):
    """The value, the first derivatives, and those of their sum of squares."""
    tensors = [ad.constant(a) for a in arguments]
    smooth = [t for t in tensors if t.dtype.kind in "fc"]
    with ad.GradientTape() as outer:
        outer.watch(smooth)
        with ad.GradientTape() as inner:
            inner.watch(smooth)
            y = function(*tensors)
        first = inner.gradient(y, smooth, unconnected_gradients="zero")
        total = sum(np.sum(np.real(g) ** 2) for g in first)
    second = outer.gradient(total, smooth, unconnected_gradients="zero")
    return [np.asarray(t) for t in (y, *first, *second)]


def assert_same(function, again, *arguments):
    ours, theirs = values_and_gradients(again, arguments), values_and_gradients(function, arguments)
    for mine, its in zip(ours, theirs, strict=True):
        assert mine.dtype == its.dtype
        np.testing.assert_array_equal(mine, its)


# The same function, of other values and sizes ------------------------------------------------------------------------

X = draw((4, 3), "x")
SQUARE = 3 * np.eye(3)
SQUARE += draw((3, 3), "square")

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
    "a Fourier transform": lambda x: np.abs(np.fft.fft(x)) ** 2,
    "a cut": lambda x: x * stop_gradient(x * x),
    "dtypes as classes": lambda x: x.astype(np.float32) * x.astype(float) + x.astype(int),
    "numbers in the other byte order": lambda x: x * np.array([1.0, 2.0, 3.0], ">f8"),
    "large numbers": lambda x: x * 10**12 + 1e300,
    "the argument itself": lambda x: x,
    "zeros like it": lambda x: np.zeros_like(x) + np.ones_like(x) * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_loaded_function_has_the_values_and_derivatives_of_the_original(name, path):
    function = FUNCTIONS[name]
    again = saved(function, path, X)
    assert_same(function, again, X)
    assert_same(function, again, draw((4, 3), "other values"))
    assert_same(function, again, draw((7, 3), "more samples"))


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

    again = saved(function, path, SQUARE, X[:3])
    assert_same(function, again, SQUARE, X[:3])
    assert_same(function, again, SQUARE + 0.5, X[1:])


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "complex128"])
def test_dtypes_are_kept(dtype, path):
    def function(x):
        return np.real(x * x * 2.0).astype("float32") + np.abs(x)

    x = draw((3,), "x", dtype=dtype)
    assert_same(function, saved(function, path, x), x)


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

    again = saved(loss, path, x, labels)
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
    assert_same(lambda x: layer(x), saved(lambda x: layer(x, training=False), path, x), draw((9, 3), "y"))
    with pytest.raises(ValueError, match="training=False"):
        save(lambda x: layer(x, training=True), path, x)


def test_variables_are_saved_with_their_values_names_and_flags(path):
    w, step = ad.Variable([1.0, 2.0], name="w"), ad.Variable(3, trainable=False, name="step")
    again = saved(lambda x: x * w**2 + step, path, 1.0)
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
    again = saved(lambda x: np.where(x > 0, x, -x) + np.where(np.False_, x, 10.0), path, -1.0)
    assert float(again(2.0)) == 12.0


def test_variables_come_in_the_order_in_which_they_were_made(path):
    a, b = ad.Variable(1.0, name="a"), ad.Variable(2.0, name="b")
    assert [v.name for v in saved(lambda x: x * b + a, path, 1.0).variables] == ["a", "b"]


def test_an_array_that_is_written_into_is_saved_as_it_was_at_each_time(path):
    def function(x):
        weights = np.ones(3)
        y = x * weights
        weights += 1
        return y + x**2 * weights

    assert_same(function, saved(function, path, X), X)


def test_structures_of_arguments_and_results_come_back(path):
    def function(layer, scale):
        return {"both": (layer["w"] * scale, [layer["b"] + scale])}

    again = saved(function, path, {"w": np.ones(2), "b": ad.Variable(1.0)}, 2.0)
    result = again({"b": 3.0, "w": [1.0, 2.0, 3.0]}, 10.0)
    assert result["both"][0].numpy().tolist() == [10.0, 20.0, 30.0]
    assert result["both"][1][0].numpy() == 13.0
    assert isinstance(result["both"], tuple)


def test_jacobians_and_forward_mode_go_through(path):
    def function(x):
        return np.tanh(x[:-1] * x[1:]) + np.sort(x)[0]

    again, x = saved(function, path, draw((4,), "x")), draw((4,), "y")
    for mode in ("reverse", "forward"):
        ours, theirs = (ad.jacobian(f, mode=mode)(x).numpy() for f in (again, function))
        assert np.array_equal(ours, theirs)
    assert np.array_equal(ad.hessian(lambda x: np.sum(again(x)))(x), ad.hessian(lambda x: np.sum(function(x)))(x))


def test_integers_are_inputs_and_index_anew(path):
    table = ad.Variable(draw((5, 2), "table"))
    again = saved(lambda k: table[k] * 2.0, path, np.array([0, 1, 4]))
    assert np.array_equal(again([3, 2]), table.numpy()[[3, 2]] * 2)
    with pytest.raises(TypeError, match="k has dtype float64, and was saved with int64"):
        again([0.5])


def test_a_gradient_can_be_saved(path):
    gradient = saved(ad.grad(lambda x: x**3 * np.sin(x)), path, 1.0)
    assert_same(ad.grad(lambda x: x**3 * np.sin(x)), gradient, 0.7)


def test_a_gradient_through_functions_spelled_in_others_can_be_saved(path):
    gradient = ad.grad(lambda x: np.sum(np.outer(np.stack([x, x**2]), np.sort(np.stack([x, np.sin(x)])))))
    again = saved(gradient, path, 0.5)
    assert float(again(0.7)) == float(gradient(0.7))


def test_saving_a_loaded_function_gives_the_same_program(path, tmp_path):
    w = ad.Variable(2.0, name="w")
    once = saved(lambda x: [1.0, 2.0, 3.0] * np.sort(np.where(x > 0, x * w, 0)), path, X)
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
    "broadcast_to",
    "broadcast_to of size 1 and 0",
    "for row in x",
}
"""Cases that give their own shape to an operation, or loop over it."""


@pytest.mark.parametrize("case", [c for c in TABLE if c.name not in BOUND_TO_SHAPES], ids=lambda case: case.name)
def test_every_operation_that_has_a_rule_can_be_saved(case, path):
    arguments = case.arguments()
    again = saved(case.function, path, *arguments)
    with np.errstate(all="ignore"):
        assert_same(case.function, again, *arguments)


def test_cases_bound_to_their_shapes_are_refused(path):
    for case in TABLE:
        if case.name in BOUND_TO_SHAPES:
            with pytest.raises(ValueError, match="number"):
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


# Custom gradients ----------------------------------------------------------------------------------------------------


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
    again = saved(lambda x: log1pexp(x * x) * 2.0, path, X)
    assert_same(lambda x: log1pexp(x * x) * 2.0, again, draw((6, 3), "other"))
    third = [ad.grad(ad.grad(ad.grad(f)))(0.3) for f in (log1pexp, saved(log1pexp, path, 1.0))]
    assert float(third[0]) == float(third[1])


def test_a_custom_gradient_of_several_arguments_and_results_is_saved(path):
    def function(x, y):
        r, t = polar(x, y)
        return r * np.cos(2 * t)

    x, y = draw((2, 3), "x"), draw((2, 3), "y")
    again = saved(function, path, x, y)
    others = [np.concatenate([x, y]), np.concatenate([y, x])]
    assert_same(function, again, *others)
    got = [g.numpy() for g in ad.grad(again, (0, 1))(*others)]
    assert_derivatives("polar", others, got, central_differences(lambda x, y: np.asarray(again(x, y)), others))


def test_jacobians_of_a_loaded_custom_gradient_are_the_original_s(path):
    again = saved(log1pexp, path, X[:, 0])
    for f in (ad.jacobian, lambda f: ad.hessian(lambda x: np.sum(f(x) ** 2))):
        assert np.array_equal(f(again)(X[:, 1]), f(log1pexp)(X[:, 1]))


def test_the_gradient_of_a_custom_gradient_can_be_saved(path):
    for f in (log1pexp, surprising):
        again = saved(ad.grad(f), path, 1.0)
        assert float(again(0.3)) == float(ad.grad(f)(0.3))
        assert float(ad.grad(again)(0.3)) == float(ad.grad(ad.grad(f))(0.3))


def test_integers_among_the_results_of_a_custom_gradient_come_back(path):
    @custom_gradient
    def f(x):
        return (x * 2, np.argmax(x), np.sum(x)), lambda dy, none, dz: dy * 3 + dz + none

    def function(x):
        y, k, z = f(x)
        return y * z, k

    again, x = saved(function, path, X[:, 0]), np.array([1.0, 7.0, 5.0])
    assert int(again(x)[1]) == 1
    assert_same(lambda x: function(x)[0], lambda x: again(x)[0], x)


def test_a_custom_gradient_may_give_its_argument_or_a_number(path):
    @custom_gradient
    def f(x):
        return (x, 2.0), lambda dy, dz: dy * 5 + dz

    again = saved(lambda x: f(x)[0] * f(x)[1], path, 1.0)
    assert float(ad.grad(again)(3.0)) == 2 * 5 + 3


def test_a_custom_gradient_without_tensors_is_a_constant(path):
    again = saved(lambda x: x * log1pexp(1.0), path, 1.0)
    assert float(again(2.0)) == 2 * float(log1pexp(1.0))


def test_a_custom_gradient_in_a_custom_gradient_is_saved(path):
    again = saved(surprising, path, 1.0)
    assert float(ad.grad(again)(3.0)) == 6.0
    assert float(ad.grad(ad.grad(again))(3.0)) == 777.0


def test_a_custom_gradient_that_uses_itself_comes_to_an_end(path):
    @custom_gradient
    def exponential(x):
        return np.exp(x), lambda dy: dy * exponential(x)

    again = saved(exponential, path, 1.0)
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

    again = saved(f, path, 3.0)
    with ad.GradientTape() as tape:
        y = again(ad.constant(3.0))
    assert float(tape.gradient(y, again.variables[0])) == 1000.0
    again.variables[0].assign(2.0)
    assert float(ad.grad(again)(3.0)) == 2.0


def test_a_gradient_of_none_stays_none(path):
    @custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy * 10.0, None)

    again = saved(f, path, 1.0, 2.0)
    x, y = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        z = again(x, y)
    assert tape.gradient(z, [x, y])[1] is None


def test_a_clipped_gradient_is_saved_as_it_depends_on_the_cotangent(path):
    @custom_gradient
    def clipped(x):
        return x, lambda dy: dy * np.minimum(1.0, 0.5 / np.linalg.norm(dy))

    again = saved(lambda x: clipped(x * x), path, 2.0)
    assert float(ad.grad(again)(2.0)) == 2.0
    assert float(ad.grad(lambda x: again(x) * 0.1)(2.0)) == pytest.approx(0.4)


def test_a_backward_that_leaves_its_cotangent_for_python_is_refused(path):
    @custom_gradient
    def clipped(x):
        return x, lambda dy: dy * 0.5 / max(0.5, float(np.linalg.norm(dy)))

    with pytest.raises(ValueError, match=r"divide at test_saving.py, line \d+ got 1.0, and then 1.007\d+.*float\(\)"):
        save(clipped, path, 2.0)


def test_without_custom_gradients_only_the_gradient_is_missing(path):
    again = saved(lambda x: log1pexp(x) * x, path, 1.0, custom_gradients=False)
    assert float(again(1.0)) == float(log1pexp(ad.constant(1.0)))
    with pytest.raises(LookupError, match=r"log1pexp.*custom_gradients=True"):
        ad.grad(again)(1.0)


def test_saving_a_loaded_custom_gradient_again_gives_the_same_program(path, tmp_path):
    once = saved(lambda x: surprising(x) + polar(x, x)[0], path, X)
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


# What cannot be saved, or only in part --------------------------------------------------------------------------------


@dataclass
class Pair:
    first: float
    second: float


def kernel(x):
    return np.exp(-(x**2))


BAKED = {
    "a number of samples in a shape": (lambda x: x.reshape(len(x), -1) * 2, r"reshape at .*line \d+ got 4.*then 5.*-1"),
    "the very number": (lambda x: x.reshape(4, -1) * 2, r"reshape at .*line \d+ is told the number of samples, 4.*-1"),
    "a division by the number": (lambda x: np.sum(x) / len(x), r"divide at .*line \d+ got 4, and then 5.*np.mean"),
    "an array of zeros": (
        lambda x: x + np.zeros(x.shape),
        r"add at .*line \d+ got .*\(4, 3\).*\(5, 3\).*np.zeros_like",
    ),
    "places counted": (lambda x: x[np.arange(len(x)), [0] * len(x)], r"getitem at .*line \d+.*take_along_axis"),
    "a loop over samples": (lambda x: sum(x[k] for k in range(len(x))), r"path, with another number.*array operations"),
}


@pytest.mark.parametrize("name", BAKED)
def test_a_function_that_bakes_in_the_number_of_samples_is_refused(name, path):
    function, message = BAKED[name]
    with pytest.raises(ValueError, match=message):
        save(function, path, X)
    assert not path.exists()


def test_a_function_that_itself_allows_one_size_is_saved_for_that(path):
    again = saved(lambda x: SQUARE @ x, path, X[:3])
    assert np.array_equal(again(X[1:]), SQUARE @ X[1:])
    with pytest.raises(ValueError, match=r"x has shape \(4, 3\), and must have shape \(3, 3\); it did not run with"):
        again(X)


def test_each_group_of_equally_many_samples_is_free_by_itself(path):
    again = saved(lambda x, y, w: np.sum(x * y) + np.sum(kernel(w)), path, X, X, np.ones(2))
    assert repr(again) == (
        "<saved function <lambda>(x: float64 (n, 3), y: float64 (n, 3), w: float64 (m,)): 7 operations, 0 variables>"
    )
    assert again(np.ones((6, 3)), np.ones((6, 3)), np.zeros(5)).numpy() == 23
    with pytest.raises(ValueError, match="y has 5 samples, and x has 6"):
        again(np.ones((6, 3)), np.ones((5, 3)), np.zeros(5))


def test_a_random_number_is_kept_and_the_line_is_named(path):
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match=r"multiply at test_saving.py, line \d+ got .*random number.*constant") as said:
        save(lambda x: x * rng.random(), path, X)
    assert said[0].filename == __file__
    again = load(path)
    assert np.array_equal(again(X), again(X))
    with pytest.warns(UserWarning, match=r"random number"):
        save(lambda x: x * rng.random(3), path, X)
    with pytest.warns(UserWarning, match=r"random number"), pytest.raises(ValueError, match=r"np.zeros_like"):
        save(lambda x: x * rng.random(x.shape), path, X)


def test_a_file_that_is_read_is_kept_and_the_line_is_named(path, tmp_path):
    np.save(tmp_path / "w.npy", [2.0, 3.0, 4.0])
    (tmp_path / "w.txt").write_text("2.0 3.0 4.0")
    for read in (
        lambda: np.load(tmp_path / "w.npy"),
        lambda: np.loadtxt(tmp_path / "w.txt"),
        lambda: np.array((tmp_path / "w.txt").read_text().split(), float),
        lambda: np.fromfile(tmp_path / "w.txt", sep=" "),
    ):
        with pytest.warns(UserWarning, match=r"opens a file at test_saving.py, line \d+.*constant"):
            save(lambda x, read=read: x * read(), path, X)
        assert np.array_equal(load(path)(X), X * [2.0, 3.0, 4.0])


def test_a_function_without_surprises_is_saved_without_a_warning(path, recwarn):
    save(lambda x: kernel(x) + np.eye(3)[0], path, X)
    assert not recwarn.list


@pytest.mark.parametrize(
    "leave",
    [lambda x: x * float(x[0]), lambda x: x * x.numpy().max(), lambda x: np.sum(x) + np.asarray(x)[1]],
    ids=["float", "numpy", "asarray"],
)
def test_what_was_computed_outside_of_tensors_is_refused(leave, path):
    with pytest.raises(ValueError, match=r"test_saving.py, line \d+ got .*with other values.*\.numpy\(\)"):
        save(leave, path, np.array([1.0, 2.0]))


def test_an_integer_that_chose_a_row_by_itself_is_refused(path):
    rows = draw((3, 2), "rows")
    with pytest.raises(ValueError, match=r"with other values"):
        save(lambda x, k: x * rows[k], path, 1.0, 1)


def test_a_branch_by_value_is_kept_as_taken_and_said(path):
    with pytest.warns(UserWarning, match=r"from numpy.cos at .*line \d+ on, the function took another path.*examples"):
        save(lambda x: np.cos(x) if x <= 1.0 else np.sin(x), path, 1.0)
    assert float(load(path)(2.0)) == np.cos(2.0)


def test_results_that_change_places_are_said(path):
    def function(x):
        a, b = x * 2.0, x * 3.0
        return (a, b) if x <= 1.0 else (b, a)

    with pytest.warns(UserWarning, match="path"):
        save(function, path, 1.0)


def test_random_numbers_of_a_random_shape_are_refused(path):
    counts = iter(range(1, 9))
    with pytest.raises(ValueError, match=r"called twice.*shape \(1,\), and then an array of shape \(2,\)"):
        save(lambda x: x * np.ones(next(counts)), path, 1.0)


def test_integers_of_one_size_that_chose_rows_by_themselves_are_refused(path):
    rows = draw((3, 2), "rows")

    def function(x, k):
        if len(k) != 2:
            raise ValueError("two rows, please")
        return x * rows[k]

    with pytest.raises(ValueError, match="with other values"):
        save(function, path, 1.0, np.array([0, 2]))


def test_a_backward_without_a_rule_is_refused_with_its_line(path):
    @custom_gradient
    def f(x):
        return x * 2, lambda dy: np.unwrap(dy)

    with pytest.raises(LookupError, match=r"numpy.unwrap, used at test_saving.py, line \d+"):
        save(f, path, X[:, 0])


def test_source_files_that_python_quotes_are_no_files_that_the_function_reads(path, recwarn):
    def function(x):
        linecache.clearcache()
        linecache.getline(__file__, 1)
        return x * 2.0

    save(function, path, 1.0)
    assert not recwarn.list


def test_a_function_that_does_something_else_each_time_is_refused(path):
    calls = []

    def function(x):
        calls.append(x)
        return x * x if len(calls) % 2 else np.sin(x)

    with pytest.raises(ValueError, match=r"called twice.*line"):
        save(function, path, 1.0)


def test_a_variable_taken_out_is_said(path):
    w = ad.Variable(2.0, name="w")
    with pytest.warns(UserWarning, match=r"variable 'w', by float\(\), is taken out at test_saving.py, line"):
        save(lambda x: x * float(w), path, 1.0)


def test_a_function_that_assigns_is_refused(path):
    count = ad.Variable(0.0, name="count", trainable=False)
    with pytest.raises(ValueError, match=r"assigns to the variable 'count' at test_saving.py, line \d+"):
        save(lambda x: x * count.assign_add(1.0), path, 1.0)


def test_a_function_without_a_rule_is_refused_with_its_line(path):
    with pytest.raises(LookupError, match=r"numpy.unwrap, used at test_saving.py, line \d+.*register_gradient"):
        save(lambda x: np.unwrap(x) * 2, path, X)
    save(lambda x: (np.unwrap(x), x * 2)[1], path, X)


def test_a_registered_rule_must_be_there_when_loading(path):
    with ad.register_gradient(np.unwrap, lambda g, y, x: g, kind="linear"):
        again = saved(lambda x: np.unwrap(x) * 2, path, X)
        assert np.array_equal(ad.grad(again)(X), np.full(X.shape, 2.0))
    with pytest.raises(ValueError, match=r"instruction 0, numpy.unwrap, .*register_gradient, do so before loading"):
        load(path)


@pytest.mark.parametrize(
    ("function", "examples", "error", "message"),
    [
        (kernel, (), ValueError, "needs an example of each argument"),
        (kernel, ("one",), TypeError, "the example x is 'one'"),
        (kernel, (None,), TypeError, "the example x is None"),
        (kernel, (Pair(1.0, 2.0),), TypeError, "is a dataclass"),
        (lambda x: 3.0, (1.0,), TypeError, "the result is 3.0 of type float"),
        (lambda x: [x, None], (1.0,), TypeError, r"the result\[1\] is None"),
        (lambda x: {"y": np.asarray(x)}, (1.0,), TypeError, r"the result\['y'\] is array"),
        (lambda x: ad.constant(3.0), (1.0,), ValueError, "nothing in the result depends on"),
        (lambda x: x * 2.0, (1,), ValueError, "give floats"),
        (np.argmax, (X,), ValueError, "integers or booleans"),
    ],
)
def test_what_cannot_be_saved_says_why(function, examples, error, message, path):
    with pytest.raises(error, match=message):
        save(function, path, *examples)
    assert not path.exists()


def test_an_error_of_the_function_comes_through_and_leaves_nothing_behind(path):
    before = dict(SPELLED), dict(UFUNC_METHODS), sys.getprofile()

    def function(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        save(function, path, 1.0)
    assert (dict(SPELLED), dict(UFUNC_METHODS), sys.getprofile()) == before
    assert active.tapes == ()


def test_saving_is_on_no_tape_and_unseen_by_hooks(path):
    seen, x = [], ad.Variable(2.0)
    with ad.hook(seen.append), ad.GradientTape() as tape:
        save(lambda x: np.sort(x * x), path, np.ones(2))
        assert tape.entries == []
        y = x * x
    assert float(tape.gradient(y, x)) == 4.0
    assert [type(event).__name__ for event in seen][:2] == ["Watch", "Record"]


# Calling what was loaded ----------------------------------------------------------------------------------------------


def test_arguments_are_checked(path):
    again = saved(lambda x, y: x * y, path, X, np.float32(2.0))
    for arguments, error, message in [
        ((X,), TypeError, r"takes 2 arguments \(x, y\), and 1 were given"),
        ((X[0], 1.0), ValueError, r"x has shape \(3,\), and must have shape \(n, 3\)"),
        ((X[:, :2], 1.0), ValueError, r"x has shape \(4, 2\), and must have shape \(n, 3\)"),
        ((X, X), ValueError, r"y has shape \(4, 3\), and must have shape \(\)"),
        ((X + 1j, 1.0), TypeError, r"x has dtype complex128, and was saved with float64"),
        (("x", 1.0), TypeError, "numbers"),
        (([X], 1.0), ValueError, "shape"),
    ]:
        with pytest.raises(error, match=message):
            again(*arguments)
    assert again(X.astype("float32"), 2.0).dtype == np.float32
    assert again([[1, 2, 3]], 2).numpy().tolist() == [[2, 4, 6]]


def test_a_structure_of_another_form_is_refused(path):
    again = saved(lambda p: p["w"] * p["b"][0], path, {"w": 1.0, "b": [2.0]})
    for wrong in ({"w": 1.0}, [1.0], {"w": 1.0, "b": []}, 3.0):
        with pytest.raises(TypeError, match="as it was when it was saved"):
            again(wrong)


def test_a_loaded_function_shows_what_it_does(path):
    again = saved(kernel, path, X)
    assert str(again).splitlines()[0] == repr(again)
    assert "numpy.power, test_saving.py, line" in str(again)
    assert again.__name__ == "kernel"
