"""What a page holds packed is what the player was given; one build of zlib writes the same bytes every time."""

import base64
import json
import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import EIGHT, EXAMPLES, loop, nested, training

import autodiff_edu as ad
from autodiff_edu.player.bundle import style
from autodiff_edu.player.packing import compress, dumps, pack
from autodiff_edu.player.unpacking import content_of, decompress, unpack

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
NUMBERS = st.integers(-3, 3) | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just(-0.0)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=60,
)


def tables_of(packed):
    """The tables of what is packed, their columns as packing.py writes them."""
    return json.loads(decompress(packed["content"]))["tables"]


def there_and_back(content):
    return unpack(json.loads(dumps(pack(content))))


@given(VALUES)
def test_any_content_comes_back_as_it_was(value):
    content = {"value": value, "again": [value, value]}
    assert plain(there_and_back(content)) == plain(content)


@given(st.text(), st.integers(1, 300))
def test_a_compressed_text_comes_back(text, times):
    assert decompress(compress(text * times)) == text * times


def test_what_is_compressed_can_stand_in_a_page_and_holds_no_time():
    compressed = compress('</script>\u2028"dloss = 2 * x * dy"; ' * 50)
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", compressed)
    assert len(compressed) < 150
    assert base64.b64decode(compressed)[4:8] == bytes(4), "where gzip has the time"


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
    pack(player._content)
    assert json.dumps(player._content) == before


def test_a_list_of_numbers_is_read_off_its_text():
    content = ad.play(lambda x: x * 2.0, [1.0, -0.5])._content
    assert content["trace"]["tensors"][0]["value"]["data"] == [1.0, -0.5]
    assert [keys for _, keys, _ in tables_of(pack(content)) if "dtype" in keys] == [["shape", "dtype", "text"]]


def test_a_sentence_is_written_once_for_all_steps_that_say_it_with_other_words():
    steps = tables_of(pack(ad.play(loop(40))._content))
    arrivals = next(
        columns[keys.index("text")] for _, keys, columns in steps if "cotangent" in keys and "entry" in keys
    )
    assert len(dumps(arrivals)) < 400  # of 120 sentences


@pytest.mark.parametrize("example", EIGHT)
def test_a_saved_page_is_light(example):
    ad.nn.seed(0)  # a network's numbers are in the picture
    player = ad.play(example())
    assert len(player._packed["content"]) - len(compress(style())) < 42_000  # of its own
    own = len(player._packed["content"]) + len(escape(player._write_fallback()).encode())
    assert len(player.page().encode()) - own < 108_300  # a picture, and what all pages share


def test_the_page_of_a_long_loop_grows_slowly():
    short, long = (len(ad.play(loop(turns)).page().encode()) for turns in (100, 200))
    assert (long - short) / 100 < 150  # bytes for a turn, which has ten steps and three entries
