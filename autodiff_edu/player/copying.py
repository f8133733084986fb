"""Replaces repetitions in a text with references, which halves the size of a page.

A reference is a mark, how far back the copy begins, and how long it is; a literal mark is written twice.
text/shared.json defines how these look; js/packing.js restores the text. A library would compress better, but another
release of it would write other bytes, and a page must be the same wherever it is created.
"""

from __future__ import annotations

from ..text.shared import shared

REFERENCE: str = shared()["copies"]["mark"]
DIGITS: str = shared()["copies"]["digits"]
"""Characters that JSON and a page do not escape: the digits of a distance and of a length."""
LONG: int = shared()["copies"]["distance"]
"""How many digits a distance has."""
SHORTEST: int = shared()["copies"]["shortest"]
BASE = len(DIGITS)
LONGEST = SHORTEST + BASE - 1


def copied(text: str) -> str:
    r"""Write a text with references in place of repetitions.

    Examples
    --------
    >>> copied("abcdefgh, abcdefgh!")
    'abcdefgh, !##-$!!'
    """
    latest: dict[str, int] = {}  # where each piece of the shortest length last was
    written: list[str] = []
    at, end = 0, len(text)
    while at < end:
        piece = text[at : at + SHORTEST]
        before = latest.get(piece)
        latest[piece] = at
        if before is None or at - before >= BASE**LONG or len(piece) < SHORTEST:
            written.append(piece[0] if piece[0] != REFERENCE else REFERENCE * 2)
            at += 1
            continue
        length = SHORTEST
        while length < LONGEST and at + length < end and text[before + length] == text[at + length]:
            length += 1
        written.append(f"{REFERENCE}{_digits(at - before)}{DIGITS[length - SHORTEST]}")
        for inner in range(at + 1, at + length):
            latest[text[inner : inner + SHORTEST]] = inner
        at += length
    return "".join(written)


def _digits(number: int) -> str:
    found = ""
    for _ in range(LONG):
        number, digit = divmod(number, BASE)
        found = DIGITS[digit] + found
    return found
