"""Makes the pages live: tells each its programs, and puts beside them the scripts and the Python that run them.

What the pages load is brought together by `python book/live/fetch.py`; a book built without it says so at each pencil.
The JupyterLab in which a chapter opens is made by `python book/live/lab.py`; a book built without it has no button.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from chapters import LAB, course_of
from docutils import nodes
from live_programs import DATA, names, predictions, programs, values
from sphinx.application import Sphinx

import autodiff_edu
from autodiff_edu.course.contents import Chapter
from autodiff_edu.course.values import NAME, pack

LIVE = Path(__file__).parents[1] / "live"
PYTHON = Path("made") / "python"
WHERE = "where-you-are"
CHECKED = re.compile(r"""\bcheck\(\s*["']([\w.]+)["']""")
ALONE: dict[str, tuple[Any, str]] = {}
"""By each page that has a program and is not a notebook, a function, and the line that plays it."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the events of Sphinx."""
    app.connect("html-page-context", tell, priority=700)
    app.connect("html-collect-pages", where)
    app.connect("build-finished", bring)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def tell(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Write into a page's source which programs it has, and the script that makes them editable."""
    course = course_of(app.config)
    chapter = next((each for each in course.chapters if page == f"chapters/{each.name}"), None)
    found, asked = [], {}
    if page in ALONE:
        found = [{"id": page, **alone(*ALONE[page])}]
    elif chapter is not None:
        found, asked = parts_of(chapter, Path(app.srcdir) / f"{page}.ipynb")
    if found or asked or page == WHERE:
        own = [NAME] if app.config.course else []
        told = {
            "programs": [without_text(program) for program in found],
            "files": sorted({name for program in found for name in DATA.findall(program["source"])}) + own,
            "predictions": asked,
            "built": megabytes(Path(app.srcdir) / PYTHON / "files.json"),
            "course": course.title if app.config.course else "",  # what a reader solved here is kept under this name
            "exercises": {
                str(each.number): list(map_exercises(each).values()) for each in course.chapters if each.exercises
            },
            "where": context["pathto"](WHERE),
            "install": install(app, context) if any(program["kind"] == "elsewhere" for program in found) else "",
        }
        if page == WHERE:
            told |= {
                "home": context["pathto"]("index"),
                "edition": autodiff_edu.__version__,
                "chapters": [describe_chapter(app, each) for each in course.chapters],
                "pages": {name: app.env.titles[name].astext() for name in ALONE},
            }
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        script = "where.js" if page == WHERE else "live.js"
        context["body"] += (
            f'<script type="application/json" id="live-programs" '
            f'data-script="{context["pathto"](f"live/{script}", 1)}">{text}</script>\n'
        )


def megabytes(files: Path) -> int:
    """Return about how much the first run of a program downloads; 0 if the book was built without Python."""
    if not files.exists():
        return 0
    told = json.loads(files.read_text(encoding="utf-8"))
    elsewhere = [name for name, file in told.items() if name.startswith("numpy-") and "bytes" not in file]
    return round(sum(file.get("bytes", 0) for file in told.values()) / 1e6) + 3 * len(elsewhere)  # NumPy has about 3


def without_text(program: dict[str, Any]) -> dict[str, Any]:
    """Return a program without what its page shows anyway: a cell's source, where no fields are made of it."""
    idle = {"source", "values"} if program["kind"] in {"run", "elsewhere"} else set[str]()
    return {name: each for name, each in program.items() if name not in idle}


def install(app: Sphinx, context: dict[str, Any]) -> str:
    """Return where the book says how to install the package with JupyterLab; nothing if it doesn't."""
    page, anchor = app.env.domains["std"].anonlabels.get("install", ("", ""))[:2]
    return f"{context['pathto'](page)}#{anchor}" if page else ""


def where(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Make the page that lists what a reader has done; its script fills it from the browser."""
    told = "What you have solved, answered and edited in this book, as your browser has kept it."
    context = {
        "title": "Where you are",
        "metatags": f'<meta name="description" content="{told}" />\n',
        "body": (LIVE / "where.html").read_text(encoding="utf-8"),
    }
    yield WHERE, context, "page.html"


def describe_chapter(app: Sphinx, chapter: Chapter) -> dict[str, Any]:
    """Return what there is to do in a chapter, each part under what the browser keeps it by."""
    page = f"chapters/{chapter.name}"
    found, asked = parts_of(chapter, Path(app.srcdir) / f"{page}.ipynb")
    return {
        "page": page,
        "title": app.env.titles[page].astext(),
        "exercises": list(map_exercises(chapter).values()),
        "predictions": list(asked.values()),
        "programs": {
            program["id"]: program["name"] for program in found if program["kind"] not in {"train", "elsewhere"}
        },
    }


@cache
def parts_of(chapter: Chapter, notebook: Path) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Return a chapter's programs, and its predictions by the numbers of their cells.

    Each has an id under which the browser keeps what a reader makes of it. It must still be that of the same program
    in the next edition of the book: an exercise and a prediction are known by their texts, for their numbers and the
    names of their cells change when another comes before them; a player's cell is known by its name.
    """
    read = json.loads(notebook.read_text(encoding="utf-8"))
    found = programs(read)
    for program in found:
        number = CHECKED.findall(program["source"])
        exercise = number[0] if program["kind"] == "check" and number else ""
        program["name"] = exercise or f"cell {program['cell'] + 1}"
        program["id"] = map_exercises(chapter).get(exercise) or f"{chapter.slug}/{program['id']}"
    ids = {number: make_id(chapter, asked.question) for number, asked in chapter.predictions.items()}
    return found, {cell: ids[number] for cell, number in predictions(read).items() if number in ids}


def map_exercises(chapter: Chapter) -> dict[str, str]:
    """Return the ids of a chapter's exercises, by their numbers."""
    return {
        number: make_id(chapter, exercise.title or exercise.question) for number, exercise in chapter.exercises.items()
    }


def make_id(chapter: Chapter, text: str) -> str:
    """Return a short id of what has this text in this chapter, whatever its number."""
    return hashlib.sha256(f"{chapter.slug}/{text}".encode()).hexdigest()[:8]


def alone(function: Any, call: str) -> dict[str, Any]:
    """Return the program of a page that is not a notebook: a function, and the line that plays it."""
    source = f"{inspect.getsource(function)}\n\n{call}"
    return {"cell": None, "kind": "play", "source": source, "values": values(source)}


def bring(app: Sphinx, exception: Exception | None) -> None:
    """Copy the scripts, the data and Python beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    book, site = Path(app.srcdir), Path(app.outdir)
    idle = ("fetch.py", "lab.py", "lab.txt", "codemirror.js", "package*.json", "where.html", "__pycache__")
    ignore = shutil.ignore_patterns(*idle)
    shutil.rmtree(site / "live", ignore_errors=True)
    shutil.copytree(LIVE, site / "live", ignore=ignore)
    listed = json.dumps(names(), ensure_ascii=False, separators=(",", ":"))
    (site / "live" / "names.js").write_text(f"export const names = {listed};\n", encoding="utf-8")
    if (book / "chapters" / "data").exists():  # its page is there
        shutil.copytree(book / "chapters" / "data", site / "chapters" / "data", dirs_exist_ok=True)
    if app.config.course:
        (site / "chapters" / NAME).write_bytes(pack(course_of(app.config)))
    for source, target in ((PYTHON, "python"), (LAB, "lab")):
        shutil.rmtree(site / target, ignore_errors=True)
        if (book / source).exists():
            shutil.copytree(book / source, site / target)
