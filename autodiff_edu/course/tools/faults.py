"""Whether an exercise keeps its promises: right answers pass, known wrong ones get their hints, junk a sentence."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import autodiff_edu as ad

from ..contents import Chapter, Course
from ..exercises import Case, Exercise, Function, Number, Table
from ..feedback import NotYet, quote, shorten
from ..milestones import Milestones
from ..predictions import Prediction
from .fill import calls, tagged


class Rude:
    """An object that raises whatever one does with it."""

    def __getattribute__(self, name: str) -> Any:
        """Raise."""
        if name == "__class__":
            return Rude
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __float__(self) -> float:
        raise RuntimeError("no")


def fails(*args: Any) -> Any:
    """Raise whatever it is called with."""
    raise ArithmeticError("no idea")


JUNK: tuple[Any, ...] = (
    None,
    True,
    "",
    "eight",
    b"8",
    [],
    {},
    set(),
    object(),
    Rude(),
    Rude,
    float("nan"),
    np.zeros((2, 3)),
    np.array([]),
    [[1], [2]],
    {1: 2},
    {"f": ...},
    {...},
    [...],
    [("x",)],
    [(1, 2)],
    ad.constant([1.0, 2.0]),
    fails,
    len,
    lambda: None,
    1j,
    10**400,
)
"""What is an answer to no question."""


def faults(exercise: Exercise) -> Iterator[str]:
    """Find what is wrong with an exercise, by handing in its own answers, right and wrong, and junk.

    Parameters
    ----------
    exercise : Exercise
        Of any form.

    Yields
    ------
    str
        A sentence for each fault.

    Examples
    --------
    >>> list(faults(Number(answer=6, hints={9: "That is the value."}, otherwise="No.", why="2x.")))
    []
    >>> list(faults(Number(answer=6, hints={6.0: "Six?"}, otherwise="No.", why="2x.")))
    ['the wrong answer of the hint `Six?` agrees with the right answer']
    """
    for spelling in spellings(exercise):
        try:
            exercise.judge(spelling)
        except NotYet as refused:
            yield f"the right answer {shorten(spelling)} is refused: {refused}"
    if isinstance(exercise, Function) and _returns_nothing(exercise):
        yield "the right function returns None in every case. Is a `return` missing?"
    known = list(known_wrong(exercise))
    for wrong, hint in known:
        said = exercise.respond("", wrong)
        if not hint:
            yield f"the hint of the wrong answer {shorten(wrong)} is empty"
        elif isinstance(exercise, Function) and (misspelled := _misspelled(exercise, wrong, hint)):
            yield f"the wrong answer of the hint {quote(hint)} raised {misspelled}"
        elif said:
            yield f"the wrong answer of the hint {quote(hint)} agrees with the right answer"
        elif not _says(said.message, hint) or any(
            hint in other != hint and _says(said.message, other) for _, other in known
        ):
            yield f"the hint {quote(hint)} is never reached: its wrong answer gets {quote(said.message)}"
    for place, junk in enumerate(JUNK):
        said = exercise.respond("", junk)
        if said:
            yield f"{shorten(junk)} passes for a right answer"
        elif not re.fullmatch(r"(?s).{20,}[.?`]", said.message) or " at 0x" in said.message:
            yield f"JUNK[{place}] gets {quote(said.message)}, not a sentence"


def _says(message: str, hint: str) -> bool:
    return all(piece in message for piece in re.split(r"\{(?:given|answer|raised)\}", hint))


def _misspelled(exercise: Function, wrong: Any, hint: str) -> str:
    """Return what a wrong function says of a name that there isn't, if the hint isn't about that name."""
    causes = (outcome.refused.__cause__ for outcome in exercise.read(wrong) if outcome.refused)
    return next(
        (f"NameError: {cause}" for cause in causes if isinstance(cause, NameError) and (cause.name or "") not in hint),
        "",
    )


def _returns_nothing(exercise: Function) -> bool:
    outcomes = exercise.read(exercise.answer)
    return bool(outcomes) and all(outcome.value is None and not outcome.refused for outcome in outcomes)


def faults_of_course(course: Course) -> Iterator[str]:
    """Find what is wrong with the questions of a course, and with the notebooks that ask them.

    Yields
    ------
    str
        A sentence for each fault, after the file and the line; in a notebook, the cell.
    """
    for chapter in course.chapters:
        try:
            questions = chapter.questions
        except ValueError as error:
            yield str(error)
            continue
        if chapter.module.is_file():
            yield from faults_of_imports(chapter.module)
        for k, each in enumerate(questions):
            if any(each is other for other in questions[:k]):
                yield f"{_place(each)}: QUESTIONS holds it twice, so it has two ids"
        for name, exercise in chapter.exercises.items():
            try:
                yield from (f"{_place(exercise)}: {name}: {fault}" for fault in faults(exercise))
            except Exception as error:
                yield f"{_place(exercise)}: {name}: comparing its own answers raised {type(error).__name__}: {error}"
        try:
            cells = chapter.read()["cells"]
        except (OSError, ValueError) as error:
            yield str(error)
            continue
        yield from faults_of_notebook(cells, chapter)


def faults_of_imports(module: Path) -> Iterator[str]:
    """Find imports that work beside the module, and fail when its course is handed out in one file."""
    for node in ast.walk(ast.parse(module.read_bytes())):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.module is None):
            names = [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [str(node.module).partition(".")[0]]
        else:
            continue
        for name in names:
            here = f"{module}, line {node.lineno}: {name}"
            file, package = module.with_name(f"{name}.py"), module.with_name(name)
            if isinstance(node, ast.ImportFrom) and node.level:
                if not file.is_file() and package.is_dir() and not (package / "__init__.py").is_file():
                    yield f"{here} is not handed out, because it is a folder without an __init__.py; write one"
            elif file.is_file() or (package / "__init__.py").is_file():
                yield f"{here} is not found once it is handed out; import it from .{name}"


def faults_of_notebook(cells: Sequence[Any], chapter: Chapter) -> Iterator[str]:
    """Find what is wrong with how a chapter's notebook asks its questions: each once, in order, by its id."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    asked: dict[str, int] = {}
    for count, call, name in calls(cells):
        here = f"{chapter.notebook}, code cell {count}"
        known = list(chapter.predictions if call == "predict" else chapter.exercises)
        if name not in known:
            there = f"{', '.join(known) or 'none'} from {chapter.module.name}"
            yield f'{here}: there is no {call}("{name}"); there are {there}'
        elif tagged(code[count - 1], "solution"):
            shown = [
                "".join(output.get("data", {}).get("text/plain", "")) for output in code[count - 1].get("outputs", ())
            ]
            if re.search(r"^solution = \.\.\.$", "".join(code[count - 1]["source"]), re.MULTILINE):
                yield f"{here}: the solution of {name} is still missing"
            elif shown and not any(re.match(r"\S+: Right\.", text) for text in shown):
                yield f"{here}: the solution of {name} is not right. {shown[-1]}"
        elif name in asked:
            yield f'{here}: {call}("{name}") is asked in cell {asked[name]} too'
        elif call == "check" and not tagged(code[count - 1], "exercise"):
            yield f'{here}: the cell of check("{name}") needs the tag "exercise"'
        else:
            if later := [one for one in asked if one in known and known.index(one) > known.index(name)]:
                yield f'{here}: {call}("{name}") comes after {later[0]}; put cells and QUESTIONS in the same order'
            asked[name] = count
    questions: dict[str, Prediction | Exercise] = {**chapter.predictions, **chapter.exercises}
    for name, question in questions.items():
        if name not in asked:
            yield f"{_place(question)}: {name} is not asked in {chapter.notebook}"


