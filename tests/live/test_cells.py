"""Each cell with code edited and run in its page, after the cells above as the page has them."""

from __future__ import annotations

from typing import Any

import pytest

from .editing import Live, ready

CHAPTERS = ("00-derivatives", "01-the-tape", "06-watched-or-none")


@pytest.fixture
def chapter_0(page: Any) -> Any:
    """Chapter 0, whose cells build on each other and have few players."""
    tab = page("chapters/00-derivatives")
    ready(tab.page)
    return tab


def cell(tab: Any, name: str) -> Live:
    """Open the cell with this id in its notebook."""
    programs = tab.page.locator("#live-programs").evaluate("element => JSON.parse(element.textContent).programs")
    runs = [program for program in programs if program["kind"] == "run"]
    (index,) = [k for k, program in enumerate(runs) if program["id"].endswith(f"/{name}")]
    return Live(tab, index, "run")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_cell_with_code_has_a_pencil_or_an_editor(page: Any, chapter: str) -> None:
    tab = page(f"chapters/{chapter}")
    ready(tab.page)
    without = tab.page.locator(
        "div.cell:not(.tag_solution):not(:has([data-autodiff-prediction])):not(:has(.live-pencil, .live-form))"
    )
    assert without.count() == 0, without.all_inner_texts()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_cell_of_a_chapter_runs_in_its_page(page: Any, chapter: str) -> None:
    tab = page(f"chapters/{chapter}")
    ready(tab.page)
    programs = tab.page.locator("#live-programs").evaluate("element => JSON.parse(element.textContent).programs")
    for program in programs:
        if program["kind"] == "run":
            live = cell(tab, program["id"].split("/")[-1])
            live.run()
            assert live.cell.locator(".live-error").count() == 0, live.error()
            assert "ended Python" not in live.status.inner_text()
    tab.is_quiet()


def test_a_cell_runs_after_the_cells_above_as_they_are_on_the_page(chapter_0: Any) -> None:
    run = cell(chapter_0, "fit-run")
    stored = run.cell.locator(".cell_output .output.stream pre").text_content().strip()
    run.run(run.program["source"] + "\n# mine")
    shown = run.cell.locator(".live-output")
    assert shown.inner_text().strip() == stored
    assert shown.is_visible()
    assert not run.cell.locator(".output.stream").is_visible()  # the new output has taken its place
    fit = cell(chapter_0, "fit")
    fit.write(fit.program["source"].replace("tilt, height = 0.0, 4.0", "tilt, height = 0.25, 4.0"))
    run.run()
    assert shown.inner_text().startswith("turn  0: tilt 0.250")
    fit.cell.locator(".live-reset").click()
    run.run()
    assert shown.inner_text().strip() == stored
    plot = cell(chapter_0, "fit-plot")
    run.run(run.program["source"].replace("rate=0.2", "rate=0.5"))
    plot.run(plot.program["source"].replace("levels=[0.2, 0.25, 0.3, 0.4, 0.6], ", ""))  # which Matplotlib 3.10 can't
    assert "the penguins" in plot.cell.locator(".live-output img").get_attribute("alt")
    assert not plot.cell.locator(".cell_output img:not(.live-output img)").is_visible()
    chapter_0.is_quiet()


def test_the_cells_above_run_again_only_when_one_of_them_or_what_they_made_was_changed(chapter_0: Any) -> None:
    loss, fit = cell(chapter_0, "loss"), cell(chapter_0, "fit-run")
    loss.write("import sys\nsys.times = getattr(sys, 'times', 0) + 1\nmade = [1.0]\n")
    shown = fit.cell.locator(".live-output")
    for program, said in {
        "print(sys.times, made)": "1 [1.0]",
        "print(sys.times, made, 'again')": "1 [1.0] again",
        "made.append(2.0)\nprint(sys.times, made)": "1 [1.0, 2.0]",
        "made.append(3.0)\nprint(sys.times, made)": "2 [1.0, 3.0]",  # not [1.0, 2.0, 3.0]
    }.items():
        fit.run(program)
        assert shown.inner_text().strip() == said
    loss.write(loss.text().replace("1.0", "5.0"))
    fit.run("print(sys.times, made)")
    assert shown.inner_text().strip() == "3 [5.0]"


def test_what_was_made_after_other_cells_above_turns_grey_until_it_runs_again(chapter_0: Any) -> None:
    loss, player = cell(chapter_0, "loss"), Live(chapter_0)
    older = chapter_0.page.locator(".live-older")
    player.run(player.program["source"].replace("0.01", "0.02"))  # nothing below takes what it shows
    loss.write(loss.program["source"] + "\nanother = 1")  # nor this
    chapter_0.page.wait_for_timeout(1000)
    assert older.count() == 0
    loss.write(loss.program["source"].replace("** 2", "** 4"))
    older.first.wait_for()
    assert older.first.get_attribute("title") == "A cell above has changed since this ran."
    fit = cell(chapter_0, "fit-run")
    shown = fit.cell.locator(".cell_output")
    assert "live-older" in shown.get_attribute("class")
    fit.run()
    fit.cell.locator(".live-older").wait_for(state="detached")
    assert older.count() > 0  # the others have not run again
    loss.cell.locator(".live-reset").click()
    fit.cell.locator(".live-older").wait_for()
    fit.cell.locator(".live-reset").click()
    older.first.wait_for(state="detached")
    assert older.count() == 0
    chapter_0.is_quiet()


