"""What a checkpointed function must not do because it runs twice: each error says what it did, and what to write."""

import random
from functools import partial

import numpy as np
import pytest

import autodiff_edu as ad

rng, system = np.random.default_rng(0), random.SystemRandom()


def message(error):
    return "\n".join([str(error.value), *getattr(error.value, "__notes__", [])])


# Assignments --------------------------------------------------------------------------------------------------------


def test_the_second_run_does_not_assign_either():
    norm = ad.nn.BatchNormalization()  # builds its variables in the first call, and assigns to them in each
    f = ad.checkpoint(lambda x: np.sum(norm(x, training=True) ** 2))
    with pytest.raises(RuntimeError, match=r"line \d+: the function assigns to Variable\('moving_mean'.*assign twice"):
        ad.grad(f)(np.arange(6.0).reshape(3, 2))
    np.testing.assert_allclose(norm.moving_mean.numpy(), [0.02, 0.03])  # the mean, 2 and 3, has been counted once


def test_a_variable_that_only_the_second_run_assigns():
    count, runs = ad.Variable(0.0), []

    def f(x):
        runs.append(1)
        if len(runs) == 2:
            count.assign_add(1.0)
        return x * 2.0

    with pytest.raises(RuntimeError, match="f assigns to"):
        ad.grad(ad.checkpoint(f))(1.0)
    assert float(count) == 0.0


@pytest.mark.parametrize("compiled", [True, False])
def test_where_nothing_is_saved_nothing_is_refused(compiled):
    count = ad.Variable(0.0)

    def f(x, parts):
        count.assign_add(1.0)
        return x * sum(parts)

    g = ad.checkpoint(f)
    found = ad.compile(lambda x: g(x, iter([1.0, 2.0])))(2.0) if compiled else g(ad.constant(2.0), iter([1.0, 2.0]))
    assert float(found) == 6.0
    assert float(count) == 1.0


def test_a_compiled_function_inside_runs_compiled_without_a_tape():
    calls = []

    @ad.compile
    def f(x):
        calls.append(1)
        return x * 2.0

    f(1.0)
    recorded = len(calls)
    assert float(ad.checkpoint(f)(ad.constant(3.0))) == 6.0
    assert len(calls) == recorded


# Random numbers -----------------------------------------------------------------------------------------------------


class Drop:
    def __init__(self):
        self.rng = np.random.RandomState(0)

    def __call__(self, x):
        return x * (self.rng.rand(4) < 0.5)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * (rng.random(4) < 0.5),
        lambda x: x * (np.random.rand(4) < 0.5),
        lambda x: x * random.random(),
        lambda x: x * system.random(),
        lambda x, source=rng: x if source.random() < 0.5 else -x,
        Drop(),
        Drop().__call__,
    ],
)
@pytest.mark.parametrize("ask", [ad.grad, lambda f: lambda x: ad.jvp(f, (x,), (x,))])
def test_random_numbers_are_refused_where_they_make_no_difference_too(f, ask):
    with pytest.raises(ValueError, match=r"drew other random numbers when it ran again.*Draw them outside, and pass"):
        ask(ad.checkpoint(f))(np.zeros(4))


def test_generators_that_it_does_not_draw_from_and_layers_that_build_themselves():
    class Layer:
        w = None

        def __call__(self, x, noisy=False):
            if self.w is None:
                self.w = ad.Variable(rng.standard_normal(4))
            return x * self.w + (rng.random() if noisy else 0.0)

    layer, x = Layer(), ad.Variable(np.ones(4))
    with ad.GradientTape() as tape:
        y = np.sum(ad.checkpoint(layer)(x))
        rng.random()
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), layer.w.numpy())
    own = ad.checkpoint(lambda x: x * np.random.default_rng(0).random(4))
    np.testing.assert_array_equal(ad.grad(own)(np.ones(4)).numpy(), np.random.default_rng(0).random(4))


class Restores:
    """Draws from where a generator stood when it was made, and leaves it where that leads."""

    def __init__(self, generator):
        self.generator = generator
        self.state = self.read()

    def read(self):
        g = self.generator
        return g.getstate() if isinstance(g, random.Random) else getattr(g, "bit_generator", g._bit_generator).state

    def __call__(self, x):
        g = self.generator
        if isinstance(g, random.Random):
            g.setstate(self.state)
            return x * [g.random() for _ in range(4)]
        if isinstance(g, np.random.RandomState):
            g.set_state(self.state)
            return x * g.rand(4)
        g.bit_generator.state = self.state
        return x * g.random(4)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState, random.Random])
