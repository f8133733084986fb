"""The first step at which two runs differ, as a sentence with both numbers."""

from __future__ import annotations

import re
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..text.formatting import short_value
from .alignment import ARRIVING, Alignment
from .traced_run import COMPARED, FORWARD, ROUNDINGS, TracedRun, measure, size_of

DONE = {"record": "recorded", "cut": "recorded as a cut", "skip": "not recorded"}
PRODUCTS = {"matmul", "einsum", "dot", "tensordot", "inner"}
SUMS = {"add", "subtract", "sum", "mean", "cumsum", "var", "std", *PRODUCTS}
"""Operations that add: their results may be much smaller than the numbers that were rounded."""
ROUNDED = "But here the rounding adds up to a visible difference: {}."
UNNAMED = re.compile(r"[tvs]\d+")
"""The names of results that the user's code does not name."""


class StepDifference(NamedTuple):
    """The first step at which two runs differ.

    Attributes
    ----------
    kind : str
        "value", "dtype", "shape", "operation" (another one), "recording" (one run records it, the other does not), or
        "missing" (only one run has the step).
    steps : tuple of (int or None)
        The step in each run, counted from 1 as in the player; None in the run that does not have it.
    text : str
        A sentence with both numbers.
    size : float or None
        The largest difference of two numbers, relative to the largest number in their arrays, or among those that were
        added up to it; in eps. None if it is not a difference of floating-point numbers.
    """

    kind: str
    steps: tuple[int | None, int | None]
    text: str
    size: float | None = None


