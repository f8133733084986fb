"""Decide which conversions of a tensor to plain numbers are errors while a recording tape follows the tensor.

If you write `x.numpy()` or `float(x)`, you want plain numbers. When NumPy, Python or a library converts on its own, as
in `a[0] = x`, `math.sin(x)` or `self.activation(x)`, the result looks right, but its gradient would silently be
incomplete. So a conversion is an error unless the code that is running shows that someone asked for it.
"""

from __future__ import annotations

import ast
import dis
import math
import sys
from functools import lru_cache
from inspect import getattr_static
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from ..text.frames import is_ours, user_frame
from ..text.places import expression, names, place, position_of
from ..text.source_code import is_inside
from ..text.statements import is_theirs
from ..text.tracebacks import hide_frames

READERS = ("matplotlib", "numpy.testing", "_pytest", *(f"autodiff_edu.{name}" for name in ("plots", "player")))
READERS += ("autodiff_edu.transforms.checks",)
"""The modules that may convert: they only show or compare numbers."""

_ASKING = (float, int, complex)
_LOSING_NOTHING = (math.isnan, math.isinf, math.isfinite, math.isclose, math.floor, math.ceil, math.trunc)
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
_AS_IT_IS = (
    "Operators and NumPy functions accept tensors directly, np.stack([...]) joins several, and "
    "np.block([[...], [...]]) makes a matrix of them"
)
_STORES = {dis.opmap.get(name) for name in ("STORE_SUBSCR", "STORE_SLICE")}  # the second since Python 3.12
_UNPACKING = {dis.opmap[name] for name in ("UNPACK_SEQUENCE", "UNPACK_EX")}
_WITHOUT_VALUE = {"CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP", "PRECALL", "PUSH_NULL", "RESUME"}
_METHODS = {"__array__", "__float__", "__int__", "__complex__"}

Path = tuple[str, ...]
"""A name and its attributes, as in `np.linalg.norm`."""


class Functions(NamedTuple):
    """What an instruction calls, and the other functions in its expression, by their paths; None if not known.

    `mapped` has those that are handed to `map` or `filter`; if `formats`, the instruction is `%`.
    """

    called: Path | None
    mapped: tuple[Path, ...]
    named: tuple[Path, ...]
    formats: bool


def check_array(life: Any) -> None:
    """Raise a TypeError for a conversion to an array, unless it is only for showing or comparing.

    Parameters
    ----------
    life : iterable of (time, what, where)
        What happened to the tape; the message names it by where it was entered.
    """
    frame, through = _find_conversion()
    if not _are_readers(through):
        raise _lost(frame, life, "NumPy")


def check_number(life: Any) -> None:
    """Raise a TypeError for a conversion to a number, unless the code that is running asks for one by name."""
    frame, through = _find_conversion()
    if not _are_readers(through) and (any(_is_part_of(module, "numpy") for module in through) or not _asks(frame)):
        raise _lost(frame, life, "Python")


def _find_conversion() -> tuple[FrameType, list[str]]:
    """Return the frame that called a tensor's `__float__` or `__array__`, and the modules from there to other code."""
    frame = sys._getframe(2)
    while frame.f_code.co_name not in _METHODS and frame.f_back is not None:
        frame = frame.f_back
    converting = frame = frame.f_back or frame
    through = [frame.f_globals.get("__name__", "")]
    while is_ours[frame.f_code.co_filename] and frame.f_back is not None:
        frame = frame.f_back
        through.append(frame.f_globals.get("__name__", ""))
    return converting, through


def _are_readers(modules: list[str]) -> bool:
    return any(_is_part_of(module, reader) for module in modules for reader in READERS)


