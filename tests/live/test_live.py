"""Programs edited, replayed and checked in the book's own pages, by the Python that a click loads."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from kernel import Kernel, with_values
from unpacking import unpacked

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]-*.ipynb"))
TRACE = re.compile(r'<script type="application/json">(\{"version":.*?)</script>', re.DOTALL)
LOADED = 120_000  # milliseconds: Python arrives in five seconds, and in many more beside other tests


class Live:
    """A page of the book, and one of its programs."""

    def __init__(self, tab: Any, index: int = 0, kind: str = "play") -> None:
        self.tab, self.page = tab, tab.page
        ready(tab.page)
        told = json.loads(self.page.locator("#live-programs").text_content())
        self.program = [program for program in told["programs"] if program["kind"] == kind][index]
        number = self.program["cell"]
        self.cell = self.page.locator(".live-program" if number is None else f"div.cell >> nth={number}")
        pencil = self.cell.locator(".live-pencil")
        if kind == "play" and pencil.count():
            pencil.click()
        self.area = self.cell.locator("textarea")
        self.status = self.cell.locator(".live-form .live-status")

    def run(self, source: str | None = None, **fields: str) -> None:
        """Run the program, and wait until it has."""
        self.start(source, **fields)
        self.cell.locator(".live-stop:not([hidden])").wait_for(state="detached", timeout=LOADED)

    def start(self, source: str | None = None, **fields: str) -> None:
        if source is not None:
            self.area.fill(source)
        for name, text in fields.items():
            self.cell.locator(f'.live-values input[name="{name}"]').fill(text)
        self.cell.locator(".live-run").click()

    def steps(self) -> list[str]:
        """Return what the player in the page says, step by step."""
        text = self.cell.locator(".live-output script[type='application/json']").first.text_content()
        return [step["text"] for step in unpacked(json.loads(text))["trace"]["steps"]]

    def error(self) -> str:
        return self.cell.locator(".live-error").inner_text()


def ready(page: Any) -> None:
    """Wait until the live pages' module, which may come after the page, has prepared it."""
    page.locator("html[data-live=ready]").wait_for(state="attached")


def expected(program: dict[str, Any], **fields: str) -> list[str]:
    """Return what the player says of the same program here."""
    told = Kernel().run(program["setup"], program["source"], fields, title="cell")
    (found,) = [text for kind, text in told["outputs"] if kind == "html" and TRACE.search(text)]
    match = TRACE.search(found)
    assert match is not None, told["outputs"]
    return [step["text"] for step in unpacked(json.loads(match[1]))["trace"]["steps"]]


@pytest.fixture
def lab(open_tab: Any, served: str) -> Any:
    """A function that opens a page of the book."""
    return lambda name, **options: open_tab(f"{served}/{name}.html", **options)


@pytest.mark.parametrize("name", ["index", *(f"chapters/{chapter}" for chapter in CHAPTERS)])
def test_a_page_replays_what_is_edited_and_checks_what_is_answered(
    lab: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "notebooks")  # where the data are
    tab = lab(name)
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
    wanted = expected({**live.program, "source": edited}, **changed)
    assert [rounded(text) for text in live.steps()] == [rounded(text) for text in wanted]
    if changed:
        assert live.area.input_value() == with_values(edited, changed) != edited


def checks(tab: Any, chapter: str) -> None:
    """Assert that the three exercises of a chapter tell the template from the solution, and that ticks are kept."""
    contents = tab.page.locator("nav.bd-links")
    for index in range(3):
        live = Live(tab, index, "check")
        exercise = f"{int(chapter[:2])}.{index + 1}"
        live.run()  # the template, with its three dots
        assert live.cell.locator(".live-wrong").inner_text().startswith(f"{exercise}: Not yet. ")
        assert f"✓ {index} of 3" in contents.inner_text() or index == 0
        live.run(solution(chapter, index + 1))
        assert live.cell.locator(".live-right").inner_text().startswith(f"{exercise}: Right. ")
    tab.page.reload()
    ready(tab.page)
    assert "✓ 3 of 3" in contents.inner_text()
    tab.page.locator(".live-forget").click()
    assert "✓" not in contents.inner_text()


