"""What a player does to its cell: it says when drawing takes long, and releases what the cell showed before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol
from weakref import ref

from ..text.ipython import find_shell

LONG = 5_000
"""With more events or steps than this, drawing takes seconds."""


class Shown(Protocol):
    """What a cell shows; once it is no longer shown, it can release memory."""

    def _release(self) -> None:
        """Release what only the page needed."""


_shown: dict[str, tuple[str, list[ref[Shown]]]] = {}
"""By the id of the cell: the execution, and what it has shown."""


def _read_request() -> dict[str, Any]:
    """Return the message that the kernel is answering."""
    kernel = find_shell()
    message: dict[str, Any] = kernel.get_parent() if hasattr(kernel, "get_parent") else {}
    return message


def find_cell_id() -> str:
    """Return the id of the running cell, which JupyterLab sends; elsewhere ""."""
    return str(_read_request().get("metadata", {}).get("cellId") or "")


def release_replaced(shown: Shown) -> None:
    """Release what the same cell showed in an earlier run: ipywidgets and `Out` would keep it as long as the kernel.

    This works only in a frontend that says which cell it runs.
    """
    cell = find_cell_id()
    if not cell:
        return
    execution = _read_request()["header"]["msg_id"]
    before, kept = _shown.get(cell, (execution, []))
    if before != execution:
        for one in [found for each in kept if (found := each()) is not None and found is not shown]:
            one._release()
        kept = []
    _shown[cell] = execution, [*kept, ref(shown)]


@contextmanager
def announce_drawing(count: int, draw: Callable[[], str] = str) -> Iterator[None]:
    """Write in the cell's output how many steps are being drawn, if there are many; remove that afterwards.

    What `draw` returns, as HTML, stands below: a picture that is done before the player is.

    >>> with announce_drawing(3):
    ...     pass
    """
    if count <= LONG or not hasattr(find_shell(), "kernel"):
        yield
        return
    from IPython.display import display

    text = f"Drawing {count:,} steps …"
    handle = display({"text/plain": text, "text/html": f"<p>{text}</p>{draw()}"}, raw=True, display_id=True)
    try:
        yield
    finally:
        handle.update({"text/plain": "", "text/html": ""}, raw=True)
