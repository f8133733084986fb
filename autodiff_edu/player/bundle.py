"""The player's script and its style sheet, and those of a prediction, as a cell or a page carries them."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ..text.shared import colours

SHEETS = (
    *("theme", "base", "controls", "strip", "code", "tape", "graph", "panel", "array"),
    *("nonfinite", "lesson", "broadcasting", "corners", "nudge", "tangents", "wave"),
    *("question", "predict-mode", "glossary", "stage"),
    *("sweep", "patches", "contours", "compiler-passes"),
    "compact",
    "media",  # it overrides the others
)

PREDICTION = ("theme", "question", "prediction")

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SPACE = re.compile(r";?\s+(?=\})|(?<=[:;,{}])\s+|\s+(?=\{)")
INDENT = re.compile(r"^\s+", re.MULTILINE)


@cache
def asset(name: str) -> str:
    """Return the text of a file of the player, such as css/graph.css or js/dom.js."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8").strip() + "\n"


@cache
def style(sheets: tuple[str, ...] = SHEETS) -> str:
    """Return the sheets as one, with the colours that they mention."""
    text = "\n".join(asset(f"css/{name}.css") for name in sheets)
    used = {name: value for name, value in colours().items() if f"var(--shared-{name})" in text}
    known = "".join(f"--shared-{name}: {_scheme(value)};" for name, value in used.items())
    return SPACE.sub("", INDENT.sub("", COMMENT.sub("", f":host {{ {known} }}\n{text}")))


def _scheme(colour: str | list[str]) -> str:
    return colour if isinstance(colour, str) else f"light-dark({', '.join(colour)})"


@cache
def script(name: str = "player") -> str:
    """Return js/player.js, or another script, with all that it imports, as build.py made one module of it."""
    return asset(f"built/{name}.js").partition("\n")[2]