@pytest.mark.parametrize("ask", [ad.grad, lambda f: lambda x: ad.jvp(f, (x,), (np.ones(4),))[1]])
def test_a_layer_that_puts_its_generator_s_state_back_draws_the_same_numbers_again(make, ask):
    generator, parts = make(3), []

    def layers(x):
        for _ in range(3):
            parts.append(layer := Restores(generator))
            x = ad.checkpoint(layer)(x)
        parts.append(Restores(generator))
        return x

    found = ask(layers)(np.ones(4)).numpy()
    again = make(3)
    expected = np.prod([[again.random() for _ in range(4)] for _ in range(3)], axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert repr(parts[-1].read()) == repr(parts[-1].state)  # the second runs have left it where it stood


def test_a_layer_that_sets_another_state_the_second_time_draws_other_numbers():
    generator = np.random.default_rng(0)
    layer = Restores(generator)
    with ad.GradientTape() as tape:
        x = ad.Variable(np.zeros(4))
        y = ad.checkpoint(layer)(x)
    layer.state = np.random.default_rng(1).bit_generator.state
    with pytest.raises(ValueError, match="drew other random numbers"):
        tape.gradient(y, x)


# Arguments and results ----------------------------------------------------------------------------------------------


def appends(x, log):
    log.append(1.0)
    return x * 2.0


def replaces(x, options):
    options["scale"] = 3.0
    return x * options["scale"]


@pytest.mark.parametrize("keyword", [True, False])
@pytest.mark.parametrize(
    ("f", "make", "name"),
    [(appends, list, "log"), (appends, lambda: [np.ones(2)], "log"), (replaces, lambda: {"scale": 2.0}, "options")],
)
def test_structures_that_it_changes(f, make, name, keyword):
    said = rf"{f.__name__} changes {name}, which was passed to it.*Return what is new, and change it outside"
    args, kwargs = ((), {name: make()}) if keyword else ((make(),), {})
    with pytest.raises(RuntimeError, match=said):
        ad.grad(lambda x: ad.checkpoint(f)(x, *args, **kwargs))(3.0)


def test_a_copy_of_a_structure_may_change():
    def f(x, options, **more):
        options = dict(options)
        return x * options.pop("scale") * more.pop("by")

    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        y = ad.checkpoint(f)(x, {"scale": 2.0}, by=5.0)
    assert [float(tape.gradient(y, x)) for _ in range(2)] == [10.0, 10.0]


def test_an_array_that_it_writes_into():
    def f(x, a):
        a[0] = 5.0
        return np.sum(x * a)

    a = np.ones(2)
    with pytest.raises(ValueError, match="read-only") as error:
        ad.grad(ad.checkpoint(f))(np.ones(2), a)
    assert "passes arrays to f as read-only copies" in message(error)
    assert "copy it first: a = a.copy()" in message(error)
    assert a.tolist() == [1.0, 1.0]


def test_an_iterator_from_outside_that_it_reads():
    rows = iter([2.0])
    with pytest.raises(RuntimeError, match=r"ran again for the derivative, but an iterator that it reads was used up"):
        ad.grad(ad.checkpoint(lambda x: x * next(rows)))(3.0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f, x, once: f(x, once), "^parts, passed to f, is a generator, which can be read only once"),
        (lambda f, x, once: f(x, {"p": [once]}), r"^parts\['p'\]\[0\], passed to f, is a generator"),
        (lambda f, x, once: f(x, parts=once), "^parts, passed to f, is a generator.*runs f again.*Pass a list: list"),
        (lambda f, x, once: f(x, None, once), r"^rest\[0\], passed to f, is a generator"),
    ],
)
def test_arguments_that_can_be_read_only_once(call, said):
    def f(x, parts, *rest):
        return x

    with pytest.raises(TypeError, match=said):
        ad.grad(lambda x: call(ad.checkpoint(f), x, (k for k in range(3))))(1.0)
    with pytest.raises(TypeError, match=r"^p, passed to the function, is a list_iterator.*runs the function again"):
        ad.grad(lambda x: ad.checkpoint(lambda x, p: x)(x, p=iter([])))(1.0)


def yields(x):
    yield x * 2.0


@pytest.mark.parametrize("f", [yields, lambda x: {"a": [map(np.sin, [x])]}])
def test_results_that_compute_only_when_they_are_read(f):
    with pytest.raises(TypeError, match=r"the result.* is a (generator|map), which computes nothing before it is read"):
        ad.grad(lambda x: ad.checkpoint(f)(x))(1.0)


def test_a_partial_function_is_called_by_its_name():
    with pytest.raises(RuntimeError, match="appends changes log, which"):
        ad.grad(ad.checkpoint(partial(appends)))(1.0, [])


# The tapes around it ------------------------------------------------------------------------------------------------


def watches(tape, x):
    tape.watch(x)


def resets(tape, x):
    tape.reset()
    tape.watch(x)


@pytest.mark.parametrize(("use", "method"), [(watches, "watch"), (resets, "reset")])
def test_a_tape_around_it_is_not_reset_or_asked_to_watch(use, method):
    c = ad.constant(3.0)

    def f(c):
        use(tape, c)
        return c * c

    said = rf"twice.py, line \d+: f calls {method} of a tape around it.*outside f"
    with pytest.raises(RuntimeError, match=said), ad.GradientTape() as tape:
        ad.checkpoint(f)(c)


def test_a_tape_around_it_cannot_be_paused():
    x = ad.Variable(2.0)

    def f(x):
        with tape.stop_recording():
            return np.sin(x)

    with pytest.raises(ValueError, match="already paused") as error, ad.GradientTape() as tape:
        ad.checkpoint(f)(x)
    assert "While f runs under ad.checkpoint, the tapes around it do not record" in message(error)


def test_a_tape_inside_may_do_everything():
    def f(x):
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(x)
            tape.reset()
            tape.watch(x)
            with tape.stop_recording():
                c = np.sin(x)
            y = x * x * c
        return tape.gradient(y, x)

    assert_allclose = np.testing.assert_allclose
    assert_allclose(ad.grad(ad.checkpoint(f))(0.5).numpy(), ad.grad(f)(0.5).numpy(), rtol=1e-14)


def test_tangents_inside_are_pushed_all_at_once():
    runs = []

    @ad.checkpoint
    def inner(x, y):
        runs.append(1)
        return x * y

    middle = ad.checkpoint(lambda x, y: inner(x, y) * x)
    outer = ad.checkpoint(lambda x: ad.jvp(middle, (x, x * 2.0), (x, x))[1])
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = outer(x)
    assert len(runs) == 3  # in the call of middle, when that runs again, and when inner runs again
    tape.gradient(y, x)
