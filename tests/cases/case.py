"""What a case is, and the numbers that several tables share."""

from typing import Any, NamedTuple

import numpy as np
from differences import draw


class Case(NamedTuple):
    """A function and its arguments: a tuple is a shape, for which numbers are drawn; all else is taken as it is."""

    name: str
    function: Any
    specifications: tuple
    positive: bool = False  # draw only positive numbers
    real: bool = False  # the function has no complex derivative
    half: bool = True  # the function takes float16

    def arguments(self, dtype="float64"):
        drawn = []
        for position, given in enumerate(self.specifications):
            if isinstance(given, tuple):
                given = draw(given, self.name, position, dtype=dtype)
                given = (
                    np.asarray(abs(given.real) + 1j * given.imag if given.dtype.kind == "c" else abs(given), dtype)
                    if self.positive
                    else given
                )
            drawn.append(np.asarray(given, dtype))
        return drawn


NUMPY = np.lib.NumpyVersion(np.__version__)  # for what older ones do not take


def case(name, function, *specifications, **options):
    return Case(name, function, specifications, **options)


def joined(parts):
    """All results of a function that has several, in one array."""
    return np.concatenate([np.ravel(part) for part in parts])


SPREAD = np.array([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75]])  # no two elements alike

MASK = np.array([[True, False, True], [False, True, True]])
