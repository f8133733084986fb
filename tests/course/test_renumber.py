"""A chapter is moved by one line of course.toml, and one command changes every mention of the chapters."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from submissions import notebook

from autodiff_edu.course.__main__ import main
from autodiff_edu.course.contents import HERE, OURS, Course
from autodiff_edu.course.tools import new
from autodiff_edu.course.tools.execute import fingerprint
from autodiff_edu.course.tools.renumber import rewrite

ROOT = Path(__file__).parents[2]
ANOTHER_BOOK = re.compile(r"\(\d{4}\), chapter \d+|\bits chapter \d+|[Cc]hapter \d+ of their book")
MENTIONS = re.compile(
    r"\b[Cc]hapters?\s+(\d+(?:(?:, and | and | or |, | to )\d+)*)"
    r"|\b(?:[Ee]xercises?|[Pp]roject|[Cc]heck)\s(\d+\.\d)|\b(?:check|predict)\(\"(\d+\.\w)\""
    r"|(\d+\.\d): (?:Right|Not yet)|^### (\d+\.\d)|^#### Solution to (\d+\.\d)|^# (\d+\.\d):",
    re.MULTILINE,
)
NAMES = re.compile(r"\b(\d\d)-([a-z][a-z-]*[a-z])\b")
TITLES = re.compile(r"\[(\d+|[A-Z]) · [^]]*\]\((\w+)-")


def run(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "autodiff_edu.course", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


def read(path):
    """Read what a person reads in a file: of a notebook the cells and the text that they show."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        shown = [output for cell in cells for output in cell.get("outputs", ())]
        lines = [cell["source"] for cell in cells]
        lines += [output.get("text", output.get("data", {}).get("text/plain", "")) for output in shown]
        text = "\n".join(map("".join, lines))
    return ANOTHER_BOOK.sub("", text)


