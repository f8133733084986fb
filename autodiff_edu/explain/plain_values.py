"""Where plain numbers go in the user's code: into which variables, through calls, closures, globals and arrays.

A number that has left its tensor cannot be followed itself; but the code shows that after `b = 2 * a`, in `f(b)` and in
a function that reads `b` there is something of `a`. When that was, the journal knows.

Not followed: what only decides, puts in order, counts or is shown (`if`, `sorted(key=...)`, `len`, `print`), because no
slope is lost there; and names that the code computes, as in `globals()["b"]`, `vars(b)` or `getattr(b, name)`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from ..text.frames import Where
from ..text.places import is_cell, list_cells, position_of
from ..text.source_code import SourceCode, Span, is_inside, source_of, span

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SHAPES = {"shape", "ndim", "size", "dtype"}
VIEWS = {"flat", "T", "mT", "real", "imag"}
"""The attributes that write into their array."""
STEPS = {"len", "bool", "int", "range", "round", "floor", "ceil", "rint", "trunc", "sign", "isinstance", "type", "id"}
STEPS |= {"argsort", "argmax", "argmin", "nonzero", "flatnonzero", "searchsorted", "digitize", "count_nonzero", "any"}
STEPS |= {"all", "isnan", "isinf", "isfinite", "isclose", "allclose", "array_equal", "zeros_like", "ones_like", "print"}
"""The functions whose results jump, if they move at all: they lose no slope."""
FILLING = {"append", "extend", "insert", "add", "appendleft", "setdefault", "update", "put", "fill", "push", "send"}
FILLING |= {"write", "writelines", "__setitem__", "itemset"}
"""The methods that store their argument in a list, a set, a dict, a queue, an array or a file."""
WRITING = {"copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal", "at", "setitem", "heappush"}
WRITING |= {"setattr", "insort", "pack_into", "save", "savetxt", "savez", "savez_compressed"}
"""The functions that store an argument in their first one."""
REMARKS = {"name", "dtype", "key"}
"""The keywords that only describe, or only put in order."""

BLOCKS = ("body", "orelse", "finalbody")

Scopes = tuple[ast.AST, ...]
Variable = Hashable
"""A variable of a scope, an attribute `.a` of any object, `f()` for a result, or a tuple for an argument of `f`."""


class DataFlow:
    """What flows into what in the source of a file or a cell.

    Attributes
    ----------
    flows : dict
        For each variable, those that get its numbers.
    at : dict
        For the position of each expression, the variables that get its numbers.
    inside : dict
        For the position of each expression, the scopes around it.
    other_names, functions : dict
        For each function, the names that may stand for it, such as g after `g = f` or `g = ad.checkpoint(f)`; and for
        each name, the functions.
    """

    def __init__(self, source: SourceCode) -> None:
        self.source = source
        self.flows: dict[Variable, set[Variable]] = defaultdict(set)
        self.at: dict[Span | None, set[Variable]] = defaultdict(set)
        self.inside: dict[Span | None, Scopes] = {}
        self.other_names: dict[str, set[str]] = defaultdict(set)
        self.functions: dict[str, set[str]] = defaultdict(set)
        self._bound: dict[ast.AST, tuple[dict[str, list[ast.Name]], set[str]]] = {}
        self._parents = {part: node for node in source.nodes for part in ast.iter_child_nodes(node)}
        self._blocks: dict[Any, tuple[ast.AST, str]] = {
            part: (node, block) for node in source.nodes for block in BLOCKS for part in _block(node, block)
        }
        self._shared = {
            name for node in source.nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
        }
        patterns = [node for node in source.nodes if isinstance(node, ast.pattern)]
        self._shared |= {name for node in patterns if (name := _pattern_name(node))}
        self._defined = {node.name for node in source.nodes if isinstance(node, ast.FunctionDef)}
        self._mutated: set[Variable] = set()
        self._versions: dict[Variable, set[Variable]] = defaultdict(set)
        self._references: list[tuple[Variable, Variable]] = []
        self._written: list[tuple[Variable, Variable]] = []
        self._module = "cells" if is_cell(source.path) else source.path  # all cells have the same globals
        self._visit(source.tree, (source.tree,))
        for one, other in self._references:  # after b = a and b[0] = c, there is something of c in a
            if other in self._mutated:
                self.flows[other] |= {one, *self._versions[one]}
        for written, reference in self._written:
            self.flows[written] |= {reference, *self._versions[reference]}
        for variable in self._mutated:
            self.flows[variable] |= self._versions[variable]

    def used_at(self, position: Span, operation: str, unknown: tuple[bool, ...]) -> set[Variable]:
        """List what goes into the arguments of an operation that are not tensors, if the code shows which they are."""
        node, scopes = self.source.node_at.get(position), self.inside.get(position, ())
        node = node.value if isinstance(node, ast.Expr) else node
        arguments = self._arguments(node, operation, scopes)
        if len(arguments) == len(unknown):
            plain = [argument for argument, is_plain in zip(arguments, unknown, strict=True) if is_plain]
            parts = [part for argument in plain for part in self._parts(argument, scopes)]
        else:
            parts = [part for part in self._parts(node, scopes) if part[0] is not node]
        return {variable for part in parts for variable in self._variables(*part)} | {
            self.expression(span(part)) for part, _ in parts if not _orders(part)
        }

    def chosen_by(self, position: Span) -> set[Variable]:
        """List what goes into the index of a subscript, and into how often the loops around it run."""
        node, scopes = self.source.node_at.get(position), self.inside.get(position, ())
        parts = [*self._parts(node.slice, scopes)] if isinstance(node, ast.Subscript) else []
        while node is not None and (node := self._parents.get(node)):
            if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _name_of(node.iter.func) == "range":
                parts += [part for argument in node.iter.args for part in self._parts(argument, scopes)]
        variables = {variable for part in parts for variable in self._variables(*part)}
        return variables | {self.expression(span(part)) for part, _ in parts}

    def _arguments(self, node: Any, operation: str, scopes: Scopes) -> list[ast.expr]:
        match node:
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.AugAssign(target=target, value=value):
                return [target, value]
            case ast.Subscript(value=value):
                return [value, ast.Constant(None)]  # an index decides
            case ast.Call(func=function, args=args) if _name_of(function) == operation:
                if isinstance(function, ast.Attribute) and not self._is_module(function.value):
                    return [function.value, *args]
                return args
        return []

    def expression(self, position: Span | None) -> Variable:
        """Return what stands for the expression at a position."""
        return self.source.path, position

    def _visit(self, node: Any, scopes: Scopes) -> None:
        if hasattr(node, "lineno"):
            self.inside.setdefault(span(node), scopes)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for part in (*node.decorator_list, node.args):
                    self._visit(part, scopes)
                self._define(node, scopes, self._names_of(node, scopes[-1]))
                for part in node.body:
                    self._visit(part, (*scopes, node))
                return
            case ast.Lambda():
                self._define(node, scopes, ())
                self._visit(node.args, scopes)
                self._visit(node.body, (*scopes, node))
                return
            case ast.ClassDef():
                self.functions[node.name] |= {name for base in node.bases if (name := _name_of(base))}
                scopes = (*scopes, node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                scopes = (*scopes, node)
                for loop in node.generators:
                    self._bind(loop.iter, loop.target, scopes, span(node))
            case ast.Assign():
                for target in node.targets:
                    self._bind(node.value, target, scopes, span(target))
            case ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                self._bind(node.value, node.target, scopes)
                if isinstance(node, ast.AugAssign):
                    self._bind(node.target, node.target, scopes)
            case ast.For() | ast.AsyncFor():
                self._bind(node.iter, node.target, scopes, span(node))
            case ast.withitem(context_expr=value, optional_vars=target) if target is not None:
                self._bind(value, target, scopes)
            case ast.Return(value=value) | ast.Yield(value=value) | ast.YieldFrom(value=value):
                inner = next((scope for scope in reversed(scopes) if isinstance(scope, FUNCTIONS)), None)
                around = scopes[scopes.index(inner) - 1] if inner else None
                results: set[Variable] = {f"{name}()" for name in self._names_of(inner, around)}
                if _is_decorated(inner, "property", "cached_property"):
                    results.add(f".{getattr(inner, 'name', '')}")
                self._move(value, scopes, results)
            case ast.Match(subject=value, cases=cases):
                named = {_pattern_name(part) for case in cases for part in ast.walk(case.pattern)} - {None}
                self._move(value, scopes, {self._key(name, scopes) for name in named if name})
            case ast.Call():
                self._call(node, scopes)
        for child in ast.iter_child_nodes(node):
            self._visit(child, scopes)

    def _names_of(self, function: Any, around: Any) -> tuple[str, ...]:
        """Return the names that a function is called by: those of a class for its `__init__`, say."""
        name = getattr(function, "name", None)
        if name is None:
            return ()
        if isinstance(around, ast.ClassDef):
            special = {"__init__": around.name, "__new__": around.name, "__call__": f"{around.name}()"}
            return (name, special[name]) if name in special else (name,)
        return (name,)

    def _define(self, function: Any, scopes: Scopes, names: Iterable[str]) -> None:
        """Connect the arguments of calls with the parameters of a function, and back if it writes into them."""
        inner, arguments = (*scopes, function), function.args
        named = [*arguments.posonlyargs, *arguments.args]
        defaults = [*zip(named[::-1], arguments.defaults[::-1], strict=False)]
        defaults += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        for parameter, default in defaults:
            self._move(default, scopes, {self._key(parameter.arg, inner)})
        is_method = isinstance(scopes[-1], ast.ClassDef) and not _is_decorated(function, "staticmethod")
        for name in names:
            for k, parameter in enumerate(named[is_method:]):
                self._connect(name, {k, parameter.arg, "*"}, self._key(parameter.arg, inner))
            for parameter in arguments.kwonlyargs:
                self._connect(name, {parameter.arg, "*"}, self._key(parameter.arg, inner))
            for rest in filter(None, (arguments.vararg, arguments.kwarg)):
                self._connect(name, {"*", "**"}, self._key(rest.arg, inner))

    def _connect(self, name: str, slots: set[Any], parameter: Variable) -> None:
        for slot in slots:
            self.flows["argument", name, slot].add(parameter)
            self._references.append((("written", name, slot), parameter))

    def _call(self, call: ast.Call, scopes: Scopes) -> None:
        """Connect the arguments of a call with its function, or with what it fills."""
        name = _name_of(call.func)
        names = {name or _name_of(getattr(call.func, "value", None))}
        if isinstance(call.func, ast.Call):
            names = {f"{_name_of(call.func.func)}()", *map(_name_of, call.func.args)}
        slots: list[tuple[Any, ast.expr]] = [*enumerate(call.args)]
        slots += [(keyword.arg, keyword.value) for keyword in call.keywords]
        handed = [part for part in (call.func, *call.args) if isinstance(part, ast.Lambda)]
        others = {part.id for _, part in slots if isinstance(part, ast.Name)}
        for slot, value in slots:
            slot = "*" if slot is None or isinstance(value, ast.Starred) else slot
            targets: set[Variable] = {("argument", each, slot) for each in names if each}
            targets |= {("argument", each, "*") for each in others if getattr(value, "id", None) != each}
            for function in handed:
                if function is not value:
                    parameters = [*function.args.posonlyargs, *function.args.args]
                    targets |= {self._key(parameter.arg, (*scopes, function)) for parameter in parameters}
            self._move(value, scopes, targets)
            for reference in self._targets(value, scopes):
                self._written += [(("written", each, slot), reference) for each in names if each]
        filled = []
        if isinstance(call.func, ast.Attribute) and name in FILLING and not self._is_module(call.func.value):
            filled.append(call.func.value)
        if name in WRITING and call.args:
            filled.append(call.args[0])
        filled += [keyword.value for keyword in call.keywords if keyword.arg == "out"]
        for container in filled:
            kept = self._targets(container, scopes)
            if name == "setattr":
                kept |= {f".{part.value!s}" for part in call.args[1:2] if isinstance(part, ast.Constant)}
            self._mutated |= kept
            self.at[span(call)] |= kept
            for _, value in slots:
                if value is not container:
                    self._move(value, scopes, kept, is_item=True)

    def _bind(self, value: Any, target: Any, scopes: Scopes, also: Span | None = None) -> None:
        """Connect an expression with a target; `also` is where Python unpacks it, if it does."""
        match value, target:
            case ast.Tuple(elts=values) | ast.List(elts=values), ast.Tuple(elts=targets) | ast.List(elts=targets):
                if len(values) == len(targets) and not any(isinstance(x, ast.Starred) for x in (*values, *targets)):
                    for one, other in zip(values, targets, strict=True):
                        self._bind(one, other, scopes)
                    return
            case ast.Call(func=ast.Name(id="enumerate"), args=[counted, *_]), ast.Tuple(elts=[_, item]):
                self._bind(counted, item, scopes, also)
                return
            case ast.Call(func=ast.Name(id="zip"), args=values), ast.Tuple(elts=targets) if len(values) == len(targets):
                for one, other in zip(values, targets, strict=True):
                    self._bind(one, other, scopes, also)
                return
        gets = self._targets(target, scopes)
        if isinstance(target, ast.Subscript):
            self._mutated |= gets
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                variable = self._key(part.id, scopes)
                self._versions[variable].add(version := (variable, span(part)))
                gets.add(version)
        self._move(value, scopes, gets, is_item=isinstance(target, ast.Subscript))
        self.at[also] |= gets
        if value is not None and (name := _name_of(target)):  # `rate: float` binds nothing
            self._note_function(value, name, scopes)

    def _note_function(self, value: Any, name: str, scopes: Scopes) -> None:
        """Note that a name may now call the functions that are named in an expression."""
        for part in (value, *getattr(value, "values", ()), *getattr(value, "elts", ())):
            if isinstance(part, ast.Lambda):
                self._define(part, scopes, (name,))
                self._move(part.body, (*scopes, part), {f"{name}()"})
        for part in ast.walk(value):
            called = f"{_name_of(part.func)}()" if isinstance(part, ast.Call) else _name_of(part)
            if called and called != name:
                self.other_names[called].add(name)
                self.functions[name].add(called)

    def _move(self, value: Any, scopes: Scopes, targets: set[Variable], *, is_item: bool = False) -> None:
        """Connect an expression with the variables that get its numbers; `is_item` if it is stored in them."""
        for part, around in self._parts(value, scopes):
            if not _orders(part):
                self.at[span(part)] |= targets
            for variable in self._variables(part, around):
                self.flows[variable] |= targets
        if is_item and isinstance(value, ast.Tuple | ast.List):
            return  # storing other items beside `(k, float(y))` changes nothing of k
        for reference in self._targets(value, scopes):
            self._references += [(reference, target) for target in targets]

    def _parts(self, node: Any, scopes: Scopes) -> Iterator[tuple[Any, Scopes]]:
        """Yield the expressions whose numbers go into another one, but not those that only decide or count."""
        match node:
            case None | ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.BinOp(op=ast.FloorDiv()):
                return
            case ast.Attribute(attr=attribute) if attribute in SHAPES:
                return
            case ast.expr() | ast.AugAssign():
                yield node, scopes
        parts: Iterable[Any] = ()
        match node:
            case ast.IfExp(body=body, orelse=other):
                parts = body, other
            case ast.Subscript(value=value) | ast.Attribute(value=value):
                parts = (value,)
            case ast.Call(func=function, args=args, keywords=keywords):
                if _name_of(function) in STEPS:
                    return
                called = function.value if isinstance(function, ast.Attribute) else function
                parts = *args, *(keyword.value for keyword in keywords if keyword.arg not in REMARKS)
                if isinstance(function, ast.Name):
                    parts = () if function.id in self._defined else parts  # its return says what goes into the result
                else:
                    parts = called, *parts
            case (
                ast.ListComp(elt=value)
                | ast.SetComp(elt=value)
                | ast.GeneratorExp(elt=value)
                | ast.DictComp(value=value)
            ):
                scopes, parts = (*scopes, node), (value,)
            case ast.Lambda(body=value):
                scopes, parts = (*scopes, node), (value,)
            case ast.NamedExpr(value=value) | ast.keyword(value=value) | ast.FormattedValue(value=value):
                parts = (value,)
            case ast.For() | ast.AsyncFor():
                parts = (node.iter,)
            case ast.expr() | ast.AugAssign():
                parts = ast.iter_child_nodes(node)
        for part in parts:
            yield from self._parts(part, scopes)

    def _variables(self, node: Any, scopes: Scopes) -> set[Variable]:
        """List the variables that an expression itself reads; `f()` if it calls f, or hands it on."""
        match node:
            case ast.Name():
                return self._versions_read(node, scopes)
            case ast.Attribute(attr=attribute):
                return {f".{attribute}"}
            case ast.Call(func=function, args=args):
                inner = function.args if isinstance(function, ast.Call) else []
                names = {_name_of(part) for part in (function, *inner, *args)}
                return {f"{name}()" for name in names if name}
        return set()

    def _targets(self, target: Any, scopes: Scopes) -> set[Variable]:
        """List the variables that a target writes to; an attribute counts under its own name, whatever its object."""
        match target:
            case ast.Name(id=name):
                return {self._key(name, scopes)}
            case ast.Attribute(value=value, attr=attribute):
                return self._targets(value, scopes) if attribute in VIEWS else {f".{attribute}"}
            case ast.Subscript(value=value) | ast.Starred(value=value):
                return self._targets(value, scopes)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return {variable for part in parts for variable in self._targets(part, scopes)}
        return set()

    def _scope(self, scope: ast.AST) -> tuple[dict[str, list[ast.Name]], set[str]]:
        if scope not in self._bound:
            self._bound[scope] = _bound_in(scope)
        return self._bound[scope]

    def _key(self, name: str, scopes: Scopes) -> Variable:
        """Return the variable that a name stands for inside some scopes."""
        for k, scope in reversed([*enumerate(scopes)][1:]):
            bound, of_others = self._scope(scope)
            if name in bound and not (isinstance(scope, ast.ClassDef) and k < len(scopes) - 1):
                return f".{name}" if isinstance(scope, ast.ClassDef) else (self.source.path, id(scope), name)
            if name in of_others:
                break
        return self._module, name

    def _versions_read(self, name: ast.Name, scopes: Scopes) -> set[Variable]:
        """Return the variable that a name stands for; if it is known where it was last bound, only what it is since."""
        variable = self._key(name.id, scopes)
        around, node = dict[ast.AST, ast.AST](), self._parents.get(name, name)
        inner: ast.AST = name
        while True:
            around[node], inner = inner, node
            if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
                break
            node = self._parents[node]
        own = (self._module, name.id) if isinstance(node, ast.Module) else (self.source.path, id(node), name.id)
        bound = self._scope(node)[0].get(name.id, [])
        if variable != own or name.id in self._shared:
            return {variable}
        last = max((one for one in bound if self._follower(one, around)), key=_start, default=None)
        if last is None:
            return {variable}
        after = self._follower(last, around)
        return {
            (variable, span(one))
            for one in bound
            if one is last
            or (
                _start(last) < _start(one) < _end(after)
                and (hasattr(after, "body") or (_start(one) < _start(name) and one not in _written_by(after)))
            )
        }

    def _follower(self, name: ast.Name, around: dict[ast.AST, ast.AST]) -> Any:
        """Return the statement around a place that only runs after a name was bound here; None if there is none."""
        statement: Any = name
        while not isinstance(statement, ast.stmt):
            statement = self._parents[statement]
        if name not in _written_by(statement) or isinstance(statement, ast.AugAssign):
            return None
        if hasattr(statement, "body"):
            after = around.get(statement)
            return after if self._blocks.get(after) == (statement, "body") else None
        after = around.get(self._parents[statement])
        follows = self._blocks.get(after) == self._blocks.get(statement) and _end(statement) <= _start(after)
        return after if follows else None

    def _is_module(self, node: Any) -> bool:
        """Return whether a name is one that the source imports, as in `np.add(x, y)`."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.source.read(_imported)


