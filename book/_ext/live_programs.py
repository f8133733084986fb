"""What the live pages run: for each cell with a player or an exercise, its program and what that needs from before."""

from __future__ import annotations

import ast
import inspect
import re
import symtable
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad

sys.path.insert(0, str(Path(__file__).parents[1] / "live"))
from kernel import plain, values

PLAYER, TRAINS = "data-autodiff-player", "data-autodiff-train"
ALWAYS = ("import numpy as np", "import autodiff_edu as ad", "from autodiff_edu.course import check")
DRAWING = {"plt", "figure", "axes"}  # what draws is left out: Matplotlib takes longer to load than all the rest
STORED = {"torch", "jax"}  # what no page can load: a player that needs one of them stays the stored run
ASKED = re.compile(r"""^predict\(\s*["']([\w.]+)["']""", re.MULTILINE)
DATA = re.compile(r"""["'](data/[\w.-]+)["']""")


def programs(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the programs of a chapter that a reader can change, in order.

    Each has the number of its cell among the cells with code and that cell's id, a kind ("play", "check" or "train"),
    the setup, the source, the values that get a field, and the data files that it reads.
    """
    cells = code_cells(notebook)
    found = []
    for number, cell in enumerate(cells):
        kind = kind_of(cell)
        if kind is not None:
            source = "".join(cell["source"])
            # An answer may use what its solution uses.
            asked = source if kind != "check" else f"{source}\n\n{''.join(cells[number + 1]['source'])}"
            before = needed(["".join(earlier["source"]) for earlier in cells[:number] if is_run(earlier)], asked)
            before = [part for part in before if not part.startswith(ALWAYS)]
            if kind == "play" and any(bound(part) & STORED for part in [*before, *parts(source)] if imports(part)):
                continue
            if kind == "play" and not re.search(r"\b(def|with|lambda)\b", source):  # the program is in an earlier cell
                source = f"{spaced(part for part in before if not imports(part))}\n\n{source}"
                before = [part for part in before if imports(part)]
            setup = spaced([*ALWAYS, *before])
            fields = values(source) if kind == "play" else []
            files = sorted(set(DATA.findall(setup + source)))
            place = {"cell": number, "id": cell["id"], "kind": kind}
            found.append({**place, "setup": setup, "source": source, "values": fields, "files": files})
    return found


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells with code, which are those that a page shows."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]


def predictions(notebook: dict[str, Any]) -> dict[int, str]:
    """Return the predictions of a chapter, such as "1.a", by the numbers of their cells among the cells with code."""
    asked = (ASKED.search("".join(cell["source"])) for cell in code_cells(notebook))
    return {number: found[1] for number, found in enumerate(asked) if found}


def kind_of(cell: dict[str, Any]) -> str | None:
    """Return whether a cell is played, checked or trains, or none of these."""
    tags = cell["metadata"].get("tags", ())
    if "exercise" in tags:
        return "check"
    if "solution" in tags:
        return None
    shown = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])
    return "play" if PLAYER in shown else "train" if TRAINS in shown else None


def is_run(cell: dict[str, Any]) -> bool:
    """Return whether later cells may build on a cell; an exercise's three dots and its solution are the reader's."""
    return not {"exercise", "solution"} & set(cell["metadata"].get("tags", ()))


def imports(statement: str) -> bool:
    """Return whether a statement is an import."""
    return statement.startswith(("import ", "from "))


def spaced(statements: Any) -> str:
    """Join statements, with an empty line around those that have several lines, and two around a function."""
    statements = list(statements)
    text = statements[0] if statements else ""
    for last, statement in pairwise(statements):
        functions = last.startswith(("def ", "@")) or statement.startswith(("def ", "@"))
        text += "\n\n\n" if functions else "\n\n" if "\n" in last + statement else "\n"
        text += statement
    return text


def needed(before: list[str], source: str) -> list[str]:
    r"""Return the statements of earlier cells that a program builds on, in their order.

    A statement counts that binds or changes a name which the program, or a later statement that counts, uses. What it
    changes is judged by its text: assignments, also to an element or attribute, and calls of a method.

    Examples
    --------
    >>> needed(["a = 0", "a = 1\nb = 2\nprint(a)", "c = a + 1\nc += 1"], "print(c)")
    ['a = 1', 'c = a + 1', 'c += 1']
    >>> needed(["def f():\n    return w", "w = 1"], "f()")  # a function needs its names when it is called
    ['def f():\n    return w', 'w = 1']
    """
    statements = [part for cell in before for part in parts(cell)]
    program = parts(source)
    draws = any(used(text) & DRAWING for text in program)
    late: set[str] = set()  # what the functions that are kept will look up when they are called
    while True:
        wanted = set(late)
        wanted |= used_by(program)
        kept: list[str] = []
        for text in reversed(statements):
            if changed(text) & wanted and (draws or not used(text) & DRAWING):
                kept.append(text)
                wanted = wanted - bound(text) | used(text)
        looked_up = set().union(*(used_by_functions(text) for text in [*kept, *program]))
        if looked_up <= late:
            return kept[::-1]
        late |= looked_up


def parts(cell: str) -> list[str]:
    """Return the statements of a cell, as text."""
    text = plain(cell)
    lines = text.splitlines()
    found = []
    for statement in ast.parse(text).body:
        first = min([statement.lineno, *(mark.lineno for mark in getattr(statement, "decorator_list", ()))])
        found.append("\n".join(lines[first - 1 : statement.end_lineno]))
    return found


def used(statement: str) -> set[str]:
    """Return the names that a statement looks up as it runs, and does not bind before."""
    (tree,) = ast.parse(statement).body
    match tree:
        case ast.For(target=target, iter=source, body=body, orelse=after):
            own = {node.id for node in ast.walk(target) if is_stored(node)}
            return used(ast.unparse(source)) | (used_by([ast.unparse(part) for part in [*body, *after]]) - own)
        case ast.With(items=items, body=body):
            managers = [ast.unparse(item.context_expr) for item in items]
            own = {node.id for item in items for node in ast.walk(item) if is_stored(node)}
            return used_by(managers) | (used_by([ast.unparse(part) for part in body]) - own)
    table = symtable.symtable(statement, "cell", "exec")
    here = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    return here | used_by_functions(statement)


def used_by(statements: list[str]) -> set[str]:
    """Return the names that statements, one after the other, look up and do not bind before."""
    wanted: set[str] = set()
    for text in reversed(statements):
        wanted = wanted - bound(text) | used(text)
    return wanted


def used_by_functions(statement: str) -> set[str]:
    """Return the global names that the functions of a statement look up."""
    found: set[str] = set()
    tables = symtable.symtable(statement, "cell", "exec").get_children()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return found


def bound(statement: str) -> set[str]:
    """Return the names that a statement binds whatever happens: what they were before does not matter after it."""
    (tree,) = ast.parse(statement).body
    match tree:
        case ast.Assign(targets=targets):
            return {node.id for target in targets for node in ast.walk(target) if is_stored(node)}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name.split(".")[0] for alias in names}
        case ast.With(items=items, body=body):
            named = {node.id for item in items for node in ast.walk(item) if is_stored(node)}
            return named.union(*(bound(ast.unparse(part)) for part in body))
    return set()


def changed(statement: str) -> set[str]:
    """Return the names that a statement binds, and those whose objects it changes."""
    (tree,) = ast.parse(statement).body
    if isinstance(tree, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return bound(statement)
    found = {node.id for node in ast.walk(tree) if is_stored(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                found.add(owner(node))
            case ast.Expr(value=ast.Call(func=ast.Attribute() as method)):
                found.add(owner(method))
    return found - {"np", "ad", "plt", ""}


def names() -> dict[str, list[tuple[str, ...]]]:
    """Return what an editor can complete after a module's dot: each name, its kind, and of ours what it does."""
    modules = {"ad": ad, "ad.nn": ad.nn, "np": np, "np.linalg": np.linalg, "np.random": np.random}
    found: dict[str, list[tuple[str, ...]]] = {}
    for prefix, module in modules.items():
        found[prefix] = []
        for name in sorted(module.__all__, key=str.lower):
            each = getattr(module, name)
            if name[0] == "_" or (inspect.ismodule(each) and f"{prefix}.{name}" not in modules):
                continue
            kind = "class" if inspect.isclass(each) else "function" if callable(each) else "constant"
            does = (inspect.getdoc(each) or "").partition("\n")[0].replace("`", "") if prefix[:2] == "ad" else ""
            found[prefix].append((name, kind, does) if does else (name, kind))
    return found


def is_stored(node: ast.AST) -> bool:
    """Return whether a node binds a name."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def owner(node: ast.AST) -> str:
    """Return the name that an attribute or element belongs to."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
