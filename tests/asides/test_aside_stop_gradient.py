"""What chapter 9 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_detach_and_no_grad_cut_a_goal_in_pytorch():
    torch = pytest.importorskip("torch")
    v = torch.tensor(0.5, requires_grad=True)
    ((v - (v - 0.5).detach()) ** 2).backward()
    assert v.grad.item() == 1.0
    with torch.no_grad():
        goal = v - 0.5
    assert torch.autograd.grad((v - goal) ** 2, v)[0].item() == 1.0


def test_stop_gradient_cuts_a_goal_in_jax():
    jax = pytest.importorskip("jax")
    assert jax.grad(lambda v: (v - jax.lax.stop_gradient(v - 0.5)) ** 2)(0.5) == 1.0
