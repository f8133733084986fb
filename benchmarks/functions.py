"""What the workloads compute, written once for every namespace `np` that has NumPy's names.

autodiff_edu, HIPS autograd, MyGrad and JAX all run these very functions. Only PyTorch and TensorFlow, whose names
differ, write their own.
"""

from __future__ import annotations

import math


def chain(np, x, steps):
    """Repeat x ← x + 10⁻⁴ sin x: three operations a step."""
    for _ in range(steps):
        x = x + 1e-4 * np.sin(x)
    return x


def tanh(np, x):
    return np.tanh(x)


def relu(np, x):
    return np.maximum(x, 0)


def elu(np, x):
    # the inner minimum keeps expm1 of a large x, and its derivative, from overflowing in the branch not taken
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


ACTIVATIONS = {"tanh": tanh, "relu": relu}


def cross_entropy(np, scores, one_hot):
    """Return the mean softmax cross-entropy; subtracting the largest score keeps exp from overflowing."""
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_total - np.sum(shifted * one_hot, axis=1))


def mlp_loss(np, weights, x, one_hot, activations):
    """Return the loss of a perceptron; `weights` alternate between kernels and biases."""
    for kernel, bias, name in zip(weights[:-2:2], weights[1:-2:2], activations, strict=True):
        x = ACTIVATIONS[name](np, x @ kernel + bias)
    return cross_entropy(np, x @ weights[-2] + weights[-1], one_hot)


def two_tanh(np, x, w1, w2):
    """Map a vector through tanh(W₂ tanh(W₁ x))."""
    return np.tanh(w2 @ np.tanh(w1 @ x))


def two_elu(np, x, w1, b1, w2, b2):
    """Map each row of a batch through two elu layers."""
    return elu(np, elu(np, x @ w1 + b1) @ w2 + b2)


def mean_square(np, kernel, x, bias, kernel2, bias2, activation):
    """Return the mean square of two layers' output, as a function of the first kernel."""
    act = ACTIVATIONS[activation]
    y = act(np, act(np, x @ kernel + bias) @ kernel2 + bias2)
    return np.mean(y * y)


def rosenbrock(np, x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def scale(n):
    """Return the standard deviation that keeps a layer of n inputs from growing or shrinking what it is given."""
    return 1 / math.sqrt(n)
