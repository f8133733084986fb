"""Mouse, keys, speed and predict mode; and documents that a player refuses, or shows although they are odd."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import HOSTILE, diamond

import autodiff_edu as ad
from autodiff_edu.player import Player
from autodiff_edu.player.parts import Written
from autodiff_edu.text.shared import shared
from browser.following import only, read, saved


def cubic() -> ad.Trace:
    """z = x x (x + 2) at 3: what arrives, what is added and what is there are all different numbers."""
    x, two = ad.Variable(3.0, name="x"), ad.constant(2.0, name="two")
    with ad.trace("cubic") as traced:
        with ad.GradientTape() as tape:
            y = x * x
            w = x + two
            z = y * w
        slope = tape.gradient(z, x)
    assert float(slope) == 39.0
    return traced


def rows() -> ad.Trace:
    x, y = ad.Variable(np.arange(6.0).reshape(2, 3), name="x"), ad.Variable([1.0, 2.0, 3.0], name="y")
    with ad.trace("rows") as traced:
        with ad.GradientTape() as tape:
            z = x * y
            total = np.sum(z)
        tape.gradient(total, y)
    return traced


class Predicting:
    """A player in predict mode, and the trace it shows."""

    def __init__(self, open_tab: Any, traced: ad.Trace, folder: Path) -> None:
        self.tab = open_tab(saved(traced, folder))
        self.player, self.expected = only(self.tab), read(traced)
        self.root = self.player.root
        self.player.click("predict")

    def find(self, kind: str, nth: int = 0, **wanted: Any) -> int:
        found = [
            number
            for number, step in enumerate(self.expected.steps)
            if step["kind"] == kind and all(step[key] == value for key, value in wanted.items())
        ]
        return found[nth]

    def is_asked(self, number: int) -> None:
        """Go to the step before, and on, to where the question is."""
        self.root.locator("input[type=range]").fill(str(number - 1))
        self.player.stands_at(number - 1)
        self.player.click("next")
        assert self.root.locator(".question").is_visible()
        self.player.agrees(self.expected, number - 1)  # nothing of the step is on show yet

    def answers(self, number: int, text: str) -> str:
        self.is_asked(number)
        self.root.page.keyboard.type(text)
        self.player.press("Enter")
        return self.verdict

    @property
    def verdict(self) -> str:
        return str(self.root.locator(".verdict").text_content())


@pytest.fixture
def predict(open_tab: Any, tmp_path: Path) -> Any:
    return lambda traced: Predicting(open_tab, traced, tmp_path)


def test_a_player_is_paused_at_first(open_tab: Any, tmp_path: Path) -> None:
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(saved(diamond(), tmp_path))
    tab.page.clock.run_for(5000)
    only(tab).stands_at(0)


@pytest.mark.parametrize(("speed", "steps"), [("0.5", 2), ("1", 4), ("2", 8)])
def test_the_speed_says_how_long_a_step_stays(speed: str, steps: int, open_tab: Any, tmp_path: Path) -> None:
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(saved(diamond(), tmp_path))
    tab.page.clock.pause_at(time.time() + 3600)  # else the time that the test itself takes counts too
    player = only(tab)
    player.root.get_by_role("combobox", name="Speed").select_option(speed)
    player.click("play")
    tab.page.clock.run_for(4100)
    assert int(player.root.get_attribute("data-step")) == steps


def test_the_speed_can_be_changed_while_it_plays(open_tab: Any, tmp_path: Path) -> None:
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(saved(diamond(), tmp_path))
    tab.page.clock.pause_at(time.time() + 3600)  # else the time that the test itself takes counts too
    player = only(tab)
    player.click("play")
    tab.page.clock.run_for(1100)
    player.root.get_by_role("combobox", name="Speed").select_option("4")
    tab.page.clock.run_for(1100)
    player.stands_at(5)
    player.press("ArrowUp")  # on the speed, which has the focus: a speed, not a step
    player.stands_at(5)
    tab.is_quiet()


def test_the_keys_with_a_modifier_are_the_browsers(open_tab: Any, tmp_path: Path) -> None:
    player = only(open_tab(saved(diamond(), tmp_path)))
    player.root.focus()
    for key in ("Shift+ArrowRight", "Control+ArrowRight", "Control+End"):
        player.press(key)
    player.stands_at(0)
    player.press("Space")
    assert player.root.get_by_role("button", name="Pause", exact=True).count() == 1


def test_the_turning_points_stand_at_the_scrubber(open_tab: Any, tmp_path: Path) -> None:
    traced = diamond()
    player = only(open_tab(saved(traced, tmp_path)))
    turns = player.root.locator(".turn")
    assert turns.count() == 1
    seed = next(n for n, step in enumerate(read(traced).steps) if step["kind"] == "seed")
    assert turns.get_attribute("data-turn") == str(seed)


def test_every_question_is_answered_right_by_what_the_trace_says(predict: Any) -> None:
    at = predict(cubic())
    asked = 0
    for number in range(1, len(at.expected)):
        at.player.click("next")
        if at.root.locator(".question").is_visible():
            asked += 1
            step = at.expected.steps[number]
            at.player.agrees(at.expected, number - 1)
            answer = step["after" if step["kind"] == "accumulate" else "cotangent"]["data"]
            at.root.page.keyboard.type(f"{answer}")
            at.player.press("Enter")
            assert at.verdict.startswith("Right")
        at.player.agrees(at.expected, number)
    kinds = [step["kind"] for step in at.expected.steps]
    assert asked == kinds.count("pull back") + kinds.count("accumulate") > 0
    at.tab.is_quiet()


def test_each_known_mistake_has_its_hint(predict: Any) -> None:
    at = predict(cubic())
    x = at.expected.document["tensors"].index(next(t for t in at.expected.document["tensors"] if t["name"] == "x"))
    second = at.find("accumulate", 1, tensor=x)
    step = at.expected.steps[second]
    before, added, after = (step[part]["data"] for part in ("before", "contribution", "after"))
    g = next(s["cotangent"]["data"] for s in reversed(at.expected.steps[:second]) if s["kind"] == "pull back")
    local = added / g
    assert len({added, after, local, before + local}) == 4
    for answer, hint in {
        added: "You replaced what was there",
        local: f"The cotangent that arrived, {g:g}, multiplies the local derivative",
        before + local: f"The cotangent that arrived, {g:g}, multiplies the local derivative",
    }.items():
        said = at.answers(second, f"{answer}")
        assert said.startswith(f"Not quite: it is {step['after']['text']}")
        assert hint in said
        at.player.agrees(at.expected, second)
    said = at.answers(second, "123456")
    assert said == f"Not quite: it is {step['after']['text']}."
    pull = at.find("pull back", 1)
    entry = at.expected.document["entries"][at.expected.steps[pull]["entry"]]
    value = at.expected.document["tensors"][entry["output"]]["value"]["data"]
    assert "the question is about its cotangent" in at.answers(pull, f"{value}")


def test_shapes_are_asked_of_arrays(predict: Any) -> None:
    at = predict(rows())
    y = next(i for i, tensor in enumerate(at.expected.document["tensors"]) if tensor["name"] == "y")
    to_y = at.find("accumulate", tensor=y)
    for right in ("(3,)", "3", " [3] ", "(3)"):
        assert at.answers(to_y, right).startswith("Right")
    assert "That is the shape of the output, (2, 3)" in at.answers(to_y, "2x3")
    z = at.find("accumulate", 0, before=None)
    for right in ("(2, 3)", "2x3", "2×3", "2, 3", "[2,3]", "2 3"):
        assert at.answers(z, right).startswith("Right")
    assert at.answers(z, "6") == "Not quite: it is (2, 3)."
    record = at.find("record")
    assert at.answers(record, "(2, 3)").startswith("Right")


@pytest.mark.parametrize("answer", ["1/3", "0.333", ".3333", "0,333", "3.33e-1", "−1/-3", " 1 / 3 "])
def test_a_number_may_be_written_in_many_ways(answer: str, predict: Any) -> None:
    x = ad.Variable(1.0, name="x")
    with ad.trace("a third") as traced:
        with ad.GradientTape() as tape:
            y = x / 3.0
        tape.gradient(y, x)
    at = predict(traced)
    assert at.answers(at.find("accumulate"), answer).startswith("Right")


def test_what_is_no_answer_gets_a_sentence_and_nothing_is_shown(predict: Any) -> None:
    at = predict(cubic())
    number = at.find("accumulate")
    at.is_asked(number)
    for typed in ("", "   ", "a lot", "(2, 3)", "1/2/3", HOSTILE, "9" * 40 + "x", "NaN(3)", "__proto__"):
        at.root.locator(".predict input").fill(typed)
        at.player.press("Enter")
        assert at.verdict.startswith("Nothing is typed yet" if not typed.strip() else "“")
        at.player.agrees(at.expected, number - 1)
    assert at.root.locator("img").count() == 0
    at.player.click("reveal")
    at.player.agrees(at.expected, number)
    assert at.verdict == f"It is {at.expected.steps[number]['after']['text']}."
    at.tab.is_quiet()


def test_a_question_is_withdrawn_by_going_elsewhere(predict: Any) -> None:
    at = predict(cubic())
    number = at.find("accumulate")
    at.is_asked(number)
    at.player.click("next")  # a question is not passed by asking again
    at.player.agrees(at.expected, number - 1)
    at.player.press("ArrowRight")  # in the field: a key of the field
    at.player.agrees(at.expected, number - 1)
    at.player.click("previous")
    at.player.agrees(at.expected, number - 2)
    assert not at.root.locator(".question").is_visible()
    at.is_asked(number)
    at.player.click("predict")  # no more questions
    assert not at.root.locator(".predict").is_visible()
    at.player.click("next")
    at.player.agrees(at.expected, number)


def test_after_an_answer_enter_goes_on(predict: Any) -> None:
    at = predict(cubic())
    number = at.find("accumulate")
    at.answers(number, "1")
    at.player.press("Enter")  # the button "next" has the focus
    if at.root.locator(".question").is_visible():
        at.player.agrees(at.expected, number)
    else:
        at.player.agrees(at.expected, number + 1)


def test_playing_stops_at_a_question(open_tab: Any, tmp_path: Path) -> None:
    traced = cubic()
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(saved(traced, tmp_path))
    player = only(tab)
    player.click("predict")
    player.click("play")
    tab.page.clock.run_for(60_000)
    first = next(n for n, step in enumerate(read(traced).steps) if step["kind"] == "pull back")
    player.agrees(read(traced), first - 1)
    assert player.root.locator(".question").is_visible()
    assert player.root.get_by_role("button", name="Play", exact=True).count() == 1


def changed(folder: Path, **parts: Any) -> str:
    """A page of a document in which some parts are others."""
    path = folder / "changed.html"
    path.write_text(Player(Written(diamond().document() | parts)).page(), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("version", [0, 99, None, "2", "<b>"])
def test_a_document_of_another_version_is_refused_in_words(version: Any, open_tab: Any, tmp_path: Path) -> None:
    # What Python refuses may still stand in a saved notebook, beside the script of another release.
    path = tmp_path / "other.html"
    other = json.dumps(version).replace("<", "\\u003c")
    path.write_text(
        ad.play(diamond()).page().replace(f'"version":{shared()["version"]}', f'"version":{other}', 1), encoding="utf-8"
    )
    tab = open_tab(path.as_uri())
    message = tab.page.get_by_role("alert").text_content()
    assert f"version {'unknown' if version is None else version}" in message
    assert "run the cell again" in message
    assert tab.page.locator("pre").is_visible()  # the transcript
    assert tab.page.locator("button").count() == 0
    tab.is_quiet()


def test_a_document_without_steps_says_so(open_tab: Any, tmp_path: Path) -> None:
    tab = open_tab(changed(tmp_path, steps=[], entries=[], tensors=[], code=[], tapes=[]))
    player = only(tab)
    assert player.root.locator(".sentence").text_content() == "Nothing was recorded."
    for action in ("next", "play", "last", "first", "previous", "predict", "next"):
        player.click(action)
        player.stands_at(0)
    tab.is_quiet()


def test_a_broken_player_does_not_keep_the_others_from_starting(open_tab: Any, tmp_path: Path) -> None:
    broken = ad.play(diamond()).html().replace('{"version":', "{no JSON", 1)
    path = tmp_path / "two.html"
    path.write_text(f"<!DOCTYPE html><title>two</title>{broken}{ad.play(diamond()).html()}", encoding="utf-8")
    tab = open_tab(path.as_uri())
    only(tab).stands_at(0)
    assert tab.page.locator("pre").first.is_visible()  # the transcript of the one that is broken


def odd_values() -> ad.Trace:
    parts = {
        "nan": [np.nan, 1.0],
        "infinite": np.inf,
        "complex": 1.0 + 2.0j,
        "empty": np.zeros((0, 3)),
        "four axes": np.ones((2, 1, 3, 2)),
        "x" * 10_000: 1.0,
        HOSTILE: 2.0,
        "</script><script>window.hacked = true</script>": [[1.0, 2.0]],
    }
    variables = [ad.Variable(value, name=name) for name, value in parts.items()]
    with ad.trace(f"{HOSTILE}</script>" + "y" * 10_000) as traced:
        for variable in variables:
            with ad.GradientTape() as tape:
                product = variable * variable
            tape.gradient(product, variable)
    return traced


@pytest.mark.parametrize("width", [375, 1200])
def test_odd_names_and_values_are_drawn(width: int, open_tab: Any, tmp_path: Path) -> None:
    traced = odd_values()
    tab = open_tab(saved(traced, tmp_path), viewport={"width": width, "height": 900})
    player = only(tab)
    player.click("predict")
    for number in range(len(traced)):
        player.stands_at(number)
        player.fits()
        player.click("next")
        if player.root.locator(".question").is_visible():
            player.fits()
            player.root.page.keyboard.type("7")
            player.press("Enter")
    assert player.root.locator("img, script").count() == 0
    assert tab.page.evaluate("window.hacked") is None
    tab.is_quiet()


def test_the_version_that_is_drawn_is_the_version_that_is_written(open_tab: Any, tmp_path: Path) -> None:
    assert json.loads(diamond().to_json())["version"] == shared()["version"]
    only(open_tab(saved(diamond(), tmp_path))).stands_at(0)
