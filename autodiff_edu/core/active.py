"""The listeners that are active in this thread or task, and the clock that numbers tensors.

A new task of asyncio starts with the listeners of the task that created it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar, copy_context
from itertools import count
from typing import Any

from ..text.with_block import ExitMethod, WithBlock, still_running
from .entry import Entry
from .events import KINDS, Event

tick = count(1).__next__  # numbers tensors in the order of creation, so ids also tell which came first
Hear = Callable[[Any], Any]


class Listener:
    """Receives events: `hears` maps each type of event that it wants to the function that receives it."""

    def __init__(self, hears: Mapping[type, Hear]) -> None:
        self._hears = hears

    @property
    def hears(self) -> Mapping[type, Hear]:
        """The function that receives each type of event."""
        return self._hears


class Follower(Listener):
    """A listener that follows some tensors, as a tape does: what is computed from them must be computed with tensors.

    If it `shields`, the tapes around it let plain numbers be taken out of tensors. If it `compiles`, what rules decide
    by is computed with tensors too.
    """

    shields = compiles = False

    def follows(self, ids: Any) -> bool:
        """Return whether there is a path back to one of these tensors."""
        raise NotImplementedError

    def refuse_loss(self, tensor: Any, refuse: Callable[[Any], None]) -> None:
        """Call `refuse`, which raises an error, if plain numbers of this tensor would lose a gradient."""


class State:
    """What is active; replaced, never changed, because tasks share it. `heard`: who receives each type of event."""

    def __init__(self, listeners: tuple[Listener, ...] = (), within: Any = None) -> None:
        self.listeners, self.within = listeners, within
        self.followers = tuple([listener for listener in listeners if isinstance(listener, Follower)])
        first = _always_listening
        known = listeners[: len(first)] == first  # usually true, and faster than asking each of them
        self.heard = (_always_heard if known else _NOBODY).copy()
        for listener in listeners[len(first) :] if known else listeners:
            for kind, hear in listener.hears.items():
                self.heard[kind] = (*self.heard.get(kind, ()), hear)


_NOBODY: dict[type, tuple[Hear, ...]] = dict.fromkeys((Entry, *KINDS), ())
_always_listening: tuple[Listener, ...] = ()
_always_heard = _NOBODY
always = State()  # before any block has been entered
_state = ContextVar("active", default=always)
now = _state.get


def _install(state: State) -> None:
    # In Python 3.11 `set` may run the garbage collector, which may end a block, which calls `set` too. The copy keeps
    # what the outer call is reading from being freed by the inner one.
    before = copy_context()
    _state.set(state)
    del before


def listen(*listeners: Listener, within: only | None = None) -> None:
    """Replace the listeners with these, called in this order."""
    _install(State(listeners, within or now().within))


def start_listening(listener: Listener, place: int | None = None) -> None:
    """Add a listener after the active ones, or at a place among them."""
    others = now().listeners
    place = len(others) if place is None else place
    listen(*others[:place], listener, *others[place:])


def stop_listening(listener: Listener) -> int | None:
    """Remove a listener; return the place it had, or None if it was not active."""
    before = now().listeners
    if listener not in before:
        return None
    listen(*[other for other in before if other is not listener])
    return before.index(listener)


def listen_everywhere(*listeners: Listener) -> None:
    """Make these listen in every thread from its start, as the package's `__init__` does with the journal."""
    global _always_listening, _always_heard
    vars(always).update(vars(State(listeners)))  # the one state that changes: new threads begin with it
    _always_listening, _always_heard = listeners, always.heard


def begin(block: WithBlock | None = None) -> State:
    """Remove the blocks that an interrupt kept from ending, note that a new one is running; return what is active."""
    while (within := now().within) and within.over:
        _install(within.before)
    if (listeners := now().listeners) != always.listeners and (left := still_running(listeners)) != listeners:
        listen(*left)
    if block is not None:
        block.begin()
    return now()


class only(WithBlock):  # noqa: N801
    """Notify only these listeners during a `with` block."""

    def __init__(self, *listeners: Listener) -> None:
        self.listeners = listeners

    def __enter__(self) -> None:
        self.before = begin(self)
        listen(*self.listeners, within=self)

    @ExitMethod
    def __exit__(self, *exception: object) -> None:
        _install(self.before)


def emit(kind: type[Event], *details: Any) -> None:
    """Notify those who hear this type of event. Check `now().heard[kind]` first if the details are costly."""
    if heard := (begin() if (state := now()).within and state.within.over else state).heard.get(kind):
        event = kind(*details)
        for hear in heard:
            hear(event)
