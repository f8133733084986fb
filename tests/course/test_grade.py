"""Many submissions are graded: whose they are, the tables, the totals, and that no file is lost on the way."""

import csv
import os
import re
import shlex
import stat
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
    assert all(row["problem"].startswith("this is not a notebook that can be read: ") for row in table[:3])
    assert table[3]["problem"] == "this folder holds no notebook"
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
    assert list(grade.submissions(["all/anna/hand-in/../../ben/.."]).values()) == ["anna", "ben", "chloe"]
    monkeypatch.chdir("all/anna/hand-in")
    assert list(grade.submissions(["."]).values()) == ["hand-in"]
    monkeypatch.chdir("..")
    assert list(grade.submissions([Path("..", "anna", "hand-in", "..", "hand-in")]).values()) == ["hand-in"]
    (tmp_path / "all" / "anna" / "hand-in" / "more").mkdir()
    monkeypatch.chdir("hand-in/more")
    assert list(grade.submissions([".."]).values()) == ["hand-in"]
    monkeypatch.chdir(tmp_path)
    assert list(grade.submissions(["all/anna/hand-in"]).values()) == ["hand-in"]
    named = ["all/anna/hand-in/02-backward.ipynb", "all/ben/x.ipynb"]
    assert list(grade.submissions(named).values()) == ["anna", "ben"]
    assert list(grade.submissions(["all/ben/x.ipynb", "all/ben/x.ipynb"]).values()) == ["x"]
    monkeypatch.chdir("all/anna/hand-in")
    assert grade.submissions(["02-backward.ipynb", "../../ben/x.ipynb"]) == {
        Path("02-backward.ipynb"): "anna",
        Path("../../ben/x.ipynb"): "ben",
    }


def test_an_exercise_handed_in_twice_counts_once():
    twice = [Result("a", "1", "1.1", 1), Result("a", "2", "1.1", 0), Result("a", "2", "1.2", 0, problem="p")]
    unread = Result("b", "3", problem="this is not a notebook that can be read")
    assert grade.totals([*twice, unread]) == [Total("a", 1, 2, 1), Total("b", 0, 0, 1)]


def test_a_spreadsheet_is_given_no_formula_and_no_broken_letter():
    row = grade._cells(Result("\t=1", "=1+1.ipynb", "1.1", 1, "@x", "\udcff"))
    assert row == ["\\t=1", "'=1+1.ipynb", "1.1", "1", "'@x", "\\udcff"]
    assert grade._cells(Result("\r=1", "-1", message="+1", problem="\n=1"))[:2] == ["\\r=1", "'-1"]
    assert grade._cells(Result("a", "b", message="+1", problem="\n=1"))[4:] == ["'+1", "'\n=1"]


