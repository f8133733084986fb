"""What chapter 8 says of PyTorch and JAX."""

import pytest

pytestmark = pytest.mark.asides


def test_pytorch_records_nothing_under_no_grad():
    torch = pytest.importorskip("torch")
    x = torch.tensor(3.0, requires_grad=True)
    with torch.no_grad():
        assert (x * x).grad_fn is None
    assert (x * x).grad_fn is not None


def test_pytorch_refuses_the_second_backward_unless_the_first_retained_the_graph():
    torch = pytest.importorskip("torch")
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    z = x * x
    z.backward(retain_graph=True)
    z.backward()


def test_jax_hands_out_a_value_for_the_log():
    jax = pytest.importorskip("jax")

    def f(x):
        return x * x, x + 1.0

    (value, log), slope = jax.value_and_grad(f, has_aux=True)(3.0)
    assert (float(value), float(log), float(slope)) == (9.0, 4.0, 6.0)
