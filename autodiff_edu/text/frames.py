"""The user's code as Python runs it: the frame outside NumPy and this package, and where it is.

A tape notes only this code object and offset for each entry, which costs next to nothing; `places` reads them.
"""

from __future__ import annotations

import contextlib
import copy
import os
import sys
from collections.abc import Callable
from os.path import abspath, dirname  # pathlib would make importing the package 1.5 times as slow
from types import CodeType, FrameType, ModuleType

import numpy as np

Where = tuple[CodeType, int]

OURS = [
    dirname(dirname(abspath(__file__))) + os.sep,
    dirname(abspath(np.__file__)) + os.sep,
    abspath(contextlib.__file__),  # for example, a tape's stop_recording is a context manager
    abspath(copy.__file__),  # which copies a variable when the user asks for it
]


class _IsOurs(dict[str, bool]):
    """Remembers whether a file is one of ours; every operation asks."""

    def __missing__(self, path: str) -> bool:
        self[path] = path.startswith(tuple(OURS))
        if not self[path]:
            _note_modules(path)
        return self[path]


modules_in: dict[str, dict[str, ModuleType]] = {}
"""By path: the modules that a file or a cell knows, by their names there, when it first computed."""


def _note_modules(path: str) -> None:
    """Note the modules of the code that is running in a file: once for each file, so that recording stays fast."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    if frame is not None:
        modules_in[path] = {name: part for name, part in list(frame.f_globals.items()) if type(part) is ModuleType}


is_ours = _IsOurs()


def here(depth: int = 1) -> Where:
    """Return the code and offset where the user's code is: the innermost frame outside NumPy and this package.

    `depth` frames are skipped without looking, because they are known to be ours.
    """
    frame = user_frame(sys._getframe(depth))
    return frame.f_code, frame.f_lasti


def user_frame(frame: FrameType, is_passed: Callable[[str], bool] = is_ours.__getitem__) -> FrameType:
    """Go outwards from a frame, past files for which `is_passed` is true; stop at the outermost one."""
    while is_passed(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return frame
