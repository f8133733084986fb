"""The backward functions of custom gradients in a program: as the expressions they computed, or as calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.entry import Entry
from ..core.rule import settle
from ..core.tensor import wrap
from ..custom.call import Call
from . import combining, formulas
from .expressions import ExpressionWriter
from .spelling import Text


def as_expression(
    writer: ExpressionWriter, number: int, entry: Entry, argument: int, cotangent: Any, noted: list[Entry], value: Any
) -> Text | None:
    """Write what a backward function computed for an argument; None if it is unknown.

    Parameters
    ----------
    writer : ExpressionWriter
        The program.
    number, entry, argument, cotangent
        The backward pass, the call, the argument, and the arriving cotangent.
    noted : list of Entry
        The operations that the function computed.
    value : ndarray or scalar
        What it returned for the argument.
    """
    bar = Text(str(writer.bar(number, entry.output_id)))
    symbols = {entry.output_id: "__y"}
    for k, id in enumerate(entry.ids):
        if id is not None:
            symbols.setdefault(id, formulas.argument(k))
    arrived = {
        id
        for one in noted
        for id, operand in zip(one.ids, one.values, strict=True)
        if id is not None and operand is cotangent
    }
    if value is cotangent:
        writer.formulas.setdefault((entry.output_id, argument), "g")
        return bar
    result = next((one for one in reversed(noted) if one.output_value is value), None)
    if result is None or len(entry.call.outputs) > 1:  # of several outputs, each cotangent is a part of this
        return None
    target = wrap(result.output_value, result.output_id)
    texts: dict[int | None, Text] = dict.fromkeys(arrived, bar)
    expression = combining.combine(writer, noted, target, texts.copy())
    symbols |= dict.fromkeys(arrived, "__g")
    combining.show(writer, (entry.output_id, argument), noted, target, texts, symbols, expression)
    return expression


def as_call(writer: ExpressionWriter, number: int, entry: Entry, argument: int) -> Text:
    """Write a call of the backward function, once for all arguments."""
    key = (number, entry.output_id)
    if key not in writer.answers:
        name = entry.name if entry.name.isidentifier() else writer.computed[entry.output_id]
        backward = writer.name(None, backward_of(entry.call), f"backward_of_{name}")
        writer.answers[key] = writer.unique(f"from_{name}")
        call = Text(f"{backward}({writer.bar(number, entry.output_id)})")
        writer.assign(writer.answers[key], call, f"one part for each of {entry.name}'s arguments")
    writer.formulas.setdefault((entry.output_id, argument), formulas.tree("backward(__g)"))
    return Text(f"{writer.answers[key]}[{argument}]")


def backward_of(call: Call) -> Callable[[Any], list[Any]]:
    """Return the backward function of a custom gradient as a function of plain arrays."""

    def backward(cotangent: Any) -> list[Any]:
        g = np.conjugate(cotangent) if cotangent.dtype.kind == "c" else cotangent
        pairs = zip(call._pull_back(g), call.sources, strict=True)
        return [None if d is None else settle(d, np.zeros(source.shape, source.dtype)[()]) for d, source in pairs]

    return backward
