"""Every case of the table in forward mode: against central differences, against reverse mode, stacked, and twice."""

import numpy as np
import pytest
from cases import TABLE
from differences import directions_of, inner, slope_along
from table import each, plain, seed_of

import autodiff_edu as ad
from autodiff_edu.derivatives import jacobians

BOTH = each(TABLE, "float64", "complex128")


@BOTH
def test_a_tangent_agrees_with_central_differences(case, dtype):
    arguments = case.arguments(dtype)
    directions = directions_of(arguments, case.name)
    value, tangent = ad.jvp(case.function, tuple(arguments), directions)
    expected = slope_along(plain(case), arguments, directions)
    assert tangent.shape == value.shape
    assert tangent.dtype == value.dtype
    np.testing.assert_allclose(tangent.numpy(), expected, 1e-7, 1e-7, err_msg=case.name)


@BOTH
def test_pushing_forward_is_the_transpose_of_pulling_back(case, dtype):
    arguments = case.arguments(dtype)
    directions = directions_of(arguments, case.name)
    value, tangent = ad.jvp(case.function, tuple(arguments), directions)
    seed = seed_of(value)
    pulled = ad.vjp(case.function, *arguments)[1](seed)
    pulled = pulled if isinstance(pulled, tuple) else (pulled,)
    there, back = inner(seed, tangent), sum(inner(p, d) for p, d in zip(pulled, directions, strict=True))
    scale = 1 + sum(np.abs(np.asarray(p)).sum() for p in pulled)
    assert abs(there - back) <= 1e-12 * scale, f"{case.name}: <v, J u> is {there}, and <transposed J v, u> is {back}"


def real(case):
    """The case as a real function, of which there is a Jacobian."""

    def f(*xs):
        y = case.function(*xs)
        return np.real(y) - 2 * np.imag(y) if y.dtype.kind == "c" else y

    return f


@each(TABLE)
def test_a_jacobian_of_large_stacks_is_that_of_small_ones(case):
    arguments = case.arguments()
    argnums = tuple(range(len(arguments)))
    expected = ad.jacobian(real(case), argnums, mode="reverse")(*arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jacobians, "SMALL", 0)  # every stack is treated as a large one, which puts off multiplications
        found = ad.jacobian(real(case), argnums, mode="reverse")(*arguments)
    for k, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        assert ours.shape == theirs.shape, f"{case.name}, argument {k}"
        assert ours.dtype == theirs.dtype, f"{case.name}, argument {k}"
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-11, 1e-11, err_msg=f"{case.name}, argument {k}")


@each(TABLE)
def test_a_jacobian_by_columns_is_the_jacobian_by_rows(case):
    arguments = case.arguments()
    argnums = tuple(range(len(arguments)))
    columns = ad.jacobian(real(case), argnums, mode="forward")(*arguments)
    rows = ad.jacobian(real(case), argnums, mode="reverse")(*arguments)
    for k, (ours, theirs) in enumerate(zip(columns, rows, strict=True)):
        assert ours.shape == theirs.shape, f"{case.name}, argument {k}"
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-11, 1e-11, err_msg=f"{case.name}, argument {k}")


@each(TABLE)
def test_forward_over_reverse_is_reverse_over_reverse(case):
    arguments = tuple(case.arguments())
    directions = directions_of(arguments, case.name)

    def gradient(*xs):
        value, pull = ad.vjp(case.function, *xs)
        pulled = pull(seed_of(value))
        return pulled if isinstance(pulled, tuple) else (pulled,)

    def slope(*xs):
        return sum(np.sum(g * d) for g, d in zip(gradient(*xs), directions, strict=True))

    forward = ad.jvp(gradient, arguments, directions)[1]
    reverse = ad.grad(slope, tuple(range(len(arguments))))(*arguments)
    for k, (ours, theirs) in enumerate(zip(forward, reverse, strict=True)):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-10, 1e-10, err_msg=f"{case.name}, argument {k}")
