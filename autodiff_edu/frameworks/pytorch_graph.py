"""What a trace knows of autograd's graph, and how it reads PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.parameter import is_lazy

from ..core.entry import Entry
from ..core.tensor import Tensor

Edge = tuple[Any, int]
"""A node of autograd's graph and the number of one of its results: what a tensor is to autograd."""

Boundary = dict[Any, list[tuple[int, Edge]]]
"""By node: what it sends to tensors that are known, as the position among all that it sends and the tensor's edge."""


WIDER = {torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
"""NumPy's dtypes for some of PyTorch's."""

READABLE = {torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16, torch.int32}
READABLE |= {torch.int64, torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128, *WIDER}

LAYOUTS = {torch.strided, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc}


class TorchCall(NamedTuple):
    """A call that the trace shows.

    Attributes
    ----------
    entries : list of Entry
        One for each result.
    outputs : list of Edge or None
        Of each result; None if it requires no gradient.
    arguments : dict of Edge to list of int
        Where each of its arguments is among those of the entries.
    boundary : Boundary
        The nodes from which something leaves the call.
    nodes : set of node
        All of them.
    order : int
        How many backward passes it is part of: 0, except where one is recorded.
    """

    entries: list[Entry]
    outputs: list[Edge | None]
    arguments: dict[Edge, list[int]]
    boundary: Boundary
    nodes: set[Any]
    order: int


class Given(NamedTuple):
    """A tensor as a call gets it, perhaps as a keyword: then its place among the arguments says nothing."""

    tensor: Tensor
    edge: Edge | None
    version: int = 0
    keyword: bool = False


def flatten(value: Any) -> Iterator[Any]:
    """List what nested lists, tuples and dicts hold."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from flatten(part)
    else:
        yield value


def leaf_of(node: Any) -> Any:
    """Return the leaf whose gradient a node of autograd's graph keeps; None if it is a node of another kind."""
    return node.variable if node is not None and node.name() == "torch::autograd::AccumulateGrad" else None


def version_of(value: Any) -> int:
    """Return how often a tensor has been written into; 0 in inference mode, which doesn't count that."""
    return 0 if value.is_inference() else value._version


def base_of(value: Any) -> Any:
    """Return the tensor of which another is a view; None if there is none, or in inference mode."""
    return None if value.is_inference() else value._base


def is_readable(value: Any) -> bool:
    """Return whether NumPy can have the numbers of a tensor: not those of a nested, quantized or uninitialized one."""
    if value.device.type not in ("cpu", "meta"):
        raise NotImplementedError(
            f"a trace follows tensors on the CPU, and this one is on {value.device}: call x.cpu()"
        )
    plain = value.device.type == "cpu" and not (value.is_nested or value.is_quantized or is_lazy(value))
    plain = plain and type(value).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
    return plain and value.dtype in READABLE and value.layout in LAYOUTS


def copy_numbers(value: Any) -> Any:
    """Copy the numbers of a tensor; of a dtype that NumPy does not have, in a wider one, which is exact."""
    with torch._C.DisableTorchFunction():
        value = value.detach()
        value = value.to_dense() if value.layout is not torch.strided else value
        value = value.to(WIDER.get(value.dtype, value.dtype))
        value = value.clone().resolve_conj().resolve_neg()  # PyTorch can't resize memory that NumPy has seen
        return value.numpy()[()]


def hold_the_same(left: Any, right: Any) -> bool:
    """Return whether two arrays hold the same, NaN and all."""
    return np.shape(left) == np.shape(right) and bool(np.array_equal(left, right, equal_nan=left.dtype.kind in "fc"))


def agree(left: Any, right: Any, scale: Any) -> bool:
    """Return whether two sums of numbers of a certain size are equal up to the rounding of sums in another order."""
    finite = left.isfinite()
    if left.shape != right.shape or not torch.equal(finite, right.isfinite()):
        return False
    gap = (left.to(torch.complex128) - right.to(torch.complex128))[finite].abs()  # in which nothing is rounded
    return not gap.numel() or bool(gap.amax() <= 8 * torch.finfo(left.dtype).eps * scale.amax())
