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


def test_the_norm_at_0_has_the_slope_0_in_pytorch_and_nan_in_jax():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    x = torch.zeros(3, requires_grad=True)
    torch.linalg.vector_norm(x).backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    assert jax.numpy.isnan(jax.grad(jax.numpy.linalg.norm)(jax.numpy.zeros(3))).all()


def test_jax_differentiates_a_derivative():
    jax = pytest.importorskip("jax")
    assert jax.grad(jax.grad(lambda x: x**3))(3.0) == 18.0
