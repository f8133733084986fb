"""A walk over contours in print: arrows with heads, shades, a legend, and nothing beyond the plane."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

import autodiff_edu as ad
from autodiff_edu.player.print.canvas import Path, TextLine
from autodiff_edu.player.print.moments import choose_key_steps
from autodiff_edu.player.print.plane import COLOURS, count_legend_rows, draw_legend, draw_plane, list_legend
from autodiff_edu.text.shared import colour

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def player():
    return ad.descend(lambda x, y: (1.0 - x) ** 2 + 5.0 * (y - x * x) ** 2, (-1.0, 1.5), steps=5)


@pytest.fixture(scope="module")
def part(player):
    return player._content["trace"]["contours"]


def heads(shapes):
    """The triangles: their tips, and how they are filled and drawn."""
    for shape in shapes:
        found = isinstance(shape, Path) and re.fullmatch(r"M(\S+) (\S+)L(\S+) (\S+)L(\S+) (\S+)Z", shape.commands)
        if found:
            yield (float(found[3]), float(found[4])), shape.fill, shape.stroke


def test_arrows_have_heads_that_point_where_the_document_says(part):
    shapes = draw_plane(part, 0)
    found = {stroke: (tip, fill) for tip, fill, stroke in heads(shapes)}
    for name, hollow in (("gradient", False), ("newton", True)):
        tip, fill = found[COLOURS[name]]
        assert tip == pytest.approx(part["iterates"][0][name], abs=0.11)
        assert fill == (colour("paper") if hollow else COLOURS[name])


def test_a_short_arrow_has_no_head_to_hide_it(part):
    one = part["iterates"][0]
    x, y = one["at"]
    short = part | {"iterates": [one | {"gradient": [x + 5.0, y], "newton": None}]}
    assert list(heads(draw_plane(short, 0))) == []
    none = part | {"iterates": [one | {"gradient": [x, y], "newton": None}]}
    assert not [shape for shape in draw_plane(none, 0) if getattr(shape, "stroke", "") == COLOURS["gradient"]]


def test_what_is_lower_is_darker(part):
    shapes = draw_plane(part, 0)
    areas = [level["area"] for level in part["levels"] if level["area"]]
    shades = [shape.fill for area in areas for shape in shapes if isinstance(shape, Path) and shape.commands == area]
    assert len(shades) == len(areas) > 5
    light = [int(shade[1:3], 16) for shade in shades]
    assert all(one < other for one, other in pairwise(light)), "from the lowest to the highest"
    order = [shape.commands for shape in shapes if isinstance(shape, Path) and shape.commands in areas]
    assert order == areas[::-1], "the highest first, or it would cover the others"


def test_a_legend_names_what_is_drawn_and_no_more(part, player):
    assert list_legend(part) == ["gradient", "newton", "model", "path"]
    plain = part | {"iterates": [one | {"newton": None, "model": None} for one in part["iterates"]]}
    assert list_legend(plain) == ["gradient", "path"]
    words = {shape.words for shape in draw_legend(part, 0, 0, 400, 11) if isinstance(shape, TextLine)}
    assert words == {"negative gradient", "Newton's step", "quadratic model", "path"}
    assert count_legend_rows(part, 2000, 11) == 1
    assert count_legend_rows(part, 150, 11) > 2
    for size in (None, "16:9"):
        svg = player.frames(1, size=size).svg()
        assert words <= {element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")}


def test_key_frames_of_a_walk_are_spread_over_it():
    player = ad.descend(lambda x, y: x**2 + 3.0 * y**2, (2.0, 1.0), method="gradient", rate=0.05, steps=20)
    steps = player.frames().steps
    assert len(steps) == 6
    assert (steps[0], steps[-1]) == (1, len(player))
    assert all(3 <= other - one <= 5 for one, other in pairwise(steps))
    assert choose_key_steps(player._content["trace"], 1) == [len(player) - 1]
