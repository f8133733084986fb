"""Who listens in this thread, and the clock.

A listener is a callable `(entry, inputs)`, told of every operation on tensors as soon as it has been computed; a tape
is one. A hook is a callable `(what, *details)`, told what happens besides. With nobody listening, nothing is built.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

tick = count(1).__next__
"""The next number. Tensors are numbered in the order in which they are made, so their ids tell the time as well."""


class Active(threading.local):
    """The listeners and the hooks of one thread."""

    listeners: tuple[Callable[[Any, Any], Any], ...] = ()
    followers: tuple[Any, ...] = ()  # those of them that have `follows(ids)`: they want rules to run on tensors
    hooks: tuple[Callable[..., Any], ...] = ()


active = Active()


def listen(*listeners: Callable[[Any, Any], Any]) -> None:
    """Let these listeners of this thread be told from here on, in this order, and no others."""
    active.listeners = listeners
    owners = (getattr(listener, "__self__", listener) for listener in listeners)  # of a method: the tape
    active.followers = tuple(owner for owner in owners if hasattr(owner, "follows"))


@contextmanager
def only(*listeners: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Mute every listener and every hook but these listeners for the length of a `with` block."""
    before, hooks, active.hooks = active.listeners, active.hooks, ()
    listen(*listeners)
    try:
        yield
    finally:
        active.hooks = hooks
        listen(*before)


def announce(what: str, *details: Any) -> None:
    """Tell every hook what happened; ask `active.hooks` first, so that nothing is built for nobody."""
    for hook in active.hooks:
        hook(what, *details)
