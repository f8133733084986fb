"""The losses of torch.nn.functional that PyTorch computes by several calls, which a trace shows as a scope of these."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import torch
from torch.nn import functional

WRITTEN_IN_PYTHON = (
    functional.gaussian_nll_loss,
    functional.multilabel_soft_margin_loss,
    functional.triplet_margin_with_distance_loss,
)


def open_loss(func: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Callable[..., Any] | None:
    """Return a function that computes a loss by the calls it consists of; None if it is computed in one piece."""
    if func in WRITTEN_IN_PYTHON:
        return open_function(func)
    # With label smoothing or probabilities, PyTorch computes something else; under autocast, it rounds elsewhere.
    if func is not functional.cross_entropy or options["label_smoothing"] or torch.is_autocast_enabled("cpu"):
        return None
    return cross_entropy if all(map(torch.is_tensor, args)) and args[0].shape != args[1].shape else None


@cache
def open_function(func: FunctionType) -> FunctionType:
    """Return a function of torch.nn.functional that does not hand itself to a mode, so that the mode sees its parts."""
    known = func.__globals__ | {"has_torch_function_variadic": lambda *args: False}
    opened = FunctionType(func.__code__, known, func.__name__, func.__defaults__, func.__closure__)
    opened.__kwdefaults__ = func.__kwdefaults__
    return opened


def cross_entropy(input: Any, target: Any, label_smoothing: float, **options: Any) -> Any:
    """Compute a cross entropy as PyTorch's `cross_entropy_loss` does, which is written in C++."""
    return functional.nll_loss(functional.log_softmax(input, 0 if input.ndim == 1 else 1), target, **options)
