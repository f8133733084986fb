"""Exported questions are read back by readers written from the descriptions of GIFT and QTI 1.2, and judge as we do."""

from __future__ import annotations

import html
import io
import itertools
import json
import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autodiff_edu.core.active import only
from autodiff_edu.course.__main__ import main
from autodiff_edu.course.contents import OURS
from autodiff_edu.course.exercises import Choice, Function, Judge, Number, Shape, Table
from autodiff_edu.course.predictions import Prediction
from autodiff_edu.course.tools.export import questions as export
from autodiff_edu.course.tools.export.gift import gift
from autodiff_edu.course.tools.export.qti import qti
from autodiff_edu.course.tools.export.questions import (
    Answer,
    Question,
    chapter_questions,
    course_questions,
    drill_questions,
    program_of,
)
from autodiff_edu.player.drill_levels import KINDS, LEVELS, draw


@pytest.fixture(scope="module")
def course() -> list[Question]:
    return course_questions(OURS)


# --- GIFT, as Moodle's documentation describes it -------------------------------------------------------------------


class Given(NamedTuple):
    """An answer in a GIFT file."""

    weight: float
    text: str
    within: Decimal | None
    feedback: str


class Read(NamedTuple):
    """A question in a GIFT file."""

    category: str
    title: str
    text: str
    kind: str
    answers: list[Given]
    why: str

    def judge(self, typed: str) -> tuple[bool, str]:
        """Judge as Moodle does: the first answer that matches says what the typed one is worth."""
        for answer in self.answers:
            if self.kind == "numerical":
                matches = answer.text == "*" or abs(Decimal(typed) - Decimal(answer.text)) <= (answer.within or 0)
            elif self.kind == "shortanswer":
                matches = answer.text == "*" or answer.text.lower() == typed.lower()
            else:
                matches = answer.text == typed
            if matches:
                return answer.weight == 1, answer.feedback
        return False, ""


SIGN = re.compile(r"\\([\\~=#{}:n])", re.DOTALL)


def plain_gift(text: str) -> str:
    """Take the backslashes away; an unescaped sign of GIFT's own has no business in a text."""
    assert not re.search(r"[~=#{}]", SIGN.sub("", text)), text
    return SIGN.sub(lambda found: "\n" if found[1] == "n" else found[1], text)


def split_at(signs: str, text: str) -> list[str]:
    """Split a text before each of some signs that no backslash precedes."""
    places = [k for k, _ in enumerate(text) if text[k] in signs and not is_escaped(text, k)]
    return [text[start:end] for start, end in itertools.pairwise([*places, len(text)])]


def is_escaped(text: str, place: int) -> bool:
    return (len(text[:place]) - len(text[:place].rstrip("\\"))) % 2 == 1


def find(sign: str, text: str) -> int:
    """Return where a sign first stands without a backslash, or -1."""
    return next((k for k in range(len(text)) if text.startswith(sign, k) and not is_escaped(text, k)), -1)


def read_gift(text: str) -> list[Read]:
    category, found = "", []
    for block in re.split(r"\n[ \t]*\n", text):
        lines = [line for line in block.split("\n") if not line.strip().startswith("//")]
        body = "\n".join(lines).strip()
        if body.startswith("$CATEGORY:"):
            category = body.removeprefix("$CATEGORY:").strip()
            assert "\n" not in category
        elif body:
            found.append(read_question(category, body))
    return found


def read_question(category: str, body: str) -> Read:
    assert body.startswith("::")
    end = find("::", body[2:]) + 2
    title, rest = plain_gift(body[2:end]), body[end + 2 :].strip()
    begin, stop = find("{", rest), find("}", rest)
    assert 0 < begin < stop == len(rest) - 1
    text, inside = rest[:begin], rest[begin + 1 : stop].strip()
    assert text.startswith("[html]")
    last = max(
        (k for k in range(len(inside)) if inside.startswith("####", k) and not is_escaped(inside, k)), default=-1
    )
    why = "" if last < 0 else read_html(inside[last + 4 :])
    inside = inside if last < 0 else inside[:last].strip()
    if inside.startswith("#"):
        kind, inside = "numerical", inside[1:]
    else:
        assert "->" not in inside  # else it would be a question of matching
        kind = "multichoice" if find("~", inside) >= 0 else "shortanswer"
    answers = [read_answer(kind, part) for part in split_at("=~", inside)]
    return Read(category, title, plain_gift(text.removeprefix("[html]")).strip(), kind, answers, why)


