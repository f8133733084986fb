"""Reads back what packing.py has packed for a page: js/packing.js does the same in the browser."""

from __future__ import annotations

import base64
import gzip
import json
import re
from itertools import accumulate, chain
from typing import Any

from ..text.formatting import brief
from ..text.shared import shared

COMPRESSED = re.compile(r'(?<=atob\(")H4sI[^"]*')  # the letters that everything from gzip begins with in base64


def content_of(html: str) -> Any:
    """Read what the first player of a page is given.

    Raises
    ------
    ValueError
        If there is no player in the page.
    """
    found = re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    if found is None:
        raise ValueError("there is no player in this page: it has no script of type application/json")
    return unpack(json.loads(found.group(1)))


def decompress(text: str) -> str:
    """Read back a text that `packing.compress` has written.

    Examples
    --------
    >>> from .packing import compress
    >>> decompress(compress("abc"))
    'abc'
    """
    return gzip.decompress(base64.b64decode(text)).decode()


def unpack_script(script: str) -> str:
    """Unpack what html.py has compressed inside a script of a page.

    Examples
    --------
    >>> from .packing import compress
    >>> unpack_script(f'run(atob("{compress("draw();")}"));')
    'run(atob("draw();"));'
    """
    return COMPRESSED.sub(lambda found: decompress(found[0]), script)


def unpack(packed: dict[str, Any]) -> Any:
    """Read back the content of a player.

    Parameters
    ----------
    packed
        As `packing.pack` returns it.

    Returns
    -------
    dict
        What was packed, equal to it.

    Raises
    ------
    ValueError
        If a column is written in a way that packing.py does not know.

    Examples
    --------
    >>> from .packing import pack
    >>> unpack(pack({"a": 3}))
    {'a': 3}
    """
    packed = json.loads(decompress(packed["content"]))
    rows: list[list[dict[str, Any]]] = [[{} for _ in range(count)] for count, _, _ in packed["tables"]]

    def read(column: list[Any]) -> list[Any]:
        match column:
            case ["v", values]:
                return list(values)
            case ["=", count, value]:
                return [value] * count
            case ["s", digits]:
                return [int(digit, 36) for digit in digits]
            case ["+", inner]:
                return [*accumulate(read(inner))]
            case ["/", by, inner]:
                return [number / by for number in read(inner)]
            case ["#", inner, indexes]:
                known = read(inner)
                return [known[index] for index in read(indexes)]
            case ["~", inner, numbers]:
                texts = zip(read(inner), read(numbers), strict=True)
                return ["".join(chain(*zip(parts, [*map(str, some), ""], strict=True))) for parts, some in texts]
            case ["[", lengths, inner]:
                items = iter(read(inner))
                return [[next(items) for _ in range(length)] for length in read(lengths)]
            case ["|", *columns]:
                return [list(row) for row in zip(*map(read, columns), strict=True)]
            case ["{", table, indexes]:
                return [rows[table][index] for index in read(indexes)]
            case ["?", kinds, *columns]:
                left = [iter(read(inner)) for inner in columns]
                return [next(left[kind]) for kind in read(kinds)]
        raise ValueError(f"{column[0]!r} is not a kind of column")

    for found, (_, keys, columns) in zip(rows, packed["tables"], strict=True):
        for key, column in zip(keys, columns, strict=True):
            for row, value in zip(found, read(column), strict=True):
                row[key] = value
    for row in (row for found in rows for row in found):
        if {"shape", "dtype", "text"} <= row.keys() and "data" not in row:
            row["data"] = json.loads(row["text"].replace(" ", ","))
    (content,) = read(packed["root"])
    if "trace" in content:
        content["trace"]["steps"] = _with_sentences(content["trace"])
    return content


def _with_sentences(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """Put the words into the sentences of the steps."""
    tensors, values, steps = trace["tensors"], {}, []
    for step in trace["steps"]:
        if step["kind"] == "assign":
            values[step["tensor"]] = step["value"]
        entry = trace["entries"][step["entry"]] if "entry" in step else {}
        named = [step.get("tensor"), entry.get("output"), *entry.get("inputs", ())]
        arrays = [step.get(key) for key in (*shared()["arrays"], "value")]
        arrays += [None if index is None else values.get(index) or tensors[index]["value"] for index in named[:2]]
        words = [entry.get("text"), entry.get("number"), (step.get("where") or {}).get("line"), step.get("count")]
        texts = [array["text"] if array else "" for array in arrays]
        words += [*texts, *map(brief, texts)]
        words += [tensors[index]["name"] for index in named if index is not None]
        text = "".join(str(words[part]) if isinstance(part, int) else part for part in step["text"])
        steps.append({**step, "text": text})
    return steps
