"""For teachers and authors: list the chapters, hand them out, grade, export questions; execute and compare them.

Each command is about the course of the folder that it is run in (it, or a folder above, has a file course.toml), and
elsewhere about the course of this package; execute, about that of the notebook's folder. --course names another one.

python -m autodiff_edu.course new FOLDER
python -m autodiff_edu.course list
python -m autodiff_edu.course list --course lectures/
python -m autodiff_edu.course assignment OUT/
python -m autodiff_edu.course assignment --nbgrader COURSE/
python -m autodiff_edu.course slides 08
python -m autodiff_edu.course grade SUBMISSIONS... --output results.csv --totals totals.csv
python -m autodiff_edu.course export --gift questions.gift --qti questions.zip
python -m autodiff_edu.course execute notebooks/*.ipynb
python -m autodiff_edu.course compare notebooks/*.ipynb
python -m autodiff_edu.course check
python -m autodiff_edu.course renumber
python -m autodiff_edu.course book SITE
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..saving.files import check_path, resolve, write
from ..text.formatting import spell_out
from ..text.printing import printable
from .contents import OURS, Course
from .tools import assignment, book, compare, execute, grade, nbgrader, new, slides
from .tools.export.gift import gift
from .tools.export.qti import qti
from .tools.export.questions import Question, course_questions, drill_questions
from .tools.faults import faults_of_course
from .tools.minutes import minutes
from .tools.renumber import renumber
from .tools.submission import Limits, Result, list_missing_limits
from .values import find_course

PROG = "python -m autodiff_edu.course"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit code.

    >>> main(["assignment", "somewhere", "99"])
    1
    """
    chosen = _parser().parse_args(arguments)
    try:
        given = getattr(chosen, "course", None)
        chosen.given = Course(given) if given else None
        chosen.course = chosen.given or find_course()
        return chosen.run(chosen) or 0
    except (OSError, ValueError, ImportError) as error:
        print(f"{PROG}:", spell_out(str(error), but="\n"), file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    about = __doc__.splitlines()[0] if __doc__ else None
    parser = argparse.ArgumentParser(prog=PROG, description=about)
    text_of_course = "the folder of the course; the current one, or one above, with a course.toml if not given"
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--course", type=Path, metavar="FOLDER", help=text_of_course)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    text = "make the folder of a course of your own, which works as it stands"
    command = commands.add_parser("new", help=text, description=text)
    command.add_argument("folder", type=Path, metavar="FOLDER", help="the folder; it is created, or empty")
    command.set_defaults(run=_new)

    command = commands.add_parser("list", parents=[common], help="list the chapters, and how many minutes each takes")
    command.set_defaults(run=_list)

    text = "write the chapters without solutions and outputs, ready to hand out"
    command = commands.add_parser("assignment", parents=[common], help=text, description=text)
    command.add_argument("out", type=Path, metavar="OUT", help="the folder to write into")
    command.add_argument(
        "chapters",
        nargs="*",
        metavar="CHAPTER",
        help="their numbers or slugs, and letters of appendices; all if there are none",
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument("--solutions", action="store_true", help="keep the folded solutions, to learn alone")
    form.add_argument("--nbgrader", action="store_true", help="write a course folder for nbgrader, to hand out with it")
    command.add_argument("--force", action="store_true", help="replace files that are there already")
    command.set_defaults(run=_assignment)

    text = "write chapters as slides: for each one HTML file, which needs no network"
    command = commands.add_parser("slides", parents=[common], help=text, description=text)
    command.add_argument("chapters", nargs="+", metavar="CHAPTER", help="their numbers or slugs, letters of appendices")
    command.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="where to write; else here")
    command.set_defaults(run=_slides)

    text = "run submitted notebooks, and write one row for each exercise, and a total for each student"
    warning = "The code of a submission runs with your rights: grade the work of strangers in a container."
    command = commands.add_parser("grade", parents=[common], help=text, description=text, epilog=warning)
    command.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help="a notebook, or a folder of them")
    command.add_argument("--output", type=Path, metavar="CSV", help="where to write the rows; else the terminal")
    command.add_argument("--totals", type=Path, metavar="CSV", help="where to write the total of each student, too")
    command.add_argument("--jobs", type=_count, default=2, metavar="N", help="how many notebooks run at a time (2)")
    limits = Limits()
    for flag, default, what in (
        ("timeout", limits.notebook, "seconds for each notebook"),
        ("cell-timeout", limits.cell, "seconds for each cell, which is then interrupted"),
        ("memory", limits.memory, "GiB of memory for each process of a submission"),
        ("file-size", limits.file_size, "MiB for each file that a submission writes"),
    ):
        command.add_argument(f"--{flag}", type=_limit, default=default, metavar="N", help=f"{what} ({default:g})")
    command.set_defaults(run=_grade)

    text = "write the predictions and exercises, or questions of drills, for a learning platform"
    command = commands.add_parser("export", parents=[common], help=text, description=text)
    command.add_argument("--gift", type=Path, metavar="FILE", help="a text file, which Moodle imports")
    command.add_argument("--qti", type=Path, metavar="ZIP", help="an archive in QTI 1.2, which Canvas imports")
    command.add_argument("--drill", type=_count, metavar="LEVEL", help="questions of drills, in place of the chapters'")
    command.add_argument("--count", type=_count, default=50, metavar="N", help="how many questions of drills (50)")
    command.add_argument("--seed", type=int, default=1, metavar="N", help="the seed of the first drill (1)")
    command.set_defaults(run=_export)

    text = "run chapters and write them back with their outputs; run twice, it writes the same bytes"
    command = commands.add_parser("execute", parents=[common], help=text, description=text)
    command.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help="the chapters, run in place")
    command.set_defaults(run=_execute)

    text = "look for faults in all questions, and in how the notebooks ask them; each exercise tests itself"
    command = commands.add_parser("check", help=text, description=text, epilog="The exit code is 1 if there are any.")
    command.add_argument("course", nargs="?", type=Path, metavar="FOLDER", help=text_of_course)
    command.set_defaults(run=_check)

    text = "number the chapters as course.toml lists them: file names, titles, ids, links, and whatever mentions them"
    command = commands.add_parser("renumber", parents=[common], help=text, description=text)
    command.set_defaults(run=_renumber)

    text = "run chapters as other CPUs would, and name what they show that differs from what is stored"
    command = commands.add_parser(
        "compare", help=text, description=text, epilog="The exit code is 1 if anything differs."
    )
    command.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help="the chapters; they are only read")
    command.add_argument(
        "--setting",
        action="append",
        choices=list(compare.SETTINGS),
        help="last-bit moves every last bit that may differ between CPUs, and is the default; machine computes as this "
        "one, haswell and sandybridge as an older one; repeat for several",
    )
    command.add_argument(
        "--seed",
        action="append",
        type=_count,
        metavar="N",
        help="which last bits are moved under last-bit; repeat for several (1)",
    )
    command.add_argument(
        "--threads",
        action="append",
        type=_count,
        metavar="N",
        help="how many threads OpenBLAS gets under the other settings; repeat for several (1 and 2)",
    )
    command.add_argument("--jobs", type=_count, default=2, metavar="N", help="how many chapters run at a time (2)")
    command.set_defaults(run=_compare)

    text = "build the site of a course of your own, with players, programs to edit and exercises to check"
    epilog = "Our own is built as README.md says."
    command = commands.add_parser("book", parents=[common], help=text, description=text, epilog=epilog)
    command.add_argument("site", type=Path, metavar="SITE", help="the folder to write into")
    what = "the folder with the Python that runs in readers' browsers; it is filled if it is missing"
    command.add_argument("--python", type=Path, metavar="FOLDER", help=what)
    what = "fill it with NumPy and Matplotlib from this folder, or from within this wheel, so that the site serves them"
    command.add_argument("--wheels", type=Path, metavar="PATH", help=what)
    command.set_defaults(run=_book)
    return parser


