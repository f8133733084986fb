"""Milestones of a project: each part of an answer is judged, the right ones are counted, and the next gets a hint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

import autodiff_edu as ad

from .exercises import Exercise, StillMissing
from .feedback import NotYet, call, needs_dict, shorten


class Milestone(NamedTuple):
    """One step of a project.

    Attributes
    ----------
    name : str
        The key in the answer, such as "second"; in projects whose answer is not a dict, only what to call the step.
    next : str
        What to hand in, told when this is the first step that is still missing. A sentence.
    form : Exercise or callable
        What judges the part; or what makes that from the whole answer, where one part measures another.

    Examples
    --------
    >>> from autodiff_edu.course.exercises import Number
    >>> Milestone("slope", "Hand in the slope at 3.", Number(answer=6, why="2x.")).form_of({}).judge(6)
    '2x.'
    """

    name: str
    next: str
    form: Exercise | Callable[[Any], Exercise]

    def form_of(self, answer: Any) -> Exercise:
        """Return what judges the part of an answer."""
        return self.form if isinstance(self.form, Exercise) else self.form(answer)


@dataclass(frozen=True, eq=False)
class Milestones(Exercise):
    """A project: a dict with a part for each milestone, of which those that are right are counted, in any order.

    Parameters
    ----------
    parts : sequence of Milestone
        In the order in which the hints take them.
    in_order : bool
        Whether one answer, which isn't a dict, is judged by all milestones: each asks for more than those before it, so
        the count stops at the first that isn't reached.

    Examples
    --------
    >>> from autodiff_edu.course.exercises import Number
    >>> steps = Milestones(parts=[Milestone("a", "Hand in two.", Number(answer=2)),
    ...                           Milestone("b", "Hand in four.", Number(answer=4, hints={3: "3 is odd."}))])
    >>> steps.judge({"a": 2, "b": 4})
    'All 2 milestones reached.'
    >>> for answer in ({"a": 2, "b": 3}, {"b": 4}, {}):
    ...     try:
    ...         steps.judge(answer)
    ...     except NotYet as hint:
    ...         print(hint)
    1 of 2 milestones reached. Milestone 2, `b`: 3 is odd.
    1 of 2 milestones reached. Next, `a`: Hand in two.
    0 of 2 milestones reached. Next, `a`: Hand in two.
    >>> Milestones(parts=[Milestone("two", "Hand in two.", Number(answer=2))], in_order=True).judge(2)
    'All 1 milestones reached.'
    """

    _: KW_ONLY
    parts: Sequence[Milestone] = ()
    in_order: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.answer is None:
            right = {part.name: part.form.answer for part in self.parts if isinstance(part.form, Exercise)}
            object.__setattr__(self, "answer", right[self.parts[0].name] if self.in_order else right)

    def judge(self, given: Any, name: str = "your answer") -> str:
        """Return that all milestones are reached; or raise how many are, and the hint for the first that isn't."""
        parts = dict.fromkeys((part.name for part in self.parts), given) if self.in_order else self._read(given)
        said: list[str] = []
        hints: list[str] = []
        for place, (name, following, _) in enumerate(self.parts, 1):
            if self.in_order and hints:
                break
            try:
                if parts.get(name, ...) is ...:
                    raise StillMissing
                said.append(self.parts[place - 1].form_of(given).judge(parts[name], f"`{name}`"))
            except StillMissing:
                hints.append(f"Next, `{name}`: {following}")
            except NotYet as hint:
                hints.append(f"Milestone {place}, `{name}`: {hint}")
        if hints:
            raise NotYet(f"{len(said)} of {len(self.parts)} milestones reached. {hints[0]}")
        return " ".join(filter(None, (f"All {len(self.parts)} milestones reached.", *said, self.why)))

    def _read(self, given: Any) -> Mapping[str, Any]:
        names = [part.name for part in self.parts]
        needs_dict(given, "{" + ", ".join(f'"{name}": {name}' for name in names[:2]) + ", ...}")
        if unknown := [key for key in given if key not in names]:
            raise NotYet(f"No milestone is called {shorten(unknown[0])}. They are {', '.join(names)}.")
        return dict(given)


NO_TAPE = {"tapes": "A tape recorded something. Use it to test your formula, not in it."}
"""The facts of a `Recording` that leaves the tape to other milestones."""


def first_number(is_right: str, advice: str) -> Callable[[Any, Any], str]:
    """Return what writes the hint for an array of the right shape with other numbers: the first that is wrong.

    >>> first_number("The first number should be", "Add.")(np.zeros(2), np.ones(2))
    'The first number should be 1.000000, and yours is 0.000000. Add.'
    """

    def hint(found: Any, wanted: Any) -> str:
        if np.shape(found) != np.shape(wanted):
            return ""
        return f"{is_right} {wanted.flat[0]:.6f}, and yours is {np.ravel(found)[0]:.6f}. {advice}"

    return hint


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
