"""Answers to the exercises of hessian-and-newton."""

import numpy as np

import autodiff_edu as ad


def nested(second, inside=True):
    """Make a Hessian by two tapes, whose outer one ends with `second(tape, gradient, x)`."""

    def hessian(f, x):
        x = ad.constant(x)
        with ad.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with ad.GradientTape(persistent=True) as inner:
                inner.watch(x)
                y = f(x)
            gradient = inner.gradient(y, x) if inside else None
        return second(outer, gradient if inside else inner.gradient(y, x), x)

    return hessian


def watched_by_the_outer_tape_only(f, x):
    x = ad.constant(x)
    with ad.GradientTape() as outer:
        outer.watch(x)
        with ad.GradientTape() as inner:
            y = f(x)
        gradient = inner.gradient(y, x)
    return outer.jacobian(gradient, x)


by_tapes = nested(lambda tape, g, x: tape.jacobian(g, x))
another_name = ad.hessian


def by_products(f, x):
    return np.stack([ad.hvp(f, (x,), (row,)).numpy() for row in np.eye(x.size)])


def by_differences(f, x):
    slope, h = ad.grad(f), 1e-4
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    return np.stack([(slope(x + step).numpy() - slope(x).numpy()) / h for step in steps], axis=-1)


def by_differences_of_values(f, x):
    h, steps = 1e-3, np.eye(x.size).reshape(x.size, *x.shape) * 1e-3
    rows = [[(f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * h * h) for b in steps] for a in steps]
    return np.reshape(rows, x.shape + x.shape)


def watched_by_the_inner_tape_only(f, x):
    x = ad.constant(x)
    with ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        gradient = inner.gradient(y, x)
    return outer.jacobian(gradient, x)


def flattened(f, x):
    return np.reshape(by_tapes(f, x), (x.size, x.size))


def turned(f, x):
    hessian = by_tapes(f, x).numpy()
    return hessian if x.ndim == 1 else hessian.transpose(0, 1, 3, 2)


def halving(enough, factor=0.5, shorter=None):
    """Make a backtracking that stops when `enough(f, x, fall, step, t)`."""

    def backtrack(f, x, gradient, step):
        t = 1.0
        while not enough(f, x, gradient @ step, step, t):
            t = shorter(t) if shorter else t * factor
        return t

    return backtrack


def armijo(f, x, fall, step, t):
    return f(x + t * step) <= f(x) + 0.1 * t * fall


def trying(point, enough=lambda f, x, fall, t, tried: f(tried) <= f(x) + 0.1 * t * fall):
    """Make a backtracking that tries `point(x, gradient, step, t)`."""

    def backtrack(f, x, gradient, step):
        t = 1.0
        while not enough(f, x, gradient @ step, t, point(x, gradient, step, t)):
            t = t / 2
        return t

    return backtrack


def halving_both(f, x, gradient, step):
    t = 1.0
    while f(x + step) > f(x) + 0.1 * t * (gradient @ step):
        t, step = t / 2, step / 2
    return t


def halving_in_place(f, x, gradient, step):
    t = 1.0
    while f(x + step) > f(x) + 0.1 * (gradient @ step):
        t, step[:] = t / 2, step / 2
    return t


def halving_the_step_alone(f, x, gradient, step):
    while f(x + step) > f(x) + 0.1 * (gradient @ step):
        step = step / 2
    return 1.0


def moving(f, x, gradient, step):
    t = 1.0
    while f(x + t * step) > f(x) + 0.1 * t * (gradient @ step):
        t = t / 2
        x = x + t * step
    return t


def by_norms(f, x, gradient, step):
    t = 1.0
    while f(x + t * step) > f(x) + 0.1 * t * np.linalg.norm(gradient) * np.linalg.norm(step):
        t = t / 2
    return t


def once(f, x, gradient, step):
    return 1.0 if armijo(f, x, gradient @ step, step, 1.0) else 0.5


