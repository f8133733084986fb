"""Write the list of everything that has a derivative, read off the registry and the tables.

`python -m autodiff_edu.rules > book/rule-book.md` brings the page of the book up to date; a test compares the two.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from . import complete
from .kinds import RULES, SPELLED, UFUNC_METHODS, Pull
from .written import written

REFUSING = {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}


def title(function: Callable[..., Any]) -> str:
    """Name a function as one writes it: `np.linalg.inv`, `np.sin`, or an operation of this package by its bare name."""
    module = getattr(function, "__module__", None) or "numpy"
    if module.split(".")[0] != "numpy":
        return {"_operator": "x[...]"}.get(module, function.__name__)
    return ".".join(["np", *module.split(".")[1:], function.__name__])


def as_written() -> dict[str, list[str]]:
    """Give the rules of every operation as they stand in the tables."""
    return {title(operation): [*map(_rule, rule.pulls or (rule.each,))] for operation, rule in RULES.items()}


def _rule(pull: Pull | None) -> str:
    if pull is None:
        return "none"
    rule = written(pull)
    if rule.name == "<lambda>" and rule.body is not None:
        return f"`{ast.unparse(rule.body)}`"
    return f"`{rule.name}`, a function of its own"


def page() -> str:
    """Give the page as Markdown."""
    complete()
    import_module("autodiff_edu.control.custom")  # a room above this one, with a row in the table
    rules = as_written()
    rows = []
    for operation, rule in RULES.items():
        if rule.kind != "step":
            name = title(operation)
            rows.append(f"| `{name}` | {rule.kind} | {'; '.join(rules[name]).replace('|', chr(92) + '|')} |")
    spelled = sorted(
        {
            *map(title, SPELLED.keys() - REFUSING),
            *(f"np.{ufunc.__name__}.{method}" for ufunc, method in UFUNC_METHODS),
        }
    )
    steps = sorted(title(operation) for operation, rule in RULES.items() if rule.kind == "step")
    return "\n".join(
        [
            "# The rule book",
            "",
            "Made from the registry by `python -m autodiff_edu.rules`. Every rule serves any order of derivative, a",
            "stack of cotangents, and forward mode. In a rule `g` is the cotangent, `y` or `z` the output, and the",
            "other names are the arguments; rules by several arguments are separated by semicolons.",
            "",
            "## Rules",
            "",
            "| operation | kind | rule |",
            "|---|---|---|",
            *sorted(rows, key=str.lower),
            "",
            "## Written in terms of these",
            "",
            ", ".join(f"`{name}`" for name in spelled) + ".",
            "",
            "## Steps: the derivative is zero wherever it exists, and the gradient through them is None",
            "",
            ", ".join(f"`{name}`" for name in steps) + ".",
            "",
        ]
    )


if __name__ == "__main__":
    print(page(), end="")
