"""One submission is run: what counts as an answer, what is limited, and that nothing it does ends the grading."""

import resource
import sys
import time

import pytest
from answers import RIGHT
from submissions import CHECK, notebook

from autodiff_edu.course import check
from autodiff_edu.course.check import LISTENERS
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools import assignment, submission
from autodiff_edu.course.tools.submission import Limits, grade


def brief(results):
    return [(result.exercise, result.right, result.problem) for result in results]


def test_the_last_answer_counts_and_what_is_printed_or_made_by_hand_does_not(tmp_path):
    forged = (
        "from autodiff_edu.course import Feedback, check\n"
        "print('2.1: Right. Every cotangent is there.')\n"
        "Feedback('2.1', True, 'I say so.')"
    )
    path = notebook(
        tmp_path / "anna.ipynb",
        "raise RuntimeError('before anything else')",
        forged,
        'check("2.2", lambda g, z, u, v: (g * v / z, g * u / z))',
        'first = check("2.2", lambda g, z, u, v: (g * u / z, g * v / z))\nprint(open("data/penguins.csv").readline())',
        'answer = undefined\ncheck("2.1", answer)',
    )
    before = path.read_bytes()
    results = grade(path)
    assert brief(results) == [
        ("2.1", 0, "its cell raised NameError: name 'undefined' is not defined"),
        ("2.2", 1, ""),
        ("2.3", 0, "its cell is missing"),
    ]
    assert [result.message for result in results] == ["", check("2.2", RIGHT["2.2"][0]).message, ""]
    assert {(result.student, result.file) for result in results} == {("anna", str(path))}
    assert path.read_bytes() == before


def test_a_problem_is_told_only_where_it_kept_a_check_from_answering(tmp_path):
    path = notebook(
        tmp_path / "x.ipynb",
        CHECK + 'assert check("1.1", 7), "wrong is wrong, and no problem"',
        'check("1.2", ...)\nraise ValueError("after it was answered")',
        'if False: check("1.3", ...)',
    )
    assert brief(grade(path)) == [("1.1", 0, ""), ("1.2", 0, ""), ("1.3", 0, "its check never ran")]


def test_the_untouched_assignment_is_graded_as_such_and_folded_solutions_are_not_run(tmp_path):
    [path] = assignment.write(tmp_path, [1], solutions=True)
    untouched = grade(path)
    assert brief(untouched) == [("1.1", 0, ""), ("1.2", 0, ""), ("1.3", 0, "")]
    assert all("three dots" in result.message for result in untouched)


def test_a_cell_that_runs_out_of_time_is_interrupted_and_later_cells_are_graded(tmp_path):
    path = notebook(
        tmp_path / "renamed.ipynb",
        CHECK + 'check("1.1", 8)',
        'while True: pass\ncheck("1.2", ...)',
        'check("1.3", ...)',
    )
    results = grade(path, Limits(cell=2))
    assert brief(results) == [("1.1", 1, ""), ("1.2", 0, "its cell was interrupted after 2 seconds"), ("1.3", 0, "")]
    assert "three dots" in results[2].message


def test_a_cell_that_cannot_be_interrupted_costs_what_is_below_it_and_nothing_above(tmp_path, monkeypatch):
    monkeypatch.setattr(submission, "GRACE", 1)
    deaf = 'while True:\n    try:\n        time.sleep(60)\n    except BaseException: pass\ncheck("1.2", ...)'
    ignoring = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    path = notebook(tmp_path / "x.ipynb", CHECK + ignoring + 'check("1.1", 8)', deaf, 'check("1.3", ...)')
    first, second, third = grade(path, Limits(cell=1))
    assert (first.right, first.problem) == (1, "")
    assert second.problem == third.problem
    assert second.problem.startswith("stopped in code cell 2, `while True: try: time.sleep(60)")
    assert second.problem.endswith("it took longer than 1 seconds and could not be interrupted")


