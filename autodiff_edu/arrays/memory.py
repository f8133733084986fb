"""The memory behind arrays: a view has none of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def owners(values: Iterable[Any]) -> list[Any]:
    """List NumPy's arrays among some values; for a view, the array whose memory it shows.

    Numbers of Python are not counted, and neither are the arrays of other libraries: theirs may be computed elsewhere.

    Examples
    --------
    >>> x = np.ones((2, 3))
    >>> [array.nbytes for array in owners([x, x[0], x.T, 5.0, np.broadcast_to(np.float64(1), 1000)])]
    [48, 48, 48, 8]
    """
    found = []
    for value in values:
        if isinstance(value, np.ndarray | np.generic):
            while isinstance(value.base, np.ndarray):
                value = value.base
            found.append(value)
    return found
