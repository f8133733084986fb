"""Makes NumPy compute as some other CPU might: moves the last bit of every result that may differ between processors.

Two processors agree on `a + b`, on `a * b` and on a square root of real numbers, which IEEE 754 defines to the last
bit. They need not agree on a long sum or a matrix product, whose terms they may add in another order, nor on `exp`,
`sin`, `power`, a product of complex numbers, a Fourier transform or the solution of a system. `install(seed)` moves
each of these by one unit in the last place, up or down or not at all. By how much depends on the seed, the value, the
function and the shape alone, so one program computes the same number twice, as it does on a real processor, but two
ways of computing a number need not agree exactly. A result whose last bits are zero, such as 6.0 or exp(0), is exact
everywhere and stays.

NumPy's functions stay the objects that they are: their inner loops are replaced, through the C API that is meant for it
(`PyUFunc_ReplaceLoopBySignature`), and so operators of plain arrays are covered too. Left out are Python's `math`, the
powers and complex products of plain NumPy scalars, the method `ndarray.dot`, SciPy, and other processes that a program
starts.
"""

from __future__ import annotations

import ctypes
import inspect
import operator
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np

from ...core import tensor

ELEMENTWISE = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "power", "float_power"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "hypot", "cbrt"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
)
COMPLEX = ("multiply", "divide", "square", "absolute", "reciprocal")
"""Exact for real numbers, and several operations in one for complex ones."""
PRODUCTS = ("matmul", "vecdot", "matvec", "vecmat")
REDUCED = ("add", "multiply")
"""Exact for two numbers, but not as a sum or product of many."""
IN_PYTHON = ("einsum", "tensordot", "linalg.norm", "linalg.multi_dot", "correlate", "convolve")
"""Functions written in Python around a loop that cannot be replaced by itself."""
IN_C = ("dot", "vdot", "inner")
"""Functions written in C that are not ufuncs: a stand-in takes their place in NumPy."""
EXACT_BITS = {np.dtype(np.uint64): 12, np.dtype(np.uint32): 6}
"""How many zeros at the end of a result say that it is exact."""

_LOOP = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_INTEGERS: dict[str, tuple[np.dtype[Any], int]] = {"f": (np.dtype(np.uint32), 1), "d": (np.dtype(np.uint64), 1)}
_INTEGERS |= {"F": (np.dtype(np.uint32), 2), "D": (np.dtype(np.uint64), 2)}
_REPLACE_LOOP = 30  # the place of PyUFunc_ReplaceLoopBySignature in NumPy's stable table of functions
_FLAGS = 0x3F  # every floating-point exception
_kept: list[Any] = []  # what C refers to


def install(seed: int) -> None:
    """Move last bits from now on, in this process, for good.

    Parameters
    ----------
    seed : int
        Different seeds stand for different processors.

    Raises
    ------
    RuntimeError
        If last bits are moved already.
    """
    if _kept:
        raise RuntimeError("last bits are already moved in this process; start another one for another seed")
    ufuncs = [getattr(np, name) for name in (*ELEMENTWISE, *PRODUCTS, *REDUCED, *COMPLEX) if hasattr(np, name)]
    for name in ("numpy.linalg._umath_linalg", "numpy.fft._pocketfft_umath"):
        ufuncs += [found for found in vars(import_module(name)).values() if isinstance(found, np.ufunc)]
    for ufunc in dict.fromkeys(ufuncs):
        for signature in dict.fromkeys(ufunc.types):  # some are listed twice
            letters = _INTEGERS.keys() - ("fd" if ufunc.__name__ in COMPLEX and ufunc.__name__ not in REDUCED else "")
            if set(signature) & letters:
                _replace(ufunc, signature, seed)
    for name in IN_PYTHON:
        _replace_body(operator.attrgetter(name)(np), seed)
    stand_ins = [_StandIn(getattr(np, name), seed) for name in IN_C]
    for name, stand_in in zip(IN_C, stand_ins, strict=True):
        setattr(np, name, stand_in)
    _replace_door({*stand_ins}, seed)
    _hide_from_profilers()


