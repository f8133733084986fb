"""The live player in JupyterLab, driven as a reader drives it.

A JupyterLab, a page of it and a kernel cost as much as a hundred saved pages: one of each serves all tests, in one
notebook, of which every test runs what it wants.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from programs import EIGHT, FIVE, logistic, two_tapes

from autodiff_edu.course.tools.execute import as_text
from browser.conftest import SIZE, Lab, new_tab
from browser.player_page import CONTRAST, READ, TOO_WIDE, Expected, Shown, assert_agrees, assert_legible, violations
from browser.test_one_view import ALL, SCREEN

CHAPTER = "notebooks/01-the-tape.ipynb"
IMPORTS = "import numpy as np\nimport autodiff_edu as ad"

# What JupyterLab itself is known to complain of, whatever the notebook.
KNOWN = (
    "Could not restore the debugger state: Canceled future",  # where a kernel starts again meanwhile
    "Shared module @jupyterlite/services doesn't exist",  # where JupyterLite is installed beside it
)


class Notebook:
    """A notebook that is open in JupyterLab."""

    def __init__(self, tab: Any) -> None:
        self.tab, self.page = tab, tab.page
        self.page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
        )

    def close_others(self) -> None:
        """Close whatever is open beside the notebook, such as a view of an output."""
        self.do(
            """
            const { shell } = window.jupyterapp;
            const open = [...shell.widgets("main")];
            const own = open.find((widget) => widget.context?.path === "all.ipynb");
            for (const widget of open.filter((other) => other !== own)) {
              if (widget.context) widget.context.model.dirty = false; // else it asks whether to save
              widget.close();
            }
            shell.activateById(own.id);
            """
        )

    def do(self, script: str) -> Any:
        """Run a script in the page, and wait for what it promises; unlike `evaluate`, not for ever."""
        self.page.evaluate(
            f"""() => {{
              window.done = null;
              (async () => {{ {script} }})()
                .then((value) => ({{ value: value ?? null }}), (error) => ({{ error: String(error) }}))
                .then((done) => (window.done = done));
            }}"""
        )
        done = self.page.wait_for_function("() => window.done").json_value()
        assert "error" not in done, done["error"]
        return done["value"]

    def command(self, name: str, **arguments: Any) -> None:
        self.do(f"await window.jupyterapp.commands.execute({json.dumps(name)}, {json.dumps(arguments)})")

    def ask(self, expression: str) -> Any:
        """Evaluate an expression in the notebook's kernel, unseen by the notebook."""
        code = {"code": "", "silent": False, "store_history": False, "user_expressions": {"answer": expression}}
        answer = self.do(
            f"""
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            const reply = await kernel.requestExecute({json.dumps(code)}).done;
            return reply.content.user_expressions.answer;
            """
        )
        assert answer["status"] == "ok", answer
        return ast.literal_eval(answer["data"]["text/plain"])

    def run_all(self) -> None:
        self.command("notebook:run-all-cells")

    def run_cells(self, *numbers: int) -> None:
        for number in numbers:
            self.do(f"window.jupyterapp.shell.currentWidget.content.activeCellIndex = {number}")
            self.command("notebook:run-cell")

    def run(self, number: int) -> None:
        """Run a cell as one does with the mouse and the keyboard."""
        self.page.locator(".jp-Notebook-cell").nth(number).locator(".jp-InputArea-editor").click()
        self.page.keyboard.press("Control+Enter")
        self.page.keyboard.press("Escape")

    def output(self, number: int) -> Any:
        return self.page.locator(".jp-Notebook-cell").nth(number).locator(".jp-OutputArea-output")

    def player(self, title: str = "f(a)") -> Shown:
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return Shown(self.page.locator(".jp-Notebook section.player").filter(has=heading).first)

    def documents(self) -> list[Expected]:
        """The traces of the players that the kernel shows, in the order in which they were first shown."""
        states = self.ask(
            "[player._content['trace'] for player in "
            "__import__('ipywidgets').widgets.widget._instances.values() if hasattr(player, '_content')]"
        )
        return [Expected(document) for document in states]

    def wear(self, theme: str) -> None:
        self.command("apputils:change-theme", theme=theme)
        self.page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme)

    def standing(self) -> Any:
        """What must stay as it is while somebody works with a player: the cells, the chosen one, the mode."""
        return self.do(
            """
            const notebook = window.jupyterapp.shell.currentWidget.content;
            const cells = notebook.widgets.map(({ model }) => [model.type, model.sharedModel.getSource()]);
            const { activeCellIndex: active, mode, selectedCells } = notebook;
            return { cells, active, mode, selected: selectedCells.length };
            """
        )


