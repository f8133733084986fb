"""The kinds of rule, and the table of every operation's rules.

A rule is one line of NumPy that pulls a cotangent `g` back to one argument: `rule(g, y, *arguments, **parameters)`. `g`
may carry an extra leading axis, a stack of cotangents, so rules count axes from the right. They can ignore
broadcasting, dtypes and complex conjugation: the walk and `settle` take care of those.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays.broadcasting import unbroadcast

Pull = Callable[..., Any]


class Rule(NamedTuple):
    """The rules of one operation: one per argument, or `each` for an operation that takes any number of them.

    `kind` is "elementwise" (the Jacobian is diagonal), "linear" (linear in each argument), "general", "step" (the
    derivative is zero wherever it exists, so nothing is pulled back); or what the user's code does: "custom" (its
    backward function pulls back) or "checkpoint" (the function itself runs again). `own` marks a rule of the user's.
    """

    kind: str
    pulls: tuple[Pull | None, ...] = ()
    each: Pull | None = None
    own: bool = False

    def pull(self, argument: int) -> Pull | None:
        """Return the rule for one argument, or None if the output does not depend smoothly on it."""
        if self.each is not None:
            return partial(self.each, argument)
        return self.pulls[argument] if argument < len(self.pulls) else None


RULES: dict[Callable[..., Any], Rule] = {}  # of NumPy's functions, and of our own operations


def rule_of(operation: Any) -> Rule | None:
    """Return the rule of an operation, from the table or from the operation itself; None if it has none."""
    return RULES.get(operation) or getattr(operation, "rule", None)


def kind_of(operation: Any) -> str:
    """Return the kind of an operation's rule, or "" if it has none."""
    rule = rule_of(operation)
    return rule.kind if rule else ""


def runs_code(operation: Any) -> bool:
    """Return whether pulling back through an operation runs the user's code."""
    return kind_of(operation) in ("custom", "checkpoint")


without_rule: Callable[..., Any]
"""Called with the function, args and parameters for a NumPy function that is neither in RULES nor in
`composites.SPELLED`; set by `rules`."""

no_rule: Callable[[Any], LookupError]
"""Builds the error for an entry without a rule; also set by `rules`."""


def _register(kind: str, operation: Callable[..., Any], *pulls: Pull | None, each: Pull | None = None) -> None:
    RULES[operation] = Rule(kind, pulls, each)


elementwise, linear = partial(_register, "elementwise"), partial(_register, "linear")
general = partial(_register, "general")  # e.g. joining arrays, which is linear in all of them together but not in each


def step(*operations: Callable[..., Any]) -> None:
    """Register operations whose derivative is zero wherever it exists: rounding, comparing, choosing an index."""
    RULES.update(dict.fromkeys(operations, Rule("step")))


def settle(contribution: Any, argument: Any, stack: tuple[int, ...] = ()) -> Any:
    """Convert a contribution to the shape and dtype of its argument.

    Broadcasting copied the argument along some axes, so its contribution is summed over those, but not over the stack.
    Complex numbers follow TensorFlow's convention: the walk conjugates a complex cotangent before the rule, and the
    contribution is conjugated again here, so the gradient of a holomorphic f is conj(f').
    """
    shape = stack + argument.shape
    if contribution.shape != shape:
        contribution = unbroadcast(contribution, shape, len(stack))
    if contribution.dtype.kind == "c":
        contribution = np.conjugate(contribution) if argument.dtype.kind == "c" else np.real(contribution)
    if contribution.dtype != argument.dtype:
        contribution = contribution.astype(argument.dtype)
    return contribution
