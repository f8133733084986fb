"""A chapter as slides, in Chromium, with a presenter's remote."""

from pathlib import Path
from typing import Any

import pytest

from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools.slides import list_slides, write_slides

SCREEN = {"width": 1280, "height": 720}
STAGE = "playerOn(slides[at])?.hasAttribute('data-stage') ?? false"


def test_a_remote_goes_through_all_slides_and_through_the_steps_of_a_player(visit: Any, tmp_path: Path) -> None:
    chapter = OURS.find("stop-recording")
    (path,) = write_slides([chapter], tmp_path)
    tab = visit(path.as_uri(), viewport=SCREEN)
    page, count = tab.page, len(list(list_slides(chapter.read()["cells"])))
    assert page.locator("nav span").text_content() == f"1 / {count}"
    seen, on_stage = [0], set()
    for _ in range(200):
        page.keyboard.press("PageDown")
        at = page.evaluate("at")
        if page.locator("section").nth(at).locator("[data-autodiff-player]").count():
            page.wait_for_function(STAGE)
            on_stage.add(at)
        if at != seen[-1]:
            seen.append(at)
        if at == count - 1:
            break
    assert seen == list(range(count))
    assert len(on_stage) == 1
    for _ in range(count - 1 - max(on_stage)):
        page.keyboard.press("PageUp")
    assert page.evaluate("at") in on_stage, "back at the player"
    page.wait_for_function(STAGE)
    step = "playerOn(slides[at]).querySelector('.scrubber input')"
    assert page.evaluate(f"{step}.value === {step}.max"), "where it was left"
    page.keyboard.press("Escape")
    page.wait_for_function(f"!({STAGE})")
    tab.stays_home()
    tab.is_quiet()


def test_axe_finds_nothing_on_any_slide(visit: Any, tmp_path: Path) -> None:
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    (path,) = write_slides([OURS.find("stop-recording")], tmp_path)
    page = visit(path.as_uri(), viewport=SCREEN).page
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    for number in range(page.locator("section").count()):
        page.evaluate("show", number)
        found = page.evaluate("async () => (await axe.run()).violations.map(({ id }) => id)")
        assert found == [], number
