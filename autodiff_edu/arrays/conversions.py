"""Which conversions of a tensor to plain numbers are errors, while a tape records that follows it.

Whoever writes `x.numpy()` or `float(x)` means plain numbers. Where NumPy or Python converts on its own, as in
`a[0] = x` or `math.sin(x)`, the result looks right, and its gradient would lack a part without a word.
"""

from __future__ import annotations

import ast
import builtins
import dis
import math
import operator
import sys
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from ..text.places import expression, here, is_ours, names, place

READERS = ("matplotlib", "numpy.testing", "_pytest")
"""The packages that may convert: what they show or compare goes nowhere else."""

_LOSE_NOTHING = {math.isnan, math.isinf, math.isfinite, math.isclose, math.floor, math.ceil, math.trunc}
_NAMES = {"fsum": "np.sum", "dist": "np.linalg.norm", "sumprod": "np.dot"}  # where NumPy's name is another one
_REMEDIES = dict.fromkeys(("full", "fill"), "Write np.broadcast_to(x, shape) to repeat a tensor")
_STORE = dis.opmap["STORE_SUBSCR"]


def check_array(life: Any) -> None:
    """Raise a TypeError for a conversion to an array, unless it is for showing or comparing.

    Parameters
    ----------
    life : iterable of (time, what, where)
        What became of the tape, which the message tells by where it was entered.
    """
    frame, through = _asker()
    if not _are_readers(through):
        raise _lost(frame, life)


def check_number(life: Any) -> None:
    """Raise a TypeError for a conversion to a number by an assignment, by NumPy, or by a function of `math`."""
    frame, through = _asker()
    if _are_readers(through):
        return
    if _is_store(frame) or any(_is_part_of(module, "numpy") for module in through):
        raise _lost(frame, life)
    function = _called(frame)
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
    if module in ("math", "cmath") and function not in _LOSE_NOTHING:
        raise _lost(frame, life, f"{module}.{function.__name__}")
    if _is_part_of(module, "numpy") or function == "fill" or function is operator.setitem:
        raise _lost(frame, life)


def _asker() -> tuple[FrameType, list[str]]:
    """Return the frame, outside NumPy and this package, that asks for the numbers, and the modules on the way to it."""
    frame, through = sys._getframe(2), []
    while is_ours[frame.f_code.co_filename] and frame.f_back is not None:
        through.append(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    return frame, [*through, frame.f_globals.get("__name__", "")]


def _are_readers(modules: list[str]) -> bool:
    return any(_is_part_of(module, reader) for module in modules for reader in READERS)


def _is_part_of(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _is_store(frame: FrameType) -> bool:
    return frame.f_code.co_code[frame.f_lasti] == _STORE


def _called(frame: FrameType) -> Any:
    """Return the function that a frame is calling, or the name of a method; None if the code does not tell."""
    call = expression((frame.f_code, frame.f_lasti))
    if not isinstance(call, ast.Call):
        return None
    path, node = [], call.func
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return path[0] if path else None
    found: Any = frame.f_locals.get(node.id, frame.f_globals.get(node.id, getattr(builtins, node.id, None)))
    for name in reversed(path):
        if not isinstance(found, ModuleType | np.ndarray):  # asking anything else might run code
            return None
        found = getattr(found, name, None)
    return found


def _lost(frame: FrameType, life: Any, function: str | None = None) -> TypeError:
    """Return the error for a conversion in a frame."""
    at = here(2)
    if function is not None:
        name = function.partition(".")[2]
        instead = _NAMES.get(name) or (f"np.{name}" if hasattr(np, name) else "a function of NumPy")
        what, remedy = f"{function} takes a tensor's plain numbers", f"Write {instead}, which tapes can follow"
    elif _is_store(frame):
        what = "assigning a tensor into an array stores its plain numbers"
        remedy = "Build the array at once, with np.stack([...]), or np.where(mask, new, old)"
    else:
        call = expression(at)
        what = f"{ast.unparse(call.func) if isinstance(call, ast.Call) else 'NumPy'} takes a tensor's plain numbers"
        remedy = _REMEDIES.get(names(at).function or "", "Write np.stack([...]) to make one tensor of several")
    return TypeError(
        f"{place(at)}: {what}, which no tape follows. {remedy}; if you mean plain numbers, write x.numpy(). "
        f"Otherwise a gradient from the tape {_entered(life)} would leave out this path without a word"
    )


def _entered(life: Any) -> str:
    return next((f"entered at {place(where)}" for _, what, where in reversed(life) if what == "enter"), "that records")
