"""Cases of several operations together."""

import numpy as np

import autodiff_edu as ad

from .case import case


@ad.custom_gradient
def cubed(x):
    return x**3, lambda dy: 3 * dy * x**2


CASES = [
    case("a custom gradient", cubed, (2, 3), real=True),
    case("sum(sin(x) * y)", lambda x, y: np.sum(np.sin(x) * y), (3,), (3,)),
    case("softmax", lambda x: np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True), (2, 3)),
    case("two layers", lambda w, v, x: np.tanh(np.tanh(x @ w) @ v / 4), (3, 4), (4, 2), (2, 3)),
    case("a slice times itself", lambda x: x[1:] * x[:-1], (4,)),
    case("softplus", lambda x: np.logaddexp(x, 0.0), (2, 3), real=True),
    case("variance by hand", lambda x: np.mean((x - np.mean(x, axis=0)) ** 2, axis=0), (3, 2)),
    case("distances", lambda x: np.sum((x[:, None] - x[None]) ** 2, axis=-1), (3, 2)),
    case("a running mean of sorted numbers", lambda x: np.cumsum(np.sort(x)) / np.arange(1, 5), (4,), real=True),
]
