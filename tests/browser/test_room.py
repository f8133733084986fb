"""Nothing lies over anything else or out of its place, however little room there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_edu as ad
from browser.player_page import only, save_page
from browser.test_panel import Panel, traced


def test_a_large_sum_stays_in_the_panel_and_leaves_room_to_the_formula(visit: Any, tmp_path: Path) -> None:
    def wave(x: Any) -> Any:
        return np.sin(x) * x

    shown = Panel(visit, tmp_path, traced(wave, x=np.linspace(0.0, 2.0, 1000)))
    shown.go(shown.find("accumulate", "y", True))
    sides = """root => [".body", ".accumulator", ".at-hand", ".at-hand [data-field=forward]"].map((part) => {
      const { top, bottom } = root.querySelector(part).getBoundingClientRect();
      return [top, bottom];
    })"""
    for _ in ("as it is", "while it asks"):
        for width, height in ((1280, 720), (1280, 560), (390, 844)):
            shown.root.page.set_viewport_size({"width": width, "height": height})
            shown.root.evaluate("() => new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)))")
            body, total, at_hand, formula = shown.root.evaluate(sides)
            if width == 390:
                assert total[1] <= height - 50, "the sum lies above the buttons, at the lower edge of the screen"
            else:
                for inner in (total, at_hand):
                    assert body[0] <= inner[0] < inner[1] <= body[1] + 0.5
            assert total[1] - total[0] > 60
            assert at_hand[0] <= formula[0] < formula[1] <= at_hand[1]
        shown.player.click("predict")


def test_a_long_formula_goes_on_below(visit: Any, tmp_path: Path) -> None:
    with ad.trace() as trace:
        ad.jvp(lambda r: 4 / 3 * np.pi * r * r * r, (2.0,), (1.0,))
    shown = Panel(visit, tmp_path, trace, viewport={"width": 960, "height": 720})
    shown.go(len(shown.steps) - 1)
    formula = shown.root.locator('[data-field="backward"]')
    assert formula.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert "16.7552" in formula.text_content()
    assert (
        formula.locator("math").bounding_box()["height"]
        > 1.5 * shown.root.locator('[data-field="forward"] math').bounding_box()["height"]
    )


def test_on_a_telephone_the_code_does_not_lie_over_the_graph(visit: Any, tmp_path: Path) -> None:
    def many(x: Any) -> Any:
        a = x * x
        b = a * x
        c = b * x
        d = c * x
        e = d * x
        f = e * x
        g = f * x
        h = g * x
        i = h * x
        j = i * x
        k = j * x
        m = k * x
        n = m * x
        return n  # noqa: RET504 - the lines are needed

    with ad.trace() as traced:
        ad.grad(many)(1.5)
    player = only(visit(save_page(traced, tmp_path), viewport={"width": 390, "height": 844}))
    edges = """root => [root.querySelector(".code-figure > figure").getBoundingClientRect().bottom,
      root.querySelector(".graph-figure").getBoundingClientRect().top]"""
    for _ in range(2):
        code, graph = player.root.evaluate(edges)
        assert code <= graph
        player.click("predict")


def test_the_first_view_shows_where_the_first_value_is(visit: Any, tmp_path: Path) -> None:
    """A wide graph, and a first step that's about no tensor."""

    def many(x: Any) -> Any:
        return sum(np.sin(x * k) for k in (2.0, 3.0, 4.0, 5.0, 6.0, 7.0))

    def told(x: Any) -> Any:
        return many(x)

    x = ad.Variable(1.5, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = told(x)
        tape.gradient(y, x)
    player = only(visit(save_page(traced, tmp_path), viewport={"width": 960, "height": 720}))
    inside = """root => {
      const sides = (part) => root.querySelector(part).getBoundingClientRect();
      const [box, outer] = [sides(".graph [data-tensor]"), sides(".graph")];
      return [outer.left <= box.left && box.right <= outer.right, root.dataset.kind];
    }"""
    assert player.root.evaluate(inside) == [True, "line"]


class Pendulum:
    """A method, of which the call and the arguments are long."""

    def __init__(self, length: float) -> None:
        self.length = length

    def energy(self, theta: Any, omega: Any) -> Any:
        kinetic = 0.5 * (self.length * omega) ** 2
        return kinetic + 9.81 * self.length * (1 - np.cos(theta))


def simulate(theta: Any, omega: Any) -> Any:
    swing = Pendulum(1.5)
    return swing.energy(theta - 0.339, omega - 1.27)


def power(x: Any, n: int) -> Any:
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@pytest.mark.parametrize("function", [simulate, lambda x, _: power(x, 6)])
@pytest.mark.parametrize(("width", "height", "stage"), [(1280, 720, True), (1280, 720, False), (390, 844, False)])
def test_the_calls_under_way_stay_above_the_code_and_the_innermost_is_whole(
    function: Any, width: int, height: int, stage: bool, visit: Any, tmp_path: Path
) -> None:
    page = tmp_path / "calls.html"
    page.write_text(ad.play(function, 0.6, 0.0).page(), encoding="utf-8")
    player = only(visit(page.as_uri(), viewport={"width": width, "height": height}))
    if stage:
        player.root.focus()
        player.press("f")
        player.measures(x=0, y=0, width=width, height=height)
    else:
        player.fits()
    seen = player.at_every_step("""root => {
      const right = (part) => root.querySelector(part).getBoundingClientRect().right;
      const call = root.querySelector(".stack > .call");
      const calls = root.querySelector(".stack").title.split(" › ");
      return [right(".call") - right(".code-figure"), call.scrollWidth - call.clientWidth, calls, call.textContent];
    }""")
    assert max(out for out, *_ in seen) <= 0.5
    assert max(cut for _, cut, *_ in seen) <= 0
    assert all(innermost == calls[-1] for *_, calls, innermost in seen)
    assert max(len(calls) for *_, calls, _ in seen) > (1 if function is simulate else 6)


def masked(scores: Any, values: Any) -> Any:
    kept = np.where(np.tril(np.ones((4, 4), bool)), scores, -1e9)
    weights = np.exp(kept - np.max(kept, axis=1, keepdims=True))
    return np.mean((weights @ values) ** 2)


# Of each small table: how much too wide it is, and how wide it fades at its right side.
TABLES = """root => [...root.querySelectorAll(".picture:has(> .numbers)")]
  .filter((one) => one.checkVisibility()).map((one) => {
  const table = Math.max(...[...one.children].map((piece) => piece.getBoundingClientRect().width));
  return [table - one.clientWidth, parseFloat(getComputedStyle(one).maskImage.match(/([\\d.]+)px\\)$/)[1])];
})"""


def test_a_number_is_whole_or_fades_where_its_table_scrolls(visit: Any, tmp_path: Path) -> None:
    page = tmp_path / "numbers.html"
    scores = np.linspace(-0.00285377, 0.00712345, 16).reshape(4, 4)
    page.write_text(ad.play(masked, scores, scores[:, :2]).page(), encoding="utf-8")
    player = only(visit(page.as_uri(), viewport={"width": 1280, "height": 720}))
    seen = [one for tables in player.at_every_step(TABLES) for one in tables]
    assert {lacks > 0.5 for lacks, _ in seen} == {False, True}
    assert all((fade >= 9) if lacks > 0.5 else fade == 0 for lacks, fade in seen)
    texts = player.at_every_step("root => root.querySelector('.at-hand').textContent")
    assert any("−1e9" in text for text in texts)


def test_two_columns_that_have_no_room_side_by_side_are_added_below_each_other(visit: Any, tmp_path: Path) -> None:
    def error(out: Any) -> Any:
        return np.sum(out * out)

    page = tmp_path / "sum.html"
    numbers = np.array([[0.166, 0.1292], [0.2209, -0.1648], [-0.8217, -0.00285377]])
    page.write_text(ad.play(error, numbers).page(), encoding="utf-8")
    player = only(visit(page.as_uri(), viewport={"width": 1280, "height": 720}))
    seen = [one for tables in player.at_every_step(TABLES) for one in tables]
    assert seen
    assert max(lacks for lacks, _ in seen) <= 0.5
