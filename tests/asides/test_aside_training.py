"""What chapter 20 says of PyTorch."""

import pytest

pytestmark = pytest.mark.asides


def test_a_step_of_pytorch_needs_its_slopes_set_to_zero_before_the_next():
    torch = pytest.importorskip("torch")
    w = torch.tensor(4.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.25)
    for expected in (2.0, 1.0):
        optimizer.zero_grad()
        (w * w).backward()
        optimizer.step()
        assert w.item() == expected
    optimizer.zero_grad()
    for _ in range(2):
        (w * w).backward()
    assert w.grad.item() == 4.0
