"""Answers to the exercises of shapes."""

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


def leaves_an_added_axis_of_length_one(g, shape):
    return g if g.size == np.prod(shape) else fold(g, shape)


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


def fit(shaped, reduce=np.mean, turns=200, rate=0.1, start=(0.0, 0.0), axis=0):
    """Make a fit that compares what `shaped(prediction, target)` returns."""

    def predictions_of(features, target):
        middle, spread = (f(features, axis=axis, keepdims=True) for f in (np.mean, np.std))
        scaled = (features - middle) / spread
        w, b = ad.constant(start), ad.constant(0.0)
        for _ in range(turns):
            with ad.GradientTape() as tape:
                tape.watch([w, b])
                prediction, wanted = shaped(scaled @ w + b, target)
                loss = reduce((prediction - wanted) ** 2)
            slope_w, slope_b = tape.gradient(loss, [w, b])
            w, b = w - rate * slope_w, b - rate * slope_b
        return scaled @ w + b

    return predictions_of


def solved(features, target):
    design = np.column_stack([features, np.ones(len(features))])
    return design @ np.linalg.lstsq(design, target, rcond=None)[0]


def in_float32(features, target):
    return ad.constant(solved(features, target).astype(np.float32))


RIGHT = {
    1: [fold, fold_in_a_loop, lambda g, shape: ad.constant(fold(g, shape))],
    2: [
        lambda g, z, x, y: (g @ y.T, x.T @ g),
        lambda g, z, x, y: [np.einsum("nm,km->nk", g, y), (g.T @ x).T],
        lambda g, z, x, y: (ad.constant(g @ y.T), ad.constant(x.T @ g)),
    ],
    3: [
        fit(lambda p, t: (p, t[:, 0])),
        fit(lambda p, t: (p, t.ravel())),
        fit(lambda p, t: (p[:, np.newaxis], t)),
        fit(lambda p, t: (p, t), start=((0.0,), (0.0,))),
        fit(lambda p, t: (p, t[:, 0]), reduce=np.sum, rate=0.002, turns=2000),
        solved,
        in_float32,
        lambda features, target: solved(features, target).ravel().tolist(),
    ],
}

WRONG = {
    1: [
        (lambda g, shape: g, "Nothing was summed"),
        (lambda g, shape: np.sum(g), "Everything was summed"),
        (forgets_the_left, "without `keepdims`"),
        (forgets_keepdims, "with `keepdims=True`"),
        (forgets_length_one, "Nothing was summed"),
        (leaves_an_added_axis_of_length_one, "added on the left is still there"),
        (lambda g, shape: g.sum(axis=0), "over the wrong axis"),
        (lambda g, shape: fold(g, shape or (1,)), r"returns the shape \(1,\)"),
        (mean, "returns the mean"),
        (from_the_right, "sums the right axis"),
        (pick, "All of them count"),
        (lambda g, shape: fold(g, shape) + 0.5, "the sums are"),
        (lambda g, shape: np.zeros((7, 7)), "from the right"),
        (lambda g, shape: np.reshape(g, shape), "raised ValueError"),
        (lambda g, shape: ..., "three dots"),
        (lambda g, shape: None, "returns None"),
        (lambda g, shape: "a", "array of numbers"),
        (lambda g, shape: [[1.0], [2.0, 3.0]], "array of numbers"),
        (lambda g: g, "raised TypeError"),
        (np.ones(3), "without calling it"),
    ],
    2: [
        (lambda g, z, x, y: (g @ y, x @ g), "raised ValueError.*do not fit together"),
        (lambda g, z, x, y: (g * y, g * x), "element by element"),
        (lambda g, z, x, y: (g * y.T, x.T * g), "element by element"),
        (lambda g, z, x, y: (g + y, g + x), "element by element"),
        (lambda g, z, x, y: (x.T @ g, g @ y.T), "changed places"),
        (lambda g, z, x, y: (y.T, x.T), "g is left out. Which"),
        (lambda g, z, x, y: (np.ones_like(g) @ y.T, x.T @ np.ones_like(g)), "all ones"),
        (lambda g, z, x, y: ((g @ y.T).T, x.T @ g), "Turn it with `.T`"),
        (lambda g, z, x, y: (g @ y.T, g.T @ x), "Turn it with `.T`"),
        (lambda g, z, x, y: (g @ y.T, g), r"It should have the shape \(2, 3\), and yours has the shape \(4, 3\)"),
        (
            lambda g, z, x, y: (g @ y.T, 2 * (x.T @ g)),
            "contribution to x is right. Now look at the contribution to y. .*which entries of z",
        ),
        (lambda g, z, x, y: (x, y), "the matrices themselves"),
        (lambda g, z, x, y: (g @ y if x.shape == y.shape else g @ y.T, x.T @ g), "which entries of z"),
        (lambda g, z, x, y: g @ y.T, "Return the contribution to x and the contribution to y"),
        (lambda g, z, x, y: None, "returns None"),
        (lambda g, z, x, y: (..., ...), "three dots"),
        (lambda g, z, x, y: ("a", "b"), "array of numbers"),
        (lambda x, y: (y, x), "raised TypeError"),
        (6.0, "without calling it"),
    ],
    3: [
        (fit(lambda p, t: (p, t)), "still flat"),
        (fit(lambda p, t: (p.T, t)), "still flat.*`.T` does nothing"),
        (fit(lambda p, t: (p, t[:, np.newaxis])), "still flat"),
        (fit(lambda p, t: (np.mean(p), t)), "still flat"),
        (fit(lambda p, t: (p, t), reduce=np.sum), "run away"),
        (fit(lambda p, t: (p, t[:, 0]), reduce=np.sum), "run away"),
        (fit(lambda p, t: (p, t[:, 0]), turns=20), "not there yet"),
        (fit(lambda p, t: (p, t[:, 0]), turns=0), "nothing was learned"),
        (fit(lambda p, t: (p, t[::-1, 0])), "its own target"),
        (fit(lambda p, t: (p, t.ravel()), axis=None), "its own, along `axis=0`"),
        (fit(lambda p, t: (p, t), start=((0.0,), (0.0,)), axis=1), "each column has a mean and a spread of its own"),
        (lambda features, target: features - np.mean(features, axis=1), "raised ValueError"),
        (lambda features, target: (np.ones(2), 1.0), "one prediction for each sample, and nothing else"),
        (lambda features, target: np.ones(2), "Return one prediction for each sample"),
        (lambda features, target: solved(features, target) - solved(features, target).T, "Return one prediction"),
        (lambda features, target: None, "returns None"),
        (lambda features, target: ..., "three dots"),
        (lambda features, target: "a", "array of numbers"),
        (lambda features: features, "raised TypeError"),
        (np.ones(3), "without calling it"),
    ],
}
