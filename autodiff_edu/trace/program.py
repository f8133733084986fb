"""A trace as a program: the line of NumPy for each step, for the player."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core import events
from ..core.active import only
from ..core.events import Event
from ..core.tape import Tape
from ..custom.recomputation import Segment
from ..program.expressions import Statement
from ..program.tangents import TangentWriter
from ..program.writing import TapeWriter
from ..text.labels import Labels
from .backward_calls import BackwardCall
from .lines import Rebind
from .updates import Update, Updates

PASSING = events.Seed | events.PullBack | events.Accumulate | events.Move | events.PushForward


class TraceProgram(NamedTuple):
    """A trace as a program.

    Attributes
    ----------
    lines : list of str
        Its lines.
    steps : list of int or None
        For each event, the index of its line in NumPy.
    formulas : dict
        What entries compute and send back, as in `TapeWriter.formulas`.
    updates : dict of int to Update
        How the assignments among the events came to their values, as far as that is known.
    """

    lines: list[str]
    steps: list[int | None]
    formulas: dict[tuple[int, int | None], Any]
    updates: dict[int, Update]


def program(
    source: Any, passes: list[int], labels: Labels, tapes: dict[Tape, str], own: dict[int, BackwardCall]
) -> TraceProgram:
    """Write a trace as a program, for the player.

    Parameters
    ----------
    source : Trace
        What happened.
    passes : list of int
        For each event, the number of its pass.
    labels : Labels
        The trace's names for its tensors.
    tapes : dict of Tape to str
        The trace's names for its tapes.
    own : dict of int to BackwardCall
        What the backward functions of custom gradients computed.
    """
    written = _Program(source, passes, labels, tapes, own)
    writer = written.writer
    imports = [
        f"from {module} import {name}{'' if called == name else f' as {called}'}"
        for (module, name), called in writer.imports.items()
    ]
    steps = [None if at is None else at + len(imports) for at in written.steps]
    return TraceProgram(
        [*imports, *(line.text for line in writer.lines)], steps, writer.formulas, written.updates.known
    )


class _Program:
    """Follows the events of a trace, and writes a line for each that computes something."""

    def __init__(self, source: Any, passes: list[int], labels: Labels, tapes: dict[Tape, str], own: Any) -> None:
        self.happenings, happened, self.own = source.happenings, source.events, own
        self.writer, self.passes = TapeWriter(labels, with_formulas=True), passes
        self.tangents = TangentWriter(self.writer)
        self.updates = Updates(self.writer, source)
        self.steps: list[int | None] = []
        self.spans: dict[int, tuple[int, int]] = {}  # the first and the last step of a pass
        self.whose: dict[int, str] = {}  # the tape of a pass, where there are several
        for i, (event, number) in enumerate(zip(happened, passes, strict=True)):
            if isinstance(event, PASSING):
                self.spans[number] = self.spans.get(number, (i, i))[0], i
                self.whose[number] = f": {tapes[event.tape]}" if len(tapes) > 1 else ""
        self.waiting = [*reversed(self.spans)]  # the passes still to come, the next one last
        self.open_passes: list[int] = []  # passes under way
        self.arrived: dict[tuple[int, int], tuple[int, Any]] = {}  # by pass and output: the step, and what arrived
        self.forward = {
            number for event, number in zip(happened, passes, strict=True) if isinstance(event, events.Move)
        }
        self.again = 0  # the output of the checkpointed function that runs again now, if it does
        self.section = ""
        with only(), np.errstate(all="ignore"):  # the user's own run has already warned about it
            for i, event in enumerate(happened):
                self.steps.append(None)
                self.steps[i] = self.under_its_heading(i, event)

    def under_its_heading(self, i: int, event: Event) -> int | None:
        """Write the lines of a step; a recorded pass of an inner tape is still one section."""
        lines = self.writer.lines
        while self.waiting and self.spans[self.waiting[-1]][0] <= i:
            self.open_passes.append(self.waiting.pop())
        self.open_passes = open_passes = [number for number in self.open_passes if i <= self.spans[number][1]]
        section = "# update" if isinstance(event, events.Assign | Rebind) else "# forward"
        if open_passes:
            number = open_passes[-1]
            what = "tangents" if number in self.forward else "backward"
            section = f"# {what}{f', pass {number + 1}' if len(self.spans) > 1 else ''}{self.whose[number]}"
        heading = section != self.section
        if heading:
            lines.append(Statement(section))
        start = len(lines)
        at = self.write(i, event)
        if heading and len(lines) == start:
            lines.pop()
        else:
            self.section = section
        return at

    def write(self, i: int, event: Event) -> int | None:
        """Write the lines of a step; return the line that does it."""
        writer, number = self.writer, self.passes[i]
        match event:
            case events.Assign():
                return self.updates.write(i, self.happenings[i])
            case Rebind():
                return self.updates.rebind(i, event)
            case events.Watch(tensor=tensor):
                return writer.defined[writer.name(tensor._id, tensor._array)]
            case events.Record(entry=entry) | events.Cut(entry=entry) | events.Skip(entry=entry):
                if entry.values is not None:
                    return writer.defined[writer.entry(entry)]
                known = entry.output_value is not None  # an explanation may know it even if no tape recorded it
                return writer.defined[writer.name(entry.output_id, entry.output_value)] if known else None
            case events.Seed(tensor=tensor, cotangent=cotangent):
                arrived = self.updates.name_cotangent(cotangent._array, self.again)
                writer.seed(number, writer.name(tensor._id, tensor._array), tensor._id, cotangent._array, arrived)
                self.updates.note_cotangent(number, tensor._id, cotangent._array)
            case events.Move(tensor=tensor, tangent=tangent):
                self.tangents.move(number, tensor, tangent._array)
            case events.PushForward(entry=entry, tangents=tangents):
                self.tangents.push(number, entry, tangents)
            case events.PullBack(entry=entry, cotangent=cotangent):
                self.arrived[number, entry.output_id] = i, cotangent._array
                self.again = entry.output_id if isinstance(entry.operation, Segment) else 0
                return None
            case events.Accumulate(entry=entry, argument=argument, tensor=tensor, after=after):
                writer.entry(entry)  # of a tape that recorded it before the trace started
                step, cotangent = self.arrived[number, entry.output_id]
                start = len(writer.lines)
                own, value = self.own.get(id(event)), event.value._array
                if isinstance(entry.operation, Segment) and (bar := self.updates.name_cotangent(value, tensor._id)):
                    writer.hand_on(number, entry, argument, bar)  # the pass over its second run came to this
                else:
                    writer.contribution(number, entry, argument, cotangent, own and (own.noted, value))
                self.updates.note_cotangent(number, tensor._id, after._array)
                if self.steps[step] is None:
                    self.steps[step] = start
            case _:
                return None
        return len(writer.lines) - 1
