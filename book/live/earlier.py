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
from collections.abc import Iterator, Set
from contextlib import suppress
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

import numpy as np

MAGIC = re.compile(r"\A\s*%%play\b(.*)$", re.MULTILINE)
UNREADABLE = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)
"""What reading a program may raise."""
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
CALLED_BY_NAME = {"__init__", "__call__", "__post_init__"}
"""Special methods that run only where a statement calls the object or its class."""
PLAYS = {"play", "explore", "sweep", "descend", "drill", "check_gradients"}
"""Functions of the package that call a function and show something."""
CLOCKS = {"time", "tracemalloc"}  # modules in which nobody finds a change
HIDING = {"delattr", "eval", "exec", "globals", "locals", "setattr", "vars"}
"""Functions that may bind any name, or change any object."""
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
    text = MAGIC.sub("", source, count=1)
    with suppress(*UNREADABLE):
        ast.parse(text)
        return text  # such a line is part of a string
    return re.sub(r"^%load_ext .*$", "", text, flags=re.MULTILINE)


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
    aliases : set of str
        Other names that statements give to these: `m` after `m = np`.
    random : set of str
        Modules with random numbers that all programs share.
    takes : set of str
        Functions and classes that take from these.
    foreign : set of str
        Names from other libraries. A statement that calls one and ignores the result is taken to change something.
    hides : bool
        Whether one may bind names that cannot be read off the code: by `import *`, `exec` or `globals`.
    """

    names: set[str]
    pure: set[str]
    aliases: set[str]
    random: set[str]
    takes: set[str]
    foreign: set[str]
    hides: bool

    @staticmethod
    def of(statements: list[ast.stmt]) -> Modules:
        """Read the imports."""
        others = list_own(statements)
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
        modules = {name for name in shared if found[name][-1] in RANDOM and found[name][-2:] != ["random", "random"]}
        aliases = dict[str, list[str]]()
        for node in statements:
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.Name() | ast.Attribute() as value)
                ):
                    if path := (found | aliases).get(owner(value)):
                        aliases[name] = [*path, *ast.unparse(value).split(".")[1:]]
        modules |= {name for name, path in aliases.items() if path[-1] in RANDOM}
        pure = {name for name, path in found.items() if path[0] in PURE_MODULES}
        foreign = {name for name, path in found.items() if path[0] not in PURE_MODULES | CLOCKS | {"autodiff_edu"}}
        hides = "*" in found or any(
            _may_bind_anything(node) for statement in statements for node in ast.walk(statement)
        )
        return Modules({*found}, pure, {*aliases}, modules, (shared - modules) & taken, foreign, hides)

    def give_random_numbers(self, tree: ast.AST) -> bool:
        """Return whether a program takes from the random numbers that all programs share."""
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name) if name in self.takes:
                    return True
                case ast.Attribute() if owner(node) in self.names | self.aliases:
                    *path, last = ast.unparse(node).split(".")
                    if {*path} & (RANDOM | self.random) and last not in OWN_RANDOM:
                        return True
        return False


def _may_bind_anything(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name), args=args) if name in HIDING:
            # With a namespace of its own, `exec` binds no name here.
            return len(args) < 2 or name in {"delattr", "setattr"}
    return False


def connect(
    statements: list[ast.stmt], pictures: set[ast.stmt], program: ast.Module, modules: Modules
) -> set[ast.stmt]:
    """Return the statements that change what a module holds, share a name with these or a program, and so on.

    If one takes from random numbers that all share, so do all that take from them. After an import of `*`, all
    statements are returned. What `pictures` change in a module does not matter.
    """
    own = list_own(statements)
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
    names = modules.names | modules.aliases
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in SETTINGS:
                return True
            case ast.Call(func=ast.Attribute(attr=name) as called) if (
                name[:3] == "set" and owner(called) in modules.foreign
            ):
                return True
            case ast.Call(func=ast.Name(id="open"), args=args, keywords=keywords):
                if len(args) > 1 or any(keyword.arg == "mode" for keyword in keywords):
                    return True
            case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str(mode)), *_]):
                if {*mode} <= {*"rwaxbt+"}:
                    return True
            case ast.Expr(value=ast.Call(func=called)) if getattr(called, "attr", "") not in PLAYS | WRITING:
                is_method = owner(called) in (names if isinstance(called, ast.Attribute) else modules.aliases) - CLOCKS
                is_called = is_method or owner(called, of_results=True) in modules.foreign | {"getattr"}
                if is_called and not modules.give_random_numbers(called):
                    return True
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                if owner(node, of_results=True) in names:
                    return True
    return registers(statement)


def registers(statement: ast.stmt) -> bool:
    """Return whether a statement hands a function that it defines to a decorator that may keep it."""
    functions = [node for node in ast.walk(statement) if isinstance(node, ast.FunctionDef)]
    return not {ast.unparse(each) for function in functions for each in function.decorator_list} <= PURE_DECORATORS


def list_only_showing(statements: list[ast.stmt], pictures: set[ast.stmt], modules: Modules) -> set[ast.stmt]:
    """Return the statements that draw or play, and change nothing else, nor call a function that may."""
    classes = [node for node in ast.walk(ast.Module(statements, [])) if isinstance(node, ast.ClassDef)]
    methods = [node for each in classes for node in each.body if isinstance(node, ast.FunctionDef)]
    own = list_own(statements)
    always = (
        modules.pure | (PURE_FUNCTIONS - own) | {f".{name}" for name in PURE_METHODS - {node.name for node in methods}}
    )
    hooks = [
        node for node in methods if node.decorator_list or (node.name[:2] == "__" and node.name not in CALLED_BY_NAME)
    ]
    is_free = all(is_pure(node, always) for node in hooks)  # else any operation may change something
    made = {name for node in statements if is_definition(node) for name in bound(node)}
    found, functions, drawn = set[ast.stmt](), dict[str, ast.stmt](), set[str]()
    for node in statements:
        pure = (always | {*functions}) - {*_list_local_names(node)} | modules.pure | drawn
        is_one = is_pure(node, pure, made - pure - bound(node)) and not modules.give_random_numbers(node)
        if node in pictures and (is_one or is_import(node)):
            found.add(node)
            drawn |= bound(node)
            continue
        if is_one and is_free and is_play(node):
            found.add(node)
        gone = bound(node)
        while gone:  # with a function that is bound anew, what calls it may change something
            functions = {name: each for name, each in functions.items() if name not in gone}
            gone = {name for name, each in functions.items() if used(each) & gone}
        if is_definition(node) and is_one and not registers(node):
            functions |= dict.fromkeys(bound(node), node)
    return found


def is_play(statement: ast.stmt) -> bool:
    """Return whether a statement is a player and no more."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="ad"), attr=name))):
            return name in PLAYS
    return False


