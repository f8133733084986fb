"""Rules of the products: matmul, dot and einsum."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from ..tensor import apply
from .kinds import SPELLED, linear

LETTERS = string.ascii_uppercase + string.ascii_lowercase


def pull_matmul_left(g: Any, z: Any, x: Any, y: Any) -> Any:
    """Pull back to the left factor; a vector on the right made columns, a vector on the left made rows."""
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


def spelled_dot(a: Any, b: Any) -> Any:
    """Write `dot` as the product or the einsum that it is."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(b) <= 2:
        return np.matmul(a, b)
    left, right = LETTERS[: np.ndim(a)], LETTERS[np.ndim(a) : np.ndim(a) + np.ndim(b)]
    right = right[:-2] + left[-1] + right[-1]
    return np.einsum(f"{left},{right}->{left[:-1]}{right[:-2]}{right[-1]}", a, b)


def spelled_einsum(subscripts: Any, *arrays: Any, optimize: Any = False) -> Any:
    """Accept the subscripts as a string only."""
    if not isinstance(subscripts, str):
        raise TypeError("einsum of tensors takes its subscripts as a string first, such as 'ij,jk->ik'")
    return apply(np.einsum, (subscripts, *arrays), {"optimize": optimize} if optimize else {})


def explicit(subscripts: str, arrays: tuple[Any, ...]) -> tuple[list[str], str]:
    """Write einsum's subscripts out: every `...` as capital letters, the output always given.

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

    Indices that only this operand has were summed over, so its contribution is constant along them; a repeated index
    took a diagonal, so its contribution is put back on one.
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
linear(np.einsum, each=pull_einsum)
# fmt: on

SPELLED[np.dot], SPELLED[np.einsum] = spelled_dot, spelled_einsum
