"""`check=True`: it finds what a pattern misses, whatever the numbers, and never blames a pattern that is right."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.transforms import sparse

MODES = pytest.mark.parametrize("mode", ["reverse", "forward"])


def checked(f, pattern, x, mode="auto"):
    return ad.jacobian(f, sparsity=pattern, mode=mode, check=True)(x)


def test_an_imaginary_or_a_complex_derivative_is_found():
    z = np.array([1.0, 2.0, 3.0]) + 1j
    for f in (lambda z: np.imag(z) + np.imag(z[::-1]), lambda z: np.real(z * z[::-1])):
        with pytest.raises(ValueError, match="leaves out row 2, column 0"):
            checked(f, np.eye(3), z, "reverse")
        complete = (np.eye(3) + np.eye(3)[::-1]) != 0
        np.testing.assert_array_equal(checked(f, complete, z).toarray(), ad.jacobian(f)(z).numpy())


# Infinite derivatives and NaN -----------------------------------------------------------------------------------------


def rooted(x):
    return x + np.sqrt(x[::-1])


@MODES
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_infinite_derivative_is_found(mode):
    with pytest.raises(ValueError, match="leaves out row 2, column 0"):
        checked(rooted, [[1, 0, 1], [0, 1, 0], [0, 0, 1]], [0.0, 1.0, 4.0], mode)


@pytest.mark.parametrize(("mode", "line"), [("reverse", "column 0"), ("forward", "row 2")])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_nan_hides_the_rest_it_says_so(mode, line):
    right, wrong = [[1, 0, 1], [0, 1, 0], [1, 0, 1]], [[1, 0, 1], [0, 1, 0], [0, 0, 1]]
    for pattern, x in ((wrong, [-1.0, 1.0, 4.0]), (right, [0.0, 1.0, 4.0])):
        with pytest.raises(ValueError, match=f"cannot tell whether the pattern is right: {line} of the Jacobian"):
            checked(rooted, pattern, x, mode)


@MODES
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_finite_place_is_named_rather_than_what_is_hidden(mode):
    """Element 0 is infinite; the missed places are elsewhere, and finite."""
    pattern = np.eye(4) != 0
    with pytest.raises(ValueError, match=r"leaves out row [23], column [23]"):
        checked(lambda x: np.sqrt(x) + np.stack([x[0], x[1], x[3], x[2]]), pattern, [0.0, 1.0, 4.0, 9.0], mode)


@MODES
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_line_without_places_left_out_may_be_infinite(mode):
    found = checked(lambda x: np.sqrt(x) + np.sum(x), np.ones((2, 2)), [0.0, 1.0], mode)
    assert np.isinf(found.toarray()[0, 0])


# Rounding -------------------------------------------------------------------------------------------------------------


@MODES
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_precision_finds_a_place(mode, dtype):
    x = np.array([1.0, 2.0, 3.0], dtype)
    with pytest.raises(ValueError, match=r"leaves out row (0, column 2|2, column 0)"):
        checked(lambda x: x * x + x[::-1], np.eye(3), x, mode)
    with pytest.raises(ValueError, match="leaves out row 1, column 0"):
        checked(lambda x: x * x + np.pad(x[:1], (1, 1)) / 8, np.eye(3), x, mode)


def cancelling(x):
    """The identity, but for rounding."""
    return (1000 * x + x) - 1000 * x


def telescoping(x):
    return np.diff(np.cumsum(x))


def summing(x):
    return x - np.mean(x) + np.mean(x)


@MODES
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("f", "pattern"),
    [(cancelling, np.eye), (summing, np.eye), (telescoping, lambda n: np.eye(n - 1, n, 1)), (np.tanh, np.eye)],
)
def test_no_precision_blames_a_pattern_that_is_right(mode, dtype, f, pattern):
    for n in (3, 30, 300):
        checked(f, pattern(n), np.random.default_rng(n).standard_normal(n).astype(dtype), mode)


MATRIX = np.random.default_rng(1).standard_normal((6, 6))
INVERSE = np.linalg.inv(MATRIX)


@MODES
@pytest.mark.parametrize(
    "f",
    [
        lambda x: INVERSE @ (MATRIX @ x),
        lambda x: np.linalg.solve(MATRIX, MATRIX @ x),
        lambda x: np.real(np.fft.ifft(np.fft.fft(x))),
        lambda x: x - np.mean(x) + np.mean(x),
    ],
)
@pytest.mark.parametrize("kept", [[0.0] * 6, [1.0, 0.0, 1e-6, 1.0, 1e6, 0.0]])
def test_a_row_that_is_0_but_for_rounding_blames_no_pattern(mode, f, kept):
    def rest(x):
        return (f(x) - x) + kept * f(x)

    x = np.linspace(1.0, 2.0, 6)
    found = checked(rest, np.diag(kept) != 0, x, mode).toarray()
    np.testing.assert_allclose(found, np.diag(kept), atol=1e-8)
    with pytest.raises(ValueError, match="leaves out row 1, column 5"):
        checked(lambda x: rest(x) + 1e-7 * np.eye(6)[1] * x[5], np.diag(kept) != 0, x, mode)


def test_what_is_computed_in_lower_precision_is_measured_by_it(monkeypatch):
    calls, products = [], sparse._products
    monkeypatch.setattr(sparse, "_products", lambda *args: (calls.append(1), products(*args))[1])
    for mode in ("reverse", "forward"):
        calls.clear()
        checked(lambda x: np.sin(x.astype(np.float32) / 3), np.eye(20), np.linspace(0, 1, 20), mode)
        assert len(calls) == 2  # the Jacobian, and one more: nothing is in doubt


@MODES
@pytest.mark.parametrize("n", [14, 500])
def test_a_missed_place_behind_many_that_are_rounded_badly(monkeypatch, mode, n):
    """All elements but two agree only to eight digits; the last but one is really wrong."""
    calls, products = [], sparse._products
    monkeypatch.setattr(sparse, "_products", lambda *args: (calls.append(1), products(*args))[1])
    rough = np.array([1e8] * (n - 2) + [0.0, 0.0])

    def f(x):
        return (rough * x + x) - rough * x + np.pad(x[-1:], (n - 2, 1))

    x = np.linspace(1.0, 2.0, n)
    checked(f, (np.eye(n) + np.eye(n, k=1)) != 0, x, mode)
    assert 10 < len(calls) < 110  # the check took its time, but not one product for every row
    with pytest.raises(ValueError, match=f"leaves out row {n - 2}, column {n - 1}:"):
        checked(f, np.eye(n), x, mode)


# The other mode, and results without derivatives ----------------------------------------------------------------------


@ad.custom_gradient
def square(x):
    return x * x, lambda g: g.numpy() * 2 * x.numpy()  # through .numpy(), no tangent can pass


def test_a_function_that_only_goes_backward_is_checked_backward():
    with pytest.raises(ValueError, match="leaves out row 2, column 0"):
        checked(lambda x: square(x)[::-1], np.eye(3), [1.0, 2.0, 3.0], "reverse")
    assert checked(square, np.eye(3), [1.0, 2.0, 3.0], "reverse").diagonal().tolist() == [2.0, 4.0, 6.0]


@MODES
def test_a_result_of_truths_or_whole_numbers_has_zeros(mode):
    for f in (lambda x: x > 1, lambda x: x.astype(int)):
        found = checked(f, np.eye(2), [1.0, 2.0], mode)
        assert found.toarray().tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert found.dtype == np.float64


@MODES
@pytest.mark.parametrize("n", [2, 7, 100])
def test_the_place_is_found_among_many(mode, n):
    weights = np.eye(n)
    weights[n // 3, n - 1] = 0.5
    with pytest.raises(ValueError, match=f"leaves out row {n // 3}, column {n - 1}:"):
        checked(lambda x: weights @ x, np.eye(n), np.ones(n), mode)
