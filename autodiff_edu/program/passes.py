"""What makes a program shorter and faster, one small function at a time: each takes a listing and returns another.

They run in the order of `PASSES`. Each leaves a program that computes the same; only `postponed` changes the order in
which numbers are multiplied, and so the last digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..rules import operations
from .instructions import Instruction, Listing, Value
from .postponing import postponed

SMALL = 16 * 2**10
"""Bytes: a smaller array is as fast to allocate as to write into."""

LONG, NAME = 72, 8
"""Characters: an expression of about this many gets a line of its own; what a name and its signs take."""

FRESH = {np.where, np.matmul, np.sum, np.mean, np.max, np.min, np.prod, np.concatenate, np.stack, np.linalg.solve}
FRESH |= {operations.cast, operations.clip, operations.concatenate, operations.stack, operations.scatter}
"""Functions besides ufuncs whose result never shares memory with an argument."""


def unused(listing: Listing) -> Listing:
    """Remove instructions whose results nothing needs."""
    needed, left = listing.kept(), []
    for instruction in reversed(listing.instructions):
        if instruction.is_guard or instruction.output_value in needed:
            left.append(instruction)
            needed.update(instruction.reads())
    return listing.with_instructions(left[::-1])


def folded(listing: Listing) -> Listing:
    """Compute what depends on no argument and no variable once, now; leave out what changes nothing, like `x * 1`."""
    instead: dict[Value, Value] = {}
    left = []
    for one in listing.instructions:
        instruction = one.with_values(instead) if instead else one
        output = instruction.output_value
        if output is not None and output.array is not None:
            continue
        if output is not None and (same := _unchanged(instruction, output)) is not None:
            instead[output] = same
            same.label = same.label or output.label
            continue
        left.append(_with_number(instruction))
    return listing.with_instructions(left, instead)


def _unchanged(instruction: Instruction, output: Value) -> Value | None:
    """Return the argument that an instruction returns as it is, if it does."""
    operation, values = instruction.operation, instruction.values
    first = values[0] if type(values[0]) is Value else None
    if operation is np.multiply:
        for value, other in (values, values[::-1]):
            if type(value) is Value and _is_one(other) and _alike(value, output):
                return value
    elif operation in (np.true_divide, np.power) and first and _is_one(values[1]) and _alike(first, output):
        return first
    elif operation in _FORMS and first and _alike(first, output):
        return first
    return None


_FORMS = {np.reshape, np.broadcast_to, operations.cast}


def _alike(value: Value, output: Value) -> bool:
    return value.shape == output.shape and value.dtype == output.dtype


def _is_one(value: Any) -> bool:
    number = _number(value)
    return number is not None and number == 1


def _number(value: Any) -> Any:
    """Return the number that all elements of a constant are; None if they differ, or if it is not known."""
    array = value.array if type(value) is Value else value
    if isinstance(array, np.ndarray):
        if not array.size or array.dtype.kind not in "biufc":
            return None
        return array.flat[0] if array.strides == (0,) * array.ndim or np.all(array == array.flat[0]) else None
    return array if isinstance(array, np.generic) or type(array) in (bool, int, float) else None


_WITH_NUMBERS = {np.add, np.subtract, np.multiply, np.true_divide, np.power, np.maximum, np.minimum}


def _with_number(instruction: Instruction) -> Instruction:
    """Replace an array of equal numbers by the number, where that gives the same shape and dtype."""
    if instruction.operation not in _WITH_NUMBERS:
        return instruction
    output = instruction.output_value
    for k, value in enumerate(instruction.values):
        other = instruction.values[1 - k]
        known = value.array is not None if type(value) is Value else isinstance(value, np.generic)
        if known and type(other) is Value and other.array is None and _alike(other, output):
            number = _number(value)
            if number is not None and value.dtype == output.dtype and output.dtype.kind in "fc":
                values: list[Any] = [None, None]
                values[k], values[1 - k] = number.item(), other
                return Instruction(instruction.operation, values, {}, output, instruction.where, instruction.errors)
    return instruction


def shared(listing: Listing) -> Listing:
    """Compute the same expression once, and ask the same question once."""
    instead: dict[Value, Value] = {}
    seen: dict[Any, Value] = {}
    left = []
    for one in listing.instructions:
        instruction = one.with_values(instead) if instead else one
        output = instruction.output_value
        key = instruction.operation, _key(instruction.values), _key(instruction.parameters)
        if key not in seen:
            seen[key] = output
            left.append(instruction)
        elif output is not None:
            instead[output] = seen[key]
            seen[key].label = seen[key].label or output.label
    return listing.with_instructions(left, instead)


def _key(structure: Any) -> Any:
    """Return what tells arguments apart: numbers by type and text, so that 1, 1.0 and True differ, and 0.0 and -0.0."""
    kind = type(structure)
    if kind is Value or isinstance(structure, np.ndarray):
        return id(structure)
    if kind in (list, tuple):
        return kind, tuple([_key(part) for part in structure])
    if kind is dict:
        return tuple([(name, _key(part)) for name, part in structure.items()]) if structure else ()
    if kind is slice:
        return slice, _key((structure.start, structure.stop, structure.step))
    return kind, repr(structure)


def joined(listing: Listing) -> Listing:
    """Write a result where it is used, if that is one place and the reader's code has no name for it."""
    uses = Counter(value for instruction in listing.instructions for value in instruction.reads())
    uses.update(listing.kept())
    lengths: dict[Value, int] = {}  # of the results that may be joined, about how many characters their text has
    found: set[Value] = set()
    for instruction in listing.instructions:
        length = len(instruction.name) + NAME
        for value in instruction.reads():
            if value in lengths and length + lengths[value] <= LONG:
                found.add(value)
                length += lengths[value]
            else:
                length += NAME
        output = instruction.output_value
        if output is not None and uses[output] == 1 and output.label is None and output.nbytes < SMALL and not (
            instruction.errors
        ):
            lengths[output] = length
    return replace(listing, joined=frozenset(found - listing.kept()))


