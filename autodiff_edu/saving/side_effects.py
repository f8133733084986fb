"""Notices what else a function does while it is recorded."""

from __future__ import annotations

import io
import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..arrays.provenance import note_answer
from ..core.active import Listener
from ..core.events import Assign, Read, Seed
from ..core.variable import Variable
from ..text.frames import Where, here, user_frame
from ..text.statements import is_theirs
from .recording import FileRecorder

READERS = (io.open, os.open, np.fromfile)
DECISIONS = {"bool()": "bool", "index()": "int"}

OURS = __name__.partition(".")[0] + "."
ASKING = {__name__, *(OURS + name for name in ("core.active", "core.tensor", "arrays.methods"))}
"""The modules that a question goes through, from the code that asks it."""


class SideEffects(Listener):
    """What the user's code did besides computing while it was recorded, with places.

    Attributes
    ----------
    assigned : list of (name, where)
        The variables that were assigned to.
    left : list of (how, what, where)
        What was handed over as plain numbers, though it was computed from an argument or a variable; `what` names the
        variable if it is one.
    decided : list of (how, where, by_rule)
        Where Python asked for bool() or index() of such a tensor, as `if` and lists do; and whether a rule did.
    opened, drawn : list of where
        Where files were opened, and where Python's `random` drew a number.
    differentiates : bool
        Whether it took a derivative.
    """

    def __init__(self, recorder: FileRecorder) -> None:
        super().__init__({Read: self._read, Assign: self._assign, Seed: self._seed})
        self.recorder = recorder
        self.assigned: list[tuple[str, Where]] = []
        self.left: list[tuple[str, str, Where]] = []
        self.decided: list[tuple[str, Where, bool]] = []
        self.opened: list[Where] = []
        self.drawn: list[Where] = []
        self.differentiates = False

    def _read(self, event: Read) -> None:
        tensor, how = event
        if how == "format()" or not self.recorder.depends(tensor):
            return
        if how in DECISIONS:
            note_answer(tensor._array, DECISIONS[how])
            self.decided.append((how, here(), _is_asked_by_a_rule()))
        elif not self.recorder.inside:
            what = f"the variable {tensor.name!r}" if isinstance(tensor, Variable) else ""
            self.left.append((how, what, here()))

    def _assign(self, event: Assign) -> None:
        self.assigned.append((repr(event.variable.name), here()))

    def _seed(self, event: Seed) -> None:
        self.differentiates = True

    @contextmanager
    def profiling(self) -> Iterator[None]:
        """Notice files and random numbers in a `with` block."""
        profiler = sys.getprofile()
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(profiler)

    def _profile(self, frame: Any, event: str, function: Any) -> None:
        """Note that a file was opened, or Python drew a random number; Python itself opens files, to quote them."""
        if event != "c_call" or frame.f_code.co_filename.endswith("tokenize.py"):
            return
        if function in READERS:
            self.opened.append(_users_place(frame))
        elif isinstance(getattr(function, "__self__", None), random.Random):
            self.drawn.append(_users_place(frame))


def _is_asked_by_a_rule() -> bool:
    """Return whether code of this package asks a tensor, and not the user's."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in ASKING:
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith(OURS)


def _users_place(frame: Any) -> Where:
    """Return the place in the user's code from which a library's code was called."""
    frame = user_frame(frame, lambda path: not is_theirs[path])
    return frame.f_code, frame.f_lasti
