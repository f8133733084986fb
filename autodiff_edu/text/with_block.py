"""Objects that are active during a `with` block, and know when it is over. Knows nothing about tapes.

While a block runs, Python alone holds its `__exit__`. So once that is gone the block is over, even if an interrupt
(Ctrl-C) came before the first line of `__exit__`.

>>> class Switch(WithBlock):
...     __enter__ = WithBlock.begin
...     @ExitMethod
...     def __exit__(self, *exception):
...         raise KeyboardInterrupt  # before anything could be undone
>>> switch = Switch()
>>> try:
...     with switch:
...         print(switch.over)
... except KeyboardInterrupt:
...     print(switch.over)
False
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from weakref import ref


class ExitMethod:
    """Decorate the `__exit__` of a block, so that the block knows when it is over."""

    def __init__(self, leave: Callable[..., None]) -> None:
        self.leave = leave

    def __get__(self, block: Any, kind: Any = None) -> Callable[..., None]:
        if block is None:
            return self.leave
        block._held = ref(method := partial(self.leave, block))
        return method


class WithBlock:
    """Something that is active during a `with` block."""

    _held: Callable[[], Any] = type(None)  # returns the `__exit__` that Python took last, or None once it is gone
    _running: Callable[[], Any] = type(None)  # the same for the running block

    def begin(self) -> None:
        """Note that the block is running. If no `with` entered it (but an `ExitStack`, say), only `end` ends it."""
        self._running = self._held if self._held() else object

    def end(self) -> None:
        """Note that the block is over."""
        self._running = type(None)

    @property
    def over(self) -> bool:
        """Whether the block has ended, or has not begun."""
        return self._running() is None


def still_running(installed: Iterable[Any]) -> tuple[Any, ...]:
    """Return the installed callables without those of blocks that are over; a method belongs to its block.

    Examples
    --------
    >>> still_running([print, WithBlock()])
    (<built-in function print>,)
    """
    return tuple([x for x in installed if not isinstance(a := getattr(x, "__self__", x), WithBlock) or not a.over])
