"""The picture of a graph: boxes as large as their texts, each below what it comes from, and lines to the right ones."""

from itertools import pairwise

import numpy as np
import pytest
from programs import EXAMPLES, diamond, loop

import autodiff_edu as ad
from autodiff_edu.player.layout.layout import (
    BOX_HEIGHT,
    CHARACTER,
    LINE,
    MANY,
    NARROWEST,
    PADDING,
    PORT_GAP,
    WIDEST_FOLDED,
    layout,
)
from autodiff_edu.player.layout.levels import WIDEST_ROW


def number(text="1"):
    return {"shape": [], "dtype": "float64", "text": text, "data": float(text) if text.isdigit() else None}


def document(entries, tensors=None):
    """A document of tensors called by letters, and entries such as "c = a b"."""
    parsed = [(one.split(" = ")[0], one.split(" = ")[1].split()) for one in entries]
    known = list(dict.fromkeys(name for output, inputs in parsed for name in (*inputs, output)))
    index = {name: k for k, name in enumerate(known)}
    made = {output for output, _ in parsed}
    about = tensors or {}
    described = [
        {"name": n, "kind": "computed" if n in made else "variable", "value": number()} | about.get(n, {})
        for n in known
    ]
    listed = [
        {"operation": "f", "text": "f", "inputs": [index[n] for n in inputs], "output": index[output], "scope": [],
         "where": {"code": 0, "line": k, "columns": None}}
        for k, (output, inputs) in enumerate(parsed)
    ]  # fmt: skip
    return {"tensors": described, "entries": listed, "steps": []}, index


def drawn(entries, tensors=None):
    made, index = document(entries, tensors)
    return layout(made), index, made


def route(picture, link):
    """The links from where a line starts to this one."""
    way = [link]
    while picture["links"][way[0]]["parent"] >= 0:
        way.insert(0, picture["links"][way[0]]["parent"])
    return [picture["links"][k]["points"] for k in way]


def inside(x, box, slack=0.2):
    return box["x"] - slack <= x <= box["x"] + box["width"] + slack


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_line_leads_from_the_bottom_of_its_input_to_the_top_of_the_box_that_uses_it(example):
    made = example().document()
    picture = layout(made)
    for entry, arrivals in zip(made["entries"], picture["entries"], strict=True):
        box = picture["tensors"][entry["output"]]
        assert len(arrivals) == len(entry["inputs"])
        for tensor, link in zip(entry["inputs"], arrivals, strict=True):
            way, source = route(picture, link), picture["tensors"][tensor]
            assert way[0][0] == pytest.approx(source["x"] + source["width"] / 2, abs=0.2)
            assert way[0][1] == pytest.approx(source["y"] + source["height"], abs=0.2)
            assert inside(way[-1][2], box)
            assert way[-1][4] == pytest.approx(box["y"], abs=0.2)
            for one, other in pairwise(way):
                assert other[:2] == pytest.approx([one[2], one[4]], abs=0.2), "a line is all of a piece"
            assert all(y <= bend <= end for _, y, _, bend, end in way), "lines go down"


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_box_stands_below_all_that_it_comes_from_and_inside_the_picture(example):
    made = example().document()
    picture = layout(made)
    for entry in made["entries"]:
        for tensor in entry["inputs"]:
            above, below = picture["tensors"][tensor], picture["tensors"][entry["output"]]
            assert above["y"] + above["height"] < below["y"]
    for box in picture["tensors"]:
        assert 0 <= box["x"] <= box["x"] + box["width"] <= picture["width"] + 0.2
        assert 0 <= box["y"] <= box["y"] + box["height"] <= picture["height"] + 0.2


