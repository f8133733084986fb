"""What chapter 10 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_in_pytorch_her_loss_adds_to_his_grad_unless_the_coins_are_detached():
    torch = pytest.importorskip("torch")
    shift, taste = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    for detached in (False, True):
        shift.grad = taste.grad = None
        coin = shift + 1.0
        her_loss = taste * (coin.detach() if detached else coin)
        her_loss.backward()
        assert taste.grad.item() == 3.0
        assert shift.grad is None if detached else shift.grad.item() == 3.0
    (taste * (shift + 1.0)).backward()
    assert (shift.grad.item(), taste.grad.item()) == (3.0, 6.0)  # it adds


def test_in_jax_each_loss_is_asked_about_its_own_argument_and_runs_its_function_again():
    jax = pytest.importorskip("jax")
    runs = []

    def rating(shift, taste):
        runs.append(1)
        return taste * (shift + 1.0)

    assert jax.grad(lambda shift, taste: -rating(shift, taste), argnums=0)(2.0, 3.0) == -3.0
    assert jax.grad(rating, argnums=1)(2.0, 3.0) == 3.0
    assert len(runs) == 2
