"""Levels: what belongs in the picture of which group, where lines enter and leave it, and in which layer all stands."""

import pytest

from autodiff_edu.player.layout.layers import Vertex
from autodiff_edu.player.layout.levels import LAYER_GAP, PADDING, Level, nest_levels


def nested(entries, homes=None, groups=()):
    """Levels of entries such as "c = a b" in groups, which are given as (kind, parent); and the tensors by name."""
    parsed = [(one.split(" = ")[0], one.split(" = ")[1].split()) for one in entries]
    known = list(dict.fromkeys(name for output, inputs in parsed for name in (*inputs, output)))
    index = {name: k for k, name in enumerate(known)}
    described = [{"inputs": [index[n] for n in inputs], "output": index[output]} for output, inputs in parsed]
    boxes = [Vertex(k, 60.0, 50.0) for k in range(len(known))]
    about = [{"kind": kind, "parent": parent, "label": 40.0, "times": 3} for kind, parent in groups]
    levels = nest_levels(boxes, described, about, homes or [-1] * len(entries))
    return levels, {name: boxes[k] for name, k in index.items()}


def placed(*given, **options):
    levels, boxes = nested(*given, **options)
    for level in reversed(levels):
        level.place({})
    for level in levels:
        level.move_into_frame()
    return levels, boxes


def called(boxes, places):
    """The names of places, for what is a box of a tensor; frames and ports have none."""
    names = {id(box): name for name, box in boxes.items()}
    return [names.get(id(place), "frame" if place.frame else "port") for place in places]


def test_without_groups_there_is_one_level_with_everything():
    (level,), boxes = nested(["b = a", "c = b a"])
    assert called(boxes, level.items) == ["b", "c"]
    assert called(boxes, level.given) == ["a"]
    assert (level.ins, level.outs) == ({}, {})
    assert [(called(boxes, [line.source, line.target]), line.use) for line in level.lines] == [
        (["a", "b"], (0, 0)),
        (["b", "c"], (1, 0)),
        (["a", "c"], (1, 1)),
    ]


def test_what_is_computed_in_a_group_stands_in_it_and_lines_pass_its_border_at_ports():
    (outside, inside), boxes = nested(["b = a", "c = b", "d = c", "e = d b"], [-1, 0, 0, -1], [("scope", -1)])
    assert called(boxes, outside.items) == ["b", "frame", "e"]
    assert called(boxes, inside.items) == ["c", "d"]
    assert list(inside.ins) == [boxes["b"].tensor]
    assert list(inside.outs) == [boxes["d"].tensor]
    assert inside.frame.tensor == boxes["c"].tensor, "it stands for the first of its entries"
    assert [line.tensor for line in inside.entering] == [boxes["b"].tensor]


def test_one_port_serves_all_uses_inside():
    (outside, inside), boxes = nested(["c = a", "d = c a", "e = a"], [0, 0, 0], [("scope", -1)])
    assert len(inside.ins) == 0, "what is used nowhere else is given inside"
    assert called(boxes, inside.given) == ["a"]
    assert outside.given == []
    (outside, inside), boxes = nested(["c = a", "d = c a", "z = a"], [0, 0, -1], [("scope", -1)])
    assert called(boxes, outside.given) == ["a"]
    assert len(inside.ins) == len(inside.entering) == 1


def test_what_one_turn_uses_is_given_in_it_and_what_several_use_before_the_loop():
    groups = [("loop", -1), ("turn", 0), ("turn", 0), ("turn", 0)]
    entries = ["b = a x p", "c = b b", "d = c x q", "e = d d", "f = e x r", "g = f f"]
    (whole, loop, *turns), boxes = nested(entries, [1, 1, 2, 2, 3, 3], groups)
    assert [called(boxes, turn.given) for turn in turns] == [["p"], ["q"], ["r"]]
    assert loop.given == []
    assert called(boxes, whole.given) == ["a", "x"], "the turns start from a, and use x one and all"
    one_scope = [("scope", -1), *groups[1:]]
    (whole, scope, *_), boxes = nested(entries, [1, 1, 2, 2, 3, 3], one_scope)
    assert called(boxes, scope.given) == ["x"], "of another group than a loop, it may be inside"


def test_levels_know_their_way_from_the_outside():
    groups = [("scope", -1), ("scope", 0), ("scope", -1)]
    (whole, outer, inner, other), _ = nested(["b = a", "c = b", "d = c", "e = d"], [0, 1, 0, 2], groups)
    assert inner.path == (whole, outer, inner)
    assert whole.towards(inner) is outer
    assert outer.towards(inner) is inner
    assert inner.towards(inner) is None
    assert other.towards(inner) is None
    assert inner.towards(whole) is None


