"""Cutting the flow; and rules of one's own: entered for good or for a block, and replaced on purpose only."""

import contextlib

import numpy as np
import pytest
from no_rule import UNRULED

import autodiff_edu as ad
from autodiff_edu.core import events
from autodiff_edu.core.composites import SPELLED
from autodiff_edu.rules import RULES

# stop_gradient ------------------------------------------------------------------------------------------------------


def test_stopping_gives_a_new_tensor_of_the_same_value_and_variables_become_tensors():
    x = ad.Variable([1.0, 2.0])
    y = ad.stop_gradient(x)
    assert y is not x
    assert type(y) is ad.Tensor
    assert y.numpy().tolist() == [1.0, 2.0]
    assert y.dtype == x.dtype


def test_a_structure_is_stopped_part_by_part_and_arrays_and_numbers_stay_as_they_are():
    x, array = ad.Variable(2.0), np.ones(2)
    with ad.GradientTape() as tape:
        stopped = ad.stop_gradient({"a": [x, (x * x, array)], "b": 3})
        y = stopped["a"][0] * stopped["a"][1][0] * x
    assert stopped["a"][1][1] is array
    assert stopped["b"] == 3
    assert float(tape.gradient(y, x)) == 8.0


def test_the_tape_records_the_cut_and_says_so():
    x, seen = ad.Variable(2.0), []
    with ad.hook(seen.append), ad.GradientTape() as tape:
        ad.stop_gradient(x)
    assert [entry.name for entry in tape.entries] == ["stop_gradient"]
    assert [type(event) for event in seen if not isinstance(event, events.Watch)] == [events.Cut]
    assert "stop_gradient(x)" in str(tape)


def test_nothing_is_stopped_twice_by_higher_orders_jacobians_or_forward_mode():
    def f(x):
        return x * ad.stop_gradient(x**2)

    x = np.array([1.0, 3.0])
    assert ad.jacobian(f, mode="reverse")(x).numpy().tolist() == [[1, 0], [0, 9]]
    assert ad.jacobian(f, mode="forward")(x).numpy().tolist() == [[1, 0], [0, 9]]
    assert float(ad.grad(ad.grad(f))(3.0)) == 0.0
    assert float(ad.grad(lambda x: ad.grad(f)(x) * x)(3.0)) == 9.0


def test_a_straight_through_round_passes_the_gradient():
    x = ad.Variable([0.4, 1.7])
    with ad.GradientTape() as tape:
        y = x + ad.stop_gradient(np.round(x) - x)
    assert y.numpy().tolist() == [0.0, 2.0]
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0]


# register_gradient --------------------------------------------------------------------------------------------------


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


def test_plain_python_functions_are_refused_because_nobody_would_ask_for_their_rule():
    for function in (lambda x: x, np.vectorize(abs), abs):
        with pytest.raises(TypeError, match="custom_gradient"):
            ad.register_gradient(function, lambda g, y, x: g)


def test_an_exception_in_the_block_takes_the_rule_out_too():
    with pytest.raises(ZeroDivisionError), ad.register_gradient(UNRULED, lambda g, y, x: g):
        raise ZeroDivisionError
    assert UNRULED not in RULES


WRONG = {
    "nothing": lambda g, y, x: None,
    "another shape": lambda g, y, x: np.ones(5),
    "a list": lambda g, y, x: [1.0, 2.0],
    "text": lambda g, y, x: "a",
    "a complex number": lambda g, y, x: g * 1j,
}


@pytest.mark.parametrize("what", WRONG)
def test_a_rule_that_gives_what_is_not_a_gradient_is_an_error_that_names_the_function(what):
    x = ad.Variable([1.0, 2.0])
    with ad.register_gradient(UNRULED, WRONG[what]):
        with ad.GradientTape() as tape:
            y = np.sum(UNRULED(x))
        with pytest.raises((TypeError, ValueError), match=UNRULED.__name__):
            tape.gradient(y, x)


def test_registrations_left_in_the_wrong_order_leak_nothing():
    first = ad.register_gradient(UNRULED, lambda g, y, x: g)
    second = ad.register_gradient(UNRULED, lambda g, y, x: 2.0 * g, replace=True)
    first.__exit__()
    assert UNRULED in RULES  # the second one still holds
    second.__exit__()
    assert UNRULED not in RULES


# Functions of SciPy, which are ufuncs -------------------------------------------------------------------------------


@pytest.fixture
def special():
    """The functions with rules as one would write them, taken out again after the test."""
    special = pytest.importorskip("scipy.special")
    rules = [
        (special.erf, [lambda g, y, x: g * 2 / np.sqrt(np.pi) * np.exp(-x * x)], "elementwise"),
        (special.gammaln, [lambda g, y, x: g * special.digamma(x)], "elementwise"),
        (special.digamma, [lambda g, y, x: g * special.zeta(2, x)], "elementwise"),
        (special.expit, [lambda g, y, x: g * y * (1 - y)], "elementwise"),
        (special.xlogy, [lambda g, z, x, y: g * np.log(y), lambda g, z, x, y: g * x / y], "elementwise"),
    ]
    with contextlib.ExitStack() as block:
        for function, pulls, kind in rules:
            block.enter_context(ad.register_gradient(function, *pulls, kind=kind))
        yield special
    assert not any(function in RULES for function, _, _ in rules)


@pytest.mark.parametrize(("name", "order"), [("erf", 3), ("gammaln", 2), ("expit", 3)])
def test_scipy_s_ufuncs_are_differentiated_by_registered_rules(special, name, order):
    x = np.array([[0.4, 1.3], [2.2, 0.9]])
    function = getattr(special, name)
    ad.check_gradients(function, x, order=order)
    reverse, forward = (ad.jacobian(function, mode=mode)(x).numpy() for mode in ("reverse", "forward"))
    np.testing.assert_allclose(reverse, forward, 1e-14)


def test_a_registered_ufunc_of_two_arguments_is_broadcast(special):
    ad.check_gradients(special.xlogy, np.array([[0.4], [1.3]]), np.array([0.7, 2.0, 3.0]))


def test_the_argument_of_a_function_from_a_module_is_named_after_itself(special):
    x = ad.Variable(0.5)
    with ad.GradientTape() as tape:
        y = special.erf(x)
    assert "y = erf(x) " in str(tape)
    assert float(y) == special.erf(0.5)


def test_an_assignment_that_a_checkpoint_refuses_is_heard_by_nobody():
    w, x, heard = ad.Variable(2.0, name="w"), ad.Variable(3.0, name="x"), []

    def f(x):
        with pytest.raises(RuntimeError, match="assigns to"):
            w.assign(x * 2.0)
        return x * 1.0

    with ad.hook(heard.append), ad.trace() as steps, ad.GradientTape() as tape:
        z = w * ad.checkpoint(f)(x)
    assert not any(isinstance(event, events.Assign) for event in (*heard, *steps.events))
    assert float(w) == 2.0
    assert float(tape.gradient(z, x, unconnected_gradients="explain")) == 2.0