def read_answer(kind: str, part: str) -> Given:
    sign, part = part[0], part[1:].strip()
    weight = 1.0 if sign == "=" else 0.0
    if kind != "multichoice" and (found := re.match(r"%(-?\d{1,3})%", part)):
        weight, part = int(found[1]) / 100, part[found.end() :]
    assert kind != "multichoice" or not re.match(r"%-*\d{1,2}\.?\d*%", part)
    text, feedback = (part, "") if (mark := find("#", part)) < 0 else (part[:mark].strip(), part[mark + 1 :])
    if kind == "numerical":
        number, _, within = text.partition(":")
        return Given(weight, number or "*", Decimal(within) if within else None, read_html(feedback))
    text = read_html(text) if kind == "multichoice" else plain_gift(text)
    return Given(weight, text, None, read_html(feedback))


def read_html(text: str) -> str:
    text = plain_gift(text.strip())
    assert not text.startswith("[html]")
    return text.strip()


# --- QTI 1.2, as its ASI XML binding describes it -------------------------------------------------------------------

TESTS = "(?:not |and |or |unanswered |other |varequal |varlt |varlte |vargt |vargte )+"
CONTENT: dict[str, tuple[str, dict[str, str]]] = {
    "questestinterop": ("(?:assessment |(?:section |item )+)", {}),
    "assessment": ("(?:qtimetadata )*(?:section )+", {"ident": ".+", "title": ".*"}),
    "section": ("(?:item |section )*", {"ident": ".+", "title?": ".*"}),
    "item": (
        "(?:itemmetadata )?(?:presentation )?(?:resprocessing )*(?:itemfeedback )*",
        {"ident": ".+", "title?": ".*"},
    ),
    "itemmetadata": ("(?:qtimetadata )*", {}),
    "qtimetadata": ("(?:qtimetadatafield )+", {}),
    "qtimetadatafield": ("fieldlabel fieldentry ", {}),
    "fieldlabel": ("", {}),
    "fieldentry": ("", {}),
    "presentation": ("(?:material |response_lid |response_str )+", {}),
    "material": ("(?:mattext )+", {}),
    "mattext": ("", {"texttype?": "text/html|text/plain"}),
    "response_lid": ("(?:material )?render_choice ", {"ident": ".+", "rcardinality?": "Single|Multiple|Ordered"}),
    "response_str": ("(?:material )?render_fib ", {"ident": ".+", "rcardinality?": "Single|Multiple|Ordered"}),
    "render_choice": ("(?:material |response_label )*", {"shuffle?": "Yes|No"}),
    "render_fib": ("(?:material |response_label )*", {"fibtype?": "String|Integer|Decimal|Scientific"}),
    "response_label": ("(?:material )*", {"ident": ".+"}),
    "resprocessing": ("outcomes (?:respcondition )+", {}),
    "outcomes": ("(?:decvar )+", {}),
    "decvar": (
        "",
        {
            "varname?": ".+",
            "vartype?": "Integer|String|Decimal|Scientific|Boolean",
            "minvalue?": r"\d+",
            "maxvalue?": r"\d+",
        },
    ),
    "respcondition": ("conditionvar (?:setvar )*(?:displayfeedback )*", {"continue?": "Yes|No", "title?": ".*"}),
    "conditionvar": (TESTS, {}),
    "and": (TESTS, {}),
    "or": (TESTS, {}),
    "other": ("", {}),
    "varequal": ("", {"respident": ".+", "case?": "Yes|No"}),
    "vargte": ("", {"respident": ".+"}),
    "varlte": ("", {"respident": ".+"}),
    "setvar": ("", {"varname?": ".+", "action?": "Set|Add|Subtract|Multiply|Divide"}),
    "displayfeedback": ("", {"feedbacktype?": "Response|Solution|Hint", "linkrefid": ".+"}),
    "itemfeedback": ("(?:flow_mat |material )+", {"ident": ".+", "view?": "All"}),
    "flow_mat": ("(?:flow_mat |material )+", {}),
}
"""For each element the order of those in it, as a pattern, and its attributes, those that may be missing with a `?`."""
SPACE = {
    "asi": "http://www.imsglobal.org/xsd/ims_qtiasiv1p2",
    "cp": "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1",
}


