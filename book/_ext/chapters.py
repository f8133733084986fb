"""Brings the chapters of a course into its book: of ours, or of the folder that `course` names in the configuration.

A small extension for Sphinx. The chapters are copied from their folder as they are, outputs included, and nothing is
run again; a chapter that cannot be shown as it is stops the build with a sentence that names the file and the remedy.
"""

from __future__ import annotations

import io
import json
import re
import shutil
from base64 import b64decode
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from matplotlib.image import imread
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

from autodiff_edu.course.contents import OURS, Course
from autodiff_edu.course.tools.execute import fingerprint
from autodiff_edu.text.shared import shared

TRACE = re.compile(r'<script type="application/json">(\{"(?:version|trace)":.*?)</script>', re.DOTALL)
LAB = Path("made") / "lab"  # where live/lab.py builds it
EXECUTE = "python -m autodiff_edu.course execute"


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the events of Sphinx."""
    app.add_config_value("course", "", "html")  # the folder of a course; of ours, if there is none
    app.add_config_value("in_lab", [], "html")  # so that all pages are written anew when a lab is built or removed
    app.connect("config-inited", prepare, priority=100)
    app.connect("html-page-context", describe, priority=600)
    app.connect("html-page-context", point_to_glossary, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def prepare(app: Sphinx, config: Config) -> None:
    """Bring everything, look for a lab, put our script first, and name the search's weights by their full path."""
    notebooks = course_of(config).notebooks
    bring(Path(app.srcdir), notebooks, f"{notebooks}/" if config.course else "notebooks/")
    config.in_lab = sorted(path.stem for path in (Path(app.srcdir) / LAB / "files").glob("*.ipynb"))
    # The theme's script looks for what is wide, which that of the book marks: so it comes after.
    config.html_js_files = [(name, {"priority": 400}) for name in config.html_js_files]
    config.html_search_scorer = str(Path(__file__).with_name("scorer.js"))


def course_of(config: Config) -> Course:
    """Return the course whose book is built."""
    return Course(Path(config.course)) if config.course else OURS


def bring(book: Path, notebooks: Path, named: str) -> None:
    """Put chapters and data into the book's source, where the contents list them; `named` is before their names."""
    for name in re.findall(r"file: chapters/((?:\d\d|[A-Z])-.*)", (book / "_toc.yml").read_text(encoding="utf-8")):
        write(book / "chapters" / f"{name}.ipynb", for_the_book(checked(notebooks / f"{name}.ipynb", named)))
    data = notebooks / "data"
    for path in data.iterdir() if data.exists() else ():
        copy(path, book / "chapters" / "data")


def copy(path: Path, folder: Path) -> None:
    """Copy a file with its date, so that only what was changed is built again."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, folder)


def write(path: Path, text: str) -> None:
    """Write a file, unless it says so already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def for_the_book(notebook: dict[str, Any]) -> str:
    """Return a notebook in which each cell says to MyST-NB the alt text of its picture, and what it hides."""
    for cell in notebook["cells"]:
        told: dict[str, Any] = {}
        for output in cell.get("outputs", ()):
            alt = output.get("metadata", {}).get("image/png", {}).get("alt")
            if alt:
                told["image"] = {"alt": alt}
            if is_drawn_on_white(output):
                told.setdefault("image", {})["classes"] = "on-white"
        tags = cell["metadata"].get("tags", ())
        if "exercise" in tags:  # the page has an editor, whose answer is the reader's own
            cell["outputs"] = []
        if "solution" in tags:
            told |= prompts("the solution's {type}")
        elif "hide-input" in tags and "hide-output" not in tags:
            told |= prompts("the code")  # which MyST-NB calls source
        if told:
            cell["metadata"]["mystnb"] = told
    return json.dumps(notebook, ensure_ascii=False, indent=1)


def is_drawn_on_white(output: dict[str, Any]) -> bool:
    """Return whether a picture is of curves on white, which a dark page may invert: its shades mean nothing."""
    data = "".join(output.get("data", {}).get("image/png", ()))
    return bool(data) and float((imread(io.BytesIO(b64decode(data)))[..., :3] > 0.97).all(axis=-1).mean()) > 0.6


def prompts(hidden: str) -> dict[str, str]:
    """Return what the bar above a hidden part says, instead of what _config.yml has for any."""
    return {"code_prompt_show": f"Show {hidden}", "code_prompt_hide": f"Hide {hidden}"}


