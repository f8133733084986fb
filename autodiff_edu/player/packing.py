"""Packs what a player shows for a page: every fact once, with the values of a column side by side.

`pack` recognises only three fields of a document: the text of an array that lists all of its numbers, the sentence of
a step, and the arrays themselves. Everything else is packed by its form, so anything added to a document later is
packed too. The result is compressed with gzip; js/packing.js and unpacking.py read it back. Two builds of zlib may
write different bytes for the same text, so outputs are compared unpacked.

Dicts with the same keys are the rows of a table, and a dict that is in several places is one row. A table holds its
number of rows, its keys, and for each key a column. Columns, also those of the items of lists, are written as one of

- `["v", values]`, the values themselves; `["=", count, value]`, one value many times;
- `["s", digits]`, small whole numbers, each a digit to base 36; `["+", column]`, the differences from one number to the
  next; `["/", by, column]`, numbers that are divided;
- `["#", column, indexes]`, indexes into the distinct values;
- `["~", column, numbers]`, texts, each as a list of what is between its numbers, and the list of these;
- `["[", lengths, column]`, lists, their items one after the other; `["|", columns…]`, lists that are equally long, with
  a column for each position;
- `["{", table, rows]`, dicts of one table;
- `["?", kinds, columns…]`, values of several kinds, with a column for each kind.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

from ..text.formatting import brief
from ..text.shared import shared
from ..trace.garbage_collection import without_collecting

NUMBER = re.compile(r"(?<![0-9.])(0|[1-9][0-9]{0,5})(?![0-9.])")  # in a text; it is written the same again
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
LONGEST_ROW = 8
"""Equally long lists with at most this many items get a column for each position."""
MOST = 2**50
"""Numbers below this are exact in JavaScript, and so are ten times these numbers."""
MOST_PATTERNS = 20
"""How many patterns of sentences of one kind are tried at a step."""

CONTAINERS = (dict, list)
KINDS: dict[type, str] = {str: "text", list: "list", int: "number", float: "number"}

dumps = partial(json.dumps, separators=(",", ":"), allow_nan=False)


class Row(tuple[int, int]):
    """A dict, as the number of its table and of its row there."""


def compress(text: str) -> str:
    """Compress a text with gzip, and write the bytes in base64.

    Examples
    --------
    >>> len(compress("dloss = 2 * x * dy; " * 50)) < 100
    True
    """
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def pack(content: dict[str, Any]) -> dict[str, Any]:
    """Write content so that it takes little space.

    The returned `content` is the JSON of `tables` and `root`, a column of one value, compressed. Beside it is the
    document's `version`, which a player of another release can read too.

    Parameters
    ----------
    content
        The argument of ``mount`` in player.js; not changed.

    Examples
    --------
    >>> from .unpacking import decompress
    >>> decompress(pack({"a": 3})["content"])
    '{"tables":[[1,["a"],[["=",1,3]]]],"root":["{",0,["=",1,0]]}'
    """
    with without_collecting():
        return _pack(content)


def _pack(content: dict[str, Any]) -> dict[str, Any]:
    trace = content.get("trace")
    if trace is not None:
        content = {**content, "trace": {**trace, "steps": _with_patterns(trace)}}
    tables = _Tables()
    root = [tables.put(content)]
    written = [
        [len(rows), list(keys), [_column(list(one)) for one in zip(*rows, strict=True)]]
        for keys, rows in tables.rows.items()
    ]
    text = dumps({"tables": written, "root": _column(root)})
    return {"version": (trace or {}).get("version"), "content": compress(text)}


class _Tables:
    """Puts dicts into tables, the inner ones first."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, ...], list[list[Any]]] = {}
        self.numbers: dict[tuple[str, ...], int] = {}
        self.same: dict[int, tuple[Any, Any]] = {}  # by the id of a dict: where it is, and the dict, which keeps its id

    def put(self, value: Any) -> Any:
        if value.__class__ is list:
            return [self.put(one) if one.__class__ in CONTAINERS else one for one in value]
        if value.__class__ is not dict:
            return value
        if id(value) not in self.same:
            self.same[id(value)] = self.row(value), value
        return self.same[id(value)][0]

    def row(self, value: dict[str, Any]) -> Row:
        if "data" in value and _is_read_off(value):
            value = {key: part for key, part in value.items() if key != "data"}
        keys = tuple(value)
        row = [self.put(one) if one.__class__ in CONTAINERS else one for one in value.values()]
        table = self.numbers.setdefault(keys, len(self.numbers))
        rows = self.rows.setdefault(keys, [])
        rows.append(row)
        return Row((table, len(rows) - 1))


def _is_read_off(array: dict[str, Any]) -> bool:
    """Whether the numbers of an array can be read off its text."""
    try:
        return bool(json.loads(str(array.get("text")).replace(" ", ",")) == array["data"])
    except ValueError:
        return False


# Sentences -----------------------------------------------------------------------------------------------------------


