"""`descend`: walks down a function of two variables, and shows each step on its contours.

Newton's method replaces the function by the quadratic model that has its value, gradient and Hessian at the point, and
goes to where the model is stationary. Whether that is lower is another question, and each step says it in words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.structures import as_array
from ..arrays.validate import is_whole
from ..core.tensor import Tensor
from ..plots import check_range, of_two
from ..text.formatting import SURE_DIGITS, USUAL_DIGITS, count_digits_apart, short_value, spoken_value
from ..text.functions import name_of
from ..trace.arrays import array
from ..trace.document import empty
from ..transforms.gradients import value_and_grad
from ..transforms.matrices import hessian
from . import Player
from .contours import picture
from .extra_parts import Written
from .play import _name_arguments

MOST_STEPS = 30
FARTHEST = 1e6  # times as far out as the start
ENOUGH = 1e-4  # of the fall that the slope promises; with less, backtracking halves the step
MOST_HALVINGS = 40
FLAT = 1e-10  # an eigenvalue that small, of the largest one's size, is taken as 0


def descend(
    f: Callable[..., Any],
    start: Any,
    method: str = "newton",
    steps: int = 5,
    rate: float = 0.1,
    x: tuple[float, float] | None = None,
    y: tuple[float, float] | None = None,
    backtracking: bool = False,
) -> Player:
    """Show steps towards a minimum of a function of two variables, with the gradient and the quadratic model at each.

    Parameters
    ----------
    f : callable
        A function of one array of two numbers, or of two numbers; returns a scalar tensor.
    start : array_like
        The starting point: two numbers.
    method : {"newton", "gradient"}
        Newton's method goes to where the quadratic model is stationary, whether at a minimum, a saddle or a maximum;
        gradient descent goes `rate` times the gradient downhill.
    steps : int
        The most steps to take, from 1 to 30. The walk ends earlier if there is no next step.
    rate : float
        The learning rate of gradient descent; Newton's method has none.
    x, y : tuple of float, optional
        The part of the plane to draw; by default, chosen around the path.
    backtracking : bool
        Whether a step is halved until the function falls far enough (Armijo's rule). Where Newton's direction leads
        uphill, the step then goes against the gradient.

    Returns
    -------
    Player
        One step for each point; its document is described in `player.extra_parts`. Its slider adds λ times the identity
        to the Hessian, which turns Newton's step into one against the gradient.

    Raises
    ------
    ValueError
        If `start` is not two finite numbers, the method is unknown, a number is out of its range, or `f` does not
        return a scalar.
    TypeError
        If `f` does not return a tensor.
    ImportError
        If contourpy is missing, which comes with matplotlib.

    Examples
    --------
    >>> player = descend(lambda p: p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2, (0.3, 1.0), steps=2)
    >>> print(player.transcript()[:109])
    1. At [0.3 1] the function is 0.828, with the gradient [-1.09 2]. The quadratic model curves down along [1 0]
    """
    try:
        point = np.asarray(as_array(start), dtype=float)
    except (TypeError, ValueError):
        point = np.full(2, np.nan)
    if point.shape != (2,) or not np.isfinite(point).all():
        raise ValueError(f"start must be two finite numbers, as in start=(0.3, 1.0); it is {start!r:.60}")
    if method not in ("newton", "gradient"):
        raise ValueError(f'the method is "newton" or "gradient", not {method!r:.40}')
    if not is_whole(steps) or not 1 <= steps <= MOST_STEPS:
        raise ValueError(f"steps is a whole number from 1 to {MOST_STEPS}, not {steps!r:.40}")
    if not np.isfinite(rate) or rate <= 0:
        raise ValueError(f"the rate must be above 0; it is {rate!r:.40}")
    ranges = [None if given is None else check_range(given, name) for name, given in (("x", x), ("y", y))]
    function = of_two(f)
    with np.errstate(all="ignore"):  # the sentence reports a walk that leaves all bounds
        told = _walk(function, point, method, steps, float(rate), bool(backtracking))
        _count_digits(function, told)
    names = _name_arguments(f, 2) if function is not f else [f"{_name_arguments(f, 1)[0]}[{i}]" for i in (0, 1)]
    how = "Newton's method" if method == "newton" else f"Gradient descent, rate {short_value(np.float64(rate))},"
    document = empty(f"{how} on {name_of(f)}")
    document |= {"steps": [_describe(step) for step in told], "contours": picture(f, told, names, ranges)}
    return Player(Written(document))


def _walk(
    function: Callable[[Any], Any], point: Any, method: str, steps: int, rate: float, backtracking: bool
) -> list[dict[str, Any]]:
    """Iterate; each step holds plain NumPy numbers, and the sentence."""
    differentiate, curve = value_and_grad(function), hessian(function)
    far = FARTHEST * max(1.0, float(np.abs(point).max()))
    told: list[dict[str, Any]] = []
    for number in range(steps + 1):
        value, gradient = differentiate(point)
        if not isinstance(value, Tensor) or value.shape != ():
            raise ValueError(f"descend needs a function that returns one number, but this returns shape {value.shape}")
        found = {"point": point, "value": value, "gradient": gradient, "hessian": curve(point)}
        now: dict[str, Any] = {part: np.asarray(array) + 0.0 for part, array in found.items()}  # "-0" says nothing
        now |= dict.fromkeys(("eigenvalues", "directions", "newton", "step", "next", "next_value"))
        now |= {"number": number, "is_far": np.abs(point).max() > far, "trials": [], "digits": None, "uphill": False}
        told.append(now)
        if not all(np.isfinite(now[part]).all() for part in found):
            now["text"] = _where(now) + "That is not finite, so there is no direction to continue in: the walk ends."
            break
        now["eigenvalues"], now["directions"] = np.linalg.eigh(now["hessian"])
        if now["is_far"]:
            now["text"] = _where(now) + "That is so far from the start that the walk is diverging, so it ends here."
            break
        if not _is_singular(now["eigenvalues"]):
            now["newton"] = 0.0 - np.linalg.solve(now["hessian"], now["gradient"])
        still = not now["gradient"].any()
        step = now["newton"] if method == "newton" else 0.0 - rate * now["gradient"]
        if number < steps and not still and step is not None and backtracking:
            step = _backtrack(function, now, step)
        if number < steps and not still and step is not None:
            now["step"], now["next"] = step, point + step
            now["next_value"] = np.asarray(function(now["next"])) + 0.0
        now["text"] = _sentences(now, method, still, last=number == steps)
        if now["next"] is None:
            break
        point = now["next"]
    return told


def _backtrack(function: Callable[[Any], Any], now: dict[str, Any], step: Any) -> Any:
    """Halve a step until the function falls far enough; return None if no fraction of it works."""
    slope = float(now["gradient"] @ step)
    if slope >= 0:
        now["uphill"], step = True, 0.0 - now["gradient"]
        slope = float(now["gradient"] @ step)
    for halvings in range(MOST_HALVINGS):
        fraction = 0.5**halvings
        trial = now["point"] + fraction * step
        if float(function(trial)) <= float(now["value"]) + ENOUGH * fraction * slope:  # which NaN never is
            return fraction * step
        now["trials"].append(trial)
    now["next_value"] = None
    return None


def _count_digits(function: Callable[[Any], Any], told: list[dict[str, Any]]) -> None:
    """Note how many digits of each point match the stationary point that the walk leads to, if it is found."""
    start, point = told[0]["point"], told[-1]["point"]
    end = None if told[-1]["is_far"] else _stationary(function, point)
    if end is None:
        return
    size = max(np.abs(end).max(), np.abs(start - end).max())
    for now in told:
        wrong = float(np.abs(now["point"] - end).max() / size) if size else 0.0
        # a millionth below a whole number counts as that number, so that the last bit does not decide
        now["digits"] = SURE_DIGITS if wrong == 0 else int(np.clip(1e-6 - np.log10(wrong), 0, SURE_DIGITS))


def _stationary(function: Callable[[Any], Any], point: Any) -> Any:
    """Continue from the last point with Newton's method until it stands still; return None if it never does."""
    differentiate, curve = value_and_grad(function), hessian(function)
    for _ in range(MOST_HALVINGS):
        gradient, matrix = (np.asarray(part) for part in (differentiate(point)[1], curve(point)))
        if not (np.isfinite(gradient).all() and np.isfinite(matrix).all()):
            return None
        if not gradient.any():
            return point
        if _is_singular(np.linalg.eigvalsh(matrix)):
            return None
        step = np.linalg.solve(matrix, gradient)
        point = point - step
        if np.abs(step).max() <= 1e-14 * max(1.0, np.abs(point).max()):
            return point
    return None


def _is_singular(eigenvalues: Any) -> bool:
    return bool(np.abs(eigenvalues).min() <= FLAT * np.abs(eigenvalues).max())


def _write_point(now: dict[str, Any], part: str) -> str:
    """Write the point or the next one, with the digits that tell them apart."""
    apart = 3 if now["next"] is None else count_digits_apart(now["point"], now["next"], USUAL_DIGITS)
    return spoken_value(now[part], digits=apart)


def _where(now: dict[str, Any]) -> str:
    value, gradient = (spoken_value(now[part]) for part in ("value", "gradient"))
    return f"At {_write_point(now, 'point')} the function is {value}, with the gradient {gradient}. "


def _sentences(now: dict[str, Any], method: str, still: bool, last: bool) -> str:
    low, high = now["eigenvalues"]
    singular = _is_singular(now["eigenvalues"])
    if singular:
        form = f"The Hessian is singular (its eigenvalues are {spoken_value(now['eigenvalues'])}): "
        form += "the quadratic model does not curve " + ("along one direction" if low or high else "in any direction")
        kind = ""
    elif low > 0:
        form, kind = "The quadratic model curves up in every direction", "minimum"
    elif high < 0:
        form, kind = "The quadratic model curves down in every direction", "maximum"
    else:
        down, up = (spoken_value(_direction(now["directions"][:, i])) for i in (0, 1))
        form, kind = f"The quadratic model curves down along {down} and up along {up}", "saddle"
    text = _where(now)
    if still:
        end = f"this is a {kind} of the function" if kind else "the Hessian does not say whether this is a minimum"
        text += f"No direction leads down from here, to first order. {form}: {end}. "
        return text + "The gradient is 0, so the walk ends here."
    if method == "gradient":
        text += f"{form}. "
        if now["next"] is None:
            return text + _describe_end(now)
        there = f"{_write_point(now, 'next')}, {_height(now)}"
        return f"{text}{_describe_halving(now)}The step against the gradient leads to {there}."
    if singular:
        return (
            f"{text}{form}, so it has no single stationary point and Newton's method has no next step: the walk ends."
        )
    if last or now["next"] is None:
        return f"{text}{form}. {_describe_end(now)}"
    if now["uphill"] or now["trials"]:
        led = "The step against the gradient" if now["uphill"] else "The step"
        uphill = "Newton's direction leads uphill from here. " if now["uphill"] else ""
        return (
            f"{text}{form}. {uphill}{_describe_halving(now)}{led} leads to {_write_point(now, 'next')}, {_height(now)}."
        )
    warning = {
        "minimum": "",
        "maximum": " Newton walks to a maximum, which is not what a minimisation looks for.",
        "saddle": " Along the direction that curves down, Newton walks to the maximum, not to a minimum.",
    }[kind]
    return f"{text}{form}: Newton's step leads to its {kind}, {_write_point(now, 'next')}, {_height(now)}.{warning}"


def _describe_halving(now: dict[str, Any]) -> str:
    count = len(now["trials"])
    times = "once" if count == 1 else f"{count} times"
    return f"The full step does not go down far enough, so it is halved {times}. " if count else ""


def _describe_end(now: dict[str, Any]) -> str:
    if now["trials"]:
        return "No fraction of the step leads down. The walk ends here."
    return f"The walk was limited to {now['number']} step{'s'[: now['number'] != 1]}, so it ends here."


def _direction(vector: Any) -> Any:
    """Return a direction with a sign that does not depend on how it was computed."""
    vector = np.where(np.abs(vector) < FLAT, 0.0, vector)
    return vector * np.sign(vector[np.flatnonzero(vector)[0]]) + 0.0


def _height(now: dict[str, Any]) -> str:
    before, after = float(now["value"]), float(now["next_value"])
    how = "lower" if after < before else "higher" if after > before else "as high" if after == before else "not finite"
    return f"where the function is {spoken_value(now['next_value'])}, {how}"


def _describe(now: dict[str, Any]) -> dict[str, Any]:
    step: dict[str, Any] = {"kind": "iterate", "text": now["text"], "where": None, "tape": None, "memory": None}
    step["number"] = now["number"]
    for part in ("point", "value", "gradient", "hessian", "newton", "eigenvalues", "step", "next", "next_value"):
        step[part] = None if now[part] is None else array(now[part])
    if now["digits"] is not None:
        step["digits"] = now["digits"]
    if now["trials"]:
        step["halvings"] = array(len(now["trials"]))
    return step
