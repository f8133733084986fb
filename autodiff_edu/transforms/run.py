"""Runs a function on its own tape, which watches the arguments to differentiate."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..arrays.structures import as_array, flatten, rebuild
from ..core.tensor import Tensor
from ..custom.inner_tensors import check_value
from ..derivatives.requests import as_constant, check_watchable
from ..gradient_tape import GradientTape
from ..rules.operations import alias
from ..text.functions import name_of

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


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


def prepare(args: tuple[Any, ...], argnums: Argnums) -> tuple[Any, ...]:
    """Convert the lists of numbers among the chosen arguments to arrays; pass the others on unchanged."""
    numbers = _numbers(args, argnums)
    return tuple(as_array(arg, f"argument {k}") if k in numbers else arg for k, arg in enumerate(args))


def _numbers(args: tuple[Any, ...], argnums: Argnums) -> set[int]:
    """Return the positions of the arguments to differentiate with respect to."""
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(isinstance(k, int) for k in numbers):
        raise ValueError(f"argnums is {argnums!r}; it must be a whole number or a tuple of whole numbers")
    if not numbers or not all(-len(args) <= k < len(args) for k in numbers):
        raise ValueError(f"argnums is {argnums!r}, but there are only {len(args)} positional arguments, counted from 0")
    if len({k % len(args) for k in numbers}) < len(numbers):
        raise ValueError(f"argnums is {argnums!r}; it names the same argument twice")
    return {k % len(args) for k in numbers}


def choose(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """Return one argument, or a tuple of them."""
    return tuple(args[k] for k in argnums) if isinstance(argnums, tuple) else args[argnums]


def replace(args: tuple[Any, ...], argnums: Argnums, sources: Any) -> tuple[Any, ...]:
    """Replace the chosen arguments with the sources."""
    replaced = list(args)
    for k, source in zip(argnums, sources, strict=True) if isinstance(argnums, tuple) else [(argnums, sources)]:
        replaced[k] = source
    return tuple(replaced)


def own(structure: Any) -> Any:
    """Create a new tensor for every leaf, so that the same array in two places is two sources."""
    structure = as_array(structure)
    return rebuild(structure, iter([_source(path, leaf) for path, leaf in flatten(structure, "argument")]))


def _source(path: str, leaf: Any) -> Tensor:
    if isinstance(leaf, Tensor):
        source: Tensor = alias(leaf)
        source.name = leaf.name
        return source
    return as_constant(path, float(leaf) if isinstance(leaf, int) else leaf)


def unwrap(parts: Any) -> Any:
    """Return the only part of a tuple, or the tuple if it has several."""
    return parts[0] if len(parts) == 1 else parts