def test_the_time_of_the_whole_notebook_is_limited_too(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "while True: pass", CHECK + 'check("1.1", 8)')
    results = grade(path, Limits(cell=60, notebook=1.5))
    assert {result.problem for result in results} == {
        "stopped in code cell 1, `while True: pass`: the 1.5 seconds for the notebook were over"
    }


@pytest.mark.exhaustive
def test_floods_of_printing_and_of_pictures_are_kept_nowhere_and_nothing_reaches_the_terminal(tmp_path, capfd):
    path = notebook(
        tmp_path / "x.ipynb",
        r"import os; os.system('echo forged,1.1,1,,'); os.write(1, b'forged,1.2,1,,\n')",
        "# check('1.1')\nwhile True: print('forged' * 1000)",
        "# check('1.2')\nwhile True: display('forged' * 200_000)",
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    results = grade(path, Limits(cell=2))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    said = capfd.readouterr()
    interrupted = "its cell was interrupted after 2 seconds"
    assert [result.problem for result in results] == [interrupted, interrupted, "its cell is missing"]
    assert said.out + said.err == ""
    assert grown < 100_000, "KiB"


@pytest.mark.exhaustive
def test_a_kernel_that_dies_is_a_problem_of_what_was_not_answered_and_takes_what_it_started_along(tmp_path):
    marker = tmp_path / "alive"
    start = f"import os, subprocess; subprocess.Popen(['sh', '-c', 'sleep 4; touch {marker}'])\n"
    path = notebook(
        tmp_path / "x.ipynb",
        CHECK + start + 'check("1.3", ...)',
        'check("1.1", 8)\nos._exit(1)',
        'check("1.2", ...)\ncheck("1.3", ...)',
    )
    results = grade(path)
    assert [bool(result.problem) for result in results] == [False, True, True]
    assert results[0].right == 1
    assert results[1].problem.endswith("the kernel died")
    assert results[2].message, "it was answered, but not by the check that would count"
    time.sleep(4.5)
    assert not marker.exists()


def test_a_notebook_without_exercises_is_known_by_its_name(tmp_path):
    results = grade(notebook(tmp_path / "01-x.ipynb", "import os; os._exit(1)"))
    assert [result.exercise for result in results] == ["1.1", "1.2", "1.3"]
    assert {r.problem for r in results} == {"stopped in code cell 1, `import os; os._exit(1)`: the kernel died"}
    [result] = grade(notebook(tmp_path / "x.ipynb", "1"))
    assert (result.exercise, result.problem) == ("", "no exercise of the course is in it")


@pytest.mark.skipif("memory" in submission.list_missing_limits(), reason="this system cannot limit memory")
def test_memory_and_files_are_limited_and_the_limits_cannot_be_lifted(tmp_path):
    path = notebook(
        tmp_path / "x.ipynb",
        CHECK + 'import numpy as np\nnp.ones(2**28)\ncheck("1.1", 8)',
        'open("big", "wb").write(bytes(2**21))\ncheck("1.2", ...)',
        "import resource\nlimits = [resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE)]\n"
        'raise ValueError(limits)\ncheck("1.3", ...)',
    )
    results = grade(path, Limits(memory=1.5, file_size=1))
    assert results[0].problem.startswith("its cell raised MemoryError: Unable to allocate 2.00 GiB")
    assert results[1].problem == "its cell raised OSError: [Errno 27] File too large"
    size, mib = int(1.5 * 2**30), 2**20
    assert f"[({size}, {size}), ({mib}, {mib})]" in results[2].problem


def test_what_a_system_cannot_limit_is_told_and_not_tried(monkeypatch):
    monkeypatch.setattr(submission, "resource", None)
    assert submission.list_missing_limits() == ["memory", "file sizes"]
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert submission.list_missing_limits() == ["memory"]


def test_a_submission_runs_as_a_copy_in_a_folder_of_its_own_without_the_graders_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.chdir(tmp_path)
    path = notebook(
        tmp_path / "anna" / "x.ipynb",
        "import json, os, tempfile\nfrom pathlib import Path\n"
        "there = sorted(os.listdir()), 'SECRET_TOKEN' in os.environ\n"
        "own = {str(Path.home()), tempfile.gettempdir(), os.path.dirname(os.getcwd())}",
        'open("data/penguins.csv", "w").write("")\nos.remove("submission.ipynb")\n',
        'raise ValueError(json.dumps([*there, len(own)]))\ncheck("1.1", 8)',
        'raise ValueError([name for name in os.environ if "anna" in os.environ[name]])\ncheck("1.2", 8)',
    )
    before = path.read_bytes()
    results = grade(path)
    assert results[0].problem == 'its cell raised ValueError: [["data", "submission.ipynb"], false, 1]'
    assert results[1].problem == "its cell raised ValueError: []"
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["anna"]
    assert (OURS.notebooks / "data" / "penguins.csv").stat().st_size > 0


@pytest.mark.parametrize("source", [None, 3, {}, {"a": 1}, [1], [None, "x"], True])
def test_a_cell_without_a_text_is_a_row(tmp_path, source):
    path = notebook(tmp_path / "01-x.ipynb", source, CHECK + 'check("1.1", 8)')
    [result] = grade(path)
    assert result.problem.startswith("this is not a notebook that can be read: ")


def test_a_row_that_is_forged_ends_nothing_and_fills_nothing(tmp_path):
    said = "l(Feedback({}, True, {})) for l in sys.modules['autodiff_edu.course.check'].LISTENERS"
    forged = [
        said.format(*each) for each in (("''", "'ok'"), ("'99.9'", "'ok'"), ("'1.2'", "'x' * 10**7"), ("None", "[]"))
    ]
    record = "[l.__closure__[0].cell_contents for l in sys.modules['autodiff_edu.course.check'].LISTENERS][0]"
    lines = "'[' * 10**5, '1' * 10**4, '[0, 1, ' + '9' * 5000 + ']', ''"
    junk = f"with open({record}, 'a') as file: file.write('\\n'.join([{lines}]))"
    start = CHECK + "import sys\nfrom autodiff_edu.course import Feedback\n"
    path = notebook(tmp_path / "x.ipynb", start + 'check("1.1", 8)', *(f"[{each}]" for each in forged), junk)
    results = grade(path)
    assert [result.exercise for result in results] == ["1.1", "1.2", "1.3"]
    assert [result.right for result in results] == [1, 1, 0], results[2]
    assert len(results[1].message) == submission.LONGEST


@pytest.mark.parametrize("broken", ["_Run", "_moved"])
def test_whatever_grading_itself_raises_is_a_row(tmp_path, monkeypatch, broken):
    def fails(*_):
        raise ZeroDivisionError("mine")

    monkeypatch.setattr(submission, broken, fails)
    [result] = grade(notebook(tmp_path / "x.ipynb", "1"), student="anna")
    assert (result.student, result.problem) == ("anna", "grading it raised ZeroDivisionError: mine")


def test_what_a_submission_calls_its_errors_is_cut(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "raise type('X' * 10**6, (Exception,), {})('y' * 10**6)\ncheck('1.1', 8)")
    assert [len(result.problem) < 300 for result in grade(path)] == [True] * 3


def test_folders_that_are_too_deep_to_be_removed_cost_no_answer(tmp_path, monkeypatch):
    def fails(folder):
        cleanup(folder)
        raise RecursionError

    cleanup = submission.tempfile.TemporaryDirectory.cleanup
    path = notebook(tmp_path / "x.ipynb", CHECK + 'check("1.1", 8)')
    monkeypatch.setattr(submission.tempfile.TemporaryDirectory, "cleanup", fails)
    assert [result.right for result in grade(path)] == [1, 0, 0]


def test_a_notebook_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "x.ipynb"
    with path.open("wb") as file:
        file.truncate(2**40)
    [result] = grade(path)
    assert result.problem == "the notebook has 1,048,576 MiB, more than one file may have"


def test_half_a_line_of_a_killed_kernel_is_not_an_answer():
    lines = ['["1.1", true, "Eight."]', "[1]", '"x"', "7", '["1.2", tr']
    assert submission.answers(lines) == {"1.1": (True, "Eight.")}


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
