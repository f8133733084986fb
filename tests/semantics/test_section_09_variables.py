"""Variables, their state, and tensors as Python values."""

import numpy as np
import pytest

import autodiff_edu as ad

from .cases import case


@case("stackoverflow: c.assign(a+b) inside the tape")
def test_assigning_a_result_cuts_it_off():
    a, b, c = ad.Variable([1.0, 2.0]), ad.Variable([3.0, 4.0]), ad.Variable(np.zeros(2))
    with ad.GradientTape(persistent=True) as t:
        c.assign(a + b)
        loss = np.mean(c**2)
    by_a, by_b, by_c = t.gradient(loss, [a, b, c])
    assert (by_a, by_b, by_c.tolist()) == (None, None, [4.0, 6.0])


@case("fix: use the tensor (c = a+b)")
def test_using_the_result_keeps_it_connected():
    a, b = ad.Variable([1.0, 2.0]), ad.Variable([3.0, 4.0])
    with ad.GradientTape(persistent=True) as t:
        c = a + b
        loss = np.mean(c**2)
    assert [g.tolist() for g in t.gradient(loss, [a, b, c])] == [[4.0, 6.0]] * 3


@case("assign return value used as a value")
def test_the_result_of_assign_is_the_variable():
    a, c = ad.Variable(2.0), ad.Variable(0.0)
    with ad.GradientTape(persistent=True) as t:
        r = c.assign(a * 3.0)
        loss = r**2
    assert r is c
    assert t.gradient(loss, a) is None
    assert t.gradient(loss, c).tolist() == 12.0


@case("variable changed between the reads: y = v*1; v.assign; z = v*y")
def test_reads_before_and_after_an_assignment_both_count():
    v = ad.Variable(2.0)
    with ad.GradientTape(persistent=True) as t:
        y = v * v
        v.assign(10.0)
        z = y * v
    assert (y.tolist(), z.tolist(), t.gradient(z, v).tolist()) == (4.0, 40.0, 44.0)


@case("assign AFTER the tape, before gradient: saved values used?")
def test_assigning_after_the_tape_changes_no_gradient():
    v = ad.Variable(2.0)
    with ad.GradientTape() as t:
        y = v**3
    v.assign(100.0)
    assert t.gradient(y, v).tolist() == 12.0


@case("assign of bad shape / dtype")
def test_a_value_that_does_not_fit_is_not_assigned():
    """Difference: integers fit into a float variable, as in NumPy; complex numbers do not."""
    v = ad.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"shape \(2,\), but was assigned a value of shape \(3,\)"):
        v.assign([1.0, 2.0, 3.0])
    for wrong in ("a", [1j, 2j]):
        with pytest.raises(TypeError):
            v.assign(wrong)
    assert v.tolist() == [1.0, 2.0]
    assert v.assign(ad.constant([3, 4])).tolist() == [3.0, 4.0]
    assert v.dtype == np.float64


@case("assign_add/assign_sub on a gradient step, in place; v += 1 rebinding")
def test_updates_in_place_have_methods_and_no_operators():
    v = w = ad.Variable(2.0)
    assert v.assign_add(1.0) is v.assign_sub(0.5) is v
    with pytest.raises(RuntimeError, match="assign_add"):
        v += 1.0
    assert v is w
    assert w.tolist() == 2.5


@case("item assignment")
def test_no_element_can_be_assigned():
    """`v[0].assign` is TensorFlow's alone: here `v[0]` is a plain tensor."""
    for tensor in (ad.Variable([1.0, 2.0]), ad.constant([1.0, 2.0])):
        with pytest.raises(TypeError, match=r"np\.where"):
            tensor[0] = 5.0
        assert tensor.tolist() == [1.0, 2.0]
        assert not hasattr(tensor[0], "assign")


@case("gradient through slice read; IndexedSlices from gather")
def test_gradients_of_slices_and_rows_are_whole_arrays():
    """There are no IndexedSlices here: the gradient is the tensor that they stand for."""
    v = ad.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with ad.GradientTape(persistent=True) as t:
        y = np.sum(v[1:] ** 2)
        z = np.sum(np.take(v, [0, 0, 2], axis=0) ** 2)
    assert t.gradient(y, v).tolist() == [[0.0, 0.0], [6.0, 8.0], [10.0, 12.0]]
    assert t.gradient(z, v).tolist() == [[4.0, 8.0], [0.0, 0.0], [10.0, 12.0]]


@case("Variable used in bool/if; Tensor bool of size>1")
def test_one_element_has_a_truth_value_and_several_have_none():
    assert ad.Variable(1.0) > 0
    with pytest.raises(ValueError, match="ambiguous"):
        bool(ad.constant([1.0, 2.0]) > 0)


@case("float(tensor), int, index, len, iter")
def test_tensors_as_python_values():
    x = ad.constant([1.0, 2.0])
    assert float(ad.constant(2.0)) == 2.0
    assert int(ad.constant(2.0)) == 2
    assert len(x) == 2
    assert [float(element) for element in x] == [1.0, 2.0]
    assert [1, 2, 3][ad.constant(1)] == 2
    with pytest.raises(TypeError):
        float(x)


@case("hash / == of tensors and variables")
def test_tensors_are_compared_by_element_and_so_cannot_be_keys():
    x, v = ad.constant([1.0, 2.0]), ad.Variable(1.0)
    assert (x == x).tolist() == [True, True]
    assert (v == 1.0).tolist() is True
    for tensor in (x, v):
        with pytest.raises(TypeError, match="unhashable"):
            hash(tensor)
