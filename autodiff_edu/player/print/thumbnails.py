"""Thumbnails of arrays in the boxes of a key frame; js/thumbnails.js draws the same."""

from __future__ import annotations

from math import isnan
from typing import Any

from ...text.shared import colour
from ..layout.thumbnails import LEVELS, cells_of, is_off, level, measure
from .canvas import Path, mix

INK, EDGE, LOW, MIDDLE, HIGH = map(colour, ("ink", "rule", "low", "middle", "high"))
SHADES = {shade: mix(MIDDLE, LOW if shade < 0 else HIGH, abs(shade) / LEVELS) for shade in range(-LEVELS, LEVELS + 1)}


def draw_thumbnail(array: dict[str, Any], x: float, y: float, limit: float) -> list[Path]:
    """Draw an array as a heatmap: one area for each shade, and a cross where a number is off the scale."""
    (width, height), cells = measure(array), cells_of(array)
    wide, tall = width / len(cells[0]), height / len(cells)
    areas: dict[int, str] = {}
    crosses = ""
    for i, row in enumerate(cells):
        for j, number in enumerate(row):
            left, right = (f"{x + wide * column:.1f}" for column in (j, j + 1))
            top, bottom = (f"{y + tall * line:.1f}" for line in (i, i + 1))
            shade = 0 if isnan(number) else level(number, limit or 1.0)
            areas[shade] = areas.get(shade, "") + f"M{left} {top}H{right}V{bottom}H{left}Z"
            if is_off(number, limit):
                crosses += f"M{left} {top}L{right} {bottom}M{right} {top}L{left} {bottom}"
    drawn = [Path(corners, SHADES[shade]) for shade, corners in sorted(areas.items())]
    if crosses:
        drawn.append(Path(crosses, stroke=INK))
    return [*drawn, Path(f"M{x:.1f} {y:.1f}H{x + width:.1f}V{y + height:.1f}H{x:.1f}Z", stroke=EDGE)]
