"""Run submitted notebooks, and collect what `check` says of every exercise.

    python -m autodiff_edu.course grade SUBMISSIONS... --output results.csv

Each notebook runs from top to bottom in a fresh kernel, in a folder of its own that holds the course's data and nothing
else, for at most so many seconds. A cell that raises does not stop the rest. Folded solutions are left out, and what is
stored or printed counts for nothing: only what `check` answers while the notebook runs is written down, and the last
answer to an exercise counts.

What is not promised: the code of a submission runs with your rights, reads what you can read, and can, if it is
written to, mislead the very process that checks it. Grade the work of strangers in a container without a network.
"""

from __future__ import annotations

import contextlib
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, TextIO

from ..check import EXERCISES, LISTENERS
from ..feedback import Feedback
from .assignment import chapters, is_solution
from .execute import needs_jupyter

CHECKED = re.compile(r"""\bcheck\(\s*["'](\d+\.\d+)["']""")
STARTUP = 120.0  # seconds for a kernel to start and to import the package, before the submission's own time begins
LISTEN = "__import__('autodiff_edu.course.tools.grade', fromlist=['listen']).listen({path!r})"


@dataclass(frozen=True, slots=True)
class Result:
    """One row: what became of one exercise in one submission.

    Attributes
    ----------
    file : str
        The submission.
    exercise : str
        Such as "1.1"; empty if nothing is known of the file but its problem.
    right : int
        1 if the last answer was right, else 0.
    message : str
        What `check` said; empty if it was never asked.
    problem : str
        What went wrong, in words; empty if nothing did.
    """

    file: str
    exercise: str = ""
    right: int = 0
    message: str = ""
    problem: str = ""


def submissions(paths: Iterable[str | Path]) -> list[Path]:
    """List the notebooks to grade, each once and in order; a folder stands for all notebooks in it.

    >>> import tempfile
    >>> submissions([tempfile.mkdtemp(), "b.ipynb", "a.ipynb", "b.ipynb"])
    [PosixPath('a.ipynb'), PosixPath('b.ipynb')]
    """
    found: set[Path] = set()
    for path in map(Path, paths):
        inside = path.rglob("*.ipynb") if path.is_dir() else [path]
        found.update(file for file in inside if ".ipynb_checkpoints" not in file.parts)
    return sorted(found)


def grade(path: str | Path, timeout: float = 300) -> list[Result]:
    """Run one submission.

    Parameters
    ----------
    path : path
        The notebook; it is only read.
    timeout : float
        How many seconds the whole notebook may take.

    Returns
    -------
    list of Result
        One for each exercise of its chapter, in order, also for those that were never checked. Whatever the submission
        does, hang, kill its kernel or be no notebook at all, is told in `problem`.

    Raises
    ------
    ImportError
        If nbclient and nbformat are missing, saying what to install.
    """
    needs_jupyter()
    import nbformat

    path = Path(path)
    try:
        notebook = nbformat.read(path, as_version=4)
    except FileNotFoundError:
        return [Result(str(path), problem="there is no such file")]
    except Exception as error:  # anything may be handed in under the name of a notebook
        return [Result(str(path), problem=f"this is no notebook that can be read: {_line(error)}")]
    notebook.cells = [cell for cell in notebook.cells if not is_solution(cell)]
    mentioned = {exercise for cell in notebook.cells for exercise in CHECKED.findall(cell.source)}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        record = Path(folder) / "record"
        raised, stopped = _run(notebook, Path(folder), record, timeout)
        answers = _answers(record)
    numbers = {exercise.split(".")[0] for exercise in mentioned | set(answers)}
    if not numbers and (number := re.match(r"\d\d", path.name)):
        numbers = {str(int(number[0]))}
    expected = sorted((e for e in EXERCISES if e.split(".")[0] in numbers), key=lambda e: [*map(int, e.split("."))])
    if not expected:
        return [Result(str(path), problem=stopped or "no exercise of the course is in it")]
    results = []
    for exercise in expected:
        right, message = answers.get(exercise, (False, ""))
        problem = stopped or raised.get(exercise, "")
        if exercise not in answers and not problem:
            problem = "its check never ran" if exercise in mentioned else "its cell is missing"
        results.append(Result(str(path), exercise, int(right), message, problem))
    return results


