"""Broadcasting is seen: cells are copied along an axis, and what comes back to the copies adds up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_edu as ad
from browser.player_page import Shown, only, save_page

CELLS = """root => ["one", "copy"].map((kind) =>
  [...root.querySelectorAll(`.unfold .${kind} title`)].map((title) => Number(title.textContent.replace("−", "-"))))"""


def layer(shape: tuple[int, ...] = (3,), rows: int = 4) -> ad.Trace:
    x, b = (
        np.arange(rows * 3.0).reshape(rows, 3),
        ad.Variable(np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape), name="b"),
    )
    with ad.trace("a bias") as traced:
        with ad.GradientTape() as tape:
            y = (x + b) ** 2
        tape.gradient(y, b)
    return traced


def at(player: Shown, traced: ad.Trace, **wanted: Any) -> dict[str, Any]:
    steps = traced.document()["steps"]
    number = next(n for n, step in enumerate(steps) if wanted.items() <= step.items())
    player.through(["first", *["next"] * number], "() => null")
    return dict(steps[number])


def test_an_operand_is_copied_along_a_named_axis(visit: Any, tmp_path: Path) -> None:
    traced = layer()
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    at(player, traced, kind="record", entry=0)
    small, large = player.root.evaluate(CELLS)
    assert small == [1, 2, 3]
    assert large == [1, 2, 3] * 4
    said = player.root.locator(".unfold").text_content()
    assert said.startswith("b is broadcast: copied 4 times along axis 0, from (3,) to (4, 3).")
    name = player.root.locator(".unfold svg").get_attribute("aria-label")
    assert name.startswith("b is broadcast")
    tab.is_quiet()


def test_what_comes_back_adds_up_to_the_contribution(visit: Any, tmp_path: Path) -> None:
    traced = layer()
    player = only(visit(save_page(traced, tmp_path)))
    step = at(player, traced, kind="accumulate", entry=0)
    small, large = player.root.evaluate(CELLS)
    assert small == step["contribution"]["data"] == np.sum(step["unfolded"]["data"], axis=0).tolist()
    assert large == np.ravel(step["unfolded"]["data"]).tolist()
    assert "b was copied 4 times along axis 0" in player.root.locator(".unfold").text_content()
    assert player.root.locator(".unfold .along").first.text_content() == "Σ axis 0 →"
    at(player, traced, kind="pull back", entry=0)
    assert player.root.locator(".unfold svg").count() == 0, "and only where it happens"


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((4, 1), "3 times along axis 1"), ((), "12 times along axes 0 and 1"), ((1, 3), "4 times along axis 0")],
)
def test_other_axes(shape: tuple[int, ...], axes: str, visit: Any, tmp_path: Path) -> None:
    traced = layer(shape)
    player = only(visit(save_page(traced, tmp_path)))
    step = at(player, traced, kind="accumulate", entry=0)
    small, large = player.root.evaluate(CELLS)
    assert small == np.ravel(step["contribution"]["data"]).tolist()
    assert sum(large) == sum(small)
    assert axes in player.root.locator(".unfold p").text_content()


def test_a_large_array_is_a_sample_in_colours(visit: Any, tmp_path: Path) -> None:
    traced = layer(rows=200)
    player = only(visit(save_page(traced, tmp_path)))
    at(player, traced, kind="accumulate", entry=0)
    small, large = player.root.evaluate(CELLS)
    assert (len(small), len(large)) == (3, 24)
    assert player.root.locator(".unfold text").count() == 1, "the sign between, and no numbers"


@pytest.mark.parametrize("shape", [(3,), (4, 1)])
def test_cells_slide_together_from_where_they_are(shape: tuple[int, ...], visit: Any, tmp_path: Path) -> None:
    traced = layer(shape)
    player = only(visit(save_page(traced, tmp_path), reduced_motion="no-preference"))
    steps = traced.document()["steps"]
    number = next(n for n, step in enumerate(steps) if "unfolded" in step)
    player.root.focus()
    player.through(["first", *["ArrowRight"] * (number - 1)], "() => null")
    player.root.page.wait_for_timeout(600)
    ends = player.root.evaluate("""async root => {
      root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      await new Promise(requestAnimationFrame);
      const round = ({ x, y }) => [Math.round(x), Math.round(y)];
      const centre = (cell) => round(cell.getBoundingClientRect());
      const copies = [...root.querySelectorAll(".unfold .copy rect")];
      const one = [...root.querySelectorAll(".unfold .one rect")].map(centre);
      for (const animation of root.querySelector(".unfold").getAnimations({ subtree: true })) {
        animation.pause();
        animation.currentTime = animation.effect.getTiming().duration * 0.999;
      }
      return [one, copies.map(centre)];
    }""")
    sums = ends[0] * 4 if shape == (3,) else np.repeat(ends[0], 3, axis=0)  # rows or columns, on the one of their sums
    assert np.abs(np.subtract(ends[1], sums)).max() <= 2
