"""Every link leads somewhere: to files and headings that exist, and to known hosts. The network is not asked."""

import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
READ = ("*.md", "book/*.md", "book/contributing/*.md", "notebooks/*.ipynb", "notebooks/data/*.md", "benchmarks/*.md")
PAGES = sorted(path for pattern in READ for path in ROOT.glob(pattern))
SOURCES = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "autodiff_edu").rglob("*.py")))
# The labels that book/_ext/sources.py gives to code; the book's own build finds those that point to nothing.
LABELS = {f"code-of-{name}" for name in re.findall(r"\w+", SOURCES)}
MADE = {
    "book/made/benchmarks/": "benchmarks/",
    "book/chapters/": "notebooks/",
    "book/where-you-are.html": "book/live/where.html",
}
"""What is copied when the book is built."""
HOSTS = {"creativecommons.org", "doi.org", "www.tensorflow.org"}
LINK = re.compile(
    r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|\b(?:href|src)=[\"']([^\"']+)[\"']|(?<![(\"'<])(https?://[^\s)>`\"']+)"
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def text_of(path):
    """Read a page's Markdown, without the code in it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return CODE.sub(lambda code: "\n" * code[0].count("\n"), text)


def links(text):
    return [next(filter(None, groups)) for groups in LINK.findall(text)]


def anchors(path):
    """Return the anchors of a page: of a chapter as JupyterLab makes them, of a page as Markdown sites do."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = text_of(path)
    headings = re.findall(r"^#+ +(.+?) *#*$", text, re.MULTILINE)
    if path.suffix == ".ipynb":
        return {heading.replace(" ", "-") for heading in headings}
    given = set(re.findall(r"\]\{#([\w-]+)\}", text))  # as MyST writes an anchor within a line
    return given | LABELS | {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def original(path):
    copied = next((folder for folder in MADE if path.startswith(folder)), "")
    return MADE.get(copied, "") + path.removeprefix(copied)


def trouble(page, link):
    """Return what is wrong with a link, or nothing."""
    parts = urlsplit(link)
    if parts.scheme:
        if parts.scheme != "https":
            return f"{link}: not https"
        return "" if parts.hostname in HOSTS else f"{link}: an unknown host; is it meant, and will it last?"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_relative_to(ROOT):
        return f"{link}: outside the project"
    target = ROOT / original(target.relative_to(ROOT).as_posix())
    if not target.exists():
        return f"{link}: no such file"
    if parts.fragment and unquote(parts.fragment) not in anchors(target):
        return f"{link}: no such heading in {target.name}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page):
    assert [said for link in links(text_of(page)) if (said := trouble(page, link))] == []


def test_broken_links_are_found(tmp_path):
    page = ROOT / "README.md"
    text = """[a](LICENSE) [b](nowhere.md "title") <img src="book/no.png"> [c](#the-map) [d](#nowhere)
        http://example.org/x [e](https://doi.org/10.5281/zenodo.3960218) [f](http://doi.org/) [g](../x)
        [h](book/rule-book.md#no) [i](https://example.org/y)"""
    assert [said.split(": ")[-1] for link in links(text) if (said := trouble(page, link))] == [
        "no such file",
        "no such file",
        "no such heading in README.md",
        "not https",
        "not https",
        "outside the project",
        "no such heading in rule-book.md",
        "an unknown host; is it meant, and will it last?",
    ]


def test_every_known_host_is_still_linked_to():
    assert {urlsplit(link).hostname for page in PAGES for link in links(text_of(page))} - {None} == HOSTS


def test_the_chapters_are_one_chain():
    chapters = [page for page in PAGES if page.suffix == ".ipynb"]
    for page, previous, following in zip(chapters, [None, *chapters], [*chapters[1:], None], strict=False):
        title = next(cell for cell in json.loads(page.read_text(encoding="utf-8"))["cells"])
        found = links("".join(title["source"]))
        assert found == [other.name for other in (previous, following) if other], page.name
