"""Outputs are compared as a person sees them: strictly, but for digits that no two processors agree on."""

import base64
import copy
import io
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imsave
from repack import repack

import autodiff_edu as ad
from autodiff_edu.course.tools.differences import differences, look_alike, same_html
from autodiff_edu.player.html import fragment
from autodiff_edu.player.packing import pack
from autodiff_edu.player.prediction import fragment as prediction
from autodiff_edu.player.prediction import seal
from autodiff_edu.player.unpacking import content_of
from autodiff_edu.text.shared import shared

CHAPTER = Path(__file__).parents[2] / "notebooks" / "02-backward.ipynb"


def stream(text, name="stdout"):
    return [{"output_type": "stream", "name": name, "text": text}]


def display(**data):
    return [{"output_type": "display_data", "metadata": {}, "data": {k.replace("_", "/"): v for k, v in data.items()}}]


def found(stored, shown):
    return list(differences(stored, shown))


def player(content):
    return display(
        text_html=fragment(pack(content), 0, "1. The tape watches x, which is 1.", ("<svg></svg>", "x is 1"))
    )


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("loss 0.6931", "loss 0.6932"),
        ("loss 0.6931", "loss 0.6930"),
        ("-1.500 and 2e-16", "-1.501 and 3e-16"),
        ("1e-05", "9.9e-06"),
        ("[0.31 1.  ]", "[0.32 0.99]"),
        ("[1. 2.]", "[0.9999999 2.       ]"),
        ("[[1. 2.]\n [3. 4.]]", "[[1.        2.       ]\n [3.        3.9999999]]"),
        ("[0. 1.]", "[-0.  1.]"),
        ("-0.0", "0.0"),
        ("1.5+2.50j", "1.5+2.51j"),
        ("(0.25, 3)", "(0.26, 3)"),
        ("M 1.5,2.25 L 3", "M 1.6,2.26 L 3"),
        ("x is 3.5.", "x is 3.4."),
    ],
)
def test_the_last_digit_printed_may_differ_by_one(stored, shown):
    assert found(stream(stored), stream(shown)) == []
    assert found(stream(shown), stream(stored)) == []


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("loss 0.6931", "loss 0.6933"),
        ("loss 0.6931", "loss 0.69"),
        ("1.5e-16", "1.7e-16"),
        ("1e-16", "1e-15"),
        ("10 steps", "11 steps"),
        ("x is 3.", "x is 4."),
        ("[1. 2.]", "[1. 3.]"),
        ("2", "2.0"),
        ("0.5", "-0.5"),
        ("x - 0.50", "x + 0.50"),
        ("version 1.2.3", "version 1.2.4"),
        ("192.0.2.1", "192.0.2.2"),
        ("nan 0.5", "inf 0.5"),
        ("0.5 is right", "0.5 is wrong"),
        ("0.5 is right", "0.5 is"),
        ("a  b", "a b"),
        ("  return 0.51", "return 0.52"),
        ("  x = 0.5", "x = 0.50"),
        ("one\ntwo", "one"),
        ("one\ntwo", "one\n"),
    ],
)
def test_everything_else_is_a_difference(stored, shown):
    assert found(stream(stored), stream(shown))
    assert found(stream(shown), stream(stored))


def test_a_difference_is_said_with_its_place_and_both_sides():
    stored, shown = "a\nthe loss is 0.50 now\nb", "a\nthe loss is 0.70 now\nb"
    (said,) = found(stream(stored), stream(shown))
    assert said == "stdout, line 2: 'the loss is 0.50 now' is stored, 'the loss is 0.70 now' was shown"
    (said,) = found(stream("x" * 500 + " 0.5"), stream("x" * 500 + " 0.7"))
    assert len(said) < 150
    assert "0.5' is stored" in said


def test_what_is_written_in_pieces_is_one_text_and_a_warning_is_a_difference():
    assert found(stream("ab"), stream("a") + stream("b")) == []
    assert found(stream(["a\n", "b"]), stream("a\nb")) == []
    assert found([], stream("a", "stderr")) == ["outputs: nothing stored, stderr shown"]
    assert found(stream("a"), []) == ["outputs: stdout stored, nothing shown"]
    assert found(display(text_plain="a"), display(text_plain="a", text_html="a"))


def test_errors_are_compared_by_their_name_and_sentence_and_not_by_their_traceback():
    def error(evalue, traceback="x", ename="ValueError"):
        return [{"output_type": "error", "ename": ename, "evalue": evalue, "traceback": [traceback]}]

    assert found(error("a"), error("a", "y")) == []
    assert found(error("a"), error("b"))
    assert found(error("a"), error("a", ename="TypeError"))


