"""Which statements of the cells above run before a program: those that can matter to it.

`kernel.py` runs them in a page; `_ext/live_programs.py` reads from them which cells can run there at all.
"""

from __future__ import annotations

import ast
import builtins
import dis
import re
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType

MAGIC = re.compile(r"\A\s*%%play\b(.*)$", re.MULTILINE)
MISSING = {"torch", "jax", "dask", "distributed", "ipywidgets"}
"""What no page can load."""
PICTURES = {"matplotlib"}  # which takes longer to load than all the rest
LOOKS = {"print", "display", "described"} | set(dir(builtins)) - {"exec", "eval", "setattr", "delattr", "next", "open"}
"""Functions that change nothing."""
KEEPS = {
    "all", "any", "argmax", "argmin", "astype", "clip", "copy", "items", "keys", "max", "mean", "min", "numpy", "ravel",
    "reshape", "std", "sum", "tolist", "values",
}  # fmt: skip
"""Methods that leave their object as it was."""
WRAPS = {"ad.custom_gradient", "ad.compile", "cache"}  # decorators that register nothing
METERS = {"time", "tracemalloc"}  # modules in which nobody finds a change
SHARED = {"random", "nn"}  # modules with random numbers that all programs share
BUILTINS = {*dir(builtins), "display"}
PLAYS = {"play", "explore", "sweep", "descend", "drill", "check_gradients"}  # of the package; they change nothing
SURE = ast.Assign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom  # they bind their names in any case


def plain(source: str) -> str:
    r"""Return a cell without its magics, line by line what it was.

    Examples
    --------
    >>> plain("%%play --predict\nx = 1")
    '\nx = 1'
    """
    return re.sub(r"^%load_ext .*$", "", MAGIC.sub("", source, count=1), flags=re.MULTILINE)


def needed(above: list[ast.Module], program: ast.Module) -> list[ast.Module]:
    r"""Return of each cell above the statements that run before a program, in their order and with their lines.

    Those run that share a name with the program, directly or through others, or change what a module holds. Left out is
    what a page cannot load, what only prints or plays, and what only draws, if the program does not.

    Examples
    --------
    >>> cells = [ast.parse(cell) for cell in ("import math\na = 1", "b = [a]", "import torch\nc = torch.ones(b)")]
    >>> [ast.unparse(cell) for cell in needed(cells, ast.parse("print(b)"))]
    ['a = 1', 'b = [a]', '']
    >>> [ast.unparse(cell) for cell in needed(cells, ast.parse("x = math.pi"))]
    ['import math', '', '']
    """
    statements = [node for cell in above for node in cell.body]
    missing = depend_on(statements, MISSING)
    statements = [node for node in statements if node not in missing]
    modules = {"np", "ad"}.union(*(bound(node) for node in [*statements, *program.body] if is_import(node)))
    pictures = depend_on(statements, PICTURES)
    harmless = list_harmless(statements, pictures, modules)
    statements = [node for node in statements if node in pictures or not (node in harmless and shows(node, modules))]
    quiet = [node for node in statements if node not in pictures & harmless]
    runs = connect(quiet, changing(quiet, modules) - pictures, program, modules)
    drawn = {name for node in pictures for name in bound(node)}
    if drawn & free(program).union(*map(used, runs)):
        runs = connect(statements, changing(statements, modules), program, modules)
    return [ast.Module([node for node in cell.body if node in runs], []) for cell in above]


def connect(statements: list[ast.stmt], first: set[ast.stmt], program: ast.Module, modules: set[str]) -> set[ast.stmt]:
    """Return the `first` statements, those that share a name with them or with a program, and so on; and their imports.

    If one takes from random numbers that all share, so do all that take from them.
    """
    names = {node: (used(node) | bound(node)) - modules - BUILTINS for node in statements if not is_import(node)}
    found, known, draw = set(first), free(program).union(*(names[node] for node in first)), draws(program, modules)
    while more := {node for node in names.keys() - found if names[node] & known or (draw and draws(node, modules))}:
        found |= more
        known = known.union(*(names[node] for node in more))
        draw = draw or any(draws(node, modules) for node in more)
    imported = free(program).union(*map(used, found))
    return found | {node for node in statements if is_import(node) and bound(node) & imported}


def list_harmless(statements: list[ast.stmt], pictures: set[ast.stmt], modules: set[str]) -> set[ast.stmt]:
    """Return the statements that change nothing but what draws, nor call a function that may."""
    found, trusted, functions = set[ast.stmt](), set(modules), set[str]()
    for node in statements:
        is_one = is_harmless(node, trusted) and not (used(node) & functions) - trusted
        if is_one:
            found.add(node)
        if is_definition(node):
            functions |= bound(node)
            trusted = trusted | bound(node) if is_one else trusted - bound(node)
        elif is_one and node in pictures:
            trusted |= bound(node)
    return found


def shows(statement: ast.stmt, modules: set[str]) -> bool:
    """Return whether a harmless statement only plays or prints something."""
    return isinstance(statement, ast.Expr) and not (changes(statement, modules) or draws(statement, modules))


