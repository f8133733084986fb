"""Nudging a tensor: how far the target really moves, and how far the cotangent says it does.

Everything that the tape computed from a tensor is computed again with that tensor moved. Nothing is recorded, and no
tape is used up. Orders are found again too, and so are masks and indices that stand alone in the brackets, as in
`x[mask]`. Other choices, such as an `if`, `x[..., i]` or `np.take(x, i)`, are not; if one would have been different,
the result says so, as far as the tape knows.

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
from ..core.entry import PLAIN, Entry
from ..core.reach import ahead, behind
from ..core.rule import rule_of
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
    kept : tuple of str
        What stays as recorded although the nudge would change it. If this names anything, running your code again may
        move the target by another amount.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.GradientTape() as tape:
    ...     y = x**2
    >>> found = tape.nudge(y, x, 0.5)
    >>> float(found.moved), float(found.said), float(found.gap)
    (3.25, 3.0, 0.25)
    """

    moved: Any
    said: Any
    connected: bool
    kept: tuple[str, ...] = ()

    @property
    def gap(self) -> Any:
        """The difference between the target's actual move and what the cotangent says."""
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


def nudge(
    tape: Tape,
    target: Any,
    tensor: Any,
    by: Any,
    lately: Iterable[Entry] = (),
    find_left: Callable[[Any, Any], Iterable[Entry]] = lambda target, tensor: (),
) -> Nudge:
    """Compare how far the target moves with how far the cotangent says it does; see `GradientTape.nudge`.

    `lately` is what was computed recently, on a tape or not: the lines of the journal. `find_left` lists those by which
    plain numbers of the tensor, or of what was computed from it, went into the target.
    """
    target, tensor = one_tensor(target, "nudge"), one_tensor(tensor, "nudge", "tensor")
    if tensor.dtype.kind not in "fc":
        raise ValueError(
            f"cannot nudge a tensor of dtype {tensor.dtype}: it has no derivative. Nudge a floating-point tensor"
        )
    with only():
        by = _check(by, tensor)
    tape.check_usable()
    makers = {entry.output_id: entry for entry in tape.entries}
    if target is not tensor and target._id not in makers and target._id not in tape.watched:
        raise ValueError(
            "the tape did not record how the target was computed, so it cannot be computed again. "
            "tape.explain(target, tensor) says why"
        )
    with only(), np.errstate(all="ignore"):
        (rows,) = _pull_back(tape, target, 0, [tensor], None)
        entries = leading_to(makers, target._id)
        move = partial(np.add, by)
        values = run_again(entries, tensor._id, move)
        lately = list(lately)
        ids = choices(makers, target._id, _read_before(target._id, lately))
        kept = [
            f"the choice made by {entry.name} at {entry.place}"
            for entry in find_changes(leading_to(makers, *ids), ids, tensor._id, move)
        ]
        kept += [
            f"the result of {entry.name} at {entry.place}" for entry in entries if _is_fixed(entry, tensor._id, values)
        ]
        kept += [
            f"the plain numbers that {line.operation} returned at {line.place}"
            for line in _find_moving(find_left(target, tensor), makers, tensor._id, move)
        ]
        kept += [
            f"{line.name if callable(line.operation) else 'the tensor made'} at {line.place}, which is not on the tape"
            for line in _off_the_tape(
                entries, makers, tensor._id, [line for line in lately if line.output_id not in ids]
            )
        ]
    before = target._array
    after = move(before) if target is tensor else values.get(target._id, before)
    if after.shape != before.shape:
        raise ValueError(
            f"the nudge chooses other elements, and the target's shape changes from {before.shape} to {after.shape}; "
            "nudge by less"
        )
    if before.dtype.kind in "biu":  # a boolean or a count has no derivative, but moves all the same
        before, after = np.asarray(before, float), np.asarray(after, float)
    moved = np.asarray(after - before)[()]
    if rows is None:
        return Nudge(moved, np.zeros_like(moved)[()], False, tuple(kept))
    said = np.conjugate(np.reshape(rows, (-1, tensor.size))) @ np.ravel(by)
    return Nudge(moved, np.real(said).reshape(target.shape).astype(moved.dtype)[()], True, tuple(kept))


def _check(by: Any, tensor: Any) -> Any:
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


def leading_to(makers: dict[int, Entry], *targets: int) -> list[Entry]:
    """List, in order, the entries that targets were computed by, among those given by the ids of their outputs."""
    return behind([makers[id] for id in sorted(makers)], targets, used_by)  # ids increase with time


def used_by(entry: Entry) -> set[int]:
    """Return the ids of the tensors that an entry was computed from."""
    return {id for id in entry.ids if id is not None} | _unseen(entry)


def _unseen(entry: Entry) -> frozenset[int]:
    """Return the ids of tensors that a custom gradient used but was not given by position."""
    return getattr(entry.operation, "unseen", frozenset())


