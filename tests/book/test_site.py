"""The book, built from a copy of the sources, as a reader meets it: in Chromium, served and from the file system."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pdf
import pytest
from browser.following import Expected, Shown, violations

from autodiff_edu.player.unpacking import unpack

ROOT = Path(__file__).parents[2]
SOURCES = ["autodiff_edu", "book", "notebooks", "benchmarks", "LICENSE", "CITATION.cff", "CHANGELOG.md"]
MADE = shutil.ignore_patterns("_build", "chapters", "made", ".*", "__pycache__")
REPRESENTATIVE = ["index", "chapters/05-watched-or-none", "why-none", "rule-book", "api"]
PLAYERS = "[data-autodiff-player]"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built book; with AUTODIFF_BOOK, one that was built before."""
    if "AUTODIFF_BOOK" in os.environ:
        return Path(os.environ["AUTODIFF_BOOK"])
    pytest.importorskip("jupyter_book", reason='Jupyter Book is not installed: pip install -e ".[lab,test,book]"')
    folder = tmp_path_factory.mktemp("clone")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=MADE)
        else:
            shutil.copy(ROOT / name, folder)
    program = Path(sys.executable).with_name("jupyter-book")
    command = [str(program), "build", "-W", "--keep-going", str(folder / "book")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert "WARNING" not in done.stdout + done.stderr
    return folder / "book" / "_build" / "html"


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The address of the same folder behind a plain server."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(params=["served", "from a file"])
def address(request: pytest.FixtureRequest, site: Path) -> str:
    return request.getfixturevalue("served") if request.param == "served" else site.as_uri()


def pages(site: Path) -> list[str]:
    """Name every page, without .html."""
    found = [path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")]
    return sorted(name for name in found if not name.startswith("_"))


def test_every_page_opens_and_every_player_plays_to_the_end_of_its_trace(
    site: Path, address: str, open_tab: Any
) -> None:
    tab = open_tab("about:blank")
    played = 0
    for name in pages(site):
        tab.page.goto(f"{address}/{name}.html")
        assert tab.page.locator("article h1").count() == 1 or name == "search", name
        hosts = tab.page.locator(PLAYERS)
        for index in range(hosts.count()):
            host = hosts.nth(index)
            data = host.evaluate("host => host.querySelector('script[type=\"application/json\"]').textContent")
            trace = unpack(json.loads(data))["trace"]
            expected = Expected(trace)
            player = Shown(host.locator("section.player"))
            steps = player.root.evaluate(WALK)
            assert steps == list(range(len(expected))), name
            # Special views have pictures of their own, and over 40 entries fold: each has tests of its own.
            if not {"sweep", "contours", "compiling"} & trace.keys() and len(trace["entries"]) <= 40:
                player.agrees(expected, len(expected) - 1)
            assert player.root.locator(".sentence").text_content() == trace["steps"][-1]["text"]
            played += 1
        tab.stays_home()
        assert tab.complaints == [], name
    assert played >= 15  # the front page's, and one of every chapter at least


# Playwright's own clicks wait for things that a player does not have; a few hundred steps would take minutes.
WALK = """root => {
  const press = (action) => root.querySelector(`[data-action="${action}"]`).click();
  root.querySelector('[data-action="predict"][aria-pressed="true"]')?.click(); // else it waits for answers
  press("first");
  const seen = [Number(root.dataset.step)];
  for (;;) {
    press("next");
    if (Number(root.dataset.step) === seen.at(-1)) return seen;
    seen.push(Number(root.dataset.step));
  }
}"""


def test_the_front_page_s_player_stands_in_the_first_screen_and_plays(address: str, open_tab: Any) -> None:
    tab = open_tab("about:blank", reduced_motion="no-preference")
    tab.page.clock.install()
    for width, height in ((1200, 900), (375, 800)):
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.page.goto(f"{address}/index.html")
        player = Shown(tab.page.locator("section.player"))
        assert player.root.locator("div.bar").bounding_box()["y"] < 0.7 * height
        player.root.get_by_role("button", name="Pause", exact=True).wait_for()  # it plays
        tab.page.clock.run_for(2500)  # and as long as this takes, for the clock goes on
        assert int(player.root.get_attribute("data-step")) >= 2
    tab.is_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["index", "chapters/02-backward", "chapters/11-multiple-tapes"])
def test_the_parts_of_a_player_are_seen_together(page: str, scheme: str, site: Path, open_tab: Any) -> None:
    tab = open_tab(f"{site.as_uri()}/{page}.html", color_scheme=scheme, viewport={"width": 1280, "height": 720})
    asking = tab.page.locator(f"{PLAYERS} section.player button[data-action=predict][aria-pressed=true]")
    asking.evaluate_all("all => all.forEach((button) => button.click())")  # a question takes room while it is asked
    for root in tab.page.locator(f"{PLAYERS} section.player").all():
        Shown(root).is_seen_at_once("controls", "sentence", "lit", "accumulator")
    tab.page.set_viewport_size({"width": 375, "height": 667})
    for root in tab.page.locator(f"{PLAYERS} section.player").all():
        Shown(root).is_seen_at_once("sentence", "accumulator")


def test_the_contents_list_covers_no_player(site: Path, open_tab: Any) -> None:
    tab = open_tab("about:blank", viewport={"width": 1280, "height": 800})
    for page in sorted((site / "chapters").glob("[0-9AB]*.html")):
        tab.page.goto(page.as_uri())
        for height in (720, 900):
            tab.page.set_viewport_size({"width": 1280, "height": height})
            tab.page.wait_for_timeout(500)  # the list folds slowly
            contents = tab.page.locator(".bd-sidebar-secondary").bounding_box()
            player = tab.page.locator(f"{PLAYERS} section.player").first.bounding_box()
            assert contents["y"] + contents["height"] <= player["y"], (page.stem, height)


def test_who_wants_no_motion_gets_none(address: str, open_tab: Any) -> None:
    player = Shown(open_tab(f"{address}/index.html", reduced_motion="reduce").page.locator("section.player"))
    assert player.root.get_by_role("button", name="Play", exact=True).count() == 1


def test_a_player_asks_for_predictions_from_a_file_too(address: str, open_tab: Any) -> None:
    tab = open_tab(f"{address}/chapters/03-shapes.html")
    player = Shown(tab.page.locator("section.player").first)
    player.click("predict")
    for _ in range(60):
        if player.root.locator(".question").is_visible():
            break
        player.click("next")
    assert player.root.locator(".question").is_visible()
    tab.is_quiet()


@pytest.mark.parametrize(
    ("page", "word", "title"),
    [("index", "contribution", "contribution"), ("chapters/02-backward", "pulled back", "pull back")],
)
def test_a_definition_leads_to_its_entry_in_the_glossary(
    page: str, word: str, title: str, address: str, open_tab: Any
) -> None:
    tab = open_tab(f"{address}/{page}.html")
    player = Shown(tab.page.locator("section.player").first)
    player.click("last")
    button = player.root.get_by_role("button", name=word, exact=True).first
    while not button.is_visible():
        player.click("previous")
    button.focus()
    player.press("Enter")
    dialog = player.root.get_by_role("dialog", name=title, exact=True)
    dialog.get_by_role("link", name="In the glossary").click()
    entry = tab.page.locator(":target")
    assert entry.text_content().removesuffix("#") == title
    assert tab.page.url.startswith(f"{address}/glossary.html")
    tab.is_quiet()


def test_the_buttons_of_a_narrow_page_open_what_they_stand_for(address: str, open_tab: Any) -> None:
    page = open_tab(f"{address}/index.html", viewport={"width": 375, "height": 800}).page
    for side in ("primary", "secondary"):
        page.locator(f".{side}-toggle:visible").click()
        assert page.locator(f"#pst-{side}-sidebar-modal").is_visible()
        page.keyboard.press("Escape")


def test_a_click_on_a_heading_sorts_a_table(address: str, open_tab: Any) -> None:
    tab = open_tab(f"{address}/rule-book.html")
    table = tab.page.locator("article table").first
    before = column(table, 1)
    forward = table.get_by_role("button", name="forward")
    forward.click()
    assert table.locator("th", has_text="forward").get_attribute("aria-sort") == "ascending"
    assert column(table, 5) == sorted(column(table, 5))
    forward.focus()
    tab.page.keyboard.press("Enter")
    assert column(table, 5) == sorted(column(table, 5), reverse=True)
    table.get_by_role("button", name="function").click()
    assert table.locator("th[aria-sort]").count() == 1
    names = column(table, 1)
    assert sorted(names) == sorted(before)
    assert names[0] == "alias"
    assert names.index("np.log2") < names.index("np.log10")
    tab.is_quiet()


def test_figures_are_sorted_by_their_size_and_what_is_missing_comes_last(address: str, open_tab: Any) -> None:
    table = open_tab(f"{address}/made/benchmarks/RESULTS.html").page.locator("article table").first
    by_hand = table.get_by_role("button", name="NumPy by hand")
    by_hand.click()
    sorted_times = [text.split(" (")[0] for text in column(table, 2) if "s" in text.split(" (")[0]]
    assert sorted_times == sorted(sorted_times, key=seconds)
    assert len(sorted_times) > 5
    for _ in range(2):
        table.get_by_role("button", name="MyGrad").click()
        figures = column(table, 9)
        assert figures[-1] == "–"
        assert "–" not in figures[: figures.index("–")]


def seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"µs": 1e-6, "ms": 1e-3}[unit]


