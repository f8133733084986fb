"""Notices what else a function does while it is recorded, and restores the variables that it assigns."""

from __future__ import annotations

import io
import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..core.active import always, only
from ..core.entry import PLAIN, Entry
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..text.places import Where, here
from .recording import Recording

# In a page, random.py is in a zip and os.py is not.
LIBRARIES = tuple(str(Path(str(library.__file__)).parent) + os.sep for library in (os, random, np))
READERS = (io.open, os.open, np.fromfile)
DECISIONS = ("bool()", "index()")


class Watching:
    """What the user's code did besides computing while it was recorded, with places.

    It is a listener and a hook: as a listener it hears what was handed over as plain numbers.

    Attributes
    ----------
    assigned : list of (name, where)
        The variables that were assigned to.
    left : list of (how, what, where)
        What was handed over as plain numbers, though it was computed from an argument or a variable; `what` names the
        variable if it is one.
    decided : list of (how, where)
        Where bool() or index() was asked of such a tensor, as Python's `if` and its lists do.
    opened, drawn : list of where
        Where files were opened, and where Python's `random` drew a number.
    differentiates : bool
        Whether it took a derivative.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.assigned: list[tuple[str, Where]] = []
        self.left: list[tuple[str, str, Where]] = []
        self.decided: list[tuple[str, Where]] = []
        self.opened: list[Where] = []
        self.drawn: list[Where] = []
        self.differentiates = False
        self._before: dict[int, tuple[Variable, Any]] = {}

    def __call__(self, entry: Entry, inputs: tuple[Any, ...]) -> None:
        """Note that a tensor was handed over, or asked for a decision; this is the listener."""
        if entry.values is not None or entry.output_id != PLAIN or entry.operation == "format()":
            return
        tensor: Tensor = inputs[0]
        if entry.operation in DECISIONS:
            if self.recording.knows(tensor._id):
                self.decided.append((entry.operation, entry.where))
        elif not self.recording.inside and self.recording.depends(tensor):
            what = f"the variable {tensor.name!r}" if isinstance(tensor, Variable) else ""
            self.left.append((entry.operation, what, entry.where))

    def see(self, what: str, *details: Any) -> None:
        """Note an assignment, or the start of a derivative; this is the hook."""
        if what == "Assigning":
            self._before.setdefault(details[0]._id, (details[0], details[0]._array))
        elif what == "Assign":
            self.assigned.append((repr(details[0].name), here()))
        elif what == "Seed":
            self.differentiates = True

    def undo(self) -> None:
        """Restore the values that the variables had."""
        for variable, array in self._before.values():
            variable._array = array

    def profile(self, frame: Any, event: str, function: Any) -> None:
        """Note that a file was opened, or Python drew a random number; Python itself opens files, to quote them."""
        if event != "c_call" or frame.f_code.co_filename.endswith("tokenize.py"):
            return
        if function in READERS:
            self.opened.append(_outside(frame))
        elif isinstance(getattr(function, "__self__", None), random.Random):
            self.drawn.append(_outside(frame))


def _outside(frame: Any) -> Where:
    """Return the place in the user's code from which a library's code was called."""
    while frame.f_code.co_filename.startswith(LIBRARIES) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


@contextmanager
def recorded(inputs: list[Tensor]) -> Iterator[tuple[Recording, Watching]]:
    """Record what happens in a `with` block, hidden from other listeners; variables keep their values."""
    recording = Recording(inputs)
    watching, profiler = Watching(recording), sys.getprofile()
    with only(*always.listeners, recording, watching, hooks=(recording.see, watching.see)):
        sys.setprofile(watching.profile)
        try:
            yield recording, watching
        finally:
            sys.setprofile(profiler)
            watching.undo()
