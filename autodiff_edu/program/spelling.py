"""Numbers, arrays and recorded operations as Python text: `np.array([1.0, 2.0])`, `np.sin(x) * w`.

>>> import numpy as np
>>> literal(np.float64(0.1)).text, literal((slice(None, 2), ...), index=True).text
('np.float64(0.1)', ':2, ...')
>>> x, y = Text("x"), Text("y")
>>> infix("*", infix("+", x, y), infix("**", x, y)).text
'(x + y) * x ** y'
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from ..text.shared import operators

SHORT = 20
"""The most elements of an array that is written out."""


class Text(NamedTuple):
    """An expression and how tightly it binds: the higher the number, the less it needs parentheses."""

    text: str
    level: int = 10

    def within(self, level: int) -> str:
        """Write it as a part of something that binds this tightly."""
        return self.text if self.level >= level else f"({self.text})"


LEVELS = {operator.sign: operator.level for operator in operators().values()}
SIGNS = {name: operator.sign for name, operator in operators().items()}
PREFIXES = {"negative": "-", "invert": "~"}
INDEXING = {"getitem", "scatter", "gather"}


def infix(sign: str, left: Text, right: Text) -> Text:
    """Join two expressions by an operator, in the order in which they were computed."""
    level = LEVELS[sign]
    if sign == "**":
        return Text(f"{left.within(10)} ** {right.within(8)}", level)
    return Text(f"{left.within(level + (level == 2))} {sign} {right.within(level + 1)}", level)


def contraction(subscripts: str, *operands: Any) -> str | None:
    """Write the subscripts of a rule's einsum without the dots that stand for a stack; None where there is a stack.

    >>> contraction("...ik,jk->...ij", np.ones((2, 3)), np.ones((4, 3)))
    'ik,jk->ij'
    """
    terms, arrow, output = subscripts.replace("...", "").partition("->")
    fits = all(np.ndim(x) == len(term) for x, term in zip(operands, terms.split(","), strict=True))
    return f"{terms}->{output}" if arrow and fits else None


def literal(value: Any, index: bool = False) -> Text | None:
    """Write a value so that evaluating the text returns it bit for bit; None if it is too long or impossible.

    With `index` it is written as between brackets: `1:, 0`.
    """
    text = _index(value) if index else _literal(value)
    return None if text is None else Text(text, 8 if text.startswith("-") else 10)


def in_fifteen_digits(value: Any) -> Any:
    """Round floats to the digits that all processors agree on, for a program that is looked at.

    >>> in_fifteen_digits(np.float64(1 / 3)), in_fifteen_digits(np.array([0.1 + 0.2, 1.0]))
    (np.float64(0.333333333333333), array([0.3, 1. ]))
    """
    if not isinstance(value, np.ndarray | np.float64) or value.dtype.char != "d" or value.size > SHORT:
        return value
    rounded = np.array([float(f"{number:.15g}") for number in np.ravel(value).tolist()]).reshape(np.shape(value))
    return rounded if isinstance(value, np.ndarray) else rounded[()]


def _literal(value: Any) -> str | None:
    if isinstance(value, np.ndarray):
        return _checked(_array(value), value)
    if isinstance(value, np.generic):
        return _checked(_scalar(value), value)
    if isinstance(value, slice):
        parts = [_literal(end) for end in (value.start, value.stop, value.step)]
        return None if None in parts else f"slice({', '.join(map(str, parts))})"
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return _dtype(np.dtype(value))
    if type(value) in (tuple, list):
        found = [_literal(part) for part in value]
        if None in found:
            return None
        inside = ", ".join(map(str, found))
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)" if len(found) == 1 else f"({inside})"
    if value is ...:
        return "..."
    if isinstance(value, float) and not np.isfinite(value):
        return _float(value)
    if isinstance(value, type) and value.__module__ == "builtins":
        return value.__name__
    if isinstance(value, complex):  # 1+infj, or one with a negative zero, is not what its text says
        texts = (repr(value), f"-{-value!r}") if np.isfinite(value) else ()
        return next((text for text in texts if repr(eval(text)) == repr(value)), None)
    return repr(value) if value is None or type(value) in (bool, int, float, str) else None


def _index(value: Any) -> str | None:
    if isinstance(value, tuple) and value:
        found = [_index(part) for part in value]
        return None if None in found else ", ".join(map(str, found))
    if isinstance(value, slice):
        ends = ["" if end is None else _literal(end) for end in (value.start, value.stop, value.step)]
        return None if None in ends else ":".join(map(str, ends if value.step is not None else ends[:2]))
    return _literal(value)


def _float(value: Any) -> str:
    return "np.nan" if np.isnan(value) else "np.inf" if value > 0 else "-np.inf"


def _dtype(dtype: np.dtype) -> str:
    return "bool" if dtype.kind == "b" else f"np.{dtype.name}"


def _scalar(value: Any) -> str:
    if isinstance(value, np.floating) and not np.isfinite(value):
        return f"np.{value.dtype.name}({_float(value)})"
    return f"np.{value.dtype.name}({value})" if value.dtype != bool else f"np.bool({value})"


def _array(value: np.ndarray) -> str | None:
    shape = _literal(value.shape if value.ndim != 1 else len(value))
    kind = "" if value.dtype == np.float64 else f", dtype={_dtype(value.dtype)}"
    if value.size and value.dtype.kind != "c" and not np.any(value != value.flat[0]) and value.size > 1:
        number = value.flat[0].item()
        if number in (0, 1) and not np.signbit(number):
            return f"np.{'ones' if number else 'zeros'}({shape}{kind})"
    if not value.size:
        return f"np.zeros({shape}{kind})"
    if value.ndim == 2 and value.dtype == np.float64 and len(value) > 1 and same(value, np.eye(len(value))):
        return f"np.eye({len(value)})"
    if value.size > SHORT:
        return None
    kind = "" if value.dtype in (np.float64, np.int_, np.bool_, np.complex128) else kind
    return f"np.array({_nested(value)}{kind})"


def _nested(value: Any) -> str:
    if value.ndim:
        return f"[{', '.join(map(_nested, value))}]"
    number = value[()]
    if number.dtype.kind == "f" and not np.isfinite(number):
        return _float(number)
    return str(number)  # NumPy's str is the shortest text that gives the same number in its own dtype


def _checked(text: str | None, value: Any) -> str | None:
    """Return a text if it evaluates to the value: same type, dtype, shape and bits."""
    if text is None:
        return None
    try:
        found = eval(text, {"np": np})
    except Exception:  # a complex number that is not finite, for example
        return None
    return text if type(found) is type(value) and same(found, value) else None


def same(a: Any, b: Any) -> bool:
    """Return whether two values are the same, bit for bit."""
    if a is b:
        return True
    if not (isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic)):
        return False
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def home_of(operation: Any) -> tuple[str, str] | None:
    """Find the module and the name from which an operation of this package can be imported."""
    name = getattr(operation, "__name__", "")
    for module in ("operations", "linalg", "norms", "fourier", "products", "elementwise"):
        path = f"autodiff_edu.rules.{module}"
        if getattr(sys.modules.get(path), name, None) is operation:
            return path, name
    return None
