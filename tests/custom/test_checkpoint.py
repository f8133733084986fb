"""Checkpointed functions: their derivatives are those of the functions, and a tape holds only what went in."""

import warnings
from functools import partial
from math import isqrt
from typing import NamedTuple

import dask.array
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_edu as ad
from autodiff_edu.arrays.structures import flatten
from autodiff_edu.player.layout.groups import find_groups

W = ad.Variable(np.array([[0.3, -0.7, 0.2], [0.5, 0.1, -0.4], [-0.2, 0.6, 0.9]]), name="W")
X = np.array([[0.5, -1.2, 0.8], [1.5, 0.2, -0.3]])


def layer(x):
    return np.sin(np.tanh(x @ W) * 2.0) @ W


def arrays(structure):
    found = structure.matrix() if isinstance(structure, ad.BlockMatrix) else structure
    return [None if leaf is None else np.asarray(leaf) for _, leaf in flatten(found, "")]


def assert_equal(found, expected, **tolerance):
    found, expected = arrays(found), arrays(expected)
    assert [one is None for one in found] == [one is None for one in expected]
    for a, b in zip(found, expected, strict=True):
        if b is not None:
            assert a.dtype == b.dtype
            (np.testing.assert_allclose if tolerance else np.testing.assert_array_equal)(a, b, **tolerance)


def total(f):
    return lambda *args: np.sum(f(*args) ** 2)


# What a tape holds --------------------------------------------------------------------------------------------------


def test_a_call_is_one_entry_that_holds_what_went_in_and_the_result():
    x = ad.Variable(X)
    with ad.GradientTape() as tape:
        y = ad.checkpoint(layer)(x)
    (entry,) = tape.entries
    assert entry.name == "layer"
    assert entry.ids[:2] == (x._id, W._id)
    assert tape.nbytes == x.numpy().nbytes + W.numpy().nbytes + y.numpy().nbytes
    assert "= layer(x1, W)" in str(tape)


def segments(steps, n, x):
    """A chain of n steps in parts of √n, each of which is recomputed."""
    size = isqrt(n)

    def part(x, first):
        for k in range(first, first + size):
            x = steps(x, k)
        return x

    for first in range(0, n, size):
        x = ad.checkpoint(part)(x, first)
    return x


