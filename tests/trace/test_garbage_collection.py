"""Building something large without the garbage collector, and what happens at its end."""

import gc

import pytest

from autodiff_edu.trace.garbage_collection import without_collecting


@pytest.fixture
def collections():
    """How many new objects the collector looks at, each time that it begins."""
    begun = []

    def note(phase, about):
        if phase == "start":
            begun.append(len(gc.get_objects(generation=0)))

    gc.unfreeze()  # the session of tests has frozen what it imported
    gc.collect()
    gc.callbacks.append(note)
    yield begun
    gc.callbacks.remove(note)
    gc.freeze()


def test_what_was_built_is_not_traversed_at_once(collections):
    with without_collecting():
        built = [[k] for k in range(100_000)]
    more = [[k] for k in range(10_000)]
    assert collections
    assert max(collections) < len(more) < len(built)
    assert gc.isenabled()


def test_garbage_that_was_made_inside_is_found_later(collections):
    class Circle:
        pass

    with without_collecting():
        circle = Circle()
        circle.itself = circle
        del circle
    assert sum(isinstance(one, Circle) for one in gc.get_objects()) == 1
    gc.collect()
    assert sum(isinstance(one, Circle) for one in gc.get_objects()) == 0


def test_what_the_user_has_frozen_stays_frozen():
    gc.collect()
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        assert count > 0
        with without_collecting():
            pass
        assert gc.get_freeze_count() > 0.9 * count
    finally:
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def test_a_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with without_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
