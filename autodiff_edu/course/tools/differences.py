"""What differs between the stored outputs of a cell and those that it shows now, to the precision that a person sees.

Two processors do not agree on the last bit of a sum, so outputs cannot be compared byte for byte. Everything is
compared as what it is, and as strictly as its readers could:

- A text word by word. Whole numbers must be the same; two numbers with a decimal point or an exponent may differ by one
  unit in the last digit printed.
- A player or a prediction as data: its content and its script are unpacked, because two builds of zlib do not write the
  same bytes. The script, the structure and the texts must be the same, and numbers may differ by 1e-9 of the largest
  magnitude in the same array. Most numbers of a player are rounded to the six digits that it shows; two of these may
  differ by one unit in the sixth.
- HTML as its tags, attributes and texts; a picture in SVG too. A picture in PNG as it looks.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from html.parser import HTMLParser
from itertools import zip_longest
from typing import Any

import numpy as np

from ...player.unpacking import unpack, unpack_script
from ...text.shared import shared

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

MODELS = "data-model", "data-autodiff-frame"
"""The attributes by which a model in the kernel finds its player or box in the page."""

DECIMAL = re.compile(
    r"((?<![\d.])(?:(?<![\w)\]])[-+])?(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?(?![\d]|\.\d))"
)
"""A number with a decimal point or an exponent; the version 1.2.3 is not one."""
TOLERANCE = 1e-9  # of the largest magnitude in the same array
DIGITS = 6  # that a player shows
EXACT = frozenset({"question", "choices", "right", "hints", "why", "code", "name", "names", "title"})
"""The parts of a player or a prediction that a person wrote: no digit of these comes out of a computation."""
SHADES = 8  # of 255, by which a pixel may differ; nobody sees that
AROUND = 30  # characters of a text on either side of a difference
SVG, PNG = "data:image/svg+xml;base64,", "data:image/png;base64,"


def differences(stored: Sequence[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Compare the outputs of a cell.

    Parameters
    ----------
    stored, shown : sequences of dict
        The outputs as a notebook holds them (nbformat 4), before and now. What a kernel makes up as it goes, such as
        the number of a cell, the id of a widget and a traceback, is not compared.

    Yields
    ------
    str
        One sentence for each difference: where it is, what is stored and what was shown.

    Examples
    --------
    >>> stored = [{"output_type": "stream", "name": "stdout", "text": "the loss is 0.6931 after 10 steps"}]
    >>> shown = [{"output_type": "stream", "name": "stdout", "text": "the loss is 0.6932 after 11 steps"}]
    >>> print(*differences(stored, shown))
    stdout: 'the loss is 0.6931 after 10 steps' is stored, 'the loss is 0.6932 after 11 steps' was shown
    """
    before, now = [*map(_content, _join(stored))], [*map(_content, _join(shown))]
    if [*map(_kind, before)] != [*map(_kind, now)]:
        yield f"outputs: {_list_kinds(before)} stored, {_list_kinds(now)} shown"
        return
    for old, new in zip(before, now, strict=True):
        yield from _compare(old, new, "")


def same_html(first: str, second: str) -> bool:
    """Check whether two texts of HTML hold exactly the same, once what they have packed is unpacked.

    Examples
    --------
    >>> same_html("<b title='1'>1.0</b>", '<b title="1">1.0</b>')
    True
    >>> same_html("<b>1.0</b>", "<b>1.00000000001</b>")
    False
    """
    return first == second or json.dumps(_parts(first)) == json.dumps(_parts(second))


def look_alike(first: str, second: str) -> bool:
    """Check whether two pictures, each a PNG in base64, differ in no pixel by more than the eye can see."""
    if first == second:
        return True
    from matplotlib.image import imread

    a, b = (np.rint(255 * imread(io.BytesIO(base64.b64decode(picture)))) for picture in (first, second))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= SHADES))


# What an output holds ------------------------------------------------------------------------------------------------


