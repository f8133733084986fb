"""A chapter as slides: one HTML file with its pictures, its players on stage and its predictions, for a projector.

    python -m autodiff_edu.course slides 08

Nothing is run, and nothing is loaded from elsewhere: all that is shown is what the notebook stores.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ...saving.files import resolve_folder, write
from ..contents import Chapter

LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
MATHS = re.compile(r"\$[^$]+\$")
HEADING = re.compile(r"^##\s+(.+)$", re.MULTILINE)
AROUND = re.compile(r"\n\*(Previous|Next): .*")
"""The links to the chapters before and after."""
EXERCISE = re.compile(r"^###\s+(.+)$", re.MULTILINE)
PICTURES = ("image/svg+xml", "image/png")


def write_slides(chapters: Sequence[Chapter], out: str | Path) -> list[Path]:
    """Write a file of slides for each chapter.

    Parameters
    ----------
    chapters : sequence of Chapter
        Whose notebooks were run.
    out : path
        The folder; it is created if it is missing. Files of the same names are replaced.

    Returns
    -------
    list of Path
        The files written: 08-stop-recording.html.

    Raises
    ------
    ValueError
        If a notebook has no outputs.
    ImportError
        If mistune, which comes with JupyterLab, is missing.
    """
    pages = {f"{chapter.name}.html": make_page(chapter.read(), chapter.course.language) for chapter in chapters}
    folder = resolve_folder(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        write(folder / name, page.encode())
    return [folder / name for name in pages]


def make_page(notebook: dict[str, Any], language: str = "en") -> str:
    """Return the page of a notebook's slides.

    Parameters
    ----------
    notebook : dict
        As stored in JSON, with outputs.
    language : str
        Of its text.
    """
    cells = notebook["cells"]
    if not any(cell.get("outputs") for cell in cells):
        raise ValueError("the notebook has no outputs: run it first, with `python -m autodiff_edu.course execute`")
    title = _text(cells[0]).partition("\n")[0].lstrip("# ")
    template = (resources.files(__package__) / "slides.html").read_text(encoding="utf-8")
    sections = "\n".join(f"<section>\n{body}\n</section>" for body in list_slides(cells))
    for name, text in (("language", language), ("title", html.escape(title)), ("sections", sections)):
        template = template.replace(f"{{{{{name}}}}}", text)
    return template


def list_slides(cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Return what is on each slide: what the chapter is for, its sections with all they show, exercises, summary."""
    title, _, rest = _text(cells[0]).partition("\n")
    yield to_html(title + "\n\n" + "\n\n".join(part for part in rest.split("\n\n") if part.startswith("**")))
    heading, exercises, opened = "", list[str](), False
    for cell in cells[1:]:
        text = _text(cell)
        if cell["cell_type"] == "markdown":
            exercises += EXERCISE.findall(text)
            if found := HEADING.search(text):
                heading = found[1]
                if not cell["id"].startswith(("ex", "summary")):
                    yield to_html(f"# {heading}\n\n" + "\n\n".join(_first(text[found.end() :])))
            elif not opened:
                yield _above(title) + to_html(text)
            opened = True
            if cell["id"] == "summary":
                if exercises:
                    yield to_html("# Exercises\n\n" + "\n".join(f"- {name}" for name in exercises))
                yield to_html(AROUND.sub("", text).removeprefix("#"))
        elif not exercises and "hide-output" not in cell["metadata"].get("tags", ()):
            yield from (_above(heading or title) + shown for shown in map(_write_output, cell["outputs"]) if shown)


def to_html(text: str) -> str:
    """Return Markdown as HTML, with links as plain text: a slide leads nowhere."""
    try:
        import mistune
    except ImportError as error:
        raise ImportError(f"{error}; slides need JupyterLab: pip install 'autodiff-edu[lab]'") from error
    return str(mistune.create_markdown(escape=False, plugins=["table"])(LINK.sub(r"\1", text)))


def _first(text: str) -> Iterator[str]:
    """Return the first paragraph, if it is one that needs no typesetting."""
    paragraph = text.strip().partition("\n\n")[0]
    if paragraph and not MATHS.search(paragraph):
        yield re.sub(r":$", ".", paragraph)  # what it announces is on another slide, or on none


def _write_output(output: dict[str, Any]) -> str:
    """Return a player, a question, sliders or a picture; nothing for what was printed."""
    data = output.get("data", {})
    page = "".join(data.get("text/html", ""))
    if page:
        return page
    for kind in PICTURES:
        if kind in data:
            about = html.escape("".join(data.get("text/plain", "")))
            content = "".join(data[kind])
            if kind == "image/svg+xml":
                return f'<figure role="img" aria-label="{about}">{content}</figure>'
            return f'<img alt="{about}" src="data:{kind};base64,{content.strip()}">'
    return ""


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _above(heading: str) -> str:
    """Return the small heading of a slide that goes on with what the one before began."""
    words = LINK.sub(r"\1", heading).replace("`", "").lstrip("# ")
    return f'<h1 class="small">{html.escape(words)}</h1>\n'
