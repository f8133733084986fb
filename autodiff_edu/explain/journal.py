"""The journal: what was computed recently, on a tape or not, as entries without their arrays.

A tape holds only what it follows. To say why a gradient is None, `explain` must also know what was computed while no
tape was recording. So the journal listens in every thread, and keeps a line for each of the latest operations.

>>> import autodiff_edu as ad
>>> x = ad.constant(3.0)
>>> y = x * 2.0
>>> line = journal.lines()[-1]
>>> line.name, line.ids == (x._id, None), line.output_id == y._id
('multiply', True, True)
"""

from __future__ import annotations

from collections import deque
from threading import get_ident
from typing import Any

from ..core.active import tick
from ..core.entry import Entry

KEPT = 20_000


class Line(Entry):
    """An entry without arrays, with the time and the thread in which it was computed.

    If it is not an operation, `operation` is a word: "made" (a tensor), "assign", "gradient" and its kind, or how a
    tensor's numbers were read, such as "numpy()"; then `output_id` is `PLAIN`.
    """

    __slots__ = ("thread", "time")

    def __init__(self, operation: Any, line: tuple[Any, ...], thread: int, time: int | None = None) -> None:
        super().__init__(operation, line, {}, None, None)
        self.thread, self.time = thread, self.output_id if time is None else time


class Journal:
    """Remembers the latest operations of all threads; its method `hear` is the listener."""

    def __init__(self, kept: int = KEPT) -> None:
        self._lines: deque[tuple[Any, ...]] = deque(maxlen=kept)
        self._keep = self._lines.append

    def hear(self, entry: Entry, inputs: tuple[Any, ...]) -> None:
        """Keep an entry without its arrays; and the time, if it is not an operation."""
        kept = (entry.operation, entry.line, get_ident())
        self._keep(kept if entry.values is not None else (*kept, tick()))

    def lines(self) -> list[Line]:
        """Return the lines that are kept, oldest first."""
        return [Line(*kept) for kept in tuple(self._lines)]

    def clear(self) -> None:
        """Forget every line."""
        self._lines.clear()


journal = Journal()
"""The journal of this process; the package's `__init__` lets it listen."""
