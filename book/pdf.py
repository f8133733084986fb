"""Prints the whole book into one PDF, from its built pages: `python book/pdf.py`, after the book was built.

It needs Chromium, Playwright (extra [test]) and pikepdf (extra [book]). The pages become one document, so that the
links between them work in the PDF too. Players are their key frames, folded code is unfolded, and what steers a page is
left out. The front page links the PDF until the book is built anew.
"""

from __future__ import annotations

import posixpath
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pikepdf
import yaml
from bs4 import BeautifulSoup, Tag

BOOK = Path(__file__).parent
STYLE = BOOK / "pdf.css"
NAME = "autodiff_edu.pdf"
PLACE = "<!-- the PDF -->"  # in the front page
LINK = f'<p>To read on paper or without a browser: <a href="{NAME}">the whole book as one PDF</a>.</p>'
FURNITURE = (
    "script, a.headerlink, button, summary, .viewcode-link, details:has(+ div [data-autodiff-prediction]),"
    " article > section > h1 + p:has(> em:only-child > a), .front > label, .front > form, .front > p"
)
PLAIN = "span.pre, span.n, span.p, span.w, span.o, span.nn, pre > span:not([class])"  # looks as what it stands in
ELSEWHERE = {"rule-source", "contributing/tensorflow-semantics", "made/benchmarks/RESULTS", "teaching"}
"""Pages that are read on a screen, and left out."""
WIDE = {"rule-book", "dictionary"}


def main() -> None:
    """Join the pages, print them, and name the PDF on the front page."""
    site = (BOOK / "_build" / "html").resolve()
    if not (site / "index.html").exists():
        sys.exit("The book is not built yet. Run `jupyter-book build -W --keep-going book/`, then this again.")
    joined = site / "_whole.html"
    joined.write_text(whole(site), encoding="utf-8")
    try:
        with chromium() as browser:
            print_to(site / NAME, joined, browser)
    finally:
        joined.unlink()
    front = site / "index.html"
    front.write_text(front.read_text(encoding="utf-8").replace(PLACE, LINK), encoding="utf-8")
    print(f"{site / NAME}: {(site / NAME).stat().st_size / 1e6:.1f} MB")


def parts() -> list[tuple[str, list[str]]]:
    """Return the captions of the contents, each with its pages, in the order of reading."""
    contents = yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf-8"))
    files = {part["caption"]: [chapter["file"] for chapter in part["chapters"]] for part in contents["parts"]}
    named = [(caption, [name for name in some if name not in ELSEWHERE]) for caption, some in files.items()]
    return [("", [contents["root"]]), *named]


def whole(site: Path, wanted: list[tuple[str, list[str]]] | None = None) -> str:
    """Return pages of a built book as one document that lies in the site's folder, after a title and the contents.

    Parameters
    ----------
    site
        The folder of the built book.
    wanted
        Captions, each with its pages; all of the book if not given.
    """
    wanted = parts() if wanted is None else wanted
    names = [name for _, some in wanted for name in some]
    articles = {name: article(site, name, names) for name in names}
    front = BeautifulSoup((site / "index.html").read_text(encoding="utf-8"), "html.parser")
    styles = "".join(map(str, front.head.find_all("link", rel="stylesheet")))
    mathjax = (
        "<script>window.MathJax = {options: {processHtmlClass: 'tex2jax_process|mathjax_process|math|output_area'}}"
        '</script><script defer src="_static/mathjax/tex-chtml.js"></script>'
    )
    title = BeautifulSoup(str(articles[names[0]]), "html.parser").h1.get_text()
    lists = "".join(
        f"<p>{caption}</p><ul>{''.join(entry(name, articles[name]) for name in some)}</ul>" for caption, some in wanted
    )
    settings = yaml.safe_load((BOOK / "_config.yml").read_text(encoding="utf-8"))
    told = f"{settings['title']} · © {settings['copyright']}"
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>'
        f"{styles}<style>{STYLE.read_text(encoding='utf-8')}</style>{mathjax}</head><body>"
        f'<header class="title"><p class="name">{title}</p>'
        f"<p>Write NumPy, record it on a tape, and watch the gradient come back.</p>"
        f'<p class="small">{told}</p></header>'
        f'<nav><p class="title">Contents</p>{lists}</nav>'
        f"{''.join(map(str, articles.values()))}</body></html>"
    )


def entry(name: str, page: Tag) -> str:
    """Return the line of the contents that leads to a page."""
    return f'<li><a href="#{anchor(name)}">{page.h1.get_text()}</a></li>'


def anchor(name: str, fragment: str = "") -> str:
    """Return the id, in the joined document, of a page or of an id in it."""
    return f"{name.replace('/', '-')}--{fragment}"


def article(site: Path, name: str, names: list[str]) -> Tag:
    """Return what a page says, with ids of its own and links into the joined document."""
    document = BeautifulSoup((site / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    body = document.select_one("article.bd-article")
    for player in body.select("[data-autodiff-player]"):
        picture = player.find("p")
        picture["class"] = "key-frame"
        player.replace_with(picture)
    for part in body.select(f'{FURNITURE}, section[id^="solution-to-"]'):  # nobody should meet a solution by accident
        part.decompose()
    for part in body.select("details"):
        part.name, part["class"] = "div", "folded"
    for part in body.select(f"{PLAIN}, :is(td, th, li) > p:only-child"):
        part.unwrap()
    for part in body.select("div.cell_input, div.cell_output, div.highlight"):
        if part.get_text().count("\n") <= 25 and not part.find("img"):
            part["class"] = [*part.get("class", ()), "short"]
    for part in body.select("[id]"):
        part["id"] = anchor(name, part["id"])
    for part in body.select("[loading]"):  # once it comes near
        del part["loading"]
    for part in body.select("[src]"):
        if not urlsplit(part["src"]).scheme:
            part["src"] = posixpath.normpath(posixpath.join(posixpath.dirname(name), part["src"]))
    for link in body.select("a[href]"):
        aim(link, name, names)
    body["id"] = anchor(name)
    body["class"] = [*body.get("class", ()), "wide"] if name in WIDE else body.get("class", ())
    return body


def aim(link: Tag, name: str, names: list[str]) -> None:
    """Let a link lead to its place in the joined document; one that leads to a file that is not there leads nowhere."""
    parts = urlsplit(link["href"])
    if parts.scheme:
        return
    path = (
        posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path)))
        if parts.path
        else f"{name}.html"
    )
    page = path.removesuffix(".html")
    if page in names:
        link["href"] = f"#{anchor(page, unquote(parts.fragment))}"
    else:
        link.unwrap()


@contextmanager
def chromium() -> Iterator[Any]:
    """Start Debian's Chromium, which asks nothing of the network."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        sys.exit("Printing needs Chromium, and there is none on the PATH. On Debian: apt-get install chromium")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


def print_to(pdf: Path, document: Path, browser: Any) -> None:
    """Print a document, once its formulas are drawn."""
    page = browser.new_page(color_scheme="light")
    page.set_default_timeout(0)  # four hundred pages take minutes
    page.goto(document.as_uri())
    page.evaluate("async () => { await window.MathJax.startup.promise; await document.fonts.ready; }")
    page.pdf(path=str(pdf), prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    page.close()
    # Chromium writes the tags of six hundred pages one by one and uncompressed: a third of the file.
    with pikepdf.open(pdf, allow_overwriting_input=True) as printed:
        printed.save(pdf, object_stream_mode=pikepdf.ObjectStreamMode.generate)


if __name__ == "__main__":
    main()
