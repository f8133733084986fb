"""The page that lists every rule is made from the registry and from the cases, and is up to date."""

import re
from pathlib import Path

import numpy as np
import pytest
import rule_book
import sources

from autodiff_edu.rules import RULES
from autodiff_edu.rules.account import functions
from autodiff_edu.rules.corners import CORNERS

BOOK = Path(__file__).parents[2] / "book" / "rule-book.md"


@pytest.fixture(scope="module")
def recorded():
    return rule_book.calls()


def test_the_page_is_what_the_registry_says_but_for_dask(monkeypatch):
    said = iter(re.findall(r"\| (yes|in part|no) \| \{ref\}", BOOK.read_text(encoding="utf-8")))
    monkeypatch.setattr(rule_book, "lazily", lambda _: next(said, "nothing"))  # what takes longest to measure
    assert BOOK.read_text(encoding="utf-8") == rule_book.page(), "run: python book/_ext/rule_book.py"


@pytest.mark.exhaustive
def test_the_page_is_what_the_registry_says():
    assert BOOK.read_text(encoding="utf-8") == rule_book.page(), "run: python book/_ext/rule_book.py"


def test_every_rule_is_on_the_page_by_the_name_one_writes():
    text = BOOK.read_text(encoding="utf-8")
    for operation, rule in RULES.items():
        name = rule_book.title(operation)
        assert rule.own or f"`{name}`" in text or f"{{ref}}`{name} <" in text


def test_every_function_of_numpy_is_on_the_page_by_each_of_its_names():
    named = re.findall(r"`(np\.[\w.]+)(?: <[^>`]*>)?`", BOOK.read_text(encoding="utf-8").split("## Rules")[1])
    assert functions().keys() - set(named) == set()


def test_every_rule_has_a_source_and_each_source_is_a_rule():
    places = sources.sources()
    for operation, rule in RULES.items():
        assert rule.own or rule.kind == "step" or sources.label(operation) in places
    for file, line in places.values():
        text = (sources.FOLDER / file).read_text(encoding="utf-8").splitlines()[line - 1]
        known = "lambda" in text or text.lstrip().startswith(("def ", "@operation")) or "= float(" in text
        assert known, f"{file}, line {line}: {text}"
    assert places[sources.label(np.sin)][0] == "elementwise.py"
    assert places[sources.label(np.nansum)][0] == "nans.py"


def test_every_file_that_has_a_source_is_shown():
    shown = re.findall(r"{rule-source} (.*)", BOOK.with_name("rule-source.md").read_text(encoding="utf-8"))
    assert {file for file, _ in sources.sources().values()} <= set(shown)
    assert [name for name in shown if not (sources.FOLDER / name).exists()] == []


def test_a_rule_is_shown_as_it_stands_in_the_table():
    assert rule_book.as_written(np.multiply) == "`g * y`; `g * x`"
    assert rule_book.title(np.linalg.det) == "np.linalg.det"


def test_each_name_in_a_rule_leads_to_its_code_or_to_what_it_does():
    text = BOOK.read_text(encoding="utf-8")
    assert "[`pull_einsum`](#code-of-pull_einsum)" in rule_book.as_written(np.einsum)
    assert rule_book.as_written(np.linalg.inv).count("[`t`](#helper-t)") == 2
    for linked in re.findall(r"\]\(#helper-([\w.]+)\)", text):
        assert f"{{#helper-{linked}}}" in text
    assert {"share", "spread", "like", "DEGREE", "LOG2"} <= sources.helpers().keys()
    assert sources.code_label("pull_matmul_right") in sources.sources()
    assert rule_book.NUMBERS.keys() == {name for name, value in sources.helpers().items() if isinstance(value, float)}


def test_a_helper_that_is_an_operation_is_shown_with_its_own_arguments():
    (row,) = (row for row in rule_book.rows_of_helpers() if "helper-bessel}" in row)
    assert "`bessel(x, n)`" in row
    assert "[operations.py](#code-of-bessel)" in row


@pytest.mark.parametrize(
    ("operation", "order", "dask"),
    [
        (np.absolute, "1 (complex: any)", "yes"),
        (np.add, "1", "yes"),
        (np.square, "2", "yes"),
        (np.exp, "any", "yes"),
        (np.linalg.inv, "any", "in part"),
        (np.linalg.det, "any", "no"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_a_rule_can_do_is_measured(operation, order, dask, recorded):
    entries = recorded[operation]
    assert (rule_book.order(entries), rule_book.stacked(entries), rule_book.lazily(entries)) == (order, "yes", dask)


def test_every_operation_with_corners_is_on_the_page_with_the_slope_that_it_takes():
    assert {operation for operation, *_ in rule_book.CORNERED} == CORNERS.keys()
    rows = list(rule_book.rows_of_corners())
    assert len(rows) == len(rule_book.CORNERED)
    assert "| {ref}`np.absolute <source-of-np.absolute>` | [0]{#corner-np-absolute} | -1 to 1 | 0 |" in rows
    text = BOOK.read_text(encoding="utf-8")
    for operation in CORNERS:  # its rule links to the first of its corners
        label = rule_book.corner_label(operation)
        assert (text.count(f"(#{label})"), text.count(f"{{#{label}}}")) == (1, 1)
    below, above = (row for row in rows if "`np.where <" in row)
    assert below.endswith("np.where(x > 0, x, 0)`]{#corner-np-where} | 0 to 1 | 0 |")
    assert above.endswith("np.where(x >= 0, x, 0)` | 0 to 1 | 1 |")


def test_a_rule_that_cannot_carry_a_stack_is_found_out(recorded, monkeypatch):
    def counted_from_the_left(g, y, x, axis=None, keepdims=False):
        return np.ones(np.shape(x)) * np.ravel(g)[0]

    sums = recorded[np.sum]
    assert rule_book.stacked(sums) == "yes"
    monkeypatch.setitem(RULES, np.sum, RULES[np.sum]._replace(pulls=(counted_from_the_left,)))
    assert rule_book.stacked(sums) == "no"
