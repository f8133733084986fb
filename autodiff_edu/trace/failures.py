"""The operation that raised an error: an entry that no tape has, and the numbers that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, dropwhile, takewhile
from traceback import walk_tb
from typing import Any, NamedTuple

import numpy as np

from ..core import events
from ..core.active import tick
from ..core.entry import Entry
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..text.failures import explain_mismatch, told
from ..text.fitting import each
from ..text.frames import Where, here, is_ours
from ..text.mismatches import Parts


class FailedOperation(NamedTuple):
    """An operation that has raised an error, which may have been caught since."""

    error: Exception
    operation: Any
    args: Any
    parameters: Any
    where: Where


class Failure(NamedTuple):
    """What a trace keeps of the operation that ended it.

    Attributes
    ----------
    entry : Entry
        As a tape would have recorded it, without an output.
    variables : tuple of Variable
        Its arguments that are variables, as they were.
    mismatch : list of str
        What does not fit, as `mismatches.find_mismatch` says it; empty if that is not known.
    """

    entry: Entry
    variables: tuple[Variable, ...]
    mismatch: Parts


@contextmanager
def note_failures(failed: list[FailedOperation]) -> Iterator[None]:
    """Note the last operation that failed in a `with` block, as the only item of a list."""
    outer = told.get()

    def note(error: Exception, operation: Any, args: Any, parameters: Any) -> None:
        where = here()
        # An error that leaves a function of the user's happened inside it, not in the call.
        if not failed or failed[0].error is not error or failed[0].where == where:
            failed[:] = [FailedOperation(error, operation, args, parameters, where)]
        if outer:
            outer(error, operation, args, parameters)

    token = told.set(note)
    try:
        yield
    finally:
        told.reset(token)


def explain_sequence(error: BaseException) -> str:
    """Return what to write where NumPy says "setting an array element with a sequence"; empty for other errors.

    Where a tensor refused to become a plain number, NumPy says no more than this, and the tensor's error is its cause.
    """
    cause = error.__cause__
    if not (isinstance(cause, TypeError) and str(error).startswith("setting an array element with a sequence")):
        return ""
    files = [frame.f_code.co_filename for frame, _ in walk_tb(cause.__traceback__)]
    if not files or not is_ours[files[-1]]:  # it is Python's, about something else in the list
        return ""
    said = str(cause).partition(": ")[2] or str(cause)  # without the place, which the step has
    return said[0].upper() + said[1:]


def explain_none(error: BaseException, heard: list[events.Event]) -> str:
    """Return why a gradient of the last request is None, if an operator was applied to None; else an empty text."""
    if not isinstance(error, TypeError) or "NoneType" not in str(error):
        return ""
    after = dropwhile(lambda event: not isinstance(event, events.Outcome), reversed(heard))
    last = takewhile(lambda event: isinstance(event, events.Outcome), after)
    causes = [event.causes for event in last if isinstance(event, events.Outcome) and event.result is None]
    said = [cause.text for cause in chain.from_iterable(causes)]
    return f"A gradient that you asked for is None. {said[0]}" if said else ""


def failure_of(failed: FailedOperation) -> Failure:
    """Return what to keep of a failed operation."""
    error, operation, args, parameters, where = failed
    function = operation[0] if isinstance(operation, tuple) else operation
    operands = list(each(args))
    ids = tuple(value._id if isinstance(value, Tensor) else None for value in operands)
    values = tuple(_snapshot(value) for value in operands)
    entry = Entry(function, (ids, tick(), *where), dict(parameters), values, None)
    variables = tuple(value.as_it_is() for value in operands if isinstance(value, Variable))
    return Failure(entry, variables, explain_mismatch(error, operation, args, parameters, where))


def _snapshot(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array
    return value.copy() if isinstance(value, np.ndarray) else value