def changing(statements: list[ast.stmt], modules: set[str]) -> set[ast.stmt]:
    """Return the statements that may change what modules hold, themselves or by a function that they call."""
    found, functions = set[ast.stmt](), set[str]()
    while more := {
        node for node in statements if node not in found and (changes(node, modules) or used(node) & functions)
    }:
        found |= more
        functions |= {name for node in more if is_definition(node) for name in bound(node)}
    return {node for node in found if not is_definition(node) or registers(node)}


def depend_on(statements: list[ast.stmt], packages: set[str]) -> set[ast.stmt]:
    """Return the statements that import one of some packages, or use a name that such a statement has bound."""
    found, names = set[ast.stmt](), set[str]()
    for node in statements:
        if imports(node) & packages or used(node) & names:
            found.add(node)
            names |= bound(node)
        else:
            names -= bound(node)
    return found


def is_harmless(statement: ast.stmt, names: set[str]) -> bool:
    """Return whether all that a statement changes belongs to some names: modules, and what draws."""
    if is_import(statement):
        return True
    is_function = isinstance(statement, ast.FunctionDef)  # whose names are its own
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in LOOKS | names:
                pass
            case ast.Call(func=ast.Attribute(attr=name) as method) if name in KEEPS or owner(method) in names:
                pass
            case ast.Assign(targets=targets) if (is_function or node is statement) and all(map(binds, targets)):
                pass
            case (
                ast.Call()
                | ast.Assign()
                | ast.AugAssign()
                | ast.AnnAssign()
                | ast.NamedExpr()
                | ast.Delete()
                | ast.Global()
            ):
                return False
    return True


def is_played(statement: ast.stmt, modules: set[str]) -> bool:
    """Return whether a statement is a player and no more."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) as method)):
            return name in PLAYS and owner(method) in modules
    return False


def changes(statement: ast.stmt, modules: set[str]) -> bool:
    """Return whether a statement may change what modules hold, such as `ad.nn.seed(0)`, or registers a function."""
    for node in ast.walk(statement):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute() as method)):
                is_known = is_played(node, modules) or method.attr == "at" or draws(method, modules)
                if owner(method) in modules - METERS and not is_known:
                    return True
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()) if owner(node) in modules:
                return True
            case ast.Call(func=ast.Name(id="open"), args=[_, _, *_]):  # to write
                return True
            case ast.Call(func=ast.Attribute(attr="write_text" | "write_bytes")):
                return True
    return registers(statement)


def registers(statement: ast.stmt) -> bool:
    """Return whether a statement hands a function that it defines to a decorator that may keep it."""
    functions = [node for node in ast.walk(statement) if isinstance(node, ast.FunctionDef)]
    return not {ast.unparse(each) for function in functions for each in function.decorator_list} <= WRAPS


def draws(tree: ast.AST, modules: set[str]) -> bool:
    """Return whether a program takes from the random numbers that all programs share."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and owner(node) in modules:
            *path, last = ast.unparse(node).split(".")
            if SHARED & {*path} and last not in {"default_rng", "Generator"}:
                return True
    return False


def imports(tree: ast.AST) -> set[str]:
    """Return the packages that a statement or a cell imports, wherever it does."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found |= {alias.name.partition(".")[0] for alias in names}
            case ast.ImportFrom(module=str(module)):
                found.add(module.partition(".")[0])
    return found


def free(program: ast.Module) -> set[str]:
    r"""Return the names that a program looks up and may not have bound before.

    Examples
    --------
    >>> sorted(free(ast.parse("x = 1\nprint([x * k for k in range(n)])")))
    ['n', 'print', 'range']
    """
    return _free(program.body, set())


def _free(statements: list[ast.stmt], own: set[str]) -> set[str]:
    found = set[str]()
    for node in statements:
        if isinstance(node, ast.With):
            for item in node.items:
                found |= used(ast.copy_location(ast.Expr(item.context_expr), node)) - own
                own |= bound(item.optional_vars) if item.optional_vars else set()
            found |= _free(node.body, own)
        else:
            found |= used(node) - own
            own |= bound(node) if isinstance(node, SURE) else set()
    return found


@lru_cache(maxsize=4096)
def used(statement: ast.stmt) -> set[str]:
    """Return the global names that a statement looks up, or its functions when they are called."""
    codes = [compile(ast.Module([statement], []), "cell", "exec", dont_inherit=True)]
    found = set()
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        found |= {each.argval for each in dis.get_instructions(code) if each.opname in {"LOAD_NAME", "LOAD_GLOBAL"}}
    return found


def binds(target: ast.expr) -> bool:
    """Return whether an assignment's target is names, and not part of an object."""
    return not any(isinstance(node, ast.Attribute | ast.Subscript) for node in ast.walk(target))


def bound(statement: ast.AST) -> set[str]:
    """Return the names that a statement may bind, outside its functions."""
    return set(_bound(statement))


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            pass
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _bound(child)


def is_import(statement: ast.AST) -> bool:
    """Return whether a statement imports names."""
    return isinstance(statement, ast.Import | ast.ImportFrom)


def is_definition(statement: ast.AST) -> bool:
    """Return whether a statement defines a function or a class, which does nothing until it is called."""
    return isinstance(statement, ast.FunctionDef | ast.ClassDef)


def owner(node: ast.AST) -> str:
    """Return the name that an attribute or element belongs to."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
