"""Answers to the exercises of chapter 3."""

import numpy as np

import autodiff_edu as ad


def fold(g, shape):
    g = np.sum(g, axis=tuple(range(g.ndim - len(shape))))
    return np.sum(g, axis=tuple(k for k, length in enumerate(shape) if length == 1), keepdims=True)


def fold_in_a_loop(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g


def forgets_the_left(g, shape):
    padded = (1,) * (g.ndim - len(shape)) + shape
    return g.sum(axis=tuple(k for k, length in enumerate(padded) if length == 1), keepdims=True)


def forgets_keepdims(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(k for k, length in enumerate(shape) if length == 1))


def forgets_length_one(g, shape):
    return g.sum(axis=tuple(range(g.ndim - len(shape))))


def mean(g, shape):
    folded = fold(g, shape)
    return folded * folded.size / g.size


def from_the_right(g, shape):
    if g.shape == (3, 3):
        return g.sum(axis=1)
    return fold(g, shape)


def pick(g, shape):
    g = g[(0,) * (g.ndim - len(shape))]
    return g[tuple(slice(0, 1) if length == 1 else slice(None) for length in shape)]


TABLE = {"a": 300.0, "b": 60.0, "c": 15.0, "d": 300.0, "rate": 0.001}

RIGHT = {
    "3.1": [fold, fold_in_a_loop, lambda g, shape: ad.constant(fold(g, shape))],
    "3.2": [
        lambda g, z, x, y: (g @ y.T, x.T @ g),
        lambda g, z, x, y: [np.einsum("nm,km->nk", g, y), (g.T @ x).T],
        lambda g, z, x, y: (ad.constant(g @ y.T), ad.constant(x.T @ g)),
    ],
    "3.3": [TABLE, {name: ad.constant(value) for name, value in TABLE.items()}],
}

WRONG = {
    "3.1": [
        (lambda g, shape: g, "Nothing was summed"),
        (lambda g, shape: np.sum(g), "Everything was summed"),
        (forgets_the_left, "without `keepdims`"),
        (forgets_keepdims, "with `keepdims=True`"),
        (forgets_length_one, "Nothing was summed"),
        (mean, "gives the mean"),
        (from_the_right, "sums the right axis"),
        (pick, "All of them count"),
        (lambda g, shape: fold(g, shape) + 0.5, "the sums are"),
        (lambda g, shape: np.zeros((7, 7)), "from the right"),
        (lambda g, shape: np.reshape(g, shape), "raised ValueError"),
        (lambda g, shape: ..., "three dots"),
        (lambda g, shape: None, "is None"),
        (lambda g, shape: "a", "array of numbers"),
        (lambda g: g, "raised TypeError"),
        (np.ones(3), "without calling it"),
    ],
    "3.2": [
        (lambda g, z, x, y: (g @ y, x @ g), "do not fit together"),
        (lambda g, z, x, y: (g * y, g * x), "do not fit together"),
        (lambda g, z, x, y: (x.T @ g, g @ y.T), "changed places"),
        (lambda g, z, x, y: (y.T, x.T), "g is left out. Which"),
        (lambda g, z, x, y: (np.ones_like(g) @ y.T, x.T @ np.ones_like(g)), "all ones"),
        (lambda g, z, x, y: ((g @ y.T).T, x.T @ g), "turn it with"),
        (lambda g, z, x, y: (g @ y.T, g.T @ x), "turn it with"),
        (lambda g, z, x, y: (g @ y.T, g), "contribution to y has the shape"),
        (lambda g, z, x, y: (g @ y.T, 2 * (x.T @ g)), "contribution to y has the right shape"),
        (lambda g, z, x, y: (x, y), "contribution to x has the right shape"),
        (lambda g, z, x, y: (g @ y if x.shape == y.shape else g @ y.T, x.T @ g), "which entries of z"),
        (lambda g, z, x, y: g @ y.T, "two contributions"),
        (lambda g, z, x, y: None, "gives None"),
        (lambda g, z, x, y: (..., ...), "three dots"),
        (lambda g, z, x, y: ("a", "b"), "array of numbers"),
        (lambda x, y: (y, x), "raised TypeError"),
        (6.0, "without calling it"),
    ],
    "3.3": [
        ({**TABLE, "a": 3}, "gradient of the mean"),
        ({**TABLE, "a": 60}, "more than 20 elements"),
        ({**TABLE, "a": 0.03}, "the sum is larger"),
        ({**TABLE, "b": 3}, "each row has its mean"),
        ({**TABLE, "b": 15}, "over 5 elements"),
        ({**TABLE, "b": 300}, "divides by 5"),
        ({**TABLE, "c": 60}, "divided by 20"),
        ({**TABLE, "c": 3}, "a sum over 20 rows"),
        ({**TABLE, "d": 3}, "counts as the sum"),
        ({**TABLE, "rate": 10}, "must shrink"),
        ({**TABLE, "rate": 0.1}, "100 times as long"),
        ({**TABLE, "rate": 0.005}, "more than 20"),
        ({**TABLE, "a": 7}, "How many elements"),
        ({**TABLE, "b": 7}, "sum of the 20 means"),
        ({**TABLE, "c": 7}, "Add the 5 elements up"),
        ({**TABLE, "d": 7}, "that of its sum"),
        ({**TABLE, "rate": 7}, "the rate times the gradient"),
        ({**TABLE, "c": ...}, "Still open: c"),
        ({**TABLE, "c": None}, "c is None"),
        ({"a": 300}, "Nothing is given for b"),
        ([300.0], "I need a dict"),
    ],
}
