"""What chapter 5 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_pytorch_s_layer_keeps_its_weight_the_other_way_round():
    torch = pytest.importorskip("torch")
    assert torch.nn.Linear(2, 8).weight.shape == (8, 2)


def test_jax_returns_the_slopes_in_the_form_of_the_parameters():
    jax = pytest.importorskip("jax")

    def loss(parameters):
        return jax.numpy.sum(parameters["W"] ** 2) + parameters["b"][0] * parameters["b"][1]

    slopes = jax.grad(loss)({"W": jax.numpy.ones((2, 3)), "b": [2.0, 5.0]})
    assert slopes["W"].shape == (2, 3)
    assert [float(each) for each in slopes["b"]] == [5.0, 2.0]
