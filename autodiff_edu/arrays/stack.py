"""A stack of cotangents that postpones its multiplications: a base, and a scale that all cotangents share.

An elementwise rule multiplies every cotangent of a stack by the same numbers. So a stack is kept as a base (one-hot
seeds, or a plain array) and one scale of the target's size, and elementwise rules change the scale alone; base and
scale are multiplied as soon as something else needs the product. For one-hot seeds, the first matrix product is a
scaled matrix. This is why a Jacobian costs about as much as one written by hand.

Rules do not notice: they use functions that dispatch, and this is an array that speaks NumPy. Where it has no short
cut, it uses the full array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .validate import is_tensor

_SCALINGS = {np.multiply, np.divide, np.negative, np.positive}


class OneHot:
    """One-hot seeds: cotangent k is 1 at element `rows[k]` of every sample, and 0 elsewhere.

    The first `batch` axes of `shape`, 0 or 1 of them, count samples.
    """

    def __init__(self, shape: tuple[int, ...], batch: int, rows: range, dtype: Any) -> None:
        self.inner, self.batch, self.rows = shape[batch:], batch, rows
        self.shape, self.dtype = (len(rows), *shape), dtype

    def times(self, scale: Any) -> Any:
        """Return the full stack, each cotangent multiplied by the scale."""
        eye = np.eye(int(np.prod(self.inner)), dtype=self.dtype)[self.rows.start : self.rows.stop]
        return np.broadcast_to(eye.reshape((len(self.rows), *(1,) * self.batch, *self.inner)) * scale, self.shape)

    def times_matrix(self, scale: Any, matrix: Any) -> Any:
        """Multiply the scaled stack by a matrix: row k of the matrix times the scale's element k of each sample."""
        scales = np.moveaxis(scale[..., self.rows.start : self.rows.stop], -1, 0)[..., None]
        chosen = matrix[self.rows.start : self.rows.stop]
        return scales * (chosen[:, None, :] if self.batch else chosen)


class Stack(NDArrayOperatorsMixin):
    """A base times a scale; NumPy sees an array of the base's shape.

    Parameters
    ----------
    base : OneHot or ndarray
        Of shape `(count, *shape)`.
    scale : ndarray or None
        Of the same shape without the count; None means ones.
    """

    def __init__(self, base: Any, scale: Any = None) -> None:
        self.base, self.scale = base, scale
        self.shape, self.ndim = base.shape, len(base.shape)
        self.dtype = base.dtype if scale is None else np.result_type(base.dtype, scale.dtype)

    def dense(self) -> Any:
        """Multiply base and scale, once."""
        if isinstance(self.base, OneHot):
            self.base = self.base.times(1 if self.scale is None else self.scale)
        elif self.scale is not None:
            self.base = self.base * self.scale
        self.scale = None
        return self.base

    def _scale(self, change: Any) -> Stack:
        ones = np.ones(self.shape[1:], self.dtype) if self.scale is None else self.scale
        return Stack(self.base, change(ones))

    def _fits(self, other: Any) -> bool:
        """Return whether an operand is the same for every cotangent, so that it can go into the scale."""
        shape, own = np.shape(other), self.shape[1:]
        if isinstance(other, Stack) or is_tensor(other) or len(shape) > len(own):
            return False
        return all(a in (1, b) for a, b in zip(shape[::-1], own[::-1], strict=False))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **parameters: Any) -> Any:
        if method == "__call__" and not parameters:
            rest: list[Any]
            first, *rest = inputs
            if ufunc in _SCALINGS and first is self and all(map(self._fits, rest)):
                return self._scale(lambda scale: ufunc(scale, *rest))
            if ufunc is np.conjugate and self.base.dtype.kind != "c":
                return self._scale(np.conjugate)
            if ufunc is np.multiply and inputs[1] is self and self._fits(first):
                return self._scale(lambda scale: first * scale)
            if ufunc is np.add and all(isinstance(x, Stack) and x.base is self.base for x in inputs):
                return self._scale(lambda scale: sum((1 if x.scale is None else x.scale for x in rest), start=scale))
            if ufunc is np.matmul and first is self and self._is_diagonal() and _is_matrix(rest[0]):
                scale = np.ones(self.shape[1:], self.dtype) if self.scale is None else self.scale
                return Stack(self.base.times_matrix(scale, rest[0]))
        function: Any = getattr(ufunc, method)
        return self._again(function(*map(_dense, inputs), **parameters))

    def __array_function__(self, function: Any, types: Any, args: Any, parameters: Any) -> Any:
        if function is np.where and len(args) == 3 and self._fits(args[0]):
            condition, chosen, other = args
            if chosen is self and _is_zero(other):
                return self._scale(lambda scale: np.where(condition, scale, other))
            if other is self and _is_zero(chosen):
                return self._scale(lambda scale: np.where(condition, chosen, scale))
        if function in (np.shape, np.ndim):
            return self.shape if function is np.shape else self.ndim
        return self._again(function(*map(_dense, args), **parameters))

    def _is_diagonal(self) -> bool:
        return isinstance(self.base, OneHot) and len(self.base.inner) == 1

    def _again(self, result: Any) -> Any:
        """Return the result as a stack: a rule turns a stack into a stack."""
        stacked = isinstance(result, np.ndarray) and result.shape[:1] == self.shape[:1]
        return Stack(result) if stacked and result.dtype.kind in "fc" else result

    def __getitem__(self, index: Any) -> Any:
        return self._again(self.dense()[index])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dense(), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.dense(), dtype=dtype, copy=copy)


def dense(value: Any) -> Any:
    """Return the array that a stack stands for; return other values unchanged."""
    return value.dense() if isinstance(value, Stack) else value


def _dense(value: Any) -> Any:
    return [_dense(part) for part in value] if isinstance(value, list) else dense(value)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0
