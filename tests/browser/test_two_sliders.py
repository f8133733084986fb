"""The first screen of chapter 0: two sliders move a line among dots, without a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_edu.course.chapters.two_sliders import LineByHand
from autodiff_edu.player.html import PAGE
from browser.player_page import violations_in_both_schemes

FLIPPER, MASS = np.array([-2.0, -1.0, 0.5, 2.0]), np.array([3.1, 3.4, 4.6, 5.2])


@pytest.fixture
def by_hand(visit: Any, tmp_path: Path) -> Any:
    """A page with the sliders twice, as in the chapter: without the loss, and with it."""
    html = LineByHand(FLIPPER, MASS).html() + LineByHand(FLIPPER + 0.5, MASS, loss=True).html()
    path = tmp_path / "sliders.html"
    path.write_text(PAGE.format(sunk="#f4f5f7", title="Two sliders", fragment=html), encoding="utf-8")
    return lambda **options: visit(path.as_uri(), **options)


def test_the_sliders_move_their_own_line_and_the_loss_follows(by_hand: Any) -> None:
    tab = by_hand()
    page = tab.page
    lines = page.locator("path.line")
    before = [lines.nth(k).get_attribute("d") for k in (0, 1)]
    assert page.locator(".loss").inner_text() == f"{np.mean((4.0 - MASS) ** 2):.4f}"
    sliders = page.get_by_role("slider", name="tilt"), page.get_by_role("slider", name="height")
    sliders[0].nth(1).fill("0.6")
    sliders[1].nth(1).fill("4.2")
    assert page.locator(".loss").inner_text() == f"{np.mean((0.6 * (FLIPPER + 0.5) + 4.2 - MASS) ** 2):.4f}"
    assert lines.nth(0).get_attribute("d") == before[0]
    assert lines.nth(1).get_attribute("d") != before[1]
    sliders[0].nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert lines.nth(0).get_attribute("d") != before[0]
    tab.is_quiet()


def test_it_fits_a_phone_and_axe_finds_nothing(by_hand: Any) -> None:
    tab = by_hand(viewport={"width": 375, "height": 720})
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 375
    for box in tab.page.locator("[data-two-sliders]").all():
        assert violations_in_both_schemes(box) == []
