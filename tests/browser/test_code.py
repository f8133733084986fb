"""The user's code and the NumPy program beside it: the lit lines, and going to the step of a line."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

from programs import diamond, two_layers

import autodiff_edu as ad
from browser.player_page import Shown, save_page

LIT = "[data-program-line][data-program-lit]"
TEXTS = """lines => lines.map((line) => [Number(line.dataset.programLine), line.querySelector("code").textContent])"""


def open_player(traced: ad.Trace, folder: Path, visit: Any, **options: Any) -> tuple[Any, Shown]:
    tab = visit(save_page(traced, folder), **options)
    return tab, Shown(tab.page.locator("section.player"))


def lit(player: Shown) -> list[list[Any]]:
    found: list[list[Any]] = player.root.locator(LIT).evaluate_all(TEXTS)
    return found


def firsts(document: dict[str, Any]) -> dict[str, int]:
    """For each line that has steps, by a selector, the first of them."""
    found: dict[str, int] = {}
    for number, (step, at) in enumerate(zip(document["steps"], document["program"]["steps"], strict=True)):
        if step["where"] is not None:
            found.setdefault(f'[data-line="{step["where"]["line"]}"]', number)
        if at is not None:
            found.setdefault(f'[data-program-line="{at}"]', number)
    return found


def test_a_line_goes_to_its_first_step_with_the_mouse_and_its_number_with_the_keys(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    tab, player = open_player(traced, tmp_path, visit)
    for (selector, number), key in zip(firsts(traced.document()).items(), cycle(("Enter", "Space")), strict=False):
        elsewhere = "Home" if number else "End"
        player.root.focus()
        player.press(elsewhere)
        player.root.locator(f"{selector} code").click()
        player.stands_at(number)
        button = player.root.locator(f"{selector} button")
        assert "go to its first step" in str(button.get_attribute("aria-label"))
        player.press(elsewhere)
        button.focus()
        player.press(key)
        player.stands_at(number)
    tab.is_quiet()


def test_a_line_without_a_step_does_nothing_and_takes_no_focus(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    document = traced.document()
    _, player = open_player(traced, tmp_path, visit)
    rows = player.root.locator("[data-line], [data-program-line]")
    without = player.root.locator(".lines > div:not([data-steps])")
    assert without.locator("button").count() == 0
    assert rows.count() - without.count() == len(firsts(document))
    for row in without.all():
        row.click()
        player.stands_at(0)


def test_tab_stops_once_in_each_list_at_the_line_that_is_lit(visit: Any, tmp_path: Path) -> None:
    tab, player = open_player(diamond(), tmp_path, visit)
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
    _, player = open_player(diamond(), tmp_path, visit)
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
    _, player = open_player(two_layers(), tmp_path, visit, viewport={"width": 375, "height": 800})
    assert not player.root.locator(".program").is_visible()
    player.root.locator('button[data-action="program"]').click()
    assert player.root.locator(".program").is_visible()
    player.fits()


def test_no_line_needs_scrolling_sideways(visit: Any, tmp_path: Path) -> None:
    _, player = open_player(two_layers(), tmp_path, visit)
    player.click("last")
    for width in (375, 900, 1200):
        player.root.page.set_viewport_size({"width": width, "height": 900})
        assert player.root.locator(".code").evaluate_all(
            "boxes => boxes.every((box) => box.scrollWidth <= box.clientWidth)"
        )
        player.fits()
        player.legible()
        player.picture(f"code-{width}")


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


def test_the_lines_that_a_condition_leaves_out_are_dim_from_then_on(visit: Any, tmp_path: Path) -> None:
    def absolute(x: Any) -> Any:
        if x < 0:
            y = -x
        else:
            y = 2 * x
            y = y / 2
        return y

    with ad.trace() as traced:
        for value in (3.0, -3.0):
            with ad.GradientTape() as tape:
                tape.watch(x := ad.constant(value))
                absolute(x)
    steps = traced.document()["steps"]
    first, second = (number for number, step in enumerate(steps) if step.get("what") == "condition")
    _, player = open_player(traced, tmp_path, visit)
    colours = """rows => rows.map((row) => getComputedStyle(row.querySelector("code")).color)"""
    start = absolute.__code__.co_firstlineno
    for number, dim in ((first - 1, []), (first, [2]), (second - 1, [2]), (second, [4, 5]), (len(steps) - 1, [4, 5])):
        player.root.locator("input[type=range]").fill(str(number))
        player.stands_at(number)
        left = player.root.locator("[data-line][data-left-out]")
        assert left.evaluate_all("rows => rows.map((row) => Number(row.dataset.line))") == [start + k for k in dim]
        if dim:
            (plain,) = player.root.locator(f'[data-line="{start + 1}"]').evaluate_all(colours)
            assert plain not in left.evaluate_all(colours)
            assert "did not run" in str(left.first.get_attribute("title"))


def test_in_the_backward_pass_a_turn_of_a_loop_shows_the_lines_that_it_left_out(visit: Any, tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        for k in range(2):
            if k == 0:
                x *= 2
            else:
                x **= 2
        return x

    traced = ad.play(f, 1.0)
    document = traced.document()
    traced.save(tmp_path / "player.html")
    player = Shown(visit((tmp_path / "player.html").as_uri()).page.locator("section.player"))
    start = f.__code__.co_firstlineno
    for number, step in enumerate(document["steps"]):
        if step["kind"] not in ("pull back", "accumulate"):
            continue
        player.root.locator("input[type=range]").fill(str(number))
        player.stands_at(number)
        left = player.root.locator("[data-line][data-left-out]")
        own = step["where"]["line"] - start
        assert left.evaluate_all("rows => rows.map((row) => Number(row.dataset.line))") == [start + 8 - own]
