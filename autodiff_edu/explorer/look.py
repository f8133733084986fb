"""The view of an explorer for one choice of inputs: numbers as a table, pictures as images."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

from ..core.tensor import Tensor
from ..player import Player
from ..text.formatting import derivative, number, short_value
from .tangent import Picture

STEPS = 120
"""How many positions a slider has."""


@dataclass
class Look:
    """Everything to see at one place, or the reason why there is nothing.

    Attributes
    ----------
    value : Tensor or None
    gradient : dict of str to Tensor
        With respect to each input that holds floating-point numbers.
    slope : float or None
        The slope of the secant.
    player : Player or None
    picture : Picture or None
        The tangent, if the result is a number.
    error : str
        The error that `f` raised, in words; empty if none.
    """

    value: Any = None
    gradient: dict[str, Any] = field(default_factory=dict)
    slope: float | None = None
    player: Player | None = None
    picture: Picture | None = None
    error: str = ""

    def rows(self) -> list[tuple[str, str]]:
        """List the numbers, each with its name."""
        rows = [("value", short_value(self.value._array))] if isinstance(self.value, Tensor) else []
        rows += [(derivative("f", name), short_value(part._array)) for name, part in self.gradient.items()]
        return rows + ([("slope of the secant", number(self.slope))] if self.slope is not None else [])

    def words(self) -> str:
        """Write the numbers as text, or the error."""
        return self.error or "\n".join(" ".join(row) for row in self.rows())


def table(look: Look) -> str:
    """Write the numbers, or the error, as HTML."""
    if look.error:
        return f'<p role="status"><b>{html.escape(look.error)}</b></p>'
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in look.rows())
    return f"<table>{cells}</table>" if cells else ""


def is_steep(low: float, high: float) -> bool:
    """Decide whether a slider over a range moves by factors."""
    return low > 0 and high / low >= 100
