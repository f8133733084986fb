"""A block knows when it is over, however it ends, and however it was entered."""

from contextlib import ExitStack

import pytest

from autodiff_edu.text.with_block import ExitMethod, WithBlock, still_running


class Switch(WithBlock):
    left = False

    def __enter__(self):
        self.begin()
        return self

    @ExitMethod
    def __exit__(self, *exception):
        """Leave."""
        assert not self.over, "it is over when it was left, not while it is left"
        self.left = True
        self.end()


class Stuck(Switch):
    @ExitMethod
    def __exit__(self, *exception):
        raise KeyboardInterrupt


def test_a_block_runs_from_begin_to_end_and_may_run_again():
    switch = Switch()
    for _ in range(2):
        assert switch.over
        with switch:
            assert not switch.over
            assert still_running([switch, switch.begin, 3]) == (switch, switch.begin, 3)
        assert switch.over
        assert still_running([switch, switch.begin, 3]) == (3,)


def test_a_block_that_an_error_leaves_is_over():
    switch = Switch()
    with pytest.raises(KeyError), switch:
        raise KeyError
    assert switch.over
    assert switch.left


def test_a_block_whose_exit_did_nothing_is_over_though_its_error_is_kept():
    stuck, kept = Stuck(), []
    try:
        with stuck:
            assert not stuck.over
    except KeyboardInterrupt as error:
        kept.append(error)
    assert stuck.over
    with Switch() as other:
        assert not other.over
    assert stuck.over


def test_a_block_entered_without_with_ends_when_it_is_left():
    switch = Switch()
    with ExitStack() as stack:
        stack.enter_context(switch)
        assert hasattr(switch, "__exit__")
        assert not switch.over
    assert switch.over
    switch.__enter__()
    assert not switch.over
    switch.__exit__(None, None, None)
    assert switch.over


def test_asking_for_the_exit_of_a_block_that_runs_does_not_end_it():
    with Switch() as switch:
        assert switch.__exit__ is not None
        assert not switch.over


def test_the_exit_of_the_class_is_the_function():
    assert Switch.__exit__.__doc__ == "Leave."
