"""Where plain numbers go on in the user's code: by which names, from line to line of one function.

Nobody can follow a number that has left its tensor; but the code tells that `b` holds what `a` held after `b = 2 * a`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from ..text.places import Where, _position, _source

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SHAPES = {"shape", "ndim", "size", "dtype"}


def carriers(where: Where) -> frozenset[str]:
    """List the names that get the numbers of the expression at a place, at once or from one another."""
    code, offset = where
    return _carriers(_source(code.co_filename), _position(code, offset))


def names_used(where: Where) -> frozenset[str]:
    """List the names whose numbers go into the expression at a place."""
    code, offset = where
    return frozenset(_used([_spans(_source(code.co_filename)).get(_position(code, offset))]))


@lru_cache(maxsize=32)
def _parsed(source: str) -> ast.AST:
    try:
        return ast.parse(source)
    except SyntaxError:  # a cell with magics, or a file that changed underneath
        return ast.Module([], [])


@lru_cache(maxsize=32)
def _spans(source: str) -> dict[Any, ast.AST]:
    """Map positions to the outermost node that stands there."""
    nodes = [node for node in ast.walk(_parsed(source)) if hasattr(node, "lineno")]
    return {_span(node): node for node in reversed(nodes)}


@lru_cache(maxsize=4096)
def _carriers(source: str, position: Any) -> frozenset[str]:
    scope = tree = _parsed(source)
    for node in ast.walk(tree):
        if isinstance(node, SCOPES) and _holds(node, position):
            scope = node  # the innermost: ast.walk goes from the outside in
    assignments = [node for node in _within(scope) if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)]
    found = {name for node in assignments if _holds(node, position) for name in _targets(node)}
    before = -1
    while len(found) > before:
        before = len(found)
        for node in assignments:
            if not found.isdisjoint(_used([node.value])):
                found.update(_targets(node))
    return frozenset(found)


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """Walk through the statements of a function, and not of those inside it."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, SCOPES):
            yield node
            yield from _within(node)


def _targets(node: Any) -> set[str]:
    """List the names that an assignment gives a value, or writes into."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {part.id for target in targets for part in _base(target)}


def _base(target: Any) -> list[ast.Name]:
    match target:
        case ast.Name():
            return [target]
        case ast.Subscript(value=value) | ast.Starred(value=value):
            return _base(value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [name for part in parts for name in _base(part)]
    return []


def _used(nodes: Iterable[Any]) -> set[str]:
    """List the names in expressions, without those of which only the shape, a name or a decision is taken."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case None:
                pass
            case ast.Name(id=name):
                found.add(name)
            case ast.Attribute(attr=attribute) if attribute in SHAPES:
                pass
            case ast.Call(func=ast.Name(id="len")) | ast.Lambda():
                pass
            case ast.IfExp(body=body, orelse=other):
                found |= _used([body, other])
            case ast.Call(func=function, args=args, keywords=keywords):
                called = function.value if isinstance(function, ast.Attribute) else None
                found |= _used([called, *args, *(k.value for k in keywords if k.arg not in ("name", "dtype"))])
            case _:
                found |= _used(ast.iter_child_nodes(node))
    return found


def _span(node: Any) -> Any:
    at = getattr(node, "lineno", None)
    return (at, node.end_lineno, node.col_offset, node.end_col_offset) if at is not None else None


def _holds(node: Any, position: Any) -> bool:
    span = _span(node)
    if span is None or None in position:
        return False
    start, end = (span[0], span[2]), (span[1], span[3])
    return start <= (position[0], position[2]) and (position[1], position[3]) <= end
