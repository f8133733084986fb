"""The nudges in a trace: how far a target moves when a tensor does, for a page without Python.

They are computed when the document is written, for small programs only. The functions of custom gradients are never
run again here, because they are the user's code, and may print or take long; the operations that they did are, if these
are all that leads from their arguments to their result.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import groupby, islice
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ..core import events
from ..core.active import only
from ..core.entry import Entry
from ..core.events import Event, Read
from ..core.reach import ahead, behind
from ..core.rule import kind_of, rule_of, runs_code
from ..derivatives.nudge import can_run_again, choices, find_changes, leading_to, run_again, used_by
from ..derivatives.tangents import push_parts
from ..rules.corners import positions
from ..rules.operations import clip
from ..text.shared import shared
from .unused import is_unused

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
PICKING = {np.absolute, np.fabs, np.maximum, np.fmax, np.minimum, np.fmin, np.where, clip, np.sort, np.partition}
PICKING |= {np.max, np.nanmax, np.min, np.nanmin}
"""The operations that are linear in branches: what their rules send back changes only with the branch."""
WIDER = (2, 5, 10)
"""The multiples of its usual nudge that are tried for a tensor, to reach another branch."""
FEW = 8
"""Of how many operations that take another branch it is found out whether one alone is the reason."""
UPWARDS = 1 + 1e-9
"""Breaks ties in rounding and between equal sizes the same way, whatever the last bit is."""


Kept = tuple[int, dict[str, Any]]  # how many entries were run again, and what the document says


class Direction(NamedTuple):
    """Where a tensor is moved: `about` says so in the document, `unit` is an array of the tensor's shape."""

    about: dict[str, Any]
    unit: Any
    size: float


class Probe(NamedTuple):
    """What one nudge does.

    Attributes
    ----------
    moved : float
        How far the target moves; NaN where it cannot be computed, or the code would have gone another way.
    choice : Entry or None
        What the code chose by and comes out differently.
    switches : list of Entry
        The operations that take another branch.
    moved_without_cuts : list of float
        How far the target moves if a cut keeps what it was recorded with: for each, and at the end for all together.
    """

    moved: float
    choice: Entry | None = None
    switches: Sequence[Entry] = ()
    moved_without_cuts: Sequence[float] = ()


class Branch(NamedTuple):
    """The branch that an operation took when it was recorded, as a line: what its rule takes it for."""

    entry: Entry

    def again(self, arguments: tuple[Any, ...]) -> Any:
        """Compute the result on this branch."""
        entry = self.entry
        moves = {
            k: arguments[k] - entry.values[k]
            for k, id in enumerate(entry.ids)
            if id is not None and arguments[k].dtype.kind == "f"
        }
        return sum(push_parts(entry, moves, entry.output_value, entry.values).values(), entry.output_value)


class Replay(NamedTuple):
    """The operations by which the function of a custom gradient computed its result."""

    entry: Entry
    operations: list[Entry]
    returned: int

    def again(self, arguments: tuple[Any, ...]) -> Any:
        """Compute the result from other arguments."""
        values = dict(zip(self.entry.ids, arguments, strict=True))
        for one in self.operations:
            given = [values.get(id, value) for id, value in zip(one.ids, one.values, strict=True)]
            values[one.output_id] = one.operation(*given, **one.parameters)
        return values.get(self.returned, self.entry.output_value)


class DescribedCorner(NamedTuple):
    """A corner that a backward pass met: the ids of an entry's output and of its argument, an element, and a text."""

    entry: int
    tensor: int
    element: tuple[int, ...]
    text: str
    others: str  # what is said of other elements at a corner of the same operation; empty if there are none


