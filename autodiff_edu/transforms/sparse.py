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

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ..arrays.structures import check_rectangular
from ..core.active import now
from ..core.tape import Tape
from ..core.tensor import Tensor
from ..derivatives.jacobians import grows_with, pull_back_stack
from .forward import push_stack
from .sparse_matrix import SparseMatrix

MOST_LINES = 100
"""How many rows or columns `check` examines, those furthest off: if rounding explains them, it explains the others."""


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
    full: tuple[int, ...] = value.shape + source.shape
    shape: tuple[int, ...]
    if isinstance(sparsity, SparseMatrix):
        rows, columns, shape = sparsity.rows, sparsity.columns, sparsity.shape
    elif hasattr(sparsity, "tocoo"):  # a sparse array of SciPy; stored zeros are places too
        stored = sparsity.tocoo()
        stored = stored.reshape(height, width) if stored.shape == full else stored
        shape = stored.shape
        if len(shape) == 2:
            rows, columns = stored.row, stored.col
    elif isinstance(sparsity, tuple) and len(sparsity) == 2:
        (rows, columns), shape = _pair(sparsity, height, width), (height, width)
    else:
        check_rectangular(sparsity, "sparsity")
        dense = np.asarray(sparsity.numpy() if isinstance(sparsity, Tensor) else sparsity)
        if dense.dtype.kind not in "biuf" or (dense.ndim == 0 and full):
            raise TypeError(
                f"sparsity is {sparsity!r:.60}; it must be an array that is true where the Jacobian may be other than "
                "0, a sparse matrix, or a pair (rows, columns)"
            )
        dense = dense.reshape(height, width) if dense.shape == full else dense
        shape = dense.shape
        if len(shape) == 2:
            rows, columns = dense.nonzero()
    if tuple(shape) != (height, width):
        raise ValueError(
            f"sparsity has shape {tuple(shape)}, but the Jacobian of a value of shape {value.shape} with respect to a "
            f"source of shape {source.shape} has {height} rows and {width} columns"
        )
    places = np.unique(np.asarray(rows, np.int64) * width + np.asarray(columns, np.int64))
    return Pattern(*np.divmod(places, max(width, 1)))


def _pair(pair: tuple[Any, Any], height: int, width: int) -> tuple[Any, Any]:
    """Read a pair (rows, columns) of vectors; refuse a pair of lists that may just as well be a matrix of two rows."""
    rows, columns = (np.asarray(part) for part in pair)
    vectors = rows.ndim == columns.ndim == 1 and len(rows) == len(columns)
    if not vectors or not all(a.dtype.kind in "iu" or not a.size for a in (rows, columns)):
        raise TypeError(
            "sparsity as a pair means (rows, columns): two vectors of whole numbers of the same length, as from "
            "pattern.nonzero(). Write np.array(...) around a matrix of two rows"
        )
    lists = all(isinstance(part, list | tuple) for part in pair)
    if lists and (height, width) == (2, len(rows)) and np.isin(pair, (0, 1)).all():
        raise ValueError(
            f"sparsity is {pair!r:.60}, which may be a matrix of two rows or a pair (rows, columns). If it is a "
            "matrix, write np.array(...) around it; if it is a pair, write np.array(...) around each of the two"
        )
    for name, numbers, size in (("row", rows, height), ("column", columns, width)):
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < size):
            wrong = next(int(n) for n in numbers if not 0 <= n < size)
            raise ValueError(f"sparsity names {name} {wrong}, but the Jacobian has {size} {name}s, counted from 0")
    return rows, columns


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
    forward, groups = _group(pattern, shape, mode, source.dtype.kind == "c")
    seeds = np.zeros((max(groups, default=-1) + 1, len(groups)), (source if forward else value).dtype)
    seeds[groups, np.arange(len(groups))] = 1
    products = _plain(_products(tape, value, source, seeds, forward))
    here, there = (pattern.columns, pattern.rows) if forward else (pattern.rows, pattern.columns)
    data = products[np.asarray(groups, dtype=np.int64)[here], there].astype(source.dtype)
    matrix = SparseMatrix(data, *pattern, shape)
    if check:
        _check(tape, value, source, matrix, forward)
    if data.dtype != np.float16 and (scipy := _scipy()):  # SciPy's arrays cannot hold float16
        return scipy.csr_array((data, (pattern.rows, pattern.columns)), shape=shape)
    return matrix


def _group(pattern: Pattern, shape: tuple[int, int], mode: str, complex_source: bool) -> tuple[bool, list[int]]:
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
        (found,) = push_stack(tape, [value], source, seeds.reshape((len(seeds), *source.shape)))
    else:
        (found,) = pull_back_stack(tape, value, [source], seeds.reshape((len(seeds), *value.shape)))
    flat = len(seeds), int((value if forward else source).size)
    return np.zeros(flat, source.dtype) if found is None else np.reshape(found, flat)


