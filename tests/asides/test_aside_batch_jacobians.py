"""What chapter 19 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_vmap_of_jacrev_is_a_batch_jacobian_in_both():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    wanted = [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
    for of, vmap, number in ((torch.func, torch.func.vmap, torch.tensor), (jax, jax.vmap, jax.numpy.array)):
        assert vmap(of.jacrev(lambda x: x**2))(number([[1.0, 2.0], [3.0, 4.0]])).tolist() == wanted
