"""Steps at a corner in a trace: where a rule sends one slope back, although others fit as well."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from ..core import events
from ..core.active import only
from ..core.entry import Entry
from ..core.reach import ahead
from ..core.rule import rule_of
from ..derivatives.corners import Corner, Surroundings, corner_of, followed
from ..rules.corners import CHOOSING, COMPARISONS, CORNERS, parts
from ..text.formatting import number


class CornerSteps:
    """Finds the accumulations in a trace whose argument is at a corner.

    Parameters
    ----------
    source : Trace
        The trace.
    passes : list of int
        For each of its events, the number of its pass.
    document : dict
        Its document, complete up to the step in question.
    """

    def __init__(self, source: Any, passes: list[int], document: dict[str, Any]) -> None:
        self.source, self.passes, self.document = source, passes, document
        self.makers = cache(self._find_makers)
        self.surroundings = cache(self._find_surroundings)

    def sentence(self, event: events.Accumulate, step: dict[str, Any]) -> str:
        """Return a sentence about the corner at this step, and note it in the step; empty if there is none."""
        corner = self._find_corner(event, step["pass"])
        if corner is None or corner.elements is None:
            return ""
        left, right, slope = (number(each[0]) for each in (corner.left, corner.right, corner.slope))
        first, others = list(corner.elements[0]), len(set(corner.elements)) - 1
        step["corner"] = {"element": first, "left": left, "right": right, "slope": slope, "others": others}
        name = self.document["tensors"][step["tensor"]]["name"]
        return f" Here {name} is at a corner of {corner.entry.name}: {corner.text}."

    def _find_corner(self, event: events.Accumulate, number: int) -> Corner | None:
        entry, id = event.entry, event.tensor._id
        if entry.operation not in CORNERS or not isinstance(entry.output_value, np.ndarray | np.generic):
            return None  # what another library computes would be computed once more, at a cost
        rule: Any = rule_of(entry.operation)
        if event.argument != next(k for k, one in enumerate(entry.ids) if one == id and rule.pull(k)):
            return None  # one tensor is several arguments: the first is where it is said
        with only(), np.errstate(all="ignore"):
            return corner_of(entry, id, self._find_motion(entry, number))

    def _find_motion(self, entry: Entry, number: int) -> Surroundings | None:
        chooses = entry.operation in CHOOSING and any(map(self._is_tied, entry.ids))
        return self.surroundings(number) if chooses else None

    def _is_tied(self, id: Any) -> bool:
        """Return whether a tensor is a condition that compares equal numbers: most are not, and so decide nothing."""
        return any(
            entry.operation in COMPARISONS
            and isinstance(entry.output_value, np.ndarray | np.generic)
            and bool(np.any(np.equal(*entry.values)))
            for entry in parts(id, self.makers(), {})
        )

    def _find_makers(self) -> dict[int, Entry]:
        """Return everything that was computed by its output, in the order of computation."""
        found: dict[int, Entry] = {}
        for entry in self._list_entries():
            found.setdefault(entry.output_id, entry)
        return found

    def _list_entries(self) -> Iterator[Entry]:
        for entries in self.source.earlier.values():
            yield from entries
        for one in self.source.heard:
            if isinstance(one, Entry) and callable(one.operation):
                yield one
        for event in self.source.events:
            if isinstance(event, events.Record | events.Cut | events.Skip):
                yield event.entry

    def _find_surroundings(self, number: int) -> Surroundings:
        """Return what is beside this point in the direction of the sources of a pass."""
        sources, reached = set(), set()
        for event, one in zip(self.source.events, self.passes, strict=True):
            if one == number and isinstance(event, events.Accumulate):
                reached.add(event.tensor._id)
            elif one == number and isinstance(event, events.Outcome):
                sources.add(event.source._id)
        reached |= sources
        reached |= {entry.output_id for entry in ahead(self.makers().values(), reached, followed)}
        return Surroundings(self.makers(), sources, reached)
