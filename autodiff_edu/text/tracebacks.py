"""Tracebacks in a notebook: the reader's lines, without the frames of this package and of NumPy."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import TypeVar

from .frames import is_ours
from .ipython import find_shell

E = TypeVar("E", bound=BaseException)


def hide_frames(error: E) -> E:
    """Make IPython show an error without our frames, and return it; without IPython, nothing changes."""
    if find_shell() is not None:
        with suppress(Exception):  # an exception may refuse attributes
            error._render_traceback_ = partial(render_without_frames, error)  # type: ignore[attr-defined]
    return error


def render_without_frames(error: BaseException) -> list[str]:
    """Return the lines that IPython shows of an error, without our frames."""
    shown = _list_with_causes(error)
    whole = [one.__traceback__ for one in shown]
    try:
        for one in shown:
            one.with_traceback(_drop_frames(one.__traceback__))  # an exception may refuse attributes
        lines: list[str] = find_shell().InteractiveTB.structured_traceback(type(error), error, error.__traceback__)
    finally:
        for one, traceback in zip(shown, whole, strict=True):
            one.with_traceback(traceback)
    return lines


def _list_with_causes(error: BaseException) -> list[BaseException]:
    """List an error and its causes, which its traceback shows with it."""
    found: dict[int, BaseException] = {}
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in found:
            found[id(one)] = one
            waiting += [one.__cause__, one.__context__]
    return [*found.values()]


def _drop_frames(traceback: TracebackType | None) -> TracebackType | None:
    frames, at = [], traceback
    while at is not None:
        if not is_ours[at.tb_frame.f_code.co_filename]:
            frames.append(at)
        at = at.tb_next
    kept: TracebackType | None = None
    for at in reversed(frames):
        kept = TracebackType(kept, at.tb_frame, at.tb_lasti, at.tb_lineno)
    return kept
