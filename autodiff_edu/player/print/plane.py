"""A frame of a walk over contours, drawn without a browser; the same as js/contours.js."""

from __future__ import annotations

from math import hypot
from typing import Any

from ...text.shared import colour
from .canvas import MONOSPACE, SANS, Drawn, Path, TextLine, mix, rounded_box
from .wrapping import width_of

INK, QUIET, PAPER, HEIGHT, UPHILL, NEWTON = map(colour, ("ink", "quiet", "paper", "contour", "backward", "forward"))
SIZE = 11.0  # of the letters
SHADE = 0.013  # how much darker an area is than the one around it
DASHES: dict[str, tuple[float, ...]] = {"newton": (2.0, 3.0), "model": (5.0, 4.0)}
COLOURS = {"gradient": UPHILL, "newton": NEWTON, "model": NEWTON, "path": INK}
LEGEND = {"gradient": "negative gradient", "newton": "Newton's step", "model": "quadratic model", "path": "path"}
HEAD = 12.0  # the shortest arrow with a head


def list_legend(part: dict[str, Any]) -> list[str]:
    """List the kinds of lines that a walk has."""
    walked = ["path"] if len(part["iterates"]) > 1 else []
    return [name for name in LEGEND if any(one.get(name) for one in part["iterates"])] + walked


def draw_legend(part: dict[str, Any], x: float, y: float, room: float, size: float) -> list[Drawn]:
    """Draw a legend of the kinds of lines, as many in a row as there is room for."""
    shapes: list[Drawn] = []
    at = x
    for name in list_legend(part):
        wide = 2.6 * size + width_of(LEGEND[name], size)
        if at > x and at + wide > x + room:
            at, y = x, y + 1.6 * size
        weight = 2.4 if name in ("gradient", "newton") else 1.4
        line = f"M{at:.1f} {y - size / 3:.1f}H{at + 2 * size:.1f}"
        shapes.append(Path(line, stroke=COLOURS[name], weight=weight, dash=DASHES.get(name, ())))
        shapes.append(TextLine(round(at + 2.5 * size, 1), y, LEGEND[name], size, QUIET, family=SANS))
        at += wide + 1.4 * size
    return shapes


def count_legend_rows(part: dict[str, Any], room: float, size: float) -> int:
    """Count the rows of a legend."""
    return len({shape.y for shape in draw_legend(part, 0, 0, room, size) if isinstance(shape, TextLine)})


def draw_plane(part: dict[str, Any], number: int, size: float = SIZE) -> list[Drawn]:
    """Draw the `contours` of a document at one of its steps."""
    left, top, wide, tall = part["frame"]
    right, bottom = left + wide, top + tall
    now, levels = part["iterates"][number], part["levels"]
    shapes: list[Drawn] = [
        Path(level["area"], mix(PAPER, INK, SHADE * (len(levels) - index)))
        for index, level in reversed([*enumerate(levels)])
        if level.get("area")
    ]
    shapes += [Path(level["path"], stroke=HEIGHT) for level in levels]
    for level in levels:
        if "label" in level:
            (x, y), room = level["label"], 0.64 * size * len(level["text"])
            shapes.append(Path(rounded_box(x - room / 2, y - 0.6 * size, room, 1.2 * size, 3), PAPER))
            shapes.append(TextLine(x, y + 0.36 * size, level["text"], 0.91 * size, QUIET, "middle"))
    if now["model"]:
        shapes.append(Path(now["model"], stroke=NEWTON, weight=1.4, dash=DASHES["model"]))
    places = [one["at"] for one in part["iterates"][: number + 1]]
    if len(places) > 1:
        shapes.append(Path("M" + "L".join(f"{x:g} {y:g}" for x, y in places), stroke=INK, weight=1.4))
    (x, y) = now["at"]
    for a, b in now.get("trials", ()):
        crossed = f"M{a - 4:g} {b - 4:g}L{a + 4:g} {b + 4:g}M{a + 4:g} {b - 4:g}L{a - 4:g} {b + 4:g}"
        shapes.append(Path(crossed, stroke=INK, weight=1.6))
    for name in ("newton", "gradient"):
        if now[name]:
            shapes += _draw_arrow((x, y), now[name], COLOURS[name], DASHES.get(name, ()))
    shapes += [Path(rounded_box(a - 4, b - 4, 8, 8, 4), PAPER, INK, 1.6) for a, b in places[:-1]]
    shapes.append(Path(rounded_box(x - 4, y - 4, 8, 8, 4), INK))
    # Paper covers what a distant step has drawn outside the plane; the numbers come on top.
    width, height = part["width"], part["height"]
    around = f"M-9 -9V{height + 9:g}H{width + 9:g}V-9ZM{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}Z"
    shapes.append(Path(around, PAPER))
    shapes.append(Path(f"M{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}Z", stroke=QUIET))
    across, up = part["ticks"]
    shapes += [Path(f"M{tick['at']:g} {bottom:g}V{bottom + 4:g}", stroke=QUIET) for tick in across]
    shapes += [Path(f"M{left:g} {tick['at']:g}H{left - 4:g}", stroke=QUIET) for tick in up]
    shapes += [TextLine(tick["at"], bottom + 4 + size, tick["text"], size, QUIET, "middle") for tick in across]
    shapes += [TextLine(left - 7, tick["at"] + 0.36 * size, tick["text"], size, QUIET, "end") for tick in up]
    name_across, name_up = part["names"]
    for name, at, base, anchor in (
        (name_across, right - 5, bottom - 6, "end"),
        (name_up, left + 6, top + 3 + size, "start"),
    ):
        wide = width_of(name, size, MONOSPACE) + 4
        begin = at - wide + 2 if anchor == "end" else at - 2
        shapes.append(Path(rounded_box(begin, base - 0.9 * size, wide, 1.2 * size, 3), PAPER))
        shapes.append(TextLine(at, base, name, size, QUIET, anchor))
    return shapes


def _draw_arrow(
    start: tuple[float, float], end: tuple[float, float], stroke: str, dash: tuple[float, ...]
) -> list[Drawn]:
    """Draw an arrow, with a hollow head if it is dashed; a short one has no head, which would hide it."""
    (x, y), (to_x, to_y) = start, end
    length = hypot(to_x - x, to_y - y)
    if not length:
        return []
    across, down = (to_x - x) / length, (to_y - y) / length
    shapes: list[Drawn] = [Path(f"M{x:g} {y:g}L{to_x:g} {to_y:g}", stroke=stroke, weight=2.4, dash=dash)]
    if length >= HEAD:
        corners = [
            f"{to_x - 10 * across + side * 5 * down:.1f} {to_y - 10 * down - side * 5 * across:.1f}" for side in (1, -1)
        ]
        shapes.append(
            Path(f"M{corners[0]}L{to_x:.1f} {to_y:.1f}L{corners[1]}Z", PAPER if dash else stroke, stroke, 1.4)
        )
    return shapes
