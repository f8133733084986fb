"""The passes, which make a program shorter and faster: small functions that take a listing and return another.

By default, they run in the order of `PASSES`. None changes what the program computes, except that
`postponed` multiplies numbers in another order, which may change the last digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..rules import operations
from .instructions import Instruction, Listing, Value
from .lazy_scaling import postponed
from .simplifying import simpler, unchanged

SMALL = 16 * 2**10
"""Bytes: a smaller array is as fast to allocate as to write into."""

LONG, NAME = 72, 8
"""Characters: an expression of about this many gets a line of its own; what a name and its signs take."""

FRESH = {np.where, np.matmul, np.sum, np.mean, np.max, np.min, np.prod, np.concatenate, np.stack, np.linalg.solve}
FRESH |= {operations.cast, operations.clip, operations.concatenate, operations.stack, operations.scatter}
"""Functions, besides ufuncs, whose result never shares memory with an argument."""


TESTS = (np.linalg.cholesky, np.linalg.inv, operations.checked)
"""The operations that may be called for their error alone, as to find out whether a matrix is positive definite."""


def unused(listing: Listing) -> Listing:
    """Remove instructions whose results nothing needs, unless they may be called for their error."""
    needed, left = listing.kept(), []
    for instruction in reversed(listing.instructions):
        if instruction.is_guard or instruction.operation in TESTS or not needed.isdisjoint(instruction.outputs):
            left.append(instruction)
            needed.update(instruction.reads())
    return listing.with_instructions(left[::-1])


def folded(listing: Listing) -> Listing:
    """Compute now what depends on no argument and no variable; simplify the rest: `x * 1`, `-(2 * x)`, `x.T.T`."""
    instead: dict[Value, Value] = {}
    makers: dict[Value, Instruction] = {}
    left = []
    for instruction in _with(instead, listing):
        output = instruction.output_value
        if output is not None and output.array is not None:
            continue
        if output is not None and (same := unchanged(instruction, makers)) is not None:
            instead[output] = same
            same.label = same.label or output.label
            continue
        if output is not None:
            makers[output] = instruction = simpler(instruction, makers)
        left.append(instruction)
    return unused(listing.with_instructions(left, instead))


def shared(listing: Listing) -> Listing:
    """Compute the same expression once, and ask the same question once; keep equal constants once."""
    instead = _equal_constants(listing)
    seen: dict[Any, Value] = {}
    left = []
    for instruction in _with(instead, listing):
        output = instruction.output_value
        key = instruction.operation, _key(instruction.values), _key(instruction.parameters), repr(instruction.errors)
        if key not in seen:
            seen[key] = output
            left.append(instruction)
        elif output is not None:
            instead[output] = seen[key]
            seen[key].label = seen[key].label or output.label
    return listing.with_instructions(left, instead)


def _equal_constants(listing: Listing) -> dict[Value, Value]:
    """Return for some small constants an earlier one with the same numbers, bit for bit."""
    instead: dict[Value, Value] = {}
    known: dict[Any, Value] = {}
    for instruction in listing.instructions:
        for value in instruction.reads():
            if value.array is None or value.nbytes > SMALL or value.dtype.hasobject:
                continue
            first = known.setdefault((value.shape, value.dtype, np.asarray(value.array).tobytes()), value)
            if first is not value:
                instead[value] = first
    return instead


def _with(instead: dict[Value, Value], listing: Listing) -> Iterator[Instruction]:
    """Iterate over the instructions, with the values replaced that a pass has removed so far."""
    for instruction in listing.instructions:
        yield instruction.with_values(instead) if instead else instruction


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
    """Write a small result where it is used, if that is one place and the reader's code has no name for it."""
    uses = Counter(value for instruction in listing.instructions for value in instruction.reads())
    uses.update(listing.kept())
    lengths: dict[Value, int] = {}  # of the results that may be joined, about how many characters their text has
    found: set[Value] = set()
    scattered: set[Value] = set()
    for instruction in listing.instructions:
        if instruction.operation is np.add and instruction.values[1] in scattered:
            found.add(instruction.values[1])  # which may become x_bar[1:] += ...
        length = len(instruction.name) + NAME
        for value in instruction.reads():
            if value in lengths and length + lengths[value] <= LONG:
                found.add(value)
                length += lengths[value]
            else:
                length += NAME
        output = instruction.output_value
        if output is None or uses[output] != 1 or instruction.errors:
            continue
        if instruction.operation is operations.scatter:
            if can_add_into(instruction):
                scattered.add(output)
        elif output.label is None and output.nbytes < SMALL:
            lengths[output] = length
    return replace(listing, joined=frozenset(found - listing.kept()))


def can_add_into(scatter: Instruction) -> bool:
    """Return whether `total + scatter(part, index, shape)` is `total[index] += part`: no place twice, no stack."""
    _, index, shape = scatter.values
    return operations.is_basic(index) and scatter.output_value.shape == tuple(shape)


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
    is_ufunc = isinstance(instruction.operation, np.ufunc) and not instruction.parameters
    return large and output not in listing.joined and is_ufunc


def _last_lines(listing: Listing) -> dict[int, list[Value]]:
    """Return, by the place of an instruction, the large arrays that nothing needs after it."""
    lines = _lines(listing)
    ends: dict[Value, int] = {}
    sharing: dict[Value, set[Value]] = {}  # the results whose memory another may share
    for instruction, line in zip(listing.instructions, lines, strict=True):
        output, shared = instruction.output_value, set[Value]()
        for value in instruction.reads():
            for one in sharing.get(value, ()):
                ends[one] = max(line, ends.get(one, line))  # a joined expression is read on a later line
                shared.add(one)
        if output is not None:
            sharing[output] = shared
            if is_fresh(instruction.operation):
                sharing[output] = {output}
                if output.nbytes >= SMALL and output.ndim:
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
