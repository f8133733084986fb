"""What chapter 13 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_a_function_of_pytorch_saves_values_and_a_hook_clips_in_the_middle():
    torch = pytest.importorskip("torch")

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dy):
            return dy * 2.0 * ctx.saved_tensors[0]

    x = torch.tensor(3.0, requires_grad=True)
    y = Square.apply(x)
    y.register_hook(lambda dy: dy.clamp(-0.5, 0.5))
    (5.0 * y).backward()
    assert x.grad.item() == 3.0


def test_custom_vjp_takes_two_functions_and_the_first_returns_what_the_second_needs():
    jax = pytest.importorskip("jax")
    square = jax.custom_vjp(lambda x: x * x)
    square.defvjp(lambda x: (x * x, x), lambda x, dy: (dy * 2.0 * x,))
    assert jax.grad(square)(3.0) == 6.0
