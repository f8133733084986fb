"""Drills in the browser: ten programs one after the other, each with its question, and a score at the end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import only as nobody_but
from autodiff_edu.player.drill_levels import LEVELS, draw
from browser.player_page import only, violations_in_both_schemes


def answers(level: int, seed: int) -> list[str]:
    with nobody_but(), np.errstate(all="ignore"):
        return [answer for _, answer in draw(level, seed)]


@pytest.fixture
def opened(visit: Any, tmp_path: Path) -> Any:
    def opened(level: int, seed: int, **options: Any) -> Any:
        path = tmp_path / "drill.html"
        path.write_text(ad.drill(level, seed).page(), encoding="utf-8")
        return visit(path.as_uri(), **options)

    return opened


def text(player: Any, name: str) -> str:
    return str(player.root.locator(name).text_content())


OTHERS = [pytest.param(level, marks=pytest.mark.exhaustive) for level in LEVELS if level != 4]


@pytest.mark.parametrize("level", [4, *OTHERS])  # which has questions of every kind
def test_ten_programs_ten_right_answers_and_a_score(level: int, opened: Any) -> None:
    tab = opened(level, 11)
    player, wanted = only(tab), answers(level, 11)
    for number, answer in enumerate(wanted, 1):
        assert f"program {number} of 10" in text(player, "h2")
        field = player.root.locator(".predict input")
        assert field.is_visible()
        if number > 1:
            assert field.evaluate("field => field.getRootNode().activeElement === field")  # nothing to click first
        field.fill(answer)
        player.press("Enter")
        assert text(player, ".verdict").startswith(f"Right: {answer}."), (number, answer)
        player.press("Enter")  # the button that leads on has the focus
    assert text(player, ".verdict") == "You got 10 of 10 on the first try."
    tab.is_quiet()


def test_wrong_answers_are_counted_and_can_be_looked_at_again(opened: Any) -> None:
    tab = opened(1, 3)
    player, wanted = only(tab), answers(1, 3)
    for number, answer in enumerate(wanted):
        tries = ["77777", answer] if number == 0 else ["77777", "66666"] if number == 1 else [answer]
        for typed in tries:
            player.root.locator(".predict input").fill(typed)
            player.press("Enter")
        player.root.locator(".onwards button").click()
    assert text(player, ".verdict") == "You got 8 of 10 on the first try, 1 on the second. Look again at:"
    links = player.root.locator(".onwards button")
    assert links.all_text_contents() == ["program 1", "program 2"]
    links.nth(1).click()
    assert "program 2 of 10" in text(player, "h2")
    assert not player.root.locator(".question").is_visible()  # it was answered
    tab.is_quiet()


def test_the_question_stays_while_the_steps_before_are_looked_at(opened: Any) -> None:
    tab = opened(2, 5)
    player = only(tab)
    start = int(player.root.get_attribute("data-step"))
    assert start > 0
    player.click("previous")
    player.stands_at(start - 1)
    assert player.root.locator(".question").is_visible()
    player.click("next")
    player.stands_at(start)
    player.click("next")  # the step that is asked about is not shown
    player.stands_at(start)
    player.click("reveal")
    player.stands_at(start + 1)
    assert text(player, ".verdict").startswith("Answer: ")
    player.click("more")
    assert "program 2 of 10" in text(player, "h2")
    tab.is_quiet()


def test_axe_finds_nothing_in_a_drill(opened: Any) -> None:
    player = only(opened(3, 2))
    assert violations_in_both_schemes(player.root) == []
    player.root.locator(".predict input").fill("99")
    player.press("Enter")
    assert violations_in_both_schemes(player.root) == []


SPILLS = """() => [...document.querySelectorAll(".programs, article, pre")].filter(
  (box) => box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1).length"""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(20, 60))])
def test_on_paper_a_drill_fills_two_pages_and_its_answers_a_third(
    level: int, seed: int, visit: Any, tmp_path: Path
) -> None:
    path = tmp_path / "sheet.html"
    ad.drill(level, seed).save(path)
    tab = visit(path.as_uri(), viewport={"width": 680, "height": 1010}, media="print")  # as wide as what is printed
    assert tab.page.evaluate(SPILLS) == 0
    assert tab.page.locator("article").count() == 10
    pdf = tab.page.pdf(prefer_css_page_size=True)
    assert re.findall(rb"/MediaBox \[0 0 (\d+)[\d.]* (\d+)", pdf) == [(b"594", b"841")] * 3  # A4 is 595 by 842 points
    for box in tab.page.locator(".room").all():
        size = box.bounding_box()
        assert min(size["width"], size["height"]) > 34 / 25.4 * 96  # more than 34 mm either way
    tab.is_quiet()