def test_an_error_in_a_cell_above_is_said_to_be_there_with_a_link_to_it(chapter_0: Any) -> None:
    loss, run = cell(chapter_0, "loss"), cell(chapter_0, "fit-run")
    for broken, line, message in (
        ("x = 1\nloss = np.nothing", 2, "AttributeError: module 'numpy' has no attribute 'nothing'"),
        ("def loss(tilt, height:\n    return 0", 1, "SyntaxError: '(' was never closed"),
    ):
        loss.write(broken)
        run.run()
        assert run.status.inner_text() == (
            "The program stopped with an error in line 1, below. A cell above stopped with an error in line "
            f"{line}, so what it would have made is missing here. {message}"
        )
        assert "NameError" in run.error()
        assert run.list_failed() == ["1"]
    run.status.locator("a").click()
    assert loss.cell.evaluate("cell => cell.id === location.hash.slice(1)")
    loss.write("def loss(tilt, height):\n    return np.nothing(tilt)")
    run.run()
    assert run.status.inner_text() == "The program stopped with an error in line 1, below."
    assert "cell 4, line 2, in loss" in run.error()


def test_what_a_cell_above_checks_ticks_nothing(chapter_0: Any) -> None:
    loss, exercise = cell(chapter_0, "loss"), Live(chapter_0, 0, "check")
    name = exercise.program["name"]
    loss.write(f"from autodiff_edu.course.check import LISTENERS\nmade = [check('{name}', 1) for _ in (1,)]")
    exercise.run("made")
    assert exercise.cell.locator(".live-right, .live-wrong").count() == 0
    assert "✓" not in chapter_0.page.locator("nav.bd-links").inner_text()


MATHEMATICS = {
    "def f(x):\n    return x^2\nf(3.0)": "a power is written with two stars: x ** 2 instead of x^2.",
    "x = ad.Variable(3.0)\ny = x^2": "a power is written with two stars: x ** 2 instead of x^2.",
    "x = 3.0\ny = 2x": "Python multiplies only where it sees a *: write 2 * x instead of 2x.",
    "x = 3.0\ny = |x|": "Python has no bars for a size: write np.abs(x) instead of |x|.",
    "x = 3.0\ny = x²": "Python does not know ²: write ** 2, as in x ** 2.",
    "x = 3.0\ny = sin x": "Python needs brackets after a function: write np.sin(x) instead of sin x.",
}


@pytest.mark.parametrize("kind", ["run", "check", "play"])
def test_mathematics_as_written_by_hand_is_answered_in_plain_words(chapter_0: Any, kind: str) -> None:
    live = Live(chapter_0, 0, kind)
    for program, words in MATHEMATICS.items():
        live.run(program)
        assert words in live.error().split("\n")[0], live.error()
    assert live.cell.locator(".live-error").count() == 1


@pytest.mark.parametrize("kind", ["run", "check"])
def test_what_was_said_of_a_text_goes_when_it_is_changed_and_what_it_showed_turns_grey(
    chapter_0: Any, kind: str
) -> None:
    live = Live(chapter_0, 1, kind)
    live.run("print(1)\n1 / 0")
    assert live.status.inner_text() == "The program stopped with an error in line 2, below."
    assert live.cell.locator(".live-old").count() == 0
    live.area.focus()
    live.page.keyboard.type("x")
    assert live.status.inner_text() == ""
    assert live.cell.locator(".live-shown.live-old").count() == 1
    live.page.keyboard.press("Backspace")
    assert live.cell.locator(".live-shown.live-old").count() == 0  # what is shown is of this text again


def test_a_cell_that_no_page_can_run_says_where_it_runs(page: Any) -> None:
    tab = page("chapters/C-pytorch-and-jax")
    ready(tab.page)
    said = tab.page.locator(".live-elsewhere")
    assert said.count() > 5
    assert said.last.text_content() == "This page can’t run the cell above: run it in JupyterLab on your computer."
    tab.page.goto(said.last.locator("a").evaluate("link => link.href"))
    assert tab.page.locator("#install").count() == 1


def test_the_front_page_comes_back_with_one_program_that_is_the_readers_until_reset(page: Any) -> None:
    tab = page("index")
    live = Live(tab)
    field, player = tab.page.locator(".front-own input"), live.cell.locator(".output")
    bar = live.cell.locator(".live-yours")
    example = field.input_value()
    assert not bar.is_visible()
    live.write("ad.play(lambda t: t * t, 3.0)")
    for _ in range(2):  # now, and when the reader is back
        assert "This program is yours." in bar.inner_text()
        assert field.input_value() == ""
        tab.page.reload()
        live = Live(tab)
        assert live.text() == "ad.play(lambda t: t * t, 3.0)"
        assert not player.is_visible()  # it would show another
        assert not tab.page.locator(".front-drag").is_visible()
    bar.get_by_role("button", name="Reset").click()
    assert live.text() == live.program["source"].rstrip("\n")
    assert player.is_visible()
    assert not bar.is_visible()
    assert field.input_value() == example
    live.write("def f(x):\n    return x * np.cos(x)\n\n\nad.play(f, 1.0)")
    tab.page.reload()
    ready(tab.page)
    own = "() => document.querySelector('.front-own input').value === 'x * np.cos(x)'"
    tab.page.wait_for_function(own)  # the front page's own script comes after the others
    assert tab.page.locator(".front-drag output").inner_text() == "1"
    tab.is_quiet()
