"""Stage mode: the player fills the screen, readable from the last row, and goes back to where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs import broadcasting, diamond, network

from browser.player_page import only, save_page

SCREEN = {"width": 1280, "height": 720}
REFUSE = "() => { Element.prototype.requestFullscreen = () => Promise.reject(new TypeError('refused')); }"


@pytest.fixture(params=["full screen", "refused"])
def stage(request: Any, visit: Any, tmp_path: Path) -> Any:
    tab = visit(save_page(broadcasting(), tmp_path), viewport=SCREEN)
    if request.param == "refused":
        tab.page.evaluate(REFUSE)
    tab.refused = request.param == "refused"
    return tab


def enter(tab: Any) -> Any:
    player = only(tab)
    player.root.focus()
    player.press("f")
    tab.page.wait_for_function(
        "() => document.fullscreenElement || document.querySelector('[data-autodiff-player]')"
        ".shadowRoot.querySelector('section').matches(':popover-open')"
    )
    return player


def test_it_fills_the_screen_and_leaves_as_it_came(stage: Any) -> None:
    player = only(stage)
    before = player.root.bounding_box()
    enter(stage)
    player.measures(x=0, y=0, **SCREEN)
    assert stage.page.evaluate("() => document.fullscreenElement === null") is stage.refused
    player.press("Escape")
    stage.page.wait_for_function("() => !document.fullscreenElement")
    assert player.root.get_attribute("data-stage") is None
    player.measures(x=before["x"], width=before["width"])
    stage.is_quiet()


def test_sentence_code_and_numbers_have_20_pixels_or_more_and_are_seen_together_at_every_step(stage: Any) -> None:
    player = enter(stage)
    player.measures(x=0, y=0, **SCREEN)
    read = """root => [
      [".sentence", ".code:not(.program)", ".panel"].map((part) => root.querySelector(part).getBoundingClientRect()),
      [".sentence", ".code [data-lit] code", ".panel .body .value", ".accumulator .array"].flatMap((part) =>
        [...root.querySelectorAll(part)].filter((shown) => shown.checkVisibility() && shown.getClientRects().length)
          .map((shown) => parseFloat(getComputedStyle(shown).fontSize))),
    ]"""
    for boxes, sizes in player.at_every_step(read):
        for box in boxes:
            assert box["left"] >= 0
            assert box["right"] <= SCREEN["width"]
            assert box["top"] >= 0
            assert box["bottom"] <= SCREEN["height"]
        assert len(sizes) > 1
        assert min(sizes) >= 20
    stage.is_quiet()


def test_a_presenter_s_remote_turns_the_steps_on_stage_alone(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(diamond(), tmp_path), viewport=SCREEN)
    player = only(tab)
    player.root.focus()
    player.press("PageDown")
    player.stands_at(0)
    enter(tab)
    player.press("PageDown")
    player.press("PageDown")
    player.stands_at(2)
    player.press("PageUp")
    player.stands_at(1)


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_the_other_panels_stand_behind_tabs(stage: Any) -> None:
    player = enter(stage)
    shown = {"Numbers": ".panel", "Graph": ".graph-figure", "Tape": ".tape-figure"}
    for name in ("Graph", "Tape", "Numbers"):
        player.root.get_by_role("button", name=name, exact=True).click()
        for other, part in shown.items():
            assert player.root.locator(part).is_visible() is (other == name)
    player.root.focus()
    player.press("Escape")
    for part in shown.values():
        assert player.root.locator(part).is_visible()
    assert not player.root.locator(".tabs").is_visible()


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_the_graph_has_letters_for_the_last_row_and_follows_the_step(stage: Any) -> None:
    player = enter(stage)
    player.root.get_by_role("button", name="Graph", exact=True).click()
    size = player.root.locator(".graph [data-part]").evaluate_all(
        "texts => Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"
    )
    assert size >= 18
    read = """async root => {
      await new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)));
      const { top, bottom } = root.querySelector(".graph").getBoundingClientRect();
      return [...root.querySelectorAll(".graph [data-now] > rect")].filter((now) => {
        const inner = now.getBoundingClientRect();
        return inner.top < top - 1 || inner.bottom > bottom + 1;
      }).length;
    }"""
    assert not any(player.at_every_step(read))


def test_the_program_shows_its_line_below_a_long_listing(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(network(), tmp_path), viewport=SCREEN))
    player.root.focus()
    player.press("f")
    player.press("End")
    for _ in range(10):
        player.press("ArrowLeft")
    box = player.root.locator(".program").bounding_box()
    line = player.root.locator("[data-program-lit]").bounding_box()
    assert box["y"] <= line["y"]
    assert line["y"] + line["height"] <= box["y"] + box["height"]


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_the_button_says_whether_it_is_on(stage: Any) -> None:
    player = only(stage)
    button = player.root.get_by_role("button", name="Stage", exact=True)
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    stage.is_quiet()


def test_a_question_that_is_open_stays_open(stage: Any) -> None:
    player = only(stage)
    player.click("predict")
    player.click("last")
    player.root.focus()
    player.press("Home")
    for _ in range(10):
        if not player.root.locator(".question").is_visible():
            player.click("next")
    answer = player.root.locator(".question input")
    answer.fill("12")
    player.root.get_by_role("button", name="Stage", exact=True).click()
    assert answer.input_value() == "12"
    answer.press("Escape")
    player.root.locator(":scope:not([data-stage])").wait_for()
    assert answer.input_value() == "12"