def player_of(program: Any) -> str:
    return f"{inspect.getsource(program)}\nad.play({program.__name__}())"


CELLS = {
    "imports": IMPORTS,
    "function": "def f(a):\n    b = a + a\n    c = b + b\n    return np.sum(np.sin(c))",
    "player": "player = ad.play(f, np.array([1.0, 2.0]))\nplayer",
    "moves": "player.step = 4",
    "asks": "player.step",
    "prediction": "from autodiff_edu.course import Prediction\n"
    'Prediction("What is 2 + 2?", answer=4, hints={5: "One less."}, why="Count.")',
    "four": "print('four')",
    "two tapes": player_of(two_tapes),
    "logistic": player_of(logistic),
    "descend": "ad.descend(lambda x, y: x**4 - 2 * x**2 + y**2, (0.3, 1.0))",
    "drill": "ad.drill(3, 2)",
    "slope": "def g(x, w):\n    if x < -1:\n        raise ValueError('too small')\n    return np.sin(w * x)",
    "explore": "view = ad.explore(g, x=(-2.0, 2.0, 1.0), w=2.0)\nview",
    "stage": "x = ad.Variable(3.0)",
    "staged": "%%play --stage\nwith ad.GradientTape() as tape:\n    y = x * x\ntape.gradient(y, x)",
    "last": "%load_ext autodiff_edu",
}
NUMBERS = {name: number for number, name in enumerate(CELLS)}


