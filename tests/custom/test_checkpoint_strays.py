"""Tensors that leave a checkpointed function on another way than by its result: no gradient is silently wrong."""

import numpy as np
import pytest

import autodiff_edu as ad

READS = (
    r"test_checkpoint_strays.py, line \d+: this reads a tensor that was computed inside {0}, called at .*, and is not "
    r"a tensor that this call returned.*Return it from {0} and use .*, or compute it outside. If you only need its "
    r"numbers, use .numpy\(\)"
)


class Aside:
    """A checkpointed function that keeps a tensor aside."""

    def __init__(self):
        self.kept = []
        self.f = ad.checkpoint(self.layer)

    def layer(self, x):
        h = np.tanh(x)
        self.kept.append(h)
        return h * 2.0


@pytest.mark.parametrize(
    "read",
    [
        lambda h, y: y + h**2,
        lambda h, y: y + np.sum(np.stack([h, y])),
        lambda h, y: ad.checkpoint(lambda y: y * h)(y),
        lambda h, y: ad.grad(lambda y: y * h)(y),
        lambda h, y: y * np.asarray(h),
    ],
)
@pytest.mark.parametrize("ask", [ad.grad, lambda f: ad.jacobian(f, mode="forward"), ad.hessian])
def test_what_is_kept_aside_cannot_be_read_outside(read, ask):
    aside = Aside()

    def loss(x):
        y = aside.f(x)
        return read(aside.kept[-1], y)

    with pytest.raises(RuntimeError, match=READS.format("layer")):
        ask(loss)(0.5)


def test_the_tensor_that_it_returns_is_not_the_one_that_it_computed():
    kept = []

    @ad.checkpoint
    def f(x):
        kept.append(np.tanh(x))
        return kept[-1]

    x = ad.Variable(0.5)
    with ad.GradientTape() as tape:
        y = f(x)
        with pytest.raises(RuntimeError, match="use what the call returns"):
            kept[0] * 2.0
    assert float(tape.gradient(y, x)) == 1.0 - np.tanh(0.5) ** 2


def test_it_can_be_read_as_numbers_and_when_no_tape_records():
    aside, x = Aside(), ad.Variable(0.5)
    with ad.GradientTape() as tape:
        y = aside.f(x) * float(aside.kept[0].numpy())
    assert float(aside.kept[0] ** 2) == np.tanh(0.5) ** 2
    assert tape.gradient(y, x) is not None
    with ad.GradientTape() as tape:
        tape.watch(x)
        z = x * aside.kept[0]  # a constant for this tape, like everything that was computed before
    assert float(tape.gradient(z, x)) == np.tanh(0.5)


def test_a_tape_that_follows_nothing_inside_does_not_mind():
    aside, x, w = Aside(), ad.Variable(0.5), ad.Variable(2.0)
    with ad.GradientTape(watch_accessed_variables=False) as outer:
        outer.watch(w)
        with ad.GradientTape():
            aside.f(x)
        y = w * aside.kept[0]
    assert float(outer.gradient(y, w)) == np.tanh(0.5)


def test_constants_layers_and_choices_that_are_made_inside_may_stay():
    made = {}

    @ad.checkpoint
    def f(x):
        if not made:
            made["table"] = np.arange(3.0) + ad.constant(1.0)
            made["layer"] = ad.nn.Dense(2)
            made["cut"] = ad.stop_gradient(x * 2.0)
        return np.sum(made["layer"](x) * 2.0), np.argmax(x)

    x = ad.Variable([[1.0, 2.0, 3.0]])
    with ad.GradientTape() as tape:
        y, where = f(x)
        z = y + np.sum(made["table"] * made["cut"]) + np.sum(made["layer"].kernel ** 2) + where
    x_bar, kernel_bar = tape.gradient(z, [x, made["layer"].kernel])
    kernel = made["layer"].kernel.numpy()
    np.testing.assert_allclose(x_bar.numpy(), 2.0 * kernel.sum(axis=1)[None])
    np.testing.assert_allclose(kernel_bar.numpy(), 2.0 * x.numpy().T + 2.0 * kernel)


def test_what_a_checkpoint_inside_keeps_aside_is_noticed_outside_of_both():
    aside = Aside()
    outer = ad.checkpoint(lambda x: aside.f(x) * 3.0)

    def loss(x):
        y = outer(x)
        return y * aside.kept[-1]

    with pytest.raises(RuntimeError, match="computed inside the function"):
        ad.grad(loss)(0.5)
    with pytest.raises(RuntimeError, match=READS.format("layer")):
        ad.grad(ad.checkpoint(lambda x: aside.f(x) * aside.kept[-1]))(0.5)


