"""Hooks hear everything in order, cost nothing when absent, change nothing, and leave nothing behind."""

from copy import copy
from io import BytesIO

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core import events
from autodiff_edu.core.active import always, now
from autodiff_edu.explain.journal import journal


def listening(seen):
    return ad.hook(lambda event: seen.append(event))


def kinds(seen):
    return [type(event).__name__ for event in seen]


def test_events_come_in_the_order_in_which_things_happen():
    seen, x, c = [], ad.Variable(3.0), ad.constant(1.0)
    with listening(seen):
        with ad.GradientTape() as tape:
            c + c
            y = x * x
            np.floor(y)
            with tape.stop_recording():
                x * 2.0
        slope = tape.gradient(y, x)
        x.assign_sub(slope)
    assert kinds(seen) == (
        [
            "Skip",
            "Watch",
            "Record",
            "Cut",
            "Pause",
            "Resume",
            "Seed",
            "PullBack",
            "Accumulate",
            "Accumulate",
            "Release",
            "Outcome",
            "Assign",
        ]
    )
    assert all(event.tape is tape for event in seen[:-1])


def test_events_carry_what_they_are_about():
    seen, x = [], ad.Variable(3.0)
    with listening(seen), ad.GradientTape() as tape:
        y = x * x
        tape.gradient(y, x)
    watch, record, seed, pull, first, second, _, outcome = seen
    assert watch.tensor is x
    assert record.entry is tape.entries[0]
    assert (seed.tensor._id, float(seed.cotangent)) == (y._id, 1.0)
    assert (pull.entry, float(pull.cotangent)) == (record.entry, 1.0)
    assert [(e.argument, e.before and float(e.before), float(e.value), float(e.after)) for e in (first, second)] == [
        (0, None, 3.0, 3.0),
        (1, 3.0, 3.0, 6.0),
    ]
    assert first.tensor._id == x._id
    assert (outcome.word, outcome.targets[0] is y, outcome.source is x) == ("gradient", True, True)
    assert (float(outcome.result), outcome.connected, outcome.seeded, outcome.causes) == (6.0, True, False, ())


def test_a_reset_is_announced():
    seen = []
    with listening(seen), ad.GradientTape() as tape:
        tape.reset()
    assert kinds(seen) == ["Reset"]


def test_every_tape_announces_what_it_records_itself():
    seen, x = [], ad.Variable(3.0)
    with listening(seen), ad.GradientTape() as outer, ad.GradientTape() as inner:
        x * x
    assert [(event.tape, type(event).__name__) for event in seen] == [
        (outer, "Watch"),
        (outer, "Record"),
        (inner, "Watch"),
        (inner, "Record"),
    ]


def test_the_backward_pass_under_an_outer_tape_is_recorded_and_announced():
    seen, x = [], ad.Variable(3.0)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = x**2
        with listening(seen):
            inner.gradient(y, x)
    assert {event.tape for event in seen if isinstance(event, events.Record)} == {outer}
    assert {event.tape for event in seen if isinstance(event, events.PullBack)} == {inner}


@pytest.mark.parametrize(
    "leave",
    [
        lambda x: x.numpy(),
        lambda x: float(np.sum(x)),
        lambda x: np.save(BytesIO(), x),
        lambda x: x.tolist(),
        lambda x: x[0].item(),
        lambda x: int(x[0]),
        lambda x: complex(x[0]),
    ],
)
def test_leaving_for_numpy_is_announced_while_a_tape_follows(leave):
    seen, x = [], ad.Variable([3.0, 4.0])
    with listening(seen):
        leave(ad.constant([1.0, 2.0]))
        assert kinds(seen) == []
        with ad.GradientTape() as tape:
            tape.watch(x)
            leave(x)
            leave(ad.constant([1.0, 2.0]))
    assert kinds(seen).count("Leave") == 1


def test_printing_and_comparing_are_not_leaving():
    seen, x = [], ad.Variable(3.0)
    with listening(seen), ad.GradientTape() as tape:
        tape.watch(x)
        repr(x), str(x), f"{x:.2f}", x.shape, len(repr(tape)), str(tape)
        y = x * 1.0
        if y > 1.0:
            pass
    assert "Leave" not in kinds(seen)


def test_without_a_hook_only_what_the_journal_hears_is_built(monkeypatch):
    built = []
    build = events.Event.__new__
    monkeypatch.setattr(events.Event, "__new__", lambda cls, *a: (built.append(cls.__name__), build(cls, *a))[1])

    def work():
        x = ad.Variable([3.0, 4.0])
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(ad.constant(1.0))
            y = np.sum(x * x) + np.sum(np.floor(x)) + ad.constant(1.0) * 2.0
            with tape.stop_recording():
                x.assign([1.0, 2.0])
            float(y)
            tape.gradient(y, x)
            tape.reset()
        with ad.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)

    work()
    assert set(built) == {kind.__name__ for kind in journal.hears} - {"Entry"}
    assert built.count("Make") == 3
    with ad.hook(lambda event: None):
        work()
    assert set(built) == (
        {"Watch", "Record", "Skip", "Cut", "Pause", "Resume", "Reset", "Seed", "PullBack", "Accumulate", "Release"}
        | {"Assign", "Leave", "Outcome", "Make", "Read"}
    )


