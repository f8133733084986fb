"""The statements of the user's code: which one a line belongs to, and where an expression is in its code."""

from __future__ import annotations

import ast
import os
from functools import lru_cache
from os.path import abspath, dirname
from types import CodeType
from typing import Any

import numpy as np

from .frames import OURS, Where, is_ours
from .places import positions_of
from .source_code import SourceCode, source_of, span

_LIBRARIES = (
    dirname(abspath(os.__file__)) + os.sep,
    dirname(abspath(ast.__file__)) + os.sep,  # in a page, most of the library is in a zip, and os.py is not
    dirname(dirname(abspath(np.__file__))) + os.sep,
    "<frozen ",
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


class _IsTheirs(dict[str, bool]):
    """Remembers whether a file is the user's own: not this package, Python's library or an installed package."""

    def __missing__(self, path: str) -> bool:
        library = path.startswith(_LIBRARIES) or any(part in path for part in _INSTALLED)
        self[path] = not (library or is_ours[path])
        return self[path]


is_theirs = _IsTheirs()


def pass_over(path: str) -> None:
    """Take a file, or those of a folder, for ours: what they compute is computed for the code that calls them."""
    if (prefix := path if path.endswith(".py") else path + os.sep) not in OURS:
        OURS.append(prefix)
        is_ours.clear()


def statements(path: str) -> dict[int, list[ast.stmt]]:
    """Map each line of a file to the statements it belongs to; empty if the source is unknown.

    A line belongs to the innermost statement that it is part of, or to several side by side: `a = 1; b = 2`. If a block
    follows on the line of its colon, as in `if a: b = 2`, the line belongs to none: it is impossible to see which part
    has run. In `if a: continue` it belongs to the `if`, because the next line shows that.
    """
    return source_of(path).read(_statements)


def _statements(source: SourceCode) -> dict[int, list[ast.stmt]]:
    found: dict[int, list[ast.stmt]] = {}

    def visit(node: ast.AST, above: Any) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(node, ast.match_case) and isinstance(child, ast.stmt) and child.lineno == end_of_head(node):
                continue  # behind the colon of a case, whose line is run to try the pattern or the guard
            if isinstance(child, ast.stmt):
                together = found.get(child.lineno, [])
                beside = together if together and together[-1] is not above else []
                for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                    found[line] = [child]
                found[child.lineno] = [*beside, child]
                if child.lineno <= (end := end_of_head(above)):
                    for line in range(above.lineno, end + 1):
                        found[line] = [above] if jumps_at_once(above) else []
            visit(child, child if isinstance(child, ast.stmt) else above)

    visit(source.tree, source.tree)
    return found


def end_of_head(node: Any) -> int:
    """Return the last line of what precedes the colon of a statement with a block, or of a case; 0 for a module."""
    if isinstance(node, ast.match_case):
        return (node.guard or node.pattern).end_lineno or 0
    head = getattr(node, "test", getattr(node, "iter", None))
    return getattr(node, "lineno", 0) if head is None else head.end_lineno


def jumps_at_once(statement: ast.AST) -> bool:
    """Return whether a statement is an `if` with a `continue` or a `break` on its line."""
    match statement:
        case ast.If(body=[ast.Continue() | ast.Break() as jump]):
            return jump.lineno <= end_of_head(statement)
    return False


def where_is(code: CodeType, node: ast.expr | ast.stmt) -> Where:
    """Return the place of an expression, or of the line on which it begins."""
    known = _offsets(code)
    return code, known.get(span(node), known.get(node.lineno, 0))


@lru_cache(maxsize=256)
def _offsets(code: CodeType) -> dict[Any, int]:
    """Map the position of every expression, and every line, to the first offset with it."""
    found: dict[Any, int] = {}
    for index, position in enumerate(positions_of(code)):
        found.setdefault(position, 2 * index)
        found.setdefault(position[0], 2 * index)
    return found


def written_as(node: ast.AST, longest: int = 60) -> str:
    """Write an expression on one line; return an empty text if it would be too long to read aloud."""
    text = ast.unparse(node)
    return text if len(text) <= longest and "\n" not in text else ""


def names_assigned(statement: ast.stmt) -> list[str]:
    """List the plain names that a statement assigns to, in order.

    >>> names_assigned(ast.parse("a, (b, c[0]) = d = f()").body[0])
    ['a', 'b', 'd']
    """
    match statement:
        case ast.Assign(targets=targets):
            return [name for target in targets for name in _names(target)]
        case ast.AnnAssign(value=None):
            return []
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
            return _names(target)
    return []


def _names(target: ast.expr) -> list[str]:
    match target:
        case ast.Name(id=name):
            return [name]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [name for part in parts for name in _names(part)]
        case ast.Starred(value=value):
            return _names(value)
    return []
