"""Values that tapes can follow, and the one door for everything differentiable: `apply`.

`apply` looks up the arrays; `_computed` computes with them and notifies the listeners. Operators already know their
arrays and call `_computed` directly.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..arrays.methods import ArrayMethods, different, equal
from ..arrays.validate import USUAL, as_index, as_operand, bind_call, copy_in, read_only, reject_argument
from ..text.frames import is_ours
from . import rule
from .active import begin, emit, now, tick
from .composites import SPELLED, call_spelled
from .entry import Entry
from .events import Leave, Make, Read
from .rule import RULES

_NONE, _PYTHON = dict[str, Any](), frozenset({bool, int, float, complex})
_new_tensor, _getframe = object.__new__, sys._getframe


def _binary(ufunc: np.ufunc, compute: Callable[[Any, Any], Any]) -> Any:
    """Return the methods of `x + 1` and `1 + x`; `compute` is Python's operator, which is faster on scalars."""

    def forward(self: Tensor, other: Any) -> Tensor:
        if isinstance(other, Tensor):
            id, value = other._id, other._array
        else:
            other = other if type(other) in USUAL else as_operand(other, self)
            id, value = None, other
        return _computed(compute, ufunc, (self, other), (self._id, id), [self._array, value])

    def reflected(self: Tensor, other: Any) -> Tensor:
        other = other if type(other) in USUAL else as_operand(other, self)
        return _computed(compute, ufunc, (other, self), (None, self._id), [other, self._array])

    return forward, reflected


class Tensor(ArrayMethods):
    """An immutable array that tapes can follow, with the attributes, operators and methods of an ndarray.

    Parameters
    ----------
    value : array_like
        Copied, so later writes to it change nothing here. Numbers become float64 or int64 scalars.
    dtype : dtype, optional
        A NumPy dtype; by default that of `value`.
    name : str, optional
        Replaces the generated name in `print(tape)`, the transcript and the player.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> x = ad.Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> np.sum(x @ x.T, axis=0)[1:]
    Tensor([36.])
    """

    __slots__ = ("__weakref__", "_array", "_id", "name")

    _id: int

    def __init__(self, value: Any, dtype: Any = None, name: str | None = None) -> None:
        self._array = copy_in(value, dtype)
        self._id = tick()
        self.name = name
        emit(Make, self, value)

    def numpy(self) -> Any:
        """Return the plain array (read-only) or NumPy scalar. No tape follows what is computed from it.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.constant([1.0, 2.0])
        >>> (x * x).numpy()
        array([1., 4.])
        """
        return self._leave("numpy()")

    def _leave(self, how: str, refuse: Any = None) -> Any:
        """Hand out the plain array. If given, `refuse` raises an error where a tape would lose a gradient."""
        for follower in reversed(now().followers):
            if now().heard[Leave] and follower.follows((self._id,)):
                emit(Leave, follower, self, how)
            if follower.shields:  # outer tapes do not object
                refuse = None
            if refuse:
                follower.refuse_loss(self, refuse)
        return read_only(self._peek(how))

    def _peek(self, how: str) -> Any:
        """Read the array in order to decide something or to show it, without handing it out."""
        emit(Read, self, how)
        return self._array

    def astype(self, dtype: Any) -> Tensor:
        """Convert to another dtype; nothing flows back through a conversion to integers or booleans.

        Examples
        --------
        >>> import autodiff_edu as ad
        >>> x = ad.constant([0.25, 1.75])
        >>> x.astype("float32")
        Tensor([0.25, 1.75], dtype=float32)
        >>> x.astype(int)
        Tensor([0, 1])
        """
        converted: Tensor = call_spelled(np.ndarray.astype, (self, dtype), {})
        return converted

    def __getitem__(self, index: Any) -> Tensor:
        return apply(operator.getitem, (self, index if isinstance(index, Tensor) else as_index(index)))

    __add__, __radd__ = _binary(np.add, operator.add)
    __sub__, __rsub__ = _binary(np.subtract, operator.sub)
    __mul__, __rmul__ = _binary(np.multiply, operator.mul)
    __truediv__, __rtruediv__ = _binary(np.divide, operator.truediv)
    __pow__, __rpow__ = _binary(np.power, operator.pow)
    __matmul__, __rmatmul__ = _binary(np.matmul, operator.matmul)
    __lt__, __le__ = _binary(np.less, operator.lt)[0], _binary(np.less_equal, operator.le)[0]
    __gt__, __ge__ = _binary(np.greater, operator.gt)[0], _binary(np.greater_equal, operator.ge)[0]
    __eq__, __ne__ = _binary(np.equal, equal)[0], _binary(np.not_equal, different)[0]
    __hash__ = ArrayMethods.__hash__  # a class that defines __eq__ does not inherit it

    def __neg__(self) -> Tensor:
        return apply(np.negative, (self,))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **parameters: Any) -> Any:
        if method == "__call__" and ufunc in SPELLED:
            return call_spelled(ufunc, inputs, parameters)
        if parameters or ufunc not in RULES:
            reject_argument(ufunc, parameters)
        if method != "__call__":
            if (ufunc, method) not in SPELLED:
                raise TypeError(f"np.{ufunc.__name__}.{method} has no rule; use functions that have one")
            return call_spelled((ufunc, method), inputs, parameters)
        if len(inputs) == 1:  # this tensor itself
            return _computed(ufunc, ufunc, inputs, (self._id,), [self._array], parameters)
        return apply(ufunc, tuple(map(as_operand, inputs)), parameters)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, parameters: Any) -> Any:
        ruled = function in RULES or function in SPELLED
        args, parameters = bind_call(function, args, parameters, ruled)
        if not ruled:
            return rule.without_rule(function, args, parameters)
        if function in SPELLED:
            return call_spelled(function, args, parameters)
        if parameters:
            reject_argument(function, parameters)
        return apply(function, args, parameters)


