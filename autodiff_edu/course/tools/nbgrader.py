"""Write a course folder for nbgrader, the tool by which many Jupyter courses hand out, collect and mark.

    python -m autodiff_edu.course assignment --nbgrader COURSE/

Each chapter is one assignment, for example COURSE/source/02-backward/. An exercise is a cell to fill in, whose solution
nbgrader removes when it hands out the assignment; below it is a locked cell with the check, worth one point. nbgrader
itself is not needed to write the folder.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..contents import OURS, Course
from . import assignment

CONFIG = """\
# The settings of nbgrader for the chapters of autodiff_edu; add your own.
c = get_config()
c.CourseDirectory.course_id = "autodiff_edu"
c.ClearSolutions.code_stub = {"python": ""}  # an exercise is handed out with its three dots, and nothing beside them
c.Execute.timeout = 120  # seconds for each cell
"""
TEST = """\
# {exercise}, 1 point. This cell is locked; write your answer into the cell above.
import contextlib

from autodiff_edu.course import check

with contextlib.redirect_stderr(None):  # nbgrader gives no points to a cell that shows a warning
    feedback = check("{exercise}", answer)
assert feedback, feedback.message"""


def write(
    out: str | Path, numbers: Sequence[int | str] = (), *, course: Course = OURS, force: bool = False
) -> list[Path]:
    """Write chapters as the source notebooks of an nbgrader course, each with its data and the licence.

    Parameters
    ----------
    out : path
        The course folder; it is made where there is none. An nbgrader_config.py that is there already stays as it is.
    numbers : sequence of int or str
        Which chapters; all that ask something if there are none.
    course : Course
        Whose chapters.
    force : bool
        Whether a notebook that is there already, and says something else, is replaced.

    Returns
    -------
    list of Path
        The chapters written.

    Raises
    ------
    ValueError
        If there is no chapter of a number, or `out` is the folder that the chapters come from.
    FileExistsError
        If a file is there already and says something else. Nothing has been written then.

    Examples
    --------
    >>> import tempfile
    >>> [path] = write(tempfile.mkdtemp(), ["backward"])
    >>> path.parts[-3:]
    ('source', '02-backward', '02-backward.ipynb')
    """
    out = Path(out)
    files: dict[Path, bytes] = {}
    chosen = []
    for chapter in assignment.choose(out, numbers, course):
        folder = out / "source" / chapter.name
        chosen.append(folder / f"{chapter.name}.ipynb")
        files[chosen[-1]] = source(chapter.read()).encode()
        files |= {folder / name: content for name, content in assignment.alongside(course).items()}
    if not (out / "nbgrader_config.py").exists():
        files[out / "nbgrader_config.py"] = CONFIG.encode()
    assignment.write_all(files, force=force)
    return chosen


def source(notebook: dict[str, Any]) -> str:
    """Make of an executed chapter what nbgrader takes as a source notebook.

    Parameters
    ----------
    notebook : dict
        As stored in JSON; it is left as it is.

    Returns
    -------
    str
        The notebook's text: as it is handed out, but for the solutions, which nbgrader takes out.
    """
    solutions = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"] if assignment.is_solution(cell)}
    cells = []
    for cell in notebook["cells"]:
        if "exercise" not in cell["metadata"].get("tags", ()):
            cells.append(cell)
            continue
        text = "".join(cell["source"])
        exercise = _check(text).args[0].value
        name = exercise.replace(".", "-")
        solved = _with_solution(text, solutions[cell["id"].removesuffix("-answer") + "-solution"])
        metadata = cell["metadata"] | {"nbgrader": _metadata(f"exercise-{name}", solution=True)}
        cells.append(cell | {"metadata": metadata, "source": solved})
        metadata = {"nbgrader": _metadata(f"check-{name}", solution=False) | {"points": 1}}
        test = {"id": f"check-{name}", "metadata": metadata, "source": TEST.format(exercise=exercise)}
        cells.append({"cell_type": "code"} | test)
    return assignment.prepare({**notebook, "cells": cells})


def _metadata(name: str, *, solution: bool) -> dict[str, Any]:
    what = {"solution": solution, "grade": not solution, "locked": not solution, "task": False}
    return {"schema_version": 3, "grade_id": name, **what}


def _with_solution(exercise: str, solution: str) -> str:
    r"""Put a solution into the cell of its exercise, between the marks that nbgrader looks for, before the check.

    >>> print(_with_solution('answer = ...\n\ncheck("1.1", answer)', 'solution = 8\ncheck("1.1", solution)'))
    answer = ...
    <BLANKLINE>
    ### BEGIN SOLUTION
    solution = 8
    answer = solution
    ### END SOLUTION
    check("1.1", answer)
    """
    lines, solved = exercise.split("\n"), solution.split("\n")
    asks, answers = _check(exercise).lineno - 1, _check(solution)
    result = ast.unparse(answers.args[1])
    region = ["### BEGIN SOLUTION", *solved[: answers.lineno - 1], f"answer = {result}", "### END SOLUTION"]
    return "\n".join([*lines[:asks], *region, *lines[asks:]])


def _check(source: str) -> Any:
    """Find the call of `check` that a cell ends with."""
    statement: Any = ast.parse(source).body[-1]
    return statement.value
