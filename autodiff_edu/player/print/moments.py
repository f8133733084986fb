"""What is known at one step of a trace: the values, the cotangents, the direction.

It applies those changes in the document's `states` that a frame shows, as js/history.js applies all of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ...text.formatting import brief

FEWEST_TURNS = 3
MOST_PASSES = 3  # that have a key frame each
NUMBERS = re.compile(r"-?\d[\d.]*(?:e[-+]\d+)?")
SOURCES = ("variable", "watched")


@dataclass
class Moment:
    """One step of a trace document, and everything that led to it.

    Attributes
    ----------
    step : dict
        The step of the document.
    backward, tangents, update, over : bool
        Whether it belongs to a backward pass; whether the pass on show, or else the next, pushes tangents forward;
        whether variables get new values; whether only plain lines come after the last pass.
    on_show : int or None
        The pass whose cotangents or tangents are on show.
    values, flows : dict of int to dict
        For each tensor that has one: its value, and its cotangent, or tangent, in the pass on show; arrays as the
        document describes them.
    fates : dict of int to str
        The entries that have been computed so far: "recorded", "cut", or "skip" if no tape recorded it; "pulled" or
        "pushed" if the pass on show has come to it.
    """

    step: dict[str, Any]
    backward: bool = False
    tangents: bool = False
    update: bool = False
    over: bool = False
    on_show: int | None = None
    values: dict[int, dict[str, Any]] = field(default_factory=dict)
    flows: dict[int, dict[str, Any]] = field(default_factory=dict)
    fates: dict[int, str] = field(default_factory=dict)

    @property
    def pushes(self) -> bool:
        """Whether tangents are on show."""
        return self.tangents and self.on_show is not None


def read_moment(document: dict[str, Any], number: int) -> Moment:
    """Read a trace document up to a step, counted from 0."""
    steps, now = document["steps"], Moment(document["steps"][number])
    passes: dict[int | None, Moment] = defaultdict(lambda: Moment(now.step))
    for step, change in zip(steps[: number + 1], document["states"], strict=False):
        now.backward = change.get("backward", now.backward)
        now.tangents = change.get("tangents", now.tangents)
        now.update = change.get("update", now.update)
        now.over = change.get("over", now.over)
        now.on_show = change.get("pass", now.on_show)
        for tensor in change.get("values", ()):
            now.values[tensor] = step.get("value", document["tensors"][tensor]["value"])
        current = passes[now.on_show]
        if "fate" in change:
            (current if "flow" in change else now).fates[step["entry"]] = change["fate"]
        if "flow" in change and "tensor" in step:
            current.flows[step["tensor"]] = step[change["flow"]]
    shown = passes[now.on_show]
    now.flows = shown.flows
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

    if count == 1 and "sweep" in document:  # only the last step has the whole Jacobian
        return [len(steps) - 1]
    if walked := which("iterate"):
        return sorted({walked[(len(walked) - 1) * k // max(1, count - 1)] for k in range(count - 1)} | {walked[-1]})
    if turns := find_turns(document):
        return _choose_of_training(document, turns, count)
    seeds, added = which("seed"), which("accumulate")
    computed = [*{steps[number]["entry"]: number for number in which("record", "cut")}.values()]  # by several tapes
    forward = [number for number in computed if not seeds or number < seeds[0]] or computed
    tensors, entries = document["tensors"], document["entries"]
    own = [number for number in forward[:-1] if "unnamed" not in tensors[entries[steps[number]["entry"]]["output"]]]
    # Two of the results that have a name in the user's code, a quarter of them before and after these.
    named = [own[len(own) // 4], own[3 * len(own) // 4]] if own else forward[:1]
    # First what teaches most, then full accumulators, those with most contributions first.
    arrived: dict[tuple[int, int], dict[str, Any]] = {}
    teaching: dict[int, tuple[int, ...]] = {}
    for number, step in enumerate(steps):
        if step["kind"] == "pull back":
            arrived[step["pass"], step["entry"]] = step["cotangent"]
        if step["kind"] == "accumulate":
            lessons = _count_lessons(step, arrived.get((step["pass"], step["entry"])))
            teaching[number] = (
                lessons,
                not _has_exponent(step["after"]),
                step["count"] == step["of"],
                step["of"],
                number,
            )
    taught = sorted(added, key=teaching.__getitem__, reverse=True)
    full = [number for number in taught if steps[number]["count"] == steps[number]["of"]]
    by_pass: dict[int, int] = {}  # each of several nested passes has a frame
    for number in taught:
        by_pass.setdefault(steps[number]["pass"], number)
    summed = [number for number in full[1:] if steps[number]["of"] > 1]
    # How the longest sum begins, if it is a variable's: only there it is more than a step on the way.
    begins = [
        number
        for end in full[:1]
        for number in added
        if all(steps[number][part] == steps[end][part] for part in ("tensor", "pass"))
        and steps[number]["count"] == 1 < steps[number]["of"]
        and tensors[steps[number]["tensor"]]["kind"] in SOURCES
    ]
    # A derivative repeats what is in the accumulator, but only the last step says why there is none.
    repeats = [
        step["kind"] in ("release", "line") or (step["kind"] == "outcome" and step["gradient"]) for step in steps
    ]
    told = [k for k, said in enumerate(repeats) if not said]
    wishes = [
        *[*by_pass.values()][:MOST_PASSES],
        *told[-1:],
        *seeds[:1],
        *forward[-1:],
        *begins,
        *summed[:1],
        *named,
        *summed[1:3],
        *added[:1],
        *forward[:1],
    ]
    wishes += [*which("cut")[:1], *which("skip")[:1], *which("explain")[1:2], *told[:1], *which("compile")]
    return sorted([*dict.fromkeys(wishes)][:count])


def _count_lessons(step: dict[str, Any], cotangent: dict[str, Any] | None) -> int:
    """Score a contribution: 1 if it multiplies, 1 if the sum visibly changes, 2 if no factor has an exponent."""
    before, contribution, after = step["before"], step["contribution"], step["after"]
    factors = [array for array in (cotangent, contribution) if array]
    multiplies = cotangent is not None and not (_is_one(cotangent) or _is_signed(contribution, cotangent))
    adds = before is not None and brief(after["text"]) not in (brief(before["text"]), brief(contribution["text"]))
    return multiplies + adds + 2 * (not any(map(_has_exponent, factors)))


def _has_exponent(array: dict[str, Any]) -> bool:
    """Return whether a number of an array is written with an exponent, because it is tiny or huge."""
    return re.search(r"\de", array["text"]) is not None


def _is_one(array: dict[str, Any]) -> bool:
    """Return whether a factor shows nothing: only 1, -1 or 0."""
    return set(NUMBERS.findall(array["text"])) <= {"0", "1", "-0", "-1"}


def _is_signed(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two arrays are shown as the same, or differ in their signs only."""
    first, second = (brief(array["text"].replace("-", "")) for array in (one, other))
    return bool(one["shape"] == other["shape"] and first == second)


