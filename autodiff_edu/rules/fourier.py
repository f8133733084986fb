"""Rules for the discrete Fourier transforms, np.fft.

A transform is a symmetric matrix, so it pulls back through itself, with the same `norm`. A transform along several axes
is written as one transform after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.composites import SPELLED
from ..core.rule import linear
from .reductions import from_the_right
from .shapes import right

Axes = Sequence[int] | int | None
SWAPPED: Any = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def along(axis: int, part: slice) -> Any:
    """Index one axis, counted from the right, with a slice."""
    return (..., part, *(slice(None),) * (-1 - axis))


def fit(c: Any, x: Any, axis: int) -> Any:
    """Undo what `n` did: cut off the zeros that padded x, or put zeros where x was cut off."""
    had, wanted = c.shape[axis], x.shape[axis]
    if had >= wanted:
        return c if had == wanted else c[along(axis, slice(wanted))]
    shape = list(c.shape)
    shape[axis] = wanted - had
    return np.concatenate([c, np.zeros(shape, c.dtype)], axis=axis)


def pull_rfft(g: Any, y: Any, x: Any, n: int | None = None, axis: int = -1, norm: Any = None) -> Any:
    """Pull back through the first half of the transform of real numbers: the other half gets no cotangent."""
    axis = right(axis, x)
    return fit(np.fft.fft(g, x.shape[axis] if n is None else n, axis, norm), x, axis)


def pull_irfft(g: Any, y: Any, x: Any, n: int | None = None, axis: int = -1, norm: Any = None) -> Any:
    """Pull back through the inverse that reads one half: all elements but the ends also stand for a conjugate."""
    axis = right(axis, x)
    n = y.shape[axis]
    k = np.arange(n // 2 + 1).reshape(-1, *(1,) * (-1 - axis))
    pulled = np.fft.ifft(g, None, axis, norm)[along(axis, slice(n // 2 + 1))]
    return fit(pulled * np.where((k == 0) | (2 * k == n), 1, 2), x, axis)


# fmt: off
linear(np.fft.fft,       lambda g, y, x, n=None, axis=-1, norm=None:
                             fit(np.fft.fft(g, None, right(axis, x), norm), x, right(axis, x)))
linear(np.fft.ifft,      lambda g, y, x, n=None, axis=-1, norm=None:
                             fit(np.fft.ifft(g, None, right(axis, x), norm), x, right(axis, x)))
linear(np.fft.rfft,      pull_rfft)
linear(np.fft.irfft,     pull_irfft)
linear(np.fft.fftshift,  lambda g, y, x, axes=None: np.fft.ifftshift(g, from_the_right(axes, np.ndim(x))))
linear(np.fft.ifftshift, lambda g, y, x, axes=None: np.fft.fftshift(g, from_the_right(axes, np.ndim(x))))
# fmt: on


def lengths(a: Any, s: Any, axes: Axes) -> list[tuple[int | None, int]]:
    """Pair every transformed axis with its length: None for the default, -1 for its own."""
    if axes is None:
        axes = range(-np.ndim(a) if s is None else -len(s), 0)
    axes = [axes] if isinstance(axes, int) else list(axes)
    sizes = [None] * len(axes) if s is None else list(s)
    if len(sizes) != len(axes):
        raise ValueError(f"s and axes must have equal lengths; they have {len(sizes)} and {len(axes)}")
    return [(np.shape(a)[axis] if n == -1 else n, axis) for n, axis in zip(sizes, axes, strict=True)]


def one_by_one(function: Callable[..., Any], a: Any, s: Any, axes: Axes, norm: Any) -> Any:
    """Transform along the axes one by one, the last first."""
    for n, axis in reversed(lengths(a, s, axes)):
        a = function(a, n, axis, norm)
    return a


def spelled_rfftn(a: Any, s: Any = None, axes: Axes = None, norm: Any = None) -> Any:
    """Transform the last axis to its first half, then the others."""
    *others, (n, axis) = lengths(a, s, axes)
    a = np.fft.rfft(a, n, axis, norm)
    for m, other in reversed(others):
        a = np.fft.fft(a, m, other, norm)
    return a


def spelled_irfftn(a: Any, s: Any = None, axes: Axes = None, norm: Any = None) -> Any:
    """Transform back all axes but the last, and then the last from its first half."""
    *others, (n, axis) = lengths(a, s, axes)
    for m, other in others:
        a = np.fft.ifft(a, m, other, norm)
    return np.fft.irfft(a, n, axis, norm)


def spelled_hfft(a: Any, n: int | None = None, axis: int = -1, norm: Any = None) -> Any:
    """Transform the first half of a Hermitian signal: the inverse of its conjugate, scaled the other way round."""
    return np.fft.irfft(np.conjugate(a), n, axis, SWAPPED.get(norm, norm))


def spelled_ihfft(a: Any, n: int | None = None, axis: int = -1, norm: Any = None) -> Any:
    """Undo `hfft`."""
    return np.conjugate(np.fft.rfft(a, n, axis, SWAPPED.get(norm, norm)))


SPELLED[np.fft.fftn] = lambda a, s=None, axes=None, norm=None: one_by_one(np.fft.fft, a, s, axes, norm)
SPELLED[np.fft.ifftn] = lambda a, s=None, axes=None, norm=None: one_by_one(np.fft.ifft, a, s, axes, norm)
SPELLED[np.fft.fft2] = lambda a, s=None, axes=(-2, -1), norm=None: one_by_one(np.fft.fft, a, s, axes, norm)
SPELLED[np.fft.ifft2] = lambda a, s=None, axes=(-2, -1), norm=None: one_by_one(np.fft.ifft, a, s, axes, norm)
SPELLED[np.fft.rfftn] = spelled_rfftn
SPELLED[np.fft.irfftn] = spelled_irfftn
SPELLED[np.fft.rfft2] = lambda a, s=None, axes=(-2, -1), norm=None: spelled_rfftn(a, s, axes, norm)
SPELLED[np.fft.irfft2] = lambda a, s=None, axes=(-2, -1), norm=None: spelled_irfftn(a, s, axes, norm)
SPELLED[np.fft.hfft], SPELLED[np.fft.ihfft] = spelled_hfft, spelled_ihfft
