"""What the chapter on watching says of PyTorch 2.13 and JAX 0.10."""

import pytest

pytestmark = pytest.mark.asides


def test_pytorch_leaves_grad_none_and_its_autograd_grad_raises():
    torch = pytest.importorskip("torch")
    x, w = torch.tensor(3.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    (w * 2.0).backward()
    assert x.grad is None
    with pytest.raises(RuntimeError, match="allow_unused=True"):
        torch.autograd.grad(w * 2.0, x)


def test_jax_returns_0_for_an_argument_that_is_not_reached():
    jax = pytest.importorskip("jax")
    assert jax.grad(lambda x, w: w * 2.0)(3.0, 5.0) == 0.0


def test_pytorch_refuses_numpy_of_a_tensor_that_requires_a_gradient():
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError, match=r"detach\(\)\.numpy\(\)"):
        torch.tensor(3.0, requires_grad=True).numpy()


def test_jax_refuses_float_under_grad():
    jax = pytest.importorskip("jax")
    with pytest.raises(jax.errors.ConcretizationTypeError):
        jax.grad(lambda x: float(x) * x)(2.0)


@pytest.mark.parametrize("name", ["round", "floor", "sign"])
def test_both_give_a_step_the_slope_0(name):
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    x = torch.tensor(2.3, requires_grad=True)
    getattr(torch, name)(x).backward()
    assert x.grad == 0.0
    assert jax.grad(getattr(jax.numpy, name))(2.3) == 0.0


def test_in_pytorch_a_rebound_parameter_has_no_grad_in_turn_2_and_that_warns():
    torch = pytest.importorskip("torch")
    w = torch.tensor(1.0, requires_grad=True)
    ((w - 3.0) ** 2).backward()
    w = w - 0.1 * w.grad
    ((w - 3.0) ** 2).backward()
    with pytest.warns(UserWarning, match="not a leaf"):
        assert w.grad is None


def test_in_pytorch_a_parameter_rebound_under_no_grad_makes_backward_raise():
    torch = pytest.importorskip("torch")
    w = torch.tensor(1.0, requires_grad=True)
    ((w - 3.0) ** 2).backward()
    with torch.no_grad():
        w = w - 0.1 * w.grad
    with pytest.raises(RuntimeError, match="does not require grad"):
        ((w - 3.0) ** 2).backward()


def test_in_pytorch_a_parameter_changed_in_place_under_no_grad_learns_on():
    torch = pytest.importorskip("torch")
    w = torch.tensor(1.0, requires_grad=True)
    for slope in (-4.0, -3.2):
        w.grad = None
        ((w - 3.0) ** 2).backward()
        assert w.grad.item() == pytest.approx(slope)
        with torch.no_grad():
            w -= 0.1 * w.grad