class Sources:
    """What flows into what in the sources at some paths, and in the cells of this notebook."""

    def __init__(self, paths: Iterable[str]) -> None:
        known = {*paths}
        codes = [source_of(path).read(DataFlow) for path in (known.union(list_cells()) if known else ())]
        self._flows = _join(code.flows for code in codes)
        self._other_names = _join(code.other_names for code in codes)
        self._functions = _join(code.functions for code in codes)

    def reached_from(self, where: Where) -> set[Variable]:
        """List the variables that get the numbers of the expression at a place, and what stands for itself."""
        code, position = source_of(where[0].co_filename).read(DataFlow), position_of(*where)
        found: set[Variable] = {code.expression(position)}
        waiting = code.at.get(position, set()) - found
        while waiting:
            found.add(variable := waiting.pop())
            after: set[Variable] = {*self._flows.get(variable, ())}
            match variable:
                case "argument", str(name), slot:
                    after |= {("argument", each, slot) for each in self._functions.get(name, ())}
                    after |= {("argument", name, "**")} if slot != "*" else set()
                case "written", str(name), slot:
                    after |= {("written", each, slot) for each in self._other_names.get(name, ())}
                case str() if variable.endswith("()"):
                    after |= {f"{each}()" for each in self._other_names.get(variable[:-2], ())}
            waiting |= after - found
        return found


