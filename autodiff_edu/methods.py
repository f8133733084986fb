"""The methods that a tensor has in common with an ndarray: each is NumPy's function of the same name, applied to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .rules.kinds import SPELLED


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **parameters: Any) -> Any:
        return function(self, *args, **parameters)

    method.__name__ = function.__name__
    method.__doc__ = f"Give `np.{function.__name__}` of this tensor."
    return method


class ArrayMethods:
    """What `x.sum()`, `x.T` and `x.reshape(2, 3)` mean."""

    __slots__ = ()

    T = property(lambda self: np.transpose(self))
    real = property(lambda self: np.real(self))
    imag = property(lambda self: np.imag(self))

    all, any, argmax, argmin = _method(np.all), _method(np.any), _method(np.argmax), _method(np.argmin)
    clip, conj, cumprod, cumsum = _method(np.clip), _method(np.conj), _method(np.cumprod), _method(np.cumsum)
    diagonal, dot, max, mean = _method(np.diagonal), _method(np.dot), _method(np.max), _method(np.mean)
    min, prod, ptp, ravel = _method(np.min), _method(np.prod), _method(np.ptp), _method(np.ravel)
    repeat, round, squeeze, std = _method(np.repeat), _method(np.round), _method(np.squeeze), _method(np.std)
    sum, swapaxes, take, trace = _method(np.sum), _method(np.swapaxes), _method(np.take), _method(np.trace)
    var, flatten = _method(np.var), _method(np.ravel)

    _leave: Any
    _array: Any
    name: Any

    def item(self) -> Any:
        """Give the only element as a Python number."""
        return self._leave("item()").item()

    def tolist(self) -> Any:
        """Give the elements as nested lists of Python numbers."""
        return self._leave("tolist()").tolist()

    def __copy__(self) -> Any:
        return self  # nothing can change a tensor, so one is as good as two

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return type(self), (self._array, None, self.name)

    def reshape(self, *shape: Any) -> Any:
        """Give `np.reshape` of this tensor; the shape as one tuple or as several numbers."""
        reshape: Any = np.reshape
        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def transpose(self, *axes: Any) -> Any:
        """Give `np.transpose` of this tensor; the axes as one tuple, as several numbers, or none: reversed."""
        transpose: Any = np.transpose
        return transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def astype(self, dtype: Any) -> Any:
        """Convert to another dtype; nothing flows back through a conversion to integers or booleans."""
        return SPELLED[np.ndarray.astype](self, dtype)
