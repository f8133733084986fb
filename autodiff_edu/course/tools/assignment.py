"""The chapters as they are handed out: without outputs, without solutions, and with the version they were written for.

    python -m autodiff_edu.course list
    python -m autodiff_edu.course assignment OUT/

nbgrader.py beside this file writes them for nbgrader. An installed package carries the chapters along; in a checkout
they are those of notebooks/.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import autodiff_edu

from ..check import EXERCISES
from ..numbering import chapter_of, in_order
from .execute import as_text

HERE = Path(__file__).parents[1]
NAMES = "[0-9][0-9]-*.ipynb", "[A-Z]-*.ipynb"
ABOUT_FOLDS = re.compile(
    r"\s*Each solution unfolds below its exercise\."
    r'|\s*Below each exercise is a folded\s+solution:\s+click\s+"1 cell hidden"\s+to\s+open\s+it\.'
)
FIRST_CELL = """\
# Written for autodiff-edu {version}. If this cell fails: pip install "autodiff-edu[lab]=={version}"
from autodiff_edu.course.tools.assignment import written_for

written_for("{version}")"""


def chapters() -> dict[int | str, Path]:
    """Find the notebooks of the course that have exercises, by their number, or by their letter for an appendix.

    Raises
    ------
    FileNotFoundError
        If they came neither with the package nor with a checkout.

    Examples
    --------
    >>> chapters()[1].name
    '01-the-tape.ipynb'
    """
    with_exercises = {chapter_of(exercise) for exercise in EXERCISES}
    for folder in (HERE / "notebooks", HERE.parents[1] / "notebooks"):
        found = {chapter_of(path.name): path for form in NAMES for path in folder.glob(form)}
        if found:
            return {chapter: found[chapter] for chapter in sorted(found, key=in_order) if chapter in with_exercises}
    raise FileNotFoundError(
        f"there are no chapters in {HERE / 'notebooks'}: install autodiff-edu as a wheel, or from a whole checkout"
    )


def title(path: Path) -> str:
    """Read a chapter's title off its first heading.

    >>> title(chapters()[1])
    '1 · The tape'
    """
    return "".join(_read(path)["cells"][0]["source"]).splitlines()[0].lstrip("# ")


def prepare(notebook: dict[str, Any], solutions: bool = False) -> str:
    """Make of an executed chapter what is handed out.

    Parameters
    ----------
    notebook : dict
        As stored in JSON; it is left as it is.
    solutions : bool
        Whether the folded solutions stay, for those who learn alone.

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
    return as_text({**notebook, "cells": cells, "metadata": {}})


def is_solution(cell: dict[str, Any]) -> bool:
    """Return whether a cell is the folded solution of an exercise.

    >>> is_solution({"metadata": {"tags": ["solution", "hide-input"]}}), is_solution({"metadata": {}})
    (True, False)
    """
    return "solution" in cell["metadata"].get("tags", ())


def write(
    out: str | Path, numbers: Sequence[int | str] = (), *, solutions: bool = False, force: bool = False
) -> list[Path]:
    """Write chapters into a folder, ready to hand out, with their data and the licence.

    Parameters
    ----------
    out : path
        The folder; it is created if it is missing.
    numbers : sequence of int or str
        Which chapters, an appendix by its letter; all if there are none.
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
        If a file is there already and says something else. Nothing has been written then.

    Examples
    --------
    >>> import tempfile
    >>> [path.name for path in write(tempfile.mkdtemp(), [1, 2])]
    ['01-the-tape.ipynb', '02-backward.ipynb']
    """
    out = Path(out)
    chosen = choose(out, numbers)
    files = {out / path.name: prepare(_read(path), solutions).encode() for path in chosen}
    files |= {out / name: content for name, content in alongside().items()}
    write_all(files, force=force)
    return [out / path.name for path in chosen]


def choose(out: Path, numbers: Sequence[int | str] = ()) -> list[Path]:
    """Find the chapters to write into a folder, all if there are no numbers.

    Raises
    ------
    ValueError
        If there is no chapter of a number, or `out` is the folder that the chapters come from.
    """
    known = chapters()
    if unknown := set(numbers) - set(known):
        there = ", ".join(map(str, known))
        raise ValueError(f"there is no chapter {', '.join(map(str, sorted(unknown, key=in_order)))}; there are {there}")
    if out.resolve() == next(iter(known.values())).parent.resolve():
        raise ValueError(f"{out} is where the chapters come from; write them into another folder")
    return [known[number] for number in sorted(set(numbers or known), key=in_order)]


def alongside() -> dict[str, bytes]:
    """Read the files that the chapters need beside them, their data and the licence, by their names there."""
    folder = next(iter(chapters().values())).parent
    files = {f"data/{path.name}": path.read_bytes() for path in sorted((folder / "data").iterdir())}
    licence = next(path for path in (folder / "LICENSE", folder.parent / "LICENSE") if path.exists())
    return files | {"LICENSE": licence.read_bytes()}


def write_all(files: Mapping[Path, bytes], *, force: bool) -> None:
    """Write all files, or none.

    Raises
    ------
    FileExistsError
        If a file is there already and says something else, and is not to be replaced.
    """
    taken = [path for path, content in files.items() if path.exists() and _content(path) != content]
    if taken and not force:
        raise FileExistsError(
            f"{', '.join(map(str, taken))}: there already, and perhaps worked on. Nothing was written. "
            "Choose another folder, or replace the files with --force"
        )
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


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


def _read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
