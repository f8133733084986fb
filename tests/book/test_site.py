"""The book, built from a copy of the sources, as a reader meets it in Chromium: from the file system, where a page
may do less than behind a server. tests/live opens it behind one.

A page that several tests look at is opened once.
"""

from __future__ import annotations

import gzip
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from copy import copy
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pdf
import pikepdf
import pytest
import reference
import yaml
from browser.conftest import MEDIA, STANDING, Tab, opening
from browser.player_page import Expected, Shown, violations_in_both_schemes
from bs4 import BeautifulSoup
from finishing import read_description

import autodiff_edu as ad
from autodiff_edu.player.unpacking import unpack

ROOT = Path(__file__).parents[2]
SOURCES = ["autodiff_edu", "book", "notebooks", "benchmarks", "LICENSE", "CITATION.cff", "CHANGELOG.md"]
MADE = shutil.ignore_patterns("_build", "chapters", "made", ".*", "__pycache__")
TELLING = ["index", "chapters/02-backward"]
"""The pages that are looked at from every side each time; the others with -m exhaustive."""
KEPT = {*TELLING, "rule-book"}
"""The pages that several tests look at: each stays open once it is."""
AXED = {
    *("index", "chapters/02-backward", "chapters/06-watched-or-none", "chapters/14-corners"),
    *("why-none", "rule-book", "api"),
}
CHAPTER = r"chapters/(\d\d|[A-Z])-"
PLAYERS = "[data-autodiff-player]"
SCREEN = {"width": 1280, "height": 720}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built book; with AUTODIFF_BOOK, one that was built before."""
    if "AUTODIFF_BOOK" in os.environ:
        return Path(os.environ["AUTODIFF_BOOK"]).resolve()
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


@pytest.fixture(scope="module")
def opened(site: Path, browser: Any) -> Iterator[Any]:
    """A function that opens a page of the book from its file, where a page may do less than behind a server."""
    with opening(browser) as open_tab:
        yield cache(lambda name: open_tab(f"{site.as_uri()}/{name}.html"))


@pytest.fixture
def look(opened: Any, site: Path, visit: Any) -> Iterator[Any]:
    """A function that shows a page of the book, in a window of some size; what it logs as an error fails the test."""
    tabs: list[Any] = []

    def look(name: str, viewport: dict[str, int] = SCREEN, **media: str) -> Tab:
        tab = opened(name) if name in KEPT else visit(f"{site.as_uri()}/{name}.html", viewport)
        tabs.append(tab)
        tab.page.set_viewport_size(viewport)
        tab.page.emulate_media(**{**MEDIA, **media})
        return tab

    yield look
    for tab in tabs:
        tab.stays_home()
        tab.is_quiet()


def pages(site: Path) -> list[str]:
    """Name every page, without .html."""
    found = [path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")]
    return sorted(name for name in found if not name.startswith(("_", "lab/", "live/")))


def listed() -> list[str]:
    """Name every page of the contents, and those that Sphinx and our extensions add."""
    contents = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter["file"] for part in contents["parts"] for chapter in part["chapters"]]
    return [contents["root"], *chapters, "genindex", "search", "where-you-are"]


def test_the_pages_are_those_of_the_contents(site: Path) -> None:
    assert pages(site) == sorted(listed())


def some(names: list[str], rest: list[str]) -> Any:
    """Run a test for some pages each time, and for the rest with -m exhaustive."""
    return pytest.mark.parametrize(
        "name", [*names, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in rest if name not in names)]
    )


@some(TELLING, listed())
def test_a_page_shows_what_it_has_and_its_players_play_to_the_end(name: str, look: Any) -> None:
    page = look(name).page
    assert page.locator("article h1").count() == 1 or name == "search"
    draws_its_formulas(page)
    if re.match(CHAPTER, name):
        begins_with_a_picture(page)
    for host in page.locator(PLAYERS).all():
        plays(host)
    if name in AXED:
        pleases_axe(page)
    shows_curves_light_on_dark(page)
    shows_pictures_in_their_shape(page)
    assert opens_what_a_prediction_folded(page) or name != "chapters/02-backward"
    scrolls_no_way_but_down(page)


def draws_its_formulas(page: Any) -> None:
    """Assert that all formulas are drawn, those on lines of their own in the middle."""
    if page.locator("article .math").count():
        page.evaluate("async () => { await window.MathJax.startup.promise; }")
        drawn = page.locator("article .math mjx-container:has(mjx-math)")
        assert drawn.count() == page.locator("article .math").count()
        assert page.locator("article div.math mjx-container:not([display=true])").count() == 0


def begins_with_a_picture(page: Any) -> None:
    """Assert that what a chapter begins with is on the first screen, and that the list of contents does not cover it.

    That is a player or a picture; or the program that makes it, or a question about it, and then the picture itself
    begins on a screen of 900 pixels.
    """
    seen = f"{PLAYERS} section.player, article .cell_output img, article [data-two-sliders]"
    for begins, most in ((f"article .cell_input pre, article [data-autodiff-prediction], {seen}", 660), (seen, 880)):
        assert page.locator(begins).locator("visible=true").first.bounding_box()["y"] <= most
    for height in (720, 900):
        page.set_viewport_size({"width": 1280, "height": height})
        page.wait_for_function(BESIDE)
    page.set_viewport_size(SCREEN)


def plays(host: Any) -> None:
    """Assert that a player goes through every step of its trace, and agrees with it at the end."""
    trace = unpack(json.loads(host.locator('script[type="application/json"]').first.text_content()))["trace"]
    expected = Expected(trace)
    player = Shown(host.locator("section.player"))
    assert player.root.evaluate(WALK) == list(range(len(expected)))
    # Special views have pictures of their own, and over 40 entries fold: each has tests of its own.
    if not {"sweep", "contours", "compiling"} & trace.keys() and len(trace["entries"]) <= 40:
        player.agrees(expected, len(expected) - 1)
    assert player.root.locator(".sentence").text_content() == trace["steps"][-1]["text"]


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


# The list of contents folds when a player comes beside it, a moment later.
BESIDE = f"""() => document.querySelector(".bd-sidebar-secondary").getBoundingClientRect().bottom <=
  document.querySelector("{PLAYERS}").shadowRoot.querySelector("section.player").getBoundingClientRect().top"""


def pleases_axe(page: Any) -> None:
    """Assert that axe-core finds nothing: every rule in light, and those about colours in dark too."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    for scheme, asked in (("dark", "colours"), ("light", "everything")):
        page.emulate_media(**{**MEDIA, "color_scheme": scheme})
        page.locator(f"html[data-theme={scheme}]").wait_for(state="attached")
        assert [
            f"{scheme}: {violation['id']}: {node['html'][:160]} {node['target']}"
            for violation in page.evaluate(AXE, asked)
            for node in violation["nodes"]
        ] == []


