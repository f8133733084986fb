"""Layers of places: few crossings, no overlap, each place as near to its wish as others allow, long lines straight."""

import random
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest

from autodiff_edu.player.layout.layers import BOX_GAP, Vertex, _Row, order_layers, settle_layers, space_layers


def box(name, width=60.0):
    return Vertex(name, width, 50.0)


def joint(name):
    """A point at which a long line passes a layer."""
    return Vertex(name, 4.0, 0.0)


def graph(*layers, lines):
    """Layers of places, by names; lines join a place with one in the next layer."""
    places = {name: (joint if name.startswith(".") else box)(name) for layer in layers for name in layer.split()}
    for above, below in lines:
        places[above].below.append(places[below])
        places[below].above.append(places[above])
    return places, [[places[name] for name in layer.split()] for layer in layers]


def names(layers):
    return [" ".join(place.tensor for place in layer) for layer in layers]


def crossings(layers):
    """How many pairs of lines cross, as the layers stand."""
    found = 0
    for layer in layers:
        position = {id(place): k for k, place in enumerate(layer)}
        below = next((other for other in layers if any(p in other for q in layer for p in q.below)), [])
        target = {id(place): k for k, place in enumerate(below)}
        lines = [(position[id(p)], target[id(q)]) for p in layer for q in p.below]
        found += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(lines, 2))
    return found


def test_lines_that_cross_are_uncrossed():
    _, layers = graph("a b c", "x y z", lines=[("a", "z"), ("b", "y"), ("c", "x")])
    order_layers(layers)
    assert names(layers) in (["a b c", "z y x"], ["c b a", "x y z"])
    assert crossings(layers) == 0


@pytest.mark.parametrize("below", list(permutations("wxyz")), ids="".join)
def test_a_ladder_is_uncrossed_however_it_is_given(below):
    lines = [("a", "w"), ("b", "x"), ("c", "y"), ("d", "z"), ("w", "m"), ("x", "n"), ("y", "o"), ("z", "p")]
    _, layers = graph("a b c d", " ".join(below), "p n o m", lines=lines)
    order_layers(layers)
    assert crossings(layers) == 0


def test_what_has_no_reason_to_move_keeps_the_order_there_was():
    _, layers = graph("a b c", "x", lines=[("a", "x"), ("b", "x"), ("c", "x")])
    order_layers(layers)
    assert names(layers) == ["a b c", "x"]
    _, layers = graph("b a", lines=[])
    order_layers(layers)
    assert names(layers) == ["b a"]


def test_layers_of_different_length_compare():
    """The middle of two is the middle of four: positions count from -1/2 to 1/2."""
    _, layers = graph("a b", "w x y z", "m n", lines=[("a", "z"), ("b", "w"), ("z", "m"), ("w", "n")])
    order_layers(layers)
    assert crossings(layers) == 0
    assert {place.order for place in layers[0]} == {-0.25, 0.25}
    assert [place.order for place in layers[1]] == [-0.375, -0.125, 0.125, 0.375]


def assert_apart(layers):
    for layer in layers:
        for left, right in pairwise(layer):
            gap = (right.centre - right.width / 2) - (left.centre + left.width / 2)
            assert gap >= BOX_GAP - 1e-9


def test_places_of_a_layer_never_overlap():
    places, layers = graph("a b c", "x", "p q r s", lines=[*((k, "x") for k in "abc"), *(("x", k) for k in "pqrs")])
    places["b"].width, places["q"].width = 200.0, 10.0
    space_layers(layers)
    assert_apart(layers)
    for layer in (layers[0], layers[2]):
        assert (layer[0].centre - layer[0].width / 2) < places["x"].centre < (layer[-1].centre + layer[-1].width / 2)


def test_a_place_alone_stands_in_the_middle_of_its_neighbours():
    places, layers = graph("a b", "x", lines=[("a", "x"), ("b", "x")])
    space_layers(layers)
    assert places["x"].centre == pytest.approx((places["a"].centre + places["b"].centre) / 2)


def test_one_stands_straight_below_the_other_wherever_that_was_pushed():
    places, layers = graph("p a", "x", "y", lines=[("a", "x"), ("x", "y")])
    space_layers(layers)
    assert places["p"].centre < -30
    assert places["a"].centre == places["x"].centre == places["y"].centre > 30


