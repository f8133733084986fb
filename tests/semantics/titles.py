"""The cases of the measured reference, section by section: the titles that `test_every_case.py` wants covered."""

import re
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "book" / "contributing" / "tensorflow-semantics.md"
SECTIONS = (1, 2, 3, 4, 5, 6, 8, 9, 10)
"""The others are about Jacobians (7) and about rules (11, 12), which have tests of their own."""


def titles_in(text):
    """The titles of the cases under each section of the reference; lines of code blocks are not headings."""
    found = {}
    for line in re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).splitlines():
        if section := re.match(r"## (\d+)\. ", line):
            current = found[int(section[1])] = []
        elif line.startswith("### "):
            current.append(line.removeprefix("### ").strip())
    return found


TITLES = {number: found for number, found in titles_in(REFERENCE.read_text("utf-8")).items() if number in SECTIONS}
