"""Every exercise: its solution passes, its template is helped, and known wrong answers get hints of their own."""

import ast
import copy
import json
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.course import Feedback, check, described
from autodiff_edu.course.check import EXERCISES
from autodiff_edu.course.execute import WIDGET_STATE, WIDGET_VIEW, as_text
from autodiff_edu.course.feedback import number

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
CHAPTERS = sorted(NOTEBOOKS.glob("[0-9][0-9]-*.ipynb"))

SIX = {"f": 1.0, "e": 1.0, "d": 2.0, "c": 2.0, "b": 9.0, "a": 11.0, "y": 42.0, "x": 53.0}
ALL = {"x", "k", "first a", "second a", "z"}
ARROWS = {("x", "a"), ("y", "a"), ("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("x", "d")}
RULES = {"add": lambda g, z, x, y: (g, g), "multiply": lambda g, z, x, y: (g * y, g * x)}


def walk(update, order=reversed, start=lambda entries, target: {target: 1.0}):
    """Make a backward pass that treats a contribution as `update` says."""

    def backward(entries, values, target):
        cotangents = start(entries, target)
        for output, operation, inputs in order(entries):
            g = cotangents.get(output, 0.0)
            contributions = RULES[operation](g, values[output], *(values[name] for name in inputs))
            for name, contribution in zip(inputs, contributions, strict=True):
                update(cotangents, name, contribution, g)
        return cotangents

    return backward


def add(cotangents, name, contribution, g):
    cotangents[name] = cotangents.get(name, 0.0) + contribution


def overwrite(cotangents, name, contribution, g):
    cotangents[name] = contribution


def add_to_g(cotangents, name, contribution, g):
    cotangents[name] = g + contribution


def add_to_nothing(cotangents, name, contribution, g):
    cotangents[name] += contribution


def ones(entries, target):
    return {name: 1.0 for output, _, inputs in entries for name in (output, *inputs)}


def fails(*args):
    raise ArithmeticError("no idea")


RIGHT = {
    "1.1": [8, 8.0, np.int64(8), ad.constant(8.0), np.array([8])],
    "1.2": [ALL, list(ALL), ", ".join(ALL), frozenset(ALL)],
    "1.3": [ARROWS, list(ARROWS), {tuple(pair) for pair in ARROWS}],
    "2.1": [SIX, {name: ad.constant(value) for name, value in SIX.items()}],
    "2.2": [lambda g, z, x, y: (g * y, g * x), lambda g, z, x, y: [z / x * g, z / y * g]],
    "2.3": [
        walk(add),
        walk(add_to_nothing, start=lambda entries, target: {**dict.fromkeys("abcdpqrxy", 0.0), target: 1.0}),
    ],
}

WRONG = {
    "1.1": [
        (4, "no loop"),
        (9, "half"),
        (10, "y = x"),
        (5, "for each turn"),
        (7, "two operations"),
        (2, "two lines"),
        (3, "one by one"),
        (8.5, "no whole number"),
        (-1, "one by one"),
        (1e300, "one by one"),
    ],
    "1.2": [
        (ALL | {"n"}, "no entry uses n"),
        (ALL - {"first a"}, "moves on"),
        (ALL - {"k"}, "keeps all its inputs"),
        (ALL - {"x"}, "what went in"),
        (ALL - {"z"}, "what came out"),
        (ALL - {"second a"}, "two entries hold it"),
        ({"a", "x"}, "two values called a"),
        ({"x", "q"}, "`'q'` is not among"),
        (set(), "moves on"),
        ("n", "no entry uses n"),
    ],
    "1.3": [
        ({(b, a) for a, b in ARROWS}, "all point the wrong way"),
        ({("a", "b"), ("b", "c"), ("c", "d")}, "order in which they run"),
        (ARROWS - {("x", "d")}, "long after"),
        (ARROWS - {("a", "c")}, "Look at the line of c"),
        (ARROWS | {("y", "b")}, "does not mention"),
        (ARROWS - {("a", "b")} | {("b", "a")}, "turn the arrow"),
        ({("x", "q")}, "`'q'` is not among"),
        (set(), "Look at the line"),
    ],
    "2.1": [
        ({**SIX, "b": 8.0}, "`+=` in place of `=`"),
        ({**SIX, "b": 1.0}, "alone"),
        ({**SIX, "a": 2.0}, "alone"),
        ({**SIX, "x": 44.0}, "`+=`"),
        ({**SIX, "y": 20.0}, "alone"),
        ({**SIX, "d": 1.0}, "other factor"),
        ({**SIX, "f": 106.0}, "seed"),
        ({**SIX, "c": 40.0}, "is the value of c"),
        ({**SIX, "e": 7.0}, "that of e"),
        ({**SIX, "x": 7.0}, "line of b and a"),
        ({**SIX, "x": "no"}, "the cotangent of x is `'no'`"),
        ({"f": 1.0}, "No cotangent is given for e"),
        ({**SIX, "a": ...}, "Still open: a"),
    ],
    "2.2": [
        (lambda g, z, x, y: (y, x), "leave out g"),
        (lambda g, z, x, y: (g * x, g * y), "changed places"),
        (lambda g, z, x, y: (x, y), "And the cotangent g is left out"),
        (lambda g, z, x, y: (g, g), "rule of addition"),
        (lambda g, z, x, y: (g * z, g * z), "is the value"),
        (lambda g, z, x, y: g * y + g * x, "two arguments"),
        (lambda g, z, x, y: None, "gives None"),
        (lambda g, z, x, y: (..., ...), "contribution to x is still open"),
        (lambda g, z, x, y: (g * y, g), "ask the same for y"),
        (lambda g, z, x, y: (g, g * x), "ask the same for x"),
        (lambda g, z, x, y: (g + y, g + x), "central differences give"),
        (lambda x, y: (y, x), "raised TypeError"),
        (6.0, "without calling it"),
        (lambda g, z, x, y: ("a", "b"), "I need one number"),
    ],
    "2.3": [
        (walk(overwrite), "overwrites"),
        (walk(add_to_g), "adds to g"),
        (walk(add_to_nothing), "finds no accumulator"),
        (walk(add, order=list), "in reverse"),
        (walk(add, start=ones), "begins at 0.0"),
        (lambda entries, values, target: None, "gives None"),
        (lambda entries, values, target: 6.0, "the dict of cotangents"),
        (lambda entries, values, target: {}, "no cotangent for a"),
        (lambda entries, values, target: {"a": 5.0}, "the slope is 6"),
        (lambda entries, values, target: {"a": 6.0 if len(entries) == 1 else 4.0}, "a diamond|p = x"),
        (lambda wrong: {}, "raised TypeError"),
    ],
}


class Rude:
    """Raises whatever one does with it."""

    def __getattribute__(self, name):
        if name == "__class__":
            return Rude
        raise RuntimeError("no")

    def __repr__(self):
        raise RuntimeError("no")

    def __float__(self):
        raise RuntimeError("no")


JUNK = [
    None,
    True,
    "",
    "eight",
    b"8",
    [],
    {},
    set(),
    object(),
    Rude(),
    Rude,
    float("nan"),
    np.zeros((2, 3)),
    np.array([]),
    [[1], [2]],
    {1: 2},
    {"f": ...},
    {...},
    [...],
    [("x",)],
    [(1, 2)],
    ad.constant([1.0, 2.0]),
    fails,
    len,
    lambda: None,
    1j,
    10**400,
]


@pytest.mark.parametrize("exercise", EXERCISES)
def test_right_answers_are_right(exercise):
    for answer in RIGHT[exercise]:
        feedback = check(exercise, answer)
        assert feedback, feedback
        assert repr(feedback) == f"{exercise}: Right. {feedback.message}"
        assert feedback._repr_markdown_() == f"**{exercise}: Right.** {feedback.message}"


@pytest.mark.parametrize("exercise", EXERCISES)
def test_known_wrong_answers_get_hints_of_their_own(exercise):
    messages = {}
    for answer, hint in WRONG[exercise]:
        feedback = check(exercise, answer)
        assert not feedback
        assert re.search(hint, feedback.message) or hint in feedback.message, feedback.message
        messages[feedback.message] = answer
    assert len(messages) >= 5


@pytest.mark.parametrize("exercise", EXERCISES)
@pytest.mark.parametrize("answer", JUNK, ids=lambda answer: type(answer).__name__)
def test_anything_else_gets_a_sentence(exercise, answer):
    feedback = check(exercise, answer)
    assert isinstance(feedback, Feedback)
    assert not feedback
    assert len(feedback.message) > 20
    assert feedback.message.strip()[-1] in ".?`"
    assert " at 0x" not in feedback.message


@pytest.mark.parametrize("exercise", EXERCISES)
def test_three_dots_ask_for_an_answer(exercise):
    assert "three dots" in check(exercise, ...).message


@pytest.mark.parametrize("exercise", ["1.9", "", None, 1.1, ["1.1"]])
def test_unknown_exercises_are_refused_with_the_known_ones(exercise):
    with pytest.raises(KeyError, match=r"there are 1\.1, 1\.2"):
        check(exercise, 8)


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


def run(path, monkeypatch):
    """Run a chapter as a script; give the value of the last line of each cell, by the cell's id."""
    monkeypatch.chdir(path.parent)
    mpl.use("Agg")
    namespace, results = {"display": repr}, {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        lines = ast.parse("".join(cell["source"])).body
        last = lines.pop() if isinstance(lines[-1], ast.Expr) else None
        exec(compile(ast.Module(lines, []), cell["id"], "exec"), namespace)
        if last is not None:
            results[cell["id"]] = eval(compile(ast.Expression(last.value), cell["id"], "eval"), namespace)
    return results


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_solutions_pass_and_templates_are_helped(path, monkeypatch):
    results = run(path, monkeypatch)
    for n in (1, 2, 3):
        solution, template = results[f"ex-{n}-solution"], results[f"ex-{n}-answer"]
        assert solution, solution
        assert solution.exercise == f"{int(path.stem[:2])}.{n}"
        assert isinstance(template, Feedback)
        assert not template
        assert "three dots" in template.message or "overwrites" in template.message


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


def notebook_with_a_widget(model, layout):
    state = {layout: {"model_name": "LayoutModel", "state": {}},
             model: {"model_name": "AnyModel", "state": {"layout": f"IPY_MODEL_{layout}", "step": 0}}}  # fmt: skip
    output = {
        "output_type": "display_data",
        "metadata": {},
        "data": {WIDGET_VIEW: {"model_id": model}, "text/plain": "P"},
    }
    cell = {"cell_type": "code", "id": "player", "metadata": {"execution": {"shell.execute_reply": "2026-01-01"}},
            "source": "a\nb", "execution_count": 1, "outputs": [output]}  # fmt: skip
    return {
        "cells": [cell, {**copy.deepcopy(cell), "outputs": []}],
        "metadata": {"widgets": {WIDGET_STATE: {"state": state}}, "language_info": {"version": "3.12.1"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def test_what_a_kernel_makes_up_is_normalised():
    first = as_text(notebook_with_a_widget("0af3", "77d2"))
    assert first == as_text(notebook_with_a_widget("zz-9", "11aa"))
    notebook = json.loads(first)
    assert notebook["cells"][0]["outputs"][0]["data"][WIDGET_VIEW] == {"model_id": "widget-01"}
    assert (
        notebook["metadata"]["widgets"][WIDGET_STATE]["state"]["widget-01"]["state"]["layout"] == "IPY_MODEL_widget-02"
    )
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
