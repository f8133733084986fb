"""Slides of 1280 by 720 pixels: the pages of a PDF, or one per file; and what a slide shows of each kind of step."""

import copy
import io
import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from programs import diamond, not_a_number, training

import autodiff_edu as ad
from autodiff_edu.player.print.canvas import ADVANCE, TextLine, Window
from autodiff_edu.player.print.computation import draw_terms, list_terms
from autodiff_edu.player.print.frames import RED
from autodiff_edu.player.print.listing import draw_listing, size_of
from autodiff_edu.player.print.slide import EDGE, FAR, HEIGHT, LEFT, MARGIN, PITCH, WIDTH, WORDS, SlideLayout
from autodiff_edu.player.print.wrapping import width_of

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def step_of(player, kind, **more):
    steps = player._content["trace"]["steps"]
    return next(k for k, step in enumerate(steps) if step["kind"] == kind and more.items() <= step.items())


def test_a_slide_shows_code_graph_sum_and_sentence():
    player = ad.play(diamond())
    number = step_of(player, "accumulate", count=2, of=2)
    said = texts(player.frames(number + 1, size="16:9").svg())
    assert {
        "← backward pass",
        f"step {number + 1} of {len(player)}",
        "b = a + a",
        "before",
        "contribution",
        "after",
    } <= set(said)
    assert {"+", "="} <= set(said)
    assert player._content["trace"]["steps"][number]["text"].split()[0] in " ".join(map(str, said))
    forward = texts(player.frames(step_of(player, "record") + 1, size="16:9").svg())
    assert "→ forward pass" in forward
    assert "before" not in forward


