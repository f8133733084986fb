"""Runs the programs of a page, and writes below each what it prints.

    python book/_ext/answered.py book/why-none.md book/corners.md book/inside.md

A program is a block of ```python; what it prints is the block of ```text that follows it. A test compares.
"""

import contextlib
import io
import linecache
import re
import sys
from pathlib import Path

import numpy as np

import autodiff_edu as ad

PROGRAM = re.compile(r"(?<=```python\n)(?P<program>.*?)(?P<between>```\n\n```text\n).*?(?=```\n)", re.DOTALL)


def answered(page: str) -> str:
    """Return the page with the output of each of its programs brought up to date."""
    return PROGRAM.sub(lambda found: found["program"] + found["between"] + output(found["program"]), page)


def output(program: str) -> str:
    """Run a program by itself, and return what it printed."""
    # The tape quotes the lines of the program, and looks them up here.
    linecache.cache["program.py"] = (len(program), None, program.splitlines(keepends=True), "program.py")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(program, "program.py", "exec"), {"__name__": "program", "np": np, "ad": ad})
    return printed.getvalue()


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(answered(path.read_text(encoding="utf-8")), encoding="utf-8")
