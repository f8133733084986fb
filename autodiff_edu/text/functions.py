"""What functions, operations and arguments are called, in sentences and in programs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np


def name_of(function: Any, otherwise: Any = None) -> str:
    """Return the name of a function; if it has none, `otherwise` or the name of its type."""
    return str(getattr(function, "__name__", type(function).__name__ if otherwise is None else otherwise))


def spoken(function: Callable[..., Any]) -> str:
    """Return the name of a function in a sentence."""
    name = name_of(function.func if isinstance(function, partial) else function)
    return "the function" if name == "<lambda>" else name


def written_name(function: Any) -> str:
    """Return a function's name as you would write it, `np.linalg.inv`; outside NumPy, its bare name.

    It may be a ufunc and the name of one of its methods.
    """
    if isinstance(function, tuple):
        return f"{written_name(function[0])}.{function[1]}"
    name, module = name_of(function, function), module_of(function)
    return f"np{module[5:]}.{name}" if module.partition(".")[0] == "numpy" else name


def module_of(function: Any) -> str:
    """Return the name of a function's module; a ufunc knows its own only since NumPy 2.2, so look whether np has it."""
    if isinstance(function, np.ufunc):
        return "numpy" if getattr(np, function.__name__, None) is function else ""
    return getattr(function, "__module__", "numpy") or ""


def in_numpy(operation: Any) -> str | None:
    """Return a NumPy function's name as you would write it, `np.linalg.inv`, if it can be reached by that name."""
    name, found = written_name(operation), cast(Any, np)
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return name if found is operation else None


def names_of_parameters(
    function: Callable[..., Any], count: int, other: Callable[[int], str] | None = None
) -> list[str]:
    """Name positional arguments as the function does: x, y, and rest[0], rest[1] for those in its *rest.

    `other` instead names those in its *rest, and all those of a function without a signature, by their positions.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function written in C may have no signature
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    if rest and other is None:
        return names + [f"{rest}[{k}]" for k in range(count - len(names))]
    return [*names, *map(other or "argument {}".format, range(len(names), count))]
