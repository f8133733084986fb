"""Writes the lines of a forward pass with tangents: `y_dot` is how `y` moves, as `y_bar` is its cotangent."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ..core.active import only
from ..core.entry import Entry
from ..core.tensor import Tensor, wrap
from ..derivatives.tangents import pushed, shaped
from .combining import expressed
from .operation_log import OperationLog
from .spelling import Text, infix
from .writing import TapeWriter


class TangentWriter:
    """Writes the tangents of a program; a `TapeWriter` writes the other lines.

    The writer's formulas say how far the tangent of argument k moves an output, under the output's id and -1 - k: a
    tree in which `"g"` is that tangent.
    """

    def __init__(self, writer: TapeWriter) -> None:
        self.writer = writer
        self._dots: dict[tuple[int, int], str] = {}  # by pass and id

    def move(self, number: int, tensor: Tensor, tangent: Any) -> None:
        """Write the tangent with which a tensor starts a pass."""
        dot = self._name(number, tensor._id, self.writer.name(tensor._id, tensor._array))
        self.writer.assign(dot, self.writer.value(dot, tangent))

    def push(self, number: int, entry: Entry, tangents: tuple[Tensor | None, ...]) -> None:
        """Write the tangent of an entry's output: the sum of one part for each argument that moves."""
        name = self.writer.entry(entry)
        moving = [(k, tangent._array) for k, tangent in enumerate(tangents) if tangent is not None]
        first, tangent = moving[0]
        stack = tangent.shape[: np.ndim(tangent) - np.ndim(entry.values[first])]
        texts, values = zip(*(self._part(number, entry, k, tangent, stack) for k, tangent in moving), strict=True)
        total = wrap(sum(values[1:], start=values[0]))
        with only(log := OperationLog()):
            settled = shaped(total, entry.output_value, stack)
        added: dict[int | None, Text] = {total._id: reduce(lambda left, right: infix("+", left, right), texts)}
        expression = expressed(self.writer, log.entries, settled, added, total, (settled,), None)
        self.writer.assign(self._name(number, entry.output_id, name), expression, entry.name)

    def _name(self, number: int, id: int, name: str) -> str:
        self._dots[number, id] = self.writer.unique(f"{name}_dot")
        return self._dots[number, id]

    def _part(self, number: int, entry: Entry, k: int, tangent: Any, stack: tuple[int, ...]) -> tuple[Text, Any]:
        """Push the tangent of one argument once more, and write down the operations."""
        g = wrap(tangent)
        texts: dict[int | None, Text] = {g._id: Text(self._dots[number, entry.ids[k]])}
        y, inputs = self.writer.tensors(entry, texts)
        with only(log := OperationLog()):
            part = pushed(entry, k, g, y, inputs, stack)
        known, place = (y, *inputs), (entry.output_id, -1 - k)
        if not isinstance(part, Tensor):
            return expressed(self.writer, [], part, texts, g, known, place), part
        return expressed(self.writer, log.entries, part, texts, g, known, place), part._array
