"""A listener that hears everything a rule computes, so that it can be written down."""

from __future__ import annotations

from typing import Any

from ..core.entry import Entry


class Everything:
    """A listener that keeps every operation, on any values."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def __call__(self, entry: Entry, inputs: tuple[Any, ...]) -> None:
        """Keep an entry; handing over plain numbers is not an operation."""
        if entry.values is not None:
            self.entries.append(entry.copy())  # a tape inside a rule may claim this one, and release it

    def follows(self, ids: Any) -> bool:
        """Return True: rules must run on tensors to be heard."""
        return True

    def guard(self, tensor: Any, check: Any) -> Any:
        """Allow plain numbers: objecting is up to a tape."""
        return check
