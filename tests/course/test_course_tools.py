"""What teachers use: chapters to hand out, and chapters executed to the same bytes."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from repack import repack
from submissions import notebook

import autodiff_edu as ad
from autodiff_edu.course.__main__ import main
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools import assignment
from autodiff_edu.course.tools.execute import execute, fingerprint

ROOT = Path(__file__).parents[2]
CHAPTERS = {chapter.number: chapter.notebook for chapter in OURS.assignments}


def cells(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))["cells"]


# Handing out ------------------------------------------------------------------------------------------------------


def test_the_list_names_every_chapter_by_its_title(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert any(re.fullmatch(r"01-the-tape\.ipynb +1 · The tape +\d+ minutes, exercises \d+", line) for line in lines)


def test_an_assignment_has_neither_solutions_nor_outputs(tmp_path):
    written = assignment.write(tmp_path / "new" / "out")
    assert [path.name for path in written] == [path.name for path in CHAPTERS.values()]
    for path in written:
        text = path.read_text(encoding="utf-8")
        for word in ("-solution", "-fold", "Solution to", "folded solution", "is folded below", "image/png"):
            assert word not in text, f"{path.name} says {word}"
        code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
        found = sum("exercise" in cell["metadata"].get("tags", ()) for cell in code)
        assert found == len(OURS.find(path.name).exercises) >= 3
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
    assert handed_out["ex"].endswith("a hint tells you where to look.")


def test_who_learns_alone_may_keep_the_solutions(tmp_path):
    assert main(["assignment", str(tmp_path), "2", "--solutions"]) == 0
    handed_out = {cell["id"]: cell for cell in cells(tmp_path / "02-backward.ipynb")}
    solution = handed_out["ex-1-solution"]
    assert solution["outputs"] == []
    assert solution["metadata"]["jupyter"] == {"source_hidden": True}
    assert handed_out["ex-1-fold"]["metadata"]["jp-MarkdownHeadingCollapsed"]
    assert "Each solution is folded below its exercise" in "".join(handed_out["ex"]["source"])
    assert not (tmp_path / "01-the-tape.ipynb").exists()


def test_the_first_cell_says_in_words_when_another_version_is_installed(tmp_path, monkeypatch, capsys):
    [path] = assignment.write(tmp_path, [1])
    first = next(cell for cell in cells(path) if cell["cell_type"] == "code")
    source, version = "".join(first["source"]), ad.__version__
    assert source.startswith(f"# Written for autodiff-edu {version}.")
    exec(source, {})
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(ad, "__version__", "99.1")
    exec(source, {})
    said = capsys.readouterr().out
    assert f"was written for autodiff-edu {version}, and 99.1 is installed" in said
    assert f'pip install "autodiff-edu[lab]=={version}"' in said


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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_force_replaces_files_only(tmp_path, capsys):
    os.mkfifo(pipe := tmp_path / "LICENSE")
    assert main(["assignment", str(tmp_path), "1", "--force"]) == 1
    assert "LICENSE is a device or a pipe, which a file must not replace" in capsys.readouterr().err
    pipe.unlink()
    pipe.mkdir()
    assert main(["assignment", str(tmp_path), "1", "--force"]) == 1
    assert "LICENSE is a directory" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.ipynb")), "all or nothing"


def test_bad_places_and_numbers_get_a_sentence(tmp_path, capsys):
    assert main(["assignment", str(ROOT / "notebooks"), "--force"]) == 1
    assert "where the chapters come from" in capsys.readouterr().err
    assert main(["assignment", str(tmp_path), "77"]) == 1
    assert "there is no chapter 77; there are" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    assert main(["assignment", str(tmp_path / "file"), "1"]) == 1
    assert "file" in capsys.readouterr().err


def test_chapters_that_were_not_installed_are_missed_in_words(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(OURS, "notebooks", tmp_path / "site" / "autodiff_edu" / "course" / "notebooks")
    assert main(["list"]) == 1
    assert "come with its wheel, and with a whole checkout" in capsys.readouterr().err


def test_the_chapters_travel_in_the_wheel(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "autodiff_edu.course", "assignment", "out"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    source = "from autodiff_edu.course.contents import OURS; print(OURS.find(1).notebook)"
    where = subprocess.run(
        [sys.executable, "-c", source], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert str(tmp_path / "site") in where.stdout
    there = {path.name for path in (tmp_path / "out").iterdir()}
    assert there == {"data", "LICENSE"} | {path.name for path in CHAPTERS.values()}


# Executing --------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_two_executions_write_the_same_bytes(tmp_path, capsys):
    path = notebook(tmp_path / "x.ipynb", "import autodiff_edu as ad", "print(1)\nad.play(lambda x: x * x, 2.0)")
    assert main(["execute", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: run and written\n"
    first = path.read_bytes()
    execute(path)
    assert path.read_bytes() == first
    assert b"text/html" in first


@pytest.mark.exhaustive
def test_a_player_that_another_build_of_zlib_has_packed_stays_as_it_is_unless_it_shows_something_else(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "import autodiff_edu as ad\nad.play(lambda x: x * x, 2.0)")

    def stored(change=lambda html: html):
        content = json.loads(path.read_text(encoding="utf-8"))
        data = content["cells"][0]["outputs"][0]["data"]
        html = "".join(data["text/html"])
        data["text/html"] = change(html).splitlines(keepends=True)
        path.write_text(json.dumps(content), encoding="utf-8")
        return html

    execute(path)
    ran = stored(repack)
    elsewhere = stored()
    execute(path)
    assert stored(lambda html: repack(html, '"title"', '"titles"')) == elsewhere != ran
    execute(path)
    assert stored(lambda html: repack(html, "globalThis.document", "globalThis.documents")) == ran
    execute(path)
    assert stored(lambda html: html.replace("1. The tape", "1. A tape", 1)) == ran
    execute(path)
    assert stored() == ran


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


def test_jupyterlab_hides_what_the_tags_hide_in_the_book_and_nothing_else(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "1", "2", "3")
    content = json.loads(path.read_text(encoding="utf-8"))
    for cell, tags in zip(content["cells"], (["hide-input"], ["hide-output"], []), strict=True):
        cell["metadata"] = {"tags": tags, "jupyter": {"source_hidden": True, "outputs_hidden": True}}
    content["cells"][0]["metadata"]["jupyter"]["name"] = "mine"
    content["cells"][1]["metadata"].pop("jupyter")
    path.write_text(json.dumps(content), encoding="utf-8")
    execute(path)
    found = [cell["metadata"].get("jupyter") for cell in cells(path)]
    assert found == [{"source_hidden": True, "name": "mine"}, {"outputs_hidden": True}, None]


def test_a_solution_and_the_heading_above_it_are_folded(tmp_path):
    path = notebook(tmp_path / "x.ipynb", "1", "2")
    content = json.loads(path.read_text(encoding="utf-8"))
    heading, solution = content["cells"]
    heading |= {"cell_type": "markdown", "id": "ex-1-fold", "metadata": {}, "source": ["#### Solution"]}
    del heading["outputs"], heading["execution_count"]
    solution["metadata"] = {"tags": ["solution", "hide-input", "hide-output"]}
    path.write_text(json.dumps(content), encoding="utf-8")
    execute(path)
    heading, solution = cells(path)
    assert heading["metadata"] == {"jp-MarkdownHeadingCollapsed": True}
    assert solution["metadata"]["jupyter"] == {"source_hidden": True}


def test_a_chapter_that_raises_or_is_missing_is_left_as_it_was(tmp_path, capsys):
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


def test_a_chapter_on_a_framework_that_is_not_there_is_not_run(tmp_path, capsys, monkeypatch):
    path = notebook(tmp_path / "x.ipynb", "import numpy as np\nimport jax.numpy as jnp", "from torch import nn\n1 / 0")
    other = notebook(tmp_path / "y.ipynb", "torch = 'import torch'")
    before = path.read_bytes()
    monkeypatch.setattr("autodiff_edu.course.tools.execute.find_spec", {"torch": None, "jax": ...}.get)
    assert main(["execute", str(path), str(other)]) == 0
    said = capsys.readouterr().out
    assert "x.ipynb: left as it is, because torch can't be imported" in said
    assert "y.ipynb: run and written" in said
    assert path.read_bytes() == before
    assert main(["compare", str(path), str(other)]) == 0
    assert re.findall(r"(\w)\.ipynb: (.*)", capsys.readouterr().out) == [
        ("x", "not run, because torch can't be imported"),
        ("y", "the same"),
    ]


def test_appendices_are_handed_out_by_their_letter_after_the_numbers(tmp_path, capsys):
    assert [key for key in CHAPTERS if isinstance(key, str)] == list(CHAPTERS)[-3:] == ["A", "B", "C"]
    assert main(["assignment", str(tmp_path / "out"), "b", "2"]) == 0
    assert [Path(line).name[0] for line in capsys.readouterr().out.splitlines()] == ["0", "B"]
    with pytest.raises(ValueError, match=r"there is no chapter 99; there are 0, 1, .*, C"):
        assignment.choose(tmp_path, ["B", 99])
    assert main(["assignment", str(tmp_path / "out"), "two"]) == 1
    assert "there is no chapter two; there are 0, 1, " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["notes.ipynb", "", "ab-c", ".3", "Z"])
def test_what_does_not_begin_with_a_chapter_is_refused(name):
    with pytest.raises(ValueError, match="there is no chapter"):
        OURS.find(name)