def check_element(element: ElementTree.Element) -> None:
    children, attributes = CONTENT[tag(element)]
    assert re.fullmatch(children, "".join(f"{tag(child)} " for child in element)), tag(element)
    required = {name for name in attributes if not name.endswith("?")}
    assert required <= element.attrib.keys() <= {name.rstrip("?") for name in attributes}, tag(element)
    for name, value in element.attrib.items():
        assert re.fullmatch(attributes.get(name) or attributes[f"{name}?"], value, re.DOTALL), (tag(element), name)
    if len(element):
        assert not (element.text or "").strip()
    for child in element:
        assert not (child.tail or "").strip()
        check_element(child)


def tag(element: ElementTree.Element) -> str:
    space, _, name = element.tag[1:].partition("}")
    assert space == SPACE["asi"]
    return name


class Item:
    """An item of a QTI file, with what Canvas makes of it."""

    def __init__(self, quiz: str, element: ElementTree.Element) -> None:
        self.quiz, self.element, self.title = quiz, element, element.attrib["title"]
        self.kind, self.points = (each.text for each in self.all("fieldentry"))
        labels = [each.text for each in self.all("fieldlabel")]
        assert labels == ["question_type", "points_possible"]
        self.text = self.one("presentation/asi:material/asi:mattext").text or ""
        self.choices = {
            each.attrib["ident"]: each.find(".//asi:mattext", SPACE).text or ""  # type: ignore[union-attr]
            for each in self.all("response_label")
            if len(each)
        }
        self.feedback = {
            each.attrib["ident"]: each.find(".//asi:mattext", SPACE).text or ""  # type: ignore[union-attr]
            for each in self.all("itemfeedback")
        }

    def all(self, name: str) -> list[ElementTree.Element]:
        return self.element.findall(f".//asi:{name}", SPACE)

    def one(self, path: str) -> ElementTree.Element:
        [found] = self.element.findall(f"asi:{path}", SPACE)
        return found

    def judge(self, typed: str) -> tuple[bool, list[str]]:
        """Process a response: whether it is right, and the ids of the feedback that Canvas shows."""
        score, shown = 0, []
        for condition in self.all("respcondition"):
            test, *actions = condition
            links = [action.attrib["linkrefid"] for action in actions if tag(action) == "displayfeedback"]
            if any(self.holds(each, typed) for each in test):  # Canvas lists the texts of a short answer in this way
                score += sum(int(action.text or 0) for action in actions if tag(action) == "setvar")
                shown += links
                if condition.attrib.get("continue", "No") == "No":
                    break
        return score == 100, shown

    def holds(self, test: ElementTree.Element, typed: str) -> bool:
        name, wanted = tag(test), test.text or ""
        if name in ("or", "and"):
            return (any if name == "or" else all)(self.holds(each, typed) for each in test)
        if name == "other":
            return True
        if self.kind == "numerical_question":
            value, bound = Decimal(typed), Decimal(wanted)
            return {"varequal": value == bound, "vargte": value >= bound, "varlte": value <= bound}[name]
        assert name == "varequal"
        if self.kind == "multiple_choice_question":
            return self.choices[wanted] == typed
        return wanted.strip().lower() == typed.strip().lower()


def read_qti(data: bytes) -> list[Item]:
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
    assert manifest.tag == f"{{{SPACE['cp']}}}manifest"
    resources = manifest.findall("cp:resources/cp:resource", SPACE)
    assert {each.attrib["type"] for each in resources} <= {"imsqti_xmlv1p2"}
    paths = [file.attrib["href"] for each in resources for file in each.findall("cp:file", SPACE)]
    assert archive.namelist() == ["imsmanifest.xml", *paths]
    idents = [manifest.attrib["identifier"], *(each.attrib["identifier"] for each in resources)]
    items = []
    for path, resource in zip(paths, resources, strict=True):
        root = ElementTree.fromstring(archive.read(path))
        check_element(root)
        assessment = root[0]
        assert assessment.attrib["ident"] == resource.attrib["identifier"]
        items += [Item(assessment.attrib["title"], each) for each in root.iter(f"{{{SPACE['asi']}}}item")]
    idents += [item.element.attrib["ident"] for item in items]
    assert len(set(idents)) == len(idents)
    assert all(re.fullmatch(r"[A-Za-z_][\w.-]*", ident) for ident in idents)  # what may be an id in XML
    for item in items:
        check_references(item)
    return items


