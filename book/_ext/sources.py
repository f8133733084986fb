"""Where each rule stands: the name of its function as one writes it, and the file and the line of its source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from autodiff_edu import rules
from autodiff_edu.arrays.validate import written_name
from autodiff_edu.core.rule import RULES, SPELLED
from autodiff_edu.rules.account import AT_ONCE

FOLDER = Path(rules.__file__).parent


def title(function: Any) -> str:
    """Return a function's name as one writes it: `np.linalg.inv`, or an operation of this package by its bare name."""
    return {"_operator": "x[...]"}.get(getattr(function, "__module__", ""), "") or written_name(function)


def label(function: Any) -> str:
    """Return the label that the source of a function's rule has in the book."""
    return f"source-of-{title(function)}".lower()


def sources() -> dict[str, tuple[str, int]]:
    """Find the file and the line, by their labels, of every rule, and of what is written in terms of others."""
    rules.complete()
    found = {}
    for function, ours in SPELLED.items():
        if function not in AT_ONCE:
            found[label(function)] = _place(ours)
    for function, rule in RULES.items():
        if rule.kind != "step" and not rule.own:  # its rule comes before the way it is called
            found[label(function)] = _place(next(filter(None, (rule.each, *rule.pulls))))
    return {label: place for label, place in found.items() if place is not None}


def _place(function: Callable[..., Any]) -> tuple[str, int] | None:
    code = getattr(function, "__code__", None)
    if code is None or Path(code.co_filename).parent != FOLDER:  # another function of NumPy, for one
        return None
    return Path(code.co_filename).name, code.co_firstlineno
