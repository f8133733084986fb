"""The listeners: what they hear, in which order, and who hears nothing."""

import threading

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import Listener, always, emit, listen, now, only, tick
from autodiff_edu.core.entry import Entry
from autodiff_edu.core.events import Assign, Begin, End, Make, Read, Watch
from autodiff_edu.core.tape import Tape
from autodiff_edu.explain.journal import journal


def listening(heard, *kinds):
    """A listener that appends every event of some types to a list."""
    return Listener(dict.fromkeys(kinds, heard.append))


@pytest.fixture
def heard():
    events = []
    listener = Listener({Entry: lambda entry: events.append((entry, entry.given)), Read: events.append})
    listen(*now().listeners, listener)
    yield events
    listen(*(other for other in now().listeners if other is not listener))


def test_every_operation_is_heard_once_with_what_it_was_computed_from(heard):
    x, y = ad.constant([1.0, 2.0]), ad.constant(3.0)
    z = np.sin(x * y)[0]
    assert [entry.name for entry, _ in heard] == ["multiply", "sin", "getitem"]
    entry, inputs = heard[0]
    assert all(a is b for a, b in zip(inputs, (x, y), strict=True))
    assert entry.ids == (x._id, y._id)
    assert [float(np.sum(value)) for value in entry.values] == [3.0, 3.0]
    assert heard[-1][0].output_id == z._id


@pytest.mark.parametrize(
    ("compute", "how"),
    [
        (lambda x: x.numpy(), "numpy()"),
        (lambda x: np.asarray(x), "np.asarray"),
        (lambda x: float(x), "float()"),
        (lambda x: int(x), "int()"),
        (lambda x: complex(x), "complex()"),
        (lambda x: x.item(), "item()"),
        (lambda x: x.tolist(), "tolist()"),
        (lambda x: bool(x), "bool()"),
        (lambda x: f"{x:.3f}", "format()"),
    ],
)
def test_reading_plain_numbers_is_heard_with_how_it_was_done(heard, compute, how):
    x = ad.constant(2.0)
    compute(x)
    (event,) = heard
    assert type(event) is Read
    assert event.tensor is x
    assert event.how == how


def test_making_a_tensor_is_heard_with_what_it_is_made_from():
    heard, given = [], [1.0, 2.0]
    with only(listening(heard, Make)):
        x = ad.constant(given)
        v = ad.Variable(x)
    assert [(event.tensor is made, event.source is source) for event, made, source in
            zip(heard, (x, v), (given, x), strict=True)] == [(True, True), (True, True)]  # fmt: skip


def test_an_assignment_is_heard_with_both_values():
    v, heard = ad.Variable(1.0), []
    with only(listening(heard, Assign)):
        v.assign(4.0)
        v.assign_sub(1.0)
    assert [(float(event.before), float(event.value), event.operation) for event in heard] == [
        (1.0, 4.0, None),
        (4.0, 3.0, np.subtract),
    ]
    assert all(event.variable is v for event in heard)


def test_a_listener_that_raises_keeps_a_variable_from_its_new_value():
    def refuse(event):
        raise RuntimeError("not here")

    v = ad.Variable(1.0)
    with only(Listener({Assign: refuse})), pytest.raises(RuntimeError, match="not here"):
        v.assign(4.0)
    assert float(v) == 1.0


def test_a_spelled_out_function_begins_and_ends_also_if_it_fails():
    heard = []
    with only(listening(heard, Begin, End)):
        np.sort(ad.constant([2.0, 1.0]))
        assert [type(event) for event in heard].count(Begin) == [type(event) for event in heard].count(End) > 0
        assert heard[-1].function is np.sort
        heard.clear()
        with pytest.raises(np.exceptions.AxisError):
            np.sort(ad.constant([2.0, 1.0]), axis=7)
    assert [type(event) for event in heard].count(Begin) == [type(event) for event in heard].count(End) > 0


def fail_alone(x, alone):
    with only(alone):
        _ = x * x
        emit(Watch, None, x, None)
        raise ZeroDivisionError


def test_only_silences_everyone_else_and_gives_them_back_also_after_an_error(heard):
    tape, seen = ad.GradientTape(), []
    with tape:
        x = ad.Variable(2.0)
        listen(*now().listeners, listening(seen, Watch))
        before = now().listeners, now().followers
        alone = []
        with pytest.raises(ZeroDivisionError):
            fail_alone(x, listening(alone, Entry))
        assert (now().listeners, now().followers) == before
        listen(*now().listeners[:-1])
    assert [entry.name for entry in alone] == ["multiply"]
    assert (heard, seen, tape.entries) == ([], [], [])


def test_followers_are_the_listeners_that_can_follow(heard):
    with Tape() as tape:
        assert now().listeners[0] is journal
        assert now().listeners[-1] is tape
        assert now().followers == (tape,)
    assert now().followers == ()


def test_the_journal_listens_in_every_thread_from_its_beginning():
    found = []
    thread = threading.Thread(target=lambda: found.append(now().listeners))
    thread.start()
    thread.join()
    assert found == [(journal,)] == [always.listeners]


def test_with_nobody_listening_nothing_is_built(monkeypatch):
    x = ad.constant(2.0)
    with only(listening([], Watch)):
        monkeypatch.setattr(Entry, "__init__", None)  # would raise, if it was called
        assert float(np.exp(x * 0.0)._array) == 1.0


def test_the_clock_goes_forward():
    assert tick() < ad.constant(1.0)._id < ad.constant(1.0)._id < tick()
