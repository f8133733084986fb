"""NumPy functions that have no rule.

They run and are recorded like any other, so that asking for their gradient can say what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from .events import active
from .rules import complete
from .rules.kinds import RULES, SPELLED
from .tensor import Tensor, wrap

if TYPE_CHECKING:
    from .entry import Entry


def apply_unruled(function: Callable[..., Any], args: Any, parameters: Any) -> Any:
    """Run a NumPy function of tensors, nested in lists or not; arrays among its results become tensors."""
    complete()
    if function in SPELLED or function in RULES:
        return function(*args, **parameters)
    tensors: list[Tensor] = []

    def plain(argument: Any) -> Any:
        if isinstance(argument, Tensor):
            tensors.append(argument)
            return argument._leave(function.__name__)
        if isinstance(argument, list | tuple):
            return type(argument)(map(plain, argument))
        return argument

    def wrapped(result: Any) -> Any:
        if isinstance(result, list | tuple):
            parts = map(wrapped, result)
            return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
        if not isinstance(result, np.ndarray | np.generic):
            return result
        output = wrap(result)
        for tape in active.tapes:
            tape._record(
                function, tensors, [t._id for t in tensors], [t._array for t in tensors], parameters, output, False
            )
        return output

    plain_parameters = {name: plain(argument) for name, argument in parameters.items()}
    return wrapped(function(*map(plain, args), **plain_parameters))


def no_rule(entry: Entry) -> LookupError:
    """Say which function, on the way from a target to a source, cannot be differentiated."""
    name = entry.name
    return LookupError(
        f"np.{name}, used at {entry.place}, has no derivative rule. Write the value with functions that have one, "
        f"or register a rule: ad.register_gradient(np.{name}, lambda g, y, x: ...)"
    )


def check_ruled(entries: list[Entry], needed: set[int], targets: Collection[int]) -> None:
    """Raise a LookupError if an entry without a rule lies on a way to the targets; before anything is pulled back."""
    reached = set(targets)
    for entry in reversed(entries):
        if entry.output_id in reached and entry.output_id in needed:
            if entry.operation not in RULES:
                raise no_rule(entry)
            reached.update(id for id in entry.ids if id is not None)
