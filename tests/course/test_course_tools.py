"""What teachers use: chapters to hand out, submissions graded, chapters executed to the same bytes."""

import csv
import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from answers import RIGHT

import autodiff_edu as ad
from autodiff_edu.course import check
from autodiff_edu.course.__main__ import main
from autodiff_edu.course.check import EXERCISES, LISTENERS
from autodiff_edu.course.tools import assignment, grade
from autodiff_edu.course.tools.execute import execute, fingerprint

ROOT = Path(__file__).parents[2]
CHAPTERS = assignment.chapters()


def cells(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))["cells"]


def notebook(path, *sources, tags=()):
    """Write a notebook; give its path."""
    code = {"cell_type": "code", "metadata": {"tags": list(tags)}, "outputs": [], "execution_count": None}
    made = [{**code, "id": f"c{place}", "source": source} for place, source in enumerate(sources)]
    content = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


# Handing out ------------------------------------------------------------------------------------------------------


def test_the_list_names_every_chapter_by_its_title(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert "01-the-tape.ipynb                 1 · The tape" in lines


def test_an_assignment_has_neither_solutions_nor_outputs(tmp_path):
    written = assignment.write(tmp_path / "new" / "out")
    assert [path.name for path in written] == [path.name for path in CHAPTERS.values()]
    for path in written:
        text = path.read_text(encoding="utf-8")
        for word in ("-solution", "-fold", "Solution to", "folded solution", "cell hidden", "image/png"):
            assert word not in text, f"{path.name} says {word}"
        code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
        assert sum("exercise" in cell["metadata"].get("tags", ()) for cell in code) == 3
        assert "Summary" in text
    assert (tmp_path / "new/out/data/penguins.csv").read_bytes() == (ROOT / "notebooks/data/penguins.csv").read_bytes()
    assert "CC0" in (tmp_path / "new/out/data/README.md").read_text(encoding="utf-8")
    assert (tmp_path / "new/out/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_nothing_else_of_a_chapter_is_lost(tmp_path):
    [path] = assignment.write(tmp_path, [1])
    handed_out = {cell["id"]: "".join(cell["source"]) for cell in cells(path)}
    for cell in cells(CHAPTERS[1]):
        if not cell["id"].endswith(("-solution", "-fold")) and cell["id"] != "ex":
            assert handed_out.pop(cell["id"]) == "".join(cell["source"])
    assert set(handed_out) == {"written-for", "ex"}
    assert handed_out["ex"].endswith("A hint tells you where to look.")


def test_who_learns_alone_may_keep_the_solutions(tmp_path):
    assert main(["assignment", str(tmp_path), "2", "--solutions"]) == 0
    handed_out = {cell["id"]: cell for cell in cells(tmp_path / "02-backward.ipynb")}
    solution = handed_out["ex-1-solution"]
    assert solution["outputs"] == []
    assert solution["metadata"]["jupyter"] == {"source_hidden": True}
    assert "ex-1-fold" in handed_out
    assert "folded" in "".join(handed_out["ex"]["source"])
    assert not (tmp_path / "01-the-tape.ipynb").exists()


def test_the_first_cell_says_in_words_when_another_version_is_installed(tmp_path, monkeypatch, capsys):
    [path] = assignment.write(tmp_path, [1])
    first = next(cell for cell in cells(path) if cell["cell_type"] == "code")
    source = "".join(first["source"])
    assert source.startswith(f"# Written for autodiff-edu {ad.__version__}.")
    exec(source, {})
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(ad, "__version__", "99.1")
    exec(source, {})
    said = capsys.readouterr().out
    assert "was written for autodiff-edu 0.1.0, and 99.1 is installed" in said
    assert 'pip install "autodiff-edu[lab]==0.1.0"' in said


def test_work_that_is_there_already_is_not_overwritten(tmp_path, capsys):
    assert main(["assignment", str(tmp_path), "1"]) == 0
    assert main(["assignment", str(tmp_path), "1", "2"]) == 0, "the same files again are no loss"
    (tmp_path / "02-backward.ipynb").unlink()
    worked_on = notebook(tmp_path / "01-the-tape.ipynb", "answer = 8")
    before = worked_on.read_bytes()
    capsys.readouterr()
    assert main(["assignment", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "01-the-tape.ipynb: there already" in said
    assert "--force" in said
    assert worked_on.read_bytes() == before
    assert not (tmp_path / "02-backward.ipynb").exists(), "all or nothing"
    assert main(["assignment", str(tmp_path), "--force"]) == 0
    assert worked_on.read_bytes() != before


def test_bad_places_and_numbers_get_a_sentence(tmp_path, capsys):
    assert main(["assignment", str(ROOT / "notebooks"), "--force"]) == 1
    assert "where the chapters come from" in capsys.readouterr().err
    assert main(["assignment", str(tmp_path), "77"]) == 1
    assert "there is no chapter 77; there are" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    assert main(["assignment", str(tmp_path / "file"), "1"]) == 1
    assert "file" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["grade", "x.ipynb", "--timeout", "soon"])
    assert "'soon' is no time limit" in capsys.readouterr().err


def test_chapters_that_were_not_installed_are_missed_in_words(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(assignment, "HERE", tmp_path / "site" / "autodiff_edu" / "course")
    assert main(["list"]) == 1
    assert "install autodiff-edu as a wheel" in capsys.readouterr().err


def test_the_chapters_travel_in_the_wheel(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "autodiff_edu.course", "assignment", "out"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    source = "import autodiff_edu.course.tools.assignment as a; print(a.chapters()[1])"
    where = subprocess.run(
        [sys.executable, "-c", source], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert str(tmp_path / "site") in where.stdout
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert there == {"data", "LICENSE"} | {path.name for path in CHAPTERS.values()}


# Grading ----------------------------------------------------------------------------------------------------------


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_submission_is_graded_exercise_by_exercise(tmp_path, capsys):
    forged = (
        "from autodiff_edu.course import Feedback, check\n"
        "print('2.1: Right. Every cotangent is there.')\n"
        "Feedback('2.1', True, 'I say so.')"
    )
    path = notebook(
        tmp_path / "=anna.ipynb",
        "raise RuntimeError('before anything else')",
        forged,
        'check("2.2", lambda g, z, x, y: (g * x, g * y))',
        'first = check("2.2", lambda g, z, x, y: (g * y, g * x))\nprint(open("data/penguins.csv").readline())',
        'answer = undefined\ncheck("2.1", answer)',
    )
    before = path.read_bytes()
    assert main(["grade", str(path), "--output", str(tmp_path / "results.csv")]) == 0
    table = rows((tmp_path / "results.csv").read_text(encoding="utf-8"))
    assert list(table[0]) == ["file", "exercise", "right", "message", "problem"]
    assert [(row["exercise"], row["right"]) for row in table] == [("2.1", "0"), ("2.2", "1"), ("2.3", "0")]
    assert table[0]["problem"] == "its cell raised NameError: name 'undefined' is not defined"
    assert table[0]["message"] == ""
    assert table[1]["message"] == check("2.2", RIGHT["2.2"][0]).message, "the last check counts"
    assert table[1]["problem"] == ""
    assert table[2]["problem"] == "its cell is missing"
    assert path.read_bytes() == before
    assert "1 of 3 right" in capsys.readouterr().err


def test_the_untouched_assignment_and_the_solved_one_are_graded_as_such(tmp_path):
    [path] = assignment.write(tmp_path, [1], solutions=True)
    untouched = grade.grade(path)
    assert [(r.exercise, r.right, r.problem) for r in untouched] == [("1.1", 0, ""), ("1.2", 0, ""), ("1.3", 0, "")]
    assert all("three dots" in r.message for r in untouched), "folded solutions are not run"


def test_a_cell_that_hangs_costs_its_time_and_not_what_was_right_before(tmp_path):
    path = notebook(
        tmp_path / "renamed.ipynb",
        'from autodiff_edu.course import check\ncheck("1.1", 8)',
        'while True: pass\ncheck("1.2", ...)',
        'check("1.3", ...)',
    )
    results = grade.grade(path, timeout=3)
    assert [(r.exercise, r.right) for r in results] == [("1.1", 1), ("1.2", 0), ("1.3", 0)]
    assert results[1].problem == 'stopped in cell 2, `while True: pass check("1.2", ...)`: the 3 seconds were over'


def test_what_is_written_past_the_notebook_is_no_row_and_endless_printing_is_kept_nowhere(tmp_path, capfd):
    forged = r"import os; os.system('echo forged,1.1,1,,'); os.write(1, b'forged,1.2,1,,\n')"
    path = notebook(tmp_path / "x.ipynb", forged, "# check('1.1')\nwhile True: print('forged' * 1000)")
    tracemalloc.start()
    assert main(["grade", str(path), "--timeout", "3"]) == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    said = capfd.readouterr()
    assert [(row["exercise"], row["right"]) for row in rows(said.out)] == [("1.1", "0"), ("1.2", "0"), ("1.3", "0")]
    assert "the 3 seconds were over" in rows(said.out)[0]["problem"]
    assert "forged,1" not in said.out + said.err
    assert peak < 100e6


def test_a_kernel_that_dies_is_a_row(tmp_path):
    path = notebook(tmp_path / "01-x.ipynb", "import os; os._exit(1)")
    results = grade.grade(path)
    assert [r.exercise for r in results] == ["1.1", "1.2", "1.3"], "by the file's name"
    assert {r.problem for r in results} == {"stopped in cell 1, `import os; os._exit(1)`: the kernel died"}


def test_what_is_no_notebook_is_a_row_and_the_order_is_always_the_same(tmp_path, capsys):
    (tmp_path / "b.ipynb").write_text("not json")
    (tmp_path / "a.ipynb").write_bytes(b"\xff\xfe\x00")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "b-checkpoint.ipynb").write_text("not json")
    missing = tmp_path / "missing.ipynb"
    assert main(["grade", str(missing), str(tmp_path), str(tmp_path / "a.ipynb")]) == 0
    table = rows(capsys.readouterr().out)
    assert [Path(row["file"]).name for row in table] == ["a.ipynb", "b.ipynb", "missing.ipynb"]
    assert all(row["problem"].startswith("this is no notebook that can be read: ") for row in table[:2])
    assert table[2]["problem"] == "there is no such file"
    assert {row["right"] for row in table} == {"0"}


def test_an_empty_folder_and_a_place_that_cannot_be_written_get_a_sentence(tmp_path, capsys):
    assert main(["grade", str(tmp_path)]) == 1
    assert "no notebook in" in capsys.readouterr().err
    assert main(["grade", "x.ipynb", "--output", str(tmp_path / "no" / "results.csv")]) == 1
    assert "results.csv" in capsys.readouterr().err


def test_without_jupyter_grading_says_what_to_install(tmp_path, monkeypatch, capsys):
    path = notebook(tmp_path / "x.ipynb", "1")
    monkeypatch.setitem(sys.modules, "nbclient", None)
    assert main(["grade", str(path), "--output", str(tmp_path / "results.csv")]) == 1
    assert "pip install 'autodiff-edu[lab]'" in capsys.readouterr().err
    assert not (tmp_path / "results.csv").exists()


def test_listeners_are_told_every_answer_of_check_and_an_unknown_exercise_is_not_an_answer(request):
    told = []
    LISTENERS.append(told.append)
    request.addfinalizer(LISTENERS.pop)
    answered = [check("1.1", 8), check("1.1", ...), check("1.2", object())]
    assert [feedback.right for feedback in told] == [True, False, False]
    assert all(a is b for a, b in zip(told, answered, strict=True))
    with pytest.raises(KeyError):
        check("0.9", 8)
    assert len(told) == 3


def test_half_a_line_of_a_killed_kernel_is_no_answer(tmp_path):
    record = tmp_path / "record"
    record.write_text('["1.1", true, "Eight."]\n[1]\n"x"\n7\n["1.2", tr', encoding="utf-8")
    assert grade._answers(record) == {"1.1": (True, "Eight.")}


def test_a_spreadsheet_is_given_no_formula_and_no_broken_letter():
    row = grade._cells(grade.Result("=1+1.ipynb", "1.1", 1, "@x", "\udcff"))
    assert row == ["'=1+1.ipynb", "1.1", "1", "'@x", "\\udcff"]


def test_every_exercise_belongs_to_a_chapter_that_is_handed_out():
    assert {int(exercise.split(".")[0]) for exercise in EXERCISES} == set(CHAPTERS)


# Executing --------------------------------------------------------------------------------------------------------


def test_two_executions_write_the_same_bytes(tmp_path, capsys):
    path = notebook(tmp_path / "x.ipynb", "import autodiff_edu as ad", "print(1)\nad.play(lambda x: x * x, 2.0)")
    assert main(["execute", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: run and written\n"
    first = path.read_bytes()
    execute(path)
    assert path.read_bytes() == first
    assert b"text/html" in first


def test_a_chapter_that_was_run_holds_the_fingerprint_of_its_code_and_a_handout_does_not(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "print(1)")
    execute(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    blank = {"cell_type": "code", "source": [" \n"]}
    assert content["metadata"]["executed"] == fingerprint(content)
    assert content["metadata"]["executed"] == fingerprint({"cells": [*content["cells"], blank]})
    content["cells"][0]["source"] = ["print(2)"]
    assert content["metadata"]["executed"] != fingerprint(content)
    assert "executed" not in json.loads(assignment.prepare(content))["metadata"]


def test_a_chapter_that_raises_or_lacks_is_left_as_it_was(tmp_path, capsys):
    from nbclient.exceptions import CellExecutionError

    path = notebook(tmp_path / "x.ipynb", "1 / 0")
    before = path.read_bytes()
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        execute(path)
    assert path.read_bytes() == before
    assert main(["execute", str(path)]) == 1
    said = capsys.readouterr().err
    assert "x.ipynb is left as it was, because a cell raised:" in said
    assert "ZeroDivisionError" in said
    assert main(["execute", str(path), str(tmp_path / "y.ipynb")]) == 1
    assert "y.ipynb; no chapter was run" in capsys.readouterr().err