def test_a_slide_has_the_size_of_a_screen_and_one_frame_each(tmp_path):
    player = ad.play(diamond())
    slides = player.frames(1, 4, size="16:9")
    assert repr(slides) == "Slides('diamond', steps 1 and 4)"
    pdf = slides.pdf()
    assert len(re.findall(rb"/Type /Page\b", pdf)) == 2
    assert pdf.count(b"/MediaBox [ 0 0 960 540 ]") == 2, "points"
    assert pdf == player.frames(1, 4, size="16:9").pdf()
    slides.save(tmp_path / "lesson.svg")
    slides.save(tmp_path / "lesson.png")
    slides.save(tmp_path / "lesson.pdf")
    names = ["lesson-1.png", "lesson-1.svg", "lesson-2.png", "lesson-2.svg", "lesson.pdf"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for number, step in enumerate((1, 4), 1):
        alone = player.frames(step, size="16:9").svg()
        assert (tmp_path / f"lesson-{number}.svg").read_text(encoding="utf-8") == alone
        assert ElementTree.fromstring(alone).get("viewBox") == "0 0 1280 720"
        assert Image.open(io.BytesIO((tmp_path / f"lesson-{number}.png").read_bytes())).size == (1280, 720)
    assert sorted(texts(slides.svg())) == sorted(
        text for step in (1, 4) for text in texts(player.frames(step, size="16:9").svg())
    )


def test_one_slide_has_the_name_that_it_was_given(tmp_path):
    ad.play(diamond()).frames(2, size="16:9").save(tmp_path / "one.png")
    assert [path.name for path in tmp_path.iterdir()] == ["one.png"]
    with pytest.raises(ValueError, match=r"\.pdf, \.svg or \.png"):
        ad.play(diamond()).frames(2, size="16:9").save(tmp_path / "one.gif")


def test_frames_have_one_other_size():
    with pytest.raises(ValueError, match="no size '4:3': write size=\"16:9\""):
        ad.play(diamond()).frames(1, size="4:3")
    player = ad.play(diamond())
    assert player.frames(size="16:9").steps == player.frames().steps


def test_a_small_graph_is_shown_whole_in_large_letters():
    player = ad.play(lambda x, y: x * y + np.sin(x), 2.0, 3.0)
    layout = player._content["layout"]
    slides = SlideLayout(player._content)
    for number in range(len(player)):
        (window,) = [layer.window for layer in slides.draw(number) if layer.window]
        assert (window.left, window.top) == (0, 0)
        assert window.width == pytest.approx(layout["width"] * window.scale)
        assert window.height == pytest.approx(layout["height"] * window.scale)
        assert 12 * window.scale >= 20
        assert window.x >= WIDTH / 2
        assert window.x + window.width <= WIDTH - MARGIN + 0.1
        assert window.y + window.height <= HEIGHT - MARGIN + 0.1


def test_the_part_of_a_large_graph_has_the_current_tensor_and_stays_where_it_can():
    def long(x):
        for k in range(12):
            x = np.sin(x) * float(k + 2)
        return x

    player = ad.play(long, 0.5)
    slides = SlideLayout(player._content)
    corners = []
    for number, step in enumerate(player._content["trace"]["steps"]):
        (window,) = [layer.window for layer in slides.draw(number) if layer.window]
        assert 12 * window.scale >= 16
        frame = slides.frame(number)
        if frame.subject is not None and "entry" in step:
            box = frame.layout["tensors"][frame.subject]
            assert window.left <= box["x"]
            assert box["x"] + box["width"] <= window.left + window.width / window.scale
            assert window.top <= box["y"]
            assert box["y"] + box["height"] <= window.top + window.height / window.scale
        corners.append((window.left, window.top))
    moves = sum(one != other for one, other in pairwise(corners))
    assert 0 < moves < len(corners) - 10


def long_program(x):
    a = x * 2.0

    b = a + 1.0
    c = np.sin(b)
    # a comment
    d = c * c
    e = d + x * np.cos(x * 2.0) + 0.123456 * np.exp(-x * x / 2.0) + np.log(x + 1.0) * 3.141592 - np.sqrt(x)
    h = e * e
    k = h - a

    return k * 0.5


def cross_entropy(w):
    t = np.array([1.0, 0.0])
    p = 1 / (1 + np.exp(-w))
    return -np.mean(t * np.log(p + 1e-12) + (1 - t) * np.log(1 - p + 1e-12))


def test_a_long_line_is_whole_on_several_rows_with_the_current_expression_underlined():
    player = ad.play(cross_entropy, [0.3, -0.7])
    slides = SlideLayout(player._content)
    entry = [each["text"] for each in slides.document["entries"]].index("1 - p")
    number = step_of(player, "record", entry=entry)
    _, (tint, line), rows = slides.code(slides.frame(number), 0.0, 300.0)
    assert [row.words for row in rows[3:5]] == [
        "return -np.mean(t * np.log(p + 1e-12)",
        "+ (1 - t) * np.log(1 - p + 1e-12))",
    ]
    (left, top), (right, bottom) = ends(tint.commands)
    assert top < rows[3].y < rows[4].y < bottom
    assert left < rows[3].x < rows[4].x < right
    letter = rows[4].size * ADVANCE
    from_, to = map(float, re.findall(r"[MH]([\d.]+)", line.commands))
    assert rows[4].words[round((from_ - rows[4].x) / letter) : round((to - rows[4].x) / letter)] == "1 - p"


def test_a_line_with_too_many_rows_shows_its_current_expression():
    player = ad.play(training())
    document = player._content["trace"]
    number = step_of(player, "record")
    step = document["steps"][number]
    code = ["def f(x):", f"    return x + {' + '.join(map(str, range(100)))} + np.sin(x * x)"]
    document["code"][step["where"]["code"]] |= {"lines": code, "first_line": step["where"]["line"] - 1}
    step["where"] = step["where"] | {"columns": [code[1].index("np.sin"), len(code[1])]}
    said = texts(player.frames(number + 1, size="16:9").svg())
    assert any(text and text.endswith("np.sin(x * x)") for text in said)


def test_numbers_have_the_digits_of_the_sentence():
    player = ad.play(lambda x: 0.487432 * x - 0.6016, 1.23456789)
    slides = SlideLayout(player._content)
    number = step_of(player, "record")
    assert [term.text for term in list_terms(slides.frame(number))[1]] == ["0.487432", "", "1.23", "", "0.602"]
    shown = texts(player.frames(number + 1, size="16:9").svg())
    assert "1.23457" not in shown, "in the graph too"
    number = step_of(player, "record", entry=1)
    (left, _, right, _, total) = list_terms(slides.frame(number))[1]
    assert (left.text, right.text, total.text) == ("0.601768", "0.6016", "0.000168"), "which is the difference"


def test_a_number_that_is_nearly_whole_is_shown_in_full():
    player = ad.play(lambda x: (1.0 + x) @ np.array([1.0, 2.0]), np.array([1e-6, 0.0]))
    slides = SlideLayout(player._content)
    number = step_of(player, "record")
    assert "[1.000001 1]" in [term.text for term in list_terms(slides.frame(number))[1]]
    assert "[1.000001 1]" in player.transcript()
    assert "[1.000001 1]" in texts(player.frames(number + 1, size="16:9").svg()), "in the graph"


def test_no_number_of_a_step_is_cut_whether_there_is_code_or_not():
    def loss(w):
        t = np.array([1.0, 0.0, 1.0])
        p = 1 / (1 + np.exp(-w))
        return -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p))

    for made in (loss, eval("lambda w: np.mean(np.log(1 / (1 + np.exp(-w))))", {"np": np})):
        player = ad.play(made, [0.302, -0.707, 1.118])
        drawn = [texts(player.frames(n + 1, size="16:9").svg()) for n in range(len(player)) if step_at(player, n)]
        assert len(drawn) >= 12
        for words in drawn:
            assert "=" in words, "the row of numbers"
            assert [text for text in words if text and text.startswith("[") and text.endswith("…")] == []


