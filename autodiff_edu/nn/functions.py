"""Activations and losses, written in NumPy: the tape sees exactly the code written here.

They take tensors and plain arrays alike, keep float32, and are stable: at ±1000 neither they nor their derivatives
overflow or turn into NaN.

>>> import autodiff_edu as ad
>>> from autodiff_edu import nn
>>> nn.softmax(ad.constant([-1000.0, 0.0, 1000.0]))
Tensor([0., 0., 1.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.provenance import unmark
from ..core.tensor import Tensor
from ..custom import stop_gradient
from ..rules.operations import array_of, require


def relu(x: Any) -> Any:
    """Return x where it is positive, else 0, element by element; the derivative at 0 is 0.

    It consists of straight lines, so its second derivative is 0: for a tape, its gradient is unconnected to `x`.

    Parameters
    ----------
    x : Tensor or ndarray
        Of any shape.

    Returns
    -------
    Tensor or ndarray
        Like `x`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> ad.grad(nn.relu)([-1.0, 0.0, 2.0])
    Tensor([0., 0., 1.])
    """
    return np.where(x <= 0, 0, x)  # and so NaN stays NaN


def elu(x: Any) -> Any:
    """Return x where it is positive, else exp(x) - 1 (Clevert, Unterthiner and Hochreiter 2016).

    Parameters and result are those of `relu`. The derivative at 0 is 1, and the second one is 0.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> ad.grad(nn.elu)([-1.0, 0.0, 2.0])
    Tensor([0.367879, 1.      , 1.      ])
    """
    negative = np.where(x < 0, x, 0)  # the branch that is not taken must not overflow either: hence where, twice
    return np.where(x < 0, np.expm1(negative), x)


def softplus(x: Any) -> Any:
    """Return log(1 + exp(x)), a smooth version of relu. Parameters and result are those of `relu`.

    Examples
    --------
    >>> from autodiff_edu import nn
    >>> print(nn.softplus(1000.0))
    1000.0
    """
    return np.logaddexp(x, 0)  # log(exp(x) + exp(0)), without computing exp(x)


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)), accurate in both tails. Parameters and result are those of `relu`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> ad.value_and_grad(nn.sigmoid)(0.0)
    (Tensor(0.5), Tensor(0.25))
    """
    return np.exp(-softplus(-x))


def softmax(x: Any, axis: int = -1) -> Any:
    """Turn scores into probabilities: exp(x) divided by its sum along an axis.

    Parameters
    ----------
    x : Tensor or ndarray
        Of rank 1 or more.
    axis : int
        The axis along which the results add up to 1.

    Returns
    -------
    Tensor or ndarray
        Like `x`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> nn.softmax(ad.constant([0.0, 0.0, 1000.0]))  # no overflow
    Tensor([0., 0., 1.])
    """
    exponential = np.exp(_shift(x, axis))
    return exponential / np.sum(exponential, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """Return the logarithm of `softmax`, even where that underflows to 0. Parameters and result are the same.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> nn.log_softmax(ad.constant([0.0, 1000.0]))
    Tensor([-1000.,     0.])
    """
    shifted = _shift(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def _shift(x: Any, axis: int) -> Any:
    """Subtract the largest element, so that exp cannot overflow.

    Softmax is the same for all shifts, so what would flow back through the shift adds up to 0 but for rounding.
    """
    return x - stop_gradient(np.max(x, axis=axis, keepdims=True))


def mse(prediction: Any, target: Any) -> Any:
    """Average the squares of the differences.

    Parameters
    ----------
    prediction, target : Tensor or array_like
        Of the same shape; either may be a scalar.

    Returns
    -------
    Tensor or number
        A scalar.

    Raises
    ------
    ValueError
        If the shapes differ. Broadcasting (n, 1) against (n,) would compare every sample with every other.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> nn.mse(ad.constant([1.0, 2.0]), [1.0, 4.0])
    Tensor(2.)
    """
    shape, wanted = np.shape(prediction), np.shape(target)
    if shape != wanted and shape and wanted:
        raise ValueError(
            f"mse got a prediction of shape {shape} and a target of shape {wanted}; they must be the same, so reshape "
            "one of them: mse(prediction, target.reshape(prediction.shape))"
        )
    return np.mean(np.square(np.subtract(prediction, target)))


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the average of -log p, where p is the probability that softmax gives the right class.

    Parameters
    ----------
    logits : Tensor or ndarray
        Scores of shape `(..., classes)`, before any softmax.
    labels : Tensor or array_like
        Class numbers, integers of shape `(...)`; or one probability per class (such as one-hot), of the logits' shape.

    Returns
    -------
    Tensor or number
        A scalar.

    Raises
    ------
    ValueError
        If the labels have another shape, or a label is not a class.
    TypeError
        If class numbers are floats.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> from autodiff_edu import nn
    >>> logits = ad.constant([[2.0, 0.0, 0.0], [0.0, 0.0, 1000.0]])
    >>> nn.softmax_cross_entropy(logits, [0, 2]), nn.softmax_cross_entropy(logits, [[1, 0, 0], [0, 0, 1]])
    (Tensor(0.119772), Tensor(0.119772))
    """
    if not hasattr(logits, "dtype"):
        logits = np.asarray(logits, float)
    if not hasattr(labels, "dtype"):
        labels = np.asarray(labels)
    surprise = -log_softmax(logits)
    if labels.shape == logits.shape != ():
        expected = labels * surprise
    else:
        labels = _as_classes(labels, logits)
        right = labels[..., None] == np.arange(logits.shape[-1])
        expected = np.where(right, surprise, 0)
    return np.mean(np.sum(expected, axis=-1))


def _as_classes(labels: Any, logits: Any) -> Any:
    """Return the labels; raise an error unless they are one class number for each sample of the logits."""
    shape = logits.shape
    if shape == () or labels.shape != shape[:-1]:
        raise ValueError(
            f"softmax_cross_entropy got logits of shape {shape} and labels of shape {labels.shape}; pass one integer "
            f"for each sample, shape {shape[:-1]}, or one probability for each class, shape {shape}"
        )
    if labels.dtype.kind not in "iu":
        raise TypeError(
            f"labels of shape {labels.shape} are class numbers, so they must be integers, but they are {labels.dtype}; "
            "write labels.astype(int)"
        )
    numbers: Any = unmark(labels._array if isinstance(labels, Tensor) else labels)
    computed = isinstance(numbers, np.ndarray | np.generic)  # another library's array may not be computed, and stays so
    if not computed:
        return labels
    if np.any((numbers < 0) | (numbers >= shape[-1])):
        index = tuple(map(int, np.argwhere((numbers < 0) | (numbers >= shape[-1]))[0]))
        place = f"labels[{', '.join(map(str, index))}]" if index else "labels"
        raise ValueError(
            f"{place} is {int(numbers[index])}, but logits of shape {shape} have the classes 0 to {shape[-1] - 1}"
        )
    asked = array_of(labels)
    error = ValueError(f"a label is not one of the classes 0 to {shape[-1] - 1}")
    return require(labels, (asked < 0) | (asked >= shape[-1]), error)
