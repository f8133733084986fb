"""What a checkpointed function reads and is given: the second run computes with the same, and holds no more."""

import gc
import math
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

import autodiff_edu as ad

X = np.array([0.5, -1.2, 0.8])


# Arguments ----------------------------------------------------------------------------------------------------------

LAYOUTS = {
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[:, ::-1],
    "every other": lambda a: a[:, ::2],
    "Fortran": np.asfortranarray,
    "broadcast": lambda a: np.broadcast_to(a[0], (1000, 40)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_both_runs_get_arrays_of_the_same_layout(layout):
    a = LAYOUTS[layout](np.random.default_rng(0).normal(size=(33, 40)))

    def f(x, a, more):
        return x * np.sum(a) * np.sum(more["a"])

    for _ in range(3):  # sums in another order differ in the last bit
        found = ad.grad(ad.checkpoint(f))(2.0, a, {"a": a})
        np.testing.assert_allclose(found.numpy(), np.sum(a) ** 2, rtol=1e-12)
        a = a + 0.1


def test_an_array_that_the_caller_changes_later():
    x, a = ad.Variable(2.0), np.ones((2, 3)).T
    with ad.GradientTape() as tape:
        y = ad.checkpoint(lambda x, a: x * np.sum(a[0]))(x, [a])
    a[:] = 100.0
    assert float(tape.gradient(y, x)) == 6.0


@dataclass
class Layer:
    scale: np.ndarray

    @ad.checkpoint
    def __call__(self, x):
        if not hasattr(self, "w"):
            self.w = ad.Variable(3.0)
        return np.sum(x * self.scale) * self.w


def test_a_dataclass_may_build_itself():
    layer, x = Layer(np.array([1.0, 2.0, 3.0])), ad.Variable(X)
    with ad.GradientTape() as tape:
        y = layer(x)
    assert float(tape.gradient(y, layer.w)) == np.sum(X * layer.scale)


# Constants ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        lambda x, c: x * np.sum(np.asarray(c)),
        lambda x, c: x * np.sum(np.unique(c)),
        lambda x, c: x * np.sum(np.sqrt(c)),
        lambda x, c: x * math.sin(c[1]),
    ],
)
@pytest.mark.parametrize(
    "ask",
    [ad.grad, lambda f: ad.jacobian(f, mode="forward"), lambda f: ad.jacobian(f, mode="reverse"), ad.hessian],
)
def test_what_no_tape_follows_is_not_differentiated(f, ask):
    c = ad.constant([0.0, 4.0])
    with np.errstate(all="raise"):
        for g in (f, lambda x, _: f(x, c)):
            assert float(ask(ad.checkpoint(g))(2.0, c)) == float(ask(g)(2.0, c))


def test_what_one_of_several_tapes_follows_is():
    x, c = ad.Variable(2.0), ad.constant(3.0)
    with ad.GradientTape() as outer:
        outer.watch(c)
        with ad.GradientTape() as inner:
            y = ad.checkpoint(lambda x: x * x * c)(x)
    assert float(outer.gradient(y, c)) == 4.0
    assert float(inner.gradient(y, x)) == 12.0


def test_a_tensor_that_a_tape_is_asked_to_watch_after_the_call():
    x, c, runs = ad.Variable(2.0), ad.constant(3.0), []

    def f(x, c):
        runs.append(1)
        return x * c

    with ad.GradientTape(persistent=True) as tape:
        y = ad.checkpoint(f)(x, c)
        tape.watch(c)
    assert [float(one) for one in tape.gradient(y, [x, c])] == [3.0, 2.0]
    assert [float(one) for one in tape.gradient(y, [x, c])] == [3.0, 2.0]
    assert len(runs) == 4  # once in the first pass for x, once for c as well, and once in the second


