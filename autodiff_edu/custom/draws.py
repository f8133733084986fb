"""The random numbers that a function draws, which would be others if it ran again."""

from __future__ import annotations

import functools
import pickle
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

MOST_OBJECTS = 1000
"""How many objects are looked at; generators hidden deeper are not found."""

_EMPTY = {bool, int, float, complex, str, bytes, type(None), type, np.ndarray, np.ufunc}
"""The types of most objects that hold no generator."""


def generators_of(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the random number generators that a function can reach: by its arguments, names, closure and attributes.

    >>> rng = np.random.default_rng(0)
    >>> generators_of(lambda x, source=rng: x + source.normal()) == [rng]
    True
    """
    found: list[Any] = []
    seen: set[int] = set()
    waiting: list[Any] = [function, *arguments]
    while waiting and len(seen) < MOST_OBJECTS:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.random.Generator | np.random.RandomState | random.Random):
            found.append(one)
        else:
            waiting += [part for part in islice(_reached(one), MOST_OBJECTS) if type(part) not in _EMPTY]
    return found


def state_of(generator: Any) -> bytes:
    """Return what changes when a generator draws a number; the system's has no state, and counts as drawn from."""
    if isinstance(generator, random.SystemRandom):
        return generator.randbytes(16)
    if isinstance(generator, random.Random):
        return pickle.dumps(generator.getstate())
    if isinstance(generator, np.random.RandomState):
        return pickle.dumps(generator.get_state())
    return pickle.dumps(generator.bit_generator.state)


def set_state(generator: Any, state: bytes) -> None:
    """Put a generator back to where it stood; the system's stands nowhere."""
    if isinstance(generator, random.SystemRandom):
        return
    if isinstance(generator, random.Random):
        generator.setstate(pickle.loads(state))
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(pickle.loads(state))
    else:
        generator.bit_generator.state = pickle.loads(state)


def _reached(one: Any) -> Iterator[Any]:
    """Iterate over what an object holds."""
    if isinstance(one, FunctionType):
        yield from (cell.cell_contents for cell in one.__closure__ or () if not _is_empty(cell))
        yield from (*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values())
        if _is_users(one.__module__):
            yield from _named(one.__globals__, set(_names(one.__code__)))
    elif isinstance(one, MethodType):
        yield from (one.__self__, one.__func__)
    elif isinstance(one, functools.partial):
        yield from (one.func, *one.args, *one.keywords.values())
    elif isinstance(one, list | tuple):
        yield from one
    elif isinstance(one, dict):
        yield from one.values()
    elif isinstance(one, BuiltinMethodType):
        yield one.__self__  # of random.random
    elif not isinstance(one, type | ModuleType | np.ndarray):
        with suppress(AttributeError):  # asked for directly, since an object's own __getattr__ may do anything
            yield from object.__getattribute__(one, "__dict__").values()
        if _is_users(type(one).__module__):
            kept = vars(type(one)).items()
            yield from (part for name, part in kept if name == "__call__" or not isinstance(part, FunctionType))


def _is_users(module: str | None) -> bool:
    return (module or "").partition(".")[0] not in ("numpy", "autodiff_edu", "builtins")


def _named(known: dict[str, Any], names: set[str]) -> Iterator[Any]:
    """Iterate over what the names mean; in a module, over what they mean there."""
    for name in names & known.keys():
        one = known[name]
        if isinstance(one, ModuleType):
            inner = [vars(one)[other] for other in names & vars(one).keys()]
            yield from (vars(part)[other] for part in inner if isinstance(part, ModuleType)
                        for other in names & vars(part).keys())  # fmt: skip
            yield from inner
        yield one


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_empty(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 (it raises if there is nothing in it)
    except ValueError:
        return True
    return False
