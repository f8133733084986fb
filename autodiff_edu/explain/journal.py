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

from ..core.active import Listener, tick
from ..core.entry import PLAIN, Entry
from ..core.events import Assign, Make, Outcome, Read
from ..core.tensor import Tensor
from ..text.frames import here

KEPT = 20_000

MADE, ASSIGN, INT, FORMAT, DECISIONS = "made", "assign", "int()", "format()", ("bool()", "index()")
"""Words in place of an operation that `explain` treats in their own way. A decision hands over no numbers."""


class JournalLine(Entry):
    """An entry without arrays, with the time and the thread in which it was computed.

    If it is not an operation, `operation` is a word: "made" (a tensor), "assign", "gradient" and its kind, or how a
    tensor's numbers were read, such as "numpy()"; then `output_id` is `PLAIN`.
    """

    __slots__ = ("thread", "time")

    def __init__(self, operation: Any, line: tuple[Any, ...], thread: int, time: int | None = None) -> None:
        super().__init__(operation, line, {}, None, None)
        self.thread, self.time = thread, self.output_id if time is None else time


class Journal(Listener):
    """Remembers the latest operations of all threads, and what else happened to their tensors."""

    def __init__(self, kept: int = KEPT) -> None:
        super().__init__(
            {Entry: self._compute, Make: self._make, Read: self._read, Assign: self._assign, Outcome: self._answer}
        )
        self._lines: deque[tuple[Any, ...]] = deque(maxlen=kept)
        self._keep = self._lines.append

    def _compute(self, entry: Entry) -> None:
        self._keep((entry.operation, entry.line, get_ident()))

    def _make(self, event: Make) -> None:
        self._note(MADE, (_id(event.source),), event.tensor._id)

    def _read(self, event: Read) -> None:
        self._note(event.how, (event.tensor._id,), PLAIN)

    def _assign(self, event: Assign) -> None:
        self._note(ASSIGN, (_id(event.source),), event.variable._id)

    def _answer(self, event: Outcome) -> None:
        if event.result is not None:
            ids = (*(target._id for target in event.targets), event.source._id)
            self._note(event.word, ids, event.result._id)

    def _note(self, word: str, ids: tuple[int, ...], output_id: int) -> None:
        self._keep((word, (ids, output_id, *here(2)), get_ident(), tick()))

    def lines(self) -> list[JournalLine]:
        """Return the lines that are kept, oldest first."""
        return [JournalLine(*kept) for kept in tuple(self._lines)]

    def clear(self) -> None:
        """Forget every line."""
        self._lines.clear()


def _id(value: Any) -> int:
    return value._id if isinstance(value, Tensor) else PLAIN


journal = Journal()
"""The journal of this process; the package's `__init__` lets it listen."""
