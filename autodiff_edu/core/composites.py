"""NumPy functions that are spelled out in terms of others, which have rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays.validate import reject_unknown
from .active import emit, now
from .events import Begin, End

SPELLED: dict[Any, Callable[..., Any]] = {}
"""Functions of tensors, and methods of ufuncs such as (np.add, "reduce"), written in terms of others."""


def call_spelled(function: Any, args: Any, parameters: Any) -> Any:
    """Call the spelled-out version of a function, between `Begin` and `End`, so that listeners can treat it as one."""
    if not now().heard[Begin]:
        return _call(function, args, parameters)
    emit(Begin)
    result = None
    try:
        result = _call(function, args, parameters)
    finally:
        emit(End, function, args, parameters, result)
    return result


def _call(function: Any, args: Any, parameters: Any) -> Any:
    """Call it; an error about its arguments names the original function."""
    try:
        return SPELLED[function](*args, **parameters)
    except Exception as error:
        from ..text.failures import explain

        if isinstance(error, TypeError):
            reject_unknown(function, SPELLED[function], args, parameters)
        explain(error, function, args, parameters)
        raise
