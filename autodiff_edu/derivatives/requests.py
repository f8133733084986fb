"""Requests to a tape: the checks of targets, sources and first cotangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.structures import flatten, flatten_like, rebuild
from ..core.active import emit, now
from ..core.events import Outcome
from ..core.tape import Tape
from ..core.tensor import Tensor, constant, wrap
from ..core.variable import Variable


def tensors_of(structure: Any, path: str) -> list[Tensor]:
    """List the tensors of a structure; raise a TypeError that names the place of anything else in it."""
    if isinstance(structure, Tensor):
        return [structure]
    leaves = flatten(structure, path)
    for where, leaf in leaves:
        if not isinstance(leaf, Tensor):
            reject_module(where, leaf)
            plain = ". No tape follows plain numbers: compute it from tensors, inside the tape"
            plain = plain if path == "target" else ". Make it one before the tape: x = ad.Variable(x)"
            raise TypeError(
                f"{where} is {leaf!r:.60} of type {type(leaf).__name__}, but must be a Tensor or a Variable: the "
                "object that the tape saw, not its value" + (plain if isinstance(leaf, np.generic | np.ndarray) else "")
            )
    return [leaf for _, leaf in leaves]


def check_watchable(structure: Any, path: str = "") -> list[Any]:
    """List the tensors of a structure that a tape is to watch; raise an error if it cannot watch one of them.

    `path` is the structure's name in errors; without one, it is the argument of `tape.watch`.
    """
    leaves = flatten(structure, path)
    for place, tensor in leaves:
        argument = f"{place} in the argument of tape.watch".removeprefix(" in ")
        called = place if path else argument
        if not isinstance(tensor, Tensor):
            reject_module(called, tensor)
            raise ValueError(
                f"{called} is the {type(tensor).__name__} {tensor!r:.60}, but a tape watches only tensors; create one "
                "first: x = ad.constant(...)"
            )
        if tensor.dtype.kind not in "fc":
            instead = "convert it first: x = x.astype(float)"
            if isinstance(tensor, Variable):
                called = called if tensor.ndim else repr(tensor)
                instead = "create it with dtype=float"
            called = called if tensor.name is None else f"the {type(tensor).__name__} {tensor.name!r}"
            raise TypeError(
                f"{called} has dtype {tensor.dtype}, but only floating and complex numbers have derivatives; {instead}"
            )
    return [tensor for _, tensor in leaves]


def reject_module(path: str, leaf: Any) -> None:
    """Raise a TypeError for a module passed in place of its variables."""
    if hasattr(leaf, "trainable_variables"):
        raise TypeError(
            f"{path} is a {type(leaf).__name__}, but must be a Tensor or a Variable, or a structure of them; pass its "
            "variables: module.trainable_variables"
        )


def check_option(unconnected_gradients: str) -> None:
    """Raise a ValueError for an unknown value of `unconnected_gradients`."""
    if unconnected_gradients not in ("none", "zero", "explain"):
        raise ValueError(f"unconnected_gradients is {unconnected_gradients!r}; it must be 'none', 'zero' or 'explain'")


def gradient(tape: Tape, target: Any, sources: Any, output_gradients: Any = None, unconnected: str = "none") -> Any:
    """Compute a gradient in the structure of the sources; see `GradientTape.gradient`."""
    tensors, seeds = tensors_of(sources, "sources"), seeds_of(target, output_gradients)
    found = results = tape.pull_back(seeds, tensors)
    if unconnected == "zero":
        zeros = {x._id: wrap(np.zeros_like(x._array)[()]) for x, one in zip(tensors, found, strict=True) if one is None}
        results = [zeros.get(x._id, one) for x, one in zip(tensors, found, strict=True)]
    connected, seeded = [one is not None for one in found], output_gradients is not None
    emit_outcomes(tape, "gradient", tensors_of(target, "target"), tensors, results, connected, seeded)
    return rebuild(sources, iter(results))


def emit_outcomes(
    tape: Tape,
    word: str,
    targets: list[Tensor],
    sources: list[Tensor],
    results: list[Any],
    connected: list[bool],
    seeded: bool = False,
) -> None:
    """Notify those who listen of the result of a request, once per source."""
    once = {one[0]._id: one for one in zip(sources, results, connected, strict=True)}
    for source, result, reached in once.values():
        emit(Outcome, tape, word, tuple(targets), source, result, reached, seeded, ())


def seeds_of(target: Any, output_gradients: Any) -> list[tuple[Tensor, Any]]:
    """Pair each target with its first cotangent: ones, unless the caller says otherwise.

    A cotangent may be a list of one tensor, as in TensorFlow; a list of numbers is an array.
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
        seed = _seed(path, seed, tensor.shape)
        if seed.shape != tensor.shape:
            raise ValueError(
                f"{path} has shape {seed.shape}, but its target has shape {tensor.shape}; they must be the same. Write "
                "np.full(target.shape, value) for the same number everywhere"
            )
        if seed.dtype.kind == "c" and tensor.dtype.kind != "c":
            raise TypeError(f"{path} is complex, but its target is {tensor.dtype}; pass its real part")
        if seed.dtype != tensor.dtype:
            seed = seed.astype(tensor.dtype)
        seeds.append((tensor, seed if now().followers else seed._array))
    return seeds


def _seed(path: str, given: Any, shape: tuple[int, ...]) -> Tensor:
    if isinstance(given, list | tuple) and any(isinstance(part, Tensor) for part in given):
        if len(given) == 1 and isinstance(given[0], Tensor):
            return given[0]
        fits = all((len(given), *np.shape(part)) == shape for part in given)
        raise ValueError(
            f"{path} is a {type(given).__name__} of {len(given)} tensors, but its target is one tensor of shape "
            f"{shape}, which takes one cotangent of that shape. "
            + (
                "Join them: np.stack([...])"
                if fits
                else "For several cotangents, call gradient once for each (on a persistent tape)"
            )
        )
    return as_constant(path, given)


def as_constant(path: str, value: Any) -> Tensor:
    """Convert a value to a tensor unless it is one; the error for a value without numbers names the place."""
    try:
        return value if isinstance(value, Tensor) else constant(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from None
