"""Thumbnails of arrays: a heatmap in a box of the graph, where the text of an array would be cut off.

js/thumbnails.js draws the same cells; text/shared.json has their sizes and the number of shades.
"""

from __future__ import annotations

import re
from math import ceil, hypot, isfinite, prod
from typing import Any

import numpy as np

from ...text.formatting import brief
from ...text.shared import shared

SIZE: dict[str, float] = shared()["thumbnail"]
LEVELS = int(SIZE["levels"])


def has_cells(array: dict[str, Any] | None) -> bool:
    """Return whether there are numbers to draw.

    >>> has_cells({"shape": [2], "data": [1.0, 2.0]}), has_cells({"shape": [], "data": 3.0})
    (True, False)
    """
    return bool(array and array["shape"] and array["data"] is not None and 0 not in array["shape"])


def cells_of(array: dict[str, Any]) -> list[list[float]]:
    """Return the numbers that a thumbnail shows: a limited number of rows and columns, evenly spaced.

    A vector is one row; leading axes are rows below each other.

    >>> cells_of({"shape": [2, 2], "data": [[1.0, "nan"], [2.0, 3.0]]})
    [[1.0, nan], [2.0, 3.0]]
    >>> [len(row) for row in cells_of({"shape": [100], "data": [0.0] * 100})]
    [48]
    """
    columns, rows, width, height = _grid(array)
    flat = _flat(array)
    places = [[i * rows // height * columns + j * columns // width for j in range(width)] for i in range(height)]
    return [[magnitude(flat[at]) for at in row] for row in places]


def _flat(array: dict[str, Any]) -> list[Any]:
    flat: list[Any] = array["data"]
    while isinstance(flat[0], list):
        flat = [item for part in flat for item in part]
    return flat


def _grid(array: dict[str, Any]) -> tuple[int, int, int, int]:
    """Return how many columns and rows the numbers have, and how many of those are shown."""
    lengths, part = [], array["data"]
    while isinstance(part, list):
        lengths.append(len(part))
        part = part[0]
    columns, rows = lengths[-1], prod(lengths[:-1])
    across = SIZE["across" if len(lengths) > 1 else "vector"]
    return columns, rows, min(columns, int(across)), min(rows, int(SIZE["down"]))


def magnitude(item: Any) -> float:
    """Return a number as a point on the scale; for a complex number, its magnitude.

    >>> magnitude(-2.0), magnitude("3+4j"), magnitude(True), magnitude("-inf")
    (-2.0, 5.0, 1.0, -inf)
    """
    if isinstance(item, str) and item.endswith("j"):
        number = complex(item)
        return hypot(number.real, number.imag)
    return float(item)


def largest(array: dict[str, Any] | None) -> float:
    """Return the largest finite magnitude among the numbers of an array, or 0."""
    return float(np.max(_list_sizes(array), initial=0.0))


def find_limit(*arrays: dict[str, Any] | None) -> float:
    """Return where the colour scale that some arrays share ends: at the largest finite magnitude in them.

    A mask adds one and the same number to scores. If that is a million or more, and everything else is less than a
    millionth of it, it is off the scale.

    >>> find_limit({"shape": [3], "data": [0.0, -2.0, "inf"]}), find_limit({"shape": [3], "data": [0.0, -2.0, -1e9]})
    (2.0, 2.0)
    """
    sizes = np.concatenate([np.empty(0), *map(_list_sizes, arrays)])
    far, rest = sizes[sizes >= SIZE["far"]], np.max(sizes, initial=0.0, where=sizes < SIZE["far"])
    nearest, most = np.min(far, initial=np.inf), np.max(far, initial=0.0)
    is_mask = most < 2.0 * nearest and 0.0 < rest * SIZE["far"] < nearest
    return float(rest if is_mask else max(rest, most))


def _list_sizes(array: dict[str, Any] | None) -> Any:
    """List the finite magnitudes in an array."""
    if array is None or not has_cells(array):
        return np.empty(0)
    try:
        numbers = np.abs(np.asarray(array["data"], np.float64)).reshape(-1)
    except ValueError:  # complex numbers are texts
        numbers = np.abs(np.array([*map(magnitude, _flat(array))]))
    return numbers[np.isfinite(numbers)]


def is_off(number: float, limit: float) -> bool:
    """Return whether a number is off a scale: infinite, NaN, or far beyond its end.

    >>> is_off(-1e9, 2.0), is_off(2.0, 2.0), is_off(float("nan"), 2.0)
    (True, False, True)
    """
    return not isfinite(number) or abs(number) > 2.0 * limit > 0.0


def end_text(array: dict[str, Any], limit: float) -> str:
    """Write where the colour scale of an array ends; nothing for truth values.

    >>> number = {"dtype": "float64"}
    >>> end_text(number, 3.94), end_text(number, 0.00390625), end_text(number, 123456.0), end_text(number, 0.0)
    ('±3.9', '±0.0039', '±1.2e5', '0')
    >>> end_text({"dtype": "complex128"}, 5.0)
    '≤5'
    """
    if array["dtype"] == "bool":
        return ""
    digits = f"{float(f'{limit:.2g}'):.4g}" if limit < 1e4 else f"{limit:.1e}"
    mantissa, *exponent = digits.split("e")
    written = "e".join([mantissa.removesuffix(".0"), *(str(int(power)).replace("-", "−") for power in exponent)])
    return ("≤" if array["dtype"].startswith("complex") else "±" * (limit > 0)) + written


def measure(array: dict[str, Any]) -> tuple[float, float]:
    """Return how wide and how high the thumbnail of an array is, in pixels.

    >>> measure({"shape": [4, 3], "data": [[1.0, 2.0, 3.0]] * 4})
    (36, 32.0)
    """
    *_, across, down = _grid(array)
    return across * min(SIZE["cell"], SIZE["width"] / across), down * min(SIZE["cell"], SIZE["height"] / down)


def rows_of(text: str) -> list[str]:
    """Write the numbers of a small array in a few rows below each other (a vector in one), as js/thumbnails.js does.

    >>> rows_of("[[6 1 0] [1 12.3456 0] [0 0 18]]"), rows_of("[1 2 3 4 5]")
    (['6    1  0', '1 12.3  0', '0    0 18'], ['1 2 3 4 5'])
    >>> rows_of("[[[1 2] [3 4] [5 6]] [[7 8] [9 10] [11 12]]]")
    [' 1  2    3  4    5  6', ' 7  8    9 10   11 12']
    """
    rows = [row.split() for row in re.findall(r"[^\[\]]+", brief(text)) if row.strip()]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" ".join(item.rjust(width) for item, width in zip(row, wide, strict=True)) for row in rows]
    matrices = text.count("]] [[") + 1  # each has a line of its own
    side = len(lines) // matrices if matrices > 1 else ceil(len(lines) / 4)
    return ["   ".join(lines[at : at + side]) for at in range(0, len(lines), side)]


def level(number: float, limit: float) -> int:
    """Return the shade of a finite number, from -LEVELS to LEVELS.

    It is proportional to the magnitude, rounded up, so that only zero looks like zero.

    >>> level(-1.0, 4.0), level(0.0, 0.0), level(1e-9, 4.0), level(9.0, 4.0)
    (-2, 0, 1, 8)
    """
    shade = ceil(LEVELS * min(limit, abs(number)) / limit) if limit else 0
    return -shade if number < 0 else shade


def shape_text(shape: list[int]) -> str:
    """Write a shape as Python does.

    >>> shape_text([3]), shape_text([4, 3])
    ('(3,)', '(4, 3)')
    """
    return str(tuple(shape))
