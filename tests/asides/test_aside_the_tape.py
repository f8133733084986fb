"""What chapter 1 says of PyTorch and JAX."""

import numpy as np
import pytest

pytestmark = pytest.mark.asides


def test_jax_prints_such_a_list_with_its_loops_unrolled():
    jax = pytest.importorskip("jax")

    def f(y):
        for turn in range(3):
            y = y + 10.0 if turn == 2 else y * 2.0
        return y

    lines = str(jax.make_jaxpr(f)(3.0)).splitlines()
    assert [word for line in lines for word in line.split() if word in ("add", "mul", "while", "scan")] == [
        "mul",
        "mul",
        "add",
    ]


def test_pytorch_follows_what_requires_a_gradient_and_the_record_hangs_off_the_result():
    torch = pytest.importorskip("torch")
    x, plain = torch.tensor(3.0, requires_grad=True), torch.tensor(3.0)
    assert (x * 2.0).grad_fn.name() == "MulBackward0"
    assert (plain * 2.0).grad_fn is None


def list_saved(result):
    """Return the tensors that a node of PyTorch keeps."""
    torch = pytest.importorskip("torch")
    names = [name for name in dir(result.grad_fn) if name.startswith("_saved_")]
    return {name: value for name in names if isinstance(value := getattr(result.grad_fn, name), torch.Tensor)}


def test_pytorch_keeps_only_what_the_slopes_need():
    torch = pytest.importorskip("torch")
    t3, cups = torch.tensor(1.5, requires_grad=True), torch.tensor(60.0, requires_grad=True)
    assert sorted(float(value.detach()) for value in list_saved(t3 * cups).values()) == [1.5, 60.0]
    result = torch.tanh(t3)
    assert [float(value.detach()) for value in list_saved(result).values()] == [float(result.detach())]
    assert list_saved(120.0 - t3) == {}


def test_pytorch_counts_writes_into_a_tensor_and_refuses_the_gradient():
    torch = pytest.importorskip("torch")
    w, t = torch.ones(3, requires_grad=True), torch.tensor([1.0, 2.0, 3.0])
    y = (w * t).sum()
    before = t._version
    t[0] = 100.0
    assert t._version == before + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_pytorch_does_not_see_a_write_through_numpy():
    torch = pytest.importorskip("torch")
    a = np.array([1.0, 2.0, 3.0])
    w, t = torch.ones(3, dtype=torch.float64, requires_grad=True), torch.from_numpy(a)
    y = (w * t).sum()
    a[0] = 100.0
    y.backward()
    assert w.grad.tolist() == [100.0, 2.0, 3.0]


def test_jax_refuses_to_write_into_an_array():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="immutable"):
        jax.numpy.ones(3)[0] = 100.0
