"""NumPy functions that have no rule.

They run and are recorded like any other, so that asking for their gradient can say what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.events import active
from ..core.journal import write
from ..core.rule import RULES, SPELLED
from ..core.tensor import Tensor, wrap
from ..text.places import here
from . import complete

if TYPE_CHECKING:
    from ..core.entry import Entry


def apply_unruled(function: Callable[..., Any], args: Any, parameters: Any) -> Any:
    """Run a NumPy function of tensors, nested in lists or not; arrays among its results become tensors."""
    complete()
    if function in SPELLED or function in RULES:
        return function(*args, **parameters)
    tensors: list[Tensor] = []
    plain_args = [_plain(argument, tensors, function) for argument in args]
    plain_parameters = {name: _plain(argument, tensors, function) for name, argument in parameters.items()}
    return _recorded(function(*plain_args, **plain_parameters), function, tensors, plain_parameters)


def _plain(argument: Any, tensors: list[Tensor], function: Callable[..., Any]) -> Any:
    """Take the arrays out of the tensors of an argument, and add those to the list."""
    if isinstance(argument, Tensor):
        tensors.append(argument)
        return argument._leave(function.__name__)
    if isinstance(argument, list | tuple):
        return type(argument)(_plain(part, tensors, function) for part in argument)
    return argument


def _recorded(result: Any, function: Callable[..., Any], tensors: list[Tensor], parameters: Any) -> Any:
    """Make tensors of the arrays of a result, each recorded as coming from all the tensors."""
    if isinstance(result, list | tuple):
        parts = [_recorded(part, function, tensors, parameters) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    if not isinstance(result, np.ndarray | np.generic):
        return result
    output, where = wrap(result), here()
    ids, arrays = tuple(tensor._id for tensor in tensors), [tensor._array for tensor in tensors]
    write((output._id, function, ids, output._id, where, get_ident()))
    for tape in active.tapes:
        tape._record(function, tensors, ids, arrays, parameters, output, where, False)
    return output


def no_rule(entry: Entry) -> LookupError:
    """Say which function, on the way from a target to a source, cannot be differentiated."""
    name = f"np.{entry.name}" if hasattr(np, entry.name) else entry.name
    return LookupError(
        f"{name}, used at {entry.place}, has no derivative rule. Write the value with functions that have one, "
        f"or register a rule: ad.register_gradient({name}, lambda g, y, x: ...)"
    )


def check_ruled(entries: list[Entry], needed: set[int], targets: Collection[int]) -> None:
    """Raise a LookupError if an entry without a rule lies on a way to the targets; before anything is pulled back."""
    reached = set(targets)
    for entry in reversed(entries):
        if entry.output_id in reached and entry.output_id in needed:
            if entry.operation not in RULES:
                raise no_rule(entry)
            reached.update(id for id in entry.ids if id is not None)
