"""An entry says what was computed, from what, and where; without its arrays it is still an entry."""

import gc
import weakref

import numpy as np
import pytest

import autodiff_edu as ad


def recorded(persistent=True):
    x, w = ad.Variable([1.0, 2.0], name="x"), ad.constant([3.0, 4.0])
    with ad.GradientTape(persistent=persistent) as tape:
        y = np.sum(x * w, axis=0)
    return tape, x, w, y


def test_an_entry_holds_the_operation_its_arguments_and_what_came_out():
    tape, x, w, y = recorded()
    product, total = tape.entries
    assert (product.operation, product.name) == (np.multiply, "multiply")
    assert product.ids == (x._id, w._id)
    assert [value.tolist() for value in product.values] == [[1, 2], [3, 4]]
    assert product.parameters == {}
    assert product.output_value.tolist() == [3, 8]
    assert (total.operation, total.ids) == (np.sum, (product.output_id,))
    assert total.parameters == {"axis": 0}
    assert (total.output_id, total.output_value) == (y._id, 11.0)


def test_numbers_and_plain_arrays_have_no_identity():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        3.0 * x
    (entry,) = tape.entries
    assert entry.ids == (None, x._id)
    assert entry.values == (3.0, 2.0)


def test_inputs_and_output_are_tensors_of_the_same_identity():
    tape, x, w, y = recorded()
    product, total = tape.entries
    assert [type(value) for value in product.inputs] == [ad.Tensor, ad.Tensor]
    assert [value._id for value in product.inputs] == [x._id, w._id]
    assert (total.output._id, float(total.output)) == (y._id, 11.0)
    assert tape.gradient(total.output, product.inputs[0]).tolist() == [3, 4]
    with ad.GradientTape() as tape:
        x * 2.0
    assert tape.entries[0].inputs[1] == 2.0
    assert not isinstance(tape.entries[0].inputs[1], ad.Tensor)


def test_an_entry_keeps_the_value_that_a_variable_had():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        x * x
        x.assign(5.0)
    assert tape.entries[0].values == (2.0, 2.0)
    assert float(tape.entries[0].inputs[0]) == 2.0


def test_an_entry_says_where_the_user_computed_it():
    tape, *_ = recorded()
    product, total = tape.entries
    assert str(product.place).startswith("test_entry.py, line ")
    assert product.place.line == total.place.line
    assert product.place.columns != total.place.columns
    assert product.where[0] is recorded.__code__
    assert repr(product) == f"Entry(multiply, {product.place})"


def test_a_released_entry_still_says_what_it_was():
    tape, x, w, y = recorded(persistent=False)
    tape.gradient(y, x)
    product, total = tape.entries
    assert (product.values, product.output_value) == (None, None)
    assert product.ids == (x._id, w._id)
    assert (product.name, total.name) == ("multiply", "sum")
    assert "Entry(multiply, test_entry.py, line " in repr(product)
    for name in ("inputs", "output"):
        with pytest.raises(RuntimeError, match=r"Entry\(multiply, .*released.*persistent=True"):
            getattr(product, name)


def test_an_entry_is_not_a_reference_cycle_and_holds_no_tensor():
    gc.collect()
    gc.disable()
    try:
        x = ad.Variable([1.0])
        with ad.GradientTape() as tape:
            y = x * 2.0
        (entry,) = tape.entries
        ends = [weakref.ref(y), weakref.ref(tape)]
        del y, tape
        assert [end() for end in ends] == [None, None]
        assert entry.output_value.tolist() == [2.0]
    finally:
        gc.enable()


def test_an_entry_has_no_other_attributes_and_costs_little():
    (entry,) = recorded()[0].entries[:1]
    assert not hasattr(entry, "__dict__")
    with pytest.raises(AttributeError):
        entry.gradient = 1.0


def test_steps_tell_the_contributions_with_their_accumulators():
    x = ad.Variable(3.0)
    with ad.GradientTape() as tape:
        y = x * x
    (step,) = tape.steps(y, x)
    assert step.entry is tape.entries[0]
    assert float(step.cotangent) == 1.0
    assert [(c.argument, c.id) for c in step.contributions] == [(0, x._id), (1, x._id)]
    (before, value, after), (then, more, finally_) = [(c.before, c.value, c.after) for c in step.contributions]
    assert (before, float(value), float(after)) == (None, 3.0, 3.0)
    assert (float(then), float(more), float(finally_)) == (3.0, 3.0, 6.0)
