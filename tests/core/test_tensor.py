"""Tensors behave like arrays, except that they never change: values, operators, functions, conversions, dtypes."""

import copy
import operator
import pickle

import numpy as np
import pytest

import autodiff_edu as ad

A = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]])


# Values -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [2.0, 3, True, 1j, [1.0, 2.0], [[1, 2], [3, 4]], A, np.float32(1.5), np.zeros((0, 3))]
)
def test_a_tensor_holds_what_it_was_given(value):
    x, expected = ad.constant(value), np.array(value)
    assert (x.shape, x.ndim, x.size, x.dtype) == (expected.shape, expected.ndim, expected.size, expected.dtype)
    np.testing.assert_array_equal(x.numpy(), expected)
    assert x.tolist() == expected.tolist()


def test_shape_ndim_and_size_are_plain_python_numbers():
    x = ad.constant(A)
    assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)) == ((2, 3), 2, 6, 3)
    assert all(type(n) is int for n in (x.ndim, x.size, *x.shape, np.ndim(x), np.size(x), *np.shape(x)))


def test_a_tensor_copies_what_it_is_given():
    array = A.copy()
    x = ad.constant(array)
    array[:] = 0
    assert x.tolist() == A.tolist()
    assert array.flags.writeable


def test_what_a_tensor_hands_out_is_read_only():
    x = ad.constant(A)
    for handed_out in (x.numpy(), np.asarray(x), x[0].numpy(), x.T.numpy(), (x * 2).numpy(), x.reshape(6).numpy()):
        with pytest.raises(ValueError, match="read-only"):
            handed_out[0] = 0
    assert x.tolist() == A.tolist()


def test_a_copy_that_numpy_makes_can_be_written_into():
    x = ad.constant(A)
    copy = np.array(x)
    copy[:] = 0
    assert x.tolist() == A.tolist()
    assert np.asarray(x, dtype="float32").dtype == np.float32


def test_a_tensor_of_a_tensor_has_its_value_and_its_own_identity():
    x = ad.constant([1.0, 2.0])
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = ad.constant(x) * 1.0
    assert y.tolist() == x.tolist()
    assert tape.gradient(y, x) is None


def test_attributes_cannot_be_set():
    x = ad.constant([1.0, 2.0])
    for attribute in ("shape", "dtype", "ndim", "size", "T", "value"):
        with pytest.raises(AttributeError):
            setattr(x, attribute, 1)


# Operators ----------------------------------------------------------------------------------------------------------

BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip

OPERANDS = {
    "float": 2.0,
    "int": 3,
    "float64": np.float64(2.5),
    "float32": np.float32(2.5),
    "array": np.array([1.0, 2.0, 3.0]),
    "list": [1.0, 2.0, 3.0],
    "tuple": (1.0, 2.0, 3.0),
}


@pytest.mark.parametrize("operand", OPERANDS.values(), ids=OPERANDS)
@pytest.mark.parametrize("value", [np.abs(A), 1.75], ids=["matrix", "scalar"])
@pytest.mark.parametrize("operate", BINARY, ids=lambda f: f.__name__)
def test_operators_work_both_ways_round_and_with_anything_numpy_knows(operate, value, operand):
    x, other = ad.constant(value), np.asarray(operand) if isinstance(operand, list | tuple) else operand
    for got, expected in [
        (operate(x, operand), operate(np.asarray(value), other)),
        (operate(operand, x), operate(other, np.asarray(value))),
        (operate(x, ad.constant(operand)), operate(np.asarray(value), np.asarray(operand))),
    ]:
        assert isinstance(got, ad.Tensor)
        assert got.shape == np.shape(expected)
        np.testing.assert_allclose(got.numpy(), expected)


@pytest.mark.parametrize("operate", [operator.neg, operator.pos, abs], ids=lambda f: f.__name__)
def test_operators_of_one_argument(operate):
    np.testing.assert_array_equal(operate(ad.constant(A)).numpy(), operate(A))


def test_matrix_products_work_both_ways_round():
    x = ad.constant(A)
    np.testing.assert_allclose((x @ A.T).numpy(), A @ A.T)
    np.testing.assert_allclose((A.T @ x).numpy(), A.T @ A)
    np.testing.assert_allclose((x @ [1.0, 2.0, 3.0]).numpy(), A @ [1.0, 2.0, 3.0])
    np.testing.assert_allclose(([1.0, 2.0] @ x).numpy(), [1.0, 2.0] @ A)


@pytest.mark.parametrize("value", [1.0, [1.0, 2.0]], ids=["scalar", "vector"])
@pytest.mark.parametrize("other", [None, "a"])
def test_a_tensor_is_equal_to_nothing_that_is_not_a_number(value, other):
    x = ad.constant(value)
    assert not np.any(np.asarray(x == other))
    assert np.all(np.asarray(x != other))
    assert "False" in repr(x == other)