def write(lab: Lab, name: str, cells: list[str]) -> Any:
    """Write a notebook of these cells."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell, id=f"cell-{i}") for i, cell in enumerate(cells)]
    )
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    (lab.root / name).write_text(as_text(notebook), encoding="utf-8")
    return notebook


@pytest.fixture(scope="module")
def shared(lab: Lab, browser: Any) -> Iterator[Notebook]:
    """The notebook of all cells, in which the first three have run."""
    stored = write(lab, "all.ipynb", list(CELLS.values()))
    four = stored.cells[NUMBERS["four"]]
    four.metadata["tags"] = ["hide-output"]
    four.outputs = [nbformat.v4.new_output("stream", text="four\n")]
    (lab.root / "all.ipynb").write_text(as_text(stored), encoding="utf-8")
    tab = new_tab(browser)
    tab.page.goto(lab.address("all.ipynb"))
    notebook = Notebook(tab)
    notebook.run_cells(NUMBERS["imports"], NUMBERS["function"], NUMBERS["last"])
    notebook.run(NUMBERS["player"])
    notebook.player().stands_at(0)
    yield notebook
    tab.page.context.close()
    tab.stays_home()


@pytest.fixture
def notebook(shared: Notebook) -> Notebook:
    shared.close_others()
    shared.page.set_viewport_size(SIZE)
    shared.player().click("first")
    return shared


@pytest.fixture
def open_notebook(lab: Lab, open_tab: Any) -> Any:
    return lambda path: Notebook(open_tab(lab.address(path)))


def trace_of(notebook: Notebook, title: str) -> Expected:
    return next(trace for trace in notebook.documents() if trace.document["title"] == title)


def test_an_untrusted_notebook_shows_the_key_frame(lab: Lab, notebook: Notebook) -> None:
    passed_on = nbformat.read(lab.root / CHAPTER, as_version=4)  # which somebody else has run
    passed_on.cells = [cell for cell in passed_on.cells if cell.source.startswith("%%play")][:1]
    (lab.root / "passed-on.ipynb").write_text(as_text(passed_on), encoding="utf-8")
    notebook.command("docmanager:open", path="passed-on.ipynb")
    opened = Notebook(notebook.tab).page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)").last
    output = opened.locator(".jp-OutputArea-output").last
    picture = output.locator('img[src^="data:image/svg+xml;base64,"]')
    picture.wait_for()
    notebook.page.wait_for_function("image => image.naturalWidth > 200", arg=picture.element_handle())
    about = picture.get_attribute("alt")
    assert "step 1: The tape watches price" in about
    assert "profit" not in about, "it is what the reader is asked"
    assert "The tape watches price" not in output.inner_text()  # the transcript is in the plain text alone
    assert output.get_by_text("▶ Choose Run → Run All Cells").is_visible()
    assert output.locator("pre").count() == 0, "the picture stands alone"
    assert opened.locator("section.player").count() == 0


@pytest.mark.exhaustive
def test_chapter_1_runs_and_its_players_follow_their_traces(open_notebook: Any) -> None:
    notebook = open_notebook(CHAPTER)
    notebook.run_all()
    traces = notebook.documents()
    backwards = next(number for number, trace in enumerate(traces) if trace.has("pull back"))
    for expected in {0: traces[0], backwards: traces[backwards]}.values():
        player = notebook.player(expected.document["title"])
        asking = player.root.locator('[data-action="predict"][aria-pressed="true"]')
        if asking.count():
            asking.click()
        player.walks(expected, "next", "ArrowLeft")
    notebook.tab.is_quiet(*KNOWN)


def test_a_prediction_is_answered_and_running_the_next_cell_shows_its_output(notebook: Notebook) -> None:
    asks, four = NUMBERS["prediction"], NUMBERS["four"]
    before = notebook.standing()["cells"]
    assert not notebook.output(four).is_visible()
    notebook.run(asks)
    question = notebook.page.locator(".jp-Notebook .prediction")
    question.get_by_role("textbox").click()
    for keys in ("5", "Enter", "4", "Enter"):  # which JupyterLab must leave alone
        notebook.page.keyboard.press(keys)
    assert question.locator(".verdict").text_content() == "Right: 4. Count."
    notebook.run(four)
    notebook.output(four).wait_for()
    assert notebook.output(four).inner_text().strip() == "four"
    assert notebook.standing()["cells"] == before
    notebook.tab.is_quiet(*KNOWN)


def test_the_player_fits_and_is_legible(notebook: Notebook) -> None:
    expected = trace_of(notebook, "f(a)")
    notebook.page.set_viewport_size({"width": 900, "height": 1600})
    player = notebook.player()
    read = f"root => [({READ})(root), ({TOO_WIDE})(root), ({CONTRAST})(root)]"
    for theme in ("Dark", "Light"):
        notebook.wear(f"JupyterLab {theme}")
        for number, (seen, too_wide, contrast) in enumerate(player.at_every_step(read)):
            assert_agrees(seen, expected, number)
            assert too_wide == []
            assert_legible(contrast, dark=theme == "Dark")
        player.picture(f"lab-{theme.lower()}")


def test_keys_move_the_player_and_nothing_else(notebook: Notebook) -> None:
    expected = trace_of(notebook, "f(a)")
    player = notebook.player()
    player.click("next")
    player.agrees(expected, 1)
    before = notebook.standing()
    player.click("previous")
    player.walks(expected, "ArrowRight", "ArrowLeft")
    for key, number in {"End": len(expected) - 1, "Home": 0, "ArrowRight": 1}.items():
        player.press(key)
        player.agrees(expected, number)
    # keys that are shortcuts of a notebook in command mode: insert, delete, move, to Markdown
    for key in ("ArrowUp", "ArrowDown", "a", "b", "d", "d", "j", "k", "m", "x"):
        player.press(key)
    player.agrees(expected, 1)
    assert notebook.standing() == before
    notebook.tab.is_quiet(*KNOWN)


def test_python_and_the_reader_move_the_same_player(notebook: Notebook) -> None:
    expected = trace_of(notebook, "f(a)")
    player = notebook.player()
    notebook.run(NUMBERS["moves"])
    player.agrees(expected, 3)
    player.click("next")
    player.agrees(expected, 4)
    notebook.run(NUMBERS["asks"])
    notebook.output(NUMBERS["asks"]).get_by_text("5", exact=True).wait_for()
    assert notebook.ask("player.step") == 5


def test_two_views_show_the_same_step(notebook: Notebook) -> None:
    expected = trace_of(notebook, "f(a)")
    notebook.do(f"window.jupyterapp.shell.currentWidget.content.activeCellIndex = {NUMBERS['player']}")
    notebook.command("notebook:create-output-view")
    views = [notebook.player(), Shown(notebook.page.locator(".jp-LinkedOutputView section.player"))]
    views[1].stands_at(0)
    views[1].click("last")
    for view in views:
        view.agrees(expected, len(expected) - 1)
    views[0].click("previous")
    for view in views:
        view.agrees(expected, len(expected) - 2)


def test_axe_finds_nothing_in_what_opens_and_parts_are_seen_together(notebook: Notebook) -> None:
    notebook.page.set_viewport_size(SCREEN)
    notebook.run_cells(*map(NUMBERS.get, ("logistic", "descend", "drill")))
    notebook.player().is_seen_at_once(*ALL)
    player = notebook.player("logistic regression")
    player.root.locator("input[type=range]").fill("60")
    openers = [("Nudge", "Escape"), ("cut", "Escape"), ("Signs and keys", "Escape"), ("Stage", "f")]
    for theme, rules in (("Dark", ["color-contrast"]), ("Light", [])):
        notebook.wear(f"JupyterLab {theme}")
        for opener, closer in openers if theme == "Light" else openers[:2]:
            player.root.get_by_role("button", name=opener, exact=True).click()
            assert violations(player.root, *rules) == []
            player.picture(f"lab-{opener.split()[0].lower()}-{theme.lower()}")
            player.press(closer)
        for heading in ("Newton's method on <lambda>", "drill, level 3, seed 2: program 1 of 10"):
            other = notebook.player(heading)
            other.root.scroll_into_view_if_needed()
            assert violations(other.root, *rules) == []
            other.picture(f"lab-{heading[:5].lower()}-{theme.lower()}")


def test_moving_a_slider_traces_again(notebook: Notebook) -> None:
    page, number = notebook.page, NUMBERS["explore"]
    notebook.run_cells(NUMBERS["slope"], number)
    output = page.locator(".jp-Notebook-cell").nth(number).locator(".jp-OutputArea-output")
    player = notebook.player("g(x, w)")
    player.click("next")
    value = output.locator("td").first
    assert value.text_content() == "0.909297"
    output.locator('img[alt*="tangent at x = 1,"]').wait_for()
    output.locator(".noUi-handle").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    output.locator('img[alt*="tangent at x = 0.9,"]').wait_for()
    assert value.text_content() == "0.973848"
    player.stands_at(1)  # where the reader was
    page.wait_for_function(
        """() => [...document.querySelectorAll(".jp-OutputArea-output *")].some((host) =>
          host.shadowRoot?.querySelector('[data-tensor="0"] title')?.textContent.startsWith("x: 0.9"))"""
    )
    assert notebook.ask("float(view.look.value)") == pytest.approx(0.973848, abs=1e-6)
    page.keyboard.press("Home")
    page.get_by_text("ValueError: too small").wait_for()
    notebook.tab.is_quiet(*KNOWN)


def test_a_slider_is_seen_together_with_the_picture_and_the_player(notebook: Notebook) -> None:
    page, number = notebook.page, NUMBERS["explore"]
    notebook.run_cells(NUMBERS["slope"], number)
    player = notebook.player("g(x, w)")
    output = page.locator(".jp-Notebook-cell").nth(number).locator(".jp-OutputArea-output")
    handle, picture = output.locator(".noUi-target"), output.locator("img")
    picture.wait_for()
    # Lab puts in front what it scrolls to, and the page is 900 pixels high.
    player.root.evaluate("root => root.getRootNode().host.scrollIntoView({ block: 'end' })")
    slider, drawn, whole = handle.bounding_box(), picture.bounding_box(), player.root.bounding_box()
    width = output.first.bounding_box()["width"]
    assert slider["width"] > 0.15 * width
    assert drawn["width"] > 0.5 * width
    assert slider["y"] > 0
    assert whole["y"] + whole["height"] <= 900


def test_the_stage_covers_jupyterlab_and_leaves_as_it_came(notebook: Notebook) -> None:
    player = notebook.player()
    player.root.scroll_into_view_if_needed()
    before = player.root.bounding_box()
    player.root.focus()
    player.press("f")
    notebook.page.wait_for_function("() => document.fullscreenElement")
    screen = notebook.page.viewport_size
    player.measures(x=0, y=0, **screen)
    player.press("PageDown")
    player.press("ArrowRight")
    player.stands_at(2)
    player.picture("lab-stage")
    player.press("Home")
    player.press("Escape")
    notebook.page.wait_for_function("() => !document.fullscreenElement")
    assert player.root.get_attribute("data-stage") is None
    player.measures(width=before["width"])


def test_play_with_stage_opens_on_stage_once(notebook: Notebook) -> None:
    notebook.run_cells(NUMBERS["stage"], NUMBERS["staged"])
    player = Shown(notebook.page.locator(".jp-Notebook-cell").nth(NUMBERS["staged"]).locator("section.player"))
    player.measures(x=0, y=0, **notebook.page.viewport_size)
    assert player.root.get_attribute("data-stage") == ""
    player.press("Escape")
    assert player.root.get_attribute("data-stage") is None
    notebook.command("notebook:create-output-view")
    view = Shown(notebook.page.locator(".jp-LinkedOutputView section.player"))
    view.stands_at(0)
    assert view.root.get_attribute("data-stage") is None


def test_the_player_goes_on_when_its_kernel_dies(notebook: Notebook) -> None:
    expected = trace_of(notebook, "f(a)")
    player = notebook.player()
    player.click("play")
    player.stands_at(1)
    notebook.do("await window.jupyterapp.shell.currentWidget.sessionContext.shutdown();")
    player.stands_at(3)
    player.click("play")
    player.click("last")
    player.agrees(expected, len(expected) - 1)
    player.press("Home")
    player.agrees(expected, 0)
    assert not [text for text in notebook.tab.complaints if "autodiff" in text or "player" in text.lower()]
    notebook.do("await window.jupyterapp.shell.currentWidget.sessionContext.startKernel();")


@pytest.mark.exhaustive
def test_all_programs_follow_their_traces_and_are_seen_at_once(lab: Lab, open_notebook: Any) -> None:
    write(lab, "eight.ipynb", [IMPORTS, *map(player_of, EIGHT)])
    notebook = open_notebook("eight.ipynb")
    notebook.page.set_viewport_size(SCREEN)
    notebook.run_all()
    traces = notebook.documents()
    assert len(traces) == len(EIGHT)
    for theme, keys in (("Light", ("next", "previous")), ("Dark", ("ArrowRight", "ArrowLeft"))):
        notebook.wear(f"JupyterLab {theme}")
        for expected in traces[: len(FIVE)]:  # of the others, which are long, not all is in the page
            player = notebook.player(expected.document["title"])
            player.root.focus()
            player.walks(expected, *keys)
    for expected in traces:
        notebook.player(expected.document["title"]).is_seen_at_once(*ALL)
    notebook.tab.is_quiet(*KNOWN)
