"""The rules as they are written: their source, and from it formulas small enough to travel in a trace.

>>> import numpy as np
>>> rule = written(RULES[np.sin].pull(0))
>>> rule.parameters, ast.unparse(rule.body)
(('g', 'y', 'x'), 'g * np.cos(x)')
>>> formula(RULES[np.sin].pull(0), (0,))
['*', 'g', ['call', 'cos', 0]]

A formula is one of

- `"g"`, the cotangent; `"y"`, the output; an integer: that argument, counted from 0;
- `["number", 2]`; `["name", "axis"]`, a parameter that was not given, or a constant;
- `["neg", a]`, `["not", a]`, and with two operands `+ - * / ** @ // % & | < <= > >= == !=`;
- `["call", name, ...]`, `["transpose", a]`, `["where", c, a, b]`, `["index", a, text]`;
- `["code", text]`: what is none of these, as it stands in the rule.
"""

from __future__ import annotations

import ast
import linecache
from functools import cache, partial
from typing import Any, NamedTuple

from ..core.rule import RULES, Pull

__all__ = ["RULES", "Written", "formula", "written"]

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.FloorDiv: "//",
    ast.Mod: "%", ast.BitAnd: "&", ast.BitOr: "|", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Eq: "==", ast.NotEq: "!=", ast.USub: "neg", ast.Invert: "not",
}  # fmt: skip
FUNCTIONS = {
    "matmul": "@",
    "multiply": "*",
    "add": "+",
    "subtract": "-",
    "divide": "/",
    "power": "**",
    "t": "transpose",
}
COMPARE = {"==": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}


class Written(NamedTuple):
    """A rule as it stands in the code.

    Attributes
    ----------
    name : str
        The function's name, "<lambda>" for one of a table's lines.
    parameters : tuple of str
        What it calls the cotangent, the output and the arguments.
    body : ast.expr or None
        What it gives, as an expression; of a function made of tests and returns alone, as one with `if` and `else`.
        None for any other function, and where the source cannot be found.
    """

    name: str
    parameters: tuple[str, ...]
    body: ast.expr | None


def written(pull: Pull) -> Written:
    """Find the source of a rule, wherever it was entered: in this package, in a notebook, in a file of the user."""
    function: Any = pull
    given = 0
    if isinstance(pull, partial):
        function, given = pull.func, len(pull.args)
    name = getattr(function, "__name__", type(function).__name__)
    tree = _source(function)
    if tree is None:
        return Written(name, (), None)
    positional = [*tree.args.posonlyargs, *tree.args.args]
    parameters = tuple(a.arg for a in positional[given:])
    return Written(name, parameters, tree.body if isinstance(tree, ast.Lambda) else _expression(tree.body))


def _source(function: Any) -> ast.Lambda | ast.FunctionDef | None:
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    found = [node for node in _functions(text).get(code.co_firstlineno, ()) if _holds(node, code)]
    # of functions within one another, the innermost
    return max(found, key=lambda node: (node.lineno, node.col_offset), default=None)


@cache
def _functions(text: str) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a notebook's cell may hold more than Python
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda | ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
            found.setdefault(first, []).append(node)
    return found


def _holds(node: Any, code: Any) -> bool:
    """Tell whether the code lies within the node: a line may hold several lambdas."""
    if isinstance(node, ast.Lambda) is not (code.co_name == "<lambda>"):
        return False
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    places = [at for at in code.co_positions() if None not in at and at[2] < at[3]]
    return all(
        start <= (line, column) and (end_line, end_column) <= end for line, end_line, column, end_column in places
    )


def _expression(body: list[ast.stmt]) -> ast.expr | None:
    match body:
        case [ast.Expr(value=ast.Constant()), *rest]:  # the docstring
            return _expression(rest)
        case [ast.Return(value=ast.expr() as value)]:
            return value
        case [ast.If(test=test, body=then, orelse=[]), *rest]:
            first, second = _expression(then), _expression(rest)
            return ast.IfExp(test, first, second) if first and second else None
    return None


def formula(pull: Pull, dimensions: tuple[int, ...]) -> Any:
    """Give the formula of a rule, as the module describes it.

    Parameters
    ----------
    pull : callable
        The rule.
    dimensions : tuple of int
        For each argument how many axes it has; a rule may be different for vectors and for matrices.
    """
    rule = written(pull)
    roles = dict(zip(rule.parameters, ("g", "y", *range(len(dimensions))), strict=False))
    tree = None if rule.body is None else _Reader(roles, dimensions).read(rule.body)
    if tree is None or (tree[0] == "code" and rule.name != "<lambda>"):
        return ["code", rule.name] if rule.name == "<lambda>" else ["call", rule.name, "g"]
    return tree


class _Reader(NamedTuple):
    """Turns the expression of a rule into a formula."""

    roles: dict[str, Any]
    dimensions: tuple[int, ...]

    def read(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name):
                return self.roles.get(name, ["name", name])
            case ast.Constant(value=bool() | int() | float() as value):
                return ["number", value]
            case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
                if type(op) in OPERATORS:
                    return [OPERATORS[type(op)], self.read(left), self.read(right)]
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return [OPERATORS[type(op)], self.read(operand)]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                decided = self.decide(test)
                if decided is not None:
                    return self.read(body if decided else orelse)
            case ast.Subscript(value=value, slice=index):
                return ["index", self.read(value), ast.unparse(index).strip("()").replace("...", "…")]
            case ast.Attribute(value=value, attr="T"):
                return ["transpose", self.read(value)]
            case ast.Call(func=function, args=arguments, keywords=keywords):
                parts = [*map(self.read, arguments), *(["code", ast.unparse(keyword)] for keyword in keywords)]
                return self.call(function, parts) or ["code", ast.unparse(node)]
        return ["code", ast.unparse(node)]

    def call(self, function: ast.expr, parts: list[Any]) -> Any:
        path = ast.unparse(function)
        name = path.rpartition(".")[2]
        if "." in path and path.split(".")[0] not in ("np", "numpy", "scipy", "special"):
            return None  # a method
        if name == "swapaxes" and parts[1:] in ([["neg", ["number", 1]], ["neg", ["number", 2]]],):
            return ["transpose", parts[0]]
        if name == "where" and len(parts) == 3:
            return ["where", *parts]
        name = FUNCTIONS.get(name, name) if len(parts) <= 2 else name
        return [name, *parts] if name in FUNCTIONS.values() else ["call", name, *parts]

    def decide(self, test: ast.expr) -> bool | None:
        """Decide what depends on the number of axes alone; None for anything else."""
        match test:
            case ast.Compare(
                left=ast.Call(func=ast.Attribute(attr="ndim"), args=[ast.Name(id=name)]),
                ops=[op],
                comparators=[ast.Constant(value=int() as number)],
            ) if isinstance(self.roles.get(name), int):
                return bool(COMPARE[OPERATORS[type(op)]](self.dimensions[self.roles[name]], number))
        return None
