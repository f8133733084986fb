"""Chapters run as other CPUs would: what is the same, what differs, and how it is said."""

import pytest
from nbformat import v4, write

from autodiff_edu.course.__main__ import main
from autodiff_edu.course.tools import compare
from autodiff_edu.course.tools.execute import execute

CORE = 'import os\nprint("the core is", os.environ.get("OPENBLAS_CORETYPE"), end="")'
EXP = """
import numpy as np

x = np.linspace(0.1, 9.9, 99)
print(bool((np.exp(x) != [np.exp(number) for number in x]).any()), end="")
"""
ONCE = ["--setting", "haswell", "--threads", "1"]


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch):
    for name in compare.SET_HERE:
        monkeypatch.delenv(name, raising=False)


def notebook(path, *sources):
    """Write a notebook that has not been run; return its path."""
    write(v4.new_notebook(cells=[v4.new_code_cell(source, id=f"c{k}") for k, source in enumerate(sources)]), path)
    return path


def test_what_is_the_same_and_what_differs_is_said_for_each_setting_and_nothing_is_written(tmp_path, capsys):
    path = notebook(tmp_path / "b.ipynb", "1 + 1", CORE, EXP)
    execute(path)
    before = path.read_bytes()
    settings = ["--setting", "machine", "--setting", "sandybridge", "--setting", "last-bit", "--threads", "2"]
    assert main(["compare", str(path), *settings]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"machine, 2 threads: {path}: the same",
        f"sandybridge, 2 threads: {path}:",
        "    cell 2 differs:",
        "        stdout: 'the core is None' is stored, 'the core is Sandybridge' was shown",
        f"last-bit, seed 1: {path}:",
        "    cell 3 differs:",
        "        stdout: 'False' is stored, 'True' was shown",
    ]
    assert path.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.ipynb"]


@pytest.mark.exhaustive
def test_a_cell_that_raises_and_one_that_does_not_end_are_differences(tmp_path, capsys):
    path = notebook(
        tmp_path / "x.ipynb", "1", "import os\nassert 'OPENBLAS_CORETYPE' not in os.environ, 'not this one'"
    )
    execute(path)
    before = path.read_bytes()
    assert main(["compare", str(path), *ONCE]) == 1
    assert "\n    cell 2 raised AssertionError: not this one\n" in capsys.readouterr().out
    assert path.read_bytes() == before
    [said] = compare.compare(notebook(tmp_path / "y.ipynb", "while True: pass"), timeout=1)
    assert said.startswith("it was stopped: ")


def test_a_chapter_that_was_never_run_says_so(tmp_path):
    shown, nothing = notebook(tmp_path / "x.ipynb", "1"), notebook(tmp_path / "y.ipynb", "x = 1")
    assert compare.compare(shown) == ["cell 1 differs:", "    outputs: nothing stored, text/plain shown"]
    assert compare.compare(nothing) == [
        "every output is the same, but the file is not what execute would write; execute it again"
    ]


def test_only_the_first_differences_of_a_cell_are_shown():
    def chapter(sign):
        text = "".join(f"{sign}{k}\n" for k in range(9))
        return {
            "cells": [{"execution_count": 4, "outputs": [{"output_type": "stream", "name": "stdout", "text": text}]}]
        }

    said = list(compare._differences(chapter("a"), chapter("b")))
    assert said[:2] == ["cell 4 differs:", "    stdout, line 1: 'a0' is stored, 'b0' was shown"]
    assert said[6:] == ["    and 4 more"]


def test_without_the_file_nothing_is_run(tmp_path, capsys):
    there, missing = notebook(tmp_path / "x.ipynb", "1 / 0"), tmp_path / "y.ipynb"
    assert main(["compare", str(there), str(missing)]) == 1
    said = capsys.readouterr()
    assert said.err.endswith(f"there is no file {missing}; no chapter was run\n")
    assert said.out == ""


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--setting", "pentium", "invalid choice: 'pentium'"),
        ("--jobs", "0", "'0' is not a positive whole number"),
        ("--threads", "two", "'two' is not a positive whole number"),
    ],
)
def test_an_option_that_makes_no_sense_gets_a_sentence(option, value, said, capsys):
    with pytest.raises(SystemExit):
        main(["compare", "x.ipynb", option, value])
    assert said in capsys.readouterr().err


BOTH = ["last-bit, seed 1", "machine, 2 threads"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["last-bit, seed 1"]),
        (["--seed", "3", "--seed", "4"], ["last-bit, seed 3", "last-bit, seed 4"]),
        (["--setting", "haswell"], ["haswell, 1 thread", "haswell, 2 threads"]),
        (
            ["--setting", "last-bit", "--setting", "machine", "--threads", "2"],
            ["last-bit, seed 1", "machine, 2 threads"],
        ),
    ],
)
def test_settings_are_compared_in_order(options, expected, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(compare, "compare", lambda path, setting: [])
    path = notebook(tmp_path / "x.ipynb", "1")
    assert main(["compare", str(path), *options]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{setting}: {path}: the same" for setting in expected]


def test_what_is_set_outside_does_not_count(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    monkeypatch.setenv("NPY_ENABLE_CPU_FEATURES", "X86_V3")
    machine, old = compare.Setting("machine").environment(), compare.Setting("sandybridge", 2).environment()
    assert [machine.get(name) for name in compare.SET_HERE] == [None, None, None, "1"]
    assert [old.get(name) for name in compare.SET_HERE] == [
        "X86_V3 X86_V4 AVX512_ICL AVX512_SPR", None, "Sandybridge", "2",
    ]  # fmt: skip


def test_a_numpy_that_groups_features_differently_is_said_to_keep_them(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(compare.SETTINGS, "haswell", {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V77"})
    path = notebook(tmp_path / "x.ipynb", "1")
    execute(path)
    assert main(["compare", str(path), *ONCE]) == 0
    assert "does not know the CPU features X86_V77, so haswell cannot" in capsys.readouterr().err
