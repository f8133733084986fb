"""NumPy's warnings about numbers, such as a division by zero, at the reader's line and not at ours.

NumPy warns about the Python line that called it, which for a tensor is in this package. While a trace runs, it calls
`warn` instead, which costs nothing where nothing is wrong.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..text.frames import user_frame
from ..text.places import written


@contextmanager
def warn_at_the_line() -> Iterator[None]:
    """Place NumPy's warnings about numbers at the user's line, in a `with` block."""
    modes: dict[str, Any] = {kind: "call" for kind, how in np.geterr().items() if how == "warn"}
    if not modes:
        yield
        return
    with np.errstate(call=warn, **modes):
        yield


def warn(kind: str, flag: int) -> None:
    """Warn as NumPy does, but about the expression that the user wrote."""
    frame = user_frame(sys._getframe(1))
    found = written((frame.f_code, frame.f_lasti))
    warnings.warn_explicit(
        f"{kind} encountered in {found[0]:.60}" if found else f"{kind} encountered",
        RuntimeWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
