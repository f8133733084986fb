"""Sparse Jacobians: as the dense ones, from as many products as the colouring has colours."""

import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import autodiff_edu as ad
from autodiff_edu.transforms import sparse
from autodiff_edu.transforms.sparse import colours
from autodiff_edu.transforms.sparse_matrix import SparseMatrix


def chain(x):
    """A row of springs: each element of the result depends on three of x."""
    return np.sin(x) * 2.0 - np.pad(x[1:], (0, 1)) ** 2 - np.pad(x[:-1], (1, 0)) ** 3


def band(n, width=1):
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= width


def products_of(monkeypatch):
    """Note, for each pass, the direction and how many products it takes."""
    noted = []
    for name in ("push_stack", "pull_back_stack"):
        real = getattr(sparse, name)

        def counted(tape, target, source, seeds, real=real, name=name):
            noted.append((name, len(seeds)))
            return real(tape, target, source, seeds)

        monkeypatch.setattr(sparse, name, counted)
    return noted


@given(st.integers(0, 7), st.integers(0, 7), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.4, 0.9]))
def test_no_two_columns_of_one_colour_share_a_row(height, width, seed, density):
    pattern = np.random.default_rng(seed).random((height, width)) < density
    found = np.array(colours(*pattern.nonzero(), height, width), int)
    assert len(found) == width
    for colour in set(found.tolist()):
        assert (pattern[:, found == colour].sum(axis=1) <= 1).all()
    most = pattern.sum(axis=1).max(initial=0)
    assert most <= found.max(initial=-1) + 1 or not pattern.any()


@pytest.mark.parametrize("width", [0, 1, 2, 5])
def test_a_band_needs_as_many_colours_as_it_is_wide(width):
    assert max(colours(*band(40, width).nonzero(), 40, 40)) + 1 == 2 * width + 1


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1), st.sampled_from(["auto", "reverse", "forward"]))
def test_it_is_the_dense_jacobian(height, width, seed, mode):
    rng = np.random.default_rng(seed)
    pattern = rng.random((height, width)) < 0.4
    weights = rng.standard_normal((height, width)) * pattern
    found = ad.jacobian(lambda x: weights @ np.tanh(x), mode=mode, sparsity=pattern, check=True)
    x = rng.standard_normal(width)
    assert isinstance(found(x), scipy.sparse.csr_array)
    np.testing.assert_allclose(found(x).toarray(), ad.jacobian(lambda x: weights @ np.tanh(x))(x).numpy(), atol=1e-15)
    assert found(x).nnz == pattern.sum()


def test_a_chain_of_a_thousand_takes_three_products_in_one_pass(monkeypatch):
    x, noted = np.linspace(-1, 1, 1000), products_of(monkeypatch)
    for mode, passes in (("auto", "pull_back_stack"), ("reverse", "pull_back_stack"), ("forward", "push_stack")):
        noted.clear()
        found = ad.jacobian(chain, mode=mode, sparsity=band(1000))(x)
        assert noted == [(passes, 3)]
        assert found.nnz == 2998
        np.testing.assert_array_equal(found.toarray(), ad.jacobian(chain, mode="reverse")(x).numpy())


def test_three_products_are_much_cheaper_than_a_thousand():
    x, pattern = (
        np.linspace(-1, 1, 1000),
        scipy.sparse.diags_array([np.ones(999), np.ones(1000), np.ones(999)], offsets=[-1, 0, 1]),
    )
    moved = []
    for f in (ad.jacobian(chain, mode="reverse", sparsity=pattern), ad.jacobian(chain, mode="reverse")):
        sizes = []
        with ad.hook(lambda event, sizes=sizes: sizes.append(getattr(event, "cotangent", x[:0]).size)):
            f(x)
        moved.append(sum(sizes))
    assert 0 < moved[0] < moved[1] / 300, moved


