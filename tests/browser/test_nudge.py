"""Nudging in a page without Python: a slider over the kept nudges, two numbers side by side, and a picture of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import broadcasting, descent, diamond, square

import autodiff_edu as ad
from browser.player_page import only, save_page, violations_in_both_schemes


def cut() -> ad.Trace:
    x, w = ad.Variable(1.0, name="x"), ad.Variable(3.0, name="w")
    with ad.trace("cut") as traced:
        with ad.GradientTape() as tape:
            s = np.sign(x)
            z = s * w * w
        tape.gradient(z, [x, w])
    return traced


def by_half() -> ad.Trace:
    x = ad.Variable(3.0, name="x")
    with ad.trace("by half") as traced:
        with ad.GradientTape() as tape:
            z = x * ad.stop_gradient(x)
        tape.gradient(z, x)
    return traced


def trace_of(function: Any, value: float) -> ad.Trace:
    x = ad.Variable(value, name="x")
    with ad.trace("one") as traced:
        with ad.GradientTape() as tape:
            y = function(x)
        tape.gradient(y, x)
    return traced


class Nudging:
    """The nudges of the only player of a page."""

    def __init__(self, tab: Any) -> None:
        self.player = only(tab)
        self.root = self.player.root
        self.panel = self.root.get_by_role("group", name="Nudge a value")
        self.slider = self.panel.get_by_role("slider", name="Nudge")
        self.choice = self.panel.get_by_role("combobox", name="What to nudge")

    def open(self) -> Nudging:
        self.root.get_by_role("button", name="Nudge", exact=True).click()
        return self

    def numbers(self) -> dict[str, str]:
        labels, values = (self.panel.locator(tag).all_text_contents() for tag in ("dt", "dd"))
        return dict(zip(labels, values, strict=True))

    def changes(self) -> str:
        return str(self.panel.locator("span").text_content())

    def chosen(self) -> str:
        return str(self.choice.locator("option:checked").text_content())


def test_the_slider_shows_both_numbers_and_the_gap_by_keyboard_alone(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(square(), tmp_path))
    nudging = Nudging(tab)
    nudging.root.get_by_role("button", name="Nudge", exact=True).focus()
    tab.page.keyboard.press("Enter")
    assert nudging.changes() == "x: 3 → 3.1"
    shown = {"y actually moves": "+0.61", "the cotangent says": "6 × 0.1 = +0.6", "the gap": "+0.01"}
    assert nudging.numbers() == shown
    gap = nudging.panel.locator("path.gap").bounding_box()["height"]
    step = nudging.root.get_attribute("data-step")
    tab.page.keyboard.press("End")
    assert nudging.changes() == "x: 3 → 4"
    assert nudging.numbers() == {"y actually moves": "+7", "the cotangent says": "6 × 1 = +6", "the gap": "+1"}
    assert nudging.panel.locator("path.gap").bounding_box()["height"] > gap
    assert nudging.slider.get_attribute("aria-valuetext") == "nudge +1: y actually moves +7, the cotangent says +6"
    tab.page.keyboard.press("Home")
    assert list(nudging.numbers().values()) == ["−5", "6 × −1 = −6", "+1"]
    for _ in range(20):
        tab.page.keyboard.press("ArrowRight")
    assert list(nudging.numbers().values()) == ["0", "6 × 0 = 0", "0"]
    assert nudging.root.get_attribute("data-step") == step, "the arrows moved the slider alone"
    tab.page.keyboard.press("Escape")
    assert not nudging.panel.is_visible()
    tab.page.keyboard.press("Space")
    assert nudging.panel.is_visible(), "the focus went back to the button"
    tab.is_quiet()


def test_it_nudges_the_tensor_at_hand_and_follows_the_steps(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(diamond(), tmp_path))
    nudging = Nudging(tab)
    nudging.player.click("last")
    box = nudging.root.locator('[data-tensor="1"]')
    name = box.locator('[data-part="name"]').text_content()
    box.click()
    nudging.open()
    assert nudging.chosen().startswith(f"{name}[0]")
    nudging.player.click("first")
    assert nudging.chosen() == "a[0]"
    assert nudging.numbers()["total actually moves"] == "+0.4"
    nudging.choice.select_option("a along its cotangent")
    assert nudging.changes() == "by +0.1"
    assert nudging.numbers()["the cotangent says"] == "5.657 × 0.1 = +0.5657"
    tab.is_quiet()


def test_a_nudge_says_when_it_means_the_complete_cotangent(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(square(), tmp_path))
    nudging = Nudging(tab)
    nudging.player.click("last")
    nudging.open()
    document, seen = square().document(), dict[int, str]()
    for number, step in enumerate(document["steps"]):
        nudging.player.root.locator(".scrubber input").fill(str(number))
        if step.get("tensor") == 0 and step["kind"] == "accumulate":
            seen[step["count"]] = [*nudging.numbers()][1]
    assert seen == {1: "the complete cotangent says", 2: "the cotangent says"}
    nudging.player.click("first")
    assert nudging.numbers()["the cotangent says"] == "6 × 0.1 = +0.6"
    tab.is_quiet()


def test_it_begins_with_the_turn_on_show(visit: Any, tmp_path: Path) -> None:
    nudging = Nudging(visit(save_page(descent(), tmp_path)))
    nudging.player.click("last")
    nudging.open()
    chosen = "select => [select.selectedIndex, select.selectedOptions[0].text]"
    assert nudging.choice.evaluate(chosen) == [0, "x → y₃"], "the update of x in the third turn"
    nudging.player.root.locator(".scrubber input").fill("13")
    assert nudging.choice.evaluate(chosen) == [0, "x → y₂"]


def test_after_a_cut_the_target_moves_and_the_cotangent_says_0(visit: Any, tmp_path: Path) -> None:
    nudging = Nudging(visit(save_page(cut(), tmp_path))).open()
    nudging.choice.select_option("x")
    nudging.slider.focus()
    nudging.player.press("Home")
    assert nudging.changes() == "x: 1 → 0"
    assert nudging.numbers() == {"z actually moves": "−9", "the cotangent says": "nothing", "the gap": "—"}
    assert "No cotangent reached x" in nudging.panel.inner_text()
    assert nudging.panel.locator("path.said").get_attribute("d") == ""


def test_where_one_of_two_paths_is_cut_it_says_so(visit: Any, tmp_path: Path) -> None:
    nudging = Nudging(visit(save_page(by_half(), tmp_path))).open()
    shown = {"z actually moves": "+0.61", "the cotangent says": "3 × 0.1 = +0.3", "the gap": "+0.31"}
    assert nudging.numbers() == shown
    assert "No gradient flows back through" in nudging.panel.inner_text()
    assert "stop_gradient(x)" in nudging.panel.inner_text()


def test_where_the_code_would_take_another_branch_it_says_so(visit: Any, tmp_path: Path) -> None:
    def branch(x: Any) -> Any:
        return x * 3.0 if x > 1 else x

    nudging = Nudging(visit(save_page(trace_of(branch, 1.5), tmp_path))).open()
    nudging.slider.focus()
    nudging.player.press("Home")
    assert list(nudging.numbers().values()) == ["unknown", "3 × −1 = −3", "—"]
    said = nudging.panel.locator("p").text_content()
    assert "x > 1 (line " in said
    assert "comes out differently, so your code may do something else" in said
    assert nudging.changes() == "x: 1.5 → 0.5"


def test_at_a_corner_it_names_the_corner(visit: Any, tmp_path: Path) -> None:
    nudging = Nudging(visit(save_page(trace_of(lambda x: np.abs(x) * 2.0, 0.0), tmp_path))).open()
    said = nudging.panel.locator("p").text_content()
    assert "x is at a corner of t1 = absolute(x)" in said
    assert "slope −1 on its left, 1 on its right. The rule takes 0" in said


@pytest.mark.parametrize("viewport", [(1280, 720), (820, 1180), (375, 667)])
def test_it_stands_below_the_sum_and_hides_nothing(visit: Any, tmp_path: Path, viewport: tuple[int, int]) -> None:
    size = dict(zip(("width", "height"), viewport, strict=True))
    tab = visit(save_page(broadcasting(), tmp_path), viewport=size)
    nudging = Nudging(tab)
    traced = broadcasting().document()["steps"]
    adds = next(number for number, step in enumerate(traced) if step["kind"] == "accumulate")
    nudging.root.locator(".scrubber input").fill(str(adds))
    before = nudging.root.bounding_box()
    nudging.open()
    outer, inner = nudging.root.bounding_box(), nudging.panel.bounding_box()
    if viewport[0] > 640:
        assert (outer["width"], outer["height"]) == (before["width"], before["height"])
        total = nudging.root.locator(".accumulator").bounding_box()
        assert total["y"] + total["height"] <= inner["y"]
    assert outer["x"] <= inner["x"]
    assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
    assert outer["y"] <= inner["y"]
    assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]
    for part in (".graph-figure", ".code-figure", ".at-hand"):
        other = nudging.root.locator(part).bounding_box()
        beside = other["x"] + other["width"] <= inner["x"] or inner["x"] + inner["width"] <= other["x"]
        below = other["y"] + other["height"] <= inner["y"] or inner["y"] + inner["height"] <= other["y"]
        assert beside or below, part
    shown = nudging.slider.bounding_box()
    assert 0 <= shown["y"] <= viewport[1], "the slider was brought into view"
    assert violations_in_both_schemes(nudging.root) == []


def test_the_graph_shows_what_changes_and_the_axes_have_names(visit: Any, tmp_path: Path) -> None:
    nudging = Nudging(visit(save_page(square(), tmp_path)))
    changes = nudging.root.locator(".graph .change")
    assert not changes.count()
    nudging.open()
    assert changes.all_text_contents() == ["3 → 3.1", "9 → 9.61"]
    assert [box.get_attribute("data-tensor") for box in nudging.root.locator("[data-tensor]:has(.change)").all()] == [
        "0",
        "1",
    ]
    nudging.slider.focus()
    nudging.player.press("Home")
    assert changes.all_text_contents() == ["3 → 2", "9 → 4"]
    ends = ["−1", "+1", "−6", "+7"]
    assert nudging.panel.locator("svg text").all_text_contents() == ["nudge of x", "change of y", *ends]
    moved = nudging.panel.locator("path.moved").get_attribute("d")
    assert moved.count("L") == 40, "41 points make a curve that looks smooth"
    nudging.player.press("Escape")
    assert not changes.count()


def cancel(x: Any) -> Any:
    return (1 - np.cos(x)) / x**2


def test_numbers_far_from_1_are_written_as_everywhere_else(visit: Any, tmp_path: Path) -> None:
    ad.play(cancel, 1e-8).save(tmp_path / "far.html")
    nudging = Nudging(visit((tmp_path / "far.html").as_uri())).open()
    assert nudging.changes() == "x: 1e-08 → 1.1e-08"
    assert nudging.numbers()["the cotangent says"] == "1e+08 × 1e-09 = +0.1"
    assert {"−1e-08", "+1e-08"} <= set(nudging.panel.locator("svg text").all_text_contents())
    ad.play(lambda y: np.sqrt(y * y + 1) - y, 1e9).save(tmp_path / "far.html")
    nudging = Nudging(visit((tmp_path / "far.html").as_uri())).open()
    assert nudging.changes() == "by +0.1", "with six digits, both are 1e+09"


@pytest.mark.parametrize(
    ("function", "value", "shown"),
    [
        (cancel, 1e-8, ["→ 1.1e-08", "0 → 0.9175"]),
        (lambda y: np.sqrt(y * y + 1) - y, 1e9, ["+0.1", "0 → 0"]),
        (lambda a: np.sum(np.linalg.inv(a)), [[1, 2], [2, 4 + 1e-12]], ["a[0, 0]: 1 → 1.1", "9.999e+11 → 0"]),
        (lambda x: x * 123456, 1.0, ["1 → 1.1", "123500 → 135800"]),
    ],
)
def test_a_change_that_does_not_fit_into_its_box_shows_the_new_value_alone(
    function: Any, value: Any, shown: list[str], visit: Any, tmp_path: Path
) -> None:
    ad.play(function, value).save(tmp_path / "wide.html")
    nudging = Nudging(visit((tmp_path / "wide.html").as_uri())).open()
    changes = nudging.root.locator(".graph .change")
    assert changes.all_text_contents() == shown
    for change in changes.all():
        width, frame = (
            change.bounding_box()["width"],
            change.locator("xpath=../*[local-name() = 'rect']").bounding_box(),
        )
        assert change.bounding_box()["x"] + width < frame["x"] + frame["width"]
        change.evaluate("text => text.removeAttribute('textLength')")
        assert width >= change.bounding_box()["width"] / 1.3, "no letter is squeezed until it cannot be read"


# The contrast of what is faded with its background, as WCAG 2 measures it.
CONTRAST = """parts => parts.map((part) => {
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const frame = part.parentElement.querySelector("rect");
  const page = getComputedStyle(part.closest(".player")).backgroundColor;
  const luminance = (...colours) => {
    for (const [colour, opacity] of colours) {
      [pixel.fillStyle, pixel.globalAlpha] = [colour, opacity];
      pixel.fillRect(0, 0, 1, 1);
    }
    const [red, green, blue] = [...pixel.getImageData(0, 0, 1, 1).data].map((each) => each / 255).map((each) =>
      (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [back, { fill, opacity }] = [[[page, 1], [getComputedStyle(frame).fill, 1]], getComputedStyle(part)];
  const [low, high] = [luminance(...back), luminance(...back, [fill, opacity])].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_intermediate_values_fade_during_a_nudge(scheme: str, visit: Any, tmp_path: Path) -> None:
    traced = trace_of(lambda x: np.sin(x * 2.0) + x, 0.7)
    tab = visit(save_page(traced, tmp_path), color_scheme=scheme)
    nudging = Nudging(tab).open()
    faded = nudging.root.locator(".graph [data-faded]")
    assert [box.get_attribute("data-tensor") for box in faded.all()] == ["2", "3"], "the constant, 1, does not move"
    assert min(faded.locator('[data-part="value"]').evaluate_all(CONTRAST)) >= 4.5
    assert "faded values are those before the nudge" in nudging.panel.inner_text()
    nudging.slider.fill("20")  # no nudge
    assert faded.count() == 0
    assert "faded" not in nudging.panel.inner_text()
    nudging.slider.fill("0")
    nudging.player.press("Escape")
    assert faded.count() == 0
    tab.is_quiet()


def test_a_rounded_change_to_zero_shows_0(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(trace_of(lambda x: np.maximum(x, 0.0) * 2.0 + np.sin(np.maximum(x, 0.0)), 3.0), tmp_path))
    nudging = Nudging(tab).open()
    nudging.slider.fill("0")
    assert nudging.root.locator(".graph .change").all_text_contents() == ["3 → −2", "6.141 → 0"]


def test_a_line_ends_where_the_target_jumps_but_not_at_a_kink(visit: Any, tmp_path: Path) -> None:
    for function, value, pieces in (
        (lambda x: np.where(x > 5, 2.0 * x, x), 1.0, 2),
        (lambda x: np.maximum(x, 0.0), 3.0, 1),
        (lambda x: np.where(x > 0.5, np.sqrt(np.abs(x - 0.5)), 0.0), 1.0, 1),
        (lambda x: np.maximum(x, 0.0), -4.8, 1),
        (lambda x: np.floor(x / 4.0) * x, 10.2, 5),
        (lambda x: np.floor(x) * x, 2.99, 2),
    ):
        nudging = Nudging(visit(save_page(trace_of(function, value), tmp_path))).open()
        drawn = nudging.panel.locator("path.moved").get_attribute("d")
        assert (drawn.count("M"), drawn.count("M") + drawn.count("L")) == (pieces, 41)


def test_a_straight_line_has_no_gap_by_rounding() -> None:
    nudges = ad.play(lambda x: np.maximum(x, 0.0) * 1.2346, 3.3)._content["trace"]["nudges"]
    nudge = nudges[0]
    assert nudge["moved"][-1] == pytest.approx(nudge["slope"] * nudge["size"], rel=1e-6), "as the page computes it"


def test_the_curve_has_a_gap_where_its_target_is_not_a_number(visit: Any, tmp_path: Path) -> None:
    x = ad.Variable(3.0, name="x")
    with ad.trace("gap") as traced:
        with ad.GradientTape() as tape:
            y = np.sqrt((x - 2.1) * (x - 2.7))
        tape.gradient(y, x)
    nudging = Nudging(visit(save_page(traced, tmp_path))).open()
    nudging.choice.select_option("x")
    for role, gaps in (("moved", 1), ("said", 0)):
        drawn = nudging.panel.locator(f"path.{role}").get_attribute("d")
        assert drawn.count("M") == 1 + gaps
        assert drawn.count("M") + drawn.count("L") == 41 - 11 * gaps, "nothing is known from 2.15 to 2.65"


def test_on_stage_its_numbers_have_20_pixels(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(square(), tmp_path), viewport={"width": 1280, "height": 720})
    nudging = Nudging(tab)
    nudging.root.focus()
    nudging.player.press("f")
    nudging.root.locator(":scope[data-stage]").wait_for()
    nudging.open()
    for number in nudging.panel.locator("dd").all():
        assert float(number.evaluate("part => parseFloat(getComputedStyle(part).fontSize)")) >= 20
    box = nudging.panel.bounding_box()
    assert box["y"] + box["height"] <= 720
    nudging.player.press("Escape")
    assert nudging.root.get_attribute("data-stage") is not None, "Esc ended the nudging, not the stage"


@pytest.mark.parametrize("value", [1e-8, [[1e-8, 2e-8, 1e-8], [2e-8, 1e-8, 2e-8]]])
@pytest.mark.parametrize("height", [720, 1080])
def test_on_stage_its_reason_is_whole_and_the_largest_text_there(
    value: Any, height: int, visit: Any, tmp_path: Path
) -> None:
    ad.play(lambda x: np.sum(cancel(x)), value).save(tmp_path / "reason.html")
    viewport = {"width": height * 16 // 9, "height": height}
    nudging = Nudging(visit((tmp_path / "reason.html").as_uri(), viewport=viewport))
    nudging.root.focus()
    nudging.player.press("End")
    nudging.open()
    nudging.player.press("f")
    nudging.root.locator(":scope[data-stage]").wait_for()
    reason = nudging.panel.locator("p")
    assert reason.inner_text().startswith("The gap comes from rounding, not from curvature")
    assert "faded" not in reason.inner_text(), "that is not why"
    sizes = "parts => parts.map((part) => parseFloat(getComputedStyle(part).fontSize))"
    [size] = reason.evaluate_all(sizes)
    assert size >= max(19, *nudging.panel.locator("dt, dd, span, label").evaluate_all(sizes))
    inner, outer = reason.bounding_box(), nudging.panel.bounding_box()
    assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]


def test_on_stage_no_letters_of_its_plot_are_too_small(visit: Any, tmp_path: Path) -> None:
    for values in (1.5, [1.0, 2.0]):
        ad.play(lambda w: np.sum(w * w), values).save(tmp_path / "plot.html")
        nudging = Nudging(visit((tmp_path / "plot.html").as_uri(), viewport={"width": 1280, "height": 720}))
        nudging.root.focus()
        nudging.player.press("f")
        nudging.root.locator(":scope[data-stage]").wait_for()
        nudging.open()
        sizes = nudging.panel.evaluate("""panel => [...panel.querySelectorAll("svg text")].filter((text) =>
          text.checkVisibility()).map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)""")
        assert [size for size in sizes if size < 19] == []


def test_while_predict_is_on_it_gives_nothing_away(visit: Any, tmp_path: Path) -> None:
    nudging = Nudging(visit(save_page(square(), tmp_path))).open()
    nudging.player.click("predict")
    assert not nudging.panel.is_visible()
    assert not nudging.root.locator('[data-action="nudge"]').is_visible()
    nudging.player.click("predict")
    assert nudging.panel.is_visible()


def test_where_nothing_is_kept_there_is_no_button(visit: Any, tmp_path: Path) -> None:
    with ad.trace() as traced, ad.GradientTape():
        ad.Variable(1.0) * 2.0
    tab = visit(save_page(traced, tmp_path))
    assert not only(tab).root.locator('[data-action="nudge"]').count()
    tab.is_quiet()


def test_any_element_of_a_small_array_is_chosen_in_its_picture_with_the_mouse_and_the_keys(
    visit: Any, tmp_path: Path
) -> None:
    w = ad.Variable(np.arange(1.0, 7.0).reshape(2, 3), name="w")
    with ad.trace("squares") as traced, ad.GradientTape() as tape:
        y = np.sum(w * w)
    with ad.hook(traced._see):
        tape.gradient(y, w)
    tab = visit(save_page(traced, tmp_path))
    nudging = Nudging(tab).open()
    cells = nudging.panel.get_by_role("radio")
    assert cells.all_text_contents() == ["1", "2", "3", "4", "5", "6"]
    assert nudging.chosen() == "w[1, 2]"
    cells.nth(1).click()
    assert nudging.chosen() == "w[0, 1]"
    assert nudging.changes() == "w[0, 1]: 2 → 2.1"
    assert nudging.numbers()["the cotangent says"] == "4 × 0.1 = +0.4"
    step = nudging.root.get_attribute("data-step")
    for key, place in (("ArrowRight", "w[0, 2]"), ("ArrowDown", "w[1, 2]"), ("ArrowLeft", "w[1, 1]")):
        tab.page.keyboard.press(key)
        assert nudging.chosen() == place
        assert nudging.panel.locator('[aria-checked="true"]').evaluate("cell => cell.matches(':focus')")
    assert nudging.root.get_attribute("data-step") == step
    assert violations_in_both_schemes(nudging.root) == []
    nudging.choice.select_option("w along its cotangent")
    assert nudging.panel.locator('[aria-checked="true"]').count() == 0


def test_letters_are_the_players_and_a_change_is_whole_in_its_box_in_place_of_the_value(
    visit: Any, tmp_path: Path
) -> None:
    nudging = Nudging(visit(save_page(square(), tmp_path), viewport={"width": 1280, "height": 720})).open()
    for box in nudging.root.locator(".graph [data-tensor]:has(.change)").all():
        frame, change, name = (
            box.locator(part).first.bounding_box() for part in ("rect", ".change", "[data-part=name]")
        )
        assert frame["x"] < change["x"]
        assert change["x"] + change["width"] < frame["x"] + frame["width"]
        assert name["y"] + name["height"] <= change["y"] + 4
        assert change["y"] + change["height"] < frame["y"] + frame["height"]
        assert not box.locator('[data-part="value"]').is_visible()
    nudging.slider.focus()
    nudging.player.press("f")
    nudging.root.locator(":scope[data-stage]").wait_for()