def _new(chosen: argparse.Namespace) -> None:
    print(*new.write(chosen.folder), sep="\n")


def _book(chosen: argparse.Namespace) -> None:
    if chosen.course is OURS:
        raise ValueError("this is not the folder of a course: run it where your course.toml is")
    if said := book.build(chosen.course, chosen.site, chosen.python, chosen.wheels):
        print(said, file=sys.stderr)
    print(chosen.site / "index.html")


def _list(chosen: argparse.Namespace) -> None:
    for chapter in chosen.course.assignments:
        reading, exercises = minutes(chapter.read(), chapter.exercises.values())
        title = f"{chapter.number} · {chapter.title}"
        print(printable(f"{chapter.notebook.name:<34}{title:<38}{reading:>2} minutes, exercises {exercises}"))


def _assignment(chosen: argparse.Namespace) -> None:
    how = {"course": chosen.course, "force": chosen.force}
    if chosen.nbgrader:
        written = nbgrader.write(chosen.out, chosen.chapters, **how)
    else:
        written = assignment.write(chosen.out, chosen.chapters, solutions=chosen.solutions, **how)
    print(*written, sep="\n")


def _slides(chosen: argparse.Namespace) -> None:
    print(*slides.write_slides([chosen.course.find(name) for name in chosen.chapters], chosen.out), sep="\n")


