"""Answers to the exercises of hessian-and-newton."""

import numpy as np

import autodiff_edu as ad


def solved(gradient, hessian, damping):
    return np.linalg.solve(hessian + damping * np.eye(gradient.size), -gradient)


def good(change, promise):
    return promise < 0 and change <= 0.1 * promise


def searching(enough=good, solve=solved, first=1e-3, grow=lambda damping: damping * 10):
    """Make a search that grows the damping until `enough(change, promise)`."""

    def damp(f, x, gradient, hessian):
        damping = first
        while damping < 1e7:
            step = solve(gradient, hessian, damping)
            if enough(f(x + step) - f(x), gradient @ step):
                return step
            damping = grow(damping)
        return 0 * x

    return damp


def by_eigenvalues(f, x, gradient, hessian):
    values, vectors = np.linalg.eigh(hessian)
    for power in range(-3, 20):
        step = -vectors @ ((vectors.T @ gradient) / (values + 10.0**power))
        if np.sum(gradient * step) < 0.0 and f(x + step) <= f(x) + np.sum(gradient * step) / 10:
            return step
    return None


def on_a_copy(f, x, gradient, hessian):
    damping = 1e-3
    while True:
        damped = hessian.copy()
        damped[np.diag_indices(len(x))] += damping
        step = np.linalg.inv(damped) @ -gradient
        if gradient @ step < 0 and f(x + step) - f(x) <= 0.1 * gradient @ step:
            return list(step)
        damping *= 10


def in_place(f, x, gradient, hessian):
    """Add to the matrix itself: the dampings add up."""
    damping = 1e-3
    for _ in range(12):
        hessian += damping * np.eye(len(x))
        step = np.linalg.solve(hessian, -gradient)
        if good(f(x + step) - f(x), gradient @ step):
            return step
        damping *= 10
    return 0 * x


def halving(f, x, gradient, hessian):
    step, t = solved(gradient, hessian, 1e-3), 1.0
    while t > 1e-12 and not good(f(x + t * step) - f(x), t * (gradient @ step)):
        t /= 2
    return t * step


def endless(f, x, gradient, hessian):
    while True:
        step = solved(gradient, hessian, 1e-3)
        if f(x + step) < f(x) + 0.1 * (gradient @ step) and gradient @ step < 0:
            return step


def nested(second, inside=True, sources="wx", watched=True):
    """Make second derivatives by two tapes, whose outer one ends with `second(tape, gradient, source)`."""

    def cross(f, w, x):
        w, x = ad.constant(w), ad.constant(x)
        first, then = ({"w": w, "x": x}[name] for name in sources)
        with ad.GradientTape(persistent=True) as outer:
            if watched:
                outer.watch(then)
            with ad.GradientTape(persistent=True) as inner:
                inner.watch(first)
                y = f(w, x)
            gradient = inner.gradient(y, first) if inside else None
        return second(outer, gradient if inside else inner.gradient(y, first), then)

    return cross


by_tapes = nested(lambda tape, g, x: tape.jacobian(g, x))


def by_rows(f, w, x):
    """Pull back one seed for each number of the gradient."""
    w, x = ad.constant(w), ad.constant(x)
    with ad.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with ad.GradientTape() as inner:
            inner.watch(w)
            y = f(w, x)
        gradient = inner.gradient(y, w)
    rows = [outer.gradient(gradient, x, output_gradients=row.reshape(w.shape)).numpy() for row in np.eye(w.size)]
    return np.reshape(rows, w.shape + x.shape)


def by_the_hessian_of_both(f, w, x):
    blocks = ad.hessian(lambda both: f(both["w"], both["x"]))({"w": w, "x": x}).matrix()
    return blocks[: w.size, w.size :].reshape(w.shape + x.shape)


def by_differences(f, w, x):
    h, steps = 1e-5, 1e-5 * np.eye(x.size).reshape(x.size, *x.shape)

    def slope(x):
        return ad.grad(lambda w: f(w, x))(w).numpy()

    return np.reshape(np.transpose([(slope(x + s) - slope(x - s)) / (2 * h) for s in steps]), w.shape + x.shape)


def watched_by_the_outer_tape_only(f, w, x):
    w, x = ad.constant(w), ad.constant(x)
    with ad.GradientTape() as outer:
        outer.watch([w, x])
        with ad.GradientTape() as inner:
            y = f(w, x)
        gradient = inner.gradient(y, w)
    return outer.jacobian(gradient, x)


def not_returned(f, w, x):
    by_tapes(f, w, x)


JUDGED = {"a": "take", "b": "turn", "c": "halve", "d": "damp"}

RIGHT = {
    1: [
        searching(),
        by_eigenvalues,
        on_a_copy,
        lambda *args: np.float32(searching()(*args)),
        lambda *args: ad.constant(searching()(*args)),
    ],
    2: [
        by_tapes,
        by_rows,
        by_the_hessian_of_both,
        lambda f, w, x: ad.jacobian(lambda x: ad.grad(lambda w: f(w, x))(w))(x),
        lambda f, w, x: by_tapes(f, w, x).numpy().tolist(),
    ],
    3: [JUDGED, {**JUDGED, "a": " Take "}],
}

