"""The life of a tape: entering, watching, pausing, resetting, being read once or often; and what it finds connected."""

import collections

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.events import active


def squared(persistent=False, value=3.0):
    x = ad.Variable(value)
    with ad.GradientTape(persistent=persistent) as tape:
        y = x**2
    return tape, x, y


# Life ---------------------------------------------------------------------------------------------------------------


def test_a_persistent_tape_gives_the_same_gradient_every_time():
    tape, x, y = squared(persistent=True)
    assert float(tape.gradient(y, x)) == float(tape.gradient(y, x)) == 6.0


def test_a_tape_records_into_the_same_list_when_it_is_entered_again():
    x = ad.Variable(3.0)
    tape = ad.GradientTape()
    with tape:
        y = x**2
    with tape:
        z = y * x
    assert float(tape.gradient(z, x)) == 27.0


def test_what_happens_between_two_entrances_is_a_constant():
    x = ad.Variable(3.0)
    tape = ad.GradientTape(persistent=True)
    with tape:
        y = x**2
    m = y * x
    with tape:
        z = m * y
    assert float(tape.gradient(z, x)) == 162.0
    assert tape.gradient(z, m) is None


def test_a_one_shot_tape_starts_afresh_when_it_is_entered_after_it_was_read():
    tape, x, y = squared()
    assert float(tape.gradient(y, x)) == 6.0
    with tape:
        z = x**3
    assert float(tape.gradient(z, x)) == 27.0
    assert len(tape.entries) == 1


def test_an_exception_inside_the_block_keeps_what_was_recorded():
    x = ad.Variable(3.0)
    with pytest.raises(ValueError, match="boom"), ad.GradientTape() as tape:  # noqa: PT012
        y = x**2
        raise ValueError("boom")
    assert active.tapes == ()
    assert float(tape.gradient(y, x)) == 6.0


def test_a_one_shot_tape_read_inside_its_own_block_stops_recording():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = x**2
        assert float(tape.gradient(y, x)) == 6.0
        z = x**3
        assert active.tapes == ()
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(z, x)


def test_a_persistent_tape_read_inside_its_own_block_records_its_own_backward_pass():
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        y = x**3
        slope = tape.gradient(y, x)
    assert float(slope) == 27.0
    assert float(tape.gradient(slope, x)) == 18.0


def test_gradient_while_the_tape_pauses_is_a_constant():
    x = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        y = x**2
        with tape.stop_recording():
            slope = tape.gradient(y, x)
        z = y * slope
    assert float(slope) == 6.0
    assert float(tape.gradient(z, x)) == 36.0


def test_what_is_computed_while_the_tape_pauses_is_a_constant():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        a = x * x
        with tape.stop_recording():
            b = x * x
        c = a * b
    assert float(tape.gradient(c, x)) == 54.0


def test_pausing_one_tape_leaves_the_others_recording():
    x = ad.Variable(3.0)
    with ad.GradientTape() as outer, ad.GradientTape() as inner, inner.stop_recording():
        y = x * x
    assert inner.gradient(y, x) is None
    assert float(outer.gradient(y, x)) == 6.0


def test_recording_resumes_after_an_exception_in_a_pause():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


def test_a_tape_left_while_it_pauses_stays_left():
    tape = ad.GradientTape()
    tape.__enter__()
    with tape.stop_recording():
        tape.__exit__(None, None, None)
    assert active.tapes == ()


def test_reset_forgets_entries_and_watches_but_goes_on_recording():
    x, v = ad.constant(3.0), ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = v * x
        tape.reset()
        assert tape.entries == []
        assert tape.watched_variables() == ()
        z = v**2 * x
    assert tape.gradient(y, v) is None
    assert tape.gradient(z, x) is None
    assert float(tape.gradient(z, v)) == 12.0


def test_tapes_may_be_left_in_the_wrong_order():
    x = ad.Variable(3.0)
    a, b = ad.GradientTape(), ad.GradientTape()
    a.__enter__()
    b.__enter__()
    y = x * x
    a.__exit__(None, None, None)
    z = y * x
    b.__exit__(None, None, None)
    assert (float(a.gradient(y, x)), float(b.gradient(z, x))) == (6.0, 27.0)


