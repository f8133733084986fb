"""What chapter 2 says of PyTorch."""

import pytest

pytestmark = pytest.mark.asides


def test_backward_adds_to_grad_with_every_call():
    torch = pytest.importorskip("torch")
    x = torch.tensor(3.0, requires_grad=True)
    for total in (6.0, 12.0):
        (x * x).backward()
        assert x.grad.item() == total
