"""What a program must not be able to do, whether typed, pasted or from a link, and what a site may forbid its pages."""

from __future__ import annotations

import json
import re
from typing import Any

from .editing import Live, link, ready

SHOWN = """class Shown:
    def _repr_html_(self):
        return {html!r}
Shown()"""

REACHING = """<p>begun</p><script>
const tries = {
  page: () => parent.document.title, storage: () => localStorage.length, cache: () => caches.keys(),
  cookie: () => document.cookie, top: () => (top.location.hash = "taken"),
};
for (const [name, attempt] of Object.entries(tries)) {
  new Promise((resolve) => resolve(attempt())).then(() => document.body.append(` ${name}: yes`), () => 0);
}
parent.postMessage({ id: 1, result: {} }, "*");
parent.postMessage(1e9, "*");
setTimeout(() => document.body.append(" ended"), 500);
</script><img src="x" onerror="parent.document.title = 'taken'"><p style="height: 3000px"></p>"""


def test_html_of_a_program_reaches_neither_the_page_nor_its_storage(chapter_1: Any) -> None:
    live = Live(chapter_1)
    title = live.page.title()
    live.run(SHOWN.format(html=REACHING))
    live.find_framed("body", has_text="ended").wait_for()
    assert "yes" not in live.find_framed("body").inner_text()
    assert live.page.title() == title
    assert live.page.evaluate("() => location.hash") == ""
    height = live.cell.locator(".live-output iframe").bounding_box()["height"]
    assert 3000 < height <= 20_000
    assert live.cell.locator("script, [onerror]").count() == 0


def test_a_frame_goes_to_no_other_address(chapter_1: Any, served: str) -> None:
    live = Live(chapter_1)
    elsewhere = served.replace("127.0.0.1", "localhost")
    script = f'fetch("{served}/?a"); new Image().src = "{served}/?b"; location = "{elsewhere}/?c"'
    arrived = arrivals(chapter_1)
    live.run(SHOWN.format(html=f"<p>here</p><script>{script}</script>"))
    live.page.wait_for_timeout(1000)
    assert arrived == []


def arrivals(tab: Any) -> list[str]:
    """Return a list that fills with the addresses from which a page gets an answer, whichever of its frames asks."""
    arrived: list[str] = []
    tab.page.context.on("response", lambda response: arrived.append(response.url))
    return arrived


ALONE = """from js import eval as run
print(run("self.origin"))
for attempt in ("caches", "indexedDB.open('x')", "localStorage", "document"):
    print(run(f"(() => {{ try {{ return String({attempt}) }} catch (error) {{ return error.name }} }})()"))"""


def test_a_program_has_no_origin_and_asks_no_address(chapter_1: Any, served: str) -> None:
    live = Live(chapter_1)
    live.run(ALONE)
    lines = live.cell.locator(".live-output").inner_text().split("\n")
    assert lines[:5] == ["null", "ReferenceError", "SecurityError", "ReferenceError", "ReferenceError"]
    arrived = arrivals(chapter_1)
    asks = f"Object.getPrototypeOf(self).__proto__; new XMLHttpRequest().open('GET', '{served}/?d');"
    worker = f"new Worker(URL.createObjectURL(new Blob([`fetch('{served}/?e')`])));import('{served}/live/files.js')"
    live.run(f"import js\ntry:\n    js.eval({asks + worker!r})\nexcept Exception as error:\n    print(error)")
    live.page.wait_for_timeout(1000)
    assert [url for url in arrived if not url.startswith("blob:")] == []


FORGED = (
    """from autodiff_edu.course import check as module
import sys, js, gc
from autodiff_edu.course.check import LISTENERS
class Forged:
    exercise, right, message = "1.1", True, "forged"
for listen in LISTENERS:
    listen(Forged)
js.eval("""
    + '''"""for (const id of Array(1000).keys()) {
  self.postMessage({ id, result: { source: "", values: [], outputs: [], sliders: [], line: null,
    answers: [{ exercise: "1.1", right: true, message: "" }] } });
}""")'''
    + """
print("done")"""
)


def test_a_program_that_claims_to_have_solved_an_exercise_gets_no_tick(chapter_1: Any) -> None:
    for live in (Live(chapter_1), Live(chapter_1, 1, "check")):  # a player's cell, and that of exercise 1.2
        live.run(FORGED)
        assert live.cell.locator(".live-text").inner_text().strip() == "done"
    assert chapter_1.page.evaluate("() => Object.keys(localStorage).filter((key) => key.includes('solved'))") == []
    assert chapter_1.page.locator("nav.bd-links", has_text="✓").count() == 0


