"""Structures are taken apart in one order and put together again in the same form, and errors say where they part."""

import collections
import dataclasses
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_edu as ad
from autodiff_edu.arrays.structures import as_array, check_rectangular, flatten, flatten_like, rebuild

Pair = collections.namedtuple("Pair", "u v")


@dataclasses.dataclass
class Layer:
    kernel: object
    bias: object


STRUCTURES = st.recursive(
    st.integers(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.builds(Pair, inner, inner),
        st.dictionaries(st.text(max_size=2), inner, max_size=3).map(collections.OrderedDict),
        st.builds(Layer, inner, inner),
    ),
    max_leaves=10,
)


@given(STRUCTURES)
def test_rebuilding_from_the_leaves_gives_the_same_structure(structure):
    leaves = [leaf for _, leaf in flatten(structure, "s")]
    again = rebuild(structure, iter(leaves))
    assert again == structure
    assert repr(again) == repr(structure), "the types are the same too"


@given(STRUCTURES)
def test_the_path_of_a_leaf_is_the_expression_that_reaches_it(structure):
    for path, leaf in flatten(structure, "structure"):
        assert eval(path, {"structure": structure}) is leaf


@given(STRUCTURES)
def test_a_structure_is_like_itself(structure):
    assert [leaf for _, leaf in flatten_like(structure, structure, "s", "it is")] == [
        leaf for _, leaf in flatten(structure, "s")
    ]


def test_flatten_like_stops_where_the_structure_has_its_leaves():
    assert flatten_like([1, (2, 3)], [[10, 20], ({}, None)], "g", "they are") == [
        ("g[0]", [10, 20]),
        ("g[1][0]", {}),
        ("g[1][1]", None),
    ]


def test_dicts_are_alike_whatever_the_order_of_their_keys():
    assert flatten_like({"a": 1, "b": 2}, {"b": 20, "a": 10}, "g", "they are") == [("g['a']", 10), ("g['b']", 20)]


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
        (Pair([1], 2), Pair([], 2), r"g\.u must be a list of 1"),
        (Pair([1], 2), [[], 2], r"g\[0\] must be a list of 1"),
        ([Layer(1, 2)], [[1, 2]], r"g\[0\] must be a Layer"),
        (Layer([1], 2), Layer([], 2), r"g\.kernel must be a list of 1"),
        ({"a": 1}, None, r"g must be a dict with the keys \['a'\], as they are; it is None"),
    ],
)
def test_where_two_structures_part_is_named(structure, other, place):
    with pytest.raises(ValueError, match=place):
        flatten_like(structure, other, "g", "they are")


# Types with ways of their own -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: object
    b: object = 2
    c: object = dataclasses.field(init=False, default=3)


@dataclasses.dataclass(slots=True)
class Checked:
    a: object
    doubled: object = dataclasses.field(init=False)

    def __post_init__(self):
        self.doubled = self.a * 2
        if not isinstance(self.a, int):
            raise TypeError("whole numbers only")


@dataclasses.dataclass
class Bound:
    a: object
    scale: dataclasses.InitVar[int]
    unset: object = dataclasses.field(init=False)

    def __post_init__(self, scale):
        self.b = self.a * scale

    def __repr__(self):
        return f"Bound({self.a})"


class Attributes(dict):
    def __init__(self, *args, **items):
        super().__init__(*args, **items)
        self.__dict__ = self


class Scaled(dict):
    def __init__(self, scale, **items):
        super().__init__(**items)
        self.scale = scale


class Sealed(dict):
    def __setitem__(self, key, value):
        raise TypeError("sealed")


class Upper(dict):
    def __init__(self, items=(), **more):
        super().__init__({key.upper(): value for key, value in dict(items, **more).items()})


class Named(list):
    def __init__(self, name, *items):
        super().__init__(items)
        self.name = name


class Loud(list):
    def __init__(self, items):
        super().__init__([*items, "!"])


class Point(tuple):
    def __new__(cls, *items):
        return super().__new__(cls, items)


class Pairs(collections.namedtuple("Pairs", "u v")):
    def __new__(cls, both):
        return super().__new__(cls, both, both)


