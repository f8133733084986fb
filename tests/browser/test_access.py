"""The player for everybody: what axe-core finds, zoom, forced colours, print; and where things around it fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs import FIVE, cubic, diamond, logistic, loop, network, two_passes, two_tapes

import autodiff_edu as ad
from autodiff_edu.player.descend import descend
from browser.player_page import (
    CONTRAST,
    TOO_WIDE,
    assert_legible,
    only,
    read,
    save_page,
    violations,
    violations_in_both_schemes,
)
from browser.test_compiler_passes import step

TELLING = [network, two_passes]  # heatmaps and tables; lanes, cuts, skips, a pause
OTHERS = [pytest.param(program, marks=pytest.mark.exhaustive) for program in FIVE if program not in TELLING]


@pytest.mark.parametrize("program", [*TELLING, *OTHERS])
def test_axe_finds_nothing(program: Any, visit: Any, tmp_path: Path) -> None:
    traced = program()
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    for number in (len(traced) // 2, len(traced) - 1):
        player.root.locator("input[type=range]").fill(str(number))
        player.stands_at(number)
        assert violations_in_both_schemes(player.root) == []
    tab.is_quiet()


def test_axe_finds_nothing_in_predict_mode(visit: Any, tmp_path: Path) -> None:
    traced = cubic()
    player = only(visit(save_page(traced, tmp_path)))
    player.click("predict")
    for _ in range(len(traced)):
        if not player.root.locator(".question").is_visible():
            player.click("next")
    assert violations_in_both_schemes(player.root) == []
    player.press("x")
    player.press("Enter")
    assert player.root.locator(".verdict").text_content()
    assert violations_in_both_schemes(player.root) == []
    player.click("reveal")
    assert violations_in_both_schemes(player.root) == []


def test_axe_finds_nothing_on_stage(visit: Any, tmp_path: Path) -> None:
    traced = logistic()  # which has a strip, several tapes and a loop
    player = only(visit(save_page(traced, tmp_path), viewport={"width": 1280, "height": 720}))
    player.root.locator("input[type=range]").fill(str(len(traced) // 2))
    player.root.focus()
    player.press("f")
    for tab in ("Graph", "Tape", "Numbers", "Nudge"):
        player.root.get_by_role("button", name=tab, exact=True).click()
        assert violations_in_both_schemes(player.root) == []


def test_axe_finds_nothing_where_damping_turns_a_step(visit: Any, tmp_path: Path) -> None:
    descend(lambda p: p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2, (0.3, 1.0)).save(tmp_path / "descend.html")
    player = only(visit((tmp_path / "descend.html").as_uri()))
    player.root.get_by_role("slider", name="Damping").fill("40")
    assert player.root.locator('[data-arrow="damped"]').count() == 1
    assert violations_in_both_schemes(player.root) == []


def test_every_button_and_field_has_a_name(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path)))
    for name in ("First step", "Previous step", "Play", "Next step", "Last step", "Predict", "Stage"):
        assert player.root.get_by_role("button", name=name, exact=True).count() == 1
    assert player.root.get_by_role("slider", name="Step", exact=True).count() == 1
    assert player.root.get_by_role("combobox", name="Speed", exact=True).count() == 1


def test_what_has_the_focus_is_outlined(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(diamond(), tmp_path))
    player = only(tab)
    seen = []
    for _ in range(10):
        player.press("Tab")
        seen.append(
            player.root.evaluate(
                "root => { const at = root.getRootNode().activeElement, style = getComputedStyle(at);"
                " return [at.dataset.action ?? at.tagName, style.outlineStyle, style.outlineWidth]; }"
            )
        )
    names = [name for name, *_ in seen]
    assert names == ["first", "previous", "play", "next", "last", "SELECT", "SELECT", "predict", "stage", "INPUT"]
    assert {tuple(outline) for _, *outline in seen} == {("solid", "2px")}


@pytest.mark.parametrize("program", [network, pytest.param(diamond, marks=pytest.mark.exhaustive)])
def test_only_a_box_that_scrolls_is_a_stop_for_the_keyboard(program: Any, visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(program(), tmp_path)))
    boxes = (
        "root => [...root.querySelectorAll('.scroll:not(.graph)')].filter((box) => box.clientWidth && !box.ariaHidden)"
        ".map((box) => [box.tabIndex === 0, box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight])"
    )
    for width in (1200, 375):
        player.root.page.set_viewport_size({"width": width, "height": 800})
        seen = set()
        for found in player.at_every_step(boxes):
            assert [stop for stop, _ in found] == [scrolls for _, scrolls in found]
            seen |= {scrolls for _, scrolls in found}
        assert False in seen
        assert True in seen or program is diamond
    player.root.page.set_viewport_size({"width": 320, "height": 800})
    player.root.evaluate("() => new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)))")
    found = player.root.evaluate(boxes)
    assert [stop for stop, _ in found] == [scrolls for _, scrolls in found]


def test_each_step_is_said_in_words_where_a_screen_reader_listens(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    player = only(visit(save_page(traced, tmp_path)))
    said = player.at_every_step("""root => root.querySelector("[aria-live=polite].sentence").textContent""")
    assert said == [step["text"] for step in read(traced).steps]


@pytest.mark.parametrize("program", [network, pytest.param(two_tapes, marks=pytest.mark.exhaustive)])
def test_nothing_is_clipped_on_a_telephone_and_at_twice_the_size(program: Any, visit: Any, tmp_path: Path) -> None:
    traced = program()
    player = only(visit(save_page(traced, tmp_path)))
    # Where a question is asked the player stays at its step, until the answer is revealed.
    actions = ["first", "predict", *["next", "reveal"] * len(traced), "predict"]
    read = f"root => [root.querySelector('.question').checkVisibility(), ({TOO_WIDE})(root)]"
    for width, height in ((375, 800), (640, 450)):  # the second: 1280 pixels at 200 %
        player.root.page.set_viewport_size({"width": width, "height": height})
        seen = player.through(actions, read)
        assert seen[-1][0] == len(traced) - 1
        assert {asked for _, (asked, _) in seen} == {True, False}
        assert [wide for _, (_, wide) in seen if wide] == []


def test_calm_readers_see_no_motion(visit: Any, tmp_path: Path) -> None:
    moving = (
        "root => [...root.querySelectorAll('*')].filter((one) => { const style = getComputedStyle(one);"
        " return parseFloat(style.transitionDuration) > 0 || style.animationName !== 'none'; }).length"
    )
    shrinking = tmp_path / "shrinking.html"
    ad.play(ad.compile(step).program(0.5, 1.0, 0.5)).save(shrinking)
    for page in (save_page(diamond(), tmp_path), shrinking.as_uri()):
        player = only(visit(page, reduced_motion="reduce"))
        assert player.at_every_step(moving) == [0] * len(player.at_every_step("() => null"))
        player.root.page.emulate_media(reduced_motion="no-preference")
        assert any(player.at_every_step(moving))


def test_the_readers_own_few_colours_are_kept_apart(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(two_tapes(), tmp_path), forced_colors="active"))
    for seen in player.at_every_step(CONTRAST):
        assert_legible(seen, dark=False)
    player.legible()
    player.picture("forced")


def test_paper_shows_the_step_without_the_controls(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(diamond(), tmp_path))
    player = only(tab)
    player.click("last")
    tab.page.emulate_media(media="print")
    assert not player.root.locator(".buttons").is_visible()
    assert player.root.locator(".sentence").is_visible()
    assert player.root.evaluate(
        "root => [...root.querySelectorAll('ol.tape, .code')].every((box) => box.scrollHeight <= box.clientHeight + 2)"
    )


@pytest.mark.parametrize("part", [".groups", ".tape ol"])
def test_a_long_list_of_buttons_is_one_stop_and_arrows_lead_through_it(part: str, visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(loop(40), tmp_path)))
    buttons = player.root.locator(f"{part} button")
    player.root.locator(".groups button").first.click()  # unfolds the loop
    for position in ("first", "last"):
        player.click(position)
        assert buttons.count() > 10
        assert buttons.evaluate_all("all => all.filter(({ tabIndex }) => tabIndex >= 0).length") == 1
    player.click("first")
    read = "all => all.findIndex((one) => one === one.getRootNode().activeElement)"
    stop = buttons.evaluate_all("all => all.findIndex(({ tabIndex }) => tabIndex >= 0)")
    buttons.nth(stop).focus()
    at = player.root.locator(".scrubber input").input_value()
    for key, place in [("ArrowDown", stop + 1), ("ArrowDown", stop + 2), ("ArrowUp", stop + 1)]:
        player.press(key)
        assert buttons.evaluate_all(read) == place
    assert player.root.locator(".scrubber input").input_value() == at, "the step stays"
    assert buttons.evaluate_all("all => all.filter(({ tabIndex }) => tabIndex >= 0).length") == 1
    assert violations(player.root) == []


def test_figures_are_groups_with_short_names_and_their_buttons_stay_reachable(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path)))
    for name, button in (("Graph", "Replay wave"), ("Numbers", "Nudge")):
        group = player.root.get_by_role("group", name=name, exact=True)
        assert group.count() == 1
        assert group.get_by_role("button", name=button, exact=True).count() == 1
    assert player.root.get_by_role("group", name="Tape", exact=True).count() == 1
