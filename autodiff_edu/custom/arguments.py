"""The arguments of a checkpointed function, the same for both runs, whatever happens to them in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

from ..arrays.structures import flatten, rebuild
from ..arrays.validate import freeze
from ..text.functions import names_of_parameters, spoken


class Arguments:
    """The arguments of one call, with read-only copies of their arrays.

    Attributes
    ----------
    given : list
        The positional arguments, and then the others. A dataclass with arrays is not copied: it may be the object of a
        method, which may change it.
    leaves : list of list
        The leaves of each.

    Raises
    ------
    TypeError
        If one of the arguments can be read only once.
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.count, self.names = f, len(args), tuple(kwargs)
        self.given = [*args, *kwargs.values()]
        self.leaves = [leaves_of(arg) for arg in self.given]
        for k, (arg, leaves) in enumerate(zip(self.given, self.leaves, strict=True)):
            if any(reads_once(leaf) for leaf in leaves):
                name = spoken(f)
                reject_iterators(
                    flatten(arg, self._names()[k]), name, f"ad.checkpoint runs {name} again in the backward pass"
                )
            kept = [freeze(leaf) for leaf in leaves]
            if any(a is not b for a, b in zip(kept, leaves, strict=True)) and not is_dataclass(arg):
                self.given[k], self.leaves[k] = rebuild(arg, iter(kept)), kept

    def call(self) -> Any:
        """Call the function."""
        return self.function(*self.given[: self.count], **dict(zip(self.names, self.given[self.count :], strict=True)))

    def keep(self) -> None:
        """Prepare for another call, now that the first is over; raise a RuntimeError if it has changed an argument."""
        for k, (arg, leaves) in enumerate(zip(self.given, self.leaves, strict=True)):
            if len(leaves) == 1 and leaves[0] is arg:
                continue
            after = leaves_of(arg)
            if len(after) != len(leaves) or any(a is not b for a, b in zip(after, leaves, strict=True)):
                name = spoken(self.function)
                raise RuntimeError(
                    f"{name} changes {self._names()[k]}, which was passed to it, but ad.checkpoint runs {name} again "
                    "in the backward pass, which would change it again. Return what is new, and change it outside; or "
                    "let the function change a copy"
                )
            self.leaves[k] = [freeze(leaf) for leaf in leaves]
            self.given[k] = rebuild(arg, iter(self.leaves[k]))

    def _names(self) -> list[str]:
        """Name the arguments as the function does."""
        return [*names_of_parameters(self.function, self.count), *self.names]


def leaves_of(structure: Any) -> list[Any]:
    """List the leaves of a structure."""
    return [leaf for _, leaf in flatten(structure, "")]


def reject_iterators(leaves: list[tuple[str, Any]], name: str, why: str) -> None:
    """Raise a TypeError for an argument that can be read only once; `why` says why that is not enough."""
    for path, leaf in leaves:
        if reads_once(leaf):
            raise TypeError(
                f"{path}, passed to {name}, is a {type(leaf).__name__}, which can be read only once, but {why}. "
                "Pass a list: list(...)"
            )


def reads_once(value: Any) -> bool:
    """Return whether a value computes what it holds when it is read, and only once, as a generator does."""
    return any(hasattr(type(value), how) for how in ("__next__", "__anext__", "__await__"))
