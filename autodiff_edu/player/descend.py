"""`descend`: walk down a function of two variables, and look at each step on its contours.

Newton's method replaces the function by the quadratic model that has its value, gradient and Hessian at the point, and
goes to where the model is stationary. Whether that is lower is another question, and each step says it in words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.structures import as_array
from ..core.tensor import Tensor
from ..plots import check_range, grid, heights_of, of_two, round_numbers
from ..text.formatting import short_value
from ..trace.document import array, empty
from ..transforms.gradients import value_and_grad
from ..transforms.matrices import hessian
from . import Player
from .parts import Written
from .play import _parameters

MOST_STEPS = 30
LEVELS = 12
FARTHEST = 1e6  # times as far out as the start
FLAT = 1e-10  # an eigenvalue that small, of the largest one's size, is taken as 0
SIDE = 390.0  # of the plane, in pixels; and the room for the axes' numbers
LEFT, BOTTOM, EDGE = 46.0, 26.0, 8.0
ARROW = 54.0
THIN = 0.25


def descend(
    f: Callable[..., Any],
    start: Any,
    method: str = "newton",
    steps: int = 5,
    rate: float = 0.1,
    x: tuple[float, float] | None = None,
    y: tuple[float, float] | None = None,
) -> Player:
    """Show steps towards a minimum of a function of two variables, with the gradient and the quadratic model at each.

    Parameters
    ----------
    f : callable
        Of one array of two numbers, or of two numbers; gives a scalar tensor.
    start : array_like
        Where to begin: two numbers.
    method : {"newton", "gradient"}
        Newton's method goes to where the quadratic model is stationary, be it a minimum, a saddle or a maximum;
        gradient descent goes `rate` times the gradient downhill.
    steps : int
        At most how many, from 1 to 30. It ends before, where there is no next step.
    rate : float
        Of gradient descent; Newton's method has none.
    x, y : tuple of float, optional
        What part of the plane is drawn; chosen around the path, if it is not given.

    Returns
    -------
    Player
        One step for each point; its document is described in `player.parts`.

    Raises
    ------
    ValueError
        If `start` is not two finite numbers, the method is another, a number is out of its range, or `f` gives no
        scalar.
    TypeError
        If `f` gives no tensor.
    ImportError
        If contourpy is missing, which comes with matplotlib.

    Examples
    --------
    >>> player = descend(lambda p: p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2, (0.3, 1.0), steps=2)
    >>> print(player.transcript()[:111])
    1. At [0.3 1] the function is 0.8281, with the gradient [-1.092 2]. The quadratic model curves down along [1 0]
    """
    try:
        point = np.asarray(as_array(start), dtype=float)
    except (TypeError, ValueError):
        point = np.full(2, np.nan)
    if point.shape != (2,) or not np.isfinite(point).all():
        raise ValueError(f"start must be two finite numbers, as in start=(0.3, 1.0); it is {start!r:.60}")
    if method not in ("newton", "gradient"):
        raise ValueError(f'the method is "newton" or "gradient", not {method!r:.40}')
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
        raise ValueError(f"steps is a whole number from 1 to {MOST_STEPS}, not {steps!r:.40}")
    if not np.isfinite(rate) or rate <= 0:
        raise ValueError(f"the rate must be above 0, and is {rate!r:.40}")
    ranges = [None if given is None else check_range(given, name) for name, given in (("x", x), ("y", y))]
    function = of_two(f)
    with np.errstate(all="ignore"):  # a walk that leaves all bounds says so in words
        told = _walk(function, point, method, steps, float(rate))
    names = _parameters(f, 2) if function is not f else [f"{_parameters(f, 1)[0]}[{i}]" for i in (0, 1)]
    how = "Newton's method" if method == "newton" else f"Gradient descent, rate {short_value(np.float64(rate))},"
    document = empty(f"{how} on {getattr(f, '__name__', type(f).__name__)}")
    document |= {"steps": [_described(step) for step in told], "contours": _picture(f, told, names, ranges)}
    return Player(Written(document))


def _walk(function: Callable[[Any], Any], point: Any, method: str, steps: int, rate: float) -> list[dict[str, Any]]:
    """Iterate; each step holds plain NumPy numbers, and the sentence."""
    differentiate, curve = value_and_grad(function), hessian(function)
    far = FARTHEST * max(1.0, float(np.abs(point).max()))
    told: list[dict[str, Any]] = []
    for number in range(steps + 1):
        value, gradient = differentiate(point)
        if not isinstance(value, Tensor) or value.shape != ():
            raise ValueError(f"descend walks on a function that gives one number, and this gives shape {value.shape}")
        found = {"point": point, "value": value, "gradient": gradient, "hessian": curve(point)}
        now: dict[str, Any] = {part: np.asarray(array) + 0.0 for part, array in found.items()}  # "-0" says nothing
        now |= dict.fromkeys(("eigenvalues", "directions", "newton", "step", "next", "next_value"))
        now |= {"number": number, "is_far": np.abs(point).max() > far}
        told.append(now)
        if not all(np.isfinite(now[part]).all() for part in found):
            now["text"] = _where(now) + "That is not finite, so there is no direction to go on in: the walk ends."
            break
        now["eigenvalues"], now["directions"] = np.linalg.eigh(now["hessian"])
        if now["is_far"]:
            now["text"] = _where(now) + "That is so far from the start that the walk diverges: it ends."
            break
        if not _is_singular(now["eigenvalues"]):
            now["newton"] = 0.0 - np.linalg.solve(now["hessian"], now["gradient"])
        still = not now["gradient"].any()
        step = now["newton"] if method == "newton" else 0.0 - rate * now["gradient"]
        if number < steps and not still and step is not None:
            now["step"], now["next"] = step, point + step
            now["next_value"] = np.asarray(function(now["next"])) + 0.0
        now["text"] = _sentences(now, method, still, last=number == steps)
        if now["next"] is None:
            break
        point = now["next"]
    return told


def _is_singular(eigenvalues: Any) -> bool:
    return bool(np.abs(eigenvalues).min() <= FLAT * np.abs(eigenvalues).max())


def _where(now: dict[str, Any]) -> str:
    point, value, gradient = (short_value(now[part]) for part in ("point", "value", "gradient"))
    return f"At {point} the function is {value}, with the gradient {gradient}. "


def _sentences(now: dict[str, Any], method: str, still: bool, last: bool) -> str:
    low, high = now["eigenvalues"]
    singular = _is_singular(now["eigenvalues"])
    if singular:
        form = f"The Hessian is singular (its eigenvalues are {short_value(now['eigenvalues'])}): along one direction "
        form += "the quadratic model does not curve"
        kind = ""
    elif low > 0:
        form, kind = "The quadratic model curves up in every direction", "minimum"
    elif high < 0:
        form, kind = "The quadratic model curves down in every direction", "maximum"
    else:
        down, up = (short_value(_direction(now["directions"][:, i])) for i in (0, 1))
        form, kind = f"The quadratic model curves down along {down} and up along {up}", "saddle"
    text = _where(now)
    if still:
        end = f"this is a {kind} of the function" if kind else "whether this is a minimum the Hessian does not say"
        return f"{text}No direction leads down from here, to first order. {form}: {end}."
    if method == "gradient":
        text += f"{form}. "
        if now["next"] is None:
            return f"{text}The walk ends here."
        return text + f"The step against the gradient leads to {short_value(now['next'])}, {_height(now)}."
    if singular:
        return (
            f"{text}{form}, so it has no single stationary point and Newton's method has no next step: the walk ends."
        )
    if last:
        return f"{text}{form}. The walk ends here."
    warning = {
        "minimum": "",
        "maximum": " Newton walks to a maximum, which is not what a minimisation looks for.",
        "saddle": " Along the direction that curves down, Newton walks to the maximum, not to a minimum.",
    }[kind]
    return f"{text}{form}: Newton's step leads to its {kind}, {short_value(now['next'])}, {_height(now)}.{warning}"


def _direction(vector: Any) -> Any:
    """Return a direction in the one of its two signs that does not depend on how it was computed."""
    vector = np.where(np.abs(vector) < FLAT, 0.0, vector)
    return vector * np.sign(vector[np.flatnonzero(vector)[0]]) + 0.0


def _height(now: dict[str, Any]) -> str:
    before, after = float(now["value"]), float(now["next_value"])
    how = "lower" if after < before else "higher" if after > before else "as high" if after == before else "not finite"
    return f"where the function is {short_value(now['next_value'])}, {how}"


def _described(now: dict[str, Any]) -> dict[str, Any]:
    step: dict[str, Any] = {"kind": "iterate", "text": now["text"], "where": None, "tape": None, "memory": None}
    step["number"] = now["number"]
    for part in ("point", "value", "gradient", "hessian", "eigenvalues", "step", "next", "next_value"):
        step[part] = None if now[part] is None else array(now[part])
    return step


class _Plane:
    """A part of the plane and where it stands in the picture."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y

    def at(self, point: Any) -> list[float]:
        """Return a point in pixels, as far as pixels can be drawn."""
        x = LEFT + (float(point[0]) - self.x[0]) / (self.x[1] - self.x[0]) * SIDE
        y = EDGE + (self.y[1] - float(point[1])) / (self.y[1] - self.y[0]) * SIDE
        return [round(min(max(number, -1e5), 1e5), 1) for number in (x, y)]

    def arrow(self, point: Any, direction: Any) -> list[float] | None:
        """Return where an arrow of fixed length ends; its length is in the table, and would rarely fit."""
        if not np.isfinite(direction).all() or not direction.any():
            return None
        across = direction / [self.x[1] - self.x[0], self.y[0] - self.y[1]]
        across = across / np.abs(across).max()  # which might overflow when squared
        return [round(float(a + b), 1) for a, b in zip(self.at(point), ARROW * across / np.hypot(*across), strict=True)]

    def path(self, lines: Any) -> str:
        """Write lines as SVG does."""
        placed = [_thinned(np.array([self.at(point) for point in line])) for line in lines]
        return "".join(f"M{'L'.join(f'{x:g} {y:g}' for x, y in line)}" for line in placed)