def step_at(player, number):
    return player._content["trace"]["steps"][number]["kind"] in {"record", "accumulate"}


@pytest.mark.parametrize("kind", ["watch", "record", "pull back"])
def test_lines_of_code_that_have_no_room_are_counted(kind):
    player = ad.play(long_program, 1.5)
    slides = SlideLayout(player._content)
    whole = [line.strip() for line in slides.document["code"][0]["lines"] if line.strip()]
    assert len(whole) == 10
    steps = [number for number, step in enumerate(slides.document["steps"]) if step["kind"] == kind]
    for number in steps:
        _, _, rows = slides.code(slides.frame(number), 0.0, 300.0)
        said = [row.words for row in rows]
        counts = [int(found[1]) for words in said if (found := re.fullmatch(r"… (\d+) more lines?", words))]
        begun = [words for words in said if any(line.startswith(words) for line in whole)]
        seen = [line for line in whole if any(len(part := words.strip(" …")) > 5 and part in line for words in said)]
        assert 1 <= len(counts) <= 2
        assert len(seen) + sum(counts) == len(whole)
        assert len(rows) <= 8
        assert len({row.y for row in rows}) == len(rows)
        where = slides.document["steps"][number]["where"]
        if where:
            line = slides.document["code"][0]["lines"][where["line"] - slides.document["code"][0]["first_line"]]
            assert any(line.strip().startswith(words) for words in begun), "the current line is there"


def test_a_line_of_many_rows_is_not_counted_as_more_lines():
    player = ad.play(lambda x: x * 1.5 + np.sin(x), 1.5)
    content = copy.deepcopy(player._content)
    content["trace"]["code"][0]["lines"][0] += " + np.cos(x * 2.0)" * 30
    content["trace"]["steps"][-1]["where"] = {"code": 0, "line": 1, "columns": [400, 410]}
    content["trace"]["code"][0]["first_line"] = 1
    slides = SlideLayout(content)
    said = [row.words for row in slides.code(slides.frame(len(player) - 1), 0.0, 300.0)[2]]
    assert said[-1].endswith("…")
    assert "…" in said, "the line has begun above"
    assert not any("more line" in words for words in said)


def test_no_text_of_the_graph_is_cut_at_an_edge():
    player = ad.play(long_program, 1.5)
    slides = SlideLayout(player._content)
    cut = 0
    for number in range(len(player)):
        (window,) = [layer.window for layer in slides.draw(number) if layer.window]
        frame, low = slides.frame(number), window.top + window.height / window.scale
        shapes = [shape for piece in frame.pieces(window.left, window.top) for shape in piece]
        for shape in shapes:
            if isinstance(shape, TextLine):
                assert window.top <= shape.y - 0.7 * shape.size
                assert shape.y <= low
        boxes = [box for box in frame.layout["tensors"] if not box.get("hidden")]
        cut += any(box["y"] < low < box["y"] + box["height"] for box in boxes)
    assert cut, "some boxes are cut"