class Differences:
    """Compares the steps of two runs in the order of the second, up to the first that differs.

    Attributes
    ----------
    first : StepDifference or None
        The first step that differs.
    agreed : int
        How many steps agree before it.
    size : float
        The largest difference of numbers in these, as in `StepDifference`.
    eps : float
        That of the coarsest dtype of either run so far.
    results_differ : str
        Which results differ although no step does by more than rounding, as a clause; empty if they agree.
    """

    def __init__(self, one: TracedRun, other: TracedRun, names: tuple[str, str]) -> None:
        self.runs, self.names = (one, other), names
        self.summed: dict[int, float] = {}  # by a tensor of the second run: the largest contribution to it
        self.size, self.eps = 0.0, 0.0
        self.agreeing: list[tuple[int, int]] = []  # the steps that agree
        self.results_differ, self.results_at = "", _count((None, None))
        self.doubted = False  # whether the first difference is one of cotangents that may well differ
        self.first = self._find_first(Alignment(one, other))
        steps = self.first.steps if self.first else ()
        kinds = {run.steps[at - 1]["kind"] for run, at in zip(self.runs, steps, strict=False) if at}
        if kinds.isdisjoint((*FORWARD, "assign")):
            self.first = self._compare_results() or self.first
            if self.results_differ and self.doubted:  # then what is computed in another way already differs forward
                text = "No single step of the forward pass differs by more than rounding. "
                text += ROUNDED.format(self.results_differ)
                self.first = StepDifference("value", self.results_at, text)
        ends = [np.inf if at is None else at - 1 for at in self.first.steps] if self.first else [np.inf, np.inf]
        self.agreed = sum(here < ends[0] and there < ends[1] for here, there in self.agreeing)

    def _find_first(self, alignment: Alignment) -> StepDifference | None:
        place, alone = min(((alignment.place(*steps), steps) for steps in alignment.alone), default=(np.inf, None))
        doubt: StepDifference | None = None
        for there, here in sorted(alignment.pairs.items()):
            if place < there:
                break
            if self.runs[0].steps[here]["kind"] not in ("outcome", *ARRIVING):
                doubt = None  # the gradients agreed
            found = self._compare(here, there)
            if found is not None and there not in alignment.doubtful:
                self.doubted = doubt is not None
                return doubt or found
            doubt = doubt or found
            if found is None:
                self.agreeing.append((here, there))
        if alone is None:
            return None
        parts = zip(self.names, self.runs, alone, strict=True)
        told = [f"{name} {_describe(run, step)}" for name, run, step in parts if step is not None]
        kind, text = ("missing", "only ") if len(told) == 1 else ("operation", "the operations differ: ")
        return StepDifference(kind, _count(alone), _finish(text + "; ".join(told)))

    def _compare(self, here: int, there: int) -> StepDifference | None:
        found = self._differ(self.runs[0].steps[here], self.runs[1].steps[there])
        if found is None:
            return None
        kind, at, values, size = found
        one, other = (_name(run, step) + at for run, step in zip(self.runs, (here, there), strict=True))
        told = [f"{value} in {name}" for value, name in zip(values, self.names, strict=True)]
        text = f"{one} is {told[0]} and {told[1]}" if one == other else f"{one} is {told[0]}; {other} is {told[1]}"
        return StepDifference(kind, _count((here, there)), _finish(text), size)

    def _differ(self, one: dict[str, Any], other: dict[str, Any]) -> tuple[str, str, list[str], float | None] | None:
        """Return the kind of a difference, the element, both values and the size; None if the steps agree."""
        if other["kind"] in FORWARD and one["kind"] != other["kind"]:
            return "recording", "", [DONE[one["kind"]], DONE[other["kind"]]], None
        (a, eps), (b, coarser) = (run.read(step) for run, step in zip(self.runs, (one, other), strict=True))
        if a is None or b is None:
            same = other["kind"] != "outcome" or (a is None and b is None)  # elsewhere, an array may have been released
            return None if same else ("value", "", ["None" if x is None else short_value(x) for x in (a, b)], None)
        if a.shape != b.shape:
            return "shape", "", [f"of shape {a.shape}", f"of shape {b.shape}"], None
        off, eps = measure(a, b), max(eps, coarser)
        self.eps = max(self.eps, eps)
        eps = self.eps if eps else 0.0  # what has passed through float32 is no better for being float64 now
        largest = max(size_of(a, b), self._find_largest_summand(other), np.finfo(float).tiny)
        size = float(np.max(off, initial=0.0) / largest) / (eps or 1.0)
        if size > (max(ROUNDINGS, 4 * self.size) if eps else 0.0):
            place = np.unravel_index(int(np.argmax(off)), a.shape)
            index = self.runs[1].index(other, place)
            at = f" at [{', '.join(map(str, index))}]" if index else ""
            return "value", at, _write_apart(a[place].item(), b[place].item()), size if eps else None
        if a.dtype != b.dtype and eps:
            return "dtype", "", [f"{short_value(each)} ({each.dtype})" for each in (a, b)], size
        self.size = max(self.size, size if eps else 0.0)
        return None

    def _compare_results(self) -> StepDifference | None:
        """Compare what backward passes start at, of those that begin before the first difference.

        Where another result is differentiated, its gradients are other ones for that reason.
        """
        until = self.first.steps if self.first else (None, None)
        passes = [run.list_seeds(step) for run, step in zip(self.runs, until, strict=True)]
        for seeds in zip(*passes, strict=False):
            counts = [*map(len, seeds)]
            if (fewer := min(counts)) < max(counts):
                steps = [part[fewer] if len(part) > fewer else None for part in seeds]
                one, other = (f"{'only ' * (count == fewer)}{count}" for count in counts)
                text = (
                    f"{self.names[0]} differentiates {one} result{'s' * (counts[0] > 1)}, but {self.names[1]} {other}"
                )
                return StepDifference("missing", _count((steps[0], steps[1])), _finish(text))
            common = [
                [run.common.get(run.subject(run.steps[at]), -1) for at in part]
                for run, part in zip(self.runs, seeds, strict=True)
            ]
            order = (
                "the results come in a different order: "
                if -1 not in common[0] and sorted(common[0]) == sorted(common[1])
                else ""
            )
            for number, (here, there) in enumerate(zip(*seeds, strict=True)):
                name = "the result" if counts[0] == 1 else f"{order}result {number + 1}"
                if found := self._compare_result(here, there, name):
                    return found
        return None

    def _compare_result(self, here: int, there: int, name: str) -> StepDifference | None:
        """Compare two results; those that are the same in both runs have been compared where they were computed."""
        one, other = self.runs
        ours, theirs = one.subject(one.steps[here]), other.subject(other.steps[there])
        (a, eps), (b, coarser) = one.result(ours), other.result(theirs)
        if a is None or b is None:
            return None
        steps = _count((one.find_step(ours, here), other.find_step(theirs, there)))
        if a.shape != b.shape:
            shapes = [f"of shape {each.shape} in {run}" for each, run in zip((a, b), self.names, strict=True)]
            return StepDifference("shape", steps, _finish(f"{name} is {' and '.join(shapes)}"))
        off, eps = measure(a, b), max(eps, coarser, self.eps)
        if not np.any(off > np.sqrt(eps) * size_of(a, b)):  # half of the digits
            return None
        place = np.unravel_index(int(np.argmax(off)), a.shape)
        at = f" at [{', '.join(map(str, map(int, place)))}]" if a.shape else ""
        values = zip(_write_apart(a[place].item(), b[place].item()), self.names, strict=True)
        text = f"{name}{at} is {' and '.join(f'{value} in {run}' for value, run in values)}"
        if one.common.get(ours, -1) == other.common.get(theirs):
            if not self.results_differ:
                self.results_differ, self.results_at = text.rpartition(": ")[2], steps
            return None
        return StepDifference("value", steps, _finish(text))

    def _find_largest_summand(self, step: dict[str, Any]) -> float:
        """Return the size of the largest number of those that were added up to the array of a step."""
        run, tensor = self.runs[1], self.runs[1].subject(step)
        match step["kind"]:
            case "accumulate":
                size = size_of(run.array(step["contribution"])[0], run.array(step.get("unfolded"))[0])
                if run.operations[entry := step["entry"]] in PRODUCTS:
                    others = [size_of(run.value(one)) for one in run.inputs[entry] if one != step["tensor"]]
                    size = max(size, run.arrived.get(entry, 0.0) * prod(others))
                self.summed[tensor] = max(self.summed.get(tensor, 0.0), size)
                return size
            case "pull back" | "outcome":
                return self.summed.get(tensor, 0.0)
            case "record" | "cut" | "skip" if run.operations[step["entry"]] in SUMS:
                sizes = [size_of(run.value(operand)) for operand in run.inputs[step["entry"]]]
                return max(*sizes, prod(sizes) if run.operations[step["entry"]] in PRODUCTS else 0.0)
        return 0.0


