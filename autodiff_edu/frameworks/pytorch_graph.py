"""What a trace knows of autograd's graph, and how it reads PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from ..core.entry import Entry
from ..core.tensor import Tensor

Edge = tuple[Any, int]
"""A node of autograd's graph and the number of one of its results: what a tensor is to autograd."""


class Call(NamedTuple):
    """A call that the trace shows.

    Attributes
    ----------
    entries : list of Entry
        One for each result.
    outputs : list of Edge or None
        Of each result; None if it requires no gradient.
    arguments : dict of Edge to list of int
        Where each of its arguments is among those of the entries.
    boundary : dict of node to list of (int, Edge)
        The nodes from which something leaves the call: the position among what they send on, and to whom.
    backward : callable or None
        The user's own backward function.
    order : int
        How many backward passes it is part of: 0, except where one is recorded.
    """

    entries: list[Entry]
    outputs: list[Edge | None]
    arguments: dict[Edge, list[int]]
    boundary: dict[Any, list[tuple[int, Edge]]]
    backward: Any
    order: int


class Given(NamedTuple):
    """A tensor as a call gets it."""

    tensor: Tensor
    edge: Edge | None
    version: int


def flatten(value: Any) -> Iterator[Any]:
    """List what nested lists, tuples and dicts hold."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from flatten(part)
    else:
        yield value


def count_writes(value: Any) -> int:
    """Return how many times a tensor has been written into; 0 in inference mode, which does not count."""
    return 0 if value.is_inference() else int(value._version)


def copy_numbers(value: Any) -> Any:
    """Copy the numbers of a tensor; bfloat16, which NumPy does not have, as float32, which is exact."""
    if value.device.type != "cpu":
        raise NotImplementedError(
            f"a trace follows tensors on the CPU, and this one is on {value.device}: call x.cpu()"
        )
    with torch._C.DisableTorchFunction():
        value = value.detach()
        value = value.to_dense() if value.layout is not torch.strided else value
        value = value.float() if value.dtype == torch.bfloat16 else value
        return value.resolve_conj().resolve_neg().numpy().copy()[()]


def hold_the_same(left: Any, right: Any) -> bool:
    """Return whether two arrays hold the same, NaN and all."""
    return np.shape(left) == np.shape(right) and bool(np.array_equal(left, right, equal_nan=left.dtype.kind in "fc"))


def agree(left: Any, right: Any) -> bool:
    """Return whether two arrays are equal up to the rounding of a sum in another order."""
    finite = np.isfinite(left)
    if not np.array_equal(finite, np.isfinite(right)):
        return False
    difference, scale = np.abs(left - right)[finite], np.abs(left)[finite].max(initial=0.0)
    return bool(np.all(difference <= 64 * np.finfo(left.dtype).eps * scale))
