"""The methods that a tensor has in common with an ndarray: each is NumPy's function of the same name, applied to it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np


def equal(x: Any, y: Any) -> Any:
    """Compare as Python does, but return an array or a NumPy scalar."""
    same = x == y
    return np.bool_(same) if isinstance(same, bool) else same  # Python's answer for a number and, say, None


def different(x: Any, y: Any) -> Any:
    """Return the opposite of `equal`."""
    return ~equal(x, y)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **parameters: Any) -> Any:
        return function(self, *args, **parameters)

    method.__name__ = function.__name__
    method.__doc__ = f"Return `np.{function.__name__}` of this tensor."
    return method


def _reflect(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)


def _in_place(name: str, remedy: str) -> property:
    def absent(self: Any) -> NoReturn:
        raise AttributeError(
            f"a {type(self).__name__} has no {name}, because tensors are immutable; write y = {remedy}",
            name=name,
            obj=self,
        )

    return property(absent)


def _check_array(life: Any) -> None:
    from .conversions import check_array  # only where a tape would lose the tensor

    check_array(life)


def _check_number(life: Any) -> None:
    from .conversions import check_number

    check_number(life)


class ArrayMethods:
    """What `x.sum()`, `x.T` and `x.reshape(2, 3)` mean."""

    __slots__ = ()

    shape = property(lambda self: self._array.shape)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    dtype = property(lambda self: self._array.dtype)
    nbytes = property(lambda self: self._array.nbytes)
    itemsize = property(lambda self: self._array.itemsize)

    T = property(lambda self: np.transpose(self))
    real = property(lambda self: np.real(self))
    imag = property(lambda self: np.imag(self))
    mT = property(lambda self: np.swapaxes(self, -1, -2))  # noqa: N815 - NumPy's own name

    all, any, argmax, argmin = _method(np.all), _method(np.any), _method(np.argmax), _method(np.argmin)
    argpartition, argsort, nonzero = _method(np.argpartition), _method(np.argsort), _method(np.nonzero)
    searchsorted, conjugate, copy = _method(np.searchsorted), _method(np.conjugate), _method(np.copy)
    conj, cumprod, cumsum = _method(np.conj), _method(np.cumprod), _method(np.cumsum)
    diagonal, dot, max, mean = _method(np.diagonal), _method(np.dot), _method(np.max), _method(np.mean)
    min, prod, ptp, ravel = _method(np.min), _method(np.prod), _method(np.ptp), _method(np.ravel)
    repeat, round, squeeze, std = _method(np.repeat), _method(np.round), _method(np.squeeze), _method(np.std)
    sum, swapaxes, take, trace = _method(np.sum), _method(np.swapaxes), _method(np.take), _method(np.trace)
    var, flatten = _method(np.var), _method(np.ravel)

    fill, put = _in_place("fill", "np.full_like(x, value)"), _in_place("put", "np.where(mask, value, x)")
    partition, resize = _in_place("partition", "np.partition(x, kth)"), _in_place("resize", "np.resize(x, shape)")
    sort = _in_place("sort", "np.sort(x)")

    __pos__, __invert__, __abs__ = _method(np.positive), _method(np.invert), _method(np.absolute)
    __mod__, __rmod__ = _method(np.remainder), _reflect(np.remainder)
    __floordiv__, __rfloordiv__ = _method(np.floor_divide), _reflect(np.floor_divide)
    __and__, __rand__ = _method(np.bitwise_and), _reflect(np.bitwise_and)
    __or__, __ror__ = _method(np.bitwise_or), _reflect(np.bitwise_or)
    __xor__, __rxor__ = _method(np.bitwise_xor), _reflect(np.bitwise_xor)

    _leave: Any
    _peek: Any
    __getitem__: Any
    _array: Any
    name: Any

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._leave("np.asarray", _check_array), dtype=dtype, copy=copy)

    def __float__(self) -> float:
        return float(self._leave("float()", _check_number))

    def __int__(self) -> int:
        return int(self._leave("int()", _check_number))

    def __complex__(self) -> complex:
        return complex(self._leave("complex()", _check_number))

    def __index__(self) -> int:
        number = self._peek("index()")
        if self.ndim == 0 and self.dtype.kind == "f":
            raise TypeError(f"{self.name or 'a tensor'} is the float {number:g}: write int(...), as in range(int(n))")
        return operator.index(number)

    def __bool__(self) -> bool:
        return bool(self._peek("bool()"))

    def __repr__(self) -> str:
        from ..text.formatting import show

        return f"Tensor({show(self._array, indent=7)})"

    def __format__(self, spec: str) -> str:
        array = self._peek("format()")
        return format(np.asarray(array)[()], spec) if spec else str(self)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __hash__(self) -> int:
        raise TypeError("a Tensor is unhashable, because == compares its elements; use id(tensor) as the key")

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} is immutable, because a tape may still need the old elements. Build a new one, "
            "for example y = np.where(mask, value, x)"
        )

    def item(self, *index: Any) -> Any:
        """Return one element as a Python number: the only one, or the one at a flat index, or at one index per axis.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> x.item(2), x.item(1, 0), x.sum().item()
        (3.0, 3.0, 10.0)
        """
        return self._leave("item()").item(*index)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> ad.constant([[1.0, 2.0], [3.0, 4.0]]).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
        """
        return self._leave("tolist()").tolist()

    def tobytes(self) -> bytes:
        """Return the bytes of the array, in C order."""
        return bytes(self._leave("tobytes()").tobytes())

    def __round__(self, digits: int = 0) -> Any:
        return np.round(self, digits)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __copy__(self) -> Any:
        return self  # tensors are immutable, so no copy is needed

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return type(self), (self._leave("pickle"), None, self.name)

    def clip(self, min: Any = None, max: Any = None, *args: Any, **parameters: Any) -> Any:
        """Return `np.clip` of this tensor; the bounds are positional, since NumPy 2.0 has no names for them here."""
        clip: Any = np.clip
        return clip(self, min, max, *args, **parameters)

    def reshape(self, *shape: Any, **parameters: Any) -> Any:
        """Return `np.reshape` of this tensor; the shape is one tuple or several numbers, then perhaps `order=`."""
        reshape: Any = np.reshape
        return reshape(self, shape[0] if len(shape) == 1 else shape, **parameters)

    def transpose(self, *axes: Any) -> Any:
        """Return `np.transpose` of this tensor; the axes are one tuple or several numbers, reversed by default."""
        transpose: Any = np.transpose
        return transpose(self, axes[0] if len(axes) == 1 else axes or None)


def _no_in_place(sign: str, instead: str | None = None) -> Callable[[Any, Any], NoReturn]:
    def reject(self: Any, other: Any) -> NoReturn:
        raise RuntimeError(
            f"variable {sign}= value is not supported, because it is not clear whether you want to change the variable "
            f"or to compute with it. Write variable.{instead or f'assign(variable {sign} value)'}, or "
            f"result = variable {sign} value"
        )

    return reject


class NotInPlace:
    """Raises the error for `variable += value`, with two remedies."""

    __slots__ = ()

    __iadd__, __isub__ = _no_in_place("+", "assign_add(value)"), _no_in_place("-", "assign_sub(value)")
    __imul__, __itruediv__, __ipow__ = _no_in_place("*"), _no_in_place("/"), _no_in_place("**")
    __imatmul__, __ifloordiv__, __imod__ = _no_in_place("@"), _no_in_place("//"), _no_in_place("%")