def test_an_operator_that_rebinds_makes_a_new_tensor():
    x = y = ad.constant([1.0, 2.0])
    x += 1.0
    x *= 2.0
    assert (x.tolist(), y.tolist()) == ([4.0, 6.0], [1.0, 2.0])


# NumPy --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        np.sin, np.sum, np.sort, np.linalg.norm, np.cumsum, np.argsort, np.any, np.diff, np.median, np.trace, np.ptp,
        np.round, np.count_nonzero, np.isnan, np.nonzero, np.unique, np.swapaxes, np.zeros_like, np.var, np.prod,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_numpy_functions_give_tensors_with_numpy_s_values(f):
    arguments = (0, 1) if f is np.swapaxes else ()
    got, expected = f(ad.constant(A), *arguments), f(A, *arguments)
    if isinstance(expected, tuple):
        got, expected = got[0], expected[0]
    np.testing.assert_allclose(np.asarray(got), expected)
    if isinstance(expected, np.ndarray | np.floating):
        assert isinstance(got, ad.Tensor)


def test_what_numpy_gives_as_a_python_number_is_a_tensor_like_any_other():
    x = ad.constant([1.0, 2.0])
    for f in (np.linalg.matrix_rank, np.count_nonzero):  # the latter before NumPy 2.3
        y = f(x)
        assert (y.shape, y.dtype, y.numpy()) == ((), np.dtype(int), f(x.numpy()))


@pytest.mark.parametrize(
    "method",
    [
        "all",
        "any",
        "argmax",
        "argmin",
        "conj",
        "cumprod",
        "cumsum",
        "diagonal",
        "max",
        "mean",
        "min",
        "prod",
        "ravel",
        "squeeze",
        "std",
        "sum",
        "trace",
        "var",
        "flatten",
        "transpose",
    ],
)
def test_methods_are_those_of_an_array(method):
    np.testing.assert_allclose(np.asarray(getattr(ad.constant(A), method)()), getattr(A, method)())


def test_methods_with_arguments():
    x = ad.constant(A)
    for call in (
        lambda a: a.sum(0),
        lambda a: a.mean(axis=1, keepdims=True),
        lambda a: a.max(axis=-1),
        lambda a: a.reshape(3, 2),
        lambda a: a.reshape((3, 2)),
        lambda a: a.reshape(-1),
        lambda a: a.transpose(1, 0),
        lambda a: a.transpose((1, 0)),
        lambda a: a.clip(-1.0, 1.0),
        lambda a: a.dot(np.ones(3)),
        lambda a: a.round(1),
        lambda a: a.repeat(2, axis=0),
        lambda a: a.swapaxes(0, 1),
        lambda a: a.take([0, 2], axis=1),
        lambda a: a.astype("float32"),
    ):
        np.testing.assert_allclose(np.asarray(call(x)), call(A))


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        slice(1, None),
        (slice(None), 1),
        (..., 0),
        None,
        [0, 1, 1],
        [],
        [True, False],
        (slice(None), []),
        True,
        np.array([], int),
        A > 0,
        (1, 2),
        np.int64(1),
        (0, [1, 2]),
    ],
    ids=str,
)
def test_indexing_is_numpy_s(index):
    np.testing.assert_array_equal(ad.constant(A)[index].numpy(), A[index])


def test_a_tensor_is_an_index():
    x = ad.constant(A)
    assert x[ad.constant(1)].tolist() == A[1].tolist()
    assert x[:, ad.constant([0, 2])].tolist() == A[:, [0, 2]].tolist()
    assert x[x > 1].tolist() == A[A > 1].tolist()
    assert [10, 20, 30][ad.constant(1)] == 20
    with pytest.raises(TypeError):
        [10, 20, 30][ad.constant(1.0)]


def test_an_index_out_of_range_is_numpy_s_error():
    with pytest.raises(IndexError):
        ad.constant(A)[5]


def test_lists_of_axes_and_integer_tensors_in_shapes_are_what_they_are_in_numpy():
    x, k = ad.constant(np.arange(6.0).reshape(2, 3)), ad.constant(1)
    assert np.expand_dims(x, [0, 1]).shape == (1, 1, 2, 3)
    assert np.reshape(x, (k, 6)).shape == (1, 6)
    assert np.take(x, [k, k], axis=1).shape == (2, 2)
    assert np.pad(x, (k, 0)).shape == (3, 4)
    assert ad.grad(lambda t: np.fft.fftshift(t, [0]))([1.0, 2.0]).tolist() == [1.0, 1.0]


# Conversions --------------------------------------------------------------------------------------------------------


