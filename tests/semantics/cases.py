"""Which case of the reference a test is for: `@case(title)` above it, or `not_applicable(title, reason)` instead."""

from .titles import TITLES

COVERED = {}
"""For each title what stands for it: the test, or the reason why there is none."""

_known = {title for titles in TITLES.values() for title in titles}


def case(title):
    """Enter a test for the case with this title."""

    def cover(test):
        _enter(title, test)
        return test

    return cover


def not_applicable(title, reason):
    """Enter the reason why the case with this title has no test."""
    _enter(title, reason)


def _enter(title, what):
    if title not in _known:
        raise ValueError(
            f"the reference has no case {title!r}; its titles are in book/contributing/tensorflow-semantics.md"
        )
    if title in COVERED:
        raise ValueError(f"the case {title!r} is covered twice: by {COVERED[title]!r} and by {what!r}")
    COVERED[title] = what
