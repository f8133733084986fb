"""Questions as GIFT, the text format that Moodle imports.

A question is `::title::[html]text{answers ####reason}`, and blank lines stand between questions. An answer begins with
`=`, after which `%0%` makes it a wrong one; among choices a wrong one begins with `~`. `#` begins its feedback. A
number's answers begin with one more `#`, and their tolerance stands after a colon; `~#` is the feedback for any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .questions import Answer, Question, clean, plain

SPECIAL = re.compile(r"[\\~=#{}:]")


def gift(questions: Iterable[Question]) -> str:
    r"""Return questions as the text of a GIFT file.

    Examples
    --------
    >>> from decimal import Decimal
    >>> answers = (Answer(("9",), right=True, within=Decimal("0.09")), Answer(("6",), hint="That is the slope."))
    >>> print(gift([Question("1.a", ("Course", "1"), "1.a", "x * x at x = 3?", "number", answers, why="3 times 3.")]))
    $CATEGORY: $course$/top/Course/1
    <BLANKLINE>
    // 1.a
    ::1.a::[html]x * x at x \= 3?{#
    =9:0.09
    =%0%6:0#That is the slope.
    ####3 times 3.
    }
    <BLANKLINE>
    """
    parts = []
    category: tuple[str, ...] = ()
    for question in questions:
        if question.category != category:
            category = question.category
            path = "/".join(_line(name).replace("/", "//") for name in category)
            parts.append(f"$CATEGORY: $course$/top/{path}\n")
        parts.append(_question(question))
    return "\n".join(parts)


def _question(question: Question) -> str:
    lines = [f"// {_line(question.id)}"]
    lines.append(
        f"::{escape(_line(question.title))}::[html]{escape(question.text)}{{{'#' * (question.asks == 'number')}"
    )
    for answer in question.answers:
        lines += _answers(question.asks, answer)
    if question.otherwise and question.asks != "choice":
        lines.append(f"{'~' if question.asks == 'number' else '=%0%*'}#{_html(question.otherwise)}")
    if question.why:
        lines.append(f"####{_html(question.why)}")
    return "\n".join([*lines, "}", ""])


def _answers(asks: str, answer: Answer) -> list[str]:
    """Write an answer once for each of its texts."""
    begin = "=" if answer.right else "~" if asks == "choice" else "=%0%"
    feedback = f"#{_html(answer.hint)}" if answer.hint else ""
    if asks == "number":
        return [f"{begin}{answer.texts[0]}:{plain(answer.within)}{feedback}"]
    if asks == "choice":
        return [f"{begin}{_html(answer.texts[0])}{feedback}"]
    return [f"{begin}{escape(text)}{feedback}" for text in answer.texts]


def escape(text: str) -> str:
    r"""Return a text in which nothing is taken for GIFT's own signs.

    >>> escape("{x} = a:b\n#1 ~ \\")
    '\\{x\\} \\= a\\:b\\n\\#1 \\~ \\\\'
    """
    return SPECIAL.sub(r"\\\g<0>", clean(text)).replace("\n", "\\n")


def _html(text: str) -> str:
    """Return HTML that doesn't begin with the sign of a weight or of a format."""
    return escape(f"&#{ord(text[0])};{text[1:]}" if text[0] in "%[" else text)


def _line(text: str) -> str:
    return " ".join(clean(text).split())
