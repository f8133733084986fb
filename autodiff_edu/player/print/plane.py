"""A frame of a walk over contours, drawn without a browser; the same as js/contours.js."""

from __future__ import annotations

from typing import Any

from ...text.shared import colour
from .canvas import Path, TextLine, rounded_box

INK, QUIET, PAPER, HEIGHT, UPHILL, NEWTON = map(colour, ("ink", "quiet", "paper", "contour", "backward", "forward"))


def draw_plane(part: dict[str, Any], number: int) -> list[Path | TextLine]:
    """Draw the `contours` of a document at one of its steps."""
    left, top, wide, tall = part["frame"]
    bottom = top + tall
    now = part["iterates"][number]
    shapes: list[Path | TextLine] = [Path(level["path"], stroke=HEIGHT) for level in part["levels"]]
    for level in part["levels"]:
        if "label" in level:
            (x, y), room = level["label"], 6.4 * len(level["text"])
            shapes.append(Path(rounded_box(x - room / 2, y - 6, room, 12, 3), PAPER))
            shapes.append(TextLine(x, y + 4, level["text"], 10, QUIET, "middle"))
    if now["model"]:
        shapes.append(Path(now["model"], stroke=NEWTON, dash=(5, 4)))
    places = [one["at"] for one in part["iterates"][: number + 1]]
    if len(places) > 1:
        shapes.append(Path("M" + "L".join(f"{x:g} {y:g}" for x, y in places), stroke=INK, weight=1.4))
    (x, y) = now["at"]
    for name, stroke, dash in (("newton", NEWTON, (2.0, 3.0)), ("gradient", UPHILL, ())):
        if now[name]:
            end = f"{now[name][0]:g} {now[name][1]:g}"
            shapes.append(Path(f"M{x:g} {y:g}L{end}", stroke=stroke, weight=2.4, dash=dash))
    for a, b in now.get("trials", ()):
        crossed = f"M{a - 4:g} {b - 4:g}L{a + 4:g} {b + 4:g}M{a + 4:g} {b - 4:g}L{a - 4:g} {b + 4:g}"
        shapes.append(Path(crossed, stroke=INK, weight=1.6))
    shapes += [Path(rounded_box(a - 4, b - 4, 8, 8, 4), PAPER, INK, 1.6) for a, b in places[:-1]]
    shapes.append(Path(rounded_box(x - 4, y - 4, 8, 8, 4), INK))
    shapes.append(Path(f"M{left:g} {top:g}H{left + wide:g}V{bottom:g}H{left:g}Z", stroke=QUIET))
    shapes += [TextLine(tick["at"], bottom + 15, tick["text"], 11, QUIET, "middle") for tick in part["ticks"][0]]
    shapes += [TextLine(left - 7, tick["at"] + 4, tick["text"], 11, QUIET, "end") for tick in part["ticks"][1]]
    across, up = part["names"]
    shapes.append(TextLine(left + wide - 4, bottom - 6, across, 11, QUIET, "end"))
    shapes.append(TextLine(left + 6, top + 14, up, 11, QUIET))
    return shapes