def check_references(item: Item) -> None:
    """Everything that is named is there, and everything that is there is named."""
    [response] = [*item.all("response_lid"), *item.all("response_str")]
    tests = [*item.all("varequal"), *item.all("vargte"), *item.all("varlte")]
    assert {each.attrib["respident"] for each in tests} == {response.attrib["ident"]}
    labels = [each.attrib["ident"] for each in item.all("response_label")]
    assert len(set(labels)) == len(labels)
    if item.kind == "multiple_choice_question":
        assert {each.text for each in tests} <= set(labels)
        assert len(labels) == len(item.choices)
    links = [each.attrib["linkrefid"] for each in item.all("displayfeedback")]
    assert sorted(links) == sorted(item.feedback)
    assert all(item.feedback.values())
    assert {each.attrib["varname"] for each in item.all("setvar")} == {
        each.attrib["varname"] for each in item.all("decvar")
    }
    assert [each.text for each in item.all("setvar")] == ["100"]


# --- both ------------------------------------------------------------------------------------------------------------

KINDS_OF = {
    "number": ("numerical", "numerical_question"),
    "text": ("shortanswer", "short_answer_question"),
    "choice": ("multichoice", "multiple_choice_question"),
}


def as_gift(text: str) -> str:
    """Return HTML as it comes out of a GIFT file."""
    return re.sub(r"^[%\[]", lambda found: f"&#{ord(found[0])};", text).strip()


def check_both(questions: list[Question]) -> None:
    """Read both files, and compare all that is in them with the questions."""
    in_gift, in_qti = read_gift(gift(questions)), read_qti(qti(questions))
    assert len(in_gift) == len(in_qti) == len(questions)
    ordered = dict.fromkeys(question.category for question in questions)
    by_category = [each for category in ordered for each in questions if each.category == category]
    for question, read in zip(questions, in_gift, strict=True):
        check_gift(question, read)
    for question, item in zip(by_category, in_qti, strict=True):
        check_qti(question, item)


def one_line(text: str) -> str:
    return " ".join(export.clean(text).split())


def check_gift(question: Question, read: Read) -> None:
    path = "/".join(one_line(name).replace("/", "//") for name in question.category)
    assert read.category == f"$course$/top/{path}".strip()
    assert read.title == one_line(question.title)
    assert read.text == export.clean(question.text).strip()
    assert read.kind == KINDS_OF[question.asks][0]
    assert read.why == as_gift(export.clean(question.why))
    for answer in question.answers:
        for text in answer.texts:
            typed = as_gift(export.clean(text)) if question.asks == "choice" else text
            assert read.judge(typed) == (answer.right, as_gift(export.clean(answer.hint)))
            if question.asks == "number":
                edge = Decimal(text) + answer.within
                assert read.judge(str(edge))[0] or not answer.right
    if question.asks != "choice":
        assert read.judge("987654321") == (False, as_gift(export.clean(question.otherwise)))


def check_qti(question: Question, item: Item) -> None:
    assert item.quiz == ", ".join(map(one_line, question.category))
    assert item.title == one_line(question.title)
    assert item.text == export.clean(question.text)
    assert (item.kind, item.points) == (KINDS_OF[question.asks][1], "1")
    general = ["general_fb"] * bool(question.why)
    if question.why:
        assert item.feedback["general_fb"] == export.clean(question.why)
    if question.asks == "choice":
        assert list(item.choices.values()) == [export.clean(answer.texts[0]) for answer in question.answers]
    wrong = item.feedback.get("general_incorrect_fb", "")
    for answer in question.answers:
        for text in answer.texts:
            right, shown = item.judge(export.clean(text))
            assert right == answer.right
            if question.asks == "choice":
                assert [item.feedback[ident] for ident in shown if ident not in general] == [
                    export.clean(hint) for hint in [answer.hint] if hint
                ]
            else:
                assert shown == general + ["general_incorrect_fb"] * bool(wrong and not right)
                assert export.clean(answer.hint) in wrong
    if question.asks == "number":
        right = question.answers[0]
        for sign in (-1, 1):
            edge = Decimal(right.texts[0]) + sign * right.within
            assert item.judge(str(edge))[0]
            assert not item.judge(str(edge + sign * (right.within + 1) / 1000))[0]
    if question.asks != "choice":
        assert not item.judge("987654321")[0]
        assert export.clean(question.otherwise) in wrong


def test_both_files_of_the_course_say_what_the_questions_say(course: list[Question]) -> None:
    check_both(course)
    assert Counter(question.asks for question in course).keys() == KINDS_OF.keys()
    assert len({question.id for question in course}) == len(course)


