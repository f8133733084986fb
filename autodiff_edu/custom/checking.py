"""Checks what the backward function of a custom gradient returns: one gradient per argument, of its form and shape."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from ..arrays.structures import flatten
from ..arrays.validate import copy_in
from ..core.tensor import Tensor, wrap


class Argument(NamedTuple):
    """A positional argument with tensors in it: its position, and the function's name for it."""

    place: int
    name: str
    value: Any

    def tensors(self) -> list[tuple[str, Tensor]]:
        """List the tensors that have a derivative, each with the expression that reaches it."""
        return [(path, leaf) for path, leaf in flatten(self.value, self.name) if is_smooth(leaf)]


class Source(NamedTuple):
    """A tensor that a call must have a gradient for: its name in errors, and the gradient's shape and dtype."""

    name: str
    shape: tuple[int, ...]
    dtype: Any


def gradients_of(f: str, arguments: list[Argument], count: int, gradients: Any) -> list[Any]:
    """List what a backward function has returned, tensor by tensor; `count` is the number of all arguments of f.

    Raises
    ------
    ValueError
        If there are too few or too many, or the structure of one differs from its argument's.
    """
    each = _per_argument(f, arguments, count, gradients)
    return [leaf for argument, part in zip(arguments, each, strict=True) for leaf in _leaves(argument, part)]


def _per_argument(f: str, arguments: list[Argument], count: int, gradients: Any) -> list[Any]:
    """Return one gradient per argument with tensors; arguments without any may have one too, or not."""
    several = list(gradients) if is_sequence(gradients) else [gradients]
    chosen: list[Any] | None = None
    if len(several) == len(arguments):
        chosen = several
    elif len(several) == count:
        chosen = [several[argument.place] for argument in arguments]
    if len(arguments) == 1 and not isinstance(arguments[0].value, Tensor):
        return chosen if chosen and _is_structure(chosen[0]) else [gradients]  # g, a structure, and not (g,)
    if chosen is not None:
        return chosen
    if not arguments and gradients is None:
        return []
    names = ", ".join(argument.name for argument in arguments) or "none"
    raise ValueError(
        f"backward of {f} returned {_format_count(len(several), 'gradient')}, but {f} has "
        f"{_format_count(len(arguments), 'argument')}: {names}. Return one gradient per argument, or None for one "
        "that has none"
    )


def _leaves(argument: Argument, gradient: Any) -> list[Any]:
    """List the gradients of an argument's tensors; the gradient must have the argument's form."""
    wanted = [path for path, _ in argument.tensors()]
    if gradient is None:
        return [None] * len(wanted)
    found = dict(flatten(gradient, argument.name))
    if not {*wanted} <= {*found} <= {path for path, _ in flatten(argument.value, argument.name)}:
        raise ValueError(
            f"the gradient for argument {argument.name!r} does not have its structure: the argument has tensors at "
            f"{', '.join(wanted)}, but the gradient has parts at {', '.join(found) or 'no place'}"
        )
    return [found[path] for path in wanted]


def convert_gradient(source: Source, gradient: Any) -> Tensor | None:
    """Return a gradient as a tensor of the dtype of its source, if it can be one."""
    if gradient is None:
        return None
    what = f"the gradient for argument {source.name!r}"
    if not isinstance(gradient, Tensor):
        try:
            gradient = wrap(copy_in(gradient))
        except TypeError as error:
            raise TypeError(
                f"{what} is {gradient!r:.60} of type {type(gradient).__name__}; it must be a tensor, an array, a "
                "number, or None if there is none"
            ) from error
    if gradient.shape != source.shape:
        raise ValueError(
            f"{what} has shape {gradient.shape}, but {source.name!r} has shape {source.shape}; they must be the same. "
            "If broadcasting has stretched an argument, sum its gradient over the added axes"
        )
    if gradient.dtype.kind == "c" and source.dtype.kind != "c":
        raise TypeError(f"{what} is complex, but {source.name!r} is {source.dtype}; take its real part, np.real(...)")
    converted: Tensor = gradient if gradient.dtype == source.dtype else gradient.astype(source.dtype)
    return converted


def is_smooth(value: Any) -> bool:
    """Return whether a value is a tensor that can have a derivative."""
    return isinstance(value, Tensor) and value.dtype.kind in "fc"


def is_sequence(value: Any) -> bool:
    """Return whether a value is a sequence of gradients."""
    return isinstance(value, list | tuple) and not hasattr(value, "_fields")


def _is_structure(value: Any) -> bool:
    return not any(leaf is value for _, leaf in flatten(value, ""))


def _format_count(count: int, what: str) -> str:
    return f"{count} {plural(what, count)}"


def plural(what: str, count: int) -> str:
    """Return the singular or plural of a word, depending on a count."""
    return what if count == 1 else f"{what}s"


def takes_variables(backward: Callable[..., Any]) -> bool:
    """Return whether a backward function has a parameter called `variables`."""
    try:
        return "variables" in inspect.signature(backward).parameters
    except (TypeError, ValueError):
        return False