class Out:
    def __init__(self, h):
        self.h = h


def in_an_object(x):
    return Out(np.tanh(x))


def in_an_array(x):
    found = np.empty(1, object)
    found[0] = np.tanh(x)
    return Out(found)


@pytest.mark.parametrize("use", [lambda h: h, lambda h: h * 2.0])
@pytest.mark.parametrize(("f", "take"), [(in_an_object, lambda r: r.h), (in_an_array, lambda r: r.h[0])])
def test_objects_in_the_result(f, take, use):
    for ask in (
        ad.grad,
        ad.value_and_grad,
        lambda g: lambda x: ad.vjp(g, x)[1](1.0),
        lambda g: lambda x: ad.jvp(g, (x,), (1.0,)),
        lambda g: lambda x: ad.linearize(g, x)[1](1.0),
    ):
        with pytest.raises(
            RuntimeError, match=f"computed inside {f.__name__}, called at .*Return it from {f.__name__}"
        ):
            ask(lambda x: use(take(ad.checkpoint(f)(x))))(0.5)


@pytest.mark.parametrize("make", [lambda x: ad.linearize(lambda z: z**3, x)[1], lambda x: ad.vjp(lambda z: z**3, x)[1]])
def test_closures_in_the_result(make):
    assert float(ad.grad(lambda x: make(x)(1.0))(2.0)) == 12.0
    with pytest.raises(RuntimeError, match="computed inside"):
        ad.grad(lambda x: ad.checkpoint(make)(x)(1.0))(2.0)


def test_a_tensor_that_the_first_run_has_cached_is_refused_in_the_second():
    w, cache = ad.Variable(3.0), {}

    def f(x):
        if not cache:
            cache["e"] = np.exp(w)
        return x * cache["e"]

    with ad.GradientTape() as tape:
        y = ad.checkpoint(f)(ad.constant(2.0))
    with pytest.raises(RuntimeError, match="f ran again here for the derivative, and this reads a tensor that its fir"):
        tape.gradient(y, w)
    cache.clear()
    with (
        pytest.raises(RuntimeError, match=r"computed inside f, called at .* or compute it outside"),
        ad.GradientTape() as tape,
    ):
        ad.checkpoint(f)(ad.checkpoint(f)(ad.constant(2.0)))


@pytest.mark.parametrize("persistent", [True, False])
def test_a_gradient_of_it_or_with_respect_to_it_is_none_and_explain_says_why(persistent):
    aside, x = Aside(), ad.Variable(0.5, name="x")
    with ad.GradientTape(persistent) as tape:
        y = aside.f(x)
    h = aside.kept[0]
    said = r"h was computed inside layer, called at test_checkpoint_strays.py, line \d+, and is not a tensor th"
    for target, source in ((h, x), (y, h)):
        explanation = tape.explain(target, source)
        assert not explanation
        (cause,) = explanation.causes
        assert cause.kind == "inside a checkpoint"
    with pytest.raises(ad.UnconnectedError, match=said):
        tape.gradient(h, x, unconnected_gradients="explain")
    assert "computed inside layer" in tape.explain(h, x).trace().transcript()
    assert tape.explain(h, h).connected
    assert not tape.explain(h, h).left_out
    assert "computed inside layer" in tape.explain([y, h], x).left_out[0].text
    assert not tape.explain(y, x).left_out
    assert tape.gradient(h, x) is None


def test_the_ids_of_a_long_function_take_little_room():
    def f(x):
        for _ in range(1000):
            x = np.tanh(x)
        return x

    x = ad.Variable(0.5)
    with ad.GradientTape() as tape:
        for _ in range(3):
            x = ad.checkpoint(f)(x)
    assert len(tape.refused.computed.ends) == 6


@pytest.mark.parametrize("derivative", [ad.jacobian, ad.hessian, lambda f: lambda x: ad.hvp(f, (x,), (x,))])
def test_a_stray_as_the_result_is_refused_by_every_transform(derivative):
    kept = []

    def layer(x):
        kept.append(np.tanh(x))
        return x * kept[-1]

    def f(x):
        ad.checkpoint(layer)(x)
        return kept[-1]

    with pytest.raises(RuntimeError, match="was computed inside layer"):
        derivative(f)(ad.constant(0.5))


def test_a_stray_among_several_targets_is_refused():
    kept = []

    def layer(x):
        kept.append(np.tanh(x))
        return x * kept[-1]

    x = ad.Variable(0.5, name="x")
    with ad.GradientTape(persistent=True) as tape:
        y = ad.checkpoint(layer)(x)
    with pytest.raises(RuntimeError, match="this reads a tensor that was computed inside layer"):
        tape.gradient([y, kept[0]], x)
