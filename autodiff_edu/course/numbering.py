"""What a chapter is called in the names of files, exercises and predictions: a number, or a letter for an appendix."""

from __future__ import annotations

import re

NAMED = re.compile(r"(?:chapter_)?(\d+|[A-Za-z])(?=[-.]|$)")


def chapter_of(name: str) -> int | str:
    """Return the chapter that a file, an exercise or a prediction belongs to.

    Raises
    ------
    ValueError
        If the name does not begin with a chapter.

    Examples
    --------
    >>> chapter_of("01-the-tape.ipynb"), chapter_of("chapter_13"), chapter_of("13.2")
    (1, 13, 13)
    >>> chapter_of("B-sparse-jacobians.ipynb"), chapter_of("chapter_b"), chapter_of("B.a")
    ('B', 'B', 'B')
    """
    found = NAMED.match(name)
    if not found:
        raise ValueError(f"{name!r} does not begin with a chapter, such as 13 or B")
    return int(found[1]) if found[1].isdecimal() else found[1].upper()


def in_order(chapter: int | str) -> tuple[bool, int | str]:
    """Return what to sort chapters by: the numbers come first, then the letters.

    >>> sorted(["B", 10, "A", 2], key=in_order)
    [2, 10, 'A', 'B']
    """
    return isinstance(chapter, str), chapter
