"""The forms of exercises: each is a value that judges answers, knows wrong ones by their hints, and tests itself.

`Number`, `Shape` and `Choice` compare one answer, `Table` a dict of them. `Function` compares what a learner's function
does with what the right one does, and `Recording` also what tapes recorded meanwhile. `Judge` is for what fits none.
What they all say of junk is in feedback.py.
"""

from __future__ import annotations

import copy
import functools
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..core.events import Event, Record, Seed
from ..core.tensor import Tensor
from ..gradient_tape import GradientTape
from ..trace.hook import hook
from .feedback import (
    STILL_MISSING,
    Feedback,
    NotYet,
    call,
    describe_error,
    find_notebook_values,
    find_unread_arguments,
    kind_of,
    near,
    needs_dict,
    needs_each,
    needs_function,
    number,
    shorten,
)
from .predictions import where_made

Hints = Mapping[Any, str] | Sequence[tuple[Any, str]]
"""Wrong answers and the hint of each: a dict, or pairs where the answers can't be its keys."""


class StillMissing(NotYet):
    """A function returns three dots: nothing has been written yet."""


@dataclass(frozen=True, eq=False)
class Exercise:
    """What every form has.

    Parameters
    ----------
    title, question : str
        The heading, and the text below it in Markdown. The notebook shows both; a part of a `Table` has neither.
    answer : object
        The right answer, in the form that a learner would hand in.
    hints : mapping, or sequence of pairs
        Wrong answers that learners give, in the same form, and the hint for each.
    otherwise : str
        The hint for any other wrong answer. `{given}` and `{answer}` in a hint stand for what was given and what is
        right.
    why : str
        What is said of a right answer. It is true of every right answer, however it was found.
    spellings : sequence
        Other right answers, with which the exercise tests itself.
    minutes : int or None
        How long it takes, as readers said; shown beside the title. If None, nothing is shown, and 5 are counted.

    Examples
    --------
    >>> from autodiff_edu.course import Number
    >>> print(Number(answer=6, otherwise="You said {given}.").respond("1.1", 7))
    1.1: Not yet. You said 7.
    """

    title: str = ""
    question: str = ""
    _: KW_ONLY
    answer: Any = None
    hints: Hints = ()
    otherwise: str = ""
    why: str = ""
    spellings: Sequence[Any] = ()
    minutes: int | None = None
    where: tuple[str, int] = field(init=False, repr=False)
    """The file and the line that it was made in, for messages to its author."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", where_made(__file__))
        pairs = self.hints.items() if isinstance(self.hints, Mapping) else self.hints
        object.__setattr__(self, "hints", tuple((wrong, hint) for wrong, hint in pairs))

    def judge(self, given: Any, name: str = "your answer") -> str:
        """Return `why` if an answer is right.

        Parameters
        ----------
        given : object
            What was handed in.
        name : str
            What to call it in hints.

        Raises
        ------
        NotYet
            With a hint, if the answer is not right.
        """
        seen = self.read(given, name)
        if self.agrees(seen, self._right):
            return self.why
        raise NotYet(self.lead_on(given, seen, self._right, name))

    @functools.cached_property
    def _right(self) -> Any:
        return self.read(self.answer)

    def respond(self, id: str, given: Any) -> Feedback:
        """Return what a learner is told of an answer, whatever that is.

        Parameters
        ----------
        id : str
            What the exercise is called, such as "2.1".
        given : object
            What was handed in. An error that its own methods raise becomes a sentence.
        """
        if given is ...:
            return Feedback(id, False, "Replace the three dots with your answer and run the cell again.")
        try:
            return Feedback(id, True, self.judge(given))
        except NotYet as hint:
            return Feedback(id, False, str(hint))
        except Exception as error:
            said = f"I cannot read {shorten(given)}, of type {type(given).__name__}: looking at it raised "
            said += f"{type(error).__name__}. Compare it with what the exercise asks for."
            return Feedback(id, False, said)

    def read(self, given: Any, name: str = "your answer") -> Any:
        """Return an answer in the form in which answers are compared.

        Raises
        ------
        NotYet
            If it can't be an answer to such a question.
        """
        raise NotImplementedError

    def agrees(self, seen: Any, other: Any) -> bool:
        """Return whether two answers that were read are the same."""
        return bool(seen == other)

    def has_hint(self, seen: Any) -> bool:
        """Return whether there is more to say of an answer that is wrong than that it is."""
        return bool(self.otherwise) or any(self.agrees(seen, self.read(wrong)) for wrong, _ in self.hints)

    def lead_on(self, given: Any, seen: Any, right: Any, name: str) -> str:
        """Return the hint for an answer that is wrong."""
        for wrong, hint in self.hints:
            if self.agrees(seen, self.read(wrong)):
                return fill(hint, seen, right)
        what = "" if name == "your answer" else f" for {name}"
        return fill(self.otherwise, seen, right) or f"{short(seen)} is not right{what}. Look at the question again."


@dataclass(frozen=True, eq=False)
class Number(Exercise):
    """One number. It, or a wrong one, may also be None, for a gradient that isn't there.

    Parameters
    ----------
    within : float
        Relative tolerance: 0.01 is 1 %.

    Examples
    --------
    >>> slope = Number("A slope", "What is it?", answer=6, hints={9: "That is the value."}, why="2x.")
    >>> slope.judge(6.0)
    '2x.'
    >>> slope.judge(9)
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: That is the value.
    """

    within: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        within: Any = self.within
        if not isinstance(within, int | float) or not 0 <= within < 1:
            raise ValueError(f"within is {within!r}, not a part from 0 to 1: write 0.01 for 1 %")

    def read(self, given: Any, name: str = "your answer") -> float | None:
        """Return the number, or None if that is an answer here."""
        may_be_none = self.answer is None or any(wrong is None for wrong, _ in self.hints)
        if given is None and may_be_none:
            return None
        if given is None:
            raise NotYet(f"I need one number here, and {name} is None.")
        if isinstance(given, str):
            wanted = "None or a number" if may_be_none else "a number"
            raise NotYet(f"{_capital(name)} is {shorten(given)}, a str. Write {wanted}, without quotes.")
        return number(given, name)

    def agrees(self, seen: Any, other: Any) -> bool:
        """Return whether two numbers are near."""
        if seen is None or other is None:
            return seen is other
        return near(seen, other, self.within)


@dataclass(frozen=True, eq=False)
class Shape(Exercise):
    """The shape of an array.

    Examples
    --------
    >>> Shape(answer=(2, 3), hints={(3, 2): "The other way round."}, why="Two rows.").judge([2, 3])
    'Two rows.'
    """

    def read(self, given: Any, name: str = "your answer") -> tuple[int, ...]:
        """Return the shape as a tuple."""
        if _has_dots(given):
            raise NotYet(STILL_MISSING.format(name))
        if isinstance(given, np.ndarray | Tensor) and given.ndim == 1:
            given = np.asarray(given).tolist()
        if not isinstance(given, tuple | list) or not all(map(_is_size, given)):
            raise NotYet(
                f"I need a shape here, such as (3,) or (2, 3), and {name} is {shorten(given)}, {kind_of(given)}."
            )
        return tuple(int(axis) for axis in given)


def _is_size(axis: Any) -> bool:
    is_whole = hasattr(axis, "__index__") or (isinstance(axis, float) and axis.is_integer())
    return is_whole and not isinstance(axis, bool)


@dataclass(frozen=True, eq=False)
class Choice(Exercise):
    """One of several words; capitals and further spaces don't matter.

    Parameters
    ----------
    choices : sequence of str, or mapping
        The words; or for each word that is understood the one that it stands for.

    Examples
    --------
    >>> words = {"forward": "forward", "reverse": "reverse", "backward": "reverse"}
    >>> mode = Choice(answer="reverse", choices=words, hints={"forward": "How many outputs?"}, why="One output.")
    >>> mode.judge("Backward ")
    'One output.'
    >>> mode.judge("up")
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: Write "forward" or "reverse": your answer is `'up'`.
    """

    choices: Sequence[str] | Mapping[str, str] = ()

    def read(self, given: Any, name: str = "your answer") -> str:
        """Return the word that was chosen."""
        if given is ... or (isinstance(given, str) and given == "..."):
            raise NotYet(STILL_MISSING.format(name))
        words = self.choices if isinstance(self.choices, Mapping) else {word: word for word in self.choices}
        meant = {_word(word): chosen for word, chosen in words.items()}
        said = _word(given) if isinstance(given, str) else None
        if said not in meant:
            listed = " or ".join(f'"{word}"' for word in dict.fromkeys(meant.values()))
            raise NotYet(f"Write {listed}: {name} is {shorten(given)}.")
        return meant[said]


def _word(text: str) -> str:
    return " ".join(text.lower().split())


@dataclass(frozen=True, eq=False)
class Table(Exercise):
    """A dict of answers, each of a form of its own. The `hints` are for whole wrong answers, and are looked at first.

    A part of such an answer that is `...` may be anything. `otherwise` is said of a part that has no hint of its own.

    Parameters
    ----------
    parts : mapping
        For the name of each part its form.
    called : str
        What a part is, such as "gradient", for sentences such as "No gradient is given for a."
    progress : str
        What comes before the hint of a part, in which `{right}` and `{all}` stand for how many parts are right and how
        many there are, and `{part}` for the first one that is wrong.

    Examples
    --------
    >>> both = Table(parts={"a": Number(answer=1), "b": Number(answer=2, hints={3: "Count again."})}, called="slope",
    ...              hints=[({"a": 2, "b": 1}, "The two have changed places.")], why="Both.")
    >>> both.judge({"a": 1, "b": 2})
    'Both.'
    >>> for answer in ({"a": 2, "b": 1}, {"a": 1}, {"a": 1, "b": 3}):
    ...     try:
    ...         both.judge(answer)
    ...     except NotYet as hint:
    ...         print(hint)
    The two have changed places.
    No slope is given for b.
    Count again.
    """

    parts: Mapping[Any, Exercise] = field(default_factory=dict)
    called: str = "answer"
    progress: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.answer is None:
            object.__setattr__(self, "answer", {name: part.answer for name, part in self.parts.items()})

    def read(self, given: Any, name: str = "your answer") -> dict[Any, Any]:
        """Return the parts, each as its form reads it."""
        needs_dict(given, f"{{{', '.join(f'{key!r}: ...' for key in self.parts)}}}".replace("'", '"'))
        if quoted_keys := [str(key) for key in self.parts if key not in given and str(key) in given]:
            raise NotYet(f"Write the keys as the question does, {quoted_keys[0]} and not {quoted_keys[0]!r}.")
        needs_each(given, tuple(self.parts), f"No {self.called} is given for")
        return {key: part.read(given[key], self._name(key)) for key, part in self.parts.items()}

    def agrees(self, seen: Any, other: Any) -> bool:
        """Return whether all parts agree."""
        return all(part.agrees(seen[key], other[key]) for key, part in self.parts.items())

    def lead_on(self, given: Any, seen: Any, right: Any, name: str) -> str:
        """Return the hint for the whole answer, or that of the first part that is wrong."""
        for wrong, hint in self.hints:
            given_parts = {key: part for key, part in self.parts.items() if wrong.get(key, ...) is not ...}
            if all(part.agrees(seen[key], part.read(wrong[key])) for key, part in given_parts.items()):
                return fill(hint, given, self.answer)
        wrong_parts = [key for key, part in self.parts.items() if not part.agrees(seen[key], right[key])]
        count, key = len(self.parts), wrong_parts[0]
        progress = self.progress.format(right=count - len(wrong_parts), all=count, part=key)
        if self.otherwise and not self.parts[key].has_hint(seen[key]):
            return progress + fill(self.otherwise, given, self.answer)
        try:
            return progress + self.parts[key].lead_on(given[key], seen[key], right[key], self._name(key))
        except NotYet as hint:
            raise NotYet(f"{progress}{hint}") from hint.__cause__

    def _name(self, key: Any) -> str:
        return f"the {self.called} of {key}" if self.called != "answer" else f"`{key}`"


@dataclass(frozen=True, eq=False)
class WordAndCount(Exercise):
    """A word and a whole number, in either order.

    Parameters
    ----------
    word : Choice
        Its first choice is named in hints.
    count : Number
        What is counted.
    called : tuple of str
        What the word says and what is counted: ("the mode", "passes").

    Examples
    --------
    >>> passes = Number(answer=2, otherwise="Not {given}.")
    >>> mode = Choice(answer="forward", choices=("forward", "reverse"), hints={"reverse": "How many inputs?"})
    >>> both = WordAndCount(word=mode, count=passes, called=("the mode", "passes"), why="Two inputs.")
    >>> both.judge(("forward", 2))
    'Two inputs.'
    >>> both.judge((3, "Forward"))
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: Not 3.
    """

    word: Choice = field(default_factory=Choice)
    count: Number = field(default_factory=Number)
    called: tuple[str, str] = ("a word", "things")

    def __post_init__(self) -> None:
        object.__setattr__(self, "answer", (self.word.answer, self.count.answer))
        known = [((word, self.count.answer), hint) for word, hint in self.word.hints]
        object.__setattr__(
            self, "hints", [*known, *(((self.word.answer, count), hint) for count, hint in self.count.hints)]
        )
        super().__post_init__()

    def read(self, given: Any, name: str = "your answer") -> tuple[str, int]:
        """Return the word that was chosen and the number."""
        said, counted = self.called
        if not isinstance(given, tuple | list) or len(given) != 2:
            example = f'("{next(iter(self.word.choices))}", 12)'
            raise NotYet(f"For {name} write {said} and the number of {counted}, as in {example}, not {shorten(given)}.")
        word, count = given[::-1] if isinstance(given[1], str) and not isinstance(given[0], str) else given
        meant = self.word.read(word, f"{said} for {name}")
        number = self.count.read(count, f"the number of {counted} for {name}")
        if number is None or number != round(number):
            raise NotYet(f"For {name} the number of {counted} is a whole number, not {short(number)}.")
        return meant, round(number)

    def has_hint(self, seen: Any) -> bool:
        """Return whether the part that is wrong has a hint of its own."""
        return self.word.has_hint(seen[0]) if seen[0] != self._right[0] else self.count.has_hint(seen[1])

    def lead_on(self, given: Any, seen: Any, right: Any, name: str) -> str:
        """Return the hint for the word, or if that is right for the number."""
        part, k = (self.count, 1) if seen[0] == right[0] else (self.word, 0)
        return part.lead_on(seen[k], seen[k], right[k], name)


@dataclass(frozen=True, eq=False)
class Case:
    """One thing that is done with a learner's function, and with the right one and the known wrong ones.

    Parameters
    ----------
    of : callable
        Is given the function, and returns what is compared: numbers, arrays, tensors, or lists and dicts of these.
    hint : str or callable
        What is said if it differs and no known wrong function does the same: "The value is right, and its slope isn't."
        Or what writes it, given what was found and what is right.
    explain : callable, optional
        Is given the function in such a case, and returns the hint.
    within : float
        Relative tolerance of numbers: 0.01 is 1 %.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> bend = Case(lambda square: ad.grad(square)(3.0), "The value is right, and its slope isn't.")
    >>> square = Function(signature="square(x)", cases=[(3.0,), bend], answer=lambda x: x * x)
    >>> square.judge(lambda x: x * ad.stop_gradient(x))
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: The value is right, and its slope isn't.
    """

    of: Callable[[Any], Any]
    hint: str | Callable[[Any, Any], str] = ""
    within: float = 1e-6
    explain: Callable[[Callable[..., Any]], str] | None = None


def record(function: Callable[..., Any], *args: Any) -> tuple[Tensor, GradientTape]:
    """Call a learner's function in a `Case`, on a persistent tape that watches the tensors among the arguments.

    Returns
    -------
    tuple
        What it returned, and the tape.

    Raises
    ------
    NotYet
        If it returned anything but a tensor.
    """
    with GradientTape(persistent=True) as tape:
        tape.watch([each for each in args if isinstance(each, Tensor)])
        result = function(*args)
    if not isinstance(result, Tensor):
        name = getattr(function, "name", "Your function")
        raise NotYet(
            f"{name} returns {shorten(result)}, which is not a tensor. Compute it with the tensor it is given."
        )
    return result, tape


def slope_of(function: Callable[..., Any], *args: Any) -> Any:
    """Return the gradient of what a learner's function returns, with respect to the first tensor that it is given."""
    result, tape = record(function, *args)
    return tape.gradient(result, next(each for each in args if isinstance(each, Tensor)))