def move(value: Any, salt: int) -> Any:
    """Return a number or an array with its last bits moved, and anything else as it is.

    Parameters
    ----------
    value : object
        A float or complex NumPy scalar or array is moved.
    salt : int
        What it depends on besides the value.

    Examples
    --------
    >>> move(np.array([6.0, 0.5]), 1)
    array([6. , 0.5])
    >>> moved = {float(move(np.float64(0.1), salt)) for salt in range(20)}
    >>> sorted(moved)
    [0.09999999999999999, 0.1, 0.10000000000000002]
    """
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.char not in _INTEGERS:
        return value
    copy = np.array(value)
    _move(copy.reshape(-1).view(_INTEGERS[value.dtype.char][0]), salt)
    return copy if isinstance(value, np.ndarray) else copy[()]


def _move(bits: Any, salt: int) -> None:
    """Move floats in place, given as the unsigned integers that their bits are."""
    # In parts, because a program may measure its memory.
    walk: Any = np.nditer(bits, ["buffered", "external_loop"], [["readwrite"]], buffersize=8192)
    with walk:
        for part in walk:
            wide = part.astype(np.uint64)
            mixed = (wide ^ np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(62)
            inexact = (wide & np.uint64((1 << EXACT_BITS[bits.dtype]) - 1)) != 0
            wide += inexact & (mixed == 1)
            wide -= inexact & (mixed == 2)
            part[...] = wide


def _replace(ufunc: np.ufunc, signature: str, seed: int) -> None:
    """Put a loop that moves the results in place of the loop that a ufunc has for some dtypes."""
    letters = signature.replace("->", "")
    salt = zlib.crc32(f"{seed} {ufunc.__name__} {signature}".encode())
    is_real = not set(signature) & set("FD")
    is_reduced = ufunc.__name__ in REDUCED and (is_real or ufunc.__name__ not in COMPLEX)
    views = _reduced_view if is_reduced else _views(ufunc, letters)
    before = _LOOP()

    def loop(arguments: int, dimensions: int, steps: int, data: int) -> None:
        results = [*views(arguments, dimensions, steps, letters)]  # first, because some loops count the arguments up
        before(arguments, dimensions, steps, data)
        flags = _libm().fetestexcept(_FLAGS)  # what NumPy warns of afterwards
        for address, letter, shape, strides in results:
            if 0 in shape:
                continue
            integers, parts = _INTEGERS[letter]
            low = sum((n - 1) * min(step, 0) for n, step in zip(shape, strides, strict=True))
            high = sum((n - 1) * max(step, 0) for n, step in zip(shape, strides, strict=True))
            memory = (ctypes.c_char * (high - low + parts * integers.itemsize)).from_address(address + low)
            whole = (*shape, parts), (*strides, integers.itemsize)
            bits: Any = np.ndarray(whole[0], integers, memoryview(memory), -low, whole[1])
            _move(bits, salt + 7919 * bits.size)
        _libm().feraiseexcept(flags)

    after = _LOOP(loop)
    types = (ctypes.c_int * len(letters))(*(np.dtype(letter).num for letter in letters))
    replace = _replace_loop()
    if replace(id(ufunc), ctypes.cast(after, ctypes.c_void_p), types, ctypes.byref(before)) != 0:
        raise RuntimeError(f"NumPy has no loop {signature} of {ufunc.__name__}")  # it named it itself
    _kept.append((after, before))


def _replace_loop() -> Callable[..., int]:
    functions = import_module("numpy._core._multiarray_umath")._UFUNC_API
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(functions, None), ctypes.POINTER(ctypes.c_void_p))
    kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return kind(table[_REPLACE_LOOP] or 0)


@cache
def _libm() -> Any:
    return ctypes.CDLL(None)


View = tuple[int, str, tuple[int, ...], tuple[int, ...]]


def _reduced_view(arguments: int, dimensions: int, steps: int, letters: str) -> Iterator[View]:
    """Find the one number into which a loop adds all others, if that is what it does."""
    address, step = (ctypes.c_void_p * 3).from_address(arguments), (ctypes.c_ssize_t * 3).from_address(steps)
    if address[0] == address[2] and step[0] == step[2] == 0:
        yield address[2] or 0, letters[2], (), ()