# Watching -----------------------------------------------------------------------------------------------------------


def test_a_trainable_variable_is_watched_when_it_is_read_and_no_other_is():
    trained, fixed, whole = ad.Variable(3.0), ad.Variable(3.0, trainable=False), ad.Variable(3)
    with ad.GradientTape(persistent=True) as tape:
        y = trained * trained + fixed * fixed + whole * 2.0
    (watched,) = tape.watched_variables()
    assert watched is trained
    assert float(tape.gradient(y, trained)) == 6.0
    assert tape.gradient(y, [fixed, whole]) == [None, None]


def test_a_variable_that_is_not_trainable_can_be_watched():
    x = ad.Variable(3.0, trainable=False)
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


def test_watch_follows_from_there_on():
    x = ad.constant(3.0)
    with ad.GradientTape() as tape:
        y = x * x
        tape.watch(x)
    assert tape.gradient(y, x) is None


def test_an_intermediate_result_can_be_watched():
    v = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as tape:
        y = v * v
        tape.watch(y)
        z = y * y
    assert (float(tape.gradient(z, y)), float(tape.gradient(z, v))) == (18.0, 108.0)


def test_watch_takes_any_structure_of_tensors():
    a, b, c = ad.constant(1.0), ad.constant(2.0), ad.constant(3.0)
    with ad.GradientTape() as tape:
        tape.watch(())
        tape.watch({"a": a, "rest": [b, (c,)]})
        y = a * b * c
    assert [float(g) for g in tape.gradient(y, [a, b, c])] == [6.0, 3.0, 2.0]


def test_watched_variables_come_in_the_order_in_which_they_were_made_and_survive_the_gradient():
    a, b, never_read = ad.Variable(1.0, name="a"), ad.Variable(2.0, name="b"), ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = b * 1.0
        y = y * a
        y = y * b
    assert [v.name for v in tape.watched_variables()] == ["a", "b"]
    tape.gradient(y, never_read)
    assert [v.name for v in tape.watched_variables()] == ["a", "b"]


def test_a_tape_that_was_never_entered_watches_nothing():
    assert ad.GradientTape().watched_variables() == ()


def test_only_what_is_watched_on_purpose_counts_with_watch_accessed_variables_false():
    a, b = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y = a * b
    assert len(tape.watched_variables()) == 1
    by_a, by_b = tape.gradient(y, [a, b])
    assert float(by_a) == 2.0
    assert by_b is None


# Connectivity -------------------------------------------------------------------------------------------------------


def test_an_unconnected_source_gives_none_or_zeros_of_its_shape_and_dtype():
    x, y = ad.Variable([[2.0, 2.0]], dtype="float32"), ad.Variable(3.0)
    whole = ad.Variable([1, 2])
    with ad.GradientTape(persistent=True) as tape:
        z = y * y
    assert tape.gradient(z, x) is None
    assert tape.gradient(z, x, unconnected_gradients="none") is None
    for source in (x, whole):
        zero = tape.gradient(z, source, unconnected_gradients="zero")
        assert (zero.shape, zero.dtype) == (source.shape, source.dtype)
        assert not zero.numpy().any()


def test_a_target_that_is_the_source_has_derivative_one():
    watched, variable, unwatched = ad.constant(2.0), ad.Variable(3.0), ad.constant([5.0, 6.0])
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(watched)
    assert float(tape.gradient(watched, watched)) == 1.0
    assert float(tape.gradient(variable, variable)) == 1.0
    assert tape.gradient(unwatched, unwatched).tolist() == [1.0, 1.0]
    assert tape.gradient(variable, [variable, watched])[1] is None


def test_a_target_computed_outside_the_tape_is_unconnected():
    x = ad.Variable(2.0)
    y = x * x
    with ad.GradientTape() as tape:
        x * 1.0
    assert tape.gradient(y, x) is None


def test_an_intermediate_result_is_a_source_like_any_other():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        a = x * x
        b = a * x
        c = x * 7.0
    assert float(tape.gradient(b, a)) == 2.0
    assert tape.gradient(b, c) is None
    assert [float(g) for g in tape.gradient(b, [a, x])] == [2.0, 12.0]


