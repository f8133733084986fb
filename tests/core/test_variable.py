"""Variables keep their shape and dtype, are changed by assign alone, and change no gradient recorded before."""

import copy
import operator
import pickle

import numpy as np
import pytest

import autodiff_edu as ad


def test_assigning_replaces_the_value_and_gives_the_variable_itself():
    v = ad.Variable([1.0, 2.0], name="v")
    assert v.assign([3.0, 4.0]) is v
    assert v.assign_add([1.0, 1.0]) is v
    assert v.assign_sub(ad.constant([0.5, 0.0])) is v
    assert v.tolist() == [3.5, 5.0]
    assert v.assign_add(1.0).tolist() == [4.5, 6.0]


def test_assigning_copies():
    v, array = ad.Variable([1.0, 2.0]), np.array([3.0, 4.0])
    v.assign(array)
    array[:] = 0.0
    assert v.tolist() == [3.0, 4.0]
    w = ad.Variable(v)
    v.assign([0.0, 0.0])
    assert w.tolist() == [3.0, 4.0]


def test_what_was_read_before_keeps_its_value():
    v = ad.Variable([1.0, 2.0])
    array, row = v.numpy(), v[0]
    v.assign([3.0, 4.0])
    assert array.tolist() == [1.0, 2.0]
    assert float(row) == 1.0


@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], 1.0, [[1.0, 2.0]]])
def test_a_variable_keeps_its_shape(value):
    v = ad.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        v.assign(value)
    assert v.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("update", ["assign_add", "assign_sub"])
def test_an_update_that_would_change_the_shape_is_refused(update):
    v = ad.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="shape"):
        getattr(v, update)(np.ones((3, 2)))
    assert v.tolist() == [1.0, 2.0]


def test_a_variable_keeps_its_dtype():
    v = ad.Variable([1.0, 2.0], dtype="float32")
    for value in ([3.0, 4.0], np.array([3.0, 4.0]), [3, 4]):
        assert v.assign(value).dtype == np.float32
    assert v.assign_add(0.1).dtype == np.float32
    for value in ([1j, 2.0], "ab", None):
        with pytest.raises((TypeError, ValueError)):
            v.assign(value)
    whole = ad.Variable([1, 2])
    with pytest.raises(TypeError, match="astype"):
        whole.assign([1.5, 2.0])
    assert whole.tolist() == [1, 2]


def test_updating_after_the_tape_changes_no_gradient():
    w = ad.Variable([2.0])
    with ad.GradientTape() as tape:
        y = w**3
    w.assign_add([98.0])
    assert tape.gradient(y, w).tolist() == [12.0]


IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul"]


@pytest.mark.parametrize("name", IN_PLACE)
def test_rebinding_a_variable_by_accident_is_refused(name):
    v = ad.Variable([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(RuntimeError, match="assign"):
        getattr(operator, name)(v, np.ones((2, 2)))


def test_a_slice_and_an_index_read_a_variable():
    v = ad.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with ad.GradientTape(persistent=True) as tape:
        y = np.sum(v[1:] ** 2)
        z = np.sum(v[[0, 0, 2]] ** 2)
    assert tape.gradient(y, v).tolist() == [[0, 0], [6, 8], [10, 12]]
    assert tape.gradient(z, v).tolist() == [[4, 8], [0, 0], [10, 12]]


def test_a_variable_is_its_value_in_conditions_and_comparisons():
    assert ad.Variable(1.0) > 0
    assert bool(ad.Variable(1.0) == 1.0)
    assert ad.Variable(2.0).item() == float(ad.Variable(2.0)) == 2.0


def test_the_repr_shows_name_and_value():
    assert repr(ad.Variable(2.5)) == "Variable(2.5)"
    assert repr(ad.Variable([1.0, 2.0], name="w")) == "Variable('w', [1., 2.])"
    assert repr(ad.Variable(1, dtype="float32")) == "Variable(1., dtype=float32)"


def test_a_gradient_step_descends():
    w, x, y = ad.Variable([0.0, 0.0]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0, 3.0])
    for _ in range(200):
        with ad.GradientTape() as tape:
            loss = np.mean((x @ w - y) ** 2)
        w.assign_sub(0.3 * tape.gradient(loss, w))
    np.testing.assert_allclose(w.numpy(), [1.0, 2.0], atol=1e-6)


def test_a_copied_variable_is_another_variable():
    for duplicate in (copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))):
        w = ad.Variable(2.0, trainable=True, name="w")
        other = duplicate(w)
        other.assign(5.0)
        with ad.GradientTape() as tape:
            y = w * other
        assert [float(g) for g in tape.gradient(y, [w, other])] == [5, 2]
        assert other.name == "w"


@pytest.mark.parametrize(("sign", "instead"), [("+=", "assign_add"), ("-=", "assign_sub"), ("*=", "assign(")])
def test_writing_into_a_variable_says_what_to_write_for_this_very_operator(sign, instead):
    names = {"v": ad.Variable(2.0)}
    with pytest.raises(RuntimeError) as error:
        exec(f"v {sign} 2.0", names)
    assert sign in str(error.value)
    assert instead in str(error.value)


@pytest.mark.parametrize("change", ["assign_add", "assign_sub"])
def test_what_is_added_is_never_broadcast_to_more_than_the_variable_holds(change):
    w = ad.Variable([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(
        ValueError, match=r"of shape \(4, 1\), which would broadcast to \(4, 4\): did you mean \(4,\)\?"
    ):
        getattr(w, change)(np.ones((4, 1)))
    with pytest.raises(
        ValueError,
        match=r"has shape \(4,\), so it cannot be changed by a value of shape \(3,\); a variable",
    ):
        getattr(w, change)(np.ones(3))
    with pytest.raises(ValueError, match=r"of shape \(2, 4\); a variable keeps"):
        getattr(w, change)(np.ones((2, 4)))
    assert np.array_equal(w.numpy(), [1.0, 2.0, 3.0, 4.0])
    getattr(w, change)(np.ones(1))
    getattr(w, change)(1.0)
    assert w.shape == (4,)
