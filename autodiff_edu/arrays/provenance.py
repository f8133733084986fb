"""Arrays that remember that their numbers come from the arguments of a function, while the function is recorded.

A recorder sees operations on tensors. What a rule computes with plain NumPy it does not see: an order, an index, the
choice of a branch. Such numbers must not become constants of a program, so one of the recordings of a function is made
with marked arrays: whatever NumPy computes from them is marked too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from operator import getitem
from typing import Any

import numpy as np

from .validate import is_tensor

refusal: ContextVar[Callable[[], Exception | None] | None] = ContextVar("refusal", default=None)
"""While a function is recorded with marked arrays: returns the error for a number that was computed unseen, or None."""

_OF_SHAPES = {
    np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like, np.result_type, np.can_cast,
    np.iscomplexobj, np.isrealobj, np.common_type, np.may_share_memory, np.shares_memory,
}  # fmt: skip
"""The functions whose results depend on shapes and dtypes alone."""


class DependentArray(np.ndarray):
    """An array that depends on the arguments of a function; so does what NumPy computes from it.

    Attributes
    ----------
    answered : frozenset of str
        "bool" and "int", if the program asks this array the same question: then its answer may be used.
    recording : callable or None
        What `refusal` had while it was marked. The mark counts in that recording alone: the function may keep tensors,
        and a later recording takes them for constants.
    """

    answered: frozenset[str]
    recording: Callable[[], Exception | None] | None

    def __array_finalize__(self, other: Any) -> None:
        self.answered, self.recording = frozenset(), getattr(other, "recording", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **parameters: Any) -> Any:
        if not all(isinstance(x, np.ndarray) for x in inputs if hasattr(x, "__array_ufunc__")):
            return NotImplemented
        return compute(getattr(ufunc, method), inputs, parameters)

    def __array_function__(self, function: Any, types: Any, args: Any, parameters: Any) -> Any:
        if not all(issubclass(kind, np.ndarray) for kind in types):
            return NotImplemented
        if function in _OF_SHAPES:
            return function(*unmark(args), **unmark(parameters))
        return compute(function, args, parameters)

    def __getitem__(self, index: Any) -> Any:
        return compute(getitem, (self, index), {})

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __bool__(self) -> bool:
        return bool(self._answer("bool"))

    def __int__(self) -> int:
        return int(self._answer("int"))

    def __index__(self) -> int:
        return int(self._answer("int"))

    def __float__(self) -> float:
        return float(self._answer("float"))

    def __complex__(self) -> complex:
        return complex(self._answer("complex"))

    def _answer(self, question: str) -> Any:
        refuse = self.recording if is_marked(self) and question not in self.answered and not _is_seen() else None
        if refuse and (error := refuse()):
            raise error
        return unmark(self)


def _is_seen() -> bool:
    """Return whether NumPy asks, for an operation that is recorded: an index as in x[k]."""
    return sys._getframe(3).f_globals.get("__name__") == "autodiff_edu.core.tensor"


def _method(name: str) -> Callable[..., Any]:
    def call(array: Any, *args: Any, **parameters: Any) -> Any:
        return getattr(array, name)(*args, **parameters)

    return lambda *args, **parameters: compute(call, args, parameters)


for _name, _value in vars(np.ndarray).items():
    if not _name.startswith("_") and callable(_value) and _name != "setflags":
        setattr(DependentArray, _name, _method(_name))


def compute(function: Callable[..., Any], args: Any, parameters: Any) -> Any:
    """Call a function with the plain arrays; mark what it returns, if this recording marked one of them."""
    plain = unmark(tuple(args))
    found = function(*plain, **unmark(parameters))
    if type(found) is not np.bool_:  # of which there are only two
        for given, one in zip(args, plain, strict=True):
            if found is one:  # the same array, as without marks: a recorder knows arrays by their identity
                return given
    return mark(found) if is_marked((*args, *parameters.values())) else found


def unmark(value: Any) -> Any:
    """Return a value, and what it is made of, without the marks."""
    kind = type(value)
    if kind is DependentArray:
        array = np.ndarray.view(value, np.ndarray)
        return array if array.ndim else array[()]
    if kind in (tuple, list):
        return kind([unmark(part) for part in value])
    if kind is dict:
        return {name: unmark(part) for name, part in value.items()}
    return slice(unmark(value.start), unmark(value.stop), unmark(value.step)) if kind is slice else value


def mark(value: Any) -> Any:
    """Return what depends on the arguments, marked: arrays and numbers, and tuples and lists of them."""
    recording = refusal.get()
    if recording is None or is_tensor(value) or (type(value) is DependentArray and value.recording is recording):
        return value
    if isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
        # a copy, because what np.asarray makes of it then has it as its base, and can be recognized
        marked = np.array(np.asarray(value).view(DependentArray), order="K", subok=True)
        marked.recording = recording
        return marked
    if isinstance(value, tuple | list):
        parts = [mark(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def is_marked(value: Any, recording: Any = None) -> bool:
    """Return whether an array, the one that it is a view of, or a part of a tuple or list depends on the arguments.

    That is, of the function that is being recorded, or of another recording that is given.
    """
    if isinstance(value, tuple | list):
        return any(is_marked(part, recording) for part in value)
    if isinstance(value, slice):
        return is_marked((value.start, value.stop, value.step), recording)
    while isinstance(value, np.ndarray):
        if type(value) is DependentArray:
            return value.recording is not None and value.recording is (recording or refusal.get())
        value = value.base
    return False


def note_answer(array: Any, question: str) -> None:
    """Note that the program asks an array the question "bool" or "int" too, so that its answer may be used."""
    if type(array) is DependentArray:
        array.answered |= {question}
