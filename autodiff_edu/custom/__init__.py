"""Taking a derivative into your own hands: cutting the flow, a gradient or a rule of your own, checkpoints.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> @ad.custom_gradient
... def log1pexp(x):
...     e = np.exp(x)
...     return np.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))
>>> ad.value_and_grad(log1pexp)(1.0)
(Tensor(1.313262), Tensor(0.731059))
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable
from typing import Any
from weakref import finalize

import numpy as np

from ..arrays.structures import flatten, rebuild
from ..arrays.validate import JOINING
from ..core.composites import SPELLED
from ..core.tensor import Tensor
from ..rules import RULES, Rule, complete
from ..rules.operations import stop_gradient as stopped
from ..text.frames import Where
from ..text.functions import name_of
from ..text.with_block import ExitMethod, WithBlock
from .call import call


def stop_gradient(x: Any) -> Any:
    """Return the same value as a constant: nothing flows back through it.

    Parameters
    ----------
    x : Tensor, array, number, or a nested list, tuple or dict of them
        Arrays and numbers are constants already, and come back as they are.

    Returns
    -------
    Tensor, or structure of them
        New tensors of the same values. Tapes record the cut, and may watch the result as a source of its own.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(2.0)
    >>> with ad.GradientTape() as tape:
    ...     z = x * ad.stop_gradient(x * x)
    >>> tape.gradient(z, x)
    Tensor(4.)
    """
    return rebuild(x, iter([stopped(leaf) if isinstance(leaf, Tensor) else leaf for _, leaf in flatten(x, "x")]))


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Define a gradient of your own for a function, in place of the one that a tape would compute.

    Parameters
    ----------
    f : callable
        Returns a pair `(result, backward)`. The result is a tensor, an array or a number, or a structure of them.
        `backward` takes one cotangent per tensor of the result, zeros for those that nothing flowed back to. It returns
        one gradient per positional argument with tensors in it, in the argument's structure and shape, or None if there
        is none. For an argument without tensors it may return None or leave it out.

    Returns
    -------
    callable
        Like `f`, but returns only the result, as new tensors. It takes the arguments of `f`: tensors among the
        positional ones, nested or not, are differentiated; those among the keyword arguments are constants.

    Raises
    ------
    TypeError
        If f is not callable. When called: if `f` does not return such a pair, or reads variables that are not among its
        arguments and `backward` does not accept them. In a backward pass: if a gradient does not hold numbers, or is
        complex for a real argument.
    ValueError
        In a backward pass: if the number, the structure or a shape of the gradients is wrong.

    Notes
    -----
    Outer tapes that are recording differentiate `backward` in turn. So use NumPy functions in it; it may capture
    tensors computed by `f`.

    If `f` reads trainable variables other than through its positional arguments, write `backward(dy, variables)`: it
    gets the list of them, with the values they had, and returns `(gradients, variable_gradients)`, the second a list
    with one gradient per variable.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> @ad.custom_gradient
    ... def clip_gradient_by_norm(x, norm):
    ...     def backward(dy):
    ...         return dy * norm / np.maximum(norm, np.linalg.norm(dy))
    ...     return x, backward
    >>> v = ad.Variable(2.0)
    >>> with ad.GradientTape() as tape:
    ...     y = clip_gradient_by_norm(v * v, 0.5)
    >>> tape.gradient(y, v)
    Tensor(2.)
    """
    if not callable(f):
        raise TypeError(f"custom_gradient takes a function that returns (result, backward), but got {f!r:.60}")

    @functools.wraps(f)
    def differentiable(*args: Any, **kwargs: Any) -> Any:
        return call(f, args, kwargs)

    return differentiable


KINDS = ("elementwise", "linear", "general")


class Registration(WithBlock):
    """A registered rule; used in a `with` statement, it is removed at the end of the block."""

    def __init__(self, operation: Callable[..., Any], rule: Rule) -> None:
        self._operation, self._rule = operation, rule

    def __enter__(self) -> Registration:
        if (held := self._held()) is not None:  # gone with the block, even if an interrupt came before `__exit__`
            finalize(held, self._remove).atexit = False
        self._add()
        return self

    @ExitMethod
    def __exit__(self, *exception: object) -> None:
        self._remove()

    def _add(self) -> None:
        _BEFORE.setdefault(self._operation, (RULES.get(self._operation), SPELLED.get(self._operation)))
        entered = _REGISTERED.setdefault(self._operation, [])
        if self not in entered:
            entered.append(self)
        self._choose()

    def _remove(self) -> None:
        entered = _REGISTERED.get(self._operation, [])
        if self in entered:
            entered.remove(self)
        self._choose()

    def _choose(self) -> None:
        """Write the latest active rule into the tables, or the original one; doing it twice changes nothing."""
        if self._operation not in _BEFORE:
            return
        entered = _REGISTERED.get(self._operation)
        rule, spelled = (entered[-1]._rule, None) if entered else _BEFORE[self._operation]
        tables: list[tuple[dict[Any, Any], Any]] = [(RULES, rule), (SPELLED, spelled)]
        for table, value in tables:
            if value is None:
                table.pop(self._operation, None)
            else:
                table[self._operation] = value


