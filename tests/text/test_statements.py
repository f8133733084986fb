"""A line of the user's code belongs to a statement, and an expression has a place in its code."""

import ast
import linecache
import os

import numpy as np
import pytest

from autodiff_edu.text import statements as room
from autodiff_edu.text.places import place
from autodiff_edu.text.source_code import SourceCode
from autodiff_edu.text.statements import is_theirs, names_assigned, statements, where_is, written_as

SOURCE = """\
if a:
    b = (1 +
         2)
elif c:
    d = 1; e = 2
if f: g = 3
with h:
    pass
"""


@pytest.fixture
def file():
    path = "<a file of test_statements>"
    linecache.cache[path] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), path)
    yield path
    del linecache.cache[path]


def test_a_line_belongs_to_the_innermost_statement(file):
    found = {line: [type(one).__name__ for one in several] for line, several in statements(file).items()}
    assert found[1] == found[4] == ["If"]
    assert found[2] == found[3] == ["Assign"]
    assert found[5] == ["Assign", "Assign"]
    assert found[6] == [], "nobody can see whether what stands behind the colon ran"
    assert (found[7], found[8]) == (["With"], ["Pass"])


def test_a_file_that_cannot_be_read_has_no_statements():
    assert statements("<nowhere>") == {}
    assert room._statements(SourceCode("x", ["%time\n", "x = 1\n"])) == {}


def test_an_expression_is_found_in_its_code(file):
    code = compile(SOURCE, file, "exec")
    (assigned,) = statements(file)[2]
    test = statements(file)[4][0].test
    assert place(where_is(code, test)).columns == (5, 6)
    assert place(where_is(code, assigned)).line == 2


def test_code_is_the_user_s_unless_it_is_ours_or_installed():
    assert is_theirs[__file__]
    assert is_theirs["<ipython-input-3-abc>"]
    assert not any(is_theirs[path] for path in (np.__file__, os.__file__, pytest.__file__, room.__file__))
    assert not is_theirs["<frozen importlib._bootstrap>"]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("a = b = 1", ["a", "b"]),
        ("a: int = 1", ["a"]),
        ("a: int", []),
        ("a += 1", ["a"]),
        ("a[0] = 1", []),
        ("*a, (b, c.d) = e", ["a", "b"]),
        ("for i, j in k: pass", ["i", "j"]),
        ("print(a)", []),
    ],
)
def test_the_names_that_a_statement_assigns_to(code, names):
    assert names_assigned(ast.parse(code).body[0]) == names


def test_what_is_long_is_not_read_aloud():
    assert written_as(ast.parse("a>b").body[0]) == "a > b"
    assert written_as(ast.parse("a" * 70).body[0]) == ""
