"""How long a chapter takes, from its words and its code, and from what readers said of its exercises."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import floor
from typing import Any

from ..exercises import Exercise
from .fill import LINKS

WORDS = 60
"""Words of text in a minute, with what they ask to be looked at; the links to neighbours are not counted.

This and the next are fitted to the minutes that four strangers needed for each of the 25 chapters of the second
edition: root mean square error 5 minutes, at most 12. Players and predictions, counted as well, did not lower it.
"""
LINES = 8
"""Lines of code in a minute, to read and to run; folded code and the solutions are not counted."""
EXERCISE = 5
"""Minutes for an exercise that states none."""

_OF_EXERCISES = re.compile("ex(-|$)")


def minutes(notebook: dict[str, Any], exercises: Iterable[Exercise]) -> tuple[int, int]:
    """Compute how long a chapter takes.

    Reading takes a minute for every 60 words, and another for every 8 lines of code; an exercise takes the minutes that
    it states, or 5. Both sums are rounded to 5 minutes.

    Parameters
    ----------
    notebook : dict
        As JSON or nbformat reads it (version 4). Outputs don't count.
    exercises : iterable of Exercise
        Those of the chapter.

    Returns
    -------
    reading, exercises : int
        In minutes.

    Examples
    --------
    >>> text = {"cell_type": "markdown", "metadata": {}, "source": "word " * 600}
    >>> code = {"cell_type": "code", "metadata": {}, "source": "ad.play(f, 3.0)"}
    >>> minutes({"cells": [text, code]}, [Exercise(minutes=12), Exercise()])
    (10, 15)
    """
    reading = 0.0
    for cell in notebook["cells"]:
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", ())
        if _OF_EXERCISES.match(cell.get("id", "")):
            continue  # the text of an exercise, and code to start from, are part of its minutes
        if cell["cell_type"] == "markdown":
            reading += len(LINKS.sub("", source).split()) / WORDS
        elif not {"exercise", "solution", "hide-input"}.intersection(tags):
            reading += sum(map(bool, map(str.strip, source.split("\n")))) / LINES
    return _round(reading), _round(sum(exercise.minutes or EXERCISE for exercise in exercises))


def _round(time: float) -> int:
    return 5 * floor(time / 5 + 0.5)  # where round would take a half to the next even number