# Whether colours stand out is the dearest of axe's questions, and has one answer for all texts of the same colour, size
# and ground: the first of each kind answers it for all. Everything else is asked of the whole page.
AXE = """async (only) => {
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
  const options = { resultTypes: ["violations"], preload: false }; // a file may not read its style sheets
  const found = [await axe.run({ include: [...kinds.values()] }, { ...options, runOnly: colours })];
  if (only !== "colours") found.push(await axe.run(document, { ...options, rules: others }));
  return found.flatMap(({ violations }) => violations);
}"""


def shows_curves_light_on_dark(page: Any) -> None:
    """Assert that on a dark page curves are light, and pictures whose shades mean something stay as they are."""
    page.emulate_media(**{**MEDIA, "color_scheme": "dark"})
    page.locator("html[data-theme=dark]").wait_for(state="attached")
    plots = page.locator("div.cell_output img:not(.key-frame *, [data-autodiff-player] *)")
    shown = "all => all.map((one) => [one.classList.contains('on-white'), getComputedStyle(one).filter])"
    for is_curve, shown_as in plots.evaluate_all(shown):
        assert shown_as.startswith("invert") == is_curve
    page.emulate_media(**MEDIA)


def shows_pictures_in_their_shape(page: Any) -> None:
    """Assert that no picture is wider or higher than it was drawn, once those that come late are there."""
    pictures = "[...document.querySelectorAll('article img')].filter((one) => one.checkVisibility())"
    page.evaluate(f"Promise.all({pictures}.map((one) => {{ one.loading = 'eager'; return one.decode(); }}))")
    shapes = f"{pictures}.map((one) => [one.src, one.width / one.height, one.naturalWidth / one.naturalHeight])"
    assert [src for src, shown, drawn in page.evaluate(shapes) if shown != pytest.approx(drawn, rel=0.05)] == []


def opens_what_a_prediction_folded(page: Any) -> bool:
    """Assert that a settled prediction opens the folded output of the next cell, and not its code, if there is one."""
    opened = page.evaluate(SETTLE)
    assert opened in (None, ["input: false, output: false", "input: false, output: true"])
    return opened is not None


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


