"""NaN and infinities: red with a sign, from the step where they are born, on the scrubber, the node and the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs import divided

import autodiff_edu as ad
from autodiff_edu.text.shared import colours
from browser.player_page import only, save_page

READ = """root => ({
  nodes: [...root.querySelectorAll(".graph [data-tensor][data-odd]")].map((box) => Number(box.dataset.tensor)),
  signs: [...root.querySelectorAll(".graph .sign")].filter((sign) => sign.checkVisibility()).length,
  lines: [...root.querySelectorAll("[data-line][data-odd]")].map((line) => [Number(line.dataset.line), line.title]),
  born: root.querySelector(".sentence").dataset.born ?? null,
})"""


def test_nodes_line_and_scrubber_are_marked_from_the_birth_on(visit: Any, tmp_path: Path) -> None:
    traced = divided()
    document = traced.document()
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    births = [number for number, step in enumerate(document["steps"]) if "born" in step]
    assert len(births) == 1
    names = [tensor["name"] for tensor in document["tensors"]]
    line = document["steps"][births[0]]["where"]["line"]
    seen = [read for _, read in player.through(["ArrowRight"] * (len(document["steps"]) - 1), READ)]
    for number, found in enumerate(seen, 1):
        assert found["born"] == document["steps"][number].get("born")
        assert found["signs"] == len(found["nodes"])
        assert ([line, "NaN appears here"] in found["lines"]) is (number >= births[0])
        assert bool(found["nodes"]) is (number >= births[0])
    assert [names[k] for k in seen[births[0] - 1]["nodes"]] == ["q"]
    assert sorted(names[k] for k in seen[-1]["nodes"]) == ["d", "loss", "q", "r"]
    number = player.root.locator("[data-line][data-odd] .number")
    assert number.evaluate("one => getComputedStyle(one).position") == "relative", "its sign scrolls with it"
    marks = player.root.locator(".birth")
    assert [int(mark) for mark in marks.evaluate_all("all => all.map((mark) => mark.dataset.birth)")] == births
    assert marks.first.get_attribute("title") == f"NaN appears at step {births[0] + 1}"
    slider, mark = (player.root.locator(what).first.bounding_box() for what in ("input[type=range]", ".birth"))
    assert slider["x"] < mark["x"] < slider["x"] + slider["width"]
    for scheme, wanted in zip(("light", "dark"), colours()["odd"], strict=True):
        tab.page.emulate_media(color_scheme=scheme)
        red = player.root.locator(".graph [data-odd] rect").first.evaluate("rect => getComputedStyle(rect).stroke")
        assert red == f"rgb({', '.join(str(int(wanted[k : k + 2], 16)) for k in (1, 3, 5))})"
    tab.is_quiet()


def test_finite_players_have_no_mark(visit: Any, tmp_path: Path) -> None:
    x = ad.Variable(3.0, name="info")  # a name is not a number
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            nan_count = x * x
        tape.gradient(nan_count, x)
    player = only(visit(save_page(traced, tmp_path)))
    player.click("last")
    assert player.root.locator(".graph [data-odd], .birth, .spoilt, .graph .sign").count() == 0


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", [0, 1])
def test_the_red_can_be_read_on_paper(scheme: int) -> None:
    odd, paper = (luminance(colours()[name][scheme]) for name in ("odd", "paper"))
    assert (max(odd, paper) + 0.05) / (min(odd, paper) + 0.05) >= 5.5, "on a tint a little is lost"
