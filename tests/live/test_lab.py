"""A chapter opened in the JupyterLab beside the book, which runs in the page; `.ci/run` builds it with lab.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from book.steps import STORED
from browser.test_lab import Notebook

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted({path.stem for path in (ROOT / "notebooks").glob("*.ipynb")} - STORED)
PATIENCE = (
    240_000  # milliseconds: JupyterLab, Python and Matplotlib arrive in twenty seconds, in many more beside others
)


@pytest.fixture(scope="session")
def lab(site: Path) -> Path:
    """The folder of the lab."""
    if not (site / "lab" / "lab" / "index.html").exists():
        pytest.fail("the book was built without a lab: run book/live/lab.py, then jupyter-book build book/")
    return site / "lab"


def test_chapter_1_opens_runs_and_its_players_step(lab: Path, served: str, open_tab: Any) -> None:
    tab = open_tab(f"{served}/chapters/01-the-tape.html")
    with tab.page.context.expect_page() as opened:
        tab.page.get_by_role("link", name="Open in JupyterLab").click()
    opened.value.set_default_timeout(PATIENCE)
    tab.page = opened.value
    notebook = Notebook(tab)
    notebook.run_all()
    cells = notebook.do("return window.jupyterapp.shell.currentWidget.content.model.toJSON().cells;")
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["execution_count"] is None] == []
    assert [output for cell in code for output in cell["outputs"] if output["output_type"] == "error"] == []
    player = tab.page.locator(".jp-Notebook section.player").first
    player.scroll_into_view_if_needed()
    assert player.get_attribute("data-step") == "0"
    player.locator('[data-action="predict"][aria-pressed="true"]').click()  # or the arrow would ask
    player.focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.locator('.jp-Notebook section.player[data-step="1"]').first.wait_for()
    paths = {urlsplit(url).path for url in tab.requests if url.startswith("http")}
    assert any(
        "/python/numpy-" in path for path in paths
    )  # from beside the book; the tab's end looks for requests abroad


def test_dask_is_loaded_when_a_cell_imports_it(lab: Path, served: str, open_tab: Any) -> None:
    tab = open_tab(f"{served}/lab/lab/index.html?path=27-a-cluster.ipynb")
    tab.page.set_default_timeout(PATIENCE)
    notebook = Notebook(tab)
    assert not [url for url in tab.requests if "/dask-" in url]
    notebook.run_cells(1)
    told = notebook.do("""
        const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
        const code = "assert dask.compute(da.arange(10, chunks=5).sum()) == (45,)"; // without threads: a page has one
        return (await kernel.requestExecute({ code }).done).content;
    """)
    assert told["status"] == "ok", told
    assert [url for url in tab.requests if "/dask-" in url]


def test_the_link_to_the_lab_has_one_line_and_is_not_there_in_a_file(
    lab: Path, site: Path, served: str, open_tab: Any
) -> None:
    place = "chapters/01-the-tape.html"
    for width in (390, 768, 1280):
        page = open_tab(f"{served}/{place}", viewport={"width": width, "height": 800}).page
        link = page.get_by_role("link", name="JupyterLab (44 MB)")
        box, title = link.bounding_box(), page.locator("article h1").bounding_box()
        assert 24 <= box["height"] <= 36
        assert 0 <= box["y"] < box["y"] + box["height"] <= title["y"]
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert open_tab(f"{site.as_uri()}/{place}").page.locator(".btn-open-chapter").count() == 0


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_is_there_with_its_link(lab: Path, site: Path, chapter: str) -> None:
    assert f'href="../lab/lab/index.html?path={chapter}.ipynb"' in (site / "chapters" / f"{chapter}.html").read_text(
        "utf-8"
    )
    there = json.loads((lab / "files" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    here = json.loads((ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    assert [cell["source"] for cell in there["cells"]] == [cell["source"] for cell in here["cells"]]
    code = "\n".join("".join(cell["source"]) for cell in here["cells"] if cell["cell_type"] == "code")
    starts_processes = "import subprocess" in code or "processes=True" in code
    if starts_processes and "emscripten" not in code:  # which does without them in a page
        assert "runs inside the browser" in "".join(here["cells"][0]["source"])


def test_all_that_python_loads_is_listed_with_its_digest(lab: Path) -> None:
    from fetch import digest

    folder = lab / "python"
    packages = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, package in packages.items():
        if "://" not in package["file_name"]:
            assert digest(folder / package["file_name"]) == package["sha256"], name
        assert set(package["depends"]) <= set(packages), name
    assert packages["autodiff-edu"]["imports"] == ["autodiff_edu"]
