"""Chromium for every test here, and a JupyterLab of its own for those that want one.

Where there is no Chromium these tests skip and say so; `.ci/run` lets no test skip.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.register_assert_rewrite("browser.player_page")

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
PATIENCE = 60  # seconds; two busy cores are slow, and no test waits longer than it must
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-back-forward-cache",
    "--disable-features=SpareRendererForSitePerProcess",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]

SIZE = {"width": 1200, "height": 900}
MEDIA = {"media": "null", "color_scheme": "light", "reduced_motion": "reduce", "forced_colors": "none"}


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is; tests that want it skip where it is not."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("there is no Chromium on the PATH")
    return found


@dataclass
class Running:
    """The worker's only Chromium, the event loop that drives it, and the tab that most tests share."""

    browser: Any
    loop: asyncio.AbstractEventLoop
    tab: Tab | None = None


@pytest.fixture(scope="session")
def running_browser(chromium: str) -> Iterator[Running]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS, timeout=1000 * PATIENCE)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield Running(browser, loop)
        asyncio._set_running_loop(loop)
        browser.close()


# Playwright marks its loop as the one that is running, which the tests of other modules in the same process, such as
# those of the notebooks, do not expect.
@pytest.fixture(scope="module")
def browser(running_browser: Running) -> Iterator[Any]:
    asyncio._set_running_loop(running_browser.loop)
    yield running_browser.browser
    if running_browser.tab:
        running_browser.tab.page.goto("about:blank")  # where nothing moves
    asyncio._set_running_loop(None)


STANDING = """() => [...document.querySelectorAll("[data-autodiff-player]")].every(
  (host) => host.shadowRoot?.querySelector("section.player"))"""


@dataclass
class Tab:
    """A page of the browser, and what it has asked for and complained of."""

    page: Any
    requests: list[str]
    complaints: list[str]

    def go(self, url: str) -> None:
        """Go to an address, and wait until its players stand, which are unpacked once the page has loaded."""
        self.page.goto(url)
        self.page.wait_for_function(STANDING)

    def stays_home(self) -> None:
        """Assert that nothing was asked for beyond this machine."""
        abroad = [
            url
            for url in self.requests
            if urlsplit(url).scheme not in ("file", "data", "blob", "about") and urlsplit(url).hostname != "127.0.0.1"
        ]
        assert not abroad

    def is_quiet(self, *known: str) -> None:
        """Assert that no script failed and nothing was logged as an error, apart from what is known of others."""
        known += ("Blocked autofocusing",)  # of a framed player; a definition that opens has the focus all the same
        assert not [text for text in self.complaints if not any(part in text for part in known)]


@pytest.fixture
def open_tab(browser: Any) -> Iterator[Any]:
    """A function that opens a fresh profile at an address; all that it opens stays on this machine."""
    with opening(browser) as open_tab:
        yield open_tab


@contextlib.contextmanager
def opening(browser: Any) -> Iterator[Any]:
    """Yield a function that opens a fresh profile at an address; close all that it opened in the end."""
    tabs: list[Tab] = []

    def open_tab(url: str, **options: Any) -> Tab:
        tab = new_tab(browser, **options)
        tabs.append(tab)
        if options.get("java_script_enabled", True):
            tab.go(url)
        else:
            tab.page.goto(url)
        return tab

    yield open_tab
    for tab in tabs:
        tab.page.context.close()
    for tab in tabs:
        tab.stays_home()


def new_tab(browser: Any, **options: Any) -> Tab:
    context = browser.new_context(**{"viewport": SIZE, "reduced_motion": "reduce", **options})
    context.set_default_timeout(1000 * PATIENCE)
    tab = Tab(context.new_page(), [], [])
    context.on("request", lambda request: tab.requests.append(request.url))
    tab.page.on("websocket", lambda socket: tab.requests.append(socket.url))
    tab.page.on("pageerror", lambda error: tab.complaints.append(f"error: {error.stack or error}"))
    tab.page.on("console", lambda message: message.type == "error" and tab.complaints.append(described(message)))
    return tab