def by_products_of_elements(f, x, gradient, step):
    t = 1.0
    while f(x + t * step) > f(x) + 0.1 * t * (gradient * step):
        t = t / 2
    return t


def by_powers(f, x, gradient, step):
    return next(2.0**-k for k in range(60) if armijo(f, x, np.sum(gradient * step), step, 2.0**-k))


def in_float32(f, x, gradient, step):
    return np.float32(halving(armijo)(f, x, gradient, step))


def right_length(missing, direction, q):
    return (missing @ direction) / (direction @ q)


def right_share(missing, left, direction, q):
    return -(left @ q) / (direction @ q)


def walk(length_of=right_length, share_of=right_share, turns=1, sign=1):
    """Make conjugate gradients with the given formulas, and `turns` times as many turns as there are rows."""

    def solve(product, b):
        s, missing, direction = np.zeros_like(b), b, b
        for _ in range(turns * len(b)):
            if np.linalg.norm(missing) < 1e-12:
                break
            q = product(direction)
            length = length_of(missing, direction, q)
            s = s + length * direction
            left = missing - length * q
            direction = left + share_of(missing, left, direction, q) * direction
            missing = left
        return sign * s

    return solve


def template(product, b):
    q = product(b)
    length = ...
    return length * q


def by_columns(product, b):
    return np.linalg.solve(np.stack([product(row) for row in np.eye(len(b))], axis=1), b)


def without_products(product, b):
    rng = np.random.default_rng(1952)
    rotation, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    return np.linalg.solve(rotation @ np.diag([1.0, 2.0, 4.0, 7.0, 11.0]) @ rotation.T, b)


def in_one_product(product, b):
    return np.linalg.solve(product(np.eye(len(b))), b)


def along_other_directions(product, b):
    directions = np.tril(np.ones((len(b), len(b)))) + np.eye(len(b))[::-1]
    return np.linalg.solve(np.stack([product(row) for row in directions]), directions @ b)


def endless(product, b):
    while True:
        product(b)


RIGHT = {
    1: [
        halving(armijo),
        by_powers,
        in_float32,
        halving_in_place,
        lambda *args: ad.constant(halving(armijo)(*args)),
        lambda *args: np.array([halving(armijo)(*args)]),
    ],
    2: [
        by_tapes,
        lambda f, x: ad.jacobian(ad.grad(f))(x),
        lambda f, x: by_tapes(f, x).numpy().tolist(),
        lambda f, x: by_tapes(f, x.astype(np.float32)),
    ],
    3: [
        walk(),
        walk(
            lambda missing, direction, q: (missing @ missing) / (direction @ q),
            lambda missing, left, direction, q: (left @ left) / (missing @ missing),
        ),
    ],
}

