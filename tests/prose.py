"""Everything in this project that a person reads, piece by piece, with the place that each piece comes from."""

import ast
import io
import json
import re
import tokenize
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "autodiff_edu"
FENCED = re.compile(r"```.*?```|https?://\S+", re.DOTALL)
CODE = re.compile(r"`([^`\n]*)`")
SCRIPTS = {"autodiff_edu/player/js/**/*.js": "player", "book/*/*.js": "book", "tests/**/*.mjs": "tests"}
JAVASCRIPT = re.compile(
    r"""
    (?P<string> "(?:[^"\\\n]|\\.)*" | `(?:[^`\\]|\\.)*` )
    | (?P<docstring> /\*\*.*?\*/ )
    | (?P<comment> /\*.*?\*/ | //[^\n]* )
    | (?<=[ (]) / (?![/*\s]) (?: [^/\\\n[] | \\. | \[(?:[^\]\\\n]|\\.)*\] )+ /  # a regular expression
    """,
    re.DOTALL | re.VERBOSE,
)
TAG = re.compile(r"^[ \t]*/?\*+/?|\*/$|@\w+\s*(?:\{.*\}\s*)?(?:\[?[\w.]+\]?)?", re.MULTILINE)
"""In a comment of JSDoc, what does not belong to a sentence: its stars, and the names and types of parameters."""


class Piece(NamedTuple):
    """A text, `where` it comes from, its `area` of the project, and its `kind`: "page", "docstring", "string", ..."""

    area: str
    kind: str
    where: str
    text: str


@cache
def pieces():
    """List everything that is read: pages, chapters, messages, the player's texts, docstrings, comments, test names."""
    return tuple(_pieces())


def _pieces():
    pages = [*ROOT.glob("*.md"), *(ROOT / "book").glob("*.md"), *(ROOT / "book" / "contributing").glob("*.md")]
    for path in [*sorted(pages), ROOT / "notebooks" / "data" / "README.md"]:
        name = path.relative_to(ROOT).as_posix()
        yield Piece(name.split("/")[0] if "/" in name else "readme", "page", name, path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            where, source = f"{path.name} {cell['id']}", "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                yield Piece("notebooks", "page", where, source)
            else:
                yield from of_python("notebooks", where, re.sub(r"^\s*[%!].*$", "pass", source, flags=re.MULTILINE))
    for path in sorted(PACKAGE.rglob("*.py")):
        area = "course" if path.relative_to(PACKAGE).parts[0] == "course" else "package"
        yield from of_python(area, place_of(path), path.read_text(encoding="utf-8"))
    for area, where in (("book", "book/*/*.py"), ("benchmarks", "benchmarks/**/*.py")):
        for path in sorted(ROOT.glob(where)):
            yield from of_python(area, place_of(path), path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "tests").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        yield from (piece for piece in of_python("tests", place_of(path), source) if piece.kind != "string")
        for name in re.findall(r"^ *def test_(\w+)", source, re.MULTILINE):
            yield Piece("tests", "name", f"{place_of(path)} test_{name}", name.replace("_", " "))
    for where, area in SCRIPTS.items():
        for path in sorted(ROOT.glob(where)):
            yield from of_javascript(area, place_of(path), path.read_text(encoding="utf-8"))


def place_of(path):
    return path.relative_to(ROOT).as_posix()


def of_javascript(area, where, source):
    """Yield the strings and the comments of a module; those of JSDoc are its docstrings."""
    for found in JAVASCRIPT.finditer(source):
        if found.lastgroup:
            text = found.group() if found.lastgroup == "string" else TAG.sub("", found.group())
            line = source.count("\n", 0, found.start()) + 1
            yield Piece(area, found.lastgroup, f"{where}:{line}", re.sub(r"\$\{[^{}]*\}", "…", text).strip())


def of_python(area, where, source):
    """Yield the docstrings, the other strings and the comments of a module or a cell."""
    tree, inner, docstrings = ast.parse(source), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            docstrings.add(id(node.body[0].value))
            yield Piece(area, "docstring", f"{where} {getattr(node, 'name', 'module')}", text)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inner.update(id(part) for part in ast.walk(node) if part is not node)
            if id(node) not in inner:
                written = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
                yield Piece(area, "string", f"{where}:{node.lineno}", "".join(written))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner | docstrings:
            yield Piece(area, "string", f"{where}:{node.lineno}", node.value)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Piece(area, "comment", f"{where}:{token.start[0]}", token.string)


def without_code(text, short=False):
    """Return a text without its code; with `short`, code that is a single name stays, as a word of the sentence."""

    def word(found):
        return found[1] if short and found[1].isidentifier() else " … "

    return CODE.sub(word, FENCED.sub(" ", text))