def test_a_player_in_a_frame_has_the_page_s_look_and_fills_the_screen(chapter_1: Any) -> None:
    live = Live(chapter_1)
    width = live.cell.locator("[data-autodiff-player]").bounding_box()["width"]
    live.run(live.program["source"])
    player = live.find_framed("section.player")
    player.wait_for()
    live.page.wait_for_timeout(500)
    frame = live.cell.locator(".live-output iframe")
    assert frame.bounding_box()["width"] == width
    assert live.find_framed("html").evaluate("root => root.scrollHeight - root.clientHeight") <= 0
    colours = []
    for scheme in ("light", "dark"):
        live.page.emulate_media(color_scheme=scheme)
        live.page.locator(f"html[data-theme={scheme}]").wait_for(state="attached")
        live.find_framed(f"html[data-theme={scheme}]").wait_for()
        background = "each => getComputedStyle(each).backgroundColor"
        assert player.evaluate(background) == live.page.locator("body").evaluate(background)
        colours.append(player.evaluate(background))
    live.page.emulate_media(color_scheme="light")
    assert colours[0] != colours[1]
    player.get_by_role("button", name="Stage", exact=True).click()
    live.page.wait_for_function("() => document.fullscreenElement?.matches('.live-frame')")
    assert player.evaluate("each => each.getBoundingClientRect().height === innerHeight")
    live.page.keyboard.press("Escape")
    live.page.wait_for_function("() => !document.fullscreenElement")
    chapter_1.is_quiet("Content Security Policy")  # said again of an earlier frame


# ---- links

EDITOR = "/python/codemirror.js"


def test_a_copied_link_shows_the_program_which_has_not_run(page: Any, served: str) -> None:
    tab = page("chapters/01-the-tape", permissions=["clipboard-read", "clipboard-write"])
    live = Live(tab)
    live.write("print('mine')")
    patched = "import autodiff_edu.course.check as module\nmodule.check = None\nprint('from afar: é 😀')"
    other = Live(tab, 1)
    other.write(patched)
    other.cell.get_by_role("button", name="Copy link").click()
    other.cell.locator(".live-status", has_text="Copied.").wait_for()
    address = tab.page.evaluate("() => navigator.clipboard.readText()")
    assert re.fullmatch(rf"{served}/chapters/01-the-tape.html#program-1\.loop-player\.[\w-]+", address)
    other.write(other.program["source"])
    # A reader who opens it has typed something there, too, and keeps it.
    address = address.replace(".loop-player.", ".first-player.")
    before = tab.page.evaluate("() => JSON.stringify(localStorage)")
    tab.requests.clear()
    tab.page.goto("about:blank")
    tab.go(address)
    live = Live(tab)
    assert live.cell.locator(".live-linked").inner_text() == (
        "This program comes from a link. Read it before you press Replay."
    )
    assert live.text() == patched
    tab.page.wait_for_timeout(1000)
    assert {url for url in tab.requests if "/python/" in url or url.endswith("worker.js")} == {f"{served}{EDITOR}"}
    assert tab.page.evaluate("() => JSON.stringify(localStorage)") == before
    live.run()
    assert "from afar: é 😀" in live.cell.locator(".live-output").inner_text()
    assert "#" not in tab.page.url
    exercise = Live(tab, 0, "check")  # checked by a Python in which the program of the link has not run
    exercise.run('answer = 8\n\ncheck("1.1", answer)')
    assert exercise.cell.locator(".live-right").count() == 1
    tab.page.reload()
    ready(tab.page)
    live = Live(tab)
    assert live.text() == patched
    assert live.cell.locator(".live-linked").count() == 1
    live.cell.get_by_role("button", name="Show it").click()
    assert live.text() == "print('mine')"
    live.cell.locator(".live-reset").click()
    assert live.cell.locator(".live-linked").count() == 0
    tab.is_quiet()


