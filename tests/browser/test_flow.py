"""Quantities flow along the lines, for a moment and only when a reader goes on by one; arrays are thumbnails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import square

import autodiff_edu as ad
from browser.player_page import Shown, only, read, save_page

MOVING = {"reduced_motion": "no-preference"}
RUNNING = "root => root.getAnimations({ subtree: true }).filter((one) => !one.transitionProperty).length"
AFTER = """root => {
  const after = root.querySelector('[data-field="after"]');
  return [getComputedStyle(after).opacity === "0" ? "" : after.textContent,
    root.querySelector('[data-now] [data-part="cotangent"]')?.textContent];
}"""


PLACES = """root => {
  const rect = root.querySelector(".bead rect");
  const { left: x, top: y, width: wide } = rect.getBoundingClientRect();
  const rest = [x + wide / 2, y];
  root.focus();
  root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
  return new Promise((done) => setTimeout(() => {
    root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    const moving = root.querySelector(".bead");
    const [flight] = moving.getAnimations();
    flight.pause();
    const part = moving.querySelector("rect");
    const places = [0, 0.999].map((portion) => {
      flight.currentTime = flight.effect.getComputedTiming().duration * portion;
      const { left, top, width } = part.getBoundingClientRect();
      return [left + width / 2, top];
    });
    flight.finish();
    done([...places, rest]);
  }, 700));
}"""


def network() -> ad.Trace:
    x, w = np.linspace(-1, 1, 25).reshape(5, 5), ad.Variable(np.linspace(-2, 2, 15).reshape(5, 3), name="w")
    with ad.trace("a layer") as traced:
        with ad.GradientTape() as tape:
            loss = np.mean(np.tanh(x @ w) ** 2)
        tape.gradient(loss, w)
    return traced


def go(player: Shown, number: int) -> None:
    """Go to a step, the last one of the way as a reader does, who has looked at the one before it."""
    player.root.focus()
    player.through(["first", *["ArrowRight"] * (number - 1)], "() => null")
    player.root.page.wait_for_timeout(600)


def sums(traced: ad.Trace) -> list[int]:
    return [number for number, step in enumerate(traced.document()["steps"]) if step["kind"] == "accumulate"]


def test_a_contribution_travels_and_the_accumulator_grows(visit: Any, tmp_path: Path) -> None:
    traced = square()
    player = only(visit(save_page(traced, tmp_path), **MOVING))
    second = sums(traced)[1]
    go(player, second)
    assert player.root.evaluate(RUNNING) == 0
    seen = player.root.evaluate(f"""async root => {{
      const [after, running] = [{AFTER}, {RUNNING}];
      root.dispatchEvent(new KeyboardEvent("keydown", {{ key: "ArrowRight", bubbles: true }}));
      const seen = [[after(root), running(root) > 0]];
      for (let frame = 0; frame < 600 && seen.at(-1)[1]; frame++) {{
        await new Promise(requestAnimationFrame);
        seen.push([after(root), running(root) > 0]);
      }}
      await new Promise(requestAnimationFrame); // in which the box hears that the movement has ended
      return [...seen, [after(root), running(root) > 0]];
    }}""")
    assert seen[0] == [["", "← 3"], True], "at first what was there before, and no result"
    assert seen[-1] == [["6", "← 6"], False]
    shown = [after for (after, _), _ in seen]
    assert shown == sorted(shown)
    assert {*shown} == {"", "6"}, "the result stands there once what is added has landed"
    bead = player.root.locator(".bead")
    assert bead.count() == 1
    assert bead.locator("text").text_content() == "3"
    start, end, rest = player.root.evaluate(PLACES)
    head = player.root.locator(".lit [data-flow] .head").bounding_box()
    assert start[1] > head["y"] + head["height"] + 5, "it came from below"
    assert end == pytest.approx(rest, abs=1)
    assert abs(rest[0] - (head["x"] + head["width"] / 2)) < 12, "and it stays at the arrow's head"
    assert 0 <= rest[1] - (head["y"] + head["height"]) < 12


PRODUCT = "root => root.querySelector('[data-now] [data-factor]').getAnimations().length > 0"
CARRIED = """root => [...root.querySelectorAll(".carried")].map((copy) => [
  copy.textContent, copy.ariaHidden, copy.querySelectorAll("[data-field]").length])"""


def test_the_product_lights_in_the_formula_and_is_carried_into_the_sum(visit: Any, tmp_path: Path) -> None:
    traced = square()
    expected, number = read(traced), sums(square())[1]
    player = only(visit(save_page(traced, tmp_path), **MOVING))
    go(player, number)
    lit, carried, shown, contribution = player.root.evaluate(f"""root => {{
      root.dispatchEvent(new KeyboardEvent("keydown", {{ key: "ArrowRight", bubbles: true }}));
      const place = root.querySelector('[data-field="contribution"]');
      return [({PRODUCT})(root), ({CARRIED})(root), getComputedStyle(place.parentNode).opacity, place.textContent];
    }}""")
    assert lit
    assert [part[1:] for part in carried] == [["true", 0]]
    assert carried[0][0].startswith("3")
    assert (shown, contribution) == ("0", "3"), "it is not there before it has come; readers who listen have it"
    player.root.locator(".carried").wait_for(state="detached")
    player.root.page.wait_for_function(f"root => ({RUNNING})(root) === 0", arg=player.root.element_handle())
    player.agrees(expected, number)
    assert player.root.locator('[data-field="contribution"]').locator("..").evaluate(
        "place => getComputedStyle(place).opacity"
    ) == ("1")


def test_what_is_carried_starts_where_its_bead_comes_to_rest(visit: Any, tmp_path: Path) -> None:
    number = sums(square())[1]
    player = only(visit(save_page(square(), tmp_path), **MOVING))
    go(player, number)
    start, rest = player.root.evaluate("""root => {
      root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      const [copy, bead] = [".carried", ".bead"].map((part) => root.querySelector(part));
      const [flight] = copy.getAnimations();
      flight.pause();
      flight.currentTime = flight.effect.getTiming().delay;
      bead.getAnimations()[0].finish();
      return [copy, bead].map((part) => {
        const { left, top, width, height } = part.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
      });
    }""")
    assert start == pytest.approx(rest, abs=6)


def test_behind_a_tab_only_the_bead_moves_and_a_move_ends_what_is_carried(visit: Any, tmp_path: Path) -> None:
    traced = square()
    number = sums(traced)[1]
    player = only(visit(save_page(traced, tmp_path), **MOVING))
    go(player, number)
    player.root.locator(".panel").evaluate("panel => { panel.style.display = 'none'; }")
    player.press("ArrowRight")
    player.stands_at(number)
    assert player.root.locator(".bead").count() == 1
    assert player.root.locator(".carried").count() == 0
    player.root.locator(".panel").evaluate("panel => { panel.style.display = ''; }")
    go(player, number)
    counts = player.root.evaluate("""root => ["ArrowRight", "ArrowLeft"].map((key) => {
      root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      return root.querySelectorAll(".carried").length;
    })""")
    assert counts[0] == 1
    player.root.locator(".carried").wait_for(state="detached")
    player.agrees(read(traced), number - 1)


def test_beads_that_arrive_together_stand_side_by_side(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(square(), tmp_path), **MOVING))
    go(player, 1)
    boxes = player.root.evaluate("""root => {
      root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      return [...root.querySelectorAll(".bead")].map((bead) => {
        const [flight] = bead.getAnimations();
        flight.pause();
        flight.currentTime = flight.effect.getComputedTiming().duration * 0.999;
        const { left, right } = bead.querySelector("rect").getBoundingClientRect();
        return [left, right];
      });
    }""")
    assert len(boxes) == 2
    (_, end), (start, _) = sorted(boxes)
    assert end < start


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ([0.123456, -1.5, 2.25], ["[0.992 0.0707 -0.628]"]),
        ([[0.5, -1.25], [1 / 3, 2.0]], ["0.878  0.315", "0.945 -0.416"]),
        ([[0.5, -1.25], [1 / 3, 2.0], [3.0, 4.0]], ["(3, 2)"]),
    ],
)
def test_few_numbers_travel_as_numbers_and_many_as_their_shape(
    value: Any, texts: list[str], visit: Any, tmp_path: Path
) -> None:
    x = ad.Variable(value, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.sum(np.sin(x))
        tape.gradient(y, x)
    player = only(visit(save_page(traced, tmp_path)))
    go(player, sums(traced)[-1] + 1)
    bead = player.root.locator(".bead")
    assert bead.locator("text").all_text_contents() == texts
    inside = bead.evaluate("""bead => {
      const edge = bead.querySelector("rect").getBoundingClientRect();
      return [...bead.querySelectorAll("text")].every((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return left >= edge.left && right <= edge.right && top >= edge.top - 2 && bottom <= edge.bottom + 2;
      });
    }""")
    assert inside


def test_values_travel_into_the_operation_and_are_gone(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(square(), tmp_path), **MOVING))
    go(player, 1)
    player.press("ArrowRight")
    player.root.locator(".bead").first.wait_for(state="attached")
    player.stands_at(1)
    player.root.locator(".bead").first.wait_for(state="detached")
    player.root.page.wait_for_function(f"root => ({RUNNING})(root) === 0", arg=player.root.element_handle())
    assert player.root.locator(".bead").count() == 0


def test_any_move_ends_what_flows_and_the_numbers_are_those_of_the_step(visit: Any, tmp_path: Path) -> None:
    traced = square()
    expected = read(traced)
    player = only(visit(save_page(traced, tmp_path), **MOVING))
    second = sums(traced)[1]
    go(player, second)
    texts = player.root.evaluate(f"""root => {{
      const press = (key) => root.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
      const now = performance.now();
      performance.now = () => now; // however slow the machine is, the reader is not
      press("ArrowRight"); press("ArrowLeft"); press("ArrowRight");
      return [({AFTER})(root), ({RUNNING})(root)];
    }}""")
    assert texts == [["6", "← 6"], 0], "and who goes on at once sees no flow"
    player.agrees(expected, second)


@pytest.mark.parametrize(("motion", "key"), [("reduce", "ArrowRight"), ("no-preference", "End")])
def test_nothing_moves_for_who_wants_calm_or_jumps(motion: str, key: str, visit: Any, tmp_path: Path) -> None:
    traced = square()
    player = only(visit(save_page(traced, tmp_path), reduced_motion=motion))
    go(player, sums(traced)[1])
    player.press(key)
    assert player.root.evaluate(RUNNING) == 0
    assert player.root.evaluate(AFTER)[0] == ("6" if motion == "reduce" else "—")
    assert player.root.locator(".bead").count() == (1 if motion == "reduce" else 0), "the picture stands still"


def test_arrays_are_thumbnails_with_their_shapes_on_one_scale(visit: Any, tmp_path: Path) -> None:
    traced = network()
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    player.click("last")
    document = traced.document()
    (w,) = [index for index, tensor in enumerate(document["tensors"]) if tensor["name"] == "w"]
    box = player.root.locator(f'[data-tensor="{w}"]')
    ends = document["tensors"][w]["value"], next(step["gradient"] for step in document["steps"] if "gradient" in step)
    shapes = [f"(5, 3)±{np.abs(end['data']).max():.2g}" for end in ends]
    assert box.locator('[data-part="shape"]').all_text_contents() == shapes
    assert box.locator(".thumbnail").count() == 2
    cells = box.locator('[data-holds="value"] path').evaluate_all(
        "paths => paths.map((path) => path.getAttribute('d').split('z').length - 1)"
    )
    assert sum(cells) == 15
    assert box.locator("title").first.text_content().startswith("w: 5×3, from -2 to 2")
    for number in range(len(document["tensors"])):
        outside = player.root.locator(f'[data-tensor="{number}"]').evaluate("""box => {
          const edge = box.querySelector("rect").getBoundingClientRect();
          return [...box.querySelectorAll("text, .thumbnail")].filter((part) => {
            const { left, right, top, bottom, width } = part.getBoundingClientRect();
            return width && (left < edge.left || right > edge.right || top < edge.top || bottom > edge.bottom);
          }).map((part) => part.textContent);
        }""")
        assert outside == []
    tab.is_quiet()


def test_a_number_has_one_colour_in_the_graph_and_in_the_panel(visit: Any, tmp_path: Path) -> None:
    w = ad.Variable(np.linspace(-0.0038765, 0.0039123, 96).reshape(8, 12), name="w")
    with ad.trace() as traced, ad.GradientTape():
        np.sum((1000.0 * np.ones((2, 8)) @ w) ** 2)
    player = only(visit(save_page(traced, tmp_path)))
    steps = traced.document()["steps"]
    go(player, 1 + next(k for k, step in enumerate(steps) if step["kind"] == "record"))
    tensor = next(k for k, one in enumerate(traced.document()["tensors"]) if one["name"] == "w")
    drawn, cells, legend = player.root.evaluate(f"""root => {{
      const look = (part) => getComputedStyle(part);
      const graph = [...root.querySelectorAll('[data-tensor="{tensor}"] [data-holds="value"] path')];
      const rows = [...root.querySelectorAll('.panel tr[data-row="input"]')];
      const row = rows.find((each) => each.querySelector(".name").textContent === "w");
      const ends = [...row.querySelectorAll(".ramp b")].map((part) => part.textContent);
      return [[...new Set(graph.map((part) => look(part).fill))].sort(),
        [...new Set([...row.querySelectorAll(".heat i")].map((part) => look(part).backgroundColor))].sort(), ends];
    }}""")
    assert drawn == cells
    assert len(drawn) > 12, "large numbers elsewhere leave it its colours"
    assert legend == ["−0.00391", "0", "0.00391"]


def test_the_ends_of_a_legend_do_not_collide(visit: Any, tmp_path: Path) -> None:
    w = ad.Variable(np.linspace(-0.000391, 0.000391, 32).reshape(8, 4), name="w")
    with ad.trace() as traced, ad.GradientTape():
        np.sum(w * 3.0)
    player = only(visit(save_page(traced, tmp_path)))
    go(player, 1 + next(k for k, step in enumerate(traced.document()["steps"]) if step["kind"] == "record"))
    parts = player.root.evaluate("""root => [...root.querySelector(".ramp").children].map((part) => {
      const range = document.createRange();
      range.selectNodeContents(part);
      const { left, right } = range.getBoundingClientRect();
      return [part.textContent, left, right];
    })""")
    assert [text for text, *_ in parts] == ["−0.000391", "0", "0.000391"]
    assert parts[0][2] < parts[1][1]
    assert parts[1][2] < parts[2][1]
