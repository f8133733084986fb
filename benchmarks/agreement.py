"""Whether a result is the one by hand: nothing is timed that is not."""

from __future__ import annotations

import numpy as np


def to_numpy(result):
    return [t.numpy() for t in result] if isinstance(result, list | tuple) else result.numpy()


def disagreement(result, expected):
    """Return how a result differs from the one by hand; the empty string where it does not."""
    if not isinstance(expected, list):
        result, expected = [result], [expected]
    if len(result) != len(expected):
        return f"{len(result)} arrays in place of {len(expected)}"
    for k, (a, b) in enumerate(zip(result, expected, strict=True)):
        if np.shape(a) != np.shape(b):
            return f"array {k} has shape {np.shape(a)} in place of {np.shape(b)}"
        largest = np.max(np.abs(b))
        if not np.allclose(a, b, rtol=1e-7, atol=1e-9 * largest):
            return f"array {k} is off by {np.max(np.abs(a - b)):.1e}, where the largest element is {largest:.1e}"
    return ""
