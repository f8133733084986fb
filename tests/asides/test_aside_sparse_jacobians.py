"""What appendix B says of PyTorch and JAX."""

import numpy as np
import pytest

pytestmark = pytest.mark.asides


def test_a_vjp_returns_the_value_and_a_function_that_returns_a_tuple():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    seed = np.array([1.0, 0.0])
    _, pull = jax.vjp(lambda x: x**2, jax.numpy.array([1.0, 3.0]))
    assert np.asarray(pull(jax.numpy.asarray(seed, dtype="float32"))[0]).tolist() == [2.0, 0.0]
    _, pull = torch.func.vjp(lambda x: x**2, torch.tensor([1.0, 3.0], dtype=torch.float64))
    assert pull(torch.from_numpy(seed))[0].numpy().tolist() == [2.0, 0.0]
