"""Rules for products: matmul, dot and einsum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..core.composites import SPELLED
from ..core.rule import linear
from ..core.tensor import apply

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def pull_matmul_left(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Pull back to the left factor; a vector on the right acts as a column, one on the left as a row."""
    if np.ndim(y) == 1:
        return g[..., None] * y
    if np.ndim(x) == 1:
        return np.matmul(g[..., None, :], np.swapaxes(y, -1, -2))[..., 0, :] if np.ndim(y) > 2 else np.matmul(g, y.T)
    return np.matmul(g, np.swapaxes(y, -1, -2))


def pull_matmul_right(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Pull back to the right factor."""
    if np.ndim(x) == 1:
        return g[..., None] * x if np.ndim(y) == 1 else x[:, None] * g[..., None, :]
    if np.ndim(y) == 1:
        return np.matmul(g[..., None, :], x)[..., 0, :] if np.ndim(x) > 2 else np.matmul(g, x)
    return np.matmul(np.swapaxes(x, -1, -2), g)


def dot(a: Any, b: Any) -> Any:
    """Sum over the last axis of a and the second-to-last of b."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    return np.matmul(a, b) if np.ndim(b) <= 2 else tensordot(a, b, (-1, -2))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sum over pairs of axes: move them together, and multiply two matrices."""
    if np.ndim(axes) == 0 and not isinstance(axes, tuple | list):
        axes = (list(range(np.ndim(a) - axes, np.ndim(a))), list(range(axes)))
    summed_a, summed_b = (list(normalize_axis_tuple(part, np.ndim(x))) for x, part in zip((a, b), axes, strict=True))
    kept_a = [k for k in range(np.ndim(a)) if k not in summed_a]
    kept_b = [k for k in range(np.ndim(b)) if k not in summed_b]
    rows, columns = [np.shape(a)[k] for k in kept_a], [np.shape(b)[k] for k in kept_b]
    count = math.prod(np.shape(a)[k] for k in summed_a)
    left = np.reshape(np.transpose(a, kept_a + summed_a), (math.prod(rows), count))
    right = np.reshape(np.transpose(b, summed_b + kept_b), (count, math.prod(columns)))
    return np.reshape(np.matmul(left, right), rows + columns)


def inner(a: Any, b: Any) -> Any:
    """Sum over the last axes of both."""
    return np.multiply(a, b) if np.ndim(a) == 0 or np.ndim(b) == 0 else tensordot(a, b, (-1, -1))


def kron(a: Any, b: Any) -> Any:
    """Multiply every element of a by all of b."""
    ndim = max(np.ndim(a), np.ndim(b))
    a = np.reshape(a, (1,) * (ndim - np.ndim(a)) + np.shape(a))
    b = np.reshape(b, (1,) * (ndim - np.ndim(b)) + np.shape(b))
    pairs = np.expand_dims(a, tuple(range(1, 2 * ndim, 2))) * np.expand_dims(b, tuple(range(0, 2 * ndim, 2)))
    return np.reshape(pairs, [m * n for m, n in zip(np.shape(a), np.shape(b), strict=True)])


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """Compute the cross product of vectors of three (or two) components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = (list(x) if isinstance(x, tuple) else x for x in (a, b))
    ndims = np.ndim(a), np.ndim(b), max(np.ndim(a), np.ndim(b))
    axes = [normalize_axis_index(k, ndim) - ndim for k, ndim in zip((axisa, axisb, axisc), ndims, strict=True)]
    known = all(isinstance(getattr(x, "_array", x), np.ndarray | list) for x in (a, b))  # Dask has no cross product
    if known and np.shape(a)[axisa] == np.shape(b)[axisb] == 3:
        named = zip(("axisa", "axisb", "axisc"), axes, strict=True)
        return apply(np.cross, (a, b), {name: k for name, k in named if k != -1})
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if np.shape(a)[-1] == np.shape(b)[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    if {np.shape(a)[-1], np.shape(b)[-1]} != {3}:
        raise ValueError(f"np.cross takes vectors of 3 components; these have {np.shape(a)[-1]} and {np.shape(b)[-1]}")
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.stack(parts, axis=axisc)


def pull_cross_left(g: Any, z: Any, x: Any, y: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1) -> Any:
    """Pull back to the left vectors: turning a, b and c around in a · (b × c) does not change it."""
    return np.cross(y, g, axisb, axisc, axisa)


def pull_cross_right(g: Any, z: Any, x: Any, y: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1) -> Any:
    """Pull back to the right vectors."""
    return np.cross(g, x, axisc, axisa, axisb)


def einsum(subscripts: Any, *arrays: Any, optimize: Any = False) -> Any:
    """Accept the subscripts as a string, or as lists of numbers after each operand."""
    if not isinstance(subscripts, str):
        given = (subscripts, *arrays)
        pairs, output = given[: len(given) // 2 * 2], given[len(given) // 2 * 2 :]
        terms = ["".join("..." if k is ... else LETTERS[k] for k in term) for term in (*pairs[1::2], *output)]
        subscripts = ",".join(terms[: len(pairs) // 2]) + ("->" + terms[-1] if output else "")
        arrays = pairs[::2]
    return apply(np.einsum, (subscripts, *arrays), {"optimize": optimize} if optimize else {})


def explicit(subscripts: str, arrays: tuple[Any, ...]) -> tuple[list[str], str]:
    """Write einsum's subscripts out: every `...` as capital letters, the output always explicit.

    >>> explicit("...i,ij", (np.ones((2, 3)), np.ones((3, 4))))
    (['Ai', 'ij'], 'Aj')
    """
    terms, _, output = subscripts.replace(" ", "").partition("->")
    inputs = terms.split(",")
    letters = [c for c in LETTERS if c not in subscripts]
    counts = [np.ndim(a) - len(t.replace("...", "")) if "..." in t else 0 for t, a in zip(inputs, arrays, strict=True)]
    most = "".join(letters[: max(counts)])
    inputs = [t.replace("...", most[len(most) - n :]) for t, n in zip(inputs, counts, strict=True)]
    if "->" not in subscripts:
        single = sorted(c for c in set("".join(inputs)) - set(most) if "".join(inputs).count(c) == 1)
        return inputs, most + "".join(single)
    return inputs, output.replace("...", most)


def pull_einsum(i: int, g: Any, z: Any, subscripts: str, *arrays: Any, **parameters: Any) -> Any:
    """Pull back to operand i: an einsum of the cotangent with the other operands.

    Indices that only this operand has were summed over, so its contribution is constant along them. A repeated index
    took a diagonal, so the contribution is put back on that diagonal.
    """
    inputs, output = explicit(subscripts, arrays)
    own, array = inputs[i - 1], arrays[i - 1]
    others = [(t, a) for k, (t, a) in enumerate(zip(inputs, arrays, strict=True)) if k != i - 1]
    distinct = "".join(dict.fromkeys(own))
    known = set(output).union(*(t for t, _ in others))
    found = "".join(c for c in distinct if c in known)
    lengths = dict(zip(own, np.shape(array), strict=True))
    result = np.einsum(
        ",".join(["..." + output, *(t for t, _ in others)]) + "->..." + found, g, *(a for _, a in others), **parameters
    )
    stack = np.shape(result)[: np.ndim(result) - len(found)]
    missing = tuple(k - len(distinct) for k, c in enumerate(distinct) if c not in known)
    if missing:
        result = np.broadcast_to(np.expand_dims(result, missing), stack + tuple(lengths[c] for c in distinct))
    if len(own) == len(distinct):
        return result
    # each repetition of an index gets a letter of its own, tied to the first by an identity matrix
    fresh = iter([c for c in LETTERS if c not in own])
    target, ties, masks = "", [], []
    for c in own:
        letter = next(fresh) if c in target else c
        if letter != c:
            ties.append(c + letter)
            masks.append(np.eye(lengths[c]))
        target += letter
    return np.einsum(",".join(["..." + distinct, *ties]) + "->..." + target, result, *masks)


# fmt: off
linear(np.matmul, pull_matmul_left,
                  pull_matmul_right)
linear(np.cross, pull_cross_left,
                 pull_cross_right)
linear(np.einsum, each=pull_einsum)
# fmt: on

SPELLED |= {
    np.dot: dot, np.einsum: einsum, np.tensordot: tensordot, np.inner: inner, np.kron: kron, np.cross: cross,
    np.outer: lambda a, b: np.multiply(np.ravel(a)[:, None], np.ravel(b)),
    np.vdot: lambda a, b: np.sum(np.conjugate(np.ravel(a)) * np.ravel(b)),
    np.vecdot: lambda a, b, axis=-1: np.sum(np.conjugate(a) * b, axis=axis),
}  # fmt: skip
if hasattr(np, "matvec"):  # NumPy 2.2 or later
    SPELLED[np.matvec] = lambda x1, x2: np.matmul(x1, np.expand_dims(x2, -1))[..., 0]
    SPELLED[np.vecmat] = lambda x1, x2: np.matmul(np.expand_dims(np.conjugate(x1), -2), x2)[..., 0, :]
