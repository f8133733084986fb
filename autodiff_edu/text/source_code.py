"""The source code of a file or a cell: its lines, its parts, and what was read from them, each worked out once."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar, TypeVarTuple

Result = TypeVar("Result")
Details = TypeVarTuple("Details")

Span = tuple[int, int | None, int | None, int | None]  # the first and the last line, the first and the last column

MOST = 256  # a notebook adds one for each cell that runs


class SourceCode:
    """The lines of a file or a cell (none if it is unknown), and what was read from them."""

    def __init__(self, path: str, lines: list[str]) -> None:
        self.path, self.lines = path, lines
        self._known: dict[tuple[Any, ...], Any] = {}

    @cached_property
    def tree(self) -> ast.Module:
        """The module that Python parses; it is empty if this is not Python."""
        return ast.Module(parse("".join(self.lines)), [])

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, from the outside in."""
        return list(ast.walk(self.tree))

    @cached_property
    def node_at(self) -> dict[Span | None, ast.AST]:
        """The outermost node at each position."""
        return {span(node): node for node in reversed(self.nodes)}

    def read(self, reader: Callable[[SourceCode, *Details], Result], *details: *Details) -> Result:
        """Return `reader(self, *details)`, computed only the first time."""
        if (key := (reader, details)) not in self._known:
            self._known[key] = reader(self, *details)
        found: Result = self._known[key]
        return found


_sources: dict[str, SourceCode] = {}


def source_of(path: str) -> SourceCode:
    """Return the source code of a file or a cell, by Python's name for it."""
    lines, known = linecache.getlines(path), _sources.get(path)
    if known is None or (known.lines is not lines and known.lines != lines):
        if len(_sources) >= MOST:
            with suppress(KeyError, RuntimeError, StopIteration):  # another thread may be doing the same
                del _sources[next(iter(_sources))]
        known = _sources[path] = SourceCode(path, lines)
    return known


def span(node: Any) -> Span | None:
    """Return where a node begins and ends; None for one without a position, such as `ast.Load`."""
    at = getattr(node, "lineno", None)
    return None if at is None else (at, node.end_lineno, node.col_offset, node.end_col_offset)


def is_inside(inner: Span, outer: Span) -> bool:
    """Return whether a span lies within another, or is the same; False unless the columns of both are known."""
    if None in inner or None in outer:
        return False
    return (outer[0], outer[2]) <= (inner[0], inner[2]) and (inner[1], inner[3]) <= (outer[1], outer[3])


def parse(text: str | bytes) -> list[ast.stmt]:
    """Parse statements; return an empty list if they are not Python: a cell with magics, or a file edited since."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError):
        return []


def parse_expression(text: str) -> ast.expr | None:
    """Parse an expression; return None for any other text, such as a statement or the numbers of an array."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
