"""Chapters run as other CPUs would: what is the same, what differs, and how it is said."""

import base64
import io
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imsave
from nbformat import v4, write

from autodiff_edu.course.__main__ import main
from autodiff_edu.course.tools import compare
from autodiff_edu.course.tools.execute import execute

CORE = 'import os\nprint("the core is", os.environ.get("OPENBLAS_CORETYPE"))'
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
    same, differs = notebook(tmp_path / "a.ipynb", "1 + 1"), notebook(tmp_path / "b.ipynb", "1 + 1", CORE)
    execute(same)
    execute(differs)
    before = same.read_bytes(), differs.read_bytes()
    settings = ["--setting", "machine", "--setting", "sandybridge", "--threads", "2"]
    assert main(["compare", str(same), str(differs), *settings]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"machine, 2 threads: {same}: the same",
        f"machine, 2 threads: {differs}: the same",
        f"sandybridge, 2 threads: {same}: the same",
        f"sandybridge, 2 threads: {differs}:",
        "    cell 2 differs:",
        "        stored: the core is None",
        "        now:    the core is Sandybridge",
    ]
    assert (same.read_bytes(), differs.read_bytes()) == before
    assert main(["compare", str(same), *ONCE, "--jobs", "1"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ipynb", "b.ipynb"]


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
    assert compare.compare(shown)[0] == "cell 1 differs:"
    assert compare.compare(nothing) == [
        "every output is the same, but the file is not what execute would write; execute it again"
    ]


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


def test_all_settings_and_both_numbers_of_threads_are_compared_in_order(monkeypatch):
    monkeypatch.setattr(compare, "compare", lambda path, setting, threads: [f"{setting} {threads}"])
    here = Path(__file__)
    found = list(compare.compare_all([here], jobs=3))
    expected = list(product(["machine", "haswell", "sandybridge"], [1, 2]))
    assert found == [(setting, threads, here, [f"{setting} {threads}"]) for setting, threads in expected]


def test_what_is_set_outside_does_not_count(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    monkeypatch.setenv("NPY_ENABLE_CPU_FEATURES", "X86_V3")
    machine, old = compare.environment("machine", 1), compare.environment("sandybridge", 2)
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


# Pictures ---------------------------------------------------------------------------------------------------------


def png(pixels):
    file = io.BytesIO()
    imsave(file, pixels)
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize(("shades", "alike"), [(0, True), (2, True), (3, False), (-3, False)])
def test_pictures_are_compared_as_they_look(shades, alike):
    grey = np.full((5, 4, 3), 100, np.uint8)
    other = grey.copy()
    other[2, 1] += np.int8(shades).astype(np.uint8)
    assert compare.look_alike(png(grey), png(other)) is alike


def test_pictures_of_different_sizes_are_not_alike():
    assert not compare.look_alike(png(np.zeros((5, 4, 3))), png(np.zeros((1, 4, 3))))


def test_a_picture_that_looks_the_same_is_no_difference_and_another_is():
    def chapter(pixel):
        output = {"output_type": "display_data", "data": {"image/png": png(np.full((2, 2, 3), pixel, np.uint8))}}
        return {"cells": [{"cell_type": "markdown"}, {"execution_count": 4, "outputs": [output]}]}

    stored, close, far = chapter(100), chapter(101), chapter(200)
    compare._keep_pictures(stored, close)
    compare._keep_pictures(stored, far)
    assert close == stored
    assert next(compare._differences(stored, far)) == "cell 4 differs:"


def test_only_the_first_lines_that_differ_are_shown():
    outputs = [{"text": [f"{sign}{k}\n" for k in range(9)]} for sign in "+-"]
    said = list(compare._lines_that_differ(*outputs))
    assert said[:2] == ["    stored: +0", "    now:    -0"]
    assert said[6:] == ["    and 6 more"]
