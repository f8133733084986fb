"""What to write where a program has mathematics as it is written by hand: `x^2`, `2x`, `|x|`."""

from __future__ import annotations

import re

SIGNS = {
    "²": "** 2, as in x ** 2", "³": "** 3, as in x ** 3", "−": "-, the key beside 0", "×": "*, as in 2 * x",
    "·": "*, as in 2 * x", "⋅": "*, as in 2 * x", "÷": "/", "√": "np.sqrt, as in np.sqrt(x)",
    "≤": "<=", "≥": ">=", "≠": "!=",
}  # fmt: skip
FUNCTIONS = "sin|cos|tan|exp|log|sqrt|tanh|abs"
TIMES = re.compile(r"(?<![\w.])(\d+(?:\.\d*)?) ?(?![eE][-+]?\d|[jJ]\b|(?:and|or|if|else|for|in|is|not)\b)([^\W\d]\w*)")
BARS = re.compile(r"\|([^|]+)\|")
CALL = re.compile(rf"\b({FUNCTIONS})\s+([^\W\d]\w*|\d[\d.]*)")


def advise(error: BaseException, line: str | None = None) -> str | None:
    """Return in plain words what to write instead, if an error comes of mathematics; `line` is where it was raised.

    Examples
    --------
    >>> try:
    ...     compile("y = 2x + 1", "program", "exec")
    ... except SyntaxError as error:
    ...     advise(error)
    'Python multiplies only where it sees a *: write 2 * x instead of 2x.'
    >>> advise(TypeError("unsupported operand type(s) for ^: 'float' and 'int'"))
    'In Python, a power is written with two stars: x ** 2 instead of x^2.'
    """
    if isinstance(error, TypeError):
        if re.search(r"for \^=?:|bitwise_xor", str(error)):
            return "In Python, a power is written with two stars: x ** 2 instead of x^2."
        times = re.search(r"\b(\d+(?:\.\d*)?)\s?\(", line or "")
        if times and re.fullmatch(r"'(int|float)' object is not callable", str(error)):
            return f"Python multiplies only where it sees a *: write {times[1]} * ( instead of {times[0]}."
        return None
    if not isinstance(error, SyntaxError) or not error.text:
        return None
    text = error.text.partition("#")[0]
    for sign, instead in SIGNS.items():
        if f"'{sign}'" in str(error):
            return f"Python does not know {sign}: write {instead}."
    if str(error).startswith(("invalid syntax", "invalid decimal literal", "invalid imaginary literal")):
        if found := TIMES.search(text):
            return f"Python multiplies only where it sees a *: write {found[1]} * {found[2]} instead of {found[0]}."
        if found := BARS.search(text):
            return f"Python has no bars for a size: write np.abs({found[1].strip()}) instead of {found[0]}."
        if found := CALL.search(text):
            return f"Python needs brackets after a function: write np.{found[1]}({found[2]}) instead of {found[0]}."
    return None
