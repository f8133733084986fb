"""Many submissions are graded: whose they are, the tables, the totals, and that no file is lost on the way."""

import re
import shlex
import sys
import threading
from pathlib import Path

import pytest
from submissions import CHECK, notebook, rows

from autodiff_edu.course import __main__ as command_line
from autodiff_edu.course.__main__ import main
from autodiff_edu.course.tools import grade
from autodiff_edu.course.tools.grade import Total
from autodiff_edu.course.tools.submission import Result

ROOT = Path(__file__).parents[2]
RIGHT = CHECK + 'check("1.1", 8)'
WRONG = CHECK + 'check("1.1", 7)'


def test_every_student_has_rows_in_order_and_a_total(tmp_path, capsys):
    folder = tmp_path / "submissions"
    notebook(folder / "ben" / "01-the-tape.ipynb", "import time; time.sleep(3)", RIGHT)
    notebook(folder / "ben" / "again" / "01-the-tape.ipynb", WRONG)
    notebook(folder / "=anna" / "01-the-tape.ipynb", WRONG)
    out, sums = tmp_path / "results.csv", tmp_path / "totals.csv"
    out.write_text("of last week")
    assert main(["grade", str(folder), "--jobs", "3", "--output", str(out), "--totals", str(sums)]) == 0
    table = rows(out.read_text(encoding="utf-8"))
    assert list(table[0]) == ["student", "file", "exercise", "right", "message", "problem"]
    assert [row["student"] for row in table] == ["'=anna"] * 3 + ["ben"] * 6
    assert [row["right"] for row in table] == ["0"] * 3 + ["1"] + ["0"] * 5, [row["problem"] for row in table]
    assert rows(sums.read_text(encoding="utf-8")) == [
        {"student": "'=anna", "right": "0", "exercises": "3", "problems": "2"},
        {"student": "ben", "right": "1", "exercises": "3", "problems": "4"},
    ]
    assert "ben: 1 of 3 right, 4 with a problem" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.csv", "submissions", "totals.csv"]


def test_what_is_not_a_notebook_is_a_row_and_the_order_is_always_the_same(tmp_path, capsys):
    (tmp_path / "b.ipynb").write_text("not json")
    (tmp_path / "a.ipynb").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "c.ipynb").write_text('{"cells": [{"metadata": {"tags": null}}], "metadata": {}, "nbformat": 4}')
    (tmp_path / "d.ipynb").mkdir()
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "b-checkpoint.ipynb").write_text("not json")
    missing = tmp_path / "missing.ipynb"
    assert main(["grade", str(missing), str(tmp_path), str(tmp_path / "a.ipynb")]) == 0
    table = rows(capsys.readouterr().out)
    assert [Path(row["file"]).stem for row in table] == ["a", "b", "c", "d", "missing"]
    assert all(row["problem"].startswith("this is not a notebook that can be read: ") for row in table[:4])
    assert table[4]["problem"] == "there is no such file"
    assert {row["right"] for row in table} == {"0"}


def test_progress_does_not_wait_for_the_slow_one_and_the_order_of_results_does(monkeypatch):
    released = threading.Event()

    def graded(path, limits, student, course):
        if student == "slow":
            released.wait(10)
        return [Result(student, str(path))]

    monkeypatch.setattr(grade, "grade", graded)
    steps = grade.grade_all({Path("a"): "slow", Path("b"): "quick"}, jobs=2)
    assert next(steps) == (1, [])
    released.set()
    assert list(steps) == [(2, [[Result("slow", "a")], [Result("quick", "b")]])]


def test_a_student_is_the_folder_below_the_one_that_is_named_or_the_notebook_in_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("all/anna/hand-in/02-backward.ipynb", "all/ben/x.ipynb", "all/chloe.ipynb"):
        notebook(Path(place), "1")
    assert list(grade.submissions(["all"]).values()) == ["anna", "ben", "chloe"]
    assert list(grade.submissions(["all/anna", "all/ben"]).values()) == ["hand-in", "x"]
    assert list(grade.submissions(["all/anna/hand-in"]).values()) == ["hand-in"]
    named = ["all/anna/hand-in/02-backward.ipynb", "all/ben/x.ipynb"]
    assert list(grade.submissions(named).values()) == ["anna", "ben"]
    assert list(grade.submissions(["all/ben/x.ipynb", "all/ben/x.ipynb"]).values()) == ["x"]


def test_an_exercise_handed_in_twice_counts_once():
    twice = [Result("a", "1", "1.1", 1), Result("a", "2", "1.1", 0), Result("a", "2", "1.2", 0, problem="p")]
    unread = Result("b", "3", problem="this is not a notebook that can be read")
    assert grade.totals([*twice, unread]) == [Total("a", 1, 2, 1), Total("b", 0, 0, 1)]


