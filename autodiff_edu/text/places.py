"""Places in the user's code, and what things are called there.

A code object and an offset become "cell 3, line 2" or "fit.py, line 9", the columns of the expression, and the names
written in it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from os.path import basename
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from .frames import Where, modules_in
from .ipython import find_shell
from .source_code import SourceCode, Span, parse, source_of, span


class Place(NamedTuple):
    """A place in the user's code.

    `file` is the name shown to the reader, `path` Python's name for it; `line` counts from 1; `columns` are the
    first and last character of the expression within that line, or None where it spans several or is not known.
    """

    file: str
    path: str
    line: int
    columns: tuple[int, int] | None

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"

    @property
    def text(self) -> str:
        """The expression as the user wrote it; empty where `columns` is None."""
        line = "".join(source_of(self.path).lines[self.line - 1 : self.line])
        return line[slice(*self.columns)] if self.columns else ""


class Names(NamedTuple):
    """The names in the user's code for the result and the arguments of an expression; None where it has no name.

    `literal` says for each argument whether the code writes it out as numbers (`2.0`, `[1, 2]`); `texts` has that code,
    and that of a comparison (`mask == 1`).
    `function` is the name of the operation that the called function computes, if it says so: `sum` for
    `tf.reduce_sum`. `last` is the name of the last operation, where it takes several: `exp` for `tf.nn.sigmoid`.
    `paths` has the arguments that are parts of something with a name: `ws[0]`, `layer.w`.
    `sign` is the sign of a comparison, such as `<`, or empty.
    """

    result: str | None = None
    arguments: tuple[str | None, ...] = ()
    function: str | None = None
    literal: tuple[bool, ...] = ()
    texts: tuple[str | None, ...] = ()
    last: str | None = None
    paths: tuple[str | None, ...] = ()
    sign: str = ""

    def exchange_sides(self) -> Names:
        """Return the names with the two sides exchanged: of `x < 1` for `1 > x`."""
        sides = {part: getattr(self, part)[::-1] for part in ("arguments", "literal", "texts", "paths")}
        return self._replace(sign=EXCHANGED[self.sign], **sides)


EXCHANGED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The sign of a comparison whose sides have been exchanged."""
_SIGNS = {ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">="}
NO_NAMES = Names()


def call_from(where: Where, function: Callable[[], Any]) -> Any:
    """Call a function as if from the expression at a place: what it does outside the user's code happens there."""
    line, end_line, start, end = position_of(*where)
    call = ast.Call(ast.Name("function", ast.Load()), [], [])
    for node in (call, call.func):
        node.lineno, node.end_lineno = line, end_line or line
        node.col_offset, node.end_col_offset = start or 0, end or 0
    return eval(compile(ast.Expression(call), where[0].co_filename, "eval"), {"function": function})


def place(where: Where) -> Place:
    """Turn a code object and an offset into a file, a line and columns."""
    code, offset = where
    line, end_line, start, end = position_of(code, offset)
    columns = None
    if start is not None and end is not None and line == end_line:
        text = "".join(source_of(code.co_filename).lines[line - 1 : line]).encode()
        columns = (len(text[:start].decode(errors="replace")), len(text[:end].decode(errors="replace")))
    return Place(_label(code.co_filename), code.co_filename, line, columns)


def names(where: Where) -> Names:
    """Read the names around an expression in the user's source."""
    return source_of(where[0].co_filename).read(_expressions).get(position_of(*where), NO_NAMES)


def name_in_with(where: Where) -> str | None:
    """Return the name that a `with` line gives its block: tape, in `with GradientTape() as tape` or `with tape`."""
    code, offset = where
    named = source_of(code.co_filename).read(_blocks)
    # up to Python 3.11 the call of __enter__ has the place of the whole block; the instruction before it has the item's
    return named.get(position_of(code, offset)) or named.get(position_of(code, offset - 2))


def list_second_names(where: Where) -> frozenset[str]:
    """List the second names that the function around a place assigns: y, in `y = x`."""
    line = position_of(*where)[0]
    scopes = source_of(where[0].co_filename).read(_find_second_names)
    return next((names for first, last, names in reversed(scopes) if first <= line <= last), frozenset())


def find_first_name(where: Where, name: str) -> str:
    """Return the name that a second name at a place stands for: z, after `y = z`; the name itself if unclear."""
    if name not in list_second_names(where):
        return name
    line, _, column, _ = position_of(*where)
    while statement := find_assignment(where[0], name, (line, column or 0)):
        value = next((value for target, value in list_assigned(statement) if target.id == name), None)
        if not isinstance(value, ast.Name):
            break
        name, line, column = value.id, statement.lineno, statement.col_offset
    return name


