"""The backward walk: entries in, events out. It asks listeners only whether they follow an entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .active import now
from .entry import Entry
from .events import Accumulate, Event, Pass, PullBack, new
from .reach import needed_for
from .rule import RULES, settle
from .tensor import Tensor, as_tensor

Ids = set[int]


def walk(
    entries: list[Entry],
    connected: Ids,
    cotangents: dict[int, Any],
    wanted: Ids,
    stack: Any = (),
    release: bool = False,
    tape: Any = None,
) -> Iterator[PullBack | Accumulate | Pass]:
    """Pull the cotangents back, entry by entry; at the end `cotangents` holds those of the wanted tensors.

    Parameters
    ----------
    entries : list of Entry
        In the order of computation. Every operation has a rule.
    connected, wanted : set of int
        The ids of the tensors on a path to a source, and of those whose cotangents are wanted.
    cotangents : dict
        From the id of a tensor to its cotangent; at first, the seeds. Each has the `stack` as leading axis, if any.
    release : bool
        Whether to release the arrays of each entry as soon as its rules have been applied.
    tape : Tape, optional
        The one that the events name.

    Yields
    ------
    For each entry PullBack, then one Accumulate per contribution, then Pass
        With plain arrays, or with tensors if a follower follows the entry and must hear what its rules compute.
    """
    needed = needed_for(wanted, entries, connected)
    for entry in reversed(entries):
        ids, output_id, _, _ = entry.line
        g = cotangents.get(output_id)
        if g is None or needed.isdisjoint(ids):
            continue
        if output_id not in wanted:
            del cotangents[output_id]  # complete and no longer needed: all its uses come later on the tape
        yield new(PullBack, (tape, entry, g))
        rule = RULES.get(entry.operation) or entry.operation.rule
        y, values, keywords = entry.output_value, entry.values, entry.keywords
        if now().followers and (isinstance(g, Tensor) or is_followed(entry)):
            values, y = entry.inputs, entry.output
        if type(g) is not np.float64 and g.dtype.kind == "c":
            g = np.conjugate(g)
        pulls = rule.pulls
        for argument, id in enumerate(ids):
            if id in needed and (pull := pulls[argument] if argument < len(pulls) else rule.pull(argument)):
                value = pull(g, y, *values, **keywords)
                if value is None:  # a custom gradient may return None
                    continue
                if type(value) is not np.float64 or type(values[argument]) is not np.float64:
                    value = settle(value, values[argument], stack)
                before = cotangents.get(id)
                cotangents[id] = after = value if before is None else before + value
                yield new(Accumulate, (tape, entry, argument, before, value, after, None))
        yield new(Pass, (tape, entry))
        if release:
            entry.values = entry.output_value = y = values = None
            entry.keywords = keywords = entry.parameters


def with_tensors(event: Event) -> Any:
    """Return an event of a walk with its arrays as tensors, for listeners."""
    known = 3 if isinstance(event, Accumulate) else 2
    return type(event)(*event[:known], *map(as_tensor, event[known:]))


def is_followed(entry: Entry) -> bool:
    """Return whether a follower follows the inputs of an entry's rules, which must then run on tensors."""
    ids = (*entry.ids, entry.output_id)
    return any(follower.follows(ids) for follower in now().followers)