def column(table: Any, number: int) -> list[str]:
    return table.locator(f"tbody td:nth-child({number})").all_text_contents()


def test_formulas_are_drawn_without_the_network(address: str, open_tab: Any) -> None:
    tab = open_tab(f"{address}/chapters/15-hessian-and-newton.html")
    tab.page.locator("mjx-container").first.wait_for()
    written = tab.page.locator("article .math").count()
    assert written > 0
    assert tab.page.locator("mjx-container[display=true] mjx-math").count() == written
    tab.is_quiet()


@pytest.mark.parametrize("question", ["why is my gradient none", "gradient None", "gradient is None"])
def test_the_search_finds_why_a_gradient_is_none(question: str, address: str, open_tab: Any) -> None:
    tab = open_tab(f"{address}/search.html?q={quote(question)}")
    first = tab.page.locator("#search-results li a").first
    first.wait_for()
    assert first.text_content() == "Why is my gradient None?"
    tab.is_quiet()


@pytest.mark.parametrize(
    ("question", "page", "excerpt"),
    [
        ("backprop", "glossary", ""),
        ("backpropagation", "glossary", ""),
        ("dual numbers", "13-forward-mode", "dual numbers"),
        ("np.einsum", "rule-book", "yes"),
        ("np.linalg.det", "rule-book", "yes"),
    ],
)
def test_a_word_of_the_field_is_found_where_it_is_told(
    question: str, page: str, excerpt: str, address: str, open_tab: Any
) -> None:
    tab = open_tab(f"{address}/search.html?q={quote(question)}")
    first = tab.page.locator("#search-results > ul > li").first
    first.wait_for()
    assert urlsplit(first.locator("a").first.get_attribute("href")).path.endswith(f"{page}.html")
    if address.startswith("http") and excerpt:
        first.locator(".context", has_text=excerpt).wait_for()
    elif not address.startswith("http"):
        assert tab.page.locator("#search-results .context").count() == 0  # a file may not read another
    tab.is_quiet()


