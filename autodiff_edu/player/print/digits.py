"""How many digits a step's numbers need for the computation to be visible, at most as many as the document has."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from ...text.formatting import LARGEST_WRITTEN, SURE_DIGITS, brief, count_digits_of_sum, short_value
from .formula import evaluate
from .moments import Moment


def find_digits(document: dict[str, Any], now: Moment) -> dict[int, int]:
    """Return the number of digits for each tensor of the step; all others have three."""
    step, tensors = now.step, document["tensors"]
    if step["kind"] in ("record", "cut", "skip"):
        entry = document["entries"][step["entry"]]
        output, inputs = entry["output"], entry["inputs"]
        full, given = tensors[output]["value"], [now.values.get(tensor) for tensor in inputs]
        digits = count_digits(given, full, entry["operation"])
        return dict.fromkeys(inputs, digits) | {output: count_digits_apart(full, given)}
    if "numbers" in step:  # 3 if an update of numbers with three digits gives the new value with three
        found = evaluate(document["formulas"][step["in_numbers"]], [float(brief(text)) for text in step["numbers"]])
        digits = 3 if found is not None and brief(f"{found:.6g}") == brief(step["value"]["text"]) else SURE_DIGITS
        return {step.get("from", step["tensor"]): digits, step["tensor"]: digits}
    return {}


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
    """Return the fewest digits, 3 or from 6 to 10, that tell an array apart from those with another text."""
    texts = {other["text"] for other in others if other} - {array["text"]}
    counts = (3, *range(6, SURE_DIGITS))
    apart = (digits for digits in counts if brief(array["text"], digits) not in {brief(text, digits) for text in texts})
    return next(apart, SURE_DIGITS)


def round_array(array: dict[str, Any], digits: int) -> dict[str, Any]:
    """Return an array with its text rounded as in a sentence."""
    is_finer = digits > 6 and "data" in array and prod(array["shape"]) <= LARGEST_WRITTEN  # than its text
    text = short_value(np.asarray(array["data"]), digits) if is_finer else array["text"]
    return array | {"text": text if digits > 3 else brief(text)}
