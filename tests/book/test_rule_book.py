"""The page that lists every rule is made from the registry and from the cases, and is up to date."""

from pathlib import Path

import numpy as np
import pytest
import rule_book

from autodiff_edu.rules import RULES

BOOK = Path(__file__).parents[2] / "book" / "rule-book.md"


@pytest.fixture(scope="module")
def recorded():
    return rule_book.calls()


def test_the_page_is_what_the_registry_says():
    assert BOOK.read_text(encoding="utf-8") == rule_book.page(), "run: python book/_ext/rule_book.py"


def test_every_rule_is_on_the_page_by_the_name_one_writes():
    text = BOOK.read_text(encoding="utf-8")
    for operation, rule in RULES.items():
        assert rule.own or f"`{rule_book.title(operation)}`" in text


def test_a_rule_is_shown_as_it_stands_in_the_table():
    assert rule_book.as_written(np.multiply) == "`g * y`; `g * x`"
    assert rule_book.title(np.linalg.det) == "np.linalg.det"


@pytest.mark.parametrize(
    ("operation", "order", "dask"),
    [
        (np.add, "1", "yes"),
        (np.multiply, "2", "yes"),
        (np.exp, "any", "yes"),
        (np.linalg.inv, "any", "in part"),
        (np.linalg.det, "any", "no"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_a_rule_can_do_is_measured(operation, order, dask, recorded):
    entries = recorded[operation]
    assert (rule_book.order(entries), rule_book.stacked(entries), rule_book.lazily(entries)) == (order, "yes", dask)


def test_a_rule_that_cannot_carry_a_stack_is_found_out(recorded, monkeypatch):
    def counted_from_the_left(g, y, x, axis=None, keepdims=False):
        return np.ones(np.shape(x)) * np.ravel(g)[0]

    sums = recorded[np.sum]
    assert rule_book.stacked(sums) == "yes"
    monkeypatch.setitem(RULES, np.sum, RULES[np.sum]._replace(pulls=(counted_from_the_left,)))
    assert rule_book.stacked(sums) == "no"
