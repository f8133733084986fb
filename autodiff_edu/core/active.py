"""The listeners and hooks of the current thread, and the clock that numbers tensors.

A listener is a callable `(entry, inputs)`, told of every operation on tensors as soon as it has been computed; a tape
has one. A hook is a callable `(what, *details)`, told of everything else. With nobody listening, no entry is built.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

tick = count(1).__next__  # numbers tensors in the order in which they are made, so ids also tell the time


class Active(threading.local):
    """The listeners and the hooks of one thread."""

    listeners: tuple[Callable[[Any, Any], Any], ...] = ()
    followers: tuple[Any, ...] = ()  # those of them that have `follows(ids)`: they want rules to run on tensors
    hooks: tuple[Callable[..., Any], ...] = ()


active = Active()


def listen(*listeners: Callable[[Any, Any], Any]) -> None:
    """Replace the listeners of this thread by these, which are told in this order."""
    active.listeners = listeners
    owners = (getattr(listener, "__self__", listener) for listener in listeners)  # of a method: the tape
    active.followers = tuple(owner for owner in owners if hasattr(owner, "follows"))


@contextmanager
def only(*listeners: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Notify only these listeners, and no hook, for the length of a `with` block."""
    before, hooks, active.hooks = active.listeners, active.hooks, ()
    listen(*listeners)
    try:
        yield
    finally:
        active.hooks = hooks
        listen(*before)


def announce(what: str, *details: Any) -> None:
    """Notify every hook of what happened. Check `active.hooks` first where the details are costly to build."""
    for hook in active.hooks:
        hook(what, *details)
