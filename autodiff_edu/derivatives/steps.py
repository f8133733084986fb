"""The backward pass, entry by entry: the events of a walk, gathered into steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.entry import Entry
from ..core.tensor import as_tensor
from ..core.walk import Added, Arrived, Passed


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


def steps(happenings: Iterator[Arrived | Added | Passed]) -> Iterator[Step]:
    """Gather the events of a walk, entry by entry."""
    sent: list[Contribution] = []
    for happening in happenings:
        if isinstance(happening, Arrived):
            arrived, sent = happening, []
        elif isinstance(happening, Added):
            entry, k, *sums = happening
            sent.append(Contribution(k, entry.ids[k], *sums))
        else:
            yield Step(*arrived, tuple(sent))


def as_tensors(walked: Iterator[Step]) -> Iterator[Step]:
    """Wrap the arrays of steps as tensors, for users."""
    for entry, cotangent, contributions in walked:
        sent = (Contribution(c.argument, c.id, *map(as_tensor, c[2:])) for c in contributions)
        yield Step(entry, as_tensor(cotangent), tuple(sent))
