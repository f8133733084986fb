"""Answers to the exercises of multiple-tapes."""

import numpy as np

import autodiff_edu as ad


def watching(by_0, by_1, ask=None):
    """Make an answer to 11.1 whose tapes watch the sources with these numbers."""

    def two_tapes(*x):
        with ad.GradientTape() as tape0, ad.GradientTape() as tape1:
            tape0.watch([x[k] for k in by_0])
            tape1.watch([x[k] for k in by_1])
            total = np.sin(x[0]) * np.exp(x[1])
        if ask:
            return ask(tape0, tape1, total, *x)
        return tape0.gradient(total, x[0]), tape1.gradient(total, x[1])

    return two_tapes


def watching_late(x0, x1):
    with ad.GradientTape() as tape0, ad.GradientTape() as tape1:
        total = np.sin(x0) * np.exp(x1)
        tape0.watch(x0)
        tape1.watch(x1)
    return tape0.gradient(total, x0), tape1.gradient(total, x1)


def watching_one_late(x0, x1):
    with ad.GradientTape() as tape0, ad.GradientTape() as tape1:
        tape0.watch(x0)
        total = np.sin(x0) * np.exp(x1)
        tape1.watch(x1)
    return tape0.gradient(total, x0), tape1.gradient(total, x1)


def one_after_the_other(x0, x1):
    with ad.GradientTape() as tape0:
        tape0.watch(x0)
        total = np.sin(x0) * np.exp(x1)
    with ad.GradientTape() as tape1:
        tape1.watch(x1)
        again = np.sin(x0) * np.exp(x1)
    return tape0.gradient(total, x0), tape1.gradient(again, x1)


def asking(ask, persistent=True, watch=True):
    """Make an answer to 11.2 that asks its tape as `ask` says."""

    def one_tape(x, y):
        with ad.GradientTape(persistent=persistent) as tape:
            if watch:
                tape.watch([x, y])
            z = x**2 + y
            m = y + y**2 + x
        return ask(tape.gradient, z, m, x, y)

    return one_tape


def each(gradient, z, m, x, y):
    return gradient(z, x), gradient(m, y)


def twice(x, y):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z, _ = x**2 + y, y + y**2 + x
        _, m = x**2 + y, y + y**2 + x
    return tape.gradient(z, x), tape.gradient(m, y)


def twice_with_products(x, y):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z, _ = x * x + y, y + y * y + x
        _, m = x * x + y, y + y * y + x
    return tape.gradient(z, x), tape.gradient(m, y)


def inside_the_block(x, y):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = x**2 + y
        m = y + y**2 + x
        return tape.gradient(z, x), tape.gradient(m, y)


def after_each_other(x, y):
    return asking(lambda gradient, z, m, x, y: gradient(z, x))(x, y), asking(lambda g, z, m, x, y: g(m, y))(x, y)


def less_one(x, y):
    by_x, by_y = asking(lambda gradient, z, m, x, y: gradient([z, m], [x, y]), persistent=False)(x, y)
    return by_x - 1, by_y - 1


def with_products(x, y):
    with ad.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(x)
        tape.watch(y)
        z = x * x + y
        m = y + y * y + x
    return tape.gradient(z, x), tape.gradient(m, y)


LANES = {"first": {"q", "s"}, "second": {"p", "r", "s", "t"}}


def lanes(first=("q", "s"), second=("p", "r", "s", "t")):
    return {"first": set(first), "second": set(second)}


RIGHT = {
    1: [
        watching([0], [1]),
        watching(
            [0], [1], lambda t0, t1, total, x0, x1: [float(t0.gradient(total, x0)), t1.gradient(total, x1).numpy()]
        ),
        one_after_the_other,
    ],
    2: [
        asking(each),
        lambda x, y: list(asking(each)(x, y)),
        asking(lambda gradient, z, m, x, y: [gradient(*pair).numpy() for pair in ((z, x), (m, y))]),
        with_products,
        inside_the_block,
        less_one,
    ],
    3: [LANES, {"first": "q, s", "second": ["t", "s", "r", "p"]}, lanes(first=("s", "q"))],
}