def checked(path: Path, named: str = "notebooks/") -> dict[str, Any]:
    """Read a chapter that can be shown as it is.

    Raises
    ------
    ExtensionError
        If the chapter is missing, was not run, was changed since, or holds a trace that the player does not draw.
    """
    if not path.exists():
        raise ExtensionError(f"{named}{path.name} is missing: write it, or take it out of book/_toc.yml")
    run = f"run: {EXECUTE} {named}{path.name}"
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]
        counts = [cell["execution_count"] for cell in code]
        outputs = [output for cell in code for output in cell["outputs"]]
    except (ValueError, LookupError, TypeError) as error:
        raise ExtensionError(f"{named}{path.name} is not a notebook ({error!r}): restore it from Git") from error
    if not outputs or None in counts:
        raise ExtensionError(f"{named}{path.name} has no stored output in some or all of its cells; {run}")
    if counts != list(range(1, len(code) + 1)) or notebook["metadata"].get("executed") != fingerprint(notebook):
        raise ExtensionError(f"{named}{path.name} was changed since it was run; {run}")
    if any(output["output_type"] == "error" for output in outputs):
        raise ExtensionError(f"{named}{path.name} shows an error that nothing catches: fix the cell, then {run}")
    for output in outputs:
        for text in TRACE.findall("".join(output.get("data", {}).get("text/html", ""))):
            content = json.loads(text)
            version = content.get("trace", content).get("version")  # up to version 3 within the trace
            if version != shared()["version"]:
                raise ExtensionError(
                    f"{named}{path.name} holds a trace of version {version}, and the player draws version "
                    f"{shared()['version']}; {run}"
                )
    return notebook


PROMISE = "What you will be able to do. "


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Add a page's description for search engines, and to a chapter the buttons that open it elsewhere."""
    drop_unused(context, doctree)
    if doctree is not None and "description" not in context.get("metatags", ""):
        paragraphs = [" ".join(paragraph.astext().split()) for paragraph in doctree.findall(nodes.paragraph)]
        chosen = next((text for text in paragraphs if text.startswith(PROMISE)), paragraphs[0]).removeprefix(PROMISE)
        context["metatags"] = f'{context.get("metatags", "")}<meta name="description" content="{escape(chosen)}" />\n'
    if re.match(r"chapters/(\d|[A-Z]-)", page):
        chapter = page.removeprefix("chapters/")
        repository = app.config.html_theme_options.get("repository_url") or ""
        context["header_buttons"] += buttons(repository, chapter) if repository else []
        if chapter in app.config.in_lab:
            context["header_buttons"].append(
                opener(f"{context['pathto']('lab/lab/index.html', 1)}?path={chapter}.ipynb")
            )


def drop_unused(context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Take out of a page's head the scripts and styles of what the page does not have."""
    body = context.get("body", "")
    parts = doctree.findall() if doctree is not None else ()
    formulas = any(isinstance(part, nodes.math | nodes.math_block) for part in parts)
    idle = ["thebe"]  # which runs code on a server, from a script on the network, and is declared twice
    idle += [] if formulas else ["mathjax"]
    idle += [] if re.search(r'class="(?:[^"]* )?(?:toggle|dropdown)[ "]', body) else ["toggle"]
    idle += [] if re.search(r'class="(?:[^"]* )?sd-', body) else ["sphinx-design", "design-tabs"]
    named = re.compile("|".join(idle), re.IGNORECASE)
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, ()) if not named.search(str(vars(file)))]


def point_to_glossary(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Name the glossary in a page's head, where a player looks for it to link its definitions."""
    if "glossary" in app.env.all_docs:
        link = f'<link rel="glossary" href="{context["pathto"]("glossary")}" />\n'
        context["metatags"] = context.get("metatags", "") + link


def opener(url: str) -> dict[str, str]:
    """Return the theme's description of the button that opens a chapter in the JupyterLab beside the book."""
    hint = "Open this chapter in a JupyterLab that runs in your browser (44 MB the first time)"
    text = '<span class="open-in">Open in </span>JupyterLab (44 MB)'  # a telephone has no room for two words more
    return {"type": "link", "text": text, "url": url, "tooltip": hint, "label": "open-chapter"}


def buttons(repository: str, chapter: str) -> list[dict[str, Any]]:
    """Return the theme's descriptions of the buttons that open a chapter where it can be run."""
    place = repository.removeprefix("https://github.com/").strip("/")
    addresses = {
        "Binder": f"https://mybinder.org/v2/gh/{place}/main?urlpath=lab/tree/notebooks/{chapter}.ipynb",
        "Colab": f"https://colab.research.google.com/github/{place}/blob/main/notebooks/{chapter}.ipynb",
    }
    # Binder finds what to install in .binder/; Colab has no such place.
    hints = {"Binder": "Open in Binder", "Colab": f"Open in Colab; run %pip install git+{repository} there first"}
    links = [
        {"type": "link", "text": name, "url": url, "tooltip": hints[name], "label": f"open-in-{name.lower()}"}
        for name, url in addresses.items()
    ]
    group = {"type": "group", "tooltip": "Run this chapter", "icon": "fas fa-rocket", "label": "launch-buttons"}
    return [{**group, "buttons": links}]
