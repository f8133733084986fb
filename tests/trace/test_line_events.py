"""Both ways in which Python tells what runs say the same, to one follower, in one thread, and leave nothing behind."""

import sys
import threading

import pytest

from autodiff_edu.trace.line_events import FAILED, ByMonitoring, BySettrace, watch

HAS_MONITORING = hasattr(sys, "monitoring")
both = pytest.mark.parametrize("kind", [BySettrace, *([ByMonitoring] if HAS_MONITORING else [])])


class Heard:
    """Notes what it is told of functions of this file, by lines counted from where each begins."""

    def __init__(self):
        self.said = []

    def note(self, what, frame, *more):
        if frame.f_code.co_filename == __file__:
            line = (frame.f_lineno or 0) - frame.f_code.co_firstlineno
            self.said.append((what, frame.f_code.co_name, *([line] if what in ("line", "fail") else []), *more))

    def enter(self, frame):
        self.note("enter", frame)
        return frame.f_code.co_filename == __file__ and frame.f_code.co_name != "left_alone"

    def line(self, frame):
        self.note("line", frame)

    def fail(self, frame):
        self.note("fail", frame)

    def leave(self, frame, value):
        self.note("leave", frame, "failed" if value is FAILED else value)


def doubled(x):
    y = x * 2
    return y


def left_alone():
    return doubled(1)


def broken(x):
    return x / 0


def counting(n):
    yield n
    yield n + 1


def watched(kind, function, frame=None):
    heard = Heard()
    watching = kind(heard)
    watching.start(frame)
    try:
        function()
    finally:
        watching.stop()
    return [said for said in heard.said if said[1] != "<lambda>"]


@pytest.fixture(autouse=True)
def alone():
    """Without coverage, and with whatever else was there before, afterwards too."""
    before = sys.gettrace()
    yield
    assert sys.gettrace() == before


@both
def test_lines_and_values_are_told(kind):
    said = watched(kind, lambda: doubled(3))
    assert said == [("enter", "doubled"), ("line", "doubled", 1), ("line", "doubled", 2), ("leave", "doubled", 6)]


@both
def test_a_function_that_is_not_followed_is_passed_and_what_it_calls_is_not(kind):
    assert [said[:2] for said in watched(kind, left_alone)] == [
        ("enter", "left_alone"),
        ("enter", "doubled"),
        ("line", "doubled"),
        ("line", "doubled"),
        ("leave", "doubled"),
    ]


@both
def test_an_exception_is_told_where_it_passes(kind):
    def run():
        with pytest.raises(ZeroDivisionError):
            broken(1)

    said = [one for one in watched(kind, run) if one[1] == "broken"]
    assert said[:3] == [("enter", "broken"), ("line", "broken", 1), ("fail", "broken", 1)]
    assert said[3][:2] == ("leave", "broken")
    assert said[3][2] in ("failed", None)


@both
def test_a_generator_is_entered_again_and_again(kind):
    said = [one for one in watched(kind, lambda: list(counting(1))) if one[0] != "line"]
    assert said == [step for value in (1, 2, None) for step in (("enter", "counting"), ("leave", "counting", value))]


@both
def test_other_threads_are_not_followed(kind):
    def run():
        thread = threading.Thread(target=doubled, args=(3,))
        thread.start()
        thread.join()

    assert not [one for one in watched(kind, run) if one[1] == "doubled"]


@both
def test_a_frame_that_is_running_already_is_followed_from_here_on(kind):
    heard = Heard()
    watching = kind(heard)
    watching.start(sys._getframe())
    after = 1
    watching.stop()
    assert after
    assert ("line", "test_a_frame_that_is_running_already_is_followed_from_here_on", 5) in heard.said
    assert sys._getframe().f_trace is None


def test_a_debugger_hears_all_that_it_would():
    heard = []

    def debugger(frame, event, arg):
        if frame.f_code is doubled.__code__:
            heard.append((event, arg))
        return debugger

    def hears(run):
        heard.clear()
        before = sys.gettrace()
        sys.settrace(debugger)
        try:
            run()
            assert sys.gettrace() is debugger
        finally:
            sys.settrace(before)
        return list(heard)

    alone = hears(lambda: doubled(3))
    assert [event for event, _ in alone] == ["call", "line", "line", "return"]
    assert hears(lambda: watched(BySettrace, lambda: doubled(3))) == alone


def test_a_tracer_that_puts_itself_in_again_does_not_take_over():
    """As that of coverage does, which is written in C."""

    class Tracer:
        lines = 0

        def __call__(self, frame, event, arg):
            if event == "call":
                sys.settrace(self)
            self.lines += event == "line" and frame.f_code is doubled.__code__
            return self

    before, tracer = sys.gettrace(), Tracer()
    sys.settrace(tracer)
    try:
        said = watched(BySettrace, lambda: [doubled(3), doubled(4)])
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    assert [one[2] for one in said if one[:2] == ("leave", "doubled")] == [6, 8]
    assert tracer.lines == 4


def test_a_debugger_that_takes_over_stays():
    def debugger(frame, event, arg):
        return None

    before = sys.gettrace()
    try:
        watched(BySettrace, lambda: sys.settrace(debugger))
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(before)


if HAS_MONITORING:

    def test_where_python_has_monitoring_no_trace_function_is_set():
        before = sys.gettrace()
        stop = watch(Heard(), None)
        assert sys.gettrace() is before
        assert "autodiff_edu" in [sys.monitoring.get_tool(tool) for tool in ByMonitoring.TOOLS]
        stop.stop()
        assert "autodiff_edu" not in [sys.monitoring.get_tool(tool) for tool in ByMonitoring.TOOLS]


def test_several_can_watch_at_once():
    one, two, three = Heard(), Heard(), Heard()
    stops = [watch(heard, None) for heard in (one, two, three)]
    doubled(3)
    for stop in reversed(stops):
        stop.stop()
    mine = [[said for said in heard.said if said[1] == "doubled"] for heard in (one, two, three)]
    assert mine[0] == mine[1] == mine[2] != []
