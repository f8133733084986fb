"""What a tape watches, on purpose and by reading, and how it says so."""

import numpy as np
import pytest

import autodiff_edu as ad

from .cases import case


def names(tape):
    return [variable.name for variable in tape.watched_variables()]


@case("watch a non-trainable Variable")
def test_a_non_trainable_variable_may_be_watched():
    x = ad.Variable(3.0, trainable=False, name="x")
    with ad.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    assert t.gradient(y, x).tolist() == 6.0
    assert names(t) == ["x"]


@case("non-trainable Variable not watched")
def test_a_non_trainable_variable_is_not_watched_by_reading():
    x = ad.Variable(3.0, trainable=False)
    with ad.GradientTape(persistent=True) as t:
        y = x * x
    assert t.gradient(y, x) is None
    assert t.watched_variables() == ()


@case("watch of int")
def test_watching_an_integer_is_an_error():
    """Difference: TensorFlow logs a warning."""
    with ad.GradientTape() as t, pytest.raises(TypeError, match="int64"):
        t.watch(ad.constant(3))


@case("watch of python float / numpy / list / dict / None")
def test_only_tensors_and_structures_of_them_are_watched():
    a, b, c, d = (ad.constant(float(k)) for k in (1, 2, 3, 4))
    with ad.GradientTape() as t:
        for wrong in (3.0, np.float32(1.0), np.ones(2), None, "abc"):
            with pytest.raises(ValueError, match="watches only tensors"):
                t.watch(wrong)
        for structure in ([a, b], {"a": c, "b": [(d,)]}, ()):
            assert t.watch(structure) is None
        y = a * b * c * d
    assert [g.tolist() for g in t.gradient(y, [a, b, c, d])] == [24.0, 12.0, 8.0, 6.0]


@case("watch outside of context (before entering; after leaving)")
def test_watching_before_the_block_is_an_error():
    """A RuntimeError that says what is wrong, for TensorFlow's AttributeError."""
    x = ad.constant(3.0)
    t = ad.GradientTape()
    with pytest.raises(RuntimeError, match="inside its with block"):
        t.watch(x)
    with t:
        y = x * x
    with pytest.raises(RuntimeError, match="inside its with block"):
        t.watch(x)
    assert t.gradient(y, x) is None


@case("watch after use")
def test_what_was_computed_before_the_watch_is_unconnected():
    x = ad.constant(3.0)
    with ad.GradientTape() as t:
        y = x * x
        t.watch(x)
    assert t.gradient(y, x) is None


@case("watch an intermediate")
def test_watching_an_intermediate_result_cuts_nothing():
    v = ad.Variable(3.0)
    with ad.GradientTape(persistent=True) as t:
        y = v * v
        t.watch(y)
        z = y * y
    assert (t.gradient(z, y).tolist(), t.gradient(z, v).tolist()) == (18.0, 108.0)


@case("watched_variables: order, duplicates, non-read vars, int vars")
def test_watched_variables_are_a_tuple_of_trainable_variables_that_were_read():
    """Difference: an integer variable that is read is not watched."""
    a, b, d = (ad.Variable(1.0, name=name) for name in "abd")
    n, i = ad.Variable(4.0, name="n", trainable=False), ad.Variable(1, name="i")
    _never_read = ad.Variable(5.0, name="e")
    with ad.GradientTape() as t:
        for result in (b * a, d * b, n * 1.0, i * 2):
            assert result.shape == ()
        assert names(t) == ["a", "b", "d"]
    assert names(t) == ["a", "b", "d"]
    assert type(t.watched_variables()) is tuple


@case("watched_variables: read order vs creation order")
def test_watched_variables_come_in_the_order_of_their_making():
    a, b = ad.Variable(1.0, name="a"), ad.Variable(2.0, name="b")
    with ad.GradientTape() as t:
        y = b * 1.0
        y = y * a
        y = y * b
    assert names(t) == ["a", "b"]
    t.gradient(y, a)
    assert names(t) == ["a", "b"]


@case("watched_variables on never-entered tape / after reset / with stop_recording")
def test_watched_variables_of_tapes_that_were_not_entered_were_reset_or_paused():
    a = ad.Variable(1.0, name="a")
    assert ad.GradientTape().watched_variables() == ()
    with ad.GradientTape() as t:
        _ = a * 1.0
        t.reset()
        with t.stop_recording():
            _ = a * 2.0
    assert names(t) == []
    with ad.GradientTape() as t:
        _ = a * 1.0
        with t.stop_recording():
            _ = a * 2.0
            assert names(t) == ["a"]
    assert names(t) == ["a"]


@case("watch_accessed_variables=False with explicit watch")
def test_a_tape_may_watch_only_what_it_is_told_to():
    a, b = ad.Variable(1.0, name="a"), ad.Variable(2.0, name="b")
    with ad.GradientTape(watch_accessed_variables=False, persistent=True) as t:
        t.watch(a)
        y = a * b
    by_a, by_b = t.gradient(y, [a, b])
    assert by_a.tolist() == 2.0
    assert by_b is None
    assert names(t) == ["a"]
