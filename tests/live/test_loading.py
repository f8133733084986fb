"""What the live pages load, when, and what they say where it does not arrive."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from .editing import Live, ready

PLOT = "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2])\nfigure"


def test_a_page_that_nobody_clicks_asks_for_no_python(site: Path, page: Any) -> None:
    for name in ("index", "chapters/01-the-tape"):
        tab = page(name)
        tab.page.wait_for_timeout(1000)
        paths = {urlsplit(url).path for url in tab.requests if url.startswith("http")}
        assert not [path for path in paths if path.startswith("/python/") or path.endswith("worker.js")]
        sizes = {
            path: len(gzip.compress((site / path.lstrip("/")).read_bytes()))
            for path in paths
            if not path.endswith((".woff", ".woff2", ".ttf"))
        }
        assert sum(sizes.values()) < 1e6, sorted(sizes.items(), key=lambda pair: -pair[1])[:8]


def test_a_download_that_breaks_off_loses_nothing(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    tab.page.context.route("**/python_stdlib.zip*", lambda route: route.abort())
    live = Live(tab)
    live.run("x = 1\nprint(x)")
    assert "Python could not be loaded" in live.status.text_content()
    assert live.area.input_value() == "x = 1\nprint(x)"
    tab.page.context.unroute("**/python_stdlib.zip*")
    live.run()
    assert live.cell.locator(".live-output").inner_text().strip() == "1"


@pytest.mark.parametrize("name", ["python_stdlib.zip", "pyodide.mjs", "pyodide.asm.mjs", "matplotlib-"])
def test_a_file_that_was_changed_on_its_way_is_refused(page: Any, name: str) -> None:
    tab = page("chapters/01-the-tape")
    tab.page.context.route(f"**/{name}*", lambda route: route.fulfill(body=b"something else"))
    live = Live(tab)
    live.run("import matplotlib")
    told = live.status.text_content()
    assert re.search(rf"\({re.escape(name)}\S* was damaged or changed on the way\)", told), told


def test_without_webassembly_the_pencil_says_so(page: Any) -> None:
    tab = page("index")
    tab.page.add_init_script("delete globalThis.WebAssembly")
    tab.page.reload()
    ready(tab.page)
    pencil = tab.page.locator(".live-pencil").first
    pencil.click()
    assert tab.page.locator(".live-status").inner_text().strip() == (
        "This browser has no WebAssembly, which Python needs to run in a page."
    )
    assert tab.page.locator("[data-autodiff-player]").count() == 1


def test_a_strict_policy_leaves_the_page_as_it_is(page: Any, headers: dict[str, str]) -> None:
    headers["Content-Security-Policy"] = "worker-src 'none'"
    try:
        live = Live(page("chapters/01-the-tape"))
        live.run("print(1)")
        assert "Python could not be loaded" in live.status.text_content()
        assert live.area.input_value() == "print(1)"
        assert live.cell.locator("[data-autodiff-player]").count() == 1
    finally:
        headers.clear()


def test_matplotlib_comes_only_where_a_program_imports_it_and_nothing_comes_twice(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.run("print(1)")
    assert not [name for name in loaded(live) if "matplotlib" in name]
    live.run(PLOT)
    assert live.cell.locator(".live-output img").count() == 1
    names = loaded(live)
    assert [name for name in names if "matplotlib" in name]
    assert len(names) == len(set(names))
    live.tab.requests.clear()
    live.page.reload()
    live = Live(live.tab)
    live.run()
    assert live.cell.locator(".live-output img").count() == 1
    assert loaded(live) == ["files.json"]  # it says whether what the browser has kept is still right


def loaded(live: Live) -> list[str]:
    """Return the files of Python that a page has asked for."""
    paths = [urlsplit(url).path for url in live.tab.requests]
    return [path.removeprefix("/python/") for path in paths if path.startswith("/python/")]
