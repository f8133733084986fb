"""The questions of a course in the one form from which every file format is written.

A platform compares numbers up to a tolerance, and texts letter by letter. So a shape, and a number in whose place None
may be answered, become texts, with all the ways in which people write them.
"""

from __future__ import annotations

import html
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ....core.active import only
from ....player.drill import QUESTIONS
from ....player.drill_levels import LEVELS, DrillProgram, draw
from ...contents import Course
from ...exercises import Choice, Exercise, Number, Shape, Table, fill
from ...predictions import Prediction

LONGEST_TITLE = 60
STRESSED = re.compile(r"(?<![\w*)\]])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*(])")
"""As in prediction.js: what is stressed, and not the signs of a product, nor the stars of a power."""
MANY_DRILLS = 100
"""How many drills without a new program are drawn before we give up."""
INSTRUCTIONS = {"number or None": "Write a number, or None.", "shape": "Write a shape, such as (5, 7)."}
KINDS = {
    "value": "values",
    "shape": "shapes",
    "flow": "shapes of cotangents",
    "sum": "cotangents",
    "gradient": "gradients",
}
"""What the category of each kind of drill question is called."""


@dataclass(frozen=True)
class Answer:
    """An answer that a question knows, right or wrong.

    Parameters
    ----------
    texts : tuple of str
        The ways to write it; the text of a choice is HTML.
    right : bool
        Whether it is right.
    hint : str
        What is said to somebody who gives it, as HTML.
    within : Decimal
        How far a number may be from it.
    """

    texts: tuple[str, ...]
    right: bool = False
    hint: str = ""
    within: Decimal = Decimal(0)


@dataclass(frozen=True)
class Question:
    """A question as every file format says it.

    Parameters
    ----------
    id : str
        The same each time, and different from that of every other question.
    category : tuple of str
        Where it is filed, from the widest to the narrowest.
    title : str
        What it is called in lists.
    text : str
        What is asked, as HTML.
    asks : str
        "number", "text" or "choice".
    answers : tuple of Answer
        The right one is first, except among choices.
    otherwise : str
        The hint for any other wrong answer, as HTML.
    why : str
        What is said once the question is settled, as HTML.
    """

    id: str
    category: tuple[str, ...]
    title: str
    text: str
    asks: str
    answers: tuple[Answer, ...]
    otherwise: str = ""
    why: str = ""


def course_questions(course: Course) -> list[Question]:
    """Return the questions of all chapters."""
    found = []
    for chapter in course.assignments:
        category = (course.title, f"{chapter.number} · {chapter.title}")
        found += chapter_questions(category, chapter.predictions, chapter.exercises, chapter.read())
    return found


def chapter_questions(
    category: tuple[str, ...],
    predictions: Mapping[str, Prediction],
    exercises: Mapping[str, Exercise],
    notebook: Mapping[str, Any],
) -> list[Question]:
    """Return the predictions of a chapter, and those of its exercises that a platform can compare.

    Parameters
    ----------
    category : tuple of str
        Where they are filed.
    predictions, exercises : mapping
        By their ids.
    notebook : mapping
        The chapter as stored in JSON, from which each prediction takes the program that it is about.

    Examples
    --------
    >>> asked = Prediction("What is `x * x` at x = 3?", answer=9, hints={6: "That is the slope."}, why="3 times 3.")
    >>> [question] = chapter_questions(("A course", "1"), {"1.a": asked}, {}, {"cells": []})
    >>> question.id, question.text
    ('1.a', '<p>What is <code>x * x</code> at x = 3?</p>')
    >>> question.answers[1]
    Answer(texts=('6',), right=False, hint='That is the slope.', within=Decimal('0.06'))
    """
    found = [_prediction(id, category, asked, program_of(notebook, id)) for id, asked in predictions.items()]
    for id, exercise in exercises.items():
        found += _exercise(id, category, exercise, exercise.question, exercise.title)
    return found


