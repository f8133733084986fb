"""`predict`: a question of the course, asked just before the cell that answers it."""

from __future__ import annotations

from .predictions import Prediction
from .values import find_course


def predict(number: str) -> Prediction:
    """Ask the learner what will happen, before the next cell shows it.

    Parameters
    ----------
    number : str
        Chapter and letter, such as "5.a".

    Returns
    -------
    Prediction
        A notebook shows it as a question with a place for the answer.

    Raises
    ------
    KeyError
        If there is no such question, listing those there are.

    Examples
    --------
    >>> predict("0.9")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    KeyError: "there is no prediction '0.9'; there are ...
    """
    return find_course(packed=True).prediction(number)
