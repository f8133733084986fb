"""The nudges in a trace: how far a target moves when a tensor does, for a page without Python.

They are computed when the document is written, for small programs only. Custom gradients are never run again here,
because they are the user's code, and may print or take long.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..core import events
from ..core.active import only
from ..core.entry import Entry
from ..core.events import Event, Read
from ..core.reach import ahead
from ..core.rule import kind_of, runs_code
from ..derivatives.nudge import choices, find_changes, leading_to, run_again, used_by
from ..text.shared import shared

MOST, MOST_ELEMENTS = 40, 48
"""The most nudged tensors and directions in a document, and the most other elements of arrays."""
SMALL = 16
"""The size of the largest array of which every element is nudged: the player draws it as a table."""
MOST_ENTRIES, MOST_NUMBERS = 200, 50_000
"""The most entries that lead to a target, and the most numbers in their results."""
MOST_RUNS = 1000
"""How many entries may be computed again for each of the probes: some 50 ms for all of them."""
PROBES = (-1.0, -0.75, -0.5, -0.25, -0.1, 0.1, 0.25, 0.5, 0.75, 1.0)
"""The nudges that tell all others of a target that is a polynomial of low degree; of any other, all are computed."""
NODES = (-1.0, -0.5, 0.0, 0.5, 1.0)
"""The probes that determine a polynomial."""
POLYNOMIAL = {np.add, np.subtract, np.multiply, np.negative, np.positive, np.square, np.concatenate, np.stack}
"""The operations, other than the linear ones, whose result is always a polynomial of their arguments."""
UPWARDS = 1 + 1e-9
"""Breaks ties in rounding and between equal sizes the same way, whatever the last bit is."""


Kept = tuple[int, dict[str, Any]]  # how many entries were run again, and what the document says


class Direction(NamedTuple):
    """Where a tensor is moved: `about` says so in the document, `unit` is an array of the tensor's shape."""

    about: dict[str, Any]
    unit: Any
    size: float


def nudges(
    happened: list[Event], passes: list[int], earlier: list[Entry], heard: list[Entry | Read], tensors: dict[int, int]
) -> list[dict[str, Any]]:
    """Compute the nudges of a trace.

    Parameters
    ----------
    happened, passes
        The events, and for each the number of its backward pass.
    earlier
        The entries of the tapes from before the trace began.
    heard
        All that was computed during the trace, and what became plain numbers.
    tensors
        By the id of a tensor, its index in the document.
    """
    with only(), np.errstate(all="ignore"):
        found: dict[Any, dict[str, Any]] = {}
        for more, most in ((False, MOST), (True, MOST + MOST_ELEMENTS)):
            runs = 0
            for cost, kept in _all_nudges(happened, passes, earlier, heard, tensors, more):
                found.setdefault((kept["tensor"], kept["target"], tuple(kept.get("element", ["along"]))), kept)
                runs += cost
                if len(found) >= most or runs > MOST_RUNS:
                    break
    return list(found.values())


def _all_nudges(happened: Any, passes: Any, earlier: Any, heard: Any, tensors: Any, more: bool) -> Iterator[Kept]:
    known = {entry.output_id: entry for entry in earlier}
    seeds: dict[int, list[events.Seed]] = {}
    cotangents: dict[int, dict[int, Any]] = {}
    for event, number in zip(happened, passes, strict=True):
        match event:
            case events.Seed():
                seeds.setdefault(number, []).append(event)
                cotangents.setdefault(number, {})[event.tensor._id] = event.cotangent._array
            case events.Accumulate(tensor=tensor, after=after):
                cotangents.setdefault(number, {})[tensor._id] = after._array
            case events.Record(entry=entry) | events.Cut(entry=entry) | events.Skip(entry=entry):
                known.setdefault(entry.output_id, entry)
    makers = {id: entry for id, entry in known.items() if entry.values is not None}
    for number, (seed, *others) in islice(seeds.items(), MOST):
        target, first = seed.tensor._array, seed.cotangent._array
        is_scalar = _is_here(target, np.float64) and target.shape == first.shape == () and np.isfinite(target)
        if not others and is_scalar and first == 1:
            yield from _of_pass(makers, seed.tensor, cotangents[number], heard, tensors, more)


