"""Answers to the exercises of stop-recording."""

import numpy as np

import autodiff_edu as ad


def loss_of(x):
    return np.sum(np.sin(x) * x)


def steepest(tape, loss, x):
    return np.max(np.abs(tape.gradient(loss, x)))


def paused(tape, x):
    loss = loss_of(x)
    with tape.stop_recording():
        return loss, steepest(tape, loss, x)


def only_the_gradient_paused(tape, x):
    loss = loss_of(x)
    with tape.stop_recording():
        slope = tape.gradient(loss, x)
    return loss, np.max(np.abs(slope.numpy()))


def on_a_tape_of_its_own(tape, x):
    with tape.stop_recording(), ad.GradientTape() as own:
        own.watch(x)
        again = loss_of(x)
    with tape.stop_recording():
        report = steepest(own, again, x)
    return loss_of(x), float(report)


def on_a_second_tape(tape, x):
    with ad.GradientTape() as own:
        own.watch(x)
        again = loss_of(x)
    return loss_of(x), steepest(own, again, x)


def signed(tape, x):
    loss, report = paused(tape, x)
    return loss, -report


def untouched(tape, x):
    loss = loss_of(x)
    return loss, steepest(tape, loss, x)


def without_with(tape, x):
    loss = loss_of(x)
    tape.stop_recording()
    return loss, steepest(tape, loss, x)


def all_paused(tape, x):
    with tape.stop_recording():
        return untouched(tape, x)


def paused_and_by_hand(tape, x):
    with tape.stop_recording():
        return loss_of(x), np.max(np.abs(np.cos(x) * x + np.sin(x)))


def by_hand(tape, x):
    v = x.numpy()
    return loss_of(x), np.max(np.abs(np.cos(v) * v + np.sin(v)))


def half_paused(tape, x):
    with tape.stop_recording():
        sine = np.sin(x)
        report = np.max(np.abs(np.cos(x) * x + sine))
    return np.sum(sine * x), report


def emptied(tape, x):
    loss, report = untouched(tape, x)
    tape.reset()
    return loss, report


def the_other_way_round(tape, x):
    loss = loss_of(x)
    with tape.stop_recording():
        return loss, steepest(tape, x, loss)


def every_slope(tape, x):
    loss = loss_of(x)
    with tape.stop_recording():
        return loss, np.abs(tape.gradient(loss, x))


def dots(tape, x):
    loss = loss_of(x)
    with ...:
        return loss, steepest(tape, loss, x)


AFTER = {"entries": 3, "dc/dx": None, "dc/dy": 12.0}

FOUND = {"slope": 72.0, "should be": 135.0, "line": 6}

RIGHT = {
    1: [FOUND, {**FOUND, "slope": ad.constant(72.0)}, {**FOUND, "should be": 3 * 3.0**2 + 4 * 3.0**3}],
    2: [paused, only_the_gradient_paused, on_a_tape_of_its_own],
    3: [AFTER, {**AFTER, "dc/dy": ad.constant(12.0)}],
}

WRONG = {
    1: [
        ({**FOUND, "slope": 135}, "Which of the two factors"),
        ({**FOUND, "slope": None}, "through a. So there is a slope"),
        ({**FOUND, "slope": 63}, "What comes through a"),
        ({**FOUND, "slope": 108}, "value of the loss"),
        ({**FOUND, "slope": 12}, "cotangent that arrives at a"),
        ({**FOUND, "slope": 6}, "Which constant"),
        ({**FOUND, "should be": 72}, "path through a in line 8 only"),
        ({**FOUND, "should be": 81}, "changes b"),
        ({**FOUND, "should be": 108}, "value of the loss"),
        ({**FOUND, "should be": 27}, "Multiply it out"),
        ({**FOUND, "line": 5}, "read seen"),
        ({**FOUND, "line": 7}, "read gap"),
        ({**FOUND, "line": 4}, "Which line in it"),
        ({**FOUND, "line": 8}, "isn't in the pause"),
        ({**FOUND, "line": 3}, "Look for a line in the pause"),
        ({**FOUND, "slope": ...}, "Still missing: slope"),
    ],
    2: [
        (untouched, r"recorded as well\. How do you keep a tape"),
        (without_with, "a call without `with`"),
        (on_a_second_tape, "your second tape"),
        (lambda tape, x: paused(tape, x)[::-1], "other order"),
        (lambda tape, x: (float(paused(tape, x)[0]), paused(tape, x)[1]), "plain number. Return the tensor"),
        (signed, "Return its size"),
        (all_paused, "Was the loss recorded"),
        (paused_and_by_hand, "must be recorded"),
        (half_paused, "is not recorded"),
        (by_hand, "found without a tape"),
        (emptied, "Don.t empty the tape"),
        (lambda tape, x: paused(tape, x)[0], "return loss, steepest"),
        (lambda tape, x: (paused(tape, x)[0], 0.0), "where"),
        (lambda tape, x: (paused(tape, x)[0], np.max(np.cos(x.numpy()) * x.numpy() + np.sin(x.numpy()))), "np.abs"),
        (lambda tape, x: (0.0, paused(tape, x)[1]), "loss has changed"),
        (the_other_way_round, "with respect to x"),
        (every_slope, "one number"),
        (dots, "three dots"),
        (None, "without calling it"),
    ],
    3: [
        ({**AFTER, "entries": 4}, "reset forgot that entry"),
        ({**AFTER, "entries": 2}, "holds two"),
        ({**AFTER, "entries": 1}, "several operations"),
        ({**AFTER, "entries": 7}, "after the reset"),
        ({**AFTER, "dc/dx": 9.0}, "still watched"),
        ({**AFTER, "dc/dx": 12.0}, "without any reset"),
        ({**AFTER, "dc/dx": 0.0}, "no path"),
        ({**AFTER, "dc/dx": 5.0}, "only when you ask"),
        ({**AFTER, "dc/dy": None}, "watched again"),
        ({**AFTER, "dc/dy": 14.0}, "path through a"),
        ({**AFTER, "dc/dy": 6.0}, "two contributions"),
        ({**AFTER, "dc/dy": 1.0}, "dc/dy at y = 3"),
        ({**AFTER, "dc/dy": 24.0}, "value of c"),
        ({**AFTER, "dc/dx": "None"}, "without quotes"),
        ({**AFTER, "entries": None}, "Only a gradient can be None"),
        ({"entries": 3}, "dc/dx, dc/dy"),
        ({**AFTER, "entries": ...}, "Still missing: entries"),
    ],
}
