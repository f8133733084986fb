"""`check`: the one function that all exercises of the course share."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.resources import files
from typing import Any

from .feedback import Feedback, NotYet, shortened
from .numbering import chapter_of

CHAPTERS = sorted(
    file.name.removesuffix(".py") for file in files(f"{__package__}.chapters").iterdir() if "chapter_" in file.name
)
EXERCISES: dict[str, Callable[[Any], str]] = {
    exercise: judge
    for chapter in CHAPTERS
    for exercise, judge in import_module(f"{__package__}.chapters.{chapter}").EXERCISES.items()
}
"""The check of every exercise, by its id."""
LISTENERS: list[Callable[[Feedback], object]] = []
"""Callables that are told what `check` answers: each is called with the `Feedback` before `check` returns it."""


def exercises_of(chapter: int | str) -> list[str]:
    """Return the exercises of a chapter, in order.

    Examples
    --------
    >>> exercises_of(1), exercises_of("A")
    (['1.1', '1.2', '1.3'], [])
    """
    return [exercise for exercise in EXERCISES if chapter_of(exercise) == chapter]


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
    1.1: Not yet. Replace the three dots by your answer and run the cell again.
    >>> check("1.1", 4).right
    False
    >>> check("0.9", 4)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    KeyError: "there is no exercise '0.9'; there are ...
    """
    if type(exercise) is not str or exercise not in EXERCISES:
        raise KeyError(f"there is no exercise {exercise!r}; there are {', '.join(EXERCISES)}")
    feedback = _judge(exercise, answer)
    for listener in tuple(LISTENERS):
        listener(feedback)
    return feedback


def _judge(exercise: str, answer: Any) -> Feedback:
    if answer is ...:
        return Feedback(exercise, False, "Replace the three dots by your answer and run the cell again.")
    try:
        return Feedback(exercise, True, EXERCISES[exercise](answer))
    except NotYet as hint:
        return Feedback(exercise, False, str(hint))
    except Exception as error:  # an answer may be an object whose own methods raise
        kind = type(answer).__name__
        return Feedback(
            exercise,
            False,
            f"I cannot read {shortened(answer)}, of type {kind}: looking at it raised {type(error).__name__}. "
            "Compare it with what the exercise asks for.",
        )
