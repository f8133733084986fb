"""The player as a file: no server, no kernel, no network."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from programs import EXAMPLES, HOSTILE, broadcasting, diamond, forward_mode, hostile, two_layers, two_passes, two_tapes

import autodiff_edu as ad
from browser.player_page import CONTRAST, TOO_WIDE, Shown, assert_legible, only, read, save_page

TELLING = [two_passes, forward_mode]
OTHERS = [pytest.param(each, marks=pytest.mark.exhaustive) for each in (*EXAMPLES, two_layers) if each not in TELLING]


@pytest.mark.parametrize("example", [*TELLING, *OTHERS])
def test_every_step_shows_what_the_trace_says(example: Any, visit: Any, tmp_path: Path) -> None:
    traced = example()
    expected, last = read(traced), len(traced) - 1
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    player.walks(expected, "next", "ArrowLeft")
    player.press("End")
    player.agrees(expected, last)
    player.click("first")
    player.agrees(expected, 0)
    player.click("last")
    player.agrees(expected, last)
    player.press("Home")
    player.agrees(expected, 0)
    tab.is_quiet()
    assert len(tab.requests) == 1  # the file


def test_play_walks_to_the_end_and_pauses(open_tab: Any, tmp_path: Path) -> None:
    traced = diamond()
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(save_page(traced, tmp_path))
    tab.page.clock.pause_at(time.time() + 3600)  # else the time that the test itself takes counts too
    player = only(tab)
    player.click("play")
    tab.page.clock.run_for(2000)  # the wave
    player.agrees(read(traced), 0)
    tab.page.clock.run_for(3500)
    player.agrees(read(traced), 2)
    player.press("Space")  # on the button that was clicked: pause
    tab.page.clock.run_for(5000)
    player.agrees(read(traced), 2)
    player.click("play")
    tab.page.clock.run_for(1600 * len(traced))
    player.agrees(read(traced), len(traced) - 1)
    tab.is_quiet()


def test_the_keys_move_the_player_of_a_saved_page_at_once(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(diamond(), tmp_path))
    player = only(tab)
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("ArrowRight")
    player.stands_at(2)
    tab.page.mouse.click(3, 300)  # beside the player
    tab.page.keyboard.press("ArrowRight")
    player.stands_at(3)
    tab.is_quiet()


def test_scrubber_and_entries_go_where_they_say(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    expected = read(traced)
    player = only(visit(save_page(traced, tmp_path)))
    player.root.locator("input[type=range]").fill("9")
    player.agrees(expected, 9)
    player.root.locator('li[data-entry="0"]').click()
    player.agrees(
        expected, next(n for n, step in enumerate(expected.steps) if step["kind"] == "pull back" and step["entry"] == 0)
    )


def test_two_players_on_a_page_leave_each_other_alone(visit: Any, tmp_path: Path) -> None:
    traces = [diamond(), broadcasting(), diamond()]
    path = tmp_path / "several.html"
    fragments = "".join(ad.play(traced).html() for traced in traces)
    path.write_text(f'<!DOCTYPE html><meta charset="utf-8"><title>several</title>{fragments}', encoding="utf-8")
    tab = visit(path.as_uri())
    roots = tab.page.locator("section.player")
    players = [Shown(roots.nth(index)) for index in range(3)]
    players[1].click("next")
    players[2].root.focus()
    for _ in range(3):
        players[2].press("ArrowRight")
    for player, traced, number in zip(players, traces, (0, 1, 3), strict=True):
        player.agrees(read(traced), number)
    assert roots.count() == 3
    tab.is_quiet()


# Whatever is unpacked waits until `release` is called.
HELD = """
window.held = [];
const text = Response.prototype.text;
Response.prototype.text = async function () {
  await new Promise((go) => held.push(go));
  return text.call(this);
};
window.release = () => held.splice(0).forEach((go) => go());
"""


def test_the_key_frame_stays_until_the_player_stands_and_each_is_mounted_once(open_tab: Any, tmp_path: Path) -> None:
    path = tmp_path / "held.html"
    fragments = "".join(ad.play(traced).html() for traced in (diamond(), broadcasting(), two_passes()))
    path.write_text(f'<!DOCTYPE html><meta charset="utf-8"><title>held</title>{fragments}', encoding="utf-8")
    tab = open_tab("about:blank")
    page = tab.page
    page.add_init_script(HELD)
    page.add_init_script("window.mounted = 0; addEventListener('autodiff-mounted', () => { mounted += 1; });")
    page.goto(path.as_uri())
    hosts, frames = page.locator("[data-autodiff-player]"), page.locator("[data-autodiff-player] img")
    third = hosts.nth(2).element_handle()

    def waits_for(count: int) -> None:
        page.wait_for_function("count => held.length === count", arg=count)
        assert [frame.is_visible() for frame in frames.all()] == [True] * 3
        assert page.locator("section.player").count() == 0

    waits_for(1)  # one copy of the script serves all
    page.evaluate("release()")
    waits_for(1)  # the first player
    assert hosts.evaluate_all("all => all.every((host) => host.shadowRoot)")
    third.evaluate("host => { window.home = host.parentElement; host.remove(); }")
    page.evaluate("setInterval(release)")
    page.wait_for_function("mounted === 2")  # that it is gone does not keep it from being unpacked
    third.evaluate("host => window.home.append(host)")
    for number, traced in enumerate((diamond(), broadcasting(), two_passes())):
        Shown(page.locator("section.player").nth(number)).agrees(read(traced), 0)
    assert [frame.is_visible() for frame in frames.all()] == [False] * 3
    assert page.locator("section.player").count() == 3
    assert page.evaluate("[...document.querySelectorAll('head script')].length") == 0
    tab.is_quiet()


def test_names_and_code_are_text_and_never_markup(visit: Any, tmp_path: Path) -> None:
    traced = hostile()
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    assert player.at_every_step("""root => root.querySelectorAll("img, script").length""") == [0] * len(traced)
    assert HOSTILE in player.root.text_content()
    assert tab.page.title() == traced.title
    assert tab.page.locator('img:not([src^="data:image/svg+xml;base64,"])').count() == 0
    assert tab.page.evaluate("window.hacked") is None
    assert len(tab.requests) == 1
    tab.is_quiet()


@pytest.mark.parametrize("example", [two_tapes, two_passes])
def test_it_fits_the_page_and_is_legible(example: Any, visit: Any, tmp_path: Path) -> None:
    traced = example()
    player = only(visit(save_page(traced, tmp_path)))
    for width, scheme in ((375, "light"), (900, "dark")):
        player.root.page.set_viewport_size({"width": width, "height": 800})
        player.root.page.emulate_media(color_scheme=scheme)
        for too_wide, contrast in player.at_every_step(f"root => [({TOO_WIDE})(root), ({CONTRAST})(root)]"):
            assert too_wide == []
            assert_legible(contrast, dark=scheme == "dark")
        player.root.locator("input[type=range]").fill(str(len(traced) * 2 // 3))
        player.picture(f"static-{width}-{scheme}")


def test_wide_values_fit_a_narrow_page(visit: Any, tmp_path: Path) -> None:
    for traced in (broadcasting(), hostile()):
        player = only(visit(save_page(traced, tmp_path), viewport={"width": 375, "height": 800}))
        assert player.at_every_step(TOO_WIDE) == [[]] * len(traced)
