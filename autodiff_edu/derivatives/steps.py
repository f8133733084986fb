"""The backward pass entry by entry: what a walk yields, gathered into steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.entry import Entry
from ..core.walk import Added, Arrived


class Contribution(NamedTuple):
    """What one entry sends back to one of its arguments, and the accumulator before (None at first) and after."""

    argument: int
    id: int
    before: Any
    value: Any
    after: Any


class Step(NamedTuple):
    """One step of the backward pass: the entry, the cotangent that arrived at its output, and what it sent on."""

    entry: Entry
    cotangent: Any
    contributions: tuple[Contribution, ...]


def steps(happenings: Iterator[Arrived | Added]) -> Iterator[Step]:
    """Gather what a walk yields, entry by entry."""
    arrived: Arrived | None = None
    sent: list[Contribution] = []
    for happening in happenings:
        if isinstance(happening, Added):
            entry, k, *sums = happening
            sent.append(Contribution(k, entry.ids[k], *sums))
            continue
        if arrived:
            yield Step(*arrived, tuple(sent))
        arrived, sent = happening, []
    if arrived:
        yield Step(*arrived, tuple(sent))
