"""Rules for functions that work element by element: their Jacobians are diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.composites import SPELLED
from ..core.rule import elementwise, general, step
from ..core.tensor import apply
from .operations import alias, bessel, clip, complex_sign, sinc_derivative, stop_gradient

LOG10, LOG2 = float(np.log(10.0)), float(np.log(2.0))
DEGREE = float(np.pi / 180)


def lower_exponent(p: Any) -> Any:
    """Return the exponent of a power's derivative; where p is 0 the factor p decides, so any finite power will do."""
    return (p - 1 if p != 0 else p) if isinstance(p, int | float) else np.where(p == 0, p, p - 1)


def is_complex(x: Any) -> bool:
    """Return whether an array, a tensor or a number is complex."""
    return x.dtype.kind == "c" if hasattr(x, "dtype") else isinstance(x, complex)


def direction(x: Any, y: Any) -> Any:
    """Return the derivative of y = |x|: the sign, or conj(x)/|x| for a complex number; 0 at 0."""
    return np.conjugate(x) / length_or_one(y) if is_complex(x) else np.sign(x)


def pull_complex_sign(g: Any, y: Any, z: Any) -> Any:
    """Pull back through z/|z|: only a change at right angles to z turns it; 0 at 0."""
    return np.where(y == 0, 0, (g - np.conjugate(g * y * y)) / (2 * or_one(np.abs(z))))


def log_of_base(x: Any) -> Any:
    """Return log x where x > 0, and 0 elsewhere: there the only real d(x**p)/dp is that of 0**p = 0."""
    usable = x != 0 if is_complex(x) else x > 0
    return np.where(usable, np.log(np.where(usable, x, 1)), 0)


def or_one(x: Any) -> Any:
    """Return a divisor that is never 0, for quotients whose numerator is 0 in the same place."""
    return np.where(x == 0, 1, x)


def length_or_one(y: Any) -> Any:
    """Return a length as a divisor, 1 where it is 0: there its gradient is 0, but its second derivative does not exist.

    The root is 0 there, and its infinite slope, times 0, makes the second derivative NaN in both modes.
    """
    return np.where(y == 0, 1 + np.sqrt(y), y)


def share(g: Any, x: Any, z: Any, other: Any) -> Any:
    """Return x's part of the cotangent where z, the larger or smaller of two, is x; a half at a tie.

    Elsewhere an infinite cotangent (from a root at 0, say) is cut off, not multiplied by 0.
    """
    return np.where(x == z, g, 0) / (1.0 + (x == other))


def part_of_sum(x: Any, y: Any, exp: Any) -> Any:
    """Return exp(x) / (exp(x) + exp(y)) to the last digit, by dividing the smaller by the larger; 1/2 at a tie.

    It is a function of x - y on either side of 0, so that its derivatives are right at 0 too.
    """
    with np.errstate(invalid="ignore"):  # inf - inf
        difference = x - y
    difference = np.where(np.isnan(difference) & (x == y), 0, difference)
    above = difference >= 0
    smaller = exp(np.where(above, -difference, difference))
    return np.where(above, 1, smaller) / (1 + smaller)


def spelled_clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    """Accept the bounds under either of NumPy's names for them."""
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    lowest, highest = -np.inf, np.inf
    if hasattr(a, "dtype") and a.dtype.kind in "iu":
        lowest, highest = np.iinfo(a.dtype).min, np.iinfo(a.dtype).max
    return clip(a, lowest if low is None else low, highest if high is None else high)


SPELLED[np.clip] = spelled_clip
SPELLED[np.sign] = lambda x: complex_sign(x) if is_complex(x) else apply(np.sign, (x,))  # a step, if it is real
SPELLED[np.where] = lambda c, *branches: apply(np.where, (c, *branches)) if branches else np.nonzero(c)

# fmt: off
elementwise(np.positive,    lambda g, y, x: g)
elementwise(np.negative,    lambda g, y, x: -g)
elementwise(np.absolute,    lambda g, y, x: g * direction(x, y))
general(complex_sign,       pull_complex_sign)
elementwise(np.fabs,        lambda g, y, x: g * np.sign(x))
elementwise(np.reciprocal,  lambda g, y, x: -g * y * y)
elementwise(np.square,      lambda g, y, x: g * (2 * x))
elementwise(np.sqrt,        lambda g, y, x: g / (2 * y))
elementwise(np.cbrt,        lambda g, y, x: g / (3 * y * y))
elementwise(np.exp,         lambda g, y, x: g * y)
elementwise(np.exp2,        lambda g, y, x: g * (y * LOG2))
elementwise(np.expm1,       lambda g, y, x: g * (y + 1))
elementwise(np.log,         lambda g, y, x: g / x)
elementwise(np.log2,        lambda g, y, x: g / (x * LOG2))
elementwise(np.log10,       lambda g, y, x: g / (x * LOG10))
elementwise(np.log1p,       lambda g, y, x: g / (x + 1))
elementwise(np.sin,         lambda g, y, x: g * np.cos(x))
elementwise(np.cos,         lambda g, y, x: -g * np.sin(x))
elementwise(np.tan,         lambda g, y, x: g * (1 + y * y))
elementwise(np.arcsin,      lambda g, y, x: g / np.sqrt(1 - x * x))
elementwise(np.arccos,      lambda g, y, x: -g / np.sqrt(1 - x * x))
elementwise(np.arctan,      lambda g, y, x: g / (1 + x * x))
elementwise(np.sinh,        lambda g, y, x: g * np.cosh(x))
elementwise(np.cosh,        lambda g, y, x: g * np.sinh(x))
elementwise(np.tanh,        lambda g, y, x: g * (1 - y * y))
elementwise(np.arcsinh,     lambda g, y, x: g / np.sqrt(x * x + 1))
elementwise(np.arccosh,     lambda g, y, x: g / (np.sqrt(x - 1) * np.sqrt(x + 1)))
elementwise(np.arctanh,     lambda g, y, x: g / (1 - x * x))
elementwise(sinc_derivative, lambda g, y, x, n: g * sinc_derivative(x, n + 1))
elementwise(np.i0,          lambda g, y, x: g * bessel(x, 1))
elementwise(bessel,         lambda g, y, x, n: g * (bessel(x, n - 1) + bessel(x, n + 1)) / 2)
elementwise(np.deg2rad,     lambda g, y, x: g * DEGREE)
elementwise(np.radians,     lambda g, y, x: g * DEGREE)
elementwise(np.rad2deg,     lambda g, y, x: g / DEGREE)
elementwise(np.degrees,     lambda g, y, x: g / DEGREE)
elementwise(np.conjugate,   lambda g, y, x: np.conjugate(g))
elementwise(np.real,        lambda g, y, x: g)
elementwise(np.imag,        lambda g, y, x: g * -1j)
elementwise(np.angle,       lambda g, y, x, deg=False: g * (-1j / x) / (DEGREE if deg else 1))
elementwise(np.nan_to_num,  lambda g, y, x, *_, **__: np.where(np.isfinite(x), g, 0))

