"""What chapter 10 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_one_record_is_asked_about_one_source_and_shared_parts_are_kept_on_request():
    torch = pytest.importorskip("torch")
    shift, taste = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    gap = shift * taste
    assert torch.autograd.grad(gap, shift, retain_graph=True)[0].item() == 3.0
    assert torch.autograd.grad(gap, taste)[0].item() == 2.0
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(gap, taste)
    part = shift**2
    z, m = part + 1.0, part * 2.0
    torch.autograd.grad(z, shift)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(m, shift)


def test_argnums_choose_the_source_and_one_vjp_is_called_for_each_result():
    jax = pytest.importorskip("jax")
    assert jax.grad(lambda x, y: x * y, argnums=0)(2.0, 3.0) == 3.0
    assert jax.grad(lambda x, y: x * y, argnums=1)(2.0, 3.0) == 2.0
    _, pull = jax.vjp(lambda x, y: (x**2 + y, y + y**2 + x), 3.0, 2.0)
    assert pull((1.0, 0.0))[0] == 6.0
    assert pull((0.0, 1.0))[1] == 5.0
