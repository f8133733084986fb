"""What the browser keeps of a reader's work: ticks, answers and programs; and the page that says where one is."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from .editing import LOADED, Live, ready

CHAPTER = "chapters/01-the-tape"


def again(live: Live, index: int = 0, kind: str = "play") -> Live:
    """Load the page once more, and find the program in it."""
    live.page.reload()
    ready(live.page)
    return Live(live.tab, index, kind)


def store(page: Any, **items: Any) -> None:
    """Put values into the browser's storage, as the book names them there."""
    page.evaluate(
        "items => { for (const [key, value] of items) localStorage.setItem(`autodiff_edu ${key}`, value); }",
        [[key, value if isinstance(value, str) else json.dumps(value)] for key, value in items.items()],
    )


def read_storage(page: Any) -> dict[str, Any]:
    text = page.evaluate("() => JSON.stringify(localStorage)")
    return {key.removeprefix("autodiff_edu "): json.loads(value) for key, value in json.loads(text).items()
            if key.startswith("autodiff_edu ")}  # fmt: skip


def text_key(live: Live) -> str:
    return f"text {live.program['id']}"


# Programs -------------------------------------------------------------------------------------------------------------


def test_what_an_edition_kept_by_cell_is_given_to_the_program_that_it_was_typed_into(page: Any) -> None:
    live = Live(page(CHAPTER), 0, "check")
    other = Live(live.tab, 1, "check")
    old = {"edition": other.program["source"], "source": "# of 1.2", "values": [], "texts": {}}
    lost = {"edition": "answer = 1", "source": "# of nothing here", "values": [], "texts": {}}
    number = live.program["cell"]  # where another exercise stood in the edition before
    store(live.page, **{f"01-the-tape.html {number}": old, "01-the-tape.html 999": lost, "solved": ["1.1", "99.1"]})
    live = again(live, 0, "check")
    other = Live(live.tab, 1, "check")
    assert live.text() == live.program["source"]
    assert live.cell.locator(".live-offer").count() == 0
    assert other.text() == "# of 1.2"
    assert read_storage(live.page)["solved"] == ["99.1"]  # nobody knows what it was, and it is not thrown away
    assert "✓ 1 of 3" in live.page.locator("nav.bd-links").inner_text()
    notice = live.page.locator("article .live-offer", has_text="not in this edition")
    assert notice.inner_text().startswith("A program that you edited here is not in this edition of the book any more.")
    notice.get_by_role("link", name="Where you are").click()
    ready(live.page)
    live.page.locator(".live-place summary", has_text="cell 1000, 1 · ").click()
    assert live.page.locator(".live-place pre").inner_text() == "# of nothing here"
    live.tab.is_quiet()


POISON: list[Any] = ["{", "null", '"text"', "[1]", "7", '{"a": 1}', '{"edition": 1, "source": {}}']


@pytest.mark.parametrize("value", POISON)
def test_no_stored_value_stops_the_editors(page: Any, value: str) -> None:
    live = Live(page(CHAPTER))
    ids = json.loads(live.page.locator("#live-programs").text_content())["predictions"].values()
    keys = [
        "solved",
        text_key(live),
        "01-the-tape.html 3",
        "text x",
        f"answer {next(iter(ids))}",
        "answer",
        "solved 5633affa",
    ]
    store(live.page, **dict.fromkeys(keys, value))
    live = again(live)
    assert live.text() == live.program["source"]
    assert live.page.locator(".live-form").count() == 4
    live.page.goto(live.page.url.replace(f"{CHAPTER}.html", "where-you-are.html"))
    ready(live.page)
    assert "of 97 exercises" in live.page.locator(".live-place").inner_text()
    live.tab.is_quiet()


