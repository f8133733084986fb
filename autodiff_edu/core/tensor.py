"""Values that tapes can follow.

A tensor wraps an array (or a NumPy scalar) and behaves like one: operators, indexing, ndarray's methods and the
functions of NumPy work on it. Every such call passes through `apply`, which computes the plain result and lets each
recording tape append an entry.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.constant([1.0, 2.0, 3.0])
>>> np.sum(x * x)
Tensor(14.)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any, NoReturn

import numpy as np

from ..arrays.methods import ArrayMethods
from ..arrays.validate import call_spelled, different, equal, operand, own, plain_index, prepared, read_only, refuse
from ..text.formatting import show
from ..text.places import here
from .events import Leave, active, emit
from .journal import PLAIN, note, tick, write
from .rule import RULES, SPELLED, UFUNC_METHODS

_NO_PARAMETERS: dict[str, Any] = {}
_PYTHON = frozenset({bool, int, float, complex})
_new_tensor = object.__new__
Method = Callable[[Any, Any], "Tensor"]


def _binary(ufunc: np.ufunc, compute: Callable[[Any, Any], Any]) -> tuple[Method, Method]:
    """Give the operator's method and the reflected one, as `x + 1` and `1 + x`.

    `compute` is Python's own operator: on NumPy scalars it is ten times as fast as the ufunc that is recorded.
    """

    def forward(self: Tensor, other: Any) -> Tensor:
        return apply(ufunc, (self, operand(other)), compute=compute)

    def reflected(self: Tensor, other: Any) -> Tensor:
        return apply(ufunc, (operand(other), self), compute=compute)

    return forward, reflected


def _unary(ufunc: np.ufunc) -> Callable[[Any], Tensor]:
    return lambda self: apply(ufunc, (self,))


class Tensor(ArrayMethods):
    """An immutable array that tapes can follow.

    Parameters
    ----------
    value : array_like
        Copied, so that writing into it later changes nothing here. Numbers become float64 or int64 scalars.
    dtype : dtype, optional
        NumPy's; by default that of `value`.
    name : str, optional
        Shown in place of a made-up name by `print(tape)`, the transcript and the player.

    Attributes
    ----------
    shape, ndim, size, dtype, T
        As for an ndarray; plain Python values except `T`, which is a tensor.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x @ x.T
    Tensor([[ 5., 11.],
            [11., 25.]])
    >>> x[0].numpy()
    array([1., 2.])
    """

    __slots__ = ("__weakref__", "_array", "_id", "name")

    _array: Any
    _id: int
    name: str | None

    def __init__(self, value: Any, dtype: Any = None, name: str | None = None) -> None:
        self._array = own(value, dtype)
        self._id = tick()
        self.name = name
        note("made", (value._id if isinstance(value, Tensor) else PLAIN,), self._id)

    shape = property(lambda self: self._array.shape)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    dtype = property(lambda self: self._array.dtype)

    def numpy(self) -> Any:
        """Give the plain array (read-only) or NumPy scalar. What is computed from it is on no tape."""
        return self._leave("numpy()")

    def _leave(self, how: str) -> Any:
        note(how, (self._id,), PLAIN)
        if active.hooks:
            for tape in active.tapes:
                if self._id in tape._connected:
                    emit(Leave(tape, self, how))
        return read_only(self._array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._leave("np.asarray"), dtype=dtype, copy=copy)

    def __float__(self) -> float:
        return float(self._leave("float()"))

    def __int__(self) -> int:
        return int(self._leave("int()"))

    def __complex__(self) -> complex:
        return complex(self._leave("complex()"))

    def __index__(self) -> int:
        note("index()", (self._id,), PLAIN)
        return operator.index(self._array)

    def __bool__(self) -> bool:
        note("bool()", (self._id,), PLAIN)
        return bool(self._array)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def __hash__(self) -> int:
        raise TypeError("a Tensor is unhashable, because == compares its elements; use id(tensor) as the key")

    def __getitem__(self, index: Any) -> Tensor:
        return apply(operator.getitem, (self, plain_index(index)))

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be written into: a tape may still need the old elements. "
            "Build a new one, for example y = np.where(mask, value, x)"
        )

    __add__, __radd__ = _binary(np.add, operator.add)
    __sub__, __rsub__ = _binary(np.subtract, operator.sub)
    __mul__, __rmul__ = _binary(np.multiply, operator.mul)
    __truediv__, __rtruediv__ = _binary(np.divide, operator.truediv)
    __pow__, __rpow__ = _binary(np.power, operator.pow)
    __matmul__, __rmatmul__ = _binary(np.matmul, operator.matmul)
    __mod__, __rmod__ = _binary(np.remainder, operator.mod)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide, operator.floordiv)
    __and__, __rand__ = _binary(np.bitwise_and, operator.and_)
    __or__, __ror__ = _binary(np.bitwise_or, operator.or_)
    __xor__, __rxor__ = _binary(np.bitwise_xor, operator.xor)
    __invert__ = _unary(np.invert)
    __lt__, __le__ = _binary(np.less, operator.lt)[0], _binary(np.less_equal, operator.le)[0]
    __gt__, __ge__ = _binary(np.greater, operator.gt)[0], _binary(np.greater_equal, operator.ge)[0]
    __eq__, __ne__ = _binary(np.equal, equal)[0], _binary(np.not_equal, different)[0]  # type: ignore[assignment]
    __neg__ = _unary(np.negative)
    __pos__ = _unary(np.positive)
    __abs__ = _unary(np.absolute)

    def __repr__(self) -> str:
        return f"Tensor({show(self._array, indent=7)})"

    def __format__(self, spec: str) -> str:
        note("format()", (self._id,), PLAIN)
        return format(self._array, spec) if spec else str(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **parameters: Any) -> Any:
        if method == "__call__" and ufunc in SPELLED:
            return call_spelled(ufunc, SPELLED[ufunc], inputs, parameters)
        if parameters or ufunc not in RULES:
            refuse(ufunc, parameters)
        if method != "__call__":
            if (ufunc, method) not in UFUNC_METHODS:
                raise TypeError(f"np.{ufunc.__name__}.{method} has no rule; write it with functions that have one")
            return UFUNC_METHODS[ufunc, method](*inputs, **parameters)
        return apply(ufunc, tuple(map(operand, inputs)), parameters)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, parameters: Any) -> Any:
        ruled = function in RULES or function in SPELLED
        args, parameters = prepared(function, args, parameters, ruled)
        if not ruled:
            from ..rules.unruled import apply_unruled

            return apply_unruled(function, args, parameters)
        if function in SPELLED:
            return call_spelled(function, SPELLED[function], args, parameters)
        if parameters:
            refuse(function, parameters)
        return apply(function, args, parameters)


def constant(value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Make a tensor from numbers, nested lists or an array; see `Tensor`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.constant([1, 2], dtype="float32")
    Tensor([1., 2.], dtype=float32)
    """
    return Tensor(value, dtype, name)