class CaseOutcome(NamedTuple):
    """What a case came to.

    Attributes
    ----------
    value : object
        What it returned, with arrays in place of tensors.
    facts : dict
        What tapes did meanwhile, by name; empty for a form that doesn't look at tapes.
    refused : NotYet or None
        What kept it from returning anything.
    """

    value: Any = None
    facts: Mapping[str, Any] = MappingProxyType({})
    refused: NotYet | None = None


@dataclass(frozen=True, eq=False)
class Function(Exercise):
    """A function, compared with the right one; `hints` are wrong functions.

    The hint of a wrong function is given if the learner's does the same in every case, else if it does the same up to
    the first case that is wrong. A part of a wrong function's result that is `...` may be anything, so a hint can be
    for one part alone; `np.full(shape, ...)` is any array of that shape. If it raises an error, `{raised}` in its hint
    stands for what is said of that.

    Parameters
    ----------
    signature : str
        How it is called: "rule(g, z, x, y)".
    cases : sequence
        What is done with it, in order: each is a tuple of arguments, which it may spoil, or a `Case`. The first that is
        wrong gets the hint.
    returns : tuple of str
        What the parts of its result are called, if it returns several.
    within : float
        Relative tolerance of numbers: 0.01 is 1 %. A `Case` has its own.

    Examples
    --------
    >>> square = Function("Square", "Write `square(x)`.", signature="square(x)", cases=[(3.0,), (-1.5,)],
    ...                   answer=lambda x: x * x, hints=[(lambda x: 2 * x, "That is twice x.")], why="x times x.")
    >>> square.judge(lambda x: x**2)
    'x times x.'
    >>> for answer in (lambda x: x + x, lambda x: x, lambda x: None, 9.0):
    ...     try:
    ...         square.judge(answer)
    ...     except NotYet as hint:
    ...         print(hint)
    That is twice x.
    At x = 3, square(x) should be 9, and yours is 3.
    square(3) returns None. Is a `return` missing?
    I need a function, square(x), and your answer is `9.0`, a float. Hand in the function itself, without calling it.
    """

    signature: str = "answer(x)"
    cases: Sequence[Case | tuple[Any, ...]] = ()
    returns: tuple[str, ...] = ()
    within: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        for k, case in enumerate(self.cases):
            if not isinstance(case, Case | tuple):
                raise TypeError(f"cases[{k}] is {case!r:.60}, not a tuple of arguments: write ({case!r:.60},)")

    def read(self, given: Any, name: str = "your answer") -> list[CaseOutcome]:
        """Return what each case came to."""
        needs_function(given, self.signature)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong = any(given is wrong for wrong, _ in self.hints)
            function = _LearnerFunction(given, self.signature, self.returns, self._may_return_none, may_be_open=wrong)
            return [self._run(case, function) for case in self.cases]

    def has_hint(self, seen: Any) -> bool:
        """Return true: a function has a comparison at least."""
        return True

    def agrees(self, seen: Sequence[CaseOutcome], other: Sequence[CaseOutcome]) -> bool:
        """Return whether every case came to the same."""
        return all(map(self._same, self.cases, seen, other))

    def lead_on(self, given: Any, seen: Any, right: Any, name: str) -> str:
        """Return a hint for the first case that is wrong."""
        place = list(map(self._same, self.cases, seen, right)).index(False)
        case, found, wanted = self.cases[place], seen[place], right[place]
        for cases in (self.cases, self.cases[: place + 1]):
            for wrong, hint in self._known:
                if all(map(self._same, cases, seen, wrong)):
                    return fill(hint, found.value, wanted.value).replace("{raised}", str(found.refused))
        if found.refused:
            error = found.refused.__cause__
            raise type(found.refused)((error and self._explain_unread(given)) or str(found.refused)) from error
        return (
            _explain_type(found.value, wanted.value, self.returns)
            or self._explain_unread(given)
            or _explain_rows(found.value, wanted.value)
            or self._explain_part(case, found.value, wanted.value)
            or self._explain_fact(found.facts, wanted.facts)
            or self._explain_case(case, given, found.value, wanted.value)
            or _explain_shape(f"{self._describe_case(case)} should", found.value, wanted.value)
            or fill(self.otherwise, found.value, wanted.value)
            or self._compare(case, found.value, wanted.value) + self._mention_unread(given)
        )

    def _explain_case(self, case: Case | tuple[Any, ...], given: Any, found: Any, wanted: Any) -> str:
        if isinstance(case, Case) and case.explain:
            return fill(case.explain(given), found, wanted)
        hint = case.hint if isinstance(case, Case) else ""
        return hint(found, wanted) if callable(hint) else fill(hint, found, wanted)

    def _run(self, case: Case | tuple[Any, ...], function: _LearnerFunction) -> CaseOutcome:
        try:
            value = _plain(case.of(function) if isinstance(case, Case) else function(*copy.deepcopy(case)))
            if not function.may_be_open and _has_dots(value):
                raise NotYet(STILL_MISSING.format(f"what {function.name} returns"))
            return CaseOutcome(value)
        except NotYet as hint:
            return CaseOutcome(refused=hint)
        except Exception as error:  # in what is done with the function, such as its derivative
            what = describe_error(error, function.__wrapped__)
            said = NotYet(f"What is computed with your {function.name} raised {what}.")
            said.__cause__ = error
            return CaseOutcome(refused=said)

    @functools.cached_property
    def _known(self) -> list[tuple[list[CaseOutcome], str]]:
        """What the wrong functions come to: they are run once."""
        return [(self.read(wrong), hint) for wrong, hint in self.hints]

    @functools.cached_property
    def _may_return_none(self) -> bool:
        calls = (case for case in self.cases if not isinstance(case, Case))
        return any(self.answer(*copy.deepcopy(case)) is None for case in calls)

    def _same(self, case: Case | tuple[Any, ...], one: CaseOutcome, other: CaseOutcome) -> bool:
        if one.refused and other.refused:
            return _find_cause(one.refused) == _find_cause(other.refused)
        if one.refused or other.refused:
            return False
        within = case.within if isinstance(case, Case) else self.within
        return _alike(one.value, other.value, within) and not self._find_differences(one.facts, other.facts)

    def _find_differences(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
        """Return the facts that count and differ."""
        return []

    def _explain_fact(self, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
        """Return the hint for the first fact that differs."""
        return ""

    def _explain_part(self, case: Any, found: Any, wanted: Any) -> str:
        """Return a hint for a result of which some parts are right."""
        names = self.returns
        if not names or isinstance(case, Case):
            return ""
        if not _has_parts(found, len(names)):
            return f"Your function returns {short(found)}. Return {', '.join(names[:-1])} and {names[-1]}."
        good = [_alike(*each, self.within) for each in zip(found, wanted, strict=True)]
        if all(good) or not any(good):
            return ""
        k = good.index(False)
        praise = "".join(f"{_capital(name)} is right. " for name, fine in zip(names, good, strict=True) if fine)
        text = _explain_rows(found[k], wanted[k]) or _explain_shape("It should", found[k], wanted[k]) or self.otherwise
        text = text or f"{self._write_arguments(case)}it should be {short(wanted[k])}, and yours is {short(found[k])}."
        return f"{praise}Now look at {names[k]}. {_capital(text)}"

    def _explain_unread(self, given: Any) -> str:
        """Return a hint if a function computes with what the notebook holds in place of what it is given."""
        missing = self._find_unread(given)
        calls = [case for case in self.cases if not isinstance(case, Case)]
        used = find_notebook_values(given)
        for k, name in missing.items():
            if used:
                return f"Your function computes with `{used[0]}` of the notebook and never reads its argument `{name}`."
            if any(callable(argument) for case in calls for argument in case[k : k + 1]):
                return f"Your function never calls `{name}`, which it is given."
        return ""

    def _mention_unread(self, given: Any) -> str:
        """Return what follows a comparison if a function reads all arguments but one."""
        missing = list(self._find_unread(given).values())
        return f" Your function never reads its argument `{missing[0]}`." if len(missing) == 1 else ""

    def _find_unread(self, given: Any) -> dict[int, str]:
        """Return the arguments that the right function reads and a learner's does not, by their places."""
        code, right = (getattr(function, "__code__", None) for function in (given, self.answer))
        if code and right and code.co_argcount < right.co_argcount:  # the places mean something else
            return {}
        needed = find_unread_arguments(self.answer)
        count = right.co_argcount if right else code.co_argcount if code else 0
        return {k: name for k, name in find_unread_arguments(given).items() if k not in needed and k < count}

    def _write_arguments(self, case: tuple[Any, ...]) -> str:
        """Return the arguments of a call, as the beginning of a sentence."""
        names = re.findall(r"\w+", self.signature.partition("(")[2])
        shown = [f"{name} = {short(value)}" for name, value in zip(names, case, strict=False) if not callable(value)]
        return f"At {', '.join(shown)}, " if shown and len(", ".join(shown)) < 80 else ""

    def _describe_case(self, case: Case | tuple[Any, ...]) -> str:
        if isinstance(case, Case):
            return "What I compute with your function"
        return f"{self._write_arguments(case)}{self.signature}"

    def _compare(self, case: Case | tuple[Any, ...], found: Any, wanted: Any) -> str:
        return _capital(f"{self._describe_case(case)} should be {short(wanted)}, and yours is {short(found)}.")


@dataclass(frozen=True, eq=False)
class Recording(Function):
    """A function that is compared also in what tapes do while it runs, its own or those of a `Case`.

    Parameters
    ----------
    facts : mapping
        By each fact that must be as with the right function, the hint if it differs, in which `{given}` and `{answer}`
        stand for the two. The facts: "tapes" (how many recorded something), "entries" (how many they recorded),
        "operations" (their names, in order), "passes" (how many backward passes began), "bytes" (what the tapes held
        at most, together).
    limits : mapping
        By a fact, how much is allowed, in place of what the right function needs.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> def slope(x):
    ...     with ad.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = x * x
    ...     return tape.gradient(y, x)
    >>> exercise = Recording("Slope", "Write `slope(x)`.", signature="slope(x)", cases=[(ad.constant(3.0),)],
    ...                      answer=slope, facts={"tapes": "You used {given} tapes. It takes one."}, why="One tape.")
    >>> exercise.judge(slope)
    'One tape.'
    >>> exercise.judge(lambda x: 2.0 * x)
    Traceback (most recent call last):
        ...
    autodiff_edu.course.feedback.NotYet: You used 0 tapes. It takes one.
    """

    facts: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        there = list(_Watch().facts())
        if unknown := [fact for fact in self.facts if fact not in there]:
            raise ValueError(f"there is no fact {unknown[0]!r}; there are {', '.join(there)}")
        if unused := [fact for fact in self.limits if fact not in self.facts]:
            raise ValueError(f"the limit of {unused[0]!r} limits nothing: facts has no hint for it")

    @functools.cached_property
    def _right(self) -> Any:
        outcomes = self.read(self.answer)
        for fact, limit in self.limits.items():
            needed = [outcome.facts[fact] for outcome in outcomes if outcome.facts[fact] > limit]
            if needed:
                raise ValueError(f"the right function needs {needed[0]} {fact}, and the limit is {limit}: raise it")
        return outcomes

    def _run(self, case: Case | tuple[Any, ...], function: _LearnerFunction) -> CaseOutcome:
        watch = _Watch()
        with hook(watch):
            outcome = super()._run(case, function)
        return outcome._replace(facts=watch.facts())

    def _find_differences(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
        def counted(fact: str, value: Any) -> Any:
            return value <= self.limits[fact] if fact in self.limits else value

        return [fact for fact in self.facts if counted(fact, one[fact]) != counted(fact, other[fact])]

    def _explain_fact(self, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
        differing = self._find_differences(found, wanted)
        return fill(self.facts[differing[0]], found[differing[0]], wanted[differing[0]]) if differing else ""


class _Watch:
    """A hook that keeps what `Recording` counts."""

    def __init__(self) -> None:
        self.tapes: dict[int, Any] = {}  # by id, so that none is taken for one that is gone
        self.operations: list[str] = []
        self.passes = self.most = 0

    def __call__(self, event: Event) -> None:
        if isinstance(event, Record):
            self.tapes[id(event.tape)] = event.tape
            self.operations.append(event.entry.name)
            self.most = max(self.most, sum(tape.nbytes for tape in self.tapes.values()))
        self.passes += isinstance(event, Seed)

    def facts(self) -> dict[str, Any]:
        return {
            "tapes": len(self.tapes),
            "entries": len(self.operations),
            "operations": tuple(self.operations),
            "passes": self.passes,
            "bytes": self.most,
        }


@dataclass(frozen=True, eq=False)
class Judge(Exercise):
    """An exercise that fits no other form: a function judges it. `hints` are what it tests itself with.

    Parameters
    ----------
    check : callable
        Is given an answer; returns what to say of a right one, or raises `NotYet` with a hint.

    Examples
    --------
    >>> def judge_prime(given):
    ...     if given in (2, 3, 5):
    ...         return "Only 1 and the number itself divide it."
    ...     raise NotYet("Which numbers divide it?")
    >>> Judge("A prime", "Find a prime number below 6.", check=judge_prime, answer=2, spellings=[3, 5]).judge(3)
    'Only 1 and the number itself divide it.'
    """

    check: Callable[[Any], str] = str

    def judge(self, given: Any, name: str = "your answer") -> str:
        """Return what the function says of a right answer."""
        return self.check(given)


class _LearnerFunction:
    """A learner's function: what goes wrong inside it becomes a hint, with the call and the line."""

    def __init__(
        self,
        function: Callable[..., Any],
        signature: str,
        returns: tuple[str, ...],
        may_return_none: bool,
        may_be_open: bool,
    ) -> None:
        self.__wrapped__ = function
        self.name, _, names = signature.partition("(")
        self.parameters, self.returns = re.findall(r"\w+", names), returns
        self.may_return_none, self.may_be_open = may_return_none, may_be_open

    def __call__(self, *args: Any, **named: Any) -> Any:
        names = [*self.parameters, *["..."] * len(args)]
        shown = [name if callable(value) else short(value) for name, value in zip(names, args, strict=False)]
        shown += [f"{name}={short(value)}" for name, value in named.items()]
        written = f"{self.name}({', '.join(shown)})" if len(", ".join(shown)) < 60 else self.name
        function = functools.partial(self.__wrapped__, **named) if named else self.__wrapped__
        result = call(function, *args, written=written)
        if _has_dots(result) and not self.may_be_open:
            parts = result if isinstance(result, tuple | list) else [result]
            still_missing = [name for name, part in zip(self.returns, parts, strict=False) if _has_dots(part)]
            what = still_missing[0] if still_missing else f"what {self.name} returns"
            raise StillMissing(STILL_MISSING.format(what))
        if result is None and not self.may_return_none:
            raise NotYet(f"{written} returns None. Is a `return` missing?")
        return result


def _plain(value: Any) -> Any:
    """Return a result with arrays in place of tensors and lists in place of tuples, which no later call changes."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value


def _alike(one: Any, other: Any, within: float = 1e-6) -> bool:
    """Return whether two results are the same up to rounding.

    nan is the same as nan, three dots as anything, and a function as any other.
    """
    if one is ... or other is ...:
        return True
    if _is_open(one) or _is_open(other):
        return (
            not (is_ragged(one) or is_ragged(other))
            and bool(np.shape(one) == np.shape(other))
            and all(np.asarray(each).dtype.kind != "U" for each in (one, other))
        )
    if callable(one) and callable(other):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key], within) for key in one)
    if isinstance(one, list) or isinstance(other, list):
        if not all(isinstance(each, list) or (isinstance(each, np.ndarray) and each.ndim) for each in (one, other)):
            return False
        return len(one) == len(other) and all(_alike(*parts, within) for parts in zip(one, other, strict=True))
    if one is None or other is None or isinstance(one, str | dict) or isinstance(other, str | dict):
        return type(one) is type(other) and bool(one == other)
    a, b = np.asarray(one), np.asarray(other)
    if not all(array.dtype.kind in "biufc" for array in (a, b)):
        return one is other
    if a.shape != b.shape and not (a.size == b.size == 1 and () in (a.shape, b.shape)):
        return False
    return near(a, b.reshape(a.shape), within, equal_nan=True)


def is_ragged(value: Any) -> bool:
    """Return whether a value is a list of lists of different lengths, which has no shape.

    >>> is_ragged([[1], [2, 3]]), is_ragged([[1, 2]]), is_ragged(3)
    (True, False, False)
    """
    try:
        np.shape(value)
    except ValueError:
        return True
    return False


def _is_open(value: Any) -> bool:
    is_array = isinstance(value, np.ndarray) and value.dtype == object and value.size > 0
    return value is ... or (is_array and value.flat[0] is ...)


def _has_dots(value: Any) -> bool:
    """Return whether a value is three dots, or has them in one of its parts."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.ravel().tolist()
    if isinstance(value, dict):
        value = list(value.values())
    return value is ... or (isinstance(value, tuple | list) and any(map(_has_dots, value)))


def _explain_type(found: Any, wanted: Any, names: Sequence[str] = ()) -> str:
    """Return a hint for a result with something else where the right one has numbers."""
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        each = [_explain_type(*pair, names[k : k + 1]) for k, pair in enumerate(zip(found, wanted, strict=True))]
        return next(filter(None, each), "")
    if found is None or any(isinstance(value, list | dict) for value in (found, wanted)):
        return ""
    if np.asarray(found).dtype.kind in "biufc" or np.asarray(wanted).dtype.kind not in "biufc":
        return ""
    needed = "an array of numbers" if np.ndim(wanted) else "one number"
    return f"I need {needed} here, and {names[0] if names else 'what your function returns'} is {shorten(found)}."


def _explain_shape(what: str, found: Any, wanted: Any) -> str:
    """Return a hint for an array that has another shape than the right one."""
    if not isinstance(wanted, np.ndarray) or is_ragged(found) or np.shape(found) == wanted.shape:
        return ""
    return f"{_capital(what)} have the shape {wanted.shape}, and yours has the shape {np.shape(found)}."


def _explain_rows(found: Any, wanted: Any) -> str:
    """Return a hint for lists of different lengths in place of an array."""
    if not isinstance(wanted, np.ndarray) or not is_ragged(found):
        return ""
    return f"I need an array of the shape {wanted.shape}, and the rows of {short(found)} have different lengths."


def _has_parts(value: Any, count: int) -> bool:
    has_length = isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return has_length and len(value) == count


def _find_cause(hint: NotYet) -> tuple[str, str]:
    """Return what is the same in two functions that fail for the same reason."""
    error = hint.__cause__ or hint
    return type(error).__name__, re.sub(r"[\d.]+", "", str(error))


def short(value: Any) -> str:
    """Write a value as code of one line, its numbers to six digits."""
    if isinstance(value, tuple):  # a shape
        return shorten(value).strip("`")
    value = _plain(value)
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        value = np.round(value, 6).tolist()
        return short(value) if not isinstance(value, list) else shorten(value).strip("`")
    if isinstance(value, list):
        return f"[{', '.join(map(short, value))}]" if len(value) < 8 else shorten(value).strip("`")
    if isinstance(value, int | np.integer):
        return f"{int(value):,}" if not isinstance(value, bool) else str(value)
    return shorten(value).strip("`")


def fill(hint: str, given: Any, answer: Any) -> str:
    """Put what was given and what is right into a hint, where it says `{given}` and `{answer}`."""
    return hint.replace("{given}", short(given)).replace("{answer}", short(answer)) if "{" in hint else hint


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if not text[:1].isidentifier() or " " in text.partition("(")[0] else text
