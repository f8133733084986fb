"""Nudging a tensor: how far the target does move, and how far the cotangent says.

What a tape recorded after a tensor is computed again, with that tensor moved. Nothing is recorded, and no tape is used.
Orders, masks and indices that are on the tape are found again. What your code chose by itself, with an `if` say, is
not; where it would have chosen otherwise, the result says so.

>>> import autodiff_edu as ad
>>> x = ad.Variable(3.0, name="x")
>>> with ad.GradientTape() as tape:
...     y = x * x
>>> nudge(tape, y, x, 0.1)
The target moves by 0.61; the cotangent says 0.6
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
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
        How far the cotangent says that it moves; 0 where none reached the tensor.
    connected : bool
        Whether a cotangent reached the tensor.
    kept : tuple of str
        What stays as it was recorded although the nudge would change it. Where it names something, your code may
        move the target by another amount when you run it again.
    """

    moved: Any
    said: Any
    connected: bool
    kept: tuple[str, ...] = ()

    @property
    def gap(self) -> Any:
        """The distance from what the cotangent says to what the target does."""
        return self.moved - self.said

    def __repr__(self) -> str:
        text = f"The target moves by {short_value(np.asarray(self.moved))}"
        if self.connected:
            text += f"; the cotangent says {short_value(np.asarray(self.said))}"
        else:
            text += "; no cotangent reaches the tensor, so the backward pass says 0. tape.explain says why"
        if self.kept:
            text += f". Run again, your code may give another number, because this was kept: {'; '.join(self.kept)}"
        return text


def nudge(tape: Tape, target: Any, tensor: Any, by: Any, lately: Iterable[Entry] = ()) -> Nudge:
    """Compare how far the target moves with how far the cotangent says; see `GradientTape.nudge`.

    `lately` is what was computed on a tape or not, as the journal has it.
    """
    target, tensor = one_tensor(target, "nudge"), one_tensor(tensor, "nudge", "tensor")
    if tensor.dtype.kind not in "fc":
        raise ValueError(f"cannot nudge a tensor of dtype {tensor.dtype}: it has no derivative. Nudge a floating one")
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
        entries = leading_to(makers, target._id)
        move = partial(np.add, by)
        values = run_again(entries, tensor._id, move)
        ids = choices(makers, target._id)
        kept = [
            f"the choice made by {entry.name} at {entry.place}"
            for entry in changed(leading_to(makers, *ids), ids, tensor._id, move)
        ]
        kept += [
            f"{line.name if callable(line.operation) else 'the tensor made'} at {line.place}, which is not on the tape"
            for line in _off_the_tape(entries, makers, tensor._id, lately)
        ]
    before = target._array
    after = move(before) if target is tensor else values.get(target._id, before)
    if after.shape != before.shape:
        raise ValueError(
            f"the nudge chooses other elements, and the target's shape changes from {before.shape} to {after.shape}; "
            "nudge by less"
        )
    if before.dtype.kind in "biu":  # a truth or a count has no derivative, and moves all the same
        before, after = np.asarray(before, float), np.asarray(after, float)
    moved = np.asarray(after - before)[()]
    if rows is None:
        return Nudge(moved, np.zeros_like(moved)[()], False, tuple(kept))
    said = np.conjugate(np.reshape(rows, (-1, tensor.size))) @ np.ravel(by)
    return Nudge(moved, np.real(said).reshape(target.shape).astype(moved.dtype)[()], True, tuple(kept))


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
            f"by has shape {given.shape}, and the tensor has shape {tensor.shape}; "
            "write one number for all elements, or an array of the tensor's shape"
        ) from None


def leading_to(makers: Mapping[int, Entry], *targets: int) -> list[Entry]:
    """List the entries that targets were computed by, in their order, of those given by the ids of their outputs."""
    waiting, found = [*targets], set()
    while waiting:
        id = waiting.pop()
        if id in makers and id not in found:
            found.add(id)
            waiting += used_by(makers[id])
    return [makers[id] for id in sorted(found)]  # ids tell the time


def used_by(entry: Entry) -> set[int]:
    """Return the ids of the tensors that an entry was computed from."""
    return {id for id in entry.ids if id is not None} | _unseen(entry)


def _unseen(entry: Entry) -> frozenset[int]:
    """Return the ids of what a custom gradient used without being given it by position."""
    return getattr(entry.operation, "unseen", frozenset())


def choices(makers: Mapping[int, Entry], target: int) -> list[int]:
    """List the ids of truths and whole numbers that no entry uses, from before a target: code may choose by them."""
    used = {id for entry in makers.values() for id in entry.ids}
    return [
        id for id, entry in makers.items() if id < target and id not in used and entry.output_value.dtype.kind in "biu"
    ]


def changed(entries: Iterable[Entry], ids: list[int], tensor: int, move: Callable[[Any], Any]) -> list[Entry]:
    """List the choices, of these ids and among entries, that come out differently when a tensor is moved."""
    entries = list(entries)
    values = run_again(entries, tensor, move)
    made = {entry.output_id: entry for entry in entries}
    return [made[id] for id in ids if id in values and not np.array_equal(values[id], made[id].output_value)]


def _off_the_tape(
    entries: list[Entry], makers: Mapping[int, Entry], tensor: int, lately: Iterable[Entry]
) -> list[Entry]:
    """List what entries use that was computed from a tensor, but not on their tape."""
    moving: dict[int, Entry | None] = {tensor: None}
    for line in lately:
        if (callable(line.operation) or line.operation == "made") and not moving.keys().isdisjoint(line.ids):
            moving.setdefault(line.output_id, line)
    used = {id for entry in entries for id in used_by(entry)} - makers.keys()
    return [line for id, line in moving.items() if id in used and line is not None]


def run_again(entries: Iterable[Entry], tensor: int, move: Callable[[Any], Any]) -> dict[int, Any]:
    """Compute again what depends on a tensor that is moved; return the new values by id.

    A variable may have had several values, so it is moved wherever an entry has read it.

    Raises
    ------
    ValueError
        If a custom gradient uses what moves without being given it, or an operation cannot be computed any more.
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
        try:
            value = compute(*arguments, **entry.parameters)
        except (ValueError, IndexError) as error:
            raise ValueError(
                f"{entry.name}, used at {entry.place}, cannot be run again so far away; nudge by less. "
                f"NumPy says: {error}"
            ) from error
        values[entry.output_id] = value if hasattr(value, "dtype") else np.asarray(value)[()]
    return values
