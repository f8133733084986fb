"""Answers to the exercises of shapes."""

import numpy as np

import autodiff_edu as ad


def mixtures(x, pairs):
    return [(1 - x) * np.array(a) + x * np.array(b) for a, b in pairs]


def norm_of(arrays):
    return np.linalg.norm(np.stack([np.linalg.norm(array) for array in arrays]))


def with_a_tape(x, pairs, target=norm_of):
    x = ad.constant(x)
    with ad.GradientTape() as tape:
        tape.watch(x)
        heard = mixtures(x, pairs)
        loudness, aim = norm_of(heard), target(heard)
    return loudness, tape.gradient(aim, x)


def without_watching(x, pairs):
    x = ad.constant(x)
    with ad.GradientTape() as tape:
        loudness = norm_of(mixtures(x, pairs))
    return loudness, tape.gradient(loudness, x)


def by_hand(x, pairs):
    heard = np.concatenate([np.ravel(c) for c in mixtures(x, pairs)])
    moves = np.concatenate([np.ravel(np.subtract(b, a)) for a, b in pairs])
    return np.linalg.norm(heard), heard @ moves / np.linalg.norm(heard)


def by_differences(x, pairs, h=1e-5):
    return norm_of(mixtures(x, pairs)), (norm_of(mixtures(x + h, pairs)) - norm_of(mixtures(x - h, pairs))) / (2 * h)


def unsummed(x, pairs):
    loudness, _ = by_hand(x, pairs)
    return loudness, [c * np.subtract(b, a) / loudness for c, (a, b) in zip(mixtures(x, pairs), pairs, strict=True)]


def unsummed_one_pair(x, pairs):
    a, b = pairs[0]
    loudness, _ = by_hand(x, pairs)
    return loudness, mixtures(x, pairs)[0] * (b - a) / loudness


def average(x, pairs):
    loudness, slopes = unsummed(x, pairs)
    return loudness, sum(np.mean(slope) for slope in slopes)


def turned(x, pairs):
    return by_hand(1 - x, pairs)


def fit(shaped, reduce=np.mean, turns=500, rate=0.2, stretch=1, changed=lambda trust: trust):
    """Make a fit whose loss is the mean of what `shaped(error, trust)` returns."""

    def predictions_of(readings):
        load = readings[:, 0]
        scaled = (load - np.mean(load)) / np.std(load)
        w, b = ad.constant(0.0), ad.constant(0.0)
        for _ in range(turns):
            with ad.GradientTape() as tape:
                tape.watch([w, b])
                error = w * scaled + b - readings[:, stretch]
                loss = reduce(shaped(error, changed(readings[:, 2:])))
            slope_w, slope_b = tape.gradient(loss, [w, b])
            w, b = w - rate * slope_w, b - rate * slope_b
        return w * scaled + b

    return predictions_of


def solve(readings, power=0.5):
    root = readings[:, 2] ** power
    design = np.column_stack([readings[:, 0], np.ones(len(readings))])
    return design @ np.linalg.lstsq(root[:, np.newaxis] * design, root * readings[:, 1], rcond=None)[0]


RIGHT = {
    1: [
        with_a_tape,
        by_hand,
        by_differences,
        lambda x, pairs: list(by_hand(x, pairs)),
        lambda x, pairs: (by_hand(x, pairs)[0], ad.grad(lambda x: norm_of(mixtures(x, pairs)))(x)),
    ],
    2: [
        lambda g, z, x, y: (g @ y.T, x.T @ g),
        lambda g, z, x, y: [np.einsum("nm,km->nk", g, y), (g.T @ x).T],
        lambda g, z, x, y: (ad.constant(g @ y.T), ad.constant(x.T @ g)),
    ],
    3: [
        fit(lambda e, t: t[:, 0] * e**2),
        fit(lambda e, t: t.ravel() * e**2),
        fit(lambda e, t: t * e[:, np.newaxis] ** 2),
        fit(lambda e, t: t.T * e**2),
        fit(lambda e, t: (t * (e * np.ones((len(t), 1))) ** 2) * np.eye(len(t)), reduce=lambda s: np.sum(s) / len(s)),
        fit(lambda e, t: e**2 @ t, reduce=lambda s: np.sum(s) / 25),
        fit(lambda e, t: t[:, 0] * e**2, reduce=np.sum, rate=0.01, turns=2000),
        fit(lambda e, t: (t[:, 0] ** 0.5 * e) ** 2),
        solve,
        lambda readings: solve(readings)[:, np.newaxis],
        lambda readings: ad.constant(solve(readings).astype(np.float32)),
        lambda readings: solve(readings).tolist(),
        lambda readings: np.polyval(np.polyfit(*readings.T[:2], 1, w=np.sqrt(readings[:, 2])), readings[:, 0]),
    ],
}