def scrolls_no_way_but_down(page: Any) -> None:
    for width in (375, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(SIDEWAYS) <= width
    page.set_viewport_size(SCREEN)


# Once the players have noticed how wide the page is, in the frame after next.
SIDEWAYS = """() => new Promise((tell) => requestAnimationFrame(() => requestAnimationFrame(
  () => tell(document.documentElement.scrollWidth))))"""


# The front page -------------------------------------------------------------------------------------------------------


def test_the_front_page_s_player_stands_in_the_first_screen_and_plays(site: Path, open_tab: Any) -> None:
    tab = open_tab("about:blank", reduced_motion="no-preference")
    tab.page.clock.install()
    for width, height in ((1200, 900), (375, 800)):
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.go(f"{site.as_uri()}/index.html")
        player = Shown(tab.page.locator("section.player"))
        assert player.root.locator("header").first.bounding_box()["y"] < 0.7 * height
        player.root.get_by_role("button", name="Pause", exact=True).wait_for()  # it plays
        tab.page.clock.run_for(8000)  # the wave, two sentences, and as long as this takes, for the clock goes on
        assert int(player.root.get_attribute("data-step")) >= 2
    tab.is_quiet()


def test_who_wants_no_motion_gets_none(look: Any) -> None:
    player = Shown(look("index", reduced_motion="reduce").page.locator("section.player"))
    assert player.root.get_by_role("button", name="Play", exact=True).count() == 1


def test_the_front_page_says_where_to_begin_before_one_scrolls(look: Any) -> None:
    page = look("index").page
    page.evaluate("scrollTo(0, 0)")
    begin = page.get_by_role("link", name="Begin with chapter 0").bounding_box()
    player = page.locator("section.player").bounding_box()
    assert begin["y"] + begin["height"] < player["y"] < 360


def test_the_front_page_s_player_is_compact_and_has_a_number_to_drag(look: Any) -> None:
    page = look("index").page
    page.evaluate("scrollTo(0, 0)")
    root = page.locator("section.player")
    Shown(root).click("first")
    for scheme in ("light", "dark"):
        page.emulate_media(**{**MEDIA, "color_scheme": scheme})
        for width, end in ((1280, 724), (375, None)):
            page.set_viewport_size({"width": width, "height": 720})
            for part in (".sentence", ".code", ".graph", ".nudge", "[data-action=play]"):
                assert root.locator(part).first.is_visible(), part
            for part in (".tape-figure", ".at-hand", ".program-figure"):
                assert not root.locator(part).is_visible(), part
            box = root.bounding_box()
            assert end is None or box["y"] + box["height"] <= end
    slider = root.get_by_role("group", name="Nudge").get_by_role("slider")
    before = root.locator(".nudge dl").inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert root.locator(".nudge dl").inner_text() != before
    assert root.get_attribute("data-step") == "0"  # the arrow moved the number, not the player


def test_the_buttons_of_a_narrow_page_open_what_they_stand_for(look: Any) -> None:
    page = look("index", {"width": 375, "height": 800}).page
    for side in ("primary", "secondary"):
        page.locator(f".{side}-toggle:visible").click()
        assert page.locator(f"#pst-{side}-sidebar-modal").is_visible()
        page.keyboard.press("Escape")


def test_in_print_a_player_is_its_key_frame(look: Any) -> None:
    page = look("index").page
    frame = page.locator(".key-frame img")
    assert not frame.is_visible()
    page.emulate_media(media="print")
    assert frame.is_visible()
    assert ", step " in frame.get_attribute("alt")
    assert not page.locator(PLAYERS).is_visible()


def test_axe_finds_a_text_that_does_not_stand_out(look: Any) -> None:
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    page = look("index").page
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    paint = f"""(colour) => {{
      document.querySelector("article > section > p").style.color = colour;
      document.querySelector("{PLAYERS}").shadowRoot.querySelector(".sentence").style.color = colour;
    }}"""
    page.evaluate(paint, "#999")
    (found,) = page.evaluate(AXE, "colours")
    page.evaluate(paint, "")
    assert found["id"] == "color-contrast"
    assert any("sentence" not in node["html"] for node in found["nodes"])
    assert any('class="scroll sentence' in node["html"] for node in found["nodes"])


FIRST = ["index", "why-none", "chapters/00-derivatives", "chapters/01-the-tape"]
"""The pages that most readers see first."""
SHIFTS = """globalThis.shifts = []; new PerformanceObserver((list) => shifts.push(...list.getEntries()
  .filter((entry) => !entry.hadRecentInput))).observe({ type: "layout-shift", buffered: true })"""
PAINTED = """document.readyState !== "loading" && performance.getEntriesByName("first-contentful-paint").length"""
HEIGHTS = f"""() => [...document.querySelectorAll("{PLAYERS}")].filter((one) => one.checkVisibility())
  .map((one) => one.getBoundingClientRect().height)"""


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
@pytest.mark.parametrize("name", FIRST)
def test_a_first_visit_is_light_and_what_one_reads_stays_where_it_is(
    name: str, size: tuple[int, int], served: str, site: Path, open_tab: Any
) -> None:
    tab = open_tab("about:blank", viewport=dict(zip(("width", "height"), size, strict=True)))
    tab.page.add_init_script(SHIFTS)
    held: list[Any] = []
    late = re.compile(r"/scripts/[0-9a-f]{12}\.js")  # what draws the players
    tab.page.route(late, lambda route: held.append(route))
    tab.page.goto(f"{served}/{name}.html", wait_until="commit")
    tab.page.wait_for_function(PAINTED)
    before = tab.page.evaluate(HEIGHTS)
    for route in held:
        route.continue_()
    tab.page.wait_for_function(STANDING)
    tab.page.wait_for_load_state("networkidle")
    after = tab.page.evaluate(HEIGHTS)
    assert sum(tab.page.evaluate("shifts.map((shift) => shift.value)")) < 0.1
    if size[0] == 1280:  # on a telephone each player is longer than the screen
        assert before == pytest.approx(after, abs=5)
    assert 0 < len(held) <= 2  # one script for all players, and one for all predictions
    paths = {site / urlsplit(url).path.lstrip("/") for url in tab.requests if url.startswith("http")}
    weight = sum(len(gzip.compress(path.read_bytes())) for path in paths)
    print(f"{len(paths)} files, {weight} bytes")
    assert weight < (1_000_000 if name == "chapters/00-derivatives" else 500_000)
    assert not [path.name for path in paths if re.search("search|thebe|toggle|design|awesome|webfont", str(path))]
    tab.is_quiet()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["api.html", "where-you-are.html", "search.html?q=nan"])
