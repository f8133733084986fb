"""Formulas: the expressions that a program writes, as trees for the player to draw.

A formula is the text of an expression in which `__g` stands for the cotangent that arrived, `__y` for the output and
`__0`, `__1` … for the arguments, so entries that do the same have the same formula.

>>> tree("__g * np.cos(__0)")
['*', 'g', ['call', 'cos', 0]]
>>> tree("np.sum(-__g * (2 * __0), axis=0)")
['sum', ['neg', ['*', ['*', 'g', ['number', 2]], 0]], 'axis 0']

A tree is one of

- `"g"`, the cotangent; `"y"`, the output; an integer: that argument, counted from 0;
- `["number", 2]`; `["name", "π"]`: a constant, or a line of the program; `["bar", "w"]`: the cotangent of another
  tensor; `["code", text]`: Python as it stands;
- `["neg", a]`, `["not", a]`, and with two operands the operators of text/shared.json;
- `["call", name, ...]`, `["transpose", a]`, `["where", c, a, b]`, `["index", a, text]`, `["sum", a]` or
  `["sum", a, axes]`.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import Any

import numpy as np

from ..core.entry import Entry
from ..core.rule import RULES
from ..rules import operations
from ..text.formatting import number, short_argument
from ..text.shared import operators

MANY = 12
"""With more operands than this (in np.stack, for example), a formula has only the first ones and the last."""

ONE, TWO = ["number", 1], ["number", 2]
SIGNS = {name: operator.sign for name, operator in operators().items()}
SIGNS |= {"float_power": "**", "logical_and": "&", "logical_or": "|"}
NAMES: dict[str, Any] = {"__g": "g", "__y": "y", "inf": ["name", "∞"], "pi": ["name", "π"], "e": ["name", "e"]}
CONSTANTS: dict[float, Any] = {
    float(np.log(2.0)): ["call", "log", TWO],
    float(np.log(10.0)): ["call", "log", ["number", 10]],
    float(np.pi): ["name", "π"],
    float(np.pi / 180): ["/", ["name", "π"], ["number", 180]],
}
SOLVED: Any = ["call", "solve", ["transpose", 0], "g"]
PRODUCT: Any = ["@", "g", ["transpose", 1]], ["@", ["transpose", 0], "g"]
OF_MATRICES = {"matmul": PRODUCT, "dot": PRODUCT, "solve": (["neg", ["@", SOLVED, ["transpose", "y"]]], SOLVED)}
"""By operation, what it sends back to each argument. A vector is a column at the right and a row at the left."""
UNSEEN = ("keepdims", "dtype")
"""Keyword arguments that a formula leaves out."""


def argument(k: int) -> str:
    """Return what stands for an argument in a formula."""
    return f"__{k}"


def passed_through(entry: Entry, flowing: set[int | None], last: bool) -> int | None:
    """Find the argument that an operation of a rule returns as it is, as far as a formula goes.

    A formula leaves out guards, such as `np.where(x == 0, 1, x)` in a divisor where no x is 0; what counts ties, if
    there are none; operations that matter only for complex numbers, if there are none; and axes of length 1, which
    broadcasting needs.

    Parameters
    ----------
    entry : Entry
        The operation.
    flowing : set of int
        The ids of what was computed from the cotangent; choosing which elements that flows to is not a guard.
    last : bool
        Whether its result is the contribution.
    """
    first, result = entry.values[0], entry.output_value
    if entry.operation is np.where and flowing.isdisjoint(entry.ids) and np.size(first):
        return 1 if np.all(first) else None if np.any(first) else 2
    if entry.operation is np.add and np.asarray(entry.values[1]).dtype == bool and not np.any(entry.values[1]):
        return 0
    if entry.operation in (np.conjugate, np.real) and np.asarray(first).dtype.kind != "c":
        return 0
    if entry.operation is operations.cast or (entry.name == "getitem" and not np.ndim(first)):
        return 0
    if entry.operation in (np.reshape, np.expand_dims) and not last:
        without = [tuple(n for n in np.shape(value) if n != 1) for value in (first, result)]
        return 0 if without[0] == without[1] else None
    return None


def application(entry: Entry, arguments: list[Any]) -> Any:
    """Return the tree of an entry that has no expression in NumPy, such as a call of a custom gradient."""
    leaves = [["code", part] if isinstance(part, str) else k for k, part in enumerate(arguments)]
    if entry.name in SIGNS and len(leaves) == 2:
        return [SIGNS[entry.name], *leaves]
    words = [["code", f"{key}={short_argument(value)}"] for key, value in entry.parameters.items()]
    return ["call", entry.name, *_few(leaves), *words]


def find_vector_formula(entry: Entry, argument: int) -> Any:
    """Return the formula for an argument of a matrix and a vector, whose rule's code looks different; else None."""
    if entry.name not in OF_MATRICES or np.iscomplexobj(entry.output_value):
        return None
    return OF_MATRICES[entry.name][argument] if sorted(map(np.ndim, entry.values)) == [1, 2] else None


def has_expression(entry: Entry) -> bool:
    """Return whether the program's expression for an entry can serve as its formula."""
    return entry.operation in RULES and entry.operation is not operations.stop_gradient


@cache
def tree(text: str, names: tuple[tuple[str, Any], ...] = ()) -> Any:
    """Parse a formula; `names` says what other names stand for, besides `__g` and so on: a leaf, or ("bar", "w")."""
    return _read(ast.parse(text, mode="eval").body, NAMES | dict(names))


