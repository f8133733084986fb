"""A tape that somebody else keeps: PyTorch, JAX, or a tape of the learner's own reports here what it did.

What a trace shows of it is what was reported. Nothing is computed by our rules, so what the player would compute is
left out: the way back as formulas, the program in NumPy, contributions before they were summed, nudges and bytes.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> from autodiff_edu.core import events
>>> from autodiff_edu.core.entry import Entry
>>> from autodiff_edu.text.frames import here
>>> tape, steps = ForeignTape(), ad.Trace("a square")
>>> x, y = ad.constant(3.0, name="x"), ad.constant(9.0)
>>> square = Entry(ForeignOperation("square"), ((x._id,), y._id, *here()), {}, (x.numpy(),), y.numpy())
>>> steps.add(events.Watch(tape, x, None), events.Record(tape, square))
>>> print(steps.transcript())
1. The tape watches x, which is 3.
2. Line 1: t1 is the square of x, which is 9. The tape records it as entry 1.
"""

from __future__ import annotations

from typing import Any

from ..core.events import Outcome
from ..core.tape import Tape


class ForeignTape(Tape):
    """A tape of another library's, perhaps with a name; the events that name it are all that is known about it."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(persistent=True)
        self.name = name


class ForeignOperation:
    """An operation of another library's, for which we have no rule; `result` counts its results if it has several.

    `is_part` says that it is not what the line of its entry computes, so that it does not get the name on its left.
    """

    def __init__(self, name: str, result: int | None = None, is_part: bool = False) -> None:
        self.__name__, self.result, self.is_part = name, result, is_part


class Gradient(Outcome):
    """A backward pass has added to PyTorch's attribute `.grad`, its `word`, which was `before`, or None at first."""

    before: Any
