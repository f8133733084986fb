"""What was computed lately, on a tape or not: one line per operation, and none of its arrays.

A tape holds only what it follows. To say why a gradient is None, `explain` must also know what was computed while no
tape was looking; so every operation on tensors leaves a line here, and only the latest are kept.

>>> import autodiff_edu as ad
>>> x = ad.constant(3.0)
>>> y = x * 2.0
>>> print(lines()[-1].operation.__name__, lines()[-1].inputs == (x._id, None), lines()[-1].output == y._id)
multiply True True
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import count
from threading import get_ident
from typing import Any, NamedTuple

from ..text.places import Where, here

tick = count(1).__next__
"""The next number: tensors are numbered in the order in which they are made, so their ids tell the time as well."""

PLAIN = 0
"""In place of a tensor's id: numbers outside every tensor, in NumPy's or Python's hands."""

KEPT = 20_000

_lines: deque[tuple[Any, ...]] = deque(maxlen=KEPT)
write = _lines.append
"""Add a line, given as a tuple like `Line`: cheaper than making one, and this is done for every operation."""


class Line(NamedTuple):
    """One thing that was computed: when, what, from which tensors, where in the user's code, and in which thread.

    `operation` is a function for an operation, and otherwise a word: "made" (from numbers), "gradient" (or "jacobian",
    "batch_jacobian"), "assign", or how a tensor was handed over as plain numbers, such as "numpy()"; then `output` is
    `PLAIN`.
    """

    time: int
    operation: Any
    inputs: tuple[int | None, ...]
    output: int
    where: Where
    thread: int

    def entry(self) -> Any:
        """Give the line as an entry of a tape would be that has let go of its arrays."""
        from .entry import Entry  # entries are made of tensors, and those of this

        return Entry(self.operation, self.inputs, None, {}, self.output, None, self.where)


def lines() -> list[Line]:
    """Give the lines that are kept, oldest first."""
    return [Line(*line) for line in tuple(_lines)]


def since(time: int) -> Iterator[Line]:
    """Give the lines that are newer than a time, the newest first."""
    for line in reversed(tuple(_lines)):
        if line[0] <= time:
            return
        yield Line(*line)


def note(word: str, inputs: Iterable[int | None], output: int) -> None:
    """Add a line for something that is no operation."""
    write((tick(), word, tuple(inputs), output, here(2), get_ident()))
