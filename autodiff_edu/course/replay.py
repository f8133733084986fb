"""`replay`: the player's trace of a tape that the learner has written, from that tape's own notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..core import events
from ..core.entry import Entry
from ..core.tensor import Tensor, wrap
from ..text.frames import here
from ..trace.foreign import ForeignTape
from ..trace.trace import Trace

__all__ = ["here", "replay"]


def replay(
    entries: Iterable[Any], target: Any, sources: Mapping[str, Any], notes: Iterable[tuple[Any, ...]], title: str
) -> Trace:
    """Return what a tape of the learner's own did, as a trace that `ad.play` shows.

    Nothing is computed here: every number is one that the learner's tape computed, so a wrong tape plays wrongly. What
    the player would compute from our rules is left out, as `trace/foreign.py` says. Only the operations are drawn as
    formulas, in the user's names.

    Parameters
    ----------
    entries : iterable
        What the tape recorded, in order. Each entry has `operation` (a NumPy function), `inputs`, `output`, and `place`
        (code object and offset, as `here` returns them). A value of the learner's has its number or array in the
        attribute `number`; inputs without that attribute are constants.
    target : object
        The value from which the walk started.
    sources : dict
        The values that the gradient was asked for, by their names.
    notes : iterable of tuple
        What the walk did, in order, one for each contribution: the entry, the cotangent that was pulled back, the
        position of the argument, the contribution, and the argument's cotangent once that has been added.
    title : str
        Shown above the player.

    Returns
    -------
    Trace

    Raises
    ------
    AttributeError
        If an entry, or a value, has no such attributes.

    Examples
    --------
    >>> from types import SimpleNamespace as Thing
    >>> import numpy as np
    >>> x, y = Thing(number=3.0), Thing(number=9.0)
    >>> entry = Thing(operation=np.multiply, inputs=(x, x), output=y, place=here())
    >>> notes = [(entry, 1.0, 0, 3.0, 3.0), (entry, 1.0, 1, 3.0, 6.0)]
    >>> print(replay([entry], y, {"x": x}, notes, "mine").transcript().splitlines()[-1])
    7. dt1/dx is 6.
    """
    return _Replay(title).run(list(entries), target, sources, notes)


class _Replay:
    """Turns values of the learner's into tensors, each into one, and the notes into events."""

    def __init__(self, title: str) -> None:
        self.trace, self.tape = Trace(title), ForeignTape()
        self.tensors: dict[int, Tensor] = {}  # by the id of the learner's value
        self.entries: dict[int, Entry] = {}  # by the id of the learner's entry
        self.cotangents: dict[int, Any] = {}  # by the id of the learner's value

    def run(self, entries: list[Any], target: Any, sources: Mapping[str, Any], notes: Iterable[Any]) -> Trace:
        for name, source in sources.items():
            self.tensor(source).name = name
            self.trace.add(events.Watch(self.tape, self.tensor(source), None))
        for entry in entries:
            self.trace.add(events.Record(self.tape, self.entry(entry)))
        notes = list(notes)
        for g in [g for entry, g, *_ in notes if entry.output is target][:1]:
            self.trace.add(events.Seed(self.tape, self.tensor(target), _tensor(g)))
        pulled = None
        for entry, g, argument, contribution, after in notes:
            if entry is not pulled:
                self.trace.add(events.PullBack(self.tape, self.entry(entry), _tensor(g)))
                pulled = entry
            x = entry.inputs[argument]
            before = self.cotangents.get(id(x))
            self.cotangents[id(x)] = after
            sums = None if before is None else _tensor(before), _tensor(contribution), _tensor(after)
            self.trace.add(events.Accumulate(self.tape, self.entry(entry), argument, *sums, self.tensor(x)))
        for source in sources.values():
            gradient = self.cotangents.get(id(source))
            connected, result = gradient is not None, None if gradient is None else _tensor(gradient)
            asked = self.tape, "gradient", (self.tensor(target),), self.tensor(source)
            self.trace.add(events.Outcome(*asked, result, connected, False, ()))
        return self.trace

    def tensor(self, value: Any) -> Tensor:
        if id(value) not in self.tensors:
            self.tensors[id(value)] = _tensor(value.number)
        return self.tensors[id(value)]

    def entry(self, entry: Any) -> Entry:
        if id(entry) not in self.entries:
            inputs = [self.tensor(x) if hasattr(x, "number") else x for x in entry.inputs]
            ids = tuple(x._id if isinstance(x, Tensor) else None for x in inputs)
            values = tuple(x._array if isinstance(x, Tensor) else x for x in inputs)
            output = self.tensor(entry.output)
            line = (ids, output._id, *entry.place)
            self.entries[id(entry)] = Entry(entry.operation, line, {}, values, output._array)
        return self.entries[id(entry)]


def _tensor(value: Any) -> Tensor:
    return wrap(np.array(value, dtype=float)[()])