WRONG = {
    1: [
        (watching([], []), "three dots"),
        (watching([1], [0]), "Exchange"),
        (watching_late, "neither tape recorded anything"),
        (watching_one_late, "tape1 was not watching"),
        (watching([0, 1], []), "tape1 was not watching"),
        (watching([], [0, 1]), "tape0 was not watching"),
        (watching([0, 1], [0, 1]), "more than its own"),
        (watching([0], [1], lambda t0, t1, total, x0, x1: (t1.gradient(total, x1), t0.gradient(total, x0))), "places"),
        (watching([0, 1], [], lambda t0, t1, total, *x: t0.gradient(total, list(x))), "one tape found both"),
        (lambda x0, x1: (np.cos(x0) * np.exp(x1), np.sin(x0) * np.exp(x1)), "no tape"),
        (lambda x0, x1: (1.0, 2.0), "should be [2.53252, 2.74149], and yours is [1, 2]"),
        (lambda x0, x1: (..., 2.0), "three dots"),
        (lambda x0, x1: None, "returns None"),
        (lambda x0: None, "raised TypeError"),
        (1.0, "without calling it"),
    ],
    2: [
        (asking(each, persistent=False), "answers once"),
        (asking(lambda gradient, z, m, x, y: gradient([z, m], [x, y])), "added up"),
        (asking(lambda gradient, z, m, x, y: gradient(z, [x, y])), "gradient of m"),
        (asking(lambda gradient, z, m, x, y: gradient(m, [x, y])), "gradient of z"),
        (asking(lambda gradient, z, m, x, y: (gradient(m, x), gradient(z, y))), "targets have changed places"),
        (asking(lambda gradient, z, m, x, y: each(gradient, z, m, x, y)[::-1]), "other order"),
        (asking(lambda gradient, z, m, x, y: (..., ...)), "three dots"),
        (asking(lambda gradient, z, m, x, y: (z, m)), "should be [3.842, 5.836]"),
        (asking(each, watch=False), "Watch x and y"),
        (asking(lambda gradient, z, m, x, y: gradient(z + m, [x, y])), "after the block is not on the tape"),
        (asking(lambda gradient, z, m, x, y: (gradient(z, [x, y]), gradient(m, [x, y]))), "Ask for dz/dx alone"),
        (asking(lambda gradient, z, m, x, y: (gradient(z, x), gradient(m, [x, y]))), "Ask for dz/dx alone"),
        (after_each_other, "used 2 tapes"),
        (twice, "more than once"),
        (twice_with_products, "more than once"),
        (lambda x, y: (2 * x, 1 + 2 * y), "no tape"),
        (asking(lambda gradient, z, m, x, y: gradient(z, x)), "Return dz/dx and dm/dy"),
        (None, "without calling it"),
    ],
    3: [
        ({"first": LANES["second"], "second": LANES["first"]}, "changed places"),
        (lanes(first="pqs"), "uses x alone"),
        (lanes(first="s"), "`first` watches trainable variables by itself"),
        (lanes(first="qrs"), "`first` is paused"),
        (lanes(first="qst"), "nothing but r"),
        (lanes(first="q"), "uses y too"),
        (lanes(second="pqrst"), "watches x alone"),
        (lanes(second="rst"), "asked to watch"),
        (lanes(second="pst"), "concerns one tape"),
        (lanes(second="prt"), "follows that chain"),
        (lanes(second="prs"), "has recorded r"),
        ({"first": {...}, "second": {...}}, "three dots"),
        ({"first": {"q", "s"}}, "No answer is given for second"),
        ({"first": 3, "second": {"q"}}, "set of names"),
        (lanes(first=["z"]), "The lines are"),
    ],
}
