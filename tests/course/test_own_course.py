"""A lecturer's own course: its folder from the template, its values where they are asked for, and the page about it."""

import base64
import contextlib
import io
import json
import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from submissions import CHECK, notebook
from traitlets.config import PyFileConfigLoader
from walkthrough import follow

from autodiff_edu.course import check, predict, values
from autodiff_edu.course.__main__ import main
from autodiff_edu.course.contents import OURS, Course
from autodiff_edu.course.tools import assignment, book, new
from autodiff_edu.course.tools.execute import execute
from autodiff_edu.course.tools.fill import fill
from autodiff_edu.course.tools.submission import grade
from autodiff_edu.course.values import NAME, pack, unpack

PAGE = Path(__file__).parents[2] / "book" / "write-your-own-chapter.md"
QUESTIONS, CHAPTER = "a_cup_of_tea.py", "01-a-cup-of-tea.ipynb"
RIGHT = "41.589"


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch):
    monkeypatch.setattr(values, "_chosen", [])


@pytest.fixture
def lectures(tmp_path):
    new.write(tmp_path / "lectures")
    return tmp_path / "lectures"


def replace(path, old, text):
    source = path.read_text(encoding="utf-8")
    assert old in source
    path.write_text(source.replace(old, text), encoding="utf-8")


# The folder -------------------------------------------------------------------------------------------------------


def test_new_writes_over_nothing(tmp_path, capsys):
    folder = tmp_path / "some" / "lectures"
    assert main(["new", str(folder)]) == 0
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(written) == {"course.toml", QUESTIONS, CHAPTER}
    assert capsys.readouterr().out.split() == [str(folder / name) for name in sorted(written)]
    (folder / QUESTIONS).unlink()
    assert main(["new", str(folder)]) == 1
    assert f"{folder} is there already, and not empty. Nothing was written." in capsys.readouterr().err
    assert set(folder.iterdir()) == {folder / "course.toml", folder / CHAPTER}
    assert main(["new", str(folder / CHAPTER)]) == 1
    assert (folder / CHAPTER).read_bytes() == written[CHAPTER]


def test_the_template_has_what_a_chapter_can_have():
    cells = json.loads((new.TEMPLATE / CHAPTER).read_text(encoding="utf-8"))["cells"]
    source = "\n".join("".join(cell["source"]) for cell in cells)
    for part in ("ad.play(", 'predict("1.a")', 'check("1.1", answer)', "described(figure", "check, described, predict"):
        assert part in source
    assert not any(cell.get("outputs") for cell in cells)
    tags = [tag for cell in cells for tag in cell["metadata"].get("tags", ())]
    assert {"hide-input", "hide-output", "exercise", "solution"} == set(tags)
    course = Course(new.TEMPLATE)
    assert (list(course.predictions), list(course.exercises)) == (["1.a"], ["1.1"])
    for path in (new.TEMPLATE / "course.toml", new.TEMPLATE / QUESTIONS):
        assert len(re.findall(r"^ *# ", path.read_text(encoding="utf-8"), re.M)) >= 5, "it is commented"


# Where the values are found ---------------------------------------------------------------------------------------


def test_a_notebook_asks_the_course_whose_folder_it_is_in(lectures, monkeypatch):
    (lectures / "deep" / "er").mkdir(parents=True)
    for folder in (lectures, lectures / "deep" / "er"):
        monkeypatch.chdir(folder)
        assert check("1.1", 41.589).right
        assert "one degree per minute" in check("1.1", 20.79).message
        assert predict("1.a").question.startswith("What is the slope of the temperature")
        with pytest.raises(KeyError, match=r"there is no exercise '1\.2'; there are 1\.1"):
            check("1.2", 0)
    monkeypatch.chdir(lectures.parent)
    assert values.find_course() is OURS
    monkeypatch.chdir(OURS.notebooks)
    assert values.find_course() is OURS


def test_what_its_author_changes_is_asked_at_once(lectures, monkeypatch):
    monkeypatch.chdir(lectures)
    assert predict("1.a").answer == -2
    replace(lectures / QUESTIONS, "answer=-2,", "answer=-3,")
    os.utime(lectures / QUESTIONS, (2e9, 2e9))
    assert predict("1.a").answer == -3


