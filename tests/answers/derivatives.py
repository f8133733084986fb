"""Answers to the exercises of derivatives."""

import math

import numpy as np

import autodiff_edu as ad


def forward(f, x, h):
    return (f(x + h) - f(x)) / h


def through_three_points(f, x, h):
    """The slope at x of the parabola through three points."""
    rises = np.linalg.solve([[h, h * h], [2 * h, 4 * h * h]], [f(x + h) - f(x), f(x + 2 * h) - f(x)])
    return rises[0]


def fit(f, x, h):
    places = x + h * np.arange(3)
    return np.polynomial.Polynomial.fit(places, [f(place) for place in places], 2).deriv()(x)


def wrong_by_c(f, x, h):
    c = (forward(f, x, 2 * h) - forward(f, x, h)) / h
    return forward(f, x, h) - c * h


FINE = {"pump": "long", "lens": "slope", "clock": "short", "door": "corner"}
SECOND = np.random.default_rng(5)


def measure(f, p, v, h=1e-5):
    return (f(p + h * v) - f(p - h * v)) / (2 * h)


def at_random(f, p, g):
    v = np.random.default_rng().standard_normal(len(p))
    return np.isclose(measure(f, p, v), g @ v)


def of_length_one(f, p, g):
    v = SECOND.standard_normal(len(p))
    v /= np.linalg.norm(v)
    return abs(measure(f, p, v) - np.dot(g, v)) < 1e-3


def twice(f, p, g):
    return all(at_random(f, p, g) for _ in range(2))


def one_sided(f, p, g, h=1e-7):
    v = np.random.default_rng(1).uniform(1.0, 2.0, p.shape)
    return math.isclose((f(p + h * v) - f(p)) / h, float(np.sum(g * v)), rel_tol=1e-3)


def primes(f, p, g):
    v = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37][: len(p)], dtype=float)
    return bool(np.allclose(measure(f, p, v), (g * v).sum(), rtol=1e-4))


def one_by_one(f, p, g):
    return np.allclose([measure(f, p, line) for line in np.eye(len(p))], g)


def one_by_one_to_one_side(f, p, g, h=1e-5):
    return np.allclose([(f(p + h * line) - f(p)) / h for line in np.eye(len(p))], g, atol=1e-3)


def along_the_first(f, p, g):
    return np.isclose(measure(f, p, np.eye(len(p))[0]), g[0])


def all_by_as_much(f, p, g, h=1e-5):
    return np.isclose((f(p + h) - f(p - h)) / (2 * h), np.sum(g))


def the_first_half(f, p, g):
    v = np.where(np.arange(len(p)) < 6, 1.0 + np.arange(len(p)), 0.0)
    return np.isclose(measure(f, p, v), g @ v)


def over_half_the_run(f, p, g, h=1e-5):
    v = np.random.default_rng(3).standard_normal(len(p))
    return np.isclose((f(p + h * v) - f(p - h * v)) / h, g @ v)


def too_lenient(f, p, g, h=1e-9):
    v = np.random.default_rng(3).standard_normal(len(p))
    return np.isclose(f(p + h * v) - f(p), h * (g @ v), atol=1e-6)


def along_g(f, p, g):
    return np.isclose(measure(f, p, g / np.linalg.norm(g)), np.linalg.norm(g))


def exactly(f, p, g):
    v = np.random.default_rng(3).standard_normal(len(p))
    return measure(f, p, v) == g @ v


def without_a_sign(f, p, g):
    v = np.random.default_rng(3).standard_normal(len(p))
    return np.isclose(abs(measure(f, p, v)), abs(g @ v))


def with_another_v(f, p, g):
    random = np.random.default_rng(3)
    return np.isclose(measure(f, p, random.standard_normal(len(p))), g @ random.standard_normal(len(p)))


def too_short(f, p, g):
    v = np.random.default_rng(3).standard_normal(len(p))
    return np.isclose(measure(f, p, v, h=1e-15), g @ v)


def star(f, p, g):
    v = np.random.default_rng(3).standard_normal(len(p))
    return np.isclose(f(*(p + 1e-5 * v)), g @ v)


HERE = np.linspace(0.0, 1.0, 12)
TWO = np.array([0.0, 4.0])


def hill(p):
    return -np.sum(p**2)


RIGHT = {
    1: [
        lambda f, x, h: 2 * forward(f, x, h) - forward(f, x, 2 * h),
        lambda f, x, h: (-3 * f(x) + 4 * f(x + h) - f(x + 2 * h)) / (2 * h),
        lambda f, x, h: forward(f, x, h) + (forward(f, x, h) - forward(f, x, 2 * h)),
        lambda f, x, h: 2 * (forward(f, x, h) - forward(f, x, 2 * h) / 2),
        through_three_points,
        fit,
        wrong_by_c,
    ],
    2: [FINE, {name: said.upper() for name, said in FINE.items()}],
    3: [at_random, of_length_one, twice, one_sided, primes, lambda f, p, g: bool(at_random(f, p, ad.constant(g)))],
}

