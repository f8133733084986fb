"""`check`: the one function that all exercises of the course share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .feedback import Feedback
from .values import find_course

LISTENERS: list[Callable[[Feedback], object]] = []
"""Callables that are told what `check` answers: each is called with the `Feedback` before `check` returns it."""


def check(exercise: str, answer: Any) -> Feedback:
    """Judge an answer to an exercise: it is right, or a hint says what to think about.

    Parameters
    ----------
    exercise : str
        Chapter and number, such as "1.1".
    answer : object
        Whatever the exercise asks for: a number, a set, a dict, a function. Anything else gets a sentence too.

    Returns
    -------
    Feedback
        True when the answer is right. A notebook shows it; `feedback.message` is the text alone.

    Raises
    ------
    KeyError
        If there is no such exercise: the message lists those there are, or names the new id of one that has moved.

    Examples
    --------
    >>> check("1.1", ...)
    1.1: Not yet. Replace the three dots with your answer and run the cell again.
    >>> check("1.1", 4).right
    False
    >>> check("0.9", 4)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    KeyError: "there is no exercise '0.9'; there are ...
    """
    feedback = find_course(packed=True).exercise(exercise).respond(exercise, answer)
    for listener in tuple(LISTENERS):
        listener(feedback)
    return feedback
