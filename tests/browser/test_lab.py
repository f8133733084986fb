"""The live player in JupyterLab, driven as a reader drives it."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from programs import FIVE, logistic

from autodiff_edu.course.tools.execute import as_text
from browser.following import CONTRAST, READ, TOO_WIDE, Expected, Shown, assert_agrees, assert_legible, violations

CHAPTER = "notebooks/01-the-tape.ipynb"
IMPORTS = "import numpy as np\nimport autodiff_edu as ad"

# What JupyterLab itself is known to complain of, whatever the notebook.
KNOWN: tuple[str, ...] = ()


class Notebook:
    """A notebook that is open in JupyterLab."""

    def __init__(self, tab: Any) -> None:
        self.tab, self.page = tab, tab.page
        self.page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
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
            "[widget['state']['document']['trace'] for widget in "
            "__import__('ipywidgets').Widget.get_manager_state()['state'].values() if 'document' in widget['state']]"
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


@pytest.fixture
def open_notebook(lab: Any, open_tab: Any) -> Iterator[Any]:
    def open_notebook(path: str) -> Notebook:
        return Notebook(open_tab(lab.address(path)))

    return open_notebook


def write(lab: Any, cells: list[str]) -> str:
    """Write a notebook of these cells, which gets a kernel of its own."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell, id=f"cell-{i}") for i, cell in enumerate([IMPORTS, *cells])]
    )
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    name = f"scratch-{len(list(lab.root.glob('scratch-*')))}.ipynb"
    nbformat.write(notebook, lab.root / name)
    return name


@pytest.fixture
def scratch(lab: Any, open_notebook: Any) -> Notebook:
    cells = [
        "def f(a):\n    b = a + a\n    c = b + b\n    return np.sum(np.sin(c))",
        "player = ad.play(f, np.array([1.0, 2.0]))\nplayer",
        "player.step = 3",
        "player.step",
        "# the last cell",
    ]
    opened = open_notebook(write(lab, cells))
    for number in (0, 1, 2):
        opened.run(number)
    opened.player().stands_at(0)
    return opened


def test_chapter_1_runs_and_its_players_follow_their_traces(open_notebook: Any) -> None:
    notebook = open_notebook(CHAPTER)
    notebook.run_all()
    traces = notebook.documents()
    backwards = next(number for number, trace in enumerate(traces) if trace.has("pull back"))
    for expected in {0: traces[0], backwards: traces[backwards]}.values():
        player = notebook.player(expected.document["title"])
        player.walks(expected, "next", "previous")
    notebook.tab.is_quiet(*KNOWN)


def test_the_five_programs_follow_their_traces(lab: Any, open_notebook: Any) -> None:
    cells = [f"{inspect.getsource(program)}\nad.play({program.__name__}())" for program in FIVE]
    notebook = open_notebook(write(lab, cells))
    notebook.run_all()
    traces = notebook.documents()
    assert len(traces) == len(FIVE)
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        notebook.wear(theme)
        for expected in traces:
            player = notebook.player(expected.document["title"])
            player.root.focus()
            if theme == "JupyterLab Light":
                player.walks(expected, "next", "previous")
            else:
                player.walks(expected, "ArrowRight", "ArrowLeft")
    notebook.tab.is_quiet(*KNOWN)


def test_a_prediction_is_answered_and_running_the_next_cell_shows_its_output(lab: Any, open_notebook: Any) -> None:
    cells = [
        "from autodiff_edu.course import Prediction\n"
        'Prediction("What is 2 + 2?", answer=4, hints={5: "One less."}, why="Count.")',
        "print('four')",
    ]
    name = write(lab, cells)
    stored = nbformat.read(lab.root / name, as_version=4)
    stored.cells[2].metadata["tags"] = ["hide-output"]
    stored.cells[2].outputs = [nbformat.v4.new_output("stream", text="four\n")]
    (lab.root / name).write_text(as_text(stored), encoding="utf-8")
    notebook = open_notebook(name)
    before = notebook.standing()["cells"]
    assert not notebook.output(2).is_visible()
    notebook.run(1)
    question = notebook.page.locator(".jp-Notebook .prediction")
    question.get_by_role("textbox").click()
    for keys in ("5", "Enter", "4", "Enter"):  # which JupyterLab must leave alone
        notebook.page.keyboard.press(keys)
    assert question.locator(".verdict").text_content() == "Right: 4. Count."
    notebook.run(2)
    notebook.output(2).wait_for()
    assert notebook.output(2).inner_text().strip() == "four"
    assert notebook.standing()["cells"] == before
    notebook.tab.is_quiet(*KNOWN)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_player_fits_and_is_legible(theme: str, scratch: Notebook) -> None:
    (expected,) = scratch.documents()
    scratch.page.set_viewport_size({"width": 900, "height": 1600})
    scratch.wear(theme)
    player = scratch.player()
    read = f"root => [({READ})(root), ({TOO_WIDE})(root), ({CONTRAST})(root)]"
    for number, (seen, too_wide, contrast) in enumerate(player.at_every_step(read)):
        assert_agrees(seen, expected, number)
        assert too_wide == []
        assert_legible(contrast, dark=theme.endswith("Dark"))
    player.picture(f"lab-{theme.split()[-1].lower()}")


