"""Notes on failed operations: the reader's line, what each operand is, and what would fit instead."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from itertools import zip_longest
from typing import Any

import numpy as np

from .fitting import each, is_array, is_joined, what_would_fit
from .formatting import short_value
from .frames import Where, here
from .functions import name_of
from .mismatches import Parts, find_mismatch
from .places import place, written
from .shared import operators
from .tracebacks import hide_frames

EXPLAINED = (ValueError, TypeError, IndexError, ArithmeticError, Warning)
"""The errors that NumPy raises about shapes, dtypes and indices, and about numbers if the user asked for errors."""

MANY = 6
"""With more operands than this (in np.stack, for example), only one of each shape and dtype is listed."""

told: ContextVar[Callable[[Exception, Any, Any, Any], None] | None] = ContextVar("told", default=None)
"""What to call with each failure, its operation, arguments and parameters, while a function is recorded or traced."""

_COMPARISONS = {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def explain(error: Exception, operation: Any, args: Any, parameters: Any = ()) -> None:
    """Add a note to a NumPy error: the reader's line, each operand and, for the usual mistakes, what would fit.

    Parameters
    ----------
    error : Exception
        Left unchanged unless it is one of `EXPLAINED`.
    operation : callable, or ufunc and the name of one of its methods
        What was called.
    args : tuple
        Tensors, arrays and other values; lists of tensors if they are joined.
    parameters : dict
        The keyword arguments.
    """
    hide_frames(error)
    if tell := told.get():
        tell(error, operation, args, parameters)
    if isinstance(error, EXPLAINED):
        with suppress(Exception), np.errstate(all="ignore"):  # NumPy's error must reach the reader, whatever happens
            _explain(error, operation, args, dict(parameters))


def explain_mismatch(error: Exception, operation: Any, args: Any, parameters: Any, where: Where) -> Parts:
    """Explain which numbers in a failed operation's shapes do not fit, as `mismatches.find_mismatch` does."""
    with suppress(Exception), np.errstate(all="ignore"):
        function, method = operation if isinstance(operation, tuple) else (operation, None)
        given = args[:1] if function is operator.getitem else args
        _, names = _words(where, function, method, given)
        name = name_of(function, function)
        called = f"np.{name}" if getattr(np, name, None) is function else name
        if name in operators() and (found := written(where)) and found[1] is None:
            called = operators()[name].sign
        return find_mismatch(function, given, dict(parameters), names, called, str(error))
    return []


def _explain(error: Exception, operation: Any, args: Any, parameters: dict[str, Any]) -> None:
    where = here()
    start = f"At {place(where)}: "
    if notes := getattr(error, "__notes__", []):
        if not notes[-1].startswith(start):
            return  # it happened in a user's function called here, and is explained there
        notes.pop()  # it is about a part of this call, whose operands have no names
    if not any(map(is_array, each(args))):
        return
    function, method = operation if isinstance(operation, tuple) else (operation, None)
    if function is operator.getitem:
        args = args[:1]  # NumPy says enough about the index
    expression, names = _words(where, function, method, args)
    operands = list(each(args))
    fit = None
    if not method and not isinstance(error, ArithmeticError | Warning):
        fit = what_would_fit(function, args, parameters, names)
    lines = []
    for k, (name, value) in enumerate(zip(names, operands, strict=True)):
        if is_array(value):
            end = f" has shape {value.shape} and dtype {value.dtype}"
            if isinstance(error, ArithmeticError | Warning):
                end += f": {short_value(getattr(value, '_array', value))}"
        elif isinstance(function, np.ufunc) and (isinstance(error, TypeError) or (fit and fit[0] == k)):
            end = f" is of type {type(value).__name__}"
        else:
            continue
        lines.append((name or _ordinal(k, len(operands)), end + (fit[1] if fit and fit[0] == k else "")))
    if len(lines) > MANY:
        lines = [(name, end) for end, name in {end: name for name, end in reversed(lines)}.items()][::-1][:MANY]
    error.add_note("\n  ".join([start + expression, *map("".join, lines)]))


def _words(where: Any, function: Any, method: str | None, args: Any) -> tuple[str, list[str | None]]:
    """Find how the user wrote a call, and what each operand is called (there, or by its tensor's name); or None."""
    name = name_of(function, function)
    given = [getattr(value, "name", None) for value in each(args)]
    if (found := written(where)) is None:
        return name, given
    text, called, arguments = found
    text = text if len(text) <= 80 else f"{called or name}(...)"
    if called not in (None, method or name) and getattr(np, str(called), None) is not function:
        return f"{name}, in {text}", given  # the user called something else that computes this, for example a layer
    if function in _COMPARISONS and len({type(value) for value in args}) > 1:
        return text, given  # in x == w, Python asks w first if it is a Variable, so the sides cannot be told apart
    if isinstance(function, np.ufunc) and not method:
        arguments = arguments[-function.nin :]  # in special.erf(x), the module is not an argument
    elif called and len(arguments) > len(args) and not hasattr(np.ndarray, called):
        arguments = arguments[1:]  # nor in linalg.solve(a, b)
    if any(isinstance(argument, ast.Starred) for argument in arguments):
        return text, given
    names: list[str | None] = []
    for value, argument in zip_longest(args, arguments[: len(args)]):
        names += _names(value, argument)
    return text, [name or other for name, other in zip(names, given, strict=True)]


def _names(value: Any, argument: ast.expr | None) -> list[str | None]:
    """List the user's names for the operands of one argument: one, or as many as are joined."""
    name = ast.unparse(argument) if argument else None
    if not is_joined(value):
        return [name if name and len(name) <= 40 else None]
    if isinstance(argument, ast.List | ast.Tuple) and len(argument.elts) == len(value):
        return [_names(None, part)[0] for part in argument.elts]
    simple = isinstance(argument, ast.Name | ast.Attribute)
    return [f"{name}[{k}]" if simple else None for k in range(len(value))]


def _ordinal(place: int, count: int) -> str:
    if count == 1:
        return "the operand"
    return f"the {_ORDINALS[place]} operand" if place < len(_ORDINALS) else f"operand {place + 1}"
