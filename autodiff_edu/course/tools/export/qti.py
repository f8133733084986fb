"""Questions as QTI 1.2, in the dialect that Canvas writes and imports: a zip archive with one quiz for each category.

Canvas shows feedback for each choice, but knows only right numbers and texts: it would take a wrong one with feedback
for another right one. So the hints of such a question are listed in its feedback for wrong answers.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

from .questions import Question, clean, plain

ASI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
TYPES = {"number": "numerical_question", "text": "short_answer_question", "choice": "multiple_choice_question"}
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The date of every member, so that the bytes are the same whenever they are written."""
RESPONSE = "response1"

Element = ElementTree.Element


def qti(questions: Iterable[Question]) -> bytes:
    """Return questions as the bytes of a zip archive.

    Examples
    --------
    >>> from .questions import Answer
    >>> asked = Question("1.a", ("Course", "1"), "1.a", "x?", "number", (Answer(("9",), right=True),))
    >>> zipfile.ZipFile(io.BytesIO(qti([asked]))).namelist()
    ['imsmanifest.xml', 'quiz_9f3f7ec5b9f0/quiz_9f3f7ec5b9f0.xml']
    """
    quizzes: dict[tuple[str, ...], list[Question]] = {}
    for question in questions:
        quizzes.setdefault(question.category, []).append(question)
    members = {}
    for category, found in quizzes.items():
        name = _ident("quiz", *category)
        members[f"{name}/{name}.xml"] = _bytes(_quiz(name, category, found))
    members = {"imsmanifest.xml": _bytes(_manifest(list(members))), **members}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path, content in members.items():
            archive.writestr(zipfile.ZipInfo(path, LONG_AGO), content)
    return buffer.getvalue()


def _ident(kind: str, *names: str) -> str:
    """Return an id that depends on the names alone."""
    return f"{kind}_{hashlib.sha256(chr(0).join(map(clean, names)).encode()).hexdigest()[:12]}"


def _add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    element = ElementTree.SubElement(parent, tag, attributes)
    if text:
        element.text = text
    return element


def _bytes(root: Element) -> bytes:
    ElementTree.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode").encode() + b"\n"


def _manifest(paths: list[str]) -> Element:
    root = Element("manifest", {"xmlns": PACKAGE, "identifier": _ident("manifest", *paths)})
    about = _add(root, "metadata")
    _add(about, "schema", "IMS Content")
    _add(about, "schemaversion", "1.1.3")
    _add(root, "organizations")
    resources = _add(root, "resources")
    for path in paths:
        resource = _add(resources, "resource", identifier=path.partition("/")[0], type="imsqti_xmlv1p2")
        _add(resource, "file", href=path)
    return root


def _quiz(name: str, category: tuple[str, ...], questions: list[Question]) -> Element:
    root = Element("questestinterop", {"xmlns": ASI})
    title = ", ".join(" ".join(clean(part).split()) for part in category)
    section = _add(_add(root, "assessment", ident=name, title=title), "section", ident="root_section")
    for question in questions:
        _item(section, question)
    return root


def _item(section: Element, question: Question) -> None:
    title = " ".join(clean(question.title).split())
    item = _add(section, "item", ident=_ident("item", *question.category, question.id), title=title)
    data = _add(_add(item, "itemmetadata"), "qtimetadata")
    for label, entry in (("question_type", TYPES[question.asks]), ("points_possible", "1")):
        field = _add(data, "qtimetadatafield")
        _add(field, "fieldlabel", label)
        _add(field, "fieldentry", entry)
    presentation = _add(item, "presentation")
    _material(presentation, question.text)
    feedback = _feedback(question)
    _respond(presentation, question)
    _process(_add(item, "resprocessing"), question, feedback)
    for ident, text in feedback.items():
        _material(_add(_add(item, "itemfeedback", ident=ident), "flow_mat"), text)


def _material(parent: Element, text: str) -> None:
    _add(_add(parent, "material"), "mattext", clean(text), texttype="text/html")


def _choice(k: int) -> str:
    return str(1000 + k)  # Canvas calls its answers by numbers, and takes no other names


def _feedback(question: Question) -> dict[str, str]:
    """Return the texts of feedback by their ids, which Canvas knows by how they end."""
    found = {"general_fb": question.why}
    hinted = [answer for answer in question.answers if answer.hint]
    if question.asks == "choice":
        found |= {f"{_choice(k)}_fb": answer.hint for k, answer in enumerate(question.answers)}
    elif hinted:
        listed = "".join(f"<li>{answer.texts[0]}: {answer.hint}</li>" for answer in hinted)
        found["general_incorrect_fb"] = f"<p>If your answer is one of these:</p><ul>{listed}</ul>"
        found["general_incorrect_fb"] += f"<p>If not: {question.otherwise}</p>" if question.otherwise else ""
    else:
        found["general_incorrect_fb"] = question.otherwise
    return {ident: text for ident, text in found.items() if text}


def _respond(presentation: Element, question: Question) -> None:
    if question.asks == "choice":
        response = _add(presentation, "response_lid", ident=RESPONSE, rcardinality="Single")
        choices = _add(response, "render_choice")
        for k, answer in enumerate(question.answers):
            _material(_add(choices, "response_label", ident=_choice(k)), answer.texts[0])
        return
    response = _add(presentation, "response_str", ident=RESPONSE, rcardinality="Single")
    kind = {"fibtype": "Decimal"} if question.asks == "number" else {}
    _add(_add(response, "render_fib", **kind), "response_label", ident="answer1")


def _process(processing: Element, question: Question, feedback: dict[str, str]) -> None:
    score: dict[str, Any] = {"varname": "SCORE", "vartype": "Decimal", "minvalue": "0", "maxvalue": "100"}
    _add(_add(processing, "outcomes"), "decvar", **score)

    def condition(goes_on: bool) -> tuple[Element, Element]:
        found = _add(processing, "respcondition", **{"continue": "Yes" if goes_on else "No"})
        return found, _add(found, "conditionvar")

    def show(found: Element, ident: str) -> None:
        _add(found, "displayfeedback", feedbacktype="Response", linkrefid=ident)

    if "general_fb" in feedback:
        found, test = condition(goes_on=True)
        _add(test, "other")
        show(found, "general_fb")
    for k in range(len(question.answers)):
        if (ident := f"{_choice(k)}_fb") in feedback:
            found, test = condition(goes_on=True)
            _add(test, "varequal", _choice(k), respident=RESPONSE)
            show(found, ident)
    place, right = next((k, answer) for k, answer in enumerate(question.answers) if answer.right)
    found, test = condition(goes_on=False)
    if question.asks == "number":
        value = Decimal(right.texts[0])
        either = _add(test, "or")
        _add(either, "varequal", right.texts[0], respident=RESPONSE)
        both = _add(either, "and")
        _add(both, "vargte", plain(value - right.within), respident=RESPONSE)
        _add(both, "varlte", plain(value + right.within), respident=RESPONSE)
    else:
        for text in [_choice(place)] if question.asks == "choice" else right.texts:
            _add(test, "varequal", text, respident=RESPONSE)
    _add(found, "setvar", "100", action="Set", varname="SCORE")
    if "general_incorrect_fb" in feedback:
        found, test = condition(goes_on=True)
        _add(test, "other")
        show(found, "general_incorrect_fb")
