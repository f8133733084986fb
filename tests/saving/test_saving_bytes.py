"""No byte of a saved function's file changes unseen, and no program in one, however odd, is more than a ValueError."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tampering import X, function

from autodiff_edu.saving import files, load, save


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "function.ad"
    save(function, path, X)
    return path.read_bytes()


@given(draw=st.data())
def test_no_changed_byte_goes_unseen(data, draw):
    changed = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        place = draw.draw(st.integers(0, len(changed) - 1))
        changed[place] ^= draw.draw(st.integers(1, 255))
    if bytes(changed) != data:
        with pytest.raises(ValueError, match=r"function.ad"):
            files.unpack(bytes(changed), "function.ad")


@given(draw=st.data())
def test_a_program_with_anything_anywhere_loads_or_is_a_value_error(data, draw, tmp_path_factory):
    document, arrays = files.unpack(data, "function.ad")
    places = []

    def walk(part):
        for key in part if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                walk(part[key])

    walk(document)
    part, key = draw.draw(st.sampled_from(places))
    part[key] = draw.draw(
        st.none() | st.booleans() | st.integers() | st.text() | st.just([]) | st.just({}) | st.just({"result": 0})
    )
    path = tmp_path_factory.mktemp("drawn") / "function.ad"
    path.write_bytes(files.pack(document, arrays))
    with contextlib.suppress(ValueError):
        load(path)
