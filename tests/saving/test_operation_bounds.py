"""A small file cannot be told to fill the memory, or never to end; and what honest functions do is saved."""

import numpy as np
import pytest
from tampering import X, function, set_in, step, tampered

import autodiff_edu as ad
from autodiff_edu.saving import files, load, save
from autodiff_edu.saving.operation_bounds import LARGEST, SIZED, check_amount
from autodiff_edu.saving.operations import operations


@pytest.fixture
def path(tmp_path):
    save(function, tmp_path / "function.ad", X)
    return tmp_path / "function.ad"


REFUSED = {
    "huge shapes": (set_in("getitem", results=[["float64", [2**20, 2**20]]]), "too many to compute"),
    "a huge shape to make": (
        set_in("numpy.reshape", arguments=[{"result": 0}, {"tuple": [2**16, 2**17]}]),
        "too many to compute",
    ),
    "a huge count": (
        set_in("numpy.multiply", operation="numpy.repeat", arguments=[{"result": 0}, LARGEST + 1]),
        "too many to compute",
    ),
    "a huge length": (
        set_in("numpy.multiply", operation="numpy.fft.fft", arguments=[{"result": 0}], parameters={"n": 2**40}),
        "too many to compute",
    ),
    "a huge edge": (
        set_in("numpy.multiply", operation="numpy.pad", arguments=[{"result": 0}, {"tuple": [{"tuple": [0, 2**40]}]}]),
        "too many to compute",
    ),
    "more to repeat than the file says came out": (
        set_in("numpy.multiply", operation="numpy.resize", arguments=[{"result": 0}, {"tuple": [2**25]}]),
        "would create 33554432 elements, but the file says that the result has 12",
    ),
    "digits without end": (
        set_in("numpy.multiply", operation="numpy.round", arguments=[{"result": 0}, 10**9]),
        "would repeat 1000000000 times",
    ),
    "more than the file says came out": (
        set_in("numpy.multiply", operation="numpy.pad", arguments=[{"result": 0}, 2**20]),
        "would create 1048576 elements, but the file says that the result has 12",
    ),
    "a diagonal far away": (
        set_in("numpy.multiply", operation="numpy.diag", arguments=[{"result": 0}, -(2**20)]),
        "too many to compute",
    ),
    "many repetitions": (
        set_in("numpy.multiply", operation="numpy.diff", arguments=[{"result": 0}], parameters={"n": 2**31}),
        "repeat 2147483648 times",
    ),
    "many pieces": (
        set_in("numpy.multiply", operation="numpy.array_split", arguments=[{"result": 0}, 10**9]),
        "repeat 1000000000 times",
    ),
    "every order of many operands": (
        set_in(
            "numpy.multiply",
            operation="numpy.einsum",
            arguments=["a,b,c,d,e,f,g,h,i,j,k,l", *[{"result": 0}] * 12],
            parameters={"optimize": {"tuple": ["optimal", 10]}},
        ),
        "every order of 12 operands.*greedy",
    ),
    "a power of Python's integers": (
        set_in("numpy.multiply", operation="numpy.power", arguments=[10, 10**9]),
        "numbers only",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_fill_the_memory_or_never_end_is_refused_when_it_is_loaded(name, path):
    change, message = REFUSED[name]
    tampered(path, change)
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    assert "function.ad cannot be loaded: instruction" in str(caught.value)


@pytest.mark.parametrize("kind", ["constant", "variable"])
def test_counts_that_the_file_holds_are_added_up_when_it_is_loaded(kind, path):
    document, arrays = files.unpack(path.read_bytes(), path)
    step(document, "numpy.multiply").update(operation="numpy.repeat", arguments=[{"result": 0}, {kind: 1}])
    document[f"{kind}s"].append({"dtype": "int64", "shape": [4], "name": "n", "trainable": False})
    path.write_bytes(files.pack(document, arrays | {f"{kind}s/1": np.full(4, 2**27, np.int64)}))
    with pytest.raises(ValueError, match="would create 536870912 elements, too many"):
        load(path)


def test_a_count_that_the_file_computes_is_checked_when_it_is_called(tmp_path):
    path = tmp_path / "function.ad"
    with pytest.warns(UserWarning, match="an operation or its derivative decides by the numbers"):
        save(lambda x, n: np.repeat(x, n), path, 2.0, 3)
    assert load(path)(2.0, 3).tolist() == [2.0] * 3
    with pytest.raises(ValueError, match="would create 1073741824 elements"):
        load(path)(2.0, 2**30)


def test_what_is_told_an_amount_is_saved_and_loaded(path):
    x = np.arange(1.0, 13.0).reshape(4, 3)

    def told(x):
        wide = np.pad(x, ((500, 700), (2, 3)), mode="edge")
        many = np.repeat(np.repeat(x, 300, axis=1), np.array([7] * 900), axis=1)
        parts = np.array_split(np.tile(x, (1, 50)), 6, axis=1)
        diagonals = [np.diag(x @ x.T, 2), np.diag(x[0], -40)]
        return [wide, many, *parts, *diagonals, np.diff(x, n=2), np.fft.rfft(x, n=64), np.linspace(x, 0.0, 400)]

    save(told, path, x)
    for ours, theirs in zip(told(ad.constant(x)), load(path)(x), strict=True):
        assert ours.tolist() == theirs.tolist()


def test_every_operation_that_is_told_a_size_exists():
    assert set(operations()) >= set(SIZED)


@pytest.mark.parametrize("name", ["numpy.outer", "numpy.kron"])
def test_products_of_large_arrays_are_refused_when_they_are_called(name):
    check_amount(name, [np.zeros(2**14), np.zeros(2**14)], {})
    with pytest.raises(ValueError, match="would create 536870912 elements"):
        check_amount(name, [np.zeros(2**14), ad.constant(np.zeros(2**15))], {})


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ab,cd,ef,gh,ij,kl,mn,op,qr,st,uv,wx->", [(3, 2)] * 12 + [(3, 2)]),
        ("ij,kl->il", [(2**10, 2**8), (2**9, 2**8)]),
        ("...i,...j->...", [(2**4, 2**16), (2**4, 2**15)]),
        ("i...,j...", [(2**16, 2**4), (2**15, 2**4)]),
    ],
)
def test_an_einsum_that_would_never_end_is_refused_when_it_is_called_unless_it_seeks_a_better_order(subscripts, shapes):
    operands = [np.broadcast_to(0.0, shape) for shape in shapes]
    with pytest.raises(ValueError, match=r"einsum would multiply \d+ times"):
        check_amount("numpy.einsum", [subscripts, *operands], {})
    check_amount("numpy.einsum", [subscripts, *operands], {"optimize": "greedy"})
    check_amount("numpy.einsum", ["ij,jk->ik", *(np.broadcast_to(0.0, (2**10, 2**10)),) * 2], {})