@pytest.mark.parametrize(("arrow", "direction"), [("column", "pull_back_stack"), ("row", "push_stack")])
def test_auto_takes_what_needs_fewer_products(monkeypatch, arrow, direction):
    """With a full column, all rows but no two columns share one; with a full row it is the other way round."""
    pattern = np.zeros((9, 9), bool)
    pattern[:, 0] = True
    pattern = pattern if arrow == "row" else pattern.T
    noted = products_of(monkeypatch)
    weights = pattern * 2.0
    ad.jacobian(lambda x: weights @ x, sparsity=pattern)(np.ones(9))
    assert noted == [(direction, 1)]


@pytest.mark.parametrize(
    "given", ["bool", "shaped", "csr", "zeros stored", "pair", "list", "twice", "tensor", "unsigned", "own"]
)
def test_every_form_of_a_pattern(given):
    def f(x):
        return x * x[::-1]  # of shape (2, 3): each element depends on two

    x = np.arange(6.0).reshape(2, 3)
    dense = ad.jacobian(f)(x).numpy()
    flat = dense.reshape(6, 6) != 0
    flat |= np.eye(6, dtype=bool)
    rows, columns = flat.nonzero()
    pattern = {
        "bool": flat,
        "shaped": flat.reshape(2, 3, 2, 3),
        "csr": scipy.sparse.csr_array(flat),
        "zeros stored": scipy.sparse.coo_array((np.zeros(len(rows)), (rows, columns)), shape=(6, 6)),
        "pair": (rows, columns),
        "list": flat.astype(int).tolist(),
        "twice": (np.concatenate([rows, rows]), np.concatenate([columns, columns])),
        "tensor": ad.constant(flat),
        "unsigned": (rows.astype("uint64"), columns.astype("uint64")),
        "own": SparseMatrix(np.ones(len(rows)), rows, columns, (6, 6)),
    }[given]
    # x times its rows in reverse: element (0, j) depends on (0, j) and (1, j)
    complete = np.kron(np.ones((2, 2)), np.eye(3)) != 0
    if given == "shaped":
        pattern = complete.reshape(2, 3, 2, 3)
    np.testing.assert_array_equal(ad.jacobian(f, sparsity=pattern, check=True)(x).toarray(), dense.reshape(6, 6))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_check_finds_a_place_that_the_pattern_misses(mode):
    pattern = band(30)
    pattern[17, 16] = False
    wrong = ad.jacobian(chain, mode=mode, sparsity=pattern)(np.ones(30)).toarray()
    assert not np.array_equal(wrong, ad.jacobian(chain)(np.ones(30)).numpy())
    with pytest.raises(
        ValueError, match=r"leaves out row 17, column 16: element \[17\] of the value .* element \[16\]"
    ):
        ad.jacobian(chain, mode=mode, sparsity=pattern, check=True)(np.ones(30))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@given(st.integers(0, 2**32 - 1))
def test_check_finds_any_one_place(mode, seed):
    rng = np.random.default_rng(seed)
    full = rng.random((5, 6)) < 0.5
    full[2, 3] = True
    weights = full * rng.uniform(0.5, 1.5, full.shape)
    places = np.argwhere(full)
    row, column = places[rng.integers(len(places))]
    full[row, column] = False
    with pytest.raises(ValueError, match=f"leaves out row {row}, column {column}:"):
        ad.jacobian(lambda x: weights @ x, mode=mode, sparsity=full, check=True)(np.ones(6))


def test_a_complete_pattern_with_accidental_zeros_and_float32_passes_the_check():
    x = np.zeros(20, np.float32)
    found = ad.jacobian(chain, sparsity=band(20), check=True)(x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.toarray(), 2 * np.eye(20))


def test_complex_sources_go_backward_and_agree():
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])

    def f(z):
        return np.real(z * z)

    found = ad.jacobian(f, sparsity=np.eye(2), check=True)(z)
    np.testing.assert_array_equal(found.toarray(), ad.jacobian(f)(z).numpy())
    with pytest.raises(TypeError, match="real arguments"):
        ad.jacobian(f, sparsity=np.eye(2), mode="forward")(z)


