"""What tells the calls of a compiled function apart: structures, shapes, dtypes, and arguments that are not arrays."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any
from weakref import ref

import numpy as np

from ..arrays.structures import flatten, rebuild
from ..core.tensor import Tensor, constant, wrap
from ..core.variable import Variable
from ..custom.arguments import reject_iterators
from ..text.functions import names_of_parameters, spoken

_SETTINGS = {int, bool, str, type(None)}
_FLOATS: dict[type, type] = {float: np.float64, complex: np.complex128}
_PARTED = {tuple, frozenset}
_SCALARS = {np.float64, np.float32, np.float16, np.complex128, np.complex64}


def taken_apart(arguments: Any, key: list[Any], arrays: list[Any]) -> None:
    """Append the arrays among the arguments to `arrays`, and all else that a program depends on to `key`.

    A call whose key is the same can run the same program.
    """
    for argument in arguments:
        kind = type(argument)
        if kind is Tensor:
            array = argument._array
        elif kind is np.ndarray:
            array = argument if argument.ndim else argument[()]
        elif kind in _FLOATS:
            array = _FLOATS[kind](argument)
        elif kind in _SCALARS:
            array = argument
        elif kind in _SETTINGS:
            key += kind, argument
            continue
        elif kind is Variable:
            key += kind, id(argument), argument._id  # the second, because the first is used again for another
            continue
        elif kind is list or kind is tuple:
            key += kind, len(argument)
            taken_apart(argument, key, arrays)
            continue
        elif kind is dict:
            key += kind, tuple([name if type(name) is str else exact(name) for name in argument])
            taken_apart(argument.values(), key, arrays)
            continue
        else:
            _apart(argument, key, arrays)
            continue
        arrays.append(array)
        key += array.shape, array.dtype


def _apart(argument: Any, key: list[Any], arrays: list[Any]) -> None:
    """Take an argument of an unusual type apart."""
    if isinstance(argument, Variable):
        key += Variable, id(argument), argument._id
    elif isinstance(argument, np.integer | np.bool_):
        key += type(argument), argument.item()
    elif is_array(argument):
        array = constant(argument)._array
        arrays.append(array)
        key += array.shape, array.dtype
    else:
        leaves = flatten(argument, "")
        if leaves and leaves[0][1] is argument:
            key.append(exact(argument))
        else:
            key += type(argument), tuple(path for path, _ in leaves)
            taken_apart([leaf for _, leaf in leaves], key, arrays)


def exact(value: Any) -> Any:
    """Return what stands for a value in a key: 1, 1.0 and True differ, 0.0 and -0.0, and equal Enums of two types."""
    kind: Any = type(value)
    if kind.__hash__ is object.__hash__ and kind.__weakrefoffset__:  # only this very object is equal to it
        return kind, ref(value)
    if isinstance(value, tuple | frozenset):
        return kind, (frozenset if isinstance(value, frozenset) else tuple)(map(exact, value))
    if isinstance(value, slice):  # in Python 3.11 it cannot be hashed
        return kind, exact(value.start), exact(value.stop), exact(value.step)
    if isinstance(value, Number):
        return kind, value, repr(value)
    return kind, value


def has_ended(key: Any) -> bool:
    """Return whether an object among these arguments is gone, so that no call can have this key again."""
    return any(part() is None if type(part) is ref else type(part) in _PARTED and has_ended(part) for part in key)


def is_array(leaf: Any) -> bool:
    """Return whether an argument holds numbers that may differ from call to call, whole numbers only in arrays."""
    if isinstance(leaf, Variable | np.integer | np.bool_):
        return False
    return isinstance(leaf, float | complex | np.ndarray | np.generic | Tensor) or hasattr(leaf, "__array_function__")


def with_tensors(
    function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[list[Tensor], tuple[Any, ...], dict[str, Any]]:
    """Return a new tensor for each array among the arguments, and the arguments with these tensors in place."""
    names = names_of_parameters(function, len(args), lambda k: f"x{k + 1}")
    leaves = [leaf for name, arg in zip(names, args, strict=True) for leaf in flatten(arg, name)]
    leaves += [leaf for name, arg in named.items() for leaf in flatten(arg, name)]
    name = spoken(function)
    reject_iterators(leaves, name, f"ad.compile calls {name} twice, to compare what it does")
    found = [_own(*leaf) if is_array(leaf[1]) else leaf[1] for leaf in leaves]
    tensors = [own for own, (_, leaf) in zip(found, leaves, strict=True) if own is not leaf]
    args, named = rebuild((args, named), iter(found))
    return tensors, args, named


def _own(name: str, leaf: Any) -> Tensor:
    array = leaf._array if isinstance(leaf, Tensor) else constant(leaf)._array
    tensor = wrap(array.copy() if isinstance(array, np.ndarray | np.generic) else array)
    tensor.name = name
    return tensor
