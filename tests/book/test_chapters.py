"""What the book is made of: chapters that can be shown as they are, pages that are up to date, workflows that parse."""

from __future__ import annotations

import doctest
import io
import json
import re
import tomllib
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from matplotlib.image import imsave

import autodiff_edu

pytest.importorskip("sphinx", reason='Jupyter Book is not installed: pip install -e ".[lab,test,book]"')

import chapters
import finishing
import reference
from answered import answered
from docutils import nodes
from docutils.utils import new_document
from jupyter_book.config import get_final_config
from sphinx.errors import ExtensionError

from autodiff_edu import course
from autodiff_edu.course.tools.execute import fingerprint
from autodiff_edu.text.shared import shared

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TRACE = '<div data-autodiff-player><script type="application/json">{"version":%s,"tables":[]}</script></div>'


def notebook(**changes: Any) -> dict[str, Any]:
    output = {
        "output_type": "execute_result",
        "metadata": {},
        "data": {"text/html": [TRACE % shared()["version"]]},
    }
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": ["ad.play(f)"], "outputs": [output]}
    content = {"cells": [cell | changes], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    content["metadata"]["executed"] = fingerprint(content)
    return content


def written(folder: Path, content: Any) -> Path:
    path = folder / "08-stop-recording.ipynb"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_chapter_that_was_run_is_taken(tmp_path):
    content = notebook()
    assert chapters.checked(written(tmp_path, content)) == content


def changed() -> dict[str, Any]:
    content = notebook()
    content["cells"][0]["source"] = ["ad.play(g)"]
    return content


def unmarked() -> dict[str, Any]:
    content = notebook()
    del content["metadata"]["executed"]
    return content


def of_version(version: str) -> list[dict[str, Any]]:
    return [{"output_type": "display_data", "metadata": {}, "data": {"text/html": TRACE % version}}]


RUN = re.escape("run: python -m autodiff_edu.course execute notebooks/08-stop-recording.ipynb")
UNFIT = {
    "no output": (notebook(execution_count=None, outputs=[]), f"no stored output.*{RUN}"),
    "a cell not run": (notebook(execution_count=None), f"no stored output.*{RUN}"),
    "cells run out of order": (notebook(execution_count=2), f"was changed since it was run.*{RUN}"),
    "a source that was changed": (changed(), f"was changed since it was run.*{RUN}"),
    "no fingerprint": (unmarked(), f"was changed since it was run.*{RUN}"),
    "an older trace": (
        notebook(outputs=of_version("1")),
        f"a trace of version 1, and the player draws version {shared()['version']}.*{RUN}",
    ),
    "an error": (notebook(outputs=[{"output_type": "error"}]), f"an error that nothing catches.*{RUN}"),
    "no notebook": ("<<<<<<< HEAD", "is not a notebook.*restore it from Git"),
    "no cells": ({}, "is not a notebook.*restore it from Git"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_a_chapter_that_cannot_be_shown_as_it_is_stops_the_build_and_is_named(case, tmp_path):
    content, message = UNFIT[case]
    with pytest.raises(ExtensionError, match=f"notebooks/08-stop-recording.ipynb.*{message}"):
        chapters.checked(written(tmp_path, content))


def test_a_missing_chapter_is_named(tmp_path):
    with pytest.raises(ExtensionError, match=r"notebooks/07-x\.ipynb is missing: write it, or take it out of"):
        chapters.checked(tmp_path / "07-x.ipynb")


def test_the_contents_list_every_chapter():
    listed = re.findall(r"file: chapters/((?:\d\d|[A-Z])-.*)", (BOOK / "_toc.yml").read_text(encoding="utf-8"))
    assert listed == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_the_alt_text_of_a_picture_is_where_the_book_looks_for_it():
    picture = {"output_type": "display_data", "data": {"image/png": ""}, "metadata": {"image/png": {"alt": "A line."}}}
    cell = json.loads(chapters.for_the_book(notebook(outputs=[picture])))["cells"][0]
    assert cell["metadata"]["mystnb"] == {"image": {"alt": "A line."}}


def test_the_bar_above_what_is_hidden_says_what_it_hides():
    def prompt(*tags):
        cell = json.loads(chapters.for_the_book(notebook(metadata={"tags": list(tags)})))["cells"][0]
        return cell["metadata"].get("mystnb", {}).get("code_prompt_show")

    assert prompt("solution", "hide-input", "hide-output") == "Show the solution's {type}"
    assert prompt("hide-input") == "Show the code"
    assert prompt("hide-output") is None, "as _config.yml has it"
    config = yaml.safe_load((BOOK / "_config.yml").read_text(encoding="utf-8"))["sphinx"]["config"]
    assert config["nb_code_prompt_show"] == "Show the {type}"


def test_curves_are_told_from_pictures_whose_shades_mean_something():
    def classes(picture):
        written = io.BytesIO()
        imsave(written, picture, format="png", cmap="gray", vmin=0, vmax=1)
        data = {"image/png": b64encode(written.getvalue()).decode()}
        output = {"output_type": "display_data", "data": data, "metadata": {"image/png": {"alt": "A picture."}}}
        cell = json.loads(chapters.for_the_book(notebook(outputs=[output])))["cells"][0]
        return cell["metadata"]["mystnb"]["image"].get("classes")

    curve = np.ones((20, 20))
    curve[10] = 0
    assert classes(curve) == "on-white"
    assert classes(np.linspace(0, 1, 400).reshape(20, 20)) is None


def test_a_download_has_no_outputs_and_what_the_book_added_is_gone():
    content = notebook()
    content["cells"][0]["metadata"]["mystnb"] = {"image": {"alt": "A line."}}
    (cell,) = json.loads(finishing.to_run(content))["cells"]
    assert (cell["outputs"], cell["execution_count"], cell["metadata"]) == ([], None, {})
    assert cell["source"] == ["ad.play(f)"]


@pytest.mark.parametrize("base", ["", "https://example.org/book/"])
def test_a_picture_is_named_only_where_the_site_has_an_address(base):
    document = new_document("page")
    document += nodes.title("", "The tape")
    config = SimpleNamespace(html_title="autodiff_edu", root_doc="index", html_baseurl=base, course="")
    described = '<meta content="What &quot;it&quot; is" lang="en" name="description" />'
    context = {"pageurl": f"{base}x.html", "metatags": described}
    finishing.present(SimpleNamespace(config=config), "x", "page.html", context, document)
    assert '<meta property="og:title" content="The tape · autodiff_edu" />' in context["metatags"]
    assert '<meta property="og:description" content="What &quot;it&quot; is" />' in context["metatags"]
    assert ("og:image" in context["metatags"]) == bool(base)
    if base:
        assert 'content="https://example.org/book/_static/card.png"' in context["metatags"]


def test_the_book_says_nothing_of_an_index_that_does_not_have_the_package():
    for page in BOOK.glob("*.md"):
        assert not re.search(r"pip install [\"']?autodiff-edu", page.read_text(encoding="utf-8")), page.name


@pytest.mark.parametrize("name", ["why-none", "corners", "inside"])
def test_what_the_programs_of_a_page_print_is_up_to_date(name):
    path = BOOK / f"{name}.md"
    text = path.read_text(encoding="utf-8")
    assert answered(text) == text, f"run: python book/_ext/answered.py book/{name}.md"


def test_every_reason_for_none_has_a_program_whose_gradient_is_none():
    reasons = (BOOK / "why-none.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(reasons) >= 8
    for reason in reasons:
        assert " is None:\n- " in reason


def test_the_reference_lists_every_public_name():
    text = (BOOK / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\.\. auto\w+:: (?:[\w.]+\.)?(\w+)$", text, re.MULTILINE)
    described = {"nn", "plots", "rules"}  # rooms, whose names are listed one by one or told in a sentence
    assert {*autodiff_edu.__all__, *course.__all__} - described <= set(listed)
    assert all(f"ad.{name}" in text or f"autodiff_edu.{name}" in text for name in described)


def test_a_method_links_to_its_chapter_or_to_that_of_its_class():
    assert reference.refer("Variable.assign") == [":doc:`/chapters/06-watched-or-none`"]
    assert doctest.testmod(reference).failed == 0


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_buttons_know_the_repository_from_one_place(slash):
    configuration = yaml.safe_load((BOOK / "_config.yml").read_text(encoding="utf-8"))
    assert header_buttons(configuration) == []
    configuration["repository"]["url"] = f"https://github.com/someone/somewhere{slash}"
    (launch,) = header_buttons(configuration)
    assert [button["url"] for button in launch["buttons"]] == [
        "https://mybinder.org/v2/gh/someone/somewhere/main?urlpath=lab/tree/notebooks/01-the-tape.ipynb",
        "https://colab.research.google.com/github/someone/somewhere/blob/main/notebooks/01-the-tape.ipynb",
    ]


def test_the_button_that_opens_a_chapter_is_there_only_if_the_lab_has_it():
    configuration = yaml.safe_load((BOOK / "_config.yml").read_text(encoding="utf-8"))
    (button,) = header_buttons(configuration, in_lab=("01-the-tape",))
    assert button["url"] == "../lab/lab/index.html?path=01-the-tape.ipynb"
    assert header_buttons(configuration, in_lab=("02-backward",)) == []


def header_buttons(configuration: dict[str, Any], *, in_lab: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What a chapter shows besides the theme's own, as Jupyter Book makes its options from the configuration."""
    given = {"latex_individualpages": False}  # it asks for this, whatever is built
    options = get_final_config(user_yaml=configuration, cli_config=given, sourcedir=BOOK)[0]["html_theme_options"]
    context: dict[str, Any] = {"header_buttons": [], "script_files": [], "pathto": lambda name, _: f"../{name}"}
    app = SimpleNamespace(config=SimpleNamespace(html_theme_options=options, in_lab=in_lab))
    chapters.describe(app, "chapters/01-the-tape", "page.html", context, None)
    return context["header_buttons"]


def test_the_citation_the_changes_and_the_page_for_teachers_are_of_this_version():
    version = autodiff_edu.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == version
    released = re.findall(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert (version, str(citation["date-released"])) in released
    wheels = re.findall(r"autodiff_edu-([\d.]+)-py3", (BOOK / "for-teachers.md").read_text(encoding="utf-8"))
    assert wheels == [version]


@pytest.mark.parametrize("name", ["SECURITY", "CODE_OF_CONDUCT", "book/about"])
def test_a_page_says_whom_to_write_to_or_that_there_is_no_address_yet(name):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    addresses = [author["email"] for author in project["authors"] if "email" in author]
    if name == "book/about":
        configuration = yaml.safe_load((BOOK / "_config.yml").read_text(encoding="utf-8"))
        addresses += filter(None, [configuration["repository"]["url"]])
    text = " ".join((ROOT / f"{name}.md").read_text(encoding="utf-8").split())
    assert all(address in text for address in addresses)
    assert ("No address for this has been set yet" in text) == (not addresses)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_has_what_github_asks_for(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    questions = form["body"]
    assert len({question["id"] for question in questions}) == len(questions)
    assert all(question["type"] in ("input", "textarea", "dropdown", "checkboxes") for question in questions)
    assert all(question["attributes"]["label"] for question in questions)
    assert any(question.get("validations", {}).get("required") for question in questions)


def test_a_hook_runs_a_tool_of_the_environment_that_ci_runs_too():
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repository["repo"] == "local"
    run, workflow = ((ROOT / path).read_text(encoding="utf-8") for path in (".ci/run", ".github/workflows/test.yml"))
    for hook in repository["hooks"]:
        if hook["language"] == "system":
            assert hook["entry"].startswith(".venv/bin/"), hook["id"]
            assert hook["entry"].partition(" --force")[0].partition(" -q")[0] in run, hook["id"]
        else:
            assert f"pre-commit run {hook['id']}" in workflow


@pytest.mark.parametrize("name", ["test", "release"])
def test_a_workflow_parses_and_calls_what_is_there(name):
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow[True]  # YAML reads the key "on" as a truth value
    assert all("runs-on" in job and job["steps"] for job in workflow["jobs"].values())
    for script in re.findall(r"((?:tests|\.ci)/[\w./]+)", text):
        assert (ROOT / script).exists(), script