def test_a_packed_course_answers_as_its_folder_does(lectures, tmp_path, monkeypatch):
    packed = pack(Course(lectures))
    assert packed == pack(Course(lectures)), "the same bytes each time"
    (tmp_path / "handout" / "deep").mkdir(parents=True)
    (tmp_path / "handout" / NAME).write_bytes(packed)
    for folder in (tmp_path / "handout", tmp_path / "handout" / "deep"):
        monkeypatch.chdir(folder)
        assert check("1.1", 41.589).right
        assert "one degree per minute" in check("1.1", 20.79).message
        assert predict("1.a").hints[2].startswith("That is how fast it changes.")


def test_no_answer_is_read_in_passing(lectures):
    packed = pack(Course(lectures))
    for text in (packed, base64.b64decode(packed)):
        for word in (b"np.log", b"degree", b"answer", b"hints"):
            assert word not in text


def archive(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)
    return base64.b64encode(buffer.getvalue())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no base64!",
        base64.b64encode(b"no archive"),
        archive(),
        archive(a="b"),
        archive(**{"course.toml": "title = "}),
        archive(**{"course.toml/": "", "course.toml/x": ""}),
        archive(**{"x": "a file", "x/y": "below it"}),
    ],
)
def test_a_damaged_file_is_an_error_that_says_what_to_do(content, tmp_path):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(ValueError, match=f"{NAME} is damaged, so no answer can be checked. Ask your teacher"):
        unpack(tmp_path / NAME)


def test_no_changed_byte_is_an_error_of_another_kind(lectures, tmp_path):
    packed = base64.b64decode(pack(Course(lectures)))
    refused = 0
    for place in range(0, len(packed), 7):
        changed = packed[:place] + bytes([packed[place] ^ 0xFF]) + packed[place + 1 :]
        (tmp_path / NAME).write_bytes(base64.b64encode(changed))
        with contextlib.suppress(ValueError):
            unpack(tmp_path / NAME)
            continue
        refused += 1
    assert refused > len(packed) / 10