@pytest.mark.parametrize("level", LEVELS)
def test_both_files_of_drills_say_what_the_questions_say(level: int) -> None:
    check_both(drill_questions(level, count=30, seed=1))


def seen(text: str) -> str:
    """Return HTML as a reader sees it."""
    return html.unescape(re.sub(r"</?(?:p|code|em|strong|pre|ul|li)>", "", text))


def unmarked(text: str) -> str:
    """Return what the course writes as a reader sees it."""
    return export.STRESSED.sub(r"\1", text).replace("`", "")


def forms(exercise: Any) -> list[Any]:
    return (
        [form for part in exercise.parts.values() for form in forms(part)]
        if isinstance(exercise, Table)
        else [exercise]
    )


def test_every_prediction_and_exercise_that_can_be_compared_is_there_with_every_hint_and_reason(
    course: list[Question],
) -> None:
    by_gift = {read.title.split()[0]: [] for read in read_gift(gift(course))}
    for read in read_gift(gift(course)):
        by_gift[read.title.split()[0]].append(read)
    by_qti = {title: [] for title in by_gift}
    for item in read_qti(qti(course)):
        by_qti[item.title.split()[0]].append(item)
    kept = 0
    for chapter in OURS.chapters:
        for id, prediction in chapter.predictions.items():
            [read], [item] = by_gift.pop(id), by_qti.pop(id)
            feedback = "\n".join(seen(text) for text in item.feedback.values())
            for wrong, hint in prediction.hints.items():
                assert unmarked(hint) in {seen(answer.feedback) for answer in read.answers}, (id, wrong)
                assert unmarked(hint) in feedback, (id, wrong)
                kept += 1
            assert unmarked(prediction.why) in seen(read.why)
            assert unmarked(prediction.why) in feedback
            assert unmarked(prediction.question) in seen(read.text)
        for id, exercise in chapter.exercises.items():
            wanted = [form for form in forms(exercise) if isinstance(form, Number | Shape | Choice)]
            reads, items = by_gift.pop(id, []), by_qti.pop(id, [])
            assert len(reads) == len(items) == len(wanted)
            for form, read, item in zip(wanted, reads, items, strict=True):
                for _, hint in form.hints:
                    if "{" not in hint:
                        assert unmarked(hint) in {seen(answer.feedback) for answer in read.answers}, id
                        assert unmarked(hint) in "\n".join(seen(text) for text in item.feedback.values()), id
                        kept += 1
    assert by_gift == by_qti == {}
    assert kept > 500


def test_a_prediction_is_judged_as_in_the_notebook(course: list[Question]) -> None:
    reads = {read.title.split()[0]: read for read in read_gift(gift(course))}
    items = {item.title.split()[0]: item for item in read_qti(qti(course))}
    for chapter in OURS.chapters:
        for id, prediction in chapter.predictions.items():
            for answer in [prediction.answer, *prediction.hints]:
                typed = export.inline(answer) if isinstance(answer, str) else str(answer)
                wanted = prediction._is_right(answer)
                right, said = reads[id].judge(as_gift(typed) if isinstance(answer, str) else typed)
                assert right == wanted == items[id].judge(typed)[0], (id, answer)
                assert seen(said) == ("" if right else unmarked(prediction.hints[answer]))


def test_a_prediction_comes_with_the_program_below_it(course: list[Question]) -> None:
    shown = {question.id for question in course if "<pre>" in question.text}
    assert {"2.b", "2.e", "2.g"} <= shown
    assert not {"2.d"} & shown  # a paragraph comes first
    for chapter in OURS.assignments:
        notebook = chapter.read()
        for id in chapter.predictions:
            program = program_of(notebook, id)
            text = next(question.text for question in course if question.id == id)
            assert html.escape(program.strip("\n"), quote=False) in text
            assert "predict(" not in program


def test_the_chapters_are_categories(course: list[Question]) -> None:
    titles = [f"{chapter.number} · {chapter.title}" for chapter in OURS.chapters if chapter.predictions]
    assert list(dict.fromkeys(question.category for question in course)) == [(OURS.title, title) for title in titles]


# --- the forms -------------------------------------------------------------------------------------------------------


