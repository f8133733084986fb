"""Answers to the exercises of implicit-differentiation."""

import math

import numpy as np

import autodiff_edu as ad


def solve_kepler(m, e):
    t = m + e * np.sin(m)
    for _ in range(50):
        t = t - (t - e * np.sin(t) - m) / (1.0 - e * np.cos(t))
    return t


def angle(contributions):
    """Return an answer whose backward returns contributions(v, t, m, e), with plain numbers."""

    @ad.custom_gradient
    def solved(m, e):
        t = float(solve_kepler(float(m), float(e)))
        return t, lambda v: contributions(v, t, float(m), float(e))

    return solved


@ad.custom_gradient
def right_twice(m, e):
    t = solve_kepler(float(m), float(e))

    def backward(v):
        t = right_twice(m, e)
        u = v / (1.0 - e * np.cos(t))
        return u, u * np.sin(t)

    return t, backward


def denominator(t, e):
    return 1.0 - e * math.cos(t)


def layer(contributions):
    """Return an answer whose backward returns contributions(v, z, w), with arrays."""

    @ad.custom_gradient
    def solved(w, b):
        fixed, b_ = ad.stop_gradient(w).numpy(), ad.stop_gradient(b).numpy()
        z = np.zeros(len(b_))
        for _ in range(200):
            z = np.tanh(fixed @ z + b_)
        return z, lambda v: contributions(v, z, fixed)

    return solved


def with_u(solve):
    """Return a layer's contributions for a `u` that solve(v, d, w) finds."""

    def contributions(v, z, w):
        d = np.diag(1 - z**2)
        inside = d @ solve(v, d, w)
        return np.outer(inside, z), inside

    return contributions


def without_tanh_for_w(v, z, w):
    d = np.diag(1 - z**2)
    u = system(v, d, w)
    return np.outer(u, z), d @ u


def twice_tanh(v, z, w):
    return with_u(system)(v, np.tanh(z), w)[0] / np.tanh(z) * z, with_u(system)(v, np.tanh(z), w)[1]


def system(v, d, w):
    return np.linalg.solve((np.eye(4) - d @ w).T, v)


def repeated(times):
    def solve(v, d, w):
        u = v
        for _ in range(times):
            u = v + u @ (d @ w)
        return u

    return solve


@ad.custom_gradient
def by_pulling(w, b):
    w_, b_ = ad.stop_gradient(w), ad.stop_gradient(b)
    z = np.zeros(len(b))
    for _ in range(200):
        z = np.tanh(w_ @ z + b_)

    def backward(v):
        _, pull = ad.vjp(lambda z, w, b: np.tanh(w @ z + b), z, w, b)
        u = v
        for _ in range(300):
            u = v + pull(u)[0]
        return pull(u)[1:]

    return z, backward


def not_custom(w, b):
    z = np.zeros(4)
    for _ in range(200):
        z = np.tanh(w @ z + b)
    return z


ENDS = {"unrolled": "twice", "one": "never", "newton": "once", "hundred": "twice", "theorem": "once"}


RIGHT = {
    1: [
        right_twice,
        angle(lambda v, t, m, e: (v / denominator(t, e), v * math.sin(t) / denominator(t, e))),
        angle(lambda v, t, m, e: [np.array(v / denominator(t, e)), np.array(v * np.sin(t) / denominator(t, e))]),
    ],
    2: [ENDS, {name: word.upper() for name, word in ENDS.items()}],
    3: [layer(with_u(system)), layer(with_u(repeated(200))), by_pulling],
}

