"""Rules of the functions that work element by element: their Jacobians are diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor import apply
from .kinds import SPELLED, elementwise, step
from .operations import clip

LOG10, LOG2 = float(np.log(10.0)), float(np.log(2.0))


def lowered(p: Any) -> Any:
    """Give the exponent of a power's derivative; where p is 0 the factor p decides, so any finite power will do."""
    return (p - 1 if p != 0 else p) if isinstance(p, int | float) else np.where(p == 0, p, p - 1)


def is_complex(x: Any) -> bool:
    """Tell whether an array, a tensor or a number is complex."""
    return x.dtype.kind == "c" if hasattr(x, "dtype") else isinstance(x, complex)


def direction(x: Any, y: Any) -> Any:
    """Give the derivative of y = |x|: the sign, or conj(x)/|x| of a complex number; 0 at 0."""
    return np.conjugate(x) / np.where(y == 0, 1, y) if is_complex(x) else np.sign(x)


def log_of_base(x: Any) -> Any:
    """Give log x where x > 0, and 0 elsewhere: there x**p has no real derivative by p but the one from 0**p = 0."""
    usable = x != 0 if is_complex(x) else x > 0
    return np.where(usable, np.log(np.where(usable, x, 1)), 0)


def share(x: Any, z: Any, other: Any) -> Any:
    """Give the part of the cotangent that goes to x where z is the larger, or smaller, of two: a half at a tie."""
    return (x == z) / (1.0 + (x == other))


def spelled_clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    """Accept the bounds under each of the names that NumPy gives them."""
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    return clip(a, -np.inf if low is None else low, np.inf if high is None else high)


SPELLED[np.clip] = spelled_clip
SPELLED[np.where] = lambda c, *branches: apply(np.where, (c, *branches)) if branches else np.nonzero(c)

# fmt: off
elementwise(np.positive,   lambda g, y, x: g)
elementwise(np.negative,   lambda g, y, x: -g)
elementwise(np.absolute,   lambda g, y, x: g * direction(x, y))
elementwise(np.exp,        lambda g, y, x: g * y)
elementwise(np.expm1,      lambda g, y, x: g * (y + 1))
elementwise(np.log,        lambda g, y, x: g / x)
elementwise(np.log1p,      lambda g, y, x: g / (x + 1))
elementwise(np.log2,       lambda g, y, x: g / (x * LOG2))
elementwise(np.log10,      lambda g, y, x: g / (x * LOG10))
elementwise(np.sqrt,       lambda g, y, x: g / (2 * y))
elementwise(np.square,     lambda g, y, x: g * (2 * x))
elementwise(np.reciprocal, lambda g, y, x: -g * y * y)
elementwise(np.sin,        lambda g, y, x: g * np.cos(x))
elementwise(np.cos,        lambda g, y, x: -g * np.sin(x))
elementwise(np.tan,        lambda g, y, x: g * (1 + y * y))
elementwise(np.sinh,       lambda g, y, x: g * np.cosh(x))
elementwise(np.cosh,       lambda g, y, x: g * np.sinh(x))
elementwise(np.tanh,       lambda g, y, x: g * (1 - y * y))
elementwise(np.arctan,     lambda g, y, x: g / (1 + x * x))
elementwise(np.conjugate,  lambda g, y, x: np.conjugate(g))
elementwise(np.real,       lambda g, y, x: g)
elementwise(np.imag,       lambda g, y, x: g * -1j)

elementwise(np.add,        lambda g, z, x, y: g,
                           lambda g, z, x, y: g)
elementwise(np.subtract,   lambda g, z, x, y: g,
                           lambda g, z, x, y: -g)
elementwise(np.multiply,   lambda g, z, x, y: g * y,
                           lambda g, z, x, y: g * x)
elementwise(np.divide,     lambda g, z, x, y: g / y,
                           lambda g, z, x, y: -g * z / y)
elementwise(np.power,      lambda g, z, x, p: g * (p * x ** lowered(p)),
                           lambda g, z, x, p: g * (z * log_of_base(x)))
elementwise(np.maximum,    lambda g, z, x, y: g * share(x, z, y),
                           lambda g, z, x, y: g * share(y, z, x))
elementwise(np.minimum,    lambda g, z, x, y: g * share(x, z, y),
                           lambda g, z, x, y: g * share(y, z, x))
elementwise(np.where,      None,
                           lambda g, z, c, x, y: np.where(c, g, 0),
                           lambda g, z, c, x, y: np.where(c, 0, g))
elementwise(clip,          lambda g, z, x, low, high: g * ((x >= low) & (x <= high)),
                           lambda g, z, x, low, high: g * (x < low),
                           lambda g, z, x, low, high: g * (x > high))

elementwise(np.remainder,  lambda g, z, x, y: g,
                           lambda g, z, x, y: -g * np.floor_divide(x, y))

step(np.sign, np.floor, np.ceil, np.rint, np.round, np.trunc, np.heaviside, np.floor_divide, np.signbit,
     np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
     np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert,
     np.isnan, np.isinf, np.isfinite, np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