def exported(*asked: Any) -> list[Question]:
    predictions = {f"7.{chr(97 + k)}": each for k, each in enumerate(asked) if isinstance(each, Prediction)}
    exercises = {f"7.{k}": each for k, each in enumerate(asked, 1) if not isinstance(each, Prediction)}
    found = chapter_questions(("A course", "7"), predictions, exercises, {"cells": []})
    check_both(found)
    return found


def answers(question: Question) -> dict[str, tuple[bool, str]]:
    return {text: (answer.right, answer.hint) for answer in question.answers for text in answer.texts}


def test_a_number_has_its_tolerance_and_each_wrong_number_its_own() -> None:
    [question] = exported(
        Number("Slope", "What?", answer=6, hints={9: "The value."}, otherwise="No.", why="2x.", within=0.1)
    )
    assert question.asks == "number"
    assert [answer.within for answer in question.answers] == [Decimal("0.6"), Decimal("0.9")]
    assert (question.otherwise, question.why) == ("No.", "2x.")


def test_the_nearest_wrong_number_gives_its_hint() -> None:
    hints = {100: "a", 101: "b", 50: "c"}
    [question] = exported(Prediction("How many?", answer=200, hints=hints, why="So."))
    [read] = read_gift(gift([question]))
    for typed, hint in (("100.4", "a"), ("100.6", "b"), ("50.5", "c"), ("60", ""), ("201", "")):
        assert read.judge(typed) == (typed == "201", hint)


@pytest.mark.parametrize("right", [None, 4, 0.25, -2, 10.5, 0])
def test_where_none_may_be_answered_numbers_are_compared_as_texts(right: float | None) -> None:
    wrong = 8 if right is None else None
    [question] = exported(Prediction("What is dz/dx?", answer=right, hints={wrong: "No."}, why="So."))
    assert question.asks == "text"
    assert "Write a number, or None." in question.text
    [read] = read_gift(gift([question]))
    for answer, is_right in ((right, True), (wrong, False)):
        typed = {"None", "none", "NONE"} if answer is None else {str(answer), str(float(answer))}
        assert {read.judge(each)[0] for each in typed} == {is_right}
    texts = question.answers[0].texts
    assert right is None or {float(eval(text)) for text in texts} == {float(right)}


def test_a_number_beside_none_may_be_rounded_within_its_tolerance() -> None:
    [question] = exported(Prediction("What?", answer=2 / 3, hints={None: "No.", 1.0: "One."}, why="So.", within=0.01))
    assert {"0.67", ".67", "0.667", "0.666667", "2/3"} <= set(question.answers[0].texts)
    assert "0.7" not in question.answers[0].texts
    near = Prediction("What?", answer=5, hints={None: "No.", 1.21: "More.", 1.2: "Less."}, why="So.", within=0.01)
    [read] = read_gift(gift(exported(near)))
    assert [read.judge(typed)[1] for typed in ("1.21", "1.2", "1.20")] == ["More.", "Less.", ""]


def test_numbers_that_are_not_finite_are_texts() -> None:
    [question] = exported(Prediction("What?", answer=float("inf"), hints={float("nan"): "No.", 3: "Few."}, why="So."))
    assert [answer.texts[0] for answer in question.answers] == ["inf", "nan", "3"]


@pytest.mark.parametrize(
    ("shape", "typed"),
    [
        ((2, 3), ["(2, 3)", "(2,3)", "[2, 3]", "2x3", "2 × 3", "2, 3", "2 3"]),
        ((4,), ["(4,)", "(4)", "4", "[4]"]),
        ((), ["()", "[]"]),
    ],
)
def test_a_shape_may_be_written_in_many_ways(shape: tuple[int, ...], typed: list[str]) -> None:
    [question] = exported(Shape("Shapes", "What shape?", answer=shape, hints={(9, 9): "No."}, why="So."))
    [read], [item] = read_gift(gift([question])), read_qti(qti([question]))
    assert all(read.judge(each)[0] and item.judge(each)[0] for each in typed)
    assert read.judge("(9,9)") == (False, "No.")


def test_a_choice_has_a_hint_for_each_wrong_word() -> None:
    words = {"forward": "forward", "reverse": "reverse", "backward": "reverse", "both": "both"}
    [question] = exported(
        Choice(
            "Mode", "Which?", answer="backward", choices=words, hints={"forward": "No."}, otherwise="Think.", why="So."
        )
    )
    assert answers(question) == {"forward": (False, "No."), "reverse": (True, ""), "both": (False, "Think.")}


