"""Joins the reference to the course: a name leads to the chapter that teaches it, and that chapter back to the name.

A small extension for Sphinx. A chapter teaches a name if it is the first that says it in its text and uses it in its
code. In the reference a few examples can be stepped through, just as they stand there.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import linecache
import re
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.ext.autodoc import ClassDocumenter

import autodiff_edu as ad
from autodiff_edu import course
from autodiff_edu.course.contents import OURS
from autodiff_edu.player.compare import TraceComparison

PAGE = "api"
PLAYED = (
    "GradientTape.gradient", "GradientTape.explain", "stop_gradient", "custom_gradient", "checkpoint", "compare",
    "sweep", "descend",
)  # fmt: skip
"""The names whose example can be stepped through."""
SEE = {
    "BlockMatrix": "hessian",
    "Contribution": "GradientTape.steps",
    "Corner": "GradientTape.corners",
    "Entry": "GradientTape.steps",
    "Explanation": "GradientTape.explain",
    "Frames": "Player",
    "GradientTape": "/chapters/01-the-tape",
    "GradientTape.watch": "/chapters/06-watched-or-none",
    "Nonfinite": "GradientTape.first_nonfinite",
    "Nudge": "GradientTape.nudge",
    "Player": "play",
    "Step": "GradientTape.steps",
    "Tensor": "constant",
    "Trace": "trace",
    "UnconnectedError": "GradientTape.explain",
    "Variable.assign": "/chapters/06-watched-or-none",
    "Variable.assign_add": "/chapters/06-watched-or-none",
    "Variable.assign_sub": "/chapters/06-watched-or-none",
    "compare": "/frameworks",
    "compiled.Compiled": "compile",
    "compiled.Program": "compile",
    "course": "/write-your-own-chapter",
    "drill": "/for-teachers",
    "linearize": "jvp",
    "nn": "/chapters/20-training",
    "options": "/frameworks",
    "plots.batch_patches": "GradientTape.batch_jacobian",
    "plots.contours": "descend",
    "plots.heatmap": "jacobian",
    "register_gradient": "custom_gradient",
    "stop_gradient": "/chapters/09-stop-gradient",
}
"""Where a name, or a whole class or module, is explained if not in the chapter that uses it first: a name or a page."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the events of Sphinx."""
    app.add_autodocumenter(PublicClass, override=True)
    app.connect("autodoc-process-docstring", point_to_chapter, priority=900)  # once the sections are read
    app.connect("doctree-read", let_play)
    app.connect("doctree-read", list_at_once)
    app.connect("doctree-resolved", point_to_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class PublicClass(ClassDocumenter):
    """Documents a class whose public name is another one, of which Sphinx would only say that it is an alias."""

    def import_object(self, raiseerror: bool = False) -> bool:
        """Import the class."""
        found = super().import_object(raiseerror)
        self.doc_as_attr = False
        return found


def names() -> list[str]:
    """List the public names: of the package, of its modules and of the tape, without the package's own name."""
    modules = {"nn": ad.nn.__all__, "plots": ("heatmap", "batch_patches", "contours"), "course": course.__all__}
    return [
        *(name for name in ad.__all__ if not inspect.ismodule(getattr(ad, name))),
        *(f"{module}.{name}" for module, some in modules.items() for name in some),
        *(f"GradientTape.{name}" for name in dir(ad.GradientTape) if name[0] != "_"),
        "compiled.Compiled",
        "compiled.Program",
    ]


def spoken(name: str) -> str:
    """Return a pattern of how programs write a name: a method with any tape, a function with or without `ad`."""
    owner, _, last = name.rpartition(".")
    before = {"": r"\bad\.", "GradientTape": r"\b(?:\w*tape|GradientTape)\."}.get(owner, rf"\b(?:ad\.)?{owner}\.")
    return before + last + r"\b"


@cache
def chapters() -> dict[str, tuple[str, str]]:
    """Return the code within the text, and the code, of each chapter by the name of its page."""
    found = {}
    for chapter in OURS.chapters:
        cells = json.loads((OURS.notebooks / f"{chapter.name}.ipynb").read_text(encoding="utf-8"))["cells"]
        texts = {
            kind: "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == kind)
            for kind in ("markdown", "code")
        }
        found[f"chapters/{chapter.name}"] = "\n".join(re.findall(r"`[^`\n]+`", texts["markdown"])), texts["code"]
    return found


@cache
def taught() -> dict[str, str]:
    """Return the page of the chapter that teaches each name which a chapter says or uses."""
    found = {}
    for name in names():
        pattern = re.compile(spoken(name))
        counts = {page: [len(pattern.findall(text)) for text in texts] for page, texts in chapters().items()}
        pages = [
            *(page for page, (said, used) in counts.items() if said and used),
            *(page for page, (said, _) in counts.items() if said),
            *sorted((page for page, (_, used) in counts.items() if used), key=lambda page: -counts[page][1]),
        ]
        if name in SEE:
            pages = [SEE[name].removeprefix("/")] if SEE[name].startswith("/chapters/") else []
        if pages:
            found[name] = pages[0]
    return found


def refer(name: str) -> list[str]:
    """List where to read more of a name, as reStructuredText: another name, a chapter, a page.

    Examples
    --------
    >>> refer("Corner")
    [':meth:`GradientTape.corners <autodiff_edu.GradientTape.corners>`', ':doc:`/chapters/14-corners`']
    >>> refer("nn.SGD")
    [':doc:`/chapters/20-training`']
    >>> refer("Variable.as_it_is") == refer("Variable")  # a method as its class
    True
    """
    if name in taught():
        return [f":doc:`/{taught()[name]}`"]
    if name not in SEE:
        owner = name.rpartition(".")[0]
        return refer(owner) if owner else []
    other = SEE[name]
    if other.startswith("/"):
        return [f":doc:`{other}`"]
    role = "meth" if "." in other else "class" if inspect.isclass(getattr(ad, other)) else "func"
    return [f":{role}:`{other} <autodiff_edu.{other}>`", *refer(other)]


def point_to_chapter(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Add to a name's text where to read more."""
    where = refer(name.removeprefix("autodiff_edu."))
    if where and lines:
        lines += ["", f"*See also:* {', '.join(where)}.", ""]


def let_play(app: Sphinx, doctree: nodes.document) -> None:
    """Put below some examples of the reference a player that steps through them."""
    if app.env.docname != PAGE:
        return
    for signature in doctree.findall(addnodes.desc_signature):
        name = next(iter(signature["ids"]), "").removeprefix("autodiff_edu.")
        if name in PLAYED:
            html = f"<details><summary>Step through this example</summary>\n{play_example(name)}\n</details>"
            signature.parent[-1].append(nodes.raw("", html, format="html"))


def list_at_once(app: Sphinx, doctree: nodes.document) -> None:
    """Put a table of all names above the reference: a row for each section, each name a link."""
    if app.env.docname != PAGE:
        return
    rows = nodes.tbody()
    whole = next(doctree.findall(nodes.section))
    sections = [part for part in whole if isinstance(part, nodes.section)]
    for section in sections:
        signatures = [part[0] for part in section if isinstance(part, addnodes.desc)]
        ids = [signature["ids"][0] for signature in signatures if signature["ids"]]
        links = nodes.paragraph()
        for where in ids:
            name = nodes.literal("", where.removeprefix("autodiff_edu."))
            links += [nodes.reference("", "", name, internal=True, refid=where), nodes.Text(" ")]
        title = nodes.reference("", section[0].astext(), internal=True, refid=section["ids"][0])
        rows += nodes.row("", nodes.entry("", nodes.paragraph("", "", title)), nodes.entry("", links))
    group = nodes.tgroup("", nodes.colspec(colwidth=1), nodes.colspec(colwidth=4), rows, cols=2)
    whole.insert(whole.index(sections[0]), nodes.table("", group))


def play_example(name: str) -> str:
    """Return the player of a name's example, as HTML: what the example makes, or else all that it does."""
    text = inspect.getdoc(attrgetter(name)(ad)) or ""
    source = "".join(example.source for example in doctest.DocTestParser().get_examples(text))
    linecache.cache["example.py"] = (len(source), None, source.splitlines(keepends=True), "example.py")
    program = ast.parse(source)
    for number, statement in enumerate(program.body):
        if isinstance(statement, ast.Expr):  # its value is kept, rather than printed
            value = statement.value
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "print":
                value = value.args[0].value if isinstance(value.args[0], ast.Starred) else value.args[0]
            kept = ast.Assign([ast.Name(f"shown_{number}", ast.Store())], value)
            program.body[number] = ast.fix_missing_locations(ast.copy_location(kept, statement))
    given = {**vars(ad), "np": np, "__name__": "example"}
    space: dict[str, Any] = {**given}
    with ad.trace("the example above") as steps:
        exec(compile(program, "example.py", "exec"), space)
    for value in (value for name, value in space.items() if value is not given.get(name)):
        if isinstance(value, ad.Player):
            return value.html()
        if isinstance(value, TraceComparison):
            return value._repr_mimebundle_()["text/html"]
        if isinstance(value, ad.Explanation):
            return ad.play(value).html()
    return ad.play(steps).html()


def point_to_reference(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Link a name to the reference where the chapter that teaches it says it first."""
    for name in (name for name, chapter in taught().items() if chapter == page):
        pattern = re.compile(spoken(name))
        for literal in doctree.findall(nodes.literal):
            free = not isinstance(literal.parent, nodes.reference | nodes.title)
            if free and pattern.search(literal.astext()):
                url = f"{app.builder.get_relative_uri(page, PAGE)}#autodiff_edu.{name}"
                literal.replace_self(nodes.reference("", "", literal.deepcopy(), internal=True, refuri=url))
                break
