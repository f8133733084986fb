"""What a training loop for Keras asks for: optimizers that take pairs, and losses that take what is true first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import nn
from .tensors import tensor_of

Loss = Callable[[Any, Any], Any]


def _apply_pairs(self: Any, grads_and_vars: Iterable[tuple[Any, Any]]) -> None:
    """Take one step along pairs of a gradient and its variable."""
    pairs = list(grads_and_vars)
    self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])


class SGD(nn.SGD):
    """`nn.SGD` with Keras' defaults and its `apply_gradients`."""

    apply_gradients = _apply_pairs

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.0) -> None:
        super().__init__(learning_rate, momentum)


class Adam(nn.Adam):
    """`nn.Adam` with Keras' defaults and its `apply_gradients`.

    Keras adds epsilon before the means are corrected, `nn.Adam` afterwards, as the paper does. Where gradients are near
    1, steps differ in the sixth digit; where they are smaller, sooner.
    """

    apply_gradients = _apply_pairs

    def __init__(
        self, learning_rate: float = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon)


def MeanSquaredError() -> Loss:  # noqa: N802
    """Return a function that calls `nn.mse`."""
    return lambda y_true, y_pred: nn.mse(y := tensor_of(y_pred), tensor_of(y_true, y.dtype))


def CategoricalCrossentropy(*, from_logits: bool = False) -> Loss:  # noqa: N802
    """Return a function that calls `nn.softmax_cross_entropy` with one probability for each class."""
    _check(from_logits)
    return lambda y_true, y_pred: nn.softmax_cross_entropy(y := tensor_of(y_pred), tensor_of(y_true, y.dtype))


def SparseCategoricalCrossentropy(*, from_logits: bool = False) -> Loss:  # noqa: N802
    """Return a function that calls `nn.softmax_cross_entropy` with the numbers of the classes."""
    _check(from_logits)
    return lambda y_true, y_pred: nn.softmax_cross_entropy(tensor_of(y_pred), tensor_of(y_true, int))


def _check(from_logits: bool) -> None:
    if not from_logits:
        raise ValueError("this loss takes logits: write from_logits=True, and leave out the softmax of the last layer")
