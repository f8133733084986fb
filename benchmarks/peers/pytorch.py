"""PyTorch, as its eager tape and as the transforms of `torch.func`."""

from __future__ import annotations

import torch
from torch.nn import functional

from . import UnsupportedError

torch.set_num_threads(1)

ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu}


def tensors(*arrays, grad=False):
    return [torch.tensor(a, requires_grad=grad) for a in arrays]


def chain(x, steps):
    for _ in range(steps):
        x = x + 1e-4 * torch.sin(x)
    return x


def mlp_loss(weights, x, labels, activations):
    for kernel, bias, name in zip(weights[:-2:2], weights[1:-2:2], activations, strict=True):
        x = ACTIVATIONS[name](x @ kernel + bias)
    return functional.cross_entropy(x @ weights[-2] + weights[-1], labels)


def two_elu(x, w1, b1, w2, b2):
    return functional.elu(functional.elu(x @ w1 + b1) @ w2 + b2)


def two_tanh(w):
    w1, w2 = tensors(w.w1, w.w2)
    return lambda x: torch.tanh(w2 @ torch.tanh(w1 @ x))


def mean_square(w):
    x, bias, kernel2, bias2 = tensors(w.x, w.bias, w.kernel2, w.bias2)
    act = ACTIVATIONS[w.activation]
    return lambda kernel: torch.mean(act(act(x @ kernel + bias) @ kernel2 + bias2) ** 2)


def rosenbrock(x):
    return torch.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


class Eager:
    name, title, module = "pytorch", "PyTorch eager", "torch"

    def numpy(self, result):
        return [t.numpy() for t in result] if isinstance(result, list | tuple) else result.numpy()

    def chain(self, w):
        x = torch.tensor(w.x, dtype=torch.float64, requires_grad=True)
        return lambda: torch.autograd.grad(chain(x, w.steps), x)[0]

    def mlp(self, w):
        weights, (x, labels) = tensors(*w.weights, grad=True), tensors(w.x, w.labels)
        return lambda: torch.autograd.grad(mlp_loss(weights, x, labels, w.activations), weights)

    def jacobian(self, w):
        f, (x,) = two_tanh(w), tensors(w.x)
        return lambda: torch.autograd.functional.jacobian(f, x)

    def batch_jacobian(self, w):
        (x,), layers = tensors(w.x, grad=True), tensors(w.w1, w.b1, w.w2, w.b2)

        def run():
            y = two_elu(x, *layers).sum(0)
            return torch.stack([torch.autograd.grad(component, x, retain_graph=True)[0] for component in y], 1)

        return run

    def hessian(self, w):
        f, (kernel,) = mean_square(w), tensors(w.kernel)
        return lambda: torch.autograd.functional.hessian(f, kernel)

    def hvp(self, w):
        weights, vector, (x, labels) = tensors(*w.weights, grad=True), tensors(*w.vector), tensors(w.x, w.labels)

        def run():
            loss = mlp_loss(weights, x, labels, w.activations)
            slope = torch.autograd.grad(loss, weights, create_graph=True)
            return torch.autograd.grad(slope, weights, vector)

        return run

    def rosenbrock(self, w):
        (x,) = tensors(w.x, grad=True)
        return lambda: torch.autograd.grad(rosenbrock(x), x)[0]


class Func(Eager):
    name, title = "torch.func", "torch.func"

    def numpy(self, result):
        return [t.detach().numpy() for t in result] if isinstance(result, list | tuple) else result.detach().numpy()

    def chain(self, w):
        raise UnsupportedError("torch.func.grad runs PyTorch's eager tape here, which has its own column")

    mlp = rosenbrock = chain

    def jacobian(self, w):
        jacobian, (x,) = torch.func.jacrev(two_tanh(w)), tensors(w.x)
        return lambda: jacobian(x)

    def batch_jacobian(self, w):
        (x,), layers = tensors(w.x), tensors(w.w1, w.b1, w.w2, w.b2)
        jacobian = torch.func.vmap(torch.func.jacrev(lambda row: two_elu(row, *layers)))
        return lambda: jacobian(x)

    def hessian(self, w):
        hessian, (kernel,) = torch.func.hessian(mean_square(w)), tensors(w.kernel)
        return lambda: hessian(kernel)

    def hvp(self, w):
        weights, vector, (x, labels) = tuple(tensors(*w.weights)), tuple(tensors(*w.vector)), tensors(w.x, w.labels)
        slope = torch.func.grad(lambda weights: mlp_loss(weights, x, labels, w.activations))
        return lambda: torch.func.jvp(slope, (weights,), (vector,))[1]


PEERS = [Eager(), Func()]
