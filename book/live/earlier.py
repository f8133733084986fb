"""Which statements of the cells above a program builds on: those run before it, and nothing of them is shown.

`kernel.py` runs them in a page; `_ext/live_programs.py` reads from them which cells can run there at all.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable
from functools import cache

MAGIC = re.compile(r"\A\s*%%play\b(.*)$", re.MULTILINE)
DRAWING = {"plt", "figure", "axes"}  # what draws is left out: Matplotlib takes longer to load than all the rest
KEEPS = {
    "all",
    "any",
    "argmax",
    "argmin",
    "astype",
    "clip",
    "copy",
    "dot",
    "format",
    "index",
    "items",
    "join",
    "keys",
    "max",
}
KEEPS |= {
    "mean",
    "min",
    "numpy",
    "ravel",
    "read",
    "reshape",
    "round",
    "split",
    "std",
    "strip",
    "sum",
    "tolist",
    "values",
    "var",
}
"""Methods that leave their object as it was."""
LOOKS = {"print", "display", "check", "predict", "described"}  # functions that change nothing


def plain(source: str) -> str:
    r"""Return a cell without its magics, line by line what it was.

    Examples
    --------
    >>> plain("%%play --predict\nx = 1")
    '\nx = 1'
    """
    return re.sub(r"^%load_ext .*$", "", MAGIC.sub("", source, count=1), flags=re.MULTILINE)


def needed(above: list[ast.Module], program: ast.Module) -> list[ast.Module]:
    r"""Return of each cell above the statements that a program builds on, in their order and with their lines.

    A statement counts that binds or changes a name which the program, or a later statement that counts, uses. What it
    changes is judged by its text: assignments, also to an element or attribute, and calls of a method or of a function
    by itself, or of a method anywhere, such as `draw.normal()`; what sets a seed always counts.

    Examples
    --------
    >>> cells = [ast.parse(cell) for cell in ("a = 0", "a = 1\nb = 2\nprint(a)", "c = a + 1\nc += 1")]
    >>> [ast.unparse(cell) for cell in needed(cells, ast.parse("print(c)"))]
    ['', 'a = 1', 'c = a + 1\nc += 1']
    >>> cells = [ast.parse("def f():\n    return w"), ast.parse("w = 1")]
    >>> [ast.unparse(cell) for cell in needed(cells, ast.parse("f()"))]  # a function's names count when it is called
    ['def f():\n    return w', 'w = 1']
    >>> cells = [ast.parse("import random as r\nd = r.Random(0)\na = d.random()"), ast.parse("b = d.random()")]
    >>> [ast.unparse(cell) for cell in needed(cells, ast.parse("print(b)"))]  # to draw a changes what d draws next
    ['import random as r\nd = r.Random(0)\na = d.random()', 'b = d.random()']
    >>> cells = [ast.parse("w = 1\ndef f():\n    return w"), ast.parse("x = f()"), ast.parse("w = 2")]
    >>> [ast.unparse(cell) for cell in needed(cells, ast.parse("print(x)"))]  # f is called before w is bound anew
    ['w = 1\n\ndef f():\n    return w', 'x = f()', 'w = 2']
    """
    statements = [(ast.unparse(node), node) for cell in above for node in cell.body]
    own = parts(program)
    modules = frozenset[str]().union(*(bound(text) for text, node in statements if is_import(node)))
    drawings = list_drawings([node for _, node in statements] + program.body)
    draws = any(node in drawings for node in program.body)
    late: set[str] = set()  # what the functions that are kept will look up when they are called
    while True:
        wanted = used_by(own) | late
        kept: dict[ast.stmt, str] = {}
        for text, node in reversed(statements):
            if (changed(text, modules) & wanted or is_seed(node)) and (draws or node not in drawings):
                kept[node] = text
                wanted = wanted - (bound(text) - late) | used(text)
        looked_up = set().union(*(used_by_functions(text) for text in [*kept.values(), *own]))
        if looked_up <= late:
            return [ast.Module([node for node in cell.body if node in kept], []) for cell in above]
        late |= looked_up


def parts(tree: ast.Module) -> list[str]:
    """Return the statements of a cell, as text."""
    return [ast.unparse(node) for node in tree.body]


@cache
def used(statement: str) -> frozenset[str]:
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
    return used_by_functions(statement) | (here - own_of_comprehensions(tree))


def own_of_comprehensions(statement: ast.stmt) -> set[str]:
    """Return the names that only comprehensions bind and look up: since Python 3.12 no table keeps them apart."""
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp)
    inner = [node for node in ast.walk(statement) if isinstance(node, kinds)]
    places = [target for node in inner for part in node.generators for target in ast.walk(part.target)]
    inside = {node for each in inner for node in ast.walk(each)}
    outside = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and node not in inside}
    return {node.id for node in places if is_stored(node)} - outside


def used_by(statements: Iterable[str]) -> frozenset[str]:
    """Return the names that statements, one after the other, look up and do not bind before."""
    wanted: frozenset[str] = frozenset()
    for text in reversed(list(statements)):
        wanted = wanted - bound(text) | used(text)
    return wanted


@cache
def used_by_functions(statement: str) -> frozenset[str]:
    """Return the global names that the functions of a statement look up."""
    found: set[str] = set()
    tables = symtable.symtable(statement, "cell", "exec").get_children()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and is_used(symbol)}
    return frozenset(found)


@cache
def bound(statement: str) -> frozenset[str]:
    """Return the names that a statement binds whatever happens: what they were before does not matter after it."""
    (tree,) = ast.parse(statement).body
    match tree:
        case ast.Assign(targets=targets):
            return frozenset(node.id for target in targets for node in ast.walk(target) if is_stored(node))
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return frozenset({name})
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return frozenset(alias.asname or alias.name.split(".")[0] for alias in names)
        case ast.With(items=items, body=body):
            named = frozenset(node.id for item in items for node in ast.walk(item) if is_stored(node))
            return named.union(*(bound(ast.unparse(part)) for part in body))
    return frozenset()


@cache
def changed(statement: str, modules: frozenset[str]) -> frozenset[str]:
    """Return the names that a statement binds, and those whose objects it changes; no function of a module does."""
    (tree,) = ast.parse(statement).body
    if isinstance(tree, ast.FunctionDef | ast.ClassDef) or is_import(tree):
        return bound(statement)
    found = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                found.add(owner(node))
            case ast.Call(func=ast.Attribute() as method) if method.attr not in KEEPS and owner(method) not in modules:
                found.add(owner(method))
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=given)) if name not in LOOKS:
                found |= {owner(each) for each in given}
    for loop in ast.walk(tree):  # what changes an element changes that of which it is one
        if isinstance(loop, ast.For) and found & {node.id for node in ast.walk(loop.target) if is_stored(node)}:
            found |= {node.id for node in ast.walk(loop.iter) if isinstance(node, ast.Name)}
    return frozenset(found | {node.id for node in ast.walk(tree) if is_stored(node)}) - {"np", "ad", "plt", ""}


def list_drawings(statements: list[ast.stmt]) -> set[ast.stmt]:
    """Return the statements that draw: with Matplotlib, with what it made, or with a function that does."""
    found, drawing = set(), set(DRAWING)
    for node in statements:
        text = ast.unparse(node)
        is_function = isinstance(node, ast.FunctionDef)
        names = used(text) if is_function else {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if names & drawing:
            found.add(node)
        if is_function or isinstance(node, ast.Assign):
            drawing = drawing | bound(text) if node in found else (drawing - bound(text)) | DRAWING
    return found


def is_import(statement: ast.stmt) -> bool:
    """Return whether a statement imports names."""
    return isinstance(statement, ast.Import | ast.ImportFrom)


def is_seed(statement: ast.stmt) -> bool:
    """Return whether a statement starts random numbers anew, such as `ad.nn.seed(0)`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="seed"))):
            return True
    return False


def is_used(symbol: symtable.Symbol) -> bool:
    """Return whether a function looks a global name up; to count `runs += 1`, it does as well."""
    return symbol.is_referenced() or symbol.is_declared_global()


def is_stored(node: ast.AST) -> bool:
    """Return whether a node binds a name."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def owner(node: ast.AST) -> str:
    """Return the name that an attribute or element belongs to."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
