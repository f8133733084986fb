"""Finds where NumPy broadcast an argument, and the argument's contribution before it was summed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.entry import Entry
from ..core.rule import rule_of
from ..core.tensor import Tensor


def is_copied(entry: Entry, argument: int) -> bool:
    """Return whether an argument was copied to the shape of the output; numbers in the code do not count.

    >>> import autodiff_edu as ad
    >>> b = ad.Variable([1.0, 2.0])
    >>> with ad.GradientTape() as tape:
    ...     y = np.ones((3, 2)) + b
    >>> [is_copied(tape.entries[0], argument) for argument in (0, 1)]
    [False, True]
    """
    operation = entry.operation
    if entry.values is None or not isinstance(operation, np.ufunc) or operation.signature is not None:
        return False
    value = entry.values[argument]
    if entry.ids[argument] is None and np.size(value) == 1:
        return False
    known = isinstance(value, np.ndarray | np.generic) and isinstance(entry.output_value, np.ndarray)
    return bool(known and value.shape != entry.output_value.shape)


def unfold(entry: Entry, argument: int, cotangent: Any, contribution: Any) -> Any:
    """Return a contribution as the rule returned it, in the shape of the output; None if nothing was summed.

    The rule is applied once more, so that the walk does not have to keep what is rarely needed.
    """
    rule = rule_of(entry.operation)
    if rule is None or rule.own or not is_copied(entry, argument):
        return None
    given, sent = (value._array if isinstance(value, Tensor) else value for value in (cotangent, contribution))
    pull = rule.pull(argument)
    if pull is None or not isinstance(given, np.ndarray | np.generic) or given.dtype.kind == "c":
        return None
    with np.errstate(all="ignore"):
        whole = pull(given, entry.output_value, *entry.values, **entry.parameters)
    return whole if np.shape(whole) != np.shape(sent) else None
