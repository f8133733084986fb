"""Operations without a NumPy function, or whose NumPy function does not take its arrays one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.provenance import compute, is_marked, refusal
from ..arrays.stack import dense
from ..core.active import now
from ..core.tensor import Tensor, apply


def operation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a function of arrays into an operation: called on a tensor, it goes through `apply`."""

    def dispatching(*inputs: Any, **parameters: Any) -> Any:
        if any(isinstance(x, Tensor) for x in inputs):
            return apply(dispatching, inputs, parameters)
        if refusal.get() is not None and is_marked((*inputs, *parameters.values())):
            return compute(function, [*map(dense, inputs)], parameters)
        return function(*map(dense, inputs), **parameters)

    dispatching.__name__, dispatching.__doc__ = function.__name__, function.__doc__
    return dispatching


def array_of(x: Any) -> Any:
    """Return the array of a tensor, for decisions without a derivative; return anything else unchanged.

    While a program is being recorded, decisions are operations too: they will depend on the values of each call.
    """
    if not isinstance(x, Tensor):
        return x
    return stop_gradient(x) if recorder() else x._array


def recorder() -> Any:
    """Return the recording of a program that is listening; None if no function is being compiled."""
    return next((one for one in now().followers if one.compiles), None)


def require(x: Any, fails: Any, error: Exception) -> Any:
    """Return x; raise an error if anything in `fails` is true, also in every call of a program that is recorded."""
    if recorder():
        return checked(x, fails, type(error).__name__, str(error))
    if np.any(array_of(fails)):
        raise error
    return x


@operation
def checked(x: Any, fails: Any, kind: str, message: str) -> Any:
    """Return x; raise an error if anything in `fails` is true: a ValueError, or of the kind with this name."""
    if np.any(fails):
        raise (ZeroDivisionError if kind == "ZeroDivisionError" else ValueError)(message)
    return x


@operation
def clip(x: Any, low: Any, high: Any) -> Any:
    """Keep x between two bounds; either may be infinite."""
    return np.clip(x, low, high)


@operation
def complex_sign(z: Any) -> Any:
    """Return z/|z|, the point of the unit circle in the direction of z; 0 at 0."""
    return np.sign(z)


@operation
def cast(x: Any, dtype: np.dtype) -> Any:
    """Convert to another floating or complex dtype."""
    return x.astype(dtype)


@operation
def round_off(x: Any, dtype: Any) -> Any:
    """Convert to integers or booleans, through which no derivative passes."""
    return x.astype(dtype)


@operation
def stop_gradient(x: Any) -> Any:
    """Return the same value, through which no derivative passes."""
    return x


@operation
def turns(p: Any, discont: float | None, axis: int, period: float) -> Any:
    """Return what np.unwrap adds to each angle: a number of whole periods."""
    return np.unwrap(p, discont, axis, period=period) - p


def is_basic(index: Any) -> bool:
    """Return whether an index has only integers, slices, None and ..., so that it selects no element twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or isinstance(part, int | np.integer | slice) for part in parts)


@operation
def scatter(g: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Put the elements of g where `x[index]` took them from, with zeros elsewhere; those sharing a place are added."""
    lead = g.ndim - np.broadcast_to(False, shape)[index].ndim
    stack = g.shape[:lead]
    if not isinstance(g, np.ndarray | np.generic):
        return _scatter_by_product(g, index, shape, stack)
    out = np.zeros(stack + shape, g.dtype)
    if is_basic(index):
        out[(*(slice(None),) * lead, *(index if isinstance(index, tuple) else (index,)))] = g
        return out
    # positions in the flattened array, so that a stack in front does not change what the index means
    size = int(np.prod(shape))
    positions = np.arange(size).reshape(shape)[index].ravel()
    every: Any = slice(None)
    count = int(np.prod(stack))
    np.add.at(out.reshape(count, size), (every, positions), g.reshape(count, positions.size))
    return out


def _scatter_by_product(g: Any, index: Any, shape: tuple[int, ...], stack: tuple[int, ...]) -> Any:
    """Scatter by multiplying with zeros and ones, for arrays of other libraries, which may not be writable."""
    count, size = int(np.prod(stack)), int(np.prod(shape))
    positions = np.arange(size).reshape(shape)[index].ravel()
    places = np.zeros((positions.size, size), g.dtype)
    places[np.arange(positions.size), positions] = 1
    return np.reshape(np.matmul(np.reshape(g, (count, positions.size)), places), stack + shape)


@operation
def gather(z: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Return `x[index]` for every x in a stack: the reverse of `scatter`."""
    lead = z.ndim - len(shape)
    if is_basic(index):
        return z[(*(slice(None),) * lead, *(index if isinstance(index, tuple) else (index,)))]
    size = int(np.prod(shape))
    return z.reshape((*z.shape[:lead], size))[..., np.arange(size).reshape(shape)[index]]


@operation
def concatenate(*arrays: Any, axis: int | None = 0) -> Any:
    """Join arrays along an axis they have."""
    return np.concatenate(arrays, axis=axis)


@operation
def stack(*arrays: Any, axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    return np.stack(arrays, axis=axis)


@operation
def alias(x: Any) -> Any:
    """Return the same value as a tensor of its own."""
    return x


@operation
def sinc_derivative(x: Any, n: int) -> Any:
    """Return the n-th derivative of np.sinc, right at 0 too, where the quotient sin(z)/z is undefined.

    With z = pi x it is pi**n times f_n(z), the n-th derivative of sin(z)/z. Differentiating z f_0 = sin z n times gives
    z f_n + n f_{n-1} = sin(z + n pi/2), which is used where |z| > n + 1; elsewhere the power series of f_n.
    """
    z = np.pi * x
    large = np.abs(z) > n + 1
    safe = np.where(large, z, 1)
    far = np.sin(safe) / safe
    for k in range(1, n + 1):
        far = (np.sin(safe + k * np.pi / 2) - k * far) / safe
    small = np.where(large, 0, z)
    first = (n + 1) // 2  # f_n = sum over k of (-1)^k z^(2k-n) / ((2k+1) (2k-n)!)
    term = (-1) ** first * (small if n % 2 else np.ones_like(small))
    near = term / (2 * first + 1)
    for k in range(first + 1, first + 20 + n):
        term = -term * small * small / ((2 * k - n) * (2 * k - n - 1))
        near = near + term / (2 * k + 1)
    return (np.where(large, far, near) * np.pi**n).astype(x.dtype)[()]


@operation
def bessel(x: Any, n: int) -> Any:
    """Return the modified Bessel function I_n, for np.i0 and its derivatives: the sum of (x/2)^(n+2k) / (k! (n+k)!).

    All terms have the same sign, so the sum is as exact as its largest term.
    """
    half = x / 2
    term = total = half ** abs(n) / math.factorial(abs(n))
    k = 0
    while np.any(np.abs(term) > np.finfo(x.dtype).eps * np.abs(total)):
        k += 1
        term = term * half * half / (k * (abs(n) + k))
        total = total + term
    return total