def _join(parts: Iterable[Mapping[Any, set[Any]]]) -> dict[Any, set[Any]]:
    joined: dict[Any, set[Any]] = defaultdict(set)
    for part in parts:
        for key, values in part.items():
            joined[key] |= values
    return joined


def used_at(where: Where, operation: str, unknown: tuple[bool, ...]) -> frozenset[Variable]:
    """List what goes into the arguments of an operation that are not tensors: variables, and expressions."""
    return frozenset(source_of(where[0].co_filename).read(DataFlow).used_at(position_of(*where), operation, unknown))


def chosen_by(where: Where) -> set[Variable]:
    """List what only chooses an element at a place, or how often it runs: variables, and expressions."""
    return source_of(where[0].co_filename).read(DataFlow).chosen_by(position_of(*where))


def _bound_in(scope: Any) -> tuple[dict[str, list[ast.Name]], set[str]]:
    """Map the names that a scope binds to where it assigns them, and list those that it declares global."""
    bound, declared, others = defaultdict[str, list[ast.Name]](list), set[str](), set[str]()
    waiting: list[Any] = [*ast.iter_child_nodes(scope)]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound[name] += []
                continue
            case ast.Lambda():
                continue
            case ast.arg(arg=name) | ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                bound[name] += []
            case ast.Name(id=name, ctx=ast.Store()):
                bound[name].append(node)
            case ast.Global(names=names):
                declared |= {*names}
            case ast.Nonlocal(names=names):
                others |= {*names}
            case ast.Import(names=parts) | ast.ImportFrom(names=parts):
                for imported in parts:
                    bound[imported.asname or imported.name.partition(".")[0]] += []
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for part in ast.walk(node):
                    if isinstance(part, ast.NamedExpr):
                        bound[part.target.id].append(part.target)
                continue
        waiting += ast.iter_child_nodes(node)
    return {name: nodes for name, nodes in bound.items() if name not in declared | others}, declared