class Store(collections.abc.Mapping):
    def __init__(self, path, items):
        self.items_ = items

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


SPECIAL = [
    Frozen(1),
    Checked(1),
    Bound(1, 5),
    Attributes(b=1, a=2),
    Scaled(3, b=1, a=2),
    Sealed(b=1, a=2),
    Upper(b=1, a=2),
    Named("n", 1, 2),
    Loud([1, 2]),
    Point(1, 2),
    Pairs(1),
    collections.defaultdict(list, b=1, a=2),
    collections.Counter(b=1, a=2),
    collections.OrderedDict(b=1, a=2),
    collections.UserDict(b=1, a=2),
    collections.ChainMap({"a": 1}, {"b": 2}),
    MappingProxyType({"b": 1, "a": 2}),
    collections.UserDict(),
]


@pytest.mark.parametrize("structure", SPECIAL, ids=lambda s: type(s).__name__)
def test_a_structure_comes_back_in_its_own_type_and_order_and_the_given_one_is_left_alone(structure):
    before = flatten(structure, "s")
    made = rebuild(structure, iter([f"part {k}" for k in range(9)]))
    assert type(made) is type(structure)
    assert flatten(made, "s") == [(path, f"part {k}") for k, (path, _) in enumerate(before)]
    assert flatten(structure, "s") == before
    for attribute in ("scale", "name", "default_factory"):
        assert getattr(made, attribute, None) == getattr(structure, attribute, None)


def test_attributes_that_mirror_the_items_of_a_dict_mirror_the_new_ones():
    assert rebuild(Attributes(w=1), iter("x")).w == "x"


def test_a_mapping_that_cannot_be_made_again_comes_back_as_a_dict():
    assert rebuild(Store("file", {"b": 1, "a": [2]}), iter("xy")) == {"b": "x", "a": ["y"]}


def test_classes_and_strings_are_leaves():
    for leaf in (Layer, Pair, "abc", b"abc", None, {1, 2}, range(3)):
        assert flatten(leaf, "s") == [("s", leaf)]


def test_a_structure_that_contains_itself_is_an_error_that_names_the_place():
    ring = [1, {}]
    ring[1]["again"] = ring
    with pytest.raises(ValueError, match=r"sources\[1\]\['again'\] is a list that contains itself"):
        flatten(ring, "sources")
    layer = Layer(1, None)
    layer.bias = layer
    with pytest.raises(ValueError, match=r"s\.bias is a Layer that contains itself"):
        flatten(layer, "s")


def test_the_same_structure_in_two_places_does_not_contain_itself():
    part = [1]
    assert flatten([part, (part, part), (), ()], "s") == [("s[0][0]", 1), ("s[1][0][0]", 1), ("s[1][1][0]", 1)]


def test_a_list_of_numbers_is_an_array_and_a_structure_of_anything_else_is_not():
    assert as_array([[1, 2], [3, 4]]).dtype == float
    assert as_array([True, 2.0]).tolist() == [1.0, 2.0]
    assert as_array([1j, 2]).dtype == complex
    for structure in ((1.0, 2.0), {"a": 1.0}, [], [None], ["a"], [1.0, as_array([1.0])], 3):
        assert as_array(structure) is structure


def test_the_shape_of_nested_lists_is_told_or_the_parts_that_differ():
    assert check_rectangular(3.0) == ()
    assert check_rectangular([[1, 2, 3], (4, 5, 6)]) == (2, 3)
    assert check_rectangular([]) == (0,)
    with pytest.raises(ValueError, match=r"\[1\]\[0\] has shape \(\) and \[1\]\[1\] has shape \(1,\)"):
        check_rectangular([[1.0, 2.0], [3.0, [4.0]]])
    endless = [1.0]
    endless.append(endless)
    with pytest.raises(ValueError, match="different shapes"):
        check_rectangular(endless)


def test_a_ragged_list_is_named_where_a_tensor_is_made_of_it():
    with pytest.raises(ValueError, match=r"\[0\] has shape \(1,\) and \[1\] has shape \(\)"):
        ad.constant([[1.0], 2.0])
