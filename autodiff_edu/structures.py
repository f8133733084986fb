"""Nested lists, tuples, named tuples and dicts of tensors, taken apart and put together again.

>>> leaves = flatten({"w": [1, 2], "b": (3,)}, "sources")
>>> leaves
[("sources['w'][0]", 1), ("sources['w'][1]", 2), ("sources['b'][0]", 3)]
>>> rebuild({"w": [1, 2], "b": (3,)}, iter("abc"))
{'w': ['a', 'b'], 'b': ('c',)}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def flatten(structure: Any, path: str) -> list[tuple[str, Any]]:
    """List the leaves of a structure, each with the expression that reaches it, starting from `path`."""
    if isinstance(structure, Mapping):
        return [leaf for key, part in structure.items() for leaf in flatten(part, f"{path}[{key!r}]")]
    if hasattr(structure, "_fields"):
        return [leaf for name in structure._fields for leaf in flatten(getattr(structure, name), f"{path}.{name}")]
    if isinstance(structure, list | tuple):
        return [leaf for i, part in enumerate(structure) for leaf in flatten(part, f"{path}[{i}]")]
    return [(path, structure)]


def rebuild(structure: Any, leaves: Iterator[Any]) -> Any:
    """Make a structure of the same form with the given leaves in place of its own."""
    if isinstance(structure, Mapping):
        return type(structure)((key, rebuild(part, leaves)) for key, part in structure.items())  # type: ignore[call-arg]
    if isinstance(structure, list | tuple):
        parts = [rebuild(part, leaves) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    return next(leaves)


def is_numbers(structure: Any) -> bool:
    """Tell a list of numbers, or of lists of them, which means an array, from a structure of arrays."""
    leaves = [leaf for _, leaf in flatten(structure, "")]
    return isinstance(structure, list) and bool(leaves) and all(isinstance(leaf, int | float) for leaf in leaves)


def flatten_like(structure: Any, other: Any, path: str) -> list[tuple[str, Any]]:
    """List the parts of `other` that stand where `structure` has its leaves.

    Raises
    ------
    ValueError
        If `other` has another form, naming the place where the two part.
    """
    if isinstance(structure, Mapping):
        if not isinstance(other, Mapping) or set(other) != set(structure):
            raise ValueError(
                f"{path} must be a dict with the keys {list(structure)}, as the targets are; it is {other!r:.80}"
            )
        return [leaf for key in structure for leaf in flatten_like(structure[key], other[key], f"{path}[{key!r}]")]
    if isinstance(structure, list | tuple):
        if not isinstance(other, list | tuple) or len(other) != len(structure):
            form = f"{type(structure).__name__} of {len(structure)}"
            raise ValueError(f"{path} must be a {form}, as the targets are; it is {other!r:.80}")
        pairs = enumerate(zip(structure, other, strict=True))
        return [leaf for i, (part, its) in pairs for leaf in flatten_like(part, its, f"{path}[{i}]")]
    return [(path, other)]
