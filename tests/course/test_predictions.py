"""`predict`: questions that are well formed, and what of them can be read before they are answered."""

import base64
import json
import re
from fractions import Fraction

import numpy as np
import pytest

from autodiff_edu.course import Prediction, check, predict
from autodiff_edu.course.contents import OURS

CHOICE = Prediction(
    "What is `dz/dx`, the slope of the second target?",
    answer="None",
    choices=("0", "5", "None"),
    hints={"0": "Is there a path from <z> back to x at all?"},
    why="Nothing that leads to z was computed from x.",
)
NUMBER = Prediction("What is the slope?", answer=6, hints={9.0: "That is the value."}, why="2x is 6.")
SHAPE = Prediction("What shape is it?", answer=(2, 3), hints={(3, 2): "The other way round."}, why="Two rows.")


def bundle(prediction):
    return prediction._repr_mimebundle_()


def unsealed(prediction):
    content = json.loads(re.search(r'"application/json">(.*?)</script>', bundle(prediction)["text/html"])[1])
    return json.loads(base64.b64decode(content["sealed"]))


# What the chapters ask --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", OURS.predictions)
def test_a_question_of_a_chapter_leads_on_from_a_wrong_answer(number):
    prediction = predict(number)
    assert isinstance(prediction, Prediction)
    assert prediction.hints, "at least one wrong answer that learners give has a hint"
    for text in (*prediction.hints.values(), prediction.why):
        assert text[-1] in ".?!`", f"{text!r} is not a sentence"


def test_an_unknown_id_lists_those_there_are():
    assert predict("2.a") is OURS.find(2).questions[0]
    for unknown in ("5.z", 5, None, ["5.a"]):
        with pytest.raises(KeyError, match=r"there is no prediction .*; there are 0\.a, 0\.b"):
            predict(unknown)
    with pytest.raises(KeyError):
        check("5.a", 6)


# What is refused --------------------------------------------------------------------------------------------------

GOOD = {"question": "What is it?", "answer": 6, "why": "It is."}
BAD = [
    ({"question": "What is it"}, ValueError, "end it with a question mark"),
    ({"question": " "}, ValueError, "question is ' ': write some text"),
    ({"question": 5}, TypeError, "question is 5, not a str"),
    ({"question": "What is `x?"}, ValueError, "a backtick without its partner"),
    ({"why": ""}, ValueError, "why is ''"),
    ({"answer": "6"}, TypeError, "answer is '6'; write a number, or a str with choices"),
    ({"answer": True}, TypeError, "answer is True; write a number"),
    ({"answer": [2, 3]}, TypeError, r"answer is \[2, 3\]; write a number"),
    ({"answer": (2, -3)}, TypeError, r"answer is \(2, -3\); write a shape"),
    ({"answer": (2.0,)}, TypeError, "write a shape"),
    ({"answer": 6, "choices": ("5", "6")}, TypeError, "answer is 6; write a str, one of the choices"),
    ({"answer": "7", "choices": ("5", "6")}, ValueError, "the choices are '5', '6': make it one of them"),
    ({"answer": "6", "choices": ["5", "6"]}, TypeError, "not a tuple of str"),
    ({"answer": "6", "choices": "56"}, TypeError, "not a tuple of str"),
    ({"answer": "6", "choices": ("6",)}, ValueError, "two or more"),
    ({"answer": "6", "choices": ("6", "6")}, ValueError, "each once"),
    ({"answer": "6", "choices": ("5", "6", "")}, ValueError, "a choice is '': write some text"),
    ({"answer": "6", "choices": ("6", " 5")}, ValueError, "a choice is ' 5'"),
    ({"answer": "6", "choices": ("6", "`5")}, ValueError, "a choice has a backtick without its partner"),
    ({"answer": 10**400}, ValueError, "answer is too large for the page to compare"),
    ({"hints": {10**400: "No."}}, ValueError, "a hint's wrong answer is too large"),
    ({"answer": 2**53, "within": 0, "hints": {2**53 + 1: "No."}}, ValueError, "is never shown"),
    ({"hints": {6.01: "No."}}, ValueError, "the hint for 6.01 is never shown: 6.01 is right"),
    ({"hints": {"9": "No."}}, TypeError, "a hint's wrong answer is '9'; write a number"),
    ({"hints": {9: ""}}, ValueError, "a hint is ''"),
    ({"hints": [(9, "No.")]}, TypeError, "not a dict"),
    ({"answer": "6", "choices": ("5", "6"), "hints": {"6": "No."}}, ValueError, "is never shown"),
    ({"answer": "6", "choices": ("5", "6"), "hints": {"7": "No."}}, ValueError, "not one of the choices '5', '6'"),
    ({"answer": (2,), "hints": {2: "No."}}, TypeError, "write a shape"),
    ({"answer": None, "hints": {None: "No."}}, ValueError, "is never shown"),
    ({"within": 2}, ValueError, "write 0.01 for 1 %"),
    ({"within": "1 %"}, ValueError, "write 0.01 for 1 %"),
]


