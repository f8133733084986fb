"""Key frames show what the trace says, as SVG and as PDF, the same bytes each time, whatever the names hold."""

import io
import re
import sys
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from programs import diamond

import autodiff_edu as ad
from autodiff_edu.player import Player
from autodiff_edu.player.print.canvas import Path, Text, Window, to_pdf, to_svg
from autodiff_edu.player.print.moments import choose_key_steps, read_moment

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "</svg></text><script>alert(1)</script>&\"'\x00\x0b\ud800\u2028$x$ <!--"


def kinds(document, steps):
    return [document["steps"][number]["kind"] for number in steps]


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


# Choosing ------------------------------------------------------------------------------------------------------------


def test_key_frames_tell_both_passes_from_beginning_to_end():
    document = diamond().document()
    steps = choose_key_steps(document)
    assert steps == sorted(set(steps))
    assert kinds(document, steps) == ["watch", "record", "record", "seed", "accumulate", "accumulate"]
    computed = [n for n, step in enumerate(document["steps"]) if step["kind"] == "record"]
    assert {computed[0], computed[-1]} <= set(steps)
    last = document["steps"][steps[-1]]
    assert (last["count"], last["of"]) == (2, 2), "the release after it tells less"


def test_one_key_frame_is_the_fullest_accumulator():
    document = diamond().document()
    (only,) = choose_key_steps(document, 1)
    step = document["steps"][only]
    assert (step["kind"], step["count"], step["of"]) == ("accumulate", 2, 2)
    assert document["tensors"][step["tensor"]]["name"] == "a"


def test_a_trace_of_few_events_has_few_frames():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        x * x
    assert kinds(traced.document(), choose_key_steps(traced.document())) == ["watch", "record"]


def test_an_explanation_shows_the_cut_and_says_why():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = ad.stop_gradient(x * 2.0)
    player = ad.play(tape.explain(y, x))
    document = tape.explain(y, x).trace().document()
    assert {"cut", "explain"} <= set(kinds(document, player.frames().steps))
    shown = texts(player.frames().svg())
    assert "cut" in shown
    assert "on purpose" in " ".join(shown)


# What a frame shows --------------------------------------------------------------------------------------------------


def test_a_moment_knows_what_has_happened_and_nothing_else():
    document = diamond().document()
    names = [tensor["name"] for tensor in document["tensors"]]
    computed, seeded = (kinds(document, range(len(document["steps"]))).index(kind) for kind in ("record", "seed"))
    early, late = read_moment(document, computed), read_moment(document, seeded)
    assert {names[tensor]: value for tensor, value in early.values.items()} == {"a": "[1 2]", "b": "[2 4]"}
    assert (early.backward, early.cotangents) == (False, {})
    assert late.backward
    assert [names[tensor] for tensor in late.cotangents] == ["total"]


def test_an_assigned_value_and_a_second_pass_replace_what_was_there():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape(persistent=True) as tape:
            y = x * x
        tape.gradient(y, x)
        x.assign(5.0)
        tape.gradient(y, x)
    document = traced.document()
    seen = kinds(document, range(len(document["steps"])))
    assigned = read_moment(document, seen.index("assign"))
    assert ("5" in assigned.values.values(), assigned.backward, assigned.cotangents) == (True, False, {})
    second = len(seen) - 1 - seen[::-1].index("seed")
    assert list(read_moment(document, second).cotangents.values()) == ["1"]


def test_a_frame_shows_the_line_the_values_the_cotangents_and_the_sentence():
    player = ad.play(diamond())
    words = texts(player.frames(len(player) - 2).svg())
    assert words[0] == "diamond"
    assert {"← backward pass", f"step {len(player) - 1} of {len(player)}", "b = a + a", "[1 2]", "← [4 4]"} <= set(
        words
    )
    assert "so a now has [4 4]." in " ".join(words)


def test_what_is_not_computed_yet_is_a_dash_and_never_a_number():
    words = texts(ad.play(diamond()).frames(0).svg())
    assert words.count("—") == 3
    assert not {"0", "[0 0]"} & set(words)


def test_frames_are_chosen_by_number():
    player = ad.play(diamond())
    assert player.frames(0, np.int64(3)).steps == (0, 3)
    assert repr(player.frames(2)) == "Frames('diamond', step 2)"
    assert player.frames(1)._repr_svg_() == player.frames(1).svg()
    with pytest.raises(IndexError, match=f"0 to {len(player) - 1}"):
        player.frames(len(player))
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
    assert any(given["value"]["text"][:10] in words for words in texts(player.frames().svg()) if words)
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


# The canvas ----------------------------------------------------------------------------------------------------------


def test_both_forms_draw_the_same_shapes():
    inner = [Path("M0 0C10 0 10 20 20 20V40", stroke="#ff0000", weight=2, dash=(4, 2))]
    shapes = [Path("M0 0H100V100H0Z", fill="#ffffff"), Window(10, 10, 50, 50, 0, 0, 0.5, inner), Text(50, 50, "x")]
    assert ElementTree.fromstring(to_svg(100, 100, shapes)) is not None
    pdf = to_pdf(100, 100, shapes)
    assert b"/MediaBox [ 0 0 75 75 ]" in pdf  # points
    with pytest.raises(ValueError, match="'A'"):
        to_pdf(10, 10, [Path("M0 0A1 1 0 0 0 2 2")])
    assert io.BytesIO(pdf).read(5) == b"%PDF-"
