"""No text runs out of its picture: texts are measured with the font that draws them, whatever words they hold."""

import numpy as np
import programs
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

import autodiff_edu as ad
from autodiff_edu.player import Player
from autodiff_edu.player.print.canvas import MONOSPACE, TextLine, Window
from autodiff_edu.player.print.frames import Frames
from autodiff_edu.player.print.slide import HEIGHT, WIDTH, SlideLayout
from autodiff_edu.player.print.wrapping import shorten, width_of, wrap

PROGRAMS = [
    "diamond",
    "nested",
    "network",
    "stopped",
    "training",
    "recursion",
    "forward_mode",
    "cut_off",
    "not_a_number",
]
PROGRAMS += ["einsum", "two_layers", "hostile", "descent", "rows", "side_by_side"]
LONG = "the cotangent of an_unusually_long_name_" + "W" * 300 + " arrived at y, 漢字" * 20 + " mmm" * 200


def measure(line):
    """How wide a line is in the font that matplotlib draws it with."""
    family = "DejaVu Sans Mono" if line.family == MONOSPACE else "DejaVu Sans"
    font = FontProperties(family=family, weight="bold" if line.bold else "normal", size=line.size)
    return TextToPath().get_text_width_height_descent(line.words.replace("\0", " "), font, ismath=False)[0]


def ends(line):
    wide = measure(line)
    left = line.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[line.anchor] * wide
    return left, left + wide


def lines(shapes):
    """The lines that no window cuts off."""
    return [shape for shape in shapes if isinstance(shape, TextLine) and shape.words.strip()]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_text_of_a_program_runs_out_of_its_frame_or_slide(name):
    player = ad.play(getattr(programs, name)())
    steps = sorted(
        {*(number - 1 for number in player.frames().steps), *range(0, len(player), max(1, len(player) // 12))}
    )
    for number in steps:
        width, height, shapes = Frames(player._content, [number])._drawing
        assert [line for line in lines(shapes) if ends(line)[0] < 15 or ends(line)[1] > width - 15] == []
        assert all(line.y < height for line in lines(shapes))
    slides = SlideLayout(player._content)
    for number in steps:
        shapes = [shape for layer in slides.draw(number) for shape in layer.shapes()]
        assert [line for line in lines(shapes) if ends(line)[0] < 39 or ends(line)[1] > WIDTH - 39] == []
        assert all(line.size >= 20 for line in lines(shapes)), "readable from the back row"
        assert all(line.y <= HEIGHT - 20 for line in lines(shapes))
        left = [line for line in lines(shapes) if line.x < 640]
        assert [line for line in left if ends(line)[1] > 641] == [], "the left column ends before the graph"


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", ["network", "two_layers", "training"])
def test_the_names_and_numbers_in_a_box_of_the_graph_stay_inside(name):
    player = ad.play(getattr(programs, name)())
    for number in player.frames().steps:
        frame = SlideLayout(player._content).frame(number - 1)
        for tensor, box in enumerate(frame.layout["tensors"]):
            for line in lines(frame.box(tensor, box)):
                assert ends(line)[0] >= box["x"], (line, box)
                assert ends(line)[1] <= box["x"] + box["width"] + 1, (line, box)


class Long:
    """A document whose sentence, title and code are too long for any frame."""

    def document(self):
        where = {"code": 0, "line": 2, "columns": [180, 220]}
        step = {"kind": "line", "what": "value", "text": LONG, "where": where, "tape": 0, "memory": 0}
        code = [{"place": "a" * 200 + ".py", "first_line": 1, "lines": ["def f():", "    " + "y = 漢 + wide " * 40]}]
        return {"title": LONG, "code": code, "tapes": [], "tensors": [], "entries": [], "steps": [step]}


@pytest.mark.filterwarnings("ignore:Glyph")
def test_words_that_are_too_long_are_broken_and_the_rest_is_cut():
    player = Player(Long())
    width, _, shapes = Frames(player._content, [0])._drawing
    assert [line for line in lines(shapes) if ends(line)[1] > width - 15] == []
    said = [line.words for line in lines(shapes) if line.size == 13 and line.words[0] not in "→←"]
    assert len(said) == 5
    assert said[-1].endswith("…")
    assert "……" not in "".join(said)
    slide = [shape for layer in SlideLayout(player._content).draw(0) for shape in layer.shapes()]
    assert [line for line in lines(slide) if ends(line)[1] > 641] == []


def test_lines_break_at_spaces_and_hold_all_words():
    text = "The contribution to x is 3. It is added to -0.416147, so the cotangent of x is now 2.58385."
    broken = wrap(text, 200.0, 13.0)
    assert " ".join(broken) == text
    assert all(width_of(line, 13.0) <= 200.0 for line in broken)
    assert len(broken) > 2
    assert wrap("", 100.0, 12.0) == []


def test_a_word_that_is_wider_than_a_line_is_broken():
    broken = wrap("a " + "W" * 50 + " b", 120.0, 12.0)
    assert "".join(broken).replace(" ", "") == "a" + "W" * 50 + "b"
    assert all(width_of(line, 12.0) <= 120.0 for line in broken)
    assert wrap("WW", 1.0, 12.0) == ["W", "W"], "one letter stands in each line, however narrow it is"


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize("words", ["".join(map(chr, range(33, 127))), "→ ← − × · … é ≤ √ x̄", "Mmm Www"])
def test_no_text_is_wider_than_it_is_said_to_be(words, bold):
    for family in (MONOSPACE, "sans-serif"):
        line = TextLine(0, 0, words, 20.0, bold=bold, family=family)
        assert measure(line) <= width_of(words, 20.0, family, bold) + 1
    assert width_of("漢", 20.0) >= 20.0
    assert width_of("\N{SLICE OF PIZZA}", 20.0, MONOSPACE) >= 20.0


def test_a_text_is_shortened_only_if_it_must_be():
    assert shorten("name", 100.0, 12.0) == "name"
    short = shorten("name" * 20, 100.0, 12.0, MONOSPACE)
    assert short.endswith("e…") or short[:-1] == ("name" * 20)[: len(short) - 1]
    assert 88 < width_of(short, 12.0, MONOSPACE) <= 100
    assert shorten("name", 1.0, 12.0) == "…"


def test_a_window_is_what_cuts_a_graph():
    player = ad.play(lambda x: np.sum(np.sin(x) * x), np.arange(12.0))
    shapes = [shape for layer in SlideLayout(player._content).draw(3) for shape in layer.shapes()]
    graph = max((shape for shape in shapes if isinstance(shape, Window)), key=lambda window: window.height)
    assert graph.x >= 640
    assert graph.x + graph.width <= WIDTH - 39
    assert graph.y >= 39
    assert graph.y + graph.height <= HEIGHT - 39
