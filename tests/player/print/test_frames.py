"""Key frames show what the trace says, as SVG and as PDF, the same bytes each time, whatever the names hold."""

import re
import sys
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from programs import diamond, einsum, forward_mode

import autodiff_edu as ad
from autodiff_edu.player import Player
from autodiff_edu.player.print.folding import fold
from autodiff_edu.text.shared import colour

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "</svg></text><script>alert(1)</script>&\"'\x00\x0b\ud800\u2028$x$ <!--"


def kinds(document, steps):
    return [document["steps"][number]["kind"] for number in steps]


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


# What a frame shows --------------------------------------------------------------------------------------------------


def test_a_frame_of_forward_mode_shows_tangents():
    player = ad.play(forward_mode())
    kinds = [step["kind"] for step in player._content["trace"]["steps"]]
    svg = player.frames(kinds.index("push forward") + 1).svg()
    assert {"→ forward pass, with tangents", "→ 1", "→ 0.5", "→ 3.5"} <= set(texts(svg))
    assert not [text for text in texts(svg) if text and text.startswith("←")]


def test_an_explanation_shows_the_cut_and_says_why():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = ad.stop_gradient(x * 2.0)
    player = ad.play(tape.explain(y, x))
    document = tape.explain(y, x).trace().document()
    assert {"cut", "explain"} <= set(kinds(document, [number - 1 for number in player.frames().steps]))
    shown = texts(player.frames().svg())
    assert "cut" in shown
    assert "on purpose" in " ".join(shown)
    assert "← walking back" in shown
    assert "← backward pass" not in shown


def test_a_frame_shows_the_line_the_values_the_cotangents_and_the_sentence():
    player = ad.play(diamond())
    words = texts(player.frames(len(player) - 2).svg())
    assert words[0] == "diamond"
    assert {"← backward pass", f"step {len(player) - 2} of {len(player)}", "b = a + a", "[1 2]", "← [4 4]"} <= set(
        words
    )
    assert "so the cotangent of a is now [4 4]." in " ".join(words)


def test_what_is_not_computed_yet_is_a_dash_and_never_a_number():
    words = texts(ad.play(diamond()).frames(1).svg())
    assert words.count("—") == 3
    assert not {"0", "[0 0]"} & set(words)


def test_the_key_frame_of_a_reader_who_is_to_predict_shows_nothing_that_comes_later():
    def steps():
        with ad.trace("two turns") as traced, ad.GradientTape():
            x = ad.Variable(2.0, name="x")
            for _ in range(2):
                with ad.scope("a turn"):
                    x = 3.0 * x
        return traced

    shown = texts(ad.play(steps())._picture[0])
    assert {"multiply", "a turn"} <= set(shown)
    asked = texts(ad.play(steps(), predict=True)._picture[0])
    known = ["x", "2", "The tape watches x, which is 2."]
    assert asked[:3] == ["two turns", "→ forward pass", "step 1 of 3"]
    assert asked[-3:] == known
    assert asked[4:-3] == ["x = 3.0 * x"], "the line that is next"


def test_frames_are_chosen_by_number():
    player = ad.play(diamond())
    assert player.frames(1, np.int64(4)).steps == (1, 4)
    assert repr(player.frames(2)) == "Frames('diamond', step 2)"
    assert player.frames(1)._repr_svg_() == player.frames(1).svg()
    with pytest.raises(IndexError, match=f"1 to {len(player)}"):
        player.frames(len(player) + 1)
    with pytest.raises(TypeError, match="integer"):
        player.frames(1.5)


# As files ------------------------------------------------------------------------------------------------------------


def test_the_same_trace_gives_the_same_bytes(monkeypatch):
    once = ad.play(diamond()).frames()
    svg, pdf = once.svg(), once.pdf()
    assert svg == ad.play(diamond()).frames().svg().replace("\0", "")
    monkeypatch.setattr(time, "time", lambda: 2e9)
    assert ad.play(diamond()).frames().pdf() == pdf
    assert b"CreationDate" not in pdf
    assert pdf.startswith(b"%PDF-")


def test_a_pdf_is_drawn_without_regard_to_the_reader_s_settings():
    matplotlib = pytest.importorskip("matplotlib")
    pdf = ad.play(diamond()).frames().pdf()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "savefig.transparent": True}):
        assert ad.play(diamond()).frames().pdf() == pdf
        assert matplotlib.rcParams["font.size"] == 30
    assert "matplotlib.pyplot" not in sys.modules or matplotlib.pyplot.get_fignums() == []


def test_an_svg_needs_nothing_from_elsewhere():
    svg = ad.play(diamond()).frames().svg()
    assert not re.search(r"href|url\(|<style|<script|<image|\sid=|@font", svg)
    assert set(re.findall('font-family="([^"]*)"', svg)) == {"monospace", "sans-serif"}


