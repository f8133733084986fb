"""What chapter 17 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # PyTorch's own call of it
def test_hessian_is_a_function_of_both():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    for hessian, x in ((torch.func.hessian, torch.tensor([1.0, 3.0])), (jax.hessian, jax.numpy.array([1.0, 3.0]))):
        assert hessian(lambda x: x[0] * x[1] ** 2)(x).tolist() == [[0.0, 6.0], [6.0, 2.0]]
