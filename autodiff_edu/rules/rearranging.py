"""NumPy functions that rearrange, repeat, split or join elements, written as indexing, reshaping and concatenation.

Sliding windows are an operation of their own. None of the others needs a rule: they are differentiated, to any order,
by the rules of what they are written in.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..core.composites import SPELLED
from ..core.rule import linear
from ..core.tensor import Tensor
from .operations import alias, scatter
from .taking import array_from, count_from, take, with_axis


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each element by taking it several times."""
    a, axis = with_axis(a, axis)
    return take(a, np.repeat(np.arange(np.shape(a)[axis]), count_from(repeats)), axis)


def tile(A: Any, reps: Any) -> Any:  # noqa: N803 - NumPy's own name
    """Repeat the whole array."""
    counts = tuple(map(count_from, (reps,) if np.ndim(reps) == 0 else reps))
    a = np.reshape(A, (1,) * (len(counts) - np.ndim(A)) + np.shape(A))
    counts = (1,) * (np.ndim(a) - len(counts)) + counts
    for axis, count in enumerate(counts):
        if count != 1:
            a = take(a, np.tile(np.arange(np.shape(a)[axis]), count), axis)
    return a


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Shift elements; those that leave at one end come back at the other."""
    if axis is None:
        return np.reshape(roll(np.ravel(a), shift, 0), np.shape(a))
    for step, one in zip(*np.broadcast_arrays(np.atleast_1d(count_from(shift)), np.atleast_1d(axis)), strict=True):
        a = take(a, np.roll(np.arange(np.shape(a)[one]), step), int(one))
    return a


def flip(m: Any, axis: Any = None) -> Any:
    """Reverse the order of elements along axes."""
    axes = range(np.ndim(m)) if axis is None else normalize_axis_tuple(axis, np.ndim(m))
    return m[tuple(slice(None, None, -1 if k in axes else None) for k in range(np.ndim(m)))]


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """Rotate by 90 degrees, k times, in the plane of two axes."""
    first, second = axes
    return {
        0: lambda: flip(m, ()),
        1: lambda: np.swapaxes(flip(m, second), first, second),
        2: lambda: flip(m, (first, second)),
        3: lambda: flip(np.swapaxes(m, first, second), second),
    }[k % 4]()


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Move axes to new places by transposing."""
    ndim = np.ndim(a)
    froms, tos = normalize_axis_tuple(source, ndim, "source"), normalize_axis_tuple(destination, ndim, "destination")
    order = [k for k in range(ndim) if k not in froms]
    for to, start in sorted(zip(tos, froms, strict=True)):
        order.insert(to, start)
    return np.transpose(a, order)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """Move one axis back until it lies before another."""
    axis, start = normalize_axis_index(axis, np.ndim(a)), start + np.ndim(a) if start < 0 else start
    return moveaxis(a, axis, start - (axis < start))


def at_least(ndim: int) -> Any:
    """Return the function that adds axes of length 1 as NumPy's atleast_1d, 2d and 3d do."""

    def widened(*arrays: Any) -> Any:
        found = tuple(np.reshape(a, _widen(np.shape(a), ndim)) for a in arrays)
        return found[0] if len(found) == 1 else found

    return widened


