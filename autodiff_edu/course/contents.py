"""A course: which chapters there are, in which order, where their notebooks are, and what each asks.

A course is a folder with a file course.toml, and one Python module for each chapter that asks something:

    title = "Heat"
    language = "en"
    chapters = ["first-steps", "a-rod"]   # slugs, in the order of reading; each appears here and nowhere else
    appendices = ["units"]                # may be left out, as may all that follow
    first = 1                             # the number of the first chapter; 0 if not given
    notebooks = "notebooks"               # where the notebooks are; beside this file if not given
    pages = ["*.md"]                      # other files that name chapters by their numbers

The module of a-rod is a_rod.py, beside course.toml; it holds QUESTIONS, a tuple of predictions and exercises in the
order in which they are met. Its notebook is 02-a-rod.ipynb.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import sys
import tomllib
import traceback
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module, invalidate_caches
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType
from typing import Any

from ..saving.files import resolve
from .exercises import Exercise
from .predictions import Prediction

KEYS: dict[str, type] = {
    "title": str,
    "language": str,
    "chapters": list,
    "appendices": list,
    "first": int,
    "notebooks": str,
    "pages": list,
}
"""What course.toml may say, and of which type it is; the first three must be there."""
LISTS = ("chapters", "appendices", "pages")
HERE = Path(__file__).parent
NUMBER = re.compile(r"(?:\d+|[A-Z])(?=[-.]|$)|[a-z](?=\.|$)")
_packages = map("_course_{}".format, itertools.count())


class Chapter:
    """One chapter.

    Attributes
    ----------
    course : Course
        The course that it belongs to.
    number : int or str
        Its place in the course; the letter of an appendix.
    slug : str
        What it is known by, wherever it stands: "custom-gradients".
    """

    def __init__(self, course: Course, number: int | str, slug: str) -> None:
        self.course, self.number, self.slug = course, number, slug

    def __repr__(self) -> str:
        return f"<chapter {self.name}>"

    @property
    def name(self) -> str:
        """What its notebook is called: "09-custom-gradients"."""
        number = self.number if isinstance(self.number, str) else f"{self.number:02}"
        return f"{number}-{self.slug}"

    @property
    def notebook(self) -> Path:
        """Where its notebook is."""
        return self.course.notebooks / f"{self.name}.ipynb"

    def read(self) -> dict[str, Any]:
        """Read its notebook.

        Raises
        ------
        FileNotFoundError
            If there is none.
        ValueError
            If it isn't a notebook.
        """
        if not self.course.notebooks.is_dir():
            raise FileNotFoundError(
                f"there are no chapters in {self.course.notebooks}. Those of autodiff-edu itself come with its wheel, "
                "and with a whole checkout"
            )
        if not self.notebook.is_file():
            moved = any(self.notebook.parent.glob(f"*{self.slug}.ipynb"))
            what = "; its number is another one: run `python -m autodiff_edu.course renumber`" if moved else ""
            raise FileNotFoundError(
                f"there is no notebook {self.notebook}, and {self.course.file} lists {self.slug!r}{what}"
            )
        try:
            notebook: dict[str, Any] = json.loads(self.notebook.read_text(encoding="utf-8"))
            _, *_ = [cell["source"] for cell in notebook["cells"]]
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(f"{self.notebook} is not a notebook with cells: {error}") from error
        return notebook

    @property
    def title(self) -> str:
        """Its title, from the first heading of its notebook, without its number."""
        line = "".join(self.read()["cells"][0]["source"]).partition("\n")[0]
        return re.sub(r"^#\s*((\d+|[A-Z]) · )?", "", line)

    @property
    def module(self) -> Path:
        """Where the file with its questions is, if it asks any."""
        return self.course.folder / f"{self.slug.replace('-', '_')}.py"

    @cached_property
    def questions(self) -> tuple[Prediction | Exercise, ...]:
        """Its predictions and exercises, in the order in which they are met; none if there is no such file."""
        if not (self.course.files / self.module.name).is_file():
            return ()
        try:
            found = import_module(f"{self.course.package}.{self.module.stem}")
        except SyntaxError as error:
            raise ValueError(f"{error.filename}, line {error.lineno}: {error.msg}") from error
        except (Exception, SystemExit) as error:
            lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(self.module)]
            place = f"{self.module}, line {lines[-1].lineno}" if lines else str(self.module)
            raise ValueError(f"{place}: {type(error).__name__}: {error}") from error
        if not hasattr(found, "QUESTIONS"):
            raise ValueError(f"{self.module}: there is no QUESTIONS, a tuple of predictions and exercises")
        questions = found.QUESTIONS
        if not isinstance(questions, tuple | list):
            said = f"QUESTIONS is {questions!r:.60}, not a tuple of predictions and exercises"
            raise ValueError(f"{self.module}, line {_line_of_question(self.module)}: {said}")
        for k, each in enumerate(questions):
            if not isinstance(each, Prediction | Exercise):
                said = f"QUESTIONS holds {each!r:.60}, which is neither a prediction nor an exercise"
                raise ValueError(f"{self.module}, line {_line_of_question(self.module, k)}: {said}")
        return tuple(questions)

    @cached_property
    def predictions(self) -> Mapping[str, Prediction]:
        """Its predictions by their ids, such as "5.a"."""
        found = [each for each in self.questions if isinstance(each, Prediction)]
        return {f"{self.number}.{_letters(k)}": each for k, each in enumerate(found)}

    @cached_property
    def exercises(self) -> Mapping[str, Exercise]:
        """Its exercises by their ids, such as "5.1"."""
        found = [each for each in self.questions if isinstance(each, Exercise)]
        return {f"{self.number}.{k}": each for k, each in enumerate(found, 1)}


class Course:
    """A course, read from its folder. The chapters' modules are imported when something of theirs is asked for.

    Parameters
    ----------
    folder : path
        The folder that has the file course.toml, and the modules.
    notebooks : path, optional
        Where the notebooks are; as course.toml says if not given.
    package : str, optional
        The package that the modules belong to, if the folder is one.

    Attributes
    ----------
    folder, notebooks : Path
        Where the modules are, and where the notebooks are.
    files : Traversable
        The folder, as something to read from, for it may be in a zip file.
    title, language : str
        What it is called, and the language it is written in, such as "en".
    chapters : tuple of Chapter
        In order, appendices last.

    Raises
    ------
    FileNotFoundError
        If there is no course.toml.
    ValueError
        If it says something else than a course needs: the message names the file and the line.

    Examples
    --------
    >>> OURS.chapters[2]
    <chapter 02-backward>
    >>> OURS.find("backward").number, OURS.find("B.2").slug
    (2, 'sparse-jacobians')
    >>> list(OURS.chapters[2].exercises)
    ['2.1', '2.2', '2.3']
    """

    def __init__(self, folder: str | Path, notebooks: str | Path | None = None, package: str | None = None) -> None:
        self.folder = resolve(folder)
        self.file = self.folder / "course.toml"
        self.files: Traversable = files(package) if package else self.folder  # a package may be in a zip file
        if not (self.files / "course.toml").is_file():
            raise FileNotFoundError(f"there is no course in {folder}: it has no file course.toml")
        said = _read(self.files / "course.toml")
        self.title, self.language = said["title"], said["language"]
        self.notebooks = Path(notebooks) if notebooks is not None else self.folder / said.get("notebooks", ".")
        self._pages: list[str] = said.get("pages", [])
        first = said.get("first", 0)
        numbered: list[tuple[int | str, str]] = [*enumerate(said["chapters"], first)]
        numbered += [(chr(65 + k), slug) for k, slug in enumerate(said.get("appendices", ()))]
        self.chapters = tuple(Chapter(self, number, slug) for number, slug in numbered)
        self._given_package = package

    @cached_property
    def package(self) -> str:
        """The package that the modules are imported from; of another folder than ours one that has no other name."""
        if self._given_package is None:
            package = ModuleType(next(_packages))
            package.__path__ = [str(self.folder)]
            sys.modules[package.__name__] = package
            invalidate_caches()
            return package.__name__
        return self._given_package

    @property
    def pages(self) -> list[Path]:
        """The other files that name chapters, as far as they are there."""
        found = (path for pattern in self._pages for path in _glob(self.folder, pattern))
        return sorted({path.resolve() for path in found if path.is_file()})

    @property
    def assignments(self) -> list[Chapter]:
        """The chapters that ask something, which are those that are handed out. This imports every module."""
        return [chapter for chapter in self.chapters if chapter.questions]

    @cached_property
    def predictions(self) -> Mapping[str, Prediction]:
        """All predictions, by their ids. This imports every module."""
        return {name: each for chapter in self.chapters for name, each in chapter.predictions.items()}

    @cached_property
    def exercises(self) -> Mapping[str, Exercise]:
        """All exercises, by their ids. This imports every module."""
        return {name: each for chapter in self.chapters for name, each in chapter.exercises.items()}

    def find(self, name: int | str) -> Chapter:
        """Find a chapter.

        Parameters
        ----------
        name : int or str
            Its number, letter or slug; or what begins with its number, such as an id or the name of its notebook.

        Raises
        ------
        ValueError
            If there is no such chapter, listing those there are.
        """
        found = NUMBER.match(str(name))
        number = found and (int(found[0]) if found[0].isdecimal() else found[0].upper())
        for known in (name, number):
            for chapter in self.chapters:
                if known in (chapter.slug, chapter.number):
                    return chapter
        there = ", ".join(str(each.number) for each in self.chapters)
        raise ValueError(f"there is no chapter {name}; there are {there}")

    def prediction(self, name: str) -> Prediction:
        """Return a prediction by its id; only its chapter's module is imported.

        Raises
        ------
        KeyError
            If there is no such prediction, listing those there are.
        """
        found: Prediction = self._question("prediction", name)
        return found

    def exercise(self, name: str) -> Exercise:
        """Return an exercise by its id; only its chapter's module is imported.

        Raises
        ------
        KeyError
            If there is no such exercise, listing those there are.
        """
        found: Exercise = self._question("exercise", name)
        return found

    def _question(self, kind: str, name: Any) -> Any:
        if type(name) is str:
            for chapter in self.chapters:
                if name.startswith(f"{chapter.number}.") and name in (known := getattr(chapter, f"{kind}s")):
                    return known[name]
        known = getattr(self, f"{kind}s")
        raise KeyError(f"there is no {kind} {name!r}; there are {', '.join(known) or 'none yet'}")


def _read(file: Traversable) -> dict[str, Any]:
    """Read a course.toml."""
    try:
        text = file.read_text(encoding="utf-8-sig")  # as some editors on Windows write it
    except UnicodeDecodeError as error:
        count = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{file}, line {count}: this is not UTF-8; save the file in that encoding") from error
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = place[1] if place and place[1] else len(text.splitlines())
        raise ValueError(f"{file}, line {line}: {re.sub(r' [(]at .*', '', str(error))}") from error

    def reject(word: str, message: str) -> ValueError:
        lines = [number for number, line in enumerate(text.splitlines(), 1) if re.search(word, line.partition("#")[0])]
        return ValueError(f"{file}{f', line {lines[-1]}' if lines else ''}: {message}")

    for key in ("title", "language", "chapters"):
        if key not in said:
            raise reject("^$^", f"it does not say {key}; a course has a title, a language and chapters")
    for key, value in said.items():
        at = rf"^\s*\[?{re.escape(key)}\b"
        if key not in KEYS:
            raise reject(at, f"{key} means nothing here; what may be said is {', '.join(KEYS)}")
        texts = value if isinstance(value, list) else ()
        if type(value) is not KEYS[key] or not all(isinstance(each, str) for each in texts):
            wanted = "a list of texts" if key in LISTS else "a whole number" if key == "first" else "a text"
            raise reject(at, f"{key} is {value!r:.60}; write {wanted}")
    if (count := len(said.get("appendices", ()))) > 26:
        raise reject(r"^\s*appendices\b", f"there are {count} appendices, and 26 letters to number them")
    slugs: list[str] = [*said["chapters"], *said.get("appendices", ())]
    for k, slug in enumerate(slugs):
        at = f"[\"']{re.escape(slug)}[\"']"
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", slug):
            raise reject(at, f"{slug!r} can't name files: write small letters, digits and hyphens, such as 'a-rod'")
        if slug in slugs[:k]:
            raise reject(at, f"{slug!r} is listed twice")
    return said


def _glob(folder: Path, pattern: str) -> list[Path]:
    while pattern.startswith("../"):
        folder, pattern = folder.parent, pattern[3:]
    return list(folder.glob(pattern))


def _letters(place: int) -> str:
    """Return the letter of a prediction, or the letters of those beyond z: aa, ab."""
    return (_letters(place // 26 - 1) if place >= 26 else "") + chr(97 + place % 26)


def _line_of_question(module: Path, place: int | None = None) -> int:
    """Return the line of QUESTIONS, or of what stands there at some place, if the tuple is written out."""
    line = 1
    for statement in ast.parse(module.read_text(encoding="utf-8")).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == "QUESTIONS" for target in targets):
            line = statement.lineno
            elements = getattr(getattr(statement, "value", None), "elts", [])
            if place is not None and place < len(elements):
                line = elements[place].lineno
    return line


OURS = Course(
    HERE / "chapters",
    notebooks=next(filter(Path.is_dir, (HERE / "notebooks", HERE.parents[1] / "notebooks")), HERE / "notebooks"),
    package=f"{__package__}.chapters",
)
"""The course of this package. Its notebooks come along in a wheel; in a checkout they are in notebooks/."""
