"""The curve of what a training minimises, or of what a folded loop computes, like the first one of js/strip.js."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import log10
from typing import Any

from ...text.formatting import SUBSCRIPTS, brief
from ...text.shared import colour, shared
from .canvas import SANS, Drawn, Path, TextLine, rounded_box
from .moments import FEWEST_TURNS, find_turns, is_finite_number
from .wrapping import shorten, width_of

SUBSCRIPT = re.compile(f"[{SUBSCRIPTS}]+$")

INK, QUIET, RULE, PAPER, SUNK = map(colour, ("ink", "quiet", "rule", "paper", "sunk"))


@dataclass(frozen=True)
class TargetCurve:
    """A number that is computed again and again.

    Attributes
    ----------
    name : str
        What the code calls it.
    points : list of (int, float, str)
        The steps at which it has a new value, that value, and its text.
    """

    name: str
    points: list[tuple[int, float, str]]

    @property
    def log(self) -> bool:
        """Whether the sizes of these numbers differ so much that their scale is logarithmic."""
        sizes = [abs(value) for _, value, _ in self.points if value]
        return len(sizes) >= FEWEST_TURNS and max(sizes) > shared()["logarithmic"] * min(sizes)

    def scale(self, value: float) -> float:
        """Return the place of a number on the scale; a logarithmic one has none for 0."""
        return log10(abs(value)) if self.log else value


def read_curve(document: dict[str, Any], layout: dict[str, Any] | None = None) -> TargetCurve | None:
    """Return how the target of a training changes, or else what a folded loop computes; None if there is neither."""
    tensors = document["tensors"]
    turns, name = find_turns(document), ""
    if turns:
        first = tensors[turns[0][1]]
        name = "target" if "unnamed" in first else first["name"]
    elif layout and not layout.get("open", True):
        turns, name = _find_loop_values(document, layout)
    if len(turns) < FEWEST_TURNS:
        return None
    points = [
        (step, float(value["data"]), value["text"]) for step, target in turns for value in [tensors[target]["value"]]
    ]
    return TargetCurve(name, points)


def _find_loop_values(document: dict[str, Any], layout: dict[str, Any]) -> tuple[list[tuple[int, int]], str]:
    """Find the named number that loops compute most often, the last of several: its steps and tensors."""
    tensors, families = document["tensors"], dict[str, list[tuple[int, int]]]()
    for number, step in enumerate(document["steps"]):
        if step["kind"] != "record":
            continue
        tensor = document["entries"][step["entry"]]["output"]
        about, name = tensors[tensor], SUBSCRIPT.sub("", tensors[tensor]["name"])
        if "unnamed" not in about and layout["tensors"][tensor]["group"] >= 0 and is_finite_number(about["value"]):
            family = families.setdefault(name, [])
            if tensor not in (each for _, each in family[-1:]):  # by several tapes
                family.append((number, tensor))
    name = max(reversed(families), key=lambda name: len(families[name]), default="")
    return families.get(name, []), name


def draw_curve(
    curve: TargetCurve, step: int, place: tuple[float, float, float, float], size: float = 11.0, weight: float = 1.6
) -> list[Drawn]:
    """Draw the curve up to a step, without what follows."""
    x, y, width, height = place
    points = [(at, curve.scale(value), text) for at, value, text in curve.points if value or not curve.log]
    heights = [height for _, height, _ in points]
    low, high = min(heights), max(heights)
    head, pad = size * 1.7, size * 0.7
    top, bottom = y + head + pad, y + height - pad

    def rise(height: float) -> float:
        return round(bottom - (bottom - top) * ((height - low) / (high - low) if high > low else 0.5), 1)

    def at(point: tuple[int, float, str]) -> tuple[float, float]:
        return round(x + pad + (width - 2 * pad) * point[0] / max(1, curve.points[-1][0]), 1), rise(point[1])

    seen = [point for point in curve.points if point[0] <= step]
    shapes: list[Drawn] = [Path(rounded_box(x, y, width, height, size / 2), SUNK)]
    now = f"turn {len(seen)} of {len(curve.points)}" if seen else f"{len(curve.points)} turns"
    room = width - 2 * pad - width_of(now, size) - size
    name = f"|{curve.name}|" if curve.log else curve.name
    number = brief(seen[-1][2].lstrip("-") if curve.log else seen[-1][2]) if seen else ""
    value = " ".join([name, *([number] if number else []), *(["(log scale)"] if curve.log else [])])
    shapes.append(TextLine(x + pad, y + head, shorten(value, room, size, bold=True), size, INK, bold=True, family=SANS))
    shapes.append(TextLine(x + width - pad, y + head, now, size, QUIET, "end", family=SANS))
    if low < 0 < high and not curve.log:
        shapes.append(Path(f"M{x + pad:.1f} {rise(0.0):.1f}H{x + width - pad:.1f}", stroke=RULE))
    if drawn := [point for point in points if point[0] <= step]:
        line = "M" + "L".join(f"{across} {up}" for across, up in map(at, drawn))
        dot, r = at(drawn[-1]), 2 * weight
        if len(drawn) > 1:
            shapes.append(Path(line, stroke=INK, weight=weight))
        shapes.append(Path(rounded_box(dot[0] - r, dot[1] - r, 2 * r, 2 * r, r), INK, PAPER, weight))
    return shapes