def _count(positions: tuple[int | None, int | None]) -> tuple[int | None, int | None]:
    """Count steps as the player does, from 1."""
    here, there = (None if at is None else at + 1 for at in positions)
    return here, there


def _write_apart(*numbers: Any) -> list[str]:
    """Write two numbers that differ, with as many digits as show it."""
    texts = [short_value(np.asarray(number)) for number in numbers]
    digits = 7
    while texts[0] == texts[1] and digits < 18:
        texts, digits = [f"{number:.{digits}g}" for number in numbers], digits + 1
    return texts


def _finish(text: str) -> str:
    """Write a sentence; what begins with a name or with code keeps its small letter."""
    return f"{text[0].upper() if text.startswith(('the ', 'only ', 'result ')) else text[0]}{text[1:]}."


def _name(run: TracedRun, number: int) -> str:
    """Name what is compared at a step."""
    step = run.steps[number]
    tensor = run.subject(step)
    name = str(run.tensors[tensor]["name"])
    is_called_so = name == str(run.document["title"]).partition("(")[0]  # after the function that returns it
    if (is_called_so or UNNAMED.fullmatch(name)) and tensor in run.outputs:
        name = run.expression(run.outputs.index(tensor))
    return COMPARED[step["kind"]][1].format(name)


def _describe(run: TracedRun, number: int) -> str:
    """Return what a run does at a step that the other does not have."""
    step = run.steps[number]
    does = f"has {_name(run, number).replace('the', 'a', 1)}"
    if step["kind"] in FORWARD:
        does = f"computes {run.expression(step['entry'])}"
    array, _ = run.read(step)
    return f"{does}, which is {'None' if array is None else short_value(array)}"
