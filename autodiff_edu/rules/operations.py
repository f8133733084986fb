"""Operations that NumPy has no function for, or none that takes its arrays one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tensor import Tensor, apply


def operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of arrays an operation: called on a tensor, it goes through `apply`."""

    def dispatching(*inputs: Any, **parameters: Any) -> Any:
        if any(isinstance(x, Tensor) for x in inputs):
            return apply(dispatching, inputs, parameters)
        return function(*inputs, **parameters)

    dispatching.__name__, dispatching.__doc__ = function.__name__, function.__doc__
    return dispatching


@operation
def clip(x: Any, low: Any, high: Any) -> Any:
    """Keep x between two bounds; either may be infinite."""
    return np.clip(x, low, high)


@operation
def cast(x: Any, dtype: np.dtype) -> Any:
    """Convert to another floating or complex dtype."""
    return x.astype(dtype)


@operation
def round_off(x: Any, dtype: Any) -> Any:
    """Convert to integers or booleans, through which no derivative passes."""
    return x.astype(dtype)


def is_basic(index: Any) -> bool:
    """Tell whether an index is made of integers, slices, None and ... alone, so that it meets no element twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or isinstance(part, int | np.integer | slice) for part in parts)


@operation
def scatter(g: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Put the elements of g where `x[index]` took them from; what meets at one place adds up. Zeros elsewhere."""
    lead = g.ndim - np.broadcast_to(False, shape)[index].ndim
    stack = g.shape[:lead]
    out = np.zeros(stack + shape, g.dtype)
    if is_basic(index):
        out[(*(slice(None),) * lead, *(index if isinstance(index, tuple) else (index,)))] = g
        return out
    # positions in the flattened array, so that a stack in front cannot disturb the meaning of the index
    size = int(np.prod(shape))
    positions = np.arange(size).reshape(shape)[index].ravel()
    every: Any = slice(None)
    np.add.at(out.reshape(-1, size), (every, positions), g.reshape(-1, positions.size))
    return out


@operation
def gather(z: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Take `x[index]` of every x in a stack: what `scatter` undoes."""
    lead = z.ndim - len(shape)
    if is_basic(index):
        return z[(*(slice(None),) * lead, *(index if isinstance(index, tuple) else (index,)))]
    positions = np.arange(int(np.prod(shape))).reshape(shape)[index]
    return z.reshape((*z.shape[:lead], -1))[..., positions]


@operation
def concatenate(*arrays: Any, axis: int | None = 0) -> Any:
    """Join arrays along an axis they have."""
    return np.concatenate(arrays, axis=axis)


@operation
def stack(*arrays: Any, axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    return np.stack(arrays, axis=axis)