def test_rules_are_filtered_and_their_headings_stay_in_view(address: str, open_tab: Any) -> None:
    tab = open_tab(f"{address}/rule-book.html", viewport={"width": 1280, "height": 720})
    field = tab.page.get_by_role("searchbox", name="Filter")
    rows = tab.page.locator(".rules tbody tr")
    every = rows.count()
    field.fill("linalg transposed")
    shown = rows.filter(visible=True).all_text_contents()
    assert 0 < len(shown) < 20
    assert all("linalg" in text and "transposed" in text for text in shown)
    assert tab.page.locator(".filter output").text_content() == f"{len(shown)} of {every}"
    field.fill("")
    box = tab.page.locator(".rules .pst-scrollable-table-container")
    box.evaluate("box => box.scrollTo(0, 1500)")
    heading = box.get_by_role("columnheader", name="function").bounding_box()
    assert heading["y"] == pytest.approx(box.bounding_box()["y"], abs=2)
    assert tab.page.locator(".rules a[href='#helper-share']").count() >= 8
    tab.is_quiet()


@pytest.mark.parametrize("page", ["rule-book", "dictionary"])
def test_names_in_tables_stay_whole_on_the_screen_and_in_print(page: str, address: str, open_tab: Any) -> None:
    tab = open_tab(f"{address}/{page}.html", viewport={"width": 1280, "height": 720})
    for media in ("screen", "print"):
        tab.page.emulate_media(media=media)
        assert tab.page.evaluate(BROKEN) == []
    tab.page.set_viewport_size({"width": 700, "height": 990})  # as wide as paper
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 700


