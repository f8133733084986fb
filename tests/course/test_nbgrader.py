"""The course folder for nbgrader: nbgrader itself takes it, and gives the points that we give."""

import gc
import json
import linecache
import os
import re
import sys
from itertools import chain
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import PyFileConfigLoader

from autodiff_edu.course.__main__ import main
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools import assignment, nbgrader
from autodiff_edu.course.tools.execute import missing_frameworks
from autodiff_edu.course.tools.grade import grade_all, submissions

REGION = re.compile(r"### BEGIN SOLUTION\n.*?### END SOLUTION\n", re.DOTALL)
MAGIC = re.compile("^%.*", re.MULTILINE)
NEEDS_THE_CHAPTER = {
    f"{OURS.find(slug).number}.{k}"
    for slug, exercises in (
        ("your-own-tape", (1, 2, 3)),
        ("multiple-tapes", (1,)),
        ("a-gpt", (1, 2)),
        ("forward-mode", (1,)),
        ("jacobians", (3,)),
        ("hessian-and-newton", (2,)),
        ("curvature", (3,)),
        ("a-project", (1, 3, 4)),
    )
    for k in exercises
}
"""Exercises whose solutions use what the cells before them define."""


def read(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def sources():
    for chapter in OURS.assignments:
        yield chapter.notebook, json.loads(nbgrader.source(chapter.read()))


def marked(notebook):
    """Return the cells that nbgrader knows, by its names."""
    known = (cell for cell in notebook["cells"] if "nbgrader" in cell["metadata"])
    return {cell["metadata"]["nbgrader"]["grade_id"]: cell for cell in known}


def test_every_exercise_is_a_cell_to_fill_in_and_a_locked_check_worth_a_point():
    found = []
    for path, notebook in sources():
        plain = json.loads(assignment.prepare(read(path)))
        handed_out = {cell["id"]: "".join(cell["source"]) for cell in plain["cells"]}
        cells = marked(notebook)
        assert len(cells) == 2 * len(OURS.find(path.name).exercises)
        for answer, test in zip(list(cells.values())[::2], list(cells.values())[1::2], strict=True):
            told = answer["metadata"]["nbgrader"]
            assert (told["solution"], told["grade"], told["locked"]) == (True, False, False)
            told = test["metadata"]["nbgrader"]
            assert (told["solution"], told["grade"], told["locked"], told["points"]) == (False, True, True, 1)
            assert REGION.sub("", "".join(answer["source"])) == handed_out[answer["id"]]
            found += re.findall(r'check\("([\w.]+)", answer\)', "".join(test["source"]))
        others = [cell["id"] for cell in notebook["cells"] if not cell["id"].startswith("check-")]
        assert others == list(handed_out)
    assert found == list(OURS.exercises)


@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")  # the temporary folders of chapter 13
def test_every_solution_passes_its_locked_check(monkeypatch):
    monkeypatch.chdir(OURS.notebooks)
    monkeypatch.setenv("MPLBACKEND", "agg")
    failed = set()
    for path, notebook in sources():
        if missing_frameworks(path):
            continue
        names = {"display": str}  # which every notebook has
        for cell in notebook["cells"]:
            if cell["id"] == "imports" or "nbgrader" in cell["metadata"]:
                text, place = MAGIC.sub("", "".join(cell["source"])), f"<{path.stem} {cell['id']}>"
                linecache.cache[place] = len(text), None, text.splitlines(True), place  # a solution asks for its lines
                try:
                    exec(compile(text, place, "exec"), names)
                except (AssertionError, NameError):
                    failed |= set(re.findall(r'check\("([\w.]+)"', text))
    names.clear()
    gc.collect()  # the folders, here where that is expected
    assert failed == NEEDS_THE_CHAPTER


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # of nbgrader's own sessions with its database
def test_nbgrader_takes_the_folder_and_gives_the_points_that_we_give(tmp_path, monkeypatch):
    course = tmp_path / "course"
    assert main(["assignment", "--nbgrader", str(course), "2"]) == 0
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # it calls alembic
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    settings = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    settings.CourseDirectory.root = str(course)
    api = NbGraderAPI(config=settings)

    def nbgrader_does(step, *arguments):
        done = getattr(api, step)("02-backward", *arguments)
        assert done["success"], done["error"]

    nbgrader_does("generate_assignment")
    handed_out = read(course / "release" / "02-backward" / "02-backward.ipynb")
    assert "SOLUTION" not in json.dumps(handed_out)
    assert (course / "release" / "02-backward" / "data" / "penguins.csv").exists()
    locked = [cell for cell in handed_out["cells"] if cell["id"].startswith("check-")]
    assert [cell["metadata"]["editable"] for cell in locked] == [False] * 3

    source = read(course / "source" / "02-backward" / "02-backward.ipynb")
    solved = {name: "".join(cell["source"]) for name, cell in marked(source).items()}
    warns = (
        "import sys, warnings\n\ndef answer(g, z, x, y):\n    warnings.warn('slow')\n    print(1, file=sys.stderr)\n"
    )
    hand_in(course, "anna", handed_out, solved | {"exercise-2-2": warns + "    return g * x / z, g * y / z"})
    cheats = "answer = lambda g, z, x, y: (g, g)\ncheck = lambda exercise, answer: True"
    edited = {"exercise-2-1": solved["exercise-2-1"], "exercise-2-2": cheats, "check-2-3": "pass"}
    hand_in(course, "ben", handed_out, edited)
    for student in ("anna", "ben"):
        nbgrader_does("autograde", student)

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        points = {
            student: {
                grade.name.removeprefix("check-").replace("-", "."): grade.score
                for grade in book.find_submission_notebook("02-backward", "02-backward", student).grades
            }
            for student in ("anna", "ben")
        }
    ours = {student: {} for student in points}
    for _, ready in grade_all(submissions([course / "submitted"])):
        for result in chain.from_iterable(ready):
            ours[result.student][result.exercise] = result.right
            assert result.problem == ""
    assert ours == points
    assert points == {"anna": {"2.1": 1, "2.2": 1, "2.3": 1}, "ben": {"2.1": 1, "2.2": 0, "2.3": 0}}


def hand_in(course, student, handed_out, answers):
    """Write the assignment that was handed out with its exercises filled in, and without the cells to be read."""
    cells = [
        cell | {"source": answers.get(cell["metadata"].get("nbgrader", {}).get("grade_id"), cell["source"])}
        for cell in handed_out["cells"]
        if cell["id"] == "imports" or "nbgrader" in cell["metadata"]
    ]
    path = course / "submitted" / student / "02-backward" / "02-backward.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**handed_out, "cells": cells}), encoding="utf-8")


def test_settings_and_work_that_are_there_already_stay(tmp_path, capsys):
    (tmp_path / "nbgrader_config.py").write_text("c.CourseDirectory.course_id = 'mine'")
    assert main(["assignment", "--nbgrader", str(tmp_path), "1"]) == 0
    source = tmp_path / "source" / "01-the-tape" / "01-the-tape.ipynb"
    assert capsys.readouterr().out == f"{source}\n"
    assert main(["assignment", "--nbgrader", str(tmp_path), "1"]) == 0, "the same files again are no loss"
    source.write_text("worked on")
    assert main(["assignment", "--nbgrader", str(tmp_path)]) == 1
    assert "01-the-tape.ipynb: there already" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "source").iterdir()] == ["01-the-tape"], "all or nothing"
    assert source.read_text() == "worked on"
    assert main(["assignment", "--nbgrader", str(tmp_path), "1", "--force"]) == 0
    assert "BEGIN SOLUTION" in source.read_text(encoding="utf-8")
    assert "mine" in (tmp_path / "nbgrader_config.py").read_text()


def test_a_choice_that_makes_no_sense_gets_a_sentence(tmp_path, capsys):
    assert main(["assignment", "--nbgrader", str(tmp_path), "77"]) == 1
    assert "there is no chapter 77; there are" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["assignment", "--nbgrader", "--solutions", str(tmp_path)])
    assert "not allowed with argument" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