def test_a_source_or_a_target_that_comes_twice_counts_twice():
    tape, x, y = squared(persistent=True)
    assert [float(g) for g in tape.gradient(y, [x, x])] == [6.0, 6.0]
    assert float(tape.gradient([y, y], x)) == 12.0
    assert float(tape.gradient([y, x], x)) == 7.0


def test_empty_structures_give_empty_structures():
    tape, x, y = squared(persistent=True)
    assert tape.gradient(y, []) == []
    assert tape.gradient(y, {}) == {}
    assert tape.gradient([], x) is None


def test_leaving_for_numpy_disconnects():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        y = ad.constant(np.sum(x.numpy() ** 2))
        z = np.sum(x**2)
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, x).tolist() == [2.0, 4.0]


# Structures ---------------------------------------------------------------------------------------------------------

Pair = collections.namedtuple("Pair", "u v")


def test_gradients_come_in_the_structure_of_the_sources():
    a, b = ad.Variable(1.0), ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y = a * a * b
    got = tape.gradient(y, {"k": [a, (b, {"z": a})], "p": Pair(b, a)})
    assert list(got) == ["k", "p"]
    assert (float(got["k"][0]), float(got["k"][1][0]), float(got["k"][1][1]["z"])) == (4.0, 1.0, 4.0)
    assert isinstance(got["p"], Pair)
    assert (float(got["p"].u), float(got["p"].v)) == (1.0, 4.0)
    ordered = tape.gradient(y, collections.OrderedDict(z=a, b=b))
    assert type(ordered) is collections.OrderedDict
    assert list(ordered) == ["z", "b"]
    assert [type(tape.gradient(y, kind([a, b]))) for kind in (list, tuple)] == [list, tuple]


def test_targets_in_a_structure_are_added_up():
    a = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        targets = {"a": a**2, "b": [1 / a, a * [1.0, 2.0]]}
    assert float(tape.gradient(targets, a)) == 6.75


# Output gradients ---------------------------------------------------------------------------------------------------


def test_output_gradients_weigh_the_elements_of_the_target():
    tape, x, y = squared(persistent=True, value=[1.0, 2.0, 3.0])
    assert tape.gradient(y, x).tolist() == [2, 4, 6]
    for weights in ([1.0, 0.0, 10.0], np.array([1.0, 0.0, 10.0]), ad.constant([1.0, 0.0, 10.0]), [1, 0, 10]):
        assert tape.gradient(y, x, output_gradients=weights).tolist() == [2, 0, 60]


def test_output_gradients_have_the_structure_of_the_targets_and_none_stands_for_ones():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y, z = x**2, x**3
    assert float(tape.gradient([y, z], x, output_gradients=[1.0, 10.0])) == 124.0
    assert float(tape.gradient((y, z), x, output_gradients=(None, 10.0))) == 124.0
    assert float(tape.gradient([y, z], x, output_gradients=[None, None])) == 16.0
    assert float(tape.gradient({"y": y, "z": z}, x, output_gradients={"z": 10.0, "y": 1.0})) == 124.0


def test_output_gradients_get_the_dtype_of_the_target():
    x = ad.Variable([2.0], dtype="float32")
    with ad.GradientTape() as tape:
        y = x**2
    assert tape.gradient(y, x, output_gradients=np.array([1.0])).dtype == np.float32


def test_the_caller_s_output_gradients_are_neither_kept_nor_changed():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        y = x + 0.0
        z = x * 2.0
    weights = np.array([1.0, 10.0])
    got = tape.gradient([y, z], x, output_gradients=[weights, weights])
    only = tape.gradient(x, x, output_gradients=weights)
    weights[:] = -1.0
    assert got.tolist() == [3.0, 30.0]
    assert only.tolist() == [1.0, 10.0]
    assert weights.flags.writeable


def test_a_gradient_is_differentiable_by_its_output_gradients():
    x, u = ad.Variable([1.0, 2.0]), ad.Variable([1.0, 1.0])
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = x**3
        slope = inner.gradient(y, x, output_gradients=u)
    assert outer.gradient(slope, u, output_gradients=[1.0, 10.0]).tolist() == [3.0, 120.0]
