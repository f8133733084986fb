"""Answers to the exercises of chapter 0."""

import numpy as np


def gradient(f, p, h=1e-5):
    return np.array([(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(len(p))])


def stepping(length=np.linalg.norm, run=2e-5):
    """Make a directional derivative that measures lengths as given, and divides by `run`."""

    def along(f, point, direction):
        unit = direction / length(direction)
        return (f(point + 1e-5 * unit) - f(point - 1e-5 * unit)) / run

    return along


RIGHT = {
    "0.1": [
        lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h),
        lambda f, x, h: ((f(x + h) - f(x)) / h + (f(x) - f(x - h)) / h) / 2,
    ],
    "0.2": [1e-5, 6e-6, 1e-4, np.float32(1e-5)],
    "0.3": [stepping(), lambda f, p, d: gradient(f, p) @ d / np.sqrt(np.sum(d * d))],
}

WRONG = {
    "0.1": [
        (lambda f, x, h: (f(x + h) - f(x)) / h, "forward difference"),
        (lambda f, x, h: (f(x) - f(x - h)) / h, "backward difference"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / h, "you divide by h"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / 2 * h, "multiplies by h"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / 2, "by 2 alone"),
        (lambda f, x, h: (f(x - h) - f(x + h)) / (2 * h), "sign is wrong"),
        (lambda f, x, h: f(x + h) - f(x - h) / (2 * h), "brackets"),
        (lambda f, x, h: f(x + h) - f(x - h), "This is the rise"),
        (lambda f, x, h: (f(x + h) - f(x)) / (2 * h), "from x to x"),
        (lambda f, x, h: 3 * x * x - 2, "exact slope"),
        (lambda f, x, h: 0.0, "never calls f"),
        (lambda f, x, h: f(x), "it should give"),
        (lambda f, x, h: ..., "three dots"),
        (lambda f, x, h: None, "is None"),
        (lambda f, x: 0.0, "raised TypeError"),
        (2.0, "without calling it"),
    ],
    "0.2": [
        (0.1, "too long"),
        (1e-12, "too short"),
        (1e-8, "forward"),
        (1e-16, "about epsilon"),
        (0.0, "positive"),
        (-1e-5, "positive"),
        (lambda h: h, "not a function"),
        ("small", "I need one number"),
    ],
    "0.3": [
        (stepping(length=lambda d: 1.0), "times the length"),
        (stepping(length=np.sum), "sum of the parts"),
        (stepping(length=lambda d: d @ d), "twice"),
        (stepping(run=1e-5), "It is twice"),
        (stepping(run=4e-5), "It is half"),
        (stepping(run=-2e-5), "sign is wrong"),
        (lambda f, p, d: np.sum(gradient(f, p)), "sum of the partial"),
        (lambda f, p, d: np.linalg.norm(gradient(f, p)), "steepest"),
        (lambda f, p, d: gradient(f, p)[0], "first number alone"),
        (lambda f, p, d: gradient(f, p), "one number"),
        (lambda f, p, d: 0.0, "never calls f"),
        (lambda f, p, d: f(p) + 100.0, "and yours is"),
        (lambda f, p, d: ..., "three dots"),
        (lambda f: 0.0, "raised TypeError"),
        (3.2, "without calling it"),
    ],
}