def _picture(
    f: Callable[..., Any], told: list[dict[str, Any]], names: list[str], ranges: list[tuple[float, float] | None]
) -> dict[str, Any]:
    """Compute everything that is drawn, so that the page only draws."""
    near = np.array([now["point"] for now in told if np.isfinite(now["value"]) and not now["is_far"]])
    around = _around(near if len(near) else np.array([told[0]["point"]]))
    plane = _Plane(ranges[0] or around[0], ranges[1] or around[1])
    xs, ys, heights = grid(f, plane.x, plane.y)
    levels = heights_of(heights, LEVELS)
    lines = _contour_lines(xs, ys, heights, levels)
    return {
        "width": LEFT + SIDE + EDGE,
        "height": EDGE + SIDE + BOTTOM,
        "names": names,
        "frame": [LEFT, EDGE, SIDE, SIDE],
        "ticks": [_ticks(plane, axis) for axis in (0, 1)],
        "levels": [
            {"text": short_value(np.float64(level)), "path": plane.path(line)}
            for level, line in zip(levels, lines, strict=True)
            if line
        ],
        "iterates": [_iterate(plane, now, xs, ys) for now in told],
    }


def _around(points: Any) -> list[tuple[float, float]]:
    """Choose a square around the path, so that the gradient is seen to be perpendicular to the contours."""
    low, high = points.min(axis=0), points.max(axis=0)
    half = max(0.75 * float((high - low).max()), 1e-3 * float(np.abs(points).max()))
    half = half if half > 1e-9 else 1.0
    return [(float(middle) - half, float(middle) + half) for middle in (low + high) / 2]