def test_conversions_to_python():
    x = ad.constant(2.5)
    assert (float(x), int(x), complex(x), x.item(), bool(x)) == (2.5, 2, 2.5 + 0j, 2.5, True)
    assert not ad.constant(0.0)
    assert len(ad.constant(A)) == 2
    assert [row.tolist() for row in ad.constant(A)] == A.tolist()
    with pytest.raises(TypeError):
        len(x)
    with pytest.raises(TypeError):
        iter(x).__next__()
    with pytest.raises(TypeError):
        float(ad.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(ad.constant([1.0, 2.0]) > 0)


def test_formatting_is_that_of_the_number():
    x = ad.constant(2 / 3)
    assert f"{x:.3f}" == "0.667"
    assert f"{x}" == str(x) == repr(x) == "Tensor(0.666667)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "Tensor(2.)"),
        (3, "Tensor(3)"),
        (True, "Tensor(True)"),
        (1 - 2j, "Tensor(1.-2.j)"),
        (np.float32(0.1), "Tensor(0.1, dtype=float32)"),
        ([1.0, 2.5], "Tensor([1. , 2.5])"),
        ([[1.0], [2.0]], "Tensor([[1.],\n        [2.]])"),
        (np.zeros((0, 3)), "Tensor([], shape=(0, 3))"),
        (np.float64("nan"), "Tensor(nan)"),
        (np.float64("-inf"), "Tensor(-inf)"),
    ],
)
def test_the_repr_is_short_and_the_same_everywhere(value, text):
    assert repr(ad.constant(value)) == text
    with np.printoptions(precision=2, suppress=True, linewidth=20, sign="+", floatmode="fixed", threshold=1):
        assert repr(ad.constant(value)) == text, "the reader's print options do not matter"


def test_the_repr_of_a_large_tensor_is_shortened():
    assert len(repr(ad.constant(np.arange(1e6)))) < 100
    assert len(repr(ad.constant(np.ones((1000, 1000))))) < 600


def test_a_tensor_is_copied_to_itself_and_pickled_to_its_value():
    x = ad.constant([1.0, 2.0], name="x")
    assert copy.deepcopy(x) is x
    assert pickle.loads(pickle.dumps(x)).numpy().tolist() == [1, 2]


# Dtypes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_a_python_number_never_widens(dtype):
    for shape in ((), (2,)):
        x = ad.constant(np.ones(shape), dtype=dtype)
        for y in (x * 2.0, 2.0 * x, x + 1, 1 - x, x / 3.0, x**2, x**0.5, 2.0**x, np.sin(x), np.maximum(abs(x), 0.0)):
            assert y.dtype == (dtype if not (dtype == "complex64" and y.dtype.kind == "f") else "float32")


@pytest.mark.parametrize("a", ["bool", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("b", ["int8", "int64", "float32", "float64", "complex64"])
def test_dtypes_promote_as_numpy_s_do(a, b):
    for x, y in ((np.ones(2, a), np.ones(2, b)), (np.ones((), a)[()], np.ones((), b)[()])):
        assert (ad.constant(x) * ad.constant(y)).dtype == (x * y).dtype
        assert (ad.constant(x) + y).dtype == (x + y).dtype
        assert (y + ad.constant(x)).dtype == (x + y).dtype


def test_dtypes_can_be_chosen_and_converted():
    assert ad.constant([1, 2], dtype="float32").dtype == np.float32
    assert ad.constant([1, 2]).dtype == np.dtype(int)
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape(persistent=True) as tape:
        narrow = x.astype("float32") * 3.0
        whole = x.astype(int) * 3.0
    assert narrow.dtype == np.float32
    assert tape.gradient(narrow, x).dtype == np.float64
    assert tape.gradient(narrow, x).tolist() == [3.0, 3.0]
    assert tape.gradient(whole, x) is None


def test_a_mixed_computation_gives_each_source_a_gradient_of_its_own_dtype():
    x, y = ad.Variable([1.0], dtype="float32"), ad.Variable([2.0], dtype="float64")
    with ad.GradientTape() as tape:
        z = x * y
    assert [g.dtype for g in tape.gradient(z, [x, y])] == [np.float32, np.float64]


class Column:
    """Like a table's column: numbers, operators of its own, and no idea of tensors."""

    def __init__(self, numbers):
        self.numbers = np.array(numbers)
        self.dtype = self.numbers.dtype

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numbers, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs):
        return Column(getattr(ufunc, method)(*map(np.asarray, inputs)))

    def __rmul__(self, other):
        return Column(np.asarray(other) * self.numbers)


@pytest.mark.parametrize("product", [lambda x, c: np.sum(x * c), lambda x, c: np.sum(np.multiply(x, c)), np.dot])
@pytest.mark.parametrize("make", [Column, lambda numbers: memoryview(np.array(numbers))])
def test_what_holds_numbers_but_is_not_an_array_becomes_one_and_may_change_later(product, make):
    column, x = make([1.0, 10.0]), ad.Variable([3.0, 2.0])
    with ad.GradientTape() as tape:
        y = product(x, column)
    assert type(y.numpy()) is np.float64
    if isinstance(column, memoryview):
        column[0] = 99.0
    assert tape.gradient(y, x).tolist() == [1.0, 10.0]
