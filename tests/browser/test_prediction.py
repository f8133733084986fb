"""A prediction in the browser: what it says about answers, by mouse and keyboard, and what it settles."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from autodiff_edu.course import Prediction
from autodiff_edu.player.html import PAGE
from autodiff_edu.player.prediction import fragment, seal
from browser.player_page import TOO_WIDE, Shown, violations_in_both_schemes

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
    """One of the predictions of a page, and what happens there."""

    def __init__(self, tab: Any, number: int = 0) -> None:
        self.tab, self.page = tab, tab.page
        self.root = tab.page.locator(".prediction").nth(number)
        self.root.evaluate("""root => {
          const { host } = root.getRootNode();
          host.settled = 0;
          host.addEventListener("autodiff-settled", () => host.settled++);
        }""")

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
        assert self.root.evaluate("root => root.getRootNode().host.settled") == (buttons == 0)
        return buttons == 0


@pytest.fixture
def all_asked(visit: Any, tmp_path: Path) -> Any:
    def all_asked(*predictions: Prediction, **options: Any) -> list[Asked]:
        """Some predictions, all of them on one page."""
        html = "".join(prediction._repr_mimebundle_()["text/html"] for prediction in predictions)
        path = tmp_path / "prediction.html"
        path.write_text(PAGE.format(sunk="#f4f5f7", title="A prediction", fragment=html), encoding="utf-8")
        tab = visit(path.as_uri(), **options)
        return [Asked(tab, number) for number in range(len(predictions))]

    return all_asked


@pytest.fixture
def asked(all_asked: Any) -> Any:
    return lambda prediction, **options: all_asked(prediction, **options)[0]


def test_a_right_answer_settles_it_at_once(all_asked: Any) -> None:
    answers = [
        (CHOICE, "None", "Right: None. Nothing that leads to z was computed from x."),
        (NUMBER, "12/2", "Right: 6. It is 2x."),
        (THIRD, "1/3", "Right: 1/3. One of three."),
        (MANY, "12,000.0", "Right: 12000. A dozen thousand."),
        (SMALL, "1e-13", "Right: 1e-13. It is."),
        (SHAPE, "2x3", "Right: (2, 3). Two rows."),
        (NONE, "none", "Right: None. There is none."),
    ]
    questions = all_asked(*[prediction for prediction, *_ in answers])
    for question, (_, typed, said) in zip(questions, answers, strict=True):
        assert not question.is_settled()
        assert question.answer(typed) == said
        assert question.root.locator(".verdict").get_attribute("data-right") == "true"
        assert question.is_settled()
    questions[0].tab.is_quiet()


def test_a_wrong_answer_gets_its_hint_and_one_more_try(all_asked: Any) -> None:
    answers = [
        (SMALL, "0", "Not quite nothing.", "1e-13"),
        (CHOICE, "0", "Is there a path from z back to x at all?", "None"),
        (CHOICE, "5", "Go through it line by line.", "None"),
        (NUMBER, "9", "That is the value.", "6"),
        (NUMBER, "5.9", "Go through it line by line.", "6"),
        (SHAPE, "(3, 2)", "The other way round.", "2, 3"),
        (NONE, "0", "Is there a path?", "None"),
        (NEAR, "65535", "That is the tree for 15 lines.", "131071"),
    ]
    questions = all_asked(*[prediction for prediction, *_ in answers])
    for question, (_, wrong, hint, right) in zip(questions, answers, strict=True):
        assert question.answer(wrong) == f"Not quite. {hint} Try once more."
        assert not question.is_settled()
        assert question.answer(right).startswith("Right: ")
        assert question.is_settled()


def test_a_second_wrong_answer_is_told_the_right_one(all_asked: Any) -> None:
    question, other = all_asked(CHOICE, NUMBER)
    question.answer("5")
    assert question.root.get_by_role("radio", name="5", exact=True).is_disabled()
    said = question.answer("0")
    assert said == (
        "Not quite. Is there a path from z back to x at all? Answer: None. Nothing that leads to z was computed from x."
    )
    assert question.is_settled()
    other.answer("1")
    assert other.answer("2") == "Not quite. Answer: 6. It is 2x."


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


def test_what_is_not_an_answer_costs_no_try(all_asked: Any) -> None:
    question, other = all_asked(NUMBER, CHOICE)
    assert question.press("Check") == "Nothing is typed yet. Type an answer, or press “Show me”."
    assert question.answer("six") == "“six” is not a number. Try 0.5, -2 or 1/3."
    assert question.answer("9").startswith("Not quite. That is the value.")
    assert other.press("Check") == "Nothing is chosen yet. Choose an answer, or press “Show me”."
    assert other.answer("5").endswith("Try once more.")


def test_how_exact_a_number_must_be_can_be_said(all_asked: Any) -> None:
    count = Prediction("How many?", answer=1024, hints={512: "Twice that."}, why="2 to the power 10.", within=0)
    exact, rough = all_asked(count, Prediction("How many?", answer=100, why="So.", within=0.2))
    assert exact.answer("1023").startswith("Not quite.")
    assert exact.answer("1024").startswith("Right: 1024.")
    assert rough.answer("119").startswith("Right: 100.")


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


def test_everybody_can_use_it(all_asked: Any) -> None:
    predictions = [CHOICE, NUMBER]
    questions = all_asked(*predictions, viewport={"width": 375, "height": 800})
    for question, prediction in zip(questions, predictions, strict=True):
        assert question.root.locator(".verdict").get_attribute("aria-live") == "polite"
        label = prediction.question.replace("`", "")
        role = "radiogroup" if prediction.choices else "textbox"
        assert question.root.get_by_role(role, name=label, exact=True).count() == 1
        for step in (lambda: None, partial(question.answer, "0"), partial(question.press, "Show me")):
            step()
            assert violations_in_both_schemes(question.root) == []
            assert question.root.evaluate(TOO_WIDE) == []
            Shown(question.root).legible()
    questions[0].tab.is_quiet()


def test_on_paper_there_is_the_question_and_a_line_to_write_on(asked: Any) -> None:
    question = asked(CHOICE)
    question.answer("0")
    question.page.emulate_media(media="print")
    assert question.root.locator(".prompt").is_visible()
    assert question.root.get_by_text("None", exact=True).is_visible()
    assert question.root.locator(".blank").bounding_box()["height"] > 20
    for hidden in ("button", ".verdict"):
        assert not question.root.locator(hidden).first.is_visible()


def test_nothing_on_the_page_gives_the_answer_away(all_asked: Any) -> None:
    predictions = [CHOICE, NUMBER, SHAPE]
    questions = all_asked(*predictions)
    source = questions[0].page.content()
    source += "".join(each.root.evaluate("root => root.getRootNode().innerHTML") for each in questions)
    shown = questions[0].page.locator("body").inner_text() + "".join(each.root.inner_text() for each in questions)
    for prediction in predictions:
        for text in (prediction.why, *prediction.hints.values()):
            assert text not in source
            assert text.replace("`", "") not in shown
        if prediction is not CHOICE:
            assert str(prediction.answer) not in shown


def test_where_scripts_do_not_run_there_is_the_question(visit: Any, tmp_path: Path) -> None:
    path = tmp_path / "prediction.html"
    html = CHOICE._repr_mimebundle_()["text/html"]
    path.write_text(PAGE.format(sunk="#f4f5f7", title="A prediction", fragment=html), encoding="utf-8")
    page = visit(path.as_uri(), java_script_enabled=False).page
    assert page.get_by_text("At x = 3, what is the slope of the second target, z?").is_visible()
    assert page.get_by_role("listitem").count() == 3


def test_two_on_a_page_do_not_mix(visit: Any, tmp_path: Path) -> None:
    html = "".join(each._repr_mimebundle_()["text/html"] for each in (CHOICE, CHOICE))
    path = tmp_path / "two.html"
    path.write_text(PAGE.format(sunk="#f4f5f7", title="Two predictions", fragment=html), encoding="utf-8")
    tab = visit(path.as_uri())
    first, second = (tab.page.locator(".prediction").nth(number) for number in (0, 1))
    for root in (first, second):
        root.get_by_role("radio", name="5", exact=True).check()
    assert first.get_by_role("radio", name="5", exact=True).is_checked()
    first.get_by_role("button", name="Check", exact=True).click()
    assert second.locator(".verdict").text_content() == ""
    tab.is_quiet()


def test_what_stands_between_stars_is_stressed_and_a_product_is_not(visit: Any, tmp_path: Path) -> None:
    hostile = "*<img src=x onerror='throw 1'>*"
    asked = f"Is 2 * 3 * 4 the *other* number's `a*b*c`, or x*y*z, (*or not*), or 2**3 * 4**2? {hostile}"
    content = seal(asked, "number", (), right="1", hints={"2": "The *first* one."}, why="It *is*.")
    path = tmp_path / "stressed.html"
    path.write_text(PAGE.format(sunk="#f4f5f7", title="Stress", fragment=fragment(content)), encoding="utf-8")
    question = Asked(visit(path.as_uri()))
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


def test_texts_with_markup_stay_texts(visit: Any, tmp_path: Path) -> None:
    hostile = '</script><img src=x onerror="throw 1">'
    content = seal(f"{hostile} `{hostile}`?", "choice", ("a", hostile), right="a", hints={hostile: hostile}, why="So.")
    path = tmp_path / "hostile.html"
    path.write_text(PAGE.format(sunk="#f4f5f7", title="Markup", fragment=fragment(content)), encoding="utf-8")
    question = Asked(visit(path.as_uri()))
    assert question.answer(hostile) == f"Not quite. {hostile} Try once more."
    assert question.root.locator("img").count() == 0
    question.tab.is_quiet()