def test_a_package_beside_the_modules_is_packed_along(lectures, tmp_path, monkeypatch):
    (lectures / "helping" / "deep").mkdir(parents=True)
    for name, text in ("__init__", "from .deep import LOSS"), ("deep/__init__", "from .numbers import LOSS"):
        (lectures / "helping" / f"{name}.py").write_text(text, encoding="utf-8")
    (lectures / "helping" / "deep" / "numbers.py").write_text("LOSS = -2\n", encoding="utf-8")
    (lectures / "submissions").mkdir()
    (lectures / "submissions" / "anna.py").write_text("1", encoding="utf-8")
    replace(lectures / QUESTIONS, "answer=-2,", "answer=LOSS,")
    path = lectures / QUESTIONS
    path.write_text("from .helping import LOSS\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    packed = pack(Course(lectures))
    names = zipfile.ZipFile(io.BytesIO(base64.b64decode(packed))).namelist()
    assert "helping/deep/numbers.py" in names
    assert not any("anna" in name for name in names)
    (tmp_path / "handout").mkdir()
    (tmp_path / "handout" / NAME).write_bytes(packed)
    monkeypatch.chdir(tmp_path / "handout")
    assert predict("1.a").answer == -2
    monkeypatch.chdir(lectures)
    assert predict("1.a").answer == -2
    (lectures / "helping" / "deep" / "numbers.py").write_text("LOSS = -3\n", encoding="utf-8")
    os.utime(lectures / "helping" / "deep" / "numbers.py", (2e9, 2e9))
    assert predict("1.a").answer == -3


# The commands -----------------------------------------------------------------------------------------------------


def test_what_is_handed_out_has_its_values_in_one_file_and_no_solution(lectures, tmp_path):
    (lectures / "data" / "of").mkdir(parents=True)
    (lectures / "data" / "of" / "tea.csv").write_text("80\n", encoding="utf-8")
    assignment.write(tmp_path / "out", course=Course(lectures))
    there = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert there == {CHAPTER, NAME, "data/of/tea.csv"}
    assert "np.log(4.0)" not in (tmp_path / "out" / CHAPTER).read_text(encoding="utf-8")
    assert main(["assignment", "--nbgrader", str(tmp_path / "course"), "--course", str(lectures)]) == 0
    source = tmp_path / "course" / "source" / "01-a-cup-of-tea"
    assert (source / NAME).read_bytes() == pack(Course(lectures))
    assert "### BEGIN SOLUTION" in (source / CHAPTER).read_text(encoding="utf-8")


def test_ours_is_handed_out_without_such_a_file(tmp_path):
    assignment.write(tmp_path, [1])
    assert not (tmp_path / NAME).exists()


def test_the_lecturer_s_folder_judges_whatever_comes_with_a_submission(lectures, tmp_path):
    new.write(tmp_path / "forged")
    replace(tmp_path / "forged" / QUESTIONS, "answer=30 * np.log(4)", "answer=7.0")
    packed = pack(Course(tmp_path / "forged"))
    forge = (
        f"import pathlib\npathlib.Path({NAME!r}).write_bytes({packed!r})\n"
        f"import shutil; shutil.copytree({str(tmp_path / 'forged')!r}, '.', dirs_exist_ok=True)"
    )
    path = notebook(tmp_path / "anna" / CHAPTER, forge, CHECK + 'feedback = check("1.1", 7.0)')
    (path.parent / NAME).write_bytes(packed)
    [result] = grade(path, course=Course(lectures))
    assert (result.exercise, result.right, result.problem) == ("1.1", 0, "")
    path = notebook(tmp_path / "ben" / CHAPTER, CHECK + f'check("1.1", {RIGHT})')
    [result] = grade(path, course=Course(lectures))
    assert (result.exercise, result.right) == ("1.1", 1)


def test_a_chapter_that_has_moved_since_is_not_judged_by_the_questions_of_another(lectures, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["assignment", str(out), "--course", str(lectures)]) == 0
    shutil.copy(lectures / CHAPTER, lectures / "a-bath.ipynb")
    shutil.copy(lectures / QUESTIONS, lectures / "a_bath.py")
    replace(lectures / "course.toml", '    "a-cup-of-tea",', '    "a-bath",\n    "a-cup-of-tea",')
    assert main(["renumber", "--course", str(lectures)]) == 0
    [result] = grade(out / CHAPTER, course=Course(lectures))
    assert (result.exercise, result.right) == ("", 0)
    assert result.problem.startswith("it was handed out as 01-a-cup-of-tea, and is 02-a-cup-of-tea now: grade it with")
    capsys.readouterr()
    assert main(["assignment", str(out), "--course", str(lectures), "--force"]) == 1
    assert "the chapter was handed out under this number; choose another folder" in capsys.readouterr().err


def test_a_course_among_the_submissions_judges_nothing(lectures, tmp_path, monkeypatch, capsys):
    path = notebook(tmp_path / "anna" / CHAPTER, CHECK + 'check("1.1", 7.0)')
    new.write(path.parent / "forged")
    for folder, given in ((path.parent / "forged", ".."), (path.parent / "forged", "."), (lectures, str(tmp_path))):
        monkeypatch.chdir(folder)
        assert main(["grade", given]) == 1
        assert "course.toml is among the submissions" in capsys.readouterr().err
    monkeypatch.chdir(path.parent / "forged")
    assert main(["grade", "..", "--course", str(lectures)]) == 0
    assert "1.1,0,7 is not right." in capsys.readouterr().out


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # of nbgrader's own sessions with its database
def test_nbgrader_gives_points_by_the_values_of_its_source(lectures, tmp_path, monkeypatch):
    folder = tmp_path / "course"
    assert main(["assignment", "--nbgrader", str(folder), "--course", str(lectures)]) == 0
    new.write(tmp_path / "forged")
    replace(tmp_path / "forged" / QUESTIONS, "answer=30 * np.log(4)", "answer=7.0")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # it calls alembic
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    settings = PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config()
    settings.CourseDirectory.root = str(folder)
    api, name = NbGraderAPI(config=settings), "01-a-cup-of-tea"
    assert api.generate_assignment(name)["success"]
    assert (folder / "release" / name / NAME).exists()
    for student, answer in (("anna", "7.0"), ("ben", RIGHT)):
        handed_in = folder / "submitted" / student / name
        shutil.copytree(folder / "release" / name, handed_in)
        replace(handed_in / CHAPTER, "answer = ...", f"answer = {answer}")
        (handed_in / NAME).write_bytes(pack(Course(tmp_path / "forged")))
        assert api.autograde(name, student)["success"]
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        points = [book.find_submission_notebook(name, name, student).score for student in ("anna", "ben")]
    assert points == [0, 1]


BAD = {
    "a word too many": ("course.toml", "language", "tongue", r"course\.toml.*language"),
    "a broken line": ("course.toml", '"en"', "en", r"course\.toml, line 5: "),
    "a slug twice": ("course.toml", '"a-cup-of-tea",', '"a-cup-of-tea",' * 2, r"course\.toml, line 15: .*twice"),
    "no Python": (QUESTIONS, "QUESTIONS = (", "QUESTIONS = ((", r"tea\.py, line \d+: "),
    "no questions": (QUESTIONS, "QUESTIONS = (", "ASKED = (", r"tea\.py.* QUESTIONS"),
    "a name that is missing": (QUESTIONS, "Number(\n", "Numbers(\n", r"tea\.py, line \d+: .*'Numbers'"),
    "a hint that is right": (QUESTIONS, "            2: ", "            -2: ", r"tea\.py, line \d+: .*never shown"),
    "an answer among no choices": (QUESTIONS, "answer=-2,", 'answer="up",', r"tea\.py, line \d+: .*with choices"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_an_error_with_its_file_and_line(case, lectures, capsys):
    name, old, text, message = BAD[case]
    replace(lectures / name, old, text)
    for command in (["list"], ["assignment", str(lectures.parent / "out")]):
        assert main([*command, "--course", str(lectures)]) == 1
        assert re.search(message, capsys.readouterr().err)


FAULTY = {
    "a wrong answer that is right": (QUESTIONS, "30 * np.log(2):", "30.1 * np.log(4):", "tea.py, line ", "right"),
    "a hint that is never reached": (QUESTIONS, "30 * np.log(3):", "30.1 * np.log(2):", "tea.py, line ", "hint"),
    "an exercise that is there twice": (
        QUESTIONS,
        "\n)\n",
        "\n)\nQUESTIONS += QUESTIONS[1:]\n",
        "tea.py, line ",
        "twice",
    ),
    "a prediction that isn't there": (CHAPTER, r"predict(\"1.a\")", r"predict(\"1.b\")", "code cell 3", '"1.b"'),
    "an exercise that isn't there": (CHAPTER, r"check(\"1.1\", a", r"check(\"1.7\", a", "code cell 5", '"1.7"'),
    "an exercise that isn't asked": (
        CHAPTER,
        r"check(\"1.1\", answer)",
        "answer",
        "tea.py, line 3",
        "1.1 is not asked",
    ),
    "a forgotten tag": (CHAPTER, '"exercise"', '"exorcise"', "code cell 5", '"exercise"'),
}


@pytest.mark.parametrize("case", FAULTY)
def test_check_names_the_file_and_the_line_or_the_cell(case, lectures, capsys):
    assert main(["check", str(lectures)]) == 0
    assert capsys.readouterr().out == ""
    name, old, text, *words = FAULTY[case]
    replace(lectures / name, old, text)
    assert main(["check", str(lectures)]) == 1
    [fault, *_] = capsys.readouterr().out.splitlines()
    assert all(word in fault for word in (str(lectures / name if name == CHAPTER else lectures), *words)), fault


def test_check_sees_a_solution_that_is_wrong(lectures, capsys):
    replace(lectures / CHAPTER, "30.0 * np.log(4.0)", "30.0 * np.log(2.0)")
    assert main(["check", str(lectures)]) == 0, "it has not run yet"
    execute(lectures / CHAPTER)
    assert main(["check", str(lectures)]) == 1
    said = capsys.readouterr().out
    assert "code cell 6: the solution of 1.1 is not right. 1.1: Not yet. By then it loses one degree" in said


def test_check_sees_a_solution_that_is_still_missing(lectures, capsys):
    replace(lectures / CHAPTER, "solution = 30.0 * np.log(4.0)", "solution = ...")
    assert main(["check", str(lectures)]) == 1
    assert "code cell 6: the solution of 1.1 is still missing" in capsys.readouterr().out


def test_a_notebook_under_another_number_is_to_be_renumbered(lectures):
    (lectures / CHAPTER).rename(lectures / "02-a-cup-of-tea.ipynb")
    with pytest.raises(FileNotFoundError, match=r"its number is another one: run `python -m"):
        Course(lectures).chapters[0].read()


# A new exercise ---------------------------------------------------------------------------------------------------


def exercises(title, *others):
    """Return the text of further exercises."""
    return "".join(f'    Number("{each}", "How much?", answer=2, why="It is."),\n' for each in (title, *others))


def test_the_cells_of_new_exercises_come_after_the_last(lectures):
    notebook = {"cells": json.loads((lectures / CHAPTER).read_text(encoding="utf-8"))["cells"]}
    notebook["cells"].append({"cell_type": "markdown", "id": "summary", "metadata": {}, "source": "## Summary"})
    before = [cell["id"] for cell in notebook["cells"]]
    replace(lectures / QUESTIONS, "    ),\n)\n", f"    ),\n{exercises('Two', 'More')})\n")
    fill(notebook, Course(lectures).find(1))
    ids = [f"ex-{k}{part}" for k in (2, 3) for part in ("", "-answer", "-fold", "-solution")]
    assert [cell["id"] for cell in notebook["cells"]] == [*before[:-1], *ids, "summary"]
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    assert cells["ex-3"]["source"] == "### 1.3 More\n\nHow much?"
    assert cells["ex-3-answer"]["source"] == 'answer = ...\n\ncheck("1.3", answer)'
    assert cells["ex-3-fold"]["source"] == "#### Solution to 1.3"
    assert cells["ex-3-solution"]["source"] == 'solution = 2\ncheck("1.3", solution)'


def test_an_exercise_that_is_put_before_another_gets_no_cells_of_that(lectures):
    notebook = json.loads((lectures / CHAPTER).read_text(encoding="utf-8"))
    replace(lectures / QUESTIONS, "    Number(\n", f"{exercises('First')}    Number(\n")
    with pytest.raises(ValueError, match=r"check asks for 1 of the 2 exercises in a_cup_of_tea\.py"):
        fill(notebook, Course(lectures).find(1))


def test_a_notebook_that_is_missing_is_named(lectures, capsys):
    (lectures / CHAPTER).unlink()
    assert main(["list", "--course", str(lectures)]) == 1
    assert CHAPTER in capsys.readouterr().err


# The page ---------------------------------------------------------------------------------------------------------


def check_all(folder):
    return follow("```sh\npython -m autodiff_edu.course check\n```", folder)[1]


def test_the_page_can_be_followed_to_its_end(tmp_path):
    page, rest = PAGE.read_text(encoding="utf-8").split("\n## Open it in a book\n")
    build, more = rest.split("\n## ", maxsplit=1)
    folder, printed = follow(page, tmp_path)
    assert folder == (tmp_path / "lectures").resolve()
    promised = re.findall(r"`(\w+: \d of \d right)`", page)
    assert len(promised) == 2
    assert set(promised) <= set(printed.splitlines())
    assert "python -m autodiff_edu.course book ../site/" in build  # which tests/live follows
    _, printed = follow(more, folder)
    assert re.search(r"^02-a-bath\.ipynb +2 · A cup of tea +5 minutes, exercises 10$", printed, re.M)
    assert check_all(folder) == ""


def test_our_own_course_is_not_built_by_book(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["book", "site"]) == 1
    assert "this is not the folder of a course" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def contents(folder):
    paths = sorted(path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if not path.is_symlink()}


def test_a_site_replaces_what_it_wrote_and_only_that(lectures, tmp_path):
    site, out = tmp_path / "built", tmp_path / "deep" / "out"
    for name in ("index.html", "searchindex.js", "chapters/01-a.html", "_static/a/b.js"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(name)
    book.replace_site(site, out)
    (site / "chapters" / "01-a.html").rename(site / "chapters" / "02-a.html")
    book.replace_site(site, out)
    after = contents(out)
    assert set(after) == {*contents(site), book.WRITTEN}
    link = tmp_path / "link"
    link.symlink_to(out)
    book.replace_site(site, link)
    assert link.is_symlink()

    def git():
        (out / ".git").mkdir()
        (out / ".git" / "HEAD").write_text("ref")

    def changed():
        (out / "index.html").write_text("by hand")

    def linked():
        (out / "index.html").unlink()
        (out / "index.html").symlink_to(PAGE)

    def outside():
        shutil.rmtree(out / "chapters")
        (out / "chapters").symlink_to(lectures)

    ways = {
        "CNAME": lambda: (out / "CNAME").write_text("mine"),
        ".git/HEAD": git,
        "lectures/01-a-cup-of-tea.ipynb": lambda: shutil.copytree(lectures, out / "lectures"),
        "index.html": changed,
        "index.html ": linked,
        "chapters": outside,
        "searchindex.js": lambda: (out / book.WRITTEN).unlink(),
        book.WRITTEN: lambda: (out / book.WRITTEN).write_text("[1]"),
        "is not a folder": lambda: (shutil.rmtree(out), out.write_text("a file")),
    }
    for name, change in ways.items():
        shutil.copytree(out, tmp_path / "kept", symlinks=True)
        change()
        for place in (out, link):
            before = contents(tmp_path)
            with pytest.raises(FileExistsError, match=r"Nothing was written\.") as caught:
                book.replace_site(site, place)
            assert contents(tmp_path) == before
            assert name.strip() in str(caught.value) or name == "searchindex.js"
        shutil.rmtree(out) if out.is_dir() else out.unlink()
        (tmp_path / "kept").rename(out)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(FileExistsError, match="leads back to itself"):
        book.replace_site(site, tmp_path / "loop")
    with pytest.raises(FileExistsError, match=r"index\.html is not a folder\. Nothing was written"):
        book.replace_site(site, out / "index.html" / "deep")
    (out / "chapters" / "mine").mkdir()
    shutil.rmtree(site / "_static")
    (site / "_static").write_text("a file in the place of a folder")
    book.replace_site(site, out)
    book.replace_site(site, out)
    assert set(contents(out)) == {*contents(site), book.WRITTEN}
    assert (out / "chapters" / "mine").is_dir()


def test_a_link_to_a_folder_that_is_still_to_be_created_is_followed(tmp_path, capsys):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").touch()
    commands = {"new": ["new"], "handout": ["assignment", "1"], "book": []}
    for name, command in commands.items():
        (link := tmp_path / f"to-{name}").symlink_to(name)
        (loop := tmp_path / f"loop-{name}").symlink_to(loop)
        if command:
            assert main([command[0], str(link), *command[1:]]) == 0
            assert main([command[0], str(loop), *command[1:]]) == 1
            assert f"loop-{name} is a symbolic link that leads back to itself" in capsys.readouterr().err
        else:
            book.replace_site(tmp_path / "site", link)
        assert link.is_symlink()
        assert any((tmp_path / name).iterdir())
    assert main(["list", "--course", str(tmp_path / "loop-new")]) == 1
    assert "loop-new" in capsys.readouterr().err


def test_a_course_is_not_a_site(lectures, monkeypatch, capsys):
    monkeypatch.chdir(lectures)
    (lectures / "searchindex.js").touch()
    before = contents(lectures)
    for place in (".", ".."):
        assert main(["book", place]) == 1
        assert "which was not written by an earlier build. Nothing was written." in capsys.readouterr().err
    assert contents(lectures) == before


@pytest.mark.exhaustive
def test_a_site_has_the_chapter_its_player_and_its_values(lectures, tmp_path, capsys):
    arguments = ["book", str(tmp_path / "site"), "--course", str(lectures)]
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert (
        f"has no stored output in some or all of its cells; run: python -m autodiff_edu.course execute {lectures}"
        in said
    )
    assert "Traceback" not in said
    execute(lectures / CHAPTER)
    assert main(["compare", str(lectures / CHAPTER)]) == 0
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "mine.txt").touch()
    assert main(arguments) == 1
    assert "site holds mine.txt, which was not written by an earlier build. Nothing was" in capsys.readouterr().err
    (tmp_path / "site" / "mine.txt").unlink()
    for _ in range(2):  # a site is replaced
        assert main(arguments) == 0
    page = (tmp_path / "site" / "chapters" / "01-a-cup-of-tea.html").read_text(encoding="utf-8")
    assert "data-autodiff-player" in page
    assert "data-autodiff-prediction" in page
    assert '"kind":"check"' in page
    assert (tmp_path / "site" / "chapters" / NAME).read_bytes() == pack(Course(lectures))
    assert "My lectures" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
