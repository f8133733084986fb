"""The curve of what a training minimises has the name that the code has for it."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.player.print.canvas import Path, TextLine
from autodiff_edu.player.print.curve import INK, RULE, TargetCurve, draw_curve, read_curve
from autodiff_edu.player.print.slide import SlideLayout


def slope_without_a_name(x):
    with ad.GradientTape() as tape:
        heights = [np.square(x)]
    return tape.gradient(heights[0], x)


def slope_of_t2(x):
    with ad.GradientTape() as tape:
        t2 = np.square(x)
    return tape.gradient(t2, x)


@pytest.mark.parametrize(("slope", "name"), [(slope_without_a_name, "target"), (slope_of_t2, "t2")])
def test_a_target_without_a_name_is_the_target_and_t2_may_be_the_readers_own_name(slope, name):
    x = ad.Variable(3.0, name="x")
    with ad.trace() as steps:
        for _ in range(4):
            x.assign_sub(0.1 * slope(x))
    assert read_curve(steps.document()).name == name


def settle(turns):
    def settling(x):
        y = x
        for _ in range(turns):
            y = y - 0.05 * (y * y - 2.0)
        return y

    return ad.play(settling, 3.0)._content


def test_a_slide_shows_what_a_folded_loop_computes_as_a_curve():
    curve = SlideLayout(settle(60)).curve
    assert (curve.name, len(curve.points)) == ("y", 60)
    expected = [3.0 - 0.05 * 7.0]
    while len(expected) < 60:
        expected.append(expected[-1] - 0.05 * (expected[-1] ** 2 - 2.0))
    assert [height for _, height, _ in curve.points] == pytest.approx(expected, rel=1e-5)
    assert SlideLayout(settle(3)).curve is None, "its turns are all on show"


@pytest.mark.parametrize(
    ("values", "words", "has_zero"),
    [
        ((3.0, 2.0, -1.0), "y -1", True),
        ((3.0, 2.0, 1.0), "y 1", False),
        ((-3.0, 0.0, 2e-3, -1e-6), "|y| 1e-06 (log scale)", False),
    ],
)
def test_a_curve_has_a_zero_line_where_0_lies_and_is_logarithmic_of_many_magnitudes(values, words, has_zero):
    curve = TargetCurve("y", [(step, value, f"{value:g}") for step, value in enumerate(values)])
    shapes = draw_curve(curve, len(values), (0.0, 0.0, 600.0, 132.0))
    assert words in [shape.words for shape in shapes if isinstance(shape, TextLine)]
    lines = [shape for shape in shapes if isinstance(shape, Path) and shape.stroke == RULE]
    assert len(lines) == has_zero
    heights = [
        float(point.split()[1])
        for shape in shapes
        if isinstance(shape, Path) and shape.stroke == INK
        for point in shape.commands[1:].split("L")
    ]
    assert heights == sorted(heights)
    assert len(heights) == len([value for value in values if value or not curve.log])
