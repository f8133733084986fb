"""What a tape is asked for: the checks of targets, sources and first cotangents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.structures import flatten, flatten_like
from ..core.events import active
from ..core.journal import note
from ..core.tensor import Tensor, constant

if TYPE_CHECKING:
    from ..core.tape import GradientTape


def tensors_of(structure: Any, path: str) -> list[Tensor]:
    """List the tensors of a structure; anything else in it is a TypeError that names the place."""
    leaves = flatten(structure, path)
    for where, leaf in leaves:
        if not isinstance(leaf, Tensor):
            _refuse_module(where, leaf)
            raise TypeError(
                f"{where} is {leaf!r:.60} of type {type(leaf).__name__}, and must be a Tensor or a Variable: "
                "the very object that the tape saw, not its value"
            )
    return [leaf for _, leaf in leaves]


def check_option(unconnected_gradients: str, tape: GradientTape, target: Any, sources: list[Tensor]) -> None:
    """Raise a ValueError if this is not what to give for an unconnected source, or is "explain" and one is."""
    if unconnected_gradients not in ("none", "zero", "explain"):
        raise ValueError(f"unconnected_gradients is {unconnected_gradients!r}; it must be 'none', 'zero' or 'explain'")
    if unconnected_gradients == "explain":
        from ..explain import check_connected

        check_connected(tape, target, sources)


def note_results(word: str, targets: list[Tensor], sources: list[Tensor], results: list[Any]) -> None:
    """Write in the journal from which targets and by which sources derivatives came about."""
    for source, result in zip(sources, results, strict=True):
        if result is not None:
            note(word, (*(target._id for target in targets), source._id), result._id)


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
            _refuse_module(path, tensor)
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
    """Pair each target with its first cotangent: ones, unless the caller says otherwise.

    A cotangent may be given as a list of one tensor, as TensorFlow has it; a list of numbers is an array.
    """
    targets = tensors_of(target, "target")
    given: list[tuple[str, Any]] = [("", None)] * len(targets)
    if output_gradients is not None:
        given = flatten_like(target, output_gradients, "output_gradients", "the targets are")
    seeds = []
    for tensor, (path, seed) in zip(targets, given, strict=True):
        if tensor.dtype.kind not in "fc":
            continue
        if seed is None:
            seeds.append((tensor, np.ones_like(tensor._array)[()]))
            continue
        seed = _seed(path, seed)
        if seed.shape != tensor.shape:
            raise ValueError(
                f"{path} has shape {seed.shape}, and its target has shape {tensor.shape}; they must be the same. "
                "Write np.full(target.shape, value) for the same number everywhere"
            )
        if seed.dtype.kind == "c" and tensor.dtype.kind != "c":
            raise TypeError(f"{path} is complex, and its target is {tensor.dtype}; give its real part")
        if seed.dtype != tensor.dtype:
            seed = seed.astype(tensor.dtype)
        seeds.append((tensor, seed if active.tapes else seed._array))
    return seeds


def _seed(path: str, given: Any) -> Tensor:
    if isinstance(given, list | tuple) and len(given) == 1 and isinstance(given[0], Tensor):
        return given[0]
    return as_constant(path, given)


def as_constant(path: str, value: Any) -> Tensor:
    """Make a tensor of a value, if it is none yet; the error for one that holds no numbers names the place."""
    try:
        return value if isinstance(value, Tensor) else constant(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from None


def _refuse_module(path: str, leaf: Any) -> None:
    if hasattr(leaf, "trainable_variables"):
        raise TypeError(
            f"{path} is a {type(leaf).__name__}, and must be a Tensor or a Variable, or a structure of them; "
            "pass the variables that it holds: module.trainable_variables"
        )
