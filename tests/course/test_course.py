"""Every exercise: its solution passes, its template is helped, and known wrong answers get hints of their own."""

import copy
import json
import re

import numpy as np
import pytest
from answers import RIGHT, WRONG
from answers.backward import SIX, add, walk
from answers.control_flow import slope_by_hand

import autodiff_edu as ad
from autodiff_edu.course import check, described
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.feedback import number
from autodiff_edu.course.tools.execute import as_text

CHAPTERS = [chapter.notebook for chapter in OURS.assignments]


@pytest.mark.parametrize("exercise", OURS.exercises)
def test_right_answers_are_right(exercise):
    for answer in RIGHT[exercise]:
        feedback = check(exercise, answer)
        assert feedback, feedback
        assert repr(feedback) == f"{exercise}: Right. {feedback.message}"
        assert feedback._repr_markdown_() == f"**{exercise}: Right.** {feedback.message}"


@pytest.mark.parametrize("exercise", OURS.exercises)
def test_known_wrong_answers_get_hints_of_their_own(exercise):
    messages = {}
    for answer, hint in WRONG[exercise]:
        feedback = check(exercise, answer)
        assert not feedback
        assert re.search(hint, feedback.message) or hint in feedback.message, feedback.message
        messages[feedback.message] = answer
    assert len(messages) >= 3


@pytest.mark.parametrize("exercise", OURS.exercises)
def test_three_dots_ask_for_an_answer(exercise):
    assert "three dots" in check(exercise, ...).message


@pytest.mark.parametrize("exercise", ["1.9", "", None, 1.1, ["1.1"]])
def test_unknown_exercises_are_refused_with_the_known_ones(exercise):
    with pytest.raises(KeyError, match=r"there are 0\.1, 0\.2"):
        check(exercise, 8)


def test_a_method_is_not_blamed_for_its_self():
    class Mine:
        def wrong(self, f, x, h):
            return 3 * (f(x + h) - f(x)) / h

        def without_h(self, f, x, h):
            return f(x)

    assert "never reads" not in check("0.1", Mine().wrong).message
    assert "never reads its argument `h`" in check("0.1", Mine().without_h).message


def test_an_answer_without_newtons_step_is_not_praised_for_it():
    assert "Newton" not in check("7.3", slope_by_hand).message


def test_checking_prints_nothing_and_changes_nothing(capsys):
    answer = copy.deepcopy(SIX)
    state = np.random.get_state()[1].copy()
    check("2.1", answer)
    check("2.2", RIGHT["2.2"][0])
    assert capsys.readouterr().out == ""
    assert answer == SIX
    assert (np.random.get_state()[1] == state).all()


def test_a_checked_function_may_spoil_what_it_is_given():
    def spoiling(entries, values, target):
        result = walk(add)(entries, values, target)
        entries.clear()
        values.clear()
        return result

    assert check("2.3", spoiling)


def test_the_numbers_of_exercise_2_1_are_those_of_the_tape():
    x, y = ad.constant(2.0), ad.constant(4.0)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a = x * y
        b = a + x
        c = b * y
        d = a + c
        e = d * 2.0
        f = e + b
    values = {"x": x, "y": y, "a": a, "b": b, "c": c, "d": d, "e": e, "f": f}
    assert {name: float(tape.gradient(f, value)) for name, value in values.items()} == SIX


# The chapters -----------------------------------------------------------------------------------------------------


def shown(path, cell_id):
    """The last thing that a cell shows as text. nbval runs every cell and compares, so that is what it does show."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (outputs,) = [cell["outputs"] for cell in cells if cell["id"] == cell_id]
    return "".join(outputs[-1]["data"]["text/plain"])


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_solutions_pass_and_templates_are_helped(path):
    for n, exercise in enumerate(OURS.find(path.name).exercises, 1):
        assert shown(path, f"ex-{n}-solution").startswith(f"{exercise}: Right. ")
        template = shown(path, f"ex-{n}-answer")
        assert template.startswith(f"{exercise}: Not yet. ")
        assert len(template) > len(f"{exercise}: Not yet. ") + 20, "the untouched template is told what to do"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_is_stored_as_execute_would_write_it(path):
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert as_text(notebook) == text
    executed = [cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert executed == list(range(1, len(executed) + 1))
    assert not any(out["output_type"] == "error" for cell in notebook["cells"] for out in cell.get("outputs", ()))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_links_between_chapters_lead_somewhere(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    assert all((path.parent / link).exists() for link in links)


def test_every_figure_says_in_words_what_it_shows():
    for path in CHAPTERS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", ()):
                if "image/png" in output.get("data", {}):
                    alt = output["metadata"]["image/png"]["alt"]
                    assert "".join(output["data"]["text/plain"]) == f"Figure: {alt}"
                    assert len(alt) > 80


# Executing --------------------------------------------------------------------------------------------------------


def notebook_with_a_widget(model):
    html = (
        f'<div data-autodiff-frame="{model}"><div data-autodiff-player data-start="2" data-model="{model}">plays</div>'
    )
    shown = {"text/html": html, "text/plain": "P"}
    output = {"output_type": "display_data", "metadata": {}, "data": shown}
    cell = {"cell_type": "code", "id": "player", "metadata": {"execution": {"shell.execute_reply": "2026-01-01"}},
            "source": "a\nb", "execution_count": 1, "outputs": [output]}  # fmt: skip
    return {
        "cells": [cell, {**copy.deepcopy(cell), "outputs": []}],
        "metadata": {"widgets": {"state": {model: {}}}, "language_info": {"version": "3.12.1"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def test_what_a_kernel_makes_up_is_left_out_and_a_player_stays_as_html():
    first = as_text(notebook_with_a_widget("0af3"))
    assert first == as_text(notebook_with_a_widget("zz-9"))
    notebook = json.loads(first)
    html = '<div data-autodiff-frame><div data-autodiff-player data-start="2">plays</div>'
    assert notebook["cells"][0]["outputs"][0]["data"] == {"text/html": [html], "text/plain": ["P"]}
    assert "widgets" not in notebook["metadata"]
    assert [cell["id"] for cell in notebook["cells"]] == ["player", "cell-02"]
    assert "2026" not in first
    assert "3.12.1" not in first
    assert as_text(notebook) == first


def test_a_described_figure_is_drawn_once_and_closed():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(3, 2))
    axes.plot([1, 2])
    before = pyplot.get_fignums()
    shown = described(figure, "A line\n  that rises.")
    assert set(before) - set(pyplot.get_fignums()) == {figure.number}
    data, metadata = shown._repr_mimebundle_()
    assert data["text/plain"] == "Figure: A line that rises."
    assert data["image/png"].startswith(b"\x89PNG")
    assert metadata == {"image/png": {"alt": "A line that rises.", "width": 300}}


def test_number_reads_what_is_one_number():
    assert [number(x) for x in (8, np.float32(2.5), np.array([[3.0]]), ad.constant(4.0))] == [8.0, 2.5, 3.0, 4.0]
