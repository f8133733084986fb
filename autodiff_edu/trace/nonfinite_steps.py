"""Where NaN and infinities begin in a trace: the steps that make one from finite numbers, or where one comes in."""

from __future__ import annotations

import re
from typing import Any

from ..core import events
from ..core.entry import Entry
from ..core.events import Event
from ..nonfinite.origin import find_backward_birth, find_forward_birth, find_tangent_birth
from ..text.shared import shared

ODD = re.compile(shared()["odd"])
"""For the text of an array, which shows at least its smallest and its largest element; "infj" is part of a number."""

SPOKEN = {"nan": "NaN"}


class NonfiniteSteps:
    """Finds the steps of a document at which a NaN or an infinity begins.

    Parameters
    ----------
    document : dict
        The trace document, complete up to the step in question.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
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
            case events.Accumulate(entry=entry) if ODD.search(step["after"]["text"]) and entry.values is not None:
                before = None if event.before is None else event.before._array
                name = self.document["tensors"][step["tensor"]]["name"]
                g, sums = None if arrived is None else arrived._array, (event.value._array, event.after._array)
                return self._describe_birth(step, find_backward_birth(entry, event.argument, name, g, before, *sums))
            case events.PushForward(entry=entry) if ODD.search(step["tangent"]["text"]) and entry.values is not None:
                return self._describe_birth(step, self._find_tangent_birth(event, step))
        return ""

    def _describe_computation(self, entry: Entry, step: dict[str, Any]) -> str:
        described = self.document["entries"][step["entry"]]
        odd = [(k, self._value(k)) for k in described["inputs"] if k not in self.known]
        came_in, output = self._describe_arrival(step, odd), described["output"]
        if output in self.known or not ODD.search(self._value(output)["text"]):
            return came_in
        self.known.add(output)
        if entry.values is None:
            return came_in
        return came_in + self._describe_birth(step, find_forward_birth(entry))

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
            if found := ODD.search(array["text"]):
                self.known.add(tensor)
                step["born"], self.begun = found[1], True
                how = how or f" with {self.document['tensors'][tensor]['name']}"
                return f" Here {SPOKEN.get(found[1], found[1])} comes in{how}."
        return ""

    def _describe_birth(self, step: dict[str, Any], birth: Any) -> str:
        if birth is None:
            return ""
        step["born"], self.begun = birth.values[0], True
        *others, last = (SPOKEN.get(value, value) for value in birth.values)
        born = f"{', '.join(others)} and {last} are" if others else f"{last} is"
        return f" Here {born} born: {birth.text}."
