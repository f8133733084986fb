"""Names for parts of a computation: what is computed inside `with ad.scope("layer 1"):` belongs together.

>>> import autodiff_edu as ad
>>> with ad.scope("encoder"), ad.scope("layer 1"):
...     print(opened.names)
('encoder', 'layer 1')
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ContextDecorator, nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import Any

from ..core.active import now
from ..core.events import Record
from ..text.formatting import spell_out
from ..text.with_block import ExitMethod, WithBlock, still_running

_scopes = ContextVar[tuple["scope", ...]]("scopes", default=())


class Opened:
    """The names of the scopes that are open in this thread, or task of asyncio, from the outermost."""

    names = property(lambda self: tuple(scope.name for scope in still_running(_scopes.get())))


opened = Opened()


class Owned(str):
    """The name of a scope that belongs to an object; a trace numbers objects that share a name."""

    owner: Any


class scope(WithBlock, ContextDecorator):  # noqa: N801
    """Name what is computed inside a `with` block; the player folds it into one box.

    Parameters
    ----------
    name : str
        Scopes inside each other make a path, such as "encoder/layer 1".

    Raises
    ------
    TypeError
        If the name is not a string.

    Examples
    --------
    >>> import numpy as np
    >>> import autodiff_edu as ad
    >>> def f(x):
    ...     with ad.scope("softplus"):
    ...         return np.log(1 + np.exp(x))
    >>> ad.play(f, 1.0)
    Player('f(x)', 12 steps)
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(
                f'a scope has a name, such as ad.scope("layer 1"); this is the {type(name).__name__} {name!r:.60}'
            )
        self.name: str = name

    def __enter__(self) -> None:
        if not self.over:
            raise RuntimeError(f"this scope is already open; write ad.scope({self.name!r}) for a second one")
        outer = still_running(_scopes.get())  # without those that an interrupt kept from ending
        self.begin()
        _scopes.set((*outer, self))

    @ExitMethod
    def __exit__(self, *exception: object) -> None:
        _scopes.set(tuple(opened for opened in _scopes.get() if opened is not self))
        self.end()

    def _recreate_cm(self) -> scope:
        return scope(self.name)


def scope_of(owner: Any) -> AbstractContextManager[None]:
    """Name what is computed inside a `with` block after an object's class, unless it already has that name.

    Examples
    --------
    >>> with scope_of(3.0), scope_of(4.0):
    ...     print(opened.names)
    ('float', 'float')
    """
    innermost = opened.names[-1] if opened.names else None
    if isinstance(innermost, Owned) and innermost.owner is owner:  # a method that calls its super()'s
        return nullcontext()
    name = Owned(type(owner).__name__.lower())
    name.owner = owner
    return scope(name)


def in_its_scope(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that computes in a scope named after the class of its object."""

    @wraps(call)
    def scoped(self: Any, *args: Any, **options: Any) -> Any:
        if not now().heard[Record]:  # nobody would hear of the scope
            return call(self, *args, **options)
        with scope_of(self):
            return call(self, *args, **options)

    return scoped


# All methods wrapped so share one code object, which is the only thing about them that a running frame shows. It can be
# read only off a function that was wrapped; `print` is as good as any, because it is never called.
SCOPED = in_its_scope(print).__code__
"""The code that stands between a call and such a method, which is not a call of its own to a reader."""


def distinguish(path: tuple[str, ...], owners: dict[str, list[Any]]) -> list[str]:
    """Number the second, third, ... object of a name; `owners` keeps those seen before.

    Examples
    --------
    >>> with scope("net"), scope_of(3.0), scope_of(4.0):
    ...     print(distinguish(opened.names, {}))
    ['net', 'float', 'float 2']
    """
    names = []
    for name in path:
        number = 1
        if isinstance(name, Owned):
            met = owners.setdefault(name, [])
            if not any(other is name.owner for other in met):
                met.append(name.owner)
            number = 1 + next(k for k, other in enumerate(met) if other is name.owner)
        shown = spell_out(str(name))
        names.append(shown if number == 1 else f"{shown} {number}")
    return names
