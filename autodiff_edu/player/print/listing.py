"""A frame of a program that its passes shrink, drawn without a browser; the same as js/compiler-passes.js."""

from __future__ import annotations

from typing import Any

from ...text.shared import colour
from .canvas import ADVANCE, MONOSPACE, Path, TextLine
from .wrapping import shorten

INK, QUIET, TINT, GONE = map(colour, ("ink", "quiet", "forward-tint", "backward-tint"))
SIZE, LINE = 12, 17.0
GAP = 3
"""Characters between a line and why it is gone."""


def size_of(stages: list[dict[str, Any]]) -> dict[str, float]:
    """Return the width and height that the longest of some stages takes, in pixels."""
    lines = [line for stage in stages for line in stage["lines"]]
    code, why = (max((len(line.get(part, "")) for line in lines), default=0) for part in ("text", "why"))
    wide = (code + GAP + why + 1) * SIZE * ADVANCE  # a letter may be wider than expected
    return {
        "width": wide,
        "height": max(len(stage["lines"]) for stage in stages) * LINE,
        "why": (code + GAP) * SIZE * ADVANCE,
    }


def draw_listing(stage: dict[str, Any], size: dict[str, float]) -> list[Path | TextLine]:
    """Draw the lines of one stage: those that go are struck through, those that change are tinted."""
    shapes: list[Path | TextLine] = []
    for number, line in enumerate(stage["lines"]):
        top, text, state = number * LINE, line["text"], line.get("state")
        indent = (len(text) - len(text.lstrip())) * SIZE * ADVANCE
        if state:
            fill = GONE if state == "gone" else TINT
            shapes.append(Path(f"M0 {top:g}H{size['width']:g}V{top + LINE:g}H0Z", fill))
        shapes.append(TextLine(indent, top + 13, text.strip(), SIZE, QUIET if state == "gone" else INK))
        if state == "gone":
            shapes.append(Path(f"M{indent:g} {top + 9:g}H{len(text) * SIZE * ADVANCE:g}", stroke=QUIET))
            why = shorten(line["why"], size["width"] - size["why"], SIZE, MONOSPACE)
            shapes.append(TextLine(size["why"], top + 13, why, SIZE, QUIET))
    return shapes