def test_what_all_lines_are_indented_by_is_left_out():
    def trace_square():
        x = ad.Variable(1.5, name="x")
        with ad.trace() as steps, ad.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        return steps

    slides = SlideLayout(ad.play(trace_square())._content)
    lines = slides.code(slides.frame(0), 0.0, 200.0)[-1]
    begins = [line.x for line in lines]
    indents = [len(line) - len(line.lstrip()) for line in slides.document["code"][0]["lines"] if line.strip()]
    assert min(indents) >= 4
    assert min(begins) == begins[indents.index(min(indents))] == MARGIN + 16


def test_every_kind_of_step_has_a_slide():
    player = ad.play(not_a_number())
    for number in range(len(player)):
        assert f"step {number + 1} of {len(player)}" in texts(player.frames(number + 1, size="16:9").svg())


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_what_is_computed_stands_between_code_and_sentence(level):
    player = ad.drill(level, 1)
    slides = SlideLayout(player._content)
    for number in range(len(player)):
        *_, row, words = slides.draw(number)[0].pieces
        lowest = max((shape.y for shape in row if isinstance(shape, TextLine)), default=0.0)
        assert lowest < min(shape.y for shape in words) - WORDS


def test_why_a_line_goes_ends_within_the_listing():
    stage = {"lines": [{"text": "t1 = x * x", "state": "gone", "why": "now part of the line that reads it " * 9}]}
    why = draw_listing(stage, size_of([stage]) | {"width": 300.0})[-1]
    assert why.words.endswith("…")
    assert why.x + width_of(why.words, why.size, why.family) <= 300.0


def test_a_program_that_shrinks_has_slides():
    compiled = ad.compile(lambda x: np.sin(x) * np.sin(x))
    compiled(2.0)
    player = ad.play(compiled.program(2.0))
    said = texts(player.frames(1, size="16:9").svg())
    assert any(text and "sin" in text for text in said)


def test_the_map_of_a_narrow_graph_stands_beside_its_picture():
    def chain(x):
        return np.sin(np.cos(np.sin(np.cos(np.sin(np.cos(np.sin(np.cos(np.sin(x)))))))))

    player = ad.play(chain, 3.0)
    slides = SlideLayout(player._content)
    for number in range(len(player)):
        layers = slides.draw(number)
        (at,) = (place for place, layer in enumerate(layers) if layer.window)
        (left, _), (right, _) = ends(layers[at + 1].pieces[0][0].commands)
        assert layers[at].window.x + layers[at].window.width < left < right <= WIDTH - MARGIN


def test_all_of_a_graph_that_is_cut_is_seen_small_and_in_a_corner_without_a_tensor():
    player = ad.play(training(2))
    slides, drawn = SlideLayout(player._content), 0
    for number in range(len(player)):
        layers = slides.draw(number)
        (at,) = (place for place, layer in enumerate(layers) if layer.window)
        window, (whole, _, seen) = layers[at].window, layers[at + 1].pieces
        if not seen:
            continue
        drawn += 1
        (left, top), (right, bottom) = ends(whole[0].commands)
        assert window.x <= left < right <= window.x + window.width
        assert window.y <= top < bottom <= window.y + window.height
        for box in slides.frame(number).layout["tensors"]:
            if not box.get("hidden"):
                x, y = slides.to_slide(layers[at], (box["x"], box["y"]))
                across, down = slides.to_slide(layers[at], (box["x"] + box["width"], box["y"] + box["height"]))
                assert x >= right or across <= left or y >= bottom or down <= top
        (low, high), (across, down) = ends(seen[0].commands)
        assert left <= low < across <= right
        assert top <= high < down <= bottom
    assert drawn > len(player) / 2


def chain(x, y):
    a = x * y
    b = np.sin(a)
    c = np.exp(x)
    d = c + b
    e = d * y
    g = (e - np.log(d)) * a
    i = g + np.cos(c)
    return i * d - e * np.tanh(g)