def find_assignment(code: CodeType, name: str, place: tuple[int, int]) -> ast.stmt | None:
    """Find the last statement before a place of a function, or of a cell, that assigns a name; None if that is unclear.

    It is clear if the statement runs before the place, whichever path the code in between takes.
    """
    source = source_of(code.co_filename)
    functions = [node for node in source.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    around = [node.body for node in functions if _compare_place(node, place) == 0] or [source.tree.body]
    found = _find_last_assigning(around[-1], name, place)
    return found if isinstance(found, ast.stmt) else None


def written(where: Where) -> tuple[str, str | None, list[ast.expr]] | None:
    """Return an expression as the user wrote it, the function it calls, if any, and its arguments, from the source."""
    node = expression(where)
    function, arguments = _read(node, source_of(where[0].co_filename).read(_modules_of))
    return None if node is None or arguments is None else (ast.unparse(node), function, arguments)


def excerpt(path: str, codes: set[CodeType], lines: set[int]) -> list[tuple[int, list[str]]]:
    """Return the parts of a file that a reader needs to follow `lines`.

    A notebook cell is returned from its first line that is not blank; of a file, the functions involved, and two lines
    around any line outside them.
    """
    source = source_of(path).lines
    if not source:
        return []
    if is_cell(path):
        first = next((number for number, text in enumerate(source, 1) if text.strip()), 1)
        wanted = set(range(first, len(source) + 1))
    else:
        wanted = set()
        for code in codes:
            first = code.co_firstlineno
            if code.co_name != "<module>":
                wanted |= set(range(first, first + len(inspect.getblock(source[first - 1 :]))))
        for line in lines - wanted:
            wanted |= set(range(max(1, line - 2), min(len(source), line + 2) + 1))
    parts: list[tuple[int, list[str]]] = []
    for number in sorted(wanted):
        if parts and number == parts[-1][0] + len(parts[-1][1]):
            parts[-1][1].append(source[number - 1].rstrip())
        else:
            parts.append((number, [source[number - 1].rstrip()]))
    return parts


def expression(where: Where) -> ast.AST | None:
    """Parse the expression at a place, or a statement such as `x -= y`, if its source is known."""
    code, offset = where
    line, end_line, start, end = position_of(code, offset)
    lines = [text.encode() for text in source_of(code.co_filename).lines[line - 1 : end_line]]
    if not lines or start is None:
        return None
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    match parse(b"".join(lines)):
        case [ast.Expr(value=node)] | [node]:
            return node
    return None


def position_of(code: CodeType, offset: int) -> Span:
    """Return the first and last line and column of an expression, as far as they are known."""
    known = positions_of(code)
    line, end, column, end_column = known[offset // 2] if offset // 2 < len(known) else (None, None, None, None)
    return code.co_firstlineno if line is None else line, end, column, end_column


@lru_cache(maxsize=256)
def positions_of(code: CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    """Return the positions of all instructions of a code object, in their order."""
    return list(code.co_positions())


def is_cell(path: str) -> bool:
    """Return whether this is Python's name for a cell or for other code without a file."""
    return _label(path) != basename(path)


def list_cells() -> list[str]:
    """List the cells of this notebook that have run, by Python's names for them."""
    if find_shell() is None:  # a page of the book runs each cell by itself
        return []
    return [path for path in list(linecache.cache) if _label(path).startswith("cell ")]


def _label(path: str) -> str:
    """Name a file the same way on every machine and in every kernel."""
    if (ipython := find_shell()) is not None:
        known = ipython.compile.format_code_name(path)
        if known is not None and known[0] == "Cell":
            return str(known[1]).replace("In[", "cell ").rstrip("]")
    if path.startswith("<cell "):  # the book's pages name a cell as a notebook does
        return path.strip("<>")
    # "<doctest name[3]>" and similar names are not files
    return (path.strip("<>").split() or ["code"])[0] if path.startswith("<") else basename(path)


def _blocks(source: SourceCode) -> dict[Span | None, str]:
    """Map the position of the expression that opens a `with` block to the block's name."""
    items = [item for node in source.nodes if isinstance(node, ast.With) for item in node.items]
    called = [(item.context_expr, item.optional_vars or item.context_expr) for item in items]
    return {span(opening): ast.unparse(name) for opening, name in called if isinstance(name, ast.Name | ast.Attribute)}


def _find_second_names(source: SourceCode) -> list[tuple[int, int, frozenset[str]]]:
    """Map the functions of a source, by their first lines, to the second names that each assigns."""
    found = []
    for scope in source.nodes:
        if isinstance(scope, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            first, last = (1, sys.maxsize) if isinstance(scope, ast.Module) else (scope.lineno, scope.end_lineno or 0)
            names, waiting = set[str](), list[ast.AST](scope.body)
            while waiting:
                node = waiting.pop()
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    names |= {name.id for name, value in list_assigned(node) if isinstance(value, ast.Name)}
                    waiting += ast.iter_child_nodes(node)
            found.append((first, last, frozenset(names)))
    return sorted(found, key=lambda scope: scope[0])


def list_assigned(node: ast.AST) -> Iterator[tuple[ast.Name, ast.expr]]:
    """List the names that a statement assigns, each with its expression; also those of `a, b = c, d`."""
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) or node.value is None:
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        else:
            pairs = [(target, node.value)]
        yield from ((name, value) for name, value in pairs if isinstance(name, ast.Name))


def _compare_place(node: ast.stmt, place: tuple[int, int]) -> int:
    """Return whether a statement is over before a place (-1), contains it (0) or begins after it (1)."""
    if (node.lineno, node.col_offset) > place:
        return 1
    return -1 if (node.end_lineno or 0, node.end_col_offset or 0) <= place else 0


def _find_last_assigning(body: list[ast.stmt], name: str, place: tuple[int, int]) -> ast.stmt | bool | None:
    """Find the last statement before a place that assigns a name; False if that depends on the path the code takes."""
    for statement in reversed(body):
        order = _compare_place(statement, place)
        assigned = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _is_stored(node)]
        if order == 1 or name not in assigned:
            continue
        if order == -1:
            return statement if isinstance(statement, ast.Assign | ast.AnnAssign) else False
        for _, block in ast.iter_fields(statement):
            inside = block if isinstance(block, list) and block and isinstance(block[0], ast.stmt) else []
            if (found := _find_last_assigning(inside, name, place)) is not None:
                return found
        if hasattr(statement, "body") and not isinstance(statement, ast.With | ast.AsyncWith):
            return False  # an earlier turn of a loop, or another branch
    return None


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _expressions(source: SourceCode) -> dict[Span | None, Names]:
    """Map the position of every expression in a source to the names around it."""
    results: dict[ast.AST, str] = {}
    found: dict[Span | None, Names] = {}
    modules = source.read(_modules_of)
    for node in source.nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                if value is not None:
                    results[value] = name
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                results[value] = name
        function, arguments = _read(node, modules)
        if arguments is not None:
            result = results.get(node)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                result = node.target.id
            ids = tuple(argument.id if isinstance(argument, ast.Name) else None for argument in arguments)
            literal = tuple(map(_is_literal, arguments))
            texts = [
                ast.unparse(part) if known or isinstance(part, ast.Compare) else None
                for part, known in zip(arguments, literal, strict=True)
            ]
            function, last = _computed_by(node, modules) or (function, None)
            paths = tuple(
                ast.unparse(argument).removeprefix("self.") if _is_path(argument) else None for argument in arguments
            )
            sign = _SIGNS.get(type(node.ops[0]), "") if isinstance(node, ast.Compare) else ""
            found[span(node)] = Names(result, ids, function, literal, tuple(texts), last, paths, sign)
    return found


def _modules_of(source: SourceCode) -> dict[str, ModuleType]:
    """Map the names of modules in a source to the modules: those it imports, and those that it knew before."""
    named: dict[str, str] = {}
    for node in source.nodes:
        if isinstance(node, ast.Import):
            whole = {part.asname or part.name.partition(".")[0]: part for part in node.names}
            named |= {name: part.name if part.asname else name for name, part in whole.items()}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            named |= {part.asname or part.name: f"{node.module}.{part.name}" for part in node.names}
    imported = {name: sys.modules[module] for name, module in named.items() if module in sys.modules}
    return modules_in.get(source.path, {}) | imported


def _module(node: ast.expr, modules: dict[str, ModuleType]) -> ModuleType | None:
    """Return the module that an expression such as `np.linalg` stands for."""
    if isinstance(node, ast.Name):
        return modules.get(node.id)
    owner = _module(node.value, modules) if isinstance(node, ast.Attribute) else None
    part = vars(owner).get(node.attr) if owner is not None and isinstance(node, ast.Attribute) else None
    return part if isinstance(part, ModuleType) else None


def _computed_by(node: ast.AST, modules: dict[str, ModuleType]) -> tuple[str, str | None] | None:
    """Return which operation a function of a module computes, if it says so, as those of `autodiff_edu.tf` do."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if owner := _module(value, modules):
            function = vars(owner).get(name)
            if isinstance(function, FunctionType) and hasattr(function, "computes"):
                return function.computes, getattr(function, "last", None)
    return None


def _read(node: ast.AST | None, modules: dict[str, ModuleType]) -> tuple[str | None, list[ast.expr] | None]:
    """Find the name of the function that an expression calls, unless an operator, and its positional arguments."""
    match node:
        case ast.AugAssign(target=ast.Name() as target, value=value):
            return None, [target, value]
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return None, [left, right]
        case ast.UnaryOp(operand=value) | ast.Subscript(value=value):
            return None, [value]
        case ast.Call(func=ast.Attribute(value=value, attr=function), args=arguments):
            # x is an argument of x.sum(), but np is not one of np.sum(x), nor np.linalg of np.linalg.norm(x)
            return function, [value, *arguments] if _module(value, modules) is None else arguments
        case ast.Call(func=ast.Name(id=function), args=arguments):
            return function, arguments
    return None, None


def _is_path(expression: ast.expr) -> bool:
    """Return whether an expression says where something is, the same each time: `layers[0].w`, but not `ws[k]`."""
    match expression:
        case ast.Attribute(value=owner) | ast.Subscript(value=owner, slice=ast.Constant()):
            return isinstance(owner, ast.Name) or _is_path(owner)
    return False


def _is_literal(expression: ast.expr) -> bool:
    try:
        ast.literal_eval(expression)
    except (ValueError, TypeError):
        return False
    return True
