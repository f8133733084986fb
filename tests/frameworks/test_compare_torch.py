"""Runs of PyTorch, and of NumPy beside PyTorch, compared: the first step that differs is found, with both numbers."""

import copy

import numpy as np
import pytest
import torch

import autodiff_edu as ad

pytestmark = pytest.mark.torch

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
W = np.array([[0.3, -0.6], [0.9, 0.2], [-0.5, 0.7]])


def with_numpy(x, w):
    h = np.tanh(x @ w)
    e = np.exp(h)
    p = e / np.sum(e)
    return np.sum(p * h)


def with_torch(x, w):
    h = torch.tanh(x @ w)
    e = torch.exp(h)
    p = e / torch.sum(e)
    return torch.sum(p * h)


def detached(x, w):
    h = torch.tanh(x @ w)
    e = torch.exp(h)
    p = e / torch.sum(e.detach())
    return torch.sum(p * h)


def paused(x, w):
    h = torch.tanh(x @ w)
    e = torch.exp(h)
    with torch.no_grad():
        s = torch.sum(e)
    p = e / s
    return torch.sum(p * h)


def mean_for_sum(x, w):
    h = torch.tanh(x @ w)
    e = torch.exp(h)
    p = e / torch.mean(e)
    return torch.sum(p * h)


def single(x, w):
    h = torch.tanh((x @ w).float())
    e = torch.exp(h)
    p = e / torch.sum(e)
    return torch.sum(p * h)


def wrong_sign(x, w):
    h = torch.tanh(x @ w)
    e = torch.exp(-h)
    p = e / torch.sum(e)
    return torch.sum(p * h)


def test_the_same_in_numpy_and_in_pytorch():
    found = ad.compare(with_numpy, with_torch, X, W, framework=(None, "torch"))
    assert found, found


def test_a_module_agrees_with_its_copy():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    assert ad.compare(net, copy.deepcopy(net), torch.tensor(X, dtype=torch.float32))


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (detached, "p = e / torch.sum(e.detach())"),
        (paused, "s = torch.sum(e)"),
        (mean_for_sum, "p = e / torch.mean(e)"),
        (single, "h = torch.tanh((x @ w).float())"),
        (wrong_sign, "e = torch.exp(-h)"),
    ],
)
@pytest.mark.parametrize("first", [with_numpy, with_torch])
def test_the_line_of_a_planted_difference(first, other, line):
    found = ad.compare(first, other, X, W, framework=(None if first is with_numpy else "torch", "torch"))
    assert not found
    assert line in str(found)