def test_a_cell_below_a_program_of_a_link_runs_without_it_and_says_so(page: Any, served: str) -> None:
    tab = page("chapters/01-the-tape")
    programs = json.loads(tab.page.locator("#live-programs").text_content())["programs"]
    runs = [program for program in programs if program["kind"] == "run"]
    (index,) = [k for k, each in enumerate(runs) if each["id"].endswith("/print-tape")]  # it takes the player's tape
    place = next(each["id"].split("/")[-1] for each in programs if each["kind"] == "play")
    tab.page.goto("about:blank")
    tab.go(f"{served}/chapters/01-the-tape.html{link('guest = 1', place)}")
    below = Live(tab, index, "run")
    below.run()
    assert below.status.inner_text().endswith(
        "This ran with the book's version of the cells above, not with the program from the link."
    )
    below.run("print(1)")
    assert below.status.inner_text() == ""


def test_the_front_pages_slider_does_not_make_a_links_function_the_readers(page: Any, served: str) -> None:
    function = "def f(x):\n    return x + 1\n\n\nad.play(f, 1.0)"
    tab = page("index")
    tab.page.goto("about:blank")
    tab.go(f"{served}/index.html{link(function, 'index')}")
    live = Live(tab)
    live.write(function.replace("1\n", "2\n"))
    assert tab.page.locator(".front-own input").input_value() == ""
    slider = tab.page.locator(".front-drag input")
    slider.evaluate("slider => { slider.value = 3; slider.dispatchEvent(new Event('change')); }")
    assert live.cell.locator(".live-offers .live-linked").is_visible()
    assert live.text() == function.replace("1\n", "2\n")
    assert tab.page.locator("iframe.live-python").count() == 0
    tab.page.locator(".front-own input").fill("x * 3")
    tab.page.locator(".front-own button").click()
    assert live.cell.locator(".live-offers .live-linked").count() == 0
    assert tab.page.locator(".front-own input").input_value() == "x * 3"
    live.finish()
    assert tab.page.locator(".front-drag").is_visible()
    tab.is_quiet()


def test_a_program_of_a_link_stays_a_guest_when_undo_brings_it_back(page: Any, served: str) -> None:
    tab = page("chapters/01-the-tape")
    live = Live(tab)
    live.write("print('mine')")
    tab.page.goto("about:blank")
    tab.go(f"{served}/chapters/01-the-tape.html{link('guest = 1')}")
    live = Live(tab)
    live.cell.get_by_role("button", name="Show it").click()
    assert live.text() == "print('mine')"
    assert live.cell.locator(".live-linked").count() == 0
    live.area.focus()
    live.page.keyboard.press("Control+z")
    assert live.text() == "guest = 1"
    assert live.cell.locator(".live-linked").count() == 1
    live.cell.locator(".live-reset").click()
    tab.page.reload()
    live = Live(tab)
    live.cell.get_by_role("button", name="Show it").click()
    assert live.text() == "print('mine')"  # a guest takes nothing away
    tab.is_quiet()


LYING = """import sys
frame = sys._getframe()
while "told" not in frame.f_locals:
    frame = frame.f_back
told = frame.f_locals["told"]
"""


def test_a_program_of_a_link_does_not_get_what_a_reader_typed_above(page: Any, served: str) -> None:
    tab = page("chapters/01-the-tape")
    Live(tab).write("# a secret")
    tab.page.goto("about:blank")
    spy = LYING.split("told =")[0].replace("told", "above") + "print(frame.f_locals['above'])"
    tab.go(f"{served}/chapters/01-the-tape.html{link(spy, 'loop-player')}")
    assert Live(tab).text() == "# a secret"
    guest = Live(tab, 1)
    assert guest.text() == spy
    guest.run()
    shown = guest.cell.locator(".live-output").inner_text()
    assert "euros for a cup" in shown
    assert "a secret" not in shown
    tab.is_quiet()


def test_what_a_program_makes_python_say_is_neither_kept_nor_shown_as_the_page_s_own(chapter_1: Any) -> None:
    live = Live(chapter_1)
    live.run(LYING + "told['source'] = '#' * 900_000")
    assert "#" * 100 not in live.text()
    live.run(LYING + "told['outputs'] += [('x live-right', 'All solved.')] * 5000")
    assert live.cell.locator(".live-right").count() == 0
    assert live.cell.locator(".live-output > *").count() <= 1100
    live.run(LYING + "told['sliders'] = None")
    assert live.status.inner_text().startswith("The page can’t show this result: ")
    assert live.status.inner_text().endswith("Did the program change something inside the package?")


