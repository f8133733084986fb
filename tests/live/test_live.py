"""Programs changed in the book's own pages: what is shown, stopped, kept and given back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from .editing import Live, link, ready


def test_a_wrong_answer_gets_its_own_hint(chapter_1: Any) -> None:
    live = Live(chapter_1, 0, "check")
    live.run('answer = 9\n\ncheck("1.1", answer)')
    assert "9 counts half = 0.5 * 3.0" in live.cell.locator(".live-wrong").inner_text()


ODD = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "%%play\nx = ad.Varable(2.0)": "AttributeError: module 'autodiff_edu' has no attribute 'Varable'",
    "%timeit 1": "%timeit belongs to IPython, which is not here; %%play works, in the first line",
    "x = (1,": "SyntaxError: '(' was never closed",
    "import torch": "This page has NumPy, Matplotlib and autodiff_edu; torch is not here.",
    "input('x? ')": "write the value into the program instead of input()",
    "ad = 3\nad.play(abs, 1.0)": "AttributeError: 'int' object has no attribute 'play'",
    "raise SystemExit('enough')": "SystemExit: enough",
    "import asyncio\nasync def f():\n    await asyncio.sleep(1)\nasyncio.run(f())": "asyncio cannot wait in this page; "
    "write an ordinary function instead of a coroutine, and call it.",
    "def f(x):\n    return f(x)\nf(1.0)": "A function calls itself again and again. Is there a case where it stops?",
    "while True:\n    print('again')": "the program printed more than 1,000,000 characters",
    "while True:\n    display(1)": "the program displayed more than 1,000 things",
    "y = sin(1.0)": "name 'sin' is not defined.\nDid you mean np.sin?",
    "[np.zeros(10**8) for _ in range(9)]": "The program needs more memory than a page may have.",
}


def test_what_goes_wrong_is_shown_as_python_shows_it(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    for source, message in ODD.items():
        live.run(source)
        assert message in live.error(), (source, live.error(), live.status.text_content())
        assert live.area.get_attribute("aria-invalid") == "true", source
        assert live.text() == source
    live.run("a = 1\nb = a / 0\nc = 3")
    assert live.list_failed() == ["2"]
    assert live.status.text_content() == "The program stopped with an error in line 2, below."
    live.run(live.program["source"])  # brings the fields back, which the last program did not have
    live.run(price="two (2")
    assert "price needs a value, such as 2.0; two (2 is not one" in live.error()
    live.cell.locator(".live-reset").click()
    assert live.text() == live.program["source"]
    assert live.cell.locator(".live-error").count() == 0
    live.run()
    assert live.steps()
    live.tab.is_quiet()


def test_a_flood_scrolls_in_its_own_place_and_what_a_fold_hides_opens(page: Any) -> None:
    live = Live(page("chapters/06-watched-or-none"), 1)
    live.run("for k in range(2000):\n    print(k)\n1 / 0")
    assert "ZeroDivisionError" in live.error()
    assert live.cell.locator(".live-error").is_visible()
    assert live.cell.locator(".live-text pre").bounding_box()["height"] < 600
    assert live.cell.locator(".live-old").count() == 0


def test_a_program_that_fills_the_memory_is_told_so(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.run("a = []\nwhile True:\n    a.append(list(range(100000)))")
    assert "The program needs more memory than a page may have" in live.cell.inner_text()
    live.run("print(1)")
    assert live.cell.locator(".live-output").inner_text().strip() == "1"


ENDLESS = [
    "while True:\n    pass",
    "%%play\nx = ad.Variable(1.0)\nwith ad.GradientTape() as tape:\n    for _ in range(10**7):\n        x = x * 1.0",
]


def test_an_endless_loop_is_stopped_and_python_starts_again(page: Any) -> None:
    tab = page("chapters/01-the-tape")
    live, other = Live(tab), Live(tab, 1)
    live.run()
    for endless in ENDLESS:
        live.start(endless)
        tab.page.wait_for_timeout(1000)
        other.start()  # waits in line, and is stopped with it
        other.cell.locator(".live-status", has_text="Waiting for another program of this page").wait_for()
        if endless is ENDLESS[0]:
            live.cell.locator(".live-status", has_text="Still running. If this is an endless loop, Stop").wait_for()
        live.cell.locator(".live-stop").click()
        for each in (live, other):
            assert each.status.text_content() == "Stopped. Python will start again when you press the button."
        assert live.text() == endless
    other.run()
    assert other.steps()
    live.tab.is_quiet()


def test_what_is_typed_outlives_a_reload_until_reset(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.write("# mine")
    live.page.reload()
    ready(live.page)
    live = Live(live.tab)
    assert live.text() == "# mine"
    live.cell.locator(".live-reset").click()
    live.page.reload()
    ready(live.page)
    assert live.page.locator(".live-pencil").count() > 0
    assert Live(live.tab).text() == live.program["source"]


def test_what_is_typed_while_a_program_runs_stays(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.run("print(1)")
    live.start("import time\ntime.sleep(2)\nprint(2)")
    live.write("print(3)")
    live.cell.locator(".live-output", has_text="2").wait_for()
    assert live.text() == "print(3)"
    live.page.reload()
    ready(live.page)
    assert Live(live.tab).text() == "print(3)"


def test_a_replayed_value_is_in_program_and_field_after_a_reload(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.run(live.program["source"], price="2.5")
    live.page.reload()
    ready(live.page)
    live = Live(live.tab)
    assert "ad.Variable(2.5)" in live.text()
    field = live.cell.locator('.live-values input[name="price"]')
    assert field.input_value() == "2.5"
    live.run(price="2.0")
    assert live.text() == live.program["source"]
    live.page.reload()
    ready(live.page)
    assert live.page.locator(".live-form").count() == 3  # the exercises' alone: nothing differs from the book


def test_fifty_replays_need_no_more_memory_than_ten(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"), 2)
    heap = "from pyodide_js import _module\nprint(_module.HEAPU8.length)"
    sizes = []
    for _ in range(5):
        for _ in range(10):
            live.run(live.program["source"])
        live.run(heap)
        sizes.append(int(live.cell.locator(".live-output").inner_text()))
    assert sizes[-1] == sizes[0], sizes


def test_an_explorer_has_sliders_that_move(page: Any) -> None:
    live = Live(page("chapters/00-derivatives"))
    live.run()
    sliders = live.cell.locator(".live-sliders input")
    assert sliders.count() == 2
    live.find_framed("table", has_text="df/d tilt").wait_for()
    sliders.first.fill("0.5")
    live.cell.locator(".live-output", has_text=re.compile(r"tilt =\s*0\.5")).wait_for()
    live.find_framed("table", has_text=re.compile(r"value\s*0\.1789")).wait_for()
    live.tab.is_quiet()


def test_a_program_with_hundreds_of_numbers_does_not_flood_the_page(chapter_1: Any) -> None:
    live = Live(chapter_1)
    names = [f"x{k}" for k in range(150)]
    ranges = ", ".join(f"{name}=(0.0, 1.0)" for name in names)
    variables = "\n".join(f"v{k} = ad.Variable({k}.0)" for k in range(150))
    live.run(f"{variables}\nad.explore(lambda {', '.join(names)}: x0 * x1, {ranges})")
    assert live.cell.locator(".live-sliders input").count() == 20
    assert "130 more values don’t have a slider." in live.cell.locator(".live-sliders").inner_text()
    assert live.cell.locator(".live-values input").count() == 20


def test_two_explorers_of_one_program_move_each_by_itself(chapter_1: Any) -> None:
    live = Live(chapter_1)
    first, second = "display(ad.explore(lambda x: x * x, x=(0.0, 4.0)))", "ad.explore(lambda w: -w, w=(0.0, 1.0))"
    live.run(f"print('before')\n{first}\nprint('between')\n{second}")
    sliders = live.cell.locator(".live-sliders input")
    assert sliders.count() == 2
    sliders.nth(0).fill("3")
    live.find_framed("table", has_text=re.compile(r"value\s*9\s*df")).wait_for()
    sliders.nth(1).fill("0.25")
    live.find_framed("table", has_text=re.compile(r"value\s*[-−]0\.25\s*df"), frame=1).wait_for()
    kinds = live.cell.locator(".live-output").evaluate(
        "box => [...box.children].map(each => each.classList.item(each.classList.length - 1))"
    )
    assert kinds == 2 * ["live-text", "live-sliders", "live-html"]
    chapter_1.is_quiet()


def test_what_was_typed_into_an_earlier_edition_is_offered_until_reset(page: Any) -> None:
    live = Live(page("chapters/01-the-tape"))
    live.write("# mine")
    live.page.evaluate(EARLIER)
    live.page.reload()
    live = Live(live.tab)
    offer = live.cell.locator(".live-offer")
    assert "The book's program has changed since you edited it." in offer.inner_text()
    assert live.text() == live.program["source"]
    live.write("# newer")
    live.page.reload()
    live = Live(live.tab)
    assert live.text() == "# newer"
    offer.get_by_role("button", name="Show my text").click()
    assert live.text() == "# mine"
    live.cell.locator(".live-reset").click()
    assert live.text() == live.program["source"]
    assert "Your text is gone." in offer.inner_text()
    live.page.reload()
    ready(live.page)
    assert live.page.locator(".live-offer").count() == 0


EARLIER = """() => {
  for (const key of Object.keys(localStorage).filter((key) => key.startsWith("autodiff_edu"))) {
    localStorage[key] = JSON.stringify({ ...JSON.parse(localStorage[key]), edition: "another program" });
  }
}"""


def test_axe_finds_nothing_in_an_open_editor(page: Any) -> None:
    package = pytest.importorskip("axe_playwright_python")
    script = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    tab = page(f"chapters/01-the-tape.html{link('print(1)')}", viewport={"width": 375, "height": 720})
    live, exercise = Live(tab), Live(tab, 0, "check")
    assert live.cell.locator(".live-linked").count() == 1
    live.run("print(1)\nad.play(lambda x: (x * x).nothing, 1.0)")
    exercise.run()
    tab.page.evaluate(script)
    live.find_framed("section.player").wait_for()
    (frame,) = [frame for frame in tab.page.frames if frame.url == "about:srcdoc"]
    frame.evaluate(script)
    for width in (375, 1280):
        tab.page.set_viewport_size({"width": width, "height": 720})
        tab.page.wait_for_timeout(500)  # the theme and the players look again for what scrolls
        for scheme in ("light", "dark"):
            tab.page.emulate_media(color_scheme=scheme)
            tab.page.locator(f"html[data-theme={scheme}]").wait_for(state="attached")
            for place, part in ((tab.page, "'article', "), (frame, "'#shown', ")):
                found = place.evaluate(f"() => axe.run({part}{{ resultTypes: ['violations'] }})")["violations"]
                assert [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]] == [], scheme


def test_a_model_trains_in_the_page_until_it_is_stopped_and_again_to_the_end(page: Any) -> None:
    tab = page("chapters/21-a-gpt")
    ready(tab.page)
    box = tab.page.locator("[data-autodiff-train]")
    train, stop, said = (
        box.get_by_text("Train", exact=True),
        box.get_by_text("Stop", exact=True),
        box.locator("[role=status]"),
    )
    train.click()
    frame = box.frame_locator("iframe")
    frame.locator("svg[aria-label*='after']").first.wait_for(timeout=120_000)
    stop.click()
    assert said.text_content() == "Stopped."
    assert train.is_enabled()
    assert stop.is_disabled()
    train.click()
    frame.locator("svg[aria-label*='after 1,000 turns']").wait_for(timeout=120_000)
    names = frame.locator("pre").inner_text().splitlines()
    assert [line.split()[0] for line in names] == [str(100 * number) for number in range(1, 11)]
    assert said.text_content() == "Trained."
    tab.is_quiet()