def test_lines_arrive_from_left_to_right_as_they_come_and_do_not_cross():
    """Whatever the order of the arguments: of f(b, a, c) the line from a arrives at the left if a stands there."""
    picture, _, _ = drawn(["s = a b c", "t = c a b", "u = b c a", "z = u s t", "w = t s"])
    for arrivals in picture["entries"]:
        ends = [(picture["links"][link]["points"][0], picture["links"][link]["points"][2]) for link in arrivals]
        assert len({x for _, x in ends}) == len(ends)
        assert [end for _, end in sorted(ends)] == sorted(end for _, end in ends)
    orders = {tuple(np.argsort([picture["links"][k]["points"][2] for k in row])) for row in picture["entries"][:3]}
    assert len(orders) > 1, "so the order is not that of the arguments"


def test_lines_to_one_box_are_evenly_apart_and_around_its_middle():
    picture, index, _ = drawn(["z = a a a"], {"z": {"name": "a longer name"}})
    box, xs = picture["tensors"][index["z"]], [picture["links"][link]["points"][2] for link in picture["entries"][0]]
    assert np.diff(xs) == pytest.approx([PORT_GAP, PORT_GAP], abs=0.2)
    assert np.mean(xs) == pytest.approx(box["x"] + box["width"] / 2, abs=0.1)
    picture, index, _ = drawn(["z = " + " ".join("a" * 9)])
    box, xs = picture["tensors"][index["z"]], [picture["links"][link]["points"][2] for link in picture["entries"][0]]
    assert all(inside(x, box, -PADDING / 2) for x in xs), "closer where there is no room"


def test_a_box_has_room_for_its_longest_text():
    def width(**about):
        picture, index, _ = drawn(["z = a"], {"a": about})
        return picture["tensors"][index["a"]]["width"]

    assert width() == NARROWEST
    assert width(value=number("1" * 12)) == pytest.approx(12 * CHARACTER + 2 * PADDING)
    assert (
        width(value=number("1" * 90))
        == width(value=number("1" * 26))
        == pytest.approx(26 * CHARACTER + 2 * PADDING, abs=0.1)
    )
    assert width(name="n" * 12) == pytest.approx(12 * CHARACTER + 2 * PADDING)
    assert width(name="n" * 90) == width(name="n" * 14)
    picture, index, _ = drawn(["z = a"], {"z": {"name": "n" * 10}})
    assert picture["tensors"][index["z"]]["width"] == pytest.approx(13 * CHARACTER + 2 * PADDING), (
        "and its operation, f"
    )


def vector(*numbers):
    text = f"[{' '.join(map(str, numbers))}]"
    return {"shape": [len(numbers)], "dtype": "float64", "text": text, "data": [*numbers]}


def test_arrays_of_one_shape_are_all_written_in_three_digits_or_all_drawn():
    def find_drawn(**values):
        picture, index, _ = drawn(["z = a + b"], {name: {"value": value} for name, value in values.items()})
        return {name for name in "ab" if "art" in picture["tensors"][index[name]]}

    long = vector(0.295525, 0.932039, 0.909297)
    assert find_drawn(a=vector(1.5, 2.0, 3.0), b=long) == set(), "[0.296 0.932 0.909]"
    many = vector(*[0.295525] * 6)
    assert find_drawn(a=vector(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), b=many) == {"a", "b"}
    assert find_drawn(a=vector(1.0, 2.0, 3.0), b=many) == {"b"}


def test_a_box_has_room_for_what_will_arrive():
    made, index = document(["z = a"])
    made["steps"] = [
        {"kind": "seed", "pass": 0, "tape": 0, "tensor": index["a"], "cotangent": number("1" * 12)},
        {"kind": "assign", "tape": None, "tensor": index["z"], "value": number("1" * 13)},
    ]
    widths = [layout(made)["tensors"][index[name]]["width"] for name in "az"]
    assert widths == pytest.approx([14 * CHARACTER + 2 * PADDING, 13 * CHARACTER + 2 * PADDING], abs=0.1)