def test_each_stands_below_what_it_uses_and_what_is_given_just_above_its_first_use():
    (level,), boxes = placed(["b = a", "c = b", "d = c late", "e = d"])
    layers = {name: box.layer for name, box in boxes.items()}
    assert layers["a"] < layers["b"] < layers["c"] < layers["d"] < layers["e"]
    assert layers["late"] == layers["d"] - 1
    assert sorted(set(layers.values())) == list(range(len(level.layers)))


def test_what_nothing_uses_stands_below_what_came_before_it():
    levels, boxes = placed(["b = a", "c = b"])
    late, early = Vertex(9, 60.0, 50.0), Vertex(0, 60.0, 50.0)
    levels[0].given += [late, early]
    levels[0]._assign_layers()
    assert late.layer > boxes["c"].layer > boxes["b"].layer > boxes["a"].layer == early.layer


def test_no_box_stands_beside_a_group():
    entries, homes = ["b = a", "c = b", "x = a", "y = x", "z = y c"], [0, 0, -1, -1, -1]
    (whole, inside), boxes = placed(entries, homes, [("scope", -1)])
    beside = [place for place in whole.layers[inside.frame.layer] if place is not inside.frame]
    assert all(place.height == 0 for place in beside), "only lines pass there"
    assert boxes["z"].layer > inside.frame.layer


def test_a_line_that_passes_a_layer_has_a_point_in_it_and_uses_further_down_share_it():
    (level,), boxes = placed(["b = a", "c = b", "d = c a", "e = d a"])
    points = [place for layer in level.layers for place in layer if not place.height]
    assert [place.tensor for place in points] == [boxes["a"].tensor] * len(points)
    assert sorted(place.layer for place in points) == [boxes["b"].layer, boxes["c"].layer, boxes["d"].layer]
    feeders = {line.use: line.feeder for line in level.lines}
    assert feeders[0, 0] is boxes["a"]
    assert feeders[2, 1].layer == boxes["d"].layer - 1
    assert feeders[3, 1].above == [feeders[2, 1]]


def test_layers_follow_from_top_to_bottom_with_a_gap():
    (level,), boxes = placed(["b = a", "c = b"])
    assert level.tops == [(PADDING + k * (50 + LAYER_GAP), PADDING + k * (50 + LAYER_GAP) + 50) for k in range(3)]
    assert level.frame.height == level.tops[-1][1] + PADDING
    assert level.frame.width == 60 + 2 * PADDING
    assert [box.centre for box in boxes.values()] == [level.frame.width / 2] * 3


@pytest.mark.parametrize("kind", ["scope", "pass"])
def test_what_is_in_a_group_stands_inside_of_its_frame(kind):
    entries, homes = ["b = a", "c = b", "d = c b", "e = d"], [-1, 0, 0, -1]
    (whole, inside), boxes = placed(entries, homes, [(kind, -1)])
    top, bottom = whole.tops[inside.frame.layer]
    assert inside.top == bottom - inside.frame.height >= top - 1e-9
    for name in "cd":
        box = boxes[name]
        assert inside.left <= box.centre - box.width / 2
        assert box.centre + box.width / 2 <= inside.left + inside.frame.width
        assert inside.top <= inside.tops[box.layer][0]
        assert inside.tops[box.layer][1] <= inside.top + inside.frame.height
    assert inside.frame.width >= inside.narrowest == 40.0, "wide enough for its label"


def test_a_group_is_mirrored_where_its_lines_would_cross_otherwise():
    """Its lines come from two boxes outside; inside, ports are in the order that the boxes have."""
    for inner in (["c = a", "d = b", "e = c d"], ["c = b", "d = a", "e = c d"], ["d = b", "c = a", "e = d c"]):
        entries = ["a = s", "b = t", *inner, "f = e", "g = a", "h = b"]
        (_, inside), boxes = placed(entries, [-1, -1, 0, 0, 0, -1, -1, -1], [("scope", -1)])
        one, other = inside.entering
        assert (one.feeder.centre - other.feeder.centre) * (one.end.centre - other.end.centre) > 0
        assert boxes["a"].centre != boxes["b"].centre


def test_an_empty_picture_has_no_layers():
    level = Level(-1, None, Vertex(-1, 0.0, 0.0, frame=True))
    level.place({})
    level.move_into_frame()
    assert level.layers == []
