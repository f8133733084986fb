"""Rules of one's own: entered for good or for a block, and replaced on purpose only."""

import numpy as np
import pytest
from unruled import UNRULED

import autodiff_edu as ad
from autodiff_edu.rules import RULES
from autodiff_edu.rules.kinds import SPELLED


def slope(function, x):
    x = ad.Variable(x)
    with ad.GradientTape() as tape:
        y = function(x)
    return tape.gradient(y, x).numpy().tolist()


def test_a_registered_rule_differentiates_and_leaves_with_its_block():
    with ad.register_gradient(UNRULED, lambda g, y, x: 3.0 * g):
        assert slope(UNRULED, [0.5, 7.0]) == [3, 3]
        assert ad.jacobian(UNRULED, mode="forward")([0.5, 7.0]).numpy().tolist() == [[3, 0], [0, 3]]
    assert UNRULED not in RULES
    with pytest.raises(LookupError, match="register_gradient"):
        slope(UNRULED, [0.5, 7.0])


@pytest.mark.parametrize("function", [np.sin, np.median])
def test_a_rule_that_is_there_is_replaced_on_purpose_only(function):
    before = slope(function, [0.5, 0.7, 2.0])
    with pytest.raises(ValueError, match="replace=True"):
        ad.register_gradient(function, lambda g, y, x: g)
    with ad.register_gradient(function, lambda g, y, x: g * np.ones(3), replace=True):
        assert slope(function, [0.5, 0.7, 2.0]) == [1, 1, 1]
    assert slope(function, [0.5, 0.7, 2.0]) == before
    assert (function in RULES) != (function in SPELLED)


def test_wrong_calls_say_what_to_write():
    for call in (lambda: ad.register_gradient(UNRULED), lambda: ad.register_gradient(UNRULED, 3.0)):
        with pytest.raises(TypeError, match="one rule per argument"):
            call()
    with pytest.raises(ValueError, match="elementwise"):
        ad.register_gradient(UNRULED, lambda g, y, x: g, kind="diagonal")
    assert UNRULED not in RULES


def test_a_registration_may_be_entered_again():
    registration = ad.register_gradient(UNRULED, lambda g, y, x: 3.0 * g)
    for _ in range(2):
        with registration:
            assert slope(UNRULED, [0.5, 7.0]) == [3, 3]
        assert UNRULED not in RULES


@pytest.mark.parametrize("function", [np.block, np.vstack, np.modf])
def test_functions_of_lists_and_with_several_results_are_refused(function):
    with pytest.raises(TypeError, match="one result"):
        ad.register_gradient(function, lambda g, y, x: g, replace=True)