def program_of(notebook: Mapping[str, Any], id: str) -> str:
    """Return the code cell right after a prediction, unless the chapter hides its code.

    >>> cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in ('predict("1.a")', "y = x * x")]
    >>> program_of({"cells": cells}, "1.a"), program_of({"cells": cells}, "1.b")
    ('y = x * x', '')
    """
    asked = re.compile(rf"^predict\(\s*[\"']{re.escape(id)}[\"']\s*\)", re.MULTILINE)
    for cell, after in itertools.pairwise(notebook["cells"]):
        if cell["cell_type"] == after["cell_type"] == "code" and asked.search("".join(cell["source"])):
            return "" if "hide-input" in after["metadata"].get("tags", ()) else "".join(after["source"])
    return ""


def drill_questions(level: int, count: int, seed: int) -> list[Question]:
    """Return questions of drills: those with this seed, the next one, and so on, each program once.

    Parameters
    ----------
    level : int
        That of the drills.
    count : int
        How many questions.
    seed : int
        That of the first drill.

    Raises
    ------
    ValueError
        If there is no such level, or it has fewer different programs.

    Examples
    --------
    >>> [first] = drill_questions(1, count=1, seed=1)
    >>> first.category, first.answers[0].texts[0]
    (('Drill', 'Level 1', 'gradients'), '48')
    """
    if level not in LEVELS:
        raise ValueError(f"level {level} does not exist: the levels are {', '.join(map(str, LEVELS))}")
    found: dict[str, Question] = {}
    barren = 0
    for drawn in itertools.count(seed):
        before = len(found)
        with only(), np.errstate(all="ignore"):  # the user's tapes must not follow what is tried out here
            pairs = list(draw(level, drawn))
        for number, (program, answer) in enumerate(pairs, 1):
            if program.source not in found and len(found) < count:
                found[program.source] = _drilled(f"drill {level}-{drawn}-{number}", level, program, answer)
        barren = barren + 1 if len(found) == before else 0
        if len(found) == count:
            return sorted(found.values(), key=lambda question: question.category)
        if barren == MANY_DRILLS:
            raise ValueError(f"level {level} has no more than {len(found)} different programs; ask for fewer")
    raise AssertionError("there is always another seed")


def _drilled(id: str, level: int, program: DrillProgram, answer: str) -> Question:
    asked = QUESTIONS[program.kind].format(**program._asdict())
    category = ("Drill", f"Level {level}", KINDS[program.kind])
    question = Question(id, category, f"{id}: {asked}", f"<p>{_escape(asked)}</p>{_code(program.source)}", "", ())
    if answer.startswith("("):
        shape = tuple(map(int, re.findall(r"\d+", answer)))
        return _as_text(question, [(_shape_texts(shape), "")], INSTRUCTIONS["shape"])
    if program.kind == "gradient":
        texts = _number_texts(None if answer == "None" else float(answer))
        return _as_text(question, [(texts, "")], INSTRUCTIONS["number or None"])
    return replace(question, asks="number", answers=(Answer((answer,), right=True),))


def _prediction(id: str, category: tuple[str, ...], asked: Prediction, program: str) -> Question:
    if asked.choices:
        form: Exercise = Choice(answer=asked.answer, choices=asked.choices, hints=asked.hints)
    elif isinstance(asked.answer, tuple):
        form = Shape(answer=asked.answer, hints=asked.hints)
    else:
        form = Number(answer=asked.answer, hints=asked.hints, within=asked.within)
    plain = re.sub(r"[`*]", "", asked.question)
    title = f"{id} {plain if len(plain) < LONGEST_TITLE else plain[: LONGEST_TITLE - 1] + '…'}"
    text = f"<p>{inline(asked.question)}</p>" + (_code(program) if program else "")
    question = Question(id, category, title, text, "", (), why=inline(asked.why))
    return _filled(question, form, asked.answer, asked.hints.items(), Decimal(0))  # a prediction of 0 has to be 0