def test_a_large_graph_is_cut_and_its_picture_stays_small():
    def long(x):
        for _ in range(300):
            x = np.sin(x) * 1.5
        return x

    frames = ad.play(long, 0.5).frames()
    assert len(frames.svg()) < 100_000
    for window in ElementTree.fromstring(frames.svg()).iter(f"{SVG}svg"):
        if window.get("preserveAspectRatio"):
            assert float(window.get("height")) <= 420


def test_the_key_frame_of_a_long_loop_shows_all_of_it_with_some_turns_folded():
    def root(x):
        y = x * 1.0
        for _ in range(4):
            y = (y + x / y) / 2.0
        return y * 1.5

    player = ad.play(root, 2.0)
    shown = texts(player._picture[0])
    assert "the graph continues" in texts(player.frames().svg())
    assert {"turn 1 · 3 entries", "turn 3", "turn 4 · 3 entries"} <= set(shown)
    assert "the graph continues" not in shown


def test_a_key_frame_that_is_too_large_even_so_says_that_the_graph_goes_on():
    def long(x):
        return np.sin(np.sin(np.sin(np.sin(np.sin(np.sin(np.sin(np.sin(np.sin(np.sin(np.sin(np.sin(x))))))))))))

    drawing = ElementTree.fromstring(ad.play(long, 0.5)._picture[0])
    (words,) = [element for element in drawing.iter(f"{SVG}text") if element.text == "the graph continues"]
    window = drawing.find(f".//{SVG}svg[@preserveAspectRatio]")
    bottom = float(window.get("y")) + float(window.get("height"))
    sentence = [float(element.get("y")) for element in drawing.findall(f"{SVG}text") if element is not words]
    assert bottom < float(words.get("y")) - 11 < float(words.get("y")) < max(sentence) - 13, "between the two"
    assert "the graph continues" not in texts(ad.play(long, 0.5, predict=True)._picture[0])


def hostile():
    x = ad.Variable(3.0, name=NASTY)
    with ad.trace(NASTY) as traced:
        with ad.GradientTape() as tape:
            y = x * ad.constant(2.0, name="$\\frac$" + "n" * 10_000)  # </text><script>alert(1)</script>
        tape.gradient(y, x)
    return traced


def test_names_titles_and_code_are_text_in_both_forms():
    frames = ad.play(hostile()).frames()
    root = ElementTree.fromstring(frames.svg())
    assert {element.tag for element in root.iter()} == {f"{SVG}{tag}" for tag in ("svg", "path", "text")}
    assert texts(frames.svg())[0].startswith("</svg></text><script>")
    assert "</text><script>alert(1)</script>" in " ".join(texts(frames.svg()))
    assert len(frames.svg()) < 100_000
    assert frames.pdf().startswith(b"%PDF-")


@pytest.mark.parametrize(
    "value",
    [
        np.arange(24.0).reshape(2, 3, 2, 2),
        np.array([np.nan, np.inf, -np.inf]),
        np.array([1 + 2j, 0j]),
        np.zeros((0, 3)),
    ],
    ids=["4-D", "not finite", "complex", "empty"],
)
def test_odd_arrays_are_drawn(value):
    player = ad.play(lambda x: np.sum(x * x), value)
    (given,) = [tensor for tensor in player._content["trace"]["tensors"] if tensor["name"] == "x"]
    assert any(given["value"]["text"][:7] in words for words in texts(player.frames().svg()) if words)
    assert player.frames().pdf().startswith(b"%PDF-")


def test_a_trace_of_no_events_says_that_nothing_happened(tmp_path):
    with ad.trace("empty") as traced:
        pass
    player = Player(traced)
    assert "Nothing happened on any tape." in texts(player.frames().svg())
    assert repr(player.frames()) == "Frames('empty', no steps)"
    for ending in ("html", "svg", "pdf", "txt"):
        player.save(tmp_path / f"empty.{ending}")
    assert player.transcript() == ""


def test_saving_frames_wants_a_name_of_a_picture(tmp_path):
    frames = ad.play(diamond()).frames(1)
    frames.save(tmp_path / "one.SVG")
    frames.save(str(tmp_path / "one.pdf"))
    assert (tmp_path / "one.SVG").read_text(encoding="utf-8") == frames.svg()
    with pytest.raises(ValueError, match=r"\.svg or \.pdf"):
        frames.save(tmp_path / "one.png")


