"""The package's own tests pass in Pyodide, with the files that a live page loads, where integers have 32 bits."""

import json
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from autodiff_edu.player.build import node

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CORE = ROOT / "book" / "made" / "python"
FETCH = (
    "run: python book/live/fetch.py --wheels FOLDER, where FOLDER has the wheels of NumPy and Matplotlib for Pyodide"
)

SELECTION = [
    "tests/live/in_a_page.py",
    *(f"tests/core/test_{name}.py" for name in ("active", "bad_tapes", "entry", "nesting", "tape", "tensor")),
    *(f"tests/core/test_{name}.py" for name in ("variable", "walk")),
    *(f"tests/rules/test_{name}.py" for name in ("account", "special_points")),
    *(
        f"tests/explain/test_{name}.py"
        for name in ("explain", "explain_causes", "explain_numbers", "journal", "left_out")
    ),
    *(f"tests/saving/test_{name}.py" for name in ("operation_bounds", "saving", "saving_custom", "saving_decisions")),
    *(f"tests/saving/test_saving_{name}.py" for name in ("files", "refusals", "versions", "written")),
    "tests/text/test_formatting.py",
]
AT_LEAST = 1200

NO_THREADS, NO_PROCESSES, NO_PIPES = "a page has one thread", "a page has one process", "a page has no pipes with names"
CAUSES = "tests/explain/test_explain_causes.py::test_the_explanation_names_cause_operation_line_and_remedy"
WRITTEN = "tests/saving/test_saving_written.py"
LEFT_OUT = {
    "tests/core/test_active.py::test_the_journal_listens_in_every_thread_from_its_beginning": NO_THREADS,
    "tests/explain/test_explain.py::test_a_tape_is_explained_from_another_thread": NO_THREADS,
    f"{CAUSES}[fresh-another thread]": NO_THREADS,
    f"{CAUSES}[released-another thread]": NO_THREADS,
    "tests/explain/test_journal.py::test_lines_of_another_thread_say_so": NO_THREADS,
    "tests/explain/test_left_out.py::test_what_left_the_tape_is_listed_with_its_line[by_another_thread]": NO_THREADS,
    "tests/saving/test_saving.py::test_other_threads_compute_while_one_saves": NO_THREADS,
    "tests/explain/test_explain.py::test_a_notebook_s_places_are_cells": NO_PROCESSES,
    "tests/saving/test_saving_custom.py::test_a_fresh_process_has_the_function_without_its_code": NO_PROCESSES,
    "tests/saving/test_saving_written.py::test_what_a_killed_save_left_behind_is_cleaned_up_by_the_next": NO_PROCESSES,
    "tests/saving/test_saving_written.py::test_what_another_process_is_still_writing_is_left_alone": NO_PROCESSES,
    **{
        f"{WRITTEN}::test_only_a_regular_file_is_replaced[{kind}]": NO_PIPES
        for kind in ("pipe", "link", "device", "loop")
    },
    f"{WRITTEN}::test_saves_of_one_path_at_once_all_succeed": NO_THREADS,
    f"{WRITTEN}::test_a_pipe_with_the_name_of_a_temporary_file_is_left_alone": NO_PIPES,
    "tests/saving/test_saving_refusals.py::test_the_path_after_an_error_that_the_function_catches_is_refused": (
        "np.linalg.cholesky returns NaN in a page, where nothing notes what is invalid"
    ),
}


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """The folder with what a page loads, if it is made of the package as it is now."""
    if not (CORE / "files.json").exists():
        pytest.fail(f"not run: {CORE.relative_to(ROOT)} is missing; {FETCH}")
    packages = json.loads((CORE / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    if not (CORE / packages["numpy"]["file_name"]).exists():
        pytest.fail(f"not run: NumPy is not in {CORE.relative_to(ROOT)}, and a test uses no network; {FETCH}")
    spec = spec_from_file_location("fetch", ROOT / "book" / "live" / "fetch.py")
    fetch = module_from_spec(spec)
    spec.loader.exec_module(fetch)
    made = CORE / packages["autodiff-edu"]["file_name"]
    if made.read_bytes() != fetch.make_wheel(tmp_path_factory.mktemp("wheel")).read_bytes():
        pytest.fail(f"not run: {made.relative_to(ROOT)} is of another version of the package; {FETCH}")
    return CORE


def test_the_core_passes_its_tests_in_pyodide(core):
    mounts = {"/checkout": str(ROOT), "/site": str(Path(pytest.__file__).parents[1])}
    given = {"core": str(core), "mounts": mounts, "selection": SELECTION, "left_out": list(LEFT_OUT)}
    command = [*node(), str(HERE / "pyodide.mjs"), str(HERE / "in_pyodide.py"), json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=900, check=False)
    shown = "\n".join(line[:300] for line in (done.stdout + done.stderr).splitlines()[-60:])
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, f"pytest did not finish in Pyodide:\n{shown}"
    outcomes = json.loads(lines[-1])
    wrong = [f"{test} {outcome[:2000]}" for test, outcome in outcomes.items() if outcome != "passed"]
    assert not wrong, "\n\n".join(wrong)
    assert done.returncode == 0, shown
    assert len(outcomes) >= AT_LEAST
    ran = {test.partition("::")[0] for test in outcomes}
    assert ran == set(SELECTION)
    assert not set(LEFT_OUT) & set(outcomes)