def test_what_scripts_write_does_not_shift_the_page(name: str, width: int, served: str, open_tab: Any) -> None:
    tab = open_tab("about:blank", viewport={"width": width, "height": 800})
    tab.page.add_init_script(SHIFTS)
    tab.page.goto(f"{served}/{name}", wait_until="networkidle")
    assert sum(tab.page.evaluate("shifts.map((shift) => shift.value)")) < 0.05


@pytest.mark.parametrize("width", [640, 768, 1280])
def test_cell_numbers_are_not_cut_off(width: int, look: Any) -> None:
    page = look("chapters/02-backward", {"width": width, "height": 720}).page
    beside = page.evaluate("""() => { // from the edge of the text to the left, where the number of a cell ends
      const cell = document.querySelector("div.cell:not(.tag_hide-input)");
      const { position } = getComputedStyle(cell, "::before");
      const { x } = document.querySelector(".bd-article-container").getBoundingClientRect();
      cell.style.setProperty("counter-set", "cell 88");
      return position === "static" ? 0 : cell.getBoundingClientRect().x - x
        - parseFloat(getComputedStyle(cell, "::before").width) - 4;
    }""")
    assert beside >= 0


@pytest.mark.parametrize("name", ["chapters/00-derivatives", "chapters/03-shapes"])
def test_a_page_waits_for_nothing_that_it_does_not_show_at_once(name: str, site: Path) -> None:
    page = (site / f"{name}.html").read_text(encoding="utf-8")
    head, body = page.split("</head>")
    blocking = re.findall(r'<script src="([^"?]*)', head)
    assert blocking == ["../_static/documentation_options.js"]  # 319 bytes, which a line after it adds to
    assert re.search(r'<script async="async" src="[^"]*mathjax', head)  # else players wait for it
    pictures = re.findall(r"<img [^>]*_images/[^>]*>", body)
    assert len(pictures) > 1
    assert ["lazy" in picture for picture in pictures] == [False, *[True] * (len(pictures) - 1)]
    assert all("width=" in picture for picture in pictures if ".png" in picture)


# Chapters -------------------------------------------------------------------------------------------------------------


@some(TELLING, ["chapters/10-multiple-tapes"])
def test_the_parts_of_a_player_are_seen_together(name: str, look: Any) -> None:
    page = look(name).page
    asking = page.locator(f"{PLAYERS} section.player button[data-action=predict][aria-pressed=true]")
    asking.evaluate_all("all => all.forEach((button) => button.click())")  # a question takes room while it is asked
    opened = [root for root in page.locator(f"{PLAYERS} section.player").all() if root.is_visible()]  # not folded
    assert opened
    for root in opened:
        Shown(root).is_seen_at_once("controls", "sentence", "lit", "accumulator")
    page.set_viewport_size({"width": 375, "height": 667})
    for root in opened:
        Shown(root).is_seen_at_once("sentence", "accumulator")


