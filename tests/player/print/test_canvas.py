"""Shapes are drawn as SVG and as PDF: the same in both, with nothing from elsewhere, and text is never markup."""

import io
import re
from xml.etree import ElementTree

import pytest

from autodiff_edu.player.print.canvas import Path, TextLine, Window, rounded_box, to_pdf, to_relative, to_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*shapes, **more):
    """The elements of a drawing: tags without their namespace, and attributes."""
    return [
        (one.tag.removeprefix(SVG), dict(one.attrib)) for one in ElementTree.fromstring(to_svg(100, 50, shapes, **more))
    ]


def test_both_forms_draw_the_same_shapes():
    inner = [Path("M0 0C10 0 10 20 20 20V40", stroke="#ff0000", weight=2, dash=(4, 2))]
    shapes = [Path("M0 0H100V100H0Z", fill="#ffffff"), Window(10, 10, 50, 50, 0, 0, 0.5, inner), TextLine(50, 50, "x")]
    assert ElementTree.fromstring(to_svg(100, 100, shapes)) is not None
    pdf = to_pdf(100, 100, shapes)
    assert b"/MediaBox [ 0 0 75 75 ]" in pdf  # points
    with pytest.raises(ValueError, match="'A'"):
        to_pdf(10, 10, [Path("M0 0A1 1 0 0 0 2 2")])
    assert io.BytesIO(pdf).read(5) == b"%PDF-"


def test_a_path_of_distances_ends_where_its_places_are_however_long_it_is():
    places = [(round(k * 0.7, 1), round(k * k * 0.3, 1)) for k in range(1, 200)]
    path = "M10.3 20.6Z" + "".join(f"L{x} {y}" for x, y in places) + "H-7.7V0.5Z"
    short = to_relative(path)
    assert short.startswith("m10.3 20.6zl-9.6-20.3l.7 .9")
    x, y = 10.3, 20.6
    for (right, down), place in zip(re.findall(r"l(-?[\d.]+) ?(-?[\d.]+)", short), places, strict=True):
        x, y = x + float(right), y + float(down)
        assert (x, y) == pytest.approx(place, abs=1e-6)
    assert short.endswith(f"h{round(-7.7 - x, 1):g}v{round(0.5 - y, 1):.10g}z")


def test_a_drawing_says_its_size_and_its_title():
    root = ElementTree.fromstring(to_svg(100.04, 50, [], title="a < b"))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("100", "50", "0 0 100 50")
    assert (root.get("role"), root.get("aria-label")) == ("img", "a < b")
    assert ElementTree.fromstring(to_svg(1, 1, [])).get("role") is None


def test_a_path_has_the_attributes_that_it_was_given_and_no_more():
    (plain,), (full,) = drawn(Path("M0 0H9")), drawn(Path("M0 0H9", "#111111", "#222222", 2.5, (4, 3)))
    assert plain == ("path", {"d": "M0 0H9", "fill": "none"})
    assert full[1] == {
        "d": "M0 0H9", "fill": "#111111", "stroke": "#222222", "stroke-width": "2.5", "stroke-dasharray": "4 3",
    }  # fmt: skip


def test_a_text_has_the_attributes_that_it_was_given_and_no_more():
    (plain,), (full,) = (
        drawn(TextLine(5, 15, "x")),
        drawn(TextLine(5.04, 15.26, "x", 14, "#123456", "end", True, "sans-serif")),
    )
    assert plain == ("text", {"x": "5", "y": "15"})
    assert full[1] == {
        "x": "5", "y": "15.3", "font-size": "14", "fill": "#123456", "text-anchor": "end", "font-weight": "bold",
        "font-family": "sans-serif",
    }  # fmt: skip


@pytest.mark.parametrize(("words", "keeps"), [("…    x", True), ("  x", True), ("a b", False)])
def test_a_text_itself_keeps_its_spaces(words, keeps):
    ((_, about),) = drawn(TextLine(5, 15, words))
    assert ("{http://www.w3.org/XML/1998/namespace}space" in about) is keeps


def test_a_window_shows_a_part_of_a_drawing_at_its_scale():
    ((tag, about),) = drawn(Window(10, 20, 50, 40, left=5, top=6, scale=0.5, shapes=[Path("M0 0H9")]))
    assert tag == "svg"
    assert [about[name] for name in ("x", "y", "width", "height")] == ["10", "20", "50", "40"]
    assert about["viewBox"] == "5 6 100 80"


@pytest.mark.parametrize("words", ["<b>", "a & b", '"', "\x00\x0b", "\ud800", "two\nlines", "a\tb", "\u2028"])
def test_any_text_is_drawn_and_none_is_markup(words):
    ((tag, _),) = drawn(TextLine(0, 0, words))
    shown = ElementTree.fromstring(to_svg(10, 10, [TextLine(0, 0, words)]))[0].text
    assert tag == "text"
    clean = "".join(" " if c in "\n\t" else c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
    assert shown == clean
    assert to_pdf(10, 10, [TextLine(0, 0, words)], title=words).startswith(b"%PDF-")


def test_a_rectangle_with_round_corners_stays_inside_of_its_edges():
    path = rounded_box(10, 20, 40, 30, 8)
    numbers = [float(number) for number in path.translate(str.maketrans("MHVQZ", "     ")).split()]
    assert path.startswith("M18 20H42")
    assert max(numbers) == 50
    assert min(numbers) == 10
    assert rounded_box(0, 0, 4, 10, 8).startswith("M2 0H2"), "a small one is rounder"


def test_the_same_shapes_give_the_same_bytes():
    shapes = [Path("M0 0H9V9Z", "#ffffff", "#000000"), TextLine(1, 2, "x", bold=True)]
    assert to_svg(10, 10, shapes) == to_svg(10, 10, shapes)
    assert to_pdf(10, 10, shapes) == to_pdf(10, 10, shapes)
