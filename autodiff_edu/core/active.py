"""The listeners and hooks that are active here, and the clock that numbers tensors.

A listener is a callable `(entry, inputs)`, called for every operation on tensors as soon as it has been computed; a
tape has one. A hook is a callable `(what, *details)`, called for everything else. When nobody listens, no entry is
built. Each thread and each task of asyncio has its own; a task starts with those of the task that created it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from itertools import count
from typing import Any

from ..text.with_block import Exit, WithBlock, still_running

tick = count(1).__next__  # numbers tensors in the order of creation, so ids also tell which came first


class State:
    """What is active; replaced, never changed, because tasks share it. `followers` need rules to run on tensors."""

    def __init__(self, listeners: Any = (), hooks: Any = (), within: Any = None) -> None:
        self.listeners, self.hooks, self.within = listeners, hooks, within
        self.followers = tuple([x for a in listeners if hasattr(x := getattr(a, "__self__", a), "follows")])


always = State()  # where nothing has been entered yet; the package's `__init__` lets the journal listen
_state = ContextVar("active", default=always)
now = _state.get


def listen(*listeners: Callable[[Any, Any], Any], hooks: Any = None, within: only | None = None) -> None:
    """Replace the listeners with these, called in this order; and the hooks, if any are given."""
    _state.set(State(listeners, now().hooks if hooks is None else hooks, within or now().within))


def begin(block: WithBlock) -> None:
    """Note that a block is running; first remove the blocks that an interrupt kept from ending."""
    while (within := now().within) and within.over:
        _state.set(within.before)
    if (state := now()).hooks or state.listeners != always.listeners:
        listen(*still_running(state.listeners), hooks=still_running(state.hooks))
    block.begin()


class only(WithBlock):  # noqa: N801
    """Notify only these listeners and hooks during a `with` block."""

    def __init__(self, *listeners: Callable[[Any, Any], Any], hooks: Any = ()) -> None:
        self.listeners, self.hooks = listeners, hooks

    def __enter__(self) -> None:
        begin(self)
        self.before = now()
        listen(*self.listeners, hooks=self.hooks, within=self)

    @Exit
    def __exit__(self, *exception: object) -> None:
        _state.set(self.before)


def announce(what: str, *details: Any) -> None:
    """Notify every hook of what happened. Check `now().hooks` first where the details are costly to build."""
    for hook in now().hooks:
        hook(what, *details)
