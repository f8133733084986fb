"""The editor of a live page: when it comes, its keys, colours and names, what it undoes, and how it does without."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from .editing import Live, ready

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def type_anew(live: Live, *keys: str) -> str:
    """Press keys in an empty editor; what is longer than a character and no name of a key is typed."""
    live.area.focus()
    for key in ("Control+a", "Delete", *keys):
        if key in {"Enter", "Tab", "Backspace", "Delete", "Escape", "ArrowDown"} or "+" in key:
            live.page.keyboard.press(key)
        else:
            live.page.keyboard.type(key)
    return live.text()


def read_focus(live: Live) -> str:
    return str(live.page.evaluate("document.activeElement.className || document.activeElement.name"))


@pytest.mark.parametrize("kind", ["play", "check"])
def test_the_editor_comes_with_the_first_press_for_all_open_programs(site: Path, page: Any, kind: str) -> None:
    tab = page("chapters/01-the-tape")
    ready(tab.page)
    tab.page.wait_for_timeout(500)
    fields = tab.page.locator(".live-form textarea")
    assert fields.count() == 3  # the exercises
    assert not [url for url in tab.requests if "codemirror" in url]
    Live(tab, 0, kind)
    assert fields.count() == 0
    added = {urlsplit(url).path for url in tab.requests if url.endswith(("/codemirror.js", "/names.js"))}
    assert len(added) == 2
    assert sum(len(gzip.compress((site / path.lstrip("/")).read_bytes())) for path in added) < 200_000
    tab.stays_home()
    tab.is_quiet()


@pytest.mark.parametrize("kind", ["play", "check"])
def test_keys_are_those_of_an_editor(page: Any, kind: str) -> None:
    live = Live(page("chapters/01-the-tape"), 0, kind)
    assert type_anew(live, "def f(x):", "Enter", "return x", "Enter", "y") == "def f(x):\n    return x\ny"
    assert type_anew(live, "if a:", "Enter", "b", "Enter", "else:", "Enter", "c") == "if a:\n    b\nelse:\n    c"
    assert type_anew(live, "a", "Tab", "b") == "a   b"
    assert type_anew(live, "Tab", "Tab", "Backspace", "a") == "    a"
    assert type_anew(live, "a", "Enter", "b", "Control+a", "Tab") == "    a\n    b"
    assert type_anew(live, "a", "Enter", "b", "Control+a", "Tab", "Tab", "Shift+Tab") == "    a\n    b"
    assert type_anew(live, "f([1, 'a") == "f([1, 'a'])"
    assert type_anew(live, "f(x)") == "f(x)"
    assert live.cell.locator(".cm-matchingBracket").all_text_contents() == ["(", ")"]
    assert type_anew(live, "a = 1", "Control+/") == "# a = 1"


def test_tab_after_escape_leaves_and_screen_readers_are_told(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    said = live.area.get_attribute("aria-describedby")
    assert live.page.locator(f"#{said}").inner_text() == "Tab indents; Esc, then Tab, leaves. Shift+Enter runs."
    assert live.area.get_attribute("aria-label") == "the program"
    assert live.area.get_attribute("aria-multiline") == "true"
    before = type_anew(live, "a.b", "Escape")
    live.page.wait_for_timeout(2500)  # as long as it takes
    live.page.keyboard.press("Tab")
    assert read_focus(live) == live.program["values"][0]["name"]
    live.page.keyboard.press("Shift+Tab")
    assert "cm-content" in read_focus(live)
    live.page.keyboard.press("Escape")
    live.page.keyboard.press("Shift+Tab")
    assert "cm-content" not in read_focus(live)
    assert live.text() == before


def test_the_colours_are_those_of_the_books_code_in_light_and_dark(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.write("def f(x):\n    return 2.0  # x\n")
    other = live.page.locator("div.highlight pre")
    seen = set()
    for scheme in ("light", "dark"):
        live.page.emulate_media(color_scheme=scheme)
        live.page.locator(f"html[data-theme={scheme}]").wait_for(state="attached")
        for name in ("k", "mf", "c1"):
            colours = [
                place.locator(f".{name}").first.evaluate("part => getComputedStyle(part).color")
                for place in (live.area, other)
            ]
            assert colours[0] == colours[1]
            seen.add(colours[0])
    assert len(seen) > 3


def list_offers(live: Live, first: str) -> list[str]:
    """Return what is offered to complete what was typed, once a name is the first of it."""
    options = live.page.locator(".cm-tooltip-autocomplete li .cm-completionLabel")
    live.page.wait_for_function(
        "first => document.querySelector('.cm-tooltip-autocomplete .cm-completionLabel')?.textContent === first",
        arg=first,
    )
    return [str(text) for text in options.all_text_contents()]


def test_names_are_completed_without_python(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"), 1, "check")
    type_anew(live, "ad.jac")
    assert list_offers(live, "jacobian")
    live.page.keyboard.press("Tab")
    assert live.text() == "ad.jacobian"
    type_anew(live, "np.linalg.sol")
    assert list_offers(live, "solve")
    live.page.keyboard.press("Enter")  # nothing was chosen, so this begins a line
    assert live.text() == "np.linalg.sol\n"
    type_anew(live, "def quadratic(argument):", "Enter", "return arg")
    assert list_offers(live, "argument") == ["argument"]
    live.page.keyboard.press("ArrowDown")
    live.page.keyboard.press("Enter")
    assert live.text() == "def quadratic(argument):\n    return argument"
    type_anew(live, "argument.np")
    live.page.wait_for_timeout(500)
    assert live.page.locator(".cm-tooltip-autocomplete").count() == 0
    type_anew(live, "buf")
    assert list_offers(live, "buffer") == ["buffer"]  # of an earlier cell
    live.page.keyboard.press("Escape")
    assert live.page.locator(".cm-tooltip-autocomplete").count() == 0
    live.tab.is_quiet()


def test_undo_reaches_back_before_a_replay_and_a_reset(chapter_1: Any) -> None:
    live = Live(chapter_1)
    original = live.program["source"]
    live.write(f"{original}\n# mine")
    live.run(price="2.5")
    replayed = live.text()
    assert "ad.Variable(2.5)" in replayed
    live.cell.locator(".live-reset").click()
    assert live.text() == original
    live.area.focus()
    for expected in (replayed, f"{original}\n# mine", "", original):
        live.page.keyboard.press("Control+z")
        assert live.text() == expected
    for _ in range(2):
        live.page.keyboard.press("Control+y")
    assert live.text() == f"{original}\n# mine"


def test_a_reset_without_a_keyboard_is_taken_back_by_a_button(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.write("# mine")
    live.cell.locator(".live-reset").click()
    back = live.cell.get_by_role("button", name="Bring it back")
    back.click()
    assert live.text() == "# mine"
    assert back.count() == 0
    assert live.status.text_content() == "Your text is back."
    live.cell.locator(".live-reset").click()
    live.area.focus()
    live.page.keyboard.type("x")
    assert back.count() == 0  # there is another text now
    typed = live.text()
    assert typed != live.program["source"]
    live.page.reload()
    assert Live(live.tab).text() == typed


def test_the_line_that_failed_is_marked_until_it_is_edited(chapter_1: Any) -> None:
    live = Live(chapter_1)
    numbered = "\n".join(f"a{line} = {line}" for line in range(60))
    live.run(f"{numbered}\n1 / 0")
    assert live.list_failed() == ["61"]
    assert live.area.locator(".live-failed").text_content() == "1 / 0"
    assert live.area.locator(".live-failed").is_visible()
    assert live.area.get_attribute("aria-invalid") == "true"
    assert live.status.text_content() == "The program stopped with an error in line 61, below."
    live.area.focus()
    live.page.keyboard.press("Control+End")
    live.page.keyboard.type("2")
    assert live.list_failed() == []
    assert live.area.get_attribute("aria-invalid") is None


def test_what_a_run_does_not_show_is_said(chapter_1: Any) -> None:
    live, exercise = Live(chapter_1), Live(chapter_1, 0, "check")
    for program, said in {
        "": "There is nothing to run: the program is empty.",
        "x = 1": "The program ran, but shows nothing: print(x) shows a value, ad.play(f, x) a player.",
        "print(1)": "The program ran, but shows no player: ad.play(f, x) makes one.",
        "ad.play(lambda x: x * x, 2.0)": "",
    }.items():
        live.run(program)
        assert live.status.text_content() == said
    exercise.run("answer = 8")
    assert exercise.status.text_content() == 'Nothing was checked: write check("1.1", answer) in the last line.'


def test_a_replay_is_called_what_the_cell_is_called(chapter_1: Any) -> None:
    live = Live(chapter_1)
    (before,) = live.cell.locator("[data-autodiff-player]").all()
    titles = before.evaluate(TITLES)
    live.run(f"{live.program['source']}\n# mine")
    assert live.find_framed("[data-autodiff-player]").evaluate(TITLES) == titles
    assert "cell 2" in titles


TITLES = "player => [...player.shadowRoot.querySelectorAll('h2, h3, h4')].map((each) => each.textContent.trim())"


def test_a_page_that_is_opened_again_says_that_the_text_has_not_run(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.write("# mine")
    live.page.reload()
    assert Live(live.tab).status.text_content() == (
        "The program is as you left it; the player has not run it yet. Press Replay."
    )


def test_a_telephone_does_not_enlarge_the_page_and_long_lines_wrap(page: Any) -> None:
    tab = page("chapters/01-the-tape", **PHONE)
    ready(tab.page)
    sizes = "part => Number.parseFloat(getComputedStyle(part).fontSize)"
    assert tab.page.locator(".live-form textarea").first.evaluate(sizes) >= 16
    live = Live(tab)
    live.write(f"x = '{'long ' * 30}'")
    for part in (live.area, live.cell.locator(".live-values input").first):
        assert part.evaluate(sizes) >= 16
    assert live.area.evaluate("area => area.scrollWidth <= area.parentElement.clientWidth")
    assert live.area.locator(".cm-line").evaluate("line => line.offsetHeight") > 60
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_text_field_is_there_until_the_editor_is_and_keeps_what_was_typed(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    held: list[Any] = []
    tab.page.context.route("**/codemirror.js", lambda route: held.append(route))
    ready(tab.page)
    form = tab.page.locator(".live-form").first
    field = form.locator("textarea")
    field.focus()
    tab.page.keyboard.press("Control+Home")
    tab.page.keyboard.type("x = 1")
    tab.page.keyboard.press("Enter")
    held[0].continue_()
    form.locator(".cm-content").wait_for()
    tab.page.keyboard.type("y")
    assert form.locator(".cm-line").all_text_contents()[:3] == ["x = 1", "yanswer = ...", ""]


def test_without_the_editor_a_text_field_runs_programs_and_the_next_press_tries_again(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    tab.page.context.route("**/codemirror.js*", lambda route: route.abort())
    ready(tab.page)
    cell = tab.page.locator("div.cell:has(.live-form)").first
    field = cell.locator("textarea")
    field.fill('answer = 8\ncheck("1.1", answer)')
    field.press("Shift+Enter")
    cell.locator(".live-right").wait_for(timeout=240_000)
    tab.page.context.unroute("**/codemirror.js*")
    field.blur()
    field.focus()
    cell.locator(".cm-content").wait_for()
    assert cell.locator(".cm-line").all_text_contents() == ["answer = 8", 'check("1.1", answer)']


def test_what_is_kept_under_our_names_by_somebody_else_stops_no_editor(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    tab.page.evaluate(
        """() => {
          localStorage["autodiff_edu solved"] = '{"a": 1}';
          localStorage["autodiff_edu 01-the-tape.html 1"] = '{"source": 3}';
        }"""
    )
    tab.page.reload()
    live = Live(tab)
    assert live.text() == live.program["source"]
    tab.is_quiet()
