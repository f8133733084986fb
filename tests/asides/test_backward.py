"""What chapter 2 says of PyTorch."""

import pytest

pytestmark = pytest.mark.asides


def test_backward_adds_to_grad_with_every_call_and_a_value_in_the_middle_keeps_its_own_on_request():
    torch = pytest.importorskip("torch")
    x = torch.tensor(3.0, requires_grad=True)
    for total in (6.0, 12.0):
        (x * x).backward()
        assert x.grad.item() == total
    middle = x * x
    middle.retain_grad()
    (middle * 2.0).backward()
    assert middle.grad.item() == 2.0
