"""What the chapter on corners says of PyTorch 2.13 and JAX 0.10."""

import pytest

pytestmark = pytest.mark.asides


def slope_by_pytorch(torch, f):
    x = torch.tensor(0.0, requires_grad=True)
    f(x).backward()
    return float(x.grad)


def test_pytorch_takes_0_for_abs_and_1_at_the_lower_bound_of_clamp():
    torch = pytest.importorskip("torch")
    assert slope_by_pytorch(torch, torch.abs) == 0.0
    assert slope_by_pytorch(torch, lambda x: torch.clamp(x, min=0.0)) == 1.0


def test_jax_takes_1_for_abs_and_a_half_at_the_lower_bound_of_clip():
    jax = pytest.importorskip("jax")
    assert jax.grad(jax.numpy.abs)(0.0) == 1.0
    assert jax.grad(lambda x: jax.numpy.clip(x, 0.0, None))(0.0) == 0.5
