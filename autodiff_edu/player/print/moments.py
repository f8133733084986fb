"""What is known at one step of a trace: the values, the cotangents, the direction.

It applies the changes in the document's `states` one by one, as js/history.js does in a browser.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Moment:
    """One step of a trace document, and everything that led to it.

    Attributes
    ----------
    step : dict
        The step of the document.
    backward, tangents, update : bool
        Whether it belongs to a backward pass; whether the pass on show, or else the next, pushes tangents forward;
        whether variables get new values.
    on_show : int or None
        The pass whose cotangents or tangents are on show.
    values, flows : dict of int to dict
        For each tensor that has one: its value, and its cotangent, or tangent, in the pass on show; arrays as the
        document describes them.
    arrived : dict of int to dict
        For each entry that the pass on show has come to: the cotangent, or tangent, that arrived.
    fates : dict of int to str
        The entries that have been computed so far: "recorded", "cut", or "skip" if no tape recorded it; "pulled" or
        "pushed" if the pass on show has come to it.
    lanes : dict of (int, int) to str
        What a tape has of an entry, by the entry and the tape.
    paused, unconnected : list of int
        The tapes that are paused, and the tensors that the pass on show had not reached when it ended.
    """

    step: dict[str, Any]
    backward: bool = False
    tangents: bool = False
    update: bool = False
    on_show: int | None = None
    values: dict[int, dict[str, Any]] = field(default_factory=dict)
    flows: dict[int, dict[str, Any]] = field(default_factory=dict)
    arrived: dict[int, dict[str, Any]] = field(default_factory=dict)
    fates: dict[int, str] = field(default_factory=dict)
    lanes: dict[tuple[int, int], str] = field(default_factory=dict)
    paused: list[int] = field(default_factory=list)
    unconnected: list[int] = field(default_factory=list)

    @property
    def pushes(self) -> bool:
        """Whether tangents are on show."""
        return self.tangents and self.on_show is not None

    def state(self, entry: int) -> str:
        """Return what a player shows of an entry."""
        return "now" if self.step.get("entry") == entry else self.fates.get(entry, "waiting")


def read_moment(document: dict[str, Any], number: int) -> Moment:
    """Read a trace document up to a step, counted from 0."""
    steps, now = document["steps"], Moment(document["steps"][number])
    passes: dict[int | None, Moment] = defaultdict(lambda: Moment(now.step))
    for step, change in zip(steps[: number + 1], document["states"], strict=False):
        now.backward = change.get("backward", now.backward)
        now.tangents = change.get("tangents", now.tangents)
        now.update = change.get("update", now.update)
        now.on_show = change.get("pass", now.on_show)
        now.paused = change.get("paused", now.paused)
        for tensor in change.get("values", ()):
            now.values[tensor] = step.get("value", document["tensors"][tensor]["value"])
        now.lanes |= {(entry, tape): word for entry, tape, word in change.get("lanes", ())}
        current = passes[now.on_show]
        current.unconnected += change.get("unconnected", [])
        if "fate" in change:
            (current if "flow" in change else now).fates[step["entry"]] = change["fate"]
        if "flow" in change and "tensor" in step:
            current.flows[step["tensor"]] = step[change["flow"]]
        if "flow" in change and "fate" in change:
            current.arrived[step["entry"]] = step[change["flow"]]
    shown = passes[now.on_show]
    now.flows, now.arrived, now.unconnected = shown.flows, shown.arrived, shown.unconnected
    now.fates |= {entry: fate for entry, fate in shown.fates.items() if entry in now.fates}
    return now


def subject_of(document: dict[str, Any], step: dict[str, Any]) -> int | None:
    """Find the tensor that a step is about, if there is one."""
    if "tensor" in step:
        return int(step["tensor"])
    return int(document["entries"][step["entry"]]["output"]) if "entry" in step else None


def choose_key_steps(document: dict[str, Any], count: int = 6) -> list[int]:
    """Choose the steps that show the most of a trace, in order; fewer than `count` if there are no more.

    Examples
    --------
    >>> import json
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.trace() as steps, ad.GradientTape() as tape:
    ...     y = x * x
    >>> document = steps.document()
    >>> [document["steps"][number]["kind"] for number in choose_key_steps(document)]
    ['watch', 'record']
    """
    steps = document["steps"]

    def which(*kinds: str) -> list[int]:
        return [number for number, step in enumerate(steps) if step["kind"] in kinds]

    computed, seeds, added = which("record", "cut"), which("seed"), which("accumulate")
    forward = [number for number in computed if not seeds or number < seeds[0]] or computed
    # The accumulator with the most contributions, when it is full: the best place to see "+" in the backward pass.
    full = [number for number in added if steps[number]["count"] == steps[number]["of"]]
    fullest = max(full, key=lambda number: (steps[number]["of"], number), default=None)
    # A derivative repeats what is in the accumulator, but only the last step says why there is none.
    repeats = [step["kind"] == "release" or (step["kind"] == "outcome" and step["gradient"]) for step in steps]
    told = [k for k, said in enumerate(repeats) if not said]
    wishes = [fullest, *told[-1:], *seeds[:1], *forward[-1:], *forward[:1], *added[:1]]
    wishes += [*which("cut")[:1], *which("skip")[:1], *which("explain")[1:2], *told[:1], *which("compile")]
    chosen = list(dict.fromkeys(wish for wish in wishes if wish is not None))
    return sorted(chosen[:count])
