"""What one entry does to a tangent: the forward rule, taken from the table of backward rules.

No second table is needed. An elementwise rule applied to a tangent is its own forward rule. A linear operation acts on
a tangent as it does on a value. Any other rule is linear in its cotangent, so transposing it (pulling the tangent back
through the rule itself) gives the forward rule. A stack of tangents takes one pass, like a stack of cotangents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.active import now, only
from ..core.entry import Entry
from ..core.rule import RULES, Pull, settle
from ..core.tape import Tape
from ..core.tensor import Tensor, wrap


def pushed(entry: Entry, k: int, tangent: Any, y: Any, values: Any, stack: tuple[int, ...] = ()) -> Any:
    """Return how the output of an entry moves with its argument `k`; None if it does not depend on it smoothly.

    Parameters
    ----------
    entry : Entry
        An entry whose operation has a rule.
    k : int
        The argument that moves.
    tangent : array or Tensor
        Its movement, of shape `stack + shape`.
    y, values : array or Tensor, and a sequence of them
        The output and the arguments, as tensors if the rule's operations are to be recorded.
    stack : tuple
        The leading axis of the tangent, if any.
    """
    rule = RULES[entry.operation]
    pull = rule.pull(k)
    if pull is None:
        return None
    if rule.kind == "elementwise":
        return pull(_aligned(tangent, np.ndim(y), stack), y, *values, **entry.parameters)
    if rule.kind == "linear" and not stack:
        return entry.operation(*values[:k], tangent, *values[k + 1 :], **entry.parameters)
    return _transposed(pull, k, tangent, y, values, entry, stack)


def shaped(tangent: Any, output: Any, stack: tuple[int, ...]) -> Any:
    """Convert a tangent to the shape and dtype of the output that moves."""
    if np.shape(tangent) != stack + output.shape:
        tangent = np.broadcast_to(tangent, stack + output.shape)
    if tangent.dtype.kind == "c" and output.dtype.kind != "c":
        tangent = np.real(tangent)
    return tangent if tangent.dtype == output.dtype else tangent.astype(output.dtype)


def _aligned(tangent: Any, ndim: int, stack: tuple[int, ...]) -> Any:
    """Put axes of length 1 behind the stack, so that broadcasting aligns the rest with an output of `ndim` axes."""
    missing = ndim + len(stack) - np.ndim(tangent)
    return (
        np.reshape(tangent, stack + (1,) * missing + np.shape(tangent)[len(stack) :]) if stack and missing else tangent
    )


def _transposed(pull: Pull, k: int, tangent: Any, y: Any, values: Any, entry: Entry, stack: tuple[int, ...]) -> Any:
    """Pull the tangent back through the rule: a rule is linear in its cotangent, and its transpose is the Jacobian."""
    cotangent = wrap(np.zeros_like(entry.output_value)[()])
    left: list[str] = []

    def see(what: str, *details: Any) -> None:
        if what == "Leave":
            left.append(details[-1])

    hooks = (see,) if RULES[entry.operation].own else ()  # nobody needs to hear how a tangent is found
    failed = found = None
    try:
        with only(*now().listeners, hooks=hooks):
            found = _pulled_back(pull, k, tangent, y, values, entry, stack, cotangent)
    except TypeError as error:
        failed = error
        if not left:
            raise
    if found is None and left:
        raise TypeError(
            f"the rule of {entry.name}, used at {entry.place}, turns the cotangent into plain numbers with {left[0]}, "
            'so no tangent can pass through it. Write the rule with NumPy functions of tensors, or use mode="reverse"'
        ) from failed
    return np.zeros(stack + entry.output_value.shape, entry.output_value.dtype) if found is None else found


def _pulled_back(
    pull: Pull, k: int, tangent: Any, y: Any, values: Any, entry: Entry, stack: tuple[int, ...], cotangent: Any
) -> Any:
    with Tape(persistent=True) as tape:
        tape.watch(cotangent)
        g = np.conjugate(cotangent) if cotangent.dtype.kind == "c" else cotangent
        contribution: Any = pull(g, y, *values, **entry.parameters)
        if isinstance(contribution, Tensor):
            contribution = settle(contribution, values[k])
    found = {}
    if isinstance(contribution, Tensor):  # a rule that ignores its cotangent moves nothing
        found[contribution._id] = tangent
        for _ in tape._walk(found, {cotangent._id}, stack):
            pass
    return found.get(cotangent._id)
