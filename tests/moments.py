"""All that a document's states say is on show at a step, also what is not in a printed frame."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from autodiff_edu.player.print import moments


@dataclass
class Moment(moments.Moment):
    """One step of a trace document, and everything that led to it.

    Attributes
    ----------
    arrived : dict of int to dict
        For each entry that the pass on show has come to: the cotangent, or tangent, that arrived.
    lanes : dict of (int, int) to str
        What a tape has of an entry, by the entry and the tape.
    paused, unconnected : list of int
        The tapes that are paused, and the tensors that the pass on show had not reached when it ended.
    """

    arrived: dict[int, dict[str, Any]] = field(default_factory=dict)
    lanes: dict[tuple[int, int], str] = field(default_factory=dict)
    paused: list[int] = field(default_factory=list)
    unconnected: list[int] = field(default_factory=list)

    def state(self, entry: int) -> str:
        """Return what a player shows of an entry."""
        return "now" if self.step.get("entry") == entry else self.fates.get(entry, "waiting")


def read_moment(document: dict[str, Any], number: int) -> Moment:
    """Read a trace document up to a step, counted from 0."""
    now = Moment(**vars(moments.read_moment(document, number)))
    arrived, unconnected, on_show = defaultdict(dict), defaultdict(list), None
    for step, change in zip(document["steps"][: number + 1], document["states"], strict=False):
        on_show = change.get("pass", on_show)
        now.paused = change.get("paused", now.paused)
        now.lanes |= {(entry, tape): word for entry, tape, word in change.get("lanes", ())}
        unconnected[on_show] += change.get("unconnected", [])
        if "flow" in change and "fate" in change:
            arrived[on_show][step["entry"]] = step[change["flow"]]
    now.arrived, now.unconnected = arrived[on_show], unconnected[on_show]
    return now
