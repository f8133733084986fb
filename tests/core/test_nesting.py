"""Tapes inside tapes, what a tape keeps and releases, and the walk backwards, step by step."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import now
from autodiff_edu.core.events import PullBack
from autodiff_edu.core.rule import RULES, Rule


@pytest.mark.parametrize(
    ("f", "derivatives"),
    [
        (np.sin, [np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin]),
        (np.exp, [np.exp] * 4),
        (np.log, [lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3, lambda x: -6 / x**4]),
        (lambda x: x**3 * 2.0, [lambda x: 6 * x**2, lambda x: 12 * x, lambda x: 12.0, lambda x: 0.0]),
    ],
    ids=["sin", "exp", "log", "cube"],
)
def test_a_persistent_tape_gives_derivatives_of_any_order_inside_its_own_block(f, derivatives):
    x = ad.Variable(1.3)
    with ad.GradientTape(persistent=True) as tape:
        y = f(x)
        for derivative in derivatives:
            y = tape.gradient(y, x, unconnected_gradients="zero")
            assert float(y) == pytest.approx(float(derivative(1.3)), abs=1e-12)


def test_a_mixed_second_derivative():
    x, y = ad.Variable(2.0), ad.Variable(3.0)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            z = x**2 * y**3
        by_x = inner.gradient(z, x)
    assert [float(g) for g in outer.gradient(by_x, [x, y])] == [54.0, 108.0]


def test_the_diamond_adds_up_what_both_sides_send():
    a = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        b = a + a
        c = b + b
        total = np.sum(c)
    assert tape.gradient(total, a).tolist() == [4.0, 4.0]
    assert tape.gradient(total, [a, b, c])[1].tolist() == [2.0, 2.0]


def test_sum_of_sine_times_y():
    x, y = ad.constant([0.0, 1.0, 2.0]), ad.constant([3.0, 4.0, 5.0])
    with ad.GradientTape() as tape:
        tape.watch([x, y])
        total = np.sum(np.sin(x) * y)
    by_x, by_y = tape.gradient(total, [x, y])
    np.testing.assert_array_equal(by_x.numpy(), np.cos(x.numpy()) * y.numpy())
    np.testing.assert_array_equal(by_y.numpy(), np.sin(x.numpy()))


# The backward pass ---------------------------------------------------------------------------------------------------


def test_the_walk_visits_only_entries_on_a_path_from_target_to_sources():
    x, z = ad.Variable(2.0), ad.Variable(3.0)
    visited = []
    with ad.GradientTape(persistent=True) as tape:
        a = x * 2.0
        b = z * 3.0
        np.exp(a)  # on no path to the target
        y = a * b
    with ad.hook(lambda event: visited.append(event.entry) if isinstance(event, PullBack) else None):
        assert float(tape.gradient(y, x)) == 18.0
    assert visited == [tape.entries[3], tape.entries[0]]
    (product, double) = tape.steps(y, x)
    assert [c.argument for c in product.contributions] == [0]
    assert [c.argument for c in double.contributions] == [0]
    assert list(tape.steps(b, x)) == []


def test_the_walk_stops_at_the_sources():
    x = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        a = np.exp(x)
        y = a * a
    assert [step.entry.name for step in tape.steps(y, a)] == ["multiply"]


def test_the_last_accumulators_of_steps_are_the_gradient():
    x, w = ad.Variable([0.5, 1.5]), ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(np.sin(x * w) * x) + w * w
    sums, order = {}, []
    for step in tape.steps(y, [x, w]):
        order.append(step.entry)
        for c in step.contributions:
            before = sums.get(c.id)
            assert (c.before is None) is (before is None)
            if before is not None:
                np.testing.assert_array_equal(c.before.numpy(), before.numpy())
                np.testing.assert_array_equal(c.after.numpy(), (c.before + c.value).numpy())
            sums[c.id] = c.after
    by_x, by_w = tape.gradient(y, [x, w])
    np.testing.assert_array_equal(sums[x._id].numpy(), by_x.numpy())
    np.testing.assert_array_equal(sums[w._id].numpy(), by_w.numpy())
    assert order == tape.entries[::-1]


def test_steps_take_output_gradients_as_gradient_does():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        y = x * x
    (step,) = tape.steps(y, x, output_gradients=[1.0, 10.0])
    assert step.cotangent.tolist() == [1.0, 10.0]
    assert step.contributions[-1].after.tolist() == [2.0, 40.0]


def test_steps_use_a_one_shot_tape_up_when_they_start():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = np.sin(x * x)
    walk = tape.steps(y, x)
    next(walk)
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, x)
    assert [step.entry.name for step in walk] == ["multiply"]


def test_a_walk_given_up_leaves_nothing_behind():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = np.sin(x * x)
    walk = tape.steps(y, x)
    next(walk)
    walk.close()
    with pytest.raises(RuntimeError, match="persistent=True"):
        tape.gradient(y, x)
    assert tape.nbytes == 0
    assert now().followers == ()


def test_a_walk_that_fails_does_not_touch_tapes_entered_or_left_since_it_began(monkeypatch):
    def failing(g, y, x):
        raise LookupError("this rule fails")

    monkeypatch.setitem(RULES, np.tanh, Rule("elementwise", (failing,)))
    x = ad.Variable([2.0, 1.0])
    with ad.GradientTape() as tape:
        y = np.sum(np.tanh(x))
    with ad.GradientTape() as other:
        walk = tape.steps(y, x)
        next(walk)
        assert now().followers == (other,)
    with pytest.raises(LookupError):
        next(walk)
    assert now().followers == ()

    with ad.GradientTape() as tape:
        y = np.sum(np.tanh(x))
    walk = tape.steps(y, x)
    next(walk)
    with ad.GradientTape() as other:
        with pytest.raises(LookupError):
            next(walk)
        assert now().followers == (other,)


def test_a_walk_that_fails_after_its_tape_was_left_does_not_put_it_back():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        walk = tape.steps(x * x, x)
        next(walk)
    with pytest.raises(ValueError, match="stop"):
        walk.throw(ValueError("stop"))
    assert now().followers == ()