def _block(node: ast.AST, block: str) -> list[ast.stmt]:
    found = getattr(node, block, None)
    return found if isinstance(found, list) else []


def _written_by(statement: Any) -> list[ast.AST]:
    """List the nodes of what a statement assigns to, at its beginning."""
    targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None)]
    targets += [item.optional_vars for item in getattr(statement, "items", ())]
    return [part for target in targets if target is not None for part in ast.walk(target)]


def _start(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


def _imported(source: SourceCode) -> set[str]:
    imports = [node for node in source.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return {part.asname or part.name.partition(".")[0] for node in imports for part in node.names}


def _name_of(node: Any) -> str | None:
    """Return the name of a function or a variable, without what it is an attribute of."""
    found = node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)
    return found if isinstance(found, str) else None


def _orders(node: Any) -> bool:
    """Return whether a call takes numbers to put things in order, as in `max(x, key=float)`."""
    return any(word.arg == "key" for word in getattr(node, "keywords", ()))


def _is_decorated(function: Any, *names: str) -> bool:
    return any(_name_of(part) in names for part in getattr(function, "decorator_list", ()))


def _pattern_name(node: Any) -> str | None:
    """Return the name that a part of a `case` binds."""
    return node.name if isinstance(node, ast.MatchAs | ast.MatchStar) else getattr(node, "rest", None)


def decides(where: Where) -> bool:
    """Return whether the expression at a place is in the condition of an `if`, a `while` or an `x if c else y`."""
    return source_of(where[0].co_filename).read(_decides, position_of(*where))


def _decides(source: SourceCode, position: Span) -> bool:
    tests = [span(node.test) for node in source.nodes if isinstance(node, ast.If | ast.While | ast.IfExp)]
    return any(test is not None and is_inside(position, test) for test in tests)