# A word that stands on two lines has a box on each.
BROKEN = """() => [...document.querySelectorAll("article td code .pre")].flatMap((piece) =>
  [...piece.childNodes].filter((part) => part.nodeType === Node.TEXT_NODE).flatMap((part) =>
    [...part.data.matchAll(/[A-Za-z_]\\w*/g)].filter((word) => {
      const range = document.createRange();
      range.setStart(part, word.index);
      range.setEnd(part, word.index + word[0].length);
      return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
    }).map((word) => word[0])))"""


def test_links_in_tables_have_the_colour_of_links(address: str, open_tab: Any) -> None:
    page = open_tab(f"{address}/rule-book.html").page
    colours = "links => [...new Set(links.map((link) => getComputedStyle(link).color))]"
    assert len(page.locator("article p a.reference, article td a.reference").evaluate_all(colours)) == 1


def test_curves_are_light_on_a_dark_page_and_pictures_stay_as_they_are(site: Path, open_tab: Any) -> None:
    page = open_tab(f"{site.as_uri()}/chapters/12-higher-order-gradients.html", color_scheme="dark").page
    plots = page.locator("div.cell_output img:not(.key-frame *, [data-autodiff-player] *)")
    filters = plots.evaluate_all("all => all.map((one) => getComputedStyle(one).filter)")
    assert [one.startswith("invert") for one in filters] == [False, True, True]


def test_the_front_page_says_where_to_begin_before_one_scrolls(address: str, open_tab: Any) -> None:
    page = open_tab(f"{address}/index.html", viewport={"width": 1280, "height": 720}).page
    begin = page.get_by_role("link", name="Begin with chapter 0").bounding_box()
    player = page.locator("section.player").bounding_box()
    assert begin["y"] + begin["height"] < player["y"] < 360
    page.goto(f"{address}/why-none.html")
    assert page.locator("section.player").bounding_box()["y"] < 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_front_page_s_player_is_compact_and_has_a_number_to_drag(scheme: str, address: str, open_tab: Any) -> None:
    tab = open_tab(f"{address}/index.html", viewport={"width": 1280, "height": 720}, color_scheme=scheme)
    root = tab.page.locator("section.player")
    for width, end in ((1280, 724), (375, None)):
        tab.page.set_viewport_size({"width": width, "height": 720})
        for part in (".sentence", ".code", ".graph", ".nudge", "[data-action=play]"):
            assert root.locator(part).first.is_visible(), part
        for part in (".tape-figure", ".at-hand", ".program-figure"):
            assert not root.locator(part).is_visible(), part
        box = root.bounding_box()
        assert end is None or box["y"] + box["height"] <= end
    slider = root.get_by_role("group", name="Nudge").get_by_role("slider")
    before = root.locator(".nudge dl").inner_text()
    slider.focus()
    tab.page.keyboard.press("ArrowRight")
    assert root.locator(".nudge dl").inner_text() != before
    assert root.get_attribute("data-step") == "0"  # the arrow moved the number, not the player
    tab.is_quiet()


