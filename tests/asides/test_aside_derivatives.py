"""What chapter 0 says of PyTorch and JAX: they check gradients by differences, and compute in float32."""

import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.asides


def test_pytorch_compares_with_differences_and_computes_in_float32():
    torch = pytest.importorskip("torch")
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.exp, x)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda x: x * x.detach(), x)
    assert torch.tensor(1.0).dtype == torch.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="double precision"):
            torch.autograd.gradcheck(torch.exp, torch.tensor(1.0, requires_grad=True))


def test_jax_compares_with_differences_and_computes_in_float32():
    jax = pytest.importorskip("jax")
    from jax.test_util import check_grads

    check_grads(jax.numpy.exp, (1.0,), order=2)
    with pytest.raises(AssertionError):
        check_grads(lambda x: x * jax.lax.stop_gradient(x), (3.0,), order=1)
    assert jax.numpy.asarray(1.0).dtype == np.float32


def test_the_best_central_step_in_float32_is_about_0_005():
    steps = np.geomspace(1e-5, 0.5, 200).astype(np.float32)
    places = np.linspace(0.5, 1.5, 41).astype(np.float32)
    errors = []
    for h in steps:
        slopes = (np.exp(places + h) - np.exp(places - h)) / ((places + h) - (places - h))
        errors.append(np.mean(np.abs(slopes / np.exp(places.astype(float)) - 1.0)))
    assert 0.002 < steps[np.argmin(errors)] < 0.02
    assert np.cbrt(np.finfo(np.float32).eps) == pytest.approx(0.005, rel=0.05)