def constant(value: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Create a tensor from numbers, nested lists or an array; see `Tensor`.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.constant([1, 2], dtype="float32")
    Tensor([1., 2.], dtype=float32)
    """
    return Tensor(value, dtype, name)


def wrap(array: Any, id: int | None = None) -> Tensor:
    """Wrap an array in a tensor without copying it; with `id`, every tape takes it for that tensor.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0)
    >>> with ad.GradientTape() as tape:
    ...     y = x * x
    >>> [square] = tape.entries
    >>> tape.gradient(y, ad.Entry.wrap(square.values[0], square.ids[0]))
    Tensor(6.)
    """
    tensor = _new_tensor(Tensor)
    tensor._array, tensor._id, tensor.name = array, id or tick(), None
    return tensor


Entry.wrap = staticmethod(wrap)


def as_tensor(value: Any) -> Any:
    """Wrap a plain array; return tensors and None unchanged."""
    return value if value is None or isinstance(value, Tensor) else wrap(value)


def apply(operation: Any, inputs: tuple[Any, ...], parameters: Any = _NONE, call: Any = None) -> Tensor:
    """Compute `operation(*inputs, **parameters)` and notify the listeners.

    Everything differentiable passes through here; `inputs` may be tensors, arrays and numbers. The `call` of a function
    with a custom gradient already has its result.
    """
    ids: list[int | None] = []
    values = []
    for x in inputs:
        if isinstance(x, Tensor):
            ids.append(x._id)
            values.append(x._array)
        else:
            ids.append(None)
            values.append(as_operand(x) if type(x) is list else x)
    compute = operation if call is None else partial(operation, call=call)
    return _computed(compute, operation, inputs, tuple(ids), values, parameters, call)


def _computed(
    compute: Any, operation: Any, inputs: Any, ids: Any, values: list[Any], parameters: Any = _NONE, call: Any = None
) -> Tensor:
    """Compute an operation, wrap the result and notify the listeners: the second half of `apply`."""
    try:
        value = compute(*values, **parameters) if parameters else compute(*values)  # most have none
    except Exception as error:
        from ..text.failures import explain

        explain(error, operation, inputs, parameters)
        raise
    if type(value) in _PYTHON:  # as 1j * np.float64(1) is
        value = np.asarray(value)[()]
    output = _new_tensor(Tensor)
    output._array, output._id, output.name = value, tick(), None
    if heard := (begin() if (state := now()).within and state.within.over else state).heard[Entry]:
        frame = _getframe(2)  # the caller is our code too
        while is_ours[frame.f_code.co_filename] and frame.f_back:
            frame = frame.f_back
        line = ids, output._id, frame.f_code, frame.f_lasti
        entry = Entry(operation, line, parameters, values, value, call)
        entry.given = inputs
        for hear in heard:
            hear(entry)
        entry.given, output._array = None, entry.output_value  # a recorder may have marked it
    return output
