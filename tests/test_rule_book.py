"""The page that lists every rule is made from the registry, and is up to date."""

from pathlib import Path

import numpy as np

from autodiff_edu.rules import RULES
from autodiff_edu.rules.__main__ import as_written, page, title

BOOK = Path(__file__).parents[1] / "book" / "rule-book.md"


def test_the_page_is_what_the_registry_says():
    assert BOOK.read_text(encoding="utf-8") == page(), "run: python -m autodiff_edu.rules > book/rule-book.md"


def test_every_rule_is_on_the_page_by_the_name_one_writes():
    text = page()
    for operation in RULES:
        assert f"`{title(operation)}`" in text


def test_a_rule_is_shown_as_it_stands_in_the_table():
    assert as_written()["np.multiply"] == ["`g * y`", "`g * x`"]
    assert title(np.linalg.det) == "np.linalg.det"