class Described:
    """What a document has, by ids: its tensors, the entries that computed them, and by pass the corners that were met.

    Parameters
    ----------
    document : dict
        The document.
    tensors, entries : dict
        By the id of a tensor, its index, and that of the entry that computed it.
    """

    def __init__(self, document: dict[str, Any], tensors: dict[int, int], entries: dict[int, int]) -> None:
        self.document, self.tensors, self.entries = document, tensors, entries
        ids, makers = ({index: id for id, index in each.items()} for each in (tensors, entries))
        self.corners: dict[int, list[DescribedCorner]] = {}
        for step in document["steps"]:
            if corner := step.get("corner"):
                left, right, slope = (corner[key].replace("-", "−") for key in ("left", "right", "slope"))
                whole = document["tensors"][step["tensor"]]["name"]
                name = whole + (f"[{', '.join(map(str, corner['element']))}]" if corner["element"] else "")
                text = f"{name} is at a corner of {self._write(step['entry'])}: slope {left} on its left, {right} "
                text += f"on its right. The rule takes {slope}; one number cannot fit both."
                others = (
                    f"Some elements of {whole} are at a corner of {self._write(step['entry'])}, where the slope on the "
                    "left differs from that on the right. The rule picks one."
                )
                others = others if corner["others"] else ""
                met = DescribedCorner(
                    makers[step["entry"]], ids[step["tensor"]], tuple(corner["element"]), text, others
                )
                self.corners.setdefault(step["pass"], []).append(met)

    def explain_choice(self, entry: Entry) -> str:
        """Write that the user's code would go another way; empty if the document has no such entry."""
        return self._say(
            entry,
            "After this nudge, {text} comes out differently, so your code may do something else. The player "
            "can't run your code again, so it can't say how far the target would move.",
        )

    def explain_switch(self, entry: Entry) -> str:
        """Write that an operation takes another branch."""
        return self._say(
            entry,
            "After this nudge, {} takes another branch. The cotangent is the slope of the branch it was on before.",
        )

    def explain_cut(self, entry: Entry) -> str:
        """Write that the cotangent leaves out what goes through an entry."""
        return self._say(
            entry,
            "No gradient flows back through {}, so the cotangent leaves out whatever the nudge changes there.",
        )

    def explain_custom(self, entry: Entry) -> str:
        """Write that a custom gradient sends back something other than a slope."""
        return self._say(
            entry, "{} has a custom gradient: what its backward function sends back is not the slope of its result."
        )

    def explain_rounding(self, entry: Entry, by: float) -> str:
        """Write that the rounding of an entry makes the gap."""
        text = "The gap comes from rounding, not from curvature: rounding {} can by itself move the target by about "
        return self._say(entry, f"{text}{round_to(by, 0.0, 1):g}.")

    def explain_read(self, id: int) -> str:
        """Write that plain numbers were taken from a tensor."""
        name = self.document["tensors"][self.tensors[id]]["name"]
        return (
            f"Your code took plain numbers out of {name}. Anything it computed or decided with them stays as it was "
            "here, so if you ran it again, the target might move by a different amount."
        )

    def _say(self, entry: Entry, text: str) -> str:
        if entry.output_id not in self.entries:
            return ""
        index = self.entries[entry.output_id]
        return text.format(self._write(index), text=self._write(index, whole=False))

    def _write(self, index: int, whole: bool = True) -> str:
        about = self.document["entries"][index]
        name = f"{self.document['tensors'][about['output']]['name']} = " if whole else ""
        line = f" (line {about['where']['line']})" if about["where"] else ""
        return f"{name}{about['text']}{line}"


