"""What chapter 12 says of PyTorch and JAX."""

import math

import pytest

pytestmark = pytest.mark.asides


@pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")
def test_the_where_trap_is_nan_in_both_and_both_can_look_for_its_origin():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")

    x = torch.tensor(0.0, requires_grad=True)
    torch.where(x > 0, torch.sqrt(x), torch.zeros(())).backward()
    assert math.isnan(x.grad.item())
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan values"):
        torch.where(x > 0, torch.sqrt(x), torch.zeros(())).backward()

    def f(x):
        return jax.numpy.where(x > 0, jax.numpy.sqrt(x), 0.0)

    jax.config.update("jax_debug_nans", True)
    try:
        with pytest.raises(FloatingPointError):
            jax.jit(jax.grad(f))(0.0)  # compiled anew; what has run without the check is not run with it
    finally:
        jax.config.update("jax_debug_nans", False)
    assert math.isnan(jax.grad(f)(0.0))

    for number in (0.0, -1.0):
        x = torch.tensor([4.0, number], requires_grad=True)
        torch.where(x > 0, torch.sqrt(x), torch.zeros(())).sum().backward()
        there = jax.grad(lambda x: f(x).sum())(jax.numpy.array([4.0, number]))
        for slopes in (x.grad, there):
            assert float(slopes[0]) == 0.25
            assert math.isnan(slopes[1])


def test_pytorch_clips_by_value_and_by_norm():
    torch = pytest.importorskip("torch")
    for clip, wanted in (
        (lambda w: torch.nn.utils.clip_grad_value_([w], 1.0), [1.0, 1.0]),
        (lambda w: torch.nn.utils.clip_grad_norm_([w], 1.0), [0.6, 0.8]),
    ):
        w = torch.zeros(2, requires_grad=True)
        w.grad = torch.tensor([3.0, 4.0])
        clip(w)
        assert w.grad.tolist() == pytest.approx(wanted, abs=1e-5)


def test_both_compute_in_32_bits_unless_asked_for_more():
    torch = pytest.importorskip("torch")
    jax = pytest.importorskip("jax")
    assert torch.tensor([100.0]).dtype == torch.float32
    assert jax.numpy.array([100.0]).dtype == jax.numpy.float32
