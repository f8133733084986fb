"""Answers to the exercises of chapter 12."""

import numpy as np

import autodiff_edu as ad


def nested(order):
    """Make an answer to 12.1 that takes a derivative of this order."""

    def derivative(f, x, left=order):
        if left == 0:
            return f(x)
        with ad.GradientTape() as tape:
            tape.watch(x)
            y = derivative(f, x, left - 1)
        return tape.gradient(y, x)

    return derivative


def one_persistent_tape(f, x):
    with ad.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        for _ in range(3):
            y = tape.gradient(y, x)
    return y


def too_late(f, x):
    with ad.GradientTape() as tape_3:
        tape_3.watch(x)
        with ad.GradientTape() as tape_2:
            tape_2.watch(x)
            with ad.GradientTape() as tape_1:
                tape_1.watch(x)
                y = f(x)
            first = tape_1.gradient(y, x)
    second = tape_2.gradient(first, x)
    return tape_3.gradient(second, x)


def too_late_twice(f, x):
    with ad.GradientTape() as tape_3:
        tape_3.watch(x)
        with ad.GradientTape() as tape_2:
            tape_2.watch(x)
            with ad.GradientTape() as tape_1:
                tape_1.watch(x)
                y = f(x)
        first = tape_1.gradient(y, x)
        second = tape_2.gradient(first, x)
    return tape_3.gradient(second, x)


def unwatched(f, x):
    with ad.GradientTape() as tape_3, ad.GradientTape() as tape_2:
        with ad.GradientTape() as tape_1:
            tape_1.watch(x)
            tape_2.watch(x)
            y = f(x)
        first = tape_1.gradient(y, x)
        second = tape_2.gradient(first, x)
    return tape_3.gradient(second, x)


def regularised(loss, watched="error", order=(0, 1)):
    """Make an answer to 9.2 whose loss is made of the error and the input gradient as `loss` says."""

    def gradients(layer, x, wanted):
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                inner.watch(x)
                output = layer(x)
                error = np.mean((output - wanted) ** 2)
            by_x = inner.gradient({"error": error, "output": output}[watched], x)
            total = loss(error, by_x)
        pair = outer.gradient(total, [layer.kernel, layer.bias])
        return [pair[k] for k in order]

    return gradients


def before_the_outer_tape(layer, x, wanted):
    with ad.GradientTape() as inner:
        inner.watch(x)
        error = np.mean((layer(x) - wanted) ** 2)
    by_x = inner.gradient(error, x)
    with ad.GradientTape() as outer:
        loss = np.mean((layer(x) - wanted) ** 2) + 0.5 * np.sum(by_x**2)
    return outer.gradient(loss, [layer.kernel, layer.bias])


def after_the_outer_tape(layer, x, wanted):
    with ad.GradientTape() as outer, ad.GradientTape() as inner:
        inner.watch(x)
        error = np.mean((layer(x) - wanted) ** 2)
    by_x = inner.gradient(error, x)
    return outer.gradient(error + 0.5 * np.sum(by_x**2), [layer.kernel, layer.bias])


def penalty(of_gradient):
    """Make an answer to 9.3 that computes the penalty from the input gradient as `of_gradient` says."""

    def answer(critic, x):
        with ad.GradientTape() as tape:
            tape.watch(x)
            rating = critic(x)
        return of_gradient(tape.gradient(rating, x))

    return answer


def rows(by_x):
    return np.linalg.norm(by_x, axis=1)


RIGHT = {
    "12.1": [nested(3)],
    "12.2": [
        regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2)),
        lambda *args: tuple(regularised(lambda error, by_x: error + np.sum(by_x * by_x) / 2)(*args)),
    ],
    "12.3": [
        penalty(lambda by_x: np.mean((rows(by_x) - 1) ** 2)),
        penalty(lambda by_x: np.mean((np.sqrt(np.sum(by_x**2, axis=1)) - 1.0) ** 2)),
    ],
}

WRONG = {
    "12.1": [
        (nested(0), "this is the value"),
        (nested(1), "this is the first derivative"),
        (nested(2), "this is the second derivative"),
        (nested(4), "One tape fewer"),
        (too_late, "after the tape around it"),
        (too_late_twice, "asked for the gradient of None"),
        (unwatched, "2 of them did"),
        (one_persistent_tape, "one persistent tape"),
        (lambda f, x: ..., "three dots"),
        (lambda f, x: None, "ask its tapes"),
        (lambda f, x: "x", "I need one number"),
        (lambda f, x: -nested(3)(f, x), "the gradient from the tape inside it"),
        (6.0, "without calling it"),
    ],
    "12.2": [
        (before_the_outer_tape, "the error alone"),
        (after_the_outer_tape, "A gradient is None"),
        (regularised(lambda error, by_x: error), "the error alone"),
        (regularised(lambda error, by_x: 0.5 * np.sum(by_x**2)), "the term alone"),
        (regularised(lambda error, by_x: error + np.sum(by_x**2)), "counts half"),
        (regularised(lambda error, by_x: error + 0.5 * np.linalg.norm(by_x)), "without the root"),
        (regularised(lambda error, by_x: error + 0.5 * np.mean(by_x**2)), "the mean of the squares"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x)), "Square its elements"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2), "output"), "gradient of the error"),
        (regularised(lambda error, by_x: error + 0.5 * np.sum(by_x**2), order=(1, 0)), "changed places"),
        (regularised(lambda error, by_x: error + 2 * np.sum(by_x**2)), "central differences give"),
        (regularised(lambda error, by_x: error, order=(0, 0)), "its source's shape"),
        (lambda layer, x, wanted: ..., "three dots"),
        (lambda layer, x, wanted: (..., ...), "three dots"),
        (lambda layer, x, wanted: None, "gives None"),
        (lambda layer, x, wanted: 3.0, "I need two gradients"),
        (lambda layer, x: 3.0, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    "12.3": [
        (penalty(lambda by_x: (np.linalg.norm(by_x) - 1) ** 2), "for all samples together"),
        (penalty(lambda by_x: np.mean((np.linalg.norm(by_x, axis=0) - 1) ** 2)), "axis=0"),
        (penalty(lambda by_x: np.mean(rows(by_x) ** 2)), "draws the norms to 0"),
        (penalty(lambda by_x: np.mean(rows(by_x) - 1)), "cancel out"),
        (penalty(lambda by_x: np.mean(np.abs(rows(by_x) - 1))), "the size of norm - 1"),
        (penalty(lambda by_x: np.sum((rows(by_x) - 1) ** 2)), "sum over the samples"),
        (penalty(lambda by_x: (np.mean(rows(by_x)) - 1) ** 2), "before the square"),
        (penalty(lambda by_x: np.mean((np.sum(by_x**2, axis=1) - 1) ** 2)), "without the root"),
        (penalty(lambda by_x: np.mean((by_x - 1) ** 2)), "each element"),
        (penalty(lambda by_x: (rows(by_x) - 1) ** 2), "has the shape (5,)"),
        (penalty(lambda by_x: float(np.mean((rows(by_x) - 1) ** 2))), "Keep it a tensor"),
        (penalty(lambda by_x: np.mean((ad.stop_gradient(rows(by_x)) - 1) ** 2)), "Keep it a tensor"),
        (penalty(lambda by_x: np.mean((rows(by_x) - 1) * ad.stop_gradient(rows(by_x) - 1))), "its gradient is not"),
        (penalty(lambda by_x: 7.0), "In this order"),
        (penalty(lambda by_x: None), "the penalty is None"),
        (lambda critic, x: ..., "three dots"),
        (3.0, "without calling it"),
    ],
}
