"""Nudging a tensor: how far the target really moves, and how far the cotangent says it does.

Everything that the tape computed from a tensor is computed again with that tensor moved. Nothing is recorded, and no
tape is used up.

>>> import autodiff_edu as ad
>>> x = ad.Variable(3.0, name="x")
>>> with ad.GradientTape() as tape:
...     y = x * x
>>> nudge(tape, y, x, 0.1)
The target moves by 0.61; the cotangent says 0.6
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..core.active import only
from ..core.entry import Entry
from ..core.tape import Tape
from ..text.formatting import short_value
from .jacobians import _pull_back, one_tensor
from .requests import as_constant


class Nudge(NamedTuple):
    """The result of a nudge.

    Attributes
    ----------
    moved : ndarray or scalar
        How far the target actually moves when it is computed again.
    said : ndarray or scalar
        How far the cotangent says it moves; 0 if no cotangent reached the tensor.
    connected : bool
        Whether a cotangent reached the tensor.
    """

    moved: Any
    said: Any
    connected: bool

    @property
    def gap(self) -> Any:
        """The difference between the target's actual move and what the cotangent says."""
        return self.moved - self.said

    def __repr__(self) -> str:
        moves = f"The target moves by {short_value(np.asarray(self.moved))}"
        if self.connected:
            return f"{moves}; the cotangent says {short_value(np.asarray(self.said))}"
        return f"{moves}; no cotangent reaches the tensor, so the backward pass says 0. tape.explain says why"


def nudge(tape: Tape, target: Any, tensor: Any, by: Any) -> Nudge:
    """Compare how far the target moves with how far the cotangent says it does; see `GradientTape.nudge`."""
    target, tensor = one_tensor(target, "nudge"), one_tensor(tensor, "nudge", "tensor")
    if tensor.dtype.kind not in "fc":
        raise ValueError(
            f"cannot nudge a tensor of dtype {tensor.dtype}: it has no derivative. Nudge a floating-point tensor"
        )
    with only():
        by = _checked(by, tensor)
    tape.check_usable()
    makers = {entry.output_id: entry for entry in tape.entries}
    if target is not tensor and target._id not in makers and target._id not in tape._watched:
        raise ValueError(
            "the tape did not record how the target was computed, so it cannot be computed again. "
            "tape.explain(target, tensor) says why"
        )
    with only(), np.errstate(all="ignore"):
        (rows,) = _pull_back(tape, target, 0, [tensor], None)
        values = run_again(leading_to(makers, target._id), tensor._id, lambda value: value + by)
    before = target._array
    after = before + by if target is tensor else values.get(target._id, before)
    if before.dtype.kind in "biu":  # a boolean or a count has no derivative, but moves all the same
        before, after = np.asarray(before, float), np.asarray(after, float)
    moved = np.asarray(after - before)[()]
    if rows is None:
        return Nudge(moved, np.zeros_like(moved)[()], False)
    said = np.conjugate(np.reshape(rows, (-1, tensor.size))) @ np.ravel(by)
    return Nudge(moved, np.real(said).reshape(target.shape).astype(moved.dtype)[()], True)


def _checked(by: Any, tensor: Any) -> Any:
    """Return the nudge as an array of the tensor's shape and dtype."""
    given = as_constant("by", by)._array
    kinds = "iufc" if tensor.dtype.kind == "c" else "iuf"
    if given.dtype.kind not in kinds:
        raise TypeError(f"by has dtype {given.dtype}, but the tensor has dtype {tensor.dtype}; try by=0.1")
    if not np.all(np.isfinite(given)):
        raise ValueError(f"by is {short_value(given)}; a nudge is a finite number, such as 0.1")
    try:
        return np.broadcast_to(given, tensor.shape).astype(tensor.dtype)[()]
    except ValueError:
        raise ValueError(
            f"by has shape {given.shape}, but the tensor has shape {tensor.shape}; pass one number for all elements, "
            "or an array of the tensor's shape"
        ) from None


def leading_to(makers: Mapping[int, Entry], target: int) -> list[Entry]:
    """List, in order, the entries that a target was computed by, among those given by the ids of their outputs."""
    waiting, found = [target], set()
    while waiting:
        id = waiting.pop()
        if id in makers and id not in found:
            found.add(id)
            waiting += used_by(makers[id])
    return [makers[id] for id in sorted(found)]  # ids increase with time


def used_by(entry: Entry) -> set[int]:
    """Return the ids of the tensors that an entry was computed from."""
    return {id for id in entry.ids if id is not None} | _unseen(entry)


def _unseen(entry: Entry) -> frozenset[int]:
    """Return the ids of tensors that a custom gradient used but was not given by position."""
    return getattr(entry.operation, "unseen", frozenset())


def run_again(entries: Iterable[Entry], tensor: int, move: Callable[[Any], Any]) -> dict[int, Any]:
    """Recompute what depends on a moved tensor; return the new values by id.

    A variable may have had several values, so it is moved wherever an entry read it.

    Raises
    ------
    ValueError
        If a custom gradient uses a moving tensor that is not one of its arguments.
    """
    values: dict[int, Any] = {}
    for entry in entries:
        if not _unseen(entry).isdisjoint({tensor, *values}):
            raise ValueError(
                f"{entry.name}, used at {entry.place}, uses a tensor that moves and is not one of its positional "
                f"arguments, so it cannot be run again. Pass that tensor to {entry.name} by position"
            )
        if entry.output_id == tensor or (tensor not in entry.ids and values.keys().isdisjoint(entry.ids)):
            continue
        arguments = [
            move(value) if id == tensor else values.get(id, value)
            for id, value in zip(entry.ids, entry.values, strict=True)
        ]
        compute = getattr(entry.operation, "again", entry.operation)  # a custom gradient's result was computed before
        value = compute(*arguments, **entry.parameters)
        values[entry.output_id] = value if hasattr(value, "dtype") else np.asarray(value)[()]
    return values