def _plain(products: Any) -> Any:
    """Return the array of the products, unless a tape follows them: it could not follow SciPy's array."""
    if not isinstance(products, Tensor):
        return products
    if any(follower.follows((products._id,)) for follower in now().followers):
        raise TypeError(
            "jacobian with sparsity returns a sparse matrix of plain numbers, which no tape can follow, but this one "
            "is being recorded. Leave sparsity out to differentiate the Jacobian, or pause the tape with "
            "tape.stop_recording(). To save it, save the function itself: ad.jacobian(ad.load(path), sparsity=...)"
        )
    return products._array


def _check(tape: Tape, value: Tensor, source: Tensor, matrix: SparseMatrix, forward: bool) -> None:
    """Compare a product of the matrix with one of the function, in a random direction: they agree only if all is right.

    Where a line of the matrix (a row in forward mode, otherwise a column) does not agree, that may also be rounding. So
    a second product, from only the places that the pattern leaves out in this line, must not be 0 either.

    Raises
    ------
    ValueError
        If the pattern misses a place where the Jacobian is not 0, which the message names, or if infinite numbers or
        NaN hide whether it does.
    """
    turned, given = (matrix, source) if forward else (matrix.T, value)
    seed = np.random.default_rng(0).standard_normal(int(given.size)).astype(given.dtype)

    def seed_of(places: Any) -> Any:
        kept = np.zeros_like(seed)
        kept[places] = seed[places]
        return kept

    def multiply(seed: Any) -> Any:
        return _plain(_products(tape, value, source, seed[np.newaxis], forward))[0]

    def product(places: Any) -> Any:
        return multiply(seed_of(places))

    found, wide = product(slice(None)), seed.astype(np.result_type(seed, np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.abs(found - turned @ wide)
        allowed = _tolerance(value, source) * (abs(turned) @ np.ones_like(wide) + np.abs(found))
        allowed[~np.isfinite(allowed)] = 0
        incomplete = np.bincount(turned.rows, minlength=len(found)) < len(seed)
        doubtful = np.flatnonzero(incomplete & ~(off <= allowed))  # negated, so that lines with NaN are among them
        furthest = doubtful[np.argsort((off / allowed)[doubtful])[-MOST_LINES:]]
    hidden = None
    for line in np.sort(furthest).tolist():
        outside = np.setdiff1d(np.arange(len(seed)), turned.columns[turned.rows == line])
        rest = np.abs(product(outside)[line])
        if np.isnan(rest):
            hidden = line if hidden is None else hidden
        elif rest > allowed[line]:
            place = _largest(product, line, outside)
            grows, _ = grows_with(lambda seed: multiply(seed)[:, np.newaxis], seed_of([place]))
            if grows[line] or np.isinf(product([place])[line]):  # otherwise it is rounding
                row, column = (line, place) if forward else (place, line)
                raise ValueError(
                    f"the pattern leaves out row {row}, column {column}: element {_index(row, value)} of the value "
                    f"depends on element {_index(column, source)} of the source, so this Jacobian would be wrong. The "
                    "pattern must be true wherever the Jacobian may be other than 0"
                )
    if hidden is not None:
        raise ValueError(
            f"check=True cannot tell whether the pattern is right: {'row' if forward else 'column'} {hidden} of the "
            "Jacobian contains infinite numbers or NaN here, which hide the others. Check the pattern at another point"
        )


def _tolerance(*tensors: Tensor) -> float:
    """Return how far, relative to the numbers in it, a product may be off by rounding.

    It is a thousand times the distance of 1 from the next number, but at most 0.3 %: three times that of float16. A sum
    of many numbers may be off by more, and then the second product of `_check` decides: without a missed place it is 0.
    """
    return max(min(1e3 * float(np.finfo(t.dtype).eps), 0.003) for t in tensors if t.dtype.kind in "fc")


def _largest(product: Callable[[Any], Any], line: int, places: Any) -> int:
    """Find a place that matters to a line: halve the places, and go on with the half that has the larger product."""
    while len(places) > 1:
        halves = np.array_split(places, 2)
        sizes = [np.nan_to_num(np.abs(product(half)[line])) for half in halves]  # NaN comes from 0 times inf
        places = halves[int(sizes[1] > sizes[0])]
    return int(places[0])


def _index(flat: int, tensor: Tensor) -> str:
    return f"[{', '.join(str(int(k)) for k in np.unravel_index(flat, tensor.shape))}]"


def _scipy() -> Any:
    try:
        return import_module("scipy.sparse")
    except ImportError:
        return None
