"""A course as a value: what a folder is read as, what a notebook takes from it, and which faults are found in it."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from submissions import notebook

from autodiff_edu.course.__main__ import main
from autodiff_edu.course.contents import OURS, Course
from autodiff_edu.course.tools.execute import as_text, execute
from autodiff_edu.course.tools.fill import calls, fill, tagged
from autodiff_edu.course.values import find_course

TOML = 'title = "Heat"\nlanguage = "en"\nchapters = ["first", "a-rod"]\nfirst = 1\n'
MODULE = """\
from autodiff_edu.course import Prediction
from autodiff_edu.course.exercises import Function, Number, Recording

QUESTIONS = (
    Prediction("How warm?", answer=3, hints={4: "Colder."}, why="It is 3."),
    Number("A slope", "What is it?", answer=6, hints={9: "That is the value."}, otherwise="Not so.", why="2x."),
)
"""


def course(folder: Path, toml: str = TOML, **modules: str) -> Course:
    (folder / "course.toml").write_text(toml, encoding="utf-8")
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return Course(folder)


def chapter(path: Path, *sources: str, title: str = "# A rod") -> Path:
    """Write a notebook whose code cells are tagged as exercises where they check `answer`."""
    notebook(path, "", *sources)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["cells"][0] = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": title}
    for cell in content["cells"][1:]:
        cell["metadata"] = {"tags": ["exercise"]} if ", answer)" in "".join(cell["source"]) else {}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


# A folder ---------------------------------------------------------------------------------------------------------


def test_a_folder_is_a_course(tmp_path):
    there = course(tmp_path, a_rod=MODULE)
    assert [(each.number, each.name) for each in there.chapters] == [(1, "01-first"), (2, "02-a-rod")]
    assert there.chapters[0].questions == ()
    assert list(there.predictions) == ["2.a"]
    assert there.exercise("2.1").title == "A slope"
    assert there.prediction("2.a").where == (str(tmp_path.resolve() / "a_rod.py"), 5)
    assert there.exercise("2.1").where[1] == 6
    assert there.find("2.1") is there.find("02-a-rod.ipynb") is there.find("a-rod") is there.chapters[1]
    with pytest.raises(ValueError, match=r"there is no chapter a-box; there are 1, 2"):
        there.find("a-box")
    with pytest.raises(KeyError, match=r"there is no exercise '2\.2'; there are 2\.1"):
        there.exercise("2.2")
    (tmp_path / "below").mkdir()
    assert find_course(tmp_path / "below").title == "Heat"
    assert find_course(OURS.notebooks) is OURS


def test_a_slug_is_not_taken_for_the_letter_of_an_appendix(tmp_path):
    there = course(tmp_path, TOML.replace('"a-rod"]', '"b-rod"]\nappendices = ["units", "a-rod", "c"]'))
    for name, found in (
        ("a-rod", "B-a-rod"),
        ("B-a-rod.ipynb", "B-a-rod"),
        ("A", "A-units"),
        ("a", "A-units"),
        ("a.1", "A-units"),
        ("A-units", "A-units"),
        ("b-rod", "02-b-rod"),
        ("c", "C-c"),
        (1, "01-first"),
        ("02", "02-b-rod"),
    ):
        assert there.find(name).name == found
    for name in ("a-units", "b-box", "d", "-", "c-c"):
        with pytest.raises(ValueError, match="there is no chapter"):
            there.find(name)


def test_what_has_changed_in_a_folder_is_read_by_the_next_course(tmp_path):
    assert course(tmp_path, a_rod=MODULE).exercise("2.1").answer == 6
    assert course(tmp_path, a_rod=MODULE.replace("answer=6", "answer=60")).exercise("2.1").answer == 60


def test_asking_for_one_question_imports_its_chapter_alone():
    source = (
        "import sys\nfrom autodiff_edu.course import predict\n"
        'def there(): return {name.rpartition(".")[2] for name in sys.modules if "course.chapters." in name}\n'
        'print(there())\npredict("2.a")\nprint(there())'
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n{'backward'}\n"


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('title = "x\nlanguage = "en"', r"course\.toml, line 1: "),
        ('title = "x"\nlanguage = ', r"course\.toml, line 2: "),
        ('title = "x"\nchapters = []', r"course\.toml: it does not say language; "),
        (TOML + 'colour = "red"', r"course\.toml, line 5: colour means nothing here; "),
        (TOML.replace("first = 1", 'first = "1"'), r"line 4: first is '1'; write a whole number"),
        (TOML.replace('"a-rod"', "7"), r"line 3: chapters is \['first', 7\]; write a list of texts"),
        (TOML.replace("first = 1", 'appendices = ["first"]'), r"line 4: 'first' is listed twice"),
        (TOML + f"appendices = {[f'x{k}' for k in range(27)]}", r"line 5: there are 27 appendices, and 26 letters"),
        (TOML.replace("a-rod", "A rod"), r"line 3: 'A rod' can't name files"),
    ],
)
def test_a_mistake_in_the_list_is_told_with_its_line(tmp_path, toml, message):
    with pytest.raises(ValueError, match=message):
        course(tmp_path, toml)


def test_a_list_is_read_as_utf_8_with_its_mark_or_refused(tmp_path):
    assert course(tmp_path, "\ufeff" + TOML).title == "Heat"
    (tmp_path / "course.toml").write_bytes(TOML.replace("Heat", "Wärme").encode("latin-1"))
    with pytest.raises(ValueError, match=r"course\.toml, line 1: this is not UTF-8"):
        Course(tmp_path)


def test_a_folder_without_a_list_is_not_a_course(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no course in .*: it has no file course\.toml"):
        Course(tmp_path)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (MODULE.replace("QUESTIONS", "ANSWERS"), r"a_rod\.py: there is no QUESTIONS, a tuple"),
        (
            MODULE.replace("\n    Number", "\n    7,\n    Number"),
            r"a_rod\.py, line 6: QUESTIONS holds 7, which is neither",
        ),
        ("\nimport sys\nsys.exit(3)", r"a_rod\.py, line 3: SystemExit: 3"),
        ("\nQUESTIONS = 5", r"a_rod\.py, line 2: QUESTIONS is 5, not a tuple"),
        (MODULE.replace("    Number(", "Nummer("), r"a_rod\.py, line 6: NameError: name 'Nummer'"),
        (MODULE.replace("answer=3,", "answer=3"), r"a_rod\.py, line 5: "),
        (
            MODULE.replace("answer=3", 'answer="x", choices=("y", "z")'),
            r"a_rod\.py, line 5: ValueError: the answer to 'How warm\?' is 'x', but the choices are 'y', 'z'",
        ),
    ],
)
def test_a_mistake_in_a_module_is_told_with_its_line(tmp_path, module, message):
    with pytest.raises(ValueError, match=message):
        _ = course(tmp_path, a_rod=module).chapters[1].questions


def test_a_chapter_without_a_notebook_is_missed(tmp_path):
    (each, _) = course(tmp_path).chapters
    with pytest.raises(FileNotFoundError, match=r"there is no notebook .*01-first\.ipynb, and .*course\.toml lists"):
        each.read()
    for text in ("[]", '{"cells": []}', '{"cells": [{"source": ""}, {}]}'):
        each.notebook.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"01-first\.ipynb is not a notebook"):
            each.read()


# What a notebook takes from it ------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", OURS.chapters, ids=lambda chapter: chapter.name)
def test_a_chapter_holds_what_fill_would_write(chapter):
    content = chapter.read()
    before = copy.deepcopy(content)
    fill(content, chapter)
    assert as_text(content) == as_text(before)


@pytest.mark.parametrize("chapter", OURS.chapters, ids=lambda chapter: chapter.name)
def test_a_chapter_asks_each_question_once_in_order(chapter):
    cells = chapter.read()["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    asked = [(call, id) for count, call, id in calls(cells) if not tagged(code[count - 1], "solution")]
    assert [id for call, id in asked if call == "predict"] == list(chapter.predictions)
    assert [id for call, id in asked if call == "check"] == list(chapter.exercises)


def test_fill_restores_what_was_changed():
    chapter = OURS.find("custom-gradients")
    content = chapter.read()
    before = as_text(copy.deepcopy(content))
    changed, number = before, chapter.number
    title = chapter.exercises[f"{number}.2"].title
    for right, wrong in (
        (f"# {number} · Custom", "# 4 · Custom"),
        (f"]({OURS.chapters[number - 1].notebook.name})", "](07-elsewhere.ipynb)"),
        (f'predict(\\"{number}.', 'predict(\\"4.'),
        (f'check(\\"{number}.', 'check(\\"4.'),
        (f"### {number}.2 {title} (", "### 4.7 Something else ("),
        (f"Solution to {number}.3", "Solution to 4.3"),
        ('"ex-2-answer"', '"some"'),
    ):
        assert right in changed
        changed = changed.replace(right, wrong)
    content = json.loads(changed)
    fill(content, chapter)
    assert as_text(content) == before


def test_the_links_at_the_end_stay_behind_exercises_that_come_later():
    chapter = OURS.find("custom-gradients")
    content = chapter.read()
    place = next(k for k, cell in enumerate(content["cells"]) if "exercise" in cell["metadata"].get("tags", ()))

    links = "".join(content["cells"][0]["source"]).split("\n")[2]
    for cell in content["cells"][place:]:
        cell["source"] = "".join(cell["source"]).replace(links, "")
    above = content["cells"][place - 2]
    above["source"] = "".join(above["source"]) + f"\n\n{links}"
    fill(content, chapter)
    assert links not in "".join(above["source"])
    assert "".join(content["cells"][-1]["source"]) == links
    before = as_text(copy.deepcopy(content))
    fill(content, chapter)
    assert as_text(content) == before


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (
            ['predict("2.a")', 'check("2.1", answer)', 'check("2.2", answer)'],
            r'02-a-rod\.ipynb, code cell 3: check\("2\.2"\) asks for one more than the 1 in a_rod\.py',
        ),
        (['check("2.1", answer)'], r"02-a-rod\.ipynb: predict asks for 0 of the 1 predictions in a_rod\.py"),
        (
            ["x = 1", 'predict("2.a")', 'predict("2.b")'],
            r'02-a-rod\.ipynb, code cell 3: predict\("2\.b"\) asks for one more than the 1 in a_rod\.py',
        ),
    ],
)
def test_fill_refuses_a_notebook_that_asks_for_something_else(tmp_path, sources, message):
    there = course(tmp_path, a_rod=MODULE)
    notebook(tmp_path / "01-first.ipynb", "1")
    chapter(tmp_path / "02-a-rod.ipynb", *sources)
    with pytest.raises(ValueError, match=message):
        fill(there.chapters[1].read(), there.chapters[1])


def test_fill_refuses_cells_in_another_order_than_the_questions(tmp_path):
    twice = MODULE.replace("    Number", '    Prediction("Why?", answer=1, why="So."),\n    Number')
    there = course(tmp_path, a_rod=twice)
    chapter(tmp_path / "01-first.ipynb", "1")
    chapter(tmp_path / "02-a-rod.ipynb", 'predict("2.b")', 'predict("2.a")', 'check("2.1", answer)')
    with pytest.raises(
        ValueError, match=r'code cell 2: predict\("2\.a"\) comes after 2\.b; put the cells in the order'
    ):
        fill(there.chapters[1].read(), there.chapters[1])


TWO = (
    MODULE.removesuffix(")\n")
    + """\
    Prediction("Why?", answer=1, why="So."),
    Number("Two", "What is 1 + 1?", answer=2, why="It is."),
)
"""
)


def swapped(module: str) -> str:
    lines = module.splitlines(keepends=True)
    lines[4:8] = lines[6:8] + lines[4:6]
    return "".join(lines)


def filled(folder: Path) -> Path:
    """Write a chapter with two predictions and two exercises as `execute` leaves it."""
    there = course(folder, a_rod=TWO)
    chapter(folder / "01-first.ipynb", "1")
    asks = ['predict("")', 'check("", answer)', 'predict ("")', "check ( '', answer)"]
    path = chapter(folder / "02-a-rod.ipynb", *asks)
    content = json.loads(path.read_text(encoding="utf-8"))
    fill(content, there.chapters[1])
    for cell in content["cells"]:
        if "predict" in "".join(cell["source"]):
            id = re.findall(r'"(.*)"', "".join(cell["source"]))[0]
            data = {"text/plain": [repr(there.prediction(id))]}
            cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    path.write_text(as_text(content), encoding="utf-8")
    return path


def test_a_space_before_the_bracket_makes_no_difference(tmp_path):
    content = json.loads(filled(tmp_path).read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]
    assert sources == ['predict("2.a")', 'check("2.1", answer)', 'predict ("2.b")', "check ( '2.2', answer)"]


def test_fill_refuses_questions_that_were_swapped_and_the_cells_were_not(tmp_path):
    path = filled(tmp_path)
    before = path.read_bytes()
    there = course(tmp_path, a_rod=swapped(TWO))
    with pytest.raises(
        ValueError,
        match=r"predict\(\"2\.a\"\) shows 'How warm\?', which is 2\.b in a_rod\.py, and 2\.a is 'Why\?'; put",
    ):
        fill(there.chapters[1].read(), there.chapters[1])
    content = json.loads(before)
    for cell in content["cells"]:
        cell["outputs"] = []  # so that nothing tells of the predictions
    with pytest.raises(
        ValueError, match=r"check\(\"2\.1\"\) shows 'A slope', which is 2\.2 in a_rod\.py, and 2\.1 is 'Two'"
    ):
        fill(content, there.chapters[1])
    content = json.loads(before)
    cells = content["cells"]
    cells[1:] = [*cells[4:], *cells[1:4]]
    fill(content, there.chapters[1])
    assert [id for _, _, id in calls(content["cells"])] == ["2.a", "2.1", "2.b", "2.2"]
    there = course(tmp_path, a_rod=TWO.replace("A slope", "Another name").replace("Why?", "And why?"))
    content = json.loads(before)
    fill(content, there.chapters[1])
    assert "Another name" in "".join("".join(cell["source"]) for cell in content["cells"])


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["x = (1, answer)", 'check("", answer)'], r"code cell 2 has the tag .exercise. and doesn't call check"),
        (['check("", answer)', "x = (1, answer)"], r"code cell 3 has the tag .exercise. and doesn't call check"),
        (['check("", answer)\ncheck("", answer)'], r"code cell 2 has the tag .exercise. and calls check 2 times"),
        (['check("2.1", answer)\ncheck("2.1", answer)'], r"code cell 2 has the tag .exercise. and calls check 2 times"),
    ],
)
def test_fill_refuses_a_cell_of_an_exercise_that_does_not_call_check_once(tmp_path, sources, message):
    there = course(tmp_path, a_rod=MODULE)
    chapter(tmp_path / "01-first.ipynb", "1")
    chapter(tmp_path / "02-a-rod.ipynb", 'predict("")', *sources)
    with pytest.raises(ValueError, match=message):
        fill(there.chapters[1].read(), there.chapters[1])


def test_execute_fills_a_chapter_first(tmp_path):
    course(tmp_path, a_rod=MODULE)
    chapter(tmp_path / "01-first.ipynb", "1", title="# The beginning")
    path = chapter(
        tmp_path / "02-a-rod.ipynb",
        '"predict("',
        'def predict(x): pass\npredict("")',
        'check = print\nanswer = 1\ncheck("", answer)',
    )
    execute(path)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert "".join(cells[0]["source"]) == "# 2 · A rod\n\n*Previous: [1 · The beginning](01-first.ipynb)*"
    assert [cell["id"] for cell in cells[-2:]] == ["ex-1", "ex-1-answer"]
    assert "".join(cells[-2]["source"]) == "### 2.1 A slope\n\nWhat is it?"
    assert cells[-1]["outputs"][0]["text"] == ["2.1 1\n"]
    before = path.read_bytes()
    execute(path)
    assert path.read_bytes() == before


# Faults -----------------------------------------------------------------------------------------------------------

ASKS = 'predict("2.a")', 'check("2.1", answer)'


def faults_of(capsys, folder):
    code = main(["check", str(folder)])
    lines = capsys.readouterr().out.splitlines()
    assert code == bool(lines)
    return [line.replace(f"{folder.resolve()}/", "") for line in lines]


def test_a_good_course_has_no_faults(tmp_path, capsys):
    course(tmp_path, a_rod=MODULE)
    chapter(tmp_path / "01-first.ipynb", "1")
    chapter(tmp_path / "02-a-rod.ipynb", *ASKS, title="# 2 · A rod")
    assert faults_of(capsys, tmp_path) == []


@pytest.mark.parametrize(
    ("change", "sources", "fault"),
    [
        (
            ("{9: ", "{6.0: "),
            ASKS,
            "a_rod.py, line 6: 2.1: the wrong answer of the hint `That is the value.` agrees with the right answer",
        ),
        (
            ('9: "That is the value."', '9: "One.", 9.0000001: "Two."'),
            ASKS,
            "a_rod.py, line 6: 2.1: the hint `Two.` is never reached: its wrong answer gets `One.`",
        ),
        (
            ("QUESTIONS = (", "N = Number(answer=6)\nQUESTIONS = (N, N,"),
            (*ASKS, 'check("2.2", answer)', 'check("2.3", answer)'),
            "a_rod.py, line 4: QUESTIONS holds it twice, so it has two ids",
        ),
        (
            ('9: "That is the value."', "9: 3"),
            ASKS,
            "a_rod.py, line 6: 2.1: comparing its own answers raised TypeError",
        ),
        (("answer=6", "within=2, answer=6"), ASKS, "a_rod.py, line 6: ValueError: within is 2, not a part from"),
        (('9: "That is the value."', '9: ""'), ASKS, "a_rod.py, line 6: 2.1: the hint of the wrong answer `9` is"),
        (
            ('9: "That is the value."', '9: "Count again, from the left.", 9.0000001: "Count again"'),
            ASKS,
            "a_rod.py, line 6: 2.1: the hint `Count again` is never reached: its wrong answer gets `Count again, from",
        ),
        (
            ("    Number(", '    Function("", "", answer=lambda x: None, cases=[(1,)]),\n    Number('),
            (*ASKS, 'check("2.2", answer)'),
            "a_rod.py, line 6: 2.1: the right function returns None in every case. Is a `return` missing?",
        ),
        (
            ("    Number(", '    Recording("", "", facts={"tape": "One."}),\n    Number('),
            (*ASKS, 'check("2.2", answer)'),
            "a_rod.py, line 6: ValueError: there is no fact 'tape'; there are tapes, entries, operations, passes",
        ),
        (
            ("    Number(", '    Recording("", "", limits={"entries": 3}),\n    Number('),
            (*ASKS, 'check("2.2", answer)'),
            "a_rod.py, line 6: ValueError: the limit of 'entries' limits nothing: facts has no hint for it",
        ),
        (("", ""), ASKS[1:], "a_rod.py, line 5: 2.a is not asked in 02-a-rod.ipynb"),
        (
            ("", ""),
            (*ASKS, 'x = 1\ncheck("2.7", answer)'),
            '02-a-rod.ipynb, code cell 3: there is no check("2.7"); there are 2.1 from a_rod.py',
        ),
        (
            ("", ""),
            (*ASKS, "check(\n    '2.7',\n    1,\n)"),
            '02-a-rod.ipynb, code cell 3: there is no check("2.7"); there are 2.1 from a_rod.py',
        ),
        (("", ""), (*ASKS, 'predict("2.a")'), '02-a-rod.ipynb, code cell 3: predict("2.a") is asked in cell 1 too'),
        (
            ("", ""),
            (*ASKS, 'check("2.1", 6)'),
            '02-a-rod.ipynb, code cell 3: check("2.1") is asked in cell 2 too',
        ),
        (
            ("", ""),
            (ASKS[0], 'check("2.1", 6)'),
            '02-a-rod.ipynb, code cell 2: the cell of check("2.1") needs the tag "exercise"',
        ),
        (
            ("    Number", '    Prediction("Why?", answer=1, why="So."),\n    Number'),
            ('predict("2.b")', *ASKS),
            '02-a-rod.ipynb, code cell 2: predict("2.a") comes after 2.b; put cells and QUESTIONS in the same order',
        ),
        (
            ("answer=3", 'answer="x", choices=("y", "z")'),
            ASKS,
            "a_rod.py, line 5: ValueError: the answer to 'How warm?' is 'x'",
        ),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path, capsys, change, sources, fault):
    course(tmp_path, a_rod=MODULE.replace(*change) if change[0] else MODULE)
    chapter(tmp_path / "01-first.ipynb", "1")
    chapter(tmp_path / "02-a-rod.ipynb", *sources)
    found = faults_of(capsys, tmp_path)
    assert any(line.startswith(fault) for line in found), found


def test_an_import_that_fails_after_hand_out_is_a_fault(tmp_path, capsys, monkeypatch):
    chapter(tmp_path / "01-first.ipynb", "1")
    chapter(tmp_path / "02-a-rod.ipynb", *ASKS)
    monkeypatch.syspath_prepend(tmp_path)
    said = "line 2: lengths is not found once it is handed out; import it from .lengths"
    for statement, found in (
        ("from lengths import SIX", [f"a_rod.py, {said}"]),
        ("import lengths", [f"a_rod.py, {said}"]),
        ("from .lengths import SIX", []),
    ):
        course(tmp_path, a_rod=MODULE.replace("\n", f"\n{statement}\n", 1), lengths="SIX = 6\n")
        assert faults_of(capsys, tmp_path) == found
    monkeypatch.delitem(sys.modules, "lengths")


def test_an_import_of_a_folder_is_a_fault_unless_it_is_a_package(tmp_path, capsys, monkeypatch):
    chapter(tmp_path / "01-first.ipynb", "1")
    chapter(tmp_path / "02-a-rod.ipynb", *ASKS)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "helping").mkdir()
    (tmp_path / "helping" / "lengths.py").write_text("SIX = 6\n", encoding="utf-8")
    said = "a_rod.py, line 2: helping is not handed out, because it is a folder without an __init__.py; write one"
    for statement in ("from .helping.lengths import SIX", "from .helping import lengths", "from . import helping"):
        course(tmp_path, a_rod=MODULE.replace("\n", f"\n{statement}\n", 1))
        assert faults_of(capsys, tmp_path) == [said]
    (tmp_path / "helping" / "__init__.py").write_text("", encoding="utf-8")
    assert faults_of(capsys, tmp_path) == []
    course(tmp_path, a_rod=MODULE.replace("\n", "\nimport helping.lengths\n", 1))
    [found] = faults_of(capsys, tmp_path)
    assert found == "a_rod.py, line 2: helping is not found once it is handed out; import it from .helping"
    for name in ("helping", "helping.lengths"):
        monkeypatch.delitem(sys.modules, name)


def test_a_missing_notebook_is_a_fault(tmp_path, capsys):
    course(tmp_path, a_rod=MODULE)
    chapter(tmp_path / "02-a-rod.ipynb", *ASKS)
    [line] = faults_of(capsys, tmp_path)
    assert line.startswith("there is no notebook ")


@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")  # a right answer is a file in a folder
def test_our_notebooks_ask_our_questions(capsys):
    main(["check"])
    assert ".ipynb" not in capsys.readouterr().out