def nudges(
    happened: list[Event], passes: list[int], earlier: list[Entry], heard: list[Entry | Read], document: Described
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
    document
        What the document has already.
    """
    with only(), np.errstate(all="ignore"):
        found: dict[Any, dict[str, Any]] = {}
        for more, most in ((False, MOST), (True, MOST + MOST_ELEMENTS)):
            runs = 0
            for cost, kept in _all_nudges(happened, passes, earlier, heard, document, more):
                found.setdefault((kept["tensor"], kept["target"], tuple(kept.get("element", ["along"]))), kept)
                runs += cost
                if len(found) >= most or runs > MOST_RUNS:
                    break
    return list(found.values())


def _all_nudges(
    happened: Any, passes: Any, earlier: Any, heard: Any, document: Described, more: bool
) -> Iterator[Kept]:
    known, stops = {entry.output_id: entry for entry in earlier}, set()
    seeds: dict[int, list[events.Seed]] = {}
    # by the pass: of tensors, by their ids; what an entry sent back, by its output's id and the argument's place
    cotangents: dict[int, dict[Any, Any]] = {}
    for event, number in zip(happened, passes, strict=True):
        match event:
            case events.Seed():
                seeds.setdefault(number, []).append(event)
                cotangents.setdefault(number, {})[event.tensor._id] = event.cotangent._array
            case events.Accumulate(entry=entry, argument=argument, tensor=tensor, value=value, after=after):
                of_pass = cotangents.setdefault(number, {})
                of_pass[tensor._id], of_pass[entry.output_id, argument] = after._array, value._array
            case events.Record(entry=entry) | events.Cut(entry=entry) | events.Skip(entry=entry):
                known.setdefault(entry.output_id, entry)
                if not isinstance(event, events.Record):
                    stops.add(entry.output_id)
    makers = {id: entry for id, entry in known.items() if entry.values is not None}
    for number, (seed, *others) in islice(seeds.items(), MOST):
        target, first = seed.tensor._array, seed.cotangent._array
        is_scalar = _is_here(target, np.float64) and target.shape == first.shape == () and np.isfinite(target)
        if not others and is_scalar and first == 1:
            corners = document.corners.get(number, [])
            yield from _of_pass(makers, seed.tensor, cotangents[number], heard, stops, document, corners, more)


def _of_pass(
    makers: dict[int, Entry],
    target: Any,
    cotangents: Any,
    heard: Any,
    stops: set[int],
    document: Described,
    corners: list[DescribedCorner],
    more: bool,
) -> Iterator[Kept]:
    """Nudge what a target was computed from, or `more` elements of arrays: first what a cotangent has reached."""
    before, tensors = leading_to(makers, target._id), document.tensors
    results = [entry.output_value for entry in before]
    if len(results) > MOST_ENTRIES or not all(map(_is_here, results)) or sum(map(np.size, results)) > MOST_NUMBERS:
        return
    read = _read_before(target._id, heard)
    ids = [id for id in choices(makers, target._id, read) if id in read or not is_unused(makers[id].where)]
    ways = leading_to(makers, *ids)
    if len(ways) > MOST_ENTRIES:
        return
    opened = {entry.output_id: _open(entry, heard) for entry in {*before, *ways}}
    before, ways = ([opened[entry.output_id] for entry in some] for some in (before, ways))
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
        cotangent, cuts = cotangents.get(id), _find_cuts(after, id, cotangents, stops)
        move = partial(_measure_move, after, chosen, cuts, ids, id, target)
        move_on_old_branches = partial(_move_on_old_branches, after, id, target)
        # A corner, a step or a peak between two probes would not be seen.
        moving = {id, *(entry.output_id for entry in after)}
        is_polynomial = not chosen and not cuts and all(_is_polynomial(entry, moving) for entry in after)
        turns = chosen or cuts or any(entry.operation in PICKING for entry in after)
        value = 0.0 if id == target._id else float(target._array)  # what is moved itself is not rounded
        for about, unit, size in _directions(values[id], cotangent, more):
            probes = PROBES if is_polynomial else shared()["nudges"]
            probed = {at: move(unit * _scale_nudge(size, at)) for at in probes}
            if turns:
                find = partial(_explain_branch, move, move_on_old_branches, cuts, value, document, unit)
                natural, size = size, _widen(size, probed, find)
                probed = probed if size == natural else {at: move(unit * _scale_nudge(size, at)) for at in probes}
            moves = {at: probe.moved for at, probe in probed.items()}
            slope = None if cotangent is None else float(np.sum(cotangent * unit))
            if not any(map(np.isfinite, moves.values())) or not np.isfinite(slope or 0.0):
                continue
            zeros = _find_zeros(value, moves)
            kept = {"tensor": tensors[id], "target": tensors[target._id], **about, "size": size}
            if slope is not None:
                kept["slope"] = round_to(slope, 0.0)
            numbers = (_list_moving(makers, id) & read & tensors.keys()) - {target._id, *ids} if read else set()
            why = document.explain_read(min(numbers)) if numbers else ""
            if slope is None or not all(
                abs(m - slope * _scale_nudge(size, at)) <= zeros[at] for at, m in moves.items()
            ):
                curve = _find_polynomial(moves, zeros[1.0]) if is_polynomial else None
                if curve is None:
                    probed = {
                        at: probed[at] if at in probed else move(unit * _scale_nudge(size, at))
                        for at in shared()["nudges"]
                    }
                    moves = {at: probe.moved for at, probe in probed.items()}
                    zeros, curve = _find_zeros(value, moves), [*moves.values()]
                    # A corner that the rest smooths out is not the reason, nor is the branch beyond it.
                    met = {corner.entry for corner in corners}
                    turning = [entry for entry in after if entry.output_id in met]
                    bends = bool(turning) and _bends(move_on_old_branches, unit * size, turning, abs(value))
                    smooth = set[int]() if bends else met
                    reasons = []
                    for at, probe in probed.items():
                        by = _scale_nudge(size, at)
                        is_right = abs(probe.moved - (slope or 0.0) * by) <= zeros[at]
                        moved = partial(move_on_old_branches, unit * by)
                        reasons.append(
                            "" if is_right else _find_reason(probe, moved, cuts, zeros[at], document, smooth)
                        )
                    small = probed[shared()["nudges"][len(reasons) // 2]]
                    near = "" if small.choice or small.switches else reasons[len(reasons) // 2]
                    by = unit * _scale_nudge(size, 0.05)
                    corner = _find_corner(corners, after, id, target, by, zeros[0.05]) if bends else ""
                    why = corner or near or _find_custom(after, id, unit * size, cotangents, document) or why
                    gaps = {at: abs(m - (slope or 0.0) * _scale_nudge(size, at)) for at, m in moves.items()}
                    wrong = [gap for at, gap in gaps.items() if gap > zeros[at]]
                    why = why or _find_rounding(after, cotangents, moves, wrong, document)
                    if corner:
                        reasons = [
                            said if probe.choice else "" for said, probe in zip(reasons, probed.values(), strict=True)
                        ]
                    reasons = ["" if said == why else said for said in reasons]
                    if any(reasons):
                        kept["reasons"] = reasons
                moves = dict(zip(shared()["nudges"], curve, strict=True))
                zeros = _find_zeros(value, moves)
                # Where the cotangent is right, the move is computed from the rounded slope, as the page does: no gap.
                kept["moved"] = [
                    _scale_nudge(kept["slope"], by)
                    if slope is not None and abs(m - slope * by) <= zeros[at]
                    else round_to(m, zeros[at])
                    for at, by, m in ((at, _scale_nudge(size, at), m) for at, m in moves.items())
                ]
            if why:
                kept["why"] = why
            yield len(probed) // len(PROBES) * (sum(map(_count_operations, after)) + len(chosen)), kept


def _open(entry: Entry, heard: list[Entry | Read]) -> Entry:
    """Return a custom gradient's entry as one that is computed again by its operations, if all of them are known."""
    returned = getattr(entry.call, "returned", None)
    if entry.call is None or returned is None:
        return entry
    at = next((k for k, event in enumerate(heard) if getattr(event, "output_id", None) == entry.output_id), 0)
    inside: list[Entry] = []
    for event in reversed(heard[:at]):
        if isinstance(event, Read):
            if event.how != "format()":
                return entry  # it may have decided by the numbers, or computed with them
        elif event.output_id < entry.call.began:
            break
        else:
            inside.append(event)
    operations = behind(inside[::-1], {returned})
    known = {*entry.ids, *(one.output_id for one in operations)}
    used = {returned, *(id for one in operations for id in one.ids if id is not None)}
    if any(id not in known and id > entry.call.began for id in used):
        return entry  # a copy, made in a way that is not an operation
    results = [one.output_value for one in operations]
    if not all(map(_is_here, results)) or len(results) > MOST_ENTRIES or sum(map(np.size, results)) > MOST_NUMBERS:
        return entry
    if any(_is_users(one) or not can_run_again(one) for one in operations):
        return entry
    call = Replay(entry, operations, returned)
    return Entry(entry.operation, entry.line, {}, entry.values, entry.output_value, call)


def _count_operations(entry: Entry) -> int:
    return len(entry.call.operations) if isinstance(entry.call, Replay) else 1


def _find_custom(after: list[Entry], id: int, unit: Any, cotangents: Any, document: Described) -> str:
    """Return what is said of the first custom gradient that sends back another slope than that of its result.

    The tensor is moved a little both ways. If what was sent back is not the slope, the result moves by more than that
    on one side, and by less on the other; at a corner it moves by more on both sides, or by less on both.
    """
    custom = [entry for entry in after if isinstance(entry.call, Replay) and entry.output_id in cotangents]
    if not custom:
        return ""
    ways = 1e-5 * unit, -1e-5 * unit
    try:
        moved = [run_again(after, id, partial(np.add, way)) for way in ways]
    except ValueError:  # where a matrix is singular, say
        return ""
    for entry in custom:
        made, cotangent, gaps, sizes = entry.output_id, cotangents[entry.output_id], [], [0.0]
        for way, values in zip(ways, moved, strict=True):
            result = np.sum(cotangent * (values[made] - entry.output_value))
            sent = 0.0
            for k, (one, value) in enumerate(zip(entry.ids, entry.values, strict=True)):
                change = way if one == id else values.get(one, value) - value
                sent += np.sum(cotangents.get((made, k), 0.0) * change)
            gaps.append(result - sent)
            sizes += abs(result), abs(sent)
        rounding = 64 * np.finfo(float).eps * np.sum(np.abs(cotangent * entry.output_value))
        if gaps[0] * gaps[1] < 0 and min(map(abs, gaps)) > 1e-4 * max(sizes) + rounding:
            return document.explain_custom(entry)
    return ""


def _find_rounding(
    after: list[Entry], cotangents: Any, moves: dict[float, float], gaps: list[float], document: Described
) -> str:
    """Return what is said of the entry whose rounding causes most of the gaps; empty if there is none.

    A move is the difference of two results, each off by up to half of its last bit; the cotangent says how far that
    moves the target. If this is larger than most of the gaps, and the moves jump by at least a tenth of it, the gaps
    come from rounding: a smooth curve doesn't jump.
    """
    worst, most = None, 0.0
    for entry in after:
        output, first = entry.output_value, (entry.values or (None,))[0]
        if first is not None and np.isin(np.abs(output), np.abs(getattr(first, "_array", first))).all():
            continue  # it only picks numbers or flips their signs, so it rounds nothing
        sent = np.abs(cotangents.get(entry.output_id, 0.0) * output)
        # Not the sum: elements that the nudge leaves alone are rounded the same way both times.
        noise = np.finfo(float).eps * float(np.max(sent, initial=0.0))
        worst, most = (entry, noise) if most < noise < np.inf else (worst, most)
    known = sorted((at, moved) for at, moved in moves.items() if isfinite(moved))
    jumps = (
        abs(b - a - (c - a) * (y - x) / (z - x))
        for (x, a), (y, b), (z, c) in zip(known, known[1:], known[2:], strict=False)
    )
    is_noise = gaps and np.median(gaps) < most < 10 * max(jumps, default=0.0)
    return document.explain_rounding(worst, most) if worst and is_noise else ""


def _widen(size: float, probed: dict[float, Probe], explain_branch: Any) -> float:
    """Return how far to move a tensor: `size`, or further if only that reaches another branch that is near."""
    if any(explain_branch(_scale_nudge(size, at), probe) for at, probe in probed.items()):
        return size
    wider = (_scale_nudge(size, times) for times in WIDER)
    # A branch that begins at the very end would not be seen.
    return next((far for far in wider if any(explain_branch(_scale_nudge(far, at)) for at in (-0.9, 0.9))), size)


def _explain_branch(
    move: Any,
    move_on_old_branches: Any,
    cuts: list[Entry],
    value: float,
    document: Described,
    unit: Any,
    by: float,
    probe: Probe | None = None,
) -> str:
    """Return why a nudge leads to another branch or through a cut; an empty string if it does neither."""
    probe = probe or move(unit * by)
    zero = _find_zeros(value, {by: probe.moved})[by]
    return _find_reason(probe, partial(move_on_old_branches, unit * by), cuts, zero, document, set())


def _find_zeros(value: float, moves: dict[float, float]) -> dict[float, float]:
    """Return, for each nudge, how small a move counts as rounding: next to the target and the moves up to that nudge.

    Next to a pole, a few moves are so large that all others would count as rounding: hence not the largest of them.
    """
    zeros: dict[float, float] = {}
    sizes: list[float] = []  # of the moves so far, sorted
    for _, both in groupby(sorted(moves, key=abs), abs):
        reached = list(both)
        for at in reached:
            if isfinite(moves[at]):
                insort(sizes, abs(moves[at]))
        small = max(1e-12 * abs(value), 1e-8 * sizes[len(sizes) * 3 // 4] if sizes else 0.0)
        zeros |= dict.fromkeys(reached, small)
    return zeros


def _list_moving(makers: dict[int, Entry], id: int) -> set[int]:
    """Return the ids of a tensor and of everything that was computed from it."""
    return {id, *(entry.output_id for entry in ahead([makers[made] for made in sorted(makers)], {id}, used_by))}


def _find_cuts(after: list[Entry], id: int, cotangents: Any, stops: set[int]) -> list[Entry]:
    """List the entries at which what moves leaves the paths that cotangents came along, those that stop them if known.

    Nothing comes back to what leads to a stop and nowhere else, but that is not where it ends.
    """
    reached = {id, *cotangents}
    off = [entry for entry in after if entry.output_id not in reached]
    return [entry for entry in off if entry.output_id in stops] or [
        entry for entry in off if not reached.isdisjoint(used_by(entry))
    ]


def _find_reason(
    probe: Probe, move_on_old_branches: Any, cuts: list[Entry], zero: float, document: Described, smooth: set[int]
) -> str:
    """Return why the cotangent misleads at a nudge: not that the curve bends, nor a branch of a `smooth` entry.

    `move_on_old_branches` computes how far the target would move if some entries stayed on their branches.
    """
    if probe.choice:
        return document.explain_choice(probe.choice)

    # Whether the other branch moves the result elsewhere, or the old one has no number, such as the root of −1.
    def differs(some: list[Entry]) -> bool:
        return bool(np.isfinite(probe.moved)) and not abs(probe.moved - move_on_old_branches(some)) <= zero

    switches = [entry for entry in probe.switches if entry.output_id not in smooth]
    if switches and differs(switches):  # else their branches add nothing
        some = switches[:FEW] if len(switches) > 1 else []
        first = next((entry for entry in some if differs([entry])), switches[0])
        return document.explain_switch(first)
    *alone, together = [bool(abs(probe.moved - moved) > zero) for moved in probe.moved_without_cuts] or [False]
    return document.explain_cut(cuts[alone.index(True)]) if together and any(alone) else ""


def _move_on_old_branches(after: list[Entry], id: int, target: Any, by: Any, staying: list[Entry]) -> float:
    """Compute how far a target moves if some entries stay on the branch that they were on, as a line."""
    entries = [
        Entry(one.operation, one.line, {}, one.values, one.output_value, Branch(one)) if one in staying else one
        for one in after
    ]
    try:
        values = run_again(entries, id, lambda value: value + by)
    except Exception:  # as in `_measure_move`
        return float("nan")
    return float(values.get(target._id, target._array) - target._array)


def _find_corner(corners: list[DescribedCorner], after: list[Entry], id: int, target: Any, by: Any, zero: float) -> str:
    """Return what is said of the first corner that a nudge moves and that moves the target; empty if there is none."""
    made = {entry.output_id: entry for entry in after}
    met = [corner for corner in corners if corner.entry in made and corner.tensor in {id, *made}]
    values = run_again(after, id, lambda value: value + by) if met else {}
    move = partial(_move_on_old_branches, after, id, target)
    for corner in sorted(met, key=lambda corner: corner.entry):
        if all(abs(move(way, []) - move(way, [made[corner.entry]])) <= zero for way in (by, -by)):
            continue  # the rest hides it
        change = by if corner.tensor == id else values.get(corner.tensor, 0.0) - made[corner.tensor].output_value
        if np.asarray(change)[corner.element] != 0:
            return corner.text
        if corner.others and np.any(change):
            return corner.others
    return ""


def _bends(move_on_old_branches: Any, by: Any, turning: list[Entry], value: float) -> bool:
    """Return whether a target bends at nudge 0 as at a corner: half a nudge leaves half of the bend, not a quarter.

    What the target would do if the operations at a corner were lines is subtracted: it has all other curvature, too.
    The nudges are tiny, so that what is computed from these operations is almost a line.
    """
    near, far = (
        sum(move_on_old_branches(way * by, []) - move_on_old_branches(way * by, turning) for way in (at, -at))
        for at in (1e-5, 2e-5)
    )
    return bool(abs(near) > max(0.4 * abs(far), 1e-13 * value))


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
        if more or not np.isfinite(value):
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
        if not np.isfinite(value[index]):
            continue
        unit = np.zeros(value.shape)
        unit[index] = 1.0
        about = {"element": list(index), "from": round_to(float(value[index]), 0, digits=6)}
        yield Direction(about, unit, natural_size(value[index]))
    if not more and cotangent is not None and value.size > 1 and largest and np.all(np.isfinite(value)):
        unit = cotangent / largest  # first, so that no square is too large or small
        yield Direction({"along": True}, unit / np.sqrt(np.sum(unit * unit)), natural_size(np.max(np.abs(value))))


def natural_size(value: Any) -> float:
    """Return how far a number is usually nudged: by the power of ten (0.1, 1, 10 …) just below its size.

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


def _measure_move(
    after: list[Entry], chosen: list[Entry], cuts: list[Entry], ids: list[int], id: int, target: Any, by: Any
) -> Probe:
    """Compute how far the target moves; NaN where it cannot be computed, or the code would have gone another way."""
    if id == target._id:
        return Probe(float(by))

    def move(value: Any) -> Any:
        return value + by

    def measure(entries: list[Entry]) -> tuple[float, dict[int, Any]]:
        values = run_again(entries, id, move)
        return float(values.get(target._id, target._array) - target._array), values

    try:
        moved, values = measure(after)
        if chosen and (changed := find_changes(chosen, ids, id, move)):
            return Probe(float("nan"), choice=changed[0])
        switches = [entry for entry in after if _is_switched(entry, id, move, values)]
        left_out = [[cut] for cut in cuts] + [cuts] * bool(cuts)
        return Probe(moved, None, switches, [measure([e for e in after if e not in some])[0] for some in left_out])
    except Exception:  # the user's own numbers, moved to where a matrix is singular, or functions without a rule
        return Probe(float("nan"))


def _is_switched(entry: Entry, id: int, move: Any, values: dict[int, Any]) -> bool:
    """Return whether an operation takes another branch than it took when it was recorded."""
    if entry.operation not in PICKING or entry.output_id not in values:
        return False
    rule: Any = rule_of(entry.operation)
    arguments = [
        move(value) if one == id else values.get(one, value) for one, value in zip(entry.ids, entry.values, strict=True)
    ]
    cotangent = positions(entry.output_value) + 1.0
    if any(map(np.iscomplexobj, arguments)):
        return False  # the sign of a complex number turns as it moves
    return any(
        not np.array_equal(
            pull(cotangent, entry.output_value, *entry.values, **entry.keywords),
            pull(cotangent, values[entry.output_id], *arguments, **entry.keywords),
        )
        for pull in map(rule.pull, range(len(entry.ids)))
        if pull
    )


def _is_here(value: Any, dtype: Any = None) -> bool:
    """Return whether a value is NumPy's; those of other libraries may be computed elsewhere, at a cost."""
    return isinstance(value, np.ndarray | np.generic) and (dtype is None or value.dtype == dtype)


def _is_users(entry: Entry) -> bool:
    return runs_code(entry.operation) and not isinstance(entry.call, Replay)
