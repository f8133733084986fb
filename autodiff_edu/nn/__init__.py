"""Layers, activations, losses and optimizers: enough to train a small network with a tape.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> from autodiff_edu import nn
>>> class Network(nn.Module):
...     def __init__(self):
...         self.hidden, self.last = nn.Dense(8, np.tanh), nn.Dense(1)
...     def __call__(self, x):
...         return self.last(self.hidden(x))
>>> nn.seed(0)
>>> network, optimizer = Network(), nn.Adam(0.05)
>>> x = np.linspace(-1.0, 1.0, 20)[:, None]
>>> for _ in range(300):
...     with ad.GradientTape() as tape:
...         loss = nn.mse(network(x), x**2)
...     variables = network.trainable_variables
...     optimizer.apply(tape.gradient(loss, variables), variables)
>>> float(loss) < 1e-3
True
>>> list(network.named_variables)
['hidden/kernel', 'hidden/bias', 'last/kernel', 'last/bias']
"""

from .functions import elu, log_softmax, mse, relu, sigmoid, softmax, softmax_cross_entropy, softplus
from .initialisers import seed
from .layers import BatchNormalization, Dense
from .module import Module
from .optimizers import SGD, Adam

__all__ = [
    "SGD",
    "Adam",
    "BatchNormalization",
    "Dense",
    "Module",
    "elu",
    "log_softmax",
    "mse",
    "relu",
    "seed",
    "sigmoid",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
]
