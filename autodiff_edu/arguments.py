"""What a tape is asked for: the checks of targets, sources and first cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from .events import active
from .structures import flatten, flatten_like
from .tensor import Tensor, constant


def tensors_of(structure: Any, path: str) -> list[Tensor]:
    """List the tensors of a structure; anything else in it is a TypeError that names the place."""
    leaves = flatten(structure, path)
    for where, leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(
                f"{where} is {leaf!r:.60} of type {type(leaf).__name__}, and must be a Tensor or a Variable: "
                "the very object that the tape saw, not its value"
            )
    return [leaf for _, leaf in leaves]


def check_option(unconnected_gradients: str) -> None:
    """Raise a ValueError if this is not what to give for an unconnected source."""
    if unconnected_gradients not in ("none", "zero"):
        raise ValueError(f"unconnected_gradients is {unconnected_gradients!r}; it must be 'none' or 'zero'")


def unusable(used: bool) -> RuntimeError:
    """Say why a tape has nothing to differentiate."""
    if used:
        return RuntimeError(
            "this one-shot tape was used already, and has let go of its arrays; write "
            "GradientTape(persistent=True) to differentiate more than once"
        )
    return RuntimeError(
        "this tape has recorded nothing: compute the target inside `with tape:`, then ask for the gradient"
    )


def check_watchable(structure: Any, path: str = "watch") -> list[Tensor]:
    """List the tensors of a structure that a tape is asked to watch, if it can watch them all."""
    leaves = flatten(structure, path)
    for path, tensor in leaves:
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"{path} is the {type(tensor).__name__} {tensor!r:.60}, and a tape watches only tensors; "
                "make one first: x = ad.constant(...)"
            )
        if tensor.dtype.kind not in "fc":
            raise TypeError(
                f"{path} has dtype {tensor.dtype}, and only floating and complex numbers have derivatives; "
                "convert it first: x = x.astype(float)"
            )
    return [tensor for _, tensor in leaves]


def seeds_of(target: Any, output_gradients: Any) -> list[tuple[Tensor, Any]]:
    """Pair each target with its first cotangent: ones, unless the caller says otherwise."""
    targets = tensors_of(target, "target")
    given: list[tuple[str, Any]] = [("", None)] * len(targets)
    if output_gradients is not None:
        given = flatten_like(target, output_gradients, "output_gradients")
    seeds = []
    for tensor, (path, seed) in zip(targets, given, strict=True):
        if tensor.dtype.kind not in "fc":
            continue
        if seed is None:
            seeds.append((tensor, np.ones_like(tensor._array)[()]))
            continue
        seed = seed if isinstance(seed, Tensor) else constant(seed)
        if seed.shape != tensor.shape:
            raise ValueError(
                f"{path} has shape {seed.shape}, and its target has shape {tensor.shape}; they must be the same"
            )
        if seed.dtype.kind == "c" and tensor.dtype.kind != "c":
            raise TypeError(f"{path} is complex, and its target is {tensor.dtype}; give its real part")
        if seed.dtype != tensor.dtype:
            seed = seed.astype(tensor.dtype)
        seeds.append((tensor, seed if active.tapes else seed._array))
    return seeds