@pytest.fixture
def visit(browser: Any, running_browser: Running, open_tab: Any) -> Iterator[Any]:
    """A function that opens an address in a tab that all share: a fresh profile costs as much as three pages.

    What a tab must have from its beginning, such as no scripts, gives it a fresh one all the same.
    """

    def visit(url: str, viewport: dict[str, int] | None = None, **options: Any) -> Tab:
        if options.keys() - MEDIA.keys():
            return open_tab(url, viewport=viewport or SIZE, **options)
        tab.stays_home()
        page = tab.page
        page.mouse.move(0, 0)
        if page.viewport_size != (viewport or SIZE):
            page.set_viewport_size(viewport or SIZE)
        page.emulate_media(**{**MEDIA, **options})
        tab.requests.clear()
        tab.complaints.clear()
        tab.go(url)
        return tab

    tab = running_browser.tab = running_browser.tab or new_tab(browser)
    yield visit
    tab.stays_home()


def described(message: Any) -> str:
    return f"console: {message.text} ({message.location.get('url', '')})"


@dataclass
class Lab:
    """A running JupyterLab that shares nothing with the user's: neither settings nor kernels nor history."""

    url: str
    token: str
    root: Path

    def address(self, notebook: str) -> str:
        return f"{self.url}/lab/tree/{notebook}?token={self.token}&reset"


@pytest.fixture(scope="module")
def lab(running_lab: Lab) -> Iterator[Lab]:
    """JupyterLab without the kernels of other modules."""
    yield running_lab
    end_kernels(running_lab)


@pytest.fixture(scope="session")
def running_lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    pytest.importorskip("jupyterlab", reason='JupyterLab is not installed: pip install -e ".[lab,test]"')
    home = tmp_path_factory.mktemp("lab")
    root = home / "root"
    shutil.copytree(NOTEBOOKS, root / "notebooks", ignore=shutil.ignore_patterns(".*"))
    port, token = free_port(), secrets.token_hex(16)
    log = home / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"),
                *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
                *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"),
            ],
            cwd=root,
            env=surroundings(home),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    lab = Lab(f"http://127.0.0.1:{port}", token, root)
    try:
        wait_for(lab, server, log)
        yield lab
    finally:
        close(lab, server)


def surroundings(home: Path) -> dict[str, str]:
    """The environment of a server that finds its programs, and nothing that a user has set."""
    settings = home / "settings" / "@jupyterlab"
    for name, values in {
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"windowingMode": "none"},
    }.items():
        path = settings / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    places = {
        "HOME": "user",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "MPLCONFIGDIR": "matplotlib",
    }
    for place in places.values():
        (home / place).mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "IPYTHON", "PYTEST"))}
    return kept | {name: str(home / place) for name, place in places.items()} | {"JUPYTER_NO_CONFIG": ""}


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def ask(lab: Lab, path: str, method: str = "GET") -> bytes:
    headers = {"Authorization": f"token {lab.token}"}
    request = urllib.request.Request(f"{lab.url}/{path}", method=method, headers=headers)
    local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with local.open(request, timeout=PATIENCE) as answer:
        return bytes(answer.read())


def wait_for(lab: Lab, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            ask(lab, "api/status")
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')}") from None
            time.sleep(0.2)


def end_kernels(lab: Lab) -> None:
    for kernel in json.loads(ask(lab, "api/kernels")):
        ask(lab, f"api/kernels/{kernel['id']}", "DELETE")


def close(lab: Lab, server: subprocess.Popen[bytes]) -> None:
    """End the kernels, then the server, then whatever of its process group is left."""
    try:
        end_kernels(lab)
        ask(lab, "api/shutdown", "POST")
        server.wait(PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        pass
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait(PATIENCE)
