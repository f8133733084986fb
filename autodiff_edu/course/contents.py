"""The contents of the course: which chapters there are, in which order, and what each asks."""

from __future__ import annotations

import tomllib
from importlib import import_module
from importlib.resources import files
from typing import NamedTuple

from .exercises import Exercise
from .predictions import Prediction


class Chapter(NamedTuple):
    """One chapter.

    Attributes
    ----------
    number : int or str
        Its place among the chapters, from 0; or the letter of an appendix.
    slug : str
        What it is known by: its notebook is named by the number and the slug.
    questions : tuple
        Its predictions and exercises, in the order in which they are met.
    """

    number: int | str
    slug: str
    questions: tuple[Prediction | Exercise, ...]

    def predictions(self) -> dict[str, Prediction]:
        """Return the predictions by their ids, such as "5.a"."""
        found = [each for each in self.questions if isinstance(each, Prediction)]
        return {f"{self.number}.{chr(97 + k)}": each for k, each in enumerate(found)}

    def exercises(self) -> dict[str, Exercise]:
        """Return the exercises by their ids, such as "5.1"."""
        found = [each for each in self.questions if isinstance(each, Exercise)]
        return {f"{self.number}.{k}": each for k, each in enumerate(found, 1)}


def _read() -> tuple[Chapter, ...]:
    folder = files(f"{__package__}.chapters")
    listed = tomllib.loads((folder / "course.toml").read_text(encoding="utf-8"))
    numbered: list[tuple[int | str, str]] = [*enumerate(listed["chapters"])]
    numbered += [(chr(65 + k), slug) for k, slug in enumerate(listed["appendices"])]
    chapters = []
    for number, slug in numbered:
        name = slug.replace("-", "_")
        asks = (folder / f"{name}.py").is_file()
        questions = import_module(f"{__package__}.chapters.{name}").QUESTIONS if asks else ()
        chapters.append(Chapter(number, slug, questions))
    return tuple(chapters)


CHAPTERS = _read()
"""The chapters of the course, appendices last."""
