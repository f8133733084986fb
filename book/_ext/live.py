"""Makes the pages live: tells each its programs, and puts beside them the scripts and the Python that run them.

What the pages load is brought together by `python book/live/fetch.py`; a book built without it says so at each pencil.
The JupyterLab in which a chapter opens is made by `python book/live/lab.py`; a book built without it has no button.
"""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

from chapters import LAB, course_of
from docutils import nodes
from live_programs import ALWAYS, programs, values
from sphinx.application import Sphinx

from autodiff_edu.course.values import NAME, pack

LIVE = Path(__file__).parents[1] / "live"
PYTHON = Path("made") / "python"
ALONE: dict[str, tuple[Any, str]] = {}
"""By each page that has a program and is not a notebook, a function, and the line that plays it."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the events of Sphinx."""
    app.connect("html-page-context", tell, priority=700)
    app.connect("build-finished", bring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def tell(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Write into a page's source which programs it has, and the script that makes them editable."""
    notebook = Path(app.srcdir) / f"{page}.ipynb"
    if page in ALONE:
        found = [alone(*ALONE[page])]
    elif notebook.exists():
        found = programs(json.loads(notebook.read_text(encoding="utf-8")))
    else:
        found = []
    if found:
        course = course_of(app.config)
        if app.config.course:
            for program in found:
                program["files"].append(NAME)
        told = {
            "programs": found,
            "built": (Path(app.srcdir) / PYTHON / "files.json").exists(),
            "course": course.title if app.config.course else "",  # what a reader solved here is kept under this name
            "exercises": {str(each.number): len(each.exercises) for each in course.chapters if each.exercises},
        }
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        context["body"] += (
            f'<script type="application/json" id="live-programs" '
            f'data-script="{context["pathto"]("live/live.js", 1)}">{text}</script>\n'
        )


def alone(function: Any, call: str) -> dict[str, Any]:
    """Return the program of a page that is not a notebook: a function, and the line that plays it."""
    source = f"{inspect.getsource(function)}\n\n{call}"
    setup = "\n".join(ALWAYS)
    return {"cell": None, "kind": "play", "setup": setup, "source": source, "values": values(source), "files": []}


def bring(app: Sphinx, exception: Exception | None) -> None:
    """Copy the scripts, the data and Python beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    book, site = Path(app.srcdir), Path(app.outdir)
    ignore = shutil.ignore_patterns("fetch.py", "lab.py", "lab.txt", "__pycache__")
    shutil.copytree(LIVE, site / "live", dirs_exist_ok=True, ignore=ignore)
    if (book / "chapters" / "data").exists():  # its page is there
        shutil.copytree(book / "chapters" / "data", site / "chapters" / "data", dirs_exist_ok=True)
    if app.config.course:
        (site / "chapters" / NAME).write_bytes(pack(course_of(app.config)))
    for source, target in ((PYTHON, "python"), (LAB, "lab")):
        shutil.rmtree(site / target, ignore_errors=True)
        if (book / source).exists():
            shutil.copytree(book / source, site / target)