def test_a_constant_of_four_rows_has_no_place_for_a_cotangent_either():
    wanted = np.array([[1.0], [0.0], [1.0], [0.0]])
    player = ad.play(lambda y: np.mean((y - wanted) ** 2), np.array([[0.1234567], [2.0], [3.0], [4.0]]))
    content = player._content
    boxes = {t["name"]: box for t, box in zip(content["trace"]["tensors"], content["layout"]["tensors"], strict=True)}
    assert boxes["wanted"]["art"]["rows"]
    assert boxes["wanted"]["plain"]
    assert not boxes["y"]["plain"]


def test_a_constant_that_no_cotangent_reaches_is_one_line():
    about = {
        "c": {"kind": "constant", "name": "c", "value": number("2")},
        "d": {"kind": "constant", "name": "2", "value": number("2")},
    }
    picture, index, made = drawn(["z = a c d"], about)
    boxes = {name: picture["tensors"][index[name]] for name in "acdz"}
    assert {name: box["plain"] for name, box in boxes.items()} == {"a": False, "c": True, "d": True, "z": False}
    assert [boxes[name]["height"] for name in "acdz"] == [BOX_HEIGHT, LINE + 6, LINE + 6, BOX_HEIGHT]
    assert boxes["c"]["width"] == pytest.approx(5 * CHARACTER + 2 * PADDING), "c = 2"
    assert boxes["d"]["width"] == pytest.approx(CHARACTER + 2 * PADDING), "2"
    bottoms = {box["y"] + box["height"] for name, box in boxes.items() if name != "z"}
    assert len(bottoms) == 1, "it stands next to the entry that uses it"
    made["steps"] = [{"kind": "accumulate", "pass": 0, "tape": 0, "entry": 0, "tensor": index["c"], "after": number()}]
    assert not layout(made)["tensors"][index["c"]]["plain"]


def test_a_tensor_that_is_used_far_below_sends_one_line_from_which_every_use_branches_off():
    picture, _, _ = drawn(["b = a", "c = b a", "d = c a", "e = d a", "z = e a"])
    ways = [route(picture, row[-1]) for row in picture["entries"][1:]]
    assert [len(way) for way in ways] == [2, 3, 4, 5]
    for way, other in pairwise(ways):
        assert other[: len(way) - 1] == way[:-1]
    xs = [points[2] for points in ways[-1][:-1]]
    assert max(xs) - min(xs) < 0.5, "and it runs straight down"
    firsts = [picture["links"][row[-1]]["entry"] for row in picture["entries"]]
    assert firsts == [0, 1, 2, 3, 4]


def test_texts_are_shortened_to_what_there_is_room_for():
    picture, index, _ = drawn(["z = a"], {"a": {"name": "a_name_of_many_letters"}})
    box = picture["tensors"][index["a"]]
    assert (box["heading"], box["operation"]) == ("a_name_of_man…", "")
    assert picture["tensors"][index["z"]]["operation"] == "f"


def test_an_empty_trace_is_an_empty_picture():
    picture = layout({"tensors": [], "entries": [], "steps": []})
    assert (picture["tensors"], picture["links"], picture["entries"], picture["groups"]) == ([], [], [], [])
    assert picture["height"] >= 0


