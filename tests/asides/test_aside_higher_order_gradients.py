"""What chapter 11 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_a_second_gradient_needs_create_graph():
    torch = pytest.importorskip("torch")
    x = torch.tensor(3.0, requires_grad=True)
    first = torch.autograd.grad(x**3, x, create_graph=True)[0]
    assert torch.autograd.grad(first, x)[0].item() == 18.0
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(torch.autograd.grad(x**3, x)[0], x)


def test_jax_differentiates_a_derivative():
    jax = pytest.importorskip("jax")
    assert jax.grad(jax.grad(lambda x: x**3))(3.0) == 18.0