def test_what_a_hook_computes_is_neither_recorded_nor_announced():
    seen, x = [], ad.Variable(3.0)

    def nosy(event):
        seen.append(event)
        x * x
        float(x)
        x.assign(x.numpy())
        with ad.GradientTape() as own:
            y = x * x
        assert float(own.gradient(y, x)) == 6.0

    with ad.hook(nosy), ad.GradientTape() as tape:
        y = x * x
    assert kinds(seen) == ["Watch", "Record"]
    assert len(tape.entries) == 1
    assert float(tape.gradient(y, x)) == 6.0


def test_hooks_change_no_value():
    def gradients():
        x = ad.Variable([0.5, 1.5])
        with ad.GradientTape() as tape:
            y = np.sum(np.sin(x) * x / (1.0 + x**2))
        return tape.gradient(y, x).tolist()

    plain = gradients()
    with ad.hook(lambda event: None), ad.trace():
        assert gradients() == plain


def test_several_hooks_all_hear_and_each_ends_with_its_block():
    first, second, x = [], [], ad.Variable(3.0)
    with listening(first):
        with listening(second):
            x.assign(1.0)
        x.assign(2.0)
    x.assign(3.0)
    assert (len(first), len(second)) == (2, 1)


def test_the_same_callback_can_be_installed_twice():
    seen, x = [], ad.Variable(3.0)
    with ad.hook(seen.append), ad.hook(seen.append):
        x.assign(1.0)
    assert len(seen) == 2
    with ad.hook(seen.append):
        with ad.hook(seen.append):
            pass
        x.assign(1.0)
    assert len(seen) == 3


def test_an_exception_inside_the_block_takes_the_hook_away():
    with pytest.raises(ValueError, match="boom"), ad.hook(print):
        raise ValueError("boom")
    assert now().listeners == always.listeners


def test_an_exception_in_a_hook_is_raised_once_after_the_pass_went_on():
    x = ad.Variable(3.0)
    called = []

    def broken(event):
        called.append(event)
        raise ValueError("boom")

    def record():
        with ad.hook(broken):
            made.append(x * x)
            made.append(made[0] * x)
            assert now().followers == (tape,)
            assert sum(isinstance(one, ad.hook) for one in now().listeners) == 1

    def pull_back():
        with ad.hook(broken):
            made.append(tape.gradient(made[1], x))

    made = []
    with ad.GradientTape() as tape:
        with pytest.raises(ValueError, match="boom"):
            record()
        assert not any(isinstance(one, ad.hook) for one in now().listeners)
    assert len(called) == 1, "a hook that failed is not called again"
    assert len(tape.entries) == 2, "and the recording went on"
    with pytest.raises(ValueError, match="boom"):
        pull_back()
    assert now().listeners == always.listeners
    assert float(made[2]) == 27.0


def test_other_hooks_are_called_when_one_fails():
    seen = []

    def broken(event):
        raise ValueError("boom")

    v = ad.Variable(1.0)
    with pytest.raises(ValueError, match="boom"), ad.hook(broken), ad.hook(seen.append):
        v.assign(2.0)
    assert len(seen) == 1


def test_an_error_of_the_block_comes_before_one_of_its_hook():
    def broken(event):
        raise ValueError("boom")

    def fail():
        with ad.hook(broken):
            ad.Variable(1.0).assign(2.0)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as caught:
        fail()
    assert "boom" in caught.value.__notes__[0]


def test_events_cannot_be_changed():
    seen = []
    with ad.hook(seen.append):
        ad.Variable(1.0).assign(2.0)
    with pytest.raises(AttributeError):
        seen[0].value = 3.0


def test_a_hook_that_is_not_a_function_says_so_at_once():
    with pytest.raises(TypeError, match="a hook is a function"), ad.hook(3):
        pass
    assert now().listeners == always.listeners


def test_a_hook_that_raises_at_a_pause_leaves_the_tape_recording():
    def refuse(event):
        if type(event).__name__ == "Pause":
            raise KeyError("hook")

    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        with pytest.raises(KeyError, match="hook"), ad.hook(refuse), tape.stop_recording():
            pass
        y = x * x
    assert float(tape.gradient(y, x)) == 6


def test_a_hook_may_decorate_a_function_and_hears_every_call_of_it():
    seen, v = [], ad.Variable(1.0)

    @ad.hook(lambda event: seen.append(float(event.value)))
    def assigned(value):
        v.assign(value)

    assigned(2.0)
    v.assign(3.0)
    assigned(4.0)
    assert seen == [2.0, 4.0]


def test_a_hook_that_is_active_cannot_be_entered_again_and_goes_on():
    seen, x = [], ad.Variable(3.0)
    hook = ad.hook(seen.append)
    with hook:
        with pytest.raises(RuntimeError, match="already active"), hook:
            pass
        x.assign(4.0)
    assert kinds(seen) == ["Assign"]
    assert hook.over
    with hook:
        x.assign(5.0)
    assert kinds(seen) == ["Assign", "Assign"]


def test_an_event_equals_itself_alone_and_can_be_copied_and_matched():
    seen, x = [], ad.Variable([1.0, 2.0])
    with ad.hook(seen.append), ad.GradientTape() as tape:
        y = x * x
    with ad.hook(seen.append):
        tape.gradient(y, x)
    added = next(event for event in seen if isinstance(event, events.Accumulate))
    other = copy(added)
    assert (other == added, other != added, added == added) == (False, True, True)
    assert [*other][:3] == [*added][:3]
    match added:
        case events.Accumulate(_, entry, argument):
            assert (entry.name, argument) == ("multiply", 0)
    assert added.replace(argument=1).argument == 1
    with pytest.raises(TypeError, match="Accumulate has no nonsense"):
        added.replace(nonsense=1)