def _place(question: Prediction | Exercise) -> str:
    file, line = question.where
    return f"{file}, line {line}"


def spellings(exercise: Exercise) -> Iterator[Any]:
    """Yield the right answer in the forms in which learners hand it in: in float32 too, as arrays and as tensors.

    Examples
    --------
    >>> [type(each).__name__ for each in spellings(Number(answer=6, why="2x."))]
    ['int', 'float32', 'ndarray', 'Tensor']
    """
    yield exercise.answer
    yield from exercise.spellings
    for convert in (np.float32, np.asarray, _tensor):
        match exercise:
            case Number(answer=answer) if answer is not None:
                yield convert(answer)
            case Table(answer=answer, parts=parts) if all(isinstance(part, Number) for part in parts.values()):
                yield {name: None if value is None else convert(value) for name, value in answer.items()}
            case Function(answer=answer, cases=cases) if not any(isinstance(each, Case) for each in cases):
                yield functools.partial(_converted, answer, convert)


def _tensor(value: Any) -> ad.Tensor:
    return ad.constant(np.asarray(value, float))


def _converted(answer: Any, convert: Any, *args: Any) -> Any:
    def leaf(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(leaf, value))
        if isinstance(value, dict):
            return {name: leaf(part) for name, part in value.items()}
        return value if isinstance(value, str | bool | ad.Tensor | None) else convert(value)

    return leaf(answer(*args))


def _completed(wrong: Any, answer: Any, *args: Any) -> Any:
    """Return what a wrong function returns, with the right parts where it says three dots."""
    result = wrong(*args)
    if isinstance(result, tuple):
        right = answer(*args) if any(part is ... for part in result) else result
        return tuple(good if part is ... else _closed(part) for part, good in zip(result, right, strict=True))
    return _closed(result)


def _closed(part: Any) -> Any:
    return np.zeros(part.shape) if isinstance(part, np.ndarray) and part.dtype == object else part


def known_wrong(exercise: Exercise) -> Iterator[tuple[Any, str]]:
    """Yield the wrong answers that an exercise knows, and their hints; those of a part with the other parts right."""
    for wrong, hint in exercise.hints:
        if isinstance(exercise, Function):
            yield functools.partial(_completed, wrong, exercise.answer), hint
        elif isinstance(exercise, Table):
            yield {**exercise.answer, **{name: part for name, part in wrong.items() if part is not ...}}, hint
        else:
            yield wrong, hint
    parts: Mapping[Any, Exercise] = exercise.parts if isinstance(exercise, Table) else {}
    if isinstance(exercise, Milestones):
        parts = {part.name: part.form_of(exercise.answer) for part in exercise.parts}
    for name, part in parts.items():
        for wrong, hint in known_wrong(part):
            yield {**exercise.answer, name: wrong} if isinstance(exercise.answer, dict) else wrong, hint
