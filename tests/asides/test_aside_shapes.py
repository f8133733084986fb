"""What chapter 3, Shapes, says of PyTorch and JAX."""

import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.asides


def fit_in_torch(torch, shape, loss_of):
    """Return the slope of a line of slope 2 that is fitted to targets of this shape, from predictions in a column."""
    x = torch.linspace(-1.0, 1.0, 21, dtype=torch.float64).reshape(21, 1)
    targets = (2.0 * x + 1.0).reshape(shape)
    w, b = (torch.zeros(size, dtype=torch.float64, requires_grad=True) for size in ((1, 1), (1,)))
    for _ in range(300):
        by_w, by_b = torch.autograd.grad(loss_of(x @ w + b, targets), [w, b])
        with torch.no_grad():
            w -= 0.3 * by_w
            b -= 0.3 * by_b
    return w.item()


def test_backward_of_an_array_raises_an_error_in_pytorch_until_it_is_given_a_seed():
    torch = pytest.importorskip("torch")
    x = torch.tensor([5.0, 6.0, 7.0], requires_grad=True)
    y = torch.cumsum(x, 0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        y.backward()
    y.backward(gradient=torch.tensor([0.0, 1.0, 0.0]))
    assert x.grad.tolist() == [1.0, 1.0, 0.0]


def test_jax_grad_refuses_an_array_and_vjp_takes_the_seed():
    jax = pytest.importorskip("jax")
    x = np.array([5.0, 6.0, 7.0], "float32")
    with pytest.raises(TypeError, match="Gradient only defined for scalar-output functions"):
        jax.grad(jax.numpy.cumsum)(x)
    _, pull_back = jax.vjp(jax.numpy.cumsum, x)
    assert pull_back(np.array([0.0, 1.0, 0.0], "float32"))[0].tolist() == [1.0, 1.0, 0.0]


def test_pytorch_s_mse_loss_warns_when_the_sizes_differ():
    torch = pytest.importorskip("torch")
    with pytest.warns(UserWarning, match="incorrect results due to broadcasting"):
        torch.nn.functional.mse_loss(torch.zeros(5, 1), torch.zeros(5))


def test_plain_arithmetic_goes_flat_without_a_word_in_pytorch():
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slopes = [fit_in_torch(torch, shape, lambda p, t: ((p - t) ** 2).mean()) for shape in ((21,), (21, 1))]
    assert slopes == [pytest.approx(0.0, abs=1e-6), pytest.approx(2.0)]


def test_plain_arithmetic_goes_flat_without_a_word_in_jax():
    jax = pytest.importorskip("jax")
    x = np.linspace(-1.0, 1.0, 21)[:, None]
    slopes = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for targets in (2.0 * x[:, 0] + 1.0, 2.0 * x + 1.0):
            slopes_of = jax.jit(jax.grad(lambda w, b, t=targets: jax.numpy.mean((x @ w + b - t) ** 2), argnums=(0, 1)))
            w, b = np.zeros((1, 1), "float32"), np.zeros(1, "float32")
            for _ in range(300):
                by_w, by_b = slopes_of(w, b)
                w, b = w - 0.3 * by_w, b - 0.3 * by_b
            slopes.append(w.item())
    assert slopes == [pytest.approx(0.0, abs=1e-5), pytest.approx(2.0, abs=1e-4)]
