"""No chapter uses what a later one introduces: the terms that it prints in bold, and the tools that are taught once."""

import re
from itertools import takewhile

import pytest

from autodiff_edu.course.contents import OURS
from autodiff_edu.course.tools.fill import LINKS

BOLD = re.compile(r"\*\*([a-z][\w -]*)\*\*")
EVERYDAY = {"added up", "alone", "change", "constant", "everywhere", "every filter starts", "first", "inside"}
EVERYDAY |= {
    "add up",
    "batch",
    "blocks",
    "column",
    "direction",
    "guard",
    "heads",
    "kernel",
    "pass",
    "predict",
    "row",
    "tangent",
    "last",
    "trace",
}
EVERYDAY |= {"independent", "on every branch", "reset", "scatter", "score", "second derivative", "two", "value"}
"""What is in bold to be seen, or is a word that every reader knows."""
EXPLAINED = {("derivatives", "tape"), ("the-tape", "cotangent"), ("implicit-differentiation", "hypergradient")}
"""What an earlier chapter explains in passing, because a message or the player says it."""
TOOLS = {
    r"\bprint\(tape\)": "the-tape",
    r"%%play": "the-tape",
    r"\bwatched_variables\(": "backward",
    r"\btape\.code\(": "backward",
    r"\.explain\(": "watched-or-none",
    r"\bstop_recording\(": "stop-recording",
    r"\bstop_gradient\(": "stop-recording",  # there, to be compared
    r"\bfirst_nonfinite\b": "not-a-number",
    r"\bcustom_gradient\b": "custom-gradients",
    r"\bad\.save\(": "custom-gradients",
    r"\.corners\(": "corners",
    r"\bjvp\(": "forward-mode",
    r"\b(vjp|jacobian|sweep)\(": "jacobians",
    r"\b(hessian|descend)\(": "hessian-and-newton",
    r"\bhvp\(": "curvature",
    r"\bbatch_jacobian\(": "batch-jacobians",
    r"\bad\.checkpoint\b": "memory",
    r"\bad\.compile\b": "trace-once-run-many",
}


def text(slug):
    """Return what a reader sees of a chapter before its exercises: its prose, and its code that isn't folded."""
    before = takewhile(lambda cell: cell["id"] != "ex", OURS.find(slug).read()["cells"])
    seen = (cell for cell in before if "hide-input" not in cell["metadata"].get("tags", ()))
    return "\n".join(LINKS.sub("", "".join(cell["source"])) for cell in seen)


NUMBERED = [chapter.slug for chapter in OURS.chapters if isinstance(chapter.number, int)]
SOON = NUMBERED


def test_no_tool_is_used_before_it_is_taught():
    for tool, taught in TOOLS.items():
        for slug in NUMBERED[: NUMBERED.index(taught)]:
            assert not re.search(tool, text(slug)), f"{slug} uses {tool}, which {taught} teaches"


@pytest.mark.parametrize("slug", SOON)
def test_a_term_in_bold_is_not_in_an_earlier_chapter(slug):
    place = SOON.index(slug)
    known = {term for earlier in SOON[:place] for term in BOLD.findall(text(earlier))}
    for term in set(BOLD.findall(text(slug))) - known - EVERYDAY:
        for earlier in (each for each in SOON[:place] if (each, term) not in EXPLAINED):
            found = re.search(rf"(?<![\w.`]){re.escape(term)}s?(?![\w`(=])", text(earlier))
            assert not found, (
                f"{earlier} says {term!r}, which {slug} introduces: …{text(earlier)[found.start() - 40 :][:90]}…"
            )
