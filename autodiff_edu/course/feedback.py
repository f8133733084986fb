"""What an exercise answers, and the questions that its checks ask of an answer first.

A check is a function that takes an answer and either returns a sentence (the answer is right, and this is why) or
raises `NotYet` with a hint. The functions below turn what a learner may hand in, which is anything, into what a check
can work with; where that fails they raise `NotYet` as well.
"""

from __future__ import annotations

import dis
import inspect
import linecache
import math
import re
import sys
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from ..core.events import Event
from ..core.tensor import Tensor
from ..trace.hook import hook

STILL_MISSING = "Replace the three dots: {} is still missing."


class NotYet(Exception):  # noqa: N818 (no error of anybody's)
    """The answer is not right yet; the message is the hint.

    Examples
    --------
    >>> raise NotYet("Count the turns of the loop.")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: Count the turns of the loop.
    """


@dataclass(frozen=True, slots=True)
class Feedback:
    """What `check` says of an answer; true when it is right.

    Attributes
    ----------
    exercise : str
        The exercise, such as "1.1".
    right : bool
        Whether the answer is right.
    message : str
        Why it is right, or a hint.

    Examples
    --------
    >>> Feedback("1.1", False, "Count the turns of the loop.")
    1.1: Not yet. Count the turns of the loop.
    >>> bool(Feedback("1.1", True, "Eight."))
    True
    """

    exercise: str
    right: bool
    message: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{self.exercise}: {'Right.' if self.right else 'Not yet.'} {self.message}"

    def _repr_markdown_(self) -> str:
        return f"**{self.exercise}: {'Right.' if self.right else 'Not yet.'}** {self.message}"


def number(answer: Any, name: str = "your answer") -> float:
    """Read an answer as one finite number.

    Parameters
    ----------
    answer : object
        A number, a tensor or an array of one element will do.
    name : str
        What to call it in the hint.

    Raises
    ------
    NotYet
        If it is anything else, saying what it is.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> number(8), number(ad.constant(8.0))
    (8.0, 8.0)
    >>> number("eight")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: I need one number here, and your answer is `'eight'`, a str.
    """
    if answer is ...:
        raise NotYet(STILL_MISSING.format(name))
    if answer is None:
        raise NotYet(f"I need one number here, and {name} is None. Is a `return` missing somewhere?")
    try:
        value = float(answer.item() if getattr(answer, "size", None) == 1 else answer) + 0.0
    except Exception:
        value = math.nan
    if isinstance(answer, bool | str | bytes) or not math.isfinite(value):
        raise NotYet(f"I need one number here, and {name} is {shorten(answer)}, {kind_of(answer)}.")
    return value


def numbers(answer: Any, name: str = "what your function returns") -> Any:
    """Return an answer as an array of float64.

    Parameters
    ----------
    answer : object
        Numbers in any form: an array, a tensor, a list.
    name : str
        What to call it in the hint.

    Raises
    ------
    NotYet
        If it is anything else, saying what it is.

    Examples
    --------
    >>> numbers([1, 2])
    array([1., 2.])
    >>> numbers("up")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: I need an array of numbers, and what your function returns is `'up'`.
    """
    if answer is ...:
        raise NotYet(STILL_MISSING.format(name))
    if answer is None:
        raise NotYet(f"I need an array of numbers, and {name} is None. Is a `return` missing?")
    try:
        return np.asarray(answer, dtype=float)
    except Exception:  # an answer may be an object whose own methods raise
        raise NotYet(f"I need an array of numbers, and {name} is {shorten(answer)}.") from None


