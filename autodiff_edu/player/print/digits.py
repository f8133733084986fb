"""How many digits the numbers of a step have: wherever a picture shows one, as many as its sentence does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...text.formatting import brief, count_digits_of_sum, short_value
from .formula import evaluate
from .moments import Moment, read_moment


def find_digits(document: dict[str, Any], number: int, now: Moment) -> dict[int, int]:
    """Return how many digits the values at hand have, by the tensor; those of all others have three."""
    step, tensors = now.step, document["tensors"]
    if step["kind"] in ("record", "cut", "skip"):
        entry = document["entries"][step["entry"]]
        output, inputs = entry["output"], entry["inputs"]
        full, given = tensors[output]["value"], [now.values.get(tensor) for tensor in inputs]
        digits = count_digits(given, full, entry["operation"])
        return dict.fromkeys(inputs, digits) | {output: count_digits_apart(full, given)}
    if step["kind"] == "assign" and "formula" in step:
        old = step.get("from", step["tensor"])
        known = find_operands(document, number, now)
        digits = _count_digits_of_update(document["formulas"][step["formula"]], known, step["value"])
        return {old: digits, step["tensor"]: digits}
    return {}


def find_operands(document: dict[str, Any], number: int, now: Moment) -> dict[Any, dict[str, Any]]:
    """Return what is known of what an update computes with: argument 0, the old value, and "g", its cotangent."""
    old = now.step.get("from", now.step["tensor"])
    before = read_moment(document, number - 1).values.get(old) if number else None
    return {leaf: array for leaf, array in ((0, before), ("g", now.flows.get(old))) if array}


def _count_digits_of_update(tree: Any, known: dict[Any, dict[str, Any]], value: dict[str, Any]) -> int:
    """Return 3 if an update of numbers with three digits gives the new value with three, else 6."""
    if value["shape"] or any(array["shape"] for array in known.values()):
        return 3
    found = evaluate(tree, lambda leaf: float(brief(known[leaf]["text"])) if leaf in known else np.nan)
    return 3 if found is not None and brief(f"{found:.6g}") == brief(value["text"]) else 6


def count_digits(parts: list[dict[str, Any] | None], total: dict[str, Any], operation: str = "add") -> int:
    """Return how many digits a sentence gives the two numbers of a sum or difference; 3 for anything else."""
    sign = {"add": 1, "subtract": -1}.get(operation)
    given = [part for part in parts if part]
    least = max(count_digits_apart(one, [*given, total]) for one in (*given, total))
    numbers = [np.asarray(part["data"]) for part in given]
    if sign is None or len(numbers) != 2 or any(each.dtype.kind not in "if" for each in numbers):
        return least
    return max(least, count_digits_of_sum([numbers[0], sign * numbers[1]], np.asarray(total["data"])))


def count_digits_apart(array: dict[str, Any], others: Iterable[dict[str, Any] | None]) -> int:
    """Return 6 if three digits would show an array as the same as a different one, else 3."""
    texts = [other["text"] for other in others if other]
    return 6 if any(brief(text) == brief(array["text"]) and text != array["text"] for text in texts) else 3


def round_array(array: dict[str, Any], digits: int) -> dict[str, Any]:
    """Return an array with its text rounded as in a sentence."""
    text = array["text"] if digits <= 6 else short_value(np.asarray(array["data"]), digits)
    return array | {"text": brief(text, digits)}
