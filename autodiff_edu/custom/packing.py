"""Several outputs of one call as one vector, since an entry has one output: joined, and taken apart again."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .checking import Source


class Output(NamedTuple):
    """One tensor of a call's result; floating or complex ones have a part in the cotangent."""

    shape: tuple[int, ...]
    dtype: Any


def pack(arrays: list[Any]) -> Any:
    """Join several arrays into one vector, in a dtype that holds them all; return a single array unchanged."""
    if not arrays:
        return np.zeros(0)
    if len(arrays) == 1:
        return arrays[0]
    dtype = np.result_type(*(array.dtype for array in arrays))
    return np.concatenate([np.ravel(array).astype(dtype) for array in arrays])


def cut(packed: Any, outputs: list[Output]) -> Iterator[Any]:
    """Split what `pack` joined: the outputs themselves, or their cotangents."""
    smooth = [output for output in outputs if output.dtype.kind in "fc"]
    if len(smooth) == 1:
        yield packed
        return
    start = 0
    for shape, dtype in smooth:
        stop = start + prod(shape)
        part = packed[start:stop] if shape else packed[start]
        if len(shape) > 1:
            part = np.reshape(part, shape)
        if part.dtype.kind == "c" and dtype.kind != "c":
            part = np.real(part)
        yield part if part.dtype == dtype else part.astype(dtype)
        start = stop


def stack_results(rows: list[Any], source: Source) -> Any:
    """Join the results for the cotangents of a stack, with zeros for a None among others."""
    if rows and all(row is None for row in rows):
        return None
    zeros = np.zeros(source.shape, source.dtype)
    filled = [zeros if row is None else row for row in rows]
    return np.stack(filled) if filled else np.zeros((0, *source.shape), source.dtype)
