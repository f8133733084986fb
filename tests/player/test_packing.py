"""What a page holds packed is what the player was given, and the same bytes every time."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import EIGHT, EXAMPLES, loop, nested, training

import autodiff_edu as ad
from autodiff_edu.player.copying import copied
from autodiff_edu.player.packing import dumps, packed
from autodiff_edu.player.unpacking import content_of, expand, tables_of, unpack

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
NUMBERS = st.integers(-3, 3) | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just(-0.0)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=60,
)


def there_and_back(content):
    return unpack(json.loads(dumps(packed(content))))


@given(VALUES)
def test_any_content_comes_back_as_it_was(value):
    content = {"value": value, "again": [value, value]}
    assert plain(there_and_back(content)) == plain(content)


@given(st.lists(st.text("ab!#", max_size=9)).map("".join) | st.text(), st.integers(1, 300))
def test_a_text_with_references_is_written_out_again(text, times):
    assert expand(copied(text)) == text
    assert expand(copied(text * times)) == text * times


def test_what_is_said_again_and_again_is_said_once():
    assert len(copied("dloss = 2 * x * dy; " * 50)) < 100


def plain(value):
    """As text that tells 1 from True and 0.0 from -0.0, though not 1 from 1.0, which JavaScript does not either."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    whole = isinstance(value, float) and value.is_integer() and str(value) != "-0.0"
    return repr(int(value) if whole else value)


@pytest.mark.parametrize("numbers", [
    [], [5], [3, 3, 3], list(range(1000)), [0.1, 0.2, 12.3, -4.5], [0.0, -0.0], [1e300, 1e-300], [2**60, 2**60 + 1],
    [1, 1.5, 2], [7] * 50 + [10**6] * 50, [0.1 + 0.2] * 9,
])  # fmt: skip
def test_numbers_of_every_kind_come_back(numbers):
    assert plain(there_and_back({"numbers": numbers})) == plain({"numbers": numbers})


@pytest.mark.parametrize("example", [*EXAMPLES, nested, training, lambda: loop(50)])
def test_every_trace_comes_back_and_takes_the_same_bytes_again(example):
    traced = example()
    player = ad.play(traced)
    assert content_of(player.html()) == player._content
    assert ad.play(traced).html() == player.html()


def test_packing_changes_nothing_of_what_it_is_given():
    player = ad.play(nested())
    before = json.dumps(player._content)
    packed(player._content)
    assert json.dumps(player._content) == before


def test_a_list_of_numbers_is_read_off_its_text():
    content = ad.play(lambda x: x * 2.0, [1.0, -0.5])._content
    assert content["trace"]["tensors"][0]["value"]["data"] == [1.0, -0.5]
    assert [keys for _, keys, _ in tables_of(packed(content)) if "dtype" in keys] == [["shape", "dtype", "text"]]


def test_a_sentence_is_written_once_for_all_steps_that_say_it_with_other_words():
    steps = tables_of(packed(ad.play(loop(40))._content))
    arrivals = next(
        columns[keys.index("text")] for _, keys, columns in steps if "cotangent" in keys and "entry" in keys
    )
    assert len(dumps(arrivals)) < 400  # of 120 sentences


@pytest.mark.parametrize("example", EIGHT)
def test_a_saved_page_is_light(example):
    assert len(ad.play(example()).page().encode()) < 200_000


def test_the_page_of_a_long_loop_grows_slowly():
    short, long = (len(ad.play(loop(turns)).page().encode()) for turns in (100, 200))
    assert (long - short) / 100 < 1000  # bytes for a turn, which has ten steps and three entries
