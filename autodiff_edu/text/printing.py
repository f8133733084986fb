"""Text that every standard output can print, also one that is not UTF-8, such as a redirected Windows console's."""

from __future__ import annotations

import sys

_PLAIN = str.maketrans(
    {"−": "-", "×": "x", "·": "-", "—": "-", "–": "-", "…": "...", "→": "->", "←": "<-", "“": '"', "”": '"', "’": "'"}
)


def printable(text: str) -> str:
    r"""Return a text as it is if standard output can print it, and otherwise in characters that it has.

    Examples
    --------
    >>> from contextlib import redirect_stdout
    >>> from io import BytesIO, TextIOWrapper
    >>> with redirect_stdout(TextIOWrapper(BytesIO(), "ascii")):
    ...     plain = printable("a 2×3 array of α, unused −3")
    >>> plain
    'a 2x3 array of \\u03b1, unused -3'
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text