@pytest.mark.parametrize("pattern", [np.array(True), True, [[1]], (np.zeros(1, int), np.zeros(1, int))])
def test_the_pattern_of_a_scalar_of_a_scalar(pattern):
    assert ad.jacobian(np.sin, sparsity=pattern)(0.0).toarray().tolist() == [[1.0]]


def test_a_sparse_pattern_of_one_axis_is_that_of_a_scalar():
    found = ad.jacobian(lambda x: x[0] * x[2], sparsity=scipy.sparse.coo_array(np.array([1, 0, 1])), check=True)
    assert found([1.0, 2.0, 3.0]).toarray().tolist() == [[3.0, 0.0, 1.0]]


def test_without_places_the_jacobian_is_zero():
    for pattern in (([], []), (np.zeros(0), np.zeros(0)), np.zeros((2, 2))):
        assert ad.jacobian(np.sign, sparsity=pattern)([1.0, 2.0]).toarray().tolist() == [[0, 0], [0, 0]]
        with pytest.raises(ValueError, match="leaves out row 0, column 0"):
            ad.jacobian(np.sin, sparsity=pattern, check=True)([1.0, 2.0])


def test_a_pair_that_may_be_a_matrix_is_refused_with_both_readings():
    def f(x):
        return x[:2] * x[-2:]

    for pair, x in ((((1, 0), (0, 1)), [1.0, 2.0]), (([1, 0, 0], [0, 1, 0]), [1.0, 2.0, 3.0])):
        with pytest.raises(ValueError, match=r"a matrix of two rows or a pair \(rows, columns\). If it is a matrix"):
            ad.jacobian(f, sparsity=pair)(x)
    for clear, expected in (
        (np.array(((1, 0), (0, 1))), [[2.0, 0.0], [0.0, 4.0]]),
        ((np.array([0, 1]), np.array([0, 1])), [[2.0, 0.0], [0.0, 4.0]]),
        ([[1, 0], [0, 1]], [[2.0, 0.0], [0.0, 4.0]]),
    ):
        assert ad.jacobian(f, sparsity=clear)([1.0, 2.0]).toarray().tolist() == expected
    assert ad.jacobian(lambda x: x * x, sparsity=([0, 1, 2], [0, 1, 2]))(np.ones(3)).nnz == 3


def test_scalars_empty_arrays_and_unconnected_results():
    assert ad.jacobian(np.sin, sparsity=[[1]])(0.0).toarray().tolist() == [[1.0]]
    assert ad.jacobian(np.sin, sparsity=np.ones((0, 0)))(np.ones(0)).shape == (0, 0)
    assert ad.jacobian(np.sign, sparsity=np.eye(2), check=True)([1.0, 2.0]).toarray().tolist() == [[0, 0], [0, 0]]
    none = ad.jacobian(lambda x: x * 0.0, sparsity=np.zeros((2, 2)), check=True)([1.0, 2.0])
    assert none.nnz == 0


@pytest.mark.parametrize(
    ("pattern", "error", "message"),
    [
        (np.eye(3), ValueError, r"shape \(3, 3\), but the Jacobian .* has 2 rows and 2 columns"),
        (np.ones(2), ValueError, r"shape \(2,\)"),
        (scipy.sparse.eye_array(4), ValueError, r"shape \(4, 4\)"),
        (([0, 5], [0, 1]), ValueError, "row 5, but the Jacobian has 2 rows"),
        (([0, 1], [0, -1]), ValueError, "column -1, but the Jacobian has 2 columns"),
        (([0, 1], [0]), TypeError, "two vectors of whole numbers"),
        (([0.5], [0]), TypeError, "two vectors of whole numbers"),
        ("band", TypeError, "sparsity is 'band'"),
        (True, TypeError, "sparsity is True"),
        (np.array(True), TypeError, "sparsity is array"),
        (scipy.sparse.coo_array(np.ones(2)), ValueError, r"shape \(2,\), but the Jacobian"),
        (np.array([0, 5], "uint64"), ValueError, r"shape \(2,\)"),
        ((np.array([0, 5], "uint64"), np.array([0, 1], "uint64")), ValueError, "row 5"),
        (((True, False), (False, True)), TypeError, r"np.array\(...\) around a matrix of two rows"),
        ([[1, 0], [0]], ValueError, r"sparsity\[0\] has shape \(2,\) and sparsity\[1\] has shape \(1,\)"),
        (SparseMatrix(np.ones(1), np.zeros(1, int), np.zeros(1, int), (1, 2)), ValueError, r"shape \(1, 2\)"),
    ],
)
def test_patterns_that_are_none(pattern, error, message):
    with pytest.raises(error, match=message):
        ad.jacobian(np.sin, sparsity=pattern)([1.0, 2.0])


