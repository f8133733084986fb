"""Every case of the reference, sections 1 to 6 and 8 to 10, is covered by a test or by a reason."""

from importlib import import_module
from pathlib import Path

import pytest

from . import cases
from .titles import SECTIONS, TITLES, titles_in

HERE = Path(__file__).parent


@pytest.mark.parametrize("section", TITLES)
def test_every_case_of_a_section_has_a_test_or_a_reason(section):
    for file in HERE.glob(f"test_section_{section:02}_*.py"):
        import_module(f"{__package__}.{file.stem}")
    assert [title for title in TITLES[section] if not stands(cases.COVERED.get(title))] == []


def stands(what):
    """Whether this is a test that pytest finds, or a reason."""
    return bool(what) and (isinstance(what, str) or what.__name__.startswith("test_"))


def test_no_section_of_the_reference_is_empty():
    assert tuple(TITLES) == SECTIONS
    assert min(map(len, TITLES.values())) >= 9
    assert sum(map(len, TITLES.values())) >= 123


def test_headings_are_told_from_comments_in_code():
    assert titles_in("## 3. dtypes\n### one\n```python\n### no\n```\n### two \n") == {3: ["one", "two"]}


def test_a_title_that_is_not_in_the_reference_or_is_covered_already_is_refused(monkeypatch):
    monkeypatch.setattr(cases, "COVERED", {})
    with pytest.raises(ValueError, match="no case"):
        cases.case("gradient thrice")(print)
    cases.not_applicable("3rd order nested", "a reason")
    with pytest.raises(ValueError, match="covered twice"):
        cases.case("3rd order nested")(print)
