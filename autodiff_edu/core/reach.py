"""Which entries lead from some tensors to others. `entries` are in the order of computation; `ids` are of tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Reversible
from operator import attrgetter
from typing import Any

from .entry import Entry

Inputs = Callable[[Entry], Iterable[Any]]
_ids: Inputs = attrgetter("ids")


def ahead(entries: Iterable[Entry], ids: Iterable[int], inputs: Inputs = _ids) -> list[Entry]:
    """List the entries that compute with some tensors, directly or through others."""
    reached, found = set(ids), []
    for entry in entries:
        if not reached.isdisjoint(inputs(entry)):
            reached.add(entry.output_id)
            found.append(entry)
    return found


def behind(entries: Reversible[Entry], ids: Iterable[int], inputs: Inputs = _ids) -> list[Entry]:
    """List the entries that computed some tensors, directly or through others."""
    needed, found = set(ids), []
    for entry in reversed(entries):
        if entry.output_id in needed:
            needed.update(inputs(entry))
            found.append(entry)
    return found[::-1]


def between(entries: Iterable[Entry], sources: Iterable[int], targets: Iterable[int]) -> list[Entry]:
    """List the entries on a path from some tensors to others."""
    return behind(ahead(entries, sources), targets)


def needed_for(wanted: set[int], entries: Iterable[Entry], connected: set[int]) -> set[int]:
    """Find the tensors on the way back to the wanted ones."""
    needed = wanted & connected
    for entry in entries:
        ids, output_id, _, _ = entry.line
        if output_id in connected and not needed.isdisjoint(ids):
            needed.add(output_id)
    return needed
