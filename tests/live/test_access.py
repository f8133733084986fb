"""The live pages for everybody: an exercise by keyboard alone, and a window at a zoom of 200 %."""

from __future__ import annotations

from typing import Any

import pytest

from .editing import LOADED, Live, ready

ZOOMED = {"viewport": {"width": 640, "height": 360}, "device_scale_factor": 2}  # 1280 by 720 pixels at 200 %


def press_tab(page: Any, selector: str, most: int) -> int:
    """Press Tab until what has the focus matches, and return how often."""
    for count in range(1, most + 1):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return count
    raise AssertionError(f"{most} presses of Tab do not reach {selector}")


def test_an_exercise_is_done_by_keyboard_alone(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    ready(tab.page)
    keyboard = tab.page.keyboard
    press_tab(tab.page, ".skip-link a[href='#exercises']", most=2)
    tab.page.wait_for_function("document.querySelector('.skip-link').getBoundingClientRect().y === 0")
    keyboard.press("Enter")
    tab.page.wait_for_function("document.querySelector('.skip-link').getBoundingClientRect().bottom <= 0")
    press_tab(tab.page, ".live-form :is(textarea, .cm-content)", most=2)
    tab.page.wait_for_function("document.activeElement.matches('.cm-content')")  # the editor came with the focus
    for key in ("Control+Home", "End", "Backspace", "Backspace", "Backspace", "8", "Shift+Enter"):
        keyboard.press(key)
    tab.page.locator(".live-right").wait_for(timeout=LOADED)
    keyboard.press("Escape")
    press_tab(tab.page, ".live-run", most=1)
    assert tab.page.locator(".live-right").inner_text().startswith("1.1: Right. ")
    assert "✓ 1 of 3" in tab.page.locator("nav.bd-links").inner_text()
    tab.is_quiet()


# What a reader presses or types into, as far as it can be seen, and lies partly outside the window; what a part of the
# page scrolls to by itself is left out.
OUTSIDE = """() => {
  const scrolls = (each) => each && (each !== document.body && each !== document.documentElement
    && /auto|scroll/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement ?? each.getRootNode().host));
  const controls = (root) => [...root.querySelectorAll("*")].flatMap((each) => [
    ...(each.matches("a, button, input, textarea, select, summary, .cm-content") ? [each] : []),
    ...(each.shadowRoot ? controls(each.shadowRoot) : []),
  ]);
  return controls(document).filter((each) => each.checkVisibility({ visibilityProperty: true })).filter((each) => {
    const { left, right, width } = each.getBoundingClientRect();
    return width > 1 && (left < 0 || right > innerWidth + 0.5) && !scrolls(each.parentElement);
  }).map((each) => each.outerHTML.slice(0, 120));
}"""


@pytest.mark.parametrize("name", ["index", "chapters/01-the-tape"])
def test_at_a_zoom_of_200_percent_no_control_is_cut_off(page: Any, name: str) -> None:
    tab = page(name, **ZOOMED)
    for _ in range(2):
        assert tab.page.evaluate("document.documentElement.scrollWidth") == 640
        assert tab.page.evaluate(OUTSIDE) == []
        Live(tab)  # and with an open editor
