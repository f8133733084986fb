"""A page that is followed to its end, as a reader does: its commands are run, and its changes are made.

A command stands in a block of `sh`. A change is a `code-block` of `diff` whose caption names the file; in a notebook it
is made in the one cell that has these lines.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(
    r"^```(?:sh\n(?P<commands>.*?)|\{code-block\} diff\n:caption: (?P<file>\S+)\n\n(?P<change>.*?))^```$", re.M | re.S
)


def follow(page, folder, **environment):
    """Do what a page, or a part of it, says, in a folder; return the folder where that ends, and what was printed."""
    printed = []
    for block in BLOCK.finditer(page):
        if block["commands"] is None:
            change(folder / block["file"], block["change"])
            continue
        for line in block["commands"].splitlines():
            folder = run(shlex.split(line), folder, printed, environment)
    return folder, "".join(printed)


def run(words, folder, printed, environment):
    """Run one command; those of the shell are done here, so that they work on any system."""
    match words:
        case ["python", "-m", "http.server", *_]:  # which would not end: a test opens the folder in its own way
            pass
        case ["python", *arguments]:
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=folder,
                env={**os.environ, **environment},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=False,
            )
            assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}"
            printed.append(done.stdout)
        case ["cd", place]:
            return (folder / place).resolve(strict=True)
        case ["mkdir", "-p", *places]:
            for place in places:
                (folder / place).mkdir(parents=True, exist_ok=True)
        case ["cp", source, target]:
            shutil.copy(folder / source, folder / target)
        case _:
            raise AssertionError(f"the page has a command that no test follows: {shlex.join(words)}")
    return folder


def change(path, lines):
    """Change a file as a block of `diff` says; what it takes out must be there once."""
    marked = [(line[:1] or " ", line[1:]) for line in lines.splitlines()]
    old, new = ("\n".join(text for mark, text in marked if mark in kept) for kept in (" -", " +"))
    path = Path(path)
    if path.suffix != ".ipynb":
        path.write_text(changed(path.read_text(encoding="utf-8"), old, new), encoding="utf-8")
        return
    notebook = json.loads(path.read_text(encoding="utf-8"))
    (cell,) = [cell for cell in notebook["cells"] if old in "".join(cell["source"])]
    cell["source"] = changed("".join(cell["source"]), old, new)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def changed(text, old, new):
    assert text.count(old) == 1, f"this is there {text.count(old)} times, and not once:\n{old}"
    return text.replace(old, new)