WRONG = {
    1: [
        (unsummed_one_pair, "has as many numbers as a track"),
        (unsummed, "has as many numbers as a track"),
        (turned, "turned round"),
        (lambda x, pairs: by_hand(x, pairs[:1]), "Only the first pair"),
        (lambda x, pairs: (by_hand(x, pairs)[0], -by_hand(x, pairs)[1]), "wrong sign"),
        (lambda x, pairs: (by_hand(x, pairs)[0], by_hand(x, pairs)[1] * by_hand(x, pairs)[0]), "slope of a root"),
        (lambda x, pairs: with_a_tape(x, pairs, lambda c: norm_of(c) ** 2), "squared loudness"),
        (
            lambda x, pairs: with_a_tape(x, pairs, lambda c: [np.linalg.norm(each) for each in c]),
            "sum of the loudnesses",
        ),
        (lambda x, pairs: with_a_tape(x, pairs, lambda c: c), "sum of the mixtures"),
        (average, "the mean of what the elements send back"),
        (without_watching, "nobody told the tape"),
        (lambda x, pairs: (by_hand(x, pairs)[0], 0.0), "The loudness is right. Now look at the slope"),
        (lambda x, pairs: by_hand(x, pairs)[::-1], "should be"),
        (lambda x, pairs: by_hand(x, pairs)[1], "Return the loudness and the slope"),
        (lambda x, pairs: None, "returns None"),
        (lambda x, pairs: (..., ...), "three dots"),
        (lambda x, pairs: ("a", "b"), "one number here"),
        (lambda x: x, "raised TypeError"),
        (5.09339, "without calling it"),
    ],
    2: [
        (lambda g, z, x, y: (g @ y, x @ g), "raised ValueError.*do not fit together"),
        (lambda g, z, x, y: (g * y, g * x), "element by element"),
        (lambda g, z, x, y: (g * y.T, x.T * g), "element by element"),
        (lambda g, z, x, y: (g + y, g + x), "element by element"),
        (lambda g, z, x, y: (x.T @ g, g @ y.T), "changed places"),
        (lambda g, z, x, y: (y.T, x.T), "g is left out. Which"),
        (lambda g, z, x, y: (z @ y.T, x.T @ z), "made of the value z"),
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
        (fit(lambda e, t: t * e**2), "still trusts all readings alike"),
        (fit(lambda e, t: e**2), "still trusts all readings alike"),
        (fit(lambda e, t: np.mean(t) * e**2), "still trusts all readings alike"),
        (fit(lambda e, t: t[:, np.newaxis] * e**2), "still trusts all readings alike"),
        (fit(lambda e, t: e**2 * (t[:, 0] > 0)), "count half"),
        (fit(lambda e, t: (t[:, 0] * e) ** 2), "Square first"),
        (fit(lambda e, t: (1 - t[:, 0]) * e**2), "Trust is turned round"),
        (fit(lambda e, t: np.sqrt(t[:, 0]) * e**2), "Leave out the root"),
        (fit(lambda e, t: t[:, 0] * e**2, reduce=np.sum), "run away"),
        (fit(lambda e, t: t[:, 0] * e**2, turns=20), "off by"),
        (fit(lambda e, t: t[:, 0] * e**2, turns=0), "nothing was learned"),
        (fit(lambda e, t: t * e**2, stretch=slice(1, 2)), "every prediction is the same"),
        (fit(lambda e, t: t[::-1, 0] * e**2), "its own trust"),
        (lambda readings: (1.0, 2.0), "one prediction for each reading, and nothing else"),
        (lambda readings: np.ones(2), "Return one prediction for each reading"),
        (lambda readings: None, "returns None"),
        (lambda readings: ..., "three dots"),
        (lambda readings: "a", "array of numbers"),
        (lambda readings, trust: trust, "raised TypeError"),
        (np.ones(3), "without calling it"),
    ],
}