# Plain numbers of variables -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [float, lambda step: len(range(int(step))), lambda step: step.numpy() * 1.0])
@pytest.mark.parametrize("nested", [True, False])
def test_the_plain_numbers_of_a_variable_are_the_old_ones_too(read, nested):
    step, x = ad.Variable(3, name="step"), ad.Variable(2.0)

    def f(x):
        return x * read(step)

    with ad.GradientTape() as tape:
        y = ad.checkpoint((lambda x: ad.checkpoint(f)(x) * 2.0) if nested else f)(x)
    step.assign_add(1)
    assert float(tape.gradient(y, x)) == (6.0 if nested else 3.0)
    assert int(step) == 4


def test_a_variable_whose_plain_numbers_are_read_is_not_watched_for_that():
    w, x, runs = ad.Variable(3.0), ad.Variable(2.0), []

    def f(x):
        runs.append(1)
        return x * float(w)

    with ad.GradientTape() as tape:
        y = ad.checkpoint(f)(x)
    assert tape.watched_variables() == (x,)
    assert tape.gradient(y, [x, w])[1] is None
    assert len(runs) == 2


# What is held -------------------------------------------------------------------------------------------------------


def held_by(make):
    """Return how many bytes what a function returns holds."""
    make()
    gc.collect()
    tracemalloc.start()
    kept = make()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept is not None
    return held


def test_many_outputs_hold_little_besides_themselves():
    x = ad.Variable(1.0)

    def record(count):
        with ad.GradientTape() as tape:
            ad.checkpoint(lambda x: [x * k for k in range(count)])(x)
        return tape

    assert held_by(lambda: record(200)) < 2.5 * held_by(lambda: record(100))


@pytest.mark.parametrize("custom", [True, False])
def test_a_persistent_tape_holds_no_gradients(custom):
    x, w = ad.Variable(np.ones(100_000)), ad.Variable(np.ones(100_000))
    product = ad.checkpoint(lambda x, w: x * w)
    if custom:
        product = ad.custom_gradient(lambda x, w: (x * w, lambda dy: (dy * w, dy * x)))
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(product(x, w))
    assert held_by(lambda: (tape.gradient(y, x), 1)[1]) < 100_000  # an array has 800,000 bytes
    assert len(tape.gradient(y, [x, w])) == 2


def test_one_pass_runs_it_again_once_whatever_holds_the_cotangent():
    runs = []

    @ad.checkpoint
    def f(a, b, c):
        runs.append(1)
        return a * b * c

    a, b, c = (ad.Variable(np.full(2, k)) for k in (2.0, 3.0, 4.0))
    with ad.GradientTape(persistent=True) as tape:
        y = f(a, b, c)
        z = np.sum(y)
    for target in (z, y):
        runs.clear()
        tape.gradient(target, [a, b, c])
        assert len(runs) == 1
    runs.clear()
    steps = list(tape.steps(z, [a, b, c]))
    assert len(runs) == 1
    values = [contribution.value.tolist() for contribution in steps[1].contributions]
    assert values == [
        [12.0] * 2,
        [8.0] * 2,
        [6.0] * 2,
    ]


def test_a_stack_of_cotangents_goes_through_the_parts_at_once():
    calls = []

    def f(x):
        return np.sin(x), np.real(np.exp(1j * x)) + 1j * x

    def both(x):
        a, b = ad.checkpoint(f)(x)
        return a * np.real(b) + np.imag(b)

    def plain(x):
        a, b = f(x)
        return a * np.real(b) + np.imag(b)

    class Counted(ad.custom.recomputation.OutputPart):
        def _pull_back(self, g):
            calls.append(np.shape(g))
            return super()._pull_back(g)

        _pull_back_one = None  # one by one, that is

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ad.custom.checkpoint, "OutputPart", Counted)
        found = ad.jacobian(both, mode="reverse")(X)
    np.testing.assert_array_equal(found.numpy(), ad.jacobian(plain, mode="reverse")(X).numpy())
    assert calls == [(3, 3), (3, 3)]