def mentioned(text, slugs):
    """List the chapters that a text mentions by their numbers."""
    lists = ("".join(groups) for groups in MENTIONS.findall(text))
    numbers = [int(number) for each in lists for number in re.findall(r"(?<!\.)\b\d+", each)]
    return [slugs[number] if number < len(slugs) else number for number in numbers]


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_two_chapters_are_moved_and_moved_back(tmp_path):
    shutil.copytree(HERE.parent, tmp_path / "autodiff_edu", ignore=shutil.ignore_patterns("__pycache__", "notebooks"))
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for path in OURS.pages:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    files = content(tmp_path)
    toml = tmp_path / "autodiff_edu" / "course" / "chapters" / "course.toml"

    def course():
        there = Course(toml.parent, tmp_path / "notebooks")
        read_in = {chapter.slug: read(chapter.notebook) for chapter in there.chapters}
        read_in |= {str(path): read(path) for path in [*there.pages, *toml.parent.glob("*.py")]}
        return [chapter.slug for chapter in there.chapters], read_in

    listed = moved = toml.read_text(encoding="utf-8")
    old, before = course()
    for slug, above in ("multiple-tapes", "training"), ("memory", "higher-order-gradients"):
        moved = moved.replace(f'    "{slug}",\n', "").replace(f'    "{above}",\n', f'    "{above}",\n    "{slug}",\n')
    toml.write_text(moved, encoding="utf-8")

    said = run(tmp_path, "renumber")
    new, after = course()
    assert all(old.index(slug) != new.index(slug) for slug in ("multiple-tapes", "memory"))
    was, now = (f"{order.index('multiple-tapes'):02}-multiple-tapes.ipynb" for order in (old, new))
    assert f"{was} is now {now}" in said
    of_one = next(line for line in said.splitlines() if "the nudge that fools a classifier" in line)
    assert f"| chapters {new.index('multiple-tapes')} and {new.index('higher-order-gradients')} |" in of_one
    for name, text in after.items():
        assert mentioned(text, new) == mentioned(before[name], old), name
        for number, slug in NAMES.findall(text):
            assert slug not in new or new[int(number)] == slug, f"{name} names {number}-{slug}"
        for number, linked in TITLES.findall(text):
            assert number == (linked.lstrip("0") or "0"), f"{name} links {number} to {linked}"
    assert sum(len(mentioned(text, new)) for text in after.values()) > 800
    for path in (tmp_path / "notebooks").glob("*.ipynb"):
        stored = json.loads(path.read_text(encoding="utf-8"))
        assert stored["metadata"]["executed"] == fingerprint(stored), "another number needs no other run"
    contents = after[str(tmp_path / "book" / "_toc.yml")]
    names = [path.stem for path in sorted((tmp_path / "notebooks").glob("*.ipynb"))]
    assert re.findall(r"chapters/((?:\d\d|[A-Z])-\S+)", contents) == names
    assert run(tmp_path, "renumber") == "", "once is enough"

    toml.write_text(listed, encoding="utf-8")
    run(tmp_path, "renumber")
    again = content(tmp_path)
    assert again.keys() == files.keys()
    assert [name for name in files if again[name] != files[name]] == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("chapter 3", "chapter 5"),
        ("Chapters 3, 4, and 5", "Chapters 5, 3, and 4"),
        ("chapters 3 to 5.", "chapters 5 to 4."),
        ("chapter 3's tape, and 3 others", "chapter 5's tape, and 3 others"),
        ("chapter 33", "chapter 33"),
        ("chapter 3 and 4 others", "chapter 5 and 4 others"),
        ("(cell 2), chapter 3 of the course", "(cell 2), chapter 5 of the course"),
        ("# 3.1: a sum", "# 5.1: a sum"),
        ("# 3.1 is the sum", "# 3.1 is the sum"),
        ("### 3.1 A sum", "### 5.1 A sum"),
        ("as in chapter\n3, where", "as in chapter\n5, where"),
        ("appendix A and Appendix B", "appendix B and Appendix A"),
        ("exercises 3.1 and 4.10", "exercises 5.1 and 3.10"),
        ("exercise 1", "exercise 1"),
        ("Exercises 1 to 3", "Exercises 1 to 3"),
        ("[3 · Shapes](03-shapes.ipynb#x)", "[5 · Shapes](05-shapes.ipynb#x)"),
        ("03-shapes and 03-shapes-2", "05-shapes and 03-shapes-2"),
        ("x/03-shapes.html and 03-shapes. So", "x/05-shapes.html and 05-shapes. So"),
        ("{doc}`03-shapes`, 'B-rod'", "{doc}`05-shapes`, 'A-rod'"),
        ("2003-shapes, 13-shapes, 03-shapes.npy, my-03-shapes", "2003-shapes, 13-shapes, 03-shapes.npy, my-03-shapes"),
        ("An A-rod, a B-rod, 2024-rod.npy", "An A-rod, a B-rod, 2024-rod.npy"),
        ("- file: chapters/B-rod\n- file: B-rod\n- B-rod", "- file: chapters/A-rod\n- file: A-rod\n- A-rod"),
        ("[B · Rod](B-rod.ipynb), a\nB-rod", "[A · Rod](A-rod.ipynb), a\nB-rod"),
        ('check("3.1", 3.1)', 'check("5.1", 3.1)'),
        ('predict("A.b")', 'predict("B.b")'),
        ('RIGHT["3.2"][3]', 'RIGHT["5.2"][3]'),
        ("Baydin et al. (2018), chapter 3", "Baydin et al. (2018), chapter 3"),
        ("its chapter 3", "its chapter 3"),
        ("Chapter 3 of their book", "Chapter 3 of their book"),
        ("x[3] + 3.1", "x[3] + 3.1"),
    ],
)
def test_a_mention_is_rewritten_and_what_only_looks_like_one_is_not(text, wanted):
    moved = {"3": "5", "4": "3", "5": "4", "A": "B", "B": "A"}
    assert rewrite(text, moved, {"03-shapes": "05-shapes", "B-rod": "A-rod"}) == wanted


TOML = 'title = "Heat"\nlanguage = "en"\nchapters = ["a-rod", "first"]\nfirst = 1\npages = ["*.md"]\n'


def titled(path, title, *sources):
    notebook(path, *sources)
    found = json.loads(path.read_text(encoding="utf-8"))
    found["cells"].insert(0, {"cell_type": "markdown", "id": "title", "metadata": {}, "source": title})
    path.write_text(json.dumps(found), encoding="utf-8")