# Players and predictions --------------------------------------------------------------------------------------------


def content(**changes):
    empty = {"version": shared()["version"], "steps": [], "tensors": [], "entries": []}
    return {"trace": {**empty, **changes}, "layout": {}, "css": ""}


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ([1.0, 1000.0], [1.0 + 9e-7, 1000.0]),
        ([[1.0, 1000.0], [0.0, 0.0]], [[1.0, 1000.0], [0.0, 9e-7]]),
        (0.3, 0.30000000000000004),
        ({"a": "is 0.693147"}, {"a": "is 0.693148"}),
        ([1.0, "nan"], [1.0 + 1e-12, "nan"]),
        (-2412.92, -2412.93),
        ([0.333333, 1e-3], [0.333334, 1e-3]),
        (0.936999, 0.937),
    ],
)
def test_numbers_of_a_document_are_equal_to_within_a_billionth_of_the_largest_in_their_array(stored, shown):
    assert found(player(content(x=stored)), player(content(x=shown))) == []


@pytest.mark.parametrize(
    ("stored", "shown", "said"),
    [
        (-1.92, 1.92, "trace.x: -1.92 is stored, 1.92 was shown"),
        ([[0.5, -1.92]], [[0.5, 1.92]], "trace.x[0][1]: -1.92 is stored, 1.92 was shown"),
        ([1.0, 1000.0], [1.0 + 2e-6, 1000.0], "trace.x[0]: 1 is stored, 1.000002 was shown"),
        ([{"a": 1.0}, {"a": 1e6}], [{"a": 1.0001}, {"a": 1e6}], "trace.x[0].a: 1 is stored, 1.0001 was shown"),
        (-2412.92, -2412.94, "trace.x: -2412.92 is stored, -2412.94 was shown"),
        (0.5, 0.6, "trace.x: 0.5 is stored, 0.6 was shown"),
        (1.0, 1.0001, "trace.x: 1 is stored, 1.0001 was shown"),
        (1.0, 1.000001, "trace.x: 1 is stored, 1.000001 was shown"),
        (
            {"code": "rate = 0.1"},
            {"code": "rate = 0.2"},
            "trace.x.code: 'rate = 0.1' is stored, 'rate = 0.2' was shown",
        ),
        (0.5, 0.5000005, "trace.x: 0.5 is stored, 0.5000005 was shown"),
        (0.0, 1e-6, "trace.x: 0 is stored, 1e-06 was shown"),
        (3, 4, "trace.x: 3 is stored, 4 was shown"),
        ([3, 10**12], [4, 10**12], "trace.x[0]: 3 is stored, 4 was shown"),
        (True, 1, "trace.x: True is stored, 1 was shown"),
        (1.0, "nan", "trace.x: 1 is stored, 'nan' was shown"),
        ([1.0], [1.0, 2.0], "trace.x: 1 item stored, 2 items shown"),
        ({"a": 1}, {"b": 1}, "trace.x.a was not shown"),
        ("the sum", "the product", "trace.x: 'the sum' is stored, 'the product' was shown"),
        (None, 0, "trace.x: None is stored, 0 was shown"),
    ],
)
def test_other_data_are_a_difference_that_is_named(stored, shown, said):
    assert found(player(content(x=stored)), player(content(x=shown)))[0] == said
    assert found(player(content(x=shown)), player(content(x=stored)))


def test_the_picture_the_transcript_and_the_script_of_a_player_are_compared_too():
    page = fragment(pack(content()), 0, "x is 1 at last", picture=('<svg><path d="M1.50 2H3Z"/></svg>', "x is 1"))

    def against(before, after):
        assert before in page
        return found(display(text_html=page), display(text_html=page.replace(before, after)))

    assert against("x is 1 at last", "x is 2 at last")[0].startswith("text/html")
    assert against('alt="x is 1"', 'alt="x is 2"') == ["text/html <img> alt: 'x is 1' is stored, 'x is 2' was shown"]
    script = repack(page, "globalThis.document", "globalThis.documents")
    assert found(display(text_html=page), display(text_html=script))[0].startswith("text/html script: ")
    for drawn, same in (("M1.51 2H3Z", True), ("M1.50 2H4Z", False), ("M1.53 2H3Z", False)):
        svg = f'<svg><path d="{drawn}"/></svg>'
        other = fragment(pack(content()), 0, "x is 1 at last", picture=(svg, "x is 1"))
        assert (found(display(text_html=page), display(text_html=other)) == []) is same


