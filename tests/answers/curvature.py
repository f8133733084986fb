"""Answers to the exercises of curvature."""

import numpy as np

import autodiff_edu as ad


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


VERDICTS = {"a": "not there", "b": "saddle", "c": "minimum", "d": "unknown", "e": "unknown"}


def power(
    step=lambda product, v: product(v),
    scale=np.linalg.norm,
    result=lambda v, product: 2 / (v @ product(v)),
):
    """Make a power method."""

    def find_rate(product, v):
        for _ in range(200):
            v = step(product, v)
            v = v / scale(v)
        return result(v, product)

    return find_rate


def all_at_once(product, v):
    """Write the matrix down."""
    return 2 / np.linalg.eigvalsh(np.stack([product(row) for row in np.eye(len(v))]))[-1]


def shifted(product, v):
    return 100 * v - product(v)


RIGHT = {
    1: [VERDICTS, {**VERDICTS, "a": " Not there"}],
    2: [
        power(),
        power(lambda product, v: -product(v)),
        power(result=lambda v, product: 2 / np.linalg.norm(product(v))),
        all_at_once,
        lambda *args: ad.constant(power()(*args)),
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
        ({**VERDICTS, "a": "minimum"}, "Look at the rate"),
        ({**VERDICTS, "b": "minimum"}, "on both sides"),
        ({**VERDICTS, "b": "unknown"}, "falls along the other"),
        ({**VERDICTS, "c": "unknown"}, "of all was found"),
        ({**VERDICTS, "d": "minimum"}, "there are a thousand"),
        ({**VERDICTS, "d": "not there"}, "up to rounding"),
        ({**VERDICTS, "e": "minimum"}, "x² − y⁴"),
        ({**VERDICTS, "e": "saddle"}, "not below it"),
        ({**VERDICTS, "d": "yes"}, "`d` is `'yes'`"),
        ("saddle", "I need a dict"),
    ],
    2: [
        (power(result=lambda v, product: 1 / (v @ product(v))), "the factor along the steepest direction is 0"),
        (power(result=lambda v, product: v @ product(v)), "the highest curvature"),
        (power(result=lambda v, product: v @ product(v) / 2), "grows with the curvature"),
        (
            lambda product, v: 2 / np.linalg.eigvalsh(np.stack([product(row) for row in np.eye(len(v))]))[0],
            r"curves \*least\*",
        ),
        (
            lambda product, v: 1 / np.linalg.eigvalsh(np.stack([product(row) for row in np.eye(len(v))]))[0],
            "the lowest curvature",
        ),
        (power(shifted), "the largest rate is"),
        (power(scale=lambda v: 1.0), "grows in each turn"),
        (power(scale=lambda v: np.linalg.norm(v) ** 2), "not by its square"),
        (power(lambda product, v: v), "stays as it began"),
        (power(lambda product, v: product(v) / np.linalg.norm(v), scale=lambda v: 1.0), "before it was multiplied"),
        (power(result=lambda v, product: v), "That.s the direction"),
        (power(scale=lambda v: np.max(np.abs(v))), "its length isn't 1"),
        (lambda product, v: 0.1, "the largest rate is"),
        (lambda product, v: None, "returns None"),
        (lambda product, v: ..., "three dots"),
        (lambda v: v, "raised TypeError"),
        (0.8, "without calling it"),
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