def _read(node: ast.expr, names: dict[str, Any]) -> Any:
    def read(part: ast.expr) -> Any:
        return _read(part, names)

    match node:
        case ast.Name(id=name):
            found = names.get(name, ("name", name))
            return int(name[2:]) if re.fullmatch(r"__\d+", name) else [*found] if isinstance(found, tuple) else found
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return CONSTANTS.get(value, ["number", value])
        case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
            return simplified([KINDS[type(op)], read(left), read(right)])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return simplified(["neg", read(operand)])
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return ["not", read(operand)]
        case ast.Subscript(value=ast.Attribute(attr="s_"), slice=index):
            return ["code", f"[{_index(index)}]"]
        case ast.Subscript(value=ast.Name() | ast.Subscript() | ast.Call() | ast.BinOp() as value, slice=index):
            return ["index", read(value), _index(index)]
        case ast.Attribute(value=value, attr="T"):
            return ["transpose", read(value)]
        case ast.Attribute(value=ast.Name(id="np"), attr=name) if name in names:
            return names[name]
        case ast.Call(func=ast.Attribute(value=value, attr="astype"), args=[kind]):
            return ["call", ast.unparse(kind).rpartition(".")[2], read(value)]
        case ast.Call(func=function, args=arguments, keywords=keywords):
            name = ast.unparse(function).rpartition(".")[2]
            listed = [part for one in arguments for part in (one.elts if isinstance(one, ast.List) else [one])]
            if name == "array" or name in ("float64", "float32", "float16", "int64"):  # a value that is written out
                return read(listed[0]) if len(listed) == 1 and len(arguments) == 1 else ["code", ast.unparse(node)]
            said = {word.arg: ast.unparse(word.value) for word in keywords if word.arg not in UNSEEN}
            return _called(name, [read(part) for part in listed], said)
        case ast.Constant(value=str() as value):
            return ["code", value.replace("...", "").replace("->", "→")]  # the subscripts of einsum
    return ["code", ast.unparse(node)]


def _kind(sign: str) -> type[ast.AST]:
    node: Any = ast.parse(f"a {sign} b", mode="eval").body
    return type(node.op if isinstance(node, ast.BinOp) else node.ops[0])


KINDS = {_kind(sign): sign for sign in SIGNS.values()}


def _index(index: ast.expr) -> str:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    arrays = [part.args[0] if isinstance(part, ast.Call) and part.args else part for part in parts]
    return ", ".join(ast.unparse(part) for part in arrays).replace("...", "…")


def _few(parts: list[Any]) -> list[Any]:
    return parts if len(parts) <= MANY else [*parts[: MANY - 2], ["code", "…"], parts[-1]]


def _called(name: str, parts: list[Any], said: dict[str | None, str]) -> Any:
    """Write a function in mathematical notation, if it has one."""
    words = [["code", f"{key}={text}"] for key, text in said.items()]
    parts = [part for part in parts if part != ["code", "None"]]
    if name == "sum" and len(parts) == 2:
        said = {"axis": str(parts.pop()[1])}
    match name, parts, said:
        case _, [left, right], {} if name in SIGNS and not said:
            return simplified([SIGNS[name], left, right])
        case "where", [_, _, _], _:
            return ["where", *parts]
        case "exp", [power], _:
            return ["**", ["name", "e"], power]
        case "exp2", [power], _:
            return ["**", TWO, power]
        case "square", [base], _:
            return ["**", base, TWO]
        case "reciprocal", [divisor], _:
            return ["/", ONE, divisor]
        case "logical_not", [value], _:
            return ["not", value]
        case ("transpose", [value], _) | ("transpose", [value, ["code", "(1, 0)"]], _):
            return ["transpose", value]
        case "swapaxes", [value, ["number", -1], ["number", -2]], _:
            return ["transpose", value]
        case "sum", [value], {"axis": axes}:
            several = axes.startswith("(")
            return ["sum", value, f"axes {axes[1:-1]}" if several else f"axis {axes}"] if axes != "()" else value
        case "sum", [value], _:
            return ["sum", value]
        case (("conjugate" | "real"), [["call", "conjugate", value]], _):
            return value if name == "conjugate" else ["call", name, value]
    return ["call", name, *_few(parts), *words]


def round_constants(tree: Any) -> Any:
    """Round the constants of a formula as they are in sentences.

    >>> round_constants(["*", ["number", 0.30000000000000004], 0])
    ['*', ['number', 0.3], 0]
    """
    match tree:
        case ["number", float() as value]:
            return ["number", float(number(value))]
        case [head, *parts]:
            return [head, *map(round_constants, parts)]
    return tree


def simplified(node: list[Any]) -> Any:
    """Write an operation as a reader would: −ȳ · x in place of (−ȳ) · x, and products without inner parentheses."""
    match node:
        case ["neg", ["number", value]]:
            return ["number", -value]
        case [("*" | "/" | "@") as sign, ["neg", left], right]:
            return ["neg", simplified([sign, left, right])]
        case [("*" | "/" | "@") as sign, left, ["neg", right]]:
            return ["neg", simplified([sign, left, right])]
        case [("*" | "@") as sign, left, [other, middle, right]] if other == sign:
            return simplified([sign, simplified([sign, left, middle]), right])
        case [("**" | "/" | "*"), left, ["number", 1]] | ["*", ["number", 1], left]:
            return left
        case ["+", left, ["number", 0]]:
            return left
        case ["&", left, ["<=", _, ["name", "∞"]]] | ["&", [">=", _, ["neg", ["name", "∞"]]], left]:
            return left
    return node
