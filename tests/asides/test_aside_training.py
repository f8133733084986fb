"""What chapter 22 says of PyTorch and JAX."""

import math

import pytest

pytestmark = pytest.mark.asides


def test_a_step_and_the_first_values_of_a_linear_layer():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layer = torch.nn.Linear(100, 100)
    bound = 1.0 / math.sqrt(100)
    assert 0.95 * bound < layer.weight.abs().max().item() <= bound
    he = torch.nn.init.kaiming_normal_(torch.empty(100, 100))
    assert he.std().item() == pytest.approx(math.sqrt(2.0 / 100), rel=0.05)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    before = layer.bias.clone()
    optimizer.zero_grad()
    layer(torch.ones(1, 100)).sum().backward()
    optimizer.step()
    assert torch.allclose(layer.bias, before - 0.1)


def test_the_gradient_of_parameters_is_a_function_s_result_in_jax():
    jax = pytest.importorskip("jax")
    assert jax.grad(lambda w: (w["a"] * w["b"]) ** 2)({"a": 1.0, "b": 2.0}) == {"a": 8.0, "b": 4.0}
