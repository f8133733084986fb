"""How much an operation in a file may create or repeat: a small file must not fill the memory, or run forever.

Most operations create as much as they are given. These are told an amount; it must match the file's size of the result.

>>> check_amount("numpy.pad", [None, ((0, 3),)], {}, 8)
>>> check_amount("numpy.pad", [None, ((0, 2**40),)], {}, 8)
Traceback (most recent call last):
ValueError: it would create 1099511627776 elements, too many to compute
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrays.validate import is_whole
from ..core.tensor import Tensor

LARGEST = 2**28
"""How many elements a saved result may have, or an operation may create: 2 GiB of floats."""
LONGEST = 1000
"""How often an operation may repeat something."""
MOST_OPERANDS = 7
"""For how many operands einsum may try every order: each additional one takes ten times as long."""

MOST_PRODUCTS = 2**34
"""How often einsum may multiply if it is not told to find a better order: about half a minute."""

SIZED = {
    **dict.fromkeys(("numpy.broadcast_to", "numpy.reshape"), (1, "shape")),
    **dict.fromkeys(("numpy.zeros_like", "numpy.ones_like", "numpy.empty_like"), (4, "shape")),
    **dict.fromkeys(("scatter", "gather"), (2, "shape")),
    "numpy.full_like": (5, "shape"),
    "numpy.full": (0, "shape"),
    "numpy.tile": (1, "reps"),
    "numpy.resize": (1, "new_shape"),
    "numpy.round": (1, "decimals"),
    "numpy.repeat": (1, "repeats"),
    "numpy.pad": (1, "pad_width"),
    "numpy.linspace": (2, "num"),
    **dict.fromkeys(("numpy.diag", "numpy.diagflat"), (1, "k")),
    "numpy.array_split": (1, "indices_or_sections"),
    **dict.fromkeys(("numpy.diff", "numpy.linalg.matrix_power", "sinc_derivative"), (1, "n")),
    **{f"numpy.fft.{name}": (1, "n") for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"numpy.fft.{a}{b}": (1, "s") for a in ("fft", "ifft", "rfft", "irfft") for b in ("2", "n")},
}
"""Operations with an amount: the position and the name of that argument."""
REPEATING = {"numpy.diff", "sinc_derivative", "numpy.array_split", "numpy.round"}
MULTIPLYING = {"numpy.outer", "numpy.kron"}
"""Operations that create as many elements as the product of the sizes of their arguments."""
UNLIKE = {"gather", "numpy.linalg.matrix_power", "numpy.diag"}
"""Operations whose amount does not determine the number of elements in the result."""


def check_amount(name: str, arguments: list[Any], parameters: dict[str, Any], size: int | None = None) -> None:
    """Raise a ValueError if an operation would create, or repeat, too much.

    Parameters
    ----------
    arguments, parameters
        None stands for unknown values.
    size : int, optional
        The number of elements in the result, according to the file. The amount must match it.
    """
    if name == "numpy.einsum":
        _check_order(arguments, parameters)
        if parameters.get("optimize", False) is False:
            _check_products(arguments)
    if name in MULTIPLYING and (made := math.prod(map(np.size, (*arguments, *parameters.values())))) > LARGEST:
        raise ValueError(f"it would create {made} elements, too many to compute")
    if name not in SIZED:
        return
    position, keyword = SIZED[name]
    given = [*arguments[position : position + 1], *(parameters[key] for key in parameters if key == keyword)]
    numbers = [abs(n) for n in _numbers(given)]
    if name in REPEATING:
        if len(numbers) == 1 and numbers[0] > LONGEST:
            raise ValueError(f"it would repeat {numbers[0]} times; from a file, the limit is {LONGEST}")
        return
    if name == "numpy.repeat":
        amount = sum(numbers)
    elif name == "numpy.pad":
        amount = max(numbers, default=0)
    else:
        amount = math.prod(n for n in numbers if n) ** (2 if name.startswith("numpy.diag") else 1)
    if amount > LARGEST:
        raise ValueError(f"it would create {amount} elements, too many to compute")
    if size is not None and name not in UNLIKE and amount > 2 * size + LONGEST:
        raise ValueError(
            f"it would create {amount} elements, but the file says that the result has {size}; save it again"
        )


def _check_order(arguments: list[Any], parameters: dict[str, Any]) -> None:
    operands = sum(not isinstance(x, str | list | tuple) for x in arguments)
    if operands > MOST_OPERANDS and "optimal" in map(str, _leaves(parameters.get("optimize"))):
        raise ValueError(
            f"einsum would try every order of {operands} operands, which may never end; write optimize='greedy'"
        )


def _check_products(arguments: list[Any]) -> None:
    subscripts, *operands = arguments
    if not isinstance(subscripts, str):
        return
    lengths: dict[str, int] = {}
    for letters, operand in zip(subscripts.replace(" ", "").split("->")[0].split(","), operands, strict=False):
        before, _, after = letters.partition("...")
        shape = np.shape(operand)
        lengths |= dict(zip(before, shape, strict=False)) | dict(zip(after[::-1], shape[::-1], strict=False))
        rest = math.prod(shape[len(before) : len(shape) - len(after)])
        lengths["..."] = max(rest, lengths.get("...", 1))
    if (products := math.prod(lengths.values()) * len(operands)) > MOST_PRODUCTS:
        raise ValueError(
            f"einsum would multiply {products} times, which may never end; write optimize='greedy' and save it again"
        )


def _numbers(part: Any) -> Iterator[int]:
    for leaf in _leaves(part):
        if is_whole(leaf):
            yield int(leaf)


def _leaves(part: Any) -> Iterator[Any]:
    if isinstance(part, Tensor):
        part = part._array
    if isinstance(part, np.ndarray):
        part = part.ravel().tolist() if part.size < LONGEST else int(np.abs(part).sum())
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list | tuple):
        for inner in part:
            yield from _leaves(inner)
    else:
        yield part
