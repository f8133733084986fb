"""Of long lists and large graphs only what is in view is in the page, and it is there whatever one does."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from programs import loop, training

import autodiff_edu as ad
from browser.player_page import Expected, Shown, only, read, save_page, violations

TURNS = 350  # 1,050 entries, 3,503 steps

# Whether the row, if it is in the page, can be seen in its box.
SEEN = """(root, selector) => {
  const row = root.querySelector(selector);
  const [inner, outer] = [row, row?.closest(".scroll")].map((element) => element?.getBoundingClientRect());
  return Boolean(row) && inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
}"""


@pytest.fixture(scope="module")
def long_loop(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Expected]:
    """The address of its page, and its trace."""
    traced = loop(TURNS)
    return save_page(traced, tmp_path_factory.mktemp("loop")), read(traced)


def opened(long_loop: tuple[str, Expected], visit: Any) -> tuple[Any, Shown, Expected]:
    address, expected = long_loop
    tab = visit(address)
    return tab, only(tab), expected


def go(player: Shown, number: int) -> None:
    player.root.locator("input[type=range]").fill(str(number))
    player.stands_at(number)


def test_the_rows_of_the_current_step_are_there_and_in_view(long_loop: Any, visit: Any) -> None:
    tab, player, expected = opened(long_loop, visit)
    program = expected.document["program"]["steps"]
    for number in (0, 1, 2, 700, 1049, 1051, 1052, 2000, 3501, 1500, 3):
        go(player, number)
        step = expected.steps[number]
        wanted = [f'li[data-entry="{step["entry"]}"]'] if "entry" in step else []
        if program[number] is not None:
            wanted.append(f'[data-program-line="{program[number]}"][data-program-lit]')
        for selector in wanted:
            assert player.root.evaluate(SEEN, selector), (number, selector)
        assert player.root.locator("button").count() < 200
        assert player.root.locator("[data-program-lit]").count() <= 1
    assert violations(player.root) == []
    tab.is_quiet()


def test_rows_that_are_scrolled_to_say_what_they_are(long_loop: Any, visit: Any) -> None:
    _, player, expected = opened(long_loop, visit)
    go(player, 600)
    box = player.root.locator(".tape")
    box.evaluate("box => { box.scrollTop = box.scrollHeight; }")
    last = player.root.locator("li[data-loop-turn]", has_text=f"turn {TURNS}")
    last.wait_for()
    assert last.get_attribute("data-state") == "waiting"
    # the turns, the three entries of the one that is open, and the tape's release
    places = str(TURNS + 3), str(TURNS + 4)
    assert (last.get_attribute("aria-posinset"), last.get_attribute("aria-setsize")) == places
    box.evaluate("box => { box.scrollTop = 0; }")
    turn = player.root.locator("li[data-loop-turn]").first
    turn.wait_for()
    turn.locator("button").click()
    first = player.root.locator('li[data-entry="0"]')
    first.wait_for()
    assert first.get_attribute("data-state") == "recorded"
    assert first.locator(".text").text_content().endswith(f" = {expected.document['entries'][0]['text']}")
    first.locator("button").click()
    player.stands_at(1)


def test_a_turn_is_a_row_that_opens_with_the_step_and_at_a_key(long_loop: Any, visit: Any) -> None:
    tab, player, expected = opened(long_loop, visit)
    entries, rows = player.root.locator(".tape li[data-entry]"), player.root.locator(".tape li[data-loop-turn]")
    shown = """entries => entries.map((entry) => Number(entry.dataset.entry))"""
    for number in (1, 4, 700, 2000, 3500):
        go(player, number)
        entry = expected.steps[number]["entry"]
        start = entry - entry % 3
        assert entries.evaluate_all(shown) == [start, start + 1, start + 2], "those of the turn that the step is in"
        assert player.root.locator('.tape [aria-expanded="true"]').count() == 1
    go(player, 1)
    assert rows.first.locator(".text").text_content() == "turn 1 · 3 entries"
    heading = rows.first.locator("button")
    heading.focus()
    player.press("Enter")  # the reader closes the turn at hand: its row stands for the step
    assert entries.count() == 0
    assert heading.get_attribute("aria-expanded") == "false"
    assert heading.get_attribute("aria-current") == "step"
    assert heading.evaluate("button => button.matches(':focus')")
    player.press("ArrowRight")
    player.stands_at(2)
    assert entries.count() == 0, "it stays closed within the turn"
    rows.nth(1).locator("button").click()
    assert entries.evaluate_all(shown) == [3, 4, 5]
    go(player, 2000)
    begun = expected.steps[2000]["entry"] // 3 * 3
    player.root.locator(".tape").evaluate("box => { box.scrollTop = 0; }")
    player.root.locator('li[data-entry="3"]').wait_for()  # what the reader opened stays open
    go(player, 2001)
    assert {begun, begun + 1, begun + 2} & set(entries.evaluate_all(shown))
    assert violations(player.root) == []
    tab.is_quiet()


def test_keys_go_on_when_their_row_leaves_the_page(long_loop: Any, visit: Any) -> None:
    _, player, _ = opened(long_loop, visit)
    go(player, 4)
    player.root.locator('li[data-entry="3"] button').click()
    player.through(["ArrowRight"] * 60, "() => null")
    player.stands_at(64)
    assert player.root.locator('li[data-entry="3"]').count() == 0
    player.press("ArrowRight")
    player.stands_at(65)


def test_the_arrows_walk_through_a_long_program(long_loop: Any, visit: Any) -> None:
    _, player, expected = opened(long_loop, visit)
    player.root.locator('.program button[tabindex="0"]').focus()
    focused = """root => Number(root.getRootNode().activeElement.textContent)"""
    begin = player.root.evaluate(focused)
    player.through(["ArrowDown"] * 80, "() => null")
    assert player.root.evaluate(focused) == begin + 80
    at = expected.document["program"]["steps"].index(begin + 80 - 1)
    player.press("Enter")
    player.stands_at(at)


def test_long_numbers_do_not_touch_the_code(long_loop: Any, visit: Any) -> None:
    _, player, _ = opened(long_loop, visit)
    player.click("last")
    numbers = ".program .number, .tape li .number"
    gaps = player.root.locator(numbers).evaluate_all("""numbers => numbers.map((number) => {
      const text = document.createRange();
      text.selectNodeContents(number);
      return number.nextSibling.getBoundingClientRect().left - text.getBoundingClientRect().right;
    })""")
    assert len(gaps) > 20
    assert min(gaps) > 4


def test_an_unfolded_graph_holds_what_is_in_view(long_loop: Any, visit: Any) -> None:
    tab, player, _ = opened(long_loop, visit)
    player.root.locator("button.group").first.click()
    for _ in range(3):
        player.root.locator('.group[aria-expanded="false"]').last.click()
    for number in (800, 0, 1052, 2500, 3501):
        go(player, number)
        boxes = player.root.locator("[data-tensor], button.group")
        assert 1 < boxes.count() < 120
        assert player.root.locator(".graph :is([data-now], .group[data-state=now])").count() == 1, number
    player.root.locator(".graph").evaluate("box => { box.scrollTop = box.scrollHeight; }")
    player.root.locator("button.group", has_text=f"turn {TURNS}").wait_for()
    tab.is_quiet()


def test_lanes_have_the_numbers_of_their_tapes(visit: Any, tmp_path: Path) -> None:
    names, heads = ["tape 1", "outer", "other"], ["1", "ou", "ot"]
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced, contextlib.ExitStack() as tapes:
        for _ in names:
            tapes.enter_context(ad.GradientTape())
        x * x
    shown = ad.play(traced)
    for tape, name in zip(shown._content["trace"]["tapes"], names, strict=True):
        tape["name"] = name
    (tmp_path / "lanes.html").write_text(shown.page(), encoding="utf-8")
    player = only(visit((tmp_path / "lanes.html").as_uri()))
    lanes = player.root.locator(".heads .lane")
    assert lanes.all_text_contents() == heads
    assert lanes.evaluate_all("lanes => lanes.map((lane) => lane.title)") == names


def test_twenty_tapes_have_six_lanes_around_the_current_one(visit: Any, tmp_path: Path) -> None:
    traced = training()
    tab, expected = visit(save_page(traced, tmp_path)), read(traced)
    player = only(tab)
    for number in (0, 1, 200, 369, 500, 739):
        go(player, number)
        heads = player.root.locator(".heads .lane").all_text_contents()
        assert len(heads) == 6
        tape = expected.steps[number]["tape"]
        names = [each["name"].removeprefix("tape ") for each in expected.document["tapes"]]
        assert tape is None or (names[tape] if names[tape].isdigit() else "t") in heads
        widths = player.root.evaluate("""root => [...root.querySelectorAll(".tape .text")].map(
          (text) => text.clientWidth)""")
        assert min(widths) > 80
    others = player.root.locator(".tape-figure select")
    assert others.locator("option").first.text_content() == "and 14 more tapes"
    assert others.locator("option").count() == 1, "until it is used"
    others.focus()
    others.select_option(label=expected.document["tapes"][2]["name"])
    first = next(at for at, step in enumerate(expected.steps) if step["tape"] == 2)
    player.stands_at(first)
    third = expected.document["tapes"][2]["name"]
    assert third.split()[-1] in player.root.locator(".heads .lane").all_text_contents()
    assert violations(player.root) == []
    tab.is_quiet()
