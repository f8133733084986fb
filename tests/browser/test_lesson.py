"""A step at which the code stopped: red, with a cross at its line and marks on the numbers that do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.text.shared import colours
from browser.player_page import only, save_page, violations_in_both_schemes

LOOK = """root => {
  const text = (selector) => root.querySelector(selector)?.textContent;
  const lit = root.querySelector("[data-lit]");
  const pixels = (part) => parseFloat(getComputedStyle(part).fontSize);
  return {
    pill: text(".direction"),
    red: [".direction", ".lines > [data-lit] .number"].map((part) => getComputedStyle(root.querySelector(part)).color),
    sign: getComputedStyle(lit.querySelector(".number"), "::after").content,
    line: lit.textContent,
    lesson: text(".lesson p"),
    size: pixels(root.querySelector(".lesson p")),
    marked: [...root.querySelectorAll(".lesson mark")].map((part) => part.textContent),
    message: text(".lesson .message"),
    rows: [...root.querySelectorAll(".panel tbody tr[data-row]")].map((row) => row.querySelector(".name").textContent),
    boxes: [...root.querySelectorAll("[data-known] [data-part=name]")].map((part) => part.textContent),
    state: text('[data-state="now"] .state'),
    edges: root.querySelectorAll(".lit [data-edge]").length,
  };
}"""


def layer(w: Any) -> Any:
    h = np.tanh(ad.constant(np.ones((3, 2)), name="x") * 1.0)
    return h @ w


def stopped(f: Any, *args: Any) -> ad.Trace:
    with pytest.raises(Exception), ad.trace() as traced, ad.GradientTape():  # noqa: B017, PT011
        f(*args)
    return traced


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_last_step_is_a_lesson(scheme: str, visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(stopped(layer, ad.Variable(np.ones((3, 1)), name="w")), tmp_path), color_scheme=scheme)
    player = only(tab)
    player.click("last")
    seen = player.root.evaluate(LOOK)
    wanted = colours()["odd"][scheme == "dark"]
    assert set(seen["red"]) == {f"rgb({', '.join(str(int(wanted[k : k + 2], 16)) for k in (1, 3, 5))})"}
    assert (seen["pill"], seen["state"], seen["sign"]) == ("✗ stopped", "✗ stopped", '"✗"')
    assert "h @ w" in seen["line"]
    assert seen["lesson"].startswith(
        "h has shape (3, 2), w has shape (3, 1): @ needs the two inner lengths to be equal: 2 ≠ 3"
    )
    assert seen["size"] == 18
    assert seen["marked"] == ["2", "3", "2", "3"]
    assert "gufunc" in seen["message"]
    assert seen["rows"] == ["h", "w"]
    assert "w" in seen["boxes"]
    assert seen["edges"] == 2
    assert violations_in_both_schemes(player.root) == []
    player.click("previous")
    assert player.root.locator(".lesson").is_hidden()
    assert player.root.locator(".direction").text_content() == "→ forward pass"
    tab.is_quiet()


def test_an_error_that_is_about_no_operation_fills_the_panel_too(visit: Any, tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        x * 2.0
        raise RuntimeError("the sensor is not connected <b>at all</b>")

    player = only(visit(save_page(stopped(f, ad.Variable(1.0)), tmp_path)))
    player.click("last")
    seen = player.root.evaluate(LOOK)
    assert seen["lesson"] == "RuntimeError: the sensor is not connected <b>at all</b>"
    assert player.root.locator(".lesson p").is_visible()
    assert (seen["marked"], seen["message"], seen["rows"]) == ([], None, [])


def test_a_reader_s_own_colours_are_kept(visit: Any, tmp_path: Path) -> None:
    traced = stopped(layer, ad.Variable(np.ones((3, 1)), name="w"))
    player = only(visit(save_page(traced, tmp_path), forced_colors="active"))
    player.click("last")
    shown, behind = player.root.locator('[data-action="play"]').evaluate(
        "button => [getComputedStyle(button).color, getComputedStyle(button).backgroundColor]"
    )
    assert shown != behind
