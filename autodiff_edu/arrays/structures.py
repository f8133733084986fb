"""Takes structures of tensors, nested to any depth, apart and puts them back together.

Lists, tuples, named tuples, dataclasses and mappings have parts; anything else is a leaf.

>>> leaves = flatten({"w": [1, 2], "b": (3,)}, "sources")
>>> leaves
[("sources['w'][0]", 1), ("sources['w'][1]", 2), ("sources['b'][0]", 3)]
>>> rebuild({"w": [1, 2], "b": (3,)}, iter("abc"))
{'w': ['a', 'b'], 'b': ('c',)}
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from numbers import Complex
from typing import Any

import numpy as np


def flatten(structure: Any, path: str, above: tuple[Any, ...] = ()) -> list[tuple[str, Any]]:
    """List the leaves of a structure, each with the expression that reaches it, starting from `path`.

    Raises
    ------
    ValueError
        If a structure contains itself; `above` holds those on the way to this one.
    """
    if any(structure is one for one in above):
        raise ValueError(f"{path} is a {type(structure).__name__} that contains itself; remove the cycle")
    parts = _parts(structure)
    if parts is None:
        return [(path, structure)]
    return [leaf for end, part in parts for leaf in flatten(part, path + end, (*above, structure))]


def rebuild(structure: Any, leaves: Iterator[Any]) -> Any:
    """Return a structure of the same form with the given leaves in place of its own."""
    parts = _parts(structure)
    return next(leaves) if parts is None else _with_parts(structure, [rebuild(part, leaves) for _, part in parts])


def flatten_like(structure: Any, other: Any, path: str, like: str) -> list[tuple[str, Any]]:
    """List the parts of `other` at the places of `structure`'s leaves; `like` describes `structure` in words.

    Raises
    ------
    ValueError
        If `other` has a different form; the message names the place.
    """
    parts = _parts(structure)
    if parts is None:
        return [(path, other)]
    if isinstance(structure, Mapping):
        form = f"dict with the keys {list(structure)}"
        alike = isinstance(other, Mapping) and set(other) == set(structure)
    elif isinstance(structure, list | tuple):
        form = f"{type(structure).__name__} of {len(structure)}"
        alike = isinstance(other, list | tuple) and len(other) == len(structure)
    else:
        form, alike = type(structure).__name__, type(other) is type(structure)
    its = _parts(other)
    if not alike or its is None:
        raise ValueError(f"{path} must be a {form}, as {like}; it is {other!r:.80}")
    if isinstance(structure, Mapping):
        its = [(end, other[key]) for key, (end, _) in zip(structure, parts, strict=True)]
    pairs = zip(parts, its, strict=True)
    return [leaf for (_, part), (end, one) in pairs for leaf in flatten_like(part, one, path + end, like)]


def is_numbers(structure: Any) -> bool:
    """Return whether this is a list of numbers, or of lists of them: an array, not a structure of arrays."""
    if not isinstance(structure, list):
        return False
    leaves = [leaf for _, leaf in flatten(structure, "the list")]
    return bool(leaves) and all(isinstance(leaf, Complex) for leaf in leaves)


def as_array(structure: Any, path: str = "the list") -> Any:
    """Convert a list of numbers to an array, floating even if they are whole; return anything else unchanged."""
    if not is_numbers(structure):
        return structure
    try:
        check_rectangular(structure)
    except ValueError as error:
        raise ValueError(
            f"{path}: {error}, or keep them apart, as a list of arrays: [np.array(part) for part in parts]"
        ) from None
    array = np.array(structure)
    return array.astype(float) if array.dtype.kind in "biu" else array


def check_rectangular(value: Any, path: str = "", depth: int = 64) -> tuple[int, ...]:
    """Return the shape of the array that nested lists stand for; raise a ValueError naming two unequal parts."""
    if not isinstance(value, list | tuple) or not depth:  # a list may contain itself
        return np.shape(value) if depth else ()
    shapes = [check_rectangular(part, f"{path}[{k}]", depth - 1) for k, part in enumerate(value)]
    for k, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f"a list of numbers means an array, but the parts of this one have different shapes: {path}[0] "
                f"has shape {shapes[0]} and {path}[{k}] has shape {shape}. Give all parts the same shape"
            )
    return (len(shapes), *(shapes[0] if shapes else ()))


def _parts(structure: Any) -> list[tuple[str, Any]] | None:
    """List the parts of a structure, each with the code (after the structure) that reaches it; None for a leaf."""
    if hasattr(structure, "_array"):  # most leaves are tensors
        return None
    if isinstance(structure, Mapping):
        return [(f"[{key!r}]", part) for key, part in structure.items()]
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return [(f".{name}", part) for name, part in zip(structure._fields, structure, strict=True)]
    if isinstance(structure, list | tuple):
        return [(f"[{i}]", part) for i, part in enumerate(structure)]
    if is_dataclass(structure) and not isinstance(structure, type):
        return [(f".{name}", getattr(structure, name)) for name in _field_names(structure)]
    return None


def _field_names(structure: Any) -> list[str]:
    return [field.name for field in fields(structure) if hasattr(structure, field.name)]


def _with_parts(structure: Any, parts: list[Any]) -> Any:
    """Return a structure of the same type with other parts, in the order of `_parts`."""
    kind: Any = type(structure)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return kind._make(parts)
    if not isinstance(structure, Mapping | list | tuple):
        return _with_fields(structure, parts)
    builtin: Any = dict(zip(structure, parts, strict=True)) if isinstance(structure, Mapping) else parts
    with suppress(Exception):  # a subclass may have a constructor that takes other arguments,
        made = kind(builtin)
        if all(mine is part for (_, mine), part in zip(_parts(made) or (), parts, strict=True)):
            return made  # or one that does something else with ours
    if isinstance(structure, tuple):
        return tuple.__new__(kind, parts)
    if not isinstance(structure, dict | list):
        return builtin
    made = copy.copy(structure)
    if isinstance(made, dict):
        dict.update(made, builtin)
    else:
        list.__setitem__(made, slice(None), parts)
    return made


def _with_fields(structure: Any, parts: list[Any]) -> Any:
    """Copy a dataclass and set its fields, even if it is frozen or its constructor would check or compute them."""
    made = copy.copy(structure)
    for name, part in zip(_field_names(structure), parts, strict=True):
        object.__setattr__(made, name, part)
    return made
