"""NumPy functions that are composed of others, which have rules: each is spelled out in terms of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays.validate import reject_unknown
from .active import emit, now
from .events import Begin, End

SPELLED: dict[Any, Callable[..., Any]] = {}
"""Functions of tensors, and methods of ufuncs such as (np.add, "reduce"), written in terms of others."""


def call_spelled(function: Any, args: Any, parameters: Any) -> Any:
    """Call the spelled-out version of a function; say when it begins and ends, so that it can be treated as one."""
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
    """Call it; errors about its arguments name the function itself."""
    try:
        return SPELLED[function](*args, **parameters)
    except Exception as error:
        from ..text.failures import explain

        if isinstance(error, TypeError):
            reject_unknown(function, SPELLED[function], args, parameters)
        explain(error, function, args, parameters)
        raise
