"""The backward functions of custom gradients in a program: as the expressions they computed, or as calls."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ..core.entry import Entry
from ..core.rule import settle
from ..core.tensor import wrap
from ..custom.call import Call
from . import combining, formulas
from .expressions import ExpressionWriter
from .spelling import Text, same


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
    arrived = _find_arrived(entry, noted, cotangent)
    if value is cotangent:
        writer.formulas.setdefault((entry.output_id, argument), "g")
        return bar
    result = next((one for one in reversed(noted) if one.output_value is value), None)
    if result is None or arrived is None:
        return None
    target = wrap(result.output_value, result.output_id)
    texts: dict[int | None, Text] = {id: Text(bar.text + part) for id, part in arrived.items()}
    expression = combining.combine(writer, noted, target, texts.copy())
    symbols |= {id: f"__g{part}" for id, part in arrived.items()}
    combining.show(writer, (entry.output_id, argument), noted, target, texts, symbols, expression)
    return expression


def _find_arrived(entry: Entry, noted: list[Entry], cotangent: Any) -> dict[int, str] | None:
    """Find the tensors that a backward function was called with, each with the part of the cotangent that it has.

    Where there are several outputs they are known by their numbers, if no two have the same; None if they are not.
    """
    operands = {id: operand for one in noted for id, operand in zip(one.ids, one.values, strict=True) if id is not None}
    smooth = [output for output in entry.call.outputs if output.dtype.kind in "fc"]
    if len(smooth) == 1:
        return {id: "" for id, operand in operands.items() if operand is cotangent}
    parts, start = dict[str, Any](), 0
    for shape, dtype in smooth:
        stop = start + prod(shape)
        parts[f"[{start}:{stop}]" if shape else f"[{start}]"] = cotangent[start:stop] if shape else cotangent[start]
        if len(shape) > 1 or dtype != cotangent.dtype or dtype.kind == "c":
            return None
        start = stop
    if any(same(one, other) for one, other in combinations(parts.values(), 2)) or cotangent.ndim > 1:
        return None
    computed = {one.output_id for one in noted}
    given = {id: operand for id, operand in operands.items() if id > entry.output_id and id not in computed}
    return {id: text for id, operand in given.items() for text, part in parts.items() if same(operand, part)}


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