def call(function: Callable[..., Any], *args: Any, written: str) -> Any:
    """Call a learner's function; what it raises becomes a hint, but for a hint, which stays as it is.

    Parameters
    ----------
    function : callable
        Of the learner.
    *args : object
        Its arguments.
    written : str
        The call as the learner would write it.

    Raises
    ------
    NotYet
        If the function raises, or a function of the check that it calls has a hint.

    Examples
    --------
    >>> call(math.log, 0, written="answer(0)")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: answer(0) raised ValueError: `math domain error`.
    """
    try:
        return function(*args)
    except NotYet:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, TypeError) and "ellipsis" in str(error).lower():
            raise NotYet(f"{written} computes with three dots. Replace all of them.") from error
        raise NotYet(f"{written} raised {describe_error(error, function)}.") from error


def describe_error(error: BaseException, function: Any) -> str:
    """Return what an error says, and the line of a learner's function in which it was raised, if that can be read.

    >>> def halve(x):
    ...     return x / 0
    >>> try:
    ...     halve(1)
    ... except ZeroDivisionError as error:
    ...     describe_error(error, halve)
    'ZeroDivisionError in the line `return x / 0`: `division by zero`'
    >>> describe_error(StopIteration(), halve)
    'StopIteration'
    """
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    lines = [number for frame, number in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    text = linecache.getline(file, lines[-1]).strip() if file and lines else ""
    where = f" in the line {quote(text, 60)}" if text else ""
    said = f": {quote(str(error))}" if str(error) else ""
    return f"{type(error).__name__}{where}{said}"


def find_unread_arguments(function: Any) -> dict[int, str]:
    """Return the parameters that a function never reads, by their places.

    >>> find_unread_arguments(lambda f, x: x + 1)
    {0: 'f'}
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    read = _names(code, ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "STORE_FAST_LOAD_FAST"))
    names = code.co_varnames[inspect.ismethod(function) : code.co_argcount]  # nobody hands in self
    return {place: name for place, name in enumerate(names) if name not in read}


def find_notebook_values(function: Any) -> list[str]:
    """Return the names of the numbers, arrays and tensors that a function reads from outside.

    >>> find_notebook_values(find_unread_arguments)
    []
    """
    code, around = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    values = (int, float, complex, list, np.ndarray, np.generic, Tensor)
    names = sorted(_names(code, ("LOAD_GLOBAL", "LOAD_NAME"))) if code else []
    return [name for name in names if isinstance(around.get(name), values)]


def _names(code: CodeType, kinds: tuple[str, ...]) -> set[str]:
    """Return the names that instructions of some kinds have, also those of functions inside."""
    found: set[str] = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith(kinds):
            found.update(instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,))
        if isinstance(instruction.argval, CodeType):
            found |= _names(instruction.argval, kinds)
    return found


def observe(function: Callable[..., Any], *args: Any, written: str) -> tuple[Any, list[Event]]:
    """Call a learner's function as `call` does; give its result, and what its tapes did meanwhile.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0, name="x")
    >>> given, events = observe(x.assign, 4.0, written="x.assign(4.0)")
    >>> [type(event).__name__ for event in events]
    ['Assign']
    """
    events: list[Event] = []
    with hook(events.append):
        return call(function, *args, written=written), events


def forbid(f: Callable[[Any], Any], refused: Mapping[Any, str], instead: str) -> Callable[[Any], Any]:
    """Return `f`, which refuses to be called from some functions, under whatever names those were imported.

    Parameters
    ----------
    f : callable
        What a learner's answer differentiates.
    refused : dict
        The name of each function that the exercise leaves to the learner, by the code object that calls `f`.
    instead : str
        How the hint ends.

    Examples
    --------
    >>> def ready_made(f):
    ...     return f(3.0)
    >>> ready_made(forbid(abs, {ready_made.__code__: "ready_made"}, "write it yourself."))
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: That is `ready_made`, which this exercise leaves to you: write it yourself.
    """

    def called(x: Any) -> Any:
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code in refused:
                raise NotYet(f"That is `{refused[frame.f_code]}`, which this exercise leaves to you: {instead}")
            frame = frame.f_back
        return f(x)

    return called


def needs_function(answer: Any, signature: str) -> None:
    """Refuse an answer that cannot be called.

    Examples
    --------
    >>> needs_function(3, "rule(g, z, x, y)")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: I need a function, rule(g, z, x, y), and your answer is `3`, an int. \
Hand in the function itself, without calling it.
    """
    if not callable(answer):
        raise NotYet(
            f"I need a function, {signature}, and your answer is {shorten(answer)}, {kind_of(answer)}. "
            "Hand in the function itself, without calling it."
        )


def kind_of(answer: Any) -> str:
    """Return the type of an object, as in "an int".

    >>> kind_of(3), kind_of("three")
    ('an int', 'a str')
    """
    name = type(answer).__name__
    return f"{'an' if name[0] in 'aeiou' or name == 'ndarray' else 'a'} {name}"


def needs_dict(answer: Any, example: str) -> None:
    """Refuse an answer that is not a dict; `example` shows the beginning of one.

    Examples
    --------
    >>> needs_dict(3, '{"a": 1.0, ...}')
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: I need a dict, as in {"a": 1.0, ...}, and your answer is `3`.
    """
    if not isinstance(answer, dict):
        raise NotYet(f"I need a dict, as in {example}, and your answer is {shorten(answer)}.")


def needs_each(answer: dict[Any, Any], names: Collection[Any], missing: str) -> None:
    """Refuse a dict without an answer to each name; `missing` begins the hint.

    Examples
    --------
    >>> needs_each({"a": 1.0}, "abc", "No slope is given for")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: No slope is given for b, c.
    >>> needs_each({"a": 1.0, "b": ...}, "ab", "No slope is given for")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: Replace the three dots. Still missing: b.
    """
    between = " and " if len(names) == 2 else ", "
    if absent := [str(name) for name in names if name not in answer]:
        raise NotYet(f"{missing} {between.join(absent)}.")
    if missing_parts := [str(name) for name in names if answer[name] is ...]:
        raise NotYet(f"Replace the three dots. Still missing: {between.join(missing_parts)}.")


def near(a: Any, b: Any, within: float = 1e-6, equal_nan: bool = False) -> bool:
    """Return whether two numbers or arrays have the same shape and agree, by default to a millionth.

    Beside the larger of two numbers, they may differ by `within`; beside nothing, by a hundredth of that, and by a
    hundred-millionth at most.

    >>> near(0.1 + 0.2, 0.3), near(1.0, 1.001), near([1.0], [1.0, 1.0])
    (True, False, False)
    >>> near(1.0, 1.001, within=0.01), near(0.0, 1e-5, within=0.01), near(0.0, 1e-9, within=0.01)
    (True, False, True)
    """
    if np.shape(a) != np.shape(b):
        return False
    one, other = (np.asarray(each.numpy() if isinstance(each, Tensor) else each) * 1.0 for each in (a, b))
    with np.errstate(all="ignore"):
        gap, size = np.abs(one - other), np.maximum(np.abs(one), np.abs(other))
        agree = (one == other) | (np.isfinite(gap) & (gap <= np.maximum(within * size, min(within, 1e-6) / 100)))
    return bool(np.all(agree | (np.isnan(one) & np.isnan(other)) if equal_nan else agree))


def shorten(answer: Any) -> str:
    """Write an object as code of at most 60 characters, without addresses, whatever its repr does.

    >>> shorten("x" * 100)[-4:]
    '...`'
    """
    try:
        text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(answer))
    except Exception:
        return "something that cannot be printed"
    return quote(text, 60)


def quote(text: str, longest: int = 200) -> str:
    """Quote a text as Markdown's code, on one line, so that nothing in it is taken for markup.

    >>> quote("a < b"), quote("")
    ('`a < b`', '``')
    """
    text = " ".join(text.replace("`", "'").split())
    return f"`{text if len(text) <= longest else text[: longest - 3] + '...'}`"
