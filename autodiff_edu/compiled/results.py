"""What a compiled function returns: its structure, which is rebuilt in every call."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

import numpy as np

from ..arrays.structures import flatten, rebuild
from ..core.tensor import Tensor, wrap
from ..core.variable import Variable
from ..transforms.blocks import BlockMatrix

Arrays = tuple[Any, ...]


def tensors_of(result: Any, name: str) -> list[Tensor]:
    """List the tensors of a result.

    Raises
    ------
    TypeError
        If it holds something besides tensors and None.
    """
    found: list[Tensor] = []
    for path, leaf in flatten(result, "the result"):
        if isinstance(leaf, BlockMatrix):
            found += [leaf.matrix(), *leaf._tensors]
        elif isinstance(leaf, Tensor):
            found.append(leaf)
        elif leaf is not None:
            raise TypeError(
                f"{path} of {name} is {leaf!r:.60} of type {type(leaf).__name__}, but a compiled function returns "
                "tensors, None, and structures of them. Return a tensor computed with NumPy functions; a plain number "
                "or array would keep its value from the first call"
            )
    return found


def builder(result: Any, made: Set[int]) -> Callable[[Arrays], Any]:
    """Return a function that puts arrays in place of the tensors of a result, in the order of `tensors_of`.

    `made` has the ids of the variables that the function makes, which are new in every call.
    """
    places = iter(range(10**9))
    return _builder(result, places, made)


def _builder(result: Any, places: Any, made: Set[int]) -> Callable[[Arrays], Any]:
    if isinstance(result, Variable):
        place, trainable, name = next(places), result.trainable, result.name
        if result._id in made:
            return lambda arrays: Variable(arrays[place], trainable, name)
        return lambda arrays: result  # the variable itself, with its new value
    if isinstance(result, Tensor):
        place = next(places)
        return lambda arrays: _tensor(arrays[place])
    if isinstance(result, BlockMatrix):
        first, count = next(places), len([next(places) for _ in result._tensors])
        return lambda arrays: BlockMatrix(
            rebuild(result._sources, map(_tensor, arrays[first + 1 : first + 1 + count])), _tensor(arrays[first])
        )
    if result is None:
        return lambda arrays: None
    if type(result) in (list, tuple):
        kind, parts = type(result), [_builder(part, places, made) for part in result]
        return lambda arrays: kind([part(arrays) for part in parts])
    if type(result) is dict:
        named = {key: _builder(part, places, made) for key, part in result.items()}
        return lambda arrays: {key: part(arrays) for key, part in named.items()}
    parts = [_builder(leaf, places, made) for _, leaf in flatten(result, "")]
    return lambda arrays: rebuild(result, iter([part(arrays) for part in parts]))


def _tensor(array: Any) -> Tensor:
    return wrap(array if isinstance(array, np.ndarray | np.generic) else np.asarray(array)[()])