def test_a_player_asks_for_predictions_from_a_file_too(look: Any) -> None:
    player = Shown(look("chapters/02-backward").page.locator(f"{PLAYERS} section.player").first)
    player.click("first")
    player.click("predict")
    for _ in range(60):
        if player.root.locator(".question").is_visible():
            break
        player.click("next")
    assert player.root.locator(".question").is_visible()
    player.click("predict")


def test_nothing_of_the_theme_lies_over_a_player_on_a_telephone(look: Any) -> None:
    page = look("chapters/02-backward", {"width": 375, "height": 667}).page
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


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "openers"), [("chapters/20-training", ["Nudge", "cut", "Stage"]), ("chapters/17-hessian-and-newton", [])]
)
def test_axe_finds_nothing_in_what_a_player_opens(name: str, openers: list[str], site: Path, visit: Any) -> None:
    page = visit(f"{site.as_uri()}/{name}.html", SCREEN).page
    root = page.locator(f"{PLAYERS} section.player").last
    root.scroll_into_view_if_needed()
    root.locator("input[type=range]").first.press("ArrowRight")
    assert violations_in_both_schemes(root) == []
    for opener in openers:
        root.get_by_role("button", name=opener, exact=True).first.click()
        assert violations_in_both_schemes(root) == []
        page.keyboard.press("Escape")


def test_curves_and_pictures_of_chapter_11_are_told_apart(site: Path) -> None:
    text = (site / "chapters" / "11-higher-order-gradients.html").read_text(encoding="utf-8")
    plots = re.findall(r'<img [^>]*src="\.\./_images/[^>]*>', text)
    assert ["on-white" in plot for plot in plots] == [False, True, True, True]


@pytest.mark.parametrize(("name", "count"), [("index", 1), ("chapters/C-pytorch-and-jax", 4)])
def test_a_page_offers_to_edit_only_what_a_page_can_run(name: str, count: int, site: Path, open_tab: Any) -> None:
    tab = open_tab(f"{site.as_uri()}/{name}.html")
    tab.page.locator(".live-pencil").first.wait_for(state="attached")
    assert tab.page.locator(".live-pencil").count() == count  # no cell of PyTorch; one that draws, and each exercise
    tab.is_quiet()


@some(["index"], ["chapters/02-backward"])
def test_a_definition_leads_to_its_entry_in_the_glossary(name: str, site: Path, open_tab: Any) -> None:
    word, title = {"index": ("contribution",) * 2, "chapters/02-backward": ("pulled back", "pull back")}[name]
    tab = open_tab(f"{site.as_uri()}/{name}.html")
    player = Shown(tab.page.locator("section.player").first)
    player.click("last")
    button = player.root.get_by_role("button", name=word, exact=True).first
    for _ in range(50):
        if button.is_visible():
            break
        player.click("previous")
    button.focus()
    player.press("Enter")
    dialog = player.root.get_by_role("dialog", name=title, exact=True)
    dialog.get_by_role("link", name="In the glossary").click()
    entry = tab.page.locator(":target")
    assert entry.text_content().removesuffix("#") == title
    assert tab.page.url.startswith(f"{site.as_uri()}/glossary.html")
    tab.is_quiet()


# Tables and the search ------------------------------------------------------------------------------------------------


def test_rules_are_filtered_and_their_headings_stay_in_view(look: Any) -> None:
    page = look("rule-book").page
    field = page.get_by_role("searchbox", name="Filter")
    rows = page.locator(".rules tbody tr")
    every = rows.count()
    field.fill("linalg transposed")
    shown = rows.filter(visible=True).all_text_contents()
    assert 0 < len(shown) < 20
    assert all("linalg" in text and "transposed" in text for text in shown)
    assert page.locator(".filter output").text_content() == f"{len(shown)} of {every}"
    field.fill("")
    box = page.locator(".rules .pst-scrollable-table-container")
    box.evaluate("box => box.scrollTo(0, 1500)")
    heading = box.get_by_role("columnheader", name="function").bounding_box()
    assert heading["y"] == pytest.approx(box.bounding_box()["y"], abs=2)
    assert page.locator(".rules a[href='#helper-share']").count() >= 8