def _widen(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    if len(shape) >= ndim:
        return shape
    return {
        (0, 1): (1,), (0, 2): (1, 1), (0, 3): (1, 1, 1),
        (1, 2): (1, *shape), (1, 3): (1, *shape, 1), (2, 3): (*shape, 1),
    }[len(shape), ndim]  # fmt: skip


def column_stack(tup: Sequence[Any]) -> Any:
    """Join vectors as columns."""
    return np.concatenate([np.reshape(a, (-1, 1)) if np.ndim(a) < 2 else a for a in tup], axis=1)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Cut into pieces at the given indices, or into a number of pieces of nearly equal length."""
    length = np.shape(ary)[axis]
    if np.ndim(indices_or_sections) == 0:
        sections = operator.index(indices_or_sections)
        lengths = [length // sections + (k < length % sections) for k in range(sections)]
        cuts = np.cumsum(lengths)[:-1].tolist()
    else:
        cuts = list(indices_or_sections)
    lead = (slice(None),) * (axis % np.ndim(ary))
    return [ary[(*lead, slice(a, b))] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Cut into pieces of equal length, or at the given indices."""
    if np.ndim(indices_or_sections) == 0 and np.shape(ary)[axis] % indices_or_sections:
        raise ValueError(
            f"an axis of length {np.shape(ary)[axis]} cannot be split into {indices_or_sections} equal parts; "
            "use np.array_split for parts of nearly equal length"
        )
    return array_split(ary, indices_or_sections, axis)


def split_with_axes(name: str, least: int) -> Callable[[Any, Any], list[Any]]:
    """Return the function that splits an array of this many axes or more: along the first, second or third of them."""

    def parts(ary: Any, indices_or_sections: Any) -> list[Any]:
        if np.ndim(ary) < least:
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")  # as NumPy says it
        axis = {"vsplit": 0, "hsplit": int(np.ndim(ary) > 1), "dsplit": 2}[name]
        return split(ary, indices_or_sections, axis)

    return parts


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Take a diagonal, as the last axis."""
    a = moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = _diagonal_places(np.shape(a)[-2:], offset)
    return a[..., rows, columns]


def _diagonal_places(shape: tuple[int, ...], offset: int) -> tuple[Any, Any]:
    count = max(0, min(shape[0] + min(offset, 0), shape[1] - max(offset, 0)))
    return np.arange(count) - min(offset, 0), np.arange(count) + max(offset, 0)


def diag(v: Any, k: int = 0) -> Any:
    """Return a matrix's diagonal, or a matrix with a vector on its diagonal."""
    if np.ndim(v) == 2:
        return diagonal(v, k)
    if np.ndim(v) != 1:
        raise ValueError(f"np.diag takes a vector or a matrix; its argument has shape {np.shape(v)}")
    size = np.shape(v)[0] + abs(k)
    return scatter(v, _diagonal_places((size, size), k), (size, size))


def pad(array: Any, pad_width: Any, mode: Any = "constant", **parameters: Any) -> Any:
    """Widen an array: with constants, or with its own elements in another order."""
    known = ("constant", "edge", "reflect", "symmetric", "wrap")
    if mode not in known:
        raise ValueError(f"np.pad of a tensor supports the modes {', '.join(known)}, not {mode!r}")
    if parameters.get("reflect_type", "even") != "even":
        raise ValueError("np.pad of a tensor supports only reflect_type='even'")
    shape = np.shape(array)
    widths = np.broadcast_to(pad_width, (len(shape), 2)).tolist() if not isinstance(pad_width, dict) else None
    if widths is None:
        widths = [
            np.broadcast_to(pad_width.get(k, pad_width.get(k - len(shape), 0)), 2).tolist() for k in range(len(shape))
        ]
    constants = parameters.get("constant_values")
    if isinstance(constants, Tensor):
        parameters["constant_values"] = 0
    if not any(map(any, widths)):
        np.pad(np.zeros(shape), pad_width, mode, **parameters)  # for NumPy's own errors
        return alias(array)
    if isinstance(constants, Tensor):
        np.pad(np.zeros(shape), pad_width, mode, **parameters)
        return pad_with_tensor(array, widths, constants)
    if mode == "constant":
        inside = tuple(slice(before, before + n) for (before, _), n in zip(widths, shape, strict=True))
        wide = tuple(before + n + after for (before, after), n in zip(widths, shape, strict=True))
        border = np.pad(np.zeros(shape), widths, mode, **parameters).astype(array.dtype)
        return scatter(array, inside, wide) + border
    for axis, width in enumerate(widths):
        if any(width):
            array = take(array, np.pad(np.arange(np.shape(array)[axis]), width, mode, **parameters), axis)
    return array


def pad_with_tensor(array: Any, widths: list[list[int]], constants: Tensor) -> Any:
    """Join the constants to both ends of one axis after another, so that a corner belongs to the last axis."""
    ends: Any = np.broadcast_to(constants, (len(widths), 2)).astype(array.dtype)
    for axis, width in enumerate(widths):
        shape = np.shape(array)
        before, after = (np.broadcast_to(ends[axis, k], (*shape[:axis], width[k], *shape[axis + 1 :])) for k in (0, 1))
        array = np.concatenate([before, array, after], axis=axis)
    return array


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Join two arrays, flattened unless an axis is given."""
    return np.concatenate([np.ravel(arr), np.ravel(values)] if axis is None else [arr, values], axis=axis or 0)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Take all elements but some."""
    length = np.size(arr) if axis is None else np.shape(arr)[axis]
    return take(arr, np.delete(np.arange(length), count_from(obj)), axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Insert values before some elements: join both, then take them in the order of np.insert's places."""
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, normalize_axis_index(axis, np.ndim(arr)))
    length = np.shape(arr)[axis]
    places: Any = count_from(obj)
    count = len(np.insert(np.arange(length), places, 0)) - length
    if count == 1:  # then one place may get several values
        values = np.reshape(values, (1,) * (np.ndim(arr) - np.ndim(values)) + np.shape(values))
        values = moveaxis(values, 0, axis) if np.ndim(places) == 0 and not isinstance(places, slice) else values
        count = np.shape(values)[axis]
    values = np.broadcast_to(values, (*np.shape(arr)[:axis], count, *np.shape(arr)[axis + 1 :]))
    order = np.insert(np.arange(length), places, np.arange(length, length + count))
    return take(np.concatenate([arr, values.astype(arr.dtype)], axis=axis), order, axis)


def block(arrays: Any) -> Any:
    """Join nested lists of arrays: the innermost along the last axis, the next along the one before, and so on."""
    if not isinstance(arrays, list):
        return alias(arrays)
    np.block(_each_leaf(arrays, lambda a: np.zeros(np.shape(a), bool)))  # for NumPy's own errors
    depth = 0
    first: Any = arrays
    while isinstance(first, list):
        depth, first = depth + 1, first[0]
    ranks: list[int] = []
    _each_leaf(arrays, lambda a: ranks.append(np.ndim(a)))
    ndim = max(depth, *ranks)
    return _join(_each_leaf(arrays, lambda a: np.reshape(a, (1,) * (ndim - np.ndim(a)) + np.shape(a))), depth)


def _each_leaf(nested: Any, function: Callable[[Any], Any]) -> Any:
    return [_each_leaf(part, function) for part in nested] if isinstance(nested, list) else function(nested)


def _join(nested: Any, depth: int) -> Any:
    return np.concatenate([_join(part, depth - 1) for part in nested], axis=-depth) if depth else nested


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Split an array along an axis, which the parts no longer have."""
    if not np.ndim(x):
        raise ValueError("a scalar has no axis to unstack")
    return tuple(moveaxis(x, axis, 0))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Lay every vector along its own axis (the first two swapped for "xy") and broadcast."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"the indexing of np.meshgrid is 'xy' or 'ij', not {indexing!r}")
    places = [1, 0, *range(2, len(xi))] if indexing == "xy" and len(xi) > 1 else range(len(xi))
    laid = [
        np.reshape(x, [-1 if k == place else 1 for k in range(len(xi))]) for x, place in zip(xi, places, strict=True)
    ]
    return tuple(laid) if sparse else broadcast_arrays(*laid)


def resize(a: Any, new_shape: Any) -> Any:
    """Repeat the elements, or drop some, to fill a shape."""
    size = int(np.prod(new_shape))
    if not np.size(a):
        return np.broadcast_to(np.sum(a).astype(a.dtype), new_shape)  # 0, and a tensor
    return np.reshape(take(a, np.arange(size) % np.size(a)), new_shape)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Cut off the zeros at the front and the back of axes."""
    if sorted(trim.lower()) not in (["b"], ["f"], ["b", "f"]):
        raise ValueError(f"np.trim_zeros trims 'f', 'b' or 'fb', not {trim!r}")
    axes = range(np.ndim(filt)) if axis is None else normalize_axis_tuple(axis, np.ndim(filt))
    index = [slice(None)] * np.ndim(filt)
    for places, axis in zip(np.nonzero(array_from(filt)), range(np.ndim(filt)), strict=True):
        if axis in axes:
            first, last = (places.min(), places.max() + 1) if places.size else (0, 0)
            front, back = "f" in trim.lower() or not places.size, "b" in trim.lower() or not places.size
            index[axis] = slice(int(first) if front else None, int(last) if back else None)
    return filt[tuple(index)]


def pull_windows(g: Any, y: Any, x: Any, window_shape: Any, axis: Any = None, **_: Any) -> Any:
    """Add the cotangents of all windows at their elements, one axis and one place in the window at a time."""
    sizes = np.atleast_1d(window_shape).tolist()
    axes = range(np.ndim(x)) if axis is None else normalize_axis_tuple(axis, np.ndim(x), allow_duplicate=True)
    for axis, size in list(zip(axes, sizes, strict=True))[::-1]:
        *shape, _ = np.shape(y)
        count = shape[axis]
        shape[axis] += size - 1
        index = [(*(slice(None),) * axis, slice(k, k + count)) for k in range(size)]
        parts = [scatter(g[..., k], place, tuple(shape)) for k, place in enumerate(index)]
        g, y = sum(parts[1:], start=parts[0]), np.broadcast_to(0, shape)
    return g


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """Broadcast arrays against each other."""
    shape = np.broadcast_shapes(*map(np.shape, args))
    return tuple(np.broadcast_to(a, shape) for a in args)


SPELLED |= {
    np.repeat: repeat, np.tile: tile, np.roll: roll, np.flip: flip, np.rot90: rot90, np.moveaxis: moveaxis,
    np.rollaxis: rollaxis,
    np.atleast_1d: at_least(1), np.atleast_2d: at_least(2), np.atleast_3d: at_least(3), np.column_stack: column_stack,
    np.array_split: array_split, np.split: split, np.diagonal: diagonal, np.diag: diag, np.pad: pad,
    np.fliplr: lambda m: flip(m, 1), np.flipud: lambda m: flip(m, 0),
    np.vstack: lambda tup: np.concatenate([at_least(2)(a) for a in tup]),
    np.hstack: lambda tup: np.concatenate([at_least(1)(a) for a in tup], axis=int(np.ndim(tup[0]) > 1)),
    np.dstack: lambda tup: np.concatenate([at_least(3)(a) for a in tup], axis=2),
    np.vsplit: split_with_axes("vsplit", 2), np.hsplit: split_with_axes("hsplit", 1),
    np.dsplit: split_with_axes("dsplit", 3),
    np.diagflat: lambda v, k=0: diag(np.ravel(v), k),
    np.trace: lambda a, offset=0, axis1=0, axis2=1: np.sum(diagonal(a, offset, axis1, axis2), axis=-1),
    np.triu: lambda m, k=0: np.where(np.triu(np.ones(np.shape(m)[-2:], bool), k), m, 0),
    np.tril: lambda m, k=0: np.where(np.tril(np.ones(np.shape(m)[-2:], bool), k), m, 0),
    np.append: append, np.delete: delete, np.insert: insert, np.broadcast_arrays: broadcast_arrays,
    np.block: block, np.meshgrid: meshgrid, np.resize: resize, np.trim_zeros: trim_zeros,
}  # fmt: skip
if hasattr(np, "unstack"):  # NumPy 2.1 or later
    SPELLED[np.unstack] = unstack

linear(np.lib.stride_tricks.sliding_window_view, pull_windows)