def reused(listing: Listing) -> Listing:
    """Write results into arrays that are no longer needed, so that fewer are allocated."""
    dying = _last_lines(listing)
    free: dict[Any, list[Value]] = {}
    into: dict[Value, Value] = {}
    for at, instruction in enumerate(listing.instructions):
        output = instruction.output_value
        ending = dying.get(at, [])
        if output is not None and _can_write(instruction, listing):
            form = output.shape, output.dtype
            own = [value for value in ending if (value.shape, value.dtype) == form and value in instruction.values]
            if own and instruction.operation is not np.matmul:
                into[output] = own[0]
                ending.remove(own[0])
            elif free.get(form):
                into[output] = free[form].pop()
        for value in ending:
            free.setdefault((value.shape, value.dtype), []).append(value)
    return replace(listing, into=into)


def _can_write(instruction: Instruction, listing: Listing) -> bool:
    """Return whether an instruction can write into an array, and gains from it."""
    output: Value = instruction.output_value
    large = output.nbytes >= SMALL and output.ndim > 0
    return large and output not in listing.joined and _allocates(instruction)


def _allocates(instruction: Instruction) -> bool:
    return isinstance(instruction.operation, np.ufunc) and not instruction.parameters


def _last_lines(listing: Listing) -> dict[int, list[Value]]:
    """Return, by the place of an instruction, the large arrays that nothing needs after it."""
    lines = _lines(listing)
    ends: dict[Value, int] = {}
    sharing: dict[Value, set[Value]] = {}  # the results whose memory another may share
    for instruction, line in zip(listing.instructions, lines, strict=True):
        output, shared = instruction.output_value, set[Value]()
        for value in instruction.reads():
            for one in sharing.get(value, ()):
                ends[one] = line
                shared.add(one)
        if output is not None:
            sharing[output] = {output} if is_fresh(instruction.operation) else shared
            if _allocates(instruction) and output.nbytes >= SMALL and output.ndim:
                sharing[output] = {output}
                ends[output] = line
    kept = set[Value]().union(*(sharing.get(value, ()) for value in listing.kept()))
    found: dict[int, list[Value]] = {}
    for value, line in ends.items():
        if value not in kept and value not in listing.joined:
            found.setdefault(line, []).append(value)
    return found


def _lines(listing: Listing) -> list[int]:
    """Return for each instruction the place of the one on whose line it is written."""
    found = list(range(len(listing.instructions)))
    used: dict[Value, int] = {}
    for at in reversed(found):
        instruction = listing.instructions[at]
        if instruction.output_value in listing.joined:
            found[at] = used[instruction.output_value]
        for value in instruction.reads():
            if value in listing.joined:
                used[value] = found[at]
    return found


def is_fresh(operation: Any) -> bool:
    """Return whether the result of an operation never shares memory with an argument."""
    return isinstance(operation, np.ufunc) or operation in FRESH


Pass = Callable[[Listing], Listing]
PASSES: dict[str, Pass] = {
    "unused": unused,
    "folded": folded,
    "shared": shared,
    "postponed": postponed,
    "joined": joined,
    "reused": reused,
}
