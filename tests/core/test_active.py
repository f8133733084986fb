"""Who listens: the one door, listeners that are told, hooks, and muting."""

import threading

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import always, announce, listen, now, only, tick
from autodiff_edu.core.entry import PLAIN
from autodiff_edu.core.tape import Tape
from autodiff_edu.explain.journal import journal


class Listener:
    def __init__(self):
        self.heard = []

    def __call__(self, entry, inputs):
        self.heard.append((entry, inputs))

    @property
    def words(self):
        return [entry.operation if entry.values is None else entry.name for entry, _ in self.heard]


@pytest.fixture
def listener():
    listening = Listener()
    listen(*now().listeners, listening)
    yield listening
    listen(*(other for other in now().listeners if other is not listening))


def test_every_operation_is_told_once_with_what_it_was_computed_from(listener):
    x, y = ad.constant([1.0, 2.0]), ad.constant(3.0)
    listener.heard.clear()
    z = np.sin(x * y)[0]
    assert listener.words == ["multiply", "sin", "getitem"]
    entry, inputs = listener.heard[0]
    assert inputs == (x, y) or all(a is b for a, b in zip(inputs, (x, y), strict=True))
    assert entry.ids == (x._id, y._id)
    assert [float(np.sum(value)) for value in entry.values] == [3.0, 3.0]
    assert listener.heard[-1][0].output_id == z._id


@pytest.mark.parametrize(
    ("compute", "word"),
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
def test_numbers_that_are_handed_over_are_told_as_an_entry_without_arrays(listener, compute, word):
    x = ad.constant(2.0)
    listener.heard.clear()
    compute(x)
    ((entry, inputs),) = listener.heard
    assert (entry.operation, entry.ids, entry.output_id, entry.values) == (word, (x._id,), PLAIN, None)
    assert inputs == (x,) or inputs[0] is x


def test_an_assignment_is_told_before_and_after():
    v, seen = ad.Variable(1.0), []
    now().hooks = (lambda what, *details: seen.append((what, float(v.numpy()) if what.startswith("Assign") else None)),)
    try:
        v.assign(4.0)
    finally:
        listen(*now().listeners, hooks=())
    assert [event for event in seen if event[0].startswith("Assign")] == [("Assigning", 1.0), ("Assign", 4.0)]


def test_a_function_that_is_spelled_in_terms_of_others_is_told_before_and_after_also_if_it_fails():
    seen = []
    now().hooks = (lambda what, *details: seen.append((what, *details[:1])),)
    try:
        np.sort(ad.constant([2.0, 1.0]))
        assert ("Spelling",) in seen
        assert ("Spelled", np.sort) in seen
        seen.clear()
        with pytest.raises(np.exceptions.AxisError):
            np.sort(ad.constant([2.0, 1.0]), axis=7)
    finally:
        listen(*now().listeners, hooks=())
    assert [what for what, *_ in seen].count("Spelling") == [what for what, *_ in seen].count("Spelled") > 0


def fail_muted(x, alone):
    with only(alone):
        _ = x * x
        announce("nobody hears this")
        raise ZeroDivisionError


def test_only_mutes_everyone_else_and_gives_them_back_also_after_an_error(listener):
    tape, seen, alone = ad.GradientTape(), [], Listener()
    with tape:
        x = ad.Variable(2.0)
        listen(*now().listeners, hooks=(lambda what, *details: seen.append(what),))
        before = now().listeners, now().followers, now().hooks
        listener.heard.clear()
        with pytest.raises(ZeroDivisionError):
            fail_muted(x, alone)
        assert (now().listeners, now().followers, now().hooks) == before
        listen(*now().listeners, hooks=())
    assert alone.words == ["multiply"]
    assert (listener.heard, seen, tape.entries) == ([], [], [])


def test_followers_are_the_listeners_that_follow(listener):
    with Tape() as tape:
        assert now().listeners == (journal.hear, listener, tape._record)
        assert now().followers == (tape,)
    assert now().followers == ()


def test_the_journal_listens_in_every_thread_from_its_beginning():
    found = []
    thread = threading.Thread(target=lambda: found.append(now().listeners))
    thread.start()
    thread.join()
    assert found == [(journal.hear,)] == [always.listeners]


def test_with_nobody_listening_nothing_is_built(monkeypatch):
    x = ad.constant(2.0)
    with only():
        monkeypatch.setattr("autodiff_edu.core.tensor.Entry", None)  # would raise, if it was called
        assert float(np.exp(x * 0.0)._array) == 1.0


def test_the_clock_goes_forward():
    assert tick() < ad.constant(1.0)._id < ad.constant(1.0)._id < tick()
