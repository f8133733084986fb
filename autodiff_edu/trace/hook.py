"""`hook`: a callback for what happens on tapes.

>>> import autodiff_edu as ad
>>> x = ad.constant(3.0)
>>> seen = []
>>> with ad.hook(seen.append), ad.GradientTape() as tape:
...     tape.watch(x)
...     y = x * x
>>> [type(event).__name__ for event in seen]
['Watch', 'Record']
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any

from ..core import events
from ..core.active import Listener, always, begin, only, start_listening, stop_listening
from ..core.events import Event
from ..text.with_block import ExitMethod, WithBlock

PUBLIC = (
    *(events.Watch, events.Record, events.Skip, events.Cut, events.Pause, events.Resume, events.Reset, events.Seed),
    *(events.PullBack, events.Accumulate, events.Move, events.PushForward, events.Release, events.Outcome),
    *(events.Assign, events.Leave),
)
"""What a callback receives."""


class hook(WithBlock, ContextDecorator, Listener):  # noqa: N801
    """Call `callback(event)` for what happens to tapes and variables in the `with` block, in this thread or task.

    Parameters
    ----------
    callback : callable
        Receives one `Event` at a time: `Watch`, `Record`, `Skip`, `Cut`, `Pause`, `Resume`, `Reset`, `Seed`,
        `PullBack`, `Accumulate`, `Move`, `PushForward`, `Release`, `Outcome`, `Assign` or `Leave`. What it computes on
        tensors is neither recorded nor reported. If it raises an error, it is not called again; the computation goes
        on, and the error is raised when the block ends.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> x = ad.Variable(3.0, name="x")
    >>> with ad.hook(lambda event: print(type(event).__name__)):
    ...     x.assign(4.0)
    Assign
    Variable('x', 4.)
    """

    def __init__(self, callback: Callable[[Event], Any]) -> None:
        if not callable(callback):
            raise TypeError(
                f"a hook is a function that receives each event; this is the {type(callback).__name__} {callback!r:.60}"
            )
        super().__init__(dict.fromkeys(PUBLIC, self._see))
        self._callback = callback
        self._failures: list[Exception] = []

    def __enter__(self) -> None:
        if not self.over:
            raise RuntimeError("this hook is already active; create a second one with ad.hook(...)")
        begin(self)
        self._failures.clear()
        start_listening(self)

    @ExitMethod
    def __exit__(self, kind: Any, error: BaseException | None, place: Any) -> None:
        stop_listening(self)
        self.end()
        for failure in self._failures:
            if error is None:
                raise failure
            error.add_note(f"before that, a hook raised {failure!r}")

    def _recreate_cm(self) -> hook:
        return hook(self._callback)

    def _see(self, event: Event) -> None:
        if self._failures or self.over:  # an interrupt ended the block
            return
        try:
            with only(*always.listeners):  # the listeners of every thread: the journal
                self._callback(event)
        except Exception as failure:
            self._failures.append(failure)
