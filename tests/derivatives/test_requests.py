"""What a tape may be asked for: targets, sources, first cotangents, what to watch; all else is named by its place."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.core.active import Listener, only
from autodiff_edu.core.events import Outcome
from autodiff_edu.derivatives.requests import as_constant, check_watchable, seeds_of, tensors_of


def test_the_tensors_of_a_structure_are_listed_in_order():
    x, w = ad.Variable(1.0), ad.constant(2.0)
    assert tensors_of(x, "sources") == [x]
    assert tensors_of({"b": [x], "a": (w, {"c": x})}, "sources") == [x, w, x]
    assert tensors_of([], "sources") == []


@pytest.mark.parametrize("leaf", [None, 1.0, np.ones(2), "x", object()])
def test_anything_else_in_it_is_named_by_its_place(leaf):
    with pytest.raises(TypeError, match=rf"sources\['a'\]\[1\] is .* of type {type(leaf).__name__}"):
        tensors_of({"a": [ad.Variable(1.0), leaf]}, "sources")


def test_of_a_module_it_is_said_how_to_pass_its_variables():
    module = nn.Dense(2)
    for ask in (lambda: tensors_of([module], "sources"), lambda: check_watchable([module])):
        with pytest.raises(TypeError, match=r"module\.trainable_variables"):
            ask()


def test_the_first_cotangents_are_ones_of_the_target_s_shape_and_dtype():
    targets = [ad.constant(2.0), ad.constant(np.ones((2, 3), "float32")), ad.constant(1j)]
    for (tensor, seed), target in zip(seeds_of(targets, None), targets, strict=True):
        assert tensor is target
        assert (np.shape(seed), seed.dtype) == (target.shape, target.dtype)
        assert np.all(seed == 1)


def test_targets_of_integers_have_none():
    whole, x = ad.constant(3), ad.constant(2.0)
    assert [tensor for tensor, _ in seeds_of([whole, x, ad.constant(True)], None)] == [x]


def test_first_cotangents_may_be_given_in_many_ways():
    x, y = ad.constant([1.0, 2.0]), ad.constant(3.0)
    for given in ([[5.0, 6.0], 7.0], [np.array([5, 6]), ad.constant(7.0)], [ad.constant([5.0, 6.0]), 7]):
        assert [np.asarray(seed).tolist() for _, seed in seeds_of([x, y], given)] == [[5.0, 6.0], 7.0]
    assert [np.asarray(seed).tolist() for _, seed in seeds_of([x, y], [None, 7.0])] == [[1.0, 1.0], 7.0]
    assert [float(seed) for _, seed in seeds_of(y, [ad.constant(7.0)])] == [7.0]
    assert [float(seed) for _, seed in seeds_of({"a": y, "b": y}, {"b": 1.0, "a": 2.0})] == [2.0, 1.0]


def test_several_first_cotangents_for_one_target_are_refused_and_not_stacked():
    one, row, target = ad.constant(1.0), ad.constant([1.0, 2.0]), ad.constant([1.0, 2.0])
    with pytest.raises(
        ValueError, match=r"a list of 2 tensors, .* shape \(2,\).* For several cotangents, call gradient once for each"
    ):
        seeds_of(target, [row, row])
    with pytest.raises(ValueError, match=r"output_gradients\[1\] is a tuple of 2 tensors, .* Join them: np\.stack"):
        seeds_of([one, target], [one, (one, one)])
    assert seeds_of(target, np.stack([one, one]))[0][1].tolist() == [1.0, 1.0]


def test_of_a_target_of_plain_numbers_it_is_said_that_no_tape_follows_them():
    x = ad.constant([3.0, 4.0])
    with pytest.raises(TypeError, match=r"No tape follows plain numbers: compute it from tensors, inside the tape$"):
        tensors_of(np.linalg.norm(x.numpy()), "target")
    with pytest.raises(TypeError, match=r"not its value$"):
        tensors_of(5.0, "target")


def test_a_first_cotangent_has_the_dtype_of_its_target():
    ((_, seed),) = seeds_of(ad.constant(1.0, dtype="float32"), 2.5)
    assert seed.dtype == np.float32
    ((_, seed),) = seeds_of(ad.constant(1j), 2.5)
    assert seed.dtype == np.complex128


def test_under_a_recording_tape_a_first_cotangent_stays_a_tensor():
    x, weight = ad.constant(1.0), ad.Variable(2.0)
    ((_, plain),) = seeds_of(x, weight)
    assert not isinstance(plain, ad.Tensor)
    with ad.GradientTape():
        ((_, followed),) = seeds_of(x, weight)
    assert followed is weight


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([1.0], ValueError, "output_gradients"),
        (
            [[1.0, 2.0], [1.0, 2.0]],
            ValueError,
            r"output_gradients\[1\] has shape \(2,\), but its target has shape \(\)",
        ),
        ([[1.0, 2.0, 3.0], 1.0], ValueError, r"output_gradients\[0\] has shape \(3,\)"),
        ([[1.0, 1j], 1.0], TypeError, r"output_gradients\[0\] is complex, but its target is float64"),
        ([[1.0, 2.0], "a"], TypeError, r"output_gradients\[1\]: a tensor holds numbers"),
    ],
)
def test_first_cotangents_that_do_not_fit_their_targets_are_named(given, error, said):
    with pytest.raises(error, match=said):
        seeds_of([ad.constant([1.0, 2.0]), ad.constant(3.0)], given)


def test_what_can_be_watched_is_listed_and_all_else_refused():
    x, v = ad.constant(1.0), ad.Variable(1j)
    assert check_watchable([x, {"v": v}]) == [x, v]
    with pytest.raises(TypeError, match=r"^\[1\] in the argument of tape\.watch has dtype int64.*astype\(float\)"):
        check_watchable([x, ad.constant(3)])
    with pytest.raises(TypeError, match=r"^the Variable 'count' has dtype int64.*dtype=float"):
        check_watchable([x, ad.Variable(3, name="count")])
    with pytest.raises(TypeError, match=r"^Variable\(2\) has dtype int64.*create it with dtype=float$"):
        check_watchable(ad.Variable(2))
    with pytest.raises(ValueError, match=r"^\[0\] in the argument of tape\.watch is the float 2\.0.*ad\.constant"):
        check_watchable([2.0])


def test_a_value_becomes_a_tensor_and_the_error_names_the_place():
    x = ad.Variable(1.0)
    assert as_constant("x", x) is x
    assert as_constant("x", [1, 2]).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"^the place: a tensor holds numbers"):
        as_constant("the place", "abc")


@pytest.mark.parametrize("ask", ["gradient", "jacobian", "batch_jacobian"])
def test_a_word_for_what_is_unconnected_is_one_of_three(ask):
    x = ad.Variable([[1.0]])
    with ad.GradientTape(persistent=True) as tape:
        y = x * x
    with pytest.raises(ValueError, match=r"unconnected_gradients.*'none', 'zero' or 'explain'"):
        getattr(tape, ask)(y, x, unconnected_gradients="None")
    assert getattr(tape, ask)(y, x, unconnected_gradients="explain") is not None
    with pytest.raises(ad.UnconnectedError, match="None"):
        getattr(tape, ask)(y, ad.Variable([[1.0]]), unconnected_gradients="explain")


def test_a_tape_that_has_nothing_to_differentiate_says_why():
    x = ad.Variable(2.0)
    with pytest.raises(RuntimeError, match=r"recorded nothing.*with tape:"):
        ad.GradientTape().gradient(x, x)
    with ad.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, x)


def test_a_gradient_is_told_to_the_listeners_with_its_targets_and_source():
    x, heard = ad.Variable(3.0), []
    with ad.GradientTape() as tape:
        y = x * x
    with only(Listener({Outcome: heard.append})):
        slope = tape.gradient(y, x)
    (event,) = heard
    assert (event.tape, event.word, event.connected, event.seeded) == (tape, "gradient", True, False)
    assert event.targets[0] is y
    assert event.source is x
    assert event.result is slope