def test_a_table_is_a_question_for_each_part_and_what_can_not_be_compared_is_left_out() -> None:
    table = Table(
        "Two",
        "Look:\n\n```python\nx = {1}\n```\n\n| a | b |\n|---|---|\n| `p` | q |",
        parts={
            "a": Number(answer=1, hints={3: "Count {given} again, it is {answer}."}, otherwise="{given} is not it."),
            "b": Shape(answer=(2,), why="A vector."),
            "c": Function(answer=abs),
        },
        called="slope",
        hints=[({"a": 2, "b": (1,), "c": abs}, "Swapped."), ({"a": ..., "b": (7,), "c": abs}, "Seven.")],
        why="Both.",
    )
    a, b = exported(table, Judge("Judge", "What?", str), Function("Function", "What?", answer=abs))
    assert (a.id, b.id) == ("7.1 a", "7.1 b")
    assert "<table>" in a.text
    assert '<pre><code class="language-python">x = {1}\n</code></pre>' in a.text
    assert "What is the slope of a?" in a.text
    assert (a.why, b.why) == ("Both.", "A vector.")
    assert answers(a) == {"1": (True, ""), "3": (False, "Count 3 again, it is 1."), "2": (False, "Swapped.")}
    assert a.otherwise == "your answer is not it."
    assert answers(b)["(1,)"] == (False, "Swapped.")
    assert answers(b)["(7,)"] == (False, "Seven.")