def wrap(array: Any, id: int | None = None) -> Tensor:
    """Make a tensor around an array without copying it; with `id`, it is the same tensor to every tape."""
    tensor = _new_tensor(Tensor)
    tensor._array = array
    tensor._id = id or tick()
    tensor.name = None
    return tensor


def as_tensor(value: Any) -> Any:
    """Wrap a plain array; tensors, and None, are left as they are."""
    return value if value is None or isinstance(value, Tensor) else wrap(value)


def apply(operation: Any, inputs: tuple[Any, ...], parameters: Any = _NO_PARAMETERS, compute: Any = None) -> Any:
    """Compute `operation(*inputs, **parameters)` and let every recording tape append it.

    Everything that is differentiable passes through here. `inputs` may be tensors, arrays and numbers; `compute`
    is a faster way to the same result, if there is one.
    """
    ids: list[int | None] = []
    values, plain = [], True
    for x in inputs:
        if isinstance(x, Tensor):
            ids.append(x._id)
            values.append(x._array)
            plain &= type(x) is Tensor
        else:
            ids.append(None)
            values.append(operand(x) if type(x) is list else x)
            plain &= not isinstance(x, np.ndarray)
    value = (compute or operation)(*values, **parameters)
    output = wrap(value if type(value) not in _PYTHON else np.asarray(value)[()])  # as of 1j * np.float64(1)
    where, known = here(depth=3), tuple(ids)
    write((output._id, operation, known, output._id, where, get_ident()))
    for tape in active.tapes:
        tape._record(operation, inputs, known, values, parameters, output, where, plain)
    return output