def test_what_reset_took_is_kept_until_something_else_is_typed_or_the_page_is_left(page: Any) -> None:
    live = Live(page(CHAPTER))
    live.write("# an hour's work")
    live.cell.locator(".live-reset").click()
    assert live.text() == live.program["source"]
    assert read_storage(live.page)[text_key(live)]["source"] == "# an hour's work"
    live.cell.get_by_role("button", name="Bring it back").click()
    assert live.text() == "# an hour's work"
    assert live.cell.locator(".live-offer").count() == 0
    live = again(live)
    assert live.text() == "# an hour's work"
    live.cell.locator(".live-reset").click()
    live = again(live)
    assert live.text() == live.program["source"]
    assert text_key(live) not in read_storage(live.page)


def test_of_two_tabs_neither_overwrites_the_other_without_a_word(page: Any) -> None:
    live = Live(page(CHAPTER), 0, "check")
    second = live.page.context.new_page()
    second.goto(live.page.url)
    other = Live(SimpleNamespace(page=second), 0, "check")
    live.write("# tab one")
    offer = other.cell.locator(".live-offer")
    offer.wait_for()
    assert offer.inner_text() == "You changed this program in another tab. Show that text"
    other.write("# tab two")
    assert live.cell.locator(".live-offer").inner_text().startswith("You changed this program in another tab.")
    assert live.text() == "# tab one"
    live = again(live, 0, "check")
    assert live.text() == "# tab two"
    live.cell.locator(".live-offer button").click()
    assert live.text() == "# tab one"
    live.cell.locator(".live-offer button").click()  # and what stood there before
    assert live.text() == "# tab two"
    live.tab.is_quiet()


def test_a_reset_takes_nothing_from_another_tab(page: Any) -> None:
    live = Live(page(CHAPTER), 0, "check")
    second = live.page.context.new_page()

    def open_second() -> Live:
        second.goto(live.page.url)
        return Live(SimpleNamespace(page=second), 0, "check")

    other = open_second()
    other.write("# tab two")
    live.write("# tab one")
    other.cell.get_by_text("You changed this program in another tab.").wait_for()
    other.cell.locator(".live-reset").click()
    second.goto("about:blank")
    assert read_storage(live.page)[text_key(live)]["source"] == "# tab one"
    live = again(live, 0, "check")
    assert live.text() == "# tab one"

    other = open_second()  # both have the same text now, and one of them takes it away
    other.cell.locator(".live-reset").click()
    second.goto("about:blank")
    offer = live.cell.locator(".live-offer")
    offer.wait_for()
    assert offer.inner_text() == "This text is no longer saved: it was removed in another tab. Save it again"
    offer.get_by_role("button").click()
    assert offer.count() == 0
    live = again(live, 0, "check")
    assert live.text() == "# tab one"

    other = open_second()  # after a Reset, what is typed next takes nothing away either
    live.write("# tab one, again")
    other.cell.get_by_text("You changed this program in another tab.").wait_for()
    other.cell.locator(".live-reset").click()
    other.write("# tab two, again")
    live = again(live, 0, "check")
    assert live.text() == "# tab two, again"
    live.cell.get_by_role("button", name="Show that text").click()
    assert live.text() == "# tab one, again"
    live.tab.is_quiet()


def test_reset_gives_back_the_texts_that_were_offered(page: Any) -> None:
    live = Live(page(CHAPTER))
    texts = ["# of an earlier edition", "# and of another"]
    old = {"edition": "f(1)", "source": texts[0], "others": [{"source": texts[1], "why": "before"}]}
    store(live.page, **{text_key(live): old})
    live = again(live)
    shown = live.cell.locator(".live-offers").inner_text()
    assert "The book's program has changed since you edited it. Show my text" in shown
    live.cell.locator(".live-reset").click()
    live.cell.locator(".live-reset").click()  # once more takes nothing more
    live.cell.get_by_text("Reset removed the other texts that were offered here.").wait_for()
    live.cell.get_by_role("button", name="Bring them back").click()
    assert live.cell.locator(".live-offers").inner_text() == shown
    live = again(live)
    assert [live.cell.get_by_role("button", name=name).count() for name in ("Show my text", "Show it")] == [1, 1]
    live.cell.locator(".live-reset").click()
    live = again(live)
    assert text_key(live) not in read_storage(live.page)
    live.tab.is_quiet()


