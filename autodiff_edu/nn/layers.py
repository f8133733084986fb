"""Layers: modules that create their variables when they see their first input.

>>> import numpy as np
>>> from autodiff_edu import nn
>>> layer = nn.Dense(10, activation=nn.relu)
>>> layer(np.ones((7, 5))).shape
(7, 10)
>>> {name: variable.shape for name, variable in layer.named_variables.items()}
{'kernel': (5, 10), 'bias': (10,)}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..arrays.structures import as_array
from ..arrays.validate import is_whole
from ..core.variable import Variable
from ..rules.operations import array_of
from .functions import elu, relu, sigmoid, softmax, softplus
from .initialisers import glorot_uniform
from .module import Module

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": relu, "elu": elu, "sigmoid": sigmoid, "softplus": softplus, "softmax": softmax, "tanh": np.tanh,
}  # fmt: skip


class Dense(Module):
    """Multiply by a matrix, add a bias, and apply an activation: `activation(inputs @ kernel + bias)`.

    Parameters
    ----------
    units : int
        How many outputs.
    activation : callable or str, optional
        A function of tensors: `nn.relu`, `np.tanh`, or one of your own. Or a name: "relu", "elu", "sigmoid",
        "softplus", "softmax" or "tanh".

    Attributes
    ----------
    kernel : Variable or None
        Of shape `(inputs, units)` and the dtype of the first input; None before it. Drawn from Glorot and Bengio's
        uniform distribution ("Understanding the difficulty of training deep feedforward neural networks", 2010).
    bias : Variable or None
        Of shape `(units,)`, zeros at first.

    Raises
    ------
    ValueError
        If `units` is not a positive integer, or no activation has that name. When called: if the input is a scalar, or
        the length of its last axis differs from the first input's.
    TypeError
        If the activation is not a function. When called: if the input does not hold floats.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> layer = nn.Dense(2)
    >>> with ad.GradientTape() as tape:
    ...     y = layer(np.array([[1.0, 2.0, 3.0]]))
    >>> tape.gradient(y, layer.bias)
    Tensor([1., 1.])
    """

    def __init__(self, units: int, activation: Callable[[Any], Any] | str | None = None) -> None:
        if not is_whole(units) or units < 1:
            raise ValueError(f"Dense takes a positive integer as its number of units, as in Dense(10); got {units!r}")
        if isinstance(activation, str):
            activation = _activation(activation)
        if activation is not None and not callable(activation):
            raise TypeError(
                f"the activation of a Dense layer is a function, as in Dense(10, nn.relu); got {activation!r}"
            )
        self.units = int(units)
        self.activation = activation
        self.kernel: Any = None
        self.bias: Any = None

    def __call__(self, inputs: Any) -> Any:
        """Compute outputs of shape `(..., units)` from inputs of shape `(..., inputs)`."""
        inputs = _check(self, inputs, self.kernel, "(..., inputs)", rank=1)
        if self.kernel is None:
            self.kernel = Variable(glorot_uniform(inputs.shape[-1], self.units, inputs.dtype), name="kernel")
            self.bias = Variable(np.zeros(self.units, inputs.dtype), name="bias")
        outputs = inputs @ self.kernel + self.bias
        return outputs if self.activation is None else self.activation(outputs)


class BatchNormalization(Module):
    """Shift and scale every feature to mean 0 and variance 1 over the batch, then by the learnt gamma and beta.

    In training, mean and variance are those of the batch, over all axes but the last; the moving statistics follow
    them. Otherwise the moving statistics are used, and samples do not depend on each other (Ioffe and Szegedy 2015).

    Parameters
    ----------
    momentum : float
        How much of the moving statistics each batch keeps, from 0 to 1.
    epsilon : float
        Added to the variance, so that it is never 0.

    Attributes
    ----------
    gamma, beta : Variable or None
        Of shape `(features,)` and the dtype of the first input, ones and zeros at first; None before it.
    moving_mean, moving_variance : Variable or None
        Of the same shape, zeros and ones at first. Not trainable.

    Raises
    ------
    ValueError
        If momentum or epsilon is out of range. When called: if the input has no axis of samples, or no samples to train
        on, or the length of its last axis differs from the first input's.
    TypeError
        When called: if the input does not hold floats.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_edu import nn
    >>> layer = nn.BatchNormalization(momentum=0.5)
    >>> x = np.array([[1.0], [3.0]])
    >>> layer(x, training=True)
    Tensor([[-0.9995],
            [ 0.9995]])
    >>> layer.moving_mean, layer.moving_variance
    (Variable('moving_mean', [1.]), Variable('moving_variance', [1.]))
    """

    def __init__(self, momentum: float = 0.99, epsilon: float = 1e-3) -> None:
        if not 0 <= momentum <= 1:
            raise ValueError(f"the momentum of a BatchNormalization lies between 0 and 1; got {momentum!r}")
        if not epsilon >= 0:
            raise ValueError(f"the epsilon of a BatchNormalization must not be negative; got {epsilon!r}")
        self.momentum, self.epsilon = momentum, epsilon
        self.gamma: Any = None
        self.beta: Any = None
        self.moving_mean: Any = None
        self.moving_variance: Any = None

    def __call__(self, inputs: Any, training: bool = False) -> Any:
        """Normalise inputs of shape `(samples, ..., features)`; in training by their own mean and variance."""
        inputs = _check(self, inputs, self.gamma, "(samples, ..., features)", rank=2)
        if training and inputs.size == 0:
            raise ValueError(f"inputs of shape {inputs.shape} have no mean to train on; skip empty batches")
        if self.gamma is None:
            self._build(inputs.shape[-1], inputs.dtype)
        if training:
            axes = tuple(range(inputs.ndim - 1))
            mean = np.mean(inputs, axis=axes)
            centred = inputs - mean
            variance = np.mean(np.square(centred), axis=axes)
            self._follow(mean, variance)
        else:
            centred, variance = inputs - self.moving_mean, self.moving_variance
        return centred / np.sqrt(variance + self.epsilon) * self.gamma + self.beta

    def _build(self, features: int, dtype: Any) -> None:
        ones, zeros = np.ones(features, dtype), np.zeros(features, dtype)
        self.gamma, self.beta = Variable(ones, name="gamma"), Variable(zeros, name="beta")
        self.moving_mean = Variable(zeros, trainable=False, name="moving_mean")
        self.moving_variance = Variable(ones, trainable=False, name="moving_variance")

    def _follow(self, mean: Any, variance: Any) -> None:
        """Move the moving statistics towards those of a batch, in plain arrays: this is not part of the function."""
        for moving, batch in ((self.moving_mean, mean), (self.moving_variance, variance)):
            moving.assign(self.momentum * array_of(moving) + (1 - self.momentum) * array_of(batch))


def _activation(name: str) -> Callable[[Any], Any]:
    if name not in ACTIVATIONS:
        raise ValueError(
            f"{name!r:.60} is not the name of an activation; those are {', '.join(map(repr, ACTIVATIONS))}. "
            "For any other, pass the function itself"
        )
    return ACTIVATIONS[name]


def _check(layer: Module, inputs: Any, built: Variable | None, axes: str, rank: int) -> Any:
    """Return the inputs as a tensor or an array, if their rank, dtype and last axis are right."""
    name = type(layer).__name__
    inputs = as_array(inputs)
    shape = np.shape(inputs)
    if len(shape) < rank:
        raise ValueError(f"{name} takes inputs of shape {axes}; got shape {shape}, so reshape them first")
    dtype = getattr(inputs, "dtype", None)
    if dtype is None or dtype.kind != "f":
        raise TypeError(
            f"{name} takes a tensor or an array of real floating-point numbers, whose dtype its variables take on; got "
            f"{type(inputs).__name__ if dtype is None else dtype}. Convert it first: inputs.astype(float), or join "
            "several with np.stack(inputs)"
        )
    if built is not None and shape[-1] != built.shape[0]:
        raise ValueError(
            f"this {name} was built for inputs with a last axis of {built.shape[0]}, by its first call; got shape "
            f"{shape}. Create a new layer for these inputs"
        )
    return inputs


class Sequential(Module):
    """Layers, one after the other."""

    def __init__(self, layers: Iterable[Any] = ()) -> None:
        self.layers = list(layers)

    def __call__(self, inputs: Any, training: bool = False) -> Any:
        """Pass the inputs through all layers; tell sequences and batch normalization whether this is training."""
        for layer in self.layers:
            told = {"training": training} if isinstance(layer, Sequential | BatchNormalization) else {}
            inputs = layer(inputs, **told)
        return inputs
