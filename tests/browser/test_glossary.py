"""The field's words: defined on a click or a key where they stand, in the words of the book's glossary."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from programs import diamond, forward_mode, stopped, two_tapes

from browser.player_page import only, read, save_page, violations_in_both_schemes

GLOSSARY = Path(__file__).parents[2] / "book" / "glossary.md"
SIGNS = "Signs and keys"
REFUSE = "() => { Element.prototype.requestFullscreen = () => Promise.reject(new TypeError('refused')); }"

# What every definition says, in order: its name, its text without the name and the button, and where it links to.
DEFINITIONS = """root => [...root.querySelectorAll(".definition")].map((part) => {
  part.showPopover();
  const found = [part.ariaLabel, part.querySelector("p, dl").textContent, part.querySelector("a")?.href ?? null];
  part.hidePopover();
  return found;
})"""
FOCUSED = "root => root.getRootNode().activeElement?.textContent"


def go_to(player: Any, traced: Any, kind: str) -> None:
    number = next(number for number, step in enumerate(read(traced).steps) if step["kind"] == kind)
    player.root.locator("input[type=range]").fill(str(number))
    player.stands_at(number)


def word(player: Any, text: str) -> Any:
    return player.root.get_by_role("button", name=text, exact=True)


def test_every_definition_is_the_one_of_the_glossary(visit: Any, tmp_path: Path) -> None:
    meanings = dict(re.findall(r"^(\w.*)\n    (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE))
    *defined, (last, signs, _) = only(visit(save_page(diamond(), tmp_path))).root.evaluate(DEFINITIONS)
    assert {name: meanings.get(name) for name, *_ in defined} == {name: text for name, text, _ in defined}
    assert last == SIGNS
    for sign in "→←!●×◌▸○‖∅":
        assert sign in signs


def test_the_keys_are_listed_beside_the_signs(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path)))
    word(player, SIGNS).click()
    lists = [text.split("\n") for text in player.root.locator(".shortcuts").all_inner_texts()]
    plain, stage = [dict(zip(rows[::2], rows[1::2], strict=True)) for rows in lists]
    assert plain["→"] == "Next step; at a question, its answer"
    assert plain["p"] == "Work out what comes next, or stop that"
    described = player.root.locator(".definition:popover-open").evaluate(
        "part => part.getAttribute('aria-describedby').split(' ').map((id) =>"
        " part.getRootNode().getElementById(id).textContent).join(' ')"
    )
    assert all(text in described for text in plain.values()), "who listens hears the keys too"
    assert plain["Space"] == "Play or pause"
    assert list(stage.items())[:3] == [
        ("Page Down", "Next step; at a question, its answer"),
        ("Page Up", "Previous step"),
        ("1 – 9", "Choose a panel; press again for more room"),
    ]
    for name, done in {**plain, **stage}.items():
        assert "undefined" not in (name, done)
        assert done
    assert plain["?"] == "Open this list"
    player.press("Escape")
    for shown in (True, False):
        player.press("?")
        assert player.root.locator(".shortcuts").first.is_visible() is shown
    last = len(read(diamond()).steps) - 1
    for name, step in (("End", last), ("←", last - 1), ("Home", 0), ("→", 1)):
        player.press({"←": "ArrowLeft", "→": "ArrowRight"}.get(name, name))
        player.stands_at(step)
        assert name in plain


def test_a_definition_links_to_the_glossary_that_the_page_names_and_to_none_elsewhere(
    visit: Any, tmp_path: Path
) -> None:
    address = save_page(diamond(), tmp_path)
    tab = visit(address)
    assert {link for *_, link in only(tab).root.evaluate(DEFINITIONS)} == {None}
    page = tmp_path / "player.html"
    head = '<head><link rel="glossary" href="../book/glossary.html">'
    page.write_text(page.read_text(encoding="utf-8").replace("<head>", head), encoding="utf-8")
    tab.go(address)
    links = {name: link for name, _, link in only(tab).root.evaluate(DEFINITIONS)}
    glossary = tmp_path.parent / "book" / "glossary.html"
    assert links["pull back"] == f"{glossary.as_uri()}#term-pull-back"
    assert [name for name, link in links.items() if not link] == [SIGNS]


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (
            diamond,
            [
                ("seed", "Seed", "seed"),
                ("accumulate", "cotangent", "cotangent"),
                ("accumulate", "contribution", "contribution"),
                ("accumulate", "cotangent of c", "accumulate"),
            ],
        ),
        (
            forward_mode,
            [("push forward", "tangent", "tangent"), ("push forward", "pushed forward", "push forward")],
        ),
        (
            two_tapes,
            [
                ("record", "pulled back", "pull back"),
                ("record", "not recorded", "not recorded"),
                ("record", "cut", "cut"),
                ("record", SIGNS, SIGNS),
            ],
        ),
    ],
)
def test_a_word_is_defined_by_keyboard_and_the_focus_returns(
    program: Any, words: list[tuple[str, str, str]], visit: Any, tmp_path: Path
) -> None:
    traced = program()
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    for kind, label, name in words:
        go_to(player, traced, kind)
        button = word(player, label)
        assert button.get_attribute("aria-haspopup") == "dialog"
        before = button.text_content()
        button.focus()
        player.press("Enter")
        dialog = player.root.get_by_role("dialog", name=name, exact=True)
        assert dialog.is_visible()
        assert dialog.evaluate("part => part.matches(':focus')"), "a screen reader reads what has the focus"
        described = dialog.get_attribute("aria-describedby").split()[0]
        assert dialog.locator(f"#{described}").text_content()
        player.press("Escape")
        assert not dialog.is_visible()
        assert player.root.evaluate(FOCUSED) == before
        player.press("Space")
        assert dialog.is_visible()
        dialog.get_by_role("button", name="Close", exact=True).click()
        assert not dialog.is_visible()
    tab.is_quiet()


@pytest.mark.parametrize("viewport", [(1280, 720), (375, 667)])
def test_a_definition_is_all_on_the_screen_and_moves_nothing(
    viewport: tuple[int, int], visit: Any, tmp_path: Path
) -> None:
    traced = diamond()
    player = only(visit(save_page(traced, tmp_path), viewport=dict(zip(("width", "height"), viewport, strict=True))))
    go_to(player, traced, "accumulate")
    boxes = (
        "root => [root, ...root.querySelectorAll('figure, .sum')].map((part) => [part.offsetWidth, part.offsetHeight])"
    )
    before = player.root.evaluate(boxes)
    for label in ("cotangent", "contribution", "cut", SIGNS):
        word(player, label).click()
        dialog = player.root.locator(".definition:popover-open")
        box = dialog.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= viewport[0]
        assert 0 <= box["y"] <= box["y"] + box["height"] <= viewport[1]
        assert player.root.evaluate(boxes) == before
        if label in ("cut", SIGNS) and viewport[0] == 375:  # a text, and a list; they look the same elsewhere
            assert violations_in_both_schemes(player.root) == []
        player.press("Escape")


@pytest.mark.parametrize("refused", [False, True])
def test_on_stage_it_has_18_pixels_and_esc_ends_it_alone(refused: bool, visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    tab = visit(save_page(traced, tmp_path), viewport={"width": 1280, "height": 720})
    if refused:
        tab.page.evaluate(REFUSE)
    player = only(tab)
    go_to(player, traced, "accumulate")
    player.root.focus()
    player.press("f")
    player.root.locator(":scope[data-stage]").wait_for()
    word(player, "contribution").click()
    dialog = player.root.get_by_role("dialog", name="contribution")
    assert dialog.is_visible()
    assert dialog.evaluate("part => parseFloat(getComputedStyle(part.querySelector('p')).fontSize)") >= 18
    box = dialog.bounding_box()
    hit = player.root.evaluate(
        "(root, [x, y]) => root.getRootNode().elementFromPoint(x, y).closest('[role=dialog]')?.ariaLabel",
        [box["x"] + 20, box["y"] + 40],
    )
    assert hit == "contribution", "nothing lies over it"
    player.press("Shift+Tab")  # the focus leaves it, and it stays
    player.press("Escape")
    assert not dialog.is_visible()
    assert player.root.get_attribute("data-stage") is not None
    player.press("Escape")
    player.root.locator(":scope:not([data-stage])").wait_for()
    tab.is_quiet()


def test_a_word_that_is_gone_at_the_next_step_leaves_the_keys_to_the_player(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    player = only(visit(save_page(traced, tmp_path)))
    go_to(player, traced, "seed")
    at = int(player.root.get_attribute("data-step"))
    word(player, "Seed").focus()
    player.press("Enter")
    for ahead in range(1, 4):
        player.press("ArrowRight")
        player.stands_at(at + ahead)
        assert not player.root.locator(".definition:popover-open").count()
    word(player, "cotangent").focus()
    player.press("ArrowRight")
    player.stands_at(at + 4)
    assert player.root.evaluate(FOCUSED) == "cotangent", "what stays keeps the focus"


def test_playing_pauses_while_a_definition_is_open(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path)))
    player.click("play")
    word(player, "cut").click()
    assert player.root.locator('[data-action="play"]').get_attribute("aria-label") == "Play"


def test_in_predict_mode_the_definitions_know_nothing_of_the_program(visit: Any, tmp_path: Path) -> None:
    said = []
    for program in (diamond, stopped):
        player = only(visit(save_page(program(), tmp_path)))
        player.click("predict")
        for _ in range(10):
            if not player.root.locator(".question").is_visible():
                player.click("next")
        said.append(player.root.evaluate(DEFINITIONS))
        assert player.root.locator(".question").is_visible(), "to read a definition is no answer"
    assert said[0] == said[1]
