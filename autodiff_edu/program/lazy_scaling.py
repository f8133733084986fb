"""The pass that puts off the multiplications of a stack of cotangents, as `arrays/stack.py` does on a tape."""

from __future__ import annotations

from operator import getitem
from typing import Any, NamedTuple

import numpy as np

from .instructions import Instruction, Listing, Value
from .simplifying import simpler

LARGE = 4 * 2**10
"""Bytes: in a smaller stack there is nothing to save."""


class Scaled(NamedTuple):
    """A stack that is a base times a scale, which all its cotangents share; the scale may be None, for ones.

    `batch` is None, or for one-hot seeds how many axes count samples, 0 or 1.
    """

    base: Value
    scale: Any = None
    batch: int | None = None

    def scale_or_one(self) -> Any:
        """Return the scale, or a one in the dtype of the base."""
        return Value.constant(self.base.dtype.type(1)) if self.scale is None else self.scale


def postponed(listing: Listing) -> Listing:
    """Put off the multiplications that all cotangents of a stack share; replace products of one-hot seeds with rows."""
    constants = {value for one in listing.instructions for value in one.reads() if value.array is not None}
    seeds = {value: Scaled(value, None, batch) for value in constants if (batch := _batch_of(value)) is not None}
    return LazyScaling(listing, seeds).run() if seeds else listing


class LazyScaling:
    """One run over a listing."""

    def __init__(self, listing: Listing, seeds: dict[Value, Scaled]) -> None:
        self.listing = listing
        self.left: list[Instruction] = []
        self.stacks = seeds  # and what is computed from them
        self.done: set[Value] = set()  # the stacks that were multiplied after all

    def run(self) -> Listing:
        """Return the listing with fewer multiplications."""
        for instruction in self.listing.instructions:
            stacks = [value for value in instruction.reads() if value in self.stacks]
            if not stacks:
                self.left.append(instruction)
            elif not self._postpone(instruction):
                for value in stacks:
                    self._multiply(value, instruction)
                self.left.append(instruction)
                output, count = instruction.output_value, stacks[0].shape[0]
                if output is not None and output.shape[:1] == (count,) and output.dtype.kind in "fc":
                    self.stacks[output] = Scaled(output)
        for value in self.listing.kept():
            if value in self.stacks:
                self._multiply(value, self.left[-1])
        return self.listing.with_instructions(self.left)

    def _multiply(self, value: Value, user: Instruction) -> None:
        """Write the multiplication that was put off, because an instruction needs the numbers of the stack."""
        stack = self.stacks[value]
        if stack.base is not value and value not in self.done:
            self.done.add(value)
            self._write(np.multiply, [stack.base, stack.scale_or_one()], user, value)
            self.stacks[value] = Scaled(value)

    def _postpone(self, instruction: Instruction) -> bool:
        """Change the scale instead of the stack, or choose rows instead of multiplying; return whether that works."""
        operation, values, output = instruction.operation, instruction.values, instruction.output_value
        if output is None or instruction.parameters:
            return False
        places = [k for k, value in enumerate(values) if type(value) is Value and value in self.stacks]
        stack = self.stacks[values[places[0]]]
        if output.dtype != stack.base.dtype:
            return False
        if operation is np.matmul and places == [0]:
            return self._choose(instruction, stack)
        if output.shape != stack.base.shape:
            return False
        if operation is np.add and places == [0, 1]:
            return self._add(instruction, stack, self.stacks[values[1]])
        if len(places) != 1 or not all(_fits(value, output) for k, value in enumerate(values) if k not in places):
            return False
        scaled = [stack.scale_or_one() if k in places else value for k, value in enumerate(values)]
        if operation is np.multiply and stack.scale is None:
            self.stacks[output] = stack._replace(scale=values[1 - places[0]])
        elif (
            (operation is np.where and _is_zero(values[3 - places[0]]))
            or operation in (np.multiply, np.negative)
            or (operation is np.true_divide and places == [0])
        ):
            self.stacks[output] = stack._replace(scale=self._write(operation, scaled, instruction))
        else:
            return False
        return True

    def _add(self, instruction: Instruction, one: Scaled, other: Scaled) -> bool:
        if one.base is not other.base:
            return False
        scales = [one.scale_or_one(), other.scale_or_one()]
        self.stacks[instruction.output_value] = one._replace(scale=self._write(np.add, scales, instruction))
        return True

    def _choose(self, instruction: Instruction, stack: Scaled) -> bool:
        """Multiply one-hot seeds by a matrix: row k of the matrix, times the scale's element k of each sample."""
        matrix, output, inner = instruction.values[1], instruction.output_value, stack.base.shape[1:]
        fits = type(matrix) is Value and matrix.ndim == 2 and matrix.dtype == output.dtype
        if stack.batch is None or len(inner) != stack.batch + 1 or not fits or stack.scale is None:
            return False
        scale = stack.scale
        if _shape(scale) != inner:
            scale = self._write(np.broadcast_to, [scale, inner], instruction)
        if stack.batch:
            scale = self._write(
                np.ascontiguousarray, [self._write(np.swapaxes, [scale, -1, -2], instruction)], instruction
            )
            matrix = self._write(getitem, [matrix, (slice(None), None)], instruction)
        column = self._write(getitem, [scale, (..., None)], instruction)
        self._write(np.multiply, [column, matrix], instruction, output)
        self.stacks[output] = Scaled(output)
        return True

    def _write(self, operation: Any, values: list[Any], user: Instruction, output: Value | None = None) -> Value:
        """Append an instruction; its result has the shape that NumPy gives it."""
        if output is None:
            sample = operation(*[_sample(value) for value in values])
            output = Value(sample.shape, sample.dtype)
            known = [value for value in values if type(value) is Value]
            if all(value.array is not None for value in known):
                output.array = operation(*[value.array if type(value) is Value else value for value in values])
                return output
        self.left.append(simpler(Instruction(operation, values, {}, output, user.where, user.errors), {}))
        return output


def _sample(value: Any) -> Any:
    """Return an array of a value's shape and dtype that takes no memory."""
    return np.broadcast_to(np.ones((), value.dtype), value.shape) if type(value) is Value else value


def _shape(value: Any) -> tuple[int, ...]:
    return value.shape if type(value) is Value else np.shape(value)


def _fits(value: Any, stack: Value) -> bool:
    """Return whether an operand is the same for every cotangent of a stack."""
    shape, inner = _shape(value), stack.shape[1:]
    return len(shape) <= len(inner) and all(a in (1, b) for a, b in zip(shape[::-1], inner[::-1], strict=False))


def _is_zero(value: Any) -> bool:
    number = value.array if type(value) is Value else value
    return np.shape(number) == () and isinstance(number, int | float | np.number) and number == 0


def _batch_of(value: Value) -> int | None:
    """Return how many axes of one-hot seeds count samples, 0 or 1; None if a value is not one-hot seeds."""
    array = value.array
    if array is None or value.ndim < 2 or value.nbytes < LARGE or value.dtype.kind not in "fc":
        return None
    count = value.shape[0]
    if int(np.prod(value.shape[1:])) == count:
        return 0 if np.array_equal(array.reshape(count, count), np.eye(count)) else None
    if int(np.prod(value.shape[2:])) == count and np.array_equal(
        array.reshape(count, value.shape[1], count),
        np.broadcast_to(np.eye(count)[:, None], (count, value.shape[1], count)),
    ):
        return 1
    return None