def _with_patterns(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """Write the sentences of the steps with numbers in place of words that the document has anyway."""
    recent: dict[str, list[list[str | int]]] = {}  # by the kind of a step: the patterns of its sentences, latest first
    values: dict[int, Any] = {}  # of tensors that were assigned to
    steps = []
    for step in trace["steps"]:
        if step["kind"] == "assign":
            values[step["tensor"]] = step["value"]
        text, words, patterns = step["text"], _words(step, trace, values), recent.setdefault(step["kind"], [])
        for pattern in patterns:
            with suppress(IndexError):  # a pattern of more words than there are here
                if text == "".join([words[part] if isinstance(part, int) else part for part in pattern]):
                    patterns.remove(pattern)
                    break
        else:
            pattern = _pattern(text, words)
        patterns.insert(0, pattern)
        del patterns[MOST_PATTERNS:]
        steps.append({**step, "text": pattern})
    return steps


def _pattern(text: str, words: list[str]) -> list[str | int]:
    parts: list[str | int] = [text]
    for number, word in sorted(enumerate(words), key=lambda pair: -len(pair[1])):
        if word and word in text:
            parts = [one for part in parts for one in (_cut(part, word, number) if isinstance(part, str) else [part])]
    return parts


def _words(step: dict[str, Any], trace: dict[str, Any], values: dict[int, Any]) -> list[str]:
    """List the words at a step besides the sentence, as `wordsOf` in js/packing.js does."""
    entry, tensors = trace["entries"][step["entry"]] if "entry" in step else {}, trace["tensors"]
    named = [step.get("tensor"), entry.get("output"), *entry.get("inputs", ())]
    arrays = [step.get(key) for key in (*shared()["arrays"], "value")]
    arrays += [values.get(k) or (None if k is None else tensors[k]["value"]) for k in named[:2]]
    plain = [entry.get("text"), entry.get("number"), (step.get("where") or {}).get("line"), step.get("count")]
    texts = [array and array.get("text") for array in arrays]
    words = [*plain, *texts, *(text and brief(text) for text in texts)]
    return ["" if one is None else f"{one}" for one in words] + [tensors[k]["name"] for k in named if k is not None]


def _cut(text: str, word: str, number: int) -> list[str | int]:
    """Replace a word with a number wherever it stands alone."""
    parts: list[str | int] = []
    begin = at = 0
    while (at := text.find(word, at)) >= 0:
        end = at + len(word)
        before, after = f" {text}"[at], f"{text} "[end]
        if not (before.isalnum() or before in "_." or after.isalnum() or after == "_"):
            parts += [text[begin:at], number]
            begin = end
        at = end
    return [*parts, text[begin:]]


# Columns -------------------------------------------------------------------------------------------------------------


def _column(values: list[Any]) -> list[Any]:
    types = set(map(type, values))
    plain = KINDS.get(types.pop()) if len(types) == 1 else None
    kinds = [plain] if plain else [_kind(value) for value in values]
    found = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    if len(found) > 1:
        parts: list[list[Any]] = [[] for _ in found]
        for value, kind in zip(values, kinds, strict=True):
            parts[found[kind]].append(value)
        return ["?", _whole([found[kind] for kind in kinds]), *map(_column, parts)]
    if not values:
        return ["v", []]
    kind = kinds[0]
    if isinstance(kind, int):
        return ["{", kind, _whole([row for _, row in values])]
    if kind not in KINDS.values():
        return ["=", len(values), values[0]]
    if kind == "number":
        return _numbers(values)
    if (repeated := _pack_repeated(values)) is not None:
        return repeated
    if kind == "text":
        return _pack_numbered(values) or ["v", values]
    lengths = [len(value) for value in values]
    if len(set(lengths)) == 1 and 1 <= lengths[0] <= LONGEST_ROW:
        return ["|", *(_column(list(column)) for column in zip(*values, strict=True))]
    return ["[", _whole(lengths), _column([item for value in values for item in value])]


def _kind(value: Any) -> str | int:
    """Return what distinguishes values of several kinds: for a row, the number of its table."""
    return value[0] if value.__class__ is Row else KINDS.get(value.__class__) or f"{value}"


def _pack_numbered(texts: list[str]) -> list[Any] | None:
    """Write texts that differ only in whole numbers, such as `t7 * x` and `t9 * x`, as one text and its numbers."""
    split = [NUMBER.split(text) for text in texts]
    if 2 * len({tuple(parts[::2]) for parts in split}) > len(split):
        return None
    numbers = [[int(number) for number in parts[1::2]] for parts in split]
    return ["~", _column([parts[::2] for parts in split]), _column(numbers)]


def _numbers(values: list[Any]) -> list[Any]:
    if -MOST < min(values) <= max(values) < MOST and (0 not in values or "-0.0" not in map(str, values)):
        for by in (1, 10):  # the coordinates of a picture have one decimal
            whole = [round(value * by) for value in values]
            if all(number / by == value for number, value in zip(whole, values, strict=True)):
                return _whole(whole) if by == 1 else ["/", by, _whole(whole)]
    return _pack_repeated(values) or ["v", values]


def _pack_repeated(values: list[Any]) -> list[Any] | None:
    """Write each distinct value once, if that saves space."""
    distinct: dict[str, int] = {}  # by the value as text
    firsts: list[Any] = []
    indexes = []
    for value in values:
        index = distinct.setdefault(value if value.__class__ is str else repr(value), len(firsts))
        if index == len(firsts):
            firsts.append(value)
            if 2 * len(firsts) > len(values):
                return None
        indexes.append(index)
    return ["#", _column(firsts), _whole(indexes)]


def _whole(numbers: list[int]) -> list[Any]:
    """Write whole numbers or the differences between them, whichever is shorter."""
    differences = [number - before for before, number in pairwise([0, *numbers])]
    return min(_digits(numbers), ["+", _digits(differences)], key=lambda column: len(dumps(column)))


def _digits(numbers: list[int]) -> list[Any]:
    distinct = {number: index for index, number in enumerate(dict.fromkeys(numbers))}
    if len(distinct) == 1:
        return ["=", len(numbers), numbers[0]]
    if len(distinct) > len(DIGITS):
        return ["v", numbers]
    if all(0 <= number < len(DIGITS) for number in distinct):
        return ["s", "".join(DIGITS[number] for number in numbers)]
    if 4 * len(distinct) > len(numbers):
        return ["v", numbers]
    return ["#", ["v", list(distinct)], ["s", "".join(DIGITS[distinct[number]] for number in numbers)]]
