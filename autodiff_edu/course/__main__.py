"""For teachers and authors: list the chapters, hand them out, grade what comes back; execute and compare them.

python -m autodiff_edu.course list
python -m autodiff_edu.course assignment OUT/
python -m autodiff_edu.course grade SUBMISSIONS... --output results.csv
python -m autodiff_edu.course execute notebooks/*.ipynb
python -m autodiff_edu.course compare notebooks/*.ipynb
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .tools import assignment, compare, execute, grade

PROG = "python -m autodiff_edu.course"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit code.

    >>> main(["assignment", "somewhere", "99"])
    1
    """
    chosen = _parser().parse_args(arguments)
    try:
        return chosen.run(chosen) or 0
    except (OSError, ValueError, ImportError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    about = __doc__.splitlines()[0] if __doc__ else None
    parser = argparse.ArgumentParser(prog=PROG, description=about)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("list", help="list the chapters")
    command.set_defaults(run=_list)

    text = "write the chapters without solutions and outputs, ready to hand out"
    command = commands.add_parser("assignment", help=text, description=text)
    command.add_argument("out", type=Path, metavar="OUT", help="the folder to write into")
    command.add_argument(
        "chapters", type=int, nargs="*", metavar="CHAPTER", help="their numbers; all if there are none"
    )
    command.add_argument("--solutions", action="store_true", help="keep the folded solutions, to learn alone")
    command.add_argument("--force", action="store_true", help="replace files that are there already")
    command.set_defaults(run=_assignment)

    text = "run submitted notebooks, and write one row for each exercise: file, exercise, right, message, problem"
    warning = "The code of a submission runs with your rights: grade the work of strangers in a container."
    command = commands.add_parser("grade", help=text, description=text, epilog=warning)
    command.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help="a notebook, or a folder of them")
    command.add_argument("--output", type=Path, metavar="CSV", help="where to write; the terminal if not given")
    command.add_argument("--timeout", type=_seconds, default=300, metavar="SECONDS", help="for each notebook (300)")
    command.set_defaults(run=_grade)

    text = "run chapters and write them back with their outputs; run twice, it writes the same bytes"
    command = commands.add_parser("execute", help=text, description=text)
    command.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help="the chapters, run in place")
    command.set_defaults(run=_execute)

    text = "run chapters as other CPUs would, and name the cells whose outputs differ from the stored ones"
    command = commands.add_parser(
        "compare", help=text, description=text, epilog="The exit code is 1 if any cell differs."
    )
    command.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help="the chapters; they are only read")
    command.add_argument(
        "--setting",
        action="append",
        choices=list(compare.SETTINGS),
        help="the CPU to imitate; repeat for several (all)",
    )
    command.add_argument(
        "--threads",
        action="append",
        type=_count,
        metavar="N",
        help="how many threads OpenBLAS gets; repeat for several (1 and 2)",
    )
    command.add_argument("--jobs", type=_count, default=2, metavar="N", help="how many chapters run at a time (2)")
    command.set_defaults(run=_compare)
    return parser


def _list(chosen: argparse.Namespace) -> None:
    for path in assignment.chapters().values():
        print(f"{path.name:<34}{assignment.title(path)}")


def _assignment(chosen: argparse.Namespace) -> None:
    for path in assignment.write(chosen.out, chosen.chapters, solutions=chosen.solutions, force=chosen.force):
        print(path)


def _grade(chosen: argparse.Namespace) -> None:
    if not grade.submissions(chosen.notebooks):
        raise FileNotFoundError(f"no notebook in {', '.join(map(str, chosen.notebooks))}")
    grade.needs_jupyter()
    with contextlib.ExitStack() as stack:
        file = sys.stdout
        if chosen.output:
            file = stack.enter_context(chosen.output.open("w", encoding="utf-8", newline=""))
        for path, results in grade.write_csv(file, chosen.notebooks, chosen.timeout):
            right = sum(result.right for result in results)
            print(f"{path}: {right} of {len(results)} right", file=sys.stderr)


def _execute(chosen: argparse.Namespace) -> None:
    if missing := [str(path) for path in chosen.notebooks if not path.is_file()]:
        raise FileNotFoundError(f"there is no file {', '.join(missing)}; no chapter was run")
    execute.needs_jupyter()
    from nbclient.exceptions import CellExecutionError

    for path in chosen.notebooks:
        try:
            execute.execute(path)
        except CellExecutionError as error:
            raise ValueError(f"{path} is left as it was, because a cell raised:\n{error}") from error
        print(f"{path}: run and written", flush=True)


def _compare(chosen: argparse.Namespace) -> int:
    settings = chosen.setting or list(compare.SETTINGS)
    for setting in settings:
        if unknown := compare.unknown_features(setting):
            print(
                f"{PROG}: NumPy {np.__version__} does not know the CPU features {', '.join(unknown)}, so {setting} "
                "cannot switch them off. numpy.show_config() lists the names that it knows.",
                file=sys.stderr,
            )
    differ = 0
    for setting, threads, path, found in compare.compare_all(
        chosen.notebooks, settings, chosen.threads or compare.THREADS, chosen.jobs
    ):
        differ += bool(found)
        print(f"{setting}, {threads} thread{'s' * (threads > 1)}: {path}: {'' if found else 'the same'}".rstrip())
        print(*(f"    {line}\n" for line in found), sep="", end="", flush=True)
    return 1 if differ else 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number. Try 2.")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no time limit; write a number of seconds, such as 300")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
