"""What appendix B says of JAX, PyTorch and SciPy."""

import inspect

import numpy as np
import pytest

pytestmark = pytest.mark.asides


def test_jacobians_take_no_pattern_in_jax_and_pytorch():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    for jacobian in (jax.jacrev, jax.jacfwd, torch.func.jacrev, torch.func.jacfwd, torch.autograd.functional.jacobian):
        names = " ".join(inspect.signature(jacobian).parameters)
        assert "spars" not in names
        assert "pattern" not in names


def test_least_squares_takes_a_pattern():
    optimize = pytest.importorskip("scipy.optimize")
    found = optimize.least_squares(lambda x: x - 1.0, np.zeros(5), jac_sparsity=np.eye(5))
    assert np.allclose(found.x, 1.0)
