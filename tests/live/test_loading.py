"""What the live pages load, when, and what they say where it does not arrive."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from .editing import Live, ready

PLOT = "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2])\nplt.show()"


def test_a_page_that_nobody_clicks_asks_for_no_python(site: Path, page: Any) -> None:
    for name in ("index", "chapters/01-the-tape"):
        tab = page(name)
        tab.page.wait_for_timeout(1000)
        paths = {urlsplit(url).path for url in tab.requests if url.startswith("http")}
        assert not [path for path in paths if path.startswith("/python/") or path.endswith(("worker.js", "names.js"))]
        sizes = {
            path: len(gzip.compress((site / path.lstrip("/")).read_bytes()))
            for path in paths
            if not path.endswith((".woff", ".woff2", ".ttf"))
        }
        assert sum(sizes.values()) < 1e6, sorted(sizes.items(), key=lambda pair: -pair[1])[:8]


def test_a_telephone_sees_what_running_code_loads(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    size = tab.page.locator(".live-size")
    assert not size.is_visible()
    tab.page.set_viewport_size({"width": 390, "height": 844})
    assert re.fullmatch(r"The first time you run code, the page loads \d+ MB of Python\.", size.inner_text())


def test_a_download_that_breaks_off_loses_nothing(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    tab.page.context.route("**/python_stdlib.zip*", lambda route: route.abort())
    live = Live(tab)
    live.run("x = 1\nprint(x)")
    assert "Python could not be loaded" in live.status.text_content()
    assert live.text() == "x = 1\nprint(x)"
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


README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
POLICIES = dict(re.findall(r"^(/\S*)\n {2}Content-Security-Policy: (.+)$", README, re.MULTILINE))
"""What the README tells a host to send, by path."""


@pytest.fixture
def policy(headers: dict[str, dict[str, str]]) -> Iterator[Callable[..., None]]:
    """A function that sets the policies of pages and of the frame of Python."""

    def send(pages: str, frame: str) -> None:
        headers["Content-Security-Policy"] = {"*": pages, "/live/python.html": frame}

    yield send
    headers.clear()


def test_the_policy_in_the_readme_lets_a_page_do_all_it_can(page: Any, policy: Any) -> None:
    policy(POLICIES["/*"], POLICIES["/live/python.html"])
    tab = page("chapters/01-the-tape")
    live = Live(tab)
    live.run(live.program["source"])
    assert live.steps()
    live.find_framed("section.player").wait_for()
    live.run(PLOT)
    assert live.cell.locator(".live-output img").evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
    tab.is_quiet()
    tab.page.goto(tab.page.url.replace("chapters/01-the-tape", "search") + "?q=tape")
    tab.page.locator("#search-results li").first.wait_for()
    tab.is_quiet()


REFUSED = "the security policy of this site forbids it"
STRICTER = {
    "without eval": ({}, {"'unsafe-eval'": "'wasm-unsafe-eval'"}),
    "without blob": (
        {},
        {"script-src 'unsafe-inline' 'unsafe-eval' blob:": "script-src 'unsafe-inline' 'unsafe-eval'"},
    ),
    "without workers": ({}, {"worker-src blob:": "worker-src 'none'"}),
    "without frames": ({"frame-src 'self'": "frame-src 'none'"}, {}),
    "not in a frame": ({}, {"frame-ancestors 'self'": "frame-ancestors 'none'"}),
}


@pytest.mark.parametrize("name", STRICTER)
def test_a_stricter_policy_is_named_within_seconds(page: Any, policy: Any, name: str) -> None:
    pages, frame = POLICIES["/*"], POLICIES["/live/python.html"]
    for old, new in STRICTER[name][0].items():
        assert old in pages
        pages = pages.replace(old, new)
    for old, new in STRICTER[name][1].items():
        assert old in frame
        frame = frame.replace(old, new)
    policy(pages, frame)
    live = Live(page("chapters/01-the-tape"))
    live.start("print(1)")
    live.cell.locator(".live-status", has_text=REFUSED).wait_for(timeout=30_000)
    live.finish()
    assert live.text() == "print(1)"
    assert live.cell.locator("[data-autodiff-player]").count() == 1


def test_without_storage_or_on_a_full_disk_programs_run(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    tab.page.add_init_script(FULL)
    tab.page.reload()
    live = Live(tab)
    live.run("print(1)")
    assert live.cell.locator(".live-output").inner_text().strip() == "1"
    tab.is_quiet("denied", "theme mode")  # the theme would keep which scheme is chosen


FULL = """
Cache.prototype.put = () => Promise.reject(new DOMException("the disk is full", "QuotaExceededError"));
Storage.prototype.setItem = () => { throw new DOMException("denied", "QuotaExceededError"); };
Storage.prototype.getItem = () => { throw new DOMException("denied", "SecurityError"); };
"""


def test_offline_and_on_a_slow_line_a_page_says_how_it_is(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    said = "how => import(new URL('../live/python.js', location)).then(({ progressOf }) => progressOf(how))"
    slow = {"name": "numpy.whl", "done": 4.2e6, "total": 17e6, "seconds": 61.2}
    assert tab.page.evaluate(said, slow) == "Loading numpy.whl: 4.2 of 17.0 MB, about 61 seconds left"
    assert tab.page.evaluate(said, {**slow, "seconds": 2}) == "Loading numpy.whl: 4.2 of 17.0 MB"
    assert tab.page.evaluate(said, {**slow, "done": 0.1e6}) == "Loading numpy.whl: 0.1 of 17.0 MB"  # nobody knows yet
    assert tab.page.evaluate(said, {**slow, "name": ""}) == "Starting Python, which takes a few seconds …"
    live = Live(tab)
    tab.page.context.set_offline(True)
    live.run("print(1)")
    assert "Python could not be loaded (this device is offline)." in live.status.text_content()
    assert live.text() == "print(1)"
    tab.page.context.set_offline(False)
    live.run()
    assert live.cell.locator(".live-output").inner_text().strip() == "1"


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
    # The editor, and what says whether what the browser has kept is still right.
    assert loaded(live) == ["codemirror.js", "files.json"]


NOT_KEPT = {"codemirror.js", "files.json"}
"""What the book asks its server for at each visit: the browser itself remembers it."""


def test_a_kept_file_that_was_changed_since_is_fetched_again(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.run("print(1)")
    names = {name.partition("?")[0] for name in loaded(live)} - NOT_KEPT
    assert live.page.evaluate(POISON) == len(names)
    live.tab.requests.clear()
    live.page.reload()
    live = Live(live.tab)
    live.run("print(2)")
    assert live.cell.locator(".live-output").inner_text().strip() == "2"
    assert {name.partition("?")[0] for name in loaded(live)} == names | NOT_KEPT
    live.tab.is_quiet()


POISON = """async () => {
  const kept = await caches.open("autodiff_edu");
  const keys = await kept.keys();
  for (const key of keys) await kept.put(key, new Response("throw new Error('poison')"));
  return keys.length;
}"""


def loaded(live: Live) -> list[str]:
    """Return the files of Python that a page has asked for."""
    paths = [urlsplit(url).path for url in live.tab.requests]
    return [path.removeprefix("/python/") for path in paths if path.startswith("/python/")]
