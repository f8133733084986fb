"""The exercises of chapter 6, control flow: a while loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..feedback import NotYet, near, needs_dict, needs_each, number

SLOPES = {3: 108.0, 7: 147.0, 60: 1.0}
TURNS = {3: 3, 7: 2, 60: 0}


def while_loop(answer: Any) -> str:
    """Check 6.1: the slopes of a while loop at three places, as a dict."""
    needs_dict(answer, "{3: 1.0, 7: 1.0, 60: 1.0}")
    needs_each(answer, SLOPES, "No slope is given at")
    for place, right in SLOPES.items():
        if answer[place] is None:
            raise NotYet(
                f"At {place} the gradient is not None. A loop cuts nothing: the tape holds the products that were run."
            )
        given = number(answer[place], f"the slope at {place}")
        if not near(given, right):
            raise NotYet(f"At {place}: {_about_turns(place, given)}")
    return "Three turns make x⁴, two make x³, none leaves x. The same code is a different function at each place."


def _about_turns(place: int, given: float) -> str:
    turns = TURNS[place]
    if given == 0:
        return "0 would mean that y does not change with x. y begins as x, and each turn multiplies by x."
    if near(given, float(place ** (turns + 1))):
        return f"{given:g} is the value of y at the end. Its slope is asked for."
    for other in range(9):
        if other != turns and near(given, (other + 1) * float(place) ** other):
            direction = "many" if other > turns else "few"
            return (
                f"{given:g} is the slope after {other} turn{'s' * (other != 1)}, which is too {direction}. Write the "
                "values of y down, one by one, until y reaches 50."
            )
    if near(given, float(place**turns)):
        return f"{given:g} counts one of the factors only. y is x multiplied by itself, and every factor contributes."
    return "write y as a power of x: which power does y hold when the loop ends? Then take the slope of that."


EXERCISES: dict[str, Callable[[Any], str]] = {"6.1": while_loop}
"""The checks by exercise."""
