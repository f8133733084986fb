"""How Python reports which line runs: `sys.monitoring` if it exists, otherwise `sys.settrace`.

Both call a follower, which has `enter(frame)` (whose answer says whether to follow that frame), `line(frame)`,
`fail(frame)` when an exception passes, and `leave(frame, value)`; a frame that an exception ends is left with the value
`FAILED`. Nothing is called in other threads, and nothing remains when they stop.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, Protocol

from ..text.statements import is_theirs

ENDING = {dis.opmap.get(name) for name in ("FOR_ITER", "SEND")}
"""The instructions of a loop and of an await, which end with a StopIteration that nobody else sees."""

FAILED = object()
"""Stands for the value of a function that an exception has ended."""


class LineListener(Protocol):
    """Is notified about the user's code, but not about the package's or a library's."""

    def enter(self, frame: FrameType) -> bool:
        """Handle the start of a function, or of a generator's next step; return whether its lines are of interest."""

    def line(self, frame: FrameType) -> None:
        """Handle a line that is about to run."""

    def fail(self, frame: FrameType) -> None:
        """Handle an exception that passes through a frame."""

    def leave(self, frame: FrameType, value: Any) -> None:
        """Handle the end of a function, or the pause of a generator."""


def watch(follower: LineListener, frame: FrameType | None) -> ByMonitoring | BySettrace:
    """Report what runs in this thread, and in a running frame, to a follower; return an object that can stop it."""
    watching = (ByMonitoring if ByMonitoring.is_free() else BySettrace)(follower)
    watching.start(frame)
    return watching


class ByMonitoring:
    """Reports to a follower with `sys.monitoring`, alongside any debugger or coverage tool."""

    TOOLS = (3, 4)  # the numbers that Python reserves for no kind of tool

    def __init__(self, follower: LineListener) -> None:
        self.follower, self.thread = follower, get_ident()
        self.codes: set[CodeType] = set()

    @classmethod
    def is_free(cls) -> bool:
        """Return whether Python has it, with a number free for one more tool."""
        return sys.version_info >= (3, 12) and any(sys.monitoring.get_tool(tool) is None for tool in cls.TOOLS)

    def start(self, frame: FrameType | None) -> None:
        """Begin."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        self.tool = next(tool for tool in self.TOOLS if monitoring.get_tool(tool) is None)
        monitoring.use_tool_id(self.tool, "autodiff_edu")
        on = monitoring.events
        enter, leave, follower = self._enter, self._leave, self.follower
        self.of_code = on.LINE | on.PY_RETURN | on.PY_YIELD
        heard = {
            on.PY_START: lambda code, offset: enter(code),
            on.PY_RESUME: lambda code, offset: enter(code),
            on.LINE: lambda code, line: self._tell(follower.line),
            on.RAISE: lambda code, offset, error: self._tell(follower.fail),
            on.PY_RETURN: lambda code, offset, value: leave(value),
            on.PY_YIELD: lambda code, offset, value: leave(value),
            on.PY_UNWIND: lambda code, offset, error: leave(FAILED),
        }
        for event, callback in heard.items():
            monitoring.register_callback(self.tool, event, callback)
        self.heard = tuple(heard)
        if frame is not None:
            self._listen(frame.f_code)
        monitoring.set_events(self.tool, on.PY_START | on.PY_RESUME | on.RAISE | on.PY_UNWIND)

    def _listen(self, code: CodeType) -> None:
        if code not in self.codes:
            self.codes.add(code)
            sys.monitoring.set_local_events(self.tool, code, self.of_code)  # type: ignore[attr-defined, unused-ignore]

    def _enter(self, code: CodeType) -> None:
        if is_theirs[code.co_filename] and get_ident() == self.thread and self.follower.enter(sys._getframe(2)):
            self._listen(code)

    def _leave(self, value: Any) -> None:
        if get_ident() == self.thread:
            self.follower.leave(sys._getframe(2), value)

    def _tell(self, callback: Callable[[FrameType], None]) -> None:
        if get_ident() == self.thread:
            callback(sys._getframe(2))

    def work(self, task: Callable[..., None], *details: Any) -> None:
        """Run something of the package's own."""
        task(*details)

    def stop(self) -> None:
        """Restore everything as it was."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]
        monitoring.set_events(self.tool, 0)
        for code in self.codes:
            monitoring.set_local_events(self.tool, code, 0)
        for event in self.heard:
            monitoring.register_callback(self.tool, event, None)
        monitoring.free_tool_id(self.tool)
        self.codes.clear()


class BySettrace:
    """Reports to a follower with `sys.settrace`; a debugger or coverage tool from before still hears everything."""

    def __init__(self, follower: LineListener) -> None:
        self.follower, self.mine = follower, self._on_call
        self.frames: list[tuple[FrameType, Any]] = []  # the frames that were running, and their own trace functions

    def start(self, frame: FrameType | None) -> None:
        """Begin."""
        self.before = sys.gettrace()
        sys.settrace(self.mine)
        if self.before is not None and not hasattr(self.before, "__code__"):
            # one written in C (coverage's) follows frames without their own trace function
            running: FrameType | None = sys._getframe(1)
            while running is not None:
                if running is not frame and running.f_trace is None:
                    self._replace(running, self.before)
                running = running.f_back
        if frame is not None:
            self._replace(frame, self._local(frame.f_trace or self.before))

    def _replace(self, frame: FrameType, function: Any) -> None:
        self.frames.append((frame, frame.f_trace))
        frame.f_trace = function

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Any:
        other = None
        if self.before is None:
            if not is_theirs[frame.f_code.co_filename]:  # asked at every call of anything, so first
                return None
        else:
            other = self.before(frame, event, arg)  # type: ignore[arg-type]
            if sys.gettrace() != self.mine:  # coverage's installs itself
                sys.settrace(self.mine)
        return self._local(other) if self.follower.enter(frame) else other

    def _local(self, other: Any) -> Any:
        """Return the trace function of one frame, which calls another one first."""
        follower = self.follower

        def heard(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal other
            if other is not None:
                other = other(frame, event, arg)
            if event == "line":
                follower.line(frame)
            elif event == "exception":
                if arg[0] is not StopIteration or frame.f_code.co_code[frame.f_lasti] not in ENDING:
                    follower.fail(frame)
            elif event == "return":
                follower.leave(frame, arg)
            return heard

        return heard

    def work(self, task: Callable[..., None], *details: Any) -> None:
        """Run something of the package's own, which would take twice as long if its calls were followed."""
        mine = self.before is None and sys.gettrace() == self.mine
        if mine:
            sys.settrace(None)
        try:
            task(*details)
        finally:
            if mine:
                sys.settrace(self.mine)

    def stop(self) -> None:
        """Restore everything as it was."""
        if sys.gettrace() == self.mine:  # otherwise something has taken over since, such as a debugger
            sys.settrace(self.before)
        for frame, function in self.frames:
            frame.f_trace = function
        self.frames.clear()
