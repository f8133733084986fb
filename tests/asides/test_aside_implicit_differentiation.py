"""What chapter 25 says of other frameworks, run on them."""

import numpy as np
import pytest

pytestmark = pytest.mark.asides

TRUE = 0.6497


def test_jax_has_custom_root():
    jax = pytest.importorskip("jax")

    def share(rate):
        def newton(g, z):
            for _ in range(20):
                z = z - g(z) / jax.grad(g)(z)
            return z

        return jax.lax.custom_root(
            lambda z: z - 1 + jax.numpy.exp(-rate * z), 1.0, newton, lambda g, y: y / g(jax.numpy.ones_like(y))
        )

    assert float(jax.grad(share)(1.5)) == pytest.approx(TRUE, abs=1e-3)


def test_jax_does_not_walk_back_through_a_while_loop():
    jax = pytest.importorskip("jax")

    def share(rate):
        def turn(pair):
            return 1 - jax.numpy.exp(-rate * pair[0]), pair[1] + 1

        return jax.lax.while_loop(lambda pair: pair[1] < 50, turn, (1.0, 0))[0]

    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        jax.grad(share)(1.5)


def test_pytorch_has_a_function_for_a_rule_of_ones_own():
    torch = pytest.importorskip("torch")

    class Share(torch.autograd.Function):
        @staticmethod
        def forward(ctx, rate):
            z = 1.0
            for _ in range(100):
                z = 1.0 - np.exp(-float(rate) * z)
            ctx.both = float(rate), z
            return torch.tensor(z)

        @staticmethod
        def backward(ctx, dz):
            rate, z = ctx.both
            return dz * z * (1 - z) / (1 - rate * (1 - z))

    rate = torch.tensor(1.5, requires_grad=True)
    Share.apply(rate).backward()
    assert float(rate.grad) == pytest.approx(TRUE, abs=1e-4)
