"""The examples that a function is recorded with: as inputs, slightly moved, and with more samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from itertools import count
from typing import Any

import numpy as np

from ..arrays.structures import as_array, flatten, rebuild
from ..arrays.validate import copy_in
from ..core.tensor import Tensor
from ..text.functions import names_of_parameters

STEP = 2.0**-7
"""How far examples are moved, to see what follows them."""


class Examples:
    """The arguments of a function, and the arrays in them.

    Attributes
    ----------
    names : list of str
        The expression that reaches each array, in terms of the function's signature: "x", "layers['w'][0]".
    arrays : list of ndarray
        Their values.
    written : list
        For each argument, its form as data: the number of an input, or a structure of them.
    """

    def __init__(self, function: Callable[..., Any], examples: tuple[Any, ...]) -> None:
        if not examples:
            raise ValueError(
                "save needs an example of each argument, to record the function with: "
                "ad.save(f, 'f.ad', np.zeros((4, 3)))"
            )
        self.structure = tuple(map(as_array, examples))
        self.written = self._written()
        names = names_of_parameters(function, len(examples), "argument {}".format)
        leaves = [leaf for name, part in zip(names, self.structure, strict=True) for leaf in flatten(part, name)]
        self.names = [name for name, _ in leaves]
        self.arrays = [_array(name, value) for name, value in leaves]

    def arguments(self, arrays: list[Any]) -> tuple[list[Tensor], Any]:
        """Return new tensors of arrays, and the arguments that they make."""
        tensors = [Tensor(array, name=name) for array, name in zip(arrays, self.names, strict=True)]
        return tensors, rebuild(self.structure, iter(tensors))

    def _written(self) -> list[Any]:
        numbers = count()

        def form(part: Any) -> Any:
            if isinstance(part, Mapping):
                return {"dict": [[key, form(its)] for key, its in part.items()]}
            if isinstance(part, list | tuple):
                return {"list": [form(its) for its in part]}
            if is_dataclass(part):
                raise TypeError(
                    f"the example {part!r:.60} is a dataclass, but its class would not be saved; pass a dict"
                )
            return {"input": next(numbers)}

        return [form(part) for part in self.structure]

    def moved(self) -> list[Any]:
        """Return other values: floats slightly moved, the samples of integers in reverse order."""
        return [_moved(array) for array in self.arrays]

    def lengths(self) -> list[int]:
        """List the different lengths of the first axes."""
        return list(dict.fromkeys(len(array) for array in self.arrays if array.ndim and len(array)))

    def longer(self, length: int, other: int) -> list[Any]:
        """Return the arrays with a larger number of samples where they had the given number."""
        rows = np.arange(other) % length
        return [array[rows] if array.ndim and len(array) == length else array for array in self.arrays]


def _array(name: str, value: Any) -> Any:
    if isinstance(value, str | bytes) or value is None:
        raise TypeError(f"the example {name} is {value!r:.60}; examples are tensors, arrays and numbers")
    try:
        array = copy_in(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the example {name} is {value!r:.60}; examples are tensors, arrays and numbers") from error
    if not isinstance(array, np.ndarray | np.generic):
        raise TypeError(f"the example {name} is an array of {type(array).__module__}; pass a NumPy array")
    return np.asarray(array)


def _moved(array: Any) -> Any:
    if array.dtype.kind in "fc":
        return (array * (1 + STEP) + STEP).astype(array.dtype)
    if array.ndim:
        return array[::-1]
    return ~array if array.dtype.kind == "b" else array - 1 if array > 0 else array + 1
