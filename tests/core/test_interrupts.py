"""An interrupt (Ctrl-C) at any moment leaves nothing recording: what it kept from leaving is taken out later."""

import os
import signal
import sys
import threading
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.active import Listener, now, only
from autodiff_edu.core.composites import SPELLED
from autodiff_edu.custom.call import Reads
from autodiff_edu.explain.journal import journal
from autodiff_edu.program.recording import Recorder
from autodiff_edu.rules import RULES
from autodiff_edu.trace.scopes import opened

OURS = str(Path(ad.__file__).parent) + os.sep
X = ad.Variable(3.0, name="x")
C = ad.constant(2.0)


class Busy:
    """A run of everything that is active for the length of a block; its tapes are kept, as a notebook keeps them."""

    def __init__(self):
        self.tapes = [ad.GradientTape(), ad.GradientTape(persistent=True), ad.GradientTape()]
        self.errors = []

    def run(self):
        outer, inner, third = self.tapes
        with ad.hook(lambda event: X * 2.0), ad.scope("outer"), outer:
            with inner, ad.scope("inner"), inner.stop_recording(), Reads():
                _ = X * X
            with inner, only(Listener({})):
                _ = X * C
            with third:
                y = X * X
            _ = third.gradient(y, X)

    def check(self):
        """Nothing is active in the next outermost block but what it enters, and what was left records no more."""
        listeners = [*now().listeners]
        before = [len(tape.entries) for tape in self.tapes]
        assert opened.names == ()
        _ = X * X + C
        assert [len(tape.entries) for tape in self.tapes] == before
        with ad.GradientTape() as tape:
            assert now().listeners == (journal, tape), listeners
            assert (now().followers, opened.names) == ((tape,), ())
            _ = X * X
        assert len(tape.entries) == 1
        assert [len(tape.entries) for tape in self.tapes] == before
        assert (now().listeners, now().followers) == ((journal,), ())
        with self.tapes[1] as again:  # and it can be entered again
            _ = X * X
        assert len(again.entries) == before[1] + 1


def interrupted_at(number, run, errors, each=("call", "line", "return", "exception"), files=()):
    """Raise KeyboardInterrupt at one event of the package's own code; return whether there was such an event."""
    events = count()

    def trace(frame, event, argument):
        path = frame.f_code.co_filename
        if not path.startswith(OURS) or (files and not path.endswith(files)):
            return None
        frame.f_trace_opcodes = "opcode" in each
        if event in each and next(events) == number:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    except KeyboardInterrupt as error:
        errors.append(error)  # as `sys.last_value` does: so no frame, and no generator, goes away
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_line_of_the_package_leaves_nothing_active(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)  # Python drops one that comes in a finalizer
    for number in count():
        busy = Busy()
        found = interrupted_at(number, busy.run, busy.errors)
        busy.check()
        if not found:
            break
    assert number > 500


def scaled(x):
    return np.sum(x * x * X)


def checkpointed():
    with ad.GradientTape() as tape:
        y = ad.checkpoint(scaled)(X)
    assert float(tape.gradient(y, X)) == 27.0


BUSY = {
    "a checkpoint": checkpointed,
    "a first call of a compiled function": lambda: ad.compile(ad.grad(scaled))(2.0),
    "forward mode": lambda: ad.jvp(scaled, (X,), (1.0,)),
}


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.exhaustive), 7])
@pytest.mark.parametrize("run", BUSY.values(), ids=BUSY)
def test_after_an_interrupt_nothing_is_refused_recorded_or_left_uncompiled(run, step, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)
    recorders, calls = [], []

    def begin(recorder, *details, original=Recorder.__init__):
        original(recorder, *details)
        recorders.append(recorder)

    def counted(x):
        calls.append(x)
        return x * 2.0

    monkeypatch.setattr(Recorder, "__init__", begin)
    compiled = ad.compile(counted)
    compiled(1.0)
    for number in count(0, step):  # the opcodes where a block begins or ends
        found = interrupted_at(number, run, [], ("call", "opcode"), ("active.py", "with_block.py"))
        recorded = [len(recorder.instructions) for recorder in recorders]
        if number % 3 == 0:
            X.assign(X)
        elif number % 3 == 1:
            _ = X * C
        else:
            assert float(compiled(1.0)) == 2.0
            assert len(calls) == 2
        assert recorded == [len(recorder.instructions) for recorder in recorders]
        if number % 3 < 2:  # a compiled function changes nothing of what is active
            assert now().within is None
            assert not any(isinstance(left, Recorder) for left in now().listeners)
        recorders.clear()
        if not found:
            break
    assert number > 100


@pytest.mark.parametrize(("operation", "inner"), [(np.sort, False), (np.sin, True)], ids=["alone", "in another block"])
def test_an_interrupt_leaves_no_rule_of_a_block(operation, inner, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)
    outer = ad.register_gradient(operation, lambda g, y, x: 3.0 * g, replace=True) if inner else None
    before = RULES.get(operation), SPELLED.get(operation)

    def run():
        with ad.register_gradient(operation, lambda g, y, x: 5.0 * g, replace=True):
            assert (RULES[operation].own, RULES[operation] is before[0], operation in SPELLED) == (True, False, False)

    try:
        for number in count():
            found = interrupted_at(number, run, [], ("call", "opcode"))
            assert (RULES.get(operation), SPELLED.get(operation)) == before
            if not found:
                break
        assert number > 150
    finally:
        if outer is not None:
            outer.__exit__(None, None, None)


def test_an_interrupt_leaves_no_rule_that_was_to_hold_for_good(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)
    before, registrations = RULES[np.sin], []

    def run():
        registrations.append(ad.register_gradient(np.sin, lambda g, y, x: 5.0 * g, replace=True))

    number = -1
    while interrupted_at(number := number + 1, run, [], ("call", "line")):
        assert RULES[np.sin] is before
    assert number > 50
    assert RULES[np.sin] is not before
    registrations[0].__exit__(None, None, None)
    assert RULES[np.sin] is before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that interrupts")
@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="only the main thread is told")
@pytest.mark.parametrize("wanted", [200, pytest.param(2000, marks=pytest.mark.exhaustive)])
def test_interrupts_at_random_moments_leave_nothing_active(wanted, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: None)  # Python drops one that comes in a finalizer
    rng, interrupts, armed = np.random.default_rng(0), 0, False

    def interrupt(number, frame):
        if armed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while interrupts < wanted:
            busy = Busy()
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 1e-3))
                for _ in range(100):
                    busy.run()
                    busy.tapes[0].entries.clear()
                armed = False
            except KeyboardInterrupt as error:
                armed, interrupts = False, interrupts + 1
                busy.errors.append(error)
            busy.check()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
