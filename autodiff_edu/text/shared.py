"""Facts that Python shares with the player's JavaScript and style sheets, read from shared.json.

- `format` and `version` of a trace document; `arrays`, the fields of a step that hold arrays.
- `longest_value`: how many characters of a value are shown.
- `logarithmic`: the largest size of a curve, in units of its smallest, above which its scale is logarithmic.
- `box`, of a tensor in the graph, in pixels: its `padding` and `height`, the baselines of its texts, and where the
  `strip` behind the cotangent begins; the room of the `arrow` before a cotangent that is drawn; and for a constant,
  which is one line, its height and baseline.
- `thumbnail`, of an array in such a box: the most cells `across` and `down`, and of a `vector`; the `cell`, the
  `width` and the `height` at most, in pixels; the shades on each side of zero; and `stacked`, the height from which on
  two lines of text fit beside it.
- `operators`, by their sign in Python: the `name` of NumPy's function, how it is read `aloud`, its `level` of
  precedence in Python (the higher, the tighter), and how a formula draws it: as what, and how tightly it `binds` there.
- `colours`: one for the light scheme, or one for the light and one for the dark. `low` and `high` are for the numbers
  below and above zero: purple and green, which colour-blind readers can tell apart, and which, unlike blue and orange,
  mean no direction; `odd` is for NaN and infinities. The accents are mixed with the page's text.

>>> operators()["multiply"]
Operator(sign='*', aloud='times', level=7)
>>> colour("low"), colours()["sunk"]
('#7030a0', '#f4f5f7')
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple


class Operator(NamedTuple):
    """An operator of Python: its sign, how it is read aloud, and its level of precedence."""

    sign: str
    aloud: str
    level: int


@cache
def shared() -> dict[str, Any]:
    """Read the file."""
    import json  # not worth the import time if you only differentiate
    from importlib.resources import files  # also reads from a zip file, which has no paths

    found: dict[str, Any] = json.loads(files(__package__).joinpath("shared.json").read_text(encoding="utf-8"))
    return found


@cache
def operators() -> dict[str, Operator]:
    """Return the operators, by the names of NumPy's functions."""
    listed = shared()["operators"].items()
    return {about["name"]: Operator(sign, about["aloud"], about["level"]) for sign, about in listed}


def colours() -> dict[str, str | list[str]]:
    """Return every colour, by its name."""
    found: dict[str, str | list[str]] = shared()["colours"]
    return found


def colour(name: str) -> str:
    """Return a colour of the light scheme, for print."""
    found = colours()[name]
    return found if isinstance(found, str) else found[0]