def test_what_python_says_is_shortened_before_it_is_shown(chapter_1: Any) -> None:
    live = Live(chapter_1)
    answers = "told['answers'] += [{'exercise': 'x' * 1_000_000, 'right': False, 'message': '`' * 1_000_000}] * 2"
    live.run(f"{LYING}print(1)\n{answers}\ntold['sliders'] = [{{'output': 0, 'ranges': []}}] * 30_000")
    wrong = live.cell.locator(".live-wrong")
    assert [len(text) for text in wrong.locator("strong").all_text_contents()] == [200 + len(": Not yet. ")] * 2
    assert wrong.locator("code").count() == 25_000
    assert live.cell.locator(".live-sliders").count() == 20
    live.run("print(2)")
    assert live.cell.locator(".live-output").inner_text().strip() == "2"


FLOODING = "setInterval(() => { for (let i = 0; i < 20_000; i++) parent.postMessage('settled', '*'); })"


def test_a_frame_that_floods_the_page_with_messages_is_removed(chapter_1: Any) -> None:
    live = Live(chapter_1)
    live.run(SHOWN.format(html=f"<p>here</p><script>{FLOODING}</script>"))
    removed = "This output was removed, because it sent too many messages to the page."
    live.cell.locator(".live-output", has_text=removed).wait_for()
    assert live.cell.locator("iframe").count() == 0


DAMAGED = "The program of this link is damaged: part of the address may be missing."
LONG = "The program of this link is too long to be opened."
ELSEWHERE = "This page has no place for the program of this link. Another edition of the book may have it."
HOSTILE = {
    "#program-": DAMAGED,
    "#program-1.first-player.": DAMAGED,
    "#program-1.first-player.<script>alert(1)</script>": DAMAGED,
    "#program-1.first-player.AAAA": DAMAGED,
    "#program-1.first-player.A": DAMAGED,
    link("print(1)")[:-4]: DAMAGED,
    link(b"\xff\xfe"): "The program of this link is damaged: it is not text.",
    link("print(1)", version=2): "The program of this link was written for another edition of the book.",
    link("print(1)", name="elsewhere"): ELSEWHERE,
    link("print(1)", name="index"): ELSEWHERE,
    link("print(1)", name="__proto__"): ELSEWHERE,
    link(b"#" * 5_000_000): LONG,
    "#program-1.first-player." + "A" * 8000: LONG,
    link("price\u3164 = 1"): "A link passes on no program with characters that cannot be seen: "
    "they could hide what it does.",
    link("a = 1  # \u202e tfel ot thgir"): "A link passes on no program with characters that cannot be seen: "
    "they could hide what it does.",
}


def test_a_link_that_is_not_as_it_should_be_is_refused_with_a_sentence(page: Any, served: str) -> None:
    tab = page("chapters/01-the-tape")
    for fragment, sentence in HOSTILE.items():
        tab.page.goto("about:blank")
        tab.go(f"{served}/chapters/01-the-tape.html{fragment}")
        ready(tab.page)
        assert tab.page.locator(".live-linked").inner_text() == sentence, fragment[:80]
        assert tab.page.locator(".live-form").count() == 3, fragment[:80]  # the exercises' alone
        assert not tab.page.evaluate("() => Object.keys(localStorage).some((key) => key.startsWith('autodiff_edu'))")
    tab.page.goto("about:blank")
    tab.go(f"{served}/chapters/01-the-tape.html{link('</textarea><img src=x onerror=alert(1)>')}")
    live = Live(tab)
    assert live.text() == "</textarea><img src=x onerror=alert(1)>"
    assert tab.page.locator("article img[src=x]").count() == 0
    live.write("# " + "".join(str(k * k) for k in range(9000)))
    live.cell.get_by_role("button", name="Copy link").click()
    live.cell.locator(".live-status", has_text="This program is too long for a link.").wait_for()
    tab.is_quiet()


# ---- the frame of Python, and policies


def test_the_page_of_python_runs_nothing_for_others(open_tab: Any, served: str) -> None:
    tab = open_tab(f"{served}/genindex.html")
    tab.page.evaluate(
        """() => new Promise((resolve) => {
          const frame = document.createElement("iframe");
          frame.src = "live/python.html";
          frame.onload = () => {
            frame.contentWindow.postMessage("globalThis.begin; fetch('?taken'); export function begin() {}", "*");
            setTimeout(resolve, 1000);
          };
          document.body.append(frame);
        })"""
    )
    assert not [url for url in tab.requests if url.startswith("blob:") or url.endswith("?taken")]