def _run(notebook: Any, folder: Path, record: Path, timeout: float) -> tuple[dict[str, str], str]:
    """Run the cells; say which exercises' cells raised, and what stopped the run, if anything did."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from nbformat.v4 import new_code_cell

    work = folder / "work"
    work.mkdir()
    shutil.copytree(next(iter(chapters().values())).parent / "data", work / "data")
    notebook.cells.insert(0, new_code_cell(LISTEN.format(path=str(record))))
    end = time.monotonic() + STARTUP
    client = NotebookClient(
        notebook,
        allow_errors=True,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        shutdown_kernel="immediate",
        timeout_func=lambda cell: max(1, math.ceil(end - time.monotonic())),
        resources={"metadata": {"path": str(work)}},
    )
    raised: dict[str, str] = {}
    where, allowed = "the kernel did not start", STARTUP
    try:
        # What it writes past the notebook must not get among our rows, which may go to the terminal.
        with client.setup_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            for place, cell in enumerate(notebook.cells):
                if place == 1:
                    end, allowed = time.monotonic() + timeout, timeout
                if place > 0:
                    where = f"stopped in cell {place}, `{_line(cell.source)}`"
                if time.monotonic() > end:
                    return raised, f"{where}: the {allowed:g} seconds were over"
                client.execute_cell(cell, place)
                errors = [output for output in cell.get("outputs", ()) if output.output_type == "error"]
                if errors and place == 0:
                    return raised, f"autodiff_edu cannot be used in the kernel: {errors[0].ename}: {errors[0].evalue}"
                for exercise in CHECKED.findall(cell.source):
                    raised.pop(exercise, None)
                    if errors:
                        raised[exercise] = f"its cell raised {errors[0].ename}: {_line(errors[0].evalue)}"
    except CellTimeoutError:
        return raised, f"{where}: the {allowed:g} seconds were over"
    except DeadKernelError:
        return raised, f"{where}: the kernel died"
    except Exception as error:  # a submission may bring down whatever runs it, and the next one is still to be run
        return raised, f"{where}: {type(error).__name__}: {_line(error)}"
    return raised, ""


def listen(path: str) -> None:
    """Listen, in the kernel of a submission: from now on write down what `check` answers, and nothing that is printed.

    Parameters
    ----------
    path : str
        Where to: one line of JSON per answer. It is beside the outputs, so that what a notebook prints or shows is
        never taken for an answer, and outlives the kernel.
    """

    def write_down(feedback: Feedback) -> None:
        with Path(path).open("a", encoding="utf-8") as record:
            record.write(json.dumps([feedback.exercise, feedback.right, feedback.message]) + "\n")

    LISTENERS.append(write_down)
    # A submission may print without end; nobody reads it here.
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (it stays open as long as the kernel lives)


def _answers(record: Path) -> dict[str, tuple[bool, str]]:
    answers = {}
    for line in record.read_text(encoding="utf-8").splitlines() if record.exists() else ():
        with contextlib.suppress(ValueError, TypeError):  # the last line of a kernel that died may be half a line
            exercise, right, message = json.loads(line)
            answers[str(exercise)] = bool(right), str(message)
    return answers


def write_csv(file: TextIO, paths: Sequence[str | Path], timeout: float = 300) -> Iterator[tuple[Path, list[Result]]]:
    """Grade one submission after the other, writing its rows as soon as it is done.

    Parameters
    ----------
    file : text file
        Open for writing, with `newline=""`.
    paths : sequence of paths
        Notebooks, and folders of notebooks.
    timeout : float
        Seconds for each notebook.

    Yields
    ------
    tuple of Path and list of Result
        Each submission, when its rows are written.
    """
    table = csv.writer(file, lineterminator="\n")
    table.writerow(field.name for field in fields(Result))
    for path in submissions(paths):
        results = grade(path, timeout)
        table.writerows(map(_cells, results))
        file.flush()
        yield path, results


def _cells(result: Result) -> list[Any]:
    # A spreadsheet would run a text that begins like a formula, and submissions choose their own names.
    texts = (str(cell).encode("utf-8", "backslashreplace").decode() for cell in astuple(result))
    return [f"'{text}" if text.startswith(("=", "+", "-", "@")) else text for text in texts]


def _line(text: object, longest: int = 100) -> str:
    line = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(text)).split())
    return line if len(line) <= longest else line[: longest - 3] + "..."
