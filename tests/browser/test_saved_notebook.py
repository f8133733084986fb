"""What a notebook shows after it was run, saved and opened again; and a player among other widgets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from programs import training

from autodiff_edu.course.tools.execute import as_text
from autodiff_edu.text.shared import colour
from browser.conftest import PATIENCE, Lab, end_kernels, new_tab
from browser.player_page import Shown
from browser.test_lab import IMPORTS, KNOWN, Notebook, player_of, write

CELLS = {
    "imports": f"{IMPORTS}\nimport ipywidgets\nfrom autodiff_edu.course import Prediction\n\n"
    "def f(a):\n    b = a + a\n    return np.sum(np.sin(b))",
    "player": "player = ad.play(f, np.array([1.0, 2.0]))\nplayer",
    "asks": 'Prediction("What is 2 + 2?", answer=4, why="Count.")',
    "explores": "ad.explore(lambda x: x * x, x=(0.0, 2.0))",
    "box": "boxed, heard = ad.play(f, np.array([1.0, 2.0])), []\n"
    "boxed.observe(lambda change: heard.append((change['name'], change['new'])), ['step', 'playing', 'predict'])\n"
    "slider = ipywidgets.IntSlider(max=30)\n"
    "link = ipywidgets.jslink((boxed, 'step'), (slider, 'value'))\n"
    "ipywidgets.HBox([slider, boxed])",
    "again": player_of(training),
    "long": "def g(x):\n    for _ in range(2000):\n        x = x * 0.999\n    return x\nad.play(g, 1.0)",
}
NUMBERS = {name: number for number, name in enumerate(CELLS)}


@pytest.fixture(scope="module")
def open_notebook(lab: Lab, browser: Any) -> Iterator[Any]:
    """A function that opens a notebook of this server in a tab of its own."""
    tabs = []

    def open_notebook(name: str = "saved.ipynb") -> Notebook:
        tab = new_tab(browser)
        tabs.append(tab)
        tab.page.goto(lab.address(name))
        return Notebook(tab)

    yield open_notebook
    for tab in tabs:
        tab.page.context.close()
    for tab in tabs:
        tab.stays_home()


@pytest.fixture(scope="module")
def notebook(lab: Lab, open_notebook: Any) -> Notebook:
    write(lab, "saved.ipynb", list(CELLS.values()))
    notebook = open_notebook()
    notebook.run_cells(*map(NUMBERS.get, ("imports", "player", "asks", "explores", "box")))
    player_in(notebook, "player").stands_at(0)
    return notebook


def player_in(notebook: Notebook, cell: str) -> Shown:
    return Shown(notebook.page.locator(".jp-Notebook-cell").nth(NUMBERS[cell]).locator("section.player"))


def wait_until(notebook: Notebook, expression: str) -> None:
    """Wait until an expression is true in the kernel: what the page sends waits there while the kernel is busy."""
    deadline = time.monotonic() + PATIENCE
    while not notebook.ask(expression):
        assert time.monotonic() < deadline, expression


def test_a_player_stands_in_a_box_is_linked_and_observed(notebook: Notebook) -> None:
    player = player_in(notebook, "box")
    player.stands_at(0)
    assert player.root.bounding_box()["width"] > 400, "it has the room that the slider leaves"
    player.root.locator(".sentence").scroll_into_view_if_needed()
    buttons = player.root.locator('[data-action="next"]').bounding_box()
    assert 0 < buttons["y"] < notebook.page.viewport_size["height"] - 40, "near the sentence"
    player.click("next")
    value = notebook.output(NUMBERS["box"]).locator(".widget-readout")
    notebook.page.wait_for_function("field => field.textContent === '2'", arg=value.element_handle())
    notebook.output(NUMBERS["box"]).locator(".noUi-handle").focus()
    for _ in range(2):
        notebook.page.keyboard.press("ArrowRight")
    player.stands_at(3)
    player.root.get_by_role("button", name="Predict", exact=True).click()
    notebook.page.wait_for_function("root => root.hasAttribute('data-predicting')", arg=player.root.element_handle())
    wait_until(notebook, "heard[-1] == ('predict', True)")
    assert ("step", 4) in notebook.ask("heard")
    notebook.ask("boxed.set_trait('predict', False)")
    notebook.page.wait_for_function("root => !root.hasAttribute('data-predicting')", arg=player.root.element_handle())
    notebook.tab.is_quiet(*KNOWN)


def test_python_starts_and_stops_the_player(notebook: Notebook) -> None:
    player = player_in(notebook, "player")
    player.click("first")
    notebook.ask("player.set_trait('playing', True)")
    player.stands_at(1)
    notebook.ask("player.set_trait('playing', False)")
    play = player.root.locator('button[data-action="play"]')
    notebook.page.wait_for_function("button => button.ariaLabel === 'Play'", arg=play.element_handle())
    notebook.page.evaluate(
        """() => {
          window.clocks = new Set(); // those of a player
          const { setTimeout, clearTimeout } = window;
          window.setTimeout = (what, time, ...more) => {
            const clock = setTimeout(() => { clocks.delete(clock); what(...more); }, time);
            if (String(what).includes("isConnected")) clocks.add(clock);
            return clock;
          };
          window.clearTimeout = (clock) => { clocks.delete(clock); clearTimeout(clock); };
        }"""
    )
    player.click("play")
    notebook.page.wait_for_function("button => button.ariaLabel === 'Pause'", arg=play.element_handle())
    wait_until(notebook, "player.playing")
    assert notebook.page.evaluate("clocks.size") == 1
    player.click("play")
    wait_until(notebook, "not player.playing")
    assert notebook.page.evaluate("clocks.size") == 0


def test_keys_with_ctrl_are_the_notebook_s_and_others_the_player_s(lab: Lab, notebook: Notebook) -> None:
    player = player_in(notebook, "player")
    player.click("first")
    sidebar = notebook.page.locator("#jp-left-stack")
    for button in (player.root, player.root.locator('button[data-action="play"]')):
        button.focus()
        before = sidebar.is_visible()
        notebook.page.keyboard.press("Control+b")
        sidebar.wait_for(state="hidden" if before else "visible")
    before = notebook.standing()
    for key in ("a", "b", "d", "d", "x"):
        player.press(key)
    assert notebook.standing() == before
    assert not saved(lab, "player")
    notebook.page.keyboard.press("Control+s")
    notebook.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    assert saved(lab, "player")


def saved(lab: Lab, cell: str) -> list[Any]:
    outputs: list[Any] = nbformat.read(lab.root / "saved.ipynb", as_version=4).cells[NUMBERS[cell]].outputs
    return outputs


def test_running_a_cell_again_keeps_less_than_a_megabyte_in_the_page_and_one_player_in_the_kernel(
    notebook: Notebook,
) -> None:
    devtools = notebook.page.context.new_cdp_session(notebook.page)

    def run_again() -> float:
        notebook.run_cells(NUMBERS["again"])
        player_in(notebook, "again").stands_at(0)
        for _ in range(3):
            devtools.send("HeapProfiler.collectGarbage")
        return float(devtools.send("Runtime.getHeapUsage")["usedSize"]) / 2**20

    alive = (
        "len([1 for each in __import__('ipywidgets').widgets.widget._instances.values() if hasattr(each, '_content')])"
    )
    sizes = [run_again() for _ in range(2)]
    count = notebook.ask(alive)
    sizes += [run_again() for _ in range(4)]
    assert notebook.ask(alive) == count
    assert (sizes[-1] - sizes[1]) / 4 < 1


def test_what_takes_long_says_so_and_nothing_of_it_is_seen_afterwards(notebook: Notebook) -> None:
    notebook.page.evaluate(
        """() => {
          window.said = "";
          const read = (changes) => changes.forEach((change) => (window.said += change.target.textContent));
          new MutationObserver(read).observe(document.body, { childList: true, subtree: true });
        }"""
    )
    notebook.run_cells(NUMBERS["long"])
    player_in(notebook, "long").stands_at(0)
    count = notebook.ask("len(_)")
    assert f"Drawing {count:,} steps …" in notebook.page.evaluate("window.said")
    *before, _ = notebook.output(NUMBERS["long"]).all()
    assert [output.inner_text().strip() for output in before] == [""] * len(before)
    heights = [output.bounding_box()["height"] for output in before]
    assert sum(heights) < 10


def test_a_saved_notebook_plays_when_it_is_opened_again_with_a_kernel_or_without(
    lab: Lab, notebook: Notebook, open_notebook: Any
) -> None:
    notebook.run_cells(NUMBERS["player"])
    notebook.command("docmanager:save")
    for outputs in (saved(lab, cell) for cell in ("player", "asks", "box")):
        assert [sorted(output.data) for output in outputs] == [["text/html", "text/plain"]]
    end_kernels(lab)
    for kernel in (True, False):
        again = open_notebook()
        if not kernel:
            again.do("await window.jupyterapp.shell.currentWidget.sessionContext.shutdown();")
        player = player_in(again, "player")
        player.stands_at(0)
        player.click("next")
        player.press("ArrowRight")
        player.stands_at(2)
        boxed = player_in(again, "box")
        boxed.stands_at(0)
        boxed.click("next")
        boxed.stands_at(1)
        question = again.output(NUMBERS["asks"])
        question.get_by_role("textbox").fill("4")
        again.page.keyboard.press("Enter")
        question.get_by_text("Right: 4. Count.").wait_for()
        for cell in ("player", "asks", "explores", "box"):
            assert "model" not in again.output(NUMBERS[cell]).inner_text().lower()


def test_a_cell_moves_no_player_that_another_one_showed_before_the_kernel_was_started_again(
    lab: Lab, open_notebook: Any
) -> None:
    write(lab, "twice.ipynb", [CELLS["imports"], CELLS["player"], CELLS["player"]])
    notebook = open_notebook("twice.ipynb")
    players = [Shown(notebook.page.locator(".jp-Notebook-cell").nth(k).locator("section.player")) for k in (1, 2)]
    notebook.run_cells(0, 1, 2)
    for player in players:
        player.stands_at(0)
    notebook.do("await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart();")
    notebook.run_cells(0, 2)
    players[1].stands_at(0)
    players[1].click("last")
    wait_until(notebook, "player.step == len(player)")
    players[0].stands_at(0)


def test_an_untrusted_notebook_says_how_to_start_the_player(
    lab: Lab, notebook: Notebook, open_notebook: Any, browser: Any
) -> None:
    notebook.command("docmanager:save")
    passed_on = nbformat.read(lab.root / "saved.ipynb", as_version=4)
    passed_on.cells[0].source += "  # which somebody else has run"
    (lab.root / "passed-on.ipynb").write_text(as_text(passed_on), encoding="utf-8")
    opened = open_notebook("passed-on.ipynb")
    output = opened.output(NUMBERS["player"])
    hint = output.get_by_text("▶ Choose Run → Run All Cells: then you can step through it.", exact=True)
    hint.wait_for()
    look = "hint => { const { height, fontSize, fontWeight, backgroundColor } = getComputedStyle(hint); " + (
        "return { height, fontSize, fontWeight, backgroundColor }; }"
    )
    tint = "rgb({}, {}, {})".format(*bytes.fromhex(colour("forward-tint")[1:]))
    assert hint.evaluate(look) == {
        "height": "44px", "fontSize": "16px", "fontWeight": "700", "backgroundColor": tint
    }  # fmt: skip
    assert output.locator("section.player").count() == 0
    opened.run_cells(NUMBERS["imports"], NUMBERS["player"])
    player_in(opened, "player").stands_at(0)
    assert hint.count() == 0


def test_notebook_7_shows_it_too(lab: Lab, notebook: Notebook, browser: Any) -> None:
    notebook.command("docmanager:save")
    tab = new_tab(browser)
    tab.page.goto(f"{lab.url}/notebooks/saved.ipynb?token={lab.token}")
    player = Shown(tab.page.locator(".jp-Notebook-cell").nth(NUMBERS["player"]).locator("section.player"))
    player.stands_at(0)
    player.click("next")
    player.stands_at(1)
    tab.page.context.close()