elementwise(np.add,         lambda g, z, x, y: g,
                            lambda g, z, x, y: g)
elementwise(np.subtract,    lambda g, z, x, y: g,
                            lambda g, z, x, y: -g)
elementwise(np.multiply,    lambda g, z, x, y: g * y,
                            lambda g, z, x, y: g * x)
elementwise(np.divide,      lambda g, z, x, y: g / y,
                            lambda g, z, x, y: -g * z / y)
elementwise(np.power,       lambda g, z, x, p: g * (p * x ** lower_exponent(p)),
                            lambda g, z, x, p: g * (z * log_of_base(x)))
elementwise(np.float_power, lambda g, z, x, p: g * (p * np.float_power(x, lower_exponent(p))),
                            lambda g, z, x, p: g * (z * log_of_base(x)))
elementwise(np.remainder,   lambda g, z, x, y: g,
                            lambda g, z, x, y: -g * np.floor_divide(x, y))
elementwise(np.fmod,        lambda g, z, x, y: g,
                            lambda g, z, x, y: -g * np.trunc(x / y))
elementwise(np.maximum,     lambda g, z, x, y: share(g, x, z, y),
                            lambda g, z, x, y: share(g, y, z, x))
elementwise(np.minimum,     lambda g, z, x, y: share(g, x, z, y),
                            lambda g, z, x, y: share(g, y, z, x))
elementwise(np.fmax,        lambda g, z, x, y: share(g, x, z, y),
                            lambda g, z, x, y: share(g, y, z, x))
elementwise(np.fmin,        lambda g, z, x, y: share(g, x, z, y),
                            lambda g, z, x, y: share(g, y, z, x))
elementwise(np.hypot,       lambda g, z, x, y: g * (x / length_or_one(z)),
                            lambda g, z, x, y: g * (y / length_or_one(z)))
elementwise(np.heaviside,   None,
                            lambda g, z, x, h: np.where(x == 0, g, 0))
elementwise(np.copysign,    lambda g, z, x, y: g * (np.sign(x) * np.copysign(1, y)),
                            None)
elementwise(np.ldexp,       lambda g, z, x, n: np.ldexp(g, n),
                            None)
elementwise(np.nextafter,   lambda g, z, x, y: g,
                            None)
elementwise(np.arctan2,     lambda g, z, y, x: g * (x / (x * x + y * y)),
                            lambda g, z, y, x: g * (-y / (x * x + y * y)))
elementwise(np.logaddexp,   lambda g, z, x, y: g * part_of_sum(x, y, np.exp),
                            lambda g, z, x, y: g * part_of_sum(y, x, np.exp))
elementwise(np.logaddexp2,  lambda g, z, x, y: g * part_of_sum(x, y, np.exp2),
                            lambda g, z, x, y: g * part_of_sum(y, x, np.exp2))
elementwise(np.where,       None,
                            lambda g, z, c, x, y: np.where(c, g, 0),
                            lambda g, z, c, x, y: np.where(c, 0, g))
elementwise(clip,           lambda g, z, x, low, high: np.where((x >= low) & (x <= high), g, 0),
                            lambda g, z, x, low, high: np.where((x < low) & (low <= high), g, 0),
                            lambda g, z, x, low, high: np.where((x > high) | (low > high), g, 0))

step(np.sign, np.floor, np.ceil, np.rint, np.round, np.around, np.trunc, np.fix, np.floor_divide,
     np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.signbit,
     np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert,
     np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf, np.isreal, np.iscomplex, np.isclose, np.spacing,
     np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
     np.zeros_like, np.ones_like, np.empty_like,
     stop_gradient)
# fmt: on

SPELLED[np.sinc] = lambda x: sinc_derivative(x if x.dtype.kind in "fc" else x.astype(float), 0)
SPELLED[np.divmod] = lambda x, y: (np.floor_divide(x, y), np.remainder(x, y))
SPELLED[np.copy] = lambda a, *_, **__: alias(a)
