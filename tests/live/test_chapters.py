"""Each page's program edited and replayed, and each chapter's exercises answered, by the Python that a click loads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from book.steps import STORED, TRACE, steps, unlike
from kernel import Kernel, with_values

from autodiff_edu.course.contents import OURS

from .editing import Live, ready

ROOT = Path(__file__).parents[2]
CHAPTERS = [chapter.name for chapter in OURS.assignments]
OPENED = ["index", "why-none", "chapters/01-the-tape"]
"""Pages that are opened as a reader does, and start a Python each; the other chapters share one."""

pytestmark = pytest.mark.filterwarnings("ignore")  # chapter 12 warns, and shows it


@pytest.fixture(autouse=True)
def beside_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run what is expected where the chapters' data are."""
    monkeypatch.chdir(ROOT / "notebooks")


@pytest.mark.parametrize("name", OPENED)
def test_a_page_replays_what_is_edited_and_checks_what_is_answered(page: Any, name: str) -> None:
    tab = page(name)
    replays(Live(tab))
    if name.startswith("chapters/"):
        checks(tab, name.removeprefix("chapters/"))
        ticks_are_kept(tab, name.removeprefix("chapters/"))
    tab.is_quiet()


@pytest.mark.parametrize("chapter", [name for name in CHAPTERS if f"chapters/{name}" not in OPENED])
def test_a_chapter_replays_what_is_edited_and_checks_what_is_answered(running: Any, served: str, chapter: str) -> None:
    running.complaints.clear()
    ready(running.page)  # else the page before would prepare this one, too
    running.page.evaluate(TURN, f"{served}/chapters/{chapter}.html")
    if chapter not in STORED:
        replays(Live(running))
    checks(running, chapter)
    running.is_quiet()


# Turns to another page without leaving this one: Python, which takes longest to start, lives as long as the document.
TURN = """async (address) => {
  const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  history.replaceState(null, "", address);
  delete document.documentElement.dataset.live;
  for (const part of ["nav.bd-links", "article.bd-article"]) {
    document.querySelector(part).replaceWith(page.querySelector(part));
  }
  const script = new URL(document.querySelector("#live-programs").dataset.script, address);
  await import(`${script}?${address}`); // with a question, a module runs anew; those that it imports stay
}"""


def replays(live: Live) -> None:
    """Assert that an edited program shows the numbers that Python computes here."""
    changed = {
        value["name"]: re.sub(r"\d+\.\d+", lambda number: str(round(float(number[0]) + 0.5, 6)), value["text"], count=1)
        for value in live.program["values"][:1]
    }
    edited = f"{live.program['source']}\n# changed by a reader\n"
    live.run(edited, **changed)
    assert live.cell.locator("[data-autodiff-player]").count() == 0  # that of the book has made room
    assert live.status.text_content() == "", live.error()
    ran = {**live.program, "source": edited, "above": live.list_above()}
    assert unlike(expected(ran, **changed), live.steps()) == []
    if changed:
        assert live.text() == with_values(edited, changed) != edited


def checks(tab: Any, chapter: str) -> None:
    """Assert that the exercises of a chapter tell the template from the solution, and that the contents say so."""
    contents = tab.page.locator("nav.bd-links")
    exercises = OURS.find(chapter).exercises
    every = len(exercises)
    for index, exercise in enumerate(exercises):
        live = Live(tab, index, "check")
        live.run()  # the template, with its three dots
        assert live.cell.locator(".live-wrong").inner_text().startswith(f"{exercise}: Not yet. ")
        assert f"✓ {index} of {every}" in contents.inner_text() or index == 0
        live.run(solution(chapter, index + 1))
        assert live.cell.locator(".live-right").inner_text().startswith(f"{exercise}: Right. ")
    assert f"✓ {every} of {every}" in contents.inner_text()


def ticks_are_kept(tab: Any, chapter: str) -> None:
    """Assert that what was solved is there after a reload."""
    contents = tab.page.locator("nav.bd-links")
    every = len(OURS.find(chapter).exercises)
    tab.page.reload()
    ready(tab.page)
    assert f"✓ {every} of {every}" in contents.inner_text()


def solution(chapter: str, number: int) -> str:
    """Return the source of an exercise's solution."""
    cells = json.loads((ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    (cell,) = [cell for cell in cells if cell["id"] == f"ex-{number}-solution"]
    return "".join(cell["source"])


def expected(program: dict[str, Any], **fields: str) -> list[str]:
    """Return what the player says of the same program here."""
    title = "" if program["cell"] is None else f"cell {program['cell'] + 1}"
    told = Kernel().run(program["above"], program["source"], fields, title=title)
    (found,) = [text for kind, text in told["outputs"] if kind == "html" and TRACE.search(text)]
    return steps(found)
