"""What is known at one step of a trace: the values, the cotangents, the direction.

The same as js/history.js, for pictures that are drawn without a browser.
"""

from dataclasses import dataclass, field
from typing import Any

from ...text.shared import shared

COMPUTING = tuple(shared()["computing"])


@dataclass
class Moment:
    """One step of a trace document, and everything that led to it.

    Attributes
    ----------
    step : dict
        The step of the document.
    backward, tangents : bool
        Whether it belongs to a backward pass, and whether the current pass pushes tangents forward.
    values, cotangents : dict of int to dict
        For each tensor that has one so far: its value, and its cotangent, or tangent, in the current pass;
        arrays as the document describes them.
    entries : dict of int to str
        The entries that have been computed so far: "record", "cut", or "skip" if no tape recorded it.
    """

    step: dict[str, Any]
    backward: bool = False
    tangents: bool = False
    values: dict[int, dict[str, Any]] = field(default_factory=dict)
    cotangents: dict[int, dict[str, Any]] = field(default_factory=dict)
    entries: dict[int, str] = field(default_factory=dict)


def read_moment(document: dict[str, Any], number: int) -> Moment:
    """Read a trace document up to a step, counted from 0."""
    steps, tensors = document["steps"], document["tensors"]
    last = {step["pass"]: index for index, step in enumerate(steps) if "pass" in step}
    now, shown = Moment(steps[number]), None
    passes: dict[int | None, dict[int, dict[str, Any]]] = {}
    for index, step in enumerate(steps[: number + 1]):
        touched = []
        if "entry" in step and "pass" not in step:
            entry = document["entries"][step["entry"]]
            if step["kind"] == "cut" or (step["kind"] == "skip" and not entry["tapes"]):
                now.entries[step["entry"]] = step["kind"]
            now.entries.setdefault(step["entry"], "record")
            touched = [*entry["inputs"], entry["output"]]
        if "tensor" in step:
            touched.append(step["tensor"])
        for tensor in touched:
            now.values.setdefault(tensor, tensors[tensor]["value"])
        if step["kind"] == "assign":
            now.values[step["tensor"]] = step["value"]
        elif "tensor" in step and "pass" in step:
            arrived = next(step[key] for key in ("after", "cotangent", "tangent") if key in step)
            passes.setdefault(step["pass"], {})[step["tensor"]] = arrived
        computes, pushes = step["kind"] in COMPUTING, "tangent" in step
        back = "pass" in step or step["kind"] == "explain"
        now.backward = not pushes and (back or (now.backward and not computes))
        # An outer tape may record in the middle of an inner backward pass, whose cotangents stay; after it they go.
        if "pass" in step:
            shown, now.tangents = step["pass"], pushes
        elif step["kind"] == "reset" or (computes and index > last.get(shown, index)):
            shown = None
    now.cotangents = passes.get(shown, {})
    now.tangents = now.tangents and shown is not None
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
