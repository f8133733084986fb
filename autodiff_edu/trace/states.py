"""What is on show at each step of a document, written as what changes there.

The rules for what a player shows when are here and nowhere else. Whatever draws a step applies the changes up to it, as
print/moments.py does, and js/history.js in a browser.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

RECORDING = {"record", "skip", "cut"}
COMPUTING = RECORDING | {"watch"}
PUSHING = {"move", "push forward"}
FLOWING = {
    "seed": {"flow": "cotangent"},
    "pull back": {"flow": "cotangent", "fate": "pulled"},
    "accumulate": {"flow": "after"},
    "move": {"flow": "tangent"},
    "push forward": {"flow": "tangent", "fate": "pushed"},
}
LOSING = {"reset": "forgotten", "release": "released"}

Change = dict[str, Any]


def states(document: dict[str, Any]) -> list[Change]:
    """Return what each step of a document changes in the picture, as the docstring of document.py describes.

    Parameters
    ----------
    document
        A document, of which only the steps and the entries are read.

    Examples
    --------
    >>> steps = [{"kind": "watch", "tape": 0, "tensor": 0}, {"kind": "seed", "tape": 0, "tensor": 0, "pass": 0}]
    >>> states({"steps": steps, "entries": []})
    [{'values': [0]}, {'pass': 0, 'backward': True, 'flow': 'cotangent'}]
    """
    parts = _find_passes, _find_values, _find_flows, _find_pauses, _find_lanes, _find_unconnected
    changes = zip(*(part(document) for part in parts), strict=True)
    return [{key: value for part in row for key, value in part.items()} for row in changes]


def _find_ends(document: dict[str, Any]) -> dict[int, int]:
    """Return the last step of each pass."""
    return {step["pass"]: number for number, step in enumerate(document["steps"]) if "pass" in step}


def _find_passes(document: dict[str, Any]) -> Iterator[Change]:
    """Yield the pass that is on show, the direction, whether variables get new values, and whether all is done."""
    steps, last = document["steps"], _find_ends(document)
    pushing = {step["pass"]: step["kind"] in PUSHING for step in reversed(steps) if "pass" in step}
    coming: list[int | None] = [None]
    leading = [False]  # whether only plain lines come before the next assignment
    for step in reversed(steps):
        coming.append(step.get("pass", coming[-1]))
        leading.append(step["kind"] == "assign" or (step["kind"] == "line" and leading[-1]))
    done = len(steps)  # from this step on, there are only plain lines
    while done and steps[done - 1]["kind"] == "line":
        done -= 1
    before: Change = {"pass": None, "backward": False, "tangents": False, "update": False, "over": False}
    for number, step in enumerate(steps):
        kind, shown = step["kind"], step.get("pass", before["pass"])
        computes, ended = kind in COMPUTING, number > last.get(shown, number)
        # An outer tape may record in the middle of an inner backward pass: its cotangents stay until the pass is over.
        # If they then update variables, they stay until the last update, and go with the next line.
        updated = kind == "line" and before["update"] and not leading[-1 - number]
        if "pass" not in step and (kind == "reset" or ((computes or updated) and ended)):
            shown = None
        onwards = computes or kind == "assign" or (kind == "line" and ended)
        back = "pass" in step or kind == "explain" or (before["backward"] and not onwards)
        flowing = coming[-1 - number] if shown is None else shown
        now = {"pass": shown, "backward": back and kind not in PUSHING, "tangents": pushing.get(flowing, False)}
        # Plain lines that lead to an assignment belong to it, but not those at the start of a program.
        now["update"] = leading[-1 - number] and (kind == "assign" or before["update"] or before["backward"])
        # These lines belong to no pass and don't begin another.
        now["over"] = number >= done and bool(last)
        yield {key: value for key, value in now.items() if value != before[key]}
        before = now


def _find_values(document: dict[str, Any]) -> Iterator[Change]:
    """Yield the tensors that have a value from a step on: the one that watches, computes, or first uses them."""
    known: set[int] = set()
    for step in document["steps"]:
        found = [step["tensor"]] if "tensor" in step else []
        if "entry" in step and "pass" not in step:
            entry = document["entries"][step["entry"]]
            found = [*entry["inputs"], *([entry["output"]] if step["kind"] != "error" else []), *found]
        new = [tensor for tensor in dict.fromkeys(found) if tensor not in known or step["kind"] == "assign"]
        known.update(new)
        yield {"values": new} if new else {}


def _find_flows(document: dict[str, Any]) -> Iterator[Change]:
    """Yield which array of a step is on show from then on, and what becomes of its entry."""
    fates: dict[int, str] = {}
    for step in document["steps"]:
        if step["kind"] == "cut" or (step["kind"] == "skip" and not document["entries"][step["entry"]]["tapes"]):
            fates[step["entry"]] = step["kind"]
    met: set[int] = set()
    for step in document["steps"]:
        if step["kind"] in FLOWING:
            yield FLOWING[step["kind"]]
        elif "entry" in step and step["entry"] not in met:
            met.add(step["entry"])
            yield {"fate": "failed" if step["kind"] == "error" else fates.get(step["entry"], "recorded")}
        else:
            yield {}


def _find_pauses(document: dict[str, Any]) -> Iterator[Change]:
    """Yield the tapes that are paused, in the order of their pauses."""
    paused: list[int] = []
    for step in document["steps"]:
        before, tape = paused, step.get("tape")
        if step["kind"] == "pause":
            paused = [*paused, tape]
        elif step["kind"] in ("resume", "reset"):
            paused = [other for other in paused if other != tape]
        yield {"paused": paused} if paused != before else {}


def _find_lanes(document: dict[str, Any]) -> Iterator[Change]:
    """Yield what tapes have of entries from a step on."""
    steps, last = document["steps"], _find_ends(document)
    computing: dict[int, tuple[int, str]] = {}  # by a pass that is under way: its tape, and what it has of new entries
    has: dict[tuple[int, int], str] = {}
    held: dict[int, dict[int, None]] = defaultdict(dict)  # by tape: the entries that it may lose
    paused: list[int] = []
    for number, (step, change) in enumerate(zip(steps, _find_pauses(document), strict=True)):
        kind, tape, found = step["kind"], step.get("tape"), []
        paused = change.get("paused", paused)
        if "pass" in step:
            computing.setdefault(step["pass"], (tape, "tangents" if kind == "move" else "backward"))
            if last[step["pass"]] == number:
                del computing[step["pass"]]
        elif kind in LOSING:
            found = [(lost, tape, LOSING[kind]) for lost in held.pop(tape, ())]
        elif kind in RECORDING:
            entry = step["entry"]
            own = "recorded" if kind == "record" else "paused" if tape in paused else kind
            others = dict(computing.values()) | dict.fromkeys(paused, "paused")
            words = {other: word for other, word in others.items() if (entry, other) not in has} | {tape: own}
            found = [(entry, other, word) for other, word in words.items()]
            if kind != "skip":
                held[tape][entry] = None
        has |= {(entry, other): word for entry, other, word in found}
        yield {"lanes": [list(lane) for lane in found]} if found else {}


def _find_unconnected(document: dict[str, Any]) -> Iterator[Change]:
    """Yield, where a backward pass ends, the tensors that it might have reached but did not."""
    steps, last = document["steps"], _find_ends(document)
    tapes: dict[int, list[int]] = defaultdict(list)  # by tensor
    for step in steps:
        if step["kind"] == "watch":
            tapes[step["tensor"]].append(step["tape"])
    tapes |= {entry["output"]: entry["tapes"] for entry in document["entries"]}
    known: dict[int, dict[int, None]] = defaultdict(dict)  # by tape
    reached = {(step["pass"], step["tensor"]) for step in steps if "pass" in step and "tensor" in step}
    for number, (step, change) in enumerate(zip(steps, _find_values(document), strict=True)):
        for tensor in change.get("values", ()):
            for tape in tapes[tensor]:
                known[tape][tensor] = None
        missed = []
        if "pass" in step and last[step["pass"]] == number and step["kind"] not in PUSHING:
            missed = [tensor for tensor in known[step["tape"]] if (step["pass"], tensor) not in reached]
        yield {"unconnected": missed} if missed else {}
