"""Sparse Jacobians from few products: columns that share no row are computed together, as one sum.

Where the pattern of the nonzeros is known, one product with the sum of some unit vectors gives all their columns at
once, if no two columns have a nonzero in the same row. Choosing such groups is colouring a graph. See A. R. Curtis,
M. J. D. Powell and J. K. Reid, On the Estimation of Sparse Jacobian Matrices (1974), and A. Griewank and A. Walther,
Evaluating Derivatives, 2nd ed. (2008), chapter 8.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> def chain(x):
...     return x**2 - np.pad(x[1:], (0, 1)) + np.pad(x[:-1], (1, 0))
>>> pattern = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= 1
>>> colours(*pattern.nonzero(), 6, 6)
[0, 1, 2, 0, 1, 2]
>>> ad.jacobian(chain, sparsity=pattern)(np.ones(6)).toarray()[0]
array([ 2., -1.,  0.,  0.,  0.,  0.])
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ..arrays.structures import as_array
from ..core.active import now
from ..core.tape import Tape
from ..core.tensor import Tensor
from ..derivatives.jacobians import stacked_cotangents
from .forward import stacked_tangents
from .sparse_matrix import SparseMatrix


class Pattern(NamedTuple):
    """Where a matrix may be other than zero: the row and the column of each such place, row by row, each place once."""

    rows: Any
    columns: Any


def colours(rows: Any, columns: Any, height: int, width: int) -> list[int]:
    """Colour the columns of a pattern so that two of the same colour have no row in common.

    Each column in turn takes the first colour that is free: greedy colouring, which needs as many colours for a band as
    the band is wide, and seldom many more than necessary for other patterns. A number holds a set of colours, as bits.

    >>> colours([0, 0, 1, 1, 2], [0, 1, 1, 2, 0], 3, 3)
    [0, 1, 0]
    """
    in_column: list[list[int]] = [[] for _ in range(width)]
    for row, column in zip(np.asarray(rows).tolist(), np.asarray(columns).tolist(), strict=True):
        in_column[column].append(row)
    taken, found = [0] * height, []
    for members in in_column:
        used = 0
        for row in members:
            used |= taken[row]
        colour = (~used & (used + 1)).bit_length() - 1  # the lowest bit that is not set
        for row in members:
            taken[row] |= 1 << colour
        found.append(colour)
    return found


def pattern_of(sparsity: Any, value: Tensor, source: Tensor) -> Pattern:
    """Read a pattern, for the flattened value and source; see `jacobian`.

    Raises
    ------
    TypeError, ValueError
        If it is not a pattern, or does not have the Jacobian's shape.
    """
    height, width = int(value.size), int(source.size)
    if hasattr(sparsity, "tocoo"):  # a sparse array of SciPy; stored zeros are places too
        shape, (rows, columns) = sparsity.shape, sparsity.tocoo().coords
    elif isinstance(sparsity, tuple) and len(sparsity) == 2:
        rows, columns = (np.asarray(part) for part in sparsity)
        if rows.ndim != 1 or rows.shape != columns.shape or not all(a.dtype.kind in "iu" for a in (rows, columns)):
            raise TypeError(
                "sparsity as a pair means (rows, columns): two vectors of whole numbers of the same length, as from "
                "pattern.nonzero()"
            )
        shape = (height, width)
        for name, numbers, size in (("row", rows, height), ("column", columns, width)):
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < size):
                wrong = next(int(n) for n in numbers if not 0 <= n < size)
                raise ValueError(f"sparsity names {name} {wrong}, but the Jacobian has {size} {name}s, counted from 0")
    else:
        dense = np.asarray(as_array(sparsity) if not isinstance(sparsity, Tensor) else sparsity.numpy())
        if dense.dtype.kind not in "biuf" or dense.ndim == 0:
            raise TypeError(
                f"sparsity is {sparsity!r:.60}; it must be an array that is true where the Jacobian may be other than "
                "0, a SciPy sparse array, or a pair (rows, columns)"
            )
        shape = dense.shape
        if shape == value.shape + source.shape:
            dense, shape = dense.reshape(height, width), (height, width)
        if dense.ndim == 2:
            rows, columns = dense.nonzero()
    if tuple(shape) != (height, width):
        raise ValueError(
            f"sparsity has shape {tuple(shape)}, but the Jacobian of a value of shape {value.shape} with respect to a "
            f"source of shape {source.shape} has {height} rows and {width} columns"
        )
    places = np.unique(np.asarray(rows, dtype=np.int64) * width + columns)
    return Pattern(*np.divmod(places, max(width, 1)))


def sparse_jacobian(tape: Tape, value: Any, source: Any, sparsity: Any, mode: str, check: bool) -> Any:
    """Return the Jacobian of one tensor with respect to another as a sparse matrix; see `jacobian`."""
    for what, structure in (("result", value), ("argument", source)):
        if not isinstance(structure, Tensor):
            raise TypeError(
                f"sparsity is a pattern for one array with respect to one array, but the {what} is a "
                f"{type(structure).__name__}. Ask for one at a time, or leave sparsity out"
            )
    pattern = pattern_of(sparsity, value, source)
    shape = int(value.size), int(source.size)
    forward, groups = _grouped(pattern, shape, mode, source.dtype.kind == "c")
    seeds = np.zeros((max(groups, default=-1) + 1, len(groups)), (source if forward else value).dtype)
    seeds[groups, np.arange(len(groups))] = 1
    products = _plain(_products(tape, value, source, seeds, forward))
    here, there = (pattern.columns, pattern.rows) if forward else (pattern.rows, pattern.columns)
    data = products[np.asarray(groups, dtype=np.int64)[here], there].astype(source.dtype)
    if check:
        _check(tape, value, source, SparseMatrix(data, *pattern, shape), forward)
    if scipy := _scipy():
        return scipy.csr_array((data, (pattern.rows, pattern.columns)), shape=shape)
    return SparseMatrix(data, *pattern, shape)


def _grouped(pattern: Pattern, shape: tuple[int, int], mode: str, complex_source: bool) -> tuple[bool, list[int]]:
    """Choose forward or reverse mode, whichever needs fewer products, and colour the columns or the rows."""
    height, width = shape
    by_rows = [] if mode == "forward" else colours(pattern.columns, pattern.rows, width, height)
    if mode == "reverse" or (mode == "auto" and complex_source):
        return False, by_rows
    by_columns = colours(*pattern, height, width)
    forward = mode == "forward" or max(by_columns, default=0) < max(by_rows, default=0)
    return forward, by_columns if forward else by_rows


def _products(tape: Tape, value: Tensor, source: Tensor, seeds: Any, forward: bool) -> Any:
    """Push a stack of flat tangents forward, or pull one of flat cotangents back, in one pass if memory allows."""
    if forward:
        (found,) = stacked_tangents(tape, [value], source, seeds.reshape((len(seeds), *source.shape)))
    else:
        (found,) = stacked_cotangents(tape, value, [source], seeds.reshape((len(seeds), *value.shape)))
    flat = len(seeds), int((value if forward else source).size)
    return np.zeros(flat, source.dtype) if found is None else np.reshape(found, flat)


def _plain(products: Any) -> Any:
    """Return the array of the products, unless a tape follows them: it could not follow SciPy's array."""
    if not isinstance(products, Tensor):
        return products
    if any(follower.follows((products._id,)) for follower in now().followers):
        raise TypeError(
            "jacobian with sparsity returns a SciPy sparse array, which no tape can follow, but this one is being "
            "recorded. Leave sparsity out to differentiate a Jacobian or to save it; or pause the tape with "
            "tape.stop_recording()"
        )
    return products._array


