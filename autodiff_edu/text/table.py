"""The table of a tape's entries that `print(tape)` shows."""

from __future__ import annotations

from typing import Any

from .formatting import short_value
from .labels import labels_of


def table_of(tape: Any) -> str:
    """Write the entries of a tape as a table, one line for each."""
    labels = labels_of(tape)
    rows = [("#", "line", "entry", "value")]
    for number, entry in enumerate(tape.entries, 1):
        value = "released" if entry.values is None else short_value(entry.output_value)
        text = f"{labels[entry.output_id]} = {labels.text(entry)}"
        rows.append((str(number), str(entry.place), text, value))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = [f"{a:>{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
    return "\n".join(lines)
