"""The picture of a walk over contours: what js/contours.js and print/plane.py draw, in pixels.

Everything that takes the function itself is computed here, so that a page only draws; what follows from the gradient
and the Hessian at a point, such as the damped step, a page computes from the numbers of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..plots import grid, heights_of, round_numbers

LEVELS = 12
SIDE = 390.0  # of the plane, in pixels; and the room for the axes' numbers
LEFT, BOTTOM, EDGE = 46.0, 26.0, 8.0
LONGEST, SHORTEST = 90.0, 16.0  # the longest gradient's arrow; and the least of any, even if that is not to scale
THIN, SHADE = 0.25, 0.7  # how far a line, and the edge of a shade, may be from where it should be
APART, FROM_EDGE = 34.0, 24.0  # the distance of a contour's number from other things
NAMED = [(SIDE - 14, SIDE - 10), (SIDE - 48, SIDE - 10), (14, 10), (48, 10)]  # where the axes' names are in the plane


class Plane:
    """A part of the plane and where it stands in the picture."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y

    def at(self, point: Any) -> list[float]:
        """Return a point in pixels, rounded as drawn."""
        x = LEFT + (float(point[0]) - self.x[0]) / (self.x[1] - self.x[0]) * SIDE
        y = EDGE + (self.y[1] - float(point[1])) / (self.y[1] - self.y[0]) * SIDE
        return [round(min(max(number, -1e5), 1e5), 1) for number in (x, y)]

    def length(self, direction: Any) -> float:
        """Return how long a direction is in the picture, in pixels."""
        across = direction / [self.x[1] - self.x[0], self.y[1] - self.y[0]] * SIDE
        return float(np.hypot(*across)) if np.isfinite(direction).all() else 0.0

    def path(self, lines: Any, thin: float = THIN) -> str:
        """Write lines as an SVG path."""
        placed = [_thin(np.array([self.at(point) for point in line]), thin) for line in lines]
        return "".join(f"M{'L'.join(f'{x:g} {y:g}' for x, y in line)}" for line in placed)


def picture(
    f: Callable[..., Any], told: list[dict[str, Any]], names: list[str], ranges: list[tuple[float, float] | None]
) -> dict[str, Any]:
    """Compute everything that is drawn, so that the page only draws."""
    near = np.array([now["point"] for now in told if np.isfinite(now["value"]) and not now["is_far"]])
    around = _around(near if len(near) else np.array([told[0]["point"]]))
    plane = Plane(ranges[0] or around[0], ranges[1] or around[1])
    xs, ys, heights = grid(f, plane.x, plane.y)
    levels = _round(heights_of(heights, LEVELS))
    contours = _Contours(xs, ys, heights)
    lines = [contours.lines(level) for level in levels]
    longest = max([plane.length(now["gradient"]) for now in told if not now["is_far"]], default=0.0)
    scale = LONGEST / longest if longest else 0.0
    iterates = [_iterate(plane, now, xs, ys, scale) for now in told]
    names_at = [[LEFT + across, EDGE + down] for across, down in NAMED]
    labels = _labels(plane, lines, [*names_at, *(one["at"] for one in iterates)])
    return {
        "width": LEFT + SIDE + EDGE,
        "height": EDGE + SIDE + BOTTOM,
        "names": names,
        "frame": [LEFT, EDGE, SIDE, SIDE],
        "ticks": [_ticks(plane, axis) for axis in (0, 1)],
        "ranges": [list(plane.x), list(plane.y)],
        "levels": [
            {
                "text": f"{level:.6g}",
                "path": plane.path(line),
                "area": plane.path(contours.below(level), SHADE),
                **({"label": label} if label else {}),
            }
            for level, line, label in zip(levels, lines, labels, strict=True)
            if line
        ],
        "iterates": iterates,
    }


def _around(points: Any) -> list[tuple[float, float]]:
    """Choose a square around the path, so that the gradient looks perpendicular to the contours.

    >>> _around(np.array([[0.1, 0.2], [1 / 3, 0.7]]))
    [(-0.1583, 0.5917), (0.075, 0.825)]
    """
    low, high = points.min(axis=0), points.max(axis=0)
    half = max(0.75 * float((high - low).max()), 1e-3 * float(np.abs(points).max()))
    half = half if half > 1e-9 else 1.0
    places = 3 - int(np.floor(np.log10(half)))  # a ten-thousandth of the square: less than a pixel
    return [(round(float(middle) - half, places), round(float(middle) + half, places)) for middle in (low + high) / 2]


def _round(levels: Any) -> list[float]:
    """Round the heights of contours, because the picture shows them.

    >>> _round(np.array([0.0123456, 0.0493827, 0.111111]))
    [0.01, 0.05, 0.11]
    """
    if len(levels) < 2:
        return [float(level) for level in levels]
    places = int(-np.floor(np.log10(np.diff(levels).min())))
    return [round(float(level), places) + 0.0 for level in levels]


