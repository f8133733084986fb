"""Pushes tangents forward over a tape, with forward rules that are taken from the table of backward rules.

No second table is needed. An elementwise rule applied to a tangent is its own forward rule. A linear operation acts on
a tangent as it does on a value; joining arrays, on the tangents of all of them at once. Any other rule is linear in its
cotangent, so transposing it (pulling the tangent back through the rule itself) gives the forward rule. A stack of
tangents takes one pass, like a stack of cotangents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.active import Hear, Listener, emit, now, only
from ..core.entry import Entry
from ..core.events import Leave, Move, PushForward, Skip
from ..core.reach import between
from ..core.rule import Pull, rule_of, settle
from ..core.tape import Tape
from ..core.tensor import Tensor, apply, as_tensor, wrap
from ..core.walk import is_followed, walk
from ..rules import operations
from ..rules.account import no_rule

JOINING = (operations.concatenate, operations.stack)
"""The operations that are linear in all of their arguments together, though not in each."""


def push_forward(tape: Tape, tangents: dict[int, Any], stack: tuple[int, ...] = (), release: bool = False) -> None:
    """Add the tangent of every output that moves with the sources to `tangents`, which holds those of the sources.

    The entries are walked in the order of recording.

    Parameters
    ----------
    tape : Tape
        Its entries keep their arrays unless `release` is true.
    tangents : dict
        From the id of a tensor to its tangent, of shape `stack + shape`.
    stack : tuple
        The leading axis that every tangent carries, if any.
    """
    if operations.recorder():  # so that all that rules compute is recorded
        tangents.update((id, as_tensor(tangent)) for id, tangent in tangents.items())
    if now().heard[Move]:
        for id, tangent in tangents.items():
            tensor = tape.watched.get(id, (None,))[0]
            emit(Move, tape, wrap(tangent, id) if tensor is None else tensor, as_tensor(tangent))
    for entry in tape.entries[:]:
        moving = {k: tangents[id] for k, id in enumerate(entry.ids) if id in tangents}
        if not moving or entry.output_id not in tape.connected:
            continue
        if rule_of(entry.operation) is None:
            raise no_rule(entry)
        values, y = entry.values, entry.output_value
        if now().followers and (any(isinstance(t, Tensor) for t in moving.values()) or is_followed(entry)):
            values, y = entry.inputs, entry.output
        parts = push_parts(entry, moving, y, values, stack)
        if parts:
            total, *others = parts.values()
            tangents[entry.output_id] = tangent = shaped(sum(others, start=total), entry.output_value, stack)
            if now().heard[PushForward]:
                _emit(tape, entry, moving, parts, tangent, stack)
        if release:
            entry.release()
            values = y = None


def _emit(tape: Tape, entry: Entry, moving: Any, parts: Any, tangent: Any, stack: tuple[int, ...]) -> None:
    with only():  # reshaping a part is bookkeeping, not worth showing
        settled = {k: as_tensor(shaped(part, entry.output_value, stack)) for k, part in parts.items()}
    arrived = tuple(as_tensor(moving.get(k)) if k in parts else None for k in range(len(entry.ids)))
    contributions = tuple(settled.get(k) for k in range(len(entry.ids)))
    emit(PushForward, tape, entry, arrived, contributions, as_tensor(tangent))


def push_parts(
    entry: Entry, moving: dict[int, Any], y: Any, values: Any, stack: tuple[int, ...] = ()
) -> dict[int, Any]:
    """Return how the output of an entry moves with each of the arguments that move, if it does."""
    if entry.call is not None and entry.call.push is not None:
        parts: dict[int, Any] = entry.call.push(moving, stack)
        return parts
    if entry.operation in JOINING and not now().heard[PushForward]:  # it needs one contribution per argument
        return {min(moving): _join(entry, moving, values, stack)}
    found = {k: pushed(entry, k, tangent, y, values, stack) for k, tangent in moving.items()}
    return {k: part for k, part in found.items() if part is not None}


def _join(entry: Entry, moving: dict[int, Any], values: Any, stack: tuple[int, ...]) -> Any:
    """Join the tangents of all arguments, zeros for those at rest: much less work than one argument at a time."""
    dtype, axis = entry.output_value.dtype, entry.parameters.get("axis", 0)
    tangents = [moving[k] if k in moving else np.zeros(stack + np.shape(x), dtype) for k, x in enumerate(values)]
    if stack and axis is None:
        tangents, axis = [np.reshape(t, (*stack, np.size(x))) for t, x in zip(tangents, values, strict=True)], 1
    elif stack and axis >= 0:
        axis += 1
    return entry.operation(*tangents, axis=axis)


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
    if entry.call is not None and entry.call.push is not None:
        return entry.call.push({k: tangent}, stack).get(k)
    rule = rule_of(entry.operation)
    assert rule is not None, "the entry has a rule"
    pull = rule.pull(k)
    if pull is None:
        return None
    if rule.kind == "elementwise":
        return pull(_align(tangent, np.ndim(y), stack), y, *values, **entry.keywords)
    if rule.kind == "linear" and not stack:
        arguments = *values[:k], tangent, *values[k + 1 :]
        if any(isinstance(x, Tensor) for x in arguments):  # `apply`, because an index must stay the array that it is
            return apply(entry.operation, arguments, entry.parameters)
        return entry.operation(*arguments, **entry.parameters)
    return _transpose(pull, k, tangent, y, values, entry, stack)


def shaped(tangent: Any, output: Any, stack: tuple[int, ...]) -> Any:
    """Convert a tangent to the shape and dtype of the output that moves."""
    if np.shape(tangent) != stack + output.shape:
        tangent = np.broadcast_to(tangent, stack + output.shape)
    if tangent.dtype.kind == "c" and output.dtype.kind != "c":
        tangent = np.real(tangent)
    return tangent if tangent.dtype == output.dtype else tangent.astype(output.dtype)


def _align(tangent: Any, ndim: int, stack: tuple[int, ...]) -> Any:
    """Put axes of length 1 behind the stack, so that broadcasting aligns the rest with an output of `ndim` axes."""
    missing = ndim + len(stack) - np.ndim(tangent)
    return (
        np.reshape(tangent, stack + (1,) * missing + np.shape(tangent)[len(stack) :]) if stack and missing else tangent
    )


def _transpose(pull: Pull, k: int, tangent: Any, y: Any, values: Any, entry: Entry, stack: tuple[int, ...]) -> Any:
    """Pull the tangent back through the rule: a rule is linear in its cotangent, and its transpose is the Jacobian."""
    cotangent = wrap(np.zeros_like(entry.output_value)[()])
    left: list[str] = []
    tape = Tape(persistent=True)
    listeners = [one if Entry in one.hears else _without_tape(one, tape) for one in now().listeners]
    if (rule := rule_of(entry.operation)) and rule.own:
        listeners.append(Listener({Leave: lambda event: left.append(event.how)}))
    failed = found = None
    try:
        with only(*listeners):
            found = _pull_back(tape, pull, k, tangent, y, values, entry, stack, cotangent)
    except TypeError as error:
        failed = error
        if not left:
            raise
    if found is None and left:
        raise TypeError(
            f"the rule of {entry.name}, used at {entry.place}, turns the cotangent into plain numbers with {left[0]}, "
            "so no tangent can pass through it. Write the rule with NumPy functions of tensors, or use reverse mode: "
            'ad.grad, ad.vjp or mode="reverse"'
        ) from failed
    return np.zeros(stack + entry.output_value.shape, entry.output_value.dtype) if found is None else found


def _without_tape(listener: Listener, tape: Tape) -> Listener:
    """Return a listener that hears what the user's tapes record, but nothing of the tape that finds a tangent."""

    def skip_tape(hear: Hear) -> Hear:
        return lambda event: None if getattr(event, "tape", None) is tape or type(event) is Skip else hear(event)

    return Listener({kind: skip_tape(hear) for kind, hear in listener.hears.items()})


def _pull_back(
    tape: Tape,
    pull: Pull,
    k: int,
    tangent: Any,
    y: Any,
    values: Any,
    entry: Entry,
    stack: tuple[int, ...],
    cotangent: Any,
) -> Any:
    with tape:
        tape.watch_tensor(cotangent)
        g = np.conjugate(cotangent) if cotangent.dtype.kind == "c" else cotangent
        contribution: Any = pull(g, y, *values, **entry.keywords)
        if isinstance(contribution, Tensor):
            contribution = settle(contribution, values[k])
    found = {}
    if isinstance(contribution, Tensor):  # a rule that ignores its cotangent moves nothing
        found[contribution._id] = tangent
        for one in between(tape.entries, [cotangent._id], [contribution._id]):
            if rule_of(one.operation) is None:
                raise no_rule(one)
        for _ in walk(tape.entries, tape.connected, found, {cotangent._id}, stack):  # tape.walk would notify listeners
            pass
    return found.get(cotangent._id)
