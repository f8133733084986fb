"""The script and the style sheet that every page carries: light, complete, and with nothing that HTML would read."""

import re
from importlib.resources import files

import pytest

from autodiff_edu.player.bundle import PREDICTION, SHEETS, asset, script, style
from autodiff_edu.text.shared import colours, shared


def test_the_script_is_in_one_piece_that_starts_every_player_of_a_page():
    text = script()
    assert not re.search(r"\bimport\b[^.]*from|\bimport\(", text)
    assert not text.startswith("//"), "the line that says what made it is for those who read the sources"
    assert "data-autodiff-player" in text
    assert text.startswith("(()=>{"), "another build beside it has the same names"


@pytest.mark.parametrize("name", ["player", "prediction"])
def test_the_script_can_stand_in_a_page(name):
    assert not re.search(r"</script|<!--|<script", script(name), re.IGNORECASE)


def test_a_question_s_script_has_none_of_the_player_s_texts():
    text = script("prediction")
    assert "Show me" in text
    assert "cotangent" not in text
    assert set(PREDICTION) - {"prediction"} < set(SHEETS), "it looks as the player does"


def test_of_what_python_and_the_scripts_share_the_script_has_what_it_uses():
    text = script()
    assert "plain_value" in text
    assert not [value for value in colours().values() if isinstance(value, list) and value[0] in text]
    assert shared()["format"] not in text


def test_every_style_sheet_is_in_every_page():
    there = {path.name.removesuffix(".css") for path in (files("autodiff_edu.player") / "css").iterdir()}
    assert sorted(SHEETS) == sorted(there - {"prediction"}), "which is for questions that stand alone"
    assert SHEETS[-1] == "media", "it overrides the others"


@pytest.mark.parametrize("name", [*SHEETS, "prediction"])
def test_a_style_sheet_loses_only_white_space_comments_and_last_semicolons(name):
    bare = re.sub(r"/\*.*?\*/", "", asset(f"css/{name}.css"), flags=re.DOTALL)
    bare = re.sub(r";(?=})", "", re.sub(r"\s", "", bare))
    sheet = style(PREDICTION if name == "prediction" else SHEETS)
    assert bare in re.sub(r"\s", "", sheet)
    assert "/*" not in sheet
