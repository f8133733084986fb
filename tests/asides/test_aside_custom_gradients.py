"""What chapter 13 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_a_function_of_pytorch_has_a_forward_and_a_backward_that_nobody_checks_unless_asked():
    torch = pytest.importorskip("torch")

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dy):
            return dy * 2.0 * ctx.saved_tensors[0]

    class Forgetful(Square):
        @staticmethod
        def backward(ctx, dy):
            return 2.0 * ctx.saved_tensors[0]

    for function, slope in ((Square, 30.0), (Forgetful, 6.0)):
        x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
        (5.0 * function.apply(x)).backward()
        assert x.grad.item() == slope
    assert torch.autograd.gradcheck(Square.apply, x)
    assert not torch.autograd.gradcheck(lambda x: 5.0 * Forgetful.apply(x), x, raise_exception=False)


def test_custom_vjp_wraps_a_function_takes_two_halves_and_believes_them():
    jax = pytest.importorskip("jax")
    test_util = pytest.importorskip("jax.test_util")
    x = jax.numpy.array(3.0)
    square, forgetful = jax.custom_vjp(lambda x: x * x), jax.custom_vjp(lambda x: x * x)
    square.defvjp(lambda x: (x * x, x), lambda x, dy: (dy * 2.0 * x,))
    forgetful.defvjp(lambda x: (x * x, x), lambda x, dy: (2.0 * x,))
    for f, slope in ((square, 30.0), (forgetful, 6.0)):
        assert jax.grad(lambda x, f=f: 5.0 * f(x))(x) == slope
    test_util.check_grads(square, (x,), order=1, modes=["rev"])
    with pytest.raises(AssertionError):
        test_util.check_grads(lambda x: 5.0 * forgetful(x), (x,), order=1, modes=["rev"])
