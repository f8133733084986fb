"""The player's script and its style sheet, as a cell or a page carries them."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ..text.shared import colours

SHEETS = (
    *("base", "controls", "strip", "code", "tape", "graph", "panel", "array"),
    *("odd", "unfold", "nudge", "tangents", "predict", "words", "stage"),
    *("sweep", "patches", "contours"),
    "media",  # it overrides the others
)

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SPACE = re.compile(r";?\s+(?=\})|(?<=[:;,{}])\s+|\s+(?=\{)")
INDENT = re.compile(r"^\s+", re.MULTILINE)


@cache
def asset(name: str) -> str:
    """Return the text of a file of the player, such as css/graph.css or js/dom.js."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8").strip() + "\n"


@cache
def style() -> str:
    """Return the style sheet, with the colours that it mentions."""
    text = "\n".join(asset(f"css/{name}.css") for name in SHEETS)
    used = {name: value for name, value in colours().items() if f"var(--shared-{name})" in text}
    known = "".join(f"--shared-{name}: {_scheme(value)};" for name, value in used.items())
    return SPACE.sub("", INDENT.sub("", COMMENT.sub("", f":host {{ {known} }}\n{text}")))


def _scheme(colour: str | list[str]) -> str:
    return colour if isinstance(colour, str) else f"light-dark({', '.join(colour)})"


@cache
def script() -> str:
    """Return js/player.js with everything it imports, built into one module by build.py."""
    return asset("built/player.js").partition("\n")[2]