def _check(tape: Tape, value: Tensor, source: Tensor, matrix: SparseMatrix, forward: bool) -> None:
    """Compare a product of the matrix with one of the function, in a random direction: they agree only if all is right.

    Raises
    ------
    ValueError
        If the pattern misses a place where the Jacobian is not 0; the message names the place.
    """
    given, computed = (source, value) if forward else (value, source)
    seed = np.random.default_rng(0).standard_normal((1, int(given.size))).astype(given.dtype)
    found = _plain(_products(tape, value, source, seed, forward))[0]
    turned = matrix if forward else matrix.T
    expected, scale = turned @ seed[0], abs(turned) @ abs(seed[0]) + np.abs(found)
    wrong = np.flatnonzero(np.abs(found - expected) > 1e3 * np.finfo(found.dtype).eps * scale)[:8]
    one_hot = np.zeros((len(wrong), int(computed.size)), computed.dtype)
    one_hot[np.arange(len(wrong)), wrong] = 1
    across = _plain(_products(tape, value, source, one_hot, not forward)) if len(wrong) else ()
    for line, numbers in zip(wrong.tolist(), across, strict=True):
        missed = np.setdiff1d(np.flatnonzero(numbers), turned.columns[turned.rows == line])
        if len(missed):
            row, column = (line, int(missed[0])) if forward else (int(missed[0]), line)
            raise ValueError(
                f"the pattern leaves out row {row}, column {column}: element {_index(row, value)} of the value depends "
                f"on element {_index(column, source)} of the source, so this Jacobian would be wrong. The pattern must "
                "be true wherever the Jacobian may be other than 0"
            )


def _index(flat: int, tensor: Tensor) -> str:
    return f"[{', '.join(str(int(k)) for k in np.unravel_index(flat, tensor.shape))}]"


def _scipy() -> Any:
    try:
        return import_module("scipy.sparse")
    except ImportError:
        return None
