"""Grade submissions, several at a time, and write what `check` said of every exercise, and a total for each student.

    python -m autodiff_edu.course grade SUBMISSIONS... --output results.csv --totals totals.csv

How one submission runs is in submission.py. Only what `check` answers while it runs is written down; folded solutions
are left out, what is stored or printed counts for nothing, and the last answer to an exercise counts.
"""

from __future__ import annotations

import contextlib
import csv
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, TextIO

from ...saving.files import check_path, check_regular, lock, remove_leftover, resolve, same_file
from ...text.formatting import spell_out
from ..contents import OURS, Course
from .execute import needs_jupyter
from .submission import Limits, Result, grade

FORMULA = ("=", "+", "-", "@", "\n")


@dataclass(frozen=True, slots=True)
class Total:
    """What a student has right, of all exercises in the chapters that were handed in.

    Attributes
    ----------
    student : str
        Who.
    right, exercises : int
        How many exercises are right, and how many there are. One that was handed in twice counts once, and is right if
        either is.
    problems : int
        How many rows of the student tell of a problem, and may be worth a look.
    """

    student: str
    right: int
    exercises: int
    problems: int


def submissions(paths: Iterable[str | Path], course: Course = OURS) -> dict[Path, str]:
    """Find the notebooks to grade, each once and in order, and who handed them in.

    Parameters
    ----------
    paths : iterable of paths
        Notebooks, and folders; a folder stands for all notebooks in it, and for each folder of a student in it that has
        none.
    course : Course
        Whose chapters were handed out.

    Returns
    -------
    dict of Path to str
        The student of each notebook: the folder directly below the one that was named (of notebooks that were named
        themselves, below the folder that all of them are in). A notebook that lies in that folder itself is its own
        student, unless it has the name of a chapter, for then the folder is.

    Examples
    --------
    >>> list(submissions(["ben/02-backward.ipynb", "anna/02-backward.ipynb", "anna/02-backward.ipynb"]).values())
    ['anna', 'ben']
    >>> list(submissions(["all/ben.ipynb", "all/anna.ipynb"]).values())
    ['anna', 'ben']
    """
    named = list(map(Path, paths))
    found: dict[Path, Path] = {}
    if files := [path for path in named if not path.is_dir()]:
        absolute = list(map(_absolute, files))
        shared = next(folder for folder in absolute[0].parents if all(path.is_relative_to(folder) for path in absolute))
        found.update(dict.fromkeys(files, shared))
    names = {chapter.name for chapter in course.chapters}
    for folder in named:
        if folder.is_dir():
            files = [path for path in folder.rglob("*") if path.suffix.lower() == ".ipynb" and not path.is_dir()]
            files = [path for path in files if ".ipynb_checkpoints" not in path.parts]
            found.update(dict.fromkeys(files, folder))
            if not any(path.parent == folder and path.stem in names for path in files):  # those of a single student
                some = {path.relative_to(folder).parts[0] for path in files}
                found.update(dict.fromkeys(_without_notebook(folder, some), folder))
    return {file: _student(_absolute(file), _absolute(found[file]), names) for file in sorted(found)}


def _absolute(path: Path) -> Path:
    found = Path(path.absolute().anchor)
    for part in path.absolute().parts[1:]:
        found = found.parent if part == ".." else found / part
    return found  # links stay: one may lead back to itself


def _without_notebook(folder: Path, others: set[str]) -> list[Path]:
    """List the folders of students who handed in something, and no notebook; and links that lead nowhere."""
    left_out = {"data", "__pycache__", *others}
    inside = (path for path in folder.iterdir() if path.is_dir() or not (path.suffix or path.exists()))
    return [path for path in inside if path.name not in left_out and not path.name.startswith(".")]


def _student(file: Path, folder: Path, chapter_names: set[str]) -> str:
    below = file.relative_to(folder).parts
    if len(below) > 1:
        return below[0]
    name = file.stem if file.suffix.lower() == ".ipynb" else file.name
    return folder.name if name in chapter_names and folder.name else name


