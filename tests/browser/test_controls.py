"""Mouse, keys and speed; and documents that a player refuses, or shows although they are odd."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import HOSTILE, descent, diamond, square, training

import autodiff_edu as ad
from autodiff_edu.player import Player
from autodiff_edu.player.descend import descend
from autodiff_edu.player.extra_parts import Written
from autodiff_edu.text.shared import shared
from browser.conftest import SIZE
from browser.player_page import TOO_WIDE, only, read, save_page


def test_a_player_is_paused_at_first_and_its_speed_says_how_long_a_step_stays(open_tab: Any, tmp_path: Path) -> None:
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(save_page(diamond(), tmp_path))
    tab.page.clock.pause_at(time.time() + 3600)  # else the time that the test itself takes counts too
    player = only(tab)
    tab.page.clock.run_for(5000)
    player.stands_at(0)
    player.root.focus()
    player.press("w")  # the wave, which is played before the first step otherwise
    speed = player.root.get_by_role("combobox", name="Speed", exact=True)
    for factor, steps in (("0.5", 2), ("1", 4), ("2", 8)):
        speed.select_option(factor)
        player.click("play")
        tab.page.clock.run_for(6500)
        player.stands_at(steps)
        player.click("first")
    speed.select_option("1")
    player.click("play")
    tab.page.clock.run_for(1700)
    speed.select_option("4")  # while it plays
    tab.page.clock.run_for(1700)
    player.stands_at(5)
    player.press("ArrowUp")  # on the speed, which has the focus: a speed, not a step
    player.stands_at(5)
    tab.is_quiet()


def test_a_short_sentence_stays_about_two_seconds(open_tab: Any, tmp_path: Path) -> None:
    tab = open_tab("about:blank", reduced_motion="no-preference")
    tab.page.clock.install()
    tab.page.goto(save_page(square(), tmp_path))
    tab.page.clock.pause_at(time.time() + 3600)
    player = only(tab)
    player.root.focus()
    player.press("w")
    player.click("play")  # The tape watches x, which is 3.
    tab.page.clock.run_for(1500)
    player.stands_at(0)
    tab.page.clock.run_for(300)
    player.stands_at(1)
    tab.page.clock.run_for(3200)  # Line 14: y is x times x, which is 9. The tape records it as entry 1.
    player.stands_at(2)


def test_a_long_loop_plays_by_turn_unless_the_reader_chooses_otherwise(open_tab: Any, tmp_path: Path) -> None:
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(save_page(training(40), tmp_path))
    tab.page.clock.pause_at(time.time() + 3600)
    player = only(tab)
    size = player.root.locator(".size")
    assert size.evaluate("list => list.selectedOptions[0].textContent") == "by operation"
    player.root.focus()
    player.press("w")
    player.click("play")
    assert size.evaluate("list => list.selectedOptions[0].textContent") == "by turn"
    tab.page.clock.run_for(1700)
    assert int(player.root.get_attribute("data-step")) > 3
    player.click("first")
    size.select_option("by operation")
    player.click("play")
    tab.page.clock.run_for(1700)
    player.stands_at(1)
    assert size.evaluate("list => list.selectedOptions[0].textContent") == "by operation"


def test_in_a_list_the_arrows_to_the_sides_step_and_the_others_choose(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path)))
    size = player.root.locator(".size")
    size.focus()
    player.press("ArrowDown")
    assert size.evaluate("list => list.selectedOptions[0].textContent") == "by line"
    player.press("ArrowRight")
    assert size.evaluate("list => list.selectedOptions[0].textContent") == "by line"
    landed = int(player.root.get_attribute("data-step"))
    assert landed > 0
    player.press("ArrowLeft")
    player.stands_at(0)
    player.press("ArrowUp")
    player.press("ArrowRight")
    player.stands_at(1)


def test_the_buttons_say_how_far_they_go(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(descent(), tmp_path)))
    for size, unit in (("by turn", "turn"), ("by line", "line"), ("by operation", "step")):
        player.root.locator(".size").select_option(size)
        for way, key in (("Next", "→"), ("Previous", "←")):
            button = player.root.get_by_role("button", name=f"{way} {unit}", exact=True)
            assert button.get_attribute("title") == f"{way} {unit} ({key})"


def test_the_keys_with_a_modifier_are_the_browsers(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path)))
    player.root.focus()
    for key in ("Alt+ArrowRight", "Shift+End", "Control+ArrowRight", "Control+Shift+ArrowRight", "Control+End"):
        player.press(key)
    player.stands_at(0)
    player.press("Space")
    assert player.root.get_by_role("button", name="Pause", exact=True).count() == 1


def test_the_turning_points_stand_at_the_scrubber(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    player = only(visit(save_page(traced, tmp_path)))
    turns = player.root.locator(".turn")
    assert turns.count() == 1
    seed = next(n for n, step in enumerate(read(traced).steps) if step["kind"] == "seed")
    assert turns.get_attribute("data-turn") == str(seed)


def test_turning_points_that_could_not_be_told_apart_are_one(visit: Any, tmp_path: Path) -> None:
    x = ad.Variable(2.0, name="x")
    with ad.trace("many passes") as traced:
        for _ in range(700):
            with ad.GradientTape() as tape:
                y = x * x
            tape.gradient(y, x)
    player = only(visit(save_page(traced, tmp_path)))
    steps, seeds = read(traced).steps, [n for n, step in enumerate(read(traced).steps) if step["kind"] == "seed"]
    drawn = [
        int(turn) for turn in player.root.locator(".turn").evaluate_all("all => all.map((one) => one.dataset.turn)")
    ]
    assert 150 < len(drawn) <= 301 < len(seeds)
    assert set(drawn) <= set(seeds)
    gaps = [after - before for before, after in pairwise([0, *drawn, len(steps) - 1])]
    assert max(gaps) < len(steps) / 100


def changed(folder: Path, **parts: Any) -> str:
    """A page of a document in which some parts are others."""
    path = folder / "changed.html"
    path.write_text(Player(Written(diamond().document() | parts)).page(), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("version", [99, None, "<b>"])
def test_a_document_of_another_version_is_refused_in_words(version: Any, visit: Any, tmp_path: Path) -> None:
    # What Python refuses may still stand in a saved notebook, beside the script of another release.
    path = tmp_path / "other.html"
    other = json.dumps(version).replace("<", "\\u003c")
    path.write_text(
        ad.play(diamond()).page().replace(f'"version":{shared()["version"]}', f'"version":{other}', 1), encoding="utf-8"
    )
    tab = visit(path.as_uri())
    message = tab.page.get_by_role("alert").text_content()
    assert f"version {'unknown' if version is None else version}" in message
    assert "run the cell again" in message
    assert tab.page.locator("pre").is_visible()  # the transcript
    assert tab.page.locator("button").count() == 0
    tab.is_quiet()


def test_a_document_without_steps_says_so(visit: Any, tmp_path: Path) -> None:
    tab = visit(changed(tmp_path, steps=[], entries=[], tensors=[], code=[], tapes=[], nudges=[]))
    player = only(tab)
    assert player.root.locator(".sentence").text_content() == "Nothing was recorded."
    for action in ("next", "play", "last", "first", "previous", "predict", "next"):
        player.click(action)
        player.stands_at(0)
    tab.is_quiet()


@pytest.mark.parametrize("damage", [('{"version":', "{no JSON"), ('"content":"H4sI', '"content":"AAAA')])
def test_a_broken_player_does_not_keep_the_others_from_starting(damage: Any, open_tab: Any, tmp_path: Path) -> None:
    broken = ad.play(diamond()).html().replace(*damage, 1)
    path = tmp_path / "two.html"
    path.write_text(f"<!DOCTYPE html><title>two</title>{broken}{ad.play(diamond()).html()}", encoding="utf-8")
    tab = open_tab("about:blank")
    tab.page.goto(path.as_uri())
    only(tab).stands_at(0)
    assert tab.page.locator("pre").first.is_visible()  # the transcript of the one that is broken
    (said,) = tab.complaints
    assert said.startswith("error: ")


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


def test_odd_names_and_values_are_drawn(visit: Any, tmp_path: Path) -> None:
    traced = odd_values()
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    player.click("predict")
    tab.page.set_viewport_size({"width": 375, "height": 900})
    seen = player.through(["first", *["next", "reveal"] * len(traced)], TOO_WIDE)
    assert seen[-1][0] == len(traced) - 1
    assert [wide for _, wide in seen if wide] == []
    tab.page.set_viewport_size(SIZE)
    player.click("predict")
    assert player.at_every_step(TOO_WIDE) == [[]] * len(traced)
    assert player.root.locator("img, script").count() == 0
    assert tab.page.evaluate("window.hacked") is None
    tab.is_quiet()


def test_the_version_that_is_drawn_is_the_version_that_is_written(visit: Any, tmp_path: Path) -> None:
    assert json.loads(diamond().to_json())["version"] == shared()["version"]
    only(visit(save_page(diamond(), tmp_path))).stands_at(0)


def test_beside_lab_s_file_browser_the_bar_is_one_row_and_its_lists_are_whole(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path), viewport={"width": 1000, "height": 720}))
    player.root.evaluate("root => { root.getRootNode().host.style.cssText = 'display: block; width: 824px'; }")
    heights, cut = player.root.evaluate(
        """root => {
          const middle = (part) => { const { top, height } = part.getBoundingClientRect(); return top + height / 2; };
          const lists = [...root.querySelectorAll(".choices select")].map((list) => {
            const whole = list.cloneNode(true);
            whole.style.cssText = "position: absolute; width: auto";
            list.after(whole);
            const more = whole.offsetWidth - list.offsetWidth;
            whole.remove();
            return more;
          });
          return [["h2", ".buttons", ".choices"].map((part) => middle(root.querySelector(part))), lists];
        }"""
    )
    assert max(heights) - min(heights) < 4
    assert max(cut) <= 0


def test_sentences_are_whole_and_what_is_below_stands_still(visit: Any, tmp_path: Path) -> None:
    descend(lambda p: p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2, (0.3, 1.0)).save(tmp_path / "descend.html")
    player = only(visit((tmp_path / "descend.html").as_uri(), viewport={"width": 850, "height": 720}))
    seen = player.at_every_step(
        """root => { const { scrollHeight, clientHeight } = root.querySelector(".sentence");
        return [scrollHeight - clientHeight, root.querySelector(".columns").getBoundingClientRect().top]; }"""
    )
    assert [unread for unread, _ in seen] == [0] * len(seen)
    assert len({top for _, top in seen}) == 1
