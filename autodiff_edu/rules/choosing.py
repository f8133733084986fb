"""NumPy functions that choose between values, or apply a function to parts: a cotangent goes to what was chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..core.composites import SPELLED
from ..core.tensor import Tensor
from .operations import alias, array_of, scatter
from .rearranging import moveaxis
from .sampling import convert_dtype
from .taking import array_from, take


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Take each element from the first choice whose condition holds."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"np.select takes as many choices as conditions; got {len(choicelist)} and {len(condlist)}")
    for k, condition in enumerate(condlist):
        if array_from(condition).dtype.kind != "b":
            raise TypeError(f"condition {k} of np.select is not an array of True and False; write a comparison")
    found = default
    for condition, choice in zip(condlist[::-1], choicelist[::-1], strict=True):
        found = np.where(condition, choice, found)
    return found


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Any:
    """Take each element from the choice that an array of numbers names."""
    chosen, count = array_from(a), len(choices)
    if chosen.dtype.kind not in "iub":
        raise TypeError(f"np.choose takes integers as the numbers of its choices, but their dtype is {chosen.dtype}")
    if mode == "raise" and np.any((chosen < 0) | (chosen >= count)):
        raise ValueError(f"np.choose has {count} choices, but was asked for number {chosen.min()} to {chosen.max()}")
    number = chosen % count if mode == "wrap" else np.clip(chosen, 0, count - 1)
    parts = [x if isinstance(x, Tensor) else np.asarray(x) for x in choices]
    found = np.broadcast_to(parts[0], np.broadcast_shapes(np.shape(chosen), *map(np.shape, parts)))
    for k, part in enumerate(parts[1:], 1):
        found = np.where(number == k, part, found)
    return found


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **options: Any) -> Any:
    """Compute each function on the elements that meet its condition; if it meets several, the last one counts."""
    if np.isscalar(condlist) or (np.ndim(array_from(condlist[0])) == 0 and np.ndim(x)):  # a single condition
        condlist = [condlist]
    masks = [array_from(condition).astype(bool) for condition in condlist]
    if len(masks) == len(funclist) - 1:
        masks.append(~np.any(masks, axis=0))
    if len(masks) != len(funclist):
        raise ValueError(
            f"np.piecewise with {len(masks)} conditions takes {len(masks)} or {len(masks) + 1} functions; "
            f"{len(funclist)} were given"
        )
    found: Any = np.zeros_like(x)
    for mask, function in zip(masks, funclist, strict=True):
        if not callable(function):
            found = np.where(mask, function, found)
        elif mask.any():
            values = function(x[mask], *args, **options)
            spread = scatter(np.broadcast_to(values, (int(np.count_nonzero(mask)),)), mask, np.shape(x))
            found = np.where(mask, spread, found)
    return convert_dtype(found, x.dtype)


def compress(condition: Any, a: Any, axis: int | None = None, out: None = None) -> Any:
    """Take the elements along an axis for which a condition holds."""
    return take(a, np.flatnonzero(array_from(condition)), axis)


def extract(condition: Any, arr: Any) -> Any:
    """Take the elements for which a condition holds."""
    return take(np.ravel(arr), np.flatnonzero(array_from(condition)))


def real_if_close(a: Any, tol: float = 100) -> Any:
    """Drop the imaginary part if all of it is as small as a rounding error."""
    if a.dtype.kind != "c":
        return alias(a)
    bound = tol * np.finfo(a.dtype).eps if tol > 1 else tol
    return np.real(a) if np.all(np.abs(np.imag(array_of(a))) < bound) else alias(a)


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **options: Any) -> Any:
    """Call a function on one vector after another, and put its results where the vectors were."""
    axis = normalize_axis_index(axis, np.ndim(arr))
    vectors = moveaxis(arr, axis, -1)
    *others, length = np.shape(vectors)
    if 0 in others:
        raise ValueError(f"np.apply_along_axis has no vector to call the function on in an array of shape {arr.shape}")
    results = [func1d(vector, *args, **options) for vector in np.reshape(vectors, (math.prod(others), length))]
    found = np.stack([x if isinstance(x, Tensor) else np.asarray(x) for x in results])
    found, ndim = np.reshape(found, (*others, *np.shape(found)[1:])), np.ndim(found) - 1
    return moveaxis(found, range(-ndim, 0), range(axis, axis + ndim)) if ndim else found


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """Call a function along one axis after another, keeping the axes that it drops."""
    ndim = np.ndim(a)
    for axis in np.atleast_1d(axes).tolist():
        found = func(a, axis)
        a = found if np.ndim(found) == ndim else np.expand_dims(found, axis % ndim)
        if np.ndim(a) != ndim:
            raise ValueError(f"the function must return an array of {ndim} axes, or of one fewer; got {np.ndim(found)}")
    return a


SPELLED |= {
    np.select: select, np.choose: choose, np.piecewise: piecewise, np.compress: compress, np.extract: extract,
    np.real_if_close: real_if_close, np.apply_along_axis: apply_along_axis, np.apply_over_axes: apply_over_axes,
}  # fmt: skip
