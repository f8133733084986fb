"""Where plain numbers go in the user's code: under which names, from line to line of one function.

A number that has left its tensor cannot be followed; but after `b = 2 * a` the code shows that `b` depends on `a`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from ..text.frames import Where
from ..text.places import position_of
from ..text.source_code import SourceCode, Span, is_inside, source_of, span

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SHAPES = {"shape", "ndim", "size", "dtype"}
FILLING = {"append", "extend", "insert", "add", "appendleft", "setdefault", "update", "put"}
"""The methods that store their argument in a list, a set, a dict or a queue."""


def carriers(where: Where) -> frozenset[str]:
    """List the names that get the numbers of the expression at a place, directly or through other names."""
    return source_of(where[0].co_filename).read(_carriers, position_of(*where))


def receivers(where: Where, functions: frozenset[str]) -> frozenset[str]:
    """List the names around a place, in its function, that get what some functions return, such as `f()`."""
    return source_of(where[0].co_filename).read(_receivers, position_of(*where), functions)


def names_used(where: Where) -> frozenset[str]:
    """List the names whose numbers go into the expression at a place."""
    return frozenset(_find_names([source_of(where[0].co_filename).node_at.get(position_of(*where))]))


def decides(where: Where) -> bool:
    """Return whether the expression at a place is in the condition of an `if`, a `while` or an `x if c else y`."""
    return source_of(where[0].co_filename).read(_decides, position_of(*where))


def _decides(source: SourceCode, position: Span) -> bool:
    conditional = (ast.If, ast.While, ast.IfExp)
    return any(isinstance(node, conditional) and _holds(node.test, position) for node in source.nodes)


def _carriers(source: SourceCode, position: Span) -> frozenset[str]:
    scope = source.read(_scope, position)
    handed = [pair for node in _within(scope) for pair in _iterate_bindings(node, scope)]
    found = {name for value, names in handed if _holds(value, position) for name in names}
    return _spread(found, handed)


def _receivers(source: SourceCode, position: Span, functions: frozenset[str]) -> frozenset[str]:
    scope = source.read(_scope, position)
    return _spread(set(functions), [pair for node in _within(scope) for pair in _iterate_bindings(node, scope)])


def _spread(found: set[str], handed: list[tuple[Any, set[str]]]) -> frozenset[str]:
    """Extend some names by those that get their numbers, directly or through other names."""
    before = -1
    while len(found) > before:
        before = len(found)
        for value, names in handed:
            if not found.isdisjoint(_find_names([value])):
                found.update(names)
    return frozenset(found)


def _iterate_bindings(node: Any, scope: Any) -> Iterator[tuple[Any, set[str]]]:
    """Yield each expression of a node with the names that get its value; `f()` stands for what `f` returns."""
    match node:
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            yield node.value, _targets(node)
        case ast.NamedExpr(target=target, value=value):
            yield value, {target.id}
        case (
            ast.For(target=target, iter=value)
            | ast.AsyncFor(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
        ):
            yield value, _names([target])
        case ast.Return(value=value) if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            yield value, {f"{scope.name}()"}
        case ast.Call(func=ast.Attribute(value=kept, attr=method), args=args) if method in FILLING:
            for value in args:
                yield value, _names([kept])


def _scope(source: SourceCode, position: Span) -> ast.AST:
    scope: ast.AST = source.tree
    for node in source.nodes:
        if isinstance(node, SCOPES) and _holds(node, position):
            scope = node  # the innermost, because ast.walk goes from the outside in
    return scope


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """Walk through the statements of a function, but not of functions inside it."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, SCOPES):
            yield node
            yield from _within(node)


def _targets(node: Any) -> set[str]:
    """List the names that an assignment gives a value, or writes into."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return _names(targets)


def _names(targets: Any) -> set[str]:
    """List the names that targets write to; an attribute counts under its own name, whatever its object."""
    found: set[str] = set()
    for target in targets:
        match target:
            case ast.Name(id=name):
                found.add(name)
            case ast.Attribute(attr=attribute):
                found.add(f".{attribute}")
            case ast.Subscript(value=value) | ast.Starred(value=value):
                found |= _names([value])
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                found |= _names(parts)
    return found


def _find_names(nodes: Iterable[Any]) -> set[str]:
    """List the names in expressions, except those used only for a shape, a name or a decision."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case None:
                pass
            case ast.Name(id=name):
                found.add(name)
            case ast.Attribute(attr=attribute) if attribute in SHAPES:
                pass
            case ast.Attribute(value=value, attr=attribute):
                found |= {f".{attribute}"} | _find_names([value])
            case ast.Call(func=ast.Name(id="len")) | ast.Lambda():
                pass
            case ast.IfExp(body=body, orelse=other):
                found |= _find_names([body, other])
            case ast.Call(func=function, args=args, keywords=keywords):
                called = function.value if isinstance(function, ast.Attribute) else None
                found.add(f"{getattr(function, 'attr', getattr(function, 'id', ''))}()")
                found |= _find_names([called, *args, *(k.value for k in keywords if k.arg not in ("name", "dtype"))])
            case _:
                found |= _find_names(ast.iter_child_nodes(node))
    return found


def _holds(node: Any, position: Span) -> bool:
    outer = span(node)
    return outer is not None and is_inside(position, outer)
