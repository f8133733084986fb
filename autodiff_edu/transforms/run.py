"""Runs a function on its own tape, checks what it returns, and names its derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..arrays.structures import flatten
from ..core.tensor import Tensor
from ..custom.inner_tensors import check_value
from ..derivatives.requests import check_watchable
from ..gradient_tape import GradientTape
from ..text.functions import name_of
from .arguments import Argnums, choose, own, prepare, replace

Function = Callable[..., Any]


def check_function(f: Any, right: str, wrong: str) -> None:
    """Raise a TypeError that shows the right way to write the call, unless `f` is a function."""
    if not callable(f):
        name = right.partition("(")[0]
        raise TypeError(f"{name} takes a function, but got {f!r:.60}. Write ad.{right}, not ad.{wrong}")


def named_after(f: Function, what: str) -> Callable[[Function], Function]:
    """Return a decorator that gives a derivative of `f` a name that says so, and the parameters of `f`.

    >>> @named_after(abs, "grad")
    ... def differentiated(x):
    ...     return x
    >>> differentiated.__name__
    'grad_of_abs'
    """

    def named(function: Function) -> Function:
        functools.update_wrapper(function, f, assigned=(), updated=())
        function.__name__ = f"{what}_of_{name_of(f).strip('<>')}"
        return function

    return named


def run(
    f: Function, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums, persistent: bool = True
) -> tuple[GradientTape, Any, Any]:
    """Run `f` on its own tape, which watches the chosen arguments; return the tape, the value and the sources."""
    tape, value, sources = run_freely(f, args, kwargs, argnums, persistent)
    check_value(tape, differentiable(f, value))
    return tape, value, sources


def run_freely(
    f: Function, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums, persistent: bool = True
) -> tuple[GradientTape, Any, Any]:
    """Run `f` as `run` does, whatever it returns."""
    args = prepare(args, argnums)
    sources = own(choose(args, argnums))
    with GradientTape(persistent) as tape:
        tape.watch(check_watchable(sources, "argument"))
        value = f(*replace(args, argnums, sources), **kwargs)
    return tape, value, sources


def differentiable(f: Function, value: Any, path: str = "the result") -> Any:
    """Return the value of `f`, or raise a TypeError that names the place of anything in it that is not a tensor."""
    for where, leaf in flatten(value, path):
        if not isinstance(leaf, Tensor):
            raise TypeError(
                f"{where} of {name_of(f, 'f')} is {leaf!r:.60} of type {type(leaf).__name__}, which is not "
                "a tensor. Return a tensor computed from the arguments, without float() or .numpy() on the way"
            )
    return value


def with_aux(f: Function, returned: Any) -> tuple[Any, Any]:
    """Separate what `f` returned into the value to differentiate and the rest, as `has_aux=True` promises."""
    if not isinstance(returned, tuple) or hasattr(returned, "_fields") or len(returned) != 2:
        what = f"a tuple of {len(returned)}" if type(returned) is tuple else f"{returned!r:.60}"
        raise TypeError(
            f"with has_aux=True, {name_of(f, 'f')} must return a pair (value, aux), but it returned "
            f"{what}. Write `return value, aux`, and put everything else that you want back into aux"
        )
    value, aux = returned
    return differentiable(f, value, "the value"), aux