def test_a_lecturers_own_course_is_exported_too(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "course.toml").write_text(
        'title = "Heat/cold"\nlanguage = "en"\nchapters = ["a-rod"]\n', encoding="utf-8"
    )
    asked = 'Prediction("How warm?", answer=4, hints={5: "Warmer."}, why="So.")'
    source = f"from autodiff_edu.course import Prediction\n\nQUESTIONS = ({asked},)\n"
    (tmp_path / "a_rod.py").write_text(source, encoding="utf-8")
    sources = [("markdown", "# 0 · A rod"), ("code", 'predict("0.a")'), ("code", "t = 2 + 2")]
    cells = [{"cell_type": kind, "metadata": {}, "source": text} for kind, text in sources]
    (tmp_path / "00-a-rod.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    path = tmp_path / "questions.gift"
    assert main(["export", "--course", str(tmp_path), "--gift", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: 1 question\n"
    [read] = read_gift(path.read_text(encoding="utf-8"))
    assert (read.category, read.title) == ("$course$/top/Heat//cold/0 · A rod", "0.a How warm?")
    assert read.text == "<p>How warm?</p><pre><code>t = 2 + 2\n</code></pre>"
    assert (read.judge("5"), read.why) == ((False, "Warmer."), "So.")


# --- drills ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_a_drills_questions_are_those_of_the_drills_from_its_seed_on(level: int) -> None:
    found = drill_questions(level, count=35, seed=3)
    assert len(found) == 35
    with only(), np.errstate(all="ignore"):
        drawn = [pair for seed in (3, 4, 5, 6) for pair in draw(level, seed)]
    wanted = {
        f"<pre><code>{html.escape(program.source, quote=False)}</code></pre>": answer for program, answer in drawn
    }
    for question in found:
        program = re.search("<pre>.*</pre>", question.text, re.DOTALL)
        assert program
        assert question.answers[0].texts[0] == wanted[program[0]]
        assert question.answers[0].right
    assert len({question.text for question in found}) == 35
    assert {question.category[:2] for question in found} == {("Drill", f"Level {level}")}
    kinds = {{"none": "gradient", "first": "gradient"}.get(kind, kind) for kind in KINDS[level]}
    assert len({question.category for question in found}) == len(kinds)
    assert [question.id for question in drill_questions(level, count=5, seed=3)] != [
        question.id for question in drill_questions(level, count=5, seed=4)
    ]


def test_more_programs_than_a_level_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "draw", lambda level, seed: draw(level, seed % 2))
    with pytest.raises(ValueError, match="level 1 has no more than 20 different programs"):
        drill_questions(1, count=21, seed=1)


# --- texts of any kind -----------------------------------------------------------------------------------------------

NASTY = st.text(
    st.one_of(
        st.sampled_from(list("~=#{}:\\%[]<>&\"'`*$/-n\n\r\t \x00\x85\u2028\ud800\ufffe\U0001f600")), st.characters()
    ),
    max_size=40,
)
WORDS = [
    "####",
    "->",
    "//",
    "::",
    "[html]",
    "%50%",
    "\\n",
    "\\\\",
    "]]>",
    "<!--",
    "&amp;",
    "{}",
    "=%0%*",
    "$CATEGORY: x",
    "T",
]
TEXT = st.lists(st.one_of(NASTY, st.sampled_from(WORDS)), max_size=4).map("".join)
HTML = TEXT.map(lambda text: html.escape(text, quote=False))
NUMBERS = st.integers(-999, 999).map(str)


@st.composite
def any_question(draw: Any) -> Question:
    asks = draw(st.sampled_from(["number", "text", "choice"]))
    some = {
        "number": NUMBERS,
        "text": st.text("abc 123(),.", min_size=1, max_size=8).filter(lambda text: text == text.strip()),
    }
    choices = HTML.map(lambda text: f"{text}.")
    texts = draw(
        st.lists(
            some.get(asks, choices), min_size=2, max_size=4, unique_by=lambda text: as_gift(export.clean(text)).lower()
        )
    )
    right = draw(st.integers(0, len(texts) - 1)) if asks == "choice" else 0
    found = [Answer((text,), right=k == right, hint="" if k == right else draw(HTML)) for k, text in enumerate(texts)]
    category = tuple(draw(st.lists(TEXT.filter(lambda text: one_line(text)), min_size=1, max_size=2)))
    otherwise = "" if asks == "choice" else draw(HTML)
    return Question("1.a", category, draw(TEXT), draw(HTML), asks, tuple(found), otherwise, draw(HTML))


@given(st.lists(any_question(), min_size=1, max_size=3))
def test_no_text_is_taken_for_a_sign_of_the_format(found: list[Question]) -> None:
    check_both([replace(question, id=f"1.{k}") for k, question in enumerate(found)])


@given(TEXT, TEXT, TEXT)
def test_a_prediction_of_any_text_is_read_back_as_it_was_written(question: str, hint: str, why: str) -> None:
    texts = [text.replace("`", "").strip() or "." for text in (question, hint, why)]
    asked = Prediction(f"{texts[0]}?", answer=1, hints={2: texts[1]}, why=texts[2])
    [found] = exported(asked)
    [read] = read_gift(gift([found]))
    assert seen_text(read.text) == export.clean(export.STRESSED.sub(r"\1", f"{texts[0]}?")).strip()


def test_what_xml_can_not_hold_becomes_a_question_mark() -> None:
    assert export.clean("a\x0b\x00\ufffe\ud800\r\n\t\r") == "a\ufffd\ufffd\ufffd\ufffd\n\t\n"


def seen_text(text: str) -> str:
    return html.unescape(re.sub(r"</?(?:p|em)>", "", text)).strip()


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    runs = []
    for seed in ("1", "2"):
        paths = [tmp_path / f"{seed}.gift", tmp_path / f"{seed}.zip"]
        command = [sys.executable, "-m", "autodiff_edu.course", "export", "--gift", paths[0], "--qti", paths[1]]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        assert re.fullmatch(rf"(?:{re.escape(str(tmp_path))}.*: (\d+) questions\n){{2}}", said)
        runs.append([path.read_bytes() for path in paths])
    assert runs[0] == runs[1]
    assert len(read_gift(runs[0][0].decode())) == len(read_qti(runs[0][1]))


def test_drills_are_exported_with_their_level_count_and_seed(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "drill.gift"
    assert main(["export", "--gift", str(path), "--drill", "2", "--count", "12", "--seed", "5"]) == 0
    assert path.read_text(encoding="utf-8") == gift(drill_questions(2, 12, 5))
    assert capsys.readouterr().out == f"{path}: 12 questions\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a file for each format"),
        (["--gift", "{}/same", "--qti", "{}/same"], "name a file for each format"),
        (["--gift", "{}"], "is a directory"),
        (["--gift", "{}/new.gift", "--qti", "{}/nowhere/q.zip"], "there is no directory"),
        (["--gift", "{}/new.gift", "--drill", "9"], "level 9 does not exist: the levels are 1, 2, 3, 4"),
    ],
)
def test_what_can_not_be_done_gets_a_sentence_and_nothing_is_written(
    arguments: list[str], said: str, tmp_path: Path, capsys: Any
) -> None:
    assert main(["export", *(argument.format(tmp_path) for argument in arguments)]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_jupyterlab_the_export_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mistune", None)
    with pytest.raises(ImportError, match=r"autodiff-edu\[lab\]"):
        exported(Number("Slope", "What?", answer=6))