def _exercise(
    id: str,
    category: tuple[str, ...],
    form: Exercise,
    asked: str,
    title: str,
    why: str = "",
    also: Sequence[tuple[Any, str]] = (),
) -> Iterator[Question]:
    """Write an exercise, or each part of a table, as questions; nothing if a platform can't compare its answers."""
    why = form.why or why
    if isinstance(form, Table):
        for key, part in form.parts.items():
            whole = [(wrong[key], hint) for wrong, hint in form.hints if key in wrong and wrong[key] is not ...]
            what = f"the {form.called} of {key}" if form.called != "answer" else f"your answer for `{key}`"
            also_asked = f"{asked}\n\n**What is {what}?**"
            yield from _exercise(f"{id} {key}", category, part, also_asked, title, why, whole)
    elif isinstance(form, Number | Shape | Choice):
        question = Question(id, category, f"{id} {title}".strip(), markdown(asked), "", (), why=inline(why))
        slack = Decimal(repr(min(form.within, 1e-6))) / 100 if isinstance(form, Number) else Decimal(0)
        hints = [(form.read(wrong), hint) for wrong, hint in [*form.hints, *also]]
        yield _filled(question, form, form.read(form.answer), hints, slack)


def _filled(
    question: Question, form: Exercise, right: Any, hints: Iterable[tuple[Any, str]], slack: Decimal
) -> Question:
    """Add the answers of a form to a question, and how they are compared; a number may be missed by `slack`."""
    known: dict[Any, str] = {}
    for wrong, hint in hints:
        if not form.agrees(wrong, right):
            known.setdefault(wrong, inline(fill(hint, wrong, right)))
    otherwise = inline(fill(form.otherwise.replace("{given}", "your answer"), right, right))
    question = replace(question, otherwise=otherwise)
    if isinstance(form, Choice):
        words = form.choices.values() if isinstance(form.choices, Mapping) else form.choices
        answers = tuple(
            Answer((inline(word),), right=word == right, hint=known.get(word, otherwise if word != right else ""))
            for word in dict.fromkeys(words)
        )
        return replace(question, asks="choice", answers=answers)
    values = {right: "", **known}
    if isinstance(form, Shape):
        return _as_text(
            question, [(_shape_texts(value), hint) for value, hint in values.items()], INSTRUCTIONS["shape"]
        )
    within = Decimal(repr(float(getattr(form, "within", 0))))
    reach = {
        value: Decimal(0) if value is None or not math.isfinite(value) else max(within * abs(exact(value)), slack)
        for value in values
    }
    if any(value is None or not math.isfinite(value) for value in values):
        written = [(_number_texts(value, reach[value]), hint) for value, hint in values.items()]
        return _as_text(question, written, INSTRUCTIONS["number or None"])
    for wrong in known:  # the nearest counts, so none reaches further than half of the way to the next
        gaps = [abs(exact(wrong) - exact(other)) / 2 for other in known if other != wrong]
        reach[wrong] = min([reach[wrong], *gaps])
    answers = tuple(
        Answer((plain(exact(value)),), right=value == right, hint=hint, within=reach[value])
        for value, hint in values.items()
    )
    return replace(question, asks="number", answers=answers)


def _as_text(question: Question, answers: Sequence[tuple[tuple[str, ...], str]], instruction: str) -> Question:
    """Add answers that are compared letter by letter, the right one first, each text to one of them."""
    taken = {texts[0] for texts, _ in answers}
    found: list[Answer] = []
    for (first, *others), hint in answers:
        fresh = [text for text in others if text not in taken]
        taken.update(fresh)
        found.append(Answer((first, *fresh), right=not found, hint=hint))
    text = f"{question.text}<p>{instruction}</p>"
    return replace(question, text=text, asks="text", answers=tuple(found))


