"""That the table tests every rule, every spelling and every method of a ufunc that the package has."""

import numpy as np
import pytest
from cases import TABLE
from table import record

import autodiff_edu as ad
from autodiff_edu.core.composites import SPELLED
from autodiff_edu.core.rule import RULES
from autodiff_edu.rules.account import AT_ONCE
from autodiff_edu.rules.operations import round_off, stop_gradient, turns


def name_of(key):
    if isinstance(key, tuple):
        return f"{key[0].__name__}.{key[1]}"
    # A ufunc does not say where it is from before NumPy 2.2.
    return f"{getattr(key, '__module__', 'numpy')}.{getattr(key, '__qualname__', key.__name__)}"


@pytest.fixture(scope="module")
def entries():
    """The entries that the cases record, all together."""
    return [entry for case in TABLE for entry in record(case.function, *case.arguments())[0].entries]


def test_no_two_cases_have_the_same_name():
    names = [case.name for case in TABLE]
    assert len(set(names)) == len(names)


def test_every_differentiable_operation_is_in_the_table(entries):
    used = {entry.operation for entry in entries}
    differentiable = {operation for operation, rule in RULES.items() if rule.kind != "step"}
    assert {name_of(operation) for operation in differentiable - used} == set()


def test_no_operation_has_a_rule_for_an_argument_that_the_table_never_differentiates_by(entries):
    pulled = {
        (entry.operation, argument) for entry in entries for argument, id in enumerate(entry.ids) if id is not None
    }
    ruled = {
        (operation, argument)
        for operation, rule in RULES.items()
        for argument, pull in enumerate(rule.pulls)
        if pull is not None
    }
    assert {(name_of(operation), argument) for operation, argument in ruled - pulled} == set()


def test_every_spelling_and_every_method_of_a_ufunc_is_called_by_the_table_itself(monkeypatch):
    called, depth = set(), [0]

    def noted(key, function):
        def wrapper(*args, **parameters):
            if depth[0] == 0:
                called.add(key)
            depth[0] += 1
            try:
                return function(*args, **parameters)
            finally:
                depth[0] -= 1

        return wrapper

    for key, function in list(SPELLED.items()):
        monkeypatch.setitem(SPELLED, key, noted(key, function))
    for case in TABLE:
        case.function(*map(ad.constant, case.arguments()))
    # What is refused is asked for in test_bad_input.py.
    assert {name_of(key) for key in SPELLED.keys() - called - AT_ONCE} == set()


TWO = np.array([[0.5, 1.25], [-1.5, 2.75]])

STEPS = {
    **dict.fromkeys(
        [
            np.sign, np.floor, np.ceil, np.rint, np.round, np.around, np.trunc, np.fix, np.signbit, np.isnan, np.isinf,
            np.isfinite, np.logical_not, np.zeros_like, np.ones_like, np.empty_like, np.argmax, np.argmin, np.any,
            np.all, np.count_nonzero, np.argsort, np.linalg.matrix_rank, np.nanargmax, np.nanargmin, np.isneginf,
            np.isposinf, np.isreal, np.iscomplex, np.spacing,
        ],
        lambda f, x: f(x),
    ),
    **dict.fromkeys(
        [
            np.floor_divide, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
            np.logical_and, np.logical_or, np.logical_xor, np.isclose,
        ],
        lambda f, x: f(x, 2 * x),
    ),
    **dict.fromkeys([np.bitwise_and, np.bitwise_or, np.bitwise_xor], lambda f, x: f(x > 1.0, x > 0.0)),
    np.invert: lambda f, x: f(x > 1.0),
    np.argpartition: lambda f, x: f(x, 1),
    np.searchsorted: lambda f, x: f(np.sort(np.ravel(x)), x),
    np.digitize: lambda f, x: f(x, [0.0, 1.0]),
    turns: lambda f, x: f(x, None, -1, 2.0),
    round_off: lambda f, x: x.astype(int),
    stop_gradient: lambda f, x: f(x),
}  # fmt: skip


def test_every_step_function_is_tested():
    assert {name_of(f) for f, rule in RULES.items() if rule.kind == "step"} == {name_of(f) for f in STEPS}


@pytest.mark.parametrize(("f", "call"), STEPS.items(), ids=map(name_of, STEPS))
def test_nothing_flows_back_through_a_step_function_and_its_value_is_numpy_s(f, call):
    x = ad.constant(TWO)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = call(f, x)
        z = y * 1.0 + x
    of_booleans = f in (
        np.bitwise_and,
        np.bitwise_or,
        np.bitwise_xor,
        np.invert,
    )
    assert of_booleans or f in {entry.operation for entry in tape.entries}, "the call must record what it tests"
    if f is not np.empty_like:
        np.testing.assert_array_equal(y.numpy(), call(f, TWO))
    assert tape.gradient(y * 1.0, x) is None
    assert tape.gradient(y, x) is None
    np.testing.assert_array_equal(tape.gradient(z, x).numpy(), np.full((2, 2), float(np.size(z) // 4)))


@pytest.mark.parametrize(("f", "call"), STEPS.items(), ids=map(name_of, STEPS))
def test_nothing_is_pushed_forward_through_a_step_function(f, call):
    tangent = ad.jvp(lambda x: call(f, x) * 1.0, (TWO,), (np.ones((2, 2)),))[1]
    assert not np.any(tangent.numpy())
