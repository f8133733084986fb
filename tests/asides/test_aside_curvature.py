"""What chapter 18 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def valley(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # PyTorch's own call of it
def test_forward_over_reverse_is_written_alike_in_both():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    for library, array in ((torch.func, torch.tensor), (jax, jax.numpy.array)):
        p, v = array([-1.0, 0.0]), array([1.0, 1.0])
        assert library.jvp(library.grad(valley), (p,), (v,))[1].tolist() == [1602.0, 600.0]
