"""What chapter 15 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # PyTorch's own call of it
def test_both_push_a_tangent_with_the_same_arguments():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    for of, number in ((torch.func, torch.tensor), (jax, float)):
        value, tangent = of.jvp(lambda x: x**3, (number(2.0),), (number(1.0),))
        assert (float(value), float(tangent)) == (8.0, 12.0)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.tensor(2.0), torch.tensor(1.0))
        assert torch.autograd.forward_ad.unpack_dual(dual**3).tangent.item() == 12.0
