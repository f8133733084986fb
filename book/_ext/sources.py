"""Where each rule stands: the name of its function as one writes it, and the file and the line of its source."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from autodiff_edu import rules
from autodiff_edu.core.composites import SPELLED
from autodiff_edu.core.rule import RULES
from autodiff_edu.rules.account import AT_ONCE
from autodiff_edu.text.functions import written_name

FOLDER = Path(rules.__file__).parent


def title(function: Any) -> str:
    """Return a function's name as one writes it: `np.linalg.inv`, or an operation of this package by its bare name."""
    return {"_operator": "x[...]"}.get(getattr(function, "__module__", ""), "") or written_name(function)


def label(function: Any) -> str:
    """Return the label that the source of a function's rule has in the book."""
    return f"source-of-{title(function)}".lower()


def code_label(name: str) -> str:
    """Return the label that the source of a name in a rule has in the book."""
    return f"code-of-{name}".lower()


def pulls() -> Iterator[Callable[..., Any]]:
    """List the rules of every operation, one for each of its arguments."""
    rules.complete()
    for rule in RULES.values():
        if rule.kind != "step" and not rule.own:
            yield from filter(None, rule.pulls or (rule.each,))


def is_written_out(pull: Any) -> bool:
    """Return whether a rule stands in the table itself, rather than as the name of a function."""
    return getattr(getattr(pull, "__code__", None), "co_name", "") == "<lambda>"


@cache
def helpers() -> dict[str, Any]:
    """Find what the rules in the table are written with besides NumPy, functions and numbers, by name."""
    used = (
        (name, _behind(pull.__globals__.get(name))) for pull in pulls() if is_written_out(pull) for name in names(pull)
    )
    return {
        name: value
        for name, value in sorted(used, key=lambda pair: pair[0])
        if isinstance(value, float) or _place(value)
    }


def names(pull: Callable[..., Any]) -> tuple[str, ...]:
    """List the names that a rule looks up."""
    return pull.__code__.co_names


@cache
def sources() -> dict[str, tuple[str, int]]:
    """Find the file and the line, by their labels, of the rules, what they call, and what is written as others."""
    rules.complete()
    found = {}
    for name, value in helpers().items():
        found[code_label(name)] = _assigned(name) if isinstance(value, float) else _place(value)
    for pull in pulls():
        if not is_written_out(pull):
            found[code_label(pull.__name__)] = _place(pull)
    for function, ours in SPELLED.items():
        if function not in AT_ONCE:
            found[label(function)] = _place(ours)
    for function, rule in RULES.items():
        if rule.kind != "step" and not rule.own:  # its rule comes before the way it is called
            found[label(function)] = _place(next(filter(None, (rule.each, *rule.pulls))))
    return {label: place for label, place in found.items() if place is not None}


def _behind(value: Any) -> Any:
    """Return the function that an operation of this package computes with; anything else as it is."""
    return inspect.getclosurevars(value).nonlocals.get("function", value) if inspect.isfunction(value) else value


def _place(function: Callable[..., Any]) -> tuple[str, int] | None:
    code = getattr(function, "__code__", None)
    if code is None or Path(code.co_filename).parent != FOLDER:  # another function of NumPy, for one
        return None
    return Path(code.co_filename).name, code.co_firstlineno


def _assigned(number: str) -> tuple[str, int]:
    """Find where a number of the table gets its name."""
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and any(number in ast.unparse(target) for target in node.targets):
                return path.name, node.lineno
    raise LookupError(f"no file of the rules says what {number} is")
