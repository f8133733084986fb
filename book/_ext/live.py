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

from chapters import LAB
from docutils import nodes
from first_program import f
from programs import ALWAYS, programs
from sphinx.application import Sphinx

LIVE = Path(__file__).parents[1] / "live"
PYTHON = Path("made") / "python"


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx when to call what."""
    app.connect("html-page-context", tell, priority=700)
    app.connect("build-finished", bring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def tell(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Write into a page's source which programs it has, and the script that makes them editable."""
    notebook = Path(app.srcdir) / f"{page}.ipynb"
    found: list[dict[str, Any]] = []
    if page == "index":
        found = [front()]
    elif notebook.exists():
        found = programs(json.loads(notebook.read_text(encoding="utf-8")))
    if page.startswith("chapters/") or found:
        told = {"programs": found, "built": (Path(app.srcdir) / PYTHON / "files.json").exists()}
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        context["body"] += (
            f'<script type="application/json" id="live-programs">{text}</script>\n'
            f'<script type="module" src="{context["pathto"]("live/live.js", 1)}"></script>\n'
        )


def front() -> dict[str, Any]:
    """Return the program of the front page, which is no cell of a notebook."""
    source = f"{inspect.getsource(f)}\n\nad.play(f, 2.0, 3.0)"
    values = [{"name": "x", "text": "2.0"}, {"name": "y", "text": "3.0"}]
    return {"cell": None, "kind": "play", "setup": "\n".join(ALWAYS), "source": source, "values": values, "files": []}


def bring(app: Sphinx, exception: Exception | None) -> None:
    """Copy the scripts, the data and Python beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    book, site = Path(app.srcdir), Path(app.outdir)
    ignore = shutil.ignore_patterns("fetch.py", "lab.py", "lab.txt", "__pycache__")
    shutil.copytree(LIVE, site / "live", dirs_exist_ok=True, ignore=ignore)
    for source, target in ((PYTHON, "python"), (LAB, "lab"), (Path("chapters") / "data", "chapters/data")):
        shutil.rmtree(site / target, ignore_errors=True)
        if (book / source).exists():
            shutil.copytree(book / source, site / target)