WRONG = {
    1: [
        (lambda f, x, gradient, hessian: solved(gradient, hessian, 1e-3), "untried. Return it only"),
        (lambda f, x, gradient, hessian: solved(gradient, hessian, 0.0), "The first is 0.001"),
        (searching(lambda change, promise: change <= 0.1 * promise), "allows the function to rise"),
        (searching(lambda change, promise: promise < 0), "Ask for f at"),
        (searching(lambda change, promise: promise < 0 and change < 0), "as soon as the function falls"),
        (searching(lambda change, promise: change < 0), "as soon as the function falls"),
        (searching(lambda change, promise: promise < 0 and change <= promise), "all that the slope promises"),
        (searching(lambda change, promise: promise < 0 and change <= promise / 2), "half of what the slope"),
        (searching(lambda change, promise: promise < 0 and change <= -0.1 * promise), "don.t subtract"),
        (searching(lambda change, promise: promise < 0 and change > 0.1 * promise), "Turn the condition round"),
        (searching(lambda change, promise: promise > 0 and change <= 0.1 * promise), r"is \*below\* 0"),
        (searching(solve=lambda g, h, damping: np.linalg.solve(h + damping, -g)), "Only the diagonal"),
        (searching(solve=lambda g, h, damping: solved(g, h, -damping)), "You subtract the damping"),
        (searching(solve=lambda g, h, damping: solved(-g, h, damping)), "the wrong sign"),
        (searching(solve=lambda g, h, damping: -g / damping), "The Hessian is missing"),
        (searching(solve=lambda g, h, damping: -g / (np.diag(h) + damping)), "the diagonal alone"),
        (searching(solve=lambda g, h, damping: (h + damping * np.eye(g.size)) @ -g), r"The step \*solves\*"),
        (searching(solve=lambda g, h, damping: solved(g, np.abs(h), damping)), "and the rule gives"),
        (searching(first=0.0, grow=lambda damping: damping * 10 or 1e-3), "The first is 0.001"),
        (searching(grow=lambda damping: damping * 2), "double the damping"),
        (searching(first=1.0), "the step with damping 1, and the rule gives the one with 0.001"),
        (searching(first=1e6), "Begin with 0.001"),
        (in_place, "and the rule gives"),
        (halving, "leave its damping"),
        (endless, "I stop after 500"),
        (lambda f, x, g, h: searching()(f, x, g, h) if g @ solved(g, h, 1e-3) < 0 else 0 * x, "More damping turns it"),
        (lambda f, x, g, h: x + searching()(f, x, g, h), "Return the step"),
        (lambda f, x, g, h: 0 * x, "You return no step"),
        (lambda f, x, g, h: None, "Is a `return` missing, or"),
        (searching(lambda change, promise: promise < 0 or change <= 0.1 * promise), "`and`, not `or`"),
        (lambda f, x, g, h: ..., "three dots"),
        (lambda f, x: x, "raised TypeError"),
        (0.5, "without calling it"),
    ],
    2: [
        (nested(lambda tape, g, w: tape.jacobian(g, w), sources="xw"), "two sources are exchanged"),
        (nested(lambda tape, g, w: tape.jacobian(g, w), sources="ww"), r"as \*w\* does"),
        (nested(lambda tape, g, x: tape.jacobian(g, x), sources="xx"), "the Hessian with respect to x"),
        (nested(lambda tape, g, x: g), "Ask the outer tape for its Jacobian"),
        (nested(lambda tape, g, x: g, sources="xx"), "a first derivative"),
        (nested(lambda tape, g, x: tape.gradient(g, x)), "adds their slopes up"),
        (nested(lambda tape, g, x: tape.jacobian(g, x), inside=False), "inside the outer tape"),
        (nested(lambda tape, g, x: tape.jacobian(g, x), watched=False), "Does the outer tape watch x"),
        (nested(lambda tape, g, x: tape.jacobian(g.numpy(), x)), "Leave the gradient a tensor"),
        (watched_by_the_outer_tape_only, "Does the inner tape watch w"),
        (not_returned, "Is a `return` missing"),
        (lambda f, w, x: np.diag(np.diag(by_tapes(f, w, x).numpy())), "zeros beside it"),
        (
            lambda f, w, x: np.outer(ad.grad(lambda w: f(w, x))(w).numpy(), ad.grad(lambda x: f(w, x))(x).numpy()),
            "one gradient times the other",
        ),
        (lambda f, w, x: -by_tapes(f, w, x), "wrong sign"),
        (lambda f, w, x: 2 * by_tapes(f, w, x), "it should be"),
        (lambda f, w, x: np.reshape(by_tapes(f, w, x), (w.size, x.size)), r"should be \(2, 4, 2\)"),
        (by_differences, "a finite difference is not"),
        (lambda f, w, x: by_tapes(lambda w, x: f(x, w), w, x), "Its first argument is w"),
        (lambda f, w, x: ..., "three dots"),
        (lambda f, w, x: "no", "an array of numbers"),
        (lambda f, w, x: f, "an array of numbers"),
        (lambda f, x: x, "raised TypeError"),
        (np.eye(2), "without calling it"),
    ],
    3: [
        ({**JUDGED, "a": "damp"}, "no curvature is near 0"),
        ({**JUDGED, "b": "take"}, "the function has risen"),
        ({**JUDGED, "b": "halve"}, "half of it lead downhill"),
        ({**JUDGED, "c": "turn"}, "points downhill"),
        ({**JUDGED, "c": "damp"}, "Which part of it"),
        ({**JUDGED, "d": "halve"}, "why is it so long"),
        ({**JUDGED, "d": "turn"}, "by more than rounding"),
        ({**JUDGED, "d": "leave"}, "`d` is `'leave'`"),
        ({**JUDGED, "d": ...}, "Still missing: d|`d` is still missing"),
        ("damp", "I need a dict"),
    ],
}
