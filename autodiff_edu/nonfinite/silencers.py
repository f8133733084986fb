"""What sends the cotangent 0 to an element: 0 times a derivative that is not finite is nan, so it is half of the cause.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable([0.0, 1.0])
>>> with ad.GradientTape() as tape, np.errstate(all="ignore"):
...     y = np.where(x > 0, np.sqrt(x), 0.0)
>>> tape.first_nonfinite(y, x).account.splitlines()[-1]
'The where in doctest, line 2 does not take this element: that is why the cotangent is 0. But 0 times inf is nan.'
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays.broadcasting import unbroadcast
from ..core.reach import ahead
from ..core.rule import RULES, runs_code, settle
from ..rules.operations import clip
from ..text.places import names
from .origin import is_elementwise

if TYPE_CHECKING:
    from ..core.entry import Entry
    from ..derivatives.steps import Step


class Silencer(NamedTuple):
    """The entry that sends the cotangent 0, and the argument that it sends it to.

    `is_aligned` says whether that argument has the elements of the silenced output, each in its place.
    """

    entry: Entry
    argument: int
    is_aligned: bool


PICKING = {np.where, np.maximum, np.minimum, np.fmax, np.fmin, clip, np.max, np.min}
"""Operations that pass some elements on and drop the others."""


def silencer(step: Step, steps: list[Step], index: tuple[int, ...] | None) -> Silencer | None:
    """Find the step that set the cotangent that arrives at `step` to 0, at one element or (for None) anywhere.

    From the output of an entry to an argument of the next, `silent` marks the elements that got the 0.
    """
    silent = np.asarray(step.cotangent) == 0
    if index is not None:
        silent = silent & _mark(index, silent.shape)
    id, is_aligned = step.entry.output_id, True
    for entry, cotangent, contributions in reversed(list(takewhile(lambda other: other is not step, steps))):
        argument = next((sent.argument for sent in contributions if sent.id == id), None)
        if argument is None:
            continue
        if not silent.any():
            return None
        arrived = np.asarray(cotangent)
        known = not runs_code(entry.operation)  # never run the user's code again
        if known and (silent & _drops(entry, argument, arrived)).any():
            return Silencer(entry, argument, is_aligned)
        silent = (arrived == 0) & (_spread_marks(entry, argument, silent) if known else True)
        id, is_aligned = entry.output_id, is_aligned and known and _keeps_places(entry, argument)
    return None


def silencing_where(entry: Entry, entries: Iterable[Entry], index: tuple[int, ...] | None) -> Silencer | None:
    """Return the `np.where` that alone uses an entry's result, directly or element by element, if it leaves some out.

    What it leaves out is the element at `index` of the result or, for None, any. This needs no backward pass: at a step
    of a trace, the pass may still be to come.
    """
    is_aligned, made, shape = True, entry, np.shape(entry.output_value)
    marks = np.True_ if index is None else _mark(index, shape)
    later_on = ahead(entries, {entry.output_id})
    for later in later_on:
        if made.output_id not in later.ids:
            continue
        if sum(made.output_id in other.ids for other in later_on) > 1:
            return None  # what else uses it would get the number put in its place
        argument = later.ids.index(made.output_id)
        marks = np.broadcast_to(marks, np.shape(later.output_value)) if is_elementwise(later) else marks
        if later.operation is np.where and argument:
            taken = marks & (np.asarray(later.values[0], bool) == (argument == 1))
            if not (np.all(taken) if index is None else np.any(taken)):
                return Silencer(later, argument, is_aligned)
        if not is_elementwise(later):
            return None
        is_aligned, made = is_aligned and np.shape(later.output_value) == shape, later
    return None


def explain_zero(entry: Entry) -> str:
    """Return why an entry sends the cotangent 0 to an element."""
    rule, called = RULES[entry.operation], names(entry.where).function or entry.name  # np.nansum computes a where
    if entry.name == "getitem":
        return f"The indexing in {entry.place} leaves this element out"
    if entry.operation in PICKING:
        return f"The {called} in {entry.place} does not take this element"
    if entry.operation is np.multiply:
        return f"The multiply in {entry.place} multiplies it by 0"
    if rule.kind == "linear" and len(rule.pulls) == 1:
        return f"The {called} in {entry.place} leaves this element out"
    return f"The {called} in {entry.place} has the derivative 0 there"


def _mark(index: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    mark = np.zeros(shape, bool)
    mark[index] = True
    return mark


def _uneven(shape: tuple[int, ...]) -> Any:
    """Return positive numbers that do not cancel in sums and differences, as ones would."""
    return np.sqrt(np.arange(2.0, 2.0 + np.prod(shape, dtype=int))).reshape(shape)


def _drops(entry: Entry, argument: int, cotangent: Any) -> Any:
    """Mark the argument's elements to which an entry sends 0 where a cotangent other than 0 arrives."""
    rule, output, value = RULES[entry.operation], entry.output_value, entry.values[argument]
    pull = rule.pull(argument)
    assert pull is not None
    g = _uneven(np.shape(output)).astype(output.dtype)[()]
    unused = np.asarray(settle(pull(g, output, *entry.values, **entry.parameters), value)) == 0
    if rule.kind == "linear":
        return unused  # whatever arrives, none of it is for these elements
    alive = cotangent != 0
    return unused & (unbroadcast(alive * 1.0, value.shape, 0) > 0 if rule.kind == "elementwise" else alive.any())


def _spread_marks(entry: Entry, argument: int, marks: Any) -> Any:
    """Mark the elements of an entry's output that marked elements of an argument contribute to; if in doubt, all."""
    kind = RULES[entry.operation].kind
    if kind == "elementwise":
        return np.broadcast_to(marks, np.shape(entry.output_value))
    return _apply(entry, argument, marks * _uneven(np.shape(marks))) != 0 if kind == "linear" else np.True_


def _keeps_places(entry: Entry, argument: int) -> bool:
    """Return whether the output has the elements of an argument, each in its place."""
    kind, numbers = RULES[entry.operation].kind, _uneven(np.shape(entry.values[argument]))
    if kind == "elementwise":
        return bool(numbers.shape == np.shape(entry.output_value))
    return kind == "linear" and np.array_equal(_apply(entry, argument, numbers), numbers)


def _apply(entry: Entry, argument: int, numbers: Any) -> Any:
    """Apply a linear operation to other numbers in place of an argument."""
    before, after = entry.values[:argument], entry.values[argument + 1 :]
    return np.asarray(entry.operation(*before, numbers, *after, **entry.parameters))