def _is_part_of(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _asks(frame: FrameType) -> bool:
    """Return whether code asks for a number; where a library or a comprehension's loop converts, code around it may."""
    while not _asks_here(frame):
        is_library = not is_theirs[frame.f_code.co_filename]
        if frame.f_back is None or not (is_library or _is_loop(frame)):
            return False
        frame = frame.f_back
    return True


def _is_loop(frame: FrameType) -> bool:
    """Return whether a comprehension takes the next item of what it was handed, as in `[v for v in map(float, x)]`."""
    code, offset = frame.f_code.co_code, frame.f_lasti
    while offset > 0 and code[offset] == dis.opmap["CACHE"]:  # where Python entered the next generator without C
        offset -= 2
    return code[offset] == dis.opmap["FOR_ITER"] and frame.f_code.co_name.endswith(("comp>", "expr>"))


def _asks_here(frame: FrameType) -> bool:
    """Return whether a frame is at `float(x)`, `map(float, x)`, `max(x, key=float)` or `"%g" % x`."""
    read = _read_functions(frame.f_code, frame.f_lasti)
    called = _find_function(frame, read.called)
    takes_key = any(called is function for function in (max, min, sorted, list.sort))
    handed = read.mapped or (read.named if takes_key else ())
    found = [called, *(_find_function(frame, path) for path in handed)]
    asks = any(one is function for one in found for function in (*_ASKING, *_LOSING_NOTHING))
    loses = bool(read.mapped) and _is_losing(found[-1])  # in map(f, map(g, x)), g is handed the tensors
    return read.formats or (asks and not loses)


@lru_cache(maxsize=1024)
def _read_functions(code: CodeType, offset: int) -> Functions:
    """Read off the instructions which functions are in the expression at an offset; its source may be unknown."""
    paths: dict[Any, Path | None] = {}
    mapped, before, formats = [], None, False
    whole = position_of(code, offset - 2 if code.co_code[offset] in _UNPACKING else offset)
    is_known = None not in whole  # Python may run without columns; then all names in the line count
    for part in dis.get_instructions(code):
        if part.offset >= offset:
            formats = part.opname == "BINARY_OP" and part.argrepr in ("%", "%=")
            break
        position = position_of(code, part.offset)
        is_part = is_inside(position, whole) if is_known else position[0] == whole[0]
        if part.opname in _WITHOUT_VALUE or not is_part:
            continue
        start = (position[0], position[2]) if is_known else part.offset
        path: Path | None = None
        if part.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            base = paths.get(start) if is_known else before
            path = base and (*base, part.argval)
        elif part.opname.startswith("LOAD_") and part.opname != "LOAD_CONST" and isinstance(part.argval, str):
            path = (part.argval,)
        if before in (("map",), ("filter",)) or not is_known:
            mapped.append(start)
        paths[start] = before = path
    called = paths.pop((whole[0], whole[2]), None)
    handed = tuple(path for start in mapped if (path := paths.get(start)))
    return Functions(called, handed, tuple(filter(None, paths.values())), formats)


def _find_function(frame: FrameType, path: Path | None) -> Any:
    """Return what a path stands for in a frame, if anything, without running code."""
    if not path:
        return None
    scopes = (frame.f_locals, frame.f_globals, frame.f_builtins)
    found: Any = next((scope[path[0]] for scope in scopes if path[0] in scope), None)
    for name in path[1:]:
        found = getattr_static(found, name, None)
        found = found.__func__ if isinstance(found, staticmethod) else found
    return found


def _is_store(frame: FrameType) -> bool:
    return frame.f_code.co_code[frame.f_lasti] in _STORES


def _find_mathematics(frame: FrameType) -> str | None:
    """Return the function of `math` or `cmath` in the expression that is running, as in "math.sin"."""
    read = _read_functions(frame.f_code, frame.f_lasti)
    for function in (_find_function(frame, path) for path in (read.called, *read.named)):
        if _is_losing(function):
            return f"{function.__module__}.{function.__name__}"
    return None


def _is_losing(function: Any) -> bool:
    """Return whether this is a function of `math` or `cmath` that has a slope."""
    computes = type(function) is type(math.sin) and function.__module__ in ("math", "cmath")
    return computes and not any(function is one for one in _LOSING_NOTHING)


def _lost(converting: FrameType, life: Any, taker: str) -> TypeError:
    """Return the error for a conversion, at the place in the user's code that led to it.

    If that calls nothing, `taker` is who takes the numbers.
    """
    frame = user_frame(converting, lambda path: not is_theirs[path])
    at = frame.f_code, frame.f_lasti
    call, function = expression(at), _find_mathematics(converting) or _find_mathematics(frame)
    caller = ast.unparse(call.func) if isinstance(call, ast.Call) else None
    if function is not None:
        name = function.partition(".")[2]
        instead = _NAMES.get(name) or (f"np.{name}" if hasattr(np, name) else None)
        taker = function if frame is converting else caller or function
        what = f"{taker} takes the plain number out of a tensor here"
        remedy = f"Write {instead}" if instead else "NumPy has no such function; write your own with ad.custom_gradient"
    elif _is_store(frame):
        what = "assigning a tensor into an array stores only its plain numbers"
        remedy = "Collect the parts in a list and join them with np.stack, or write np.where(mask, new, old)"
    else:
        what = f"{caller or taker} takes the plain numbers out of a tensor here"
        remedy = _REMEDIES.get(names(at).function or "", _AS_IT_IS)
    error = TypeError(
        f"{place(at)}: {what}, so the gradients of the tape {_describe_entry(life)} would silently miss this path. "
        f"{remedy}. If you do want plain numbers, write x.numpy()"
    )
    return hide_frames(error)


def _describe_entry(life: Any) -> str:
    return next(
        (f"entered at {place(where)}" for _, what, where in reversed(life) if what == "enter"), "that is recording"
    )
