"""Programs of the kinds that PyTorch's own tutorials teach: each plays, and shows the gradients that PyTorch has."""

import numpy as np
import pytest
import torch

import autodiff_edu as ad

pytestmark = pytest.mark.torch

functional = torch.nn.functional


def find_gradient(steps, name):
    """Return what the last backward pass of a trace left for a tensor."""
    document = steps.document()
    outcomes = [step for step in document["steps"] if step["kind"] == "outcome"]
    return [step["gradient"]["data"] for step in outcomes if document["tensors"][step["tensor"]]["name"] == name][-1]


def agree(steps, **values):
    assert "not followed" not in steps.transcript()
    for name, value in values.items():
        np.testing.assert_allclose(find_gradient(steps, name), value.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_tensors_and_autograd_in_brief():
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    b = torch.tensor([6.0, 4.0], requires_grad=True)
    with ad.trace() as steps:
        q = 3 * a**3 - b**2
        q.backward(gradient=torch.tensor([1.0, 1.0]))
    agree(steps, a=9 * a**2, b=-2 * b)


def test_autograd_mechanics():
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    frozen = torch.tensor([1.0, 2.0])
    with ad.trace() as steps:
        with torch.no_grad():
            scale = (x * 2).sum()
        with torch.enable_grad():
            y = (x * frozen).exp() * scale
        y.retain_grad()
        y.sum().backward(retain_graph=True)
        first = x.grad.clone()
        y.sum().backward()
    agree(steps, x=2 * first)


def test_a_function_of_ones_own_differentiated_twice():
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = torch.tensor(2.0, requires_grad=True)
    with ad.trace() as steps:
        y = Cube.apply(x)
        (slope,) = torch.autograd.grad(y, x, create_graph=True)
        (bend,) = torch.autograd.grad(slope, x)
    agree(steps, x=bend)
    assert bend == 12


def test_jacobians_and_hessians_by_autograd_functional():
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def f(x):
        return (x**3).sum() * x

    with ad.trace() as steps:
        jacobian = torch.autograd.functional.jacobian(f, x)
        hessian = torch.autograd.functional.hessian(lambda x: (x**3).sum(), x)
    document = steps.document()
    rows = [step["gradient"]["data"] for step in document["steps"] if step["kind"] == "outcome"]
    assert [row for row in rows if row in jacobian.tolist()] == jacobian.tolist()
    assert all(row in rows for row in hessian.tolist())


def test_gradients_for_each_sample_in_a_loop():
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    x, y = torch.randn(4, 3), torch.randn(4)
    found = []
    with ad.trace() as steps:
        for k in range(4):
            loss = (net(x[k]) - y[k]) ** 2
            found.append(torch.autograd.grad(loss, list(net.parameters())))
    document = steps.document()
    weights = [
        step["gradient"]["data"]
        for step in document["steps"]
        if step["kind"] == "outcome" and document["tensors"][step["tensor"]]["name"] == "net.weight"
    ]
    np.testing.assert_allclose(weights, np.stack([weight.numpy() for weight, _ in found]), rtol=1e-5)


def test_a_classifier_from_scratch_and_then_with_torch_nn():
    torch.manual_seed(0)
    x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
    weights = (torch.randn(4, 3) / 2).requires_grad_()
    bias = torch.zeros(3, requires_grad=True)
    with ad.trace() as steps:
        logits = x @ weights + bias
        log_probabilities = logits - logits.exp().sum(-1).log().unsqueeze(-1)
        loss = -log_probabilities[range(6), y].mean()
        loss.backward()
        before = weights.grad.clone()
        with torch.no_grad():
            weights -= 0.5 * weights.grad
            bias -= 0.5 * bias.grad
            weights.grad.zero_()
            bias.grad.zero_()
    agree(steps, weights=before)

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = torch.nn.Linear(4, 5)
            self.out = torch.nn.Linear(5, 3)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    net = Classifier()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    with ad.trace() as steps:
        for first in (0, 3):
            optimizer.zero_grad()
            loss = functional.cross_entropy(net(x[first : first + 3]), y[first : first + 3])
            loss.backward()
            optimizer.step()
    agree(steps, **{"net.hidden.weight": net.hidden.weight.grad, "net.out.bias": net.out.bias.grad})
    emptied = [step for step in steps.transcript().splitlines() if "thrown away" in step]
    assert len(emptied) == 1, "the first zero_grad has nothing to throw away, and the second is one step"


def test_a_character_model_with_batch_normalisation_by_hand():
    torch.manual_seed(0)
    letters, context = torch.randint(0, 5, (8, 3)), 3
    target = torch.randint(0, 5, (8,))
    table = torch.randn(5, 2, requires_grad=True)
    w1 = torch.randn(2 * context, 6, requires_grad=True)
    gain, shift = torch.ones(1, 6, requires_grad=True), torch.zeros(1, 6, requires_grad=True)
    w2 = torch.randn(6, 5, requires_grad=True)
    mean_running = torch.zeros(1, 6)
    with ad.trace() as steps:
        embedded = table[letters]
        h = embedded.view(embedded.shape[0], -1) @ w1
        mean = h.mean(0, keepdim=True)
        spread = h.std(0, keepdim=True)
        normal = gain * (h - mean) / (spread + 1e-5) + shift
        with torch.no_grad():
            mean_running = 0.9 * mean_running + 0.1 * mean
        logits = torch.tanh(normal) @ w2
        loss = functional.cross_entropy(logits, target)
        loss.backward()
    agree(steps, table=table.grad, w1=w1.grad, gain=gain.grad, shift=shift.grad, w2=w2.grad)
