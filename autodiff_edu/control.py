"""Taking a derivative into your own hands: rules of your own for functions that have none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .rules import RULES, Rule, complete
from .rules.kinds import SPELLED
from .values import JOINING

KINDS = ("elementwise", "linear", "general")


class Registration:
    """A rule that was entered; as a `with` block, it is taken out again at the end of the block."""

    def __init__(self, operation: Callable[..., Any], rule: Rule) -> None:
        self._operation, self._rule = operation, rule
        self._before, self._spelled = RULES.get(operation), SPELLED.get(operation)
        self.__enter__()

    def __enter__(self) -> Registration:
        SPELLED.pop(self._operation, None)
        RULES[self._operation] = self._rule
        return self

    def __exit__(self, *exception: object) -> None:
        RULES.pop(self._operation, None)
        if self._before is not None:
            RULES[self._operation] = self._before
        if self._spelled is not None:
            SPELLED[self._operation] = self._spelled


def register_gradient(
    operation: Callable[..., Any], *rules: Callable[..., Any] | None, kind: str = "general", replace: bool = False
) -> Registration:
    """Give a NumPy function, or any ufunc, a derivative rule: for good, or for the length of a `with` block.

    Parameters
    ----------
    operation : callable
        A NumPy function or ufunc, with one array as its result.
    *rules : callable or None
        One per argument: `rule(g, output, *arguments, **parameters)` gives the contribution to that argument, from a
        cotangent `g` of the output's shape. Count axes from the right, and use NumPy functions that have rules: then
        Jacobians and higher orders work too. None for an argument without a derivative.
    kind : {"general", "linear", "elementwise"}
        "elementwise" if the Jacobian is diagonal, "linear" if the operation is linear in each argument.
    replace : bool
        Whether a rule that is there already may be replaced.

    Returns
    -------
    Registration
        A context manager that takes the rule out again.

    Raises
    ------
    TypeError
        If the operation or a rule is not callable, there is no rule, or the operation takes a list of arrays or has
        several results.
    ValueError
        If the kind is unknown, or the operation has a rule already and `replace` is not given.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> x = ad.Variable([0.5, 7.0])
    >>> with ad.register_gradient(np.unwrap, lambda g, y, x: g, kind="linear"):
    ...     with ad.GradientTape() as tape:
    ...         y = np.unwrap(x) * 2.0
    ...     print(tape.gradient(y, x))
    Tensor([2., 2.])
    """
    if not callable(operation) or not rules or not all(rule is None or callable(rule) for rule in rules):
        raise TypeError(
            "register_gradient takes a function and then one rule per argument, a function or None: "
            "ad.register_gradient(np.sin, lambda g, y, x: g * np.cos(x))"
        )
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(map(repr, KINDS))}")
    if operation in JOINING or operation is np.block or getattr(operation, "nout", 1) > 1:
        raise TypeError("a rule is for a function of arrays with one result, not for one of a list, or with several")
    complete()
    if (operation in RULES or operation in SPELLED) and not replace:
        name = getattr(operation, "__name__", repr(operation))
        raise ValueError(f"{name} has a derivative already; say replace=True if you mean to replace it")
    return Registration(operation, Rule(kind, rules))
