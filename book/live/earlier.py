"""Which statements of the cells above run before a program: those that can matter to it.

`kernel.py` runs them in a page; `_ext/live_programs.py` reads from them which cells can run there at all.

What is left out is found by names: a statement that shares none with the program, not even through others, has nothing
to do with it. What cells can change besides, and no name tells, is listed here: settings, files, shared random numbers.
"""

from __future__ import annotations

import ast
import builtins
import dis
import re
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

MAGIC = re.compile(r"\A\s*%%play\b(.*)$", re.MULTILINE)
MISSING = {"torch", "jax", "dask", "distributed", "ipywidgets"}
"""What no page can load."""
PICTURES = {"matplotlib"}  # which takes longer to load than all the rest
PURE_FUNCTIONS = {
    "abs", "bool", "described", "dict", "enumerate", "float", "int", "len", "list", "max", "min", "print", "range",
    "reversed", "round", "sorted", "str", "sum", "tuple", "zip",
}  # fmt: skip
PURE_METHODS = {
    "all", "any", "argmax", "argmin", "astype", "copy", "items", "keys", "max", "mean", "min", "numpy", "ravel",
    "reshape", "std", "sum", "tolist", "values",
}  # fmt: skip
PURE_MODULES = {"math", "numpy"}
"""What changes nothing, so that a statement which calls nothing else and draws need not run."""
PURE_DECORATORS = {"ad.custom_gradient", "ad.compile", "cache"}  # they register nothing
SETTINGS = {
    "seterr", "seterrcall", "set_printoptions", "filterwarnings", "simplefilter", "chdir", "write_text", "write_bytes",
    "dump", "mkdir", "save", "savez", "savetxt", "tofile", "unlink", "writerow", "writerows",
}  # fmt: skip
"""Functions and methods that change settings or files."""
WRITING = {"at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
"""Functions of NumPy that change an array; who uses it shares its name."""
PLAYS = {"play", "explore", "sweep", "descend", "drill", "check_gradients"}
"""Functions of the package that call a function and show something."""
CLOCKS = {"time", "tracemalloc"}  # modules in which nobody finds a change
RANDOM = {"random", "nn"}  # modules with random numbers that all programs share
OWN_RANDOM = {"default_rng", "Generator", "Random", "SeedSequence"}  # but for these
ALWAYS_BIND = ast.Assign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom


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
    what a page cannot load, and what only plays, and what only draws, if the program does not draw.

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
    modules = Modules.of([*statements, *program.body])
    pictures = depend_on(statements, PICTURES)
    only_show = list_only_showing(statements, pictures, modules)
    runs = connect([node for node in statements if node not in only_show], pictures, program, modules)
    drawn = {name for node in pictures for name in bound(node)}
    if drawn & free(program).union(*(_free([node], set()) for node in runs)):
        runs = connect([node for node in statements if node not in only_show - pictures], set(), program, modules)
    return [ast.Module([node for node in cell.body if node in runs], []) for cell in above]


class Modules(NamedTuple):
    """What the imports of some statements have bound, and nothing else of them has.

    Attributes
    ----------
    names : set of str
        All of it: modules, and what they hold.
    pure : set of str
        What comes from modules whose functions change nothing.
    random : set of str
        Modules with random numbers that all programs share.
    takes : set of str
        Functions and classes that take from these.
    hides : bool
        Whether one imports `*`, whatever that binds.
    """

    names: set[str]
    pure: set[str]
    random: set[str]
    takes: set[str]
    hides: bool

    @staticmethod
    def of(statements: list[ast.stmt]) -> Modules:
        """Read the imports."""
        others = {name for node in statements if not is_import(node) for name in bound(node)}
        found = {"np": ["numpy"], "ad": ["autodiff_edu"]}
        taken = set[str]()
        for node in statements:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        path = alias.name.split(".")
                        found[alias.asname or path[0]] = path if alias.asname else path[:1]
                case ast.ImportFrom(names=names):
                    for alias in names:
                        found[alias.asname or alias.name] = [*(node.module or "").split("."), alias.name]
                        taken.add(alias.asname or alias.name)
        found = {name: path for name, path in found.items() if name not in others}
        shared = {name for name, path in found.items() if RANDOM & {*path} and path[-1] not in OWN_RANDOM}
        modules = {name for name in shared if found[name][-1] in RANDOM}
        pure = {name for name, path in found.items() if path[0] in PURE_MODULES}
        return Modules({*found}, pure, modules, (shared - modules) & taken, "*" in found)

    def give_random_numbers(self, tree: ast.AST) -> bool:
        """Return whether a program takes from the random numbers that all programs share."""
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name) if name in self.takes:
                    return True
                case ast.Attribute() if owner(node) in self.names:
                    *path, last = ast.unparse(node).split(".")
                    if {*path} & (RANDOM | self.random) and last not in OWN_RANDOM:
                        return True
        return False


