"""Push tangents forward over a tape: how every entry's output moves when the watched tensors move.

The entries are walked in the order in which they were recorded, and no second table of rules is needed: an elementwise
rule applied to a tangent is its own forward rule, a linear operation carries a tangent as it carries a value, and any
other rule is linear in its cotangent, so that transposing it (pulling the tangent back through the rule itself)
gives the forward rule. A stack of tangents is carried in one pass, like a stack of cotangents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.structures import flatten_like, rebuild
from ..core.active import now, only
from ..core.entry import Entry
from ..core.rule import RULES, Pull, settle
from ..core.tape import Tape
from ..core.tensor import Tensor, as_tensor, wrap
from ..core.walk import is_followed
from ..derivatives.jacobians import LARGEST_STACK
from ..derivatives.requests import as_constant, tensors_of
from ..rules.account import no_rule
from .run import Function, run


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the value of `f` and its derivative along the tangents, in one forward pass.

    Parameters
    ----------
    f : callable
        Of the primals.
    primals, tangents : tuple of array_like, or of structures of arrays
        One tangent per primal, of its shape.

    Returns
    -------
    value, tangent : Tensor, or structures of them

    Raises
    ------
    ValueError
        If the tangents do not match the primals.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.jvp(lambda x: x**3, (2.0,), (1.0,))
    (Tensor(8.), Tensor(12.))
    """
    check_tuples(primals, tangents, "jvp(f, (x,), (v,))")
    tape, value, sources = run(f, primals, {}, tuple(range(len(primals))))
    moved = _tangents(sources, tangents)
    push_forward(tape, moved, release=True)
    return value, rebuild(value, iter([_moved(target, moved) for target in tensors_of(value, "value")]))


def push_forward(tape: Tape, tangents: dict[int, Any], stack: tuple[int, ...] = (), release: bool = False) -> None:
    """Add to `tangents`, which holds those of the sources, the tangent of every output that moves with them.

    Parameters
    ----------
    tape : Tape
        Its entries are kept as they are, unless `release` says that they may let go of their arrays.
    tangents : dict
        From the identity of a tensor to its tangent, of shape `stack + shape`.
    stack : tuple
        The leading axis that every tangent carries, if any.
    """
    for entry in tape.entries[:]:
        moving = [(k, tangents[id]) for k, id in enumerate(entry.ids) if id in tangents]
        if not moving or entry.output_id not in tape._connected:
            continue
        rule = RULES.get(entry.operation)
        if rule is None:
            raise no_rule(entry)
        values, y = entry.values, entry.output_value
        if now().followers and (any(isinstance(t, Tensor) for _, t in moving) or is_followed(entry)):
            values, y = entry.inputs, entry.output
        parts = []
        for k, tangent in moving:
            pull = rule.pull(k)
            if pull is None:
                continue
            if rule.kind == "elementwise":
                parts.append(pull(_aligned(tangent, np.ndim(y), stack), y, *values, **entry.parameters))
            elif rule.kind == "linear" and not stack:
                moved = (*values[:k], tangent, *values[k + 1 :])
                parts.append(entry.operation(*moved, **entry.parameters))
            else:
                parts.append(_transposed(pull, k, tangent, y, values, entry, stack))
        if parts:
            total = sum(parts[1:], start=parts[0])
            tangents[entry.output_id] = _shaped(total, entry.output_value, stack)
        if release:
            entry.release()
            values = y = None


def by_columns(tape: Tape, value: Any, source: Tensor) -> Tensor:
    """Return the Jacobian with respect to one source: push one-hot tangents forward, in stacks that fit."""
    size = int(source.size)
    one_hot = np.eye(size, dtype=source.dtype).reshape((size, *source.shape))
    largest = max([source._array.nbytes, *(e.output_value.nbytes for e in tape.entries)])
    chunk = max(1, LARGEST_STACK // max(largest * max(len(tape.entries), 1), 1))
    parts = []
    for start in range(0, max(size, 1), chunk):
        stack = one_hot[start : start + chunk]
        moved = {source._id: stack}
        push_forward(tape, moved, (len(stack),))
        parts.append(moved.get(value._id, np.zeros((len(stack), *value.shape), value.dtype)))
    columns = np.moveaxis(np.concatenate(parts) if len(parts) > 1 else parts[0], 0, -1)
    return as_tensor(np.reshape(columns, value.shape + source.shape).astype(source.dtype))


def _aligned(tangent: Any, ndim: int, stack: tuple[int, ...]) -> Any:
    """Put axes of length 1 behind the stack, so that broadcasting aligns the rest with an output of `ndim` axes."""
    missing = ndim + len(stack) - np.ndim(tangent)
    return (
        np.reshape(tangent, stack + (1,) * missing + np.shape(tangent)[len(stack) :]) if stack and missing else tangent
    )


def _shaped(tangent: Any, output: Any, stack: tuple[int, ...]) -> Any:
    if np.shape(tangent) != stack + output.shape:
        tangent = np.broadcast_to(tangent, stack + output.shape)
    if tangent.dtype.kind == "c" and output.dtype.kind != "c":
        tangent = np.real(tangent)
    return tangent if tangent.dtype == output.dtype else tangent.astype(output.dtype)


def _transposed(pull: Pull, k: int, tangent: Any, y: Any, values: Any, entry: Entry, stack: tuple[int, ...]) -> Any:
    """Pull the tangent back through the rule: a rule is linear in its cotangent, and its transpose is the Jacobian."""
    cotangent = wrap(np.zeros_like(entry.output_value)[()])
    left: list[str] = []

    def see(what: str, *details: Any) -> None:
        if what == "Leave":
            left.append(details[-1])

    hooks = (see,) if RULES[entry.operation].own else ()  # how a tangent is found is nobody's business
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
            f"the rule of {entry.name}, used at {entry.place}, takes the cotangent as plain numbers, by {left[0]}, so "
            'no tangent is pushed forward through it. Write it in NumPy functions of tensors, or use mode="reverse"'
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
    if isinstance(contribution, Tensor):  # a rule that does not look at its cotangent moves nothing
        found[contribution._id] = tangent
        for _ in tape._walk(found, {cotangent._id}, stack):
            pass
    return found.get(cotangent._id)


def check_tuples(primals: Any, tangents: Any, usage: str) -> None:
    """Raise a TypeError, which shows the usage, if primals and tangents are not both tuples."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise TypeError(f"the primals and their vectors must be tuples, with one item per argument of f: {usage}")


def _tangents(sources: Any, tangents: Any) -> dict[int, Any]:
    moved = {}
    given = flatten_like(sources, tangents, "tangents", "the primals are")
    for source, (path, tangent) in zip(tensors_of(sources, "primals"), given, strict=True):
        tangent = as_constant(path, tangent)
        if tangent.shape != source.shape:
            raise ValueError(
                f"{path} has shape {tangent.shape}, and its primal has shape {source.shape}; they must be the same"
            )
        if tangent.dtype.kind == "c" and source.dtype.kind != "c":
            raise TypeError(f"{path} is complex, and its primal is {source.dtype}; give its real part")
        moved[source._id] = tangent if tangent.dtype == source.dtype else tangent.astype(source.dtype)
    return moved


def _moved(target: Tensor, tangents: dict[int, Any]) -> Tensor:
    found = tangents.get(target._id)
    return wrap(np.zeros_like(target._array)[()]) if found is None else as_tensor(found)
