"""On a telephone code and graph stand above, and what steps stays at the lower edge of the screen; swipes step, too."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import descent, diamond, training

import autodiff_edu as ad
from browser.player_page import only, save_page, violations_in_both_schemes

TELEPHONE = {"width": 390, "height": 844}

# Moves a finger by so many pixels, from the middle of an element.
SWIPE = """(part, [across, down, fingers]) => {
  const { left, top, width, height } = part.getBoundingClientRect();
  const at = (x, y) => [...Array(fingers).keys()].map((identifier) => new Touch({
    identifier, target: part, clientX: left + width / 2 + x, clientY: top + height / 2 + y,
  }));
  const about = { bubbles: true, composed: true };
  part.dispatchEvent(new TouchEvent("touchstart", { ...about, touches: at(0, 0), changedTouches: at(0, 0) }));
  part.dispatchEvent(new TouchEvent("touchend", { ...about, touches: [], changedTouches: at(across, down) }));
}"""


def swipe(part: Any, across: int, down: int = 0, fingers: int = 1) -> None:
    part.evaluate(SWIPE, [across, down, fingers])


def test_code_and_graph_stand_above_the_numbers(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path), viewport=TELEPHONE))
    parts = [".sentence", ".code-figure", ".graph-figure", ".at-hand", ".tape-figure"]
    boxes = [player.root.locator(part).bounding_box() for part in parts]
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]
    code = boxes[1]
    assert code["y"] + code["height"] < 844 - 56, "seen while one steps"


def test_the_buttons_stay_at_the_lower_edge_while_the_player_is_in_view(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(descent(), tmp_path), viewport=TELEPHONE))
    bar = player.root.locator(".buttons")
    for top in (0, 200, 400):
        player.root.page.evaluate("top => scrollTo(0, top)", top)
        box = bar.bounding_box()
        assert box["height"] == 56
        assert box["y"] + box["height"] == pytest.approx(844, abs=1)
    for button in bar.locator("button").all():
        box = button.bounding_box()
        assert box["height"] >= 48
        assert box["width"] >= 48
    assert violations_in_both_schemes(player.root) == []
    player.fits()


def test_next_leaves_the_page_where_it_is(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path), viewport=TELEPHONE, has_touch=True, is_mobile=True))
    top = player.root.page.evaluate("scrollY")
    for _ in range(9):
        player.root.locator("[data-action=next]").tap()
    player.stands_at(9)
    for key in ("Shift+Tab", "Tab", "Enter"):
        player.press(key)
    player.stands_at(10)
    assert player.root.page.evaluate("scrollY") == top
    for part in (".sentence", ".graph-figure"):
        assert player.root.locator(part).bounding_box()["y"] >= 0


def test_a_matrix_of_four_is_added_up_in_numbers(visit: Any, tmp_path: Path) -> None:
    w = ad.Variable([[0.5, -1.25], [1 / 3, 2.0]], name="w")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.sum(np.tanh(w) * w)
        tape.gradient(y, w)
    player = only(visit(save_page(traced, tmp_path), viewport=TELEPHONE))
    last = max(number for number, step in enumerate(traced.document()["steps"]) if step["kind"] == "accumulate")
    player.root.locator(".scrubber input").fill(str(last))
    assert player.root.locator(".sum .numbers td").count() == 12
    assert player.root.locator(".sum .heat").count() == 0


def test_what_is_added_up_lies_above_the_buttons(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    player = only(visit(save_page(traced, tmp_path), viewport=TELEPHONE))
    step = next(number for number, step in enumerate(traced.document()["steps"]) if step["kind"] == "accumulate")
    player.root.locator(".scrubber input").fill(str(step))
    total, bar = (player.root.locator(part).bounding_box() for part in (".accumulator", ".buttons"))
    assert total["y"] + total["height"] == pytest.approx(bar["y"], abs=1)
    player.click("first")
    assert not player.root.locator(".accumulator").is_visible()


def test_the_graph_has_240_pixels_while_one_steps(visit: Any, tmp_path: Path) -> None:
    for traced in (diamond(), training(1)):
        player = only(visit(save_page(traced, tmp_path), viewport=TELEPHONE))
        seen = player.root.evaluate(
            """async root => {
              const { autodiffPlayer: player } = root.getRootNode().host;
              const seen = [];
              for (let step = 0; step <= Number(root.querySelector(".scrubber input").max); step++) {
                player.show(step);
                await new Promise(requestAnimationFrame);
                const top = (part) => part.getBoundingClientRect().top;
                const over = [...root.querySelectorAll(".accumulator > *, .buttons")]
                  .filter((part) => part.checkVisibility({ visibilityProperty: true })).map(top);
                const graph = root.querySelector(".graph").getBoundingClientRect();
                seen.push(Math.min(graph.bottom, ...over) - graph.top);
              }
              return seen;
            }"""
        )
        assert min(seen) >= 240


def test_on_a_low_screen_the_sum_covers_nothing(visit: Any, tmp_path: Path) -> None:
    """As at 1280 by 720 pixels, enlarged to 200 %."""
    traced = diamond()
    player = only(visit(save_page(traced, tmp_path), viewport={"width": 640, "height": 360}))
    step = next(number for number, step in enumerate(traced.document()["steps"]) if step["kind"] == "accumulate")
    player.root.locator(".scrubber input").fill(str(step))
    player.root.page.evaluate("scrollTo(0, 0)")
    assert player.root.locator(".accumulator").bounding_box()["y"] > 360
    assert player.root.locator(".buttons").bounding_box()["y"] < 360


def test_the_bars_of_several_players_do_not_lie_over_each_other(visit: Any, tmp_path: Path) -> None:
    page = "<!doctype html><meta name=viewport content='width=device-width'>"
    (tmp_path / "two.html").write_text(page + 2 * ad.play(diamond()).html(), encoding="utf-8")
    tab = visit((tmp_path / "two.html").as_uri(), viewport=TELEPHONE)
    bars = tab.page.locator("section.player .buttons")
    assert bars.count() == 2
    high = tab.page.evaluate("document.documentElement.scrollHeight")
    for top in range(0, high, 150):
        tab.page.evaluate("top => scrollTo(0, top)", top)
        first, second = (bar.bounding_box() for bar in bars.all())
        assert first["y"] + first["height"] <= second["y"]


def test_a_swipe_steps(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path), viewport=TELEPHONE))
    sentence = player.root.locator(".sentence")
    swipe(sentence, -120)
    player.stands_at(1)
    swipe(sentence, -120, 20)
    player.stands_at(2)
    swipe(sentence, 120)
    player.stands_at(1)
    for across, down, fingers in ((-30, 0, 1), (-80, 100, 1), (0, -200, 1), (-120, 0, 2)):
        swipe(sentence, across, down, fingers)
        player.stands_at(1)


def test_a_swipe_in_what_follows_the_finger_itself_is_not_a_step(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path), viewport=TELEPHONE))
    swipe(player.root.locator(".scrubber input"), -120)
    player.stands_at(0)
    code = player.root.locator(".code").first
    code.evaluate("box => box.append(Object.assign(document.createElement('div'), { style: 'width: 2000px' }))")
    swipe(code.locator("code").first, -120)
    player.stands_at(0)
    code.evaluate("box => box.lastChild.remove()")
    swipe(code.locator("code").first, -120)
    player.stands_at(1)


def test_on_stage_the_three_parts_of_a_sum_are_whole(visit: Any, tmp_path: Path) -> None:
    traced = training(1)
    player = only(visit(save_page(traced, tmp_path), viewport=TELEPHONE))
    player.root.focus()
    player.press("f")
    seen = 0
    for number, step in enumerate(traced.document()["steps"]):
        if step["kind"] != "accumulate":
            continue
        player.root.locator(".scrubber input").fill(str(number))
        over = player.root.locator(".sum .part").evaluate_all(
            "parts => parts.map((part) => { const { right } ="
            " part.getBoundingClientRect(); return Math.max(...[...part.querySelectorAll('*')].map((each) =>"
            " each.getBoundingClientRect().right)) - right; })"
        )
        assert max(over) <= 1, step["text"]
        seen += len(over)
    assert seen > 10


def test_on_stage_the_buttons_are_below_and_the_graph_stays_while_one_nudges(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path), viewport=TELEPHONE))
    player.root.focus()
    player.press("f")
    player.press("End")
    player.press("ArrowLeft")
    player.root.locator("[data-action=nudge]").first.click()
    parts = [".sentence", ".graph-figure", ".nudge", ".buttons"]
    player.root.locator(".nudge dl").wait_for()
    boxes = [player.root.locator(part).bounding_box() for part in parts]
    for above, below in pairwise(boxes):
        assert above["y"] + above["height"] <= below["y"]
    assert boxes[1]["height"] > 200
    assert boxes[-1]["y"] + boxes[-1]["height"] == pytest.approx(844, abs=8)
    assert {button.bounding_box()["height"] for button in player.root.locator(".buttons button").all()} == {48}
    said = player.root.locator(".nudge")
    assert said.evaluate("box => box.scrollHeight <= box.clientHeight"), "all of it is seen"


def test_the_three_parts_of_a_sum_add_up_as_they_are_written(visit: Any, tmp_path: Path) -> None:
    x = ad.Variable(1.7)
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = 1.994 * x + 0.2124 * x  # 2.21, and not 1.99 + 0.212 = 2.202
        tape.gradient(y, x)
    player = only(visit(save_page(traced, tmp_path), viewport=TELEPHONE))
    seen = 0
    for number, step in enumerate(traced.document()["steps"]):
        if step["kind"] == "accumulate" and step["count"] > 1:
            player.root.locator(".scrubber input").fill(str(number))
            *parts, total = map(float, player.root.locator(".sum .part > .array > .value").all_text_contents())
            assert float(f"{sum(parts):.3g}") == total
            seen += 1
    assert seen == 1
