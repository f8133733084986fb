"""The strip under the scrubber: what changes over the steps, as curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import HOSTILE, diamond, forward_mode, logistic, training

import autodiff_edu as ad
from browser.player_page import only, save_page, violations

# What the chips say, and from which step on which height is drawn.
READ = """root => ({
  chips: [...root.querySelectorAll(".chips button")].map((chip) => chip.querySelector("span").textContent),
  ranges: [...root.querySelectorAll(".range")].map((range) => range.checkVisibility() ? range.textContent : null),
  pressed: [...root.querySelectorAll(".chips button")].map((chip) => chip.ariaPressed === "true"),
  inks: [...root.querySelectorAll(".band [data-ink]")].map((path) => path.dataset.ink),
  said: root.querySelector(".band svg").getAttribute("aria-label"),
  marker: root.querySelector(".band i").getBoundingClientRect().x + 1 -
    root.querySelector(".band").getBoundingClientRect().x,
  band: root.querySelector(".band").getBoundingClientRect().width,
})"""


def values(document: dict[str, Any], name: str, number: int) -> dict[str, Any] | None:
    """What a variable has at a step."""
    (tensor,) = [k for k, one in enumerate(document["tensors"]) if one["name"] == name]
    found = None
    for step in document["steps"][: number + 1]:
        if step.get("tensor") == tensor and step["kind"] in ("watch", "assign"):
            found = step["value"] if step["kind"] == "assign" else found or document["tensors"][tensor]["value"]
    return found


def norm(name: str, array: Any) -> str:
    return f"‖{name}‖ = {np.linalg.norm(np.asarray(array)):.4g}"


def test_the_chips_have_what_the_document_has_at_every_step(visit: Any, tmp_path: Path) -> None:
    traced = logistic()
    document, tab = traced.document(), visit(save_page(traced, tmp_path))
    player, last = only(tab), len(traced) - 1
    changes = [number for number, step in enumerate(document["steps"]) if step["kind"] in ("watch", "seed", "assign")]
    seen = {}
    for number in sorted({0, last, *changes}):
        player.root.locator("input[type=range]").fill(str(number))
        player.stands_at(number)
        seen[number] = player.root.evaluate(READ)
    for number, read in seen.items():
        loss, w, b, p = read["chips"]
        known = values(document, "b", number)
        assert b == ("b" if known is None else f"b = {known['text']}")
        known = values(document, "w", number)
        assert w == ("w" if known is None else norm("w", known["data"]))
        assert read["pressed"] == [True] * 4
        assert read["marker"] == pytest.approx(8 + number / last * (read["band"] - 16), abs=0.1)
        assert read["ranges"] == ["0.591 to 0.693", "0 to 0.444", "-0.0114 to 0", "1 to 1.06"]
    assert (loss, p) == ("loss = 0.590605", "‖p‖ = 1.059")
    assert {read["said"] for read in seen.values()} == {
        "loss falls from 0.6931 to 0.5906 over 3 values. the norm of w rises from 0 to 0.4435 over 4 values. "
        "b falls from 0 to -0.01145 over 4 values. the norm of p rises from 1 to 1.059 over 3 values."
    }
    assert not player.root.locator(".cotangent").is_visible(), "three values are no curve of a cotangent"
    tab.is_quiet()


@pytest.mark.parametrize("program", [diamond, forward_mode])
def test_where_nothing_changes_there_is_no_strip(program: Any, visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(program(), tmp_path))
    assert only(tab).root.locator(".curves").count() == 0
    tab.is_quiet()


def test_a_click_and_the_arrows_go_to_where_something_changes(visit: Any, tmp_path: Path) -> None:
    traced = logistic()
    steps = traced.document()["steps"]
    tab = visit(save_page(traced, tmp_path))
    shown = only(tab)
    loss, w, b, p = shown.root.locator(".chips button").all()
    for chip in (w, p, loss):
        chip.click()
    assigned = [k for k, step in enumerate(steps) if step["kind"] == "assign" and step["value"]["shape"] == []]
    band = shown.root.locator(".band")
    width = band.bounding_box()["width"]
    for number, off in ((assigned[1], 3), (assigned[0], -3)):
        x = 8 + (number + off) / (len(steps) - 1) * (width - 16)
        band.click(position={"x": x, "y": 20})
        shown.stands_at(number)
    b.focus()
    for key, number in (("ArrowDown", assigned[1]), ("ArrowDown", assigned[2]), ("ArrowDown", assigned[2])):
        shown.press(key)
        shown.stands_at(number)
    shown.press("ArrowUp")
    shown.stands_at(assigned[1])
    shown.press("ArrowRight")  # as anywhere in the player
    shown.stands_at(assigned[1] + 1)


def test_four_curves_are_drawn_at_once_and_the_oldest_gives_way(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(training(5), tmp_path))
    shown = only(tab)
    first = shown.root.evaluate(READ)
    assert first["chips"][0] == "loss"
    assert first["pressed"] == [True, True, True, True, False, False]
    shown.root.locator(".chips button").nth(4).click()
    after = shown.root.evaluate(READ)
    assert after["pressed"] == [False, True, True, True, True, False]
    assert sorted(after["inks"]) == ["0", "1", "2", "3"]
    for k in (1, 2, 3, 4):
        shown.root.locator(".chips button").nth(k).click()
    assert shown.root.evaluate(READ)["said"].startswith("The size of the cotangent of W1, ")
    shown.root.locator(".cotangent select").select_option("no cotangent")
    assert shown.root.evaluate(READ)["said"] == "No curve is drawn"
    assert shown.root.locator(".end:not(:empty)").count() == 0
    shown.root.locator(".band").click()  # the step that is there
    shown.stands_at(round(int(shown.root.locator("input[type=range]").get_attribute("max")) / 2))
    assert violations(shown.root) == []
    tab.is_quiet()


def test_what_is_still_to_come_is_hidden_from_who_predicts(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(logistic(), tmp_path))
    shown = only(tab)
    clip = "band => [getComputedStyle(band.firstChild).clipPath, getComputedStyle(band).pointerEvents]"
    band = shown.root.locator(".band")
    assert band.evaluate(clip) == ["none", "auto"]
    shown.click("predict")
    assert band.evaluate(clip) == ["inset(-3px 100% -3px 0px)", "none"]
    assert shown.root.evaluate(READ)["said"] == "Values up to this step"
    assert not shown.root.locator(".end").first.is_visible()
    assert shown.root.evaluate(READ)["ranges"] == [None] * 4


def test_a_gradient_that_vanishes_is_a_line_that_falls_on_a_logarithmic_scale(visit: Any, tmp_path: Path) -> None:
    def settle(x: Any) -> Any:
        y = x
        for _ in range(120):
            y = 0.5 * np.sin(y) + 0.1
        return y

    page = tmp_path / "settle.html"
    ad.play(settle, 0.7).save(page)
    tab = visit(page.as_uri())
    shown = only(tab)
    shown.click("last")
    chosen = shown.root.locator(".cotangent")
    assert chosen.locator("option").all_text_contents() == ["|cotangent of y|, log", "no cotangent"]
    high, low = shown.root.locator(".end").all_text_contents()
    assert (high, low) == ("1", "1.3e-37"), "the curve is of y, without what comes back to x"
    assert chosen.locator("span").text_content() == f"= {low}"
    heights = [float(part.split("H")[0]) for part in shown.root.locator(".fall").get_attribute("d").split("V")[1:]]
    assert len(heights) == 119
    assert heights == sorted(heights)
    assert violations(shown.root) == []
    tab.is_quiet()


def test_the_curves_are_strong_up_to_the_step_at_hand(visit: Any, tmp_path: Path) -> None:
    traced = logistic()
    shown = only(visit(save_page(traced, tmp_path), viewport={"width": 1280, "height": 720}))
    shown.root.locator("input[type=range]").fill(str((len(traced) - 1) // 2))
    mask = shown.root.locator(".band svg").evaluate("svg => getComputedStyle(svg).maskImage")
    assert "rgba(0, 0, 0, 0.2) 0" in mask.replace("0px", "0")
    assert shown.root.locator(".band").bounding_box()["height"] == 48
    shown.root.focus()
    shown.press("f")
    shown.root.locator("[data-tab]").first.wait_for()
    width = shown.root.page.viewport_size["width"]
    assert shown.root.locator(".band").bounding_box()["height"] == pytest.approx(0.062 * width, abs=1)


def test_unnamed_targets_large_arrays_gaps_and_odd_names(visit: Any, tmp_path: Path) -> None:
    start = np.arange(400.0).reshape(20, 20)
    w, odd = ad.Variable(start, name="w"), ad.Variable(1.0, name=HOSTILE)
    with ad.trace("odd") as traced:
        for turn in range(4):
            with ad.GradientTape() as tape:
                dw = tape.gradient(np.mean(w * w), w)
            w.assign_sub(50 * dw)
            odd.assign([2.0, np.inf, 3.0, 1.0][turn])
    (large,) = [one for one in traced.document()["tensors"] if one["name"] == "w"]
    assert large["value"]["norm"] == float(f"{np.linalg.norm(start):.6g}")
    tab = visit(save_page(traced, tmp_path))
    shown = only(tab)
    shown.press("Home")
    shown.root.focus()
    shown.press("End")
    read = shown.root.evaluate(READ)
    target, changed, named = read["chips"][:3]
    assert target.startswith("the target = ")
    assert changed == norm("w", w)
    assert named == f"{HOSTILE} = 1"
    path = shown.root.locator('.band [data-ink="2"]').get_attribute("d")
    assert path.count("M") == 2  # infinity is a gap
    assert tab.page.evaluate("window.hacked") is None
    tab.is_quiet()
