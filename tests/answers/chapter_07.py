"""Answers to the exercises of chapter 7."""

import numpy as np

import autodiff_edu as ad


def slopes(ask, persistent=True, watch=True):
    """Make an answer to 5.1 that asks its tape as `ask` says."""

    def two_slopes(x):
        with ad.GradientTape(persistent=persistent) as tape:
            if watch:
                tape.watch(x)
            q = x * x
            s = np.sum(q)
            t = np.sum(q * q)
        return ask(tape, s, t, x)

    return two_slopes


def both(tape, s, t, x):
    return tape.gradient(s, x), tape.gradient(t, x)


def with_two_tapes(x):
    return slopes(lambda tape, s, t, x: tape.gradient(s, x))(x), slopes(lambda tape, s, t, x: tape.gradient(t, x))(x)


def distance(x):
    return np.max(np.abs(x - np.mean(x)))


def paused(tape, x):
    a = np.exp(x)
    loss = np.sum(a * a)
    with tape.stop_recording():
        report = distance(x)
    return loss, report


def left_to_numpy(tape, x):
    a = np.exp(x)
    return np.sum(a * a), distance(x.numpy())


def report_first(tape, x):
    report = distance(x)
    tape.reset()
    tape.watch(x)
    a = np.exp(x)
    return np.sum(a * a), report


def untouched(tape, x):
    a = np.exp(x)
    return np.sum(a * a), distance(x)


def half_paused(tape, x):
    a = np.exp(x)
    loss = np.sum(a * a)
    away = x - np.mean(x)
    with tape.stop_recording():
        report = np.max(np.abs(away))
    return loss, report


def all_paused(tape, x):
    with tape.stop_recording():
        return untouched(tape, x)


def square_paused(tape, x):
    a = np.exp(x)
    with tape.stop_recording():
        b = a * 1.0
    return np.sum(a * b), distance(x.numpy())


def emptied(tape, x):
    loss, _ = untouched(tape, x)
    tape.reset()
    return loss, distance(x)


def dots(tape, x):
    loss, _ = untouched(tape, x)
    with ...:
        report = distance(x)
    return loss, report


AFTER = {"entries": 3, "dc/dx": None, "dc/dy": 12.0}

RIGHT = {
    "7.1": [slopes(both), lambda x: list(slopes(both)(x))],
    "7.2": [paused, left_to_numpy, report_first],
    "7.3": [AFTER, {**AFTER, "dc/dy": ad.constant(12.0)}],
}

WRONG = {
    "7.1": [
        (slopes(both, persistent=False), "used the tape up"),
        (slopes(lambda tape, s, t, x: tape.gradient([s, t], x)), "added up"),
        (slopes(lambda tape, s, t, x: tape.gradient([s, t], [x, x])), "one target at a time"),
        (slopes(lambda tape, s, t, x: both(tape, t, s, x)), "other order"),
        (slopes(lambda tape, s, t, x: (tape.gradient(s, x), ...)), "three dots: the gradient of t"),
        (slopes(both, watch=False), "watch x"),
        (slopes(lambda tape, s, t, x: (s, t)), "gradient of s is not right"),
        (slopes(lambda tape, s, t, x: (tape.gradient(s, x), t)), "gradient of t is not right"),
        (slopes(lambda tape, s, t, x: None), "two gradients"),
        (with_two_tapes, "used 2 tapes"),
        (lambda x: (2 * x, 4 * x**3), "no tape was used"),
        (lambda: None, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    "7.2": [
        (untouched, "nothing is saved"),
        (half_paused, "more can be"),
        (all_paused, "report alone"),
        (emptied, "Do not empty the tape"),
        (square_paused, "not recorded"),
        (lambda tape, x: paused(tape, x)[0], "return loss, report"),
        (lambda tape, x: (paused(tape, x)[0], 0.0), "report has changed"),
        (lambda tape, x: (0.0, paused(tape, x)[1]), "loss has changed"),
        (lambda tape, x: (float(paused(tape, x)[0]), paused(tape, x)[1]), "is None"),
        (dots, "three dots"),
        (None, "without calling it"),
    ],
    "7.3": [
        ({**AFTER, "entries": 4}, "reset forgot that entry"),
        ({**AFTER, "entries": 2}, "holds two"),
        ({**AFTER, "entries": 1}, "several operations"),
        ({**AFTER, "entries": 7}, "after the reset"),
        ({**AFTER, "dc/dx": 9.0}, "still watched"),
        ({**AFTER, "dc/dx": 12.0}, "without any reset"),
        ({**AFTER, "dc/dx": 0.0}, "Not a zero"),
        ({**AFTER, "dc/dx": 5.0}, "unless asked"),
        ({**AFTER, "dc/dy": None}, "watched again"),
        ({**AFTER, "dc/dy": 14.0}, "way through a"),
        ({**AFTER, "dc/dy": 6.0}, "two contributions"),
        ({**AFTER, "dc/dy": 1.0}, "slope by y at 3"),
        ({"entries": 3}, "dc/dx, dc/dy"),
        ({**AFTER, "entries": ...}, "Still open: entries"),
    ],
}
