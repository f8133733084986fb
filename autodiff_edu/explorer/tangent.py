"""The picture beside `explore`: a function along one of its arguments, with its tangent or a secant at a point.

>>> curve = Curve("x", lambda x: x * x, (-1.0, 1.0))
>>> picture = curve.at(0.5, slope=1.0)
>>> picture.about
'The function along x from -1 to 1, with its tangent at x = 0.5, of slope 1.'
>>> picture.svg.startswith("<svg")
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..player.print.canvas import Path, Shape, TextLine, rounded_box, to_svg
from ..plots import round_numbers
from ..text.formatting import number
from ..text.shared import colour, colours

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, EDGE = 600.0, 236.0, 56.0, 26.0, 28.0, 10.0
INK, QUIET, RULE, PAPER, CURVE, LINE = map(colour, ("ink", "quiet", "rule", "paper", "forward", "backward"))
POINTS = 121
HALVINGS = 40
"""How often an interval is halved to decide whether it contains a jump."""

DARK = {colour(name): colours()[name][1] for name in ("ink", "rule", "paper", "forward", "backward")}
DARK |= {QUIET: colour("idle")}
"""The colours on a dark page; the paper is drawn too, so that both schemes fit."""


def _apply_theme(svg: str) -> str:
    """Make a picture follow the colour scheme of its page."""
    rules = "".join(
        f'[{part}="{light}"]{{{part}:{dark}}}' for light, dark in DARK.items() for part in ("fill", "stroke")
    )
    start, line, rest = svg.partition("\n")
    return f"{start}\n<style>@media (prefers-color-scheme: dark){{{rules}}}</style>{line}{rest}"


Sample = tuple[str, str, float, tuple[float, ...]]
"""What a line means, its colour, its weight and its dashes."""


def _draw_legend(samples: list[Sample]) -> list[Shape]:
    """Draw a legend above the frame: what each line means."""
    shapes: list[Shape] = []
    left = LEFT
    for words, ink, weight, dash in samples:
        shapes += [
            Path(f"M{left:g} {TOP - 13:g}h24", stroke=ink, weight=weight, dash=dash),
            TextLine(left + 30, TOP - 9, words, 12, QUIET),
        ]
        left += 30 + 7.4 * len(words) + 22
    return shapes


@dataclass(frozen=True)
class Picture:
    """SVG, and what it shows in words."""

    svg: str
    about: str


class Curve:
    """The values of a function of one number, and a frame that stays still while the point moves.

    Parameters
    ----------
    name : str
        What the number is called.
    function : callable
        A function from float to float; where it raises, or is not finite, the curve has a gap.
    span : tuple of float
        The range of the argument.
    """

    def __init__(self, name: str, function: Callable[[float], float], span: tuple[float, float]) -> None:
        self.name, self.function, self.span = name, function, span
        self.xs = np.linspace(*span, POINTS)
        self.ys = np.array([self._height(x) for x in self.xs])
        finite = self.ys[np.isfinite(self.ys)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (-1.0, 1.0)
        # Next to a pole everything else would be a flat line.
        if finite.size > 20 and high - low > 20 * float(np.ptp(np.quantile(finite, (0.1, 0.9)))) > 0:
            low, high = (float(one) for one in np.quantile(finite, (0.05, 0.95)))
        room = 0.12 * (high - low) or max(1.0, abs(high))
        self.heights = (low - room, high + room)
        self._add_jumps()

    def _add_jumps(self) -> None:
        """Insert the two sides of each jump and a gap between them."""
        places, xs, ys = [], [], []
        visible = 0.02 * (self.heights[1] - self.heights[0])
        with np.errstate(invalid="ignore"):
            rises = np.abs(np.diff(self.ys))
        for k in np.flatnonzero((rises > visible) & np.isfinite(rises)):
            if found := self._find_jump(*(self.xs[k : k + 2]), *(self.ys[k : k + 2])):
                left, right, below, above = found
                places += [k + 1] * 3
                xs += [left, left, right]
                ys += [below, np.nan, above]
        self.xs, self.ys = np.insert(self.xs, places, xs), np.insert(self.ys, places, ys)

    def _find_jump(self, left: float, right: float, y: float, end: float) -> tuple[float, float, float, float] | None:
        """Return the two sides of a jump in an interval and the heights there, or None if the curve is only steep.

        Halve the interval, and keep the half that rises more. A steep line loses half of its rise each time,
        a root or a steep tanh in a few halvings; a jump keeps all of it.
        """
        least = 0.5 * abs(end - y)
        for _ in range(HALVINGS):
            middle = (left + right) / 2
            height = self._height(middle)
            if not np.isfinite(height):
                break
            if abs(height - y) > abs(end - height):
                right, end = middle, height
            else:
                left, y = middle, height
            if abs(end - y) <= least:
                return None
        return left, right, y, end

    def _height(self, x: float) -> float:
        try:
            with np.errstate(all="ignore"):
                return float(self.function(x))
        except Exception:
            return float("nan")

    def at(self, x: float, slope: float, h: float | None = None) -> Picture:
        """Draw the tangent at a point and, with `h`, the secant through the points at `x` and `x + h`."""
        y = self._height(x)
        lines: list[Shape] = []
        told = f"its tangent at {self.name} = {number(x)}, of slope {number(slope)}"
        dots = [(x, y)]
        tangent: Sample = ("the tangent", LINE, 2.2, ())
        samples: list[Sample] = [("the function", CURVE, 2, ()), tangent]
        if h is None:
            lines += self._line(x, y, slope, LINE, 2.2)
        else:
            beyond = self._height(x + h)
            rise = (beyond - y) / h
            lines += [*self._line(x, y, slope, QUIET, 1.4, (5, 4)), *self._line(x, y, rise, LINE, 2.2)]
            samples[1:] = [("the secant", LINE, 2.2, ()), ("the tangent", QUIET, 1.4, (5, 4))]
            dots.append((x + h, beyond))
            told += f", and the secant through {self.name} = {number(x)} and {number(x + h)}, of slope {number(rise)}"
        shapes: list[Shape] = [Path(f"M0 0H{WIDTH}V{HEIGHT}H0Z", PAPER), *self._axes(), *_draw_legend(samples)]
        shapes += [Path(self._pieces(self.xs, self.ys), stroke=CURVE, weight=2), *lines]
        shapes += [self._dot(*dot) for dot in dots if np.isfinite(dot[1]) and self._is_inside(*dot)]
        ends = " to ".join(map(number, self.span))
        about = f"The function along {self.name} from {ends}, with {told}."
        return Picture(_apply_theme(to_svg(WIDTH, HEIGHT, shapes, about)), about)

    def _place(self, x: float, y: float) -> tuple[float, float]:
        (left, right), (low, high) = self.span, self.heights
        across = LEFT + (x - left) / (right - left) * (WIDTH - LEFT - EDGE)
        return round(across, 1), round(TOP + (high - y) / (high - low) * (HEIGHT - BOTTOM - TOP), 1)

    def _is_inside(self, x: float, y: float) -> bool:
        return self.span[0] <= x <= self.span[1] and self.heights[0] <= y <= self.heights[1]

    def _dot(self, x: float, y: float) -> Path:
        across, down = self._place(x, y)
        return Path(rounded_box(across - 4, down - 4, 8, 8, 4), INK)

    def _pieces(self, xs: Any, ys: Any) -> str:
        """Return a path through the points in the frame, with gaps where some are missing; a lone one is a dash."""
        commands, down = [], False
        for x, y in zip(xs, ys, strict=True):
            if np.isfinite(y) and self._is_inside(x, y):
                across, height = self._place(x, y)
                commands.append(f"L{across:g} {height:g}" if down else f"M{across - 1:g} {height:g}h1")
                down = True
            else:
                down = False
        return "".join(commands)

    def _line(
        self, x: float, y: float, slope: float, colour: str, weight: float, dash: tuple[float, ...] = ()
    ) -> list[Shape]:
        """Draw a line through a point, up to the edges of the frame."""
        if not (np.isfinite(y) and np.isfinite(slope)):
            return []
        ends = set(self.span)
        if slope:
            ends |= {x + (height - y) / slope for height in self.heights}
        slack = 1e-9 * (self.heights[1] - self.heights[0])
        reached = [
            (end, min(max(y + slope * (end - x), self.heights[0]), self.heights[1]))
            for end in sorted(ends)
            if self.span[0] <= end <= self.span[1]
            and self.heights[0] - slack <= y + slope * (end - x) <= self.heights[1] + slack
        ]
        if len(reached) < 2:
            return []
        (a, b), (c, d) = self._place(*reached[0]), self._place(*reached[-1])
        return [Path(f"M{a:g} {b:g}L{c:g} {d:g}", stroke=colour, weight=weight, dash=dash)]

    def _axes(self) -> list[Shape]:
        shapes: list[Shape] = [
            Path(f"M{LEFT:g} {TOP:g}H{WIDTH - EDGE:g}V{HEIGHT - BOTTOM:g}H{LEFT:g}Z", stroke=RULE),
            TextLine(WIDTH - EDGE - 4, HEIGHT - BOTTOM - 6, self.name[:20], 12, QUIET, "end", bold=True),
        ]
        for x in round_numbers(*self.span):
            shapes.append(TextLine(self._place(x, 0.0)[0], HEIGHT - BOTTOM + 16, f"{x:.6g}", 11, QUIET, "middle"))
        for y in round_numbers(*self.heights):
            across = self._place(self.span[0], y)[1]
            shapes.append(TextLine(LEFT - 6, across + 4, f"{y:.4g}", 11, QUIET, "end"))
            if y == 0:
                shapes.append(Path(f"M{LEFT:g} {across:g}H{WIDTH - EDGE:g}", stroke=RULE))
        return shapes
