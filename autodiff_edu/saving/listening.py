"""While a function is recorded: what else it does is noticed, and what it calls is noted whole."""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import control
from ..events import Assign, Event, Leave, active, hook
from ..places import Where, here
from ..rules import complete
from ..rules.kinds import SPELLED, UFUNC_METHODS
from ..structures import flatten
from ..tape import GradientTape
from ..tensor import Tensor
from ..variable import Variable
from .operations import name_of
from .recording import Recording, tensors_in

_ONE_AT_A_TIME = threading.RLock()
LIBRARIES = tuple(os.path.dirname(str(library.__file__)) + os.sep for library in (os, np))
READERS = (io.open, os.open, np.fromfile)


class Watching:
    """What the user's code did, besides computing, while it was recorded; each with the place."""

    def __init__(self) -> None:
        self.assigned: list[tuple[str, Where]] = []
        self.left: list[tuple[str, Where]] = []
        self.opened: list[Where] = []

    def see(self, event: Event) -> None:
        """Note that a variable was assigned to, or left for NumPy."""
        if isinstance(event, Assign):
            self.assigned.append((repr(event.variable.name), here()))
        if isinstance(event, Leave) and isinstance(event.tensor, Variable):
            self.left.append((f"{event.tensor.name!r}, by {event.how}", here()))

    def profile(self, frame: Any, event: str, function: Any) -> None:
        """Note that a file was opened; Python itself opens source files, to quote them."""
        if event == "c_call" and function in READERS and not frame.f_code.co_filename.endswith("tokenize.py"):
            while frame.f_code.co_filename.startswith(LIBRARIES) and frame.f_back is not None:
                frame = frame.f_back
            self.opened.append((frame.f_code, frame.f_lasti))


@contextmanager
def recorded(inputs: list[Tensor]) -> Iterator[tuple[Recording, Watching]]:
    """Record what happens in a `with` block, unseen by other tapes and hooks."""
    watching, recording = Watching(), Recording(inputs)
    with _ONE_AT_A_TIME:
        tapes, hooks, profiler = active.tapes, active.hooks, sys.getprofile()
        active.tapes, active.hooks = (), ()
        try:
            with noting_spelled(), noting_calls(), hook(watching.see), recording:
                sys.setprofile(watching.profile)
                yield recording, watching
        finally:
            sys.setprofile(profiler)
            active.tapes, active.hooks = tapes, hooks


def _current() -> Recording | None:
    return next((tape for tape in active.tapes if isinstance(tape, Recording)), None)


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
