"""The course for teachers: list the chapters, write them to hand out, grade what comes back.

python -m autodiff_edu.course list
python -m autodiff_edu.course assignment OUT/
python -m autodiff_edu.course grade SUBMISSIONS... --output results.csv
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from .tools import assignment, grade

PROG = "python -m autodiff_edu.course"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; give the exit code.

    >>> main(["assignment", "somewhere", "99"])
    1
    """
    chosen = _parser().parse_args(arguments)
    try:
        chosen.run(chosen)
    except (OSError, ValueError, ImportError) as error:
        print(f"{PROG}: {error}", file=sys.stderr)
        return 1
    return 0


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
