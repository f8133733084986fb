"""A formula of a trace document in one line: its names and numbers, and the signs between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import add, mul, neg, sub, truediv
from typing import Any

from ...text.formatting import number
from ...text.shared import shared

OPERATORS = shared()["operators"]
DRAWN = {sign: about.get("drawn", sign) for sign, about in OPERATORS.items()} | {"@": "@"}
BINDS = {sign: about.get("binds", 4) for sign, about in OPERATORS.items()} | {"**": 6}
NEGATIVE, ATOM = 2.5, 7
COMPUTE: dict[str, Callable[..., float]] = {"neg": neg, "+": add, "-": sub, "*": mul, "/": truediv}
LEAVES = ("number", "name", "bar", "code")


def split_formula(tree: Any, need: float = 0) -> Iterator[tuple[Any, str]]:
    """Yield the parts of a formula in order: a leaf and "", or None and a sign.

    >>> list(split_formula(["-", 0, ["*", ["number", 0.5], "g"]]))
    [(0, ''), (None, ' − '), (['number', 0.5], ''), (None, ' · '), ('g', '')]
    """
    if not isinstance(tree, list) or tree[0] in LEAVES:
        yield tree, ""
        return
    head, *parts = tree
    if head in OPERATORS or head == "neg":
        binds = NEGATIVE if head == "neg" else BINDS[head]
        if binds < need:
            yield None, "("
        if head == "neg":
            yield None, "−"
        else:
            yield from split_formula(parts[0], binds + (head == "**"))
            yield None, f" {DRAWN[head]} "
        yield from split_formula(parts[-1], 3 if head == "neg" else binds + 1)
        if binds < need:
            yield None, ")"
        return
    words = [part for part in parts if isinstance(part, str) and part not in ("g", "y")]  # a function's name, or axes
    if head == "index":
        yield from split_formula(parts[0], ATOM)
        yield None, f"[{parts[1]}]"
        return
    yield None, f"{words[0] if head == 'call' else head}("
    inside = [part for part in parts if part not in words]
    for place, part in enumerate(inside):
        if place:
            yield None, ", "
        yield from split_formula(part)
    yield None, ")"


def write_leaf(leaf: Any, name: str, bar: str) -> str:
    """Write a leaf: `name` for argument 0, `bar` for its cotangent."""
    match leaf:
        case ["number", value]:
            return number(value)
        case ["bar", other]:
            return name_bar(other)
        case [_, words]:
            return f"({words})" if "/" in words else str(words)
    return bar if leaf == "g" else name


def name_bar(name: str) -> str:
    """Name the cotangent of a tensor, with a bar over a single letter."""
    return f"{name}\N{COMBINING MACRON}" if len(name) == 1 else f"{name}_bar"


def evaluate(tree: Any, numbers: Sequence[float]) -> float | None:
    """Compute a formula of sums, products and quotients of these numbers, its leaves; None for any other."""
    match tree:
        case int():
            return numbers[tree]
        case ["number", value]:
            return float(value)
        case ["neg" | "+" | "-" | "*" | "/" as head, *parts]:
            values = [evaluate(part, numbers) for part in parts]
            if None in values or (head == "/" and not values[1]):
                return None
            return COMPUTE[head](*values)
    return None