def grade_all(
    found: Mapping[Path, str],
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    jobs: int = 2,
    course: Course = OURS,
) -> Iterator[tuple[int, list[list[Result]]]]:
    """Grade submissions, several at a time.

    Parameters
    ----------
    found : mapping of Path to str
        Notebooks and their students, as `submissions` returns them.
    limits : Limits
        What each may use.
    jobs : int
        How many run at a time.
    course : Course
        Whose chapters were handed out.

    Yields
    ------
    tuple of int and list
        Whenever one is done: how many are done, and the results that can be written now. Results come in the order of
        the submissions, so those of a quick one wait for the slow one before it.

    Raises
    ------
    ImportError
        If nbclient and nbformat are missing, saying what to install. Nothing has been run then.
    """
    needs_jupyter()
    pool = ThreadPoolExecutor(jobs)  # threads will do: each waits for a kernel, which is a process
    try:
        waiting = [pool.submit(grade, path, limits, student, course) for path, student in found.items()]
        for done, _ in enumerate(as_completed(list(waiting)), 1):
            ready = []
            while waiting and waiting[0].done():
                ready.append(waiting.pop(0).result())
            yield done, ready
    finally:
        pool.shutdown(cancel_futures=True)


def totals(results: Iterable[Result]) -> list[Total]:
    """Add up what each student has right.

    >>> totals([Result("anna", "a.ipynb", "1.1", 1), Result("anna", "a.ipynb", "1.2", 0, problem="its cell is missing"),
    ...         Result("anna", "b.ipynb", "1.2", 1)])
    [Total(student='anna', right=2, exercises=2, problems=1)]
    """
    right: dict[str, dict[str, int]] = {}
    problems: dict[str, int] = {}
    for result in results:
        exercises = right.setdefault(result.student, {})
        if result.exercise:
            exercises[result.exercise] = max(result.right, exercises.get(result.exercise, 0))
        problems[result.student] = problems.get(result.student, 0) + bool(result.problem)
    return [Total(name, sum(right[name].values()), len(right[name]), problems[name]) for name in sorted(right)]


@contextlib.contextmanager
def table(path: Path | None) -> Iterator[TextIO]:
    """Open a table to write: the terminal if there is no path.

    What is at `path` already is replaced when the new table is complete. Until then the rows are in a file beside it,
    whose name ends with ".part", and stay there if grading is stopped.

    Raises
    ------
    OSError
        If there is no such folder, the path is that of a folder, a device or a pipe, or another process is writing this
        table.
    """
    if path is None:
        yield sys.stdout
        return
    check_path(path, "results.csv")
    path = resolve(path)
    part = part_of(path)
    check_regular(part)
    with contextlib.ExitStack() as stack:
        try:
            with contextlib.suppress(FileNotFoundError):
                remove_leftover(part)
            file = stack.enter_context(part.open("x", encoding="utf-8", newline=""))
            if lock(file) and not same_file(file, part):
                raise FileExistsError("another process took it for a leftover before it was locked")
        except (FileExistsError, FileNotFoundError, BlockingIOError, PermissionError) as error:
            raise FileExistsError(
                f"{part} cannot be written: is another grading writing it? If not, delete it; or choose another file"
            ) from error
        try:
            yield file
            file.flush()
            if sys.platform == "win32":  # which replaces no open file
                file.close()
            part.replace(path)
        except BaseException:
            file.close()
            if part.exists() and not part.stat().st_size:
                part.unlink()
            raise


def part_of(path: Path) -> Path:
    """Return where the rows of a table are until it is complete."""
    return path.with_name(f"{path.name}.part")


def write_rows(file: TextIO, kind: type, rows: Iterable[Any], head: bool = True) -> None:
    """Write dataclasses as a table in CSV.

    Parameters
    ----------
    file : text file
        Open for writing, with `newline=""`.
    kind : type
        The class of the rows; the names of its fields are the head of the table.
    rows : iterable of dataclasses
        One for each row.
    head : bool
        Whether the head is written too.
    """
    table = csv.writer(file, lineterminator="\n")
    if head:
        table.writerow(field.name for field in fields(kind))
    table.writerows(map(_cells, rows))
    file.flush()


def _cells(row: Any) -> list[str]:
    # A spreadsheet would run a text that begins like a formula, and submissions choose their own names.
    texts = (spell_out(str(cell), but="\n") for cell in astuple(row))
    return [f"'{text}" if text.startswith(FORMULA) else text for text in texts]