def rounded(text: str) -> str:
    """Return a sentence whose numbers have four digits: processors differ in the last."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.4g}", text)


def solution(chapter: str, number: int) -> str:
    """Return the source of an exercise's solution."""
    cells = json.loads((ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    (cell,) = [cell for cell in cells if cell["id"] == f"ex-{number}-solution"]
    return "".join(cell["source"])


def test_a_wrong_answer_gets_its_own_hint(lab: Any) -> None:
    live = Live(lab("chapters/01-the-tape"), 0, "check")
    live.run('answer = 9\n\ncheck("1.1", answer)')
    assert "9 counts half = 0.5 * 3.0" in live.cell.locator(".live-wrong").inner_text()


def test_a_page_that_nobody_clicks_asks_for_no_python(site: Path, lab: Any) -> None:
    for name in ("index", "chapters/01-the-tape"):
        tab = lab(name)
        tab.page.wait_for_timeout(1000)
        paths = {urlsplit(url).path for url in tab.requests if url.startswith("http")}
        assert not [path for path in paths if path.startswith("/python/") or path.endswith("worker.js")]
        sizes = {
            path: len(gzip.compress((site / path.lstrip("/")).read_bytes()))
            for path in paths
            if not path.endswith((".woff", ".woff2", ".ttf"))
        }
        assert sum(sizes.values()) < 1e6, sorted(sizes.items(), key=lambda pair: -pair[1])[:8]


ODD = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "%%play\nx = ad.Varable(2.0)": "AttributeError: module 'autodiff_edu' has no attribute 'Varable'",
    "%timeit 1": "%timeit belongs to IPython, which is not here; %%play works, in the first line",
    "x = (1,": "SyntaxError: '(' was never closed",
    "import torch": "This page has NumPy, Matplotlib and autodiff_edu; torch is not here.",
    "input('x? ')": "write the value into the program instead of input()",
    "ad = 3\nad.play(abs, 1.0)": "AttributeError: 'int' object has no attribute 'play'",
    "raise SystemExit('enough')": "SystemExit: enough",
    "def f(x):\n    return f(x)\nf(1.0)": "RecursionError",
    "[np.zeros(10**8) for _ in range(9)]": "The program needs more memory than a page may have.",
}


def test_what_goes_wrong_is_shown_as_python_shows_it(lab: Any) -> None:
    live = Live(lab("chapters/01-the-tape"))
    for source, message in ODD.items():
        live.run(source)
        assert message in live.error(), source
        assert live.area.get_attribute("aria-invalid") == "true", source
        assert live.area.input_value() == source
    live.run("a = 1\nb = a / 0\nc = 3")
    assert live.area.evaluate("area => area.style.getPropertyValue('--line')") == "1"
    live.run(live.program["source"], price="two (2")
    assert "price needs a value, such as 2.0; two (2 is not one" in live.error()
    live.cell.locator(".live-reset").click()
    assert live.area.input_value() == live.program["source"]
    assert live.cell.locator(".live-error").count() == 0
    live.run()
    assert live.steps()
    live.tab.is_quiet()


ENDLESS = [
    "while True:\n    pass",
    "%%play\nx = ad.Variable(1.0)\nwith ad.GradientTape() as tape:\n    for _ in range(10**7):\n        x = x * 1.0",
]


def test_an_endless_loop_is_stopped_and_python_starts_again(lab: Any) -> None:
    tab = lab("chapters/01-the-tape")
    live, other = Live(tab), Live(tab, 1)
    live.run()
    for endless in ENDLESS:
        live.start(endless)
        tab.page.wait_for_timeout(1000)
        other.start()  # waits in line, and is stopped with it
        live.cell.locator(".live-stop").click()
        for each in (live, other):
            assert each.status.text_content() == "Stopped. Python will start again when you press the button."
        assert live.area.input_value() == endless
    other.run()
    assert other.steps()
    live.tab.is_quiet()


def test_what_is_typed_outlives_a_reload_until_reset(lab: Any) -> None:
    live = Live(lab("chapters/01-the-tape"))
    live.area.fill("# mine")
    live.page.reload()
    ready(live.page)
    live = Live(live.tab)
    assert live.area.input_value() == "# mine"
    live.cell.locator(".live-reset").click()
    live.page.reload()
    ready(live.page)
    assert live.page.locator(".live-pencil").count() > 0
    assert Live(live.tab).area.input_value() == live.program["source"]


def test_what_is_typed_while_a_program_runs_stays(lab: Any) -> None:
    live = Live(lab("chapters/01-the-tape"))
    live.run("print(1)")
    live.start("import time\ntime.sleep(2)\nprint(2)")
    live.area.fill("print(3)")
    live.cell.locator(".live-output", has_text="2").wait_for()
    assert live.area.input_value() == "print(3)"
    live.page.reload()
    ready(live.page)
    assert Live(live.tab).area.input_value() == "print(3)"


def test_a_replayed_value_is_in_program_and_field_after_a_reload(lab: Any) -> None:
    live = Live(lab("chapters/01-the-tape"))
    live.run(live.program["source"], price="2.5")
    live.page.reload()
    ready(live.page)
    live = Live(live.tab)
    assert "ad.Variable(2.5)" in live.area.input_value()
    field = live.cell.locator('.live-values input[name="price"]')
    assert field.input_value() == "2.5"
    live.run(price="2.0")
    assert live.area.input_value() == live.program["source"]
    live.page.reload()
    ready(live.page)
    assert live.page.locator(".live-form").count() == 3  # the exercises' alone: nothing differs from the book


def test_fifty_replays_need_no_more_memory_than_ten(lab: Any) -> None:
    live = Live(lab("chapters/01-the-tape"), 2)
    heap = "import sys, js\nfrom pyodide_js import _module\nprint(_module.HEAPU8.length)"
    sizes = []
    for _ in range(5):
        for _ in range(10):
            live.run(live.program["source"])
        live.run(heap)
        sizes.append(int(live.cell.locator(".live-output").inner_text()))
    assert sizes[-1] == sizes[0], sizes


def test_a_download_that_breaks_off_loses_nothing(lab: Any) -> None:
    tab = lab("chapters/01-the-tape")
    tab.page.context.route("**/python_stdlib.zip*", lambda route: route.abort())
    live = Live(tab)
    live.run("x = 1\nprint(x)")
    assert "Python could not be loaded" in live.status.text_content()
    assert live.area.input_value() == "x = 1\nprint(x)"
    tab.page.context.unroute("**/python_stdlib.zip*")
    live.run()
    assert live.cell.locator(".live-output").inner_text().strip() == "1"


def test_a_file_that_was_changed_on_its_way_is_refused(lab: Any) -> None:
    tab = lab("chapters/01-the-tape")
    tab.page.context.route("**/python_stdlib.zip*", lambda route: route.fulfill(body=b"something else"))
    live = Live(tab)
    live.run()
    assert "python_stdlib.zip was damaged or changed on the way" in live.status.text_content()


def test_without_webassembly_the_pencil_says_so(lab: Any) -> None:
    tab = lab("index")
    tab.page.add_init_script("delete globalThis.WebAssembly")
    tab.page.reload()
    ready(tab.page)
    pencil = tab.page.locator(".live-pencil").first
    pencil.click()
    assert tab.page.locator(".live-status").inner_text().strip() == (
        "This browser has no WebAssembly, which Python needs to run in a page."
    )
    assert tab.page.locator("[data-autodiff-player]").count() == 1


def test_a_strict_policy_leaves_the_page_as_it_is(lab: Any, headers: dict[str, str]) -> None:
    headers["Content-Security-Policy"] = "worker-src 'none'"
    try:
        live = Live(lab("chapters/01-the-tape"))
        live.run("print(1)")
        assert "Python could not be loaded" in live.status.text_content()
        assert live.area.input_value() == "print(1)"
        assert live.cell.locator("[data-autodiff-player]").count() == 1
    finally:
        headers.clear()


def test_matplotlib_comes_only_where_a_program_imports_it(lab: Any) -> None:
    live = Live(lab("chapters/01-the-tape"))
    live.run("print(1)")
    assert not [url for url in live.tab.requests if "matplotlib" in url]
    live.run("import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\naxes.plot([1, 2])\nfigure")
    assert live.cell.locator(".live-output img").count() == 1
    assert [url for url in live.tab.requests if "matplotlib" in url]


def test_an_explorer_has_sliders_that_move(lab: Any) -> None:
    live = Live(lab("chapters/00-derivatives"))
    live.run()
    sliders = live.cell.locator(".live-sliders input")
    assert sliders.count() == 2
    assert "df/dx" in live.cell.locator(".live-output").inner_text()
    sliders.first.fill("0.5")
    live.cell.locator(".live-output", has_text=re.compile(r"x = 0\.5")).wait_for()
    live.cell.locator(".live-output table", has_text=re.compile(r"0\.25")).wait_for()
    live.tab.is_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_axe_finds_nothing_in_an_open_editor(lab: Any, scheme: str, width: int) -> None:
    package = pytest.importorskip("axe_playwright_python")
    script = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    tab = lab("chapters/01-the-tape", color_scheme=scheme, viewport={"width": width, "height": 720})
    live, exercise = Live(tab), Live(tab, 0, "check")
    live.run("print(1)\n1 / 0")
    exercise.run()
    tab.page.evaluate(script)
    found = tab.page.evaluate("() => axe.run('article', { resultTypes: ['violations'] })")["violations"]
    assert [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]] == []