def test_a_layer_is_spread_with_the_least_squares():
    """No other arrangement without overlap is nearer to where the places wish to stand."""
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 6):
        for _ in range(5):
            layer = [(joint if rng.random() < 0.3 else box)(k) for k in range(count)]
            for place in layer:
                place.width = rng.uniform(4, 100)
                place.above = [box("above")] * int(rng.integers(2))
            wishes = rng.uniform(-100, 100, count)
            _Row(layer).separate(list(wishes))
            assert_apart([layer])
            weights = np.array([place.weight for place in layer])
            found = np.array([place.centre for place in layer])
            rooms = [(one.width + other.width) / 2 + BOX_GAP for one, other in pairwise(layer)]
            best = np.sum(weights * (found - wishes) ** 2)
            for size in (100.0, 1.0):
                moved = found + rng.uniform(-size, size, (1000, count))
                allowed = np.all(np.diff(moved, axis=1) >= rooms, axis=1)
                costs = np.sum(weights * (moved - wishes) ** 2, axis=1)
                assert np.all(costs[allowed] >= best - 1e-9)


def test_where_there_is_room_every_wish_is_granted():
    layer = [box("a"), box("b"), joint("c")]
    _Row(layer).separate([-100.0, 7.0, 300.0])
    assert [place.centre for place in layer] == [-100.0, 7.0, 300.0]


def drawn_by_chance(seed):
    """Five layers of a graph in which everything has two neighbours above."""
    chance = random.Random(seed)
    rows = [[f"{layer}{k}" for k in range(chance.randint(3, 6))] for layer in "abcde"]
    lines = [(above, below) for one, other in pairwise(rows) for below in other for above in chance.sample(one, 2)]
    return graph(*map(" ".join, rows), lines=lines)[1]


def test_of_the_crossings_of_graphs_that_chance_draws_more_than_half_are_gone():
    """The bound is what there is: sorting in one direction only, or once less, leaves more."""
    before, after = 0, 0
    for seed in range(40):
        layers = drawn_by_chance(seed)
        before += crossings(layers)
        order_layers(layers)
        after += crossings(layers)
    assert before == 2003
    assert after <= 805


def test_a_long_line_runs_straight_and_the_boxes_give_way():
    """The points of a line weigh more than the boxes beside them; were they alike, it would bend twice as far."""
    lines = [("a", ".1"), ("a", "p"), ("b", "p"), (".1", ".2"), ("p", "w"), ("p", "q"), (".2", ".3"), ("q", "r")]
    places, layers = graph("a b", ".1 p", "w .2 q", ".3 r", "z", lines=[*lines, ("w", "r"), (".3", "z"), ("r", "z")])
    places["w"].width = 300.0
    space_layers(layers)
    assert_apart(layers)
    bends = [abs(places[a].centre - places[b].centre) for a, b in ((".1", ".2"), (".2", ".3"))]
    assert max(bends) < 30.0


def test_weights_are_those_of_points_of_boxes_and_of_what_is_given_to_one_entry_alone():
    places, _ = graph("a b", ".1 x", "y", lines=[("a", ".1"), ("a", "x"), ("b", "x"), (".1", "y"), ("x", "y")])
    assert places[".1"].weight > places["x"].weight == places["a"].weight > places["b"].weight > 0


def test_the_same_graph_is_placed_in_the_same_way():
    def placed():
        _, layers = graph("a b c", "x y", lines=[("a", "y"), ("b", "x"), ("c", "y"), ("a", "x")])
        order_layers(layers)
        space_layers(layers)
        return [[(place.tensor, place.centre) for place in layer] for layer in layers]

    assert placed() == placed()


def test_layers_like_others_are_settled_as_they_would_be_by_themselves():
    lines = [("a", "z"), ("b", "y"), (".c", "x"), ("b", "z")]
    _, alone = graph("a b .c", "x y z", lines=lines)
    order_layers(alone)
    space_layers(alone)
    known = {}
    for turn in range(3):
        places, layers = graph("a b .c", "x y z", lines=lines)
        for place in places.values():
            place.tensor += f" of turn {turn}"
        settle_layers(layers, known)
        assert len(known) == 1
        assert [[place.tensor[0] for place in layer] for layer in layers] == [[p.tensor[0] for p in q] for q in alone]
        assert [[place.centre for place in layer] for layer in layers] == [[p.centre for p in q] for q in alone]
    _, other = graph("a b .c", "x y z", lines=[*lines, ("a", "x")])
    settle_layers(other, known)
    assert len(known) == 2