def exact(value: Any) -> Decimal:
    """Return a number with the digits that Python shows of it."""
    return Decimal(value) if isinstance(value, int) else Decimal(repr(float(value)))


def plain(value: Decimal) -> str:
    """Write a number without an exponent and without zeros that say nothing.

    >>> plain(Decimal("1E+3")), plain(Decimal("0.0100")), plain(Decimal("-0"))
    ('1000', '0.01', '0')
    """
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _number_texts(value: float | None, within: Decimal = Decimal(0)) -> tuple[str, ...]:
    """Return the ways to write a number, or None, that are near enough.

    >>> _number_texts(4, Decimal("0.04")), _number_texts(0.25), _number_texts(None)
    (('4', '4.0'), ('0.25', '.25', '1/4'), ('None',))
    """
    if value is None:
        return ("None",)
    if not math.isfinite(value):
        sign = "-" if value < 0 else ""
        return ("nan",) if math.isnan(value) else tuple(sign + word for word in ("inf", "infinity", "∞"))
    number = exact(value)
    rounded = [number, *(Decimal(f"{number:.{digits}e}") for digits in range(9, -1, -1))]
    found: list[str] = []
    for near in rounded:
        if abs(near - number) <= within:
            text = plain(near)
            found += [text, f"{text}.0" if "." not in text else re.sub(r"^(-?)0\.", r"\1.", text)]
    part = Fraction(number).limit_denominator(100)
    if part.denominator > 1 and float(part) == value:
        found.append(str(part))
    return tuple(dict.fromkeys(text for text in found if text))


def _shape_texts(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the ways to write a shape.

    >>> _shape_texts((2, 3))[:5], _shape_texts((3,))[:3], _shape_texts(())
    (('(2, 3)', '(2,3)', '2, 3', '2,3', '[2, 3]'), ('(3,)', '(3)', '3'), ('()', '( )', '[]'))
    """
    if not shape:
        return "()", "( )", "[]"
    sizes = [str(axis) for axis in shape]
    if len(sizes) == 1:
        return f"({sizes[0]},)", f"({sizes[0]})", sizes[0], f"{sizes[0]},", f"[{sizes[0]}]"
    lists = [between.join(sizes) for between in (", ", ",")]
    bare = [between.join(sizes) for between in ("x", " x ", "×", " × ", " ")]
    return (*(f"({text})" for text in lists), *lists, *(f"[{text}]" for text in lists), *bare)


def markdown(text: str) -> str:
    """Return Markdown as HTML; HTML in it is shown as it stands.

    >>> markdown("Is `x < y` *here*?")
    '<p>Is <code>x &lt; y</code> <em>here</em>?</p>'
    """
    try:
        import mistune
    except ImportError as error:
        raise ImportError(
            'exporting exercises needs what JupyterLab brings: pip install "autodiff-edu[lab]"'
        ) from error
    return str(mistune.create_markdown(escape=True, plugins=["table"])(clean(text))).strip()


def inline(text: str) -> str:
    """Return a sentence as HTML: what stands in backticks as code, and what stands between stars stressed.

    >>> inline("`a < b`, *not* 2*x*y")
    '<code>a &lt; b</code>, <em>not</em> 2*x*y'
    """
    parts = _escape(clean(text)).split("`")
    return "".join(
        f"<code>{part}</code>" if k % 2 else STRESSED.sub(r"<em>\1</em>", part) for k, part in enumerate(parts)
    )


def clean(text: str) -> str:
    r"""Return a text whose lines end in one way, with nothing that XML can't hold.

    >>> clean("a\r\nb\x00")
    'a\nb�'
    """
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", re.sub(r"\r\n?", "\n", text))


def _code(source: str) -> str:
    return f"<pre><code>{_escape(clean(source).strip(chr(10)))}\n</code></pre>"


def _escape(text: str) -> str:
    return html.escape(text, quote=False)