WRONG = {
    1: [
        (angle(lambda v, t, m, e: (..., ...)), "three dots"),
        (angle(lambda v, t, m, e: (v, v * math.sin(t))), "moves on both sides. Divide by ∂g/∂E"),
        (angle(lambda v, t, m, e: (-v, -v * math.sin(t))), "Both signs are the wrong way round"),
        (angle(lambda v, t, m, e: (-v, -v * math.sin(t))), "E also stands inside e sin E"),
        (angle(lambda v, t, m, e: (v / (1 - math.cos(t)), v * math.sin(t) / (1 - math.cos(t)))), "lost its e"),
        (
            angle(lambda v, t, m, e: (v / (1 - e * math.sin(t)), v * math.sin(t) / (1 - e * math.sin(t)))),
            "the slope of sin E is cos E",
        ),
        (angle(lambda v, t, m, e: (1.0, math.sin(t))), "without the cotangent: in a chain, something other than 1"),
        (angle(lambda v, t, m, e: (1.0, math.sin(t))), "E also stands inside e sin E"),
        (
            angle(lambda v, t, m, e: (v, v * math.sin(t) / denominator(t, e))),
            "for e is right, the one for M isn't. E also stands inside",
        ),
        (
            angle(lambda v, t, m, e: (1 / denominator(t, e), v * math.sin(t) / denominator(t, e))),
            "for e is right, the one for M isn't. That's without the cotangent",
        ),
        (angle(lambda v, t, m, e: (v, v * math.cos(t) / denominator(t, -e))), "For M: E also stands inside"),
        (angle(lambda v, t, m, e: (v, v * math.cos(t) / denominator(t, -e))), "For e: The sign in the divisor"),
        (angle(lambda v, t, m, e: (v / denominator(m, e), v * math.sin(t) / denominator(m, e))), "E instead of M"),
        (angle(lambda v, t, m, e: (v / denominator(t, e), v * e * math.cos(t) / denominator(t, e))), "not E"),
        (angle(lambda v, t, m, e: (1 / denominator(t, e), math.sin(t) / denominator(t, e))), "without the cotangent"),
        (
            angle(lambda v, t, m, e: (v * math.sin(t) / denominator(t, e), v / denominator(t, e))),
            "changed places",
        ),
        (angle(lambda v, t, m, e: (v * math.sin(t), v)), "changed places: the contribution for M comes first. E also"),
        (angle(lambda v, t, m, e: (-v / denominator(t, e), -v * math.sin(t) / denominator(t, e))), "Both signs"),
        (
            angle(lambda v, t, m, e: (v / denominator(t, -e), v * math.sin(t) / denominator(t, -e))),
            "sign in the divisor",
        ),
        (angle(lambda v, t, m, e: (v * denominator(t, e), v * math.sin(t) * denominator(t, e))), "instead of mult"),
        (angle(lambda v, t, m, e: (v / denominator(m, e), v * math.sin(m) / denominator(m, e))), "E instead of M"),
        (angle(lambda v, t, m, e: (v / denominator(t, e), -v * math.sin(t) / denominator(t, e))), "∂g/∂e is -sin"),
        (angle(lambda v, t, m, e: (v / denominator(t, e), v * math.cos(t) / denominator(t, e))), "not E"),
        (angle(lambda v, t, m, e: (v / denominator(t, e), v * e * math.sin(t) / denominator(t, e))), "without a f"),
        (angle(lambda v, t, m, e: (v / denominator(t, e), v * math.sin(t))), "for e isn't. E also stands inside"),
        (angle(lambda v, t, m, e: (v / denominator(t, e), v / denominator(t, e))), "respect to e"),
        (angle(lambda v, t, m, e: (v / denominator(t, e), 0.0)), "for e isn't. Multiply the cotangent by"),
        (angle(lambda v, t, m, e: (9.0, v * math.sin(t) / denominator(t, e))), "for M isn't. Multiply the cotan"),
        (angle(lambda v, t, m, e: (v / (1 - e * ...), v)), "three dots"),
        (angle(lambda v, t, m, e: (7.0 * v, v)), "the contributions are"),
        (
            angle(lambda v, t, m, e: (v / denominator(t, e), math.sin(t) / denominator(t, e))),
            "for e isn't. That's without the cotangent",
        ),
        (angle(lambda v, t, m, e: (-v / denominator(t, e), v * math.sin(t) / denominator(t, e))), "∂g/∂M is -1"),
        (angle(lambda v, t, m, e: (v / denominator(t, e), None)), "one of its arguments"),
        (angle(lambda v, t, m, e: v / denominator(t, e)), "Is a `return` missing"),
        (angle(lambda v, t, m, e: None), "Is a `return` missing"),
        (solve_kepler, "no custom gradient"),
        (lambda m, e: (m, lambda v: v), "returns a tuple"),
        (lambda m, e: m + e, "Keep the solver"),
        (lambda m: m, "raised TypeError"),
        (3.0, "without calling it"),
    ],
    2: [
        (ENDS | {"unrolled": "once"}, "could the second derivative miss"),
        (ENDS | {"unrolled": "never"}, "left after 200 turns"),
        (ENDS | {"one": "twice"}, "through which z"),
        (ENDS | {"one": "once"}, "Does it change with k"),
        (ENDS | {"newton": "twice"}, "And to second order"),
        (ENDS | {"newton": "never"}, "slope of that turn"),
        (ENDS | {"hundred": "once"}, "after a hundred turns"),
        (ENDS | {"hundred": "never"}, "qⁿ for n = 100"),
        (ENDS | {"theorem": "twice"}, "Does its z know"),
        (ENDS | {"theorem": "never"}, "and compare"),
        (ENDS | {"theorem": "right"}, 'Write "twice"'),
        (ENDS | {"one": ...}, "three dots"),
        ({"unrolled": "twice"}, "No answer is given for one"),
    ],
    3: [
        (layer(lambda v, z, w: (..., ...)), "three dots"),
        (layer(with_u(lambda v, d, w: v)), "last turn only"),
        (layer(lambda v, z, w: with_u(system)(v, z, w)[::-1]), "in the arguments' order"),
        (layer(twice_tanh), "without another tanh"),
        (
            layer(
                lambda v, z, w: (
                    np.outer((1 - z) * system(v, np.diag(1 - z), w), z),
                    (1 - z) * system(v, np.diag(1 - z), w),
                )
            ),
            "with a square",
        ),
        (layer(without_tanh_for_w), "goes through tanh first"),
        (layer(with_u(lambda v, d, w: system(np.ones(4), d, w))), "v is missing"),
        (layer(with_u(lambda v, d, w: np.linalg.solve(np.eye(4) - d @ w, v))), "transpose the matrix"),
        (layer(with_u(lambda v, d, w: np.linalg.solve((np.eye(4) + d @ w).T, v))), "means u (I - A) = v"),
        (layer(with_u(lambda v, d, w: np.linalg.solve((1 - d @ w).T, v))), "you need np.eye"),
        (layer(with_u(lambda v, d, w: np.linalg.solve(1 - d @ w, v))), "you need np.eye. Going backward"),
        (layer(with_u(lambda v, d, w: np.linalg.solve(np.eye(4) - w, v))), "belongs to A too: A = D W. Going backward"),
        (layer(with_u(lambda v, d, w: -v)), "no extra minus. That's the last turn only"),
        (layer(with_u(lambda v, d, w: np.linalg.solve((np.eye(4) - w).T, v))), "belongs to A too"),
        (layer(with_u(lambda v, d, w: np.linalg.solve((np.eye(4) - w @ d).T, v))), "rows of W"),
        (layer(with_u(lambda v, d, w: (np.eye(4) - d @ w).T @ v)), "has to be solved"),
        (layer(with_u(lambda v, d, w: -system(v, d, w))), "no extra minus"),
        (layer(with_u(repeated(3))), "more often"),
        (
            layer(lambda v, z, w: (np.outer(system(v, np.diag(1 - z**2), w), z), system(v, np.diag(1 - z**2), w))),
            "through tanh",
        ),
        (
            layer(lambda v, z, w: (with_u(system)(v, z, w)[0].T, with_u(system)(v, z, w)[1])),
            "is transposed",
        ),
        (layer(lambda v, z, w: (np.ones((4, 4)), with_u(system)(v, z, w)[1])), "what multiplies W"),
        (layer(lambda v, z, w: (with_u(system)(v, z, w)[0], np.ones(4))), "b is added"),
        (layer(lambda v, z, w: (np.ones((4, 4)), np.ones(4))), "first element for b"),
        (layer(lambda v, z, w: None), "Is a `return` missing"),
        (not_custom, "no custom gradient"),
        (lambda w, b: b, "Keep the solver"),
        (3.0, "without calling it"),
    ],
}
