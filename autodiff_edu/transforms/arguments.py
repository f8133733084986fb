"""Chooses and checks the arguments to differentiate with respect to, and puts new tensors in their place."""

from __future__ import annotations

from typing import Any

from ..arrays.structures import as_array, flatten, rebuild
from ..core.tensor import Tensor
from ..derivatives.requests import as_constant
from ..rules.operations import alias

Argnums = int | tuple[int, ...]


def prepare(args: tuple[Any, ...], argnums: Argnums) -> tuple[Any, ...]:
    """Convert the lists of numbers among the chosen arguments to arrays; pass the others on unchanged."""
    numbers = _numbers(args, argnums)
    return tuple(as_array(arg, f"argument {k}") if k in numbers else arg for k, arg in enumerate(args))


def _numbers(args: tuple[Any, ...], argnums: Argnums) -> set[int]:
    """Return the positions of the arguments to differentiate with respect to."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(isinstance(k, int) for k in numbers):
        raise ValueError(f"argnums is {argnums!r}; it must be a whole number or a tuple of whole numbers")
    if not numbers:
        raise ValueError("argnums is (), which chooses no argument; it must name at least one, counted from 0")
    if not all(-len(args) <= k < len(args) for k in numbers):
        count = "is only 1 positional argument" if len(args) == 1 else f"are {len(args)} positional arguments"
        raise ValueError(f"argnums is {argnums!r}, but there {count}, counted from 0")
    if len({k % len(args) for k in numbers}) < len(numbers):
        raise ValueError(f"argnums is {argnums!r}; it names the same argument twice")
    return {k % len(args) for k in numbers}


def choose(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """Return one argument, or a tuple of them."""
    return tuple(args[k] for k in argnums) if isinstance(argnums, tuple) else args[argnums]


def replace(args: tuple[Any, ...], argnums: Argnums, sources: Any) -> tuple[Any, ...]:
    """Replace the chosen arguments with the sources."""
    replaced = list(args)
    for k, source in zip(argnums, sources, strict=True) if isinstance(argnums, tuple) else [(argnums, sources)]:
        replaced[k] = source
    return tuple(replaced)


def own(structure: Any) -> Any:
    """Create a new tensor for every leaf, so that the same array in two places is two sources."""
    structure = as_array(structure)
    return rebuild(structure, iter([_source(path, leaf) for path, leaf in flatten(structure, "argument")]))


def _source(path: str, leaf: Any) -> Tensor:
    if isinstance(leaf, Tensor):
        source: Tensor = alias(leaf)
        source.name = leaf.name
        return source
    return as_constant(path, float(leaf) if isinstance(leaf, int) else leaf)


def unwrap(parts: Any) -> Any:
    """Return the only part of a tuple, or the tuple if it has several."""
    return parts[0] if len(parts) == 1 else parts
