"""What a fresh pair of eyes tried on the tape in full: life, structures, layers, explanations, rules and files."""

import asyncio
import copy
import pickle
import warnings
import weakref

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.events import active
from autodiff_edu.rules import RULES


@pytest.fixture(autouse=True)
def nothing_stays_behind():
    yield
    left = active.tapes, active.hooks, active.scopes
    active.tapes = active.hooks = active.scopes = ()
    registered = RULES.pop(np.unwrap, None)
    assert left == ((), (), ())
    assert registered is None


@pytest.fixture
def path(tmp_path):
    return tmp_path / "function.ad"


def saved(function, path, *examples):
    """Save without a word, and load."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ad.save(function, path, *examples)
    return ad.load(path)


# The life of a tape


def test_a_generator_that_is_closed_leaves_its_tape():
    x = ad.Variable(2.0)

    def recording():
        with ad.GradientTape() as tape:
            yield tape, x * x

    generator = recording()
    tape, y = next(generator)
    assert active.tapes == (tape,)
    generator.close()
    assert active.tapes == ()
    assert float(tape.gradient(y, x)) == 4.0


def test_tasks_that_take_turns_each_get_their_own_gradient():
    x = ad.Variable(2.0)

    async def task(k):
        with ad.GradientTape() as tape:
            y = x * k
            await asyncio.sleep(0)
            y = y * x
            await asyncio.sleep(0)
        return float(tape.gradient(y, x))

    async def main():
        return await asyncio.gather(*(task(k) for k in (1.0, 2.0, 3.0)))

    assert asyncio.run(main()) == [4.0, 8.0, 12.0]


def test_a_pause_that_ends_after_its_tape_was_entered_again_records_nothing_twice():
    x = ad.Variable(2.0)
    tape = ad.GradientTape(persistent=True)

    def pause():
        with tape.stop_recording():
            yield

    with tape:
        generator = pause()
        next(generator)
    with tape:
        generator.close()
        y = x * x
    assert len(tape.entries) == 1
    assert [float(g) for g in tape.gradient(y, [x, y])] == [4.0, 1.0]


def test_a_backward_function_that_fails_in_the_middle_of_the_way_uses_nothing_up():
    x, wrong = ad.Variable(2.0), [True]

    @ad.custom_gradient
    def f(x):
        return x * 1.0, lambda dy: np.ones(3) if wrong else dy

    with ad.GradientTape() as tape:
        y = f(x * 2.0) * 3.0
    with pytest.raises(ValueError, match="'x' has shape"):
        tape.gradient(y, x)
    wrong.clear()
    assert float(tape.gradient(y, x)) == 6.0


def test_an_interrupted_backward_pass_leaves_no_tape_behind():
    x = ad.Variable(2.0)

    def interrupt(dy):
        raise KeyboardInterrupt

    f = ad.custom_gradient(lambda x: (x * 1.0, interrupt))
    with ad.GradientTape() as outer, ad.GradientTape() as tape:
        y = f(x)
        with pytest.raises(KeyboardInterrupt):
            tape.gradient(y, x)
        assert outer in active.tapes
        z = x * x
    assert float(outer.gradient(z, x)) == 4.0


def test_a_walk_that_is_abandoned_lets_go_of_the_arrays():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = x * x * x
    walk = tape.steps(y, x)
    next(walk)
    walk.close()
    assert tape.nbytes == 0


def test_a_tape_is_dropped_without_the_garbage_collector():
    x = ad.Variable(np.ones(10))
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(np.sin(x))
        tape.gradient(y, x)
    dropped = weakref.ref(tape)
    del tape
    assert dropped() is None


# Variables


@pytest.mark.parametrize(("sign", "instead"), [("+=", "assign_add"), ("-=", "assign_sub"), ("*=", "assign(")])
def test_writing_into_a_variable_says_what_to_write_for_this_very_operator(sign, instead):
    names = {"v": ad.Variable(2.0)}
    with pytest.raises(RuntimeError) as error:
        exec(f"v {sign} 2.0", names)
    assert sign in str(error.value)
    assert instead in str(error.value)


# Layers


def test_an_optimizer_changes_nothing_if_one_variable_holds_integers():
    a, n = ad.Variable(1.0, name="a"), ad.Variable(1, name="n")
    with pytest.raises(TypeError):
        nn.SGD(0.1).apply([1.0, 1], [a, n])
    assert float(a) == 1.0


def test_a_model_and_its_optimizer_are_copied_with_their_memory():
    model, optimizer = nn.Dense(1), nn.SGD(0.1, momentum=0.9)
    model(np.ones((1, 1)))
    optimizer.apply([np.ones((1, 1))], [model.kernel])
    again, its = copy.deepcopy((model, optimizer))
    optimizer.apply([np.ones((1, 1))], [model.kernel])
    its.apply([np.ones((1, 1))], [again.kernel])
    assert np.array_equal(again.kernel.numpy(), model.kernel.numpy())


def test_a_model_survives_pickling_with_variables_of_its_own():
    model = nn.Dense(2, nn.relu)
    x = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    y = model(x)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again(x).numpy(), y.numpy())
    assert list(again.named_variables) == ["kernel", "bias"]
    with ad.GradientTape() as tape:
        y = np.sum(again(x))
    assert tape.gradient(y, model.kernel) is None


def test_a_layer_made_for_float32_keeps_gradients_in_float32_for_float64_inputs():
    layer = nn.Dense(2)
    layer(np.ones((1, 2), "float32"))
    with ad.GradientTape() as tape:
        y = np.sum(layer(np.ones((1, 2))))
    assert {g.dtype.name for g in tape.gradient(y, layer.trainable_variables)} == {"float32"}


def test_gradients_in_a_list_are_applied_to_variables_in_a_tuple():
    layer = nn.Dense(1)
    with ad.GradientTape() as tape:
        y = np.sum(layer(np.ones((1, 2))))
    before = layer.bias.numpy()
    variables = layer.trainable_variables
    nn.SGD(0.5).apply([g * 2.0 for g in tape.gradient(y, variables)], variables)
    assert layer.bias.numpy() == before - 1.0


def test_a_layer_is_shown_without_an_address():
    assert "0x" not in repr(nn.Dense(2))


# Explanations


def test_a_cut_by_numpy_is_named_among_others():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = ad.constant(x.numpy() * 2.0) + np.round(x) + ad.stop_gradient(x)
    text = str(tape.explain(y, x))
    assert "round" in text
    assert "stop_gradient" in text
    assert "numpy()" in text


def test_a_cut_by_numpy_lines_before_is_named_among_others():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        a = x.numpy() * 2.0
        b = ad.constant(a)
        y = b + np.round(x)
    text = str(tape.explain(y, x))
    assert "round" in text
    assert "numpy()" in text


def test_a_number_taken_out_that_multiplies_another_cut_is_named():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        a = float(x) * 2.0
        y = a * np.round(x)
    assert "float(x)" in str(tape.explain(y, x))


def test_a_connection_is_claimed_exactly_where_a_registered_rule_gives_a_gradient():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.register_gradient(np.unwrap, lambda g, y, x: None), ad.GradientTape(persistent=True) as tape:
        y = np.sum(np.unwrap(x))
        try:
            gradient = tape.gradient(y, x)
        except (TypeError, ValueError):
            return
        assert bool(tape.explain(y, x)) == (gradient is not None)


def test_what_is_printed_or_logged_on_the_way_is_no_cut():
    x, w = ad.Variable(3.0, name="x"), ad.Variable(1.0, name="w")
    with ad.GradientTape() as tape:
        str(float(x))
        y = w * 2.0
    assert "plain numbers" not in str(tape.explain(y, x))


def test_a_tensor_that_a_custom_gradient_captures_is_named():
    c, x = ad.constant(3.0, name="c"), ad.Variable(2.0, name="x")

    @ad.custom_gradient
    def scaled(x):
        return x * c, lambda dy: dy * c

    with ad.GradientTape() as tape:
        tape.watch(c)
        y = scaled(x)
    text = str(tape.explain(y, c))
    assert "Nothing that leads to" not in text
    assert "scaled" in text


def test_a_tensor_given_to_a_custom_gradient_by_keyword_is_named():
    x = ad.constant(2.0, name="x")
    doubled = ad.custom_gradient(lambda x: (x * 2.0, lambda dy: dy * 2.0))
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = doubled(x=x)
    assert "Nothing that leads to" not in str(tape.explain(y, x))


def test_a_number_put_into_an_array_is_named():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        a = np.ones(2)
        a[0] = x
        y = ad.constant(a)
    assert "plain numbers" in str(tape.explain(y, x))


def test_a_number_written_as_text_is_named():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = ad.constant(float(f"{x:.2f}"))
    assert "Nothing that leads to" not in str(tape.explain(y, x))


def test_an_earlier_recording_of_a_tape_is_not_said_to_come_before_it():
    x, tape = ad.Variable(2.0, name="x"), ad.GradientTape()
    with tape:
        y = x * x
    tape.gradient(y, x)
    with tape:
        x * 3.0
    assert "before this tape began" not in str(tape.explain(y, x))


def test_an_unconnected_error_survives_pickling():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape() as tape:
        y = np.round(x)
    with pytest.raises(ad.UnconnectedError) as error:
        tape.gradient(y, x, unconnected_gradients="explain")
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_the_source_of_infinity_in_a_custom_gradient_is_its_backward_function():
    x = ad.Variable(2.0, name="x")
    bad = ad.custom_gradient(lambda x: (x * 1.0, lambda dy: dy * np.inf))
    with ad.GradientTape() as tape:
        y = bad(x)
    found = tape.first_nonfinite(y, x)
    assert found.direction == "backward"
    assert "too large for their dtype" not in str(found)


def test_looking_for_what_is_not_finite_warns_of_nothing_itself():
    x = ad.Variable(0.0, name="x")
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        y = np.log(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tape.first_nonfinite(y, x) is not None


# Rules and gradients of one's own


def test_methods_of_every_kind_may_have_gradients_of_their_own():
    class Functions:
        @ad.custom_gradient
        def method(self, x):
            return x * 3.0, lambda dy: dy * 10.0

        @staticmethod
        @ad.custom_gradient
        def static(x):
            return x * 1.0, lambda dy: dy * 7.0

        @classmethod
        @ad.custom_gradient
        def of_class(cls, x):
            return x * 1.0, lambda dy: dy * 8.0

    functions = Functions().method, Functions.static, Functions.of_class
    assert [float(ad.grad(f)(2.0)) for f in functions] == [10.0, 7.0, 8.0]


def test_a_gradient_that_uses_its_own_function_has_every_derivative():
    @ad.custom_gradient
    def exponential(x):
        return np.exp(x), lambda dy: dy * exponential(x)

    f = exponential
    for _ in range(4):
        f = ad.grad(f)
    assert float(f(1.0)) == np.exp(1.0)
    x = np.array([0.0, 1.0])
    for mode in ("forward", "reverse"):
        assert np.array_equal(ad.jacobian(exponential, mode=mode)(x).numpy(), np.diag(np.exp(x)))
    assert np.array_equal(ad.hessian(lambda x: np.sum(exponential(x)))(x).numpy(), np.diag(np.exp(x)))
    assert np.array_equal(ad.hvp(lambda x: np.sum(exponential(x)), (x,), (x,)).numpy(), np.exp(x) * x)


def test_the_call_of_a_module_may_have_a_gradient_of_its_own():
    class Scale(nn.Module):
        def __init__(self):
            self.w = ad.Variable(3.0, name="w")

        @ad.custom_gradient
        def __call__(self, x):
            return x * self.w, lambda dy, variables: (dy * variables[0], [dy * x])

    layer, x = Scale(), ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = layer(x)
    assert [float(g) for g in tape.gradient(y, [x, layer.w])] == [3.0, 2.0]


WRONG = {
    "nothing": lambda g, y, x: None,
    "another shape": lambda g, y, x: np.ones(5),
    "a list": lambda g, y, x: [1.0, 2.0],
    "text": lambda g, y, x: "a",
    "a complex number": lambda g, y, x: g * 1j,
}


@pytest.mark.parametrize("what", WRONG)
def test_a_rule_that_gives_what_is_no_gradient_is_an_error_that_names_the_function(what):
    x = ad.Variable([1.0, 2.0])
    with ad.register_gradient(np.unwrap, WRONG[what]):
        with ad.GradientTape() as tape:
            y = np.sum(np.unwrap(x))
        with pytest.raises((TypeError, ValueError), match="unwrap"):
            tape.gradient(y, x)


def test_registrations_left_in_the_wrong_order_leak_nothing():
    first = ad.register_gradient(np.unwrap, lambda g, y, x: g)
    second = ad.register_gradient(np.unwrap, lambda g, y, x: 2.0 * g, replace=True)
    first.__exit__()
    assert np.unwrap in RULES  # the second one still holds
    second.__exit__()
    assert np.unwrap not in RULES


# Files


def test_an_index_in_the_middle_is_not_baked_in_unseen(path):
    with pytest.raises(ValueError, match="number of samples"):
        ad.save(lambda x: x[len(x) // 2] * 1.0, path, np.arange(4.0))


def test_a_number_of_samples_that_is_clipped_is_not_baked_in_unseen(path):
    with pytest.raises(ValueError, match="number of samples"):
        ad.save(lambda x: np.sum(x) / max(len(x), 6), path, np.arange(4.0))


def _by_float(x):
    return x * 2.0 if float(x) > 0.0 else -x


def _by_bool(x):
    return x * 2.0 if x > 0.0 else -x


def _by_max(x):
    return max(x, 0.0)


def _by_int(x):
    return x * int(x)


@pytest.mark.parametrize("function", [_by_float, _by_bool, _by_max, _by_int])
def test_a_branch_far_from_where_it_turns_is_said_too(function, path):
    with pytest.warns(UserWarning, match="constant|path|branch"):
        ad.save(function, path, 3.3)


def test_an_index_chosen_by_float_arguments_is_said(path):
    with pytest.warns(UserWarning, match="constant"):
        ad.save(lambda x: x[int(np.argmax(x))], path, np.array([1.0, 2.0, 3.0]))


def test_a_refused_save_leaves_the_moving_statistics_as_they_were(path):
    layer = nn.BatchNormalization(momentum=0.5)
    layer(np.ones((4, 3)))
    with pytest.raises(ValueError, match="assigns"):
        ad.save(lambda x: layer(x, training=True), path, np.linspace(0.0, 1.0, 12).reshape(4, 3))
    assert np.array_equal(layer.moving_mean.numpy(), np.zeros(3))


def test_a_folder_is_refused_by_its_own_name(tmp_path):
    with pytest.raises(OSError, match="irectory") as error:
        ad.save(lambda x: x * 2.0, tmp_path, 1.0)
    assert str(tmp_path) in str(error.value)
    assert f".{tmp_path.name}." not in str(error.value)


def test_no_path_is_no_folder(tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    with pytest.raises(OSError, match=r"irectory|path"):
        ad.save(lambda x: x * 2.0, "", 1.0)
    assert [p.name for p in tmp_path.iterdir()] == ["inside"]


def test_a_path_may_be_a_link_to_a_file(tmp_path):
    ad.save(lambda x: x * 2.0, tmp_path / "file.ad", 1.0)
    (tmp_path / "link.ad").symlink_to("file.ad")
    ad.save(lambda x: x * 5.0, tmp_path / "link.ad", 1.0)
    assert (tmp_path / "link.ad").is_symlink()
    assert float(ad.load(tmp_path / "file.ad")(1.0)) == 5.0


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_network_of_all_layers_is_saved_bit_by_bit_in_every_dtype(dtype, path):
    class Network(nn.Module):
        def __init__(self):
            self.first, self.norm, self.last = nn.Dense(4, nn.elu), nn.BatchNormalization(), nn.Dense(2, nn.softmax)

        def __call__(self, x):
            return self.last(self.norm(self.first(x)))

    network, x = Network(), np.linspace(-1.0, 1.0, 15).reshape(5, 3).astype(dtype)
    y = network(x)
    again = saved(network, path, x)
    assert again(x).dtype == dtype
    assert np.array_equal(again(x).numpy(), y.numpy())
    assert [len(again(part)) for part in (x[:0], x[:1], np.repeat(x, 3, 0))] == [0, 1, 15]


def test_a_loaded_function_is_copied_and_pickled(path):
    f = saved(lambda x, y: x * y, path, np.ones((4, 3)), np.ones((4, 1)))
    for again in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert again(np.ones((2, 3)), np.full((2, 1), 3.0)).numpy().tolist() == [[3.0] * 3] * 2


def test_a_loaded_function_is_part_of_a_model(path):
    w = ad.Variable(2.0, name="w")
    model = nn.Module()
    model.function = saved(lambda x: x * w, path, 1.0)
    assert len(model.variables) == 1


def test_a_loaded_function_keeps_the_names_of_its_arguments_when_it_is_saved_again(path):
    f = saved(lambda x, y: x * y, path, np.ones((4, 3)), np.ones((4, 1)))
    assert "(x: float64 (n, 3), y: float64 (n, 1))" in repr(saved(f, path, np.ones((4, 3)), np.ones((4, 1))))
