"""Each page's program edited and replayed, and each chapter's exercises answered, by the Python that a click loads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from book.steps import TRACE, steps, unlike
from kernel import Kernel, with_values

from autodiff_edu.course.check import exercises_of
from autodiff_edu.course.numbering import chapter_of
from autodiff_edu.course.tools.assignment import chapters

from .editing import Live, ready

ROOT = Path(__file__).parents[2]
CHAPTERS = [path.stem for path in chapters().values()]


@pytest.mark.parametrize("name", ["index", *(f"chapters/{chapter}" for chapter in CHAPTERS)])
def test_a_page_replays_what_is_edited_and_checks_what_is_answered(
    page: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "notebooks")  # where the data are
    tab = page(name)
    replays(Live(tab))
    if name != "index":
        checks(tab, name.removeprefix("chapters/"))
    tab.is_quiet()


def replays(live: Live) -> None:
    """Assert that an edited program shows the numbers that Python computes here."""
    changed = {
        value["name"]: re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]) + 0.5:g}", value["text"], count=1)
        for value in live.program["values"][:1]
    }
    edited = f"{live.program['source']}\n# changed by a reader\n"
    live.run(edited, **changed)
    assert live.status.text_content() == "", live.error()
    assert unlike(expected({**live.program, "source": edited}, **changed), live.steps()) == []
    if changed:
        assert live.area.input_value() == with_values(edited, changed) != edited


def checks(tab: Any, chapter: str) -> None:
    """Assert that the exercises of a chapter tell the template from the solution, and that ticks are kept."""
    contents = tab.page.locator("nav.bd-links")
    exercises = exercises_of(chapter_of(chapter))
    every = len(exercises)
    for index, exercise in enumerate(exercises):
        live = Live(tab, index, "check")
        live.run()  # the template, with its three dots
        assert live.cell.locator(".live-wrong").inner_text().startswith(f"{exercise}: Not yet. ")
        assert f"✓ {index} of {every}" in contents.inner_text() or index == 0
        live.run(solution(chapter, index + 1))
        assert live.cell.locator(".live-right").inner_text().startswith(f"{exercise}: Right. ")
    tab.page.reload()
    ready(tab.page)
    assert f"✓ {every} of {every}" in contents.inner_text()
    tab.page.locator(".live-forget").click()
    assert "✓" not in contents.inner_text()


def solution(chapter: str, number: int) -> str:
    """Return the source of an exercise's solution."""
    cells = json.loads((ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    (cell,) = [cell for cell in cells if cell["id"] == f"ex-{number}-solution"]
    return "".join(cell["source"])


def expected(program: dict[str, Any], **fields: str) -> list[str]:
    """Return what the player says of the same program here."""
    told = Kernel().run(program["setup"], program["source"], fields, title="cell")
    (found,) = [text for kind, text in told["outputs"] if kind == "html" and TRACE.search(text)]
    return steps(found)