def test_other_bytes_of_the_same_data_and_of_the_same_script_are_not_a_difference():
    page = fragment(pack(content(x=1.5)), 0, "x is 1.5")
    assert found(display(text_html=page), display(text_html=repack(page))) == []
    assert same_html(page, repack(page))
    assert not same_html(page, repack(page, '"x"', '"y"'))
    assert not same_html(page, repack(page, "globalThis.document", "globalThis.documents"))
    assert not same_html(page, fragment(pack(content(x=1.5 + 1e-15)), 0, "x is 1.5")), "to no precision, but exactly"


def test_what_another_release_has_packed_is_a_difference():
    page = fragment(pack(content(x=1.5)), 0, "x is 1.5")
    other = '{"version":4,"content":"{!##?#0}"}'
    older = page[: page.index('{"version"')] + other + page[page.index("</script>") :]
    assert found(display(text_html=older), display(text_html=page))
    assert found(display(text_html=older), display(text_html=older)) == []
    assert not same_html(older, page)


def test_a_prediction_is_unsealed():
    def asked(**answer):
        return display(text_html=prediction(seal("What is x?", "number", (), hints={}, **answer)))

    assert found(asked(right="4", within=0.01), asked(right="4", within=0.01 + 1e-13)) == []
    assert found(asked(right="4.1"), asked(right="4.2")) == ["sealed.right: '4.1' is stored, '4.2' was shown"]


def png(pixels):
    file = io.BytesIO()
    imsave(file, pixels)
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize(("shades", "alike"), [(0, True), (8, True), (9, False), (-9, False)])
def test_pictures_are_compared_as_they_look(shades, alike):
    grey = np.full((5, 4, 3), 100, np.uint8)
    other = grey.copy()
    other[2, 1] += np.int8(shades).astype(np.uint8)
    assert look_alike(png(grey), png(other)) is alike
    said = [] if alike else ["image/png: the picture looks different"]
    assert found(display(image_png=png(grey)), display(image_png=png(other) + "\n")) == said


def test_pictures_of_different_sizes_are_not_alike():
    assert not look_alike(png(np.zeros((5, 4, 3))), png(np.zeros((1, 4, 3))))


# A whole chapter -----------------------------------------------------------------------------------------------------


def outputs():
    cells = json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def planted(before, after):
    """Compare all outputs of a chapter with themselves, where one printed text was changed."""
    said = []
    for stored in outputs():
        shown = copy.deepcopy(stored)
        for output in shown:
            if output["output_type"] == "stream":
                text = "".join(output["text"])
                output["text"] = text.replace(before, after, 1)
                said.append(text != output["text"])
        said += found(stored, shown)
    assert True in said, f"{before!r} is not printed"
    return [line for line in said if isinstance(line, str)]


def test_a_chapter_is_the_same_as_itself():
    assert [found(stored, copy.deepcopy(stored)) for stored in outputs()] == [[] for _ in outputs()]


def test_two_units_in_the_last_digit_a_whole_number_and_a_word_are_found_in_a_chapter():
    printed = "".join(
        "".join(output["text"]) for cell in outputs() for output in cell if output["output_type"] == "stream"
    )
    assert "0.909297" in printed
    assert planted("0.909297", "0.909298") == []
    assert planted("0.909297", "0.909299") != []
    assert planted("entry", "entries") != []
    assert planted("line 3  t = sin(x)", "line 4  t = sin(x)") != []


def test_a_millionth_of_a_number_of_a_step_is_found_in_a_chapter():
    html = next(
        "".join(output["data"]["text/html"])
        for cell in outputs()
        for output in cell
        if "data-autodiff-player" in "".join(output.get("data", {}).get("text/html", ""))
    )
    changed = content_of(html)
    step = next(step for step in changed["trace"]["steps"] if step["kind"] == "accumulate")
    index = changed["trace"]["steps"].index(step)

    def against(factor):
        step["contribution"] = {**step["contribution"], "data": np.multiply(number, factor).tolist()}
        return found(player(content_of(html)), player(changed))

    number = step["contribution"]["data"]
    assert against(1 + 1e-12) == []
    (said,) = against(1 + 1e-6)
    assert said.startswith(f"trace.steps[{index}].contribution.data")


def test_a_player_of_another_run_differs_in_its_steps():
    def play(times):
        def power(x):
            for _ in range(times):
                x = x * x
            return x

        return display(text_html=ad.play(power, 2.0)._repr_mimebundle_()["text/html"])

    assert found(play(2), play(2)) == []
    assert any(said.startswith("trace.steps: ") for said in found(play(2), play(3)))
