"""Tests of building something large without the garbage collector."""

import gc
from collections.abc import Iterator

import pytest

from autodiff_edu.trace.garbage_collection import without_collecting


@pytest.fixture
def unfrozen() -> Iterator[None]:
    """Nothing is frozen; tests/conftest.py has frozen what it loaded."""
    gc.unfreeze()
    yield
    gc.freeze()


@pytest.mark.usefixtures("unfrozen")
def test_what_was_built_is_not_traversed_as_new() -> None:
    with without_collecting():
        built = [[k] for k in range(5_000)]
    old = {id(each) for each in gc.get_objects(generation=2)}
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    assert {id(each) for each in built} <= old


def test_what_someone_has_frozen_stays_frozen() -> None:
    assert gc.get_freeze_count() > 1_000
    with without_collecting():
        built = [[k] for k in range(5_000)]  # for less, it isn't even asked
    assert len(built) == 5_000
    assert gc.get_freeze_count() > 1_000
