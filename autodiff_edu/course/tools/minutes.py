"""How long a chapter takes, from its words, code, players, predictions and exercises."""

from __future__ import annotations

import re
from math import floor
from typing import Any

from .fill import LINKS

WORDS = 130
"""Words of text in a minute: a technical text, read once, with tables and asides, without the links to neighbours."""
LINES = 10
"""Lines of code in a minute, to read and to run; folded code and the solutions are not counted."""
PLAYER = 2.0
"""Minutes to step through a player."""
PREDICTION = 0.5
"""Minutes to answer one prediction."""
EXERCISE = 5.0
"""Minutes for one exercise."""

_PLAYS = re.compile(r"^(%%play|(player = )?ad\.(play|sweep|descend|explore|drill)\()", re.MULTILINE)
_OF_EXERCISES = re.compile("ex(-|$)")
_PREDICTS = re.compile(r"^predict\(", re.MULTILINE)


def minutes(notebook: dict[str, Any]) -> tuple[int, int]:
    """Compute how long a chapter takes.

    Reading takes a minute for every 130 words, another for every 10 lines of code, 2 minutes for each player and half
    a minute for each prediction; an exercise takes 5 minutes. Both are rounded to 5 minutes.

    Parameters
    ----------
    notebook : dict
        As JSON or nbformat reads it (version 4). Outputs don't count.

    Returns
    -------
    reading, exercises : int
        In minutes.

    Examples
    --------
    >>> text = {"cell_type": "markdown", "metadata": {}, "source": "word " * 1300}
    >>> code = {"cell_type": "code", "metadata": {}, "source": "ad.play(f, 3.0)"}
    >>> exercise = {"cell_type": "code", "metadata": {"tags": ["exercise"]}, "source": "answer = ..."}
    >>> minutes({"cells": [text, code, exercise]})
    (10, 5)
    """
    reading, exercises = 0.0, 0.0
    for cell in notebook["cells"]:
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", ())
        if cell["cell_type"] == "markdown":
            if not _OF_EXERCISES.match(cell.get("id", "")):  # the text of an exercise is part of its 5 minutes
                reading += len(LINKS.sub("", source).split()) / WORDS
        elif "exercise" in tags:
            exercises += EXERCISE
        elif "solution" not in tags:
            reading += PLAYER * len(_PLAYS.findall(source)) + PREDICTION * len(_PREDICTS.findall(source))
            reading += 0.0 if "hide-input" in tags else sum(map(bool, map(str.strip, source.split("\n")))) / LINES
    return _round(reading), _round(exercises)


def _round(time: float) -> int:
    return 5 * floor(time / 5 + 0.5)  # where round would take a half to the next even number
