"""What chapter 4 says of PyTorch and JAX."""

import numpy as np
import pytest

pytestmark = pytest.mark.asides


def test_jax_passes_tracers_through_a_function_and_numpy_s_sine_of_one_is_an_error():
    jax = pytest.importorskip("jax")
    seen = []

    def f(x):
        seen.append(x)
        return jax.numpy.sin(x)

    jax.grad(f)(2.0)
    assert isinstance(seen[0], jax.core.Tracer)
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.grad(np.sin)(2.0)


def test_pytorch_notes_its_own_functions_and_numpy_s_sine_of_a_tensor_is_an_error():
    torch = pytest.importorskip("torch")
    x = torch.tensor(2.0, requires_grad=True)
    assert torch.sin(x).grad_fn is not None
    with pytest.raises(RuntimeError, match="requires grad"):
        np.sin(x)
