"""The chapters as they are handed out: without outputs, without solutions, and with the version they were written for.

    python -m autodiff_edu.course list
    python -m autodiff_edu.course assignment OUT/

nbgrader.py beside this file writes them for nbgrader. A course that is not ours is handed out with its values in one
file, where `check` and `predict` find them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import autodiff_edu

from ...saving.files import check_path, resolve, resolve_folder
from ...saving.files import write as write_file
from ..contents import OURS, Chapter, Course
from ..values import NAME, pack
from .execute import as_text

ABOUT_FOLDS = re.compile(r"\s*Each solution is folded below its exercise; the PDF leaves it out\.")
FIRST_CELL = """\
# Written for autodiff-edu {version}. If this cell fails: pip install "autodiff-edu[lab]=={version}"
from autodiff_edu.course.tools.assignment import written_for

written_for("{version}")"""


def prepare(notebook: dict[str, Any], solutions: bool = False, name: str = "") -> str:
    """Make of an executed chapter what is handed out.

    Parameters
    ----------
    notebook : dict
        As stored in JSON; it is left as it is.
    solutions : bool
        Whether the folded solutions stay, for those who learn alone.
    name : str
        The chapter's number and slug, which it keeps in its metadata: `grade` refuses it once the chapter has moved.

    Returns
    -------
    str
        The notebook's text: every cell keeps its id and its tags, no cell has an output, and the first code cell
        names the version of the package.

    Examples
    --------
    >>> solved = {"cell_type": "code", "id": "ex-1-solution", "metadata": {"tags": ["solution"]}, "source": "8"}
    >>> text = prepare({"cells": [solved], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    >>> "ex-1-solution" in text, "written_for" in text
    (False, True)
    """
    cells = json.loads(json.dumps(notebook["cells"]))
    if not solutions:
        cells = [cell for cell in cells if not (is_solution(cell) or cell["id"].endswith("-fold"))]
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
        elif not solutions:
            source = ABOUT_FOLDS.sub("", source)
        cell["source"] = source
    first = next((place for place, cell in enumerate(cells) if cell["cell_type"] == "code"), len(cells))
    source = FIRST_CELL.format(version=autodiff_edu.__version__)
    notice = {"cell_type": "code", "id": "written-for", "metadata": {}, "source": source}
    cells.insert(first, notice | {"outputs": [], "execution_count": None})
    return as_text({**notebook, "cells": cells, "metadata": {"handed_out": name} if name else {}})


def is_solution(cell: dict[str, Any]) -> bool:
    """Return whether a cell is the folded solution of an exercise.

    >>> is_solution({"metadata": {"tags": ["solution", "hide-input"]}}), is_solution({"metadata": {}})
    (True, False)
    """
    return "solution" in cell["metadata"].get("tags", ())


def write(
    out: str | Path,
    numbers: Sequence[int | str] = (),
    *,
    course: Course = OURS,
    solutions: bool = False,
    force: bool = False,
) -> list[Path]:
    """Write chapters into a folder, ready to hand out, with their data and the licence.

    Parameters
    ----------
    out : path
        The folder; it is created if it is missing.
    numbers : sequence of int or str
        Which chapters, an appendix by its letter; all that ask something if there are none.
    course : Course
        Whose chapters.
    solutions : bool
        Whether the folded solutions stay.
    force : bool
        Whether a file that is there already, and says something else, is replaced.

    Returns
    -------
    list of Path
        The chapters written.

    Raises
    ------
    ValueError
        If there is no chapter of a number, or `out` is the folder that the chapters come from.
    FileExistsError
        If a file is there already and says something else, or a chapter under the number that it had before it was
        moved. Nothing has been written then.

    Examples
    --------
    >>> import tempfile
    >>> [path.name for path in write(tempfile.mkdtemp(), ["the-tape", "backward"])]
    ['01-the-tape.ipynb', '02-backward.ipynb']
    """
    out = Path(out)
    chosen = choose(out, numbers, course)
    for each in chosen:
        for path in out.glob(f"*-{each.slug}.ipynb"):
            if path.name != each.notebook.name and re.fullmatch(r"\d+|[A-Z]", path.name.partition("-")[0]):
                raise FileExistsError(f"{path}: the chapter was handed out under this number; choose another folder")
    files = {out / each.notebook.name: prepare(each.read(), solutions, each.name).encode() for each in chosen}
    written = list(files)
    files |= {out / name: content for name, content in alongside(course).items()}
    write_all(files, force=force)
    return written


def choose(out: Path, numbers: Sequence[int | str] = (), course: Course = OURS) -> list[Chapter]:
    """Find the chapters to write into a folder, in order; all that ask something if there are no numbers.

    Raises
    ------
    ValueError
        If there is no chapter of a number, or it asks nothing, or `out` is the folder that the chapters come from.
    """
    chosen = list(map(course.find, numbers)) or course.assignments
    if silent := [chapter.name for chapter in chosen if not chapter.questions]:
        raise ValueError(f"{', '.join(silent)} asks nothing, so there is nothing to hand in")
    if resolve(out) == resolve(course.notebooks):
        raise ValueError(f"{out} is where the chapters come from; write them into another folder")
    return [chapter for chapter in course.chapters if chapter in chosen]


def alongside(course: Course = OURS) -> dict[str, bytes]:
    """Read the files that the chapters need beside them, by their names there: data, a licence, packed values."""
    folder = course.notebooks
    data = sorted(path for path in folder.glob("data/**/*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in data}
    licences = [path for path in (folder / "LICENSE", folder.parent / "LICENSE") if path.is_file()]
    if licences:
        files["LICENSE"] = licences[0].read_bytes()
    return files if course is OURS else files | {NAME: pack(course)}


def write_all(files: Mapping[Path, bytes], *, force: bool) -> None:
    """Write all files, or none.

    Raises
    ------
    OSError
        If a file is there already and says something else, and is not to be replaced; or something is there that is
        not a file.
    """
    taken = [path for path, content in files.items() if path.exists() and _content(path) != content]
    if taken and not force:
        raise FileExistsError(
            f"{', '.join(map(str, taken))}: there already, and perhaps worked on. Nothing was written. "
            "Choose another folder, or replace the files with --force"
        )
    for folder in [resolve_folder(path.parent) for path in files]:
        folder.mkdir(parents=True, exist_ok=True)
    for path in files:
        check_path(path, path.name)
    for path, content in files.items():
        write_file(path, content)


def written_for(version: str) -> None:
    """Print a sentence if another version of the package is installed than the one a chapter was written for.

    Parameters
    ----------
    version : str
        Of the chapter.

    Examples
    --------
    >>> written_for(autodiff_edu.__version__)
    >>> written_for("0.0.1")  # doctest: +ELLIPSIS
    This chapter was written for autodiff-edu 0.0.1, and ... is installed. ...
    """
    if version != autodiff_edu.__version__:
        print(
            f"This chapter was written for autodiff-edu {version}, and {autodiff_edu.__version__} is installed. "
            f'Outputs and hints may differ. To have the same: pip install "autodiff-edu[lab]=={version}"'
        )


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
