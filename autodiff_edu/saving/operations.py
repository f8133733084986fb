"""The names of operations in a file. Loading can run these and nothing else."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.composites import SPELLED, call_spelled
from ..rules import RULES, complete
from ..text.functions import module_of

OURS = __name__.partition(".")[0] + "."
CUSTOM = "custom_gradient"
"""The operation of a custom gradient. It is not in the table: a file says what it computes."""


def operations() -> dict[str, Callable[..., Any]]:
    """Map the names in a file to all operations with a rule or a spelling, including registered ones.

    >>> table = operations()
    >>> table["numpy.sin"] is np.sin, "getitem" in table, "numpy.add.reduce" in table
    (True, True, True)
    """
    complete()
    table: dict[str, Callable[..., Any]] = {}
    for function in {**RULES, **SPELLED}:
        name = name_of(function)
        if name in table:
            raise ValueError(f"two operations are called {name!r}; give one of them another __name__")
        if isinstance(function, tuple):
            table[name] = getattr(*function)
        else:
            table[name] = _spelled(function) if function in SPELLED else function
    table["numpy.power"] = _power
    return table


def name_of(function: Any) -> str:
    """Return an operation's name: with its module for NumPy, without for this package and Python."""
    if isinstance(function, str):  # what a comparison calls the end of a backward function
        return function
    if isinstance(function, tuple):  # a ufunc and one of its methods
        return f"{name_of(function[0])}.{function[1]}"
    name, module = str(function.__name__), module_of(function)
    is_bare = function in (operator.getitem, np.ndarray.astype) or module.startswith(OURS)
    return name if is_bare else f"{module or 'registered'}.{name}"


def _power(x: Any, exponent: Any, **parameters: Any) -> Any:
    """Compute a power as `x ** exponent`, the usual form: Python takes short cuts that `np.power` does not."""
    return np.power(x, exponent, **parameters) if parameters else x**exponent


def _spelled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run the spelled-out version of a function; tensors do not hear of all such calls, such as `np.full(shape, x)`."""

    def run(*arguments: Any, **parameters: Any) -> Any:
        if function not in SPELLED:  # when it was saved, a rule of the user's was in its place
            return function(*arguments, **parameters)
        return call_spelled(function, arguments, parameters)

    return run
