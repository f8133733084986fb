"""The page "Write your own chapter", followed to its end: its exercises are checked in the site that it builds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from walkthrough import follow

from .conftest import serving
from .editing import Live

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def own_site(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site that the page has a reader build, in a folder outside the checkout; Python for it is there already."""
    folder = tmp_path_factory.mktemp("somewhere")
    shutil.copytree(site / "python", folder / "python")
    follow((ROOT / "book" / "write-your-own-chapter.md").read_text(encoding="utf-8"), folder)
    return folder / "site"


def test_the_exercises_of_an_own_chapter_are_checked_in_its_page(own_site: Path, open_tab: Any) -> None:
    with serving(own_site) as address:
        tab = open_tab(f"{address}/chapters/01-a-cup-of-tea.html")
        assert "the coffee" in tab.page.content()
        first, second = Live(tab, 0, "check"), Live(tab, 1, "check")
        for live, answer, verdict, words in (
            (first, "answer = ...", "wrong", "1.1: Not yet. Replace the three dots"),
            (first, "answer = 30 * np.log(2)", "wrong", "1.1: Not yet. By then it loses one degree per minute."),
            (first, "answer = 30 * np.log(4)", "right", "1.1: Right. "),
            (second, "answer = lambda t: -60 * np.exp(-t / 30)", "wrong", "1.2: Not yet. The chain rule is missing"),
            (second, "answer = lambda t: -2 * np.exp(-t / 30)", "right", "1.2: Right. "),
        ):
            live.run(f'{answer}\n\ncheck("{words[:3]}", answer)')
            assert live.cell.locator(f".live-{verdict}").inner_text().startswith(words), live.status.text_content()
        assert "2 of 2" in tab.page.locator("nav.bd-links").inner_text()
        Live(tab).run()
        tab.page.goto(f"{address}/index.html")
        assert tab.page.locator("article a", has_text="1 · A cup of tea").count() == 1
        tab.stays_home()
        tab.is_quiet()
