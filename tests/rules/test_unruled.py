"""A NumPy function without a rule runs, is recorded, and says what is missing only where its gradient is asked for."""

import numpy as np
import pytest
from no_rule import NAME, UNRULED

import autodiff_edu as ad


def recorded(function, *values):
    xs = [ad.Variable(value, name=f"x{k}") for k, value in enumerate(values)]
    with ad.GradientTape(persistent=True) as tape:
        y = function(*xs)
    return tape, xs, y


def test_it_gives_what_numpy_gives_as_a_tensor():
    value = np.array([0.0, 6.0, 12.0])
    tape, _, y = recorded(UNRULED, value)
    assert isinstance(y, ad.Tensor)
    assert y.numpy() == pytest.approx(UNRULED(value))
    assert [entry.operation for entry in tape.entries] == [UNRULED]


def test_its_gradient_names_the_function_the_place_and_what_to_write():
    tape, (x,), y = recorded(lambda x: np.sum(UNRULED(x * 2.0)), [0.0, 6.0])
    with pytest.raises(LookupError, match=rf"{NAME}, used at test_unruled.py, line \d+.*ad.register_gradient\({NAME}"):
        tape.gradient(y, x)


def test_nothing_is_pulled_back_before_that_is_found_out():
    tape, (x,), y = recorded(lambda x: np.sum(UNRULED(x) * 2.0), [0.0, 6.0])
    seen = []
    with ad.hook(seen.append), pytest.raises(LookupError):
        tape.gradient(y, x)
    assert "PullBack" not in [type(event).__name__ for event in seen]


def test_what_is_not_on_the_way_needs_no_rule():
    def f(x):
        UNRULED(x)
        return np.sum(x * x)

    tape, (x,), y = recorded(f, [1.0, 2.0])
    assert tape.gradient(y, x).tolist() == [2.0, 4.0]


def test_a_one_shot_tape_that_met_one_is_not_used_up():
    x = ad.Variable([0.0, 6.0])
    with ad.GradientTape() as tape:
        y, z = np.sum(UNRULED(x)), np.sum(x * x)
    with pytest.raises(LookupError):
        tape.gradient(y, x)
    assert tape.gradient(z, x).tolist() == [0.0, 12.0]


def test_a_rule_that_is_registered_later_is_used():
    tape, (x,), y = recorded(lambda x: np.sum(UNRULED(x)), [0.0, 1.0])
    with ad.register_gradient(UNRULED, lambda g, y, x, *rest, **options: g):
        assert tape.gradient(y, x).tolist() == [1.0, 1.0]
    with pytest.raises(LookupError):
        tape.gradient(y, x)


def test_tensors_are_found_in_lists_and_by_name():
    x, w = ad.Variable([1.0, 2.0]), ad.Variable([3.0, 4.0])
    assert np.lexsort([x, -w]).tolist() == [1, 0]
    x = ad.Variable([0.0, 6.0, 12.0])
    with ad.GradientTape() as tape:
        y = UNRULED(ar=x)
    assert y.numpy() == pytest.approx(UNRULED(x.numpy()))
    assert tape.entries[-1].ids[0] == x._id


def test_several_results_keep_their_form():
    x = ad.Variable([[4.0, 1.0], [1.0, 3.0]])
    with ad.GradientTape() as tape:
        found = np.histogram(x, bins=2)
    assert [type(part) for part in found] == [ad.Tensor, ad.Tensor]
    assert [entry.name for entry in tape.entries] == ["histogram", "histogram"]
    assert type(np.unique_counts(x)).__name__ == "UniqueCountsResult"


def test_what_is_not_an_array_stays_what_it_is():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        assert np.array2string(x) == "[1. 2.]"
        assert np.iscomplexobj(x) is False
    assert tape.entries == []


def test_outside_of_any_tape_it_is_still_a_tensor_and_the_journal_knows_it():
    x = ad.constant([0.0, 6.0], name="x")
    y = UNRULED(x)
    with ad.GradientTape() as tape:
        z = y * 1.0
    assert isinstance(y, ad.Tensor)
    assert NAME.removeprefix("np.") in str(tape.explain(z, x))