def test_keys_move_the_player_and_nothing_else(scratch: Notebook) -> None:
    (expected,) = scratch.documents()
    player = scratch.player()
    player.click("next")
    player.agrees(expected, 1)
    before = scratch.standing()
    player.click("previous")
    player.walks(expected, "ArrowRight", "ArrowLeft")
    for key, number in {"End": len(expected) - 1, "Home": 0, "ArrowRight": 1}.items():
        player.press(key)
        player.agrees(expected, number)
    # keys that are shortcuts of a notebook in command mode: insert, delete, move, to Markdown
    for key in ("ArrowUp", "ArrowDown", "a", "b", "d", "d", "j", "k", "m", "x"):
        player.press(key)
    player.agrees(expected, 1)
    assert scratch.standing() == before
    scratch.tab.is_quiet(*KNOWN)


def test_python_and_the_reader_move_the_same_player(scratch: Notebook) -> None:
    (expected,) = scratch.documents()
    player = scratch.player()
    scratch.run(3)
    player.agrees(expected, 3)
    player.click("next")
    player.agrees(expected, 4)
    scratch.run(4)
    scratch.output(4).get_by_text("4", exact=True).wait_for()
    assert scratch.ask("player.step") == 4


def test_two_views_show_the_same_step(scratch: Notebook) -> None:
    (expected,) = scratch.documents()
    scratch.command("notebook:create-output-view")
    views = [scratch.player(), Shown(scratch.page.locator(".jp-LinkedOutputView section.player"))]
    views[1].stands_at(0)
    views[1].click("last")
    for view in views:
        view.agrees(expected, len(expected) - 1)
    views[0].click("previous")
    for view in views:
        view.agrees(expected, len(expected) - 2)


def test_axe_finds_nothing_in_jupyterlab(scratch: Notebook) -> None:
    player = scratch.player()
    for action in ("next", "last"):
        player.click(action)
        assert violations(player.root) == []


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_axe_finds_nothing_in_what_opens(theme: str, lab: Any, open_notebook: Any) -> None:
    cells = [
        f"{inspect.getsource(logistic)}\nad.play(logistic())",
        "ad.descend(lambda x, y: x**4 - 2 * x**2 + y**2, (0.3, 1.0))",
        "ad.drill(3, 2)",
    ]
    notebook = open_notebook(write(lab, cells))
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    notebook.run_all()
    notebook.wear(theme)
    player = notebook.player("logistic regression")
    player.root.locator("input[type=range]").fill("60")
    for opener, closer in (("Nudge", "Escape"), ("cut", "Escape"), ("What the signs mean", "Escape"), ("Stage", "f")):
        player.root.get_by_role("button", name=opener, exact=True).click()
        assert violations(player.root) == []
        player.picture(f"lab-{opener.split()[0].lower()}-{theme.split()[-1].lower()}")
        player.press(closer)
    for heading in ("Newton's method on <lambda>", "drill, level 3, seed 2: program 1 of 10"):
        player = notebook.player(heading)
        player.root.scroll_into_view_if_needed()
        assert violations(player.root) == []
        player.picture(f"lab-{heading[:5].lower()}-{theme.split()[-1].lower()}")


def test_the_player_goes_on_when_its_kernel_dies(scratch: Notebook) -> None:
    (expected,) = scratch.documents()
    player = scratch.player()
    player.click("play")
    player.stands_at(1)
    scratch.do("await window.jupyterapp.shell.currentWidget.sessionContext.shutdown();")
    player.stands_at(3)
    player.click("play")
    player.click("last")
    player.agrees(expected, len(expected) - 1)
    player.press("Home")
    player.agrees(expected, 0)
    assert not [text for text in scratch.tab.complaints if "autodiff" in text or "player" in text.lower()]


def test_the_stage_covers_jupyterlab_and_leaves_as_it_came(scratch: Notebook) -> None:
    player = scratch.player()
    player.root.scroll_into_view_if_needed()
    before = player.root.bounding_box()
    player.root.focus()
    player.press("f")
    scratch.page.wait_for_function("() => document.fullscreenElement")
    screen = scratch.page.viewport_size
    player.measures(x=0, y=0, **screen)
    player.press("PageDown")
    player.press("ArrowRight")
    player.stands_at(2)
    player.picture("lab-stage")
    player.press("Home")
    player.press("Escape")
    scratch.page.wait_for_function("() => !document.fullscreenElement")
    assert player.root.get_attribute("data-stage") is None
    player.measures(width=before["width"])


def test_play_with_stage_opens_on_stage_once(lab: Any, open_notebook: Any) -> None:
    cells = [
        "%load_ext autodiff_edu\nimport autodiff_edu as ad\nx = ad.Variable(3.0)",
        "%%play --stage\nwith ad.GradientTape() as tape:\n    y = x * x\ntape.gradient(y, x)",
    ]
    notebook = open_notebook(write(lab, cells))
    notebook.run_all()
    player = notebook.player("cell 3")
    player.measures(x=0, y=0, **notebook.page.viewport_size)
    assert player.root.get_attribute("data-stage") == ""
    player.press("Escape")
    assert player.root.get_attribute("data-stage") is None
    notebook.command("notebook:create-output-view")
    view = Shown(notebook.page.locator(".jp-LinkedOutputView section.player"))
    view.stands_at(0)
    assert view.root.get_attribute("data-stage") is None