def _of_pass(
    makers: dict[int, Entry], target: Any, cotangents: Any, heard: Any, tensors: Any, more: bool
) -> Iterator[Kept]:
    """Nudge what a target was computed from, or `more` elements of arrays: first what a cotangent has reached."""
    before = leading_to(makers, target._id)
    results = [entry.output_value for entry in before]
    if len(results) > MOST_ENTRIES or not all(map(_is_here, results)) or sum(map(np.size, results)) > MOST_NUMBERS:
        return
    ids = choices(makers, target._id, _read_before(target._id, heard))
    ways = leading_to(makers, *ids)
    if len(ways) > MOST_ENTRIES:
        return
    values = {target._id: target._array}
    for entry in before:
        values |= {id: value for id, value in zip(entry.ids, entry.values, strict=True) if id is not None}
        values[entry.output_id] = entry.output_value
    for id in sorted(values.keys() & tensors.keys(), key=lambda id: (id not in cotangents, tensors[id])):
        after = ahead(before, {id}, used_by)
        is_moved = id == target._id or (after and after[-1].output_id == target._id)
        chosen = ahead(ways, {id}, used_by)
        if not is_moved or not _is_here(values[id], np.float64) or any(map(_is_users, after + chosen)):
            continue
        cotangent = cotangents.get(id)
        move = partial(_measure_move, after, chosen, ids, id, target)
        # A corner, a step or a peak between two probes would not be seen.
        moving = {id, *(entry.output_id for entry in after)}
        is_polynomial = not chosen and all(_is_polynomial(entry, moving) for entry in after)
        for about, unit, size in _directions(values[id], cotangent, more):
            probes = PROBES if is_polynomial else shared()["nudges"]
            probed = {at: move(unit * _scale_nudge(size, at)) for at in probes}
            moved = probed.values()
            slope = None if cotangent is None else float(np.sum(cotangent * unit))
            if not any(map(np.isfinite, moved)) or not np.isfinite(slope or 0.0):
                continue
            zero = 1e-8 * max(abs(float(target._array)), *(abs(m) for m in moved if np.isfinite(m)))
            kept = {"tensor": tensors[id], "target": tensors[target._id], **about, "size": size}
            if slope is not None:
                kept["slope"] = round_to(slope, zero / size)
                if any(entry.output_id not in cotangents for entry in after):
                    kept["cut"] = True
            if slope is None or not all(abs(m - slope * _scale_nudge(size, at)) <= zero for at, m in probed.items()):
                curve = _find_polynomial(probed, zero) if is_polynomial else None
                if curve is None:
                    probed = {
                        at: probed[at] if at in probed else move(unit * _scale_nudge(size, at))
                        for at in shared()["nudges"]
                    }
                    curve = [*probed.values()]
                kept["moved"] = [round_to(m, zero) for m in curve]
            yield len(probed) // len(PROBES) * (len(after) + len(chosen)), kept


def _is_polynomial(entry: Entry, moving: set[int]) -> bool:
    """Return whether an entry's result is a polynomial of the tensors that move."""
    operation = entry.operation
    if operation in (np.divide, np.power) and entry.ids[1] not in moving:
        power = np.asarray(entry.values[1])
        return operation is np.divide or bool(np.all((power >= 0) & (power % 1 == 0)))
    return operation in POLYNOMIAL or kind_of(operation) == "linear"


def _find_polynomial(probed: dict[float, float], zero: float) -> list[float] | None:
    """Compute how far the target moves at all nudges, if a polynomial of degree 4 fits those that were probed."""
    known = [probed.get(at, 0.0) for at in NODES]
    values = dict(zip(shared()["nudges"], (_compute_weights() @ known).tolist(), strict=True))
    fits = all(abs(values[at] - m) <= zero for at, m in probed.items())
    return list((values | probed).values()) if fits else None