def _grade(chosen: argparse.Namespace) -> int:
    found = grade.submissions(chosen.notebooks, chosen.course)
    folders = [path.resolve() for path in chosen.notebooks if path.is_dir()]
    if not chosen.given and any(chosen.course.folder.is_relative_to(folder) for folder in folders):
        raise ValueError(f"{chosen.course.file} is among the submissions. Name the folder of your course by --course")
    if not found:
        raise FileNotFoundError(f"no notebook in {', '.join(map(str, chosen.notebooks))}")
    tables = [path for path in (chosen.output, chosen.totals) if path]
    for path in tables:
        check_path(path, "results.csv")
    places = [place for path in map(resolve, tables) for place in (path, grade.part_of(path))]
    if taken := set(places) & {path.resolve() for path in found if path.exists()}:
        raise ValueError(f"{taken.pop()} is one of the submissions; write the results into another file")
    if len(places) > len(set(places)):
        raise ValueError(f"{chosen.output} cannot hold both the rows and the totals; write them into two files")
    execute.needs_jupyter()
    if missing := list_missing_limits():
        print(f"{PROG}: this system cannot limit {' and '.join(missing)}; a container can.", file=sys.stderr)
    limits = Limits(chosen.timeout, chosen.cell_timeout, chosen.memory, chosen.file_size)
    results: list[Result] = []
    try:
        with grade.table(chosen.output) as rows, contextlib.ExitStack() as stack:
            sums = stack.enter_context(grade.table(chosen.totals)) if chosen.totals else None
            grade.write_rows(rows, Result, ())
            for done, ready in grade.grade_all(found, limits, chosen.jobs, chosen.course):
                for graded in ready:
                    grade.write_rows(rows, Result, graded, head=False)
                    results += graded
                _progress(done, len(found), ready, bar=chosen.output is not None and sys.stderr.isatty())
            totals = grade.totals(results)
            if sums:
                grade.write_rows(sums, grade.Total, totals)
    except KeyboardInterrupt:
        kept = f"; they are in {chosen.output}.part" if chosen.output else ""
        print(f"\n{PROG}: stopped after {len(results)} rows{kept}", file=sys.stderr)
        return 130
    for total in totals:
        problems = f", {total.problems} with a problem" if total.problems else ""
        print(f"{spell_out(total.student)}: {total.right} of {total.exercises} right{problems}", file=sys.stderr)
    return 0


def _progress(done: int, count: int, ready: list[list[Result]], *, bar: bool) -> None:
    if bar:
        full = 30 * done // count
        end = "\n" if done == count else ""
        print(f"\r[{'#' * full}{' ' * (30 - full)}] {done} of {count}", end=end, file=sys.stderr, flush=True)
        return
    for results in ready:
        right = sum(result.right for result in results)
        print(f"{spell_out(results[0].file)}: {right} of {len(results)} right", file=sys.stderr)


def _check(chosen: argparse.Namespace) -> int:
    code = 0
    for fault in faults_of_course(chosen.course):
        print(fault, flush=True)
        code = 1
    return code


def _renumber(chosen: argparse.Namespace) -> None:
    for line in renumber(chosen.course):
        print(line)


def _export(chosen: argparse.Namespace) -> None:
    formats: list[tuple[Path, Callable[[list[Question]], bytes]]] = []
    if chosen.gift:
        formats.append((chosen.gift, lambda found: gift(found).encode()))
    if chosen.qti:
        formats.append((chosen.qti, qti))
    if len({resolve(path) for path, _ in formats}) < max(len(formats), 1):
        raise ValueError("name a file for each format: --gift questions.gift, --qti questions.zip, or both")
    for path, _ in formats:
        check_path(path, "questions.gift")
    if chosen.drill:
        questions = drill_questions(chosen.drill, chosen.count, chosen.seed)
    else:
        questions = course_questions(chosen.course)
    for path, make in formats:
        write(path, make(questions))
        print(f"{path}: {len(questions)} question{'' if len(questions) == 1 else 's'}")


def _execute(chosen: argparse.Namespace) -> None:
    if missing := [str(path) for path in chosen.notebooks if not path.is_file()]:
        raise FileNotFoundError(f"there is no file {', '.join(missing)}; no chapter was run")
    execute.needs_jupyter()
    from nbclient.exceptions import CellExecutionError

    for path in chosen.notebooks:
        if missing := execute.missing_frameworks(path):
            print(f"{path}: left as it is, because {' and '.join(missing)} can't be imported", flush=True)
            continue
        try:
            execute.execute(path, course=chosen.given)
        except CellExecutionError as error:
            raise ValueError(f"{path} is left as it was, because a cell raised:\n{error}") from error
        print(f"{path}: run and written", flush=True)


def _compare(chosen: argparse.Namespace) -> int:
    names = chosen.setting or [compare.LAST_BIT]
    for name in names:
        if unknown := compare.unknown_features(name):
            print(
                f"{PROG}: NumPy {np.__version__} does not know the CPU features {', '.join(unknown)}, so {name} "
                "cannot switch them off. numpy.show_config() lists the names that it knows.",
                file=sys.stderr,
            )
    seeds, threads = chosen.seed or [1], chosen.threads or compare.THREADS
    settings = [
        compare.Setting(name, number) for name in names for number in (seeds if name == compare.LAST_BIT else threads)
    ]
    differ, notebooks = 0, []
    for path in chosen.notebooks:
        if path.is_file() and (missing := execute.missing_frameworks(path)):
            print(f"{path}: not run, because {' and '.join(missing)} can't be imported", flush=True)
        else:
            notebooks.append(path)
    for setting, path, found in compare.compare_all(notebooks, settings, chosen.jobs):
        differ += bool(found)
        print(f"{setting}: {path}: {'' if found else 'the same'}".rstrip())
        print(*(f"    {line}\n" for line in found), sep="", end="", flush=True)
    return 1 if differ else 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number. Try 2.")
    return int(text)


def _limit(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a limit. Try a positive number, such as 60.")
    return number


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that it cannot print must not end a command
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
