"""What the backward functions of custom gradients did: recorded by the trace while they ran, so nothing runs twice."""

from __future__ import annotations

import ast
import dis
from types import CodeType
from typing import Any, NamedTuple

from ..core import events
from ..core.entry import Entry
from ..core.rule import kind_of
from ..text.frames import Where, is_ours
from ..text.places import expression, position_of
from ..text.statements import written_as


class BackwardCall(NamedTuple):
    """How a backward function came to a contribution.

    `noted` are the operations it computed, `result` the one that produced the contribution, if any, and `where` is the
    expression in the user's code, or the `return`.
    """

    noted: list[Entry]
    result: Entry | None
    where: Where | None

    def quote(self) -> str | None:
        """Return the expression as in the user's code, if it is short."""
        node: ast.AST | None = None if self.where is None else expression(self.where)
        if isinstance(node, ast.Return):
            node = node.value
        plain = isinstance(node, ast.expr) and not isinstance(node, ast.Tuple)
        return (written_as(node) if plain and node is not None else "") or None


def backward_calls(source: Any) -> dict[int, BackwardCall]:
    """Map the id of an accumulation to what a user's backward function computed for it.

    Parameters
    ----------
    source : Trace
        The trace, with the operations heard meanwhile.
    """
    found: dict[int, BackwardCall] = {}
    pulled: dict[tuple[int, int], int] = {}  # how much the trace had heard
    for happening in source.happenings:
        event = happening.event
        if not isinstance(event, events.PullBack | events.Accumulate):
            continue
        if kind_of(event.entry.operation) != "custom" or event.entry.call is None:
            continue
        code = getattr(event.entry.call.backward, "__code__", None)
        if code is not None and is_ours[code.co_filename]:
            continue  # our own function
        key = (id(event.tape), event.entry.output_id)
        if isinstance(event, events.PullBack):
            pulled[key] = happening.mark
        elif key in pulled:
            heard = source.heard[pulled[key] : happening.mark]
            noted = [one for one in heard if isinstance(one, Entry)]
            value = event.value._array
            result = next((entry for entry in reversed(noted) if entry.output_value is value), None)
            where = result.where if result else _find_return(event.entry.call.backward)
            found[id(event)] = BackwardCall(noted, result, where)
    return found


def _find_return(function: Any) -> Where | None:
    """Find the last `return` of a function, or the last operation of a lambda, whose return has no columns."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        return None
    for one in reversed(list(dis.get_instructions(code))):
        _, _, start, end = position_of(code, one.offset)
        if start != end:
            return code, one.offset
    return None
