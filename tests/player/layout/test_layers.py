"""Layers of places: few crossings, no overlap, each place as near to its wish as others allow, long lines straight."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest

from autodiff_edu.player.layout.layers import BOX_GAP, Place, order_layers, space_layers


def box(name, width=60.0):
    return Place(name, width, 50.0)


def joint(name):
    """A point at which a long line passes a layer."""
    return Place(name, 4.0, 0.0)


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


def test_a_layer_is_spread_with_the_least_squares():
    """No other arrangement without overlap is nearer to where the lines want the places."""
    _, layers = graph("a b c", "x y z", lines=[("a", "x"), ("b", "y"), ("c", "z"), ("a", "y"), ("a", "z")])
    space_layers(layers)
    assert_apart(layers)
    wishes = [np.mean([above.centre for above in place.above]) for place in layers[1]]
    weights = [place.weight for place in layers[1]]

    def cost(centres):
        return sum(w * (c - wish) ** 2 for w, c, wish in zip(weights, centres, wishes, strict=True))

    best = cost([place.centre for place in layers[1]])
    rng = np.random.default_rng(0)
    rooms = [0.0, 80.0, 160.0]
    for _ in range(2000):
        shifts = np.sort(rng.uniform(-200, 200, 3))
        assert cost([shift + room for shift, room in zip(shifts, rooms, strict=True)]) >= best - 1e-6


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
