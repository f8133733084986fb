"""While a function is recorded: what else it does is noticed, and what it calls is noted whole."""

from __future__ import annotations

import functools
import io
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import custom as control
from ..arrays.structures import flatten
from ..core.events import Assign, Event, Leave, Seed, active, hook
from ..core.journal import since, tick
from ..core.rule import SPELLED, UFUNC_METHODS
from ..core.tape import GradientTape
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..rules import complete
from ..text.places import Where, here
from .operations import name_of
from .recording import Recording, tensors_in

_ONE_AT_A_TIME = threading.RLock()
LIBRARIES = tuple(os.path.dirname(str(library.__file__)) + os.sep for library in (os, np))  # random.py is beside os.py
READERS = (io.open, os.open, np.fromfile)
SEEDERS = ("default_rng", "seed")


class Watching:
    """What the user's code did, besides computing, while it was recorded; each with the place.

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
        Where files were opened, and random numbers drawn from a generator that was made or seeded there.
    differentiates : bool
        Whether it took a derivative.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.assigned: list[tuple[str, Where]] = []
        self.left: list[tuple[str, str, Where]] = []
        self.decided: list[tuple[str, Where]] = []
        self._start, self._thread = tick(), threading.get_ident()
        self.opened: list[Where] = []
        self.drawn: list[Where] = []
        self.differentiates = False

    def see(self, event: Event) -> None:
        """Note that a variable was assigned to, a tensor left for NumPy or Python, or a derivative was begun."""
        match event:
            case Assign():
                self.assigned.append((repr(event.variable.name), here()))
            case Leave() if event.tape is self.recording and self.recording.follows(event.tensor):
                what = f"the variable {event.tensor.name!r}" if isinstance(event.tensor, Variable) else ""
                self.left.append((event.how, what, here()))
            case Seed():
                self.differentiates = True

    def look_back(self) -> None:
        """Read in the journal what was decided, when all is done."""
        for line in since(self._start):
            asked = line.thread == self._thread and line.operation in ("bool()", "index()")
            if asked and self.recording.knows(line.inputs[0]):
                self.decided.append((line.operation, line.where))

    def profile(self, frame: Any, event: str, function: Any) -> None:
        """Note that a file was opened, or Python drew a random number; Python itself opens files, to quote them."""
        if event != "c_call" or frame.f_code.co_filename.endswith("tokenize.py"):
            return
        if function in READERS:
            self.opened.append(_outside(frame))
        elif isinstance(getattr(function, "__self__", None), random.Random):
            self.drawn.append(_outside(frame))


def _outside(frame: Any) -> Where:
    """Give the place in the user's code from which a library's code was called."""
    while frame.f_code.co_filename.startswith(LIBRARIES) and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


@contextmanager
def recorded(inputs: list[Tensor]) -> Iterator[tuple[Recording, Watching]]:
    """Record what happens in a `with` block, unseen by other tapes and hooks; variables keep their values."""
    recording = Recording(inputs)
    watching = Watching(recording)
    with _ONE_AT_A_TIME:
        tapes, hooks, profiler = active.tapes, active.hooks, sys.getprofile()
        active.tapes, active.hooks = (), ()
        try:
            with undoing(), noting_seeds(watching), noting_spelled(), noting_calls(), hook(watching.see), recording:
                sys.setprofile(watching.profile)
                yield recording, watching
            watching.look_back()
        finally:
            sys.setprofile(profiler)
            active.tapes, active.hooks = tapes, hooks


def _current() -> Recording | None:
    return next((tape for tape in active.tapes if isinstance(tape, Recording)), None)


@contextmanager
def undoing() -> Iterator[None]:
    """Put back the values of the variables that this thread assigns to."""
    replace, thread = Variable._replace, threading.get_ident()
    before: dict[int, tuple[Variable, Any]] = {}

    def remembering(self: Variable, array: Any, source: Any) -> Variable:
        if threading.get_ident() == thread:
            before.setdefault(self._id, (self, self._array))
        return replace(self, array, source)

    Variable._replace = remembering  # type: ignore[method-assign]
    try:
        yield
    finally:
        Variable._replace = replace  # type: ignore[method-assign]
        for variable, array in before.values():
            variable._array = array


@contextmanager
def noting_seeds(watching: Watching) -> Iterator[None]:
    """Note where NumPy's generators are made or seeded: what they draw may be the same in every call."""
    thread, before = threading.get_ident(), {name: getattr(np.random, name) for name in SEEDERS}

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*arguments: Any, **parameters: Any) -> Any:
            if threading.get_ident() == thread:
                watching.drawn.append(here())
            return function(*arguments, **parameters)

        return run

    for name, function in before.items():
        setattr(np.random, name, noting(function))
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(np.random, name, function)


@contextmanager
def noting_calls() -> Iterator[None]:
    """Let a recording know what a function with a custom gradient returned, before it was packed into one array."""
    call = control.call

    def noting(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        recording, inside = _current(), list[Any]()

        @functools.wraps(f)
        def seen(*arguments: Any, **parameters: Any) -> Any:
            returned = f(*arguments, **parameters)
            inside[:] = returned[:1] if isinstance(returned, tuple) else []
            return returned

        if recording is None:
            return call(f, args, kwargs)
        result = call(seen, args, kwargs)
        recording.note_call([leaf for _, leaf in flatten(inside, "result")], tensors_in(result))
        return result

    control.call = noting
    try:
        yield
    finally:
        control.call = call


@contextmanager
def noting_spelled() -> Iterator[None]:
    """Let a recording note spelled functions whole.

    Not while another tape records too: a backward pass computes with what that tape saw inside of them.
    """
    complete()

    def noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **parameters: Any) -> Any:
            recording = _current()
            if recording is None or any(isinstance(tape, GradientTape) for tape in active.tapes):
                return function(*arguments, **parameters)
            return recording.note_whole(name, function, arguments, parameters)

        return run

    tables: list[Any] = [SPELLED, UFUNC_METHODS]
    before = [dict(table) for table in tables]
    SPELLED.update({f: noting(name_of(f), spelled) for f, spelled in SPELLED.items()})
    UFUNC_METHODS.update({(f, m): noting(f"{name_of(f)}.{m}", spelled) for (f, m), spelled in UFUNC_METHODS.items()})
    try:
        yield
    finally:
        for table, entries in zip(tables, before, strict=True):
            table.update(entries)
