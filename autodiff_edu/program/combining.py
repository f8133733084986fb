"""Combines many operations into one expression: those of a rule, a backward function or an update of a variable."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..core.entry import Entry
from ..core.reach import ahead, behind
from ..core.tensor import Tensor
from . import formulas
from .expressions import ExpressionWriter
from .spelling import INDEXING, Text, contraction

LONG = 64
"""A part of a rule with more characters than this gets a line of its own."""
LONGEST = 110
"""A part of a rule with more characters than this is not shown in a formula, which has only one line."""


def expressed(
    writer: ExpressionWriter,
    entries: list[Entry],
    value: Any,
    texts: dict[int | None, Text],
    g: Tensor,
    known: Any,
    key: Any,
) -> Text:
    """Combine what a rule did to `g` into an expression; with a key, its formula too. `known`: output and arguments."""
    if isinstance(value, Tensor):  # a rule may compute more than its result needs
        entries = behind(entries, {value._id})
    expression = combine(writer, entries, value, texts.copy()) if isinstance(value, Tensor) else None
    expression = expression or writer.operand(None, value)
    symbols = {known[0]._id: "__y", g._id: "__g"}
    for k, tensor in enumerate(known[1:]):
        if isinstance(tensor, Tensor):
            symbols.setdefault(tensor._id, formulas.argument(k))
    if key is not None:
        show(writer, key, entries, value, texts, symbols, expression)
    return expression


def show(
    writer: ExpressionWriter,
    key: tuple[int, int],
    entries: list[Entry],
    value: Any,
    texts: dict[int | None, Text],
    symbols: dict[int, str],
    expression: Text,
) -> None:
    """Build a formula from the operations behind a contribution, or from the last line of the program."""
    if not writer.with_formulas or key in writer.formulas:
        return
    arrived = {id for id, symbol in symbols.items() if symbol == "__g"}
    writer.in_symbols = True
    whole = _in_full(writer, entries, value, symbols, arrived) if isinstance(value, Tensor) else expression
    writer.in_symbols = False
    if whole is not None:
        writer.formulas[key] = formulas.tree(whole.text)
        return
    known = texts | {id: Text(name) for id, name in writer.computed.items() if id in symbols}
    known |= {id: Text(found[1]) for id in symbols if (found := writer.latest(id))}
    named = {known[id].text: symbol for id, symbol in symbols.items() if id in known}
    leaves = ((name, formulas.tree(symbol)) for name, symbol in named.items() if name.isidentifier())
    writer.formulas[key] = formulas.tree(expression.text, tuple(leaves))


def combine(writer: ExpressionWriter, entries: list[Entry], value: Tensor, texts: dict[int | None, Text]) -> Text:
    """Combine operations into one expression; one that is used twice, or is long, gets a line of its own."""
    makers: dict[int | None, Entry] = {entry.output_id: entry for entry in entries}
    leading = behind(entries, {value._id})
    uses = Counter(id for entry in leading for id in entry.ids)
    for entry in leading:
        text = write_operation(writer, entry, makers, texts)
        several = uses[entry.output_id] > 1 and not text.text.isidentifier()
        if (several or len(text.text) > LONG) and entry.output_id != value._id:
            text = Text(writer.part(text))
        texts[entry.output_id] = text
    return texts[value._id] if value._id in texts else writer.operand(value._id, value._array)


def _in_full(
    writer: ExpressionWriter, entries: list[Entry], value: Tensor, symbols: dict[int, str], arrived: set[int]
) -> Text | None:
    """Combine operations into one expression for a formula; None if it is too long to read."""
    texts: dict[int | None, Text] = {id: Text(symbol) for id, symbol in symbols.items()}
    makers: dict[int | None, Entry] = {entry.output_id: entry for entry in entries}
    flowing: set[int | None] = {*arrived, *(entry.output_id for entry in ahead(entries, arrived))}
    for entry in entries:
        kept = formulas.passed_through(entry, flowing, last=entry.output_id == value._id)
        if kept is None:
            text = write_operation(writer, entry, makers, texts)
        else:
            text = texts.get(entry.ids[kept]) or writer.operand(entry.ids[kept], entry.values[kept])
        if len(text.text) > LONGEST:
            return None
        texts[entry.output_id] = text
    return texts[value._id] if value._id in texts else writer.operand(value._id, value._array)


def write_operation(
    writer: ExpressionWriter, entry: Entry, makers: dict[int | None, Entry], texts: dict[int | None, Text]
) -> Text:
    """Write an operation of a rule, applied to the text of its arguments."""
    parts = []
    for k, (id, operand) in enumerate(zip(entry.ids, entry.values, strict=True)):
        if id not in texts:
            indexes = entry.name in INDEXING and k == 1
            known = id in writer.computed or writer.latest(id) is not None
            parts.append(writer.operand(id if known else None, operand, index=indexes))
        else:
            parts.append(texts[id])
    if entry.operation is np.broadcast_to and np.shape(entry.values[0]) == np.shape(entry.output_value):
        return parts[0]
    if entry.operation is np.broadcast_to and (inner := _unpadded(makers.get(entry.ids[0]))) is not None:
        parts[0] = texts.get(inner.ids[0]) or writer.operand(inner.ids[0], inner.values[0])
    if entry.operation is np.einsum and (subscripts := contraction(*entry.values)):
        terms, _, output = subscripts.partition("->")
        return parts[1] if terms == output else writer.expression(entry, [Text(repr(subscripts)), *parts[1:]])
    return writer.expression(entry, parts)


def _unpadded(entry: Entry | None) -> Entry | None:
    """Find a reshaping that only puts axes of length 1 in front, as broadcasting does by itself."""
    if entry is None or entry.operation is not np.reshape:
        return None
    before, after = np.shape(entry.values[0]), np.shape(entry.output_value)
    return entry if after == (1,) * (len(after) - len(before)) + before else None
