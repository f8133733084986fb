"""Every chapter says how long it takes, by the one rule that computes it, and none takes too long."""

import pytest

from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools.minutes import minutes


@pytest.mark.parametrize("chapter", OURS.assignments, ids=lambda chapter: chapter.name)
def test_a_chapter_says_how_long_it_takes(chapter):
    notebook = chapter.read()
    reading, exercises = minutes(notebook)
    after = "The project: four to ten hours" if chapter.slug == "a-project" else f"Exercises: about {exercises}"
    assert f"*Reading: about {reading} minutes. {after}.*" in "".join(notebook["cells"][0]["source"])
    assert reading <= 35


def cell(kind, source, *tags, id=""):
    return {"cell_type": kind, "id": id, "metadata": {"tags": list(tags)}, "source": source.splitlines(keepends=True)}


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([], (0, 0)),
        ([cell("markdown", "word " * 650)], (5, 0)),
        ([cell("code", "x = 1\n\n" * 100)], (10, 0)),
        ([cell("code", "x = 1\n" * 100, "hide-input")], (0, 0)),
        ([cell("code", "x = 1\n" * 100, "solution")], (0, 0)),
        ([cell("code", "x = 1\n" * 100, "exercise")] * 3, (0, 15)),
        ([cell("code", "%%play\nx = 1")] * 5, (10, 0)),
        ([cell("code", "ad.sweep(f, x)", "hide-input")] * 5, (10, 0)),
        ([cell("code", 'predict("1.a")', "hide-input")] * 20, (10, 0)),
        ([cell("code", "x = 1\n" * 25)], (5, 0)),
        ([cell("code", "x = 1\n" * 75)], (10, 0)),
        ([cell("code", "x = 1\n" * 125)], (15, 0)),
        ([cell("markdown", "word " * 650, id=id) for id in ("ex", "ex-1", "ex-predict")], (0, 0)),
        ([cell("markdown", "word " * 650, id=id) for id in ("explode-2", "explore", "text")], (15, 0)),
    ],
)
def test_words_lines_players_predictions_and_exercises_count(cells, wanted):
    assert minutes({"cells": cells}) == wanted
