"""The values of operations that no tape recorded, where they can still be found.

A tape has the arrays of what it recorded; the journal has none. The missing ones follow from the arrays of the tape,
from the target and the source, and from the numbers in the code.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

import numpy as np

from ..core.active import only
from ..core.entry import Entry
from ..text.places import expression, written
from .flow import Flow
from .journal import ASSIGN

LARGEST = 10_000
"""An operation on an array with more elements than this is not computed again."""


class KnownValues:
    """The values of tensors, by their ids, as a flow knows them; ask about entries in the order in which they ran."""

    def __init__(self, flow: Flow) -> None:
        self._known: dict[int, Any] = {}
        assigned = {line.output_id for line in flow.kept if line.operation == ASSIGN}
        for entry in flow.tape.entries:
            if entry.values is not None:
                pairs = [*zip(entry.ids, entry.values, strict=True), (entry.output_id, entry.output_value)]
                self._known |= {id: value for id, value in pairs if id is not None}
        self._known |= {tensor._id: tensor._array for tensor in (*flow.targets, flow.source)}
        for id in assigned:  # its value may have been different at the time
            self._known.pop(id, None)

    def fill_in(self, entry: Entry) -> Entry:
        """Return an entry with its output, if that is known, and its values, if they are known too."""
        if entry.values is not None:
            return entry
        values = self._find_values(entry)
        output = self._known.get(entry.output_id)
        if output is None and values is not None:
            output = self._known[entry.output_id] = _compute(entry, values)
        complete = values if output is not None else None
        return Entry(entry.operation, entry.line, entry.parameters, complete, output)

    def _find_values(self, entry: Entry) -> tuple[Any, ...] | None:
        """List the values of an entry's arguments; None if one is unknown, or the journal has not kept them all."""
        node, found = expression(entry.where), written(entry.where)
        if found is None or found[1] not in (None, entry.name) or (isinstance(node, ast.Call) and node.keywords):
            return None
        nodes = found[2]
        if len(nodes) != len(entry.ids):
            return None
        values = []
        for id, argument in zip(entry.ids, nodes, strict=True):
            value = self._known.get(id) if id is not None else _read_number(argument)
            if value is None:
                return None
            values.append(value)
        return tuple(values)


def _read_number(node: ast.expr) -> Any:
    with suppress(ValueError):
        value = ast.literal_eval(node)
        return value if isinstance(value, int | float | complex) else None
    return None


def _compute(entry: Entry, values: tuple[Any, ...]) -> Any:
    """Compute an operation of NumPy again; return None for any other, for large arrays, and if it fails."""
    operation: Any = getattr(np, entry.name, None)
    if operation is not entry.operation or any(np.size(value) > LARGEST for value in values):
        return None
    with suppress(Exception), only(), np.errstate(all="ignore"):
        return operation(*values)
    return None
