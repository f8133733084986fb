"""A listener that hears everything a rule computes, so that it can be written down."""

from __future__ import annotations

from typing import Any

from ..core.active import Follower
from ..core.entry import Entry


class OperationLog(Follower):
    """A listener that keeps every operation, on any values."""

    def __init__(self) -> None:
        super().__init__({Entry: self._keep})
        self.entries: list[Entry] = []

    def _keep(self, entry: Entry) -> None:
        self.entries.append(entry.copy())  # a tape inside a rule may keep the original, and release it

    def follows(self, ids: Any) -> bool:
        """Return True: rules must run on tensors to be heard."""
        return True