WRONG = {
    1: [
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= f(x)), "doesn.t rise"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) < f(x)), "height is lower"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= f(x) + 0.1 * fall), "however short the part"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= f(x) - 0.1 * t * fall), "don.t subtract"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= f(x) + t * fall), "all that the slope promises"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= f(x) + 0.5 * t * fall), "half of what the slope"),
        (halving(lambda f, x, fall, step, t: not armijo(f, x, fall, step, t)), "Turn its condition round"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= -1e9), "your loop never ends"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= 0.9 * f(x)), "the rule gives"),
        (lambda *args: [halving(armijo)(*args)], r"your t is \[0.125\] and the rule gives 0.125"),
        (lambda *args: {"t": halving(armijo)(*args)}, "your t is {'t': 0.125} and the rule gives 0.125"),
        (lambda *args: halving(armijo)(*args) * (1 + 5e-6), "is 0.125001 and the rule gives 0.125"),
        (trying(lambda x, gradient, step, t: x - t * step), "add it"),
        (trying(lambda x, gradient, step, t: x + step), "the whole step again and again"),
        (
            lambda f, x, gradient, step: halving(armijo)(f, x, gradient, -gradient),
            "a step along the gradient",
        ),
        (
            lambda f, x, g, step: halving(lambda f, x, _, s, t: f(x + t * s) <= f(x) - 0.1 * t * (g @ g))(
                f, x, g, step
            ),
            "Along `step` it is",
        ),
        (halving_both, "shorten the promise twice"),
        (once, "`while`, not `if`"),
        (by_products_of_elements, "The promise is one number"),
        (halving(armijo, shorter=lambda t: t // 2), "`//` rounds down"),
        (halving(armijo, shorter=lambda t: t - 0.5), "You subtract 0.5"),
        (halving(lambda f, x, fall, step, t: armijo(f, x, t * fall, t * step, t)), "You shorten twice"),
        (by_norms, "two lengths"),
        (lambda *args: halving(armijo)(*args) / 2, "the half of the first"),
        (lambda *args: -np.log2(halving(armijo)(*args)), "how many times"),
        (lambda f, x, g, step: x + step * halving(armijo)(f, x, g, step), "number t alone"),
        (halving(armijo, 0.1), "Try the half"),
        (halving(armijo, 0.25), "a quarter of the step"),
        (lambda *args: min(halving(armijo)(*args), 0.5), "Try the whole of it first"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= f(x) - 0.1 * t * (step @ step)), "what step @ step"),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= f(x) + 0.1 * t), "lies above f(x)"),
        (
            trying(
                lambda x, gradient, step, t: (x + t * step, np.linalg.norm(gradient)),
                lambda f, x, fall, t, tried: f(tried[0]) <= f(x) + 0.1 * t * tried[1],
            ),
            "lies above f(x)",
        ),
        (halving(lambda f, x, fall, step, t: f(x + t * step) <= f(x) - 0.1), "a drop of 0.1"),
        (moving, "You move x in the loop"),
        (halving_the_step_alone, "t is still 1"),
        (lambda f, x, gradient, step: "a", "one number"),
        (lambda f, x, gradient, step: 1.0, "always 1"),
        (lambda f, x, gradient, step: 0.3, "the rule gives"),
        (lambda f, x, gradient, step: step * halving(armijo)(f, x, gradient, step), "number t alone"),
        (lambda f, x, gradient, step: None, "returns None"),
        (lambda f, x: 1.0, "raised TypeError"),
        (0.5, "without calling it"),
    ],
    2: [
        (nested(lambda tape, g, x: tape.gradient(g, x)), "adds up the rows"),
        (lambda f, x: ad.hessian(f)(x), "`ad.hessian`, which this exercise leaves to you"),
        (lambda f, x: another_name(f)(x), "`ad.hessian`, which this exercise leaves to you"),
        (lambda f, x: ad.hessian(lambda y: f(y))(x), "`ad.hessian`, which this exercise leaves to you"),
        (by_products, "`ad.hvp`, which this exercise leaves to you"),
        (nested(lambda tape, g, x: tape.jacobian(g, x), inside=False), "inside the outer tape"),
        (nested(lambda tape, g, x: g), "That is the gradient"),
        (nested(lambda tape, g, x: tape.jacobian(g.numpy(), x)), "Leave the gradient a tensor"),
        (watched_by_the_outer_tape_only, "Does the inner tape watch x"),
        (lambda f, x: np.diag(by_tapes(f, x).numpy()), "the diagonal alone"),
        (lambda f, x: np.diag(np.diag(by_tapes(f, x).numpy())), "zeros beside it"),
        (lambda f, x: np.outer(ad.grad(f)(x).numpy(), ad.grad(f)(x).numpy()), "gradient times itself"),
        (lambda f, x: -by_tapes(f, x), "wrong sign"),
        (watched_by_the_inner_tape_only, "Is x watched by both tapes"),
        (by_differences_of_values, "a finite difference is not"),
        (by_differences, "a finite difference is not"),
        (flattened, "(2, 2, 2, 2)"),
        (turned, "not where they belong"),
        (lambda f, x: 2 * by_tapes(f, x), "by hand it is \\[\\[1.5, 0.5, -1.25\\]"),
        (lambda f, x: f(x), "has the shape ()"),
        (lambda f, x: ..., "three dots"),
        (lambda f, x: [[...]], "three dots"),
        (lambda f, x: "no", "an array of numbers"),
        (lambda f: f, "raised TypeError"),
        (np.eye(2), "without calling it"),
    ],
    3: [
        (template, "three dots"),
        (walk(share_of=lambda missing, left, direction, q: 0.0), "gradient descent"),
        (walk(share_of=lambda missing, left, direction, q: (left @ q) / (direction @ q)), "wrong sign"),
        (walk(share_of=lambda missing, left, direction, q: (missing @ missing) / (left @ left)), "upside down"),
        (walk(share_of=lambda missing, left, direction, q: 1.0), "share of 1"),
        (walk(lambda missing, direction, q: (missing @ direction) / (direction @ direction)), "divide by direction"),
        (walk(lambda missing, direction, q: (direction @ q) / (missing @ direction)), "`length` is upside down"),
        (walk(lambda missing, direction, q: 1.0), "A length of 1"),
        (walk(share_of=lambda missing, left, direction, q: -(left @ direction) / (direction @ q)), "is 0, too"),
        (
            walk(share_of=lambda missing, left, direction, q: -(missing @ q) / (direction @ q)),
            "Its equation has `left`",
        ),
        (walk(share_of=lambda missing, left, direction, q: -(left @ q) / (direction @ direction)), "In `share` you"),
        (
            walk(share_of=lambda missing, left, direction, q: np.linalg.norm(left) / np.linalg.norm(missing)),
            "ratio of lengths",
        ),
        (walk(lambda missing, direction, q: (missing @ q) / (q @ q)), "you multiply by `along`"),
        (walk(lambda missing, direction, q: -(missing @ direction) / (direction @ q)), "`length` has the wrong sign"),
        (walk(lambda missing, direction, q: missing * direction / (direction * q)), "should be one number"),
        (walk(lambda missing, direction, q: 0.5), "still differs from b"),
        (walk(share_of=lambda missing, left, direction, q: 0.0, turns=35), "but after"),
        (walk(lambda missing, direction, q: (missing @ q) / (direction @ q)), "comes out as 1"),
        (walk(share_of=lambda missing, left, direction, q: -(left @ q) / (left @ q)), "Your `share` comes out as -1"),
        (walk(share_of=lambda missing, left, direction, q: -left / direction), "write the dots of the equations"),
        (walk(share_of=lambda missing, left, direction, q: -(left @ q) / (q @ q)), "by along · along"),
        (walk(share_of=lambda missing, left, direction, q: -(direction @ q) / (left @ q)), "`share` is upside down"),
        (walk(share_of=lambda missing, left, direction, q: -(left @ q)), "isn't divided by anything"),
        (walk(share_of=lambda missing, left, direction, q: -(left @ left) / (missing @ missing)), "these two squares"),
        (
            walk(lambda *three: -right_length(*three), lambda *four: -right_share(*four)),
            "Both have the wrong sign",
        ),
        (
            walk(
                lambda missing, direction, q: (missing @ direction) / (direction @ direction),
                lambda missing, left, direction, q: -(left @ q) / (direction @ direction),
            ),
            "In `length` you divide",
        ),
        (walk(sign=-1), "solves H s = −b"),
        (walk(lambda missing, direction, q: np.nan), "not finite"),
        (by_columns, "unit vectors"),
        (in_one_product, "takes a vector"),
        (along_other_directions, "by another way"),
        (without_products, "never asked"),
        (endless, "After 200 products"),
        (lambda product, b: product(b)[:2], "yours has the shape (2,)"),
        (lambda product, b: None, "returns None"),
        (lambda b: b, "raised TypeError"),
    ],
}
