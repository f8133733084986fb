"""Pushes tangents forward over a tape: how every entry's output moves when the watched tensors move.

The entries are walked in the order of recording; `derivatives/tangents.py` has the rule for each one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.structures import flatten_like, rebuild
from ..core.active import announce, now, only
from ..core.entry import Entry
from ..core.rule import RULES
from ..core.tape import Tape
from ..core.tensor import Tensor, as_tensor, wrap
from ..core.walk import is_followed
from ..derivatives.jacobians import LARGEST_STACK
from ..derivatives.requests import as_constant, tensors_of
from ..derivatives.tangents import pushed, shaped
from ..rules.account import no_rule
from .run import Function, run


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the value of `f` and its derivative along the tangents, in one forward pass.

    Parameters
    ----------
    f : callable
        A function of the primals.
    primals, tangents : tuple of array_like, or of structures of arrays
        One tangent per primal, of the same shape.

    Returns
    -------
    value, tangent : Tensor, or structures of them

    Raises
    ------
    ValueError
        If the tangents do not match the primals.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.jvp(lambda x: x**3, (2.0,), (1.0,))
    (Tensor(8.), Tensor(12.))
    """
    check_tuples(primals, tangents, "jvp(f, (x,), (v,))")
    tape, value, sources = run(f, primals, {}, tuple(range(len(primals))))
    moved = _tangents(sources, tangents)
    push_forward(tape, moved, release=True)
    return value, rebuild(value, iter([_moved(target, moved) for target in tensors_of(value, "value")]))


def push_forward(tape: Tape, tangents: dict[int, Any], stack: tuple[int, ...] = (), release: bool = False) -> None:
    """Add the tangent of every output that moves with the sources to `tangents`, which holds those of the sources.

    Parameters
    ----------
    tape : Tape
        Its entries keep their arrays unless `release` is true.
    tangents : dict
        From the id of a tensor to its tangent, of shape `stack + shape`.
    stack : tuple
        The leading axis that every tangent carries, if any.
    """
    if now().hooks:
        for id, tangent in tangents.items():
            tensor = tape._watched.get(id, (None,))[0]
            announce("Move", tape, wrap(tangent, id) if tensor is None else tensor, as_tensor(tangent))
    for entry in tape.entries[:]:
        moving = {k: tangents[id] for k, id in enumerate(entry.ids) if id in tangents}
        if not moving or entry.output_id not in tape._connected:
            continue
        if entry.operation not in RULES:
            raise no_rule(entry)
        values, y = entry.values, entry.output_value
        if now().followers and (any(isinstance(t, Tensor) for t in moving.values()) or is_followed(entry)):
            values, y = entry.inputs, entry.output
        found = {k: pushed(entry, k, tangent, y, values, stack) for k, tangent in moving.items()}
        parts = {k: part for k, part in found.items() if part is not None}
        if parts:
            total, *others = parts.values()
            tangents[entry.output_id] = tangent = shaped(sum(others, start=total), entry.output_value, stack)
            if now().hooks:
                _announce(tape, entry, moving, parts, tangent, stack)
        if release:
            entry.release()
            values = y = None


def _announce(tape: Tape, entry: Entry, moving: Any, parts: Any, tangent: Any, stack: tuple[int, ...]) -> None:
    with only():  # reshaping a part is bookkeeping, not worth showing
        settled = {k: as_tensor(shaped(part, entry.output_value, stack)) for k, part in parts.items()}
    arrived = tuple(as_tensor(moving.get(k)) if k in parts else None for k in range(len(entry.ids)))
    contributions = tuple(settled.get(k) for k in range(len(entry.ids)))
    announce("PushForward", tape, entry, arrived, contributions, as_tensor(tangent))


def by_columns(tape: Tape, value: Any, source: Tensor) -> Tensor:
    """Return the Jacobian with respect to one source: push one-hot tangents forward, in stacks of bounded size."""
    size = int(source.size)
    one_hot = np.eye(size, dtype=source.dtype).reshape((size, *source.shape))
    largest = max([source._array.nbytes, *(e.output_value.nbytes for e in tape.entries)])
    chunk = max(1, LARGEST_STACK // max(largest * max(len(tape.entries), 1), 1))
    parts = []
    for start in range(0, max(size, 1), chunk):
        stack = one_hot[start : start + chunk]
        moved = {source._id: stack}
        push_forward(tape, moved, (len(stack),))
        parts.append(moved.get(value._id, np.zeros((len(stack), *value.shape), value.dtype)))
    columns = np.moveaxis(np.concatenate(parts) if len(parts) > 1 else parts[0], 0, -1)
    return as_tensor(np.reshape(columns, value.shape + source.shape).astype(source.dtype))


def check_tuples(primals: Any, tangents: Any, usage: str) -> None:
    """Raise a TypeError that shows the usage unless primals and tangents are both tuples."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise TypeError(f"the primals and their vectors must be tuples, with one item per argument of f: {usage}")


def _tangents(sources: Any, tangents: Any) -> dict[int, Any]:
    moved = {}
    given = flatten_like(sources, tangents, "tangents", "the primals are")
    for source, (path, tangent) in zip(tensors_of(sources, "primals"), given, strict=True):
        tangent = as_constant(path, tangent)
        if tangent.shape != source.shape:
            raise ValueError(
                f"{path} has shape {tangent.shape}, but its primal has shape {source.shape}; they must be the same"
            )
        if tangent.dtype.kind == "c" and source.dtype.kind != "c":
            raise TypeError(f"{path} is complex, but its primal is {source.dtype}; pass its real part")
        moved[source._id] = tangent if tangent.dtype == source.dtype else tangent.astype(source.dtype)
    return moved


def _moved(target: Tensor, tangents: dict[int, Any]) -> Tensor:
    found = tangents.get(target._id)
    return wrap(np.zeros_like(target._array)[()]) if found is None else as_tensor(found)