def test_every_chapter_shows_a_player_on_its_first_screen(site: Path, open_tab: Any) -> None:
    page = open_tab("about:blank", viewport={"width": 1280, "height": 720}).page
    tops = {}
    for name in (name for name in pages(site) if re.match(r"chapters/(\d|[A-Z]-)|why-none", name)):
        page.goto(f"{site.as_uri()}/{name}.html")
        tops[name] = page.locator(f"{PLAYERS} section.player").first.bounding_box()["y"]
    print(tops)
    assert len(tops) >= 17
    assert {name: top for name, top in tops.items() if top > 660} == {}


def test_the_book_in_print_has_an_outline_and_links_and_nothing_is_clipped(
    site: Path, browser: Any, tmp_path: Path
) -> None:
    names = ["index", "chapters/02-backward", "chapters/15-hessian-and-newton", "rule-book"]
    joined, printed = site / "_printed.html", tmp_path / "part.pdf"
    joined.write_text(pdf.whole(site, [("Some pages", names)]), encoding="utf-8")
    try:
        page = browser.new_page(viewport={"width": 665, "height": 980})  # as wide as the text on A4
        page.emulate_media(media="print")
        page.goto(joined.as_uri())
        page.locator("mjx-container").first.wait_for()
        assert page.locator("button, summary, textarea, input, select, .key-frame ~ pre").count() == 0
        assert page.evaluate("document.body.innerText").count("predict(") == 0
        targets = page.locator("a[href^='#']").evaluate_all("links => links.map((link) => link.hash.slice(1))")
        assert len(targets) > 50
        assert page.evaluate("all => all.filter((id) => !document.getElementById(id))", targets) == []
        assert page.evaluate(CLIPPED) == []
        page.close()
        pdf.print_to(printed, joined, browser)
    finally:
        joined.unlink()
    content = printed.read_bytes()
    assert 40 < len(re.findall(rb"/Type /Page\b", content)) < 80
    assert len(re.findall(rb"/Subtype /Link", content)) > 50
    titles = re.findall(rb"/Title \((.*?)\)", content)
    for title in (b"Which end first?", b"Without the matrix", b"The rule book", b"Helpers"):
        assert title in titles  # once: what is drawn across the edge of a page would be listed twice over
    assert len(content) < 5_000_000


# What is wider than its page, or wider than a box that would cut it off.
CLIPPED = """() => [...document.querySelectorAll("article *")].filter((part) => {
  if (part.closest("mjx-container, svg") || !part.getClientRects().length) return false;
  const edge = part.closest("article").getBoundingClientRect().right;
  return part.getBoundingClientRect().right > edge + 1;
}).map((part) => part.outerHTML.slice(0, 120))"""


def test_the_site_is_light(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.is_file() and path.name != pdf.NAME]
    size = sum(path.stat().st_size for path in files if not {"live", "lite"} & set(path.relative_to(site).parts))
    print(f"{len(files)} files, {size} bytes")
    assert size < 25_000_000
    assert not [path for path in files if path.suffix == ".map"]
    assert (site / "_static" / "card.png").stat().st_size < 100_000


