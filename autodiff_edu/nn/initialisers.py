"""The source of the layers' first values: one random number generator, the same in every run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.validate import is_whole

_generator = np.random.default_rng(0)


def seed(n: int) -> None:
    """Restart the random numbers of the initialisers; without it, they start as with `seed(0)`.

    Parameters
    ----------
    n : int
        Not negative.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from autodiff_edu import nn
    >>> nn.seed(1)
    >>> first = nn.Dense(2)(np.ones(3))
    >>> nn.seed(1)
    >>> bool(np.all(nn.Dense(2)(np.ones(3)) == first))
    True
    """
    global _generator
    if not is_whole(n):
        raise TypeError(f"seed takes an integer, so that every run gives the same numbers; it got {n!r:.60}")
    if n < 0:
        raise ValueError(f"seed takes an integer that is not negative; it got {n}")
    _generator = np.random.default_rng(n)


def glorot_uniform(inputs: int, units: int, dtype: Any) -> np.ndarray:
    """Draw a kernel of shape `(inputs, units)` as Glorot and Bengio (2010) do, to keep the size of signals constant.

    The numbers are uniform between -limit and limit, where limit = sqrt(6 / (inputs + units)).
    """
    limit = np.sqrt(6 / (inputs + units))
    return _generator.uniform(-limit, limit, (inputs, units)).astype(dtype)


def normal(shape: Any, mean: float, deviation: float, dtype: Any) -> np.ndarray:
    """Draw from a normal distribution with this mean and standard deviation."""
    return np.asarray(_generator.normal(mean, deviation, shape)).astype(dtype)
