"""The user's code and the NumPy program beside it: the lit lines, and going to the step of a line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import broadcasting, diamond, hostile, two_passes, two_tapes

import autodiff_edu as ad
from browser.following import Shown, saved

LIT = "[data-program-line][data-program-lit]"
TEXTS = """lines => lines.map((line) => [Number(line.dataset.programLine), line.querySelector("code").textContent])"""


def two_layers() -> ad.Trace:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(10, 4)), ad.Variable(rng.normal(size=(4, 3)), name="w")
    v = ad.Variable(rng.normal(size=(3, 1)), name="v")
    with ad.trace("two layers") as traced:
        with ad.GradientTape() as tape:
            hidden = np.tanh(x @ w)
            loss = np.mean((hidden @ v - 1.0) ** 2) + 0.001 * np.sum(w**2)  # a line longer than there is room for it
        tape.gradient(loss, [w, v])
    return traced


def opened(traced: ad.Trace, folder: Path, visit: Any, **options: Any) -> tuple[Any, Shown]:
    tab = visit(saved(traced, folder), **options)
    return tab, Shown(tab.page.locator("section.player"))


def lit(player: Shown) -> list[list[Any]]:
    found: list[list[Any]] = player.root.locator(LIT).evaluate_all(TEXTS)
    return found


@pytest.mark.parametrize("example", [diamond, broadcasting, two_layers, two_tapes, two_passes, hostile])
def test_the_line_of_the_program_that_does_a_step_is_lit(example: Any, visit: Any, tmp_path: Path) -> None:
    traced = example()
    program = traced.document()["program"]
    tab, player = opened(traced, tmp_path, visit)
    last = len(traced) - 1
    player.stands_at(0)
    seen = player.through(
        ["first", *["next"] * last, *["previous"] * last], f'root => ({TEXTS})([...root.querySelectorAll("{LIT}")])'
    )
    assert [number for number, _ in seen] == [*range(last + 1), *range(last - 1, -1, -1)]
    for number, lines in seen:
        at = program["steps"][number]
        assert lines == ([] if at is None else [[at, program["lines"][at]]]), number
    tab.is_quiet()


def firsts(document: dict[str, Any]) -> dict[str, int]:
    """For each line that has steps, by a selector, the first of them."""
    found: dict[str, int] = {}
    for number, (step, at) in enumerate(zip(document["steps"], document["program"]["steps"], strict=True)):
        if step["where"] is not None:
            found.setdefault(f'[data-line="{step["where"]["line"]}"]', number)
        if at is not None:
            found.setdefault(f'[data-program-line="{at}"]', number)
    return found


def elsewhere(player: Shown, number: int) -> None:
    player.click("first" if number else "last")


def test_a_click_on_a_line_goes_to_its_first_step(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    document = traced.document()
    tab, player = opened(traced, tmp_path, visit)
    for selector, number in firsts(document).items():
        elsewhere(player, number)
        player.root.locator(f"{selector} code").click()
        player.stands_at(number)
    tab.is_quiet()


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_number_of_a_line_is_a_button_for_the_keyboard(key: str, visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    tab, player = opened(traced, tmp_path, visit)
    for selector, number in firsts(traced.document()).items():
        elsewhere(player, number)
        button = player.root.locator(f"{selector} button")
        assert "go to its first step" in str(button.get_attribute("aria-label"))
        button.focus()
        player.press(key)
        player.stands_at(number)
    tab.is_quiet()


def test_a_line_without_a_step_does_nothing_and_takes_no_focus(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    document = traced.document()
    _, player = opened(traced, tmp_path, visit)
    rows = player.root.locator("[data-line], [data-program-line]")
    without = player.root.locator(".lines > div:not([data-steps])")
    assert without.locator("button").count() == 0
    assert rows.count() - without.count() == len(firsts(document))
    for row in without.all():
        row.click()
        player.stands_at(0)


def test_tab_stops_once_in_each_list_at_the_line_that_is_lit(visit: Any, tmp_path: Path) -> None:
    tab, player = opened(diamond(), tmp_path, visit)
    for _ in range(3):
        player.click("next")
    stops = player.root.locator('.lines button[tabindex="0"]')
    assert stops.count() == 2
    assert stops.nth(1).locator("xpath=..").get_attribute("data-program-lit") is not None
    stops.nth(1).focus()
    player.press("ArrowDown")  # over the remark between the passes
    assert tab.page.evaluate(FOCUSED) == "7"
    for _ in range(20):
        player.press("ArrowUp")
    assert tab.page.evaluate(FOCUSED) == "2"  # the first line is a remark
    player.stands_at(3)


FOCUSED = """() => document.querySelector("[data-autodiff-player]").shadowRoot.activeElement.textContent"""


def test_the_program_can_be_hidden_and_stays_so(visit: Any, tmp_path: Path) -> None:
    _, player = opened(diamond(), tmp_path, visit)
    toggle, box = player.root.locator('button[data-action="program"]'), player.root.locator(".program")
    assert (toggle.get_attribute("aria-expanded"), box.is_visible()) == ("true", True)
    toggle.click()
    player.click("next")
    assert (toggle.get_attribute("aria-expanded"), box.is_visible()) == ("false", False)
    toggle.focus()
    player.press("Enter")
    assert (toggle.get_attribute("aria-expanded"), box.is_visible()) == ("true", True)
    assert lit(player)


def test_the_program_is_hidden_at_first_on_a_narrow_screen(visit: Any, tmp_path: Path) -> None:
    _, player = opened(two_layers(), tmp_path, visit, viewport={"width": 375, "height": 800})
    assert not player.root.locator(".program").is_visible()
    player.root.locator('button[data-action="program"]').click()
    assert player.root.locator(".program").is_visible()
    player.fits()


@pytest.mark.parametrize("width", [375, 900, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_line_needs_scrolling_sideways(width: int, scheme: str, visit: Any, tmp_path: Path) -> None:
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    _, player = opened(two_layers(), tmp_path, visit, **options)
    if width < 640:
        player.root.locator('button[data-action="program"]').click()
    player.click("last")
    assert player.root.locator(".code").evaluate_all(
        "boxes => boxes.every((box) => box.scrollWidth <= box.clientWidth)"
    )
    player.fits()
    player.legible(dark=scheme == "dark")
    player.picture(f"code-{width}-{scheme}")


def test_a_trace_without_a_program_shows_the_code_alone(visit: Any, tmp_path: Path) -> None:
    player = ad.play(diamond())
    del player._content["trace"]["program"]
    path = tmp_path / "old.html"
    path.write_text(player.page(), encoding="utf-8")
    tab = visit(path.as_uri())
    shown = Shown(tab.page.locator("section.player"))
    shown.stands_at(0)
    assert shown.root.locator(".program-figure").count() == 0
    assert shown.root.locator("[data-line]").count() > 0
    tab.is_quiet()