# Whether colours stand out is the dearest of axe's questions, and has one answer for all texts of the same colour, size
# and ground: the first of each kind answers it for all. Everything else is asked of the whole page.
AXE = """async () => {
  const kinds = new Map();
  const look = (root, ground) => {
    for (const element of root.children) {
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity].join();
      const behind = own === "rgba(0, 0, 0, 0),none,1" ? ground : `${ground} ${own}`;
      const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
      if (texts.length && element.checkVisibility()) {
        const { color, fontSize, fontWeight, textShadow, textDecoration, visibility } = style;
        const text = [color, fontSize, fontWeight, textShadow, textDecoration, visibility];
        const kind = [behind, element.tagName, element.parentElement?.tagName, ...text].join();
        if (!kinds.has(kind)) kinds.set(kind, element);
      }
      look(element, behind);
      if (element.shadowRoot) look(element.shadowRoot, behind);
    }
  };
  look(document.body, "");
  const colours = ["color-contrast", "link-in-text-block"];
  const others = Object.fromEntries(colours.map((rule) => [rule, { enabled: false }]));
  const found = [
    await axe.run(document, { resultTypes: ["violations"], rules: others }),
    await axe.run({ include: [...kinds.values()] }, { resultTypes: ["violations"], runOnly: colours }),
  ];
  return found.flatMap(({ violations }) => violations);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_five_pages(scheme: str, site: Path, open_tab: Any) -> None:
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    axe = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    page = open_tab("about:blank", color_scheme=scheme).page
    for name in REPRESENTATIVE:
        page.goto(f"{site.as_uri()}/{name}.html")
        page.evaluate(axe)
        assert [
            f"{name}: {violation['id']}: {node['html'][:160]} {node['target']}"
            for violation in page.evaluate(AXE)
            for node in violation["nodes"]
        ] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_what_a_player_opens(scheme: str, site: Path, open_tab: Any) -> None:
    for page, openers in {
        "chapters/20-training": ["Nudge", "cut", "Stage"],
        "chapters/15-hessian-and-newton": [],
    }.items():
        tab = open_tab(f"{site.as_uri()}/{page}.html", color_scheme=scheme, viewport={"width": 1280, "height": 720})
        root = tab.page.locator(f"{PLAYERS} section.player").last
        root.scroll_into_view_if_needed()
        root.locator("input[type=range]").first.press("ArrowRight")
        assert violations(root) == []
        for name in openers:
            root.get_by_role("button", name=name, exact=True).first.click()
            assert violations(root) == []
            tab.page.keyboard.press("Escape")


def test_nothing_of_the_theme_lies_over_a_player_on_a_telephone(site: Path, open_tab: Any) -> None:
    page = open_tab(f"{site.as_uri()}/chapters/02-backward.html", viewport={"width": 375, "height": 667}).page
    player = page.locator(f"{PLAYERS} section.player").first
    player.scroll_into_view_if_needed()
    page.mouse.wheel(0, 600)
    page.mouse.wheel(0, -200)  # where the theme offers the way back to the top
    page.wait_for_timeout(300)
    over = player.evaluate(
        "root => { const own = root.getRootNode().host;"
        " return [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95].map((part) => document.elementFromPoint(187, part * innerHeight))"
        " .filter((found) => found !== own && !found.contains(own)).map((found) => found.outerHTML.slice(0, 80)); }"
    )
    assert over == []


def test_axe_finds_a_text_that_does_not_stand_out(site: Path, open_tab: Any) -> None:
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    page = open_tab(f"{site.as_uri()}/index.html").page
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    page.evaluate("document.querySelector('article > section > p').style.color = '#999'")
    page.evaluate(f"document.querySelector('{PLAYERS}').shadowRoot.querySelector('.sentence').style.color = '#999'")
    (found,) = page.evaluate(AXE)
    assert found["id"] == "color-contrast"
    assert any("sentence" not in node["html"] for node in found["nodes"])
    assert any('class="scroll sentence' in node["html"] for node in found["nodes"])


def test_no_page_scrolls_sideways(site: Path, open_tab: Any) -> None:
    tab = open_tab("about:blank")
    for name in pages(site):
        tab.page.set_viewport_size({"width": 375, "height": 900})
        tab.page.goto(f"{site.as_uri()}/{name}.html")
        for width in (375, 768, 1440):
            tab.page.set_viewport_size({"width": width, "height": 900})
            assert tab.page.evaluate(SIDEWAYS) <= width, name


# Once the players have noticed how wide the page is, in the frame after next.
SIDEWAYS = """() => new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(
  () => tell(document.documentElement.scrollWidth))))"""


def test_a_settled_prediction_opens_the_folded_output_of_the_next_cell(site: Path, open_tab: Any) -> None:
    tab = open_tab("about:blank")
    for name in pages(site):
        tab.page.goto(f"{site.as_uri()}/{name}.html")
        if opened := tab.page.evaluate(SETTLE):
            assert opened == ["input: false, output: false", "input: false, output: true"]
            break
    else:
        pytest.fail("no page has a folded output")
    tab.is_quiet()


# As a prediction does that stands in the cell before one that is all folded.
SETTLE = """() => {
  const cells = [...document.querySelectorAll("div.cell")];
  const folded = cells.findLast((cell) => cell.querySelector(".above-input") && cell.querySelector(".below-input"));
  if (!folded) return null;
  const [input, output] = ["above", "below"].map((place) => folded.querySelector(`details.${place}-input`));
  const look = () => `input: ${input.open}, output: ${output.open}`;
  const before = look();
  const event = new CustomEvent("autodiff-settled", { bubbles: true, composed: true });
  cells[cells.indexOf(folded) - 1].firstElementChild.dispatchEvent(event);
  return [before, look()];
}"""


def test_in_print_a_player_is_its_key_frame(site: Path, open_tab: Any) -> None:
    page = open_tab(f"{site.as_uri()}/index.html").page
    frame = page.locator(".key-frame img")
    assert not frame.is_visible()
    page.emulate_media(media="print")
    assert frame.is_visible()
    assert ", step " in frame.get_attribute("alt")
    assert not page.locator(PLAYERS).is_visible()


class Links(HTMLParser):
    """The ids of a page, what it links to, its title, its description and its pictures without alt text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.described = False
        self.silent: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.ids.update(filter(None, (given.get("id"), given.get("name") if tag == "a" else None)))
        self.links += filter(None, (given.get("href"), given.get("src")))
        if tag == "meta" and given.get("name") == "description":
            self.described = bool(given.get("content"))
        if tag == "img" and (not given.get("alt") or given["alt"] == given.get("src")):
            self.silent.append(given.get("src") or "")


