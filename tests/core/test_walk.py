"""The walk: entries in, happenings out."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import Follower, Listener, only
from autodiff_edu.core.entry import Entry
from autodiff_edu.core.events import Accumulate, Pass, PullBack
from autodiff_edu.core.tape import Tape
from autodiff_edu.core.walk import is_followed, walk


class Everything(Follower):
    def __init__(self):
        super().__init__({Entry: lambda entry: self.entries.append(entry)})
        self.entries = []

    def follows(self, ids):
        return True


def recorded(f, *values):
    """The entries of a function as a plain list, made without a tape; and the tensors it is of, and its result."""
    tensors = [ad.constant(value) for value in values]
    with only(everything := Everything()):
        result = f(*tensors)
    return everything.entries, {i for e in everything.entries for i in (*e.ids, e.output_id)}, tensors, result


def test_what_happens_is_told_in_order_and_what_is_wanted_is_left_in_the_dict():
    entries, connected, (x,), y = recorded(lambda x: x * x, 3.0)
    cotangents = {y._id: np.float64(1.0)}
    happened = list(walk(entries, connected, cotangents, {x._id}))
    assert [(type(event), *event) for event in happened] == [
        (PullBack, None, entries[0], 1.0),
        (Accumulate, None, entries[0], 0, None, 3.0, 3.0, None),
        (Accumulate, None, entries[0], 1, 3.0, 3.0, 6.0, None),
        (Pass, None, entries[0]),
    ]
    assert cotangents == {x._id: 6.0}


def test_a_walk_over_nothing_leaves_the_seed_of_a_wanted_target():
    x = ad.constant(3.0)
    cotangents = {x._id: np.float64(2.0)}
    assert list(walk([], {x._id}, cotangents, {x._id})) == []
    assert cotangents == {x._id: 2.0}


def test_it_is_lazy():
    entries, connected, (x,), y = recorded(lambda x: np.exp(np.sin(x)), 0.5)
    happenings = walk(entries, connected, {y._id: np.float64(1.0)}, {x._id})
    assert [next(happenings).entry.name for _ in range(4)] == ["exp", "exp", "exp", "sin"]


def test_only_what_leads_from_a_target_to_a_wanted_tensor_is_visited():
    entries, connected, (_, w), y = recorded(lambda x, w: np.sin(x) * np.cos(w) + 0.0 * np.exp(x), 0.5, 0.25)
    names = [
        h.entry.name for h in walk(entries, connected, {y._id: np.float64(1.0)}, {w._id}) if isinstance(h, PullBack)
    ]
    assert names == ["add", "multiply", "cos"]


def test_nothing_flows_through_what_is_not_connected():
    entries, connected, (x,), y = recorded(lambda x: np.sin(x) * x, 0.5)
    connected.remove(entries[0].output_id)  # as behind a step, or before x was watched
    cotangents = {y._id: np.float64(1.0)}
    assert [h.argument for h in walk(entries, connected, cotangents, {x._id}) if isinstance(h, Accumulate)] == [1]
    assert cotangents == {x._id: np.sin(0.5)}


def test_the_cotangent_of_a_wanted_intermediate_value_is_kept_and_of_others_let_go():
    entries, connected, (x,), y = recorded(lambda x: np.exp(np.sin(np.square(x))), 0.5)
    middle = entries[1].output_id
    cotangents = {y._id: np.float64(1.0)}
    list(walk(entries, connected, cotangents, {x._id, middle}))
    assert set(cotangents) == {x._id, middle}
    assert cotangents[middle] == pytest.approx(np.exp(np.sin(0.25)))


def test_a_stack_of_cotangents_is_pulled_back_in_one_walk():
    entries, connected, (x,), y = recorded(lambda x: np.sin(x) + x[0], [0.5, 1.0])
    cotangents = {y._id: np.eye(2)}
    list(walk(entries, connected, cotangents, {x._id}, (2,)))
    np.testing.assert_allclose(cotangents[x._id], [[np.cos(0.5) + 1.0, 0.0], [1.0, np.cos(1.0)]])


def test_release_frees_each_entry_as_soon_as_it_has_been_passed():
    entries, connected, (x,), y = recorded(lambda x: np.exp(np.sin(x)), 0.5)
    held = []
    for happening in walk(entries, connected, {y._id: np.float64(1.0)}, {x._id}, release=True):
        held.append([entry.values is not None for entry in entries])
        assert happening.entry.values is not None
    assert held == [[True, True]] * 3 + [[True, False]] * 3
    assert [entry.values for entry in entries] == [None, None]


def test_a_complex_cotangent_is_conjugated_for_the_rule_and_the_contribution_back():
    entries, connected, (z,), y = recorded(lambda z: z * (2.0 + 3.0j), 1.0 + 1.0j)
    cotangents = {y._id: np.complex128(1.0)}
    list(walk(entries, connected, cotangents, {z._id}))
    assert cotangents[z._id] == 2.0 - 3.0j


def test_while_a_tape_follows_what_the_rules_compute_from_they_run_on_tensors_and_are_recorded():
    entries, connected, (x,), y = recorded(lambda x: x * x, 3.0)
    with Tape(persistent=True) as outer:
        outer.watch_tensor(x)
        cotangents = {y._id: np.float64(1.0)}
        list(walk(entries, connected, cotangents, {x._id}))
    slope = cotangents[x._id]
    assert isinstance(slope, ad.Tensor)
    assert outer.pull_back([(slope, np.float64(1.0))], [x])[0].numpy() == 2.0


def test_an_entry_is_followed_by_what_follows_an_input_or_its_output():
    (entry,), _, (x,), y = recorded(np.sin, 0.5)
    assert not is_followed(entry)
    with only(Everything()):
        assert is_followed(entry)
    for tensor in (x, y):
        with Tape() as tape:
            tape.watch_tensor(tensor)
            assert is_followed(entry)
    with Tape() as tape:
        tape.watch_tensor(ad.constant(0.5))
        assert not is_followed(entry)


def test_the_walk_notifies_nobody():
    seen = []
    entries, connected, (x,), y = recorded(lambda x: x * x, 3.0)
    with only(Listener({PullBack: seen.append, Accumulate: seen.append, Pass: seen.append})):
        list(walk(entries, connected, {y._id: np.float64(1.0)}, {x._id}))
    assert seen == []
    assert all(isinstance(entry, Entry) for entry in entries)
