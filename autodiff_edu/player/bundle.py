"""The player's script and its style sheet, each joined into one text that a cell or a page can carry."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from ..text.shared import colours, shared

EXTRAS: tuple[str, ...] = tuple(shared()["extras"])
"""The parts of a document that have a script and a style sheet of their own; parts.py describes them."""

SHEETS = (
    *("base", "controls", "strip", "code", "tape", "graph", "panel", "array"),
    *("odd", "unfold", "nudge", "tangents", "predict", "stage"),
)
LAST_SHEET = "media"  # it overrides the others

COMMENT = re.compile(r"^[ ]*(//.*|/\*(?s:.*?)\*/[ ]*)\n", re.MULTILINE)
REMARK = re.compile(r" +// [^\"'`\n]*$", re.MULTILINE)  # at the end of a line
SPACE = re.compile(r"(?<=[:;,{}])\s+|\s+(?=[{}])")  # of a style sheet
INDENT = re.compile(r"^\s+", re.MULTILINE)
TOKEN = re.compile(r"""//.*|/\*(?s:.*?)\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[\w$]+|.|\n""")  # of a script
PATTERN = re.compile(r"/(?![/*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])+/\w*")
TEMPLATE = re.compile(r"(?:\\.|[^`\\$]|\$(?!\{))*(?:`|\$\{)")
TOUCHING = re.compile(r"[\w$]{2}|\+\+|--|//")
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
DATA = re.compile(r'^import (\w+) from "[\w./]+/shared\.json" with \{ type: "json" \};\n', re.MULTILINE)
DECLARED = re.compile(
    r"^(export )?(?:async )?(?:const|let|class|function\*?) (?:(\w+)|[\[{]([^\]}]*)[\]}])", re.MULTILINE
)


@cache
def asset(name: str) -> str:
    """Return the text of a file of the player, such as css/graph.css or js/dom.js."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8").strip() + "\n"


def extras(document: dict[str, Any]) -> tuple[str, ...]:
    """List the parts of a document that have a script and a style sheet of their own; few documents have any."""
    return tuple(part for part in EXTRAS if part in document)


@cache
def style(parts: tuple[str, ...] = ()) -> str:
    """Return the style sheet, with those of some extra parts, and with the colours that it mentions."""
    text = "\n".join(asset(f"css/{name}.css") for name in (*SHEETS, *parts, LAST_SHEET))
    used = {name: value for name, value in colours().items() if f"var(--shared-{name})" in text}
    known = "".join(f"--shared-{name}: {_scheme(value)};" for name, value in used.items())
    return SPACE.sub("", _lighter(f":host {{ {known} }}\n{text}"))


def _scheme(colour: str | list[str]) -> str:
    return colour if isinstance(colour, str) else f"light-dark({', '.join(colour)})"


@cache
def script(parts: tuple[str, ...] = EXTRAS) -> str:
    """Return js/player.js with all that it imports, as one module, and the views of some extra parts."""
    names = [f"{name}.js" for name in (*parts, "player")]
    modules = {path.name: asset(f"js/{path.name}") for path in files(__package__).joinpath("js").iterdir()}
    return _closer(_lighter(join(modules, names)))


def join(modules: dict[str, str], names: list[str]) -> str:
    r"""Join modules, and those that they import, into one text; only the last one keeps its exports.

    An import becomes the text of what is imported, once, and its exports become plain names. What is imported from
    shared.json becomes an object with the parts of it that are used.

    Parameters
    ----------
    modules : dict of str to str
        The text of every module, by the name of its file.
    names : list of str
        Which of them to join.

    Raises
    ------
    ValueError
        If two modules give the same name to different things, if one imports what the other does not export, or if
        something is imported in another form than these.

    Examples
    --------
    >>> modules = {"a.js": 'import { b } from "./b.js";\nexport const a = b;\n', "b.js": "export const b = 1;\n"}
    >>> print(join(modules, ["a.js"]))
    const b = 1;
    export const a = b;
    """
    joined: list[str] = []
    owners: dict[str, str] = {}  # by what is declared in a module, outside of its functions
    exported: dict[str, set[str]] = {}

    def add(name: str) -> None:
        text, exported[name] = modules[name], set()
        for export, single, several in DECLARED.findall(text):
            for declared in filter(None, [single, *re.split(r"[\s,]+", several)]):
                if declared in owners:
                    raise ValueError(f"{name} and {owners[declared]} both declare {declared}, and become one module")
                owners[declared] = name
                if export:
                    exported[name].add(declared)
        for wanted, other in IMPORT.findall(text):
            if other not in exported:
                add(other)
            missing = set(filter(None, re.split(r"[\s,]+", wanted))) - exported[other]
            if missing:
                raise ValueError(f"{name} imports {', '.join(sorted(missing))}, which {other} does not export")
        text = DATA.sub("", IMPORT.sub("", text))
        if unmatched := re.search(r"^import\b.*", text, re.MULTILINE):
            raise ValueError(f"{name} has an import in a form that is not joined here: {unmatched[0]}")
        joined.append(text if name == names[-1] else re.sub(r"^export ", "", text, flags=re.MULTILINE))

    for name in names:
        if name not in exported:
            add(name)
    data = [DATA.search(modules[name]) for name in exported]
    for known in sorted({found[1] for found in data if found}):
        used = set(re.findall(rf"\b{known}\.(\w+)", "".join(joined)))
        part = {key: value for key, value in shared().items() if key in used}
        joined.insert(0, f"const {known} = {json.dumps(part, separators=(',', ':'), ensure_ascii=False)};\n")
    return "\n".join(joined)


def _lighter(text: str) -> str:
    """Leave out what is for the readers of the files: comments without quotes, and indentation."""
    return INDENT.sub("", REMARK.sub("", COMMENT.sub("", text)))


def _closer(script: str) -> str:
    """Leave out the white space that a script does without; texts keep theirs."""
    parts: list[str] = [" "]
    braces: list[int] = []  # for each template that this is in: how many are open in its ${}; none in its text
    at = 0
    while at < len(script):
        last = parts[-1][-1]
        in_text = braces and not braces[-1]
        pattern = PATTERN.match(script, at) if last in "(,=:[!&|?{};>" and not in_text else None
        found = pattern or (TEMPLATE if in_text else TOKEN).match(script, at)
        token, at = found[0], found.end()  # type: ignore[index,union-attr]
        if in_text:
            braces[-1:] = [1] if token.endswith("${") else []
        elif token == "`":
            braces.append(0)
        elif token in "{}" and braces:
            braces[-1] += 1 if token == "{" else -1
        elif (
            token.startswith(("//", "/*"))
            or (token == "\n" and last in "{([,;")
            or (token == " " and not TOUCHING.match(last + script[at]))
        ):
            continue
        parts.append(token)
    return "".join(parts[1:])
