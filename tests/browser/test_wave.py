"""The wave before the first step: values down the graph, cotangents back, with numbers; and how far a step goes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import broadcasting, cubic, diamond, forward_mode, logistic, loop, training, two_tapes

import autodiff_edu as ad
from browser.player_page import only, read, save_page

WAVE = "root => root.querySelector('.graph-figure').dataset.wave ?? null"
TEXTS = """root => [...root.querySelectorAll('.graph [data-tensor] text:not([style*=opacity])')]
  .map((text) => text.textContent)"""
COPIES = "root => root.querySelectorAll('.wave, .graph [style*=opacity]').length"


@pytest.fixture
def timed(open_tab: Any, tmp_path: Path) -> Any:
    """A function that opens a player in a page whose clock stands still, and returns both."""

    def timed(traced: ad.Trace, **options: Any) -> tuple[Any, Any]:
        tab = open_tab("about:blank", **options)
        tab.page.clock.install()
        tab.page.goto(save_page(traced, tmp_path))
        tab.page.clock.pause_at(time.time() + 3600)
        return only(tab), tab.page.clock

    return timed


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
@pytest.mark.parametrize(
    ("program", "second"), [(diamond, "cotangents"), (two_tapes, "cotangents"), (forward_mode, "tangents")]
)
def test_the_first_play_begins_with_the_wave_and_goes_on_where_the_reader_was(
    program: Any, second: str, motion: str, timed: Any
) -> None:
    player, clock = timed(program(), reduced_motion=motion)
    player.click("next")
    texts = player.root.evaluate(TEXTS)
    player.click("play")
    assert player.root.evaluate(WAVE) == "values"
    sentence = player.root.locator(".sentence")
    assert sentence.text_content().startswith("First, an overview: values go down, ")
    assert second in sentence.text_content()
    assert player.root.evaluate(TEXTS) == texts, "what is known does not change"
    if motion == "reduce":
        assert player.root.locator(".wave circle").count() == 0
    clock.run_for(1001)
    assert player.root.evaluate(WAVE) == second
    assert player.root.evaluate(TEXTS) == texts
    clock.run_for(1000)
    assert player.root.evaluate(WAVE) is None
    assert player.root.evaluate(COPIES) == 0
    assert sentence.text_content() == program().document()["steps"][1]["text"]
    player.stands_at(1)
    clock.run_for(12_000)
    assert int(player.root.get_attribute("data-step")) >= 3
    player.click("play")
    player.click("play")
    assert player.root.evaluate(WAVE) is None, "only the first time"


def test_numbers_appear_as_the_wave_passes_and_go_with_it(timed: Any) -> None:
    player, clock = timed(diamond(), reduced_motion="reduce")
    passed = """root => [...root.querySelectorAll('.graph text[style*=opacity]')].map((text) => text.textContent)"""
    player.root.focus()
    player.press("w")
    document = diamond().document()
    texts = player.root.evaluate(passed)
    for tensor in [one for one in document["tensors"] if one["kind"] == "computed"]:
        assert any(tensor["value"]["text"] in text for text in texts), tensor["name"]
    assert "← [4 4]" in texts, "an array that fits in its box is written there"
    clock.run_for(2500)
    assert player.root.evaluate(passed) == []


def test_arrays_appear_as_small_pictures_as_the_wave_passes(timed: Any) -> None:
    player, clock = timed(broadcasting(), reduced_motion="reduce")
    drawn = "root => root.querySelectorAll('.graph [data-holds=\"%s\"][style*=opacity] .thumbnail').length"
    player.root.focus()
    player.press("w")
    assert player.root.evaluate(drawn % "value") >= 2, "sin(x), and its product with y"
    assert player.root.evaluate(drawn % "cotangent") >= 1
    clock.run_for(2500)
    assert player.root.evaluate(COPIES) == 0


def test_a_step_plays_as_long_as_its_sentence_is_read_and_half_as_fast_on_stage(timed: Any) -> None:
    traced = diamond()
    times = [min(max(1600, 500 + 30 * len(step["text"])), 5000) for step in traced.document()["steps"]]  # milliseconds
    assert len(set(times)) > 3
    player, clock = timed(traced, reduced_motion="no-preference")
    player.root.focus()
    player.press("w")
    player.press("x")
    player.click("play")
    for step in range(3):
        clock.run_for(times[step] - 30)
        player.stands_at(step)
        clock.run_for(60)
        player.stands_at(step + 1)
        times[step + 1] -= 30
    player.root.get_by_role("combobox", name="Speed").select_option("4×")
    clock.run_for((times[3] + 30) / 4 + 1)
    player.stands_at(4)
    player.root.focus()
    player.press("f")
    player.root.locator(":scope[data-stage]").wait_for()
    clock.run_for(times[4] / 4)
    at = int(player.root.get_attribute("data-step"))
    clock.run_for(2 * times[at] / 4 - 30)
    player.stands_at(at)
    clock.run_for(60)
    player.stands_at(at + 1)


def test_the_wave_is_played_again_by_a_key_and_a_button_and_ended_by_any(timed: Any) -> None:
    traced = diamond()
    player, clock = timed(traced)
    player.root.focus()
    for ends in ("x", "ArrowRight"):
        player.press("w")
        assert player.root.evaluate(WAVE) == "values"
        player.press(ends)
        assert player.root.evaluate(WAVE) is None
    player.agrees(read(traced), 1)
    player.root.get_by_role("button", name="Replay wave", exact=True).click()
    assert player.root.evaluate(WAVE) == "values"
    player.click("last")
    assert player.root.evaluate(WAVE) is None
    player.agrees(read(traced), len(traced) - 1)
    clock.run_for(5000)
    player.stands_at(len(traced) - 1)


def test_a_pause_during_the_wave_is_a_pause(timed: Any) -> None:
    player, clock = timed(diamond())
    player.click("play")
    player.click("play")
    assert player.root.get_by_role("button", name="Play", exact=True).count() == 1
    clock.run_for(9000)
    player.stands_at(0)


def test_who_predicts_sees_no_wave(timed: Any) -> None:
    player, _ = timed(cubic())
    player.click("predict")
    for key in ("w", "Space"):
        player.root.focus()
        player.press(key)
        assert player.root.evaluate(WAVE) is None
    assert not player.root.get_by_role("button", name="Replay wave", exact=True).is_visible()


def test_the_wave_draws_what_is_in_view(visit: Any, tmp_path: Path) -> None:
    for traced, most in ((loop(400), 80), (training(8), 20)):
        player = only(visit(save_page(traced, tmp_path)))
        player.root.focus()
        player.press("w")
        found = player.root.locator(".wave path").count()
        assert 0 < found <= most
        player.press("Escape")
        assert player.root.evaluate(COPIES) == 0


def test_play_and_the_arrows_go_by_the_size_that_is_chosen_and_shift_by_the_next_larger(
    timed: Any,
) -> None:
    traced = training(4)
    steps = traced.document()["steps"]
    kinds = [step["kind"] for step in steps]
    turns = [k for k in range(len(steps) - 1) if kinds[k : k + 2] == ["assign", "watch"]]
    player, clock = timed(traced)
    size = player.root.get_by_role("combobox", name="How far a step goes")
    assert size.locator("option").all_text_contents() == ["by operation", "by line", "by pass", "by turn"]
    size.select_option("by turn")
    player.root.focus()
    player.press("w")
    player.click("play")
    for k in range(len(turns)):
        clock.run_for(1600)
        player.stands_at(turns[k])
    clock.run_for(1600)
    player.stands_at(len(steps) - 1)
    player.root.focus()
    player.press("ArrowLeft")
    player.stands_at(turns[-1])
    size.select_option("by pass")
    player.root.focus()
    player.press("Shift+ArrowLeft")
    player.stands_at(turns[-2])
    player.press("ArrowRight")
    player.stands_at(turns[-2] + 1)
    player.press("Shift+ArrowRight")
    player.stands_at(turns[-1])
    size.select_option("by turn")
    player.root.focus()
    player.press("Shift+ArrowRight")  # the largest is chosen already
    player.stands_at(len(steps) - 1)


def test_a_training_of_many_turns_plays_by_turn_in_under_a_minute(timed: Any) -> None:
    traced = training(80)
    player, clock = timed(traced)
    player.root.get_by_role("combobox", name="How far a step goes").select_option("by turn")
    player.root.focus()
    player.press("w")
    player.click("play")
    clock.run_for(56_000)
    player.stands_at(len(traced) - 1)


def test_by_larger_steps_only_what_comes_at_the_landing_is_asked(visit: Any, tmp_path: Path) -> None:
    traced = logistic()
    player = only(visit(save_page(traced, tmp_path)))
    player.root.get_by_role("combobox", name="How far a step goes").select_option("by pass")
    player.click("predict")
    asked = []
    for _ in range(len(traced)):
        player.click("next")
        if player.root.locator(".question").is_visible():
            asked.append(int(player.root.get_attribute("data-step")))
            player.click("reveal")
        if player.root.get_attribute("data-step") == str(len(traced) - 1):
            break
    assert len(asked) < 12
    player.stands_at(len(traced) - 1)


def test_the_wave_shows_the_whole_graph_and_then_again_what_the_step_is_about(visit: Any, tmp_path: Path) -> None:
    inside = """root => {
      const pane = root.querySelector(".graph").getBoundingClientRect();
      return [...root.querySelectorAll(".graph [data-tensor]")].filter((box) => {
        const { top, bottom, left, right } = box.getBoundingClientRect();
        return top >= pane.top - 1 && bottom <= pane.bottom + 1 && left >= pane.left - 1 && right <= pane.right + 1;
      }).length;
    }"""
    player = only(visit(save_page(training(1), tmp_path), viewport={"width": 1280, "height": 720}))
    boxes = player.root.locator(".graph [data-tensor]").count()
    player.root.focus()
    before = player.root.evaluate(inside)
    assert before < boxes
    player.press("w")
    assert player.root.evaluate(inside) == boxes
    player.press("Escape")
    assert player.root.evaluate(WAVE) is None
    assert player.root.evaluate(inside) == before


def test_a_program_without_a_loop_has_no_turns_whatever_line_it_begins_with(visit: Any, tmp_path: Path) -> None:
    def masked(q: Any) -> Any:
        mask = np.tril(np.ones((3, 3))) == 1
        return np.sum(q * mask)

    ad.play(masked, np.eye(3)).save(tmp_path / "masked.html")
    player = only(visit((tmp_path / "masked.html").as_uri()))
    size = player.root.get_by_role("combobox", name="How far a step goes")
    assert "by turn" not in size.locator("option").all_text_contents()
    assert "by pass" in size.locator("option").all_text_contents()


def test_who_chooses_a_size_with_the_mouse_steps_with_the_next_key(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(training(2), tmp_path))
    player = only(tab)
    size = player.root.get_by_role("combobox", name="How far a step goes")
    size.focus()
    size.dispatch_event("pointerdown")
    size.select_option("by pass")
    tab.page.keyboard.press("ArrowRight")
    assert size.locator("option:checked").text_content() == "by pass"
    assert int(player.root.locator("input[type=range]").input_value()) > 1


def test_by_turn_every_turn_of_the_program_is_a_landing(visit: Any, tmp_path: Path) -> None:
    def odd(x: Any) -> Any:
        total = x
        for k in range(5):
            if k % 2 == 1:
                continue
            total = total * x + 0.9
            if total > 40.0:
                break
        return np.sin(total)

    played = ad.play(odd, 1.5)
    wanted = [k for k, step in enumerate(played.document()["steps"]) if "of the loop begins" in step["text"]]
    assert len(wanted) == 5
    played.save(tmp_path / "odd.html")
    player = only(visit((tmp_path / "odd.html").as_uri()))
    player.root.get_by_role("combobox", name="How far a step goes").select_option("by turn")
    player.root.focus()
    for number in wanted[1:]:
        player.press("ArrowRight")
        player.stands_at(number - 1)  # the last step before this turn
