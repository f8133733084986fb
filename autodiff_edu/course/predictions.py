"""`Prediction`: what the course asks a learner before the cell that answers it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from numbers import Rational, Real
from types import MappingProxyType
from typing import Any

from ..player.prediction import bundle, seal
from ..text.frames import user_frame

Answer = float | tuple[int, ...] | str | None


def where_made(file: str) -> tuple[str, int]:
    """Return the file and the line outside a file, and outside what dataclass writes, that makes a value."""
    frame = user_frame(sys._getframe(1), {file, "<string>"}.__contains__)
    return frame.f_code.co_filename, frame.f_lineno


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """A question with its answer; `predict` shows it.

    A right answer, or a wrong one twice, settles it, and so does the button "Show me"; then the answer and `why` are
    shown. In the book the folded output of the next cell opens too. The first wrong answer gets its hint.

    Parameters
    ----------
    question : str
        As plain text that ends with a question mark; `code` may stand in backticks, here and in the other texts.
    answer : float, None, tuple of int, or str
        A number or None, or the shape of an array: then the learner types it. Or one of `choices`.
    choices : tuple of str
        What to choose from; if there are none, the answer is typed.
    hints : mapping
        By a wrong answer, the hint for it. Any other wrong answer gets a general one.
    why : str
        What is said once the question is settled.
    within : float
        Relative tolerance of a number: 0.01 is 1 %.

    Raises
    ------
    TypeError
        If a part is of a type that it cannot have.
    ValueError
        If the answer is not among the choices, a hint belongs to no wrong answer, or a text is empty or broken off.

    Examples
    --------
    >>> Prediction("What is the slope of `x * x` at x = 3?", answer=6, hints={9: "That is the value."}, why="2x is 6.")
    Predict: What is the slope of `x * x` at x = 3?
    >>> Prediction("What is the slope?", answer="0", choices=("5", "None"), why="It is flat.")
    Traceback (most recent call last):
        ...
    ValueError: the answer to 'What is the slope?' is '0', but the choices are '5', 'None': make it one of them
    """

    question: str
    _: KW_ONLY
    answer: Answer
    choices: tuple[str, ...] = ()
    hints: Mapping[Any, str] = field(default_factory=dict)
    why: str
    within: float = 0.01
    where: tuple[str, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", where_made(__file__))
        for name, text in [("question", self.question), ("why", self.why), *_named("a hint", self.hints)]:
            _check_text(name, text)
        object.__setattr__(self, "hints", MappingProxyType(dict(self.hints)))
        if not self.question.endswith("?"):
            raise ValueError(f"{self.question!r} is not a question: end it with a question mark")
        if not _is_number(self.within) or not 0 <= self.within < 1:
            raise ValueError(f"within is {self.within!r}, not a part from 0 to 1: write 0.01 for 1 %")
        self._check_choices()
        for wrong in self.hints:
            if self._is_right(self._check(wrong, "a hint's wrong answer")):
                raise ValueError(f"the hint for {wrong!r} is never shown: {wrong!r} is right for {self.question!r}")

    def _check_choices(self) -> None:
        choices: Any = self.choices
        if not isinstance(choices, tuple) or not all(isinstance(choice, str) for choice in choices):
            raise TypeError(f'choices is {choices!r:.60}, not a tuple of str: write ("0", "None")')
        for choice in choices:
            _check_text("a choice", choice)
        listed = ", ".join(map(repr, choices))
        if len(choices) == 1 or len(set(choices)) < len(choices):
            raise ValueError(f"the choices are {listed}: write two or more, each once")
        answer = self._check(self.answer, "answer")
        if choices and answer not in choices:
            raise ValueError(
                f"the answer to {self.question!r} is {answer!r}, but the choices are {listed}: make it one of them"
            )
        if choices and (unknown := [wrong for wrong in self.hints if wrong not in choices]):
            raise ValueError(f"there is a hint for {unknown[0]!r}, which is not one of the choices {listed}")

    def _check(self, answer: Any, name: str) -> Answer:
        """Return an answer of the kind that this question asks for."""
        asks = self._asks
        if asks == "choice":
            fits = isinstance(answer, str)
        elif asks == "shape":
            fits = isinstance(answer, tuple) and all(_is_size(axis) for axis in answer)
        else:
            fits = answer is None or _is_number(answer)
        if not fits:
            wanted = {"choice": "a str, one of the choices", "shape": "a shape, such as (2, 3)", "number": "a number"}
            more = ", or a str with choices to choose from" if asks == "number" and isinstance(answer, str) else ""
            raise TypeError(f"{name} is {answer!r:.60}; write {wanted[asks]}{more}")
        if asks == "number" and answer is not None and not _has_a_float(answer):
            raise ValueError(f"{name} is too large for the page to compare: the largest number is about 1.8e308")
        checked: Answer = answer
        return checked

    @property
    def _asks(self) -> str:
        if self.choices:
            return "choice"
        return "shape" if isinstance(self.answer, tuple) else "number"

    def _is_right(self, answer: Any) -> bool:
        """Judge as answers.js does."""
        right: Any = self.answer
        if _is_number(answer) and _is_number(right) and math.isfinite(right):
            return abs(float(answer) - float(right)) <= (self.within + 1e-12) * abs(float(right))
        return _text(answer) == _text(right)

    def __repr__(self) -> str:
        return f"Predict: {self.question}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        hints = {_text(wrong): hint for wrong, hint in self.hints.items()}
        answer = {"right": _text(self.answer), "hints": hints, "why": self.why, "within": float(self.within)}
        return bundle(seal(self.question, self._asks, self.choices, **answer))


def _named(name: str, texts: Mapping[Any, str]) -> list[tuple[str, str]]:
    if not isinstance(texts, Mapping):
        raise TypeError(f'hints is {texts!r:.60}, not a dict: write {{wrong answer: "the hint for it"}}')
    return [(name, text) for text in texts.values()]


def _check_text(name: str, text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{name} is {text!r:.60}, not a str")
    if not text.strip() or text != text.strip():
        raise ValueError(f"{name} is {text!r:.60}: write some text, without spaces around it")
    if text.count("`") % 2:
        raise ValueError(f"{name} has a backtick without its partner: {text!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _has_a_float(value: Any) -> bool:
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _is_size(axis: Any) -> bool:
    return hasattr(axis, "__index__") and not isinstance(axis, bool) and axis >= 0


def _text(answer: Any) -> str:
    """Write an answer as a learner may type it, and as answers.js reads it."""
    if isinstance(answer, tuple):
        return str(tuple(map(int, answer)))
    if isinstance(answer, Rational) or not isinstance(answer, Real):
        return str(answer)  # a fraction as 1/3, which answers.js divides
    short = f"{float(answer):.10g}"
    return short if float(short) == answer else repr(float(answer)).removesuffix(".0")
