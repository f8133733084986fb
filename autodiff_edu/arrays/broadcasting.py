"""Undoing NumPy's broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np


def unbroadcast(contribution: Any, shape: tuple[int, ...], lead: int) -> Any:
    """Undo broadcasting: sum over the axes that were added or stretched, but not over the `lead` axes in front.

    Examples
    --------
    >>> unbroadcast(np.ones((5, 2, 3)), (5, 3), 1).shape, unbroadcast(np.ones((2, 3)), (2, 1), 0).tolist()
    ((5, 3), [[3.0], [3.0]])
    """
    if added := tuple(range(lead, lead + contribution.ndim - len(shape))):
        contribution = contribution.sum(axis=added)
    stretched = tuple(i for i in range(lead, len(shape)) if shape[i] == 1 and contribution.shape[i] != 1)
    if stretched:
        contribution = contribution.sum(axis=stretched, keepdims=True)
    return contribution if contribution.shape == shape else np.broadcast_to(contribution, shape)
