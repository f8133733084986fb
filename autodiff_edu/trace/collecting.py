"""Writing a large document without Python's search for garbage, which would go through all of it again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Put the collection of garbage off until the block ends.

    Whatever is made while a document is written is part of it, so there is nothing to collect, and looking for it
    takes a third of the time.

    >>> import gc
    >>> with without_collecting():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