@some(["rule-book"], ["dictionary"])
def test_names_in_tables_stay_whole_on_the_screen_and_in_print(name: str, look: Any) -> None:
    page = look(name).page
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        assert page.evaluate(BROKEN) == []
    page.set_viewport_size({"width": 700, "height": 990})  # as wide as paper
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


# A word that stands on two lines has a box on each.
BROKEN = """() => [...document.querySelectorAll("article td code .pre")].flatMap((piece) =>
  [...piece.childNodes].filter((part) => part.nodeType === Node.TEXT_NODE).flatMap((part) =>
    [...part.data.matchAll(/[A-Za-z_]\\w*/g)].filter((word) => {
      const range = document.createRange();
      range.setStart(part, word.index);
      range.setEnd(part, word.index + word[0].length);
      return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
    }).map((word) => word[0])))"""


def test_links_in_tables_have_the_colour_of_links(look: Any) -> None:
    page = look("rule-book").page
    colours = "links => [...new Set(links.map((link) => getComputedStyle(link).color))]"
    assert len(page.locator("article p a.reference, article td a.reference").evaluate_all(colours)) == 1


def test_a_click_on_a_heading_sorts_a_table(look: Any) -> None:
    page = look("rule-book").page
    table = page.locator("article table").first
    before = column(table, 1)
    forward = table.get_by_role("button", name="forward")
    forward.click()
    assert table.locator("th", has_text="forward").get_attribute("aria-sort") == "ascending"
    assert column(table, 5) == sorted(column(table, 5))
    forward.focus()
    page.keyboard.press("Enter")
    assert column(table, 5) == sorted(column(table, 5), reverse=True)
    table.get_by_role("button", name="function").click()
    assert table.locator("th[aria-sort]").count() == 1
    names = column(table, 1)
    assert sorted(names) == sorted(before)
    assert names[0] == "alias"
    assert names.index("np.log2") < names.index("np.log10")


@pytest.mark.exhaustive
def test_figures_are_sorted_by_their_size_and_what_is_missing_comes_last(look: Any) -> None:
    table = look("made/benchmarks/RESULTS").page.locator("article table").first
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


FOUND = {
    "why is my gradient none": "why-none",
    "backpropagation": "glossary",
    "dual numbers": "15-forward-mode",
    "np.einsum": "rule-book",
    "np.linalg.det": "rule-book",
    # In a learner's words, or another framework's, or misspelt.
    "gradient is None": "why-none",
    "jacobain": "16-jacobians",
    "detach": "09-stop-gradient",
    "nan loss": "12-not-a-number",
    "zero_grad": "C-pytorch-and-jax",
    "RuntimeError: Trying to backward through the graph a second time": "08-stop-recording",
    "requires_grad": "06-watched-or-none",
    "retain_graph": "08-stop-recording",
    "stop recording": "08-stop-recording",
    "hessian": "17-hessian-and-newton",
    "backpropogation": "02-backward",
    "vanishing gradients": "20-training",
    "my network doesn't learn": "20-training",
    "train a neural network": "05-a-network",
    "install": "index",
}
"""What is asked, and a page that is among the first three."""
JACOBIANS = "chapters/16-jacobians"
ASK = """async (question) => {
  const results = document.getElementById("search-results");
  results.replaceChildren();
  history.replaceState(null, "", `?q=${encodeURIComponent(question)}`);
  Search.performSearch(question);
  while (results.querySelector("h2").textContent !== "Search Results") await new Promise(requestAnimationFrame);
}"""
"""Asks as often as one wants, where a reader's next question opens the page anew."""


@pytest.mark.parametrize("place", ["file", "server"])
def test_the_search_finds_what_is_asked_for_however_a_learner_says_it(
    place: str, site: Path, request: Any, open_tab: Any
) -> None:
    address = site.as_uri() if place == "file" else request.getfixturevalue("served")
    tab = open_tab(f"{address}/search.html?q={quote('why is my gradient none')}")
    page = tab.page
    page.locator("#search-results h2", has_text="Search Results").wait_for(state="attached")
    results = page.locator("#search-results > ul > li")
    assert results.first.locator("a").first.text_content() == "Why is my gradient None?"
    for question, name in FOUND.items():
        page.evaluate(ASK, question)
        links = results.locator("a:first-child").evaluate_all("all => all.slice(0, 3).map((one) => one.pathname)")
        assert any(link.endswith(f"{name}.html") for link in links), (question, links)
    page.evaluate(ASK, "jacobain matrix")
    told = page.locator("#search-results > p", has_text="jacobain").text_content()
    assert told == "Nothing says “jacobain matrix”. These are results for “jacobian matrix”."
    page.evaluate(ASK, "Jacobian")
    assert page.locator("#search-results > p", has_text="Nothing says").count() == 0
    first = results.filter(has=page.locator("a[href*='16-jacobians']")).first
    assert first.locator(".context").text_content() == read_description((site / f"{JACOBIANS}.html").read_text("utf-8"))
    assert not [url for url in tab.requests if "/chapters/" in url]  # what begins a page is known without it
    glass, field = (page.locator(f".bd-search-container form {part}") for part in ("svg", "input"))
    padding = field.evaluate(
        "(field) => field.getBoundingClientRect().x + parseFloat(getComputedStyle(field).paddingLeft)"
    )
    assert padding > glass.bounding_box()["x"] + glass.bounding_box()["width"]
    tab.is_quiet()


