"""Where NaN and infinities begin in a trace: the steps that make one from finite numbers, or where one comes in."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import events
from ..core.entry import Entry
from ..core.events import Event
from ..core.rule import kind_of
from ..nonfinite.origin import (
    bad,
    find_backward_birth,
    find_forward_birth,
    find_tangent_birth,
    find_worst,
    inputs_of,
    is_elementwise,
)
from ..nonfinite.remedies import LARGE, remedy, remedy_in_a_sentence
from ..nonfinite.silencers import silencing_where
from ..text.formatting import find_nonfinite

SPOKEN = {"nan": "NaN"}


class NonfiniteSteps:
    """Finds the steps of a document at which a NaN or an infinity begins.

    Parameters
    ----------
    document : dict
        The trace document, complete up to the step in question.
    labels : Labels
        The names of its tensors.
    entries : list of Entry
        All that it has, in order; empty where our functions are not what to write instead.
    """

    def __init__(self, document: dict[str, Any], labels: Any, entries: list[Entry]) -> None:
        self.document, self.labels, self.entries = document, labels, entries
        self.known: set[int] = set()  # tensors that are not finite and have been mentioned
        self.begun = False  # whether a NaN or an infinity has been mentioned

    def sentence(self, event: Event, step: dict[str, Any], arrived: Any) -> str:
        """Return a sentence about what is born at this step, and note it in the step; empty if nothing is.

        At an accumulation, `arrived` is the cotangent that arrived at the entry.
        """
        match event:
            case events.Record(entry=entry) | events.Cut(entry=entry) | events.Skip(entry=entry):
                return self._describe_computation(entry, step)
            case events.Watch():
                return self._describe_arrival(step, [(step["tensor"], self._value(step["tensor"]))], " with the data")
            case events.Assign() if not self.begun:  # else it may well be computed from one that has been mentioned
                return self._describe_arrival(step, [(step["tensor"], step["value"])], " with the new value")
            case events.Accumulate(entry=entry) if find_nonfinite(step["after"]["text"]) and entry.values is not None:
                before = None if event.before is None else event.before._array
                name = self.document["tensors"][step["tensor"]]["name"]
                g, sums = None if arrived is None else arrived._array, (event.value._array, event.after._array)
                birth = find_backward_birth(entry, event.argument, name, g, before, *sums)
                return self._describe_birth(step, birth, entry, event.value._array, (g,))
            case events.PushForward(entry=entry) if entry.values and find_nonfinite(step["tangent"]["text"]):
                moving = tuple(each._array for each in event.tangents if each is not None)
                birth = self._find_tangent_birth(event, step)
                return self._describe_birth(step, birth, entry, event.tangent._array, moving)
        return ""

    def _describe_computation(self, entry: Entry, step: dict[str, Any]) -> str:
        described = self.document["entries"][step["entry"]]
        odd = [(k, self._value(k)) for k in described["inputs"] if k not in self.known]
        came_in, output = self._describe_arrival(step, odd), described["output"]
        if output in self.known or not find_nonfinite(self._value(output)["text"]):
            return came_in
        self.known.add(output)
        if entry.values is None:
            return came_in
        return came_in + self._describe_birth(step, find_forward_birth(entry), entry, entry.output_value)

    def _find_tangent_birth(self, event: events.PushForward, step: dict[str, Any]) -> Any:
        tensors, described = self.document["tensors"], self.document["entries"][step["entry"]]
        arguments = enumerate(described["arguments"])  # without those that an operation of the user's hides
        names = {k: tensors[each]["name"] if isinstance(each, int) else each for k, each in arguments}
        moving, parts = (
            [None if each is None else each._array for each in given] for given in (event.tangents, event.contributions)
        )
        output = tensors[step["tensor"]]["name"]
        return find_tangent_birth(event.entry, names, output, moving, parts, event.tangent._array)

    def _value(self, tensor: int) -> dict[str, Any]:
        value: dict[str, Any] = self.document["tensors"][tensor]["value"]
        return value

    def _describe_arrival(self, step: dict[str, Any], arrays: list[tuple[int, dict[str, Any]]], how: str = "") -> str:
        for tensor, array in arrays:
            if found := find_nonfinite(array["text"]):
                self.known.add(tensor)
                step["born"], self.begun = found[1], True
                how = how or f" with {self.document['tensors'][tensor]['name']}"
                return f" Here {SPOKEN.get(found[1], found[1])} comes in{how}."
        return ""

    def _describe_birth(
        self, step: dict[str, Any], birth: Any, entry: Entry, made: Any, arrived: tuple[Any, ...] = ()
    ) -> str:
        """Describe what is born of an entry in an array; the first of the trace with what to write instead."""
        if birth is None:
            return ""
        advice = "" if self.begun or not self.entries else self._advise(entry, made, arrived)
        step["born"], self.begun = birth.values[0], True
        *others, last = (SPOKEN.get(value, value) for value in birth.values)
        born = f"{', '.join(others)} and {last} are" if others else f"{last} is"
        return f" Here {born} born: {birth.text}.{advice}"

    def _advise(self, entry: Entry, made: Any, arrived: tuple[Any, ...]) -> str:
        wrong = bad(made)
        if not wrong.any():  # only a sum of finite contributions is not finite
            return f" {LARGE}"
        if arrived and kind_of(entry.operation) == "custom":
            return f" Check what the backward function of {entry.name} computes there, for example with np.isfinite."
        is_one = is_elementwise(entry) and np.shape(made) == np.shape(entry.output_value)
        worst, kind = find_worst(made, wrong)
        index = worst if is_one else None
        inputs = inputs_of(entry, index)
        makers = {each.output_id: each for each in self.entries}
        by = silencing_where(entry, self.entries, index)
        return f" {remedy_in_a_sentence(remedy(entry, (*inputs, *arrived), kind, by, self.labels, makers))}"