def _iterate(plane: _Plane, now: dict[str, Any], xs: Any, ys: Any) -> dict[str, Any]:
    point, newton, following = now["point"], now["newton"], now["next"]
    has_model = now["eigenvalues"] is not None
    return {
        "at": plane.at(point),
        "gradient": plane.arrow(point, -now["gradient"]),
        "newton": None if newton is None or not newton.any() else plane.at(point + newton),
        "next": None if following is None or not np.isfinite(following).all() else plane.at(following),
        "model": plane.path(_model_lines(now, xs, ys)) if has_model else "",
    }


def _model_lines(now: dict[str, Any], xs: Any, ys: Any) -> list[Any]:
    """Compute contours of the quadratic model: the one through the point, one inside of it and one outside."""
    (dx, dy), g, h = np.meshgrid(xs - now["point"][0], ys - now["point"][1]), now["gradient"], now["hessian"]
    model = now["value"] + g[0] * dx + g[1] * dy + (h[0, 0] * dx**2 + 2 * h[0, 1] * dx * dy + h[1, 1] * dy**2) / 2
    rise = 0.0 if now["newton"] is None else float(-g @ now["newton"] / 2)  # from the stationary point to here
    if rise:
        wanted = [float(now["value"]) + rise * (part - 1) for part in (0.25, 1.0, 2.25)]
    else:
        wanted = [float(np.min(model)) + float(np.ptp(model)) * part for part in (0.1, 0.3, 0.6)]
    return [line for level in _contour_lines(xs, ys, model, sorted(wanted)) for line in level]


def _contour_lines(xs: Any, ys: Any, heights: Any, levels: Any) -> list[Any]:
    try:
        import contourpy
    except ImportError as error:
        raise ImportError(f"{error}; contours are computed by contourpy: pip install matplotlib") from error
    generator = contourpy.contour_generator(xs, ys, np.ma.masked_invalid(heights))
    return [generator.lines(float(level)) for level in levels]


def _thinned(line: Any) -> Any:
    """Leave out the points of a line that nobody would miss: those less than `THIN` from the line without them."""
    if len(line) < 3:
        return line
    dx, dy = line[-1] - line[0]
    across, down = (line[1:-1] - line[0]).T
    length = np.hypot(dx, dy)
    off = np.abs(across * dy - down * dx) / length if length else np.hypot(across, down)
    farthest = int(np.argmax(off)) + 1
    if off[farthest - 1] <= THIN:
        return line[[0, -1]]
    return np.concatenate([_thinned(line[: farthest + 1])[:-1], _thinned(line[farthest:])])


def _ticks(plane: _Plane, axis: int) -> list[dict[str, Any]]:
    """Place round numbers along an axis."""
    numbers = round_numbers(*(plane.x, plane.y)[axis])
    return [{"at": plane.at((number, number))[axis], "text": f"{number:.6g}"} for number in numbers]
