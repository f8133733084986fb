"""What teachers plan with: weeks that build on each other and have room, and notes on each chapter."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools.minutes import minutes

BOOK = Path(__file__).parents[2] / "book"
PLANS = (BOOK / "plans.md").read_text(encoding="utf-8")
CHAPTERS = {str(chapter.number): chapter for chapter in OURS.chapters}
ORDER = list(CHAPTERS)
KNOWN = {"1", "2", "3", "6"}
"""The chapters that the page says everyone needs."""
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
HEADINGS = ["What goes wrong", "What to ask", "In ten minutes", "Exercises", "Where the player helps"]


def rows(heading):
    """Return the cells of each row of the first table below a heading of the plans."""
    below = PLANS.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line.strip("|").split("|") for line in below.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in table[2:]]


def numbers(cell):
    """Return the numbers of the chapters that a cell names, as text."""
    return re.findall(r"\b(?:\d+|[A-C])\b(?![.\d])", cell)


USES = {numbers(chapter)[0]: set(numbers(uses)) for chapter, uses in rows("What a chapter uses")}


@pytest.mark.parametrize(
    ("plan", "length"),
    [("13 weeks of machine learning", 13), ("13 weeks of numerical analysis", 13), ("Four evenings", 4)],
)
def test_a_plan_uses_nothing_that_it_has_not_reached_and_fits_its_weeks(plan, length):
    weeks = rows(plan)
    assert [week for week, *_ in weeks] == [str(number) for number in range(1, length + 1)]
    reached = set()
    for week, chapters, handed_in, _ in weeks:
        read = numbers(chapters)
        assert read
        for number in read:
            needs = USES.get(number, set()) | {each for each in KNOWN if ORDER.index(each) < ORDER.index(number)}
            assert needs <= reached, f"week {week}: chapter {number} needs {needs - reached}"
            assert number not in reached
            reached.add(number)
        exercises = re.findall(r"\b((\w+)\.\d)\b", handed_in)
        assert exercises
        assert {number for _, number in exercises} <= set(read)
        spent = sum(minutes(CHAPTERS[number].read(), ())[0] for number in read)
        spent += sum(CHAPTERS[number].exercises[exercise].minutes or 0 for exercise, number in exercises)
        assert spent <= 120, f"week {week} takes {spent} minutes"


@pytest.mark.parametrize("chapter", OURS.chapters, ids=lambda chapter: chapter.slug)
def test_a_chapter_has_notes_for_its_teacher_with_its_exercises_and_their_minutes(chapter):
    page = (BOOK / "teaching.md").read_text(encoding="utf-8")
    (notes,) = [part for part in page.split("\n## ") if f"{{doc}}`chapters/{chapter.name}`" in part]
    parts = dict(re.findall(r"^### (.+)\n+((?:(?!### ).*\n?)+)", notes, re.MULTILINE))
    assert list(parts) == HEADINGS
    assert all(len(part.split()) >= 12 for part in parts.values())
    said = re.findall(r"^\| (\w+\.\d)(?: ([^|]+))? \| (.+?) \|", parts["Exercises"], re.MULTILINE)
    spent = re.findall(r"\*(\w+) to (\w+) hours\.\*", json.dumps(chapter.read()).lower())  # as each project says it
    hours = iter(f"{WORDS.index(low)} to {WORDS.index(high)} hours" for low, high in spent)
    assert said == [
        (number, exercise.title, f"{exercise.minutes} minutes" if exercise.minutes else next(hours))
        for number, exercise in chapter.exercises.items()
    ]


def test_the_image_has_what_the_chapters_import_and_the_package_does_not_bring():
    page = (BOOK / "for-teachers.md").read_text(encoding="utf-8")
    (image,) = re.findall(r"^printf .*$", page, re.MULTILINE)
    brought = {"autodiff_edu", "numpy", "matplotlib", "cloudpickle", *sys.stdlib_module_names}  # cloudpickle with Dask
    imported = set()
    for chapter in OURS.chapters:
        code = "\n".join("".join(cell["source"]) for cell in chapter.read()["cells"] if cell["cell_type"] == "code")
        imported |= set(re.findall(r"^ *(?:import|from) (\w+)", code, re.MULTILINE))
    assert {"dask", "torch", "jax"} <= imported
    for name in imported - brought:
        assert re.search(rf"\b{name}\b", image), name


def test_the_page_about_projects_names_the_chapter_that_has_them():
    page, number = (BOOK / "grade-a-project.md").read_text(encoding="utf-8"), str(OURS.find("a-project").number)
    assert re.findall(r"^python .* handout/ (\w+)$", page, re.MULTILINE) == [number]
    assert set(re.findall(r"^(\w+)\.\d: Not yet", page, re.MULTILINE)) == {number}
