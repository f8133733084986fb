"""NumPy's warnings about numbers, such as a division by zero, at the reader's line and not at ours.

NumPy warns about the Python line that called it, which for a tensor is in this package. While a trace runs, it calls
`warn` instead. Elsewhere that would cost each tape a tenth of its time, so there only what IPython shows is changed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from ..core.walk import walk
from ..text.frames import is_ours, user_frame
from ..text.places import place, written

OURS, NUMPY, COMPILED = f"{__package__.partition('.')[0]}.", np.__file__.removesuffix("__init__.py"), "<compiled "


@contextmanager
def warn_at_the_line() -> Iterator[None]:
    """Place NumPy's warnings about numbers at the user's line, in a `with` block."""
    modes: dict[str, Any] = {kind: "call" for kind, how in np.geterr().items() if how == "warn"}
    if not modes:
        yield
        return
    with np.errstate(call=warn, **modes):
        yield


def show_at_the_line() -> None:
    """Show warnings that were raised in this package, or by NumPy for it, at the user's line, from now on."""
    show = warnings.showwarning

    def show_there(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != filename:  # Python's own frames
            frame = frame.f_back
        caller = user_frame(frame, lambda path: path.startswith((NUMPY, COMPILED)))
        if frame.f_code.co_filename == filename and caller.f_globals.get("__name__", "").startswith(OURS):
            user = user_frame(caller, lambda path: is_ours[path] or path.startswith(COMPILED))
            # Python shows a warning once per line, and all of a user's lines share ours: remember the user's instead.
            ours, said = frame.f_globals.get("__warningregistry__", {}), (str(message), category)
            if ours.pop((*said, lineno), None):
                seen = user.f_globals.setdefault("__warningregistry__", {"version": ours.get("version")})
                if (*said, user.f_lineno) in seen:
                    return
                seen[*said, user.f_lineno] = True
            filename, lineno = user.f_code.co_filename, user.f_lineno
        show(message, category, filename, lineno, file, line)

    warnings.showwarning = show_there


def warn(kind: str, flag: int) -> None:
    """Warn as NumPy does, but about the expression that the user wrote; of a backward pass, the one pulled back."""
    user = user_frame(sys._getframe(1))
    where, passing = (user.f_code, user.f_lasti), ""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not user:
        if frame.f_code is walk.__code__:
            where, passing = frame.f_locals["entry"].where, "the backward pass of "
            break
        frame = frame.f_back
    _, file, line, _ = place(where)
    found = written(where)
    warnings.warn_explicit(
        f"{kind} encountered in {passing}{found[0]:.60}" if found else f"{kind} encountered",
        RuntimeWarning,
        file,
        line,
        module=user.f_globals.get("__name__"),
        registry=user.f_globals.setdefault("__warningregistry__", {}),
    )
