"""What a picture shows of a long trace: the groups around the current tensor are unfolded, and nothing else."""

import numpy as np
import pytest
from programs import diamond, training

import autodiff_edu as ad
from autodiff_edu.player.print.folding import fold
from autodiff_edu.player.print.frames import Frames
from autodiff_edu.player.print.slide import SlideLayout


@pytest.fixture(scope="module")
def player():
    return ad.play(training(20))


def test_a_small_graph_stays_as_it_is():
    layout = ad.play(diamond())._content["layout"]
    assert fold(layout, 0) is layout


def test_only_the_groups_around_a_tensor_are_unfolded(player):
    layout, document = player._content["layout"], player._content["trace"]
    assert not layout["open"]
    tensor = document["entries"][len(document["entries"]) // 2]["output"]
    folded = fold(layout, tensor)
    assert not folded["tensors"][tensor]["hidden"]
    unfolded = [index for index, group in enumerate(folded["groups"]) if not group["closed"] and not group["hidden"]]
    around, group = [], layout["tensors"][tensor]["group"]
    while group >= 0:
        around.append(group)
        group = layout["groups"][group]["parent"]
    assert sorted(around) == unfolded
    assert folded["height"] < layout["height"] / 2


def test_everything_keeps_its_order_and_nothing_overlaps(player):
    layout, document = player._content["layout"], player._content["trace"]
    for entry in document["entries"][:: len(document["entries"]) // 7]:
        folded = fold(layout, entry["output"])
        boxes = [box for box in folded["tensors"] if not box["hidden"]]
        boxes += [group for group in folded["groups"] if group["closed"] and not group["hidden"]]
        for k, one in enumerate(boxes):
            for other in boxes[k + 1 :]:
                apart = one["y"] + one["height"] <= other["y"] + 0.2 or other["y"] + other["height"] <= one["y"] + 0.2
                beside = one["x"] + one["width"] <= other["x"] + 0.2 or other["x"] + other["width"] <= one["x"] + 0.2
                assert apart or beside
        assert max(box["y"] + box["height"] for box in boxes) <= folded["height"]


def test_no_line_crosses_a_folded_group(player):
    """It ends at its border; what passes beside it goes straight down."""
    layout, document = player._content["layout"], player._content["trace"]
    for tensor in (None, document["entries"][7]["output"]):
        folded = fold(layout, tensor)
        for group in folded["groups"]:
            if not group["closed"] or group["hidden"]:
                continue
            top, bottom = group["y"], group["y"] + group["height"]
            for link in folded["links"]:
                _, y, to_x, bend, to_y = link["points"]
                if link["hidden"]:
                    continue
                enters = y < top + 0.5 and bend > top + 0.5
                assert not enters, "a curve ends above the box"
                passes = bend <= top + 0.5 and to_y >= bottom - 0.5 and to_y > bend
                assert not passes or not group["x"] < to_x < group["x"] + group["width"]


def test_a_folded_group_is_drawn_over_the_lines_with_its_name(player):
    document = player._content["trace"]
    number = next(k for k, step in enumerate(document["steps"]) if step["kind"] == "watch")
    frame = SlideLayout(player._content).frame(number)
    pieces = [piece for piece in frame.pieces(0.0, 0.0) if piece]
    (named,) = [
        k for k, piece in enumerate(pieces) if any("loop ×20" in str(getattr(one, "words", "")) for one in piece)
    ]
    links = [k for k, piece in enumerate(pieces) if any("C" in getattr(one, "commands", "") for one in piece)]
    assert links
    assert max(links) < named
    assert pieces[named][0].fill == "#ffffff"


def test_a_loop_s_turns_fit_into_a_frame_again(player):
    svg = Frames(player._content, player.frames().steps).svg()
    assert len(svg) < 120_000
    assert "turn 1" in svg


def test_what_flows_into_a_folded_loop_is_drawn_to_its_border(player):
    document = player._content["trace"]
    w = next(k for k, tensor in enumerate(document["tensors"]) if tensor["kind"] == "variable")
    number = max(k for k, s in enumerate(document["steps"]) if s["kind"] == "accumulate" and s["tensor"] == w)
    frame = SlideLayout(player._content).frame(number)
    (arrives,) = frame.active()
    trail = frame.trail(arrives)
    assert trail
    assert all(not link["hidden"] for link in trail)
    assert trail[0]["points"][1] == pytest.approx(
        frame.layout["tensors"][w]["y"] + frame.layout["tensors"][w]["height"]
    )
    assert np.isfinite(trail[-1]["points"]).all()


def test_lines_end_at_the_box_of_a_folded_group_and_the_picture_is_as_wide_as_what_is_in_it(player):
    document = player._content["trace"]
    ended = 0
    for tensor in (None, document["entries"][7]["output"]):
        folded = fold(player._content["layout"], tensor)
        boxes = [box for box in folded["tensors"] if not box["hidden"]]
        closed = [group for group in folded["groups"] if group["closed"] and not group["hidden"]]
        for group in closed:
            sides = group["x"] - 0.2, group["x"] + group["width"] + 0.2
            for link in folded["links"]:
                to_x, to_y = link["points"][2], link["points"][4]
                if not link["hidden"] and abs(to_y - group["y"]) < 0.2:
                    assert sides[0] <= to_x <= sides[1]
                    ended += 1
        assert min(box["x"] for box in (*boxes, *closed)) >= 0
        assert max(box["x"] + box["width"] for box in (*boxes, *closed)) <= folded["width"]
    assert ended > 3