def test_groups_are_unfolded_at_first_while_there_are_few_entries():
    assert layout(loop(MANY // 3).document())["open"]
    assert not layout(loop(MANY // 3 + 1).document())["open"]


def test_a_folded_group_is_as_wide_as_its_label():
    x = ad.Variable(1.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        with ad.scope("a scope of some name"):
            y = np.sin(x * x)
            z = y * y
        z + y + x
    picture = layout(traced.document())
    (group,) = picture["groups"]
    assert group["kind"] == "scope"
    label = f"▸ {group['name']} · 3 entries"
    assert group["folded"]["width"] == pytest.approx(min(260, len(label) * CHARACTER + 2 * PADDING + 2), abs=0.1)
    assert group["folded"]["width"] <= group["width"] + 0.2
    middle = group["folded"]["x"] + group["folded"]["width"] / 2
    assert middle == pytest.approx(group["x"] + group["width"] / 2, abs=0.2)
    inner = [box for box in picture["tensors"] if box["group"] == 0]
    assert len(inner) == 3
    for box in inner:
        assert group["y"] <= box["y"]
        assert box["y"] + box["height"] <= group["y"] + group["height"] + 0.2
        assert inside(box["x"], group)
        assert inside(box["x"] + box["width"], group)


def test_a_folded_group_is_never_wider_than_a_long_name_needs():
    x = ad.Variable(1.0, name="x")
    with ad.trace() as traced, ad.GradientTape(), ad.scope("a scope of a name that has no end in sight"):
        np.sin(x * x)
    (group,) = layout(traced.document())["groups"]
    assert group["folded"]["width"] == WIDEST_FOLDED


def test_the_label_of_a_group_lies_over_no_arrowhead():
    def power(x):
        p = x
        for _ in range(3):
            p = p * x
        return p

    placed = layout(ad.play(power, 1.5)._content["trace"])
    [group] = placed["groups"]
    assert group["side"] == "left"
    right, bottom = group["x"] + 4 + len("▾ loop ×3") * CHARACTER + 2 * PADDING, group["y"] + 4 + 23
    heads = [link["points"] for link in placed["links"] if link["group"] == 0]
    assert any(points[2] < right for points in heads), "it would, at the usual distance"
    assert not [points for points in heads if points[2] < right and points[4] - 8 < bottom]


def test_many_given_values_stand_in_several_rows_that_fit_beside_the_code():
    names = [f"v{k}" for k in range(9)]
    picture, index, _ = drawn([f"z = {' '.join(names)}"], {name: {"name": 14 * "n"} for name in names})
    given = [picture["tensors"][index[name]] for name in names]
    rows = {box["y"] for box in given}
    assert len(rows) > 2
    for y in rows:
        assert sum(box["width"] for box in given if box["y"] == y) <= WIDEST_ROW
    few, index, _ = drawn(["z = a b c"])
    assert len({few["tensors"][index[name]]["y"] for name in "abc"}) == 1


def test_a_wide_argument_moves_over_the_others_and_its_line_stays_straight():
    def layer(w, x, b):
        return np.sum(np.tanh(w @ x + b) ** 2)

    w, x, b = np.array([[0.5, -0.25, 0.1], [1.0, 0.3, -0.7]]), np.array([1.0, 2.0, -1.0]), np.array([0.1, -0.2])
    document = ad.play(layer, w, x, b)._content["trace"]
    picture, names = layout(document), [tensor["name"] for tensor in document["tensors"]]
    box = picture["tensors"][names.index("x")]
    computed = [picture["tensors"][entry["output"]] for entry in document["entries"]]
    right = max(one["x"] + one["width"] for one in computed)
    start, _, end, _, _ = picture["links"][picture["entries"][0][1]]["points"]
    assert box["x"] + box["width"] <= right  # in the middle over its line, it would stand out
    assert box["x"] + box["width"] / 2 + 10 < start < box["x"] + box["width"]
    assert abs(start - end) < 20


def test_the_same_trace_gives_the_same_picture():
    assert layout(diamond().document()) == layout(diamond().document())


def test_the_heading_of_a_tensor_has_its_second_names_too():
    z = ad.Variable(0.3)
    with ad.trace() as traced, ad.GradientTape():
        y = z
        y = np.sin(y) + 0.1 * y
    document = traced.document()
    boxes = layout(document)["tensors"]
    assert [box["heading"] for box in boxes] == ["z, y", "t1", "0.1", "t2", "y₂"]
    del document["entries"][0]["aliases"], document["entries"][1]["aliases"]
    assert [box["heading"] for box in layout(document)["tensors"]] == ["z", "t1", "0.1", "t2", "y₂"]