def wide(x):
    return np.sin(x) * np.cos(x) + np.exp(x) * np.log(x) + np.tanh(x) * np.sqrt(x) + x**3


def test_a_graph_that_is_cut_has_its_width_if_it_can_and_arrows_where_it_goes_on():
    slides = SlideLayout(ad.play(chain, 1.2, 0.7)._content)
    assert slides.layout["width"] * slides.scale <= slides.room < slides.layout["width"] * FAR
    for player in (ad.play(chain, 1.2, 0.7), ad.play(wide, 0.5)):
        slides = SlideLayout(player._content)
        layers = slides.draw(0)
        (at,) = (place for place, layer in enumerate(layers) if layer.window)
        window, (shapes, _, seen) = layers[at].window, layers[at + 1].pieces
        arrows = shapes[2:] if seen else shapes
        over = slides.room / slides.scale, slides.tall / slides.scale
        sides = (
            window.left > EDGE,
            window.left + over[0] < slides.layout["width"] - EDGE,
            window.top > EDGE,
            window.top + over[1] < slides.layout["height"] - EDGE,
        )
        assert any(sides)
        assert len(arrows) == sum(sides)


def test_beside_the_current_tensor_another_one_of_its_entry_is_whole_if_both_fit():
    slides, fitting = SlideLayout(ad.play(wide, 0.5)._content), 0
    for number, step in enumerate(slides.document["steps"]):
        window = next(layer.window for layer in slides.draw(number) if layer.window)
        frame, (across, down) = slides.frame(number), (window.width / window.scale, window.height / window.scale)
        if "entry" not in step:
            continue
        entry, now = slides.document["entries"][step["entry"]], frame.layout["tensors"][frame.subject]
        others = [
            frame.layout["tensors"][each] for each in (entry["output"], *entry["inputs"]) if each != frame.subject
        ]

        def reaches(one, other, side, length):
            return max(one[side] + one[length], other[side] + other[length]) - min(one[side], other[side]) + 16

        near = [
            box
            for box in others
            if reaches(box, now, "x", "width") <= across and reaches(box, now, "y", "height") <= down
        ]
        fitting += bool(near)
        assert not near or any(
            window.left <= box["x"] <= window.left + across - box["width"]
            and window.top <= box["y"] <= window.top + down - box["height"]
            for box in near
        )
    assert fitting > 20


def test_a_graph_that_is_whole_has_no_small_one():
    layers = SlideLayout(ad.play(diamond())._content).draw(3)
    (at,) = (place for place, layer in enumerate(layers) if layer.window)
    assert layers[at + 1].pieces == ((), (), ())


def test_a_step_before_the_first_tensor_shows_where_that_will_be():
    w = ad.Variable(3.0, name="w")

    def train():
        for turn in range(2):
            with ad.GradientTape() as tape:
                loss = w * w * float(turn)
            w.assign_sub(0.1 * tape.gradient(loss, w))

    slides = SlideLayout(ad.play(train)._content)
    assert slides.document["steps"][0]["text"].endswith("turn 1 of the loop begins, with turn = 0.")
    assert slides.frame(0).subject is None
    assert slides.document["tensors"][slides.frame(0).home]["name"] == "w"


def ends(commands):
    """Return the top left and the bottom right corner of a box."""
    numbers = re.findall(r"([MHVC]) ?([\d.]+)(?: ([\d.]+))?", commands)
    across = [float(x) for command, x, _ in numbers if command in "MH"]
    down = [float(y or x) for command, x, y in numbers if command in "MV"]
    return (min(across), min(down)), (max(across), max(down))


def test_a_sum_of_a_few_numbers_is_written_in_two_lines():
    player = ad.play(lambda x: np.sum(x * np.clip(x, 0.0, 1.0)), np.array([-0.5, 0.25, 0.75, 2.0, 3.0]))
    frame = SlideLayout(player._content).frame(step_of(player, "accumulate", count=2, of=2))
    heading, (before, _, sent, _, total) = list_terms(frame)
    assert heading.endswith("contribution 2 of 2")
    texts = [term.text for term in (before, sent, total)]
    assert texts == ["[0 0.25\n0.75 1 1]", "[0 0.25\n0.75 0 0]", "[0 0.5\n1.5 1 1]"]


