"""The source of a file or a cell is parsed once, and again when it has changed."""

import ast
import linecache

import pytest

from autodiff_edu.text import source_code as room
from autodiff_edu.text.source_code import SourceCode, is_inside, parse_expression, source_of, span


@pytest.fixture
def write():
    """Write a cell, in the way IPython does."""
    written = set()

    def write(text, path="<a cell of test_source_code>"):
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
        written.add(path)
        return path

    yield write
    for path in written:
        del linecache.cache[path]
        room._sources.pop(path, None)


def test_a_source_is_parsed_once_until_it_changes(write):
    path = write("a = 1\n")
    first = source_of(path)
    assert source_of(path) is first
    write("a = 1\n")
    assert source_of(path) is first, "the same text, written anew"
    write("b = 2\n")
    assert ast.unparse(source_of(path).tree) == "b = 2"


def test_what_is_read_from_a_source_is_worked_out_once_for_each_detail():
    asked = []

    def line(source, number):
        asked.append(number)
        return source.lines[number]

    source = SourceCode("x", ["a\n", "b\n"])
    assert [source.read(line, number) for number in (0, 1, 0)] == ["a\n", "b\n", "a\n"]
    assert asked == [0, 1]


def test_the_oldest_sources_are_forgotten(write, monkeypatch):
    monkeypatch.setattr(room, "_sources", {})
    monkeypatch.setattr(room, "MOST", 2)
    for text in "abc":
        source_of(write(text, f"<{text}>"))
    assert list(room._sources) == ["<b>", "<c>"]


def test_a_cell_that_is_not_python_and_an_unknown_file_have_no_parts():
    assert SourceCode("x", ["%time\n", "x = 1\n"]).tree.body == source_of("<nowhere>").tree.body == []
    assert parse_expression("x -= y") is parse_expression("[1 2]") is None


def test_the_outermost_node_is_found_at_a_position():
    source = SourceCode("x", ["f(a)\n"])
    assert isinstance(source.node_at[1, 1, 0, 4], ast.Expr)
    assert isinstance(source.node_at[1, 1, 2, 3], ast.Name)


def test_a_position_is_inside_another_over_several_lines():
    call, argument = SourceCode("x", ["f(a,\n", "  b)\n"]).tree.body[0].value, (2, 2, 2, 3)
    assert is_inside(argument, span(call))
    assert not is_inside(span(call), argument)
    assert not is_inside((2, None, None, None), span(call))
