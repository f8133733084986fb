"""What the chapter on batch Jacobians says of its network, and of the changes that it asks for."""

import matplotlib as mpl
import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.course.contents import OURS


@pytest.fixture(scope="module")
def names():
    """Return what the chapter's cells define before it breaks anything."""
    mpl.use("Agg")
    cells = {cell["id"]: "".join(cell["source"]) for cell in OURS.find("batch-jacobians").read()["cells"]}
    found = {}
    for id in ("imports", "service", "independence-3", "three-ways"):
        exec(cells[id], found)
    return found


def test_late_night_is_first_on_listener_3s_list_and_folk_counts_most(names):
    _, blocks, batch = names["three_ways"](names["network"])
    assert names["network"](names["listeners"]).numpy()[3].argmax() == names["late"]
    assert batch[3, names["late"]] == pytest.approx([0.09, 0.33, 0.11, 0.48, 0.32], abs=0.005)
    assert np.all(batch[5, names["late"]] < batch[3, names["late"]])
    np.testing.assert_allclose(blocks, batch, 1e-12, 1e-14)


def test_hours_less_those_of_listener_0_move_everyone_but_listener_0(names):
    moved, network = names["moved"], names["network"]
    assert moved(lambda hours: network(hours - hours[0]), names["listeners"], 0).tolist() == [False] + 6 * [True]


def test_in_the_wrong_order_210_slopes_are_not_zero_and_only_the_middle_block_is_right(names):
    full, blocks, batch = names["three_ways"](lambda hours: names["network"](hours[::-1]))
    assert np.count_nonzero(full) == 210
    assert [np.allclose(blocks[i], batch[i]) for i in range(7)] == [i == 3 for i in range(7)]
    assert not blocks[0].any()
    assert batch[0].any()


def test_batch_normalisation_hides_that_folk_counts_and_the_kept_mean_does_not(names):
    between = names["trained"]("between")
    _, blocks, batch = names["three_ways"](between)
    _, _, used = names["three_ways"](lambda hours: between(hours, training=False))
    folk = [found[3, names["late"], 3] for found in (blocks, batch, used)]
    assert folk == pytest.approx([0.49, 0.05, 0.48], abs=0.005)


def test_calls_for_training_do_not_move_the_kept_mean_of_a_trained_network(names):
    between = names["trained"]("between")
    before = between(names["listeners"], training=False).numpy()
    between(names["listeners"] + 10)
    np.testing.assert_array_equal(between(names["listeners"], training=False).numpy(), before)


@pytest.mark.parametrize(("mix", "factor"), [(0.5, 0.5), (1.0, 0.0)])
def test_the_knob_leaves_1_less_its_position_of_the_weights(mix, factor):
    weights = np.array([[1.0, 2.0], [3.0, -1.0]])
    hours = ad.constant([[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]])
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(hours)
        scores = (hours - mix * np.mean(hours, axis=0)) @ weights
    full, batch = tape.jacobian(scores, hours).numpy(), tape.batch_jacobian(scores, hours).numpy()
    np.testing.assert_allclose(batch, np.tile(factor * weights.T, (3, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(full[0, :, 0], (1 - mix / 3) * weights.T)
    np.testing.assert_allclose(full[1, :, 0], -mix / 3 * weights.T)
