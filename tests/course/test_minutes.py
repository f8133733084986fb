"""Every chapter says how long it takes, by the one rule that computes it, and those of the third edition are short."""

import pytest

from autodiff_edu.course.contents import OURS
from autodiff_edu.course.exercises import Exercise
from autodiff_edu.course.tools.minutes import minutes

THIRD_EDITION = frozenset(
    {
        "derivatives",
        "the-tape",
        "backward",
        "shapes",
        "your-own-tape",
        "a-network",
        "watched-or-none",
        "control-flow",
        "stop-recording",
        "stop-gradient",
        "multiple-tapes",
        "higher-order-gradients",
        "not-a-number",
        "custom-gradients",
        "corners",
        "forward-mode",
        "jacobians",
        "hessian-and-newton",
        "curvature",
        "trace-once-run-many",
        "passes",
        "implicit-differentiation",
        "through-a-simulation",
        "sparse-jacobians",
        "batch-jacobians",
        "training",
        "a-gpt",
        "memory",
        "a-project",
        "tensorflow",
        "a-cluster",
    }
)
"""The chapters that are one sitting by now."""


@pytest.mark.parametrize("chapter", OURS.assignments, ids=lambda chapter: chapter.name)
def test_a_chapter_says_how_long_it_takes(chapter):
    notebook = chapter.read()
    reading, exercises = minutes(notebook, chapter.exercises.values())
    after = "The project: four to ten hours" if chapter.slug == "a-project" else f"Exercises: about {exercises}"
    assert f"*Reading: about {reading} minutes. {after}.*" in "".join(notebook["cells"][0]["source"])
    assert chapter.slug == "a-project" or all(exercise.minutes for exercise in chapter.exercises.values())
    if chapter.slug in THIRD_EDITION:
        assert reading <= 30
        assert exercises <= 25 or chapter.slug == "a-project"  # four projects of hours


def cell(kind, source, *tags, id=""):
    return {"cell_type": kind, "id": id, "metadata": {"tags": list(tags)}, "source": source.splitlines(keepends=True)}


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([], 0),
        ([cell("markdown", "word " * 300)], 5),
        ([cell("code", "x = 1\n\n" * 80)], 10),
        ([cell("code", "x = 1\n" * 80, "hide-input")], 0),
        ([cell("code", "x = 1\n" * 80, "solution")], 0),
        ([cell("code", "x = 1\n" * 80, "exercise")], 0),
        ([cell("code", "x = 1\n" * 20)], 5),
        ([cell("code", "x = 1\n" * 60)], 10),
        ([cell("code", "x = 1\n" * 100)], 15),
        ([cell("markdown", "word " * 300, id=id) for id in ("ex", "ex-1", "ex-predict")], 0),
        ([cell("code", "x = 1\n" * 80, id="ex-1-start")], 0),
        ([cell("markdown", "word " * 300, id=id) for id in ("explode-2", "explore", "text")], 15),
    ],
)
def test_words_and_lines_count(cells, wanted):
    assert minutes({"cells": cells}, ()) == (wanted, 0)


@pytest.mark.parametrize(("stated", "wanted"), [((), 0), ((8, 6, 10), 25), ((None,), 5), ((2,), 0), ((None, 8), 15)])
def test_an_exercise_takes_the_minutes_that_it_states(stated, wanted):
    assert minutes({"cells": []}, [Exercise(minutes=each) for each in stated]) == (0, wanted)