@cache
def _compute_weights() -> Any:
    """Return the matrix that maps a polynomial's values at the nodes to those at all nudges."""
    return np.vander(shared()["nudges"], len(NODES)) @ np.linalg.inv(np.vander(NODES))


def _read_before(target: int, heard: list[Entry | Read]) -> set[int | None]:
    """Return the ids of the tensors that became plain numbers before a target was computed, other than to be shown."""
    found: set[int | None] = set()
    for event in heard:
        if isinstance(event, Entry) and event.output_id == target:
            return found
        if isinstance(event, Read) and event.how != "format()":
            found.add(event.tensor._id)
    return set()


def _directions(value: Any, cotangent: Any, more: bool) -> Iterator[Direction]:
    """Choose how to move a tensor: a number up and down, an array at one element and along its cotangent.

    If `more`, at all other elements of a small array.
    """
    if value.ndim == 0:
        if more:
            return
        yield Direction({"from": round_to(float(value), 0, digits=6)}, 1.0, natural_size(value))
        return
    weight = np.abs(value if cotangent is None else cotangent)
    largest = np.max(weight, initial=0)
    if not value.size or not np.isfinite(largest):
        return
    first = tuple(np.argwhere(weight * UPWARDS >= largest)[0].tolist())
    rest = [index for index in np.ndindex(value.shape) if index != first] if more and value.size <= SMALL else []
    for index in rest if more else [first]:
        unit = np.zeros(value.shape)
        unit[index] = 1.0
        about = {"element": list(index), "from": round_to(float(value[index]), 0, digits=6)}
        yield Direction(about, unit, natural_size(value[index]))
    if not more and cotangent is not None and value.size > 1 and largest:
        unit = cotangent / largest  # first, so that no square is too large or small
        yield Direction({"along": True}, unit / np.sqrt(np.sum(unit * unit)), natural_size(np.max(np.abs(value))))


def natural_size(value: Any) -> float:
    """Return the largest nudge of a number: the power of ten (0.1, 1, 10 and so on) next below its magnitude.

    >>> natural_size(3.0), natural_size(0.25), natural_size(-40.0), natural_size(0.0)
    (1.0, 0.1, 10.0, 1.0)
    """
    magnitude = abs(float(value)) * UPWARDS
    return float(f"1e{f'{magnitude:.6e}'.partition('e')[2]}") if 1e-9 < magnitude < 1e9 else 1.0


def _scale_nudge(size: float, portion: float) -> float:
    return float(f"{size * portion:.4g}")


def round_to(value: float, zero: float, digits: int = 4) -> float | None:
    """Round to a few digits; numbers below `zero` become 0, and those that are not finite None."""
    if not np.isfinite(value):
        return None
    return 0.0 if abs(value) <= zero else float(f"{value * UPWARDS:.{digits}g}")


def _measure_move(after: list[Entry], chosen: list[Entry], ids: list[int], id: int, target: Any, by: Any) -> float:
    """Compute how far the target moves; NaN where it cannot be computed, or the code would have gone another way."""
    if id == target._id:
        return float(by)
    try:
        values = run_again(after, id, lambda value: value + by)
        if chosen and find_changes(chosen, ids, id, lambda value: value + by):
            return float("nan")
        return float(values[target._id] - target._array)
    except Exception:  # the user's own numbers, moved to where a matrix is singular, or functions without a rule
        return float("nan")


def _is_here(value: Any, dtype: Any = None) -> bool:
    """Return whether a value is NumPy's; those of other libraries may be computed elsewhere, at a cost."""
    return isinstance(value, np.ndarray | np.generic) and (dtype is None or value.dtype == dtype)


def _is_users(entry: Entry) -> bool:
    return runs_code(entry.operation)
