"""What the appendix on sparse Jacobians says of sets, and of the changes that it asks for."""

import matplotlib as mpl
import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.course.contents import OURS

CELLS = ("imports", "opening-player", "million-1", "colour-1", "sparse-1", "solve", "newton-1", "break-1", "reach")


@pytest.fixture(scope="module")
def cells():
    return {cell["id"]: "".join(cell["source"]) for cell in OURS.find("sparse-jacobians").read()["cells"]}


@pytest.fixture(scope="module")
def names(cells):
    """Return what the cells define up to the boxes, and the arrow's function."""
    mpl.use("Agg")
    found = {}
    for id in (*CELLS, "ways-player"):
        exec(cells[id], found)
    return found


def test_the_sets_find_the_patterns_of_cord_and_wire(names):
    for f, reach in ((names["forces"], 1), (names["wire_forces"], 2)):
        np.testing.assert_array_equal(names["pattern_of"](f, 6), names["band"](6, reach))


def test_the_sets_promise_nothing_where_numbers_are_0(names):
    np.testing.assert_array_equal(names["pattern_of"](lambda h: h - h, 6), np.eye(6))
    np.testing.assert_array_equal(names["pattern_of"](names["squares_and_sum"], 4), np.ones((4, 4)))


@pytest.mark.parametrize(
    "f", [lambda h: h[0] * h, lambda h: h[0] - h, lambda h: h + np.sum(h[0] * h), lambda h: np.mean(h) - h]
)
def test_a_box_beside_an_array_loses_none_of_its_inputs(names, f):
    at = np.array([1.5, -0.5, 2.0, 3.0])
    assert np.all(names["pattern_of"](f, 4) >= (ad.jacobian(f)(at).numpy() != 0))


@pytest.mark.parametrize(
    "f",
    [np.sort, lambda h: h if h[0] > 0 else 2 * h, lambda h: np.where(h > 0, h, 0.0), np.argsort],
    ids=["sort", "if", "where", "argsort"],
)
def test_where_a_program_asks_for_a_number_the_boxes_stop(names, f):
    with pytest.raises(TypeError, match="Reach"):
        names["pattern_of"](f, 4)


def test_minus_and_the_named_functions_take_boxes(names):
    found = names["pattern_of"](lambda h: -np.sin(h) / 2 + np.exp(h[::-1]) - 1 / np.tanh(h), 3)
    np.testing.assert_array_equal(found, [[1, 0, 1], [0, 1, 0], [1, 0, 1]])


def test_a_band_of_two_neighbours_takes_five_colours_and_100_beads_have_298_numbers(names):
    assert len(set(names["colour_rows"](names["band"](1000, 2)))) == 5
    assert np.count_nonzero(ad.jacobian(names["forces"])(np.zeros(100)).numpy()) == 298


def test_a_level_start_at_the_right_depth_takes_longer(names, cells, capsys):
    changed = dict(names)
    exec(cells["newton-1"].replace("h = np.zeros(beads)", "h = np.full(beads, -300.0)"), changed)
    assert changed["left"][6] > 1e4 > 1e-8 > names["come_to_rest"](names["forces"], names["jacobian"])[1][6]


def test_the_check_names_a_place_that_the_cords_pattern_leaves_out(names):
    checked = ad.jacobian(names["wire_forces"], sparsity=names["band"](1000), check=True)
    with pytest.raises(ValueError, match="the pattern leaves out row"):
        checked(np.zeros(1000))


def test_the_wires_pattern_doubles_digits_and_the_cords_takes_some_60_turns(names):
    wide = ad.jacobian(names["wire_forces"], sparsity=names["pattern_of"](names["wire_forces"], 1000))
    assert names["come_to_rest"](names["wire_forces"], wide, reach=2)[1][6] < 1e-8
    left = np.array(names["come_to_rest"](names["wire_forces"], names["narrow"], turns=70)[1])
    assert left[6] == pytest.approx(0.3, rel=0.2)
    assert 50 < np.argmax(left < 1e-8) < 70
