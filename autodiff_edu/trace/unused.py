r"""Which values a program only prints or does not use at all, as its code says.

>>> code = ["def f(x):\n", "    large = x > 1\n", "    print(large)\n", "    return x if x > 2 else 1\n"]
>>> found = _find_unused(SourceCode("f.py", code))
>>> (2, 2, 12, 17) in found, (4, 4, 16, 21) in found
(True, False)
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

import numpy as np

from ..text.frames import Where
from ..text.places import position_of
from ..text.source_code import SourceCode, Span, source_of, span

WITHOUT_EFFECT = {"print", "float", "int", "bool", "str", "repr", "round", "len", "type"}
METHODS_WITHOUT_EFFECT = {"numpy", "item", "tolist"}
"""Functions and methods that keep nothing of what they are given; so do all of NumPy's, but for these."""
WITH_EFFECT = {
    "apply_along_axis", "apply_over_axes", "copyto", "fill_diagonal", "fromfunction", "frompyfunc", "piecewise",
    "place", "put", "put_along_axis", "putmask", "vectorize",
}  # fmt: skip
BY_NAME = {"eval", "exec", "locals", "vars"}
"""Functions that find a value by its name, which no `ast.Name` mentions."""


def is_unused(where: Where) -> bool:
    """Return whether the value of an expression is certainly only printed, or not used at all."""
    return position_of(*where) in source_of(where[0].co_filename).read(_find_unused)


def _find_unused(source: SourceCode) -> set[Span | None]:
    """Return the positions of what is only printed, or only given a name that nothing but a `print` uses."""
    prints = [node for node in source.nodes if isinstance(node, ast.Expr) and _is_print(node.value)]
    printed = {part for node in prints for part in ast.walk(node)}
    found = {span(part) for part in printed}
    for function in (node for node in source.nodes if isinstance(node, ast.FunctionDef)):  # a cell's names are global
        inside, kept = list(ast.walk(function)), set[ast.AST]()
        uses = Counter(part.id for part in _list_loads(inside) if part not in printed)
        for node in inside:
            match node:
                case ast.ClassDef() | ast.Try():  # whose names are attributes; whose values may raise what is caught
                    kept.update(ast.walk(node))
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    uses.update(names)
        if not BY_NAME.isdisjoint(uses):
            continue
        kept |= printed
        left = [node for node in inside if isinstance(node, ast.Assign | ast.Expr) and node not in kept]
        left = sorted((node for node in left if _has_no_effect(node.value)), key=lambda node: -node.lineno)
        known = -1
        while len(left) != known:  # what only an unused value uses is unused, too
            known = len(left)
            for node in left[:]:
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)]) if not uses[name]:
                        pass
                    case ast.Expr(value=ast.Compare()):
                        pass
                    case _:
                        continue
                left.remove(node)
                found.update(map(span, ast.walk(node.value)))
                uses.subtract(part.id for part in _list_loads(ast.walk(node.value)))
    return found - {None}


def _list_loads(nodes: Iterable[ast.AST]) -> list[ast.Name]:
    return [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]


def _is_print(node: ast.expr) -> bool:
    is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    return is_print and _has_no_effect(node)


def _has_no_effect(tree: ast.expr) -> bool:
    """Return whether an expression has no effect but its value, and what it prints."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="file" | "out" | None):
                return False
            case ast.Call(func=ast.Name(id=name)) if name in WITHOUT_EFFECT:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name), args=args) if (
                name not in WITH_EFFECT and len(args) <= getattr(getattr(np, name, None), "nin", len(args))
            ):
                pass  # with more of them, the last is an array to write into
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS_WITHOUT_EFFECT:
                pass
            case ast.Call() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return False
    return True
