"""What chapter 22 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_pytorch_s_checkpoint_restores_its_own_random_state_and_not_yours():
    torch = pytest.importorskip("torch")
    own = torch.Generator()
    drawn = []

    def f(x, generator):
        mask = torch.rand(x.shape, generator=generator)
        drawn.append(mask)
        return torch.sin(x * mask)

    for generator, same in ((None, True), (own, False)):
        drawn.clear()
        x = torch.ones(5, requires_grad=True)
        torch.utils.checkpoint.checkpoint(f, x, generator, use_reentrant=False).sum().backward()
        first, second = drawn
        assert torch.equal(first, second) is same


def test_jax_s_checkpoint_is_also_called_remat_and_takes_a_policy():
    jax = pytest.importorskip("jax")
    for checkpoint in (jax.checkpoint, jax.remat):
        f = checkpoint(lambda x: jax.numpy.sin(x @ x).sum(), policy=jax.checkpoint_policies.dots_saveable)
        assert jax.grad(f)(jax.numpy.eye(2)).shape == (2, 2)