def connect(
    statements: list[ast.stmt], pictures: set[ast.stmt], program: ast.Module, modules: Modules
) -> set[ast.stmt]:
    """Return the statements that change what a module holds, share a name with these or a program, and so on.

    If one takes from random numbers that all share, so do all that take from them. After an import of `*`, all
    statements are returned. What `pictures` change in a module does not matter.
    """
    own = {name for node in statements if not is_import(node) for name in bound(node)}
    known = modules.names | ({*dir(builtins), "display"} - own)
    names = {node: (used(node) | bound(node)) - known for node in statements if not is_import(node)}
    found = list_settings(list(names), modules) - pictures
    shared, draw = free(program).union(*(names[node] for node in found)), modules.give_random_numbers(program)
    while more := {
        node for node in names.keys() - found if names[node] & shared or (draw and modules.give_random_numbers(node))
    }:
        found |= more
        shared = shared.union(*(names[node] for node in more))
        draw = draw or any(modules.give_random_numbers(node) for node in more)
    if modules.hides:
        return set(statements)
    imported = free(program).union(*map(used, found))
    return found | {node for node in statements if is_import(node) and bound(node) & imported}


def list_settings(statements: list[ast.stmt], modules: Modules) -> set[ast.stmt]:
    """Return the statements that may change what modules hold, themselves or by a function that they call."""
    found, functions = set[ast.stmt](), set[str]()
    while more := {
        node for node in statements if node not in found and (sets(node, modules) or used(node) & functions)
    }:
        found |= more
        functions |= {name for node in more if is_definition(node) for name in bound(node)}
    return {node for node in found if not is_definition(node) or registers(node)}


def sets(statement: ast.stmt, modules: Modules) -> bool:
    """Return whether a statement may change what modules hold, such as a setting, or registers a function."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in SETTINGS:
                return True
            case ast.Call(func=ast.Name(id="open"), args=args, keywords=keywords):
                if len(args) > 1 or any(keyword.arg == "mode" for keyword in keywords):
                    return True
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name) as method)) if name not in PLAYS | WRITING:
                is_random = modules.give_random_numbers(method)
                if owner(method) in modules.names - CLOCKS and not is_random:
                    return True
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()) if owner(node) in modules.names:
                return True
    return registers(statement)


def registers(statement: ast.stmt) -> bool:
    """Return whether a statement hands a function that it defines to a decorator that may keep it."""
    functions = [node for node in ast.walk(statement) if isinstance(node, ast.FunctionDef)]
    return not {ast.unparse(each) for function in functions for each in function.decorator_list} <= PURE_DECORATORS


def list_only_showing(statements: list[ast.stmt], pictures: set[ast.stmt], modules: Modules) -> set[ast.stmt]:
    """Return the statements that draw or play, and change nothing else, nor call a function that may."""
    own = {name for node in statements if not is_import(node) for name in bound(node)}
    found, pure = set[ast.stmt](), modules.pure | (PURE_FUNCTIONS - own)
    for node in statements:
        is_one = is_pure(node, pure | PURE_FUNCTIONS - own) and not modules.give_random_numbers(node)
        if node in pictures and (is_one or is_import(node)):
            found.add(node)
            pure |= bound(node)
        elif is_one and is_play(node):
            found.add(node)
        elif is_definition(node):
            pure = pure | bound(node) if is_one else pure - bound(node)
    return found


def is_play(statement: ast.stmt) -> bool:
    """Return whether a statement is a player and no more."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="ad"), attr=name))):
            return name in PLAYS
    return False


def is_pure(statement: ast.stmt, pure: set[str]) -> bool:
    """Return whether a statement calls only what is `pure`, and changes no object."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(keywords=keywords) if any(keyword.arg == "out" for keyword in keywords):
                return False
            case ast.Call(func=ast.Name(id=name)) if name in pure:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id="ad"), attr=name), args=[first, *_]) if name in PLAYS:
                if not isinstance(first, ast.Lambda) and getattr(first, "id", "") not in pure:
                    return False
            case ast.Call(func=ast.Attribute(attr=name) as method) if name in PURE_METHODS or owner(method) in pure:
                if name in SETTINGS | WRITING:
                    return False
            case ast.Assign(targets=targets) if all(map(binds, targets)):
                pass
            case (
                ast.Call() | ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr() | ast.Delete()
                | ast.Global() | ast.Nonlocal()
            ):  # fmt: skip
                return False
    return True


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
        elif isinstance(node, ast.For):
            found |= used(ast.copy_location(ast.Expr(node.iter), node)) - own
            found |= _free([*node.body, *node.orelse], own | bound(node.target))
        else:
            found |= used(node) - own
            own |= bound(node) if isinstance(node, ALWAYS_BIND) else set()
    return found


NAMED = {f"{what}_{where}" for what in ("LOAD", "STORE", "DELETE") for where in ("GLOBAL", "NAME")} - {"STORE_NAME"}


@lru_cache(maxsize=4096)
def used(statement: ast.stmt) -> set[str]:
    """Return the global names that a statement looks up or deletes, and its functions, which may also bind some."""
    codes = [compile(ast.Module([statement], []), "cell", "exec", dont_inherit=True)]
    found = set()
    while codes:
        code = codes.pop()
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        found |= {each.argval for each in dis.get_instructions(code) if each.opname in NAMED}
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
