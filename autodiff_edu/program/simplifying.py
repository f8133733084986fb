"""Expressions that can be written with fewer operations and give the same numbers, bit for bit."""

from __future__ import annotations

from math import frexp
from typing import Any

import numpy as np

from ..rules import operations
from .instructions import Instruction, Value

_UNCHANGED = {np.reshape, np.broadcast_to, operations.cast}
_WITH_NUMBERS = {np.add, np.subtract, np.multiply, np.true_divide, np.power, np.maximum, np.minimum}


def unchanged(instruction: Instruction, makers: dict[Value, Instruction]) -> Value | None:
    """Return the value that an instruction only repeats, if it does: `x * 1`, `x.T.T`, a reshape to the same shape."""
    operation, values, output = instruction.operation, instruction.values, instruction.output_value
    first = values[0] if type(values[0]) is Value else None
    if operation in (np.multiply, np.true_divide, np.power):
        if output.dtype.kind == "c":  # an infinite complex number times 1 is not itself
            return None
        pairs = (values, values[::-1]) if operation is np.multiply else (values,)
        return next((x for x, k in pairs if type(x) is Value and number_of(k) == 1 and _alike(x, output)), None)
    if first is None:
        return None
    if operation in _UNCHANGED:
        return first if _alike(first, output) else None
    if operation is np.where:
        kept, other = values[1:]
        repeats = type(kept) is Value and _alike(kept, output) and _is_zero(number_of(other))
        return kept if repeats and _is_zero_outside(kept, first, makers) else None
    if (maker := makers.get(first)) is not None and operation is maker.operation:
        again = operation is np.swapaxes and {*values[1:]} == {*maker.values[1:]}
        return maker.values[0] if again or operation is np.negative else None
    return None


def simpler(instruction: Instruction, makers: dict[Value, Instruction]) -> Instruction:
    """Return an instruction that computes the same with less work, or the instruction itself if there is none."""
    operation, values, output = instruction.operation, instruction.values, instruction.output_value
    if isinstance(operation, np.ufunc) and len(values) == 2 and operation.signature is None:  # not np.matmul
        values = _without_broadcasting(values, makers, output)
    if operation in _WITH_NUMBERS:
        values = _with_numbers(values, output)
    if operation is np.negative:
        operation, values = np.multiply, [-1, values[0]]
    if operation is np.add and values[0] is values[1] and output.dtype.kind == "f":
        operation, values = np.multiply, [2, values[0]]
    if operation is np.multiply and (joint := _one_number(values, makers, output)):
        return _changed(instruction, np.multiply, joint)
    if operation is np.where and type(values[0]) is Value and values[0].shape == output.shape and (
        values[0].dtype == bool and output.dtype.kind in "fc"
    ):  # fmt: skip
        chosen, other = (number_of(value) for value in values[1:])
        if chosen == 1 and _is_zero(other):
            return _changed(instruction, operations.cast, [values[0], output.dtype])
        if _is_zero(chosen) and other == 1 and output.dtype == np.float64:
            return _changed(instruction, np.subtract, [1.0, values[0]])
    if values is not instruction.values and operation is instruction.operation:
        return _changed(instruction, operation, values)
    return instruction


def _is_zero_outside(value: Value, mask: Value, makers: dict[Value, Instruction]) -> bool:
    """Return whether all elements are known to be 0 where a mask is false: those of `np.where(mask, x, 0) * 2`."""
    maker = makers.get(value)
    if maker is None:
        return False
    if maker.operation is np.where:
        return maker.values[0] is mask and _is_zero(number_of(maker.values[2]))
    if maker.operation is not np.multiply or (pair := _number_and_value(maker.values)) is None:
        return False
    return np.isfinite(pair[0]) and pair[0] > 0 and _is_zero_outside(pair[1], mask, makers)


def number_of(value: Any) -> Any:
    """Return the number that every element of a constant is; None if they differ or are not known."""
    array = value.array if type(value) is Value else value
    if not isinstance(array, np.ndarray):
        return array if isinstance(array, np.generic) or type(array) in (bool, int, float) else None
    if not array.size or array.dtype.kind not in "biufc":
        return None
    first = array.flat[0]
    if array.strides == (0,) * array.ndim:
        return first
    parts = (array.real, array.imag) if array.dtype.kind == "c" else (array,) if array.dtype.kind == "f" else ()
    signs = (np.signbit(part) for part in parts)  # 0.0 and -0.0 are equal, but not the same
    return first if np.all(array == first) and all(sign.all() or not sign.any() for sign in signs) else None


def _alike(value: Value, output: Value) -> bool:
    return value.shape == output.shape and value.dtype == output.dtype


def _is_zero(number: Any) -> bool:
    return number is not None and number == 0 and not np.signbit(number)


def _changed(instruction: Instruction, operation: Any, values: list[Any]) -> Instruction:
    return Instruction(operation, values, {}, instruction.output_value, instruction.where, instruction.errors)


def _without_broadcasting(values: list[Any], makers: dict[Value, Instruction], output: Value) -> list[Any]:
    """Leave out the broadcast of an operand that the operation broadcasts anyway."""
    for k, value in enumerate(values):
        maker, other = makers.get(value) if type(value) is Value else None, values[1 - k]
        if maker is None or maker.operation is not np.broadcast_to or type(maker.values[0]) is not Value:
            continue
        if type(other) is Value and other.shape == output.shape:
            return [maker.values[0], other] if k == 0 else [other, maker.values[0]]
    return values


def _with_numbers(values: list[Any], output: Value) -> list[Any]:
    """Replace an array of equal numbers by the number, where that gives the same shape and dtype."""
    if output.dtype.kind not in "fc":
        return values
    for k, value in enumerate(values):
        other = values[1 - k]
        known = value.array is not None if type(value) is Value else isinstance(value, np.generic)
        fits = known and value.dtype == output.dtype and type(other) is Value and _alike(other, output)
        if fits and (number := number_of(value)) is not None:
            return [number.item(), other] if k == 0 else [other, number.item()]
    return values


def _one_number(values: list[Any], makers: dict[Value, Instruction], output: Value) -> list[Any] | None:
    """Multiply two numbers first, `100 * (2 * x)`, where the product with x is exact: with 2, 4, 8 and so on.

    Smaller numbers than 1 are left alone, powers of two or not: x may be so near to 0 that `0.5 * x` is rounded.
    """
    pair = _number_and_value(values)
    maker = makers.get(pair[1]) if pair else None
    inner = _number_and_value(maker.values) if maker is not None and maker.operation is np.multiply else None
    if pair is None or inner is None or not _alike(inner[1], output) or output.dtype.kind != "f":
        return None
    product, limits = pair[0] * inner[0], np.finfo(output.dtype)
    exact = abs(frexp(inner[0])[0]) == 0.5 and abs(inner[0]) >= 1
    fits = all(limits.tiny <= abs(number) <= limits.max for number in (pair[0], inner[0], product))
    overflows = abs(inner[0]) > max(1, abs(product))  # then 2 * (100 * x) may be infinite where 200 * x is not
    return [product, inner[1]] if exact and fits and not overflows else None


def _number_and_value(values: list[Any]) -> tuple[Any, Value] | None:
    for number, value in (values, values[::-1]):
        if type(number) in (int, float) and type(value) is Value:
            return number, value
    return None
