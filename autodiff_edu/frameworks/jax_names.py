"""Names from the user's code for what JAX's equations compute."""

from __future__ import annotations

import sys
from collections import defaultdict
from itertools import groupby
from typing import Any

from ..core.entry import Entry
from ..text.frames import Where
from ..text.places import list_assigned, names, position_of
from ..text.source_code import SourceCode, source_of, span
from ..text.statements import is_theirs
from ..trace.foreign import ForeignOperation
from ..trace.trace import Trace


class Operation(ForeignOperation):
    """One of JAX's operations, and the places in the user's code that it comes from, from the inside out.

    The names around the innermost are not those of an operation that is a part of what is written there.
    """

    is_part = False
    places: list[Where | None]


DIFFERENTIATION = {"jacfun", "jvp", "linearize", "value_and_grad_f", "vjp"}
"""JAX's functions that call the user's to differentiate it, as a traceback has them."""


def find_places(equation: Any) -> list[Where | None]:
    """Return where in the user's code an equation comes from: the innermost place, and the calls that led there.

    There are none for the equations of a function of JAX's own that JAX has compiled, no matter who calls it. None
    stands for JAX's differentiation of what comes before it: that may compute a derivative of what is written there.
    """
    traceback, frame, running = equation.source_info.traceback, sys._getframe().f_back, set()
    while frame is not None:  # what called ad.play is not part of the function
        running.add((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    frames = zip(*traceback.raw_frames(), strict=True) if traceback else ()
    theirs = [(place, is_theirs[place[0].co_filename]) for place in frames if place not in running]
    return [place if known else None for place, known in theirs if known or place[0].co_name in DIFFERENTIATION]


def name_results(trace: Trace, entries: list[Entry], kept: set[int]) -> None:
    """Name what an expression computes in several operations, or a function in several lines, after the code.

    An expression's value is the only result in it that is used elsewhere; `kept` has the ids of the function's own.
    Where JAX differentiates it inside, it is an operation that stands alone: the others may compute its derivative.
    """
    paths, plain, users = {}, {}, defaultdict(set)  # from the outside in; and how many are around a differentiation
    for entry in entries:
        path = entry.operation.places[::-1]
        around = path[: path.index(None)] if None in path else path
        plain[entry.output_id] = len(around)
        entry.operation.is_part = backward = around != path and "transpose" in trace.scopes[entry.output_id]
        paths[entry.output_id] = around if backward else [*filter(None, path)]
        for used in entry.ids:
            users[used].add(entry.output_id)
    for depth in range(max(map(len, paths.values()), default=0), 0, -1):
        for path, together in groupby(entries, key=lambda entry: paths[entry.output_id][:depth]):
            if len(path) < depth:
                continue
            group, place = [*together], path[-1]
            here = [entry for entry in group if len(paths[entry.output_id]) == depth]
            clear = len(group) == 1 or depth <= plain[group[0].output_id]
            written, name = names(place), source_of(place[0].co_filename).read(_names_at).get(position_of(*place))
            kinds = {entry.name for entry in group}
            alone = here == group and len(kinds) == 1 and written.arguments and written.function in (None, *kinds)
            if clear and alone and (not written.function or len(written.arguments) == len(group[0].ids)):
                continue  # the expression is this operation, so its names are right
            inside = {entry.output_id for entry in group}
            values = [one for one in inside if one in kept or users[one] - inside]
            if clear and name and len(values) == 1:
                trace.assigned.setdefault(values[0], name)
            for entry in here:
                entry.operation.is_part = True
                if written.function and len(group) > 1:
                    trace.scopes[entry.output_id] += (written.function,)


def _names_at(source: SourceCode) -> dict[Any, str]:
    """Map the position of each expression in a source that is assigned to a name to that name."""
    return {span(value): target.id for node in source.nodes for target, value in list_assigned(node)}
