"""Numbers and arrays as text: the same wherever a reader meets them, and on every machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from math import inf, isclose, isfinite
from typing import Any

import numpy as np

from .shared import shared

DERIVATIVES = {"gradient": "gradient", "jacobian": "Jacobian", "batch_jacobian": "batch Jacobian"}
"""What a tape computes, by the name of its method."""

SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
FEW = 4
"""A sentence writes at most this many numbers of an array."""
LARGEST_WRITTEN = 12
"""A result, or an array by itself, is written with at most this many numbers."""

USUAL_DIGITS = 6
"""How many digits a number has unless it needs more or fewer."""
SURE_DIGITS = 10
"""The most digits that tell two values apart: later ones are rounding."""

FINE = re.compile(r"[1-9](\.?\d){5}[0.]*[1-9]")
"""Matches a number of more than six digits: fewer would be misleading, so `brief` leaves it as it is."""
FRACTION = re.compile(r"(\d+\.\d+)(e[-+]\d+)?")


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


def short_value(array: Any, digits: int | None = None) -> str:
    """Write a value on one line, its numbers as `number` does; a large array by its shape and range.

    >>> short_value(np.float64(2 / 3)), short_value(np.array([1.0, 2.5])), short_value(np.zeros((3, 400)))
    ('0.666667', '[1 2.5]', '3×400, all 0')
    >>> short_value(np.array([1, 1.000001])), short_value(np.float32(1.000001))
    ('[1 1.000001]', '1')
    >>> short_value(np.array([0.7210014, 0.2]) / 3), short_value(np.array([0.7210014, 0.123456]))
    ('[0.240334 0.0666667]', '[0.721001 0.123456]')
    """
    if array is None:
        return "—"
    if not isinstance(array, np.ndarray | np.generic):
        return f"{'×'.join(map(str, array.shape))} (not computed here)".lstrip()
    if array.ndim == 0:
        return number(np.asarray(array)[()], digits)
    if array.size == 0:
        return f"{'×'.join(map(str, array.shape))}, empty"
    if array.size <= LARGEST_WRITTEN:
        text = _write_nested(array, digits)
        # Among numbers of six digits nobody takes one for exact.
        is_mixed = digits is None and FINE.search(text) and brief(text) != text
        return _write_nested(array, USUAL_DIGITS) if is_mixed else text
    shape = "×".join(map(str, array.shape)) + (" numbers" if array.ndim == 1 else "")
    if array.dtype.kind == "c":
        return f"{shape}, up to {number(np.abs(array).max())} in size"
    low, high = array.min(), array.max()
    return f"{shape}, all {number(low)}" if low == high else f"{shape}, from {number(low)} to {number(high)}"


def spoken_value(array: Any, noun: str = "array", most: int = FEW, digits: int = 3) -> str:
    """Write a value as part of a sentence: a number, a few of them, or a phrase about the noun with its shape.

    >>> spoken_value(np.array([2 / 3, 2.5])), spoken_value(np.zeros((8, 400))), spoken_value(np.arange(20), "cotangent")
    ('[0.667 2.5]', 'an 8×400 array filled with 0', 'a cotangent of length 20')
    """
    if is_written(array, most):
        text = short_value(array, digits if digits > 6 else None)
        is_exact = getattr(array, "dtype", np.dtype(int)).kind not in "fc"
        return text if is_exact or digits > 3 else brief(text)
    shape, same = "×".join(map(str, array.shape)), _find_filling(array)
    text = f"{noun} of length {array.size}" if array.ndim == 1 else f"{shape} {noun}"
    if array.size == 0:
        return f"an empty {text}"
    article = "an" if re.match(r"8|1[18](?!\d)", text) or text[0] in "aeiou" else "a"
    if same is not None:
        return f"{article} {text} filled with {same}"
    return f"{article} {text}" if isinstance(array, np.ndarray) else f"{article} {text} (not computed here)"


def spoken_size(array: Any) -> str:
    """Write the size that follows an array's name in a sentence without its numbers; nothing if the numbers are there.

    >>> spoken_size(np.arange(6.0).reshape(2, 3)), spoken_size(np.zeros(8)), spoken_size(np.float64(2.0))
    (' (2×3)', ' (length 8, filled with 0)', '')
    """
    if is_written(array):
        return ""
    shape, same = "×".join(map(str, array.shape)), _find_filling(array)
    size = f"length {array.size}" if array.ndim == 1 else shape
    filling = "" if same is None else f", filled with {same}"
    return f" ({size}{filling if isinstance(array, np.ndarray) else ', not computed here'})"


def is_written(array: Any, most: int = FEW) -> bool:
    """Return whether a sentence writes the numbers of a value: up to four in a row or two are easily read."""
    known = array is None or isinstance(array, np.ndarray | np.generic)
    rows = len(array) if getattr(array, "ndim", 0) > 1 else 1
    return known and (not getattr(array, "ndim", 0) or (0 < array.size <= most and (rows <= 2 or most > FEW)))


def list_elements(elements: Iterable[tuple[int, ...]]) -> str:
    """Name up to four elements, and count the others.

    >>> list_elements([(0,), (2,)]), list_elements([(k, 0) for k in range(6)])
    ('[0] and [2]', '[0, 0], [1, 0], [2, 0] and 3 more')
    """
    names = [f"[{', '.join(map(str, element))}]" for element in elements]
    shown = names if len(names) <= FEW else [*names[: FEW - 1], f"{len(names) - FEW + 1} more"]
    return " and ".join([*([", ".join(shown[:-1])] if shown[1:] else []), shown[-1]])


def find_nonfinite(text: str) -> re.Match[str] | None:
    """Find a NaN or an infinity in the text of an array, which shows at least its smallest and its largest element.

    "infj" is part of a number.

    >>> find_nonfinite("[0 -inf nan]")[0]
    '-inf'
    """
    return re.search(shared()["odd"], text)


def _find_filling(array: Any) -> str | None:
    """Write the number that a large array is filled with, if it is the same everywhere."""
    if not isinstance(array, np.ndarray) or not array.size or array.dtype.kind not in "biufc":
        return None
    first = array.flat[0]
    return spoken_value(first) if np.all(array == first) else None


def spell_out(text: str, but: str = "") -> str:
    r"""Spell out the characters that a terminal would obey, or that nobody sees, as Python does; `but` some.

    >>> print(spell_out("red: \x1b[31m, hidden: \u202e"))
    red: \x1b[31m, hidden: \u202e
    """
    return "".join(c if c.isprintable() or c in but else ascii(c)[1:-1] for c in text)


def number(value: Any, digits: int | None = None) -> str:
    """Write one number with six significant digits, or so many; a zero has no sign.

    A 64-bit number very close to one with three digits gets more than six, if up to ten show that the two differ: all
    of its digits, if ten are enough, else as few as show it. Digits after the tenth may be rounding. So may those of a
    number below 0.001, which is often what a subtraction has left: it always gets six.

    >>> number(np.float64(0.1)), number(np.float64(1e-9)), number(np.complex128(1 - 2j)), number(np.bool_(True))
    ('0.1', '1e-09', '1-2j', 'True')
    >>> number(-0.0)
    '0'
    >>> number(2412.925), number(2412.925 - 5e-13)  # halfway between two numbers of six digits, but for a last bit
    ('2412.93', '2412.93')
    >>> number(1.000001), number(0.9999993), number(0.1 + 0.2), number(1.000001, 6)
    ('1.000001', '0.9999993', '0.3', '1')
    >>> number(1250001.5), number(0.99999977492967), number(1.000003)
    ('1250001.5', '0.9999998', '1.000003')
    """
    if isinstance(value, complex | np.complexfloating):
        digits = digits or USUAL_DIGITS
        return f"{_settle(value.real, digits):.{digits}g}{_settle(value.imag, digits):+.{digits}g}j"
    if not isinstance(value, float | np.floating):
        return str(value)
    settled = _settle(value, digits or USUAL_DIGITS)
    text = f"{settled:.{digits or USUAL_DIGITS}g}"
    if digits is not None or not isinstance(value, float) or (shown := float(text)) == settled:
        return text
    short = float(f"{settled:.3g}")
    if not 1e-3 < abs(settled) < inf or (shown != short and not isclose(settled, short, rel_tol=2e-6)):
        return text
    finer = [f"{settled:.{more}g}" for more in range(USUAL_DIGITS + 1, SURE_DIGITS + 1)]
    exact = (each for each in finer if float(each) == settled)
    return next(exact, next((each for each in finer if float(each) != shown), text))


@lru_cache(maxsize=4096)
def brief(text: str, digits: int | None = None) -> str:
    """Round the numbers of a text to `digits` significant digits, and keep all digits before the point.

    If `digits` is None, it rounds to three, but leaves numbers of more than six alone. It starts from a text, so it
    depends on the processor no more than that text does, and js/brief.js, which has only the text, gets the same.

    >>> brief("0.666667"), brief("1234.56"), brief("1.23457e+06"), brief("2.125"), brief("[0.333333-2j 123457]")
    ('0.667', '1235', '1.23e+06', '2.13', '[0.333-2j 123457]')

    Zeros at the end show that a number was rounded: 2 is exactly 2, and 2.00 is near 2.

    >>> brief("[2.00456 2 0.5 0.499987]")
    '[2.00 2 0.5 0.500]'
    >>> brief("1.000001"), brief("1.000001", 3), brief("-9.99822e+23")
    ('1.000001', '1.00', '-1.00e+24')
    """

    def write(found: re.Match[str]) -> str:
        stays = digits is None and FINE.search(found[1])
        return found[0] if stays else _round_number(found[1], found[2] or "", digits or 3)

    return FRACTION.sub(write, text)


def _round_number(text: str, exponent: str, digits: int) -> str:
    if text.endswith("0"):  # it has been rounded already
        return text + exponent
    digits = max(digits, text.index("."))
    # a text halfway between two numbers is rounded up, as a reader would
    written = f"{float(text) * (1 + 1e-12 * (digits < 12)):#.{digits}g}".rstrip(".")
    rounded = float(written)
    if rounded == float(text) or "e" in written:
        written = f"{rounded:.{max(digits, USUAL_DIGITS)}g}"
    return f"{written}{exponent}" if rounded < 10 or not exponent else f"{float(f'{rounded}{exponent}'):.{digits - 1}e}"


MOST_DIGITS = 15
"""With more of them, a sum of which three digits are right is all but what the processor has rounded."""


def count_digits_apart(one: Any, other: Any, same: int = 3) -> int:
    """Return the fewest digits, 3 or from 6 to 10, that tell two values in a sentence apart; `same` if ten do not.

    >>> count_digits_apart(np.float64(2.094551), np.float64(2.09456)), count_digits_apart(np.float64(1.0), 2.0)
    (6, 3)
    >>> count_digits_apart(np.array([1.234561, 5.0]), np.array([1.2345611, 5.0]))
    8
    """
    if one is None or other is None or not is_written(one) or not is_written(other):
        return 3
    if isinstance(one, float) and isinstance(other, float) and not isclose(one, other, rel_tol=0.011):
        return 3  # which need not be written to be told apart
    if brief(short_value(one), 3) != brief(short_value(other), 3):
        return 3
    finer = range(USUAL_DIGITS, SURE_DIGITS + 1)
    return next((n for n in finer if spoken_value(one, digits=n) != spoken_value(other, digits=n)), same)


def count_digits_of_sum(parts: list[Any], total: Any, least: int = 3) -> int:
    """Return how many digits summands need for their sum, which has `least` of them, to be what is shown.

    These are more where the rounded summands would add up to another number, if fifteen of them are enough to give
    three digits of the sum: else all that is left is rounding. It starts from the six digits, or more, that the
    document has; js/brief.js does the same. If three are too few, there are at least six, as in a table,
    so that a third form is rare.

    >>> count_digits_of_sum([0.50005312, -0.5], 5.312e-05), count_digits_of_sum([0.3213, 2.284], 2.6053)
    (7, 6)
    >>> count_digits_of_sum([1000000.0000005, -1e6], 1000000.0000005 - 1e6)
    14
    >>> count_digits_of_sum([2.4120004, -0.412], 2.0000004)  # which has eight digits
    8
    """
    values = [total, *parts]
    if not all(isinstance(value, np.ndarray | np.generic | float | int) for value in values):
        return least
    arrays = [np.asarray(value) for value in values]
    if any(array.dtype.kind not in "iuf" or array.size > LARGEST_WRITTEN for array in arrays):
        return least
    if any(array.shape not in ((), arrays[0].shape) for array in arrays):
        return least
    rows = zip(*(array.ravel().tolist() for array in np.broadcast_arrays(*arrays)), strict=True)
    is_fine, counts = FINE.search(short_value(arrays[0])), []
    for total, *parts in ([float(value) for value in row] for row in rows):  # a longdouble may be beyond a float
        if is_fine and FINE.search(text := number(total)):
            fine = len(text.partition("e")[0].replace(".", "").lstrip("-0"))
            counts.append(_count_digits(tuple(parts), total, fine))
            continue
        kept = _count_digits(tuple(parts), total, USUAL_DIGITS)
        parts = [float(number(part, kept)) for part in parts]
        counts.append(
            kept if least == USUAL_DIGITS else _count_digits(tuple(parts), float(number(total, USUAL_DIGITS)), least)
        )
    return max(counts, default=least)


@lru_cache(maxsize=64)  # a document asks, then its sentence
def _count_digits(parts: tuple[float, ...], total: float, least: int) -> int:
    if not total or not all(map(isfinite, (total, *parts))):
        return least

    def show(value: float, digits: int, known: int) -> Decimal:
        return Decimal(brief(number(value, known), digits))

    enough = (
        digits
        for wanted in sorted({least, 3}, reverse=True)
        for digits in (least, *range(max(USUAL_DIGITS, least + 1), MOST_DIGITS + 1))
        # a reader adds up what is written, without rounding
        if show(float(sum(show(part, digits, MOST_DIGITS) for part in parts)), wanted, max(USUAL_DIGITS, wanted))
        == show(total, wanted, max(USUAL_DIGITS, wanted))
    )
    return next(enough, least)


def _settle(value: Any, digits: int) -> float:
    """Round to thirteen digits first, so that the last bit, which depends on the processor, doesn't decide a tie."""
    return float(f"{value:.{max(digits, 13)}g}") + 0.0


def _write_nested(array: Any, digits: int | None) -> str:
    return f"[{' '.join(_write_nested(part, digits) for part in array)}]" if array.ndim else number(array[()], digits)


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
    >>> derivative("dy", "x"), derivative("loss", "w"), derivative("iff", "slope")
    ('d(dy)/dx', 'd loss/dw', 'd iff/d slope')
    """
    targets = target.split(" + ")
    if not all(name.rstrip(SUBSCRIPTS).isidentifier() for name in (*targets, source)):
        return f"the gradient of {target} with respect to {source}"
    return f"{_differential(target)}/{_differential(source)}"


def _differential(name: str) -> str:
    """Return a name with the d of a derivative, so that both don't read as a name: `d iff`, not `diff`; `d(dy)`."""
    if re.fullmatch(r"[^\W\d_]\d*", name.rstrip(SUBSCRIPTS)):
        return f"d{name}"
    return f"d({name})" if name[0] == "d" or " + " in name else f"d {name}"
