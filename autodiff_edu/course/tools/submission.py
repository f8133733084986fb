"""Run one submitted notebook in a process of its own, and write down what `check` answers while it runs.

The notebook is copied into a new folder beside the course's data, and runs there with that folder as its home, without
the grader's environment variables, and under limits of time, memory and file size. A cell that raises, or that
runs out of time, does not stop the cells below it.

None of this is a wall. The code of a submission runs with your rights, and in the very process that checks it:
book/for-teachers.md says what that cannot prevent, and gives the command for a container that protects your computer.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import shutil
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..check import LISTENERS
from ..contents import OURS, Course
from ..feedback import Feedback
from ..values import use_course
from .assignment import is_solution
from .execute import needs_jupyter

CHECKED = re.compile(r"""\bcheck\(\s*["']((?:\d+|[A-Z])\.\d+)["']""")
try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

STARTUP = 120.0  # seconds for a kernel to start and to import the package, before the submission's own time begins
LONGEST = 10_000  # characters of a message; spreadsheets and readers of CSV refuse much longer ones
GRACE = 10  # seconds for an interrupted cell to end
LISTEN = "__import__('autodiff_edu.course.tools.submission', fromlist=['listen']).listen({!r}, {}, {}, {!r})"
KEPT = {"PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LANGUAGE", "TZ"}
KEPT |= {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}
KEPT |= {"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT"}  # no process starts on Windows without them
"""The environment variables that a submission is given, and those that begin with LC_."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a submission may use.

    Attributes
    ----------
    notebook, cell : float
        How many seconds the whole notebook, and each of its cells, may take.
    memory : float
        How many GiB of addresses each of its processes may use.
    file_size : float
        How many MiB each file that it writes may have.
    """

    notebook: float = 300.0
    cell: float = 60.0
    memory: float = 4.0
    file_size: float = 100.0


@dataclass(frozen=True, slots=True)
class Result:
    """One row: what became of one exercise in one submission.

    Attributes
    ----------
    student : str
        Who handed it in.
    file : str
        The submission.
    exercise : str
        Such as "1.1"; empty if nothing is known of the file but its problem.
    right : int
        1 if the last answer was right, else 0.
    message : str
        What `check` said; empty if it was never asked.
    problem : str
        What kept this exercise from being checked, in words; empty if nothing did.
    """

    student: str
    file: str
    exercise: str = ""
    right: int = 0
    message: str = ""
    problem: str = ""


def grade(path: str | Path, limits: Limits = Limits(), student: str = "", course: Course = OURS) -> list[Result]:
    """Run one submission.

    Parameters
    ----------
    path : path
        The notebook; it is only read.
    limits : Limits
        What it may use.
    student : str
        Who handed it in; the notebook's name if not given.
    course : Course
        Whose chapters were handed out. It judges; whatever a submission brings along in its place is not read.

    Returns
    -------
    list of Result
        One for each exercise of its chapter, in order, also for those that were never checked. Whatever the submission
        does, hang, kill its kernel or not be a notebook at all, is told in `problem`.

    Raises
    ------
    ImportError
        If nbclient and nbformat are missing, saying what to install.
    """
    needs_jupyter()
    path = Path(path)
    student = student or path.stem
    try:
        return _grade(path, limits, student, course)
    except Exception as error:  # whatever it did, the next one is still to be graded
        return [Result(student, str(path), problem=f"grading it raised {type(error).__name__}: {_line(error)}")]


def _grade(path: Path, limits: Limits, student: str, course: Course) -> list[Result]:
    if problem := _unreadable(path, limits):
        return [Result(student, str(path), problem=problem)]
    with _new_folder() as folder:
        work = folder / "work"
        if (course.notebooks / "data").is_dir():
            shutil.copytree(course.notebooks / "data", work / "data")
        else:
            work.mkdir()
        try:
            sources, name = _read(shutil.copyfile(path, work / "submission.ipynb"))
        except Exception as error:  # anything may be handed in under the name of a notebook
            return [Result(student, str(path), problem=f"this is not a notebook that can be read: {_line(error)}")]
        if problem := _moved(name, course):
            return [Result(student, str(path), problem=problem)]
        run = _Run(sources, limits, course)
        run.in_folder(folder)
    mentioned = {exercise for source in sources for exercise in CHECKED.findall(source)}
    there = {exercise.partition(".")[0] for exercise in mentioned | set(run.answers)}
    chapters = [each for each in course.chapters if str(each.number) in there]
    if not chapters and (number := re.match(r"\d\d|[A-Z](?=-)", path.name)):
        chapters = [each for each in course.chapters if each.name.startswith(number[0])]
    expected = [exercise for chapter in chapters for exercise in chapter.exercises]
    if not expected:
        return [Result(student, str(path), problem=run.stopped or "no exercise of the course is in it")]
    results = []
    for exercise in expected:
        right, message = run.answers.get(exercise, (False, ""))
        problem = run.problems.get(exercise, "")
        if exercise not in run.answers and not problem:
            never = "its check never ran" if exercise in mentioned else "its cell is missing"
            problem = run.stopped or never
        results.append(Result(student, str(path), exercise, int(right), message, problem))
    return results


def _unreadable(path: Path, limits: Limits) -> str:
    """Return a problem if a submission is not a file, or one that would fill the memory or never end."""
    if path.is_dir():
        return "this is a link to a folder, not a folder" if path.is_symlink() else "this folder holds no notebook"
    if not (path.exists() or path.is_symlink()):
        return "there is no such file"
    if not path.is_file():
        return "this is a device, a pipe or a link that leads nowhere, not a notebook"
    size = path.stat().st_size / 2**20
    return f"the notebook has {size:,.0f} MiB, more than one file may have" if size > limits.file_size else ""


@contextlib.contextmanager
def _new_folder() -> Iterator[Path]:
    made = tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
    try:
        yield Path(made.name).resolve()
    finally:
        with contextlib.suppress(RecursionError):  # what was handed in may create folders too deep to be removed
            made.cleanup()


def _read(path: Path) -> tuple[list[str], str]:
    """Read the code cells of a notebook, but for solutions, and the name under which it was handed out."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code" and not is_solution(cell)]
    if odd := [source for source in sources if not isinstance(source, str)]:
        raise ValueError(f"the text of a code cell is {odd[0]!r:.60}")
    return sources, str(notebook.metadata.get("handed_out", ""))


class _Run:
    """One run of a notebook: what `check` answered, what kept an exercise from being checked, and what stopped it."""

    def __init__(self, sources: list[str], limits: Limits, course: Course) -> None:
        self.sources, self.limits = sources, limits
        self.course = "" if course is OURS else str(course.folder)
        self.answers: dict[str, tuple[bool, str]] = {}
        self.problems: dict[str, str] = {}
        self.stopped = ""

    def in_folder(self, folder: Path) -> None:
        """Run all cells; whatever a submission brings down, the next one is still to be graded."""
        (folder / "record").touch()
        with (folder / "record").open(encoding="utf-8", errors="replace") as record:
            self.record, done = record, -1
            try:
                with _kernel(folder) as (manager, client):
                    limits = int(self.limits.memory * 2**30), int(self.limits.file_size * 2**20)
                    listen = LISTEN.format(str(folder / "record"), *limits, self.course)
                    if problem := _execute(manager, client, listen, STARTUP):
                        raise _Stop(f"autodiff_edu cannot be used in the kernel: its first cell {problem}")
                    end = time.monotonic() + self.limits.notebook
                    for done, source in enumerate(self.sources):  # noqa: B007 (read after the loop)
                        left = end - time.monotonic()
                        problem = _execute(manager, client, source, min(self.limits.cell, left)) if left > 0 else ""
                        if time.monotonic() > end:
                            raise _Stop(f"the {self.limits.notebook:g} seconds for the notebook were over")
                        self.note(source, f"its cell {problem}" if problem else "")
            except Exception as error:
                why = str(error) if isinstance(error, _Stop) else f"{type(error).__name__}: {_line(error)}"
                where = f"stopped in code cell {done + 1}, `{_line(self.sources[done])}`: " if done >= 0 else ""
                self.stopped = where + why
                for source in self.sources[max(done, 0) :]:
                    self.note(source, self.stopped)

    def note(self, source: str, problem: str) -> None:
        """Note what `check` answered since the last cell, and which exercises a problem of this one kept unanswered."""
        answered = answers(self.record)
        self.answers |= answered
        for exercise in CHECKED.findall(source):
            self.problems.pop(exercise, None)
            if problem and exercise not in answered:
                self.problems[exercise] = problem


def _moved(name: str, course: Course) -> str:
    """Return a problem if a chapter has had another number since it was handed out: its ids are those of another."""
    now = [chapter.name for chapter in course.chapters if chapter.slug == name.partition("-")[2]]
    if not name or name in now:
        return ""
    there = f"is {now[0]} now" if now else "is not in the course any more"
    return f"it was handed out as {name}, and {there}: grade it with the course.toml that it was handed out with"


class _Stop(Exception):  # noqa: N818 (no error: the run of one submission is over)
    """Why no further cell of a submission can be run."""


@contextlib.contextmanager
def _kernel(folder: Path) -> Iterator[tuple[Any, Any]]:
    """Start a kernel that lives in a folder, and end it with all that it has started in its process group."""
    from jupyter_client.manager import KernelManager

    # Sockets in the folder, where the system has them: two kernels that start at once may choose the same free port.
    transport = "tcp" if sys.platform == "win32" else "ipc"
    manager = KernelManager(kernel_name="python3", connection_file=str(folder / "kernel.json"), transport=transport)
    # What it writes past the notebook must not get among our rows, which may go to the terminal.
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    manager.start_kernel(cwd=str(folder / "work"), env=environment(folder), **silent)
    client = manager.client()
    try:
        # Outputs come on another channel. Nobody reads them, so a flood of them fills no memory.
        client.start_channels(iopub=False, stdin=False, hb=False, control=False)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _execute(manager: Any, client: Any, source: str, seconds: float) -> str:
    """Execute one cell; return what went wrong, as the end of a sentence, or nothing."""
    if not source.strip():
        return ""
    message = client.execute(source, allow_stdin=False, stop_on_error=False)
    reply = _reply(manager, client, message, seconds)
    if reply is None:
        manager.interrupt_kernel()
        if _reply(manager, client, message, GRACE) is None:
            raise _Stop(f"it took longer than {seconds:g} seconds and could not be interrupted")
        return f"was interrupted after {seconds:g} seconds"
    return f"raised {_line(reply['ename'])}: {_line(reply['evalue'])}" if reply["status"] == "error" else ""


def _reply(manager: Any, client: Any, message: str, seconds: float) -> Any:
    """Wait for the answer to a message, but not for longer than a number of seconds."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            reply = client.get_shell_msg(timeout=min(1.0, left))
        except queue.Empty:
            if not manager.is_alive():
                raise _Stop("the kernel died") from None
        else:
            if reply["parent_header"].get("msg_id") == message:
                return reply["content"]
    return None


def environment(folder: Path) -> dict[str, str]:
    """Return the environment variables of a submission: those of `KEPT`, and homes inside its own folder.

    >>> kept = environment(Path("somewhere"))
    >>> kept["HOME"], "USER" in kept
    ('somewhere', False)
    """
    kept = {name: value for name, value in os.environ.items() if name.upper() in KEPT or name.startswith("LC_")}
    kept |= dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TMP", "TEMP", "MPLCONFIGDIR"), str(folder))
    return kept | {"PYTHONUSERBASE": site.getuserbase()}  # the package may be installed in the old home


def listen(path: str, memory: int, file_size: int, course: str = "") -> None:
    """Write down, in the kernel of a submission, what `check` answers from now on; and set its limits.

    Parameters
    ----------
    path : str
        The file to write to: one line of JSON per answer. Outputs are kept apart from it, so that what a notebook
        prints or shows is never taken for an answer.
    memory, file_size : int
        The limits in bytes, where this system has them; see `list_missing_limits`.
    course : str
        The folder of the course that judges; ours if there is none.
    """

    def write_down(feedback: Feedback) -> None:
        with Path(path).open("a", encoding="utf-8") as record:
            record.write(json.dumps([feedback.exercise, feedback.right, feedback.message]) + "\n")

    use_course(Course(course) if course else OURS)
    LISTENERS.append(write_down)
    # A submission may print without end; nobody reads it here.
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (it stays open as long as the kernel lives)
    if "memory" not in (missing := list_missing_limits()):
        _limit("RLIMIT_AS", memory)
    if "file sizes" not in missing:
        _limit("RLIMIT_FSIZE", file_size)
        _limit("RLIMIT_CORE", 0)


def list_missing_limits() -> list[str]:
    """List what this system cannot limit, in words: memory and file sizes on Windows, memory on macOS."""
    if not hasattr(resource, "setrlimit"):
        return ["memory", "file sizes"]
    return ["memory"] if sys.platform == "darwin" else []


def _limit(name: str, size: int) -> None:
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    size = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(kind, (size, size))


def answers(record: Iterable[str]) -> dict[str, tuple[bool, str]]:
    """Read the lines that `listen` wrote; the last answer to an exercise counts.

    >>> answers(['["1.1", false, "No."]', '["1.1", true, "Eight."]', '["1.2", tr'])
    {'1.1': (True, 'Eight.')}
    """
    found = {}
    for line in record:
        with contextlib.suppress(ValueError, TypeError, RecursionError):  # half a line of a kernel that died, or junk
            exercise, right, message = json.loads(line)
            found[str(exercise)] = bool(right), _cut(str(message), LONGEST)
    return found


def _line(text: object, longest: int = 100) -> str:
    return _cut(" ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(text)).split()), longest)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 3] + "..."
