"""A prediction in the browser: what it says about answers, by mouse and keyboard, and what it settles."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from autodiff_edu.course import Prediction
from autodiff_edu.player.html import PAGE
from autodiff_edu.player.prediction import fragment, seal
from browser.following import CONTRAST, TOO_WIDE, assert_legible, violations

CHOICE = Prediction(
    "At `x = 3`, what is the slope of the second target, `z`?",
    answer="None",
    choices=("0", "5", "None"),
    hints={"0": "Is there a path from `z` back to `x` at all?"},
    why="Nothing that leads to `z` was computed from `x`.",
)
NUMBER = Prediction("What is the slope of `x * x` at 3?", answer=6, hints={9: "That is the value."}, why="It is 2x.")
MANY = Prediction("How many?", answer=12_000, why="A dozen thousand.")
THIRD = Prediction("What part is it?", answer=Fraction(1, 3), why="One of three.", within=0)
SMALL = Prediction("How small is it?", answer=1e-13, hints={0: "Not quite nothing."}, why="It is.")
SHAPE = Prediction("What shape is it?", answer=(2, 3), hints={(3, 2): "The other way round."}, why="Two rows.")
NEAR = Prediction(
    "How many boxes does the tree have?",
    answer=131071,
    hints={65536: "That is the bottom row alone.", 65535: "That is the tree for 15 lines."},
    why="2 to the power of 17, minus 1.",
)
NONE = Prediction("What is dz/dx, a number or None?", answer=None, hints={0: "Is there a path?"}, why="There is none.")


class Asked:
    """A prediction on a page of its own, and what happens there."""

    def __init__(self, tab: Any) -> None:
        self.tab, self.page = tab, tab.page
        self.root = tab.page.locator(".prediction")
        self.page.evaluate(
            "() => { window.settled = 0; addEventListener('autodiff-settled', () => window.settled++); }"
        )

    def answer(self, text: str) -> str:
        if self.root.get_by_role("radio").count():
            self.root.get_by_role("radio", name=text, exact=True).check()
        else:
            self.root.get_by_role("textbox").fill(text)
        return self.press("Check")

    def press(self, button: str) -> str:
        self.root.get_by_role("button", name=button, exact=True).click()
        return self.verdict()

    def verdict(self) -> str:
        return str(self.root.locator(".verdict").text_content())

    def is_settled(self) -> bool:
        buttons = self.root.get_by_role("button").count()
        assert self.page.evaluate("() => window.settled") == (buttons == 0)
        return buttons == 0


@pytest.fixture
def asked(open_tab: Any, tmp_path: Path) -> Any:
    def asked(prediction: Prediction, **options: Any) -> Asked:
        html = prediction._repr_mimebundle_()["text/html"]
        path = tmp_path / "prediction.html"
        path.write_text(PAGE.format(sunk="#f4f5f7", title="A prediction", fragment=html), encoding="utf-8")
        return Asked(open_tab(path.as_uri(), **options))

    return asked


@pytest.mark.parametrize(
    ("prediction", "typed", "said"),
    [
        (CHOICE, "None", "Right: None. Nothing that leads to z was computed from x."),
        (NUMBER, "6", "Right: 6. It is 2x."),
        (NUMBER, "5.95", "Right: 6. It is 2x."),
        (NUMBER, "12/2", "Right: 6. It is 2x."),
        (THIRD, "1/3", "Right: 1/3. One of three."),
        (MANY, "12,000", "Right: 12000. A dozen thousand."),
        (MANY, "12,000.0", "Right: 12000. A dozen thousand."),
        (MANY, "1,2e4", "Right: 12000. A dozen thousand."),
        (SMALL, "1e-13", "Right: 1e-13. It is."),
        (SHAPE, "2x3", "Right: (2, 3). Two rows."),
        (NONE, "none", "Right: None. There is none."),
    ],
)
def test_a_right_answer_settles_it_at_once(prediction: Prediction, typed: str, said: str, asked: Any) -> None:
    question = asked(prediction)
    assert not question.is_settled()
    assert question.answer(typed) == said
    assert question.root.locator(".verdict").get_attribute("data-right") == "true"
    assert question.is_settled()
    question.tab.is_quiet()


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("65535", "That is the tree for 15 lines."),
        ("65536", "That is the bottom row alone."),
        ("65500", "That is the tree for 15 lines."),
        ("65600", "That is the bottom row alone."),
    ],
)
def test_of_hints_for_nearly_equal_answers_the_nearest_is_given(typed: str, hint: str, asked: Any) -> None:
    assert hint in asked(NEAR).answer(typed)


@pytest.mark.parametrize(
    ("prediction", "wrong", "hint", "right"),
    [
        (SMALL, "0", "Not quite nothing.", "1e-13"),
        (CHOICE, "0", "Is there a path from z back to x at all?", "None"),
        (CHOICE, "5", "Go through it line by line.", "None"),
        (NUMBER, "9", "That is the value.", "6"),
        (NUMBER, "5.9", "Go through it line by line.", "6"),
        (SHAPE, "(3, 2)", "The other way round.", "2, 3"),
        (NONE, "0", "Is there a path?", "None"),
    ],
)
def test_a_wrong_answer_gets_its_hint_and_one_more_try(
    prediction: Prediction, wrong: str, hint: str, right: str, asked: Any
) -> None:
    question = asked(prediction)
    assert question.answer(wrong) == f"Not quite. {hint} Try once more."
    assert not question.is_settled()
    assert question.answer(right).startswith("Right: ")
    assert question.is_settled()


def test_a_second_wrong_answer_is_told_the_right_one(asked: Any) -> None:
    question = asked(CHOICE)
    question.answer("5")
    assert question.root.get_by_role("radio", name="5", exact=True).is_disabled()
    said = question.answer("0")
    assert said == (
        "Not quite. Is there a path from z back to x at all? Answer: None. Nothing that leads to z was computed from x."
    )
    assert question.is_settled()
    question = asked(NUMBER)
    question.answer("1")
    assert question.answer("2") == "Not quite. Answer: 6. It is 2x."


def test_show_me_gives_up(asked: Any) -> None:
    question = asked(NUMBER)
    assert question.press("Show me") == "Answer: 6. It is 2x."
    assert question.root.locator(".verdict").get_attribute("data-right") is None
    assert question.is_settled()
    field = question.root.get_by_role("textbox")
    assert not field.is_editable()
    field.focus()
    question.page.keyboard.press("Enter")
    assert question.verdict() == "Answer: 6. It is 2x."
    assert question.is_settled(), "and no second time"


def test_what_is_no_answer_costs_no_try(asked: Any) -> None:
    question = asked(NUMBER)
    assert question.press("Check") == "Nothing is typed yet. Type an answer, or press “Show me”."
    assert question.answer("six") == "“six” is not a number. Try 0.5, -2 or 1/3."
    assert question.answer("9").startswith("Not quite. That is the value.")
    question = asked(CHOICE)
    assert question.press("Check") == "Nothing is chosen yet. Choose an answer, or press “Show me”."
    assert question.answer("5").endswith("Try once more.")


def test_how_exact_a_number_must_be_can_be_said(asked: Any) -> None:
    count = Prediction("How many?", answer=1024, hints={512: "Twice that."}, why="2 to the power 10.", within=0)
    question = asked(count)
    assert question.answer("1023").startswith("Not quite.")
    assert question.answer("1024").startswith("Right: 1024.")
    assert asked(Prediction("How many?", answer=100, why="So.", within=0.2)).answer("119").startswith("Right: 100.")


def test_it_can_be_answered_by_keyboard_alone(asked: Any) -> None:
    question = asked(CHOICE)
    keyboard = question.page.keyboard

    def at() -> str:
        return str(
            question.root.evaluate(
                "root => { const at = root.getRootNode().activeElement;"
                " return at.value || at.dataset.action || at.tagName; }"
            )
        )

    for key, where in [("Tab", "0"), ("ArrowRight", "5"), ("Enter", "0")]:
        keyboard.press(key)
        assert at() == where
    assert question.verdict() == "Not quite. Go through it line by line. Try once more."
    for key in ("ArrowLeft", "Tab", "Enter"):
        keyboard.press(key)
    assert question.verdict().startswith("Right: None.")
    assert at() == "DIV", "the button is gone, and the focus stays with the question"
    question = asked(NUMBER)
    for key in ("Tab", "9", "Enter", "6", "Enter"):  # after the first, what was typed is selected
        question.page.keyboard.press(key)
    assert question.verdict().startswith("Right: 6.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("prediction", [CHOICE, NUMBER])
def test_everybody_can_use_it(prediction: Prediction, scheme: str, asked: Any) -> None:
    question = asked(prediction, color_scheme=scheme, viewport={"width": 375, "height": 800})
    assert question.root.locator(".verdict").get_attribute("aria-live") == "polite"
    label = prediction.question.replace("`", "")
    role = "radiogroup" if prediction.choices else "textbox"
    assert question.root.get_by_role(role, name=label, exact=True).count() == 1
    for step in (None, lambda: question.answer("0"), lambda: question.press("Show me")):
        if step:
            step()
        assert violations(question.root) == []
        assert question.root.evaluate(TOO_WIDE) == []
        assert_legible(question.root.evaluate(CONTRAST), scheme == "dark")
    question.tab.is_quiet()


def test_on_paper_there_is_the_question_and_a_line_to_write_on(asked: Any) -> None:
    question = asked(CHOICE)
    question.answer("0")
    question.page.emulate_media(media="print")
    assert question.root.locator(".prompt").is_visible()
    assert question.root.get_by_text("None", exact=True).is_visible()
    assert question.root.locator(".blank").bounding_box()["height"] > 20
    for hidden in ("button", ".verdict"):
        assert not question.root.locator(hidden).first.is_visible()


@pytest.mark.parametrize("prediction", [CHOICE, NUMBER, SHAPE])
def test_nothing_on_the_page_gives_the_answer_away(prediction: Prediction, asked: Any) -> None:
    question = asked(prediction)
    source = question.page.content() + question.root.evaluate("root => root.getRootNode().innerHTML")
    shown = question.page.locator("body").inner_text() + question.root.inner_text()
    for text in (prediction.why, *prediction.hints.values()):
        assert text not in source
        assert text.replace("`", "") not in shown
    if prediction is not CHOICE:
        assert str(prediction.answer) not in shown


def test_where_scripts_do_not_run_there_is_the_question(asked: Any, browser: Any, tmp_path: Path) -> None:
    asked(CHOICE)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "prediction.html").as_uri())
    assert page.get_by_text("At x = 3, what is the slope of the second target, z?").is_visible()
    assert page.get_by_role("listitem").count() == 3
    context.close()


def test_two_on_a_page_do_not_mix(open_tab: Any, tmp_path: Path) -> None:
    html = "".join(each._repr_mimebundle_()["text/html"] for each in (CHOICE, CHOICE))
    path = tmp_path / "two.html"
    path.write_text(PAGE.format(sunk="#f4f5f7", title="Two predictions", fragment=html), encoding="utf-8")
    tab = open_tab(path.as_uri())
    first, second = (tab.page.locator(".prediction").nth(number) for number in (0, 1))
    for root in (first, second):
        root.get_by_role("radio", name="5", exact=True).check()
    assert first.get_by_role("radio", name="5", exact=True).is_checked()
    first.get_by_role("button", name="Check", exact=True).click()
    assert second.locator(".verdict").text_content() == ""
    tab.is_quiet()


def test_what_stands_between_stars_is_stressed_and_a_product_is_not(open_tab: Any, tmp_path: Path) -> None:
    hostile = "*<img src=x onerror='throw 1'>*"
    asked = f"Is 2 * 3 * 4 the *other* number's `a*b*c`, or x*y*z, (*or not*), or 2**3 * 4**2? {hostile}"
    content = seal(asked, "number", (), right="1", hints={"2": "The *first* one."}, why="It *is*.")
    path = tmp_path / "stressed.html"
    path.write_text(PAGE.format(sunk="#f4f5f7", title="Stress", fragment=fragment(content)), encoding="utf-8")
    question = Asked(open_tab(path.as_uri()))
    stressed = question.root.locator("em")
    assert stressed.all_text_contents() == ["other", "or not", hostile.strip("*")]
    assert question.root.locator("code").all_text_contents() == ["a*b*c"]
    assert question.root.locator("img").count() == 0
    plain = asked.replace("`", "")
    for text in ("*other*", "*or not*", hostile):
        plain = plain.replace(text, text.strip("*"))
    assert question.root.get_by_role("textbox").get_attribute("aria-label") == plain
    assert question.answer("2") == "Not quite. The first one. Try once more."
    assert question.answer("1").endswith("It is.")
    assert stressed.last.text_content() == "is"
    question.tab.is_quiet()


def test_texts_with_markup_stay_texts(open_tab: Any, tmp_path: Path) -> None:
    hostile = '</script><img src=x onerror="throw 1">'
    content = seal(f"{hostile} `{hostile}`?", "choice", ("a", hostile), right="a", hints={hostile: hostile}, why="So.")
    path = tmp_path / "hostile.html"
    path.write_text(PAGE.format(sunk="#f4f5f7", title="Markup", fragment=fragment(content)), encoding="utf-8")
    question = Asked(open_tab(path.as_uri()))
    assert question.answer(hostile) == f"Not quite. {hostile} Try once more."
    assert question.root.locator("img").count() == 0
    question.tab.is_quiet()
