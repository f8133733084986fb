"""What a trace shows as a program: the line of NumPy that does each step, for the player."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.active import only
from ..program.writing import Statement, Writer
from ..text.labels import Labels
from . import events
from .events import Event


class Program(NamedTuple):
    """What a trace shows, as a program.

    Attributes
    ----------
    lines : list of str
        Its lines.
    steps : list of int or None
        For each event the index of the line that does it in NumPy.
    formulas : dict
        What entries compute and send back, as `Writer.formulas` has it.
    """

    lines: list[str]
    steps: list[int | None]
    formulas: dict[tuple[int, int | None], Any]


def program(happened: list[Event], passes: list[int], labels: Labels) -> Program:
    """Write what a trace shows as a program, for the player.

    Parameters
    ----------
    happened : list of Event
        The events of a trace.
    passes : list of int
        For each event, the number of its backward pass.
    labels : Labels
        What the trace calls its tensors.
    """
    written = _Program(happened, passes, labels)
    return Program([line.text for line in written.writer.lines], written.steps, written.writer.formulas)


class _Program:
    """Follows the events of a trace, and writes a line for each that computes something."""

    def __init__(self, happened: list[Event], passes: list[int], labels: Labels) -> None:
        self.writer, self.passes = Writer(labels, with_formulas=True), passes
        self.steps: list[int | None] = []
        self.spans: dict[int, tuple[int, int]] = {}  # the first and the last step of a pass
        for i, (event, number) in enumerate(zip(happened, passes, strict=True)):
            if isinstance(event, events.Seed | events.PullBack | events.Accumulate):
                self.spans[number] = self.spans.get(number, (i, i))[0], i
        self.arrived: dict[tuple[int, int], tuple[int, Any]] = {}  # by pass and output: the step, and what arrived
        self.section = ""
        with only(), np.errstate(all="ignore"):  # the user's code has warned of it already
            for i, event in enumerate(happened):
                self.steps.append(None)
                self.steps[i] = self.under_its_heading(i, event)

    def under_its_heading(self, i: int, event: Event) -> int | None:
        """Write the lines of a step; a pass of an inner tape that an outer one records is one section all the same."""
        lines = self.writer.lines
        open_passes = [number for number, (first, last) in self.spans.items() if first <= i <= last]
        which = f", pass {open_passes[-1] + 1}" if open_passes and len(self.spans) > 1 else ""
        section = f"# backward{which}" if open_passes else "# forward"
        heading = section != self.section
        if heading:
            lines.append(Statement(section))
        start = len(lines)
        at = self.written(i, event)
        if heading and len(lines) == start:
            lines.pop()
        else:
            self.section = section
        return at

    def written(self, i: int, event: Event) -> int | None:
        """Write the lines of a step; gives the one that does it."""
        writer, number = self.writer, self.passes[i]
        match event:
            case events.Watch(tensor=tensor) | events.Assign(variable=tensor):
                return writer.defined[writer.name(tensor._id, tensor._array)]
            case events.Record(entry=entry) | events.Cut(entry=entry) | events.Skip(entry=entry):
                return None if entry.values is None else writer.defined[writer.entry(entry)]
            case events.Seed(tensor=tensor, cotangent=cotangent):
                writer.seed(number, writer.name(tensor._id, tensor._array), tensor._id, cotangent._array)
            case events.PullBack(entry=entry, cotangent=cotangent):
                self.arrived[number, entry.output_id] = i, cotangent._array
                return None
            case events.Accumulate(entry=entry, argument=argument):
                writer.entry(entry)  # of a tape that recorded it before the trace began
                step, cotangent = self.arrived[number, entry.output_id]
                start = len(writer.lines)
                writer.contribution(number, entry, argument, cotangent)
                if self.steps[step] is None:
                    self.steps[step] = start
            case _:
                return None
        return len(writer.lines) - 1
