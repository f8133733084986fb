"""What is computed at a step, as a row of numbers: 60 + -45 = 15."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...text.shared import shared
from ..layout.thumbnails import has_cells, measure, rows_of, shape_text
from .canvas import ADVANCE, MONOSPACE, SANS, Drawn, Path, Shape, TextLine, Window, rounded_box
from .digits import count_digits, round_array
from .formula import name_bar, split_formula, write_leaf
from .frames import EDGE, INK, PAPER, QUIET, RED, RULE, StepPicture, is_nonfinite
from .wrapping import shorten, width_of

SIZES, CAPTIONS = (34.0, 30.0, 26.0, 23.0, 20.0), 20.0  # of the letters: the largest that fit
AROUND = 92.0  # the height of the heading, the captions and what is between them
GAP, INSET, PADDING = 10.0, 16.0, 14.0  # between two terms, around all of them, around a number
NARROWEST, LOWEST = 64.0, 56.0  # the box of a number
LONGEST = 12  # characters of an array that is not drawn as a thumbnail
MOST_TERMS = 9  # and signs, of the formula of an update
MOST_ROWS = 4  # of a matrix; a larger one is drawn in colours
CLOSER = 1.4  # the scale of a thumbnail, at most
SIGNS = {about["name"]: about.get("drawn", sign) for sign, about in shared()["operators"].items()}


@dataclass(frozen=True)
class Term:
    """A part of what is computed: a value with its caption, or the sign between two values."""

    caption: str = ""
    text: str = ""
    sign: str = ""
    tint: str = PAPER
    ink: str = INK
    widest: str = ""  # of the texts that are shown here in turn
    rows: int = 1  # of those texts, at most
    art: tuple[Drawn, ...] = ()
    size: tuple[float, float] = (0.0, 0.0)
    picture: Term | None = None  # the same in colours, for where the text has no room


def list_terms(frame: StepPicture, arrives: bool = True) -> tuple[str, list[Term]]:
    """Return the heading of what is computed, and its terms."""
    step, names = frame.now.step, [tensor["name"] for tensor in frame.document["tensors"]]
    result: dict[str, Any] = {"tint": frame.tint, "ink": frame.colour}

    def term(
        caption: str,
        array: dict[str, Any] | None,
        tensor: int,
        part: str,
        becomes: Any = None,
        digits: int = 3,
        **more: Any,
    ) -> Term:
        """Describe an array, or leave room for what it `becomes`."""
        widest = becomes or array
        if widest is None:
            return Term(caption, "—", **more)
        if is_nonfinite(array):
            more["ink"] = RED
        is_own = caption == widest["text"]
        if not is_own:  # a number in the code stays as it is there
            array, widest = array and round_array(array, digits), round_array(widest, digits)
        text = array["text"] if array else "—"
        picture = None
        if _draw_art(frame, widest, tensor, part):
            shape = f" {shape_text(widest['shape'])}" if part == "value" else ""
            art = _draw_art(frame, array, tensor, part) if array else ()
            picture = Term(f"{caption}{shape}", "" if art else text, art=art, size=measure(widest), **more)
        if lines := write_in_lines(widest):
            written = "\n".join(write_in_lines(array)) if array else text
            caption = "" if is_own else caption  # in one line it would be cut
            return Term(caption, written, widest=max(lines, key=len), rows=len(lines), picture=picture, **more)
        return picture or Term(caption, text, widest=widest["text"], **more)

    match step["kind"]:
        case "push forward":
            tensor, moved = step["tensor"], step["tangent"] if arrives else None
            heading = f"tangent of {names[tensor]} = {frame.document['entries'][step['entry']]['text']}"
            return heading, [term("tangent", moved, tensor, "cotangent", **result)]
        case "record" | "cut" | "skip":
            entry = frame.document["entries"][step["entry"]]
            output, values = entry["output"], frame.now.values
            full = frame.document["tensors"][output]["value"]
            given = [
                term(names[tensor], values.get(tensor), tensor, "value", digits=frame.digits[tensor])
                for tensor in entry["inputs"][:2]
            ]
            sign = SIGNS.get(entry["operation"])
            if sign and len(given) == 2:
                left = [given[0], Term(sign=sign), given[1]]
            else:
                more = [Term(sign=",…")] if len(entry["inputs"]) > 2 else []
                comma = [each for one in given for each in (Term(sign=","), one)][1:]
                left = [Term(sign=f"{entry['operation'].split('.')[-1][:14]}("), *comma, *more, Term(sign=")")]
            known = values.get(output) if arrives else None
            out = term(names[output], known, output, "value", full, digits=frame.digits[output], **result)
            return f"{names[output]} = {entry['text']}", [*left, Term(sign="="), out]
        case "accumulate":
            tensor = step["tensor"]
            of = f", contribution {step['count']} of {step['of']}" if step["of"] > 1 else ""
            digits = count_digits([step["before"], step["contribution"]], step["after"])
            sent = term("contribution", step["contribution"], tensor, "cotangent", digits=digits, **result)
            total = term("after", step["after"] if arrives else None, tensor, "cotangent", step["after"], **result)
            before = term("before", step["before"], tensor, "cotangent", digits=digits)
            return f"cotangent of {names[tensor]}{of}", [before, Term(sign="+"), sent, Term(sign="="), total]
        case "seed" | "pull back":
            about = "starts with" if step["kind"] == "seed" else "is"
            if (tensor := frame.subject) is not None:
                sent = term("cotangent", step["cotangent"], tensor, "cotangent", **result)
                return f"the cotangent of {names[tensor]} {about}", [sent]
        case "assign" if "formula" in step:
            return _list_update(frame, term)
        case "watch" | "assign":
            tensor = step["tensor"]
            value = step.get("value") or frame.document["tensors"][tensor]["value"]
            return f"the value of {names[tensor]}", [term(names[tensor], value, tensor, "value", **result)]
        case "outcome":
            word = step["word"].replace("_", " ")
            found = term(word, step["gradient"], step["tensor"], "cotangent", **result)
            return step["text"].partition(" is ")[0], [found]
    return "", []


def _list_update(frame: StepPicture, term: Callable[..., Term]) -> tuple[str, list[Term]]:
    """Return the formula of an update, and the same in numbers if all of it is known and few."""
    step, formulas = frame.now.step, frame.document["formulas"]
    tensor, old = step["tensor"], step.get("from", step["tensor"])
    name, new = (frame.document["tensors"][each]["name"] for each in (old, tensor))
    bar, digits = name_bar(name), frame.digits.get(tensor, 3)
    words = [sign or write_leaf(leaf, name, bar) for leaf, sign in split_formula(formulas[step["formula"]])]
    out = term(new, step["value"], tensor, "value", digits=digits, tint=frame.tint, ink=frame.colour)
    row = []
    for (leaf, sign), word in (
        zip(split_formula(formulas[step["in_numbers"]]), words, strict=True) if "numbers" in step else ()
    ):
        if sign:
            row.append(Term(sign=sign.strip()))
        elif isinstance(leaf, int):
            row.append(term(word, {"shape": [], "text": step["numbers"][leaf]}, old, "value", digits=digits))
        else:
            row.append(Term(word, word))
    return f"{new} := {''.join(words)}", [*row, Term(sign="="), out] if 0 < len(row) <= MOST_TERMS else [out]


def draw_terms(
    heading: str, terms: list[Term], across: tuple[float, float], between: tuple[float, float]
) -> tuple[Shape, ...]:
    """Draw what is computed: `across` is the left edge and the width of its column, `between` the room in height."""
    if not terms:
        return ()
    left, room = across
    terms, size, closer, texts, widths = _fit(terms, room - 2 * INSET, between[1] - between[0] - AROUND)
    tall = max(LOWEST, *(max(measure_lines(term.rows, size), term.size[1] * closer + 16) for term in terms))
    height = tall + AROUND
    top = between[0] + max(0.0, (between[1] - between[0] - height) / 2)
    shapes: list[Shape] = [
        Path(rounded_box(left, top, room, height, 10), PAPER, RULE),
        TextLine(left + INSET, top + 32, shorten(heading, room - 2 * INSET, CAPTIONS), CAPTIONS, QUIET, family=SANS),
    ]
    x, y = left + INSET, top + 46
    for term, text, width in zip(terms, texts, widths, strict=True):
        middle = x + width / 2
        if term.sign:
            shapes.append(TextLine(middle, y + tall / 2 + 9, term.sign, size, INK, "middle"))
        else:
            shapes.append(Path(rounded_box(x, y, width, tall, 8), term.tint, EDGE if term.ink == INK else term.ink))
            if term.art:
                wide, high = (length * closer for length in term.size)
                place = x + (width - wide) / 2, y + (tall - high) / 2, wide + 1, high + 1
                shapes.append(Window(*place, 0, 0, closer, term.art))
            else:
                bold = term.ink != INK
                lines = text.split("\n")
                for row, line in enumerate(lines):
                    base = y + tall / 2 + 9 + size * 1.25 * (row - (len(lines) - 1) / 2)
                    shapes.append(TextLine(middle, base, line, size, term.ink, "middle", bold))
            caption = shorten(term.caption, width + GAP, CAPTIONS)
            shapes.append(TextLine(middle, y + tall + 28, caption, CAPTIONS, QUIET, "middle", family=SANS))
        x += width + GAP
    return tuple(shapes)


def measure_lines(rows: int, size: float) -> float:
    """Return how tall the box of a number in several rows is."""
    return size * 1.25 * (rows + 0.75)


def _fit(terms: list[Term], room: float, height: float) -> tuple[list[Term], float, float, list[str], list[float]]:
    """Find the terms, the size of the letters, the scale of thumbnails, the texts and the widths.

    What has no room even in small letters is drawn in colours if it can be, the widest first and the result last. What
    still has none is cut, and thumbnails are smaller.
    """
    space = GAP * (len(terms) - 1)
    while True:
        for size in SIZES:
            texts, widths = _measure_terms(terms, size, CLOSER, 40)
            rows = max(term.rows for term in terms)
            if sum(widths) + space <= room and (rows == 1 or measure_lines(rows, size) <= height):
                return terms, size, CLOSER, texts, widths
        pictures = [(at < len(terms) - 1, widths[at], at) for at, term in enumerate(terms) if term.picture]
        if not pictures:
            break
        *_, at = max(pictures)
        terms = [term.picture or term if number == at else term for number, term in enumerate(terms)]
    for most in range(40, 2, -1):
        closer = CLOSER * most / 40
        texts, widths = _measure_terms(terms, size, closer, most)
        if sum(widths) + space <= room:
            break
    return terms, size, closer, texts, widths


def _measure_terms(terms: list[Term], size: float, closer: float, most: int) -> tuple[list[str], list[float]]:
    """Return the texts, of at most so many letters in a row, and the widths."""
    texts = [
        term.sign or "\n".join(shorten(line, most * size * ADVANCE, size, MONOSPACE) for line in term.text.split("\n"))
        for term in terms
    ]
    padding = min(PADDING, size / 2)
    widths = [
        width_of(term.sign, size, MONOSPACE)
        if term.sign
        else max(
            width_of(max(*text.split("\n"), term.widest[:most], key=len), size, MONOSPACE) + 2 * padding,
            term.size[0] * closer + 2 * padding,
            NARROWEST,
            min(width_of(term.caption, CAPTIONS), 5.0 * most),
        )
        for term, text in zip(terms, texts, strict=True)
    ]
    return texts, widths


def write_in_lines(array: dict[str, Any]) -> list[str]:
    """Write a small matrix in rows, and a vector too long for one line in as few as fit; else return nothing.

    >>> write_in_lines({"text": "[0 0.9 0.98 2 4]", "shape": [5]})
    ['[0 0.9', '0.98 2 4]']
    >>> [row.split() for row in write_in_lines({"text": "[[1 -2] [3 4]]", "shape": [2, 2]})]
    [['1', '-2'], ['3', '4']]
    """
    if len(array["shape"]) == 2 and array["text"].startswith("[["):
        return [row.replace(" ", "\xa0") for row in rows_of(array["text"])] if array["shape"][0] <= MOST_ROWS else []
    text, count = array["text"], array["text"].count(" ") + 1
    if len(text) <= LONGEST or array["shape"] != [count]:
        return []
    ways = (textwrap.wrap(text, width) for width in range(max(map(len, text.split())), LONGEST))
    return min((way for way in ways if len(way) < MOST_ROWS), key=len, default=[])  # and of these the most even


def _draw_art(frame: StepPicture, array: dict[str, Any], tensor: int, part: str) -> tuple[Drawn, ...]:
    """Draw an array in colours if its text is too long and the graph draws it so too."""
    box = frame.layout["tensors"][tensor]
    if len(array["text"]) <= 12 or "art" not in box or not has_cells(array):
        return ()
    moved = box | {"x": 0.0, "y": 0.0, "art": box["art"] | {"x": 0.0, "rows": False}}
    return tuple(shape for shape in frame.art(array, moved, part, 0.0) if isinstance(shape, Path))
