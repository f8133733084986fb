"""What would fit when operands do not: the usual mistakes with shapes, found by trying alternatives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

Shape = tuple[int, ...]

PRODUCTS = {"matmul", "dot", "inner", "einsum"}
STACKING = {"concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"}


def what_would_fit(function: Any, args: Any, parameters: Any, names: list[str | None]) -> tuple[int, str] | None:
    """Find what the user may have meant: which operand to change, and the end of a sentence about it.

    Parameters
    ----------
    function : callable
        The function that failed. Only ufuncs, products and joins are understood.
    args, parameters : tuple, dict
        The arguments, possibly with lists of tensors.
    names : list of str or None
        The user's name for each operand.
    """
    operands = list(each(args))
    shapes = [tuple(value.shape) if is_array(value) else None for value in operands]
    name = getattr(function, "__name__", "")
    if function is np.reshape:
        fitting = _reshaped(math.prod(shapes[0] or ()), args[1])
        return (0, f"; {fitting} would fit") if fitting else None
    if not (isinstance(function, np.ufunc) or name in {"where", *PRODUCTS, *STACKING}):
        return None
    if name == "matmul" and not all(shapes):
        return 1, "; write * to multiply by a number"
    trial = _Trial(function, args, parameters, elementwise=name not in PRODUCTS | STACKING)
    if trial.fits(shapes):
        return None  # something else is wrong, perhaps a dtype
    for change in ("T", "squeeze") if name in PRODUCTS else ("squeeze", "[:, None]", "[None, :]", "T"):
        for k, shape in reversed(list(enumerate(shapes))):
            changed = _changed(shape, change)
            if changed is not None and trial.fits([*shapes[:k], changed, *shapes[k + 1 :]]):
                if change == "squeeze":
                    return k, f"{_widened(k, shapes) if trial.elementwise else ''}: did you mean {changed}?"
                return k, f"; {_written(names[k], change) or f'shape {changed}'} would fit"
    if name in {"matmul", "dot"} and _Trial(function, args[::-1], parameters).fits(shapes[::-1]) and all(names):
        return 1, f"; {_written(names[1])} @ {_written(names[0])} would fit"
    for axis in range(len(shapes[0] or ())) if name == "concatenate" else ():
        if _Trial(function, args[:1], {"axis": axis}).fits(shapes[: len(args[0])]):
            return len(args[0]) - 1, f"; axis={axis} would fit"
    return None


def is_array(value: Any) -> bool:
    """Return whether a value has a shape and a dtype, as arrays and tensors do."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def each(args: Any) -> Iterator[Any]:
    """List the arguments of a call one by one, including those that are joined in a list."""
    for value in args:
        if is_joined(value):
            yield from value
        else:
            yield value


def is_joined(value: Any) -> bool:
    """Return whether an argument is a list of arrays."""
    return isinstance(value, list | tuple) and any(map(is_array, value))


class _Trial:
    """A call that is tried with other shapes.

    For these functions only matters which lengths are equal and which are 1. So the call is tried with lengths 2, 3, 4
    in place of the real ones, which is cheap however large the operands are.
    """

    def __init__(self, function: Any, args: Any, parameters: Any, elementwise: bool = False) -> None:
        self.function, self.args, self.parameters, self.elementwise = function, args, parameters, elementwise

    def fits(self, shapes: list[Shape | None]) -> bool:
        """Return whether the call works with operands of these shapes, if elementwise without growing them all."""
        lengths = {0: 0, 1: 1}
        small = [s if s is None else tuple(lengths.setdefault(n, len(lengths)) for n in s) for s in shapes]
        operands = iter(
            value if shape is None else np.ones(shape, value.dtype)
            for value, shape in zip(each(self.args), small, strict=True)
        )
        args = [[next(operands) for _ in value] if is_joined(value) else next(operands) for value in self.args]
        with suppress(Exception):
            result = np.shape(self.function(*args, **self.parameters))
            return not self.elementwise or result in small
        return False


def _changed(shape: Shape | None, change: str) -> Shape | None:
    """Return a shape after a change; None if it changes nothing."""
    if shape is None:
        return None
    if change == "squeeze":
        changed = tuple(n for n in shape if n != 1)
        return changed if changed and changed != shape else None
    if change == "T":
        return shape[::-1] if len(shape) == 2 else None
    if len(shape) != 1:
        return None
    return (*shape, 1) if change == "[:, None]" else (1, *shape)


def _written(name: str | None, change: str = "") -> str | None:
    """Write a change to an operand as code; None if the operand has no name."""
    if name is None:
        return None
    if change == "T" and name.endswith(".T"):
        return name[:-2]
    name = name if name.replace(".", "").replace("_", "").isalnum() else f"({name})"
    return name + (".T" if change == "T" else change)


def _widened(k: int, shapes: list[Shape | None]) -> str:
    """Describe the shape to which the last axis of another operand would broadcast this one."""
    for i, other in enumerate(shapes):
        if i != k and other:
            wide = np.broadcast_shapes(shapes[k] or (), other[-1:])
            return f", and would broadcast to {wide}" if wide != shapes[k] else ""
    return ""


def _reshaped(size: int, shape: Any) -> str:
    """List the shapes that differ from the wanted one in one length and hold this many elements."""
    wanted = tuple(shape) if isinstance(shape, list | tuple) else (shape,)
    if math.prod(wanted) == size:  # something else is wrong
        return ""
    found = []
    for k in range(len(wanted)):
        others = math.prod(wanted[:k] + wanted[k + 1 :])
        if others > 0 and size % others == 0:
            found.append((*wanted[:k], size // others, *wanted[k + 1 :]))
    return " or ".join(map(str, dict.fromkeys(found)))
