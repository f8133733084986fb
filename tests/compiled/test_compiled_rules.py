"""Every case of the table of rules, compiled: its value and its gradients, also of numbers that were not recorded."""

import numpy as np
import pytest
from cases import TABLE
from table import each, seed_of

import autodiff_edu as ad
from autodiff_edu.arrays.structures import flatten


def values_and_gradients(case):
    """The case's value, its gradients, and the gradient of a sum over those: all as one function of its arguments."""

    def computed(*arguments):
        with ad.GradientTape() as outer:
            outer.watch(arguments)
            with ad.GradientTape() as inner:
                inner.watch(arguments)
                y = case.function(*arguments)
            first = inner.gradient(y, list(arguments), output_gradients=seed_of(y), unconnected_gradients="zero")
            total = sum(np.sum(np.real(g) ** 2) for g in first)
        return y, first, outer.gradient(total, list(arguments))

    return computed


def moved(arguments):
    """Other numbers of the same kind, near the given ones."""
    rng = np.random.default_rng(7)
    return [
        a + 1e-3 * rng.standard_normal(np.shape(a)).astype(a.dtype) if a.dtype.kind in "fc" else a for a in arguments
    ]


def assert_same(name, got, expected, tolerance):
    for (path, a), (_, b) in zip(flatten(got, "result"), flatten(expected, "result"), strict=True):
        assert (a is None) == (b is None), f"{name}, {path}"
        if a is not None:
            assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{name}, {path}"
            np.testing.assert_allclose(a.numpy(), b.numpy(), tolerance, tolerance, err_msg=f"{name}, {path}")


def is_refused(case):
    return case.name in REFUSED or case.name.startswith("trim_zeros")


REFUSED = {"where of indices", "extract by a comparison"}
"""Those whose results' shapes depend on the numbers, as do those of np.trim_zeros."""


@each([case for case in TABLE if is_refused(case)])
def test_a_shape_that_depends_on_the_numbers_is_refused(case):
    with pytest.raises(TypeError, match=r"\.py, line \d+: (flat)?nonzero takes the plain numbers out of a tensor here"):
        ad.compile(case.function)(*case.arguments())


@each([case for case in TABLE if not is_refused(case)], spare=True)
def test_a_compiled_case_gives_what_the_case_gives(case):
    arguments = [np.asarray(a)[()] for a in case.arguments()]
    function = values_and_gradients(case)
    compiled = ad.compile(function)
    for numbers in (arguments, moved(arguments), arguments):
        try:
            expected = function(*map(ad.constant, numbers))
        except ValueError:  # a matrix that must be symmetric, moved
            continue
        assert_same(case.name, compiled(*numbers), expected, 1e-9)
    assert len(compiled.program(*arguments).text.splitlines()) > 1


def interpolate(fp):
    return np.interp([0.3, -0.4], [-1.0, 0.1, 1.0], fp)


def interpolate_between(v):
    return np.interp(v[0], np.stack([v[1], v[2], v[3]]), v[1:] ** 2)


@pytest.mark.parametrize(
    ("f", "places"),
    [
        (lambda x: np.interp(x, [-1.0, 0.1, 1.0], [0.0, 1.0, 5.0]), [[-0.5, 0.5, 3.0], [0.4, -2.0, -0.3]]),
        (interpolate, [[0.0, 1.0, 5.0], [3.0, -1.0, 2.0]]),
        (interpolate_between, [[0.4, -1.0, 0.1, 1.0], [0.4, -1.0, 0.6, 1.0], [-3.0, -1.0, 0.6, 1.0]]),
    ],
)
def test_an_interpolation_finds_its_samples_anew_in_every_derivative(f, places):
    def scalar(x):
        return np.sum(f(x) ** 2 * np.arange(1.0, 1.0 + np.size(f(x))))

    derivatives = [
        ad.jacobian(f, mode="forward"),
        ad.jacobian(f, mode="reverse"),
        ad.hessian(scalar),
        lambda x: ad.jvp(ad.grad(scalar), (x,), (np.ones(np.shape(x)),))[1],
        lambda x: ad.hvp(scalar, (x,), (np.ones(np.shape(x)),)),
    ]
    for derivative in derivatives:
        compiled = ad.compile(derivative)
        for x in map(np.array, places):
            np.testing.assert_allclose(compiled(x).numpy(), derivative(x).numpy(), atol=1e-12)


@pytest.mark.parametrize(
    ("element", "error", "said"),
    [(np.inf, np.linalg.LinAlgError, "did not converge"), (0.0, ValueError, r"rank 1, where the solution jumps")],
)
def test_least_squares_raise_the_error_of_the_function_also_compiled(element, error, said):
    def solve(a, b):
        return np.linalg.lstsq(a, b)[0]

    compiled = ad.compile(solve)
    a, b = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), np.ones(3)
    compiled(a, b)
    a[1, 1] = element
    for f in (solve, compiled):
        with pytest.raises(error, match=said):
            f(ad.constant(a), b)


def test_an_average_without_weight_is_refused_in_every_call():
    for f in (lambda a, w: np.average(a, weights=w), ad.grad(lambda a, w: np.average(a, weights=w), (0, 1))):
        compiled = ad.compile(f)
        compiled(np.array([1.0, 2.0]), np.ones(2))
        for weights in (np.zeros(2), np.array([1.0, -1.0])):
            with pytest.raises(ZeroDivisionError, match="the weights sum to zero"):
                compiled(np.array([1.0, 2.0]), weights)
        compiled(np.array([1.0, 2.0]), np.array([3.0, 1.0]))