def find_turns(document: dict[str, Any]) -> list[tuple[int, int]]:
    """Find the turns of a training, by the targets that one place in the code computes again and again.

    Returns
    -------
    list of (int, int)
        The step at which a target gets its value, and the target, in order; empty if there are fewer than three.
    """
    makers = {entry["output"]: entry for entry in document["entries"]}
    known: dict[int, int] = {}
    for number, change in enumerate(document["states"]):
        for tensor in change.get("values", ()):
            known.setdefault(tensor, number)
    families: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for tensor in dict.fromkeys(step["tensor"] for step in document["steps"] if step["kind"] == "seed"):
        value, where = document["tensors"][tensor]["value"], makers.get(tensor, {}).get("where")
        if is_finite_number(value) and where and tensor in known:
            families[where["code"], where["line"]].append((known[tensor], tensor))
    turns = max(map(sorted, families.values()), key=len, default=[])
    return turns if len(turns) >= FEWEST_TURNS else []


def is_finite_number(array: dict[str, Any]) -> bool:
    """Return whether an array is one number that has a place on a curve."""
    return not array["shape"] and isinstance(array["data"], int | float) and isfinite(array["data"])


def _choose_of_training(document: dict[str, Any], turns: list[tuple[int, int]], count: int) -> list[int]:
    """Choose the steps that show the learning: some turns' targets, the first pass's gradient and updates with it."""
    steps, (first, second) = document["steps"], (turns[0][0], turns[1][0])
    begins = next(number for number in range(first, len(steps)) if steps[number]["kind"] == "seed")
    sent = [number for number in range(begins, second) if steps[number]["kind"] == "accumulate"]
    given = [k for k in sent if document["tensors"][steps[k]["tensor"]]["kind"] in SOURCES] or sent
    assigned = [number for number in range(begins, len(steps)) if steps[number]["kind"] == "assign"]
    wishes = [turns[-1][0], first, *given[-1:], turns[len(turns) // 2][0], *assigned[:1], *assigned[-1:]]
    wanted = count - len(dict.fromkeys(wishes))
    wishes += [turns[(k + 1) * len(turns) // (wanted + 1)][0] for k in range(max(0, wanted))]
    return sorted([*dict.fromkeys(wishes)][:count])


def choose_film_steps(document: dict[str, Any], most: int = 24) -> list[int]:
    """Choose the steps of a film: all that show something new; for a long trace, the key steps and some between.

    The step at which a cotangent arrives is left out if contributions follow. For a training, the turns are shown.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> document = ad.play(lambda x: x * x, 3.0)._content["trace"]
    >>> [document["steps"][number]["kind"] for number in choose_film_steps(document)]
    ['watch', 'record', 'seed', 'accumulate', 'accumulate', 'outcome']
    """
    steps = document["steps"]
    new = [
        number
        for number, step in enumerate(steps)
        if step["kind"] != "release"
        and not (step["kind"] == "pull back" and steps[min(number + 1, len(steps) - 1)]["kind"] == "accumulate")
    ]
    if len(new) <= most:
        return new
    if find_turns(document):
        return choose_key_steps(document, most)
    chosen = set(choose_key_steps(document, most // 2))
    rest = [number for number in new if number not in chosen]
    wanted = most - len(chosen)
    return sorted(chosen | {rest[k * (len(rest) - 1) // max(1, wanted - 1)] for k in range(wanted)})