def choices(makers: Mapping[int, Entry], target: int, read: set[int | None]) -> list[int]:
    """List the ids of the booleans and whole numbers before a target by which your code may have made a choice.

    These are the ones that no entry uses, that your code has read (with an `if` or `float()`, for example), or that
    are plain arrays in an entry, as in `x[..., i]` or in the indexing that np.take is written in.
    """
    used = {id for entry in makers.values() for id in entry.ids} - read
    plain = _plain_arrays(makers.values())
    return [
        made
        for made, entry in makers.items()
        if made < target
        and entry.output_value.dtype.kind in "biu"
        and (made not in used or id(entry.output_value) in plain)
    ]


def _plain_arrays(entries: Iterable[Entry]) -> set[int]:
    """Return the identities of the arrays that entries use, but not as those of tensors."""
    plain = [v for entry in entries for v, made in zip(entry.values, entry.ids, strict=True) if made is None]
    parts = [part for value in plain for part in (value if isinstance(value, tuple) else (value,))]
    return {id(part) for part in parts if hasattr(part, "dtype") and not isinstance(part, np.bool_)}  # NumPy has two


def _read_before(target: int, lately: Iterable[Entry]) -> set[int | None]:
    """Return the ids of the tensors that became plain numbers before a target was computed, other than to be shown."""
    found: set[int | None] = set()
    for line in lately:
        if line.output_id == target:
            return found
        if line.output_id == PLAIN and isinstance(line.operation, str) and line.operation != "format()":
            found.update(line.ids)
    return set()  # the target is older than what is remembered


def find_changes(entries: Iterable[Entry], ids: list[int], tensor: int, move: Callable[[Any], Any]) -> list[Entry]:
    """List the choices, of these ids and among entries, that come out differently when a tensor is moved."""
    entries = list(entries)
    values = run_again(entries, tensor, move)
    made = {entry.output_id: entry for entry in entries}
    return [made[id] for id in ids if id in values and not np.array_equal(values[id], made[id].output_value)]


def _find_moving(
    left: Iterable[Entry], makers: Mapping[int, Entry], tensor: int, move: Callable[[Any], Any]
) -> list[Entry]:
    """List the lines by which numbers left that are others when a tensor is moved, one for each place."""
    left = list(left)
    ids = [id for line in left for id in line.ids if id is not None]
    changed = {entry.output_id for entry in find_changes(leading_to(dict(makers), *ids), ids, tensor, move)}
    changed |= {id for id in ids if (np.any(move(0)) if id == tensor else id not in makers)}
    return list({line.where: line for line in left if not changed.isdisjoint(line.ids)}.values())


def _off_the_tape(
    entries: list[Entry], makers: Mapping[int, Entry], tensor: int, lately: Iterable[Entry]
) -> list[Entry]:
    """List what entries use that was computed from a tensor, but not on their tape; `lately` is without the choices."""
    computed = [line for line in lately if callable(line.operation) or line.operation == "made"]
    used = {id for entry in entries for id in used_by(entry)} - makers.keys()
    return [line for line in ahead(computed, {tensor}) if line.output_id in used]


def _moves(entry: Entry, tensor: int, values: Mapping[int, Any]) -> bool:
    """Return whether an entry uses the moved tensor, or what was computed again."""
    return tensor in entry.ids or not values.keys().isdisjoint(entry.ids)


def can_run_again(entry: Entry) -> bool:
    """Return whether an entry has all that its operation was given: not of a NumPy function without a rule."""
    return entry.call is not None or isinstance(entry.operation, np.ufunc) or rule_of(entry.operation) is not None


def _is_fixed(entry: Entry, tensor: int, values: Mapping[int, Any]) -> bool:
    """Return whether an entry uses what moves, but its result stays."""
    return entry.output_id != tensor and _moves(entry, tensor, values) and not can_run_again(entry)


def run_again(entries: Iterable[Entry], tensor: int, move: Callable[[Any], Any]) -> dict[int, Any]:
    """Recompute what depends on a moved tensor; return the new values by id.

    A variable may have had several values, so it is moved wherever an entry read it.

    Raises
    ------
    ValueError
        If a custom gradient uses a moving tensor that is not one of its arguments, or an operation can no longer be
        computed.
    """
    values: dict[int, Any] = {}
    for entry in entries:
        if (unseen := _unseen(entry)) and not unseen.isdisjoint({tensor, *values}):
            raise ValueError(
                f"{entry.name}, used at {entry.place}, uses a tensor that moves and is not one of its positional "
                f"arguments, so it cannot be run again. Pass that tensor to {entry.name} by position"
            )
        if entry.output_id == tensor or not _moves(entry, tensor, values) or not can_run_again(entry):
            continue
        arguments = [
            move(value) if id == tensor else values.get(id, value)
            for id, value in zip(entry.ids, entry.values, strict=True)
        ]
        try:
            if entry.call is None:
                value = entry.operation(*arguments, **entry.parameters)
            else:
                value = entry.call.again(tuple(arguments))
        except (ValueError, IndexError) as error:
            raise ValueError(
                f"{entry.name}, used at {entry.place}, cannot be run again so far away; nudge by less. "
                f"NumPy says: {error}"
            ) from error
        values[entry.output_id] = value if hasattr(value, "dtype") else np.asarray(value)[()]
    return values
