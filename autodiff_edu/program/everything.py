"""A listener that hears all that a rule computes, so that it can be written down."""

from __future__ import annotations

from typing import Any

from ..core.entry import Entry


class Everything:
    """A listener that keeps every operation, whatever it computes with."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def __call__(self, entry: Entry, inputs: tuple[Any, ...]) -> None:
        """Keep an entry; what is handed over as plain numbers is not an operation."""
        if entry.values is not None:
            self.entries.append(entry.copy())  # a tape inside of a rule may claim this one, and release it

    def follows(self, ids: Any) -> bool:
        """Return True: rules are to be computed on tensors, so that they are heard."""
        return True

    def guard(self, tensor: Any, check: Any) -> Any:
        """Leave it to a tape to object to plain numbers."""
        return check