WRONG = {
    1: [
        (forward, "one forward difference"),
        (lambda f, x, h: forward(f, x, 2 * h), "over 2h"),
        (lambda f, x, h: (forward(f, x, h) + forward(f, x, 2 * h)) / 2, "mean of their errors"),
        (lambda f, x, h: forward(f, x, h) - forward(f, x, 2 * h), "slope itself cancels"),
        (lambda f, x, h: forward(f, x, 2 * h) - forward(f, x, h), "slope itself cancels"),
        (lambda f, x, h: forward(f, x, h) - forward(f, x, 2 * h) / 2, "half of the slope"),
        (lambda f, x, h: forward(f, x, h) - 0.5 * forward(f, x, 2 * h), "half of the slope"),
        (lambda f, x, h: 2 * forward(f, x, 2 * h) - forward(f, x, h), "wrong way round"),
        (lambda f, x, h: (f(x + 2 * h) - f(x + h)) / h, "wrong way round"),
        (lambda f, x, h: 2 * forward(f, x, h) + forward(f, x, 2 * h), "counted three times"),
        (lambda f, x, h: (2 * forward(f, x, h) + forward(f, x, 2 * h)) / 3, "errors don't cancel"),
        (lambda f, x, h: 2 * forward(f, x, h) - (f(x + 2 * h) - f(x)) / h, "run of 2h"),
        (lambda f, x, h: 2 * (f(x + h) - f(x)) / h - (f(x + 2 * h) - f(x)) / 2 * h, "multiplies by h"),
        (lambda f, x, h: 2 * forward(f, x, h) - (f(x + 2 * h) - f(x)), "Divide it by its run, 2h"),
        (lambda f, x, h: 2 * forward(f, x, h) - (f(2 * h) - f(x)) / (2 * h), "You take f at 2h"),
        (lambda f, x, h: forward(f, x, h) - (forward(f, x, 2 * h) - forward(f, x, h)) / 2, "half of c · h is left"),
        (lambda f, x, h: 2 * forward(f, x, h) - forward(f, x + h, h), "begins at x \\+ h"),
        (lambda f, x, h: (4 * f(x + h) - 3 * f(x) - f(x + 2 * h)) / h, "twice the slope"),
        (lambda f, x, h: (3 * f(x) - 4 * f(x + h) + f(x + 2 * h)) / (2 * h), "sign is wrong"),
        (lambda f, x, h: 2 * forward(f, x, h / 2) - forward(f, x, h), "Here take h and 2h"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h), "step to the left of x"),
        (lambda f, x, h: (f(x) - f(x - h)) / h, "raised ValueError"),
        (lambda f, x, h: (4 * forward(f, x, h) - forward(f, x, 2 * h)) / 3, "proportional to h²"),
        (lambda f, x, h: 2 * forward(f, x, h), "Where is the second"),
        (lambda f, x, h: forward(f, x, h) - 2 * forward(f, x, 2 * h), "Count the first twice"),
        (lambda f, x, h: 2 * f(x + h) - f(x + 2 * h), "Those are values"),
        (lambda f, x, h: f(x + h) - f(x), "Divide it by the run"),
        (lambda f, x, h: forward(f, x, 1e-5), "never reads its argument `h`"),
        (lambda f, x, h: ad.grad(f)(x), "exact slope"),
        (lambda f, x, h: 0.0, "never calls `f`"),
        (lambda f, x, h: f(x), "never reads its argument `h`"),
        (lambda f, x, h: ..., "three dots"),
        (lambda f, x, h: None, "returns None"),
        (lambda f, x: 0.0, "raised TypeError"),
        (2.0, "without calling it"),
    ],
    2: [
        (FINE | {"pump": "short", "clock": "long"}, "changed places.*largest gap"),
        (FINE | {"lens": "corner", "door": "slope"}, "changed places.*in the end"),
        (FINE | {"pump": "slope"}, "both agree. Which step"),
        (FINE | {"pump": "short"}, "gap largest"),
        (FINE | {"pump": "corner"}, "At a corner they don't"),
        (FINE | {"lens": "long"}, "smaller step"),
        (FINE | {"lens": "corner"}, "one slope here"),
        (FINE | {"lens": "short"}, "longer step"),
        (FINE | {"clock": "slope"}, "a few millionths"),
        (FINE | {"clock": "long"}, "gap largest"),
        (FINE | {"clock": "corner"}, "What grows"),
        (FINE | {"door": "slope"}, "3 of 4 are right. About door.*do they agree"),
        (FINE | {"door": "long"}, "smaller step"),
        (FINE | {"door": "short"}, "longer step"),
        (FINE | {"door": ...}, "door"),
        (FINE | {"door": "kink"}, 'Write "slope" or "long" or "short" or "corner"'),
        ({"pump": "long"}, "No verdict is given for lens"),
        ("long", "dict"),
    ],
    3: [
        (one_by_one, "24 times"),
        (one_by_one_to_one_side, "24 times"),
        (along_the_first, "says nothing about its entry"),
        (lambda f, p, g: np.isclose(measure(f, p, np.arange(12.0)), g @ np.arange(12.0)), "doesn.t move a parameter"),
        (the_first_half, "doesn.t move a parameter"),
        (over_half_the_run, "divide by the whole run"),
        (too_lenient, "comparison is too lenient"),
        (all_by_as_much, "the two cancel"),
        (along_g, "along g itself"),
        (exactly, "with np.isclose, not with =="),
        (without_a_sign, "wrong sign everywhere"),
        (with_another_v, "the same v that you step along"),
        (lambda f, p, g: np.allclose(measure(f, p, HERE), g), "sum of g times v"),
        (too_short, "h around 1e-5"),
        (star, "the whole point as one array"),
        (lambda f, p, g: True, "never calls `f`"),
        (lambda f, p, g: at_random(f, HERE, g), "never reads its argument `p`"),
        (lambda f, p, g: at_random(f, TWO, g), "computes with `TWO` of the notebook and never reads its argument `p`"),
        (lambda f, p, g: at_random(hill, p, g), "never calls `f`"),
        (lambda f, p, g: measure(f, p, g), "True or False"),
        (lambda f, p, g: ..., "three dots"),
        (lambda f, p, g: None, "True or False|returns None"),
        (lambda f, p: True, "raised TypeError"),
        (True, "without calling it|a function"),
    ],
}