def _join(outputs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Join what was written to one stream in pieces: where it was cut is up to the kernel."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        copy = dict(output)
        if copy["output_type"] == "stream":
            copy["text"] = "".join(copy["text"])
            earlier = [old for old in joined if old["output_type"] == "stream" and old["name"] == copy["name"]]
            if earlier:
                earlier[0]["text"] += copy["text"]
                continue
        joined.append(copy)
    return joined


def _content(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a person sees of an output, by its MIME type or the name of its stream, as plain data."""
    if output["output_type"] == "stream":
        return {output["name"]: output["text"]}
    if output["output_type"] == "error":
        return {"error": f"{output['ename']}: {output['evalue']}"}
    data = {kind: content for kind, content in output["data"].items() if kind != WIDGET_VIEW}
    return {kind: _read(kind, content) for kind, content in data.items()}


def _read(kind: str, content: Any) -> Any:
    if kind.endswith("json"):
        return content
    text = content if isinstance(content, str) else "".join(content)
    if kind == "text/html":
        return _parts(text)
    return PNG + text.strip() if kind == "image/png" else text


def _kind(content: Mapping[str, Any]) -> list[str]:
    return sorted(content)


def _list_kinds(contents: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join("/".join(_kind(content)) for content in contents) or "nothing"


def _parts(text: str) -> list[Any]:
    """Read HTML, or SVG: each tag as a dict, each text as itself, each script as the data in it."""
    reader = _TagReader()
    reader.feed(text)
    reader.close()
    return reader.parts


class _TagReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[Any] = []
        self.script: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values: dict[str, Any] = {name: value or "" for name, value in attributes if name not in MODELS}
        if (source := values.get("src", "")).startswith(SVG):
            values["src"] = _parts(base64.b64decode(source.removeprefix(SVG)).decode())
        self.parts.append({f"<{tag}>": values})
        self.script = values.get("type", "") if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"</{tag}>")
        self.script = None

    def handle_data(self, data: str) -> None:
        if self.script == "application/json":
            self.parts.append({"data": _open(json.loads(data))})
        elif self.script is not None:  # of the player: its fingerprint says enough
            self.parts.append({"script": hashlib.sha256(unpack_script(data).encode()).hexdigest()[:12]})
        else:
            self.parts.append(data)


def _open(content: dict[str, Any]) -> Any:
    """Unpack the content of a player, and unseal that of a prediction; leave what another release has packed."""
    if "content" in content and content.get("version") in (None, shared()["version"]):
        return unpack(content)
    if "sealed" in content:
        return content | {"sealed": json.loads(base64.b64decode(content["sealed"]))}
    return content


# How it is compared --------------------------------------------------------------------------------------------------


def _compare(stored: Any, shown: Any, path: str, largest: float = 0.0) -> Iterator[str]:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (stored, shown)]
    if all(numbers):
        if _differ(stored, shown, largest):
            yield _sentence(path, stored, shown)
    elif isinstance(stored, str) and isinstance(shown, str):
        if stored != shown:
            yield from _compare_texts(stored, shown, path)
    elif isinstance(stored, dict) and isinstance(shown, dict):
        yield from _compare_keys([*stored], [*shown], path)
        for key in [key for key in stored if key in shown]:
            if key in EXACT and stored[key] != shown[key]:
                yield _sentence(_inside(path, key), stored[key], shown[key])
            elif key not in EXACT:
                yield from _compare(stored[key], shown[key], _inside(path, key))
    elif isinstance(stored, list) and isinstance(shown, list):
        if len(stored) != len(shown):
            yield f"{path}: {_items(stored)} stored, {_items(shown)} shown"
        largest = largest or max(_magnitude(stored), _magnitude(shown))
        for index, (old, new) in enumerate(zip(stored, shown, strict=False)):
            yield from _compare(old, new, path if _is_html(path) else f"{path}[{index}]", largest)
    elif stored is not shown:  # True, False, None
        yield _sentence(path, stored, shown)


def _compare_keys(stored: list[str], shown: list[str], path: str) -> Iterator[str]:
    for names, missing in ((set(stored) - set(shown), "was not shown"), (set(shown) - set(stored), "is not stored")):
        for name in sorted(names):
            yield f"{_inside(path, name)} {missing}"


def _inside(path: str, key: str) -> str:
    """Name what is in a dict: the data of a player by their own names, `trace.steps[3].value`, whatever they are in."""
    if key == "data" and _is_html(path):
        return ""
    return f"{path}.{key}" if path and not _is_html(path) else f"{path} {key}".strip()


def _is_html(path: str) -> bool:
    return path.endswith(("text/html", ">", "> src"))


def _differ(stored: float, shown: float, largest: float) -> bool:
    if isinstance(stored, int) and isinstance(shown, int):
        return stored != shown
    larger = max(abs(stored), abs(shown))
    tolerance = TOLERANCE * (largest or larger)
    digits = sorted(map(_count_digits, (stored, shown)))
    if digits[0] and DIGITS - 1 <= digits[1] <= DIGITS:  # a last digit of 0 isn't written
        tolerance = max(tolerance, 1.001 * 10.0 ** (np.floor(np.log10(larger)) + 1 - DIGITS))
    return not abs(stored - shown) <= tolerance  # also where one is NaN


def _count_digits(number: float) -> int:
    """Count the significant digits of a number as it is written, without zeros at the end; 0 has none.

    >>> _count_digits(0.936999), _count_digits(-1200.0), _count_digits(0.0)
    (6, 2, 0)
    """
    return len(f"{Decimal(repr(number)):e}".partition("e")[0].partition("E")[0].replace(".", "").strip("-0"))


def _magnitude(values: Any) -> float:
    """Find the largest magnitude of the numbers in nested lists."""
    if isinstance(values, list):
        return max(map(_magnitude, values), default=0.0)
    is_number = isinstance(values, int | float) and not isinstance(values, bool)
    return abs(values) if is_number else 0.0


def _compare_texts(stored: str, shown: str, path: str) -> Iterator[str]:
    if stored.startswith(PNG) and shown.startswith(PNG):
        if not look_alike(stored.removeprefix(PNG), shown.removeprefix(PNG)):
            yield f"{path}: the picture looks different"
        return
    lines = stored.split("\n"), shown.split("\n")
    shifted = any(map(_is_shifted, *lines))
    for number, (old, new) in enumerate(zip_longest(*lines), 1):
        place = f"{path}, line {number}" if len(lines[0]) > 1 else path
        if old is None or new is None:
            yield f"{place}: {len(lines[0])} lines are stored, {len(lines[1])} were shown; this one is {old or new!r}"
            return
        if old != new and not _read_alike(old, new, shifted):
            yield _sentence(place, *_around(old, new))


def _read_alike(stored: str, shown: str, shifted: bool = False) -> bool:
    """Check whether two lines have the same words, and numbers that are the same as far as they are printed.

    A number that is printed with one digit less may move what stands after it, and NumPy pads all numbers of an array
    to the same width. So if a number of the text has another length, which is `shifted`, spaces within a line do not
    count.

    Examples
    --------
    >>> _read_alike("[0.31 1.  ] after 3 steps", "[0.32 0.99] after 3 steps", shifted=True)
    True
    >>> _read_alike("[0.31 1.  ] after 3 steps", "[0.33 0.99] after 3 steps", shifted=True)
    False
    """
    old, new = DECIMAL.split(stored), DECIMAL.split(shown)
    if len(old) != len(new):
        return False
    words = [[part.split() if shifted else part for part in parts[::2]] for parts in (old, new)]
    indents = [len(line) - len(line.lstrip()) for line in (stored, shown)]
    return indents[0] == indents[1] and words[0] == words[1] and all(map(_print_alike, old[1::2], new[1::2]))


def _is_shifted(stored: str, shown: str) -> bool:
    """Check whether a number of a line is printed with more digits, or fewer."""
    return [*map(len, DECIMAL.findall(stored))] != [*map(len, DECIMAL.findall(shown))]


def _print_alike(stored: str, shown: str) -> bool:
    """Check whether two numbers differ by at most one unit in the last digit printed of either.

    A point at the end may be that of a sentence, so two numbers with nothing behind it are whole.
    """
    if stored == shown:
        return True
    a, b = Decimal(stored), Decimal(shown)
    if stored.endswith(".") and shown.endswith("."):
        return a == b
    unit = min(int(a.as_tuple().exponent), int(b.as_tuple().exponent))
    return abs(a - b) <= Decimal(1).scaleb(unit)


# How it is said ------------------------------------------------------------------------------------------------------


def _sentence(path: str, stored: Any, shown: Any) -> str:
    return f"{path}: {_short(stored)} is stored, {_short(shown)} was shown"


def _items(values: Sequence[Any]) -> str:
    return f"{len(values)} item{'s' * (len(values) != 1)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 4 * AROUND else f"{text[: 4 * AROUND]}…"


def _around(stored: str, shown: str) -> tuple[str, str]:
    """Cut two long lines down to what stands around their first difference."""
    old, new = DECIMAL.split(stored), DECIMAL.split(shown)
    begin = 0
    for k, (a, b) in enumerate(zip(old, new, strict=False)):
        if a != b and not (k % 2 and _print_alike(a, b)):
            begin += next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            break
        begin += len(a)
    cut = [("…" if begin > AROUND else "") + line[max(0, begin - AROUND) :] for line in (stored, shown)]
    first, second = (line if len(line) <= 3 * AROUND else f"{line[: 3 * AROUND]}…" for line in cut)
    return first, second