def test_the_search_begins_on_any_page(served: str, open_tab: Any) -> None:
    tab = open_tab(f"{served}/chapters/01-the-tape.html")
    tab.page.locator(".search-button__button, .search-button-field").first.click()
    tab.page.keyboard.type("nan loss")
    tab.page.keyboard.press("Enter")
    tab.page.locator("#search-results > ul > li a", has_text="Not a number").first.click()
    assert "/chapters/12-not-a-number.html" in tab.page.url
    tab.is_quiet()


# The reference --------------------------------------------------------------------------------------------------------


def test_every_public_name_has_a_signature_an_example_with_its_output_and_a_way_on(site: Path) -> None:
    page = BeautifulSoup((site / "api.html").read_text(encoding="utf-8"), "html.parser")
    methods = [line["id"] for line in page.select("dl.method > dt[id]")]
    assert {"autodiff_edu.GradientTape.gradient", "autodiff_edu.Player.save"} <= {*methods}
    public = [f"autodiff_edu.{name}" for name in reference.names() if not name.startswith("GradientTape.")]
    missing = []
    for name in [*public, *methods]:
        line = page.find("dt", id=name)
        body = copy(line.find_next_sibling("dd")) if line else None
        if body is None or "alias of" in body.get_text():
            missing.append(name)
            continue
        for members in body.select("dl.py:not(.attribute)"):
            members.extract()
        programs = "".join(part.get_text() for part in body.select("div.highlight pre"))
        if not re.search(r"^(?!>>>|\.\.\.).", programs, re.MULTILINE):
            missing.append(f"an example with an output of {name}")
        if not body.find("em", string="See also:"):
            missing.append(f"where to read more of {name}")
    assert missing == []


def test_a_chapter_leads_to_the_reference_of_what_it_teaches_and_back(site: Path, read: dict[str, Links]) -> None:
    pairs = {name: page for name, page in reference.taught().items() if f"autodiff_edu.{name}" in read["api"].ids}
    led = [name for name, page in pairs.items() if f"../api.html#autodiff_edu.{name}" in read[page].links]
    assert len(led) > 25
    assert {"Variable", "stop_gradient", "hessian", "GradientTape.explain", "custom_gradient"} <= {*led}
    assert [name for name in led if not any(link == f"{pairs[name]}.html" for link in read["api"].links)] == []


def test_a_table_above_the_reference_leads_to_every_name(site: Path) -> None:
    table = BeautifulSoup((site / "api.html").read_text(encoding="utf-8"), "html.parser").find("table")
    links = {link["href"].removeprefix("#autodiff_edu.") for link in table.find_all("a", href=re.compile("^#autodiff"))}
    assert {name for name in ad.__all__ if not inspect.ismodule(getattr(ad, name))} <= links
    assert {"nn.Dense", "plots.heatmap", "course.check"} <= links


