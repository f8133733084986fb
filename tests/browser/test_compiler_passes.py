"""A program that its passes shrink, as a file: each stage as in the document, its question, and everybody's access."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import HOSTILE

import autodiff_edu as ad
from browser.player_page import Shown, violations_in_both_schemes

STAGE = """root => ({
  sentence: root.querySelector(".sentence").textContent,
  lines: [...root.querySelectorAll(".listing tr")].map((row) => {
    const { state } = row.dataset;
    const [code, note] = [...row.querySelectorAll("td")].map((cell) => cell.textContent);
    return state ? [code, note, state] : [code, note];
  }),
  struck: [...root.querySelectorAll(".listing del")].map((one) => one.textContent),
  now: [...root.querySelectorAll(".stages [aria-current]")].map((one) => one.dataset.stageName),
  empty: root.querySelectorAll(".code, .tape, .graph, .panel").length,
})"""


def step(start: Any, rate: Any, size: Any) -> Any:
    def loss(start: Any, rate: Any) -> Any:
        hours, readings = np.array([0.0, 0.5, 1.0]), np.array([0.7, 0.3, 0.1])
        return np.mean((start * np.exp(-rate * hours) - readings) ** 2)

    slopes = ad.grad(loss, argnums=(0, 1))(start, rate)
    return start - size * slopes[0], rate - size * slopes[1], loss(start, rate)


@pytest.fixture
def opened(visit: Any, tmp_path: Path) -> Any:
    def opened(**options: Any) -> tuple[Any, Shown, dict[str, Any]]:
        player = ad.play(ad.compile(step).program(0.5, 1.0, 0.5))
        player.save(tmp_path / "player.html")
        tab = visit((tmp_path / "player.html").as_uri(), **options)
        return tab, Shown(tab.page.locator("section.player")), player._content["trace"]

    return opened


def test_each_stage_is_that_of_the_document(opened: Any) -> None:
    tab, shown, document = opened()
    shown.root.focus()
    for number, (told, stage) in enumerate(zip(document["steps"], document["compiling"], strict=True)):
        shown.stands_at(number)
        seen = shown.root.evaluate(STAGE)
        lines = stage["lines"]
        kept = [
            [line["text"], line.get("why", line["remark"]), *([line["state"]] if "state" in line else [])]
            for line in lines
        ]
        assert seen["lines"] == kept
        assert seen["struck"] == [line["text"].strip() for line in lines if line.get("state") == "gone"]
        assert (seen["sentence"], seen["now"], seen["empty"]) == (told["text"], [stage["name"]], 0)
        shown.press("ArrowRight")
    shown.root.locator('[data-stage-name="shared"]').click()
    shown.stands_at(3)
    assert shown.root.locator(".listing del").first.is_visible()
    tab.is_quiet()
    assert len(tab.requests) == 1


def test_predict_asks_how_many_lines_a_pass_takes_out(opened: Any) -> None:
    tab, shown, document = opened()
    shown.click("predict")
    shown.click("next")
    shown.stands_at(0)
    assert "Next, “unused” takes out what nothing needs. How many lines" in shown.root.locator(".prompt").text_content()
    shown.root.locator(".predict input").fill("7")
    shown.click("check")
    assert "Read the program from its end" in shown.root.locator(".verdict").text_content()
    shown.root.locator(".predict input").fill("2")
    shown.click("check")
    shown.stands_at(1)
    gone = [line["text"].strip() for line in document["compiling"][1]["lines"] if line.get("state") == "gone"]
    names = ", ".join(line.split(" = ")[0] for line in gone)
    assert f"It takes out {names}." in shown.root.locator(".verdict").text_content()
    counts = shown.root.locator(".stages b")
    assert [count.is_visible() for count in counts.all()] == [True, True, *[False] * (counts.count() - 2)]
    asked = []
    for number in range(2, len(document["steps"])):
        shown.click("next")
        if shown.root.locator(".question").is_visible():
            asked.append(document["compiling"][number]["name"])
            shown.click("reveal")
        shown.stands_at(number)
    assert asked == [one["name"] for one in document["compiling"][2:] if any("why" in line for line in one["lines"])]
    tab.is_quiet()


def test_it_can_be_read_by_everybody(opened: Any) -> None:
    tab, shown, _ = opened(viewport={"width": 1280, "height": 720})
    for name in ("recorded", "shared", "joined"):
        shown.root.locator(f'[data-stage-name="{name}"]').click()
        assert violations_in_both_schemes(shown.root) == []
    shown.press("f")
    assert violations_in_both_schemes(shown.root) == []
    tab.is_quiet()


def test_it_fits_a_telephone(opened: Any) -> None:
    _, shown, _ = opened(viewport={"width": 375, "height": 800})
    shown.root.locator('[data-stage-name="shared"]').click()
    shown.fits()
    shown.legible()
    assert shown.root.locator(".listing del").first.is_visible()


def test_names_are_texts_and_not_markup(visit: Any, tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return x * 2.0

    f.__name__ = HOSTILE
    ad.play(ad.compile(f).program(1.0)).save(tmp_path / "player.html")
    tab = visit((tmp_path / "player.html").as_uri())
    assert tab.page.locator(".listing").count() == 1
    assert tab.page.evaluate("window.hacked") is None
    tab.is_quiet()


def test_without_scripts_it_is_a_picture_and_a_transcript(opened: Any) -> None:
    tab, _, document = opened(java_script_enabled=False)
    assert tab.page.locator("pre").text_content().count("\n") == len(document["steps"]) - 1
    assert tab.page.locator("img").bounding_box()["height"] > 200
