"""The methods that tensors share with arrays, and what is said of those that tensors don't have."""

import numpy as np
import pytest
from differences import draw

import autodiff_edu as ad

X = draw((2, 3), "x")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.copy(),
        lambda x: x.conjugate(),
        lambda x: x.argsort(),
        lambda x: x.argsort(axis=0),
        lambda x: x.argpartition(1),
        lambda x: x[0].searchsorted(0.1),
        lambda x: x.nonzero()[1],
        lambda x: x.mT,
        lambda x: divmod(x, 0.3)[0],
        lambda x: divmod(x, 0.3)[1],
        lambda x: divmod(2.0, x)[0],
        lambda x: divmod(2.0, x)[1],
    ],
)
def test_a_method_gives_a_tensor_of_what_numpy_gives(call):
    found = call(ad.constant(X))
    assert isinstance(found, ad.Tensor)
    np.testing.assert_array_equal(found.numpy(), call(X))
    assert found.dtype == call(X).dtype


@pytest.mark.parametrize("index", [(3,), (-1,), (1, 2), ((1, 2),)])
def test_item_finds_an_element_by_a_flat_index_or_by_one_per_axis(index):
    assert ad.constant(X).item(*index) == X.item(*index)
    assert type(ad.constant(X).item(*index)) is float


def test_item_and_reshape_refuse_what_numpy_refuses():
    x = ad.constant(X)
    with pytest.raises(IndexError, match="out of bounds"):
        x.item(6)
    with pytest.raises(ValueError, match="not 'K'"):
        x.reshape(-1, order="K")
    with pytest.raises(TypeError, match="unexpected keyword argument 'copies'"):
        x.reshape(-1, copies=True)


def test_sizes_in_bytes_and_the_bytes_themselves():
    x = ad.constant(X, dtype="float32")
    assert (x.nbytes, x.itemsize, x.tobytes()) == (24, 4, X.astype("float32").tobytes())


def test_rounding_gives_a_tensor_of_rounded_elements():
    x = ad.constant([1.26, 2.5])
    assert round(x).tolist() == [1, 2]
    assert round(x, 1).tolist() == np.round([1.26, 2.5], 1).tolist()
    assert float(round(ad.constant(1.26), 1)) == 1.3


@pytest.mark.parametrize("make", [ad.constant, ad.Variable])
def test_a_copy_is_a_tensor_that_is_connected(make):
    x = make([1.0, 2.0])
    with ad.GradientTape() as tape:
        tape.watch(x)
        y = x.copy() * x.conjugate() + divmod(x, 10.0)[1]
    assert type(x.copy()) is ad.Tensor
    assert tape.gradient(y, x).tolist() == [3, 5]


def test_the_bytes_leave_for_numpy_with_an_event():
    x = ad.Variable([1.0, 2.0])
    with ad.trace() as trace, ad.GradientTape():
        (x * 2).tobytes()
    assert "tobytes" in trace.transcript()


@pytest.mark.parametrize("name", ["fill", "put", "partition", "resize", "sort"])
def test_a_method_that_writes_is_missing_and_says_what_to_write(name):
    for x in (ad.constant([2.0, 1.0]), ad.Variable([2.0, 1.0])):
        assert not hasattr(x, name)
        with pytest.raises(AttributeError, match=rf"{type(x).__name__} has no {name}.*write y = np\."):
            getattr(x, name)


def test_what_nobody_has_is_missing():
    assert not hasattr(ad.constant(1.0), "no_such_thing")