@pytest.mark.parametrize(("changes", "kind", "message"), BAD)
def test_a_question_that_cannot_be_asked_is_refused_in_words(changes, kind, message):
    given = GOOD | changes
    with pytest.raises(kind, match=message):
        Prediction(given.pop("question"), **given)


@pytest.mark.parametrize("answer", [0, -1.5, float("inf"), float("nan"), np.float32(2), np.int64(3), None, (), (3,)])
def test_what_a_learner_can_type_can_be_the_answer(answer):
    prediction = Prediction("What is it?", answer=answer, why="It is.")
    right = unsealed(prediction)["right"]
    assert right == {"()": "()", "(3,)": "(3,)"}.get(str(answer), right)
    assert np.isnan(float(right)) if answer != answer else right in {str(answer), f"{answer}".removesuffix(".0")}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (12345678901, "12345678901"),
        (12345678901.0, "12345678901"),
        (0.123456789012, "0.123456789012"),
        (0.1 + 0.2, "0.30000000000000004"),
        (Fraction(1, 3), "1/3"),
        (Fraction(4, 2), "2"),
        (1e300, "1e+300"),
    ],
)
def test_an_answer_is_written_with_all_its_digits(answer, text):
    prediction = Prediction("What is it?", answer=answer, hints={2 * answer: "Half of that."}, why="It is.", within=0)
    assert unsealed(prediction)["right"] == text
    assert len(unsealed(prediction)["hints"]) == 1


def test_small_answers_are_told_apart_as_large_ones_are():
    hints = {2e-13: "Half of that.", 0: "Not quite nothing."}
    assert list(Prediction("What is it?", answer=1e-13, hints=hints, why="It is.").hints) == list(hints)
    with pytest.raises(ValueError, match="never shown"):
        Prediction("What is it?", answer=1, hints={0.99: "No."}, why="It is.")  # 1 - 0.99 is a little above 0.01


def test_a_prediction_cannot_be_changed():
    with pytest.raises(AttributeError):
        NUMBER.answer = 7
    hints = {9: "That is the value."}
    prediction = Prediction("What is it?", answer=6, hints=hints, why="It is.")
    hints[6] = "This was never checked."
    assert dict(prediction.hints) == {9: "That is the value."}
    with pytest.raises(TypeError):
        prediction.hints[6] = "Neither was this."


# What is shown ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prediction", [CHOICE, NUMBER, SHAPE])
def test_the_answer_is_there_only_for_the_script(prediction):
    shown = bundle(prediction)
    assert shown["text/plain"] == repr(prediction) == f"Predict: {prediction.question}"
    for text in (*prediction.hints.values(), prediction.why, '"right"'):
        assert text not in shown["text/html"]
    assert unsealed(prediction) == {
        "right": {6: "6", (2, 3): "(2, 3)"}.get(prediction.answer, "None"),
        "hints": {str(wrong).removesuffix(".0"): hint for wrong, hint in prediction.hints.items()},
        "why": prediction.why,
        "within": 0.01,
    }


def test_where_no_script_runs_the_question_can_be_read():
    html = bundle(CHOICE)["text/html"]
    assert "<strong>Predict:</strong> What is <code>dz/dx</code>, the slope of the second target?" in html
    assert "<li>0</li><li>5</li><li>None</li>" in html


def test_a_question_with_markup_stays_text():
    hostile = Prediction("Is </script><b>`<i>`</b> bold?", answer="no", choices=("yes", "<hr>", "no"), why="It isn't.")
    html = bundle(hostile)["text/html"]
    assert html.count("</script") == 2
    assert "<b>" not in html
    assert "<hr>" not in html


def test_a_question_is_html_wherever_it_is_shown():
    assert set(bundle(NUMBER)) == {"text/plain", "text/html"}
    assert bundle(NUMBER) == bundle(NUMBER)