def _labels(plane: Plane, lines: list[Any], taken: list[list[float]]) -> list[list[float] | None]:
    """Choose the place of each contour's number: on the contour, as far as possible from everything placed so far."""
    taken = list(taken)
    chosen: list[list[float] | None] = []
    for line in lines:
        places = np.array([plane.at(point) for part in line for point in part[::2]]).reshape(-1, 2)
        inside = np.abs(places - [LEFT + SIDE / 2, EDGE + SIDE / 2]).max(axis=1) <= SIDE / 2 - FROM_EDGE
        places = places[inside]
        away = np.array([min([np.hypot(*(place - one)) for one in taken], default=SIDE) for place in places])
        if not len(places) or away.max() < APART:
            chosen.append(None)
            continue
        best = places[int(np.argmax(np.round(away)))]  # among equals the first, whatever the last bit says
        label = [round(float(number), 1) for number in best]
        chosen.append(label)
        taken.append(label)
    return chosen


def _iterate(plane: Plane, now: dict[str, Any], xs: Any, ys: Any, scale: float) -> dict[str, Any]:
    point, newton, following = now["point"], now["newton"], now["next"]
    has_model = now["eigenvalues"] is not None
    has_arrow = np.isfinite(now["gradient"]).all() and now["gradient"].any()
    length = plane.length(scale * now["gradient"])
    if is_lengthened := bool(has_arrow and 0 < length < SHORTEST):
        scale *= SHORTEST / length
    described: dict[str, Any] = {
        "at": plane.at(point),
        "gradient": plane.at(point - scale * now["gradient"]) if has_arrow else None,
        "newton": None if newton is None or not newton.any() else plane.at(point + newton),
        "next": None if following is None or not np.isfinite(following).all() else plane.at(following),
        "model": plane.path(_model_lines(now, xs, ys)) if has_model else "",
    }
    if is_lengthened:
        described["lengthened"] = True
    if now["trials"]:
        described["trials"] = [plane.at(trial) for trial in now["trials"] if np.isfinite(trial).all()]
    return described


def _model_lines(now: dict[str, Any], xs: Any, ys: Any) -> list[Any]:
    """Compute contours of the quadratic model: the one through the point, one inside it and one outside."""
    (dx, dy), g, h = np.meshgrid(xs - now["point"][0], ys - now["point"][1]), now["gradient"], now["hessian"]
    model = now["value"] + g[0] * dx + g[1] * dy + (h[0, 0] * dx**2 + 2 * h[0, 1] * dx * dy + h[1, 1] * dy**2) / 2
    rise = 0.0 if now["newton"] is None else float(-g @ now["newton"] / 2)  # from the stationary point to here
    if rise:
        wanted = [float(now["value"]) + rise * (part - 1) for part in (0.25, 1.0, 2.25)]
    else:
        wanted = [float(np.min(model)) + float(np.ptp(model)) * part for part in (0.1, 0.3, 0.6)]
    contours = _Contours(xs, ys, model)
    return [line for level in sorted(wanted) for line in contours.lines(level)]


class _Contours:
    """The contours of heights over a grid, computed by contourpy."""

    def __init__(self, xs: Any, ys: Any, heights: Any) -> None:
        try:
            import contourpy
        except ImportError as error:
            raise ImportError(f"{error}; contours need contourpy: pip install matplotlib") from error
        self.lowest = float(np.nanmin(heights))
        masked = np.ma.masked_invalid(heights)
        self.generator = contourpy.contour_generator(xs, ys, masked, fill_type=contourpy.FillType.OuterOffset)

    def lines(self, level: float) -> Any:
        """Return the lines at a height."""
        return self.generator.lines(level)

    def below(self, level: float) -> list[Any]:
        """Return the boundaries of the lower area, including holes."""
        if level <= self.lowest:
            return []
        found: Any = self.generator.filled(self.lowest - abs(self.lowest) - 1.0, level)
        return [points[a:b] for points, ends in zip(*found, strict=True) for a, b in pairwise(ends)]


def _thin(line: Any, thin: float) -> Any:
    """Drop the points of a line that make no visible difference: those less than `thin` from the line without them."""
    if len(line) < 3:
        return line
    dx, dy = line[-1] - line[0]
    across, down = (line[1:-1] - line[0]).T
    length = np.hypot(dx, dy)
    off = np.abs(across * dy - down * dx) / length if length else np.hypot(across, down)
    farthest = int(np.argmax(off)) + 1
    if off[farthest - 1] <= thin:
        return line[[0, -1]]
    return np.concatenate([_thin(line[: farthest + 1], thin)[:-1], _thin(line[farthest:], thin)])


def _ticks(plane: Plane, axis: int) -> list[dict[str, Any]]:
    """Place round numbers along an axis."""
    numbers = round_numbers(*(plane.x, plane.y)[axis])
    return [{"at": plane.at((number, number))[axis], "text": f"{number:.6g}"} for number in numbers]
