"""Numbers and arrays as text: the same wherever a reader meets them, and on every machine."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

DERIVATIVES = {"gradient": "gradient", "jacobian": "Jacobian", "batch_jacobian": "batch Jacobian"}
"""What a tape computes, by the name of its method."""

SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"


def show(array: Any, indent: int = 0) -> str:
    """Write an array in a few characters, the same everywhere: six significant digits, long arrays shortened."""
    if not isinstance(array, np.ndarray | np.generic):
        return f"shape={array.shape}, dtype={array.dtype}"
    with np.printoptions(
        precision=6,
        threshold=60,
        edgeitems=3,
        linewidth=100,
        suppress=False,
        sign="-",
        floatmode="maxprec",
        legacy=False,
    ):
        text = np.array2string(np.asarray(array), separator=", ", prefix=" " * indent)
    if array.size == 0:
        text += f", shape={array.shape}"
    return text if array.dtype in (np.float64, np.int_, np.bool_, np.complex128) else f"{text}, dtype={array.dtype}"


def short_value(array: Any) -> str:
    """Write a value on one line: six significant digits; a large array by its shape and range.

    >>> short_value(np.float64(2 / 3)), short_value(np.array([1.0, 2.5])), short_value(np.zeros((3, 400)))
    ('0.666667', '[1 2.5]', '3×400, all 0')
    """
    if array is None:
        return "—"
    if not isinstance(array, np.ndarray | np.generic):
        return f"{'×'.join(map(str, array.shape))} (not computed here)".lstrip()
    if array.ndim == 0:
        return number(array.item())
    if array.size == 0:
        return f"{'×'.join(map(str, array.shape))}, empty"
    if array.size <= 12:
        return _nested(array)
    shape = "×".join(map(str, array.shape)) + (" numbers" if array.ndim == 1 else "")
    if array.dtype.kind == "c":
        return f"{shape}, up to {number(np.abs(array).max())} in size"
    low, high = array.min(), array.max()
    return f"{shape}, all {number(low)}" if low == high else f"{shape}, from {number(low)} to {number(high)}"


def spoken_value(array: Any, noun: str = "array") -> str:
    """Write a value as part of a sentence: as `short_value` does, but a large array as a phrase about the noun.

    >>> spoken_value(np.array([1.0, 2.5])), spoken_value(np.zeros((8, 400))), spoken_value(np.arange(20), "cotangent")
    ('[1 2.5]', 'an 8×400 array filled with 0', 'a cotangent of length 20 with values from 0 to 19')
    """
    text = short_value(array)
    if array is None or not array.ndim or text.startswith("["):
        return text
    shape, _, rest = text.partition(" (" if text.endswith(")") else ", ")
    text = f"{noun} of length {array.size}" if array.ndim == 1 else f"{shape} {noun}"
    if rest == "empty":
        return f"an empty {text}"
    article = "an" if re.match(r"8|1[18](?!\d)", text) or text[0] in "aeiou" else "a"
    if rest.startswith("not"):
        return f"{article} {text} ({rest}"
    if rest.startswith("all "):
        return f"{article} {text} filled with {rest.removeprefix('all ')}"
    return f"{article} {text} with values {rest}"


def spell_out(text: str, but: str = "") -> str:
    r"""Spell out the characters that a terminal would obey, or that nobody sees, as Python does; `but` some.

    >>> print(spell_out("red: \x1b[31m, hidden: \u202e"))
    red: \x1b[31m, hidden: \u202e
    """
    return "".join(c if c.isprintable() or c in but else ascii(c)[1:-1] for c in text)


def number(value: Any) -> str:
    """Write one number with six significant digits; a zero has no sign.

    >>> number(np.float64(0.1)), number(np.float64(1e-9)), number(np.complex128(1 - 2j)), number(np.bool_(True))
    ('0.1', '1e-09', '1-2j', 'True')
    >>> number(-0.0)
    '0'
    >>> number(2412.925), number(2412.925 - 5e-13)  # halfway between two numbers of six digits, but for a last bit
    ('2412.93', '2412.93')
    """
    if isinstance(value, complex | np.complexfloating):
        return f"{_settled(value.real):.6g}{_settled(value.imag):+.6g}j"
    return f"{_settled(value):.6g}" if isinstance(value, float | np.floating) else str(value)


def _settled(value: Any) -> float:
    """Round to thirteen digits first, so that the last bit, which depends on the processor, doesn't decide a tie."""
    return float(f"{value:.13g}") + 0.0


def _nested(array: Any) -> str:
    return f"[{' '.join(map(_nested, array))}]" if array.ndim else number(array[()])


def is_array(value: Any) -> bool:
    """Return whether a value is an array, of NumPy or of another library, such as Dask's."""
    return hasattr(value, "__array_function__")


def short_argument(value: Any) -> str:
    """Write an argument that is not a tensor."""
    if isinstance(value, type | np.dtype):
        return getattr(value, "__name__", str(value))
    if isinstance(value, np.ndarray | np.generic):
        text = short_value(value)
        return text if not value.ndim or text.startswith("[") else f"[{text}]"
    if is_array(value):
        return f"[{'×'.join(map(str, value.shape)) or 'a number'}, not computed here]"
    return number(value) if isinstance(value, float | complex) else value if value == "…" else repr(value)


def short_index(index: Any) -> str:
    """Write what stands between the brackets of `x[...]`."""
    if isinstance(index, tuple):
        return ", ".join(map(short_index, index))
    if isinstance(index, slice):
        ends = ["" if end is None else str(end) for end in (index.start, index.stop, index.step)]
        return ":".join(ends if index.step is not None else ends[:2])
    return "..." if index is ... else "None" if index is None else short_argument(index)


def subscript(number: int) -> str:
    """Write a number as the subscript of a name: a dot would be read as a decimal point in `dg.5/da`.

    >>> "y" + subscript(12)
    'y₁₂'
    """
    return "".join(SUBSCRIPTS[int(digit)] for digit in str(number))


def derivative(target: str, source: str) -> str:
    """Write a derivative using the names of its target and its source.

    >>> derivative("y", "x₂"), derivative("y + z", "x"), derivative("y", "layer 1/kernel")
    ('dy/dx₂', 'd(y + z)/dx', 'the gradient of y with respect to layer 1/kernel')
    """
    targets = target.split(" + ")
    if not all(name.rstrip(SUBSCRIPTS).isidentifier() for name in (*targets, source)):
        return f"the gradient of {target} with respect to {source}"
    return f"d({target})/d{source}" if targets[1:] else f"d{target}/d{source}"