def test_a_new_chapter_of_a_course_of_ones_own_pushes_the_others_on(tmp_path):
    (tmp_path / "course.toml").write_text(TOML, encoding="utf-8")
    titled(tmp_path / "01-first.ipynb", "# 1 · The beginning", "1")
    titled(tmp_path / "a-rod.ipynb", "# A rod", "1")
    (tmp_path / "plan.md").write_text("- [1 · The beginning](01-first.ipynb)\n\nRead chapter 1.\n", encoding="utf-8")
    assert main(["renumber", "--course", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.glob("*.ipynb")) == ["01-a-rod.ipynb", "02-first.ipynb"]
    assert (tmp_path / "plan.md").read_text(encoding="utf-8") == (
        "- [2 · The beginning](02-first.ipynb)\n\nRead chapter 2.\n"
    )
    cell = json.loads((tmp_path / "02-first.ipynb").read_text(encoding="utf-8"))["cells"][0]
    assert "".join(cell["source"]) == "# 2 · The beginning\n\n*Previous: [1 · A rod](01-a-rod.ipynb)*"


def test_where_nothing_was_moved_nothing_is_rewritten(tmp_path, capsys):
    (tmp_path / "course.toml").write_text(TOML.replace('"first"]', '"heat"]\nappendices = ["rod"]'), encoding="utf-8")
    for name, title in ("01-a-rod", "# A rod"), ("02-heat", "# Heat"), ("A-rod", "# A"):
        titled(tmp_path / f"{name}.ipynb", title, "1")
    assert main(["renumber", "--course", str(tmp_path)]) == 0
    capsys.readouterr()
    page = tmp_path / "plan.md"
    page.write_text("2024-heat.npy, An A-rod, 17-heat, chapter 1\n- A-rod\n- 02-heat\n- 01-a-rod\n", encoding="utf-8")
    before = content(tmp_path)
    assert main(["renumber", "--course", str(tmp_path)]) == 0
    assert content(tmp_path) == before
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["01-first"], "there is no notebook of 'a-rod', which "),
        (["01-first", "02-a-rod", "a-rod"], "are both of the chapter 'a-rod'; keep one"),
        (["01-first", "02-a-rod", "03-rest"], "03-rest.ipynb is not in the list of "),
        (["01-a-rod", "01-first"], "have the same number, so a mention of chapter 1 may mean either: take the number"),
        (["003-a-rod", "03-first"], "have the same number, so a mention of chapter 3 may mean either"),
    ],
)
def test_notebooks_that_do_not_fit_the_list_are_left_as_they_are(tmp_path, capsys, names, said):
    (tmp_path / "course.toml").write_text(TOML, encoding="utf-8")
    for name in names:
        titled(tmp_path / f"{name}.ipynb", "# Title", "1")
    assert main(["renumber", "--course", str(tmp_path)]) == 1
    assert said in capsys.readouterr().err
    assert sorted(path.stem for path in tmp_path.glob("*.ipynb")) == names


def test_after_an_error_every_file_is_as_it_was(tmp_path, capsys):
    lectures = tmp_path / "lectures"
    new.write(lectures)
    shutil.copy(lectures / "01-a-cup-of-tea.ipynb", lectures / "a-bath.ipynb")
    source = (lectures / "a_cup_of_tea.py").read_text(encoding="utf-8")
    more = 'Prediction("How warm?", answer=3, why="So.")'
    (lectures / "a_bath.py").write_text(
        source.replace("QUESTIONS = (", f"QUESTIONS = (\n    {more},"), encoding="utf-8"
    )
    listed = (lectures / "course.toml").read_text(encoding="utf-8")
    listed = listed.replace('    "a-cup-of-tea",', '    "a-bath",\n    "a-cup-of-tea",')
    (lectures / "course.toml").write_text(listed, encoding="utf-8")
    before = {path: path.read_bytes() for path in lectures.iterdir()}
    assert main(["renumber", "--course", str(lectures)]) == 1
    assert "predict asks for 1 of the 2 predictions in a_bath.py" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in lectures.iterdir() if path.is_file()} == before
