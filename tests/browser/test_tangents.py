"""Forward mode on a page: each tangent beside its value, in the boxes, the table, the formula and the heading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import forward_mode

import autodiff_edu as ad
from browser.player_page import Shown, only, save_page, violations_in_both_schemes


@pytest.fixture
def opened(visit: Any, tmp_path: Path) -> Any:
    def opened(traced: ad.Trace, **options: Any) -> tuple[Any, Shown]:
        tab = visit(save_page(traced, tmp_path), **options)
        return tab, only(tab)

    return opened


def go(shown: Shown, traced: ad.Trace, kind: str, place: int = 0) -> dict[str, Any]:
    document = traced.document()
    numbers = [number for number, step in enumerate(document["steps"]) if step["kind"] == kind]
    shown.root.locator("input[type=range]").fill(str(numbers[place]))
    shown.stands_at(numbers[place])
    return document["steps"][numbers[place]]


def texts(shown: Shown, selector: str) -> list[str]:
    return shown.root.locator(selector).all_text_contents()


def test_the_heading_and_the_boxes_say_that_tangents_flow(opened: Any) -> None:
    tab, shown = opened(traced := forward_mode())
    go(shown, traced, "record")
    assert texts(shown, ".direction") == ["→ forward pass"]
    go(shown, traced, "push forward")
    assert texts(shown, ".direction") == ["→ forward pass, with tangents"]
    assert shown.root.get_attribute("data-direction") == "forward"
    assert texts(shown, '[data-reached="tangent"] [data-part="cotangent"]') == ["→ 1", "→ 0.5", "→ 3.5"]
    assert not shown.root.locator(".panel th", has_text="cotangent").count()
    assert shown.root.locator(".turn[data-forward]").count() == 2
    tab.is_quiet()


def test_a_line_lights_up_only_where_a_tangent_comes_along(opened: Any) -> None:
    with ad.trace() as traced:
        ad.jvp(lambda x: x * np.array([1.0, 2.0]), (3.0,), (1.0,))
    _, shown = opened(traced)
    go(shown, traced, "push forward")
    flows = shown.root.locator(".lit > g").evaluate_all("all => all.map(edge => edge.dataset.flow ?? null)")
    assert flows == ["true", None]


def test_the_formula_adds_up_what_each_argument_moves(opened: Any) -> None:
    _, shown = opened(traced := forward_mode())
    go(shown, traced, "push forward")
    (line,) = texts(shown, '[data-field="backward"] math')
    assert line.replace(" ", "") == "y˙=x˙·w+w˙·x=1·2+0.5·3=3.5"
    assert texts(shown, ".accumulator .label") == ["from x", "from w", "tangent"]
    go(shown, traced, "move", 1)
    assert texts(shown, '[data-field="forward"] math') == ["w˙=0.5"]


def test_before_tangents_come_the_formula_names_all_that_can_move(opened: Any) -> None:
    _, shown = opened(traced := forward_mode())
    go(shown, traced, "record")
    (line,) = texts(shown, '[data-field="backward"] math')
    assert line == "y˙=x˙·w+w˙·x"


def test_a_stack_of_tangents_is_shown_as_one(opened: Any) -> None:
    _, shown = opened(traced := forward_mode())
    go(shown, traced, "push forward", -1)
    assert texts(shown, ".panel tbody .flow > .role") == ["a stack of 2"] * 3


def test_a_stack_of_cotangents_is_too(opened: Any) -> None:
    x = ad.constant([1.0, 2.0], name="x")
    with ad.trace() as traced, ad.GradientTape() as tape:
        tape.watch(x)
        tape.jacobian(x * x * 3.0, x)
    _, shown = opened(traced)
    go(shown, traced, "accumulate", -1)
    assert texts(shown, ".panel tbody .flow > .role")[0] == "contribution, a stack of 2"


def test_what_is_computed_while_tangents_flow_has_a_lane_and_a_frame(opened: Any) -> None:
    with ad.trace() as traced:
        ad.hvp(lambda x: x**3 + np.sin(x), (2.0,), (1.0,))
    tab, shown = opened(traced)
    go(shown, traced, "push forward", -1)
    assert shown.root.locator('.lane[data-fate="tangents"]').count() == 6
    assert [text for text in texts(shown, ".group .label") if "tangents over" in text] == ["→ tangents over tape 2"]
    go(shown, traced, "pull back", -1)
    assert texts(shown, ".direction") == ["← backward pass"]
    tab.is_quiet()


def test_tangents_can_be_read_by_everybody(opened: Any) -> None:
    _, shown = opened(traced := forward_mode())
    go(shown, traced, "push forward")
    shown.legible()
    assert violations_in_both_schemes(shown.root) == []
