"""What users hand over becomes plain arrays of our own, or an error that says what to write instead."""

from fractions import Fraction

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.arrays.methods import different, equal
from autodiff_edu.arrays.validate import (
    as_index,
    as_operand,
    bind_call,
    can_change,
    copy_in,
    read_only,
    reject_argument,
    signature,
)


class Column:
    """What holds numbers but is not an array, as a column of a table is."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0], dtype)


class Sparse:
    """What can become an array, but is not one."""

    def toarray(self):
        return np.eye(2)


def test_a_sparse_matrix_is_not_an_operand():
    with pytest.raises(TypeError, match=r"Sparse is a sparse matrix, .* write matrix\.toarray\(\)"):
        as_operand(Sparse())
    assert as_operand(Sparse().toarray()).tolist() == [[1, 0], [0, 1]]


# Copies ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [2.5, 3, True, 1 + 2j, [1.0, 2.0], ((1, 2), (3, 4)), np.arange(3.0), np.float32(0.5), Column(), range(3)]
)
def test_a_value_is_copied_into_a_read_only_array_or_a_scalar(value):
    found, expected = copy_in(value), np.array(value)
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)
    assert isinstance(found, np.ndarray if expected.ndim else np.generic)
    assert found is not value
    if expected.ndim:
        assert not found.flags.writeable
        assert not np.shares_memory(found, np.asarray(value))


def test_a_copy_has_the_dtype_that_was_asked_for():
    assert copy_in([1, 2], "float32").dtype == np.float32
    assert copy_in(1.0, complex) == 1 + 0j


def test_of_a_tensor_the_array_is_copied():
    x = ad.constant([1.0, 2.0])
    assert copy_in(x).tolist() == [1.0, 2.0]
    assert not isinstance(copy_in(x), ad.Tensor)


@pytest.mark.parametrize("value", ["abc", None, object(), [Fraction(1, 2)], np.array(["a"]), np.array([None])])
def test_what_is_not_made_of_numbers_is_refused_with_its_type(value):
    with pytest.raises(TypeError) as refused:
        copy_in(value)
    dtype = np.asarray(value).dtype
    assert str(refused.value) == f"a tensor holds numbers, but {value!r} has dtype {dtype}"


def test_a_masked_array_and_a_list_of_tensors_are_refused_with_what_to_write():
    with pytest.raises(TypeError, match=r"array\.filled\(0\.0\)"):
        copy_in(np.ma.array([1.0, 2.0], mask=[True, False]))
    with pytest.raises(TypeError, match=r"np\.stack\(\[\.\.\.\]\)"):
        copy_in([ad.constant(1.0), 2.0])
    with pytest.raises(TypeError, match=r"np\.stack\(\[\.\.\.\]\)"):
        copy_in([1.0, [2.0, (ad.constant(1.0),)]])
    assert copy_in([ad.constant(1), 2]).tolist() == [1, 2], "integers have no derivative to lose"


def test_another_library_s_array_is_never_coerced():
    class Other:
        dtype = np.dtype(float)

        def __array_function__(self, *args):
            return NotImplemented

        def astype(self, dtype):
            return f"as {dtype}"

    other = Other()
    assert copy_in(other) is other
    assert copy_in(other, "float32") == "as float32"
    assert as_operand(other) is other


# Operands -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [True, 2, 2.5, 1j, np.float64(2.0), np.float32(2.0), "abc", None, np.arange(3)])
def test_what_can_be_computed_or_compared_with_stays_as_it_is(value):
    assert as_operand(value) is value


def test_a_tensor_is_an_operand_and_stays_itself():
    x = ad.Variable(1.0)
    assert as_operand(x) is x


@pytest.mark.parametrize("value", [[1.0, 2.0], (1.0, 2.0), Column(), memoryview(np.array([1.0, 2.0]))])
def test_lists_and_what_holds_numbers_become_one_array(value):
    found = as_operand(value)
    assert type(found) is np.ndarray
    assert found.tolist() == [1.0, 2.0]


def test_a_list_that_is_written_into_later_changes_no_operand():
    numbers = [1.0, 2.0]
    found = as_operand(numbers)
    numbers[0] = 9.0
    assert found.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("value", [Fraction(1, 2), np.array([1, None]), np.array([Fraction(1)]), [Fraction(1)]])
def test_python_objects_are_not_operands(value):
    with pytest.raises(TypeError, match="a tensor holds numbers"):
        as_operand(value)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # NumPy's own of np.matrix
def test_arrays_whose_operators_mean_something_else_are_refused():
    with pytest.raises(TypeError, match=r"np\.asarray\(matrix\)"):
        as_operand(np.matrix([[1.0]]))
    with pytest.raises(TypeError, match="has no mask"):
        as_operand(np.ma.array([1.0]))


# Indices, and who can write into an array ----------------------------------------------------------------------------


def test_an_index_has_no_tensors_and_its_arrays_are_copies():
    at = np.array([0, 1])
    rows, column, dots, mask, nothing = as_index((at, ad.constant(2), ..., [True, False], None))
    at[0] = 9
    assert rows.tolist() == [0, 1]
    assert (column, dots, nothing) == (2, ..., None)
    assert not isinstance(column, ad.Tensor)
    assert mask.dtype == bool
    assert as_index([]).dtype.kind == "i"
    assert as_index(slice(1, 2)) == slice(1, 2)


def test_who_can_write_into_an_array():
    array = np.arange(4.0)
    view = array[:2]
    view.flags.writeable = False
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    assert can_change(array)
    assert can_change(view), "through the memory that it is a view of"
    assert not can_change(frozen)
    assert not can_change(frozen[1:])
    assert not can_change(np.frombuffer(b"12345678"))
    assert can_change(np.frombuffer(bytearray(8)))
    assert not can_change(None)


def test_a_read_only_view_cannot_be_written_through():
    array = np.arange(3.0)
    view = read_only(array)
    assert np.shares_memory(view, array)
    assert array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1.0
    assert read_only(2.0) == 2.0


# Calls ----------------------------------------------------------------------------------------------------------------


def test_tensors_that_are_passed_by_name_get_their_places():
    x = ad.constant([1.0, 2.0])
    args, parameters = bind_call(np.sum, (), {"a": x, "axis": 0}, ruled=True)
    assert args[0] is x
    assert "a" not in parameters
    args, parameters = bind_call(np.clip, (x,), {"a_max": ad.constant(1.5), "a_min": 0.0}, ruled=True)
    assert len(args) == 3
    assert float(args[2]) == 1.5


def test_an_ordinary_call_is_left_as_it_is():
    args, parameters = (ad.constant([1.0]), 2.0), {"axis": (0, 1)}
    found = bind_call(np.sum, args, parameters, ruled=True)
    assert found[0] is args
    assert found[1] is parameters


def test_columns_become_arrays():
    (found,), _ = bind_call(np.sum, (Column(),), {}, ruled=True)
    assert found.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ((np.sum, ([ad.Variable(1.0), 2.0],), {}), "np.stack"),
        ((np.sum, (ad.Variable(1.0), None, None, np.zeros(1)), {}), "does not accept out="),
        ((np.stack, ([ad.Variable(1.0), Fraction(1)],), {}), "a tensor holds numbers"),
        ((np.where, ([True], ad.Variable(1.0), "abc"), {}), "a tensor holds numbers"),
        ((np.add, (ad.Variable(1.0), np.array([None])), {}), "a tensor holds numbers"),
        ((np.add, (ad.Variable(1.0), np.ma.array([1.0])), {}), "has no mask"),
    ],
)
def test_operands_that_no_rule_takes_are_refused_where_there_is_a_rule(call, said):
    function, args, parameters = call
    with pytest.raises(TypeError, match=said.replace(".", r"\.")):
        bind_call(function, args, parameters, ruled=True)


def test_what_is_joined_may_be_a_list_of_tensors():
    x = ad.Variable(1.0)
    (parts,), _ = bind_call(np.stack, ([x, x],), {}, ruled=True)
    assert all(part is x for part in parts)


@pytest.mark.parametrize(
    ("name", "said"),
    [("out", "write result = ..."), ("where", "np.where"), ("dtype", ".astype"), ("casting", ".astype"),
     ("correction", "ddof"), ("initial", "np.maximum")],
)  # fmt: skip
def test_an_argument_that_no_rule_knows_is_refused_with_what_to_write(name, said):
    with pytest.raises(TypeError, match=f"np.sum does not accept {name}= for a tensor: .*{said}"):
        reject_argument(np.sum, {name: np.zeros(2)})
    reject_argument(np.sum, {name: None, "axis": 0})


def test_functions_that_no_rule_can_be_for_are_refused():
    with pytest.raises(TypeError, match=r"np\.modf has several results"):
        reject_argument(np.modf, {})
    with pytest.raises(TypeError, match=r"np\.frompyfunc"):
        reject_argument(np.frompyfunc(lambda x: x, 1, 1), {})


def test_the_arguments_of_functions_in_c_are_known():
    assert list(signature(np.dot).parameters) == ["a", "b", "out"]
    assert list(signature(np.sum).parameters)[:2] == ["a", "axis"]
    assert list(signature(np.concatenate).parameters)[:3] == ["arrays", "axis", "out"]


def test_comparisons_answer_as_numpy_does():
    assert isinstance(equal(1.0, None), np.bool_)
    assert isinstance(different(1.0, "a"), np.bool_)
    assert bool(different(1.0, "a"))
    assert equal(np.array([1.0, 2.0]), 1.0).tolist() == [True, False]
    assert different(np.array([1.0, 2.0]), 1.0).tolist() == [False, True]
