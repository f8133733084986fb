"""Answers to the exercises of jacobians."""

import numpy as np

import autodiff_edu as ad


def rows(f, x):
    value, pull_back = ad.vjp(f, x)
    return np.stack([pull_back(seed) for seed in np.eye(len(value))])


def columns(f, x):
    return np.stack([ad.jvp(f, (x,), (tangent,))[1] for tangent in np.eye(len(x))], axis=1)


def build(f, x, mode):
    return columns(f, x) if mode == "forward" else rows(f, x)


def filled(f, x, mode):
    """Fill an array of zeros, a row or a column at a time."""
    result = np.zeros((len(f(x)), len(x)))
    if mode == "reverse":
        for i in range(len(result)):
            seed = np.zeros(len(result))
            seed[i] = 1.0
            result[i] = ad.vjp(f, x)[1](seed).numpy()
    else:
        for j in range(len(x)):
            tangent = np.zeros(len(x))
            tangent[j] = 1.0
            result[:, j] = ad.jvp(f, (x,), (tangent,))[1].numpy()
    return result


def by_gradients(f, x, mode):
    """Ask a tape for each row."""
    if mode == "forward":
        return columns(f, x)
    source = ad.constant(x)
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(source)
        y = f(source)
    return [tape.gradient(y, source, output_gradients=seed).numpy() for seed in np.eye(len(y))]


def by_tape(f, x, mode):
    source = ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(source)
        y = f(source)
    return tape.jacobian(y, source)


BEGIN = {"a": "output", "b": "input", "c": "middle", "d": "same", "work": 540_000}
LEVEL = {"divisor": -0.2, "half": "no", "positive": "no", "diagonal": "yes", "steps": 1}

RIGHT = {
    1: [build, filled, by_gradients],
    2: [BEGIN, {**BEGIN, "a": " Output ", "work": 540_000.0}],
    3: [LEVEL, {**LEVEL, "half": "NO", "divisor": 1 - 0.6 - 0.6, "steps": 1.0}],
}

WRONG = {
    1: [
        (lambda f, x, mode: build(f, x, mode).T, "lies on its side: a row for each output"),
        (lambda f, x, mode: columns(f, x).T if mode == "forward" else rows(f, x), "each tangent gives a \\*column"),
        (lambda f, x, mode: columns(f, x) if mode == "forward" else rows(f, x).T, "each seed gives a \\*row"),
        (lambda f, x, mode: np.sum(rows(f, x), axis=0), "That's the gradient"),
        (
            lambda f, x, mode: np.stack([ad.vjp(f, x)[1](seed) for seed in np.eye(len(x))]),
            "how many does `f` return|How many does `f` return",
        ),
        (
            lambda f, x, mode: np.stack([ad.jvp(f, (x,), (t,))[0] for t in np.eye(len(x))], axis=1),
            "You stacked the values",
        ),
        (
            lambda f, x, mode: np.stack([ad.jvp(f, (x,), (t,))[1] for t in np.eye(len(f(x)))], axis=1),
            "as `f` has \\*inputs",
        ),
        (lambda f, x, mode: ad.jacobian(f)(x), "leaves to you"),
        (by_tape, "That is `tape.jacobian`"),
        (lambda f, x, mode: columns(f, x), "with mode='reverse', build them from seeds"),
        (lambda f, x, mode: rows(f, x), "with mode='forward', build them from tangents"),
        (lambda f, x, mode: np.stack([(f(x + v) - f(x - v)) / 2e-6 for v in 1e-6 * np.eye(len(x))], 1), "from seeds"),
        (lambda f, x, mode: np.stack([ad.vjp(f, x)(seed) for seed in np.eye(len(f(x)))]), "returns two things"),
        (lambda f, x, mode: np.stack([ad.vjp(f, (x,))[1](s) for s in np.eye(len(f(x)))]), "takes `x` itself; only"),
        (lambda f, x, mode: -build(f, x, mode), "is right, and yours is"),
        (lambda f, x, mode: None, "returns None"),
        (lambda f, x, mode: ..., "three dots"),
        (1.0, "without calling it"),
    ],
    2: [
        ({**BEGIN, "a": "input"}, "a 1000×1000 matrix"),
        ({**BEGIN, "a": "middle"}, "is an end"),
        ({**BEGIN, "b": "output"}, "a 500×500 matrix"),
        ({**BEGIN, "c": "output"}, "everything passes through 2"),
        ({**BEGIN, "c": "same"}, "a third bracket"),
        ({**BEGIN, "d": "output"}, "columns are there from the input"),
        ({**BEGIN, "d": "middle"}, "the widest place"),
        ({**BEGIN, "work": 27_360_000}, "from one of its ends"),
        ({**BEGIN, "work": 360_000}, "with each other"),
        ({**BEGIN, "work": 270_000}, "needs three products"),
        ({**BEGIN, "work": ...}, "Still missing: work|`work` is still missing"),
        ("output", "I need a dict"),
    ],
    3: [
        ({**LEVEL, "divisor": 1}, "how the middle height changes with its own screw"),
        ({**LEVEL, "divisor": 0.4}, "for an outer screw"),
        ({**LEVEL, "divisor": -1.2}, "lifts its own place"),
        ({**LEVEL, "divisor": 0.2}, "Which is more"),
        ({**LEVEL, "divisor": 2.2}, "pressed \\*down"),
        ({**LEVEL, "half": "yes"}, "Half a step goes the same way"),
        ({**LEVEL, "positive": "yes"}, "divided by 0.2"),
        ({**LEVEL, "diagonal": "no"}, "the hundred turns"),
        ({**LEVEL, "steps": 2}, "before\\* its step"),
        ({**LEVEL, "steps": 0}, "before the first step"),
        ({**LEVEL, "steps": 7}, "with the whole Jacobian"),
        ({**LEVEL, "divisor": -5}, "how far the screw turned"),
        ({**LEVEL, "divisor": 1.6}, "two of them"),
        ({**LEVEL, "half": "perhaps"}, "`half` is `'perhaps'`"),
        (3, "I need a dict"),
    ],
}