_REGISTERED: dict[Callable[..., Any], list[Registration]] = {}
_BEFORE: dict[Callable[..., Any], tuple[Rule | None, Callable[..., Any] | None]] = {}
"""The rules of an operation before its first registration."""


def _begins_block(where: Where) -> bool:
    """Return whether a call is the head of a `with` statement, which enters what it returns."""
    code, offset = where
    after = [one.opname for one in dis.get_instructions(code) if one.offset > offset][:2]
    return after[:1] == ["BEFORE_WITH"] or after == ["COPY", "LOAD_SPECIAL"]  # the second since Python 3.14


def _add_check(rule: Callable[..., Any] | None, name: str, argument: int) -> Callable[..., Any] | None:
    """Wrap a user's rule with a check that it returns one array that fits its argument, or broadcasts with it."""
    if rule is None:
        return None

    @functools.wraps(rule)
    def pull(g: Any, y: Any, *values: Any, **parameters: Any) -> Any:
        found, x = rule(g, y, *values, **parameters), values[argument]
        said = f"the rule of {name} for argument {argument + 1} returned {found!r:.60}"
        if isinstance(found, int | float | complex) and not isinstance(found, bool):
            found = np.asarray(found)
        if getattr(getattr(found, "dtype", None), "kind", "O") not in "biufc":
            raise TypeError(f"{said}, but must return an array; for an argument without a derivative, register None")
        if found.dtype.kind == "c" and "c" not in (g.dtype.kind, np.asarray(x).dtype.kind):
            raise TypeError(f"{said}, which is complex, but the argument is real; take np.real of it")
        inner = found.shape[np.ndim(g) - np.ndim(y) :]
        try:
            np.broadcast_shapes(inner, np.shape(x))
        except ValueError:
            raise ValueError(f"{said} of shape {inner}, but the argument has shape {np.shape(x)}") from None
        return found

    return pull


def register_gradient(
    operation: Callable[..., Any], *rules: Callable[..., Any] | None, kind: str = "general", replace: bool = False
) -> Registration:
    """Register a derivative rule for a NumPy function or any ufunc: permanently, or during a `with` block.

    Parameters
    ----------
    operation : callable
        A NumPy function or ufunc that returns one array.
    *rules : callable or None
        One per argument: `rule(g, output, *arguments, **parameters)` returns the contribution to that argument, from a
        cotangent `g` of the output's shape. Count axes from the right, and use NumPy functions that have rules: then
        Jacobians and higher orders work too. None for an argument without a derivative.
    kind : {"general", "linear", "elementwise"}
        "elementwise" if the Jacobian is diagonal, "linear" if the operation is linear in each argument.
    replace : bool
        Whether an existing rule may be replaced.

    Returns
    -------
    Registration
        A context manager that removes the rule again.

    Raises
    ------
    TypeError
        If the operation or a rule is not callable, there are too few or too many rules, or the operation takes a list
        of arrays, has several results, or is a plain Python function, which tensors never hear about.
    ValueError
        If the kind is unknown, or the operation already has a rule and `replace` is false.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> def pull_roots(g, roots, p):  # where p changes, each root moves so that the polynomial stays 0 there
    ...     slope = np.polyval(p[:-1] * np.arange(len(p) - 1, 0, -1), roots)
    ...     return -(g / slope) @ np.vander(roots, len(p))
    >>> p = ad.Variable([1.0, -3.0, 2.0])
    >>> with ad.register_gradient(np.roots, pull_roots):
    ...     with ad.GradientTape() as tape:
    ...         first, second = np.roots(p)
    ...         gap = first - second
    ...     print(tape.gradient(gap, p))
    Tensor([-5., -3., -2.])
    """
    if not rules or not all(rule is None or callable(rule) for rule in rules) or not callable(operation):
        raise TypeError(
            "register_gradient takes a function and then one rule per argument, a function or None: "
            "ad.register_gradient(np.sin, lambda g, y, x: g * np.cos(x))"
        )
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(map(repr, KINDS))}")
    if operation in JOINING or getattr(operation, "nout", 1) > 1:
        raise TypeError(
            "a rule belongs to a function of arrays with one result, not to a function of a list or one with several "
            "results"
        )
    complete()
    name, known = name_of(operation, operation), operation in RULES or operation in SPELLED
    if not known and not isinstance(operation, np.ufunc) and not hasattr(operation, "_implementation"):
        raise TypeError(
            f"{name} is neither a ufunc nor a NumPy function that tensors hear about, so its rule would never be used. "
            "Wrap it in a function with its own gradient: see ad.custom_gradient"
        )
    takes = getattr(operation, "nin", len(rules))
    if len(rules) != takes:
        raise TypeError(f"{name} takes {takes} arguments and needs a rule, or None, for each; {len(rules)} were given")
    if known and not replace:
        raise ValueError(f"{name} already has a derivative; write replace=True to replace it")
    held = tuple(_add_check(rule, name, argument) for argument, rule in enumerate(rules))
    registration, caller = Registration(operation, Rule(kind, held, own=True)), sys._getframe(1)
    if _begins_block((caller.f_code, caller.f_lasti)):  # only the block knows whether an interrupt has ended it
        return registration
    try:
        return registration.__enter__()
    except BaseException:
        registration._remove()
        raise