def test_one_array_to_one_array():
    with pytest.raises(TypeError, match="the result is a list"):
        ad.jacobian(lambda x: [x, x], sparsity=np.eye(2))([1.0, 2.0])
    with pytest.raises(TypeError, match="the argument is a tuple"):
        ad.jacobian(lambda x, y: x * y, (0, 1), sparsity=np.eye(2))([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="pass sparsity too"):
        ad.jacobian(np.sin, check=True)


def test_a_tape_that_follows_it_is_told_that_it_cannot():
    x = ad.Variable([1.0, 2.0])
    with ad.GradientTape() as tape:
        with pytest.raises(TypeError, match="which no tape can follow"):
            ad.jacobian(lambda x: x**3, sparsity=np.eye(2))(x)
        assert ad.jacobian(lambda x: x**3, sparsity=np.eye(2))(x.numpy()).nnz == 2  # it does not follow this one
        with tape.stop_recording():
            assert ad.jacobian(lambda x: x**3, sparsity=np.eye(2))(x).nnz == 2


def test_saving_it_is_refused(tmp_path):
    def cube(x):
        return x**3

    with pytest.raises(TypeError, match=r"save the function itself: ad.jacobian\(ad.load\(path\), sparsity=...\)"):
        ad.save(lambda x: ad.jacobian(cube, sparsity=np.eye(2))(x), tmp_path / "f", np.ones(2))
    ad.save(cube, tmp_path / "f", np.ones(2))
    found = ad.jacobian(ad.load(tmp_path / "f"), sparsity=np.eye(2))
    assert found([1.0, 2.0]).toarray().tolist() == [[3.0, 0.0], [0.0, 12.0]]


def test_without_scipy_the_matrix_reads_and_multiplies_as_scipys_does(monkeypatch):
    x, pattern = np.linspace(-1, 1, 7), band(7)
    with_scipy = ad.jacobian(chain, sparsity=pattern, check=True)(x)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    found = ad.jacobian(chain, sparsity=pattern, check=True)(x)
    assert isinstance(found, SparseMatrix)
    assert (found.shape, found.dtype, found.nnz) == (with_scipy.shape, with_scipy.dtype, with_scipy.nnz)
    np.testing.assert_array_equal(found.toarray(), with_scipy.toarray())
    for k in range(-6, 7):
        np.testing.assert_array_equal(found.diagonal(k), with_scipy.diagonal(k))
    for other in (x, np.outer(x, [1.0, 2.0]), np.arange(7)):
        np.testing.assert_allclose(found @ other, with_scipy @ other, rtol=1e-14)
        np.testing.assert_allclose(found.T @ other, with_scipy.T @ other, rtol=1e-14)
        np.testing.assert_allclose(other.T @ found, other.T @ with_scipy, rtol=1e-14)
    squared, expected = found.T @ found, with_scipy.T @ with_scipy
    assert (squared.shape, squared.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(squared.toarray(), expected.toarray(), rtol=1e-14)
    with pytest.raises(TypeError, match="returns a sparse matrix of plain numbers"):
        ad.grad(lambda x: np.sum(ad.jacobian(chain, sparsity=pattern)(x).data))(x)
    assert ad.jacobian(chain, sparsity=found)(x).nnz == found.nnz
    pattern[3, 2] = False
    with pytest.raises(ValueError, match="leaves out row 3, column 2"):
        ad.jacobian(chain, sparsity=pattern, check=True)(x)


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_two_matrices_without_scipy_are_multiplied(height, between, width, seed):
    rng = np.random.default_rng(seed)
    full = [rng.standard_normal(shape) * (rng.random(shape) < 0.5) for shape in ((height, between), (between, width))]
    left, right = (SparseMatrix(one[one.nonzero()], *one.nonzero(), one.shape) for one in full)
    found = left @ right
    assert isinstance(found, SparseMatrix)
    assert found.nnz == np.count_nonzero((full[0] != 0).astype(int) @ (full[1] != 0).astype(int))
    np.testing.assert_allclose(found.toarray(), full[0] @ full[1], atol=1e-15)


def test_float16_is_kept_although_scipy_cannot_hold_it():
    found = ad.jacobian(lambda x: x * x, sparsity=np.eye(3), check=True)(np.array([1.0, 2.0, 3.0], np.float16))
    assert isinstance(found, SparseMatrix)
    assert found.dtype == np.float16
    assert found.diagonal().tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("kind", ["scipy", "own"])
@pytest.mark.parametrize("followed", [True, False])
def test_a_tensor_does_not_compute_with_a_sparse_matrix(monkeypatch, kind, followed):
    if kind == "own":
        monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    jacobian = ad.jacobian(lambda x: x * x, sparsity=np.eye(3))([1.0, 2.0, 3.0])
    x = ad.Variable([1.0, 2.0, 3.0]) if followed else ad.constant([1.0, 2.0, 3.0])
    calls = [lambda: x @ jacobian, lambda: x * jacobian, lambda: x + jacobian, lambda: np.dot(x, jacobian)]
    calls += [lambda: jacobian @ x] if kind == "own" else [lambda: np.matmul(x, jacobian)]  # SciPy's @ is SciPy's
    with ad.GradientTape() as tape:
        for call in calls:
            with pytest.raises(TypeError, match=r"is a sparse matrix.*write matrix\.toarray\(\)"):
                call()
        y = np.sum(x @ jacobian.toarray())
    if followed:
        assert tape.gradient(y, x).tolist() == [2.0, 4.0, 6.0]


def test_a_matrix_without_scipy_refuses_what_does_not_fit():
    wide = SparseMatrix(np.array([2.0, 3.0]), np.array([0, 1]), np.array([2, 0]), (2, 3))
    np.testing.assert_array_equal(wide.toarray(), [[0, 0, 2], [3, 0, 0]])
    assert [wide.diagonal(k).tolist() for k in (-1, 0, 1, 2)] == [[3.0], [0.0, 0.0], [0.0, 0.0], [2.0]]
    for k in (-2, 3):
        with pytest.raises(ValueError, match=f"has no diagonal {k}"):
            wide.diagonal(k)
    with pytest.raises(ValueError, match=r"shape \(2, 3\) cannot be multiplied by an array of shape \(2,\)"):
        wide @ np.ones(2)
    with pytest.raises(ValueError, match=r"shape \(3,\) cannot be multiplied by a matrix of shape \(2, 3\)"):
        np.ones(3) @ wide
    with pytest.raises(ValueError, match=r"shape \(2, 3\) cannot be multiplied by a matrix of shape \(2, 3\)"):
        wide @ wide


def test_a_large_stack_is_split(monkeypatch):
    from autodiff_edu.derivatives import jacobians
    from autodiff_edu.transforms import forward

    whole = ad.jacobian(chain, sparsity=band(50, 3))(np.ones(50)).toarray()
    for module in (forward, jacobians):
        monkeypatch.setattr(module, "LARGEST_STACK", 2 * 50 * 8)
    for mode in ("reverse", "forward"):
        parts = ad.jacobian(chain, mode=mode, sparsity=band(50, 3))(np.ones(50)).toarray()
        np.testing.assert_array_equal(parts, whole)


def test_the_passes_can_be_watched():
    with ad.trace() as steps:
        ad.jacobian(chain, sparsity=band(4))(np.ones(4))
    assert "backward pass" in steps.transcript()