def test_without_matplotlib_a_pdf_says_what_to_install_and_leaves_the_file(tmp_path, monkeypatch):
    path = tmp_path / "lesson.pdf"
    path.write_text("precious")
    for module in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        ad.play(diamond()).save(path)
    assert [each.name for each in tmp_path.iterdir()] == ["lesson.pdf"]
    assert path.read_text() == "precious"


# Where things stand --------------------------------------------------------------------------------------------------


def windows(frames):
    """For each frame: what its window shows of the graph, and the boxes of the tensors that are drawn in it."""
    for window in ElementTree.fromstring(frames.svg()).iter(f"{SVG}svg"):
        if window.get("preserveAspectRatio"):
            yield tuple(map(float, window.get("viewBox").split())), list(window)


def wide(x):
    parts = [np.sin(x * float(k)) for k in range(8)]
    return np.sum(np.stack(parts))


def long(x):
    for k in range(30):
        x = np.sin(x) * float(k + 1)
    return x


@pytest.mark.parametrize("function", [wide, long, lambda x: x * x])
def test_a_frame_shows_the_tensor_at_hand_and_nothing_beyond_the_picture(function):
    player = ad.play(function, 0.5)
    document, layout = player._content["trace"], player._content["layout"]
    for number in range(len(player)):
        (((left, top, width, height), _),) = windows(player.frames(number + 1))
        assert left >= 0
        assert top >= 0
        assert left + min(width, layout["width"]) <= layout["width"] + 0.2
        assert top + min(height, layout["height"]) <= layout["height"] + 0.2
        step = document["steps"][number]
        if "entry" in step or "tensor" in step:
            tensor = step.get("tensor", document["entries"][step["entry"]]["output"] if "entry" in step else None)
            box = fold(layout, tensor)["tensors"][tensor]
            middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            assert left - 0.2 <= middle[0] <= left + width + 0.2
            assert top - 0.2 <= middle[1] <= top + height + 0.2


def heads(elements):
    """The triangles among the shapes: their tip, how far their base is below it, and their colour."""
    for element in elements:
        found = re.fullmatch(r"M(\S+) (\S+)L(\S+) (\S+)L(\S+) (\S+)Z", element.get("d") or "")
        if found:
            x, base, tip_x, tip, other_x, other = map(float, found.groups())
            assert base == other
            assert tip_x - x == pytest.approx(other_x - tip_x, abs=0.11)
            yield (tip_x, tip), base - tip, element.get("fill")


def test_a_cut_graph_shows_both_ends_of_the_line_along_which_a_cotangent_flows_if_they_fit():
    def spread(x):
        early = np.tanh(np.exp(np.cos(x)))
        late = np.sin(np.exp(np.cos(early))) * early
        return np.tanh(np.exp(np.cos(late)))

    player = ad.play(spread, 0.5)
    document, shown = player._content["trace"], 0
    for number, step in enumerate(document["steps"]):
        if step["kind"] != "accumulate":
            continue
        tensors = player._content["layout"]["tensors"]
        ends = [tensors[tensor] for tensor in (step["tensor"], document["entries"][step["entry"]]["output"])]
        (((left, top, width, height), _),) = [*windows(player.frames(number + 1, 1))][:1]
        spans = [
            (min(box[x] for box in ends) - 8, max(box[x] + box[size] for box in ends) + 8)
            for x, size in (("x", "width"), ("y", "height"))
        ]
        if all(high - low <= room for (low, high), room in zip(spans, (width, height), strict=True)):
            shown += 1
            for (low, high), at, room in zip(spans, (left, top), (width, height), strict=True):
                assert max(0.0, at - 0.1) <= max(0.0, low)
                assert high <= at + room + 8.1
    assert shown > 3


@pytest.mark.parametrize("example", [diamond, einsum])
def test_an_arrow_points_down_where_values_flow_and_up_where_cotangents_do(example):
    player = ad.play(example())
    document, layout = player._content["trace"], player._content["layout"]
    for number, step in enumerate(document["steps"]):
        if step["kind"] not in ("record", "accumulate"):
            continue
        ((_, elements),) = windows(player.frames(number + 1))
        coloured = [head for head in heads(elements) if head[2] in (colour("forward"), colour("backward"))]
        entry = document["entries"][step["entry"]]
        assert coloured
        for (x, y), base, shade in coloured:
            if step["kind"] == "record":
                box = layout["tensors"][entry["output"]]
                assert (shade, base < 0) == (colour("forward"), True), "its base is above its tip"
                assert y == pytest.approx(box["y"], abs=0.2)
            else:
                box = layout["tensors"][step["tensor"]]
                assert (shade, base > 0) == (colour("backward"), True), "its base is below its tip"
                assert y == pytest.approx(box["y"] + box["height"], abs=0.2)
            assert box["x"] <= x <= box["x"] + box["width"]
