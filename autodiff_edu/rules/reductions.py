"""Rules of the functions that reduce an array along axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .kinds import SPELLED, general, linear, step

Axis = int | tuple[int, ...] | None


def from_the_right(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Write axes as negative numbers, so that they mean the same with a stack in front."""
    if axis is None:
        return tuple(range(-ndim, 0))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(a if a < 0 else a - ndim for a in axes)


def restore(g: Any, x: Any, axis: Axis, keepdims: bool) -> Any:
    """Put the reduced axes back into g, with length 1."""
    return g if keepdims else np.expand_dims(g, from_the_right(axis, np.ndim(x)))


def spread(g: Any, x: Any, axis: Axis, keepdims: bool) -> Any:
    """Copy g along the reduced axes, to the shape of x (behind the stack, if there is one)."""
    g = restore(g, x, axis, keepdims)
    stack = np.shape(g)[: np.ndim(g) - np.ndim(x)]
    return np.broadcast_to(g, stack + np.shape(x))


def length(x: Any, axis: Axis) -> int:
    """Count the elements that are reduced to one."""
    shape = np.shape(x)
    return int(np.prod([shape[a] for a in from_the_right(axis, len(shape))]))


def pull_extreme(g: Any, y: Any, x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Pull back to the largest (or smallest) elements; equal ones share evenly."""
    chosen = x == restore(y, x, axis, keepdims)
    return restore(g, x, axis, keepdims) * (chosen / np.sum(chosen, axis=axis, keepdims=True))


# fmt: off
linear(np.sum,   lambda g, y, x, axis=None, keepdims=False: spread(g, x, axis, keepdims))
linear(np.mean,  lambda g, y, x, axis=None, keepdims=False: spread(g / length(x, axis), x, axis, keepdims))
general(np.max,  pull_extreme)
general(np.min,  pull_extreme)
step(np.argmax, np.argmin, np.any, np.all, np.count_nonzero)
# fmt: on

SPELLED[np.amax], SPELLED[np.amin] = np.max, np.min
