"""Key frames have the thumbnails that the player has."""

import re
from xml.etree import ElementTree

import numpy as np

import autodiff_edu as ad
from autodiff_edu.player.print.thumbnails import draw_thumbnail
from autodiff_edu.text.shared import colour
from autodiff_edu.trace.arrays import array


def test_cells_of_one_shade_are_one_area_and_what_is_not_finite_is_crossed_out():
    drawn = draw_thumbnail(array(np.array([[4.0, -4.0, 0.0], [4.0, np.nan, np.inf]])), 10.0, 20.0, 4.0)
    areas = {shape.fill: shape.commands.count("Z") for shape in drawn if shape.fill != "none"}
    assert areas == {colour("high"): 3, colour("low"): 1, colour("middle"): 2}
    crosses, edge = [shape for shape in drawn if shape.fill == "none"]
    assert crosses.commands.count("M") == 4
    assert edge.commands == "M10.0 20.0H46.0V44.0H10.0Z"


def test_a_frame_draws_long_arrays_and_writes_their_shapes():
    x = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    player = ad.play(lambda w: np.tanh(x @ w), np.ones((3, 5)) / 3)
    frames = player.frames(len(player) - 1)
    words = [element.text for element in ElementTree.fromstring(frames.svg()).iter() if element.tag.endswith("text")]
    assert {"(3, 5)", "(4, 5)", "←"} <= set(words)
    assert not any(word.startswith("[[") for word in words if word)
    fills = set(re.findall(r'fill="(#\w+)"', frames.svg()))
    assert colour("high") in fills
    assert frames.pdf().startswith(b"%PDF-")