def test_examples_of_the_reference_can_be_stepped_through(look: Any) -> None:
    page = look("api").page
    assert page.locator(PLAYERS).count() == len(reference.PLAYED)
    opener = page.get_by_text("Step through this example")
    opener.first.click()
    player = page.locator(f"{PLAYERS} section.player").first
    assert "tape.gradient" in player.locator(".code-figure").inner_text()
    for width in (375, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        box = player.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    opener.first.click()


def test_a_rule_leads_to_its_line_and_its_corner_and_no_file_to_a_foreign_address(
    site: Path, read: dict[str, Links]
) -> None:
    assert "rule-source.html#elementwise-" in "".join(read["rule-book"].links)
    assert "#corner-np-absolute" in read["rule-book"].links
    assert "corner-np-absolute" in read["rule-book"].ids
    foreign = {link for page in read.values() for link in page.links if urlsplit(link).path == "" and "://" in link}
    assert {link for link in foreign if link.endswith((".py", ".md", ".js"))} == set()
    assert not [link for link in read["rule-source"].links if urlsplit(link).scheme]


# The book as a whole --------------------------------------------------------------------------------------------------


PRINTED = ["Which end first?", "Newton’s step", "The rule book", "Helpers"]
"""What the outline of some pages lists once: what is drawn across the edge of a page would be listed twice over."""


def walk(entries: Any) -> Iterator[Any]:
    """Go through an outline, from the first entry to the last."""
    for entry in entries:
        yield entry
        yield from walk(entry.children)


@pytest.mark.parametrize(
    ("more", "least", "titles"),
    [
        ([], (15, 3), PRINTED[:1]),
        pytest.param(["chapters/17-hessian-and-newton", "rule-book"], (30, 50), PRINTED, marks=pytest.mark.exhaustive),
    ],
)
def test_the_book_in_print_has_an_outline_and_links_and_nothing_is_clipped(
    more: list[str], least: tuple[int, int], titles: list[str], site: Path, browser: Any, tmp_path: Path
) -> None:
    names = [*TELLING, *more]
    joined, printed = site / "_printed.html", tmp_path / "part.pdf"
    joined.write_text(pdf.whole(site, [("Some pages", names)]), encoding="utf-8")
    try:
        page = browser.new_page(viewport={"width": 665, "height": 980})  # as wide as the text on A4
        page.emulate_media(media="print")
        page.goto(joined.as_uri())
        page.locator("mjx-container").first.wait_for()
        assert page.locator("button, summary, textarea, input, select, .key-frame ~ pre").count() == 0
        assert page.evaluate("document.body.innerText").count("predict(") == 0
        text = page.evaluate("document.body.innerText")
        assert text.count("is folded below") == text.count("is folded below its exercise; the PDF leaves it out")
        targets = page.locator("a[href^='#']").evaluate_all("links => links.map((link) => link.hash.slice(1))")
        assert len(targets) > least[1]
        assert page.evaluate("all => all.filter((id) => !document.getElementById(id))", targets) == []
        assert page.evaluate(CLIPPED) == []
        page.close()
        pdf.print_to(printed, joined, browser)
    finally:
        joined.unlink()
    with pikepdf.open(printed) as document, document.open_outline() as outline:
        notes = [note for sheet in document.pages for note in sheet.get("/Annots", [])]
        links = sum(note["/Subtype"] == "/Link" for note in notes)
        listed = [entry.title for entry in walk(outline.root)]
        assert least[0] < len(document.pages) < 2 * least[0]
        assert links > least[1]
        assert [title for title in titles if listed.count(title) != 1] == []
    assert printed.stat().st_size < 4_000_000


# What is wider than its page, or wider than a box that would cut it off.
CLIPPED = """() => [...document.querySelectorAll("article *")].filter((part) => {
  if (part.closest("mjx-container, svg") || !part.getClientRects().length) return false;
  const edge = part.closest("article").getBoundingClientRect().right;
  return part.getBoundingClientRect().right > edge + 1;
}).map((part) => part.outerHTML.slice(0, 120))"""


def test_the_site_is_light(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.is_file() and path.name != pdf.NAME]
    size = sum(
        path.stat().st_size for path in files if not {"live", "python", "lab"} & set(path.relative_to(site).parts)
    )
    print(f"{len(files)} files, {size} bytes")
    assert size < 23_000_000
    assert not [path for path in files if path.suffix == ".map"]
    named = "".join(path.read_text(encoding="utf-8") for path in files if path.suffix in (".html", ".css", ".js"))
    theme = [path for path in (site / "_static").rglob("*") if path in files and "mathjax" not in path.parts]
    assert [path.name for path in theme if path.name not in named and path.suffix != ".txt"] == ["card.png"]
    assert (site / "_static" / "card.png").stat().st_size < 100_000


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


@pytest.fixture(scope="module")
def read(site: Path) -> dict[str, Links]:
    """What stands on each page."""
    return {name: Links((site / f"{name}.html").read_text(encoding="utf-8")) for name in pages(site)}


def test_every_link_inside_the_book_leads_somewhere(site: Path, read: dict[str, Links]) -> None:
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


def test_every_page_is_described_and_every_picture_has_words(read: dict[str, Links]) -> None:
    for name, page in read.items():
        assert page.silent == [], name
        assert page.described or name in ("genindex", "search"), name


def test_buttons_to_other_places_are_hidden_while_there_is_no_address(site: Path) -> None:
    text = (site / "chapters" / "01-the-tape.html").read_text(encoding="utf-8")
    assert "mybinder" not in text
    assert "colab.research" not in text
    assert "01-the-tape.ipynb" in text  # the download
