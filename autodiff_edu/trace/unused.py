r"""Which values a program only prints or does not use at all, as its code says.

>>> code = ["def f(x):\n", "    large = x > 1\n", "    print(large)\n", "    return x if x > 2 else 1\n"]
>>> found = _find_unused(SourceCode("f.py", code))
>>> (2, 2, 12, 17) in found, (4, 4, 16, 21) in found
(True, False)
"""

from __future__ import annotations

import ast

from ..text.frames import Where
from ..text.places import position_of
from ..text.source_code import SourceCode, Span, source_of, span

WITHOUT_EFFECT = {"print", "float", "int", "bool", "str", "repr", "round", "len", "type", "numpy", "item", "tolist"}
"""Functions that keep nothing of what they are given; all of NumPy's count as such, too, but for those that write."""
WRITING = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
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
        inside, declared, attributes = list(ast.walk(function)), set[str](), set[ast.AST]()
        for node in inside:
            match node:
                case ast.ClassDef():
                    attributes.update(ast.walk(node))
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    declared.update(names)
        unused, known = set[ast.AST](printed), 0
        while len(unused) > known:  # what only an unused value uses is unused, too
            known = len(unused)
            loads = {node for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)} - unused
            used = declared | {node.id for node in loads}
            for node in inside if used.isdisjoint(BY_NAME) else ():
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                        name not in used and node not in attributes and _has_no_effect(value)
                    ):
                        unused.update(ast.walk(value))
                    case ast.Expr(value=ast.Compare() as value):
                        unused.update(ast.walk(value))
        found.update(map(span, unused))
    return found - {None}


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
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name)) if name not in WRITING:
                pass
            case ast.Call(func=ast.Attribute(attr=name)) if name in WITHOUT_EFFECT:
                pass
            case ast.Call() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return False
    return True
