"""Structures are taken apart in one order and put together again in the same form, and errors say where they part."""

import collections

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodiff_edu.structures import flatten, flatten_like, rebuild

Pair = collections.namedtuple("Pair", "u v")

STRUCTURES = st.recursive(
    st.integers(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.builds(Pair, inner, inner),
        st.dictionaries(st.text(max_size=2), inner, max_size=3).map(collections.OrderedDict),
    ),
    max_leaves=10,
)
QUICK = settings(max_examples=100, deadline=None, derandomize=True)


@QUICK
@given(STRUCTURES)
def test_rebuilding_from_the_leaves_gives_the_same_structure(structure):
    leaves = [leaf for _, leaf in flatten(structure, "s")]
    again = rebuild(structure, iter(leaves))
    assert again == structure
    assert repr(again) == repr(structure), "the types are the same too"


@QUICK
@given(STRUCTURES)
def test_the_path_of_a_leaf_is_the_expression_that_reaches_it(structure):
    for path, leaf in flatten(structure, "structure"):
        assert eval(path, {"structure": structure, "Pair": Pair}) is leaf


@QUICK
@given(STRUCTURES)
def test_a_structure_is_like_itself(structure):
    assert [leaf for _, leaf in flatten_like(structure, structure, "s")] == [
        leaf for _, leaf in flatten(structure, "s")
    ]


def test_flatten_like_stops_where_the_structure_has_its_leaves():
    assert flatten_like([1, (2, 3)], [[10, 20], ({}, None)], "g") == [
        ("g[0]", [10, 20]),
        ("g[1][0]", {}),
        ("g[1][1]", None),
    ]


def test_dicts_are_alike_whatever_the_order_of_their_keys():
    assert flatten_like({"a": 1, "b": 2}, {"b": 20, "a": 10}, "g") == [("g['a']", 10), ("g['b']", 20)]


@pytest.mark.parametrize(
    ("structure", "other", "place"),
    [
        ([1, 2], [1], "g must"),
        ([1, 2], 1, "g must"),
        ([1, [2, 3]], [1, [2]], r"g\[1\] must"),
        ({"a": 1}, {"b": 1}, "g must"),
        ({"a": {"b": [1]}}, {"a": {"b": []}}, r"g\['a'\]\['b'\] must"),
        ({"a": 1}, [1], "g must"),
        ([1], {"a": 1}, "g must"),
    ],
)
def test_where_two_structures_part_is_named(structure, other, place):
    with pytest.raises(ValueError, match=place):
        flatten_like(structure, other, "g")
