"""Answers to the exercises of chapter 15."""

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


def along(second, inside=True):
    """Make a product, whose outer tape ends with `second(tape, gradient, x, v)`."""
    return lambda f, x, v: nested(lambda tape, g, x: second(tape, g, x, v), inside)(f, x)


def slope_first(f, x, v):
    x = ad.constant(x)
    with ad.GradientTape() as outer:
        outer.watch(x)
        slope = np.sum(ad.grad(f)(x) * v)
    return outer.gradient(slope, x)


def differences(f, x, v):
    slope = ad.grad(f)
    return (slope(x + 1e-4 * v) - slope(x)) / 1e-4


def by_differences(f, x):
    slope, h = ad.grad(f), 1e-4
    steps = h * np.eye(x.size).reshape(x.size, *x.shape)
    return np.stack([(slope(x + step).numpy() - slope(x).numpy()) / h for step in steps], axis=-1)


def flattened(f, x):
    return np.reshape(ad.hessian(f)(x), (x.size, x.size))


def turned(f, x):
    hessian = ad.hessian(f)(x).numpy()
    return hessian if x.ndim == 1 else hessian.transpose(0, 1, 3, 2)


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


def endless(product, b):
    while True:
        product(b)


RIGHT = {
    "15.1": [
        nested(lambda tape, g, x: tape.jacobian(g, x)),
        lambda f, x: ad.jacobian(ad.grad(f))(x),
        lambda f, x: ad.hessian(f)(x).numpy().tolist(),
    ],
    "15.2": [
        along(lambda tape, g, x, v: tape.gradient(g, x, output_gradients=v)),
        slope_first,
        lambda f, x, v: ad.jvp(ad.grad(f), (x,), (v,))[1],
        lambda f, x, v: ad.hvp(f, (x,), (v,)),
    ],
    "15.3": [
        walk(),
        walk(
            lambda missing, direction, q: (missing @ missing) / (direction @ q),
            lambda missing, left, direction, q: (left @ left) / (missing @ missing),
        ),
    ],
}

WRONG = {
    "15.1": [
        (nested(lambda tape, g, x: tape.gradient(g, x)), "adds up the rows"),
        (nested(lambda tape, g, x: tape.jacobian(g, x), inside=False), "inside the outer tape"),
        (nested(lambda tape, g, x: g), "That is the gradient"),
        (lambda f, x: np.diag(ad.hessian(f)(x).numpy()), "the diagonal alone"),
        (lambda f, x: np.diag(np.diag(ad.hessian(f)(x).numpy())), "zeros beside it"),
        (lambda f, x: np.outer(ad.grad(f)(x).numpy(), ad.grad(f)(x).numpy()), "gradient times itself"),
        (lambda f, x: -ad.hessian(f)(x), "wrong sign"),
        (by_differences, "a finite difference is not"),
        (flattened, "(2, 2, 2, 2)"),
        (turned, "not where they belong"),
        (lambda f, x: 2 * ad.hessian(f)(x), "by hand it is"),
        (lambda f, x: f(x), "has shape ()"),
        (lambda f, x: ..., "three dots"),
        (lambda f, x: "no", "an array of numbers"),
        (lambda f: f, "raised TypeError"),
        (np.eye(2), "without calling it"),
    ],
    "15.2": [
        (along(lambda tape, g, x, v: tape.jacobian(g, x).numpy() @ v), "a stack of seeds"),
        (lambda f, x, v: ad.hessian(f)(x).numpy() @ v, "a stack of seeds"),
        (along(lambda tape, g, x, v: tape.gradient(g, x)), "Where does v come in"),
        (along(lambda tape, g, x, v: tape.gradient(g, x) * v), "at the end"),
        (along(lambda tape, g, x, v: g * v), "element by element: first"),
        (along(lambda tape, g, x, v: np.sum(g * v)), "the slope along v"),
        (along(lambda tape, g, x, v: g), "That is the gradient. "),
        (along(lambda tape, g, x, v: tape.gradient(g, x, output_gradients=v), inside=False), "gives None"),
        (lambda f, x, v: np.diag(ad.hessian(f)(x).numpy()) * v, "diagonal of the Hessian times v"),
        (lambda f, x, v: ad.hessian(f)(x), "a matrix"),
        (differences, "A finite difference"),
        (lambda f, x, v: 2 * ad.hvp(f, (x,), (v,)), "Which cotangent"),
        (lambda f, x, v: np.zeros(2), "yours has shape (2,)"),
        (lambda f, x, v: ..., "three dots"),
        (lambda f, x: x, "raised TypeError"),
        (7, "without calling it"),
    ],
    "15.3": [
        (template, "in `length` and in `share`"),
        (walk(share_of=lambda missing, left, direction, q: 0.0), "gradient descent"),
        (walk(share_of=lambda missing, left, direction, q: (left @ q) / (direction @ q)), "wrong sign"),
        (walk(share_of=lambda missing, left, direction, q: (missing @ missing) / (left @ left)), "upside down"),
        (walk(share_of=lambda missing, left, direction, q: 1.0), "share of 1"),
        (walk(lambda missing, direction, q: (missing @ direction) / (direction @ direction)), "divide by direction"),
        (walk(lambda missing, direction, q: (direction @ q) / (missing @ direction)), "`length` is upside down"),
        (walk(lambda missing, direction, q: 1.0), "A length of 1"),
        (walk(lambda missing, direction, q: 0.5), "still differs from b"),
        (walk(share_of=lambda missing, left, direction, q: 0.0, turns=35), "but after"),
        (walk(sign=-1), "solves H s = −b"),
        (walk(lambda missing, direction, q: np.nan), "not finite"),
        (by_columns, "unit vectors"),
        (without_products, "never asked"),
        (endless, "After 200 products"),
        (lambda product, b: product(b)[:2], "your result has shape (2,)"),
        (lambda product, b: None, "gives None"),
        (lambda b: b, "raised TypeError"),
    ],
}
