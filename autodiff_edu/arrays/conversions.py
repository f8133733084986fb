"""Decide which conversions of a tensor to plain numbers are errors while a recording tape follows the tensor.

If you write `x.numpy()` or `float(x)`, you want plain numbers. When NumPy or Python converts on its own, as in
`a[0] = x` or `math.sin(x)`, the result looks right, but its gradient would silently be incomplete.
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

from ..text.frames import is_ours
from ..text.places import expression, names, place

READERS = ("matplotlib", "numpy.testing", "_pytest", *(f"autodiff_edu.{name}" for name in ("plots", "player")))
READERS += ("autodiff_edu.transforms.checks",)
"""The modules that may convert: they only show or compare numbers."""

_LOSE_NOTHING = {math.isnan, math.isinf, math.isfinite, math.isclose, math.floor, math.ceil, math.trunc}
_NAMES = {
    "fsum": "np.sum",
    "dist": "np.linalg.norm",
    "sumprod": "np.dot",
    "phase": "np.angle",
    "log": "np.log(x), and divide by np.log(base) if there is a base",
    "modf": "np.fmod(x, 1) and np.trunc(x)",
    "remainder": "x - y * np.round(x / y)",
    "polar": "np.abs(x) and np.angle(x)",
    "frexp": "n = np.floor(np.log2(np.abs(x))) + 1 and x / 2**n",
}
"""What to write for a function of `math` or `cmath` that NumPy calls something else, or does not have."""
_REMEDIES = {
    **dict.fromkeys(("full", "fill"), "Write np.broadcast_to(x, shape) to repeat a tensor"),
    "normal": "Write mean + deviation * rng.standard_normal(shape)",
    "uniform": "Write low + (high - low) * rng.random(shape)",
}
_AS_IT_IS = "Operators and NumPy functions accept tensors directly, and np.stack([...]) joins several"
_STORES = {dis.opmap.get(name) for name in ("STORE_SUBSCR", "STORE_SLICE")}  # the second since Python 3.12


def check_array(life: Any) -> None:
    """Raise a TypeError for a conversion to an array, unless it is only for showing or comparing.

    Parameters
    ----------
    life : iterable of (time, what, where)
        What happened to the tape; the message names it by where it was entered.
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
    function = _find_callee(frame)
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
    if module in ("math", "cmath") and function not in _LOSE_NOTHING:
        raise _lost(frame, life, f"{module}.{function.__name__}")
    if _is_part_of(module, "numpy") or function == "fill" or function is operator.setitem:
        raise _lost(frame, life)


def _asker() -> tuple[FrameType, list[str]]:
    """Return the frame outside NumPy and this package that asks for the numbers, and the modules on the way there."""
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
    return frame.f_code.co_code[frame.f_lasti] in _STORES


def _find_callee(frame: FrameType) -> Any:
    """Return the function that a frame is calling, or the name of a method; None if the code does not say."""
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
        if not isinstance(found, ModuleType | np.ndarray):  # asking for anything else might run code
            return None
        found = getattr(found, name, None)
    return found


def _lost(frame: FrameType, life: Any, function: str | None = None) -> TypeError:
    """Return the error for a conversion in a frame."""
    at = frame.f_code, frame.f_lasti
    if function is not None:
        name = function.partition(".")[2]
        instead = _NAMES.get(name) or (f"np.{name}" if hasattr(np, name) else None)
        what = f"{function} takes the plain number out of a tensor here"
        remedy = f"Write {instead}" if instead else "NumPy has no such function; write your own with ad.custom_gradient"
    elif _is_store(frame):
        what = "assigning a tensor into an array stores only its plain numbers"
        remedy = "Build the whole array at once with np.stack([...]) or np.where(mask, new, old)"
    else:
        call = expression(at)
        caller = ast.unparse(call.func) if isinstance(call, ast.Call) else "NumPy"
        what = f"{caller} takes the plain numbers out of a tensor here"
        remedy = _REMEDIES.get(names(at).function or "", _AS_IT_IS)
    return TypeError(
        f"{place(at)}: {what}, so the gradients of the tape {_describe_entry(life)} would silently miss this path. "
        f"{remedy}. If you do want plain numbers, write x.numpy()"
    )


def _describe_entry(life: Any) -> str:
    return next(
        (f"entered at {place(where)}" for _, what, where in reversed(life) if what == "enter"), "that is recording"
    )