@pytest.mark.parametrize("end", ["\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_no_end_of_a_line_begins_a_row_with_a_formula(tmp_path, end):
    out = tmp_path / "results.csv"
    with grade.table(out) as file:
        grade.write_rows(file, Result, [Result(f"x{end}=1+1", "y", message=f"z{end}=2+2", problem=f'"{end}=3')])
    assert end not in out.read_bytes().decode()
    for newline in ("", None):
        with out.open(encoding="utf-8", newline=newline) as file:
            [_, row] = csv.reader(file)
        assert not any(cell.startswith("=") for cell in row)


def test_nothing_that_a_terminal_obeys_is_written_to_it(tmp_path, capsys):
    named = tmp_path / "all" / "evil\x1b]0;mine\x07"
    named.mkdir(parents=True)
    (named / "01-x.ipynb").write_text("")
    out = str(tmp_path / "results.csv")
    assert main(["grade", str(tmp_path / "all"), "--output", out]) == 0
    assert main(["grade", str(named / "no\x1b[31m.ipynb"), "--output", str(tmp_path / "no\x1b[31m" / "x.csv")]) == 1
    said = capsys.readouterr().err
    assert "evil\\x1b]0;mine\\x07: 0 of" in said
    assert "no directory" in said
    assert all(line.isprintable() for line in said.splitlines())
    assert all(cell.isprintable() for row in rows(Path(out).read_text(encoding="utf-8")) for cell in row.values())


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
        (tmp_path, f"is a directory; give the path of a file, such as {tmp_path / 'results.csv'}"),
        (tmp_path / "no" / "results.csv", "results.csv"),
        (Path(os.devnull), "is a device or a pipe, which a file must not replace"),
    ):
        assert main(["grade", str(path), "--output", str(place)]) == 1
        assert said in capsys.readouterr().err
        assert main(["grade", str(path), "--totals", str(place)]) == 1
        assert said in capsys.readouterr().err
    same = str(tmp_path / "results.csv")
    assert main(["grade", str(path), "--output", same, "--totals", str(tmp_path)]) == 1
    assert "is a directory" in capsys.readouterr().err
    for totals in (same, f"{same}.part", str(tmp_path / "." / "results.csv")):
        assert main(["grade", str(path), "--output", same, "--totals", totals]) == 1
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_table_replaces_regular_files_only_and_what_a_link_leads_to(tmp_path, capsys, monkeypatch):
    pipe, link, loop, good = (tmp_path / name for name in ("pipe.csv", "link.csv", "loop.csv", "good.csv"))
    os.mkfifo(pipe)
    os.mkfifo(tmp_path / "x.csv.part")
    link.symlink_to(pipe)
    loop.symlink_to(loop)
    monkeypatch.setattr(grade, "grade_all", lambda *arguments: pytest.fail("it ran"))
    for place in (pipe, link, loop, tmp_path / "x.csv"):
        for flag in ("--output", "--totals"):
            assert main(["grade", "a.ipynb", flag, str(place)]) == 1
            assert "give another path" in capsys.readouterr().err
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    monkeypatch.setattr(grade, "grade_all", lambda *arguments: iter([(1, [[Result("anna", "a.ipynb")]])]))
    good.write_text("of last week")
    link.unlink()
    link.symlink_to(good)
    assert main(["grade", "a.ipynb", "--output", str(link)]) == 0
    assert link.is_symlink()
    assert [row["student"] for row in rows(good.read_text(encoding="utf-8"))] == ["anna"]


def test_of_two_gradings_with_one_output_the_second_says_so_before_it_runs(tmp_path, capsys, monkeypatch):
    out = tmp_path / "results.csv"

    def during(*arguments):
        monkeypatch.setattr(grade, "grade_all", lambda *arguments: pytest.fail("it ran"))
        for flag in ("--output", "--totals"):
            assert main(["grade", "a.ipynb", flag, str(out)]) == 1
            assert f"{out}.part cannot be written: is another grading writing it?" in capsys.readouterr().err
        yield 1, [[Result("anna", "a.ipynb", "1.1", 1)]]

    monkeypatch.setattr(grade, "grade_all", during)
    Path(f"{out}.part").write_text("of one that was stopped", encoding="utf-8")
    assert main(["grade", "a.ipynb", "--output", str(out)]) == 0
    assert [row["student"] for row in rows(out.read_text(encoding="utf-8"))] == ["anna"]
    assert [path.name for path in tmp_path.iterdir()] == ["results.csv"]


def test_a_grading_whose_table_was_taken_for_a_leftover_leaves_that_of_the_other(tmp_path, monkeypatch):
    out = tmp_path / "results.csv"
    part = grade.part_of(out)

    def too_late(file):
        part.unlink()
        part.write_text("of the other grading", encoding="utf-8")
        return lock(file)

    lock = grade.lock
    monkeypatch.setattr(grade, "lock", too_late)
    with pytest.raises(FileExistsError, match="is another grading writing it"), grade.table(out):
        pytest.fail("it would move the table of another")
    assert part.read_text(encoding="utf-8") == "of the other grading"
    assert not out.exists()


def test_each_student_has_a_row_however_the_notebook_is_called_or_if_there_is_none(tmp_path, capsys):
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna" / "X.IPYNB").write_text("not json")
    (tmp_path / "ben" / "drafts").mkdir(parents=True)
    (tmp_path / "ben" / "answers.txt").write_text("8")
    (tmp_path / "chloe.ipynb").write_text("not json")
    for other in ("data", ".git", ".ipynb_checkpoints", "__pycache__"):
        (tmp_path / other).mkdir()
    (tmp_path / "d.smith").mkdir()
    (tmp_path / "eve").symlink_to("nowhere")
    (tmp_path / "fay").symlink_to("fay")
    (tmp_path / "gil").symlink_to("ben")
    (tmp_path / "later.csv").symlink_to("nowhere.csv")
    out = tmp_path / "totals.csv"
    assert main(["grade", str(tmp_path), "--totals", str(out)]) == 0
    table = rows(capsys.readouterr().out)
    assert [row["student"] for row in table] == ["anna", "ben", "chloe", "d.smith", "eve", "fay", "gil"]
    assert table[1]["problem"] == table[3]["problem"] == "this folder holds no notebook"
    assert {row["problem"] for row in table[4:6]} == {
        "this is a device, a pipe or a link that leads nowhere, not a notebook"
    }
    assert table[6]["problem"] == "this is a link to a folder, not a folder"
    assert [row["student"] for row in rows(out.read_text(encoding="utf-8"))] == [row["student"] for row in table]
    notebook(tmp_path / "ben" / "01-the-tape.ipynb", "1")
    assert list(grade.submissions([tmp_path / "ben"]).values()) == ["ben"], "drafts is nobody"


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links and pipes with names")
def test_a_link_that_leads_nowhere_a_pipe_and_a_device_are_a_row_each(tmp_path, capsys):
    for name in ("device", "dangling", "loop", "pipe"):
        (tmp_path / name).mkdir()
    path = "01-the-tape.ipynb"
    (tmp_path / "loop" / path).symlink_to(path)
    (tmp_path / "dangling" / path).symlink_to("nowhere")
    (tmp_path / "device" / path).symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe" / path)
    (tmp_path / "z").symlink_to("z")
    (tmp_path / "honest.ipynb").write_text("not json")
    assert main(["grade", str(tmp_path), "--output", str(tmp_path / "results.csv")]) == 0
    table = rows((tmp_path / "results.csv").read_text(encoding="utf-8"))
    found = {row["student"]: row["problem"] for row in table}
    assert "does not appear to be JSON" in found.pop("honest")
    odd = "this is a device, a pipe or a link that leads nowhere, not a notebook"
    assert found == dict.fromkeys(("dangling", "device", "loop", "pipe", "z"), odd)


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
    assert set(found) == {"_list", "_assignment", "_grade", "_execute", "_compare", "_export", "_new", "_slides"}
