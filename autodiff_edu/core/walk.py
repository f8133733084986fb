"""The backward walk: entries in, happenings out. It knows nothing of tapes, or of who asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .active import now
from .entry import Entry
from .rule import RULES, settle
from .tensor import Tensor

Ids = set[int]
_new: Any = tuple.__new__  # twice as fast as calling the class


class Arrived(NamedTuple):
    """A cotangent arrived at the output of an entry, whose rules are about to be applied."""

    entry: Entry
    cotangent: Any


class Added(NamedTuple):
    """A contribution was added to the cotangent of one argument; `before` is None for the first."""

    entry: Entry
    argument: int
    before: Any
    value: Any
    after: Any


class Passed(NamedTuple):
    """The rules of an entry have been applied, and the walk leaves it."""

    entry: Entry


def walk(
    entries: list[Entry],
    connected: Ids,
    cotangents: dict[int, Any],
    wanted: Ids,
    stack: Any = (),
    release: bool = False,
) -> Iterator[Arrived | Added | Passed]:
    """Pull the cotangents back, entry by entry; at the end the dict holds those of the wanted tensors.

    Parameters
    ----------
    entries : list of Entry
        In the order in which they were computed. Each operation has a rule.
    connected, wanted : set of int
        The tensors that something flows back through, and those whose cotangents are asked for.
    cotangents : dict
        From the id of a tensor to its cotangent, at first the seeds. Each has the `stack` as leading axis, if any.
    release : bool
        Whether each entry lets go of its arrays as soon as its rules have been applied.

    Yields
    ------
    For each entry Arrived, then one Added per contribution, then Passed
        Of plain arrays; or of tensors, where a follower follows the entry and must hear what its rules compute.
    """
    needed = needed_for(wanted, entries, connected)
    for entry in reversed(entries):
        ids, output_id, _, _ = entry.line
        g = cotangents.get(output_id)
        if g is None or needed.isdisjoint(ids):
            continue
        if output_id not in wanted:
            del cotangents[output_id]  # complete, and not needed any more: all its uses come later on the tape
        yield _new(Arrived, (entry, g))
        rule, y, values, parameters = RULES[entry.operation], entry.output_value, entry.values, entry.parameters
        if now().followers and (isinstance(g, Tensor) or is_followed(entry)):
            values, y = entry.inputs, entry.output
        if type(g) is not np.float64 and g.dtype.kind == "c":
            g = np.conjugate(g)
        pulls = rule.pulls
        for argument, id in enumerate(ids):
            if id in needed and (pull := pulls[argument] if argument < len(pulls) else rule.pull(argument)):
                value = pull(g, y, *values, **parameters)
                if value is None:  # a custom gradient may say so
                    continue
                if type(value) is not np.float64 or type(values[argument]) is not np.float64:
                    value = settle(value, values[argument], stack)
                before = cotangents.get(id)
                cotangents[id] = after = value if before is None else before + value
                yield _new(Added, (entry, argument, before, value, after))
        yield _new(Passed, (entry,))
        if release:
            entry.values = entry.output_value = y = values = None


def is_followed(entry: Entry) -> bool:
    """Return whether a follower follows what the rules of an entry compute from: then they must run on tensors."""
    ids = (*entry.ids, entry.output_id)
    return any(follower.follows(ids) for follower in now().followers)


def needed_for(wanted: Ids, entries: list[Entry], connected: Ids) -> Ids:
    """Find the tensors through which the wanted ones are reached, going backwards."""
    needed = wanted & connected
    for entry in entries:
        ids, output_id, _, _ = entry.line
        if output_id in connected and not needed.isdisjoint(ids):
            needed.add(output_id)
    return needed