def is_pure(statement: ast.stmt, pure: set[str], impure: Set[str] = frozenset()) -> bool:
    """Return whether a statement calls and passes on only what is `pure`, and changes no object."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(keywords=keywords) if any(_changes(each, pure) for each in keywords) or _writes_to_argument(
                node
            ):
                return False
            case ast.Call(func=ast.Name(id=name)) if name in pure:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id="ad"), attr=name), args=[first, *_]) if name in PLAYS:
                if not isinstance(first, ast.Lambda) and getattr(first, "id", "") not in pure:
                    return False
            case ast.Call(func=ast.Attribute(attr=name) as method) if {f".{name}", owner(method)} & pure:
                if name in SETTINGS | WRITING:
                    return False
            case ast.Name(id=name, ctx=ast.Load()) if name in impure:
                return False
            case ast.Assign(targets=targets) if all(map(binds, targets)):
                pass
            case (
                ast.Call() | ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr() | ast.Delete()
                | ast.Global() | ast.Nonlocal() | ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store())
            ):  # fmt: skip
                return False
    return True


def _changes(keyword: ast.keyword, pure: set[str]) -> bool:
    """Return whether a keyword argument may change something: `out`, an impure `key`, or any of `**these`."""
    is_key = keyword.arg == "key" and not isinstance(keyword.value, ast.Lambda)
    return keyword.arg in ("out", None) or (is_key and getattr(keyword.value, "id", "") not in pure)


def _list_local_names(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that the functions in a statement bind, which may hide pure functions there."""
    for function in ast.walk(statement):
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            yield from (node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg))
            body = function.body if isinstance(function, ast.FunctionDef) else []
            yield from (name for each in body for name in bound(each))


def _writes_to_argument(call: ast.Call) -> bool:
    """Return whether a call writes into an array that it is given by position: `np.add(a, b, a)`."""
    match call.func:
        case ast.Attribute(value=ast.Attribute(attr="ndarray")):
            return True
        case ast.Attribute(attr=name):
            ufunc = getattr(np, name, None)
            return isinstance(ufunc, np.ufunc) and len(call.args) > ufunc.nin
    return False


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
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
            yield from (each for child in ast.iter_child_nodes(node) for each in _bound(child))
        case ast.MatchAs(name=str(name), pattern=pattern):
            yield name
            yield from _bound(pattern) if pattern is not None else ()
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            pass
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _bound(child)


def list_own(statements: list[ast.stmt]) -> set[str]:
    """Return the names that statements bind by anything but an import, including those declared `global`."""
    own = {name for node in statements if not is_import(node) for name in bound(node)}
    return own.union(*(each.names for node in statements for each in ast.walk(node) if isinstance(each, ast.Global)))


def is_import(statement: ast.AST) -> bool:
    """Return whether a statement imports names."""
    return isinstance(statement, ast.Import | ast.ImportFrom)


def is_definition(statement: ast.AST) -> bool:
    """Return whether a statement defines a function or a class, which does nothing until it is called."""
    return isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def owner(node: ast.AST, of_results: bool = False) -> str:
    """Return the name that an attribute or element belongs to; with `of_results`, also `f` for `f(x).a`."""
    while isinstance(node, ast.Attribute | ast.Subscript) or (of_results and isinstance(node, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