FILL = """() => {
  for (let size = 4e6; size >= 1; size = Math.floor(size / 2)) {
    try { for (;;) localStorage.setItem(`full ${size} ${localStorage.length}`, "x".repeat(size)); } catch { continue; }
  }
}"""


def test_what_a_full_browser_does_not_keep_is_said_for_good(page: Any) -> None:
    live = Live(page(CHAPTER), 0, "check")
    live.page.evaluate(FILL)
    live.run('answer = 8\n\ncheck("1.1", answer)')
    assert live.cell.locator(".live-right").count() == 1
    assert live.cell.locator(".live-offers").inner_text() == f"{UNKEPT} Copy your text before you leave the page."
    assert live.status.inner_text() == f"{UNKEPT} It won’t remember that you solved this exercise."
    live.page.evaluate("() => localStorage.clear()")
    live.run()
    assert live.cell.locator(".live-offers").inner_text() == ""
    assert live.status.inner_text() == ""
    assert "solved 5633affa" in read_storage(live.page)
    live.page.evaluate(FILL)
    live.page.locator("[data-autodiff-prediction]").first.get_by_role("button", name="Show me").click()
    said = live.page.locator("[data-autodiff-prediction] + .live-said").first
    assert said.inner_text() == f"{UNKEPT} It won’t remember this answer."
    live.tab.is_quiet()


UNKEPT = "This browser can’t save anything for this page, or its storage is full."
REFUSING = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"


def test_a_browser_that_keeps_nothing_is_not_said_to_keep(open_tab: Any, served: str) -> None:
    tab = open_tab("about:blank")
    tab.page.add_init_script(REFUSING)
    tab.page.goto(f"{served}/{CHAPTER}.html")
    live = Live(tab, 0, "check")
    live.write("# mine")
    assert UNKEPT in live.cell.locator(".live-offers").inner_text()
    tab.page.route("**/files.json", lambda route: route.abort())
    live.run()
    assert "could not be loaded" in live.status.inner_text()
    assert "kept" not in live.status.inner_text()
    tab.page.goto(f"{served}/where-you-are.html")
    ready(tab.page)
    assert "This browser keeps nothing for this site" in tab.page.locator(".live-place [role=status]").inner_text()


# Predictions ----------------------------------------------------------------------------------------------------------


def answer(page: Any, index: int, *texts: str) -> None:
    """Answer one of the chapter's predictions."""
    question = page.locator("[data-autodiff-prediction] .prediction").nth(index)
    for text in texts:
        choice = question.get_by_role("radio", name=text, exact=True)
        (choice.check if choice.count() else lambda text=text: question.locator("input").fill(text))()
        question.get_by_role("button", name="Check").click()


def test_a_prediction_is_kept_and_only_its_first_try_counts(page: Any) -> None:
    tab = page("chapters/00-derivatives")
    ready(tab.page)
    seals = tab.page.evaluate("""() => [...document.querySelectorAll("[data-autodiff-prediction]")].map((host) =>
      JSON.parse(atob(JSON.parse(host.querySelector("script").textContent).sealed)).right)""")
    answer(tab.page, 0, seals[0])
    answer(tab.page, 1, *wrong(tab.page, 1, seals[1]), seals[1])
    tab.page.locator("[data-autodiff-prediction]").nth(2).get_by_role("button", name="Show me").click()
    tab.page.reload()
    ready(tab.page)
    said = tab.page.locator("[data-autodiff-prediction] + .live-said").all_inner_texts()
    assert said[0] == f"Last time you answered “{seals[0]}”: right at the first try."
    assert said[1] == f"Last time you answered “{seals[1]}”: right, but not at the first try."
    assert len(said) == 3
    answer(tab.page, 1, seals[1])  # again, now that one knows
    tab.page.goto(tab.page.url.replace("chapters/00-derivatives", "where-you-are"))
    ready(tab.page)
    row = tab.page.locator(".live-place tbody tr").first
    assert row.locator("td").all_inner_texts() == ["0 of 3", "3 of 9", "1", "–"]
    tab.is_quiet()


