"""What the chapter on control flow says of PyTorch 2.13 and JAX 0.10."""

import pytest

pytestmark = pytest.mark.asides


def root(x):
    y = 1.0
    while abs(y * y - x) > 1e-12:
        y = (y + x / y) / 2
    return y


def test_pytorch_differentiates_a_plain_loop():
    torch = pytest.importorskip("torch")
    x = torch.tensor(4.0, dtype=torch.float64, requires_grad=True)
    root(x).backward()
    assert x.grad.item() == pytest.approx(0.25)


def test_jax_differentiates_a_plain_loop_but_not_under_jit():
    jax = pytest.importorskip("jax")

    def three_turns_at_most(x):
        y = 1.0
        while y * y < x:
            y = 2.0 * y * x / x
        return y * x

    assert jax.grad(three_turns_at_most)(4.0) == pytest.approx(2.0)
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(three_turns_at_most)(4.0)


def test_jax_grad_refuses_its_while_loop():
    jax = pytest.importorskip("jax")

    def grow(x):
        return jax.lax.while_loop(lambda y: y < 10.0, lambda y: 2.0 * y, x)

    assert grow(3.0) == 12.0
    with pytest.raises(ValueError, match=r"[Rr]everse-mode"):
        jax.grad(grow)(3.0)
