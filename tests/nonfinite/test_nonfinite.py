"""Where a NaN or an infinity comes from: the first operation that made one, or the data."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autodiff_edu as ad
from autodiff_edu.core.active import now
from autodiff_edu.nonfinite import first_nonfinite

NAN, INF = float("nan"), float("inf")


def found(f, *values, persistent=False):
    xs = [ad.Variable(value, name=name) for value, name in zip(values, "xyz", strict=False)]
    with ad.GradientTape(persistent=persistent) as tape, np.errstate(all="ignore"):
        target = f(*xs)
    return first_nonfinite(tape, target, xs)


def line(text, path=__file__):
    """Count the line of a file on which a text stands first."""
    with Path(path).open(encoding="utf-8") as file:
        return next(number for number, written in enumerate(file, 1) if text in written)


# What it says -------------------------------------------------------------------------------------------------------


def test_the_text_has_every_kind_that_the_operation_made():
    result = found(lambda x: np.sum(np.log(x)), [0.0, -1.0, 2.0])
    assert result.account.endswith("log(x): log of 0 gives -inf at element [0]; log of -1 gives nan at element [1].")
    assert (result.value, result.index) == ("-inf", (0,))


def test_the_text_says_line_operation_numbers_element_and_remedy():
    def f(x):
        return np.sum(np.log(x) * 2.0)  # where the log is

    result = found(f, [1.0, 2.0, 0.0])
    at = line("# where the log is")
    first, repair, *patch = str(result).splitlines()
    assert first == f"Forward, test_nonfinite.py, line {at}: t1 = log(x): log of 0 gives -inf at element [2]."
    assert repair == "nn.log_softmax never takes the log of 0, and neither does np.logaddexp for sums of exponentials."
    assert patch == [
        "Otherwise, keep the input away from where this happens (where the guard replaces a value, no gradient flows "
        "back):",
        "    np.log(np.maximum(x, 2e-16))",
    ]
    assert repr(result) == f"<Nonfinite: -inf from log, forward, test_nonfinite.py, line {at}>"
    assert result.place.line == at == result.entry.place.line
    assert "<pre>Forward" in result._repr_html_()


def test_the_backward_text_says_the_derivative_and_the_cotangent():
    result = found(lambda x: 3.0 * np.sqrt(x), [4.0, 0.0])
    words = " ".join(str(result).split())
    assert (
        "the derivative of sqrt of 0 with respect to x is inf, and times the cotangent 3 gives inf at element [1]."
        in words
    )


# Which is first -------------------------------------------------------------------------------------------------------


def test_nothing_is_found_where_all_is_finite():
    assert found(lambda x, y: np.sum(np.log(x) / y), [1.0, 2.0], [3.0, 4.0]) is None


def test_the_first_operation_is_named_and_not_those_that_it_spoils():
    assert found(lambda x: np.exp(np.sqrt(np.log(x) + 1.0)), 0.0).operation == "log"
    assert found(lambda x: np.sqrt(-x) + np.log(x - x), 1.0).operation == "sqrt"
    assert found(lambda x: np.log(x - x) + np.sqrt(-x), 1.0).operation == "log"


def test_an_infinity_that_ends_as_a_finite_target_with_a_bad_gradient_is_named():
    result = found(lambda x: 1.0 / (1.0 + np.exp(-x)), -1000.0)
    assert (result.operation, result.direction, result.inputs) == ("exp", "forward", (1000.0,))
    assert "nn.softplus" in result.remedy


def test_of_two_derivatives_that_fail_the_first_going_backward_is_named():
    result = found(lambda x: np.cbrt(np.sqrt(x)), 0.0)
    assert (result.operation, result.direction) == ("cbrt", "backward")


def test_an_operation_that_harms_goes_before_an_earlier_one_that_does_not():
    result = found(lambda x: 1.0 / np.sum(np.where(x > 0, np.log(x), 0.0)), [-1.0, 1.0])
    assert (result.operation, result.inputs) == ("divide", (1.0, 0.0))


def test_of_the_bad_elements_one_that_does_harm_is_shown():
    result = found(lambda x: np.where(x > 0, np.log(x), 0.0), [-1.0, 0.0])
    assert (result.index, result.value) == ((1,), "-inf")


def test_what_the_target_does_not_depend_on_is_passed_over():
    def f(x):
        np.log(x)
        return x * 2.0

    assert found(f, 0.0) is None


def test_a_bad_value_that_only_a_comparison_sees_is_passed_over():
    assert found(lambda x: np.where(np.log(x) > -1.0, x, 2.0 * x), [0.0, 1.0]) is None


def test_a_target_that_is_a_comparison_has_nothing_that_could_be_bad():
    assert found(lambda x: np.log(x) > -1.0, 0.0) is None


def test_a_bad_element_that_left_no_trace_is_not_blamed_for_another():
    result = found(lambda x: np.exp(1000.0 * np.log(x)), [0.0, 5.0])
    assert (result.operation, result.index) == ("exp", (1,))


def test_an_operation_on_another_watched_tensor_is_named_too():
    x, w = ad.Variable(1.0), ad.Variable(0.0)
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        y = x * np.log(w)
    assert first_nonfinite(tape, y, x).operation == "log"


def test_a_step_function_does_not_hide_the_operation_before_it():
    assert found(lambda x: x * np.floor(np.log(x)), 0.0).operation == "log"


def test_a_derivative_that_is_infinite_but_masked_away_does_no_harm():
    assert found(lambda x: np.sqrt(np.where(x > 0, x, 0.0)), -1.0) is None


def test_contributions_that_only_together_are_too_large_are_named():
    result = found(lambda x: (x * 1e154 - x * 1e154 * 0.5) * 1.0 + (x * 1e154) * 1e154 + (x * 1e154) * 1e154, 1e-10)
    assert result.direction == "backward"
    assert "add up to inf" in result.account


def test_a_derivative_of_a_product_of_everything_can_overflow():
    result = found(lambda x: np.prod(x), [1e-300, 1e200, 1e200])
    assert (result.operation, result.direction, result.index) == ("prod", "backward", (0,))


# Data -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "value"), [(NAN, "nan"), (INF, "inf"), (-INF, "-inf")])
def test_data_that_is_not_finite_is_named_and_no_operation(number, value):
    result = found(lambda x: np.arctan(x) * 2.0, [1.0, number])
    assert (result.operation, result.value, result.index) == (None, value, (1,))
    assert f"x is {value} at element [1] from the start" in result.account
    assert result.entry.name == "arctan"


def test_a_constant_that_is_not_finite_is_named():
    result = found(lambda x: x * np.array([1.0, INF]), [1.0, 2.0])
    assert (result.operation, result.index, result.inputs) == (None, (1,), (INF,))
    assert "the constant [1 inf] is inf at element [1] from the start" in result.account


def test_infinite_bounds_and_divisors_that_leave_all_finite_are_not_a_fault():
    assert found(lambda x: np.clip(x, None, 1.0) + np.maximum(x, -INF) + x / INF, [0.0, 2.0]) is None


def test_a_target_that_is_a_source_is_data():
    result = found(lambda x: x, NAN)
    assert (result.entry, result.place, result.operation) == (None, None, None)


def test_what_was_computed_while_the_tape_was_paused_is_data():
    x = ad.Variable(0.0)
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        with tape.stop_recording():
            w = np.log(x)
        y = x * w
    assert first_nonfinite(tape, y, x).operation is None


# The tape -------------------------------------------------------------------------------------------------------------


def test_a_one_shot_tape_can_still_give_its_gradient():
    x = ad.Variable(4.0)
    with ad.GradientTape() as tape:
        y = np.sqrt(x)
    assert first_nonfinite(tape, y, x) is None
    assert first_nonfinite(tape, y, x) is None
    assert float(tape.gradient(y, x)) == 0.25


def test_a_released_tape_and_one_never_entered_raise_as_gradient_does():
    x = ad.Variable(4.0)
    with ad.GradientTape() as tape:
        y = np.sqrt(x)
    tape.gradient(y, x)
    for broken in (tape, ad.GradientTape()):
        with pytest.raises(RuntimeError) as theirs:
            broken.gradient(y, x)
        with pytest.raises(RuntimeError) as ours:
            first_nonfinite(broken, y, x)
        assert str(ours.value) == str(theirs.value)


def test_a_target_or_a_source_that_is_not_a_tensor_is_refused():
    x = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = x * 2.0
    with pytest.raises(TypeError, match=r"sources\[1\]"):
        first_nonfinite(tape, y, [x, 1.0])
    with pytest.raises(TypeError, match="target"):
        first_nonfinite(tape, 1.0, x)
    assert float(tape.gradient(y, x)) == 2.0


@pytest.mark.parametrize("error", [False, True])
def test_an_outer_tape_records_nothing_and_no_hook_hears(error):
    x, heard = ad.Variable(0.0), []
    with ad.hook(heard.append), ad.GradientTape() as outer, np.errstate(all="ignore"), ad.GradientTape() as tape:
        y = np.unique(x * np.ones(3)) if error else x * np.sqrt(x)
        before = len(heard), len(outer.entries), len(tape.entries), now().listeners
        if error:
            with pytest.raises(LookupError, match="unique"):
                first_nonfinite(tape, y, x)
        else:
            assert first_nonfinite(tape, y, x).operation == "sqrt"
        assert (len(heard), len(outer.entries), len(tape.entries), now().listeners) == before


@pytest.mark.parametrize(
    "f", [np.log, np.exp, lambda x: np.where(x > 0, np.log(x), 0.0), lambda x: np.where(x > 9, 0.0, x)]
)
def test_it_emits_no_warnings(f):
    x = ad.Variable([0.0, 1000.0, -1.0])
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        y = f(x)
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        str(first_nonfinite(tape, y, x))


def test_target_and_sources_may_be_structures():
    x, w = ad.Variable([1.0, 2.0]), ad.Variable(0.0, name="w")
    with ad.GradientTape() as tape:
        ys = {"fine": x * 2.0, "bad": (np.sqrt(w), 1.0 * w)}
    assert first_nonfinite(tape, ys, {"layers": [x, w]}).operation == "sqrt"
    assert first_nonfinite(tape, ys["fine"], [x, w]) is None
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        first, second = np.log(w), np.reciprocal(w)
    assert first_nonfinite(tape, [second, first], w).operation == "log"  # first by the tape, not by the list
    assert first_nonfinite(tape, ys, x) is None  # nothing on the way to this source is infinite


def test_the_names_are_those_of_the_printed_tape():
    x = ad.constant([0.0, 1.0])
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = 1.0 + 2.0 * np.sqrt(x + 0.0)
    assert "t2 = sqrt(t1)" in str(tape)
    assert "t2 = sqrt(t1)" in str(first_nonfinite(tape, y, x))


def test_complex_numbers():
    result = found(lambda z: np.abs(np.log(z)), [1j, 0j])
    assert (result.operation, result.index, result.value) == ("log", (1,), "inf")
    assert found(lambda z: np.abs(np.log(z)), [1j, 2.0 + 0j]) is None
    result = found(lambda z: np.real(np.sqrt(z)), [4.0 + 0j, 0j])
    assert (result.operation, result.direction, result.index) == ("sqrt", "backward", (1,))


def test_an_argument_that_was_broadcast():
    result = found(lambda x, y: x * np.sqrt(y), [[1.0], [2.0], [3.0]], [4.0, 0.0])
    assert (result.operation, result.direction, result.index) == ("sqrt", "backward", (1,))
    result = found(lambda x, y: x / y, [[1.0], [2.0], [3.0]], [4.0, 0.0])
    assert (result.index, result.inputs, result.value) == ((0, 1), (1.0, 0.0), "inf")
    result = found(lambda x, y: np.power(x, y), [[0.0], [2.0]], [2.0, 0.5])
    assert (result.operation, result.direction, result.index) == ("power", "backward", (0, 0))


def test_a_gradient_that_was_recorded_is_searched_too():
    x = ad.Variable(0.0, name="x")
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = x**1.5
        slope = inner.gradient(y, x)  # the slope
    result = first_nonfinite(outer, slope, x)
    assert (result.operation, result.direction) == ("power", "backward")
    assert result.place.line == line("# the slope")


def test_the_arrays_of_another_library():
    array = pytest.importorskip("dask.array")
    x = ad.constant(array.from_array(np.array([0.0, 1.0]), chunks=1), name="x")
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = np.where(x > 0, np.log(x), 0.0)
        z = np.exp(x)
    assert "does not take this element" in first_nonfinite(tape, y, x).account
    assert first_nonfinite(tape, z, x) is None


def test_large_arrays():
    numbers = np.ones((300, 400))
    numbers[299, 1] = 0.0
    result = found(lambda x: np.sum(np.log(x @ np.eye(400))), numbers)
    assert result.index == (299, 1)
    assert len(str(result)) < 1000


def test_a_variable_assigned_afterwards_is_searched_with_the_value_at_the_time_of_reading():
    x = ad.Variable(0.0)
    with ad.GradientTape() as tape:
        y = np.sqrt(x)
    x.assign(4.0)
    assert first_nonfinite(tape, y, x).operation == "sqrt"


def test_the_source_of_infinity_in_a_custom_gradient_is_its_backward_function():
    x = ad.Variable(2.0, name="x")
    bad = ad.custom_gradient(lambda x: (x * 1.0, lambda dy: dy * np.inf))
    with ad.GradientTape() as tape:
        y = bad(x)
    found = tape.first_nonfinite(y, x)
    assert found.direction == "backward"
    assert "too large for their dtype" not in str(found)


def test_looking_for_what_is_not_finite_warns_of_nothing_itself():
    x = ad.Variable(0.0, name="x")
    with ad.GradientTape() as tape, np.errstate(all="ignore"):
        y = np.log(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tape.first_nonfinite(y, x) is not None


# Random programs ------------------------------------------------------------------------------------------------------

CHAIN = [
    np.sqrt, np.log, np.exp, np.square, np.cbrt, np.reciprocal, np.negative, np.arcsin, np.tanh, np.sum, np.max,
    np.cumsum, np.prod, lambda x: x[..., ::-1], lambda x: x * 1e100, lambda x: np.maximum(x, 0.0),
    lambda x: np.where(x > 0, x, 0.5), lambda x: np.where(x > 0, np.log(x), 0.0), lambda x: x / x,
    lambda x: x * np.sqrt(x), lambda x: np.where(x < 1.0, np.sqrt(1.0 - x), x), lambda x: np.sum(x * x, keepdims=True),
]  # fmt: skip
NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e3, 1e200, NAN, INF])


@given(st.lists(NUMBERS, min_size=1, max_size=3), st.lists(st.sampled_from(CHAIN), min_size=1, max_size=5))
def test_nothing_is_found_exactly_when_all_values_and_gradients_are_finite(numbers, chain):
    x = ad.Variable(numbers)
    with ad.GradientTape(persistent=True) as tape, np.errstate(all="ignore"):
        y = x
        for operation in chain:
            y = operation(np.atleast_1d(y) if np.ndim(y) == 0 else y)
    result = first_nonfinite(tape, y, x)
    with np.errstate(all="ignore"):
        slope = tape.gradient(y, x)
    way = {y._id}
    for entry in reversed(tape.entries):
        if entry.output_id in way & tape.connected:
            way.update(entry.ids)
    values = [x.numpy(), *(entry.output_value for entry in tape.entries if entry.output_id in way & tape.connected)]
    finite = all(np.isfinite(v).all() for v in values) and (slope is None or np.isfinite(slope.numpy()).all())
    assert (result is None) == finite
    if result is not None:
        assert str(result)
        if result.operation is not None and result.direction == "forward":
            assert np.isfinite(np.array(result.inputs[-1], float)).all()


def test_a_backward_function_that_gives_infinity_is_named():
    x = ad.Variable([2.0, 1.0], name="x")
    bad = ad.custom_gradient(lambda x: (x * 1.0, lambda dy: dy / (x - 1.0)))
    with ad.GradientTape() as tape:
        y = bad(x)
    text = str(tape.first_nonfinite(y, x)).replace("\n", " ")
    assert "the backward function of <lambda> gives inf at element [1] for x" in text
    assert "too large" not in text


def test_a_long_tape_is_searched_in_a_time_that_grows_with_its_length():
    class Counted(set):
        met = 0

        def __rand__(self, other):
            Counted.met += len(other)
            return set(self) & other

    x = ad.Variable(1.0)
    with ad.GradientTape() as tape:
        y = x
        for _ in range(100):
            y = y * 1.00001
    tape.connected = Counted(tape.connected)
    assert first_nonfinite(tape, y, x) is None
    assert Counted.met < 1000, "every entry copied the set of those before it"


def test_a_result_with_other_uses_is_not_replaced_under_its_where():
    def f(x):
        y = np.sqrt(x)
        return np.sum(np.where(x > 0, y, 0.0)) + np.sum(y)

    with np.errstate(invalid="ignore"):
        texts = [step["text"] for step in ad.play(f, np.array([-1.0, 4.0])).document()["steps"]]
    (said,) = [text for text in texts if "NaN is born" in text]
    assert "The function sqrt is only defined for numbers from 0 up, but x contains -1." in said
    assert "safe" not in said
