"""What chapter 16 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_jacrev_computes_a_jacobian_in_both():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    for jacrev, x in ((torch.func.jacrev, torch.tensor([1.0, 3.0])), (jax.jacrev, jax.numpy.array([1.0, 3.0]))):
        assert jacrev(lambda x: x**2)(x).tolist() == [[2.0, 0.0], [0.0, 6.0]]
