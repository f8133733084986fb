"""The built book behind a server, in Chromium; `.ci/run` builds it with its Python before these tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser.conftest import browser, chromium, open_tab, opening, running_browser  # noqa: F401 (fixtures are found by name)

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "book" / "_ext"), str(ROOT / "book" / "live")]


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built book; with AUTODIFF_BOOK, another than the checkout's."""
    folder = Path(os.environ.get("AUTODIFF_BOOK", ROOT / "book" / "_build" / "html"))
    if not (folder / "python" / "files.json").exists():
        pytest.fail("the book was built without Python: run book/live/fetch.py --wheels, then jupyter-book build book/")
    return folder


@pytest.fixture(scope="session")
def headers() -> dict[str, dict[str, str]]:
    """What the server says besides, by path, and under "*" with all others; a test may fill it, and empty it again."""
    return {}


@pytest.fixture(scope="session")
def served(site: Path, headers: dict[str, dict[str, str]]) -> Iterator[str]:
    """The book's address behind a plain server."""
    with serving(site, headers) as address:
        yield address


@contextmanager
def serving(site: Path, headers: Mapping[str, Mapping[str, str]] = MappingProxyType({})) -> Iterator[str]:
    """Serve a folder, and say at which address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

        def end_headers(self) -> None:
            for name, value in headers.items():
                self.send_header(name, value.get(urlsplit(self.path).path, value["*"]))
            super().end_headers()

    Quiet.extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(open_tab: Any, served: str) -> Callable[..., Any]:  # noqa: F811 (a fixture that is imported)
    """A function that opens a page of the book."""
    return lambda name, **options: open_tab(f"{served}/{name if '.html' in name else f'{name}.html'}", **options)


@pytest.fixture(scope="module")
def running(browser: Any, served: str) -> Iterator[Any]:  # noqa: F811
    """Chapter 1 with a Python that has started: what takes longest, once for several tests."""
    with opening(browser) as open_tab:  # noqa: F811
        yield open_tab(f"{served}/chapters/01-the-tape.html")


@pytest.fixture
def chapter_1(running: Any) -> Any:
    """Chapter 1 as the book has it; whatever the test before it left there is gone."""
    for button in running.page.locator(".live-reset").all():
        button.click()
    running.complaints.clear()
    return running
