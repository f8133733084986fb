"""NumPy functions that have no rule.

They run and are recorded like any others, so that the tape can name the missing rule when you ask for a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ..core import rule
from ..core.composites import SPELLED
from ..core.entry import Entry
from ..core.tensor import Tensor, _computed
from ..text.failures import explain


def complete() -> None:
    """Fill in the rest of the tables: they are read when the first function outside the usual ones is called."""
    for room in ("rearranging", "sampling", "nans", "choosing", "norms", "linalg_results", "fourier", "account"):
        import_module(f"{__package__}.{room}")


def apply_unruled(function: Callable[..., Any], args: Any, parameters: Any) -> Any:
    """Run a NumPy function on tensors, even inside lists; arrays among its results become tensors."""
    complete()
    if function in SPELLED or function in rule.RULES:
        return function(*args, **parameters)
    tensors: list[Tensor] = []
    plain_args = [_plain(argument, tensors, function) for argument in args]
    plain_parameters = {name: _plain(argument, tensors, function) for name, argument in parameters.items()}
    try:
        result = function(*plain_args, **plain_parameters)
    except Exception as error:
        explain(error, function, args, parameters)
        raise
    return _record(result, function, tensors, plain_parameters)


def _plain(argument: Any, tensors: list[Tensor], function: Callable[..., Any]) -> Any:
    """Replace the tensors in an argument with their arrays, and add the tensors to the list."""
    if isinstance(argument, Tensor):
        tensors.append(argument)
        return argument._leave(function.__name__)
    if isinstance(argument, list | tuple):
        return type(argument)(_plain(part, tensors, function) for part in argument)
    return argument


def _record(result: Any, function: Callable[..., Any], tensors: list[Tensor], parameters: Any) -> Any:
    """Wrap the arrays of a result as tensors, each recorded as computed from all the input tensors."""
    if isinstance(result, list | tuple):
        parts = [_record(part, function, tensors, parameters) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if not isinstance(result, np.ndarray | np.generic):
        return result
    ids, arrays = tuple(tensor._id for tensor in tensors), [tensor._array for tensor in tensors]
    return _computed(lambda *_, **__: result, function, tuple(tensors), ids, arrays, parameters)


def no_rule(entry: Entry) -> LookupError:
    """Return the error for an operation without a rule; `account` knows what to write instead."""
    from . import account

    return account.no_rule(entry)


rule.without_rule, rule.no_rule = apply_unruled, no_rule