def test_a_small_matrix_is_written_in_rows():
    player = ad.play(lambda x: np.sum(x * x), np.array([[1.25, -2.0], [0.5, 3.0]]))
    _, terms = list_terms(SlideLayout(player._content).frame(step_of(player, "accumulate", count=2, of=2)))
    texts = [term.text.replace("\xa0", " ").split("\n") for term in terms if not term.sign]
    assert [[row.split() for row in text] for text in texts] == [
        [["1.25", "-2"], ["0.5", "3"]],
        [["1.25", "-2"], ["0.5", "3"]],
        [["2.5", "-4"], ["1", "6"]],
    ]
    assert not any(term.art for term in terms)


def test_a_vector_of_six_is_written_and_a_sum_with_a_long_name_stays_in_its_column():
    player = ad.play(lambda x: np.sum(np.concatenate([x, x * 2.0])), np.arange(6.0) + 0.125)
    slides = SlideLayout(player._content)
    _, terms = list_terms(slides.frame(step_of(player, "record", entry=0)))
    assert terms[0].text.split("\n") == ["[0.125 1.13", "2.13 3.13", "4.13 5.13]"]
    for values in (np.arange(6.0) + 0.125, np.linspace(0.1, 2.9, 12)):
        slides = SlideLayout(ad.play(lambda x: np.sum(np.concatenate([x, x * 2.0])), values)._content)
        for number in range(len(slides.document["steps"])):
            drawn = draw_terms(*list_terms(slides.frame(number)), (MARGIN, LEFT), (300.0, 510.0))
            boxes = [ends(piece.commands) for piece in drawn if not isinstance(piece, TextLine | Window)]
            assert all(right <= MARGIN + LEFT for _, (right, _) in boxes)


def lengthy(x, y):
    # one
    # two
    # three
    # four
    # five
    # six
    # seven
    # eight
    # nine
    z = x * y
    return np.sum(z * z)


@pytest.mark.parametrize("shape", [(4, 2), (2, 3), (3, 3), (4, 3)])
@pytest.mark.parametrize("program", [lambda x, y: np.sum((x * y) ** 2), lengthy])
def test_a_matrix_of_up_to_twelve_numbers_is_written_in_numbers(program, shape):
    player = ad.play(program, np.linspace(-1.23456, 2.34567, np.prod(shape)).reshape(shape), 0.333333)
    slides = SlideLayout(player._content)
    for kind in ("watch", "pull back", "record", "outcome"):
        number = step_of(player, kind, **({"entry": 0} if kind in ("pull back", "record") else {}))
        _, terms = list_terms(slides.frame(number))
        rows = [row.replace("\xa0", " ") for row in terms[-1].text.split("\n")]
        assert np.shape([row.split() for row in rows]) == shape
        said = [str(text).replace("\xa0", " ") for text in texts(player.frames(number + 1, size="16:9").svg())]
        assert {*rows} <= {*said}


def test_a_constant_is_known_before_it_arrives_and_has_no_cut_caption():
    player = ad.play(lambda x: np.sum(x * np.array([0.125, 1.25, 0.5, 1.75])), [1.0, 2.0, 3.0, 4.0])
    slides, number = SlideLayout(player._content), step_of(player, "record", entry=0)
    before, after = (list_terms(slides.frame(number, arrives), arrives)[1] for arrives in (False, True))
    assert [term.text for term in before[:3]] == [term.text for term in after[:3]]
    assert [term.caption for term in after] == ["x", "", "", "", "t1"]
    assert before[-1].text == "—"


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (4, 2), (8,), (5, 2)])
def test_a_sum_ends_above_the_sentence_and_what_is_too_wide_for_it_is_in_colours(shape):
    values = np.resize([-1.25, 2.5, 0.75, -3.25], shape)
    slides = SlideLayout(ad.play(lengthy, values, values[::-1])._content)
    top = MARGIN + 44 + slides.lines * slides.letter * PITCH + 24
    for number in range(len(slides.document["steps"])):
        drawn = draw_terms(
            *list_terms(slides.frame(number)), (MARGIN, LEFT), (top, HEIGHT - MARGIN - 6 - 90 - WORDS)
        )  # above four lines
        written = [piece for piece in drawn if isinstance(piece, TextLine)]
        assert all(top < piece.y < HEIGHT - MARGIN - 96 - WORDS and piece.size >= 20 for piece in written)
        assert not any(piece.words.endswith("…") for piece in written)
        is_product = slides.document["steps"][number].get("entry") == 0
        if is_product and slides.document["steps"][number]["kind"] == "record":
            assert any(isinstance(piece, Window) for piece in drawn) == (shape != (4, 2))