def test_a_chain_of_n_in_parts_of_root_n_holds_root_n_arrays():
    x = ad.Variable(np.linspace(-1, 1, 1000))

    def step(x, k):
        return np.sin(x)

    def plain(x):
        for k in range(100):
            x = step(x, k)
        return x

    held, found = [], []
    for f in (plain, lambda x: segments(step, 100, x)):
        with ad.GradientTape() as tape:
            y = f(x)
        held.append((len(tape.entries), tape.nbytes // x.numpy().nbytes))
        found.append(tape.gradient(y, x))
    assert held == [(100, 101), (10, 11)]
    assert_equal(*found)


class Most:
    """A listener that notes the most bytes that all tapes together hold."""

    def __init__(self):
        self.tapes, self.most = {}, 0

    def see(self, event):
        tape = getattr(event, "tape", None)
        if tape is not None:
            self.tapes[id(tape)] = tape
            values = {
                id(v): v for t in self.tapes.values() for e in t.entries for v in (*(e.values or ()), e.output_value)
            }
            self.most = max(self.most, sum(v.nbytes for v in values.values() if isinstance(v, np.ndarray)))


def test_the_backward_pass_holds_one_part_at_a_time():
    x, size, watching = ad.Variable(np.linspace(-1, 1, 1000)), 8000, Most()
    with ad.hook(watching.see):
        with ad.GradientTape() as tape:
            y = segments(lambda x, k: np.sin(x), 100, x)
        tape.gradient(y, x)
    assert 20 * size <= watching.most <= 22 * size


def test_the_tape_holds_nothing_of_a_nested_checkpoint():
    def deep(x, depth):
        if depth == 0:
            return np.sin(x)
        return ad.checkpoint(deep)(ad.checkpoint(deep)(x, depth - 1), depth - 1)

    def shallow(x, depth):
        return np.sin(x) if depth == 0 else shallow(shallow(x, depth - 1), depth - 1)

    x = ad.Variable(X)
    with ad.GradientTape() as tape:
        y = deep(x, 5)
    assert len(tape.entries) == 2
    with ad.GradientTape() as plain:
        z = shallow(x, 5)
    assert len(plain.entries) == 32
    assert_equal(tape.gradient(y, x), plain.gradient(z, x))
    assert_equal(ad.jacobian(lambda x: deep(x, 2))(X), ad.jacobian(lambda x: shallow(x, 2))(X))


# Derivatives of every kind ------------------------------------------------------------------------------------------


ASKED = {
    "grad": lambda f: ad.grad(total(f))(X),
    "grad of grad": lambda f: ad.grad(total(ad.grad(total(f))))(X),
    "third": lambda f: ad.grad(total(ad.grad(total(ad.grad(total(f))))))(X),
    "jacobian": lambda f: ad.jacobian(f, mode="reverse")(X),
    "columns": lambda f: ad.jacobian(f, mode="forward")(X),
    "hessian": lambda f: ad.hessian(total(f))(X),
    "jvp": lambda f: ad.jvp(f, (X,), (X[::-1],)),
    "hvp": lambda f: ad.hvp(total(f), (X,), (X[::-1],)),
    "jvp of grad": lambda f: ad.jvp(ad.grad(total(f)), (X,), (X[::-1],)),
    "vjp": lambda f: ad.vjp(f, X)[1](X),
    "linearize": lambda f: ad.linearize(f, X)[1](X[::-1]),
}
EXACT = {"grad", "jacobian", "columns", "jvp", "vjp", "linearize"}


@pytest.mark.parametrize("asked", ASKED)
def test_every_derivative_is_that_of_the_function(asked):
    tolerance = {} if asked in EXACT else {"rtol": 1e-12, "atol": 1e-12}
    assert_equal(ASKED[asked](ad.checkpoint(layer)), ASKED[asked](layer), **tolerance)


def test_central_differences_agree():
    ad.check_gradients(ad.checkpoint(layer), X)


OPERATIONS = [
    np.sin,
    np.tanh,
    lambda x: x * x[::-1],
    lambda x: x * 0.5 + 1.0,
    lambda x: np.cumsum(x) / 3.0,
    np.exp,
    np.flip,
]


@given(
    st.lists(st.integers(0, len(OPERATIONS) - 1), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.integers(0, 2**16),
)
def test_random_chains_with_random_parts_agree_bit_for_bit(chosen, wrapped, seed):
    x = np.random.default_rng(seed).uniform(-1, 1, 4)

    def chain(x, checkpoint):
        for k, wrap in zip(chosen, wrapped, strict=False):
            x = np.tanh((checkpoint(OPERATIONS[k]) if wrap else OPERATIONS[k])(x))
        return x

    for ask in (ad.grad, lambda f: ad.jacobian(f, mode="reverse"), lambda f: ad.jacobian(f, mode="forward")):
        assert_equal(ask(lambda x: chain(x, ad.checkpoint))(x), ask(lambda x: chain(x, lambda f: f))(x))


def test_variables_that_it_reads_and_several_tapes():
    def asked(f):
        x, scale = ad.Variable(X), ad.Variable(1.3)
        with ad.GradientTape() as outer, ad.GradientTape(persistent=True) as beside:
            with ad.GradientTape() as inner:
                y = total(lambda x: f(x) * scale)(x)
            first = inner.gradient(y, [x, W, scale])
            z = sum(np.sum(g**2) for g in first)
        return first, outer.gradient(z, [x, W, scale]), beside.gradient(z, [x, W, scale]), beside.gradient(y, W)

    assert_equal(asked(ad.checkpoint(layer)), asked(layer), rtol=1e-12, atol=1e-12)


def test_tensors_that_it_captures_have_gradients_too():
    x, w = ad.Variable(2.0, name="x"), ad.Variable(3.0, name="w")
    with ad.GradientTape() as tape:
        between = w * w
        y = ad.checkpoint(lambda x: x * between)(x)
    assert_equal(tape.gradient(y, [x, w, between]), [ad.constant(9.0), ad.constant(12.0), ad.constant(2.0)])


def test_a_captured_tensor_that_it_returns_as_it_is():
    w = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        square = w * w
        same, itself = ad.checkpoint(lambda: (square, w))()
        y = same * itself
    assert float(tape.gradient(y, w)) == 27.0


def test_a_tape_in_the_function():
    def slope(x):
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(x**3 * W)
        return tape.gradient(y, x) * x

    x = X[0]
    for asked in (lambda f: ad.grad(total(f))(x), lambda f: ad.hessian(total(f))(x), lambda f: ad.jacobian(f)(x)):
        assert_equal(asked(ad.checkpoint(slope)), asked(slope), rtol=1e-13)


def test_a_layer_that_builds_itself_inside():
    x = ad.constant(X)
    dense = ad.nn.Dense(2, np.tanh)
    with ad.GradientTape() as tape:
        y = np.sum(ad.checkpoint(dense)(x))
    with ad.GradientTape() as plain:
        z = np.sum(dense(x))
    assert_equal(tape.gradient(y, dense.trainable_variables), plain.gradient(z, dense.trainable_variables))


def test_a_tape_that_watches_only_what_it_is_told():
    x = ad.Variable(X)
    with ad.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(W)
        y = ad.checkpoint(layer)(x)
    assert tape.watched_variables() == (W,)
    x_bar, w_bar = tape.gradient(y, [x, W])
    assert x_bar is None
    assert w_bar is not None


def test_a_value_assigned_since_changes_no_gradient():
    w = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y = ad.checkpoint(lambda x: x * w * w)(ad.constant(3.0))
    w.assign(100.0)
    assert float(tape.gradient(y, w)) == 12.0
    assert float(w) == 100.0


# Arguments and results ----------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: object
    second: object


def nested(p, times, *, shift, flag="on"):
    assert flag == "on"
    a = p["w"] * shift["by"][0]
    return Pair({"a": a, "n": times}, [np.exp(p["b"]) * times, None, "text", np.argmax(p["w"]), np.ones(2)])


def test_structures_and_keywords_go_in_and_come_out():
    p, shift = {"w": ad.Variable([1.0, 2.0]), "b": ad.Variable(0.5)}, {"by": [ad.Variable(3.0)]}
    found = []
    for f in (nested, ad.checkpoint(nested)):
        with ad.GradientTape(persistent=True) as tape:
            result = f(p, 2, shift=shift)
        assert isinstance(result, Pair)
        assert result.first["n"] == 2
        assert result.second[1:3] == [None, "text"]
        assert int(result.second[3]) == 1
        assert type(result.second[4]) is np.ndarray
        found.append([tape.gradient(target, [p, shift]) for target in (result.first["a"], result.second[0])])
        found[-1].append(tape.gradient([result.first["a"], result.second[0]], [p, shift]))
    assert_equal(*found)  # among them None where one result does not depend on a source


def test_several_results_of_several_dtypes_and_shapes():
    def f(x):
        return np.sum(x), x.astype(np.float32) * 2, [x @ x, x > 0]

    x = np.array([0.5, -2.0, 1.0])
    for pick in (lambda r: r[0], lambda r: r[1], lambda r: r[2][0], lambda r: r[0] * np.sum(r[1]) * r[2][0]):
        for ask in (ad.grad, lambda g: ad.jacobian(g, mode="forward"), lambda g: ad.jacobian(g, mode="reverse")):
            assert_equal(ask(lambda x, p=pick: p(ad.checkpoint(f)(x)))(x), ask(lambda x, p=pick: p(f(x)))(x))


def test_several_results_are_held_once():
    x = ad.Variable(np.ones(100))
    with ad.GradientTape() as tape:
        ad.checkpoint(lambda x: (np.sin(x), np.cos(x)))(x)
    assert [entry.name for entry in tape.entries] == ["checkpoint", "checkpoint[0]", "checkpoint[1]"]
    assert tape.nbytes == 800 + 2 * 800 + 2 * 8  # x, both, and what counts their cotangents


def test_a_chain_with_a_state_of_several_arrays():
    def step(state, k):
        h, c = state
        return np.tanh(W @ h + c), c * 0.5 + h * k

    def chain(wrap):
        def run(x):
            state = x, x * 2
            for k in range(4):
                state = wrap(step)(state, k)
            return np.concatenate(state)

        return run

    for mode in ("reverse", "forward"):
        assert_equal(
            ad.jacobian(chain(ad.checkpoint), mode=mode)(X[0]),
            ad.jacobian(chain(lambda f: f), mode=mode)(X[0]),
            rtol=1e-13,
        )


def test_samples_stay_apart():
    for f in (layer, ad.checkpoint(layer)):
        x = ad.Variable(X)
        with ad.GradientTape() as tape:
            y = f(x)
        found = tape.batch_jacobian(y, x, check=True)
        assert_equal(found, ad.constant(np.einsum("iaib->iab", ad.jacobian(layer)(X).numpy())), rtol=1e-13)


@pytest.mark.parametrize("identity", [lambda x: x, lambda x: (x, x), lambda x: [x, x * 2, x]])
def test_arguments_that_come_back_as_they_are(identity):
    def loss(f):
        return lambda x: sum(np.sum(leaf**3) for _, leaf in flatten(f(x), ""))

    for ask in (ad.grad, ad.hessian, lambda f: lambda x: ad.jvp(f, (x,), (x,))):
        assert_equal(ask(loss(ad.checkpoint(identity)))(X[0]), ask(loss(identity))(X[0]))


def test_inside_a_persistent_tape_that_goes_on_recording():
    def asked(f):
        x = ad.Variable(X)
        with ad.GradientTape(persistent=True) as tape:
            g, h = tape.gradient(total(f)(x), [x, W])
            z = np.sum(g * g) + np.sum(h)
        return g, h, tape.gradient(z, [x, W])

    assert_equal(asked(ad.checkpoint(layer)), asked(layer), rtol=1e-12, atol=1e-12)


class Scaled:
    def __init__(self):
        self.by = ad.Variable(2.0)

    def times(self, x, power=1):
        return x**power * self.by


@pytest.mark.parametrize(("power", "expected"), [(1, 6.0), (2, 14.0)])
def test_methods_and_partial_functions(power, expected):
    scaled = Scaled()
    for f in (partial(scaled.times, power=power), lambda x: scaled.times(x, power)):
        with ad.GradientTape() as tape:
            y = np.sum(ad.checkpoint(f)(ad.constant([1.0, 2.0, 3.0])))
        assert float(tape.gradient(y, scaled.by)) == expected


def test_arrays_of_other_libraries_stay_theirs():
    x = dask.array.from_array(np.linspace(0, 1, 8), chunks=4)

    def loss(x):
        return np.sum(np.sin(x) ** 2)

    found = ad.grad(ad.checkpoint(loss))(x).numpy()
    assert isinstance(found, dask.array.Array)
    np.testing.assert_array_equal(found.compute(), ad.grad(loss)(x).numpy().compute())


def test_complex_numbers():
    def f(z):
        return np.real(z) * 2, z * np.conj(z) * z

    def loss(f):
        return lambda z: np.sum(f(z)[0]) + np.real(np.sum(f(z)[1] ** 2))

    z = np.array([1.0 + 2.0j, -0.5 + 0.1j])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_equal(ad.grad(loss(ad.checkpoint(f)))(z), ad.grad(loss(f))(z))
        assert_equal(ad.jvp(loss(ad.checkpoint(f)), (z,), (z,)), ad.jvp(loss(f), (z,), (z,)))


def test_whole_numbers_and_arrays_pass_through():
    def pick(x, i, weights):
        return x[i] * np.sum(weights)

    weights = np.array([1.0, 2.0])
    index = ad.Variable(1)
    x = ad.Variable([3.0, 4.0])
    with ad.GradientTape(persistent=True) as tape:
        y = ad.checkpoint(pick)(x, index, weights)
    weights[:] = 100.0
    index.assign(0)
    assert tape.gradient(y, x).tolist() == [0.0, 3.0]
    assert tape.gradient(y, index) is None


def test_the_name_and_the_documentation_stay():
    f = ad.checkpoint(layer)
    assert f.__name__ == "layer"
    assert f.__wrapped__ is layer


def test_without_a_tape_it_is_the_function():
    calls = []

    def f(x):
        calls.append(x)
        return x

    x = ad.Variable(1.0)
    assert ad.checkpoint(f)(x) is x
    assert len(calls) == 1


def test_what_the_tape_does_not_follow_leaves_no_entry():
    with ad.GradientTape() as tape:
        ad.checkpoint(lambda x: x * 2)(ad.constant(1.0))
        ad.checkpoint(lambda x: ad.stop_gradient(x))(ad.Variable(1.0))
        y = ad.checkpoint(lambda x: np.sum(np.asarray(ad.stop_gradient(x))))(ad.Variable([1.0]))
    assert tape.entries == []
    assert y == 1.0


@pytest.mark.parametrize("runs", [1, 2])
def test_it_runs_once_more_for_each_backward_pass(runs):
    calls = []

    @ad.checkpoint
    def f(x, w):
        calls.append(1)
        return x * w, x + w

    x, w = ad.Variable(2.0), ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        a, b = f(x, w)
        y = a * b
    for _ in range(runs):
        tape.gradient(y, [x, w])
    assert len(calls) == 1 + runs
    tape.jacobian(y, [x, w])
    assert len(calls) == 2 + runs


# What it refuses ----------------------------------------------------------------------------------------------------


def test_random_numbers_are_refused_in_the_backward_pass():
    rng = np.random.default_rng(0)

    @ad.checkpoint
    def dropout(x):
        return x * (rng.random(3) < 0.5)

    with pytest.raises(ValueError, match=r"dropout, called at .*, returned different numbers.*draw them outside"):
        ad.grad(dropout)(np.ones(3))
    keep = rng.random(3) < 0.5
    assert_equal(ad.grad(ad.checkpoint(lambda x, keep: x * keep))(np.ones(3), keep), ad.constant(keep * 1.0))


@pytest.mark.parametrize(
    "ask", [ad.grad, ad.jacobian, lambda f: ad.jacobian(f, mode="forward"), lambda f: lambda x: ad.jvp(f, (x,), (x,))]
)
@pytest.mark.parametrize(
    "change",
    [lambda x, n: x * n, lambda x, n: x if n == 1 else np.stack([x, x]), lambda x, n: x if n == 1 else 3.0],
    ids=["numbers", "shape", "no tensor"],
)
def test_a_second_run_with_another_result_is_refused_in_every_mode(ask, change):
    calls = []

    def f(x):
        calls.append(1)
        return change(x * 2.0, len(calls))

    with pytest.raises(ValueError, match="returned different numbers when it ran again"):
        ask(ad.checkpoint(f))(np.ones(2))


def test_results_that_are_not_a_number_are_the_same_again():
    with np.errstate(all="ignore"):
        assert_equal(ad.grad(ad.checkpoint(lambda x: np.sqrt(x)))(np.array([-1.0, 4.0]))[1], ad.constant(0.25))


def test_an_array_that_it_reads_and_that_has_changed_is_noticed():
    weights = np.ones(2)
    x = ad.Variable(np.ones(2))
    with ad.GradientTape() as tape:
        y = ad.checkpoint(lambda x: x * weights)(x)
    weights[0] = 5.0
    with pytest.raises(ValueError, match="an array or an object that has changed since"):
        tape.gradient(y, x)


def test_assignments_are_refused_before_they_happen():
    count = ad.Variable(1.0, name="count")

    def f(x):
        count.assign_add(1.0)
        return x * count

    with pytest.raises(RuntimeError, match=r"f assigns to Variable\('count', 1.\), .* assign it outside"):
        ad.grad(ad.checkpoint(f))(2.0)
    assert float(count) == 1.0


def test_a_variable_of_its_own_may_be_assigned():
    def f(x):
        total = ad.Variable(0.0)
        total.assign(2.0)
        return x * total

    assert float(ad.grad(ad.checkpoint(f))(3.0)) == 2.0


def test_plain_numbers_by_accident_are_refused_in_the_forward_pass():
    calls = []

    def f(x):
        calls.append(1)
        return x * np.sum(np.asarray(x))

    with pytest.raises(TypeError, match=r"test_checkpoint.py.*np.asarray takes the plain numbers"):
        ad.grad(ad.checkpoint(f))(np.ones(2))
    assert len(calls) == 1
    for g in (lambda x: x * np.sum(np.asarray(x * 2)), lambda x: x * np.sum(np.asarray(W))):
        with pytest.raises(TypeError, match="plain numbers"):
            ad.grad(ad.checkpoint(g))(np.ones(2))


def test_it_takes_a_function():
    with pytest.raises(TypeError, match=r"ad.checkpoint\(f\)\(x\), not ad.checkpoint\(f\(x\)\)"):
        ad.checkpoint(ad.constant(1.0))


def test_an_error_in_the_second_run_says_which_run_it_was():
    calls = []

    def f(x):
        calls.append(1)
        if len(calls) > 1:
            raise OSError("the file is gone")
        return x * 2

    with pytest.raises(OSError, match="the file is gone") as caught:
        ad.grad(ad.checkpoint(f))(1.0)
    assert "f ran again here" in caught.value.__notes__[0]


def test_after_an_error_everything_records_as_before():
    def fails(x):
        raise KeyError

    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        with pytest.raises(KeyError):
            ad.checkpoint(fails)(x)
        y = x * x
    assert float(tape.gradient(y, x)) == 4.0


# Seeing it ----------------------------------------------------------------------------------------------------------


@ad.checkpoint
def signed(x, w):
    sign = np.sign(w)
    return x * sign


@ad.checkpoint
def pair(x, w):
    return x * 2.0, w * 3.0


@ad.checkpoint
def left(x, w):
    return x * ad.constant(float(w))


@ad.checkpoint
def chooses(x, w):
    return np.where(w * 2.0 > 0, x, 2 * x)


@ad.checkpoint
def holds_another(x, w):
    return signed(x, w) * x


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (signed, "sign = np.sign(w) has steps"),
        (lambda x, w: pair(x, w)[0], "runs under ad.checkpoint, and nothing flows back through it to w"),
        (left, "float(w) returns the plain numbers of w"),
        (chooses, "w * 2.0 > 0 has steps"),
        (holds_another, "sign = np.sign(w) has steps"),
        (lambda x, w: x * ad.checkpoint(ad.stop_gradient)(w), "stop_gradient"),
    ],
)
@pytest.mark.parametrize("persistent", [True, False])
def test_none_outside_is_none_inside_and_explain_names_the_line(f, said, persistent):
    x, w = ad.Variable(2.0, name="x"), ad.Variable(3.0, name="w")
    with ad.GradientTape(persistent) as tape:
        y = f(x, w) * 2.0
    before = tape.explain(y, w)
    x_bar, w_bar = tape.gradient(y, [x, w])
    assert w_bar is None
    assert x_bar is not None
    for explanation in (before, tape.explain(y, w)):
        assert not explanation
        assert len(explanation.causes) == 1
        assert said in str(explanation)
    assert tape.explain(y, x).connected
    assert said in before.trace().transcript()


def test_what_left_on_a_path_inside_is_left_out():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape() as tape:
        y = ad.checkpoint(lambda x: x * float(x))(x)
    assert len(tape.explain(y, x).left_out) == 1
    with ad.GradientTape() as tape:
        y = ad.checkpoint(lambda x: np.sin(x) * x)(x)
    assert not tape.explain(y, x).left_out


def test_the_second_run_is_seen_during_the_backward_pass():
    x = ad.Variable(X, name="x")
    with ad.trace() as steps:
        with ad.GradientTape() as tape:
            y = np.sum(ad.checkpoint(layer)(x))
        tape.gradient(y, x)
    said = steps.transcript().splitlines()
    place = {
        what: next(k for k, line in enumerate(said) if what in line)
        for what in ("arrived at t1", "tanh(", "The rerun of layer rel")
    }
    assert list(place.values()) == sorted(place.values())
    assert sum("tanh(" in line for line in said) == 2  # recorded once, in the second run, and pulled back
    assert "backward pass of the rerun of layer starts" in steps.transcript()
    contributions = [line for line in said if "the contribution to x" in line.lower()]
    assert len(contributions) == 2  # of the matrix product inside, and of the whole call
    assert "np.sin" not in contributions[-1]  # which is not an expression of the user's


def twice():
    """A trace in which two checkpoints of one function run again."""
    w = ad.Variable(0.7, name="w")

    def block(x):
        return np.exp(np.sin(w * x))

    x, f = ad.Variable(1.2, name="x"), ad.checkpoint(block)
    with ad.trace() as kept:
        with ad.GradientTape() as tape:
            y = f(x)
            z = f(y)
        tape.gradient(z, [x, w])
    return kept


def test_the_sentences_say_that_it_keeps_nothing_and_so_runs_again_and_whose_cotangents_they_add_up():
    document = twice().document()
    texts = [step["text"] for step in document["steps"]]
    assert sum(text.endswith(", and keeps nothing that block computed on the way.") for text in texts) == 2
    again = [
        k
        for k, text in enumerate(texts)
        if text.endswith(" Now block runs again, because what it computed was not kept.")
    ]
    assert len(again) == 2
    assert texts[again[0] + 1].startswith("Rerun 1 of block watches ")
    assert texts[again[1] + 1].startswith("Rerun 2 of block watches ")
    sums = [text for text in texts if "the contribution to w is " in text]
    assert [text.partition(", ")[0] for text in sums] == [
        "In rerun 1 of block",
        "In the pass of tape",
        "In rerun 2 of block",
        "In the pass of tape",
    ]
    first, second, third, _ = sums
    assert "Nothing was there yet" in first
    assert "Nothing was there yet" in second, "in this pass"
    assert "Nothing was there yet" in third
    assert [tape.get("reruns") for tape in document["tapes"]] == [None, "block", "block"]


def test_a_single_second_run_has_no_number():
    f = ad.checkpoint(lambda x: np.sin(x) * x)
    x = ad.Variable(1.0, name="x")
    with ad.trace() as kept:
        with ad.GradientTape() as tape:
            y = f(x)
        tape.gradient(y, x)
    assert "The rerun of the function records it as entry 2 of this run." in kept.transcript()


def test_each_second_run_is_a_group_which_says_for_whose_sake():
    document = twice().document()
    groups, homes = find_groups(document)
    names = [document["tensors"][entry["output"]]["name"] for entry in document["entries"][:2]]
    assert [(group["kind"], group["name"], group["count"]) for group in groups] == [
        ("rerun", f"block for {name}", 3) for name in reversed(names)
    ]
    assert homes.count(-1) == 2


def test_the_bytes_fall_during_the_backward_pass_and_rise_in_the_second_runs():
    steps = twice().document()["steps"]
    held = {0: 0, 1: 0, 2: 0}
    sums = []
    for step in steps:
        if step["memory"] is not None:
            held[step["tape"]] = step["memory"]
            sums.append(sum(held.values()))
    peaks = [k for k in range(1, len(sums)) if sums[k - 1] < sums[k] == max(sums[k : k + 3])]
    assert len(peaks) >= 3, "before the pass, and in each second run"
    assert sums[-1] == 0


def test_it_can_be_played_nudged_and_written_as_code(tmp_path):
    f = ad.checkpoint(lambda x: np.sum(np.tanh(x @ W)))
    played = ad.play(f, X)
    played.save(tmp_path / "player.txt")
    assert "Tape 1 records it" in (tmp_path / "player.txt").read_text(encoding="utf-8")
    played.save(tmp_path / "player.html")
    x = ad.Variable(X, name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = f(x)
    nudged = tape.nudge(y, x, 1e-6)
    assert abs(nudged.gap) < 1e-10
    assert abs(tape.nudge(y, W, 1e-6).gap) < 1e-10
    assert tape.nudge(y, W, 0.1).moved == f(x) * 0 + nudge_by_hand(f, 0.1)
    program = tape.code(y, x)
    names = program.namespace
    exec(str(program), names)
    assert_equal(names["gradient"], tape.gradient(y, x))


def nudge_by_hand(f, by):
    before, kept = f(ad.constant(X)).numpy(), W.numpy()
    W.assign(kept + by)
    try:
        return f(ad.constant(X)).numpy() - before
    finally:
        W.assign(kept)


def test_first_nonfinite_says_where_to_look():
    x = ad.Variable([4.0, 0.0], name="x")

    @ad.checkpoint
    def roots(x):
        return np.sqrt(x)

    with np.errstate(all="ignore"):
        with ad.GradientTape(persistent=True) as tape:
            y = np.sum(roots(x))
            z = np.sum(roots(-x))
        assert "the second run of roots gives inf at element [1]" in str(tape.first_nonfinite(y, x))
        forward = str(tape.first_nonfinite(z, x))
    assert "roots of [-4 0] gives nan" in forward
    assert "Call roots without ad.checkpoint" in forward


# Files --------------------------------------------------------------------------------------------------------------


def test_a_saved_function_computes_the_same_without_checkpoints(tmp_path):
    def model(x):
        return np.sum(ad.checkpoint(layer)(x) ** 2)

    ad.save(model, tmp_path / "model", X[0])
    again = ad.load(tmp_path / "model")
    assert_equal(again(X[1]), model(X[1]))
    assert_equal(ad.hessian(again)(X[1]), ad.hessian(model)(X[1]), rtol=1e-12, atol=1e-12)


@ad.checkpoint
def two(x):
    return np.sin(x), x * x


@pytest.mark.parametrize("gradient", [True, False])
def test_a_saved_function_with_tapes_inside(tmp_path, gradient):
    def f(x):
        with ad.GradientTape() as tape:
            tape.watch(x)
            a, b = two(x)
            y = a * a + b * a
        return tape.gradient(y, x) if gradient else y

    ad.save(f, tmp_path / "f", 0.7)
    again = ad.load(tmp_path / "f")
    for ask in (lambda g: g(ad.constant(0.3)), lambda g: ad.grad(g)(0.3), lambda g: ad.hessian(g)(0.3)):
        assert_equal(ask(again), ask(f), rtol=1e-13)