def _views(ufunc: np.ufunc, letters: str) -> Callable[[int, int, int, str], Iterator[View]]:
    """Return what finds the results that a loop has written: their addresses, dtypes, shapes and strides."""
    cores = [re.findall(r"\w+", part) for part in re.findall(r"\(([^)]*)\)", ufunc.signature or "")]
    cores = cores or [[] for _ in letters]
    names = list(dict.fromkeys(name for core in cores for name in core))
    begins = [len(letters) + sum(map(len, cores[:k])) for k in range(len(cores))]
    total = len(letters) + sum(map(len, cores))

    def views(arguments: int, dimensions: int, steps: int, letters: str) -> Iterator[View]:
        address = (ctypes.c_void_p * len(letters)).from_address(arguments)
        size = (ctypes.c_ssize_t * (1 + len(names))).from_address(dimensions)
        step = (ctypes.c_ssize_t * total).from_address(steps)
        for k in range(ufunc.nin, len(letters)):
            if letters[k] in _INTEGERS:
                shape = size[0], *(size[1 + names.index(name)] for name in cores[k])
                yield address[k] or 0, letters[k], shape, (step[k], *step[begins[k] : begins[k] + len(cores[k])])

    return views


def _replace_body(function: Any, seed: int) -> None:
    """Make a function that NumPy wrote in Python move what it returns; it stays the same object."""
    inner = function._implementation
    body = FunctionType(inner.__code__, inner.__globals__, inner.__name__, inner.__defaults__, inner.__closure__)
    body.__kwdefaults__ = inner.__kwdefaults__
    signature = inspect.signature(inner)
    salt = zlib.crc32(f"{seed} {inner.__name__}".encode())

    def moved(*args: Any, **kwargs: Any) -> Any:
        value = body(*args, **kwargs)
        is_view = any(np.may_share_memory(value, x) for x in args if isinstance(x, np.ndarray))
        return value if is_view else move(value, salt)  # np.einsum("ii->i", a) computes nothing

    inner.__globals__[f"_moved_{inner.__name__}"] = moved
    source = f"lambda *args, **kwargs: _moved_{inner.__name__}(*args, **kwargs)"
    inner.__code__ = eval(source).__code__
    inner.__defaults__ = inner.__kwdefaults__ = None
    inner.__signature__ = signature


class _StandIn:
    """A function that moves what another returns, and looks like that one in every way."""

    def __init__(self, function: Any, seed: int) -> None:
        self.__wrapped__, self.salt = function, zlib.crc32(f"{seed} {function.__name__}".encode())
        self.__doc__, self.__module__ = function.__doc__, function.__module__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return move(self.__wrapped__(*args, **kwargs), self.salt)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __eq__(self, other: object) -> bool:
        return other is self.__wrapped__ or other is self

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __reduce__(self) -> Any:
        return _of_numpy, (self.__wrapped__.__name__,)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self.__wrapped__)


def _of_numpy(name: str) -> Any:
    return getattr(np, name)


def _replace_door(stand_ins: set[_StandIn], seed: int) -> None:
    """Move what tensors compute without a replaced loop: with functions of C, and powers of single numbers."""
    computed, salt = tensor._computed, zlib.crc32(f"{seed} power".encode())
    moves = {stand_in.__wrapped__: stand_in for stand_in in stand_ins}

    def power(a: Any, b: Any) -> Any:
        value = operator.pow(a, b)
        return move(np.float64(value) if type(value) is float else value, salt) if np.isscalar(value) else value

    none = tensor._NONE

    def moved(
        compute: Any, operation: Any, inputs: Any, ids: Any, values: Any, parameters: Any = none, call: Any = None
    ) -> Any:
        compute = power if compute is operator.pow else moves.get(compute, compute)
        return computed(compute, operation, inputs, ids, values, parameters, call)

    tensor._computed = moved


def _hide_from_profilers() -> None:
    """Leave the calls that happen in this file out of what a program counts with `sys.setprofile`."""
    set_profile = sys.setprofile

    def is_ours(frame: Any) -> bool:
        return frame is not None and (frame.f_code.co_filename == __file__ or is_ours(frame.f_back))

    def without_ours(listen: Any) -> Any:
        return listen and (lambda frame, event, arg: None if is_ours(frame) else listen(frame, event, arg))

    sys.setprofile = lambda function: set_profile(without_ours(function))
