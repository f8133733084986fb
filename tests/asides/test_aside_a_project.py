"""What chapter 24 says of PyTorch and JAX."""

import numpy as np
import pytest

pytestmark = pytest.mark.asides


def test_attention_and_a_convolution_are_ready_made():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 4, 3))
    scores = np.where(np.tri(4) > 0, q @ k.swapaxes(1, 2) / np.sqrt(3.0), -np.inf)
    shares = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    attend = torch.nn.functional.scaled_dot_product_attention
    theirs = attend(*map(torch.from_numpy, (q, k, v)), is_causal=True).numpy()
    np.testing.assert_allclose(theirs, shares @ v, atol=1e-12)
    with jax.enable_x64(True):
        theirs = jax.nn.dot_product_attention(*(each[:, :, None] for each in (q, k, v)), is_causal=True)[:, :, 0]
    np.testing.assert_allclose(theirs, shares @ v, atol=1e-6)
    picture, kernel = torch.zeros(1, 1, 3, 3), torch.arange(4.0).reshape(1, 1, 2, 2)
    picture[0, 0, 0, 1] = 1.0
    assert torch.nn.functional.conv2d(picture, kernel)[0, 0, 0, 0].item() == 1.0  # kernel[0, 1]: it isn't turned around


def test_a_second_derivative_at_many_points_in_jax():
    jax = pytest.importorskip("jax")
    assert jax.vmap(jax.grad(jax.grad(lambda x: x**3)))(jax.numpy.array([1.0, 2.0])).tolist() == [6.0, 12.0]