def test_every_link_inside_the_book_leads_somewhere(site: Path) -> None:
    read = {name: Links((site / f"{name}.html").read_text(encoding="utf-8")) for name in pages(site)}
    broken = []
    for name, page in read.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = (site / name).parent / unquote(parts.path) if parts.path else site / f"{name}.html"
            path = path.resolve()
            if not path.exists():
                broken.append(f"{name}: {link}")
            elif parts.fragment and path.suffix == ".html":
                target = read.get(path.relative_to(site.resolve()).with_suffix("").as_posix())
                if target and unquote(parts.fragment) not in target.ids:
                    broken.append(f"{name}: {link}")
    assert broken == []


def test_every_page_is_described_and_every_picture_has_words(site: Path) -> None:
    for name in pages(site):
        page = Links((site / f"{name}.html").read_text(encoding="utf-8"))
        assert page.silent == [], name
        assert page.described or name in ("genindex", "search"), name


def test_buttons_to_other_places_are_hidden_while_there_is_no_address(site: Path) -> None:
    text = (site / "chapters" / "01-the-tape.html").read_text(encoding="utf-8")
    assert "mybinder" not in text
    assert "colab.research" not in text
    assert "01-the-tape.ipynb" in text  # the download


def test_the_front_page_is_small(served: str, site: Path, open_tab: Any) -> None:
    tab = open_tab(f"{served}/index.html")
    tab.page.wait_for_load_state("networkidle")
    paths = {site / urlsplit(url).path.lstrip("/") for url in tab.requests if url.startswith("http")}
    size = sum(len(gzip.compress(path.read_bytes())) for path in paths if path.suffix not in (".woff2", ".ttf"))
    print(f"{len(paths)} files, {size} bytes")
    assert size < 1_500_000
