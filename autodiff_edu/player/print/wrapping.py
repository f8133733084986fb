"""How wide texts are, so that lines can be broken, or cut, before they run out of a picture.

Nobody knows which font a browser takes for "sans-serif". These are the widths of DejaVu Sans, which is wider than the
usual ones and is the font of a PDF, a PNG and a GIF.

>>> wrap("the cotangent arrived at y", 100.0, 12.0)
['the cotangent', 'arrived at y']
>>> wrap("one line, but far too long", 80.0, 12.0, most=1)
['one line, b…']
>>> shorten("a_long_name", 50.0, 12.0, MONOSPACE)
'a_lon…'
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

from .canvas import ADVANCE, MONOSPACE, SANS

# In thousandths of the font's size, from the space to the tilde.
_WIDTHS = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
)  # fmt: skip
_BOLDER = 1.25  # how much wider bold letters are, at most
_OTHER = 0.838  # of an arrow or an operator; few letters are wider
_WIDE, _EMOJI = 1.0, 1.4
_DEEPER = 4  # letters by which the rest of a line of code is indented
_FEWEST = 8  # letters of a comment that are worth showing
_TEXT = re.compile(r"#.*|(\"\"\"|'''|\"|')(?:\\.|(?!\1).)*\1?")  # a comment or a string
_BREAK = re.compile(r"(?<=,) | (?=(?:[-+*/@%<>&|^]+|[<>=!]=|and|or|if|else|for) )")  # where code is best broken


def width_of(words: str, size: float, family: str = SANS, bold: bool = False) -> float:
    """Return how wide a text is at most, in pixels."""
    return (
        sum(map(_measure_monospaced if family == MONOSPACE else _measure_sans, words))
        * size
        * (_BOLDER if bold and family == SANS else 1.0)
    )


def _measure_sans(letter: str) -> float:
    index = ord(letter) - 32
    return _WIDTHS[index] / 1000 if 0 <= index < len(_WIDTHS) else max(_OTHER, _measure_unusual(letter))


def _measure_monospaced(letter: str) -> float:
    return ADVANCE if letter.isascii() or letter == "…" else max(ADVANCE, _measure_unusual(letter))


def _measure_unusual(letter: str) -> float:
    if ord(letter) >= 0x1F000:
        return _EMOJI
    return _WIDE if letter == "…" or unicodedata.east_asian_width(letter) in "WF" else 0.0


def shorten(words: str, room: float, size: float, family: str = SANS, bold: bool = False) -> str:
    """Cut a text where there is no more room, and end it in an ellipsis."""
    if width_of(words, size, family, bold) <= room:
        return words
    left = room - width_of("…", size, family, bold)
    reached = list(accumulate(width_of(letter, size, family, bold) for letter in words))
    return words[: bisect_right(reached, left)] + "…"


def wrap(words: str, room: float, size: float, most: int = 1000) -> list[str]:
    """Break a text into lines, at spaces or, where a word alone is too wide, within it; cut what is beyond `most`."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if width_of(longer, size) <= room:
            lines[-1] = longer
            continue
        lines.append("")
        while len(word) > 1 and width_of(word, size) > room:
            reached = list(accumulate(_measure_sans(letter) * size for letter in word))
            fits = max(1, bisect_right(reached, room))
            lines[-1:] = [word[:fits], ""]
            word = word[fits:]
        lines[-1] = word
    lines = [line for line in lines if line]
    if len(lines) <= most:
        return lines
    last = " ".join(lines[most - 1 :])
    cut = shorten(last, room, size)
    return [*lines[: most - 1], cut if cut.endswith("…") else f"{cut}…"]


def wrap_code(line: str, letters: int) -> list[tuple[int, int, str]]:
    """Break a line of code into rows of so many letters: best before an operator or after a comma outside brackets.

    A string is broken between its words; a comment is cut.

    Returns
    -------
    list of (int, int, str)
        The column where each row begins, by how many letters it is indented, and its text.

    Examples
    --------
    >>> for _, indent, words in wrap_code("loss = -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p))", 32):
    ...     print(" " * indent + words)
    loss = -np.mean(t * np.log(p)
        + (1 - t) * np.log(1 - p))
    >>> [words for _, _, words in wrap_code('say("one, two, and three or four")', 26)]
    ['say("one, two, and three', 'or four")']
    >>> [words for _, _, words in wrap_code("y = x  # which is half the distance", 26)]
    ['y = x  # which is half th…']
    """
    texts = [found.span() for found in _TEXT.finditer(line)]
    comment = next((start for start, _ in texts if line[start] == "#"), None)
    if comment is not None and len(line) > letters:  # a comment is cut: it may go on for lines
        code = line[:comment].rstrip()
        line = f"{line[: letters - 1].rstrip()}…" if letters > comment + _FEWEST else code
    rows, at, deeper = [], 0, 0
    while len(line) - at > letters - deeper:
        room = letters - deeper
        best = [
            found.start()
            for found in _BREAK.finditer(line, at + room // 2, at + room + 4)
            if not any(start < found.start() < end for start, end in texts)
        ]
        space = line.rfind(" ", at, at + room + 1)
        if space <= at:
            space = line.rfind("(", at, at + room) + 1
        end = max(
            (end for end in best if end <= at + room),
            key=lambda end: (len(re.findall(r"[)\]}]", line[:end])) - len(re.findall(r"[(\[{]", line[:end])), end),
            default=space if space > at else at + room,
        )
        rows.append((at, deeper, line[at:end].rstrip()))
        at, deeper = end + len(line[end:]) - len(line[end:].lstrip()), _DEEPER
    return [*rows, (at, deeper, line[at:])]
