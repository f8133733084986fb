"""Answers to the exercises of stop-recording."""

import numpy as np

import autodiff_edu as ad


def slopes(ask, persistent=True, watch=True):
    """Make an answer to 7.1 that asks its tape as `ask` says."""

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


def squared(x, tape, watch=True):
    with tape:
        if watch:
            tape.watch(x)
        return x * x


def with_q_twice(x):
    tape = ad.GradientTape(persistent=True)
    s, q = squared(x, tape), squared(x, tape, watch=False)
    with tape:
        t = np.sum(q * q)
    return both(tape, s, t, x)


def without_q(x):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        s, t = np.sum(x * x), np.sum(x * x * x * x)
    return both(tape, s, t, x)


def without_a_square(x):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        s, t = np.sum(x * x), np.sum(x**4)
    return both(tape, s, t, x)


def one_by_hand(x):
    with ad.GradientTape() as tape:
        tape.watch(x)
        q = x * x
        t = np.sum(q * q)
    return 2.0 * x, tape.gradient(t, q) * 2.0 * x


def inside(x):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        q = x * x
        return both(tape, np.sum(q), np.sum(q * q), x)


def with_a_jacobian(x):
    with ad.GradientTape() as tape:
        tape.watch(x)
        q = x * x
        both = np.stack([np.sum(q), np.sum(q * q)])
    return tape.jacobian(both, x)


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


def dots(tape, x):
    loss = loss_of(x)
    with ...:
        return loss, steepest(tape, loss, x)


AFTER = {"entries": 3, "dc/dx": None, "dc/dy": 12.0}

RIGHT = {
    1: [
        slopes(both),
        lambda x: list(slopes(both)(x)),
        lambda x: np.stack(slopes(both)(x)),
        lambda x: np.stack(slopes(both)(x)).numpy().astype(np.float32),
        inside,
        with_a_jacobian,
    ],
    2: [paused, only_the_gradient_paused, on_a_tape_of_its_own],
    3: [AFTER, {**AFTER, "dc/dy": ad.constant(12.0)}],
}

WRONG = {
    1: [
        (slopes(both, persistent=False), "used the tape up"),
        (slopes(lambda tape, s, t, x: tape.gradient([s, t], x)), "added up"),
        (slopes(lambda tape, s, t, x: tape.gradient([s, t], [x, x])), "one target at a time"),
        (slopes(lambda tape, s, t, x: both(tape, t, s, x)), "other order"),
        (slopes(lambda tape, s, t, x: (tape.gradient(s, x), ...)), "three dots: the gradient of t"),
        (slopes(lambda tape, s, t, x: tape.gradient(s, [x, t])), "holds \\*sources"),
        (slopes(lambda tape, s, t, x: (tape.gradient(s, x),) * 2), "Both are the gradient of s"),
        (slopes(lambda tape, s, t, x: (tape.gradient(s, x), x.numpy() * tape.gradient(s, x).numpy())), "dt/dq"),
        (slopes(lambda tape, s, t, x: (tape.gradient(s, x), tape.gradient(t, s))), "Ask with respect to x"),
        (with_q_twice, "more than once"),
        (without_q, "more than once"),
        (slopes(both, watch=False), "watch x"),
        (slopes(lambda tape, s, t, x: (s, t)), "one slope for each element of x"),
        (slopes(lambda tape, s, t, x: (tape.gradient(s, x), t)), "Now look at the gradient of t"),
        (slopes(lambda tape, s, t, x: None), "Is a `return` missing"),
        (with_two_tapes, "used 2 tapes"),
        (lambda x: (2 * x, 4 * x**3), "no tape was used"),
        (one_by_hand, "not both come from a tape"),
        (without_a_square, "read more than once"),
        (lambda: None, "raised TypeError"),
        (3.0, "without calling it"),
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
