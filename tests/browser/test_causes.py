"""The causes of a None stay in the panel, each a button that leads to its step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad
from browser.player_page import only, save_page, violations_in_both_schemes


def test_all_causes_are_buttons_from_the_first_step_of_the_explanation_on(visit: Any, tmp_path: Path) -> None:
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape(persistent=True) as tape:
        a = np.round(x)
        b = ad.stop_gradient(x)
        y = a * b + 1.0
    explanation = tape.explain(y, x)
    traced = explanation.trace()
    steps = traced.document()["steps"]
    player = only(visit(save_page(traced, tmp_path)))
    causes = player.root.locator(".causes button")
    assert not causes.first.is_visible()
    first = next(number for number, step in enumerate(steps) if step["kind"] == "explain")
    for _ in range(first):
        player.click("next")
    assert player.root.locator(".causes .label").text_content() == "2 cuts"
    assert causes.all_text_contents() == [cause.text for cause in explanation.causes]
    assert player.root.locator(".about").is_hidden()
    for number, cause in enumerate(explanation.causes):
        causes.nth(number).click()
        assert player.root.locator(".sentence").text_content() == cause.text
        assert player.root.locator(".causes [aria-current]").all_text_contents() == [cause.text]
        assert player.root.get_by_role("columnheader", name="cotangent").count() == 0
        assert violations_in_both_schemes(player.root) == []
    causes.first.focus()
    player.press("Enter")
    assert player.root.locator(".sentence").text_content() == explanation.causes[0].text