def wrong(page: Any, index: int, right: str) -> list[str]:
    """Return one wrong answer."""
    choices = page.locator("[data-autodiff-prediction]").nth(index).get_by_role("radio")
    return [value for value in choices.evaluate_all("all => all.map(each => each.value)") if value != right][:1] or [
        "-98765"
    ]


# Where you are --------------------------------------------------------------------------------------------------------


@pytest.fixture
def where(open_tab: Any, served: str) -> Any:
    tab = open_tab(f"{served}/where-you-are.html")
    ready(tab.page)
    return tab


TEXT = {"edition": "f(2)", "source": "f(3)\n# mine", "values": [], "texts": {}}
DONE = {"solved 5633affa": {"name": "1.1"}, "text the-tape/first-player": TEXT}


def load(page: Any, content: Any, name: str = "progress.json") -> str:
    """Choose a file, and return what the page says of it."""
    text = content if isinstance(content, str) else json.dumps(content)
    said = page.locator(".live-place [role=status]")
    page.evaluate("() => { document.querySelector('.live-place [role=status]').textContent = ''; }")
    page.locator(".live-place input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    )
    page.wait_for_function("() => document.querySelector('.live-place [role=status]').textContent")
    return str(said.inner_text())


def test_progress_is_saved_to_a_file_forgotten_brought_back_and_loaded(where: Any, tmp_path: Path) -> None:
    page = where.page
    store(page, **DONE)
    page.reload()
    ready(page)
    assert "1 of 97 exercises solved" in page.locator(".live-place").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save to a file").click()
    path = tmp_path / "saved.json"
    download.value.save_as(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["kept"] == read_storage(page) == DONE

    forget = page.get_by_role("button", name="Forget everything")
    forget.click()
    assert read_storage(page) == DONE  # it asks first
    page.get_by_role("button", name="Cancel").click()
    assert read_storage(page) == DONE
    for then in ("Undo", None):
        forget.click()
        page.get_by_role("button", name="Forget", exact=True).click()
        assert read_storage(page) == {}
        assert forget.is_disabled()
        if then:
            page.get_by_role("button", name=then).click()
            assert read_storage(page) == DONE

    assert load(page, content).startswith("Loaded from progress.json: 1 exercise, 0 predictions and 1 edited program.")
    assert read_storage(page) == DONE
    assert load(page, content) == "Loaded from progress.json: nothing new. 2 already here."
    mine = {**TEXT, "source": "# here"}
    store(page, **{"text the-tape/first-player": mine})
    said = load(page, content)
    assert "You already had another text of 1 program: yours stays, and its page offers the one from the file." in said
    kept = read_storage(page)["text the-tape/first-player"]
    assert (kept["source"], kept["others"]) == ("# here", [{"source": TEXT["source"], "why": "file"}])
    where.stays_home()
    where.is_quiet()


def test_of_many_texts_of_one_program_none_is_dropped(where: Any) -> None:
    key = "text the-tape/first-player"
    texts = [f"# number {k}" for k in range(30)]
    store(where.page, **{key: {**TEXT, "others": [{"source": text, "why": "before"} for text in texts[:20]]}})
    others = [{"source": text, "why": "before"} for text in texts[20:]]
    said = load(where.page, {**GOOD, "kept": {key: {**TEXT, "others": others}}})
    assert "You already had another text of 1 program" in said
    assert sorted(each["source"] for each in read_storage(where.page)[key]["others"]) == sorted(texts)
    where.go(where.page.url.replace("where-you-are", CHAPTER))
    live = Live(where)
    assert live.cell.locator(".live-offer:visible").count() < 10
    live.cell.locator(".live-offers summary").click()
    assert live.cell.locator(".live-offer:visible").count() == 31  # and the book's has changed since
    live.cell.get_by_role("button", name="Show it").last.click()
    assert live.text().startswith("# number")
    assert len(read_storage(live.page)[key]["others"]) == 30
    where.is_quiet()


def test_of_a_file_with_very_many_texts_the_newest_are_taken_and_a_right_answer_wins(where: Any) -> None:
    key, new = "text the-tape/first-player", "text the-tape/loop-player"
    wrong = {"answer": "1", "right": False, "first": False}
    store(where.page, **{key: {**TEXT, "source": "# here"}, "answer a": wrong})
    others = [{"source": f"# {k}", "why": "before"} for k in range(60_000)]
    right = {"answer": "2", "right": True, "first": False}
    many = {**TEXT, "others": others}
    said = load(where.page, {**GOOD, "kept": {key: many, new: many, "answer a": right}})
    assert "119800 texts were left out: only the newest 100 of each program are taken." in said
    assert "0 exercises, 1 prediction and 1 edited program" in said
    kept = read_storage(where.page)
    assert kept["answer a"] == right
    assert [len(kept[each]["others"]) for each in (key, new)] == [101, 100]
    assert {each["source"] for each in kept[key]["others"]} == {TEXT["source"], *(f"# {k}" for k in range(100))}
    load(where.page, {**GOOD, "kept": {"answer a": {**right, "right": False}}})
    assert read_storage(where.page)["answer a"] == right
    where.is_quiet()


GOOD = {"format": "autodiff_edu progress", "version": 1, "course": "", "edition": "0.2.0", "date": "", "kept": DONE}
BAD = {
    "{": "can't be read",
    "[]": "was not saved by this page",
    "null": "was not saved by this page",
    json.dumps({**GOOD, "version": 2}): "was saved by a later edition",
    json.dumps({**GOOD, "course": "Heat"}): "belongs to another course, Heat",
    json.dumps({**GOOD, "kept": {}}): "is empty",
    json.dumps({**GOOD, "kept": {**DONE, "text x": {"source": 1}}}): "holds “text x”",
    json.dumps({**GOOD, "kept": {**DONE, "__proto__": {}}}): "holds “__proto__”",
    json.dumps({**GOOD, "kept": {**DONE, "theme": "dark"}}): "holds “theme”",
    json.dumps({**GOOD, "more": "x" * 8_000_000}): "is too large",
}


def test_a_bad_file_is_refused_as_a_whole(where: Any) -> None:
    for text, words in BAD.items():
        said = load(where.page, text)
        assert words in said, text[:200]
        assert said.endswith("Nothing was changed.")
        assert read_storage(where.page) == {}
    where.is_quiet()


def test_an_imported_text_is_text(where: Any) -> None:
    evil = "<img src=x onerror='document.title = 1'></pre><script>document.title = 2</script>"
    content = {**GOOD, "kept": {"text gone": {**TEXT, "source": evil, "name": evil, "page": evil}}}
    load(where.page, content, name="<b>.json")
    where.page.locator(".live-place summary").click()
    assert where.page.locator(".live-place pre").inner_text() == evil
    assert where.page.locator(".live-place img, .live-place script, .live-place b").count() == 0
    where.page.get_by_role("button", name="Forget this text").click()
    assert read_storage(where.page) == {}
    where.page.get_by_role("button", name="Undo").click()
    assert read_storage(where.page)["text gone"]["source"] == evil
    where.is_quiet()


def test_axe_finds_nothing_on_the_page_that_says_where_one_is(where: Any) -> None:
    package = pytest.importorskip("axe_playwright_python")
    page = where.page
    store(page, **DONE, **{"01-the-tape.html 999": TEXT})
    page.reload()
    ready(page)
    page.get_by_role("button", name="Forget everything").click()
    page.locator(".live-place summary").click()
    page.evaluate((Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 720})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.locator(f"html[data-theme={scheme}]").wait_for(state="attached")
            found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")["violations"]
            assert [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]] == [], scheme
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.locator(".live-table").evaluate("table => table.scrollWidth <= table.clientWidth")


# The front page -------------------------------------------------------------------------------------------------------


def test_x_is_dragged_on_the_front_page_without_python(page: Any) -> None:
    tab = page("index", reduced_motion="reduce")
    ready(tab.page)
    player = tab.page.locator("section.player")
    player.locator("[data-action=last]").click()
    slider = tab.page.get_by_role("slider", name="Drag x")
    for value, slope in (("-1.8", "2.7728"), ("3", "2.01001"), ("2", "2.58385")):
        slider.fill(value)
        player.locator(".graph", has_text=slope).wait_for()
        assert player.count() == 1
        assert player.get_attribute("data-step") == "15"  # the step stays
    assert not [url for url in tab.requests if "/python/" in url]
    tab.stays_home()
    tab.is_quiet()


def test_a_function_of_one_s_own_is_played_in_the_first_screen(page: Any) -> None:
    tab = page("index", reduced_motion="reduce")
    ready(tab.page)
    said = tab.page.locator(".front-said")
    said.get_by_text("17 MB").wait_for()
    field = tab.page.get_by_role("textbox", name="or f(x) =")
    player = tab.page.frame_locator(".live-program iframe").locator("section.player")
    for text, line, slope in (
        ("x^2 * sin(x)", "return x**2 * np.sin(x)", "1.97"),
        ("np.exp(-x * x)", "return np.exp(-x * x)", "0.0732"),
    ):
        field.fill(text)
        field.press("Enter")
        player.locator(".code", has_text=line).wait_for(timeout=LOADED)
        player.locator("[data-action=last]").click()
        player.locator(".graph", has_text=slope).wait_for()
        assert tab.page.locator(".live-program section.player").count() == 0
        assert tab.page.locator(".live-program iframe").bounding_box()["y"] < 360
    tab.page.get_by_role("slider", name="Drag x").fill("1")  # now Python computes what it shows
    player.locator(".sentence", has_text="The tape watches x, which is 1.").wait_for()
    assert tab.page.locator("[data-autodiff-player]").count() == 0
    tab.page.set_viewport_size({"width": 390, "height": 720})
    top = tab.page.locator("#pst-back-to-top")  # the theme shows it on the way up; over a player it would be in the way
    assert top.evaluate("each => { each.style.display = 'block'; return getComputedStyle(each).display; }") == "none"
    field.fill(" ")
    field.press("Enter")
    assert said.inner_text() == "Type a function of x first, such as x * np.sin(x)."
    field.fill("x +")
    field.press("Enter")
    assert "SyntaxError" in tab.page.locator(".live-program .live-error").inner_text()
    assert tab.page.locator(".live-offer").count() == 0  # nobody typed the programs that the field made
    tab.is_quiet()


def test_a_function_of_one_s_own_plays_at_once_in_its_frame(page: Any) -> None:
    tab = page("index", reduced_motion="no-preference")
    ready(tab.page)
    field = tab.page.get_by_role("textbox", name="or f(x) =")
    field.fill("x * x")
    field.press("Enter")
    player = tab.page.frame_locator(".live-program iframe").locator("section.player")
    player.wait_for(timeout=LOADED)
    player.get_by_role("button", name="Pause").wait_for()
    tab.page.reload()  # Python starts while the reader types, and that is no other program to wait for
    ready(tab.page)
    said = tab.page.locator(".front-said").element_handle()
    tab.page.evaluate(HEAR, said)
    field.click()
    field.press("Control+a")
    tab.page.keyboard.type("x * x * x")
    field.press("Enter")
    player.locator(".code", has_text="x * x * x").wait_for(timeout=LOADED)
    heard = tab.page.evaluate("() => heard")
    assert not [words for words in heard if "Waiting" in words], heard
    for text in ("x + 1.0", "x + 2.0", "x + 3.0"):  # while one runs, the last of the others waits
        field.fill(text)
        field.press("Enter")
    player.locator(".code", has_text="return x + 3.0").wait_for(timeout=LOADED)


HEAR = """said => {
  globalThis.heard = [];
  new MutationObserver(() => heard.push(said.textContent)).observe(said, { childList: true });
}"""
