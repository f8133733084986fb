"""Milestones of a project: each part of an answer is judged, the right ones are counted, and the next gets a hint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..core.events import Record
from .feedback import NotYet, call, needs_dict, observe, shortened


class StillOpen(NotYet):
    """What was handed in for a milestone still returns the three dots."""


@dataclass(frozen=True, slots=True)
class Milestone:
    """One step of a project.

    Attributes
    ----------
    name : str
        The key in the answer, such as "second"; in projects whose answer is not a dict, only what to call the step.
    next : str
        What to hand in, told when this is the first step that is still open. A sentence.
    judge : callable
        Takes what was handed in for this step and the whole answer; raises `NotYet` with a hint if it is not right yet.
    """

    name: str
    next: str
    judge: Callable[[Any, Any], object]


def reached(answer: Any, milestones: Sequence[Milestone], example: str) -> str:
    """Judge a dict with a part for each milestone: count those that are right, in any order.

    Parameters
    ----------
    answer : dict
        By each milestone's name, what is handed in for it; three dots, or nothing, where it is still to come.
    milestones : sequence of Milestone
        In the order in which the hints take them.
    example : str
        How an answer begins, for the hint if it is anything else.

    Returns
    -------
    str
        That all are reached.

    Raises
    ------
    NotYet
        If one isn't: how many are reached, and the hint for the first that isn't.

    Examples
    --------
    >>> def is_even(part, answer):
    ...     if part % 2:
    ...         raise NotYet("3 is odd.")
    >>> steps = [Milestone("a", "Hand in an even number.", is_even), Milestone("b", "Hand in another.", is_even)]
    >>> reached({"a": 2, "b": 4}, steps, '{"a": 2}')
    'All 2 milestones reached.'
    >>> reached({"a": 2, "b": 3}, steps, '{"a": 2}')
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: 1 of 2 milestones reached. Milestone 2, `b`: 3 is odd.
    >>> reached({"b": 4}, steps, '{"a": 2}')
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: 1 of 2 milestones reached. Next, `a`: Hand in an even number.
    >>> reached({}, steps, '{"a": 2}')
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: 0 of 2 milestones reached. Next, `a`: Hand in an even number.
    """
    needs_dict(answer, example)
    names = [milestone.name for milestone in milestones]
    if unknown := [key for key in answer if key not in names]:
        raise NotYet(f"No milestone is called {shortened(unknown[0])}. They are {', '.join(names)}.")
    hints = [
        _hint(milestone, answer.get(milestone.name, ...), answer, place)
        for place, milestone in enumerate(milestones, 1)
    ]
    return _summarize(len(milestones), hints.count(""), hints)


def climbed(answer: Any, milestones: Sequence[Milestone]) -> str:
    """Judge one answer by each milestone, in order, up to the first that is not reached, as the others build on it.

    Parameters
    ----------
    answer : object
        What was handed in.
    milestones : sequence of Milestone
        In the order in which they are to be reached: each asks for more than those before it.

    Examples
    --------
    >>> climbed(8, [Milestone("even", "Hand in an even number.", lambda part, answer: None)])
    'All 1 milestones reached.'
    """
    hints: list[str] = []
    while len(hints) < len(milestones) and not any(hints):
        hints.append(_hint(milestones[len(hints)], answer, answer, len(hints) + 1))
    return _summarize(len(milestones), hints.count(""), hints)


def _hint(milestone: Milestone, part: Any, answer: Any, place: int) -> str:
    """Judge what was handed in for one milestone, and return the hint; an empty one if the milestone is reached."""
    try:
        if part is ...:
            raise StillOpen
        milestone.judge(part, answer)
    except StillOpen:
        return f"Next, `{milestone.name}`: {milestone.next}"
    except NotYet as hint:
        return f"Milestone {place}, `{milestone.name}`: {hint}"
    return ""


def _summarize(count: int, right: int, hints: Sequence[str]) -> str:
    if right < count:
        raise NotYet(f"{right} of {count} milestones reached. {next(filter(None, hints))}")
    return f"All {count} milestones reached."


def needs_gradients(function: Callable[..., Any], *given: Any, written: str) -> None:
    """Refuse a function that a tape can't follow from each of its arguments to its result.

    Examples
    --------
    >>> import numpy as np
    >>> needs_gradients(lambda x: x.numpy() + 1.0, np.ones(2), written="f(x)")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: Given tensors, f(x) returns plain numbers, and no tape can follow those. Is \
`.numpy()` or `float()` in it?
    """
    sources = [ad.constant(each) for each in given]
    with ad.GradientTape() as tape:
        tape.watch(sources)
        try:
            result = call(function, *sources, written=f"{written} of tensors")
        except NotYet as raised:
            if "setting an array element" in str(raised) or "immutable" in str(raised):
                raise NotYet(f"{raised} Don't write into an array: put the parts together by np.stack.") from raised
            raise
        if isinstance(result, list | tuple):
            raise NotYet(
                f"Given tensors, {written} returns a {type(result).__name__}. Put its rows together by np.stack."
            )
        if not isinstance(result, ad.Tensor):
            raise NotYet(
                f"Given tensors, {written} returns plain numbers, and no tape can follow those. Is `.numpy()` or "
                "`float()` in it?"
            )
        target = np.sum(result * result)
    if any(gradient is None for gradient in tape.gradient(target, sources)):
        raise NotYet(f"One of the arguments of {written} has the gradient None. Where does it become plain numbers?")


def without_a_tape(function: Callable[..., Any], *given: Any, written: str) -> Any:
    """Call a learner's function, and refuse it if a tape has recorded meanwhile, or it returns three dots.

    Examples
    --------
    >>> without_a_tape(lambda g: 2.0 * g, 3.0, written="rule(g)")
    6.0
    """
    result, events = observe(function, *given, written=written)
    if result is ... or (isinstance(result, tuple | list) and any(part is ... for part in result)):
        raise StillOpen
    if any(isinstance(event, Record) for event in events):
        raise NotYet("A tape recorded something. Use it to test your formula, not in it.")
    return result