def test_a_spreadsheet_is_given_no_formula_and_no_broken_letter():
    row = grade._cells(Result("\t=1", "=1+1.ipynb", "1.1", 1, "@x", "\udcff"))
    assert row == ["'\t=1", "'=1+1.ipynb", "1.1", "1", "'@x", "\\udcff"]
    assert grade._cells(Result("\r=1", "-1", message="+1", problem="\n=1"))[:2] == ["'\r=1", "'-1"]
    assert grade._cells(Result("a", "b", message="+1", problem="\n=1"))[4:] == ["'+1", "'\n=1"]


def test_a_progress_bar_is_drawn_where_somebody_watches_the_terminal(tmp_path, capsys, monkeypatch):
    paths = [str(tmp_path / name) for name in ("a.ipynb", "b.ipynb")]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["grade", *paths, "--output", str(tmp_path / "results.csv")]) == 0
    said = capsys.readouterr().err
    assert f"\r[{'#' * 15}{' ' * 15}] 1 of 2\r[{'#' * 30}] 2 of 2\n" in said


def test_bad_places_for_results_are_refused_before_anything_runs_and_harm_no_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(grade, "grade_all", lambda *arguments: pytest.fail("it ran"))
    path = notebook(tmp_path / "x.ipynb", "1")
    before = path.read_bytes()
    for place, said in (
        (path, "is one of the submissions; write the results into another file"),
        (tmp_path, f"is a folder; write into a file, such as {tmp_path / 'results.csv'}"),
        (tmp_path / "no" / "results.csv", "results.csv"),
    ):
        assert main(["grade", str(path), "--output", str(place)]) == 1
        assert said in capsys.readouterr().err
        assert main(["grade", str(path), "--totals", str(place)]) == 1
        assert said in capsys.readouterr().err
    same = str(tmp_path / "results.csv")
    assert main(["grade", str(path), "--output", same, "--totals", str(tmp_path)]) == 1
    assert "is a folder" in capsys.readouterr().err
    assert main(["grade", str(path), "--output", same, "--totals", same]) == 1
    assert "cannot hold both the rows and the totals" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["x.ipynb"]


def test_results_of_before_stay_until_the_new_ones_are_complete(tmp_path, capsys, monkeypatch):
    def stopped(*arguments):
        yield 1, [[Result("anna", "a.ipynb", "1.1", 1)]]
        raise KeyboardInterrupt

    monkeypatch.setattr(grade, "grade_all", stopped)
    out = tmp_path / "results.csv"
    out.write_text("of last week")
    assert main(["grade", "a.ipynb", "--output", str(out)]) == 130
    assert f"stopped after 1 rows; they are in {out}.part" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "of last week"
    assert [row["student"] for row in rows(Path(f"{out}.part").read_text(encoding="utf-8"))] == ["anna"]


def test_bad_limits_and_empty_folders_get_a_sentence(tmp_path, capsys):
    assert main(["grade", str(tmp_path)]) == 1
    assert "no notebook in" in capsys.readouterr().err
    for flag in ("--timeout", "--cell-timeout", "--memory", "--file-size"):
        for value in ("soon", "0", "-1", "inf", "nan"):
            with pytest.raises(SystemExit):
                main(["grade", "x.ipynb", f"{flag}={value}"])
            assert f"'{value}' is not a limit. Try a positive number, such as 60." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["grade", "x.ipynb", "--jobs", "0"])
    assert "'0' is not a positive whole number" in capsys.readouterr().err


def test_without_jupyter_grading_says_what_to_install(tmp_path, monkeypatch, capsys):
    path = notebook(tmp_path / "x.ipynb", "1")
    monkeypatch.setitem(sys.modules, "nbclient", None)
    assert main(["grade", str(path), "--output", str(tmp_path / "results.csv")]) == 1
    assert "pip install 'autodiff-edu[lab]'" in capsys.readouterr().err
    assert not (tmp_path / "results.csv").exists()


def test_a_system_without_limits_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command_line, "list_missing_limits", lambda: ["memory", "file sizes"])
    assert main(["grade", str(tmp_path / "missing.ipynb")]) == 0
    assert "this system cannot limit memory and file sizes; a container can" in capsys.readouterr().err


def test_every_command_that_teachers_are_given_is_one_that_there_is():
    found = []
    for page in ("README.md", "book/for-teachers.md", "book/index.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for line in re.findall(r"python -m autodiff_edu\.course ([^`\n>]+)", text):
            found.append(command_line._parser().parse_args(shlex.split(line)).run.__name__)
    assert set(found) == {"_list", "_assignment", "_grade", "_execute", "_compare", "_export", "_new"}