def product(x):
    b = np.where(x > 0, x**2, np.sqrt(np.abs(x)))
    return np.sum(np.clip(x, -1, 1) * b)


def test_a_long_sentence_has_the_room_that_a_short_program_leaves():
    with np.errstate(all="ignore"):
        player = ad.play(product, [-2.0, 0.0, 3.0])
    number, step = next(
        (k, step) for k, step in enumerate(player._content["trace"]["steps"], 1) if step.get("born") == "nan"
    )
    assert len(step["text"]) > 200, "too long for four lines"
    said = " ".join(texts(player.frames(number, size="16:9").svg()))
    assert " ".join(step["text"].split()) in said


def test_a_result_that_reads_like_an_operand_has_six_digits():
    player = ad.play(lambda x: np.maximum(x, 1.00004) * x, 1.00001)
    slides = SlideLayout(player._content)
    written = [term.text for term in list_terms(slides.frame(step_of(player, "record")))[1] if term.text]
    assert written == ["1.00001", "1.00004", "1.00004"]


@pytest.mark.parametrize(
    ("update", "row", "heading"),
    [
        (lambda w, slope: w.assign_sub(0.5 * slope), "3 − 0.5 · 4 = 1", "w := w − 0.5 · w̄"),
        (lambda w, slope: w.assign(w * (1 - 0.1 * slope)), "3 · ( 1 − 0.1 · 4 ) = 1.8", "w := w · (1 − 0.1 · w̄)"),
        (lambda w, slope: w.assign(np.maximum(w - slope, 0.0)), "maximum( 3 − 4 , 0 ) = 0", "w := maximum(w − w̄, 0)"),
        (lambda w, slope: w.assign(-slope), "− 4 = -4", "w := −w̄"),
    ],
)
def test_a_slide_of_an_update_has_its_formula_in_names_and_in_numbers(update, row, heading):
    w = ad.Variable(3.0, name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            loss = (w - 1.0) ** 2
        update(w, tape.gradient(loss, w))
    player = ad.play(traced)
    found, terms = list_terms(SlideLayout(player._content).frame(step_of(player, "assign")))
    assert (found, " ".join(term.sign or term.text for term in terms)) == (heading, row)


def test_a_line_of_code_with_too_many_rows_ends_in_an_ellipsis_and_a_shorter_one_is_fully_underlined():
    def short(x):
        return np.exp(-0.5 * (x - 1.0) ** 2) * np.sin(3.0 * x) + np.cos(2.0 * x) * np.tanh(x) + x * x * x * x * x

    # fmt: off
    def long(x):
        return np.exp(-0.5 * (x - 1.0) ** 2) * np.sin(3.0 * x) + np.cos(2.0 * x) * np.tanh(x) + x * x * x * x * x + np.exp(-0.5 * (x - 1.0) ** 2) * np.sin(3.0 * x) + np.cos(2.0 * x) * np.tanh(x) + x * x * x * x * x + np.exp(-0.5 * (x - 1.0) ** 2) * np.sin(3.0 * x) + np.cos(2.0 * x) * np.tanh(x) + x * x * x * x * x + np.exp(-x) * np.sin(3.0 * x)  # noqa: E501
    # fmt: on

    for function, is_cut in ((short, False), (long, True)):
        player = ad.play(function, 0.5)
        slides = SlideLayout(player._content)
        number = max(k for k, step in enumerate(player._content["trace"]["steps"]) if step["kind"] == "record")
        _, (_, *under), lines = slides.code(slides.frame(number), 0.0, 300.0)
        rows = [line for line in lines if not line.words.startswith("def")]
        assert rows[-1].words.endswith(" …") == is_cut
        ends_of_rows = [line.x + len(line.words.removesuffix(" …")) * line.size * ADVANCE for line in rows]
        assert [float(mark.commands.partition("H")[2]) for mark in under] == pytest.approx(ends_of_rows, abs=0.1)


def test_numbers_of_an_update_have_as_many_digits_as_give_its_result():
    w = ad.Variable(1.235, name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            loss = 0.5 * w * w
        w.assign_sub(0.5 * tape.gradient(loss, w))
    player = ad.play(traced)
    _, terms = list_terms(SlideLayout(player._content).frame(step_of(player, "assign")))
    assert [term.text for term in terms if not term.sign] == ["1.235", "0.5", "1.235", "0.6175"]


def test_a_box_and_a_number_that_are_nan_are_red_on_a_slide_and_the_box_has_an_exclamation_mark():
    with np.errstate(invalid="ignore"):
        player = ad.play(lambda x: np.log(x - 2.0) * 0.5, 1.0)
    before, born = (player.frames(step, size="16:9").svg() for step in (2, 3))
    assert RED not in before
    drawn = ElementTree.fromstring(born)
    red = [part for part in drawn.iter() if RED in (part.get("fill"), part.get("stroke"))]
    assert [part.text for part in red if part.tag == f"{SVG}text"] == ["nan", "nan"]
    assert [part for part in red if (part.get("stroke"), part.get("stroke-width")) == (RED, "2")]
    assert "!" in texts(born)
    assert RED in player.film(3).svg()
    assert RED in player.frames(3).svg()


@pytest.mark.parametrize(
    ("function", "at", "shown"),
    [
        (lambda x: (x / 393) ** 2 + x * 3.14159265, 0.7, ["3.17257e-06", "2.19911", "2.19912"]),
        (lambda x: np.cos(x) + x * 0.05, 0.66, ["0.790", "0.033", "0.823"]),
        (lambda x: np.sin(x) * np.cos(x), 0.5, ["0.479", "0.878", "0.421"]),
    ],
)
def test_the_boxes_at_hand_have_the_digits_of_the_sentence_and_of_the_sum(function, at, shown):
    player = ad.play(function, at)
    slides = SlideLayout(player._content)
    number = max(k for k, step in enumerate(player._content["trace"]["steps"]) if step["kind"] == "record")
    frame = slides.frame(number)
    _, terms = list_terms(frame)
    assert [term.text for term in terms if not term.sign] == shown
    entry = player._content["trace"]["entries"][-1]
    for tensor, text in zip((*entry["inputs"], entry["output"]), shown, strict=True):
        drawn = frame.box(tensor, frame.layout["tensors"][tensor])
        assert text in [shape.words for shape in drawn if isinstance(shape, TextLine)]


def test_a_box_that_the_side_of_a_slide_cuts_shows_its_name_and_no_part_of_a_number():
    x, w, b = np.arange(8.0).reshape(4, 2), ad.Variable(np.full((2, 3), -1.25)), ad.Variable([-0.125, 0.25, -0.375])
    player = ad.play(lambda: np.tanh(x @ w + b).sum())
    slides, names = SlideLayout(player._content), []
    for number in range(len(player)):
        frame = slides.frame(number)
        layer = slides.picture(frame, 0.0, 0.0)
        left, right = layer.window.left, layer.window.left + slides.room / slides.scale
        boxes = frame.layout["tensors"]
        for box, shapes in zip(boxes, layer.pieces[-len(boxes) - 1 : -1], strict=True):
            if shapes and not (left - 1 <= box["x"] and box["x"] + box["width"] <= right + 1):
                words = [shape for shape in shapes if isinstance(shape, TextLine)]
                assert [shape.words for shape in words] in ([], [box["heading"]])
                assert all(left <= shape.x <= right for shape in words)
                names.append(len(words))
    assert {*names} == {0, 1}
