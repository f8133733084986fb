"""A corner is seen: a sign in the graph, and in the panel the slopes on both sides and the one that the rule takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad
from browser.player_page import only, save_page

READ = """root => ({
  kind: root.dataset.kind,
  signs: [...root.querySelectorAll(".graph [data-tensor]:has(.corner)")].map((box) => Number(box.dataset.tensor)),
  said: [...root.querySelectorAll(".corners p")].map((one) => one.textContent),
  slopes: [...root.querySelectorAll(".corners dl")].map((list) =>
    [...list.querySelectorAll("dd")].map((one) => one.textContent)),
  // how far the two lines rise for each pixel to the right, and the dashed one
  drawn: [...root.querySelectorAll(".corners svg")].map((svg) => [...svg.querySelectorAll("path")].flatMap((path) => {
    const points = path.getAttribute("d").slice(1).split("L").map((point) => point.split(" ").map(Number));
    return points.slice(1).map(([x, y], k) => Number(((points[k][1] - y) / (x - points[k][0])).toFixed(3)));
  })),
  inView: [...root.querySelectorAll(".corners > div")].every((one) => {
    const [box, part] = [one.closest(".scroll"), one].map((each) => each.getBoundingClientRect());
    return part.top >= box.top - 1 && part.bottom <= box.bottom + 1;
  }),
})"""


def trace(f: Any, *values: Any) -> ad.Trace:
    xs = [ad.Variable(value, name=name) for value, name in zip(values, "xy", strict=False)]
    with ad.trace("a corner") as traced:
        with ad.GradientTape() as tape:
            target = f(*xs)
        tape.gradient(target, xs)
    return traced


def steps_through(tab: Any) -> list[dict[str, Any]]:
    """Step through a page, and read each step when it has come into view."""
    read = f"async root => {{ await new Promise(requestAnimationFrame); return ({READ})(root); }}"
    seen: list[dict[str, Any]] = only(tab).at_every_step(read)
    tab.is_quiet()
    return seen


def test_a_tie_on_a_phone(visit: Any, tmp_path: Path) -> None:
    traced = trace(lambda x: np.sum(np.maximum(x, 0)), [-1.0, 0.0, 2.0, 0.0])
    tab = visit(save_page(traced, tmp_path), viewport={"width": 390, "height": 844})
    seen = steps_through(tab)
    maximum = traced.document()["entries"][0]["output"]
    shown = [read for read in seen if read["said"]]
    assert [read["kind"] for read in shown] == ["pull back", "accumulate"]
    for read in shown:
        assert read["said"] == ["x[1] is at a corner of maximum, and so is 1 more element"]
        assert read["slopes"] == [["0", "1", "0.5"]]
        assert read["drawn"] == [[0, 1, 0.5]]
        assert read["inView"]
    first = seen.index(shown[0])
    assert all(read["signs"] == ([maximum] if k >= first else []) for k, read in enumerate(seen))


def test_two_arguments_at_one_corner_and_a_steep_one(visit: Any, tmp_path: Path) -> None:
    traced = trace(lambda x, y: np.maximum(x, y) + np.interp(x, [0, 1, 2], [0, 100, 50]), 1.0, 1.0)
    seen = [read for read in steps_through(visit(save_page(traced, tmp_path))) if read["said"]]
    assert [(read["kind"], len(read["said"])) for read in seen] == [
        *[("pull back", 1), ("accumulate", 1)],
        *[("pull back", 2), ("accumulate", 1), ("accumulate", 1)],
    ]
    assert seen[0]["slopes"] == [["100", "-50", "-50"]]
    assert seen[0]["drawn"] == [[1, -0.5, -0.5]]
    assert [read["said"] for read in seen[3:]] == [[f"{name} is at a corner of maximum"] for name in "xy"]


def test_where_there_is_none_nothing_is_marked(visit: Any, tmp_path: Path) -> None:
    traced = trace(lambda x: np.maximum(x, 0), 1.0)
    seen = steps_through(visit(save_page(traced, tmp_path)))
    assert not any(read["said"] or read["signs"] for read in seen)
